/* SPDX-License-Identifier: Apache-2.0 */
/* sweep_table.c - fields of models that were measured over a range of sizes. */
#include "result/sweep_laws.h"
#include "result/tables.h"
#include "result/words.h"

#include <math.h>

#include "base/banned.h"

#define MS       .unit = SL__NS_PER_MS
#define GIGA     .unit = 1e9
#define NOT_OPEN .absent = "not bounded by these points"

/* A figure with bounds that may be infinite. */
#define BOUNDED(s, m, name, bounds, what, ...)                             \
	SL__F(NUMBER, s, m.value, name, what, __VA_ARGS__),                \
		SL__F(BOUNDS, s, m, bounds, "its 95 % interval", NOT_OPEN, \
		      __VA_ARGS__),                                        \
		SL__F(WHOLE, s, m.n, name "_n", "samples behind it",       \
		      __VA_ARGS__),                                        \
		SL__F(WORD, s, m.method, name "_method",                   \
		      "how its interval was found",                        \
		      .words = &sl__words_method, __VA_ARGS__)

const char *
sl__sweep_law_quantity_text(const struct sl_sweep_exponent *law)
{
	static const char *const kinds[] = {[SL_SWEEP_KIND_ATTENTION] =
						    "attention matmuls",
					    [SL_SWEEP_KIND_OTHERS] = "others"};

	if (law->figure != SL_SWEEP_KIND)
		return sl__words_sweep_figure.word(law->figure);
	return law->kind == SL_SWEEP_KIND_TYPE ? law->type : kinds[law->kind];
}

int
sl__sweep_point_is_disturbed(const struct sl_sweep_point *point)
{
	return point->n_visits && point->n_disturbed == point->n_visits;
}

#define NO_SIDE   SL__REASON(sl_sweep_point, verdict_absent)
#define NO_ENERGY SL__REASON(sl_sweep_point, energy_absent)

/* They are there where the point was measured. */
static const struct sl__field figure_fields[] = {
	SL__F(INTERVAL, sl_sweep_point, latency_ns, "ci95_ms",
	      "its 95 % interval", MS),
	SL__F(WHOLE, sl_sweep_point, latency_ns.n, "median_n",
	      "samples behind it"),
	SL__F(WORD, sl_sweep_point, latency_ns.method, "method",
	      "how the interval was found", .words = &sl__words_method),
	SL__F(NUMBER, sl_sweep_point, rate_per_s.value, "rate_per_s",
	      "throughput in the sweep's unit"),
	SL__F(BOUNDS, sl_sweep_point, rate_per_s, "rate_ci95_per_s",
	      "its 95 % interval", NOT_OPEN),
	SL__F(NUMBER, sl_sweep_point, samples_per_s, "samples_per_s",
	      "samples in a second"),
	SL__F(NUMBER, sl_sweep_point, sample_ns, "sample_ms",
	      "time of a sample", MS),
	SL__F(WHOLE, sl_sweep_point, parameters, "parameters", "trainable"),
	SL__F(WHOLE, sl_sweep_point, flops, "flops",
	      "2 x multiply-adds of the core, whole batch; of a training "
	      "step those of its backward pass too"),
	SL__F(NUMBER, sl_sweep_point, flops_per_s, "gflops_per_s", "of these",
	      GIGA),
	SL__F(NUMBER, sl_sweep_point, compute_efficiency, "compute_efficiency",
	      "least time for the arithmetic, as a share of the median",
	      .absent = "no ceiling was measured"),
	SL__F(NUMBER, sl_sweep_point, roof_share, "roof_share",
	      "least time by the roofline, as a share of the median",
	      .absent = "no ceiling was measured"),
	SL__F(WHOLE, sl_sweep_point, memory_bytes, "memory_bytes",
	      "for activations and weights", .absent = "not measured"),
	SL__F(READING, sl_sweep_point, touched_bytes, "touched_bytes",
	      "resident growth while it ran"),
	SL__F(NUMBER, sl_sweep_point, samples_per_s_per_mb,
	      "samples_per_s_per_mb", "per MB of memory_bytes",
	      .absent = "memory is not known"),
	SL__F(WORD, sl_sweep_point, verdict, "verdict",
	      "side of the ridge on which 60 % of the time lies",
	      .words = &sl__words_bottleneck, NO_SIDE),
	{.key = "verdict_basis",
	 .kind = SL__FIELD_SAYS,
	 .absent = "roofline",
	 NO_SIDE,
	 .meaning = "no experiment was made"},
	SL__F(NUMBER, sl_sweep_point, energy_j.value, "energy_j",
	      "of an iteration, the whole package", NO_ENERGY),
	SL__F(INTERVAL, sl_sweep_point, energy_j, "energy_ci95_j",
	      "its 95 % interval", NO_ENERGY),
	SL__F(WHOLE, sl_sweep_point, energy_j.n, "energy_visits",
	      "visits with a reading"),
	SL__F(NUMBER, sl_sweep_point, plan_ns, "plan_ms",
	      "making the plan, the longest time", MS),
};
static SL__RECORD(figures, "points", sl_sweep_point, figure_fields, 0);

static const struct sl__field point_fields[] = {
	SL__F(SIGNED, sl_sweep_point, value, "value", "the size; ascending"),
	SL__F(WHOLE, sl_sweep_point, n_visits, "visits", "made"),
	SL__F(WHOLE, sl_sweep_point, n_iterations, "iterations",
	      "of these visits"),
	SL__F(WHOLE, sl_sweep_point, n_repeated, "repeated",
	      "visits repeated because they were disturbed"),
	SL__F(WHOLE, sl_sweep_point, n_disturbed, "disturbed",
	      "visits disturbed even so"),
	SL__F(NUMBER, sl_sweep_point, latency_ns.value, "median_ms",
	      "of an iteration: the median of the visits' medians", MS,
	      SL__REASON(sl_sweep_point, absent)),
	SL__F_GROUP(&figures, NULL, "where it was measured",
		    SL__REASON(sl_sweep_point, absent)),
	SL__F(TEXT, sl_sweep_point, note, "note",
	      "why it was measured less often", .is_left_out = 1),
};

static void
settle_point(void *record)
{
	struct sl_sweep_point *p = record;
	double value = p->rate_per_s.value, lo = p->rate_per_s.lo,
	       hi = p->rate_per_s.hi;

	p->rate_per_s = p->latency_ns;
	p->rate_per_s.value = value;
	p->rate_per_s.lo = lo;
	p->rate_per_s.hi = hi;
}

static SL__RECORD(point, "points", sl_sweep_point, point_fields,
		  .settle = settle_point);

static const char no_kind[] = "not a kind of operation";

SL__WHY(is_no_kind, sl_sweep_exponent, e,
	e->figure == SL_SWEEP_KIND ? NULL : no_kind)
SL__WHY(no_law, sl_sweep_exponent, e,
	e->exponent.n ? NULL
	: e->absent   ? e->absent
		      : "no law")
SL__WHY(no_fixed_bytes, sl_sweep_exponent, e,
	e->figure == SL_SWEEP_MEMORY ? e->absent : "in another unit")
SL__WHY(no_fixed_flops, sl_sweep_exponent, e,
	e->figure == SL_SWEEP_FLOPS ? e->absent : "in another unit")
SL__WHY(no_fixed_time, sl_sweep_exponent, e,
	e->figure == SL_SWEEP_TIME || e->figure == SL_SWEEP_KIND
		? e->absent
		: "in another unit")
SL__WHY(no_tail, sl_sweep_exponent, e, e->tail.n ? NULL : "no such point")
SL__MAKE(make_what, sl_sweep_exponent, e, TEXT, text,
	 sl__sweep_law_quantity_text(e))
SL__MAKE(make_is_kind, sl_sweep_exponent, e, BOOLEAN, whole,
	 e->figure == SL_SWEEP_KIND)

static const struct sl__field law_fields[] = {
	SL__F_MADE(make_what, "what",
		   "time, kinds of operations, memory, flops"),
	SL__F(REASON, sl_sweep_exponent, type, "what", "of a kind: its type"),
	SL__F(WORD, sl_sweep_exponent, figure, "figure",
	      "time, kind, memory, flops", .words = &sl__words_sweep_figure),
	SL__F_MADE(make_is_kind, "operations", "it is of a kind of operations"),
	SL__F(WORD, sl_sweep_exponent, kind, "kind", "of operations",
	      .words = &sl__words_sweep_kind, .why = is_no_kind),
	SL__F(NUMBER, sl_sweep_exponent, share_first, "share_first",
	      "of a kind, of the operations' time at the first point",
	      .absent = no_kind),
	SL__F(NUMBER, sl_sweep_exponent, share_last, "share_last",
	      "at the last", .absent = no_kind),
	BOUNDED(sl_sweep_exponent, exponent, "exponent", "ci95",
		"k of fixed + scale n^k", .why = no_law),
	SL__F(REASON, sl_sweep_exponent, absent, "exponent_absent",
	      "why there is no law"),
	SL__F(NUMBER, sl_sweep_exponent, formula, "formula",
	      "exponent of the FLOPs of the same operations",
	      .absent = "no formula"),
	SL__F(NUMBER, sl_sweep_exponent, offset, "fixed_bytes", "fixed part",
	      .why = no_fixed_bytes, .is_left_out = 1),
	SL__F(NUMBER, sl_sweep_exponent, offset, "fixed_flops", "fixed part",
	      .why = no_fixed_flops, .is_left_out = 1),
	SL__F(NUMBER, sl_sweep_exponent, offset, "fixed_ms", "fixed part", MS,
	      .why = no_fixed_time, .is_left_out = 1),
	SL__F(NUMBER, sl_sweep_exponent, scale, "scale",
	      "in ns, bytes or FLOPs", SL__REASON(sl_sweep_exponent, absent),
	      .is_left_out = 1),
	SL__F(NUMBER, sl_sweep_exponent, deviation, "deviation",
	      "largest distance of a point from the law, as a share",
	      SL__REASON(sl_sweep_exponent, absent), .is_left_out = 1),
	SL__F(SIGNED, sl_sweep_exponent, tail_from, "tail_from",
	      "from where the fixed part is under a tenth", .why = no_tail,
	      .is_left_out = 1),
	BOUNDED(sl_sweep_exponent, tail, "tail_exponent", "tail_ci95",
		"of the power law from there on", .why = no_tail,
		.is_left_out = 1),
};

static void
settle_law(void *record)
{
	struct sl_sweep_exponent *e = record;

	if (e->figure != SL_SWEEP_KIND || e->kind != SL_SWEEP_KIND_TYPE)
		e->type = NULL;
}

static SL__RECORD(law, "exponents", sl_sweep_exponent, law_fields,
		  .settle = settle_law);

SL__WHY(no_knee, sl_sweep_knee, k,
	k->at       ? NULL
	: k->absent ? k->absent
		    : "the rate still rises at the largest size")
SL__WHY(no_gain, sl_sweep_knee, k,
	k->gain.n   ? NULL
	: k->absent ? k->absent
		    : "not measured")

static const struct sl__field knee_fields[] = {
	SL__F(SIGNED, sl_sweep_knee, at, "at",
	      "from there on a doubling raises the rate by at most 10 %",
	      .why = no_knee),
	SL__F(REASON, sl_sweep_knee, absent, "gain_absent",
	      "why none is reported"),
	SL__F(BOOLEAN, sl_sweep_knee, is_proved, "proved",
	      "the intervals show it"),
	BOUNDED(sl_sweep_knee, gain, "gain", "gain_ci95",
		"of the next doubling, or of the last one", .why = no_gain),
};
static SL__RECORD(knee, "knee", sl_sweep_knee, knee_fields, 0);

SL__WHY(no_memory_limit, sl_sweep, s,
	s->memory_bytes > 0 ? NULL : "not asked for")
SL__WHY(no_latency_limit, sl_sweep, s,
	s->latency_s > 0 ? NULL : "not asked for")

static const struct sl__field best_fields[] = {
	SL__F(SIGNED, sl_sweep_series, best.at, "at",
	      "the highest rate within the limits",
	      SL__REASON(sl_sweep_series, best.absent)),
	SL__F(SIGNED, sl_sweep_series, best.as_good, "as_good",
	      "the smallest value that may be as fast",
	      SL__REASON(sl_sweep_series, best.absent), .is_left_out = 1),
	SL__F(BOOLEAN, sl_sweep_series, best.is_disturbed, "is_disturbed",
	      "others disturbed most visits: none is named"),
	SL__F(NUMBER, sl_sweep, memory_bytes, "limit_bytes", "asked for",
	      .why = no_memory_limit, .is_outer = 1),
	SL__F(NUMBER, sl_sweep, latency_s, "limit_ms", "asked for",
	      .factor = 1e3, .why = no_latency_limit, .is_outer = 1),
	SL__F(WHOLE, sl_sweep_series, best.n_over_memory, "over_memory",
	      "points that the limit excludes"),
	SL__F(WHOLE, sl_sweep_series, best.n_over_latency, "over_latency",
	      "likewise"),
};
static SL__RECORD(best, "best", sl_sweep_series, best_fields, 0);

static const char *
is_over_batches(const void *record, const void *parent)
{
	const struct sl_sweep *sweep = parent;

	(void)record;
	return sweep->axis == SL_AXIS_BATCH ? "the axis of the sweep" : NULL;
}

static const struct sl__field range_fields[] = {
	SL__F(WORD, sl_sweep, axis, "axis", "what changes",
	      .words = &sl__words_axis, .is_outer = 1),
	SL__F(WORD, sl_sweep, rate_unit, "rate_unit", "what rate_per_s counts",
	      .words = &sl__words_rate_unit, .is_outer = 1),
	SL__F(WHOLE, sl_sweep, n_visits, "visits", "of each point",
	      .is_outer = 1),
	SL__F(WORD, sl_sweep, optimizer, "optimizer",
	      "of training steps; none: inference",
	      .words = &sl__words_optimizer, .is_outer = 1),
	SL__F(SIGNED, sl_sweep_series, batch, "batch", "of all points",
	      .why = is_over_batches),
	SL__F_LIST(LIST, sl_sweep_series, points, n_points, "points",
		   "ascending", .of = &point),
	SL__F_LIST(LIST, sl_sweep_series, exponents, n_exponents, "exponents",
		   "laws, that of time first", .of = &law),
	SL__F(OBJECT, sl_sweep_series, knee, "knee",
	      "from where on a doubling gains little", .of = &knee),
	SL__F_GROUP(&best, "best", "the highest rate within the limits"),
	SL__F(TOLD, sl_sweep_series, name, "sentences",
	      "how the figures grow, and where that changes"),
};
static SL__RECORD(range, "sweep", sl_sweep_series, range_fields, 0);

static const struct sl__field model_fields[] = {
	SL__F(TEXT, sl_sweep_series, name, "name", "of the model"),
	SL__F(TEXT, sl_sweep_series, source, "source", "path, or zoo"),
};
static SL__RECORD(model, "model", sl_sweep_series, model_fields, 0);

static const struct sl__field series_fields[] = {
	SL__F_GROUP(&model, "model", "that was measured"),
	SL__F_GROUP(&range, "sweep", "over a range of sizes"),
};

static void
settle_series(void *record)
{
	struct sl_sweep_series *s = record;

	s->best.point = SIZE_MAX;
	for (size_t i = 0; i < s->n_points; i++) {
		s->n_measured += !s->points[i].absent;
		if (!s->best.absent && s->points[i].value == s->best.at)
			s->best.point = i;
	}
}

static SL__RECORD(series, "results", sl_sweep_series, series_fields,
		  .settle = settle_series);

SL__WHY(is_over_threads, sl_sweep, s,
	s->axis == SL_AXIS_THREADS ? "the axis of the sweep" : NULL)

static const struct sl__field plan_fields[] = {
	SL__F(WORD, sl_sweep, dtype, "dtype", "that it computes in",
	      .words = &sl__words_dtype),
	SL__F(WHOLE, sl_sweep, n_threads, "threads", "of all points",
	      .why = is_over_threads),
};
static SL__RECORD(plan, "plan", sl_sweep, plan_fields, 0);

SL__WHY(are_several, sl_sweep, s, s->n_series > 1 ? "several models" : NULL)
SL__WHY(is_one, sl_sweep, s, s->n_series > 1 ? NULL : "one model")

static const struct sl__field sweep_fields[] = {
	SL__F_GROUP(&plan, "plan", "how all points are run"),
	SL__F(WHOLE, sl_sweep, seed, "seed",
	      "of inputs, weights and the order of points"),
	SL__F(NUMBER, sl_sweep, elapsed_s, "elapsed_ms",
	      "duration of the measurement, set-up included", .factor = 1e3),
	SL__F(WORD, sl_sweep, stopped_by, "stopped_by", "runs or interrupt",
	      .words = &sl__words_stop),
	SL__F_LIST(FIRST, sl_sweep, series, n_series, NULL, "the only model",
		   .of = &series, .why = are_several),
	SL__F_LIST(LIST, sl_sweep, series, n_series, "results",
		   "several models", .of = &series, .why = is_one,
		   .is_left_out = 1),
	SL__F(TOLD, sl_sweep, series, "sentences", "about all of them",
	      .why = is_one, .is_left_out = 1),
};

/* A limit that was not asked for is 0. */
static void
settle_sweep(void *record)
{
	struct sl_sweep *s = record;

	if (isnan(s->memory_bytes))
		s->memory_bytes = 0;
	if (isnan(s->latency_s))
		s->latency_s = 0;
}

/* All models were measured at the same sizes, and time has a law. */
static const char *
check_sweep(const void *record)
{
	const struct sl_sweep *s = record;

	for (size_t i = 0; i < s->n_series; i++) {
		if (!s->series[i].n_points || !s->series[i].n_exponents ||
		    s->series[i].n_points != s->series[0].n_points)
			return "not every model has points and laws";
	}
	return s->n_series ? NULL : "no model";
}

SL__RECORD(sl__table_sweep, "sweep", sl_sweep, sweep_fields,
	   .settle = settle_sweep, .check = check_sweep);
