/* SPDX-License-Identifier: Apache-2.0 */
/*
 * brute_force.c - do measured limits agree with brute force?
 *
 * usage: bench_brute_force [INSTANCES [ROUNDS [MODEL]]]
 *
 * Models in which some layers can be taken out, because what they make has the
 * shape of what they take, are timed in two ways.  By ablation: the steps of
 * these layers do not run and their stored outputs stand in for them
 * (src/experiment/ablate.h).  By brute force: the layers are taken out of the
 * graph and the smaller model, planned by itself, takes turns with the whole
 * one, algorithms being fixed.  A plan's turn starts with iterations off the
 * clock, since the other one has had the caches.
 *
 * Two plans of one model do not take the same time: where their memory lies
 * makes a difference of up to 10 %.  Both ways are therefore repeated with
 * plans made anew, in an order decided by a coin; the ratio is the median over
 * these instances of the median over rounds, and the interval is of the
 * instances.
 *
 * An instance is timed both ways, so the difference of the two is taken there,
 * and its median over instances has an interval.  They agree where that holds 0
 * and is short enough to say so, differ where it does not hold 0, and are
 * undecided otherwise: noise makes no agreement.
 */
#include "base/clock.h"
#include "base/rng.h"
#include "experiment/ablate.h"
#include "stats/quantile.h"
#include "stats/summary.h"
#include "transform/rewrite.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	INSTANCES = 9,
	ROUNDS = 5,
	MOST = 1024,
	STEPS_MOST = 512,
	NODES_MOST = 4096,
	TURN_NS = 25000000 /* and as long before it */
};

/* An agreement is known to so much, as a ratio: half of its interval. */
#define KNOWN 0.03

struct subject {
	const char *name;  /* of the zoo, or of a chain below */
	const char *taken; /* layers: steps whose name starts with this */
	struct sl_graph *(*build)(void); /* NULL: the zoo's */
};

static void
must(enum sl_status rc, const struct sl_error *err)
{
	if (!rc)
		return;
	fprintf(stderr, "bench_brute_force: %s\n", err->text);
	exit(1);
}

static struct sl_graph *
finish(struct sl_builder *b, int x)
{
	struct sl_graph *graph;
	struct sl_error err;

	sl_builder_output(b, x, "y");
	must(sl_builder_finish(&graph, b, &err), &err);
	sl_builder_free(b);
	return graph;
}

static struct sl_builder *
start(const char *name)
{
	struct sl_builder *b;
	struct sl_error err;

	must(sl_builder_new(&b, name, NULL, &err), &err);
	return b;
}

static int
add_conv(struct sl_builder *b, int x, const char *scope, int64_t kernel)
{
	struct sl_conv2d conv = {.out_channels = 64,
				 .kernel_height = kernel,
				 .padding = kernel / 2,
				 .has_bias = 1};

	sl_builder_enter(b, scope);
	x = sl_builder_conv2d(b, x, &conv);
	x = sl_builder_op(b, "Relu", 1, &x);
	sl_builder_leave(b);
	return x;
}

/* Six equal convolutions and one of five times their work. */
static struct sl_graph *
conv_chain(void)
{
	struct sl_builder *b = start("conv-chain");
	int x = sl_builder_input(b, "x", SL_DTYPE_F32, 4,
				 (int64_t[]){1, 64, 56, 56});
	char scope[16];

	for (int i = 0; i < 7; i++) {
		snprintf(scope, sizeof(scope), i == 3 ? "large" : "small%d", i);
		x = add_conv(b, x, scope, i == 3 ? 7 : 3);
	}
	return finish(b, x);
}

static struct sl_graph *
linear_chain(const char *name, int64_t rows, int64_t width, int n)
{
	struct sl_builder *b = start(name);
	int x = sl_builder_input(b, "x", SL_DTYPE_F32, 2,
				 (int64_t[]){rows, width});
	char scope[16];

	for (int i = 0; i < n; i++) {
		snprintf(scope, sizeof(scope), "layer%d", i);
		sl_builder_enter(b, scope);
		x = sl_builder_linear(b, x, width, 1);
		x = sl_builder_op(b, "Relu", 1, &x);
		sl_builder_leave(b);
	}
	return finish(b, x);
}

/* Products of 128 rows: bound by arithmetic. */
static struct sl_graph *
wide_mlp(void)
{
	return linear_chain("mlp-128-rows", 128, 768, 6);
}

/* One row: every iteration reads 96 MB of weights. */
static struct sl_graph *
thin_mlp(void)
{
	return linear_chain("mlp-1-row", 1, 2048, 6);
}

/* A softmax over 8 MB between products, in place where the plan can. */
static struct sl_graph *
softmax_chain(void)
{
	struct sl_builder *b = start("softmax-chain");
	int x = sl_builder_input(b, "x", SL_DTYPE_F32, 2,
				 (int64_t[]){4096, 512});

	for (int i = 0; i < 3; i++) {
		sl_builder_enter(b, i == 1 ? "middle" : i ? "last" : "first");
		x = sl_builder_linear(b, x, 512, 1);
		sl_builder_name(b, "softmax");
		x = sl_builder_op(b, "Softmax", 1, &x);
		sl_builder_leave(b);
	}
	return finish(b, x);
}

static const struct subject subjects[] = {
	{"conv-chain", "large", conv_chain},
	{"conv-chain", "small1", conv_chain},
	{"mlp-128-rows", "layer2", wide_mlp},
	{"mlp-1-row", "layer2", thin_mlp},
	{"softmax-chain", "middle.softmax", softmax_chain},
	{"resnet18", "layer1.0.conv1", NULL},
	{"resnet18", "layer2.1.conv1", NULL},
	{"resnet18", "layer3.1.", NULL},
	{"resnet50", "layer1.1.", NULL},
	{"mobilenetv2", "features.3.", NULL},
};

static int
is_in(const size_t *list, size_t n, size_t x)
{
	for (size_t i = 0; i < n; i++) {
		if (list[i] == x)
			return 1;
	}
	return 0;
}

/* Of the nodes that go: the value that comes in and the one that leaves.
 * Returns 0 where there are several of either. */
static int
find_ends(const struct sl__rewrite *rw, const size_t *gone, size_t n,
	  uint32_t ends[2])
{
	uint32_t in = SL__NONE, out = SL__NONE;

	for (size_t g = 0; g < n; g++) {
		const struct sl__node *node =
			sl__rewrite_node(rw, (uint32_t)gone[g]);

		for (uint32_t i = 0; i < node->n_inputs; i++) {
			uint32_t v = node->inputs[i];
			uint32_t from = v == SL__NONE ? SL__NONE
						      : rw->producers[v];

			if (v == SL__NONE || sl__tensor_constant_read(rw, v) ||
			    (from != SL__NONE && is_in(gone, n, from)))
				continue;
			if (in != SL__NONE && in != v)
				return 0;
			in = v;
		}
		for (uint32_t k = 0; k < node->n_outputs; k++) {
			uint32_t v = node->outputs[k];
			const struct sl__value_uses *uses;

			if (v == SL__NONE)
				continue;
			uses = &rw->uses[v];
			if (rw->is_pinned[v])
				return 0;
			for (uint32_t u = 0; u < uses->n; u++) {
				if (is_in(gone, n, uses->nodes[u]))
					continue;
				if (out != SL__NONE && out != v)
					return 0;
				out = v;
			}
		}
	}
	ends[0] = in;
	ends[1] = out;
	return in != SL__NONE && out != SL__NONE;
}

static int
is_same_shape(const struct sl__type *a, const struct sl__type *b)
{
	return a->dtype == b->dtype && a->rank == b->rank &&
	       !memcmp(a->dims, b->dims, (size_t)a->rank * sizeof(*a->dims));
}

/* The model without some nodes; NULL where it does not allow that. */
static struct sl_graph *
without(const struct sl_graph *graph, const size_t *gone, size_t n)
{
	struct sl__shapes_options options = {0};
	const struct sl__covered_nodes *covers;
	struct sl__shapes *shapes;
	struct sl__rewrite *rw;
	struct sl_graph *out = NULL;
	struct sl_error err;
	uint32_t ends[2];

	must(sl__shapes_new(&shapes, graph, &options, &err), &err);
	must(sl__rewrite_new(&rw, graph, shapes, NULL, &err), &err);
	if (find_ends(rw, gone, n, ends) &&
	    is_same_shape(&rw->types[ends[0]], &rw->types[ends[1]])) {
		sl__rewrite_replace_value(rw, ends[1], ends[0]);
		for (size_t i = 0; i < n; i++)
			sl__rewrite_remove_node(rw, (uint32_t)gone[i]);
		must(sl__rewrite_finish(rw, &out, &covers), &err);
	}
	sl__rewrite_free(rw);
	sl__shapes_free(shapes);
	return out;
}

struct case_state {
	struct sl_graph *graph, *smaller;
	struct sl_plan *plans[2]; /* whole, smaller */
	size_t steps[STEPS_MOST];
	size_t n_steps;
	double iteration_ns, ticks_per_ns, reading_ns;
	size_t calls; /* iterations of a turn, on the clock; as many before it */
	struct sl__rng rng;
};

static double
run_ns(struct case_state *c, int which, size_t n)
{
	struct sl_error err;
	uint64_t begin = sl__ticks();

	for (size_t i = 0; i < n; i++)
		must(sl_plan_run(c->plans[which], &err), &err);
	return (double)(sl__ticks() - begin) / c->ticks_per_ns / (double)n;
}

static double
median_of(double *x, size_t n)
{
	sl__sort(x, n);
	return sl__quantile_sorted(x, n, 0.5);
}

/* ln(whole / smaller), the median over rounds. */
static double
brute_force(struct case_state *c, size_t n_rounds)
{
	static double ratios[MOST];

	for (size_t r = 0; r < n_rounds; r++) {
		int first = sl__rng_coin(&c->rng);
		double ns[2];

		for (int k = 0; k < 2; k++) {
			int which = k == 0 ? first : !first;

			run_ns(c, which, c->calls);
			ns[which] = run_ns(c, which, c->calls);
		}
		ratios[r] = log(ns[0] / ns[1]);
	}
	return median_of(ratios, n_rounds);
}

static double
ablate(struct case_state *c, size_t n_rounds)
{
	struct sl__ablation target = {.steps = c->steps, .n_steps = c->n_steps};
	struct sl__ablate_options how = {.time_s = 1,
					 .iteration_ns = c->iteration_ns,
					 .reading_ns = c->reading_ns,
					 .seed = sl__rng_next(&c->rng) | 1,
					 .n_rounds = n_rounds};
	struct sl__arena arena;
	struct sl_error err;

	sl__arena_init(&arena, NULL);
	must(sl__ablate(&target, 1, c->plans[0], &how, &arena, &err), &err);
	if (target.absent) {
		fprintf(stderr, "bench_brute_force: %s\n", target.absent);
		exit(1);
	}
	sl__arena_release(&arena);
	return log(target.limit.value);
}

/* The share of the steps' time that the ones taken out have. */
static double
share_of(struct case_state *c)
{
	static struct sl__timestamp marks[1 << 16];
	struct sl__event_buffer events = {.stamps = marks, .cap = 1 << 16};
	double sum = 0, all = 0;
	struct sl_error err;

	for (int r = 0; r < 10; r++) {
		must(sl__plan_record(c->plans[0], &events, &err), &err);
		for (size_t i = 0; i + 1 < events.n_stamps; i++) {
			double ticks = (double)(events.stamps[i + 1].ticks -
						events.stamps[i].ticks);

			all += ticks;
			if (is_in(c->steps, c->n_steps, events.stamps[i].step))
				sum += ticks;
		}
	}
	return sum / all;
}

static void
make_plan(struct case_state *c, int which)
{
	struct sl_plan_options how = {.struct_size = sizeof(how),
				      .algorithms = SL_ALGORITHMS_FIXED};
	struct sl_error err;

	must(sl_plan_new(&c->plans[which], which ? c->smaller : c->graph, &how,
			 &err),
	     &err);
	must(sl_plan_fill_inputs(c->plans[which], 1, &err), &err);
}

static uint64_t
ticks_now(void *ctx)
{
	(void)ctx;
	return sl__ticks();
}

static void
calibrate_clock(struct case_state *c)
{
	const struct sl_clock ticks = {ticks_now, NULL};
	struct sl__clock_cost cost;

	c->ticks_per_ns = sl__ticks_per_ns();
	sl__clock_calibrate(&cost, &ticks);
	c->reading_ns = cost.reading_ns / c->ticks_per_ns;
}

/* Steps whose name says that they go; returns how many nodes these cover. */
static size_t
take_steps(struct case_state *c, const struct subject *s, size_t *nodes)
{
	struct sl_step step;
	size_t n = 0;

	for (size_t i = 0; sl_plan_step(c->plans[0], i, &step); i++) {
		if (strncmp(step.name, s->taken, strlen(s->taken)) != 0)
			continue;
		if (c->n_steps == STEPS_MOST ||
		    step.n_covers > NODES_MOST - n) {
			fprintf(stderr,
				"bench_brute_force: %s of %s: more than %d "
				"steps or %d nodes\n",
				s->taken, s->name, STEPS_MOST, NODES_MOST);
			exit(1);
		}
		c->steps[c->n_steps++] = i;
		for (size_t k = 0; k < step.n_covers; k++)
			nodes[n++] = step.covers[k];
	}
	return n;
}

/* The model, and the model without the layers; 0 where that cannot be. */
static int
open_case(struct case_state *c, const struct subject *s)
{
	static size_t nodes[NODES_MOST];
	struct sl_error err;
	size_t n;

	memset(c, 0, sizeof(*c));
	sl__rng_init(&c->rng, 1);
	calibrate_clock(c);
	if (s->build)
		c->graph = s->build();
	else
		must(sl_graph_open(&c->graph, s->name, NULL, &err), &err);
	make_plan(c, 0);
	n = take_steps(c, s, nodes);
	c->smaller = n ? without(c->graph, nodes, n) : NULL;
	sl_plan_free(c->plans[0]);
	return c->smaller != NULL;
}

/* Of each instance; limits, ratios and their differences are logarithms. */
struct figures {
	double limits[MOST], ratios[MOST], differences[MOST];
	double shares[MOST], iteration_ns[MOST];
};

/* One instance: both plans made anew. */
static void
take_instance(struct case_state *c, struct figures *f, size_t i,
	      size_t n_rounds)
{
	int first = sl__rng_coin(&c->rng);

	make_plan(c, first);
	make_plan(c, !first);
	for (int k = 0; k < 2; k++)
		run_ns(c, k, 2);
	c->iteration_ns = run_ns(c, 0, 2);
	c->calls = (size_t)fmax(3, fmin(1e4, TURN_NS / c->iteration_ns));
	f->iteration_ns[i] = run_ns(c, 0, c->calls);
	f->shares[i] = share_of(c);
	f->ratios[i] = brute_force(c, n_rounds);
	f->limits[i] = ablate(c, n_rounds);
	f->differences[i] = f->limits[i] - f->ratios[i];
	sl_plan_free(c->plans[0]);
	sl_plan_free(c->plans[1]);
}

static struct sl_estimate
conclude(double *logs, size_t n)
{
	struct sl_estimate e;

	sl__sort(logs, n);
	e = sl__quantile_estimate(logs, n, 0.5, 0.05);
	e.value = exp(e.value);
	e.lo = exp(e.lo);
	e.hi = exp(e.hi);
	return e;
}

enum verdict { AGREE, UNDECIDED, DIFFER };

/* Of a ratio that is 1 where both ways agree. */
static enum verdict
judge(const struct sl_estimate *ratio)
{
	if (ratio->needs_n)
		return UNDECIDED;
	if (ratio->lo > 1 || ratio->hi < 1)
		return DIFFER;
	return log(ratio->hi / ratio->lo) / 2 < log1p(KNOWN) ? AGREE
							     : UNDECIDED;
}

static void
print_case(const struct subject *s, struct figures *f, size_t n,
	   enum verdict *verdict)
{
	static const char *const words[] = {"agree", "undecided", "DIFFER"};
	struct sl_estimate limit = conclude(f->limits, n);
	struct sl_estimate brute = conclude(f->ratios, n);
	struct sl_estimate between = conclude(f->differences, n);
	double share = median_of(f->shares, n);

	*verdict = judge(&between);
	printf("%-13s %-15s %7.3f  %5.1f %%  %6.3f  %6.3f [%6.3f, %6.3f]  "
	       "%6.3f [%6.3f, %6.3f]  %+5.1f [%+5.1f, %+5.1f] %%  %s\n",
	       s->name, s->taken, median_of(f->iteration_ns, n) / 1e6,
	       100 * share, 1 / (1 - share), limit.value, limit.lo, limit.hi,
	       brute.value, brute.lo, brute.hi, 100 * (between.value - 1),
	       100 * (between.lo - 1), 100 * (between.hi - 1), words[*verdict]);
	fflush(stdout);
}

static enum verdict
measure(const struct subject *s, size_t n, size_t n_rounds)
{
	static struct figures f;
	struct case_state c;
	enum verdict verdict;

	if (!open_case(&c, s)) {
		fprintf(stderr,
			"bench_brute_force: %s without %s is no model\n",
			s->name, s->taken);
		exit(1);
	}
	for (size_t i = 0; i < n; i++)
		take_instance(&c, &f, i, n_rounds);
	print_case(s, &f, n, &verdict);
	sl_graph_free(c.smaller);
	sl_graph_free(c.graph);
	return verdict;
}

static size_t
read_count(const char *text, size_t least)
{
	long n = strtol(text, NULL, 10);

	if (n < (long)least || n > MOST) {
		fprintf(stderr, "bench_brute_force: %s: from %zu to %d\n", text,
			least, MOST);
		exit(64);
	}
	return (size_t)n;
}

int
main(int argc, char **argv)
{
	size_t n = argc > 1 ? read_count(argv[1], 6) : INSTANCES;
	size_t n_rounds = argc > 2 ? read_count(argv[2], 1) : ROUNDS;
	const char *only = argc > 3 ? argv[3] : "";
	size_t n_of[3] = {0}, n_all = 0;

	printf("%-13s %-15s %7s  %7s  %6s  %-24s  %-24s  %s\n", "model",
	       "without", "pass ms", "share", "by it", "measured by ablation",
	       "layers taken out", "difference");
	for (size_t i = 0; i < sizeof(subjects) / sizeof(subjects[0]); i++) {
		if (strncmp(subjects[i].name, only, strlen(only)) != 0)
			continue;
		n_of[measure(&subjects[i], n, n_rounds)]++;
		n_all++;
	}
	printf("%zu of %zu agree, %zu differ, %zu undecided\n", n_of[AGREE],
	       n_all, n_of[DIFFER], n_of[UNDECIDED]);
	return n_of[AGREE] < n_all;
}
