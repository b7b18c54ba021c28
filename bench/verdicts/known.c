/* SPDX-License-Identifier: Apache-2.0 */
/*
 * known.c - models whose bottleneck is known, profiled.
 *
 * usage: bench_planted --list
 *        bench_planted CASE [SEED [RECORDS]]
 *
 * Builds the model of a case, profiles it, and writes one line: what was
 * expected, what was found, and how sure that is; "-" where the whole model's
 * answer is not known.  What the experiments measured of a typical operation is added to the file RECORDS, one line, for
 * tests/test_recorded_verdicts.c.
 */
#include "sleuth.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a case is about. */
enum asks {
	ASKS_BOUND = 0, /* what most of the time is bound by */
	ASKS_TOP,       /* which operation takes longest */
	ASKS_PEAK       /* which operation needs most memory */
};

struct planted {
	const char *name;
	enum asks asks;
	enum sl_bound bound;        /* the right answer */
	enum sl_bottleneck verdict; /* INCONCLUSIVE: nobody knows */
	unsigned flags;             /* enum sl_plan_flags */
	int n_threads;              /* 0: all */
	void (*build)(struct sl_builder *b, int64_t size);
	int64_t size;
};

/* Its rows are the batch: so many unless it is doubled. */
static int
matrix(struct sl_builder *b, const char *name, int64_t rows, int64_t columns)
{
	return sl_builder_input(
		b, name, SL_DTYPE_F32, 2,
		(int64_t[]){sl_builder_symbol(b, "batch", rows), columns});
}

static int
image(struct sl_builder *b, int64_t channels, int64_t size)
{
	return sl_builder_input(b, "x", SL_DTYPE_F32, 4,
				(int64_t[]){sl_builder_symbol(b, "batch", 1),
					    channels, size, size});
}

/* One product of square matrices. */
static void
build_square(struct sl_builder *b, int64_t n)
{
	int x = matrix(b, "x", n, n);

	sl_builder_output(b, sl_builder_linear(b, x, n, 0), "y");
}

/* One row by a matrix: every weight is used once. */
static void
build_row(struct sl_builder *b, int64_t n)
{
	int x = matrix(b, "x", 1, n);

	for (int64_t i = 0; i < 4 * 4096 / n; i++)
		x = sl_builder_linear(b, x, n, 0);
	sl_builder_output(b, x, "y");
}

/* y = y + x, over and over. */
static void
build_sums(struct sl_builder *b, int64_t n)
{
	int x = matrix(b, "x", 1, n);
	int pair[2] = {x, x};

	for (int i = 0; i < 8; i++)
		pair[0] = sl_builder_op(b, "Add", 2, pair);
	sl_builder_output(b, pair[0], "y");
}

/* Operations on a handful of numbers, some of which wake all threads. */
static void
build_storm(struct sl_builder *b, int64_t n)
{
	static const char *const types[] = {"Add", "Softmax", "Tanh"};
	int x = matrix(b, "x", 4, 16);
	int pair[2] = {x, x};

	for (int64_t i = 0; i < n; i++) {
		if (i % 4 == 3)
			pair[0] = sl_builder_linear(b, pair[0], 16, 1);
		else
			pair[0] = sl_builder_op(b, types[i % 4], i % 4 ? 1 : 2,
						pair);
	}
	sl_builder_output(b, pair[0], "y");
}

static void
build_conv(struct sl_builder *b, int64_t n)
{
	const struct sl_conv2d conv = {.out_channels = 64, .padding = 1};
	int x = image(b, 64, n);

	sl_builder_output(b, sl_builder_conv2d(b, x, &conv), "y");
}

static void
build_attention(struct sl_builder *b, int64_t seq)
{
	int x = sl_builder_input(
		b, "x", SL_DTYPE_F32, 3,
		(int64_t[]){sl_builder_symbol(b, "batch", 1), seq, 256});

	sl_builder_output(b, sl_builder_attention(b, x, 4, 0), "y");
}

/* Twenty layers, of which one has 49 times the work. */
static void
build_slow(struct sl_builder *b, int64_t n)
{
	const struct sl_conv2d quick = {.out_channels = 32, .kernel_height = 1};
	const struct sl_conv2d slow = {
		.out_channels = 32, .kernel_height = 7, .padding = 3};
	int x = image(b, 32, n);

	for (int i = 0; i < 20; i++) {
		char name[32];

		snprintf(name, sizeof(name), "layer%d", i);
		sl_builder_enter(b, i == 13 ? "slow" : name);
		x = sl_builder_conv2d(b, x, i == 13 ? &slow : &quick);
		sl_builder_leave(b);
	}
	sl_builder_output(b, x, "y");
}

/* A small image, blown up and averaged again at the end of a chain. */
static void
build_spike(struct sl_builder *b, int64_t n)
{
	int x = image(b, 1, 64);
	int blown[2];

	for (int i = 0; i < 6; i++)
		x = sl_builder_op(b, i % 2 ? "Tanh" : "Sigmoid", 1, &x);
	blown[0] = x;
	blown[1] = sl_builder_integers(b, "repeats", 1, (int64_t[]){4},
				       (int64_t[]){1, 1, n, n});
	sl_builder_name(b, "spike");
	x = sl_builder_op(b, "Tile", 2, blown);
	x = sl_builder_op(b, "GlobalAveragePool", 1, &x);
	sl_builder_output(b, x, "y");
}

static void
add_softmax(struct sl_builder *b, int x)
{
	for (int i = 0; i < 6; i++)
		x = sl_builder_op(b, "Softmax", 1, &x);
	sl_builder_output(b, x, "y");
}

/* Three rows for two threads: one of them has two. */
static void
build_three_rows(struct sl_builder *b, int64_t n)
{
	add_softmax(b, matrix(b, "x", 3, n));
}

/* One row: the other threads have nothing to do. */
static void
build_one_row(struct sl_builder *b, int64_t n)
{
	add_softmax(b, matrix(b, "x", 1, n));
}

static const struct planted cases[] = {
	{.name = "square-768",
	 .bound = SL_BOUND_COMPUTE,
	 .verdict = SL_BOTTLENECK_COMPUTE,
	 .build = build_square,
	 .size = 768},
	{.name = "square-1536",
	 .bound = SL_BOUND_COMPUTE,
	 .verdict = SL_BOTTLENECK_COMPUTE,
	 .build = build_square,
	 .size = 1536},
	{.name = "row-4096",
	 .bound = SL_BOUND_DRAM,
	 .verdict = SL_BOTTLENECK_MEMORY,
	 .build = build_row,
	 .size = 4096},
	{.name = "row-2048",
	 .bound = SL_BOUND_DRAM,
	 .verdict = SL_BOTTLENECK_MEMORY,
	 .build = build_row,
	 .size = 2048},
	{.name = "sums-memory",
	 .bound = SL_BOUND_DRAM,
	 .verdict = SL_BOTTLENECK_MEMORY,
	 .flags = SL_PLAN_NO_FUSION,
	 .build = build_sums,
	 .size = 1 << 24},
	{.name = "sums-l3",
	 .bound = SL_BOUND_L3,
	 .verdict = SL_BOTTLENECK_MEMORY,
	 .flags = SL_PLAN_NO_FUSION,
	 .build = build_sums,
	 .size = 3 << 18},
	{.name = "sums-l2",
	 .bound = SL_BOUND_L2,
	 .verdict = SL_BOTTLENECK_MEMORY,
	 .flags = SL_PLAN_NO_FUSION,
	 .n_threads = 1,
	 .build = build_sums,
	 .size = 3 << 14},
	{.name = "storm-8000",
	 .bound = SL_BOUND_OVERHEAD,
	 .verdict = SL_BOTTLENECK_OVERHEAD,
	 .flags = SL_PLAN_NO_FUSION,
	 .build = build_storm,
	 .size = 8000},
	{.name = "storm-1000",
	 .bound = SL_BOUND_OVERHEAD,
	 .verdict = SL_BOTTLENECK_OVERHEAD,
	 .flags = SL_PLAN_NO_FUSION,
	 .build = build_storm,
	 .size = 1000},
	{.name = "plain-conv",
	 .bound = SL_BOUND_REFERENCE,
	 .verdict = SL_BOTTLENECK_COMPUTE,
	 .flags = SL_PLAN_REFERENCE,
	 .build = build_conv,
	 .size = 24},
	{.name = "conv",
	 .bound = SL_BOUND_COMPUTE,
	 .verdict = SL_BOTTLENECK_COMPUTE,
	 .flags = SL_PLAN_NO_WINOGRAD,
	 .build = build_conv,
	 .size = 96},
	{.name = "attention-256",
	 .bound = SL_BOUND_COMPUTE,
	 .verdict = SL_BOTTLENECK_COMPUTE,
	 .build = build_attention,
	 .size = 256},
	{.name = "attention-1024",
	 .bound = SL_BOUND_COMPUTE,
	 .verdict = SL_BOTTLENECK_COMPUTE,
	 .build = build_attention,
	 .size = 1024},
	{.name = "attention-2048",
	 .bound = SL_BOUND_COMPUTE,
	 .verdict = SL_BOTTLENECK_COMPUTE,
	 .build = build_attention,
	 .size = 2048},
	{.name = "rows-3",
	 .bound = SL_BOUND_IMBALANCE,
	 .verdict = SL_BOTTLENECK_IMBALANCE,
	 .build = build_three_rows,
	 .size = 1 << 15},
	{.name = "rows-1",
	 .bound = SL_BOUND_IMBALANCE,
	 .verdict = SL_BOTTLENECK_IMBALANCE,
	 .build = build_one_row,
	 .size = 1 << 17},
	{.name = "slow-layer",
	 .asks = ASKS_TOP,
	 .bound = SL_BOUND_COMPUTE,
	 .verdict = SL_BOTTLENECK_COMPUTE,
	 .build = build_slow,
	 .size = 56},
	{.name = "memory-spike",
	 .asks = ASKS_PEAK,
	 .build = build_spike,
	 .size = 16},
};
enum { N_CASES = sizeof(cases) / sizeof(cases[0]) };

/* The bound that most of the time has; UNKNOWN where that is it. */
static enum sl_bound
most_of(const struct sl_finding *f)
{
	int best = 0;

	for (int b = 1; b < SL_N_BOUNDS; b++) {
		if (f->shares[b] > f->shares[best])
			best = b;
	}
	return (enum sl_bound)best;
}

static const char *
answer(const struct planted *c, const struct sl_profile *p)
{
	const struct sl_operation *top;

	if (c->asks == ASKS_BOUND)
		return sl_bound_text(most_of(&p->verdict));
	if (c->asks == ASKS_PEAK) {
		if (!p->memory.n_timeline)
			return "unknown";
		top = &p->operations[p->memory.peak_operation];
		return strstr(top->name, "spike") ? "named" : "other";
	}
	top = &p->operations[p->by_time[0]];
	return strstr(top->name, "slow") ? "named" : "other";
}

static void
print_facts(char sign, const struct sl_fact *facts, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct sl_buf text = {0};

		if (!sl_fact_text(&facts[i], &text, NULL))
			printf("  %c %s\n", sign, text.data);
		sl_buf_release(&text);
	}
}

static void
print_answer(const struct planted *c, const struct sl_profile *p)
{
	const struct sl_operation *top = &p->operations[p->by_time[0]];

	printf("%s %s %s %s %s %.2f %.2f %s\n", c->name,
	       c->asks == ASKS_BOUND ? sl_bound_text(c->bound) : "named",
	       answer(c, p), c->verdict ? sl_bottleneck_text(c->verdict) : "-",
	       sl_bottleneck_text(p->verdict.bottleneck), p->verdict.confidence,
	       p->elapsed_s, p->ledger.is_closed ? "closed" : "open");
	print_facts('+', top->judgement.evidence, top->judgement.n_evidence);
	print_facts('-', top->judgement.against, top->judgement.n_against);
	print_facts('=', p->verdict.evidence, p->verdict.n_evidence);
}

static void
write_levels(FILE *f, const struct sl_ceilings *ceilings)
{
	static const enum sl_level memories[] = {SL_LEVEL_L2, SL_LEVEL_L3,
						 SL_LEVEL_DRAM};

	for (int k = 0; k < 3; k++) {
		double rate = (double)NAN, size = (double)NAN;

		for (size_t i = 0; i < ceilings->n_levels; i++) {
			if (ceilings->levels[i].level != memories[k])
				continue;
			rate = ceilings->levels[i].bytes_per_s.value;
			size = (double)ceilings->levels[i].size_bytes;
		}
		fprintf(f, " %.4g %.6g", rate, size);
	}
}

/* The columns of tests/data/verdicts.txt. */
static void
record(FILE *f, const struct planted *c, const struct sl_profile *p,
       const struct sl_operation *op)
{
	fprintf(f, "%s %s %s %d %d %zu %.5g %.5g %.6g %.6g %.4g %.4g", c->name,
		sl_bound_text(c->bound), sl_bound_text(op->judgement.bound),
		op->path == SL_PATH_REFERENCE || op->path == SL_PATH_STEPWISE,
		op->response && op->response->is_same_alone,
		p->ceilings.n_threads, op->median_ns.value, op->min_ns,
		(double)op->executed_flops, (double)op->n_bytes,
		p->ceilings.flops_per_s.value, p->ceilings.step_ns.value);
	write_levels(f, &p->ceilings);
	for (int k = 0; k < SL_N_CONDITIONS; k++)
		fprintf(f, " %.5g %.3g",
			op->response ? op->response->at[k].ns : (double)NAN,
			op->response ? op->response->at[k].spread
				     : (double)NAN);
	fprintf(f, " %.4g %.4g %.4g %.4g %.3g", p->hog.dram, p->hog.l3,
		p->hog.l2, p->hog.compute, p->others_share);
	fprintf(f, " %.6g %.6g\n",
		op->response ? op->response->doubled_flops : (double)NAN,
		op->response ? op->response->doubled_bytes : (double)NAN);
}

/* One that is typical: the longest where it prevails, else the middle one of
 * those that were experimented on. */
static int
write_record(const char *path, const struct planted *c,
	     const struct sl_profile *p)
{
	const struct sl_operation *op = &p->operations[p->by_time[0]];
	FILE *f;

	if (c->asks != ASKS_BOUND)
		return 0;
	f = fopen(path, "a");
	if (!f) {
		perror(path);
		return 1;
	}
	if (op->share < 0.3)
		op = &p->operations[p->by_time[p->n_hot / 2]];
	record(f, c, p, op);
	return fclose(f) ? 1 : 0;
}

static enum sl_status
profile(const struct planted *c, uint64_t seed, struct sl_profile **out,
	struct sl_error *err)
{
	struct sl_plan_options plan = {.struct_size = sizeof(plan),
				       .n_threads = c->n_threads,
				       .flags = c->flags};
	struct sl_profile_options how = {.struct_size = sizeof(how),
					 .plan = &plan,
					 .seed = seed,
					 .time_s = 1,
					 .flags = SL_PROFILE_NO_ABLATION};
	struct sl_graph *graph = NULL;
	struct sl_builder *b;
	enum sl_status rc = sl_builder_new(&b, c->name, NULL, err);

	if (rc)
		return rc;
	c->build(b, c->size);
	rc = sl_builder_finish(&graph, b, err);
	if (!rc)
		rc = sl_profile_forward(out, graph, &how, err);
	sl_graph_free(graph);
	sl_builder_free(b);
	return rc;
}

static int
run(const struct planted *c, uint64_t seed, const char *records)
{
	struct sl_profile *p = NULL;
	struct sl_error err;
	int failed = 0;

	if (profile(c, seed, &p, &err)) {
		fprintf(stderr, "%s: %s\n", c->name, err.text);
		return 1;
	}
	print_answer(c, p);
	if (records)
		failed = write_record(records, c, p);
	sl_profile_free(p);
	return failed;
}

int
main(int argc, char **argv)
{
	if (argc < 2) {
		fprintf(stderr, "usage: %s --list | CASE [SEED [RECORDS]]\n",
			argv[0]);
		return 64;
	}
	for (int i = 0; i < N_CASES; i++) {
		if (!strcmp(argv[1], "--list"))
			printf("%s\n", cases[i].name);
		else if (!strcmp(argv[1], cases[i].name))
			return run(&cases[i],
				   argc > 2 ? strtoull(argv[2], NULL, 10) : 1,
				   argc > 3 ? argv[3] : NULL);
	}
	return strcmp(argv[1], "--list") ? 64 : 0;
}
