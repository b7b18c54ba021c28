/* SPDX-License-Identifier: Apache-2.0 */
/*
 * own_kernels.c - own matmuls and convolutions beside oneDNN's and the peak.
 *
 * usage: bench_own_kernels [MODEL [ROUNDS [THREADS]]]
 *
 * Plans MODEL (resnet50) twice, with oneDNN's kernels as the engine would
 * choose them and with own ones, and runs both step by step in turn, with a
 * loop of multiply-adds between them.  Prints, from the least of ROUNDS (30)
 * for each step: the share of the peak of one matmul of 1024^3, of all
 * convolutions of 3 x 3 and of all steps, and the time over oneDNN's.
 */
#include "engine/compile.h"
#include "engine/observer.h"
#include "engine/plan.h"
#include "machine/peak.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { STEPS_MOST = 4096 };

struct side {
	struct sl_plan *plan;
	double best_s[STEPS_MOST]; /* by step */
};

/* On one thread its own time, which neighbours do not lengthen. */
static clockid_t clock_in_use = CLOCK_THREAD_CPUTIME_ID;

static double
now_s(void)
{
	struct timespec t;

	clock_gettime(clock_in_use, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int
check(enum sl_status rc, const struct sl_error *err)
{
	if (rc)
		fprintf(stderr, "bench_own_kernels: %s\n", err->text);
	return rc != SL_OK;
}

/* FLOP/s of one core: the fastest of the f32 loops. */
static double
peak_flops_per_s(void)
{
	struct sl__peak_kernel kernels[SL__MAX_PEAK_KERNELS];
	size_t n = sl__peak_kernels(kernels);
	double best = 0;

	for (size_t i = 0; i < n; i++) {
		double start, rate;

		if (kernels[i].dtype != SL_DTYPE_F32 || kernels[i].absent ||
		    !kernels[i].run)
			continue;
		start = now_s();
		(void)kernels[i].run(20000);
		rate = 20000 * kernels[i].ops_per_round / (now_s() - start);
		best = rate > best ? rate : best;
	}
	return best;
}

static int
plan_side(struct side *s, const struct sl_graph *graph,
	  struct sl_plan_options how, unsigned flags, struct sl_error *err)
{
	how.flags |= flags;
	for (size_t i = 0; i < STEPS_MOST; i++)
		s->best_s[i] = 1e9;
	return check(sl_plan_new(&s->plan, graph, &how, err), err) ||
	       check(sl_plan_fill_inputs(s->plan, 1, err), err) ||
	       check(sl_plan_run(s->plan, err), err);
}

static int
time_steps(struct side *s, struct sl_error *err)
{
	struct sl__program *p = s->plan->current;
	int before = sl__parallel_set_threads(p->n_threads);

	for (size_t i = 0; i < p->n_steps && i < STEPS_MOST; i++) {
		double start = now_s(), took;

		if (check(sl__run_step(p, i, err), err))
			return 1;
		took = now_s() - start;
		s->best_s[i] = took < s->best_s[i] ? took : s->best_s[i];
	}
	sl__parallel_set_threads(before);
	return 0;
}

/* A convolution of 3 x 3, whatever its layout changes. */
static int
is_3x3(const struct sl__program *p, const struct sl__step *step)
{
	const struct sl__node *node;
	const struct sl__type *w;

	if (step->node == SL__NONE || !step->core_flops)
		return 0;
	node = &p->graph->nodes[step->node];
	if (!strstr(node->type, "Conv"))
		return 0;
	w = &p->shapes->types[node->inputs[1]];
	return w->rank == 4 && w->dims[2] == 3 && w->dims[3] == 3;
}

/* Seconds and work of all steps, or of convolutions of 3 x 3 only. */
struct total {
	double s, flops;
};

static struct total
total_of(const struct side *side, int only_3x3)
{
	const struct sl__program *p = side->plan->current;
	struct total t = {0, 0};

	for (size_t i = 0; i < p->n_steps && i < STEPS_MOST; i++) {
		if (only_3x3 && !is_3x3(p, &p->steps[i]))
			continue;
		t.s += side->best_s[i];
		t.flops += (double)p->steps[i].core_flops;
	}
	return t;
}

static void
print_steps(const struct side *side, double peak)
{
	const struct sl__program *p = side->plan->current;

	for (size_t i = 0; i < p->n_steps && i < STEPS_MOST; i++)
		printf("  %9.1f us  share %.2f  %-20s %s\n",
		       side->best_s[i] * 1e6,
		       (double)p->steps[i].core_flops / side->best_s[i] / peak,
		       p->steps[i].kernel, p->steps[i].name);
}

static void
print_total(const char *what, const struct side *sides, int only_3x3,
	    double peak)
{
	struct total own = total_of(&sides[0], only_3x3);
	struct total dnnl = total_of(&sides[1], only_3x3);

	if (own.flops > 0)
		printf("%-24s own %8.3f ms, share of the peak %.3f; oneDNN "
		       "%8.3f ms; own / oneDNN %.3f\n",
		       what, own.s * 1e3, own.flops / own.s / peak,
		       dnnl.s * 1e3, own.s / dnnl.s);
}

static int
compare(const char *model, int64_t batch, int n_rounds, int n_threads)
{
	struct sl_sizes sizes = {.struct_size = sizeof(sizes), .batch = batch};
	struct sl_plan_options how = {.struct_size = sizeof(how),
				      .sizes = &sizes,
				      .n_threads = n_threads};
	static struct side sides[2];
	struct sl_graph *graph;
	struct sl_error err;
	double peak = 0;

	if (check(sl_graph_open(&graph, model, NULL, &err), &err) ||
	    plan_side(&sides[0], graph, how, SL__PLAN_NO_DNNL, &err) ||
	    plan_side(&sides[1], graph, how, 0, &err))
		return 1;
	for (int i = 0; i < n_rounds; i++) {
		double rate = peak_flops_per_s();

		peak = rate > peak ? rate : peak;
		if (time_steps(&sides[i % 2], &err) ||
		    time_steps(&sides[1 - i % 2], &err))
			return 1;
	}
	peak *= n_threads;
	if (getenv("STEPS"))
		print_steps(&sides[0], peak);
	print_total(model, sides, 0, peak);
	print_total("  convolutions of 3 x 3", sides, 1, peak);
	sl_plan_free(sides[0].plan);
	sl_plan_free(sides[1].plan);
	sl_graph_free(graph);
	return 0;
}

int
main(int argc, char **argv)
{
	const char *model = argc > 1 ? argv[1] : "resnet50";
	int n_rounds = argc > 2 ? atoi(argv[2]) : 30;
	int n_threads = argc > 3 ? atoi(argv[3]) : 1;

	if (n_threads != 1)
		clock_in_use = CLOCK_MONOTONIC;
	return compare("mlp:1024-1024", 1024, n_rounds, n_threads) ||
	       compare(model, 1, n_rounds, n_threads);
}
