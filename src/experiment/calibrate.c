/* SPDX-License-Identifier: Apache-2.0 */
/*
 * calibrate.c - kernels whose bound is known, put through the experiments.
 *
 * Each is a small model of one kind of operation, sized by the caches that
 * were found: arithmetic on what registers hold, functions of elements that L2
 * holds, streams from each memory, recurrences, rows and elements out of
 * order, steps that are over at once, rows that do not divide among threads.
 * Operations of a user go through the very same experiments.
 */
#include "experiment/calibrate.h"
#include "base/buf.h"
#include "base/cache_file.h"
#include "base/clock.h"
#include "base/status.h"
#include "experiment/diagnose.h"
#include "experiment/timed_iterations.h"
#include "machine/platform.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/banned.h"

enum {
	STEPS_MOST = 5,    /* of a kernel, that are asked */
	CEILING_RUNS = 6,  /* of the probes beside */
	MEMORY_SHARE = 24, /* of what the process may have, for a kernel */
	FEW = 6,           /* operations of a kernel that are long */
	MANY = 24          /* that are short: threads wake up in the first */
};

/* Of the CPUs' time, that others may have while a kernel is asked. */
static const double OTHERS_MOST = 0.1;

/* Of a kernel: some are over before, large ones take two rounds whatever. */
static const double KERNEL_S = 0.12;

/* What a size is a multiple of: bytes of caches are of all threads. */
enum unit { ONE = 0, L2, L3 };

struct kernel {
	enum sl_bound bound;
	void (*build)(struct sl_builder *b, const char *type, int64_t size,
		      int n_threads);
	const char *type; /* of its operations; NULL: layers */
	double size;
	enum unit unit;
};

/* The rows are the batch. */
static int
matrix(struct sl_builder *b, int64_t rows, int64_t columns)
{
	return sl_builder_input(
		b, "x", SL_DTYPE_F32, 2,
		(int64_t[]){sl_builder_symbol(b, "batch", rows), columns});
}

static void
build_matmul(struct sl_builder *b, const char *type, int64_t n, int n_threads)
{
	int x = matrix(b, n, n);

	(void)type;
	(void)n_threads;
	for (int i = 0; i < 2; i++)
		x = sl_builder_linear(b, x, n, 0);
	sl_builder_output(b, x, "y");
}

static void
build_conv(struct sl_builder *b, const char *type, int64_t n, int n_threads)
{
	const struct sl_conv2d conv = {.out_channels = 64, .padding = 1};
	int x = sl_builder_input(
		b, "x", SL_DTYPE_F32, 4,
		(int64_t[]){sl_builder_symbol(b, "batch", 1), 64, n, n});

	(void)type;
	(void)n_threads;
	for (int i = 0; i < 2; i++)
		x = sl_builder_conv2d(b, x, &conv);
	sl_builder_output(b, x, "y");
}

/* Of one operand, over and over; an input and an output have all the bytes. */
static void
build_chain(struct sl_builder *b, const char *type, int64_t n_bytes,
	    int n_threads)
{
	int64_t rows = 32 * n_threads;
	int x = matrix(b, rows, n_bytes / 8 / rows);
	int n = n_bytes > (int64_t)32 << 20 ? FEW : MANY;

	for (int i = 0; i < n; i++)
		x = sl_builder_op(b, type, 1, &x);
	sl_builder_output(b, x, "y");
}

/* A row by matrices that have all the bytes: weights are used once. */
static void
build_row(struct sl_builder *b, const char *type, int64_t n_bytes,
	  int n_threads)
{
	int64_t n = (int64_t)sqrt((double)n_bytes / 4 / 2) / 16 * 16;
	int x = matrix(b, 1, n);

	(void)type;
	(void)n_threads;
	for (int i = 0; i < 2; i++)
		x = sl_builder_linear(b, x, n, 0);
	sl_builder_output(b, x, "y");
}

/* So many steps, each of a few hundred elements. */
static void
build_recurrence(struct sl_builder *b, const char *type, int64_t n_steps,
		 int n_threads)
{
	enum { HIDDEN = 24, INPUT = 16 };
	int64_t n_gates = !strcmp(type, "LSTM") ? 4 : 1;
	int operands[] = {
		sl_builder_input(b, "x", SL_DTYPE_F32, 3,
				 (int64_t[]){sl_builder_symbol(b, "batch", 1),
					     n_steps, INPUT}),
		sl_builder_weight(b, "w", 3,
				  (int64_t[]){1, n_gates * HIDDEN, INPUT}, 0,
				  0.1),
		sl_builder_weight(b, "r", 3,
				  (int64_t[]){1, n_gates * HIDDEN, HIDDEN}, 0,
				  0.1)};

	(void)n_threads;
	sl_builder_int(b, "hidden_size", HIDDEN);
	sl_builder_int(b, "layout", 1);
	sl_builder_output(b, sl_builder_op(b, type, 3, operands), "y");
}

/* Rows of a line each, in no order. */
static void
build_rows(struct sl_builder *b, const char *type, int64_t n_bytes,
	   int n_threads)
{
	enum { WIDTH = 16 };
	int64_t n = n_bytes / 4 / WIDTH;
	int ids = sl_builder_input(
		b, "ids", SL_DTYPE_I64, 1,
		(int64_t[]){sl_builder_symbol(b, "batch", n / 4)});

	(void)type;
	(void)n_threads;
	sl_builder_output(b, sl_builder_embedding(b, ids, n, WIDTH), "y");
}

/* Columns written as rows, a power of two apart. */
static void
build_transpose(struct sl_builder *b, const char *type, int64_t n_bytes,
		int n_threads)
{
	int64_t n = 64;
	int x;

	(void)n_threads;
	while (2 * 4 * 4 * n * n <= n_bytes)
		n *= 2;
	x = matrix(b, n, n);
	sl_builder_ints(b, "perm", 2, (int64_t[]){1, 0});
	sl_builder_output(b, sl_builder_op(b, type, 1, &x), "y");
}

static void
build_tiny(struct sl_builder *b, const char *type, int64_t n, int n_threads)
{
	int x = matrix(b, 4, 16);

	(void)n_threads;
	for (int64_t i = 0; i < n; i++)
		x = i % 2 ? sl_builder_linear(b, x, 16, 0)
			  : sl_builder_op(b, type, 1, &x);
	sl_builder_output(b, x, "y");
}

/* One row more than there are threads: one of them has two. */
static void
build_uneven(struct sl_builder *b, const char *type, int64_t n, int n_threads)
{
	int x = matrix(b, n_threads + 1, n);

	for (int i = 0; i < FEW; i++)
		x = sl_builder_op(b, type, 1, &x);
	sl_builder_output(b, x, "y");
}

/* One row: the others have none. */
static void
build_one_row(struct sl_builder *b, const char *type, int64_t n, int n_threads)
{
	int x = matrix(b, 1, n);

	(void)n_threads;
	for (int i = 0; i < FEW; i++)
		x = sl_builder_op(b, type, 1, &x);
	sl_builder_output(b, x, "y");
}

static const struct kernel kernels[] = {
	{SL_BOUND_COMPUTE, build_matmul, NULL, 512, ONE},
	{SL_BOUND_COMPUTE, build_matmul, NULL, 896, ONE},
	{SL_BOUND_COMPUTE, build_conv, NULL, 56, ONE},
	{SL_BOUND_INSTRUCTIONS, build_chain, "Tanh", 0.4, L2},
	{SL_BOUND_INSTRUCTIONS, build_chain, "Log", 0.7, L2},
	{SL_BOUND_INSTRUCTIONS, build_chain, "Sin", 0.05, L3},
	{SL_BOUND_L2, build_chain, "Abs", 0.4, L2},
	{SL_BOUND_L2, build_chain, "Neg", 0.6, L2},
	{SL_BOUND_L3, build_chain, "Abs", 0.25, L3},
	{SL_BOUND_L3, build_chain, "Neg", 0.4, L3},
	{SL_BOUND_DRAM, build_chain, "Abs", 6, L3},
	{SL_BOUND_DRAM, build_row, NULL, 4, L3},
	{SL_BOUND_LATENCY, build_recurrence, "LSTM", 256, ONE},
	{SL_BOUND_LATENCY, build_recurrence, "RNN", 512, ONE},
	{SL_BOUND_LAYOUT, build_rows, NULL, 2, L3},
	{SL_BOUND_LAYOUT, build_transpose, "Transpose", 2, L3},
	{SL_BOUND_OVERHEAD, build_tiny, "Tanh", 24, ONE},
	{SL_BOUND_OVERHEAD, build_tiny, "Neg", 96, ONE},
	{SL_BOUND_IMBALANCE, build_uneven, "Softmax", 1 << 15, ONE},
	{SL_BOUND_IMBALANCE, build_one_row, "Softmax", 1 << 16, ONE},
};
enum { N_KERNELS = sizeof(kernels) / sizeof(kernels[0]) };

struct calibrator {
	const struct sl__calibrate_options *how;
	struct sl_ceilings ceilings;
	struct sl__arena *arena; /* of the result */
	struct sl__known_step *steps;
	size_t n;
	unsigned char is_kept[N_KERNELS];
	size_t n_measured, n_disturbed; /* kernels, now */
	double memory_bytes;            /* that a kernel may touch */
	struct sl__runner runner;
	size_t order[1];
};

/* Bytes of a cache, of all threads; 0: there is no such. */
static double
cache_bytes(const struct sl_ceilings *ceilings, enum unit unit)
{
	for (size_t i = 0; i < ceilings->n_levels; i++) {
		if (ceilings->levels[i].level ==
		    (unit == L2 ? SL_LEVEL_L2 : SL_LEVEL_L3))
			return (double)(ceilings->levels[i].size_bytes *
					ceilings->n_threads);
	}
	return 0;
}

/* 0: it cannot be made here. */
static int64_t
size_of(const struct calibrator *c, const struct kernel *k)
{
	double size = k->size *
		      (k->unit == ONE ? 1 : cache_bytes(&c->ceilings, k->unit));

	if (k->bound == SL_BOUND_IMBALANCE && c->how->n_threads < 2)
		return 0;
	/* What must not fit into a cache does not. */
	if (k->unit == L3 && size > c->memory_bytes)
		size = k->size > 1 && cache_bytes(&c->ceilings, L3) >
					       c->memory_bytes / 1.5
			       ? 0
			       : c->memory_bytes;
	return (int64_t)size;
}

static enum sl_status
make_graph(struct sl_graph **out, const struct kernel *k, int64_t size,
	   const struct sl__calibrate_options *how, struct sl_error *err)
{
	const struct sl_graph_options options = {.struct_size = sizeof(options),
						 .allocator = how->allocator};
	struct sl_builder *b;
	enum sl_status rc = sl_builder_new(&b, "calibration", &options, err);

	if (rc)
		return rc;
	k->build(b, k->type, size, how->n_threads);
	rc = sl_builder_finish(out, b, err);
	sl_builder_free(b);
	return rc;
}

/* The last that do its operations. */
static size_t
choose_steps(const struct sl__program *p, size_t *steps)
{
	size_t n = 0;

	for (size_t i = p->n_steps; i-- > 0 && n < STEPS_MOST;) {
		if (p->steps[i].node != SL__NONE)
			steps[n++] = i;
	}
	return n;
}

static void
keep(struct calibrator *c, const struct sl__step_responses *from,
     const struct sl__program *p, size_t kernel)
{
	size_t first = c->n;

	c->is_kept[kernel] = 1;
	c->n_measured++;
	for (size_t i = 0; i < from->n; i++) {
		const struct sl_response *r = &from->responses[i];
		const struct sl__step *s = &p->steps[r->step];
		struct sl__known_step *to = &c->steps[c->n++];

		memset(to, 0, sizeof(*to));
		to->bound = kernels[kernel].bound;
		to->kernel = first;
		to->is_repeat = c->n - 1 > first;
		to->number = kernel;
		to->evidence.dtype = SL_DTYPE_F32;
		sl__step_evidence_take_ceilings(&to->evidence, &c->ceilings);
		sl__step_evidence_take_response(&to->evidence, r);
		to->evidence.time_ns = r->at[SL_CONDITION_IN_PLACE].ns;
		to->evidence.least_ns = (double)NAN;
		to->evidence.flops = (double)s->executed_flops;
		to->evidence.core_flops = (double)s->core_flops;
		to->evidence.n_bytes = (double)s->n_bytes;
		to->evidence.hog = from->hog;
		to->evidence.others_share = sl__others_share(&from->noise);
	}
}

static enum sl_status
experiment(struct calibrator *c, struct sl__subject_model *subject,
	   size_t kernel, struct sl_error *err)
{
	size_t steps[STEPS_MOST];
	struct sl__diagnose_options how = {
		.steps = steps,
		.probes = c->how->probes,
		.cache_bytes = (uint64_t)cache_bytes(&c->ceilings, L3),
		.time_s = KERNEL_S,
		.seed = kernel + 1,
		.control = c->how->control,
	};
	struct sl__step_responses responses;
	enum sl_status rc = sl_plan_run(subject->plan, err);

	if (rc)
		return rc;
	how.control.progress = NULL;
	how.n_steps = choose_steps(subject->plan->current, steps);
	rc = sl__diagnose(&responses, subject, &how, c->arena, err);
	if (rc || responses.is_interrupted)
		return rc;
	if (sl__others_share(&responses.noise) > OTHERS_MOST)
		c->n_disturbed++;
	else
		keep(c, &responses, subject->plan->current, kernel);
	return SL_OK;
}

static enum sl_status
run_kernel(struct sl__slot *slot, void *ctx, struct sl_error *err)
{
	struct calibrator *c = ctx;
	const struct kernel *k = &kernels[slot->round];
	const struct sl_plan_options plan = {
		.struct_size = sizeof(plan),
		.n_threads = c->how->n_threads,
		.algorithms = SL_ALGORITHMS_FIXED,
		.flags = SL_PLAN_NO_FUSION | SL_PLAN_NO_WINOGRAD |
			 SL_PLAN_NO_CACHE,
		.interrupt = c->how->control.interrupt,
		.allocator = c->how->allocator,
	};
	const struct sl__subject_model_options how = {
		.plan = &plan, .interrupt = c->how->control.interrupt};
	int64_t size = size_of(c, k);
	struct sl__subject_model subject;
	struct sl_graph *graph = NULL;
	enum sl_status rc;

	if (!size || c->is_kept[slot->round])
		return SL_OK;
	rc = make_graph(&graph, k, size, c->how, err);
	if (!rc)
		rc = sl__subject_model_open(&subject, graph, &how, err);
	if (!rc) {
		rc = experiment(c, &subject, slot->round, err);
		sl__subject_model_close(&subject);
	}
	sl_graph_free(graph);
	return rc;
}

/* Where more are disturbed than not, the rest is not asked. */
static int
is_hopeless(void *ctx)
{
	const struct calibrator *c = ctx;

	return c->n_disturbed > c->n_measured;
}

/* What was measured before, as the first of the list. */
static enum sl_status
take_kept(struct calibrator *c, const struct sl__calibration *kept,
	  struct sl_error *err)
{
	size_t most = kept->n + (size_t)N_KERNELS * STEPS_MOST;

	c->steps = sl__arena_array(c->arena, most, sizeof(*c->steps));
	if (!c->steps)
		return sl__fail_nomem(err);
	for (; c->n < kept->n; c->n++) {
		c->steps[c->n] = kept->steps[c->n];
		if (c->steps[c->n].number < N_KERNELS)
			c->is_kept[c->steps[c->n].number] = 1;
	}
	return SL_OK;
}

/* The roofs under which kernels run; 1: and nobody else was busy. */
static int
is_calm(struct calibrator *c)
{
	struct sl__monitor monitor;
	struct sl_noise noise = {0};

	sl__monitor_open(&monitor, &c->how->control.with);
	for (int i = 0; i < CEILING_RUNS; i++)
		sl__ceiling_probes_run(c->how->probes);
	sl__monitor_close(&monitor, &noise);
	sl__ceiling_probes_ceilings(c->how->probes, &c->ceilings);
	c->ceilings.step_ns = sl__thread_wake_ns(c->how->n_threads);
	return !(sl__others_share(&noise) > OTHERS_MOST);
}

static size_t
n_missing(const struct calibrator *c)
{
	size_t n = 0;

	for (size_t i = 0; i < N_KERNELS; i++)
		n += !c->is_kept[i] && size_of(c, &kernels[i]);
	return n;
}

/* Adds to what was kept what is missing in it. */
static enum sl_status
measure(struct calibrator *c, struct sl__calibration *all, struct sl_error *err)
{
	const struct sl__phase_spec calibration = {.name = "calibration",
						   .n_arms = 1,
						   .is_in_order = 1,
						   .max_rounds = N_KERNELS,
						   .is_enough = is_hopeless,
						   .run = run_kernel,
						   .ctx = c};
	enum sl_status rc = take_kept(c, all, err);

	if (rc)
		return rc;
	c->memory_bytes = (double)sl__platform_free_bytes("") / MEMORY_SHARE;
	c->runner.control = c->how->control;
	c->runner.order = c->order;
	sl__runner_start_budget(&c->runner, 1);
	if (is_calm(c))
		rc = sl__runner_run(&c->runner, &calibration, err);
	if (!rc && c->runner.stopped_by == SL_STOP_INTERRUPT)
		rc = sl__fail(err, SL_E_INTERRUPTED,
			      "interrupted while the machine was calibrated");
	*all = (struct sl__calibration){
		c->steps, c->n, n_missing(c),
		all->elapsed_s + sl__runner_elapsed_s(&c->runner)};
	return rc;
}

/* Empty where nothing can be kept. */
static void
find_file(char path[SL__CACHE_PATH], const struct sl__calibrate_options *how)
{
	char folder[SL__CACHE_PATH];
	int n;

	path[0] = '\0';
	if (sl__cache_folder(folder, how->cache_folder, NULL))
		return;
	n = snprintf(path, SL__CACHE_PATH, "%s/calibration-%s-%d.txt", folder,
		     sl__ceiling_probes_fingerprint(how->probes),
		     how->n_threads);
	if (n >= SL__CACHE_PATH)
		path[0] = '\0';
}

static enum sl_status
recall(struct sl__calibration *out, const char *path, struct sl__arena *arena,
       struct sl_error *err)
{
	struct sl_buf text = {0};
	enum sl_status rc = sl__cache_read(&text, path, NULL);

	rc = rc || !text.data
		     ? SL_E_ABSENT
		     : sl__calibration_read(out, text.data, arena, err);
	sl_buf_release(&text);
	return rc;
}

static void
save(const char *path, const struct sl__calibration *c)
{
	struct sl_buf text = {0};

	sl__calibration_write(&text, c);
	if (!sl__buf_status(&text, NULL) && text.data)
		(void)!sl__cache_write(path, text.data, text.n_bytes, NULL);
	sl_buf_release(&text);
}

enum sl_status
sl__calibrate(struct sl__calibration *out,
	      const struct sl__calibrate_options *how, struct sl__arena *arena,
	      struct sl_error *err)
{
	struct calibrator c = {.how = how, .arena = arena};
	char path[SL__CACHE_PATH];
	enum sl_status rc = SL_E_ABSENT;

	memset(out, 0, sizeof(*out));
	find_file(path, how);
	if (path[0])
		rc = recall(out, path, arena, err);
	if (rc == SL_E_ABSENT)
		memset(out, 0, sizeof(*out));
	else if (rc || !out->n_missing)
		return rc;
	rc = measure(&c, out, err);
	if (path[0] && c.n_measured)
		save(path, out);
	return rc;
}
