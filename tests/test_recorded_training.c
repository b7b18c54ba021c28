/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_recorded_training.c - proves that what was planted into training steps
 * is named from their recordings, and that nothing is where nothing was.
 *
 * bench/verdicts/training --planted --records writes tests/data/training.txt:
 * times of steps on a quiet machine.  What each says is found again by the
 * functions that the profile of a step calls.
 */
#include "harness.h"
#include "analysis/bottleneck.h"
#include "analysis/training_phases.h"
#include "result/words.h"
#include "stats/proportion.h"

#include <math.h>

enum { OPS_MOST = 96, LAYERS_MOST = 64, PHASES_MOST = 6, CASES_MOST = 12 };
enum { TEXT_MOST = 64, RUNS_LEAST = 40 };

/* What was planted, and how it is called; "-" where nothing was. */
struct planted {
	char name[TEXT_MOST], kind[TEXT_MOST];
	size_t n_runs, n_right;
};

struct recording {
	struct planted cases[CASES_MOST];
	size_t n_cases;
	struct planted *at; /* that of the lines */
	struct sl_operation ops[OPS_MOST];
	char op_names[OPS_MOST][TEXT_MOST];
	size_t n_ops;
	struct sl_training_layer layers[LAYERS_MOST];
	char layer_names[LAYERS_MOST][TEXT_MOST];
	size_t n_layers;
	struct sl_training_profile memory;
	uint64_t largest_bytes;
	char largest[TEXT_MOST];
};

static char *
next_word(char **rest)
{
	char *word = strtok_r(NULL, " \n", rest);

	assert_non_null(word);
	return word;
}

static double
next_number(char **rest)
{
	char *end, *word = next_word(rest);
	double x = strtod(word, &end);

	assert_true(end != word && !*end);
	return x;
}

static uint64_t
next_whole(char **rest)
{
	return (uint64_t)next_number(rest);
}

static void
copy_word(char *to, char **rest)
{
	snprintf(to, TEXT_MOST, "%s", next_word(rest));
}

static enum sl_phase
next_phase(char **rest)
{
	const char *word = next_word(rest);

	for (int k = 0; k <= SL_PHASE_RECOMPUTE; k++) {
		if (!strcmp(word, sl_phase_text((enum sl_phase)k)))
			return (enum sl_phase)k;
	}
	fail_msg("no phase is called %s", word);
	return SL_PHASE_FORWARD;
}

/* Runs of one case may be told in several pieces. */
static void
begin_case(struct recording *to, char **rest)
{
	char kind[TEXT_MOST], name[TEXT_MOST];
	struct planted *p = to->cases;

	copy_word(kind, rest);
	copy_word(name, rest);
	while (p < to->cases + to->n_cases &&
	       (strcmp(p->name, name) != 0 || strcmp(p->kind, kind) != 0))
		p++;
	assert_true(p < to->cases + CASES_MOST);
	if (p == to->cases + to->n_cases) {
		*p = (struct planted){.n_runs = 0};
		memcpy(p->name, name, sizeof(name));
		memcpy(p->kind, kind, sizeof(kind));
		to->n_cases++;
	}
	to->at = p;
	to->n_ops = to->n_layers = 0;
}

static enum sl_optimizer
optimizer_named(const char *word)
{
	for (int k = 0; k < SL_N_OPTIMIZERS; k++) {
		if (!strcmp(word, sl_optimizer_text((enum sl_optimizer)k)))
			return (enum sl_optimizer)k;
	}
	fail_msg("no optimizer is called %s", word);
	return SL_OPTIMIZER_NONE;
}

static void
read_memory(struct recording *to, char **rest)
{
	struct sl_training_profile *m = &to->memory;
	uint64_t state_bytes;

	memset(m, 0, sizeof(*m));
	m->parameters_bytes = next_whole(rest);
	m->gradients_bytes = next_whole(rest);
	state_bytes = next_whole(rest);
	m->kept_bytes = next_whole(rest);
	to->largest_bytes = next_whole(rest);
	copy_word(to->largest, rest);
	m->optimizer = optimizer_named(next_word(rest));
	m->optimizer_bytes[m->optimizer] = state_bytes;
}

static void
read_operation(struct recording *to, char **rest)
{
	struct sl_operation *op = &to->ops[to->n_ops];

	assert_true(to->n_ops < OPS_MOST);
	memset(op, 0, sizeof(*op));
	op->phase = next_phase(rest);
	op->path = strcmp(next_word(rest), "reference") ? SL_PATH_NATIVE
							: SL_PATH_REFERENCE;
	op->executed_flops = next_whole(rest);
	op->core_flops = next_whole(rest);
	op->n_bytes = next_whole(rest);
	op->n_calls = next_number(rest);
	op->dtype = SL_DTYPE_F32;
	op->bound_ns = (double)NAN; /* so that the step stays as recorded */
	op->name = to->op_names[to->n_ops];
	copy_word(to->op_names[to->n_ops++], rest);
}

static void
read_layer(struct recording *to, char **rest)
{
	struct sl_training_layer *layer = &to->layers[to->n_layers];

	assert_true(to->n_layers < LAYERS_MOST);
	memset(layer, 0, sizeof(*layer));
	layer->forward_flops = next_whole(rest);
	layer->backward_flops = next_whole(rest);
	layer->type = "";
	next_word(rest);
	layer->name = to->layer_names[to->n_layers];
	copy_word(to->layer_names[to->n_layers++], rest);
}

static struct sl_estimate
known(double value)
{
	return (struct sl_estimate){
		.value = value, .lo = value, .hi = value, .n = 40};
}

static void
read_ceilings(struct sl_profile *p, char **rest)
{
	static const enum sl_level levels[] = {SL_LEVEL_L1, SL_LEVEL_L2,
					       SL_LEVEL_L3, SL_LEVEL_DRAM};
	struct sl_ceilings *c = &p->ceilings;
	size_t first;

	c->dtype = SL_DTYPE_F32;
	c->n_threads = (size_t)next_whole(rest);
	c->flops_per_s = known(next_number(rest) * 1e9);
	c->peaks[0] = (struct sl_ceiling_peak){.dtype = SL_DTYPE_F32,
					       .flops_per_s = c->flops_per_s};
	c->n_peaks = 1;
	c->step_ns = known(next_number(rest) * 1e3);
	c->n_levels = (size_t)next_whole(rest);
	assert_true(c->n_levels >= 1 && c->n_levels <= SL_CEILING_LEVELS_MOST);
	/* A machine may have fewer caches; the last is DRAM, whose size is
	 * written as 0. */
	first = 0;
	for (size_t i = 0; i < c->n_levels; i++) {
		uint64_t size_bytes = next_whole(rest);

		c->levels[i] = (struct sl_ceiling_level){
			i + 1 < c->n_levels ? levels[first++] : SL_LEVEL_DRAM,
			size_bytes ? size_bytes : UINT64_MAX,
			known(next_number(rest) * 1e9)};
	}
}

static void
read_phases(struct sl_training_profile *t, struct sl_training_phase *phases,
	    char **rest)
{
	t->n_phases = (size_t)next_whole(rest);
	assert_true(t->n_phases <= PHASES_MOST);
	for (size_t k = 0; k < t->n_phases; k++) {
		phases[k] =
			(struct sl_training_phase){.phase = next_phase(rest)};
		phases[k].share = next_number(rest);
	}
	t->phases = phases;
}

static void
read_times(struct recording *r, char **rest)
{
	double all_ns = 0;

	for (size_t i = 0; i < r->n_ops; i++) {
		struct sl_operation *op = &r->ops[i];

		op->self_ns = next_number(rest) * 1e3;
		op->median_ns = known(next_number(rest) * 1e3);
		op->min_ns = next_number(rest) * 1e3;
		all_ns += op->self_ns;
	}
	for (size_t i = 0; i < r->n_ops; i++)
		r->ops[i].share = r->ops[i].self_ns / all_ns;
	for (size_t i = 0; i < r->n_layers; i++) {
		struct sl_training_layer *l = &r->layers[i];

		l->forward_ns = next_number(rest) * 1e3;
		l->backward_input_ns = next_number(rest) * 1e3;
		l->backward_weight_ns = next_number(rest) * 1e3;
	}
}

/* Where no layer holds an operation any more, none of its bytes count. */
static struct sl__kept_activation
largest_kept(struct recording *r)
{
	struct sl__kept_activation out = {.n_bytes = r->largest_bytes};

	for (size_t i = 0; i < r->n_ops; i++) {
		if (!strcmp(r->ops[i].name, r->largest)) {
			out.operation = i;
			return out;
		}
	}
	assert_true(r->n_ops < OPS_MOST);
	r->ops[r->n_ops] = (struct sl_operation){.name = r->largest,
						 .n_calls = 1,
						 .bound_ns = (double)NAN,
						 .median_ns = known(0)};
	out.operation = r->n_ops;
	return out;
}

/* Whether something stands out in a step, and what was planted is named. */
static int
is_right(const struct planted *planted, const struct sl_profile *p)
{
	static const enum sl_fact_kind kinds[] = {SL_FACT_SLOW_BACKWARD,
						  SL_FACT_OPTIMIZER_SHARE,
						  SL_FACT_ACTIVATION_HELD};
	const struct sl_training_profile *t = p->training;
	int is_dram = p->verdict.cause == SL_BOUND_DRAM;
	int is_any = is_dram,
	    is_named = is_dram && !strcmp(planted->name, "dram");

	for (size_t i = 0; i < t->n_findings; i++) {
		const struct sl_fact *f = &t->findings[i];

		for (size_t k = 0; k < sizeof(kinds) / sizeof(*kinds); k++) {
			if (f->kind != kinds[k])
				continue;
			is_any = 1;
			is_named |= !strcmp(sl_fact_kind_text(f->kind),
					    planted->kind) &&
				    !strcmp(f->names[0], planted->name);
		}
	}
	return strcmp(planted->kind, "-") ? is_named : !is_any;
}

static void
judge_run(struct recording *r, char **rest)
{
	struct sl_training_phase phases[PHASES_MOST];
	struct sl_training_profile t = r->memory;
	struct sl_profile p = {.operations = r->ops, .training = &t};
	struct sl__kept_activation largest;
	struct sl__arena arena;

	p.ledger.is_closed = (int)next_whole(rest);
	p.noise.neighbour_share = (struct sl_reading){next_number(rest), NULL};
	p.noise.run_delay_share = (struct sl_reading){next_number(rest), NULL};
	read_ceilings(&p, rest);
	read_phases(&t, phases, rest);
	read_times(r, rest);
	t.layers = r->layers;
	t.n_layers = r->n_layers;
	largest = largest_kept(r);
	p.n_operations = r->n_ops + (largest.operation == r->n_ops);
	sl__arena_init(&arena, NULL);
	assert_int_equal(
		sl__profile_judge_bottlenecks(&p, NULL, NULL, &arena, NULL),
		SL_OK);
	assert_int_equal(sl__training_find(&p, &largest, &arena, NULL), SL_OK);
	r->at->n_runs++;
	r->at->n_right += (size_t)is_right(r->at, &p);
	sl__arena_release(&arena);
}

static void
read_line(struct recording *to, char *line)
{
	char *rest = NULL;
	const char *word = strtok_r(line, " \n", &rest);

	assert_non_null(word);
	if (!strcmp(word, "case")) {
		begin_case(to, &rest);
		return;
	}
	assert_non_null(to->at);
	if (!strcmp(word, "memory"))
		read_memory(to, &rest);
	else if (!strcmp(word, "op"))
		read_operation(to, &rest);
	else if (!strcmp(word, "layer"))
		read_layer(to, &rest);
	else if (!strcmp(word, "run"))
		judge_run(to, &rest);
	else
		fail_msg("a line begins with %s", word);
	assert_null(strtok_r(NULL, " \n", &rest));
}

static void
check_case(const struct planted *c)
{
	struct sl_estimate p = sl__proportion(c->n_right, c->n_runs, 0.05);

	print_message("  %-16s %-24s %zu of %zu, %.1f %% [%.1f, %.1f]\n",
		      c->kind, c->name, c->n_right, c->n_runs, 100 * p.value,
		      100 * p.lo, 100 * p.hi);
	assert_true(c->n_runs >= RUNS_LEAST);
	assert_true(c->n_right * 100 >= c->n_runs * 95);
}

/* 95 % of 40 runs or more, of each. */
static void
what_was_planted_is_named(void **state)
{
	static const char *const kinds[] = {"slow-backward", "optimizer-share",
					    "activation-held", "memory", "-"};
	static struct recording r;
	static char line[8192];
	FILE *f = fopen(SL_TEST_DATA "/training.txt", "r");

	(void)state;
	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		assert_non_null(strchr(line, '\n'));
		read_line(&r, line);
	}
	fclose(f);
	for (size_t k = 0; k < sizeof(kinds) / sizeof(*kinds); k++) {
		size_t n = 0;

		for (size_t i = 0; i < r.n_cases; i++)
			n += !strcmp(r.cases[i].kind, kinds[k]);
		assert_true(n >= 1);
	}
	for (size_t i = 0; i < r.n_cases; i++)
		check_case(&r.cases[i]);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_planted_is_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
