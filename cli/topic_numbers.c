/* SPDX-License-Identifier: Apache-2.0 */
/* topic_numbers.c - the figures of `sleuth help TOPIC`. */
#include "topic_numbers.h"
#include "exit_code.h"
#include "fill.h"
#include "sleuth.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void
exit_if_failed(enum sl_status rc, const struct sl_error *err)
{
	int code = rc ? exit_for("help", err) : 0;

	if (rc)
		exit(code ? code : EXIT_BUG);
}

struct sl_inspection *
inspect_model(const char *name, int64_t batch, int64_t seq)
{
	struct sl_sizes sizes = {
		.struct_size = sizeof(sizes), .batch = batch, .seq = seq};
	struct sl_inspect_options how = {
		.struct_size = sizeof(how), .sizes = &sizes, .brief = 1};
	struct sl_inspection *found;
	struct sl_graph *graph;
	struct sl_error err;

	exit_if_failed(sl_graph_open(&graph, name, NULL, &err), &err);
	exit_if_failed(sl_inspect(&found, graph, &how, &err), &err);
	sl_graph_free(graph);
	return found;
}

const char *
grouped(struct grouped *out, uint64_t n)
{
	char digits[24];
	int n_digits =
		snprintf(digits, sizeof(digits), "%llu", (unsigned long long)n);
	char *to = out->s;

	for (int i = 0; i < n_digits; i++) {
		if (i && (n_digits - i) % 3 == 0)
			*to++ = ',';
		*to++ = digits[i];
	}
	*to = '\0';
	return out->s;
}

void
numbers_parameters(void)
{
	struct sl_inspection *i = inspect_model("resnet50", 0, 0);
	struct grouped a, b;

	say(2,
	    "resnet50 holds %s parameters, and %s running means and "
	    "variances that are none; stored, %.1f MB",
	    grouped(&a, i->parameters.trainable),
	    grouped(&b, i->parameters.statistics),
	    (double)i->parameters.n_bytes / 1e6);
	sl_inspection_free(i);
}

void
numbers_flops(void)
{
	struct sl_inspection *i = inspect_model("resnet50", 0, 0);
	struct grouped a, b, c;

	say(2,
	    "one image through resnet50: %s MACs, %s FLOPs; every operation "
	    "counted, norms and activations too, %s",
	    grouped(&a, i->cost.macs), grouped(&b, i->flops),
	    grouped(&c, i->conventions[SL_CONVENTION_ALL]));
	sl_inspection_free(i);
}

void
numbers_memory(void)
{
	struct sl_inspection *i = inspect_model("resnet50", 0, 0);

	say(2,
	    "resnet50: %.1f MB of weights, %.2f MB needed at the fullest "
	    "step (%s); all its activations together would be %.1f MB",
	    (double)i->memory.parameter_bytes / 1e6,
	    (double)i->memory.live_bytes / 1e6, i->memory.peak_layer,
	    (double)i->memory.activation_bytes / 1e6);
	sl_inspection_free(i);
}

void
numbers_training(void)
{
	struct sl_inspection *i = inspect_model("gpt2", 0, 0);
	const struct sl_training *t = &i->training;

	say(2,
	    "gpt2, 128 tokens: %.1f MB of weights, %.1f MB of gradients, "
	    "%.1f MB for Adam, %.1f MB of activations kept; backward is "
	    "%.3f x forward",
	    (double)t->parameter_bytes / 1e6, (double)t->gradient_bytes / 1e6,
	    (double)t->optimizer_bytes[SL_OPTIMIZER_ADAM] / 1e6,
	    (double)t->activation_bytes / 1e6, t->backward_to_forward);
	sl_inspection_free(i);
}

/* A small model, timed for a fraction of a second. */
static struct sl_measurement *
measure(void)
{
	struct sl_measure_options how = {.struct_size = sizeof(how),
					 .name = "mlp:784-256-128-10",
					 .time_s = 0.3,
					 .precision = 0.001};
	struct sl_measurement *found;
	struct sl_graph *graph;
	struct sl_plan *plan;
	struct sl_error err;

	exit_if_failed(sl_graph_open(&graph, how.name, NULL, &err), &err);
	exit_if_failed(sl_plan_new(&plan, graph, NULL, &err), &err);
	exit_if_failed(sl_plan_fill_inputs(plan, 1, &err), &err);
	exit_if_failed(sl_measure_latency(&found, plan, &how, &err), &err);
	sl_plan_free(plan);
	sl_graph_free(graph);
	return found;
}

static void
print_quantile(const char *name, const struct sl_estimate *e)
{
	if (e->needs_n)
		printf("  %-7s needs n >= %zu\n", name, e->needs_n);
	else
		printf("  %-7s %.2f us [%.2f, %.2f]\n", name, e->value / 1e3,
		       e->lo / 1e3, e->hi / 1e3);
}

void
numbers_latency(void)
{
	struct sl_measurement *m = measure();

	say(2, "mlp:784-256-128-10, %zu samples", m->wall.n);
	print_quantile("median", &m->wall.median);
	print_quantile("p90", &m->wall.p90);
	print_quantile("p99", &m->wall.p99);
	say(2, "%.0f inferences a second, one after the other",
	    1e9 / m->wall.mean.value);
	sl_measurement_free(m);
}

/* By enum sl_warmup_class. */
static const char *const series_words[] = {
	[SL_WARMUP_UNKNOWN] = "too few samples to say whether it is steady",
	[SL_WARMUP_FLAT] = "it is steady from the start",
	[SL_WARMUP_WARMING] = "it became faster, then steady",
	[SL_WARMUP_SLOWING] = "it became slower, then steady",
	[SL_WARMUP_NONE] = "it never became steady",
};

void
numbers_warmup(void)
{
	struct sl_measurement *m = measure();

	say(2,
	    "mlp:784-256-128-10: the first inference %.2f us, then %.2f us in "
	    "the "
	    "median, %.1f x less; %s, %zu of %zu samples are warm-up",
	    m->wall.first_ns / 1e3, m->wall.median.value / 1e3,
	    m->wall.first_ns / m->wall.median.value,
	    series_words[m->wall.warmup], m->wall.n_warmup, m->n_samples);
	sl_measurement_free(m);
}

void
numbers_intervals(void)
{
	struct sl_measurement *m = measure();

	say(2,
	    "mlp:784-256-128-10: median %.2f us [%.2f, %.2f] from %zu samples "
	    "(%s); a second run like this one would show a change of %.2f %%",
	    m->wall.median.value / 1e3, m->wall.median.lo / 1e3,
	    m->wall.median.hi / 1e3, m->wall.n,
	    sl_method_text(m->wall.median.method),
	    100 * m->wall.minimum_detectable);
	sl_measurement_free(m);
}

void
numbers_overhead(void)
{
	struct sl_measurement *m = measure();

	say(2,
	    "one reading of the clock takes %.0f ns, its smallest step is "
	    "%.0f ns; an inference of mlp:784-256-128-10 is as long as "
	    "%.0f "
	    "readings",
	    m->clock_cost_ns, m->clock_resolution_ns,
	    m->wall.median.value / m->clock_cost_ns);
	sl_measurement_free(m);
}

int
find_ridge(struct ridge *out, const struct sl_machine *m)
{
	double flops =
		sl_machine_peak_flops_per_s(m, SL_DTYPE_F32, m->max_threads);
	double bytes = sl_machine_bandwidth_bytes_per_s(m, m->max_threads);

	if (!(flops > 0) || !(bytes > 0)) /* NaN: not measured */
		return 0;
	*out = (struct ridge){flops, bytes, flops / bytes};
	return 1;
}

/* The ridge of what was measured before; 0 after saying so where there is
 * none. */
static int
open_ridge(struct ridge *out, size_t *n_threads)
{
	struct sl_machine *m;
	struct sl_error err;
	enum sl_status rc = sl_machine_open_cached(&m, NULL, &err);
	int is_found;

	if (rc == SL_E_ABSENT) {
		say(2, "not measured yet: run 'sleuth machine' once, 12 s");
		return 0;
	}
	exit_if_failed(rc, &err);
	*n_threads = m->max_threads;
	is_found = find_ridge(out, m);
	if (!is_found) {
		say(2, "the peak in f32 or the bandwidth of memory was not "
		       "measured:");
		say(2, "run 'sleuth machine --fresh'");
	}
	sl_machine_free(m);
	return is_found;
}

void
numbers_roofline(void)
{
	struct ridge ridge;
	size_t n_threads;

	if (open_ridge(&ridge, &n_threads))
		say(2,
		    "%.0f GFLOP/s in f32 and %.1f GB/s from memory on %zu "
		    "threads: the ridge is at %.1f operations per byte. "
		    "Adding two vectors has 1/12, a matmul of two "
		    "square matrices of 1024 has 171",
		    ridge.flops_per_s / 1e9, ridge.bytes_per_s / 1e9, n_threads,
		    ridge.operations_per_byte);
}

/* The row of the operation that takes longest; NULL: none takes 1 %. */
static const struct sl_amdahl *
hottest_row(const struct sl_profile *p)
{
	for (size_t i = 0; i < p->n_amdahl; i++) {
		if (p->amdahl[i].n_operations == 1)
			return &p->amdahl[i];
	}
	return NULL;
}

void
find_hottest_operation(struct hottest *out)
{
	struct sl_profile_options how = {.struct_size = sizeof(how),
					 .flags = SL_PROFILE_BRIEF,
					 .time_s = 0.3};
	const struct sl_amdahl *row;
	struct sl_profile *p;
	struct sl_graph *graph;
	struct sl_error err;

	exit_if_failed(sl_graph_open(&graph, SMALL_MODEL, NULL, &err), &err);
	exit_if_failed(sl_profile_forward(&p, graph, &how, &err), &err);
	sl_graph_free(graph);
	*out = (struct hottest){.name = "no operation"};
	row = hottest_row(p);
	if (row) {
		snprintf(out->name, sizeof(out->name), "%s",
			 p->operations[row->operation].name);
		out->share = row->share;
	}
	sl_profile_free(p);
}

/* What a small model would gain from its longest operation. */
static void
print_hottest(void)
{
	struct hottest h;

	find_hottest_operation(&h);
	say(2,
	    "in %s, %s takes longest: %.1f %% of an inference. Twice as fast, "
	    "the "
	    "model would be %.3f x faster; with no time at all, %.3f x",
	    SMALL_MODEL, h.name, 100 * h.share, 1 / (1 - h.share / 2),
	    1 / (1 - h.share));
}

void
numbers_amdahl(void)
{
	static const double shares[] = {0.1, 0.5, 0.7, 0.9, 0.95};

	print_hottest();
	printf("\nOn any machine\n");
	printf("  share   2 x faster   10 x faster   no time at all\n");
	for (size_t i = 0; i < sizeof(shares) / sizeof(shares[0]); i++) {
		double s = shares[i];

		printf("  %3.0f %%   %8.3f x   %9.3f x   %12.3f x\n", 100 * s,
		       1 / (1 - s + s / 2), 1 / (1 - s + s / 10), 1 / (1 - s));
	}
}

/* Operations per byte of a fully connected layer of 1024 by 1024. */
static double
linear_intensity(double batch)
{
	return 2 * batch * 1024 * 1024 /
	       (4 * (1024.0 * 1024 + 2 * batch * 1024));
}

void
numbers_batch(void)
{
	double batch = 1;
	struct ridge ridge;
	size_t n_threads;

	say(2,
	    "a layer from 1024 to 1024 has %.2f operations per byte at "
	    "batch 1, %.1f at 64",
	    linear_intensity(1), linear_intensity(64));
	if (!open_ridge(&ridge, &n_threads))
		return;
	while (batch < 1e6 &&
	       linear_intensity(batch) < ridge.operations_per_byte)
		batch++;
	if (batch < 1e6)
		say(2,
		    "this machine's ridge is at %.1f: from batch %.0f on "
		    "it can wait for arithmetic",
		    ridge.operations_per_byte, batch);
	else
		say(2,
		    "this machine's ridge is at %.1f: it waits for memory "
		    "at any batch",
		    ridge.operations_per_byte);
}
