/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_onnx_backend.c - proves that ONNX's own backend tests give ONNX's own
 * answers, within ONNX's own tolerances (1e-3 relative, 1e-7 absolute;
 * integers exactly).
 *
 * Tests that may fail are listed with the reason in
 * data/onnx_backend.exceptions, one "PATH REASON" a line, '#' before a remark;
 * one that is listed and passes fails the run, as does one that fails and is
 * not listed, and a set of which more than one in twenty fails.  With paths
 * below the folder, or parts of their names, as arguments the program runs
 * those alone, whatever the list says, and says how far off they are.  Exit
 * code 77 where the data is not installed.
 */
#include "harness.h"
#include "dtype.h"
#include "evaluate.h"
#include "mapping.h"
#include "onnx_read.h"

#include <dirent.h>

enum { SKIPPED = 77, PATH_MOST = 512, VALUES_MOST = 64, LISTED_MOST = 256 };

#ifndef SL_ONNX_TESTDATA
int
main(void)
{
	fprintf(stderr, "skipped: libonnx-testdata is not installed\n");
	return SKIPPED;
}
#else

/* ------------------------------------------------------------------ files */

/* What input_N.pb or output_N.pb of a data set hold. */
struct files {
	struct sl__arena arena;
	struct sl__mapping mapped[VALUES_MOST];
	struct sl__datum data[VALUES_MOST];
	size_t n;
};

/* One model with its data. */
struct backend_case {
	struct sl_graph *graph;
	struct files in, want;
	char why[PATH_MOST]; /* it fails */
};

/* 'values' are the graph's inputs or outputs, whose types tell what to read.
 * 0 with the reason where a file cannot be read. */
static int
files_open(struct files *f, struct backend_case *c, const char *folder,
	   const uint32_t *values, size_t n_values)
{
	const char *kind = f == &c->in ? "input" : "output";
	char path[2 * PATH_MOST];
	struct sl_error err = {0};

	for (f->n = 0; f->n < VALUES_MOST; f->n++) {
		const struct sl__type *type = NULL;

		snprintf(path, sizeof(path), "%.900s/%s_%zu.pb", folder, kind,
			 f->n);
		if (sl__mapping_open(&f->mapped[f->n], path, NULL))
			return 1;
		if (f->n < n_values)
			type = &c->graph->values[values[f->n]].declared;
		if (sl__onnx_read_datum(&f->data[f->n], type, &f->arena,
					f->mapped[f->n].bytes,
					f->mapped[f->n].n_bytes, &err)) {
			snprintf(c->why, PATH_MOST, "%s_%zu: %.300s", kind,
				 f->n, err.text);
			return 0;
		}
	}
	return 1;
}

static void
files_close(struct files *f)
{
	for (size_t i = 0; i < VALUES_MOST; i++)
		sl__mapping_close(&f->mapped[i]);
	sl__arena_release(&f->arena);
}

/* 0 with the reason; closed either way with case_close(). */
static int
case_open(struct backend_case *c, const char *path)
{
	const struct sl__block *block;
	struct sl_error err = {0};
	char file[2 * PATH_MOST];

	memset(c, 0, sizeof(*c));
	snprintf(file, sizeof(file), SL_ONNX_TESTDATA "/%s/model.onnx", path);
	if (sl__onnx_open(&c->graph, file, NULL, &err)) {
		snprintf(c->why, PATH_MOST, "%s", err.text);
		return 0;
	}
	block = &c->graph->blocks[0];
	snprintf(file, sizeof(file), SL_ONNX_TESTDATA "/%s/test_data_set_0",
		 path);
	return files_open(&c->in, c, file, block->inputs, block->n_inputs) &&
	       files_open(&c->want, c, file, block->outputs, block->n_outputs);
}

static void
case_close(struct backend_case *c)
{
	files_close(&c->in);
	files_close(&c->want);
	sl_graph_free(c->graph);
}

/* ------------------------------------------------------------- comparison */

static int
is_close(double a, double b)
{
	if (isnan(b) || isnan(a))
		return isnan(a) && isnan(b);
	if (isinf(b) || isinf(a))
		return a == b;
	return fabs(a - b) <= 1e-7 + 1e-3 * fabs(b);
}

/* Element i; 0 with the reason. */
static int
compare_element(const struct sl__tensor *got, const struct sl__tensor *want,
		uint64_t i, char *why)
{
	unsigned long long at = i;
	int64_t p = 0, q = 0;
	double a, b;

	if (want->dtype == SL_DTYPE_STRING) {
		snprintf(why, PATH_MOST, "string %llu: '%.200s', not '%.200s'",
			 at, got->strings[i], want->strings[i]);
		return !strcmp(got->strings[i], want->strings[i]);
	}
	if (!sl__tensor_doubles(got, i, 1, &a) ||
	    !sl__tensor_doubles(want, i, 1, &b) ||
	    !sl__tensor_words(got, i, 1, &p) ||
	    !sl__tensor_words(want, i, 1, &q)) {
		snprintf(why, PATH_MOST, "cannot be compared");
		return 0;
	}
	snprintf(why, PATH_MOST, "element %llu: %.9g, not %.9g", at, a, b);
	return sl__dtype_family(want->dtype) == SL__DTYPE_INTEGER
		       ? p == q
		       : is_close(a, b);
}

static int
compare_tensors(const struct sl__tensor *got, const struct sl__tensor *want,
		char *why)
{
	if (got->dtype != want->dtype || got->rank != want->rank) {
		snprintf(why, PATH_MOST, "type or rank: %s %zu, not %s %zu",
			 sl_dtype_text(got->dtype), got->rank,
			 sl_dtype_text(want->dtype), want->rank);
		return 0;
	}
	for (size_t d = 0; d < want->rank; d++) {
		snprintf(why, PATH_MOST, "dim %zu: %lld, not %lld", d,
			 (long long)got->dims[d], (long long)want->dims[d]);
		if (got->dims[d] != want->dims[d])
			return 0;
	}
	for (uint64_t i = 0; i < want->n_elements; i++) {
		if (!compare_element(got, want, i, why))
			return 0;
	}
	return 1;
}

static int
compare(const struct sl__datum *got, const struct sl__datum *want, char *why)
{
	if (got->kind != want->kind || got->n_items != want->n_items) {
		snprintf(why, PATH_MOST, "kind %d of %zu items, not %d of %zu",
			 (int)got->kind, got->n_items, (int)want->kind,
			 want->n_items);
		return 0;
	}
	if (want->kind == SL__TYPE_TENSOR)
		return compare_tensors(&got->tensor, &want->tensor, why);
	for (size_t i = 0; i < want->n_items; i++) {
		if (!compare(&got->items[i], &want->items[i], why))
			return 0;
	}
	return 1;
}

/* ---------------------------------------------------------------- engines */

/*
 * Something that runs a model: fills got[k] for every output of block 0 from
 * c->in, or returns 0 with c->why.  What it fills is cleared by the caller.
 */
typedef int engine_function(struct backend_case *c, struct sl__datum *got);

static int
fail_with(struct backend_case *c, const struct sl_error *err)
{
	snprintf(c->why, PATH_MOST, "%s", err->text);
	return 0;
}

/* The reference kernels, node by node. */
static int
run_evaluated(struct backend_case *c, struct sl__datum *got)
{
	const struct sl__block *block = &c->graph->blocks[0];
	struct sl__evaluator *ev;
	const struct sl__datum *out;
	struct sl_error err = {0};
	int rc = sl__evaluator_new(&ev, c->graph, NULL, &err);

	if (rc)
		return fail_with(c, &err);
	for (size_t i = 0; !rc && i < c->in.n && i < block->n_inputs; i++)
		rc = sl__datum_copy(&ev->values[block->inputs[i]],
				    &c->in.data[i], &ev->allocator, &err);
	if (!rc)
		rc = sl__evaluate_block(ev, 0, &err);
	for (size_t k = 0; !rc && k < block->n_outputs; k++) {
		rc = sl__evaluator_value(ev, block->outputs[k], &out, &err);
		if (!rc)
			rc = sl__datum_copy(&got[k], out, NULL, &err);
	}
	sl__evaluator_free(ev);
	return rc ? fail_with(c, &err) : 1;
}

static const struct engine {
	const char *name;
	engine_function *run;
} engines[] = {
	{"evaluated", run_evaluated},
};
enum { N_ENGINES = sizeof(engines) / sizeof(engines[0]) };

static int
check_engine(struct backend_case *c, const struct engine *engine)
{
	struct sl__datum got[VALUES_MOST];
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
		sl__datum_clear(&got[k], NULL);
	return ok;
}

/* ------------------------------------------------------------------- sets */

/* One line of the exceptions: the path, cut off its reason. */
struct listed {
	char path[PATH_MOST];
	int is_seen; /* such a test was run */
};

struct tally {
	const char *part; /* of the names to run; NULL: all, by the list */
	struct listed listed[LISTED_MOST];
	size_t n_listed;
	int n_run, n_passed[N_ENGINES];
	int n_wrong; /* not as the list says, or below the mark */
};

static void
read_list(struct tally *t)
{
	FILE *file = fopen(SL_TEST_DATA "/onnx_backend.exceptions", "r");
	char line[2 * PATH_MOST];

	while (file && t->n_listed < LISTED_MOST &&
	       fgets(line, sizeof(line), file)) {
		size_t n = strcspn(line, " \n");

		if (line[0] == '#' || n == 0 || n >= PATH_MOST)
			continue;
		memcpy(t->listed[t->n_listed].path, line, n);
		t->n_listed++;
	}
	if (file)
		fclose(file);
}

static struct listed *
find_listed(struct tally *t, const char *path)
{
	for (size_t i = 0; !t->part && i < t->n_listed; i++) {
		if (!strcmp(t->listed[i].path, path))
			return &t->listed[i];
	}
	return NULL;
}

static void
check_case(struct tally *t, const char *path)
{
	static struct backend_case c;
	struct listed *listed = find_listed(t, path);
	int is_open = case_open(&c, path), n_failed = 0;

	t->n_run++;
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
	case_close(&c);
	t->n_wrong += listed ? n_failed == 0 : n_failed != 0;
	if (listed && !n_failed)
		print_error("%s: listed as an exception, but passes\n", path);
	if (listed)
		listed->is_seen = 1;
}

/* Says how many of the set pass; all but one in twenty must, in "simple" all
 * but two. */
static void
judge_set(struct tally *t, const char *set)
{
	int most = strcmp(set, "simple") ? t->n_run / 20 : 2;

	for (size_t e = 0; t->n_run && e < N_ENGINES; e++) {
		int n_failed = t->n_run - t->n_passed[e];

		print_message("%-18s %-10s %4d of %4d pass, %.1f %%\n", set,
			      engines[e].name, t->n_passed[e], t->n_run,
			      100.0 * t->n_passed[e] / t->n_run);
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

	t->n_run = 0;
	memset(t->n_passed, 0, sizeof(t->n_passed));
	snprintf(path, sizeof(path), SL_ONNX_TESTDATA "/%s", set);
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

int
main(int argc, char **argv)
{
	static const char *const sets[] = {"node", "pytorch-converted",
					   "pytorch-operator", "simple"};
	static struct tally t;

	read_list(&t);
	for (int i = 1; i == 1 || i < argc; i++) {
		t.part = i < argc ? argv[i] : NULL;
		for (size_t s = 0; s < sizeof(sets) / sizeof(sets[0]); s++)
			check_set(&t, sets[s]);
	}
	for (size_t i = 0; !t.part && i < t.n_listed; i++) {
		if (t.listed[i].is_seen)
			continue;
		print_error("%s: listed, but there is no such test\n",
			    t.listed[i].path);
		t.n_wrong++;
	}
	return t.n_wrong != 0;
}

#endif
