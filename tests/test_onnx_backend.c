/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_onnx_backend.c - proves that ONNX's own backend tests give ONNX's own
 * answers, within ONNX's own tolerances (backend_case.h), with the data of
 * every release that onnx_exceptions.h knows.
 *
 * Tests that may fail are listed with the reason in
 * data/onnx_backend.exceptions.  One that is listed and passes fails the run,
 * as does one that fails and is not listed, a case without outputs, a set
 * without cases, and one of which more than 1.5 % fail.  With paths below the
 * folder, or parts of their names, as arguments the program runs those alone,
 * whatever the list says, and says how far off they are.  Exit code 77 where
 * the data is not installed, so that only the cases of data/onnx_newer were
 * run; SL_ONNX_TESTDATA in the environment names the folder of another
 * release.
 */
#include "backend_case.h"
#include "engine/plan.h"
#include "onnx_exceptions.h"
#include "onnx_folder.h"

#include <dirent.h>

/*
 * Something that runs a model: fills got[k] for every output of block 0 from
 * c->in, or returns 0 with c->why.  What it fills is cleared by the caller.
 */
typedef int engine_function(struct backend_case *c,
			    struct sl__runtime_value *got);

static int
fail_with(struct backend_case *c, const struct sl_error *err)
{
	snprintf(c->why, PATH_MOST, "%s", err->text);
	return 0;
}

/* The reference kernels, node by node. */
static int
run_evaluated(struct backend_case *c, struct sl__runtime_value *got)
{
	const struct sl__block *block = &c->graph->blocks[0];
	struct sl__evaluator *ev;
	const struct sl__runtime_value *out;
	struct sl_error err = {0};
	int rc = sl__evaluator_new(&ev, c->graph, NULL, &err);

	if (rc)
		return fail_with(c, &err);
	for (size_t i = 0; !rc && i < c->in.n && i < block->n_inputs; i++)
		rc = sl__runtime_value_copy(&ev->values[block->inputs[i]],
					    &c->in.data[i], &ev->allocator,
					    &err);
	if (!rc)
		rc = sl__evaluate_block(ev, 0, &err);
	for (size_t k = 0; !rc && k < block->n_outputs; k++) {
		rc = sl__evaluator_value(ev, block->outputs[k], &out, &err);
		if (!rc)
			rc = sl__runtime_value_copy(&got[k], out, NULL, &err);
	}
	sl__evaluator_free(ev);
	return rc ? fail_with(c, &err) : 1;
}

/* Two tests have an input of another rank than their model declares, to which
 * it does nothing; a plan refuses it. */
static int
is_as_declared(const struct backend_case *c, size_t i)
{
	const struct sl__type *type =
		&c->graph->values[c->graph->blocks[0].inputs[i]].declared;

	return c->in.data[i].kind != SL__TYPE_TENSOR || type->rank < 0 ||
	       (size_t)type->rank == c->in.data[i].tensor.rank;
}

static size_t
shapes_of(const struct backend_case *c, struct sl_input_shape *shapes)
{
	const struct sl__block *block = &c->graph->blocks[0];
	size_t n = 0;

	for (size_t i = 0; i < c->in.n && i < block->n_inputs; i++) {
		if (c->in.data[i].kind != SL__TYPE_TENSOR ||
		    !is_as_declared(c, i))
			continue;
		shapes[n].input = c->graph->values[block->inputs[i]].name;
		shapes[n].dims = c->in.data[i].tensor.dims;
		shapes[n++].rank = c->in.data[i].tensor.rank;
	}
	return n;
}

/* The engine: fused, on fast kernels where it has them. */
static int
run_planned(struct backend_case *c, struct sl__runtime_value *got)
{
	const struct sl__block *block = &c->graph->blocks[0];
	struct sl_input_shape shapes[VALUES_MOST];
	struct sl_sizes sizes = {.struct_size = sizeof(sizes),
				 .shapes = shapes};
	struct sl_plan_options how = {.struct_size = sizeof(how),
				      .sizes = &sizes,
				      .n_threads = 2,
				      .algorithms = SL_ALGORITHMS_FIXED};
	struct sl_plan *plan;
	struct sl__runtime_value out;
	struct sl_error err = {0};
	int rc;

	sizes.n_shapes = shapes_of(c, shapes);
	rc = sl_plan_new(&plan, c->graph, &how, &err);
	if (rc)
		return fail_with(c, &err);
	for (size_t i = 0; !rc && i < c->in.n && i < block->n_inputs; i++) {
		if (is_as_declared(c, i))
			rc = sl__plan_set_input(plan, i, &c->in.data[i], &err);
	}
	if (!rc)
		rc = sl_plan_fill_inputs(plan, 1, &err);
	if (!rc)
		rc = sl_plan_run(plan, &err);
	for (size_t k = 0; !rc && k < block->n_outputs; k++) {
		rc = sl__plan_output_value(plan, k, &out, &err);
		if (!rc)
			rc = sl__runtime_value_copy(&got[k], &out, NULL, &err);
	}
	sl_plan_free(plan);
	return rc ? fail_with(c, &err) : 1;
}

static const struct engine {
	const char *name;
	engine_function *run;
} engines[] = {
	{"evaluated", run_evaluated},
	{"planned", run_planned},
};
enum { N_ENGINES = sizeof(engines) / sizeof(engines[0]) };

static int
check_engine(struct backend_case *c, const struct engine *engine)
{
	struct sl__runtime_value got[VALUES_MOST];
	size_t n = c->graph->blocks[0].n_outputs;
	int ok;

	memset(got, 0, sizeof(got));
	snprintf(c->why, PATH_MOST, "%zu outputs, not %zu", n, c->want.n);
	if (n > VALUES_MOST || n < c->want.n)
		return 0;
	ok = engine->run(c, got);
	for (size_t k = 0; ok && k < c->want.n; k++)
		ok = compare(&got[k], &c->want.data[k], c->why);
	for (size_t k = 0; k < n; k++)
		sl__runtime_value_clear(&got[k], NULL);
	return ok;
}

struct tally {
	const char *root; /* the folder of the sets */
	const char *part; /* of the names to run; NULL: all, by the list */
	struct exceptions exceptions;
	int n_run, n_corrected, n_preview, n_passed[N_ENGINES];
	int n_wrong; /* not as the list says, or below the mark */
};

/* Operators of this domain are no part of the standard yet. */
static int
is_preview(const struct sl_graph *graph)
{
	for (size_t i = 0; graph && i < graph->n_nodes; i++) {
		if (!strcmp(graph->nodes[i].domain, "ai.onnx.preview"))
			return 1;
	}
	return 0;
}

static void
check_case(struct tally *t, const char *path)
{
	static struct backend_case c;
	struct exception *listed =
		t->part ? NULL : exceptions_find(&t->exceptions, path);
	int is_open = case_open(&c, t->root, SL_TEST_DATA "/onnx_corrected",
				path),
	    n_failed = 0;

	t->n_run++;
	t->n_corrected += c.is_corrected;
	for (size_t e = 0; e < N_ENGINES; e++) {
		if (is_open && check_engine(&c, &engines[e])) {
			t->n_passed[e]++;
			continue;
		}
		n_failed++;
		if (!listed)
			print_error("%s, %s: %s\n", path, engines[e].name,
				    c.why);
	}
	if (listed && n_failed == N_ENGINES && is_preview(c.graph)) {
		t->n_run--;
		t->n_preview++;
	}
	case_close(&c);
	t->n_wrong += listed ? n_failed == 0 : n_failed != 0;
	if (listed && !n_failed)
		print_error("%s: listed as an exception, but passes\n", path);
	if (listed)
		listed->is_seen = 1;
}

/* Says how many of the set pass; all but 1.5 % must, in "simple" all but
 * two. */
static void
judge_set(struct tally *t, const char *set)
{
	int most = strcmp(set, "simple") ? t->n_run * 15 / 1000 : 2;

	if (!t->part && !t->n_run) {
		print_error("%s: has no cases\n", set);
		t->n_wrong++;
	}
	if (t->n_preview)
		print_message("%-18s %d cases of previews do not count\n", set,
			      t->n_preview);
	for (size_t e = 0; t->n_run && e < N_ENGINES; e++) {
		int n_failed = t->n_run - t->n_passed[e];

		print_message("%-18s %-10s %4d of %4d pass, %.2f %%; %d "
			      "have answers that ONNX corrected\n",
			      set, engines[e].name, t->n_passed[e], t->n_run,
			      100.0 * t->n_passed[e] / t->n_run,
			      t->n_corrected);
		if (t->part || n_failed <= most)
			continue;
		print_error("%s, %s: %d fail, %d may\n", set, engines[e].name,
			    n_failed, most);
		t->n_wrong++;
	}
}

static void
check_set(struct tally *t, const char *set)
{
	char path[PATH_MOST];
	struct dirent **entries;
	int n;

	t->n_run = t->n_corrected = t->n_preview = 0;
	memset(t->n_passed, 0, sizeof(t->n_passed));
	snprintf(path, sizeof(path), "%.300s/%s", t->root, set);
	n = scandir(path, &entries, NULL, alphasort);
	for (int i = 0; i < n; i++) {
		snprintf(path, sizeof(path), "%s/%.200s", set,
			 entries[i]->d_name);
		if (entries[i]->d_name[0] != '.' &&
		    (!t->part || strstr(path, t->part)))
			check_case(t, path);
		free(entries[i]);
	}
	if (n >= 0)
		free(entries);
	judge_set(t, set);
}

/* The sets of the release at hand, and those kept here, which are newer. */
static void
check_sets(struct tally *t, const char *root)
{
	static const char *const sets[] = {"node", "pytorch-converted",
					   "pytorch-operator", "simple"};

	t->root = SL_TEST_DATA;
	check_set(t, "onnx_newer");
	t->root = root;
	for (size_t s = 0; root && s < sizeof(sets) / sizeof(sets[0]); s++)
		check_set(t, sets[s]);
}

int
main(int argc, char **argv)
{
	const char *root = onnx_folder();
	static struct tally t;

	if (root)
		exceptions_read(&t.exceptions,
				SL_TEST_DATA "/onnx_backend.exceptions",
				onnx_release(root));
	for (int i = 1; i == 1 || i < argc; i++) {
		t.part = i < argc ? argv[i] : NULL;
		check_sets(&t, root);
	}
	t.n_wrong += t.exceptions.n_wrong;
	if (!t.part)
		t.n_wrong += exceptions_unseen(&t.exceptions);
	return t.n_wrong ? 1 : root ? 0 : SKIPPED;
}
