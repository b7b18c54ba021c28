/* SPDX-License-Identifier: Apache-2.0 */
/*
 * variant_search.c - what changes of a model are worth.
 *
 * What to try follows from a profile of the model (variant_profile.c), unless
 * the caller says.  Variants are made and their accuracy is judged one after the other; then all
 * are timed together, in rounds (sl_compare_models()).  What their figures mean
 * is src/analysis/variant_choice.c's to say.
 */
#include "analysis/variant_candidates.h"
#include "analysis/variant_choice.h"
#include "base/option_struct.h"
#include "base/status.h"
#include "driver/variant_profile.h"
#include "experiment/agreement.h"
#include "experiment/output_check.h"
#include "graph/graph.h"
#include "model/onnx_write.h"
#include "stats/paired_accuracy.h"
#include "stats/quantile.h"

#include <math.h>
#include <string.h>

#include "base/banned.h"

enum {
	VARIANTS_MOST = 2 * SL_MODEL_ARMS_MAX, /* refused ones included */
	AGREEMENT_INPUTS = 32
};

struct search {
	const struct sl_graph *graph;
	struct sl_optimize_options how;
	struct sl_variant_options making;
	struct sl_plan_options plan; /* of the baseline */
	struct sl__arena *arena;     /* of the result */
	struct sl_optimization *out;
	struct sl_variant_result *rows;
	struct sl_variant *variants[VARIANTS_MOST]; /* [0] is NULL: the model
						       as it is */
	struct sl_evaluation *baseline;             /* NULL: there is no data */
	struct sl_plan *reference; /* of the baseline, then; NULL */
};

static const struct sl_graph *
graph_of(const struct search *s, size_t i)
{
	return s->variants[i] ? s->variants[i]->graph : s->graph;
}

/* The list of a change, which goes with its variant, as the result's own. */
static enum sl_status
copy_sensitivities(struct search *s, struct sl_variant_change *change,
		   struct sl_error *err)
{
	size_t n = change->n_sensitivities;
	struct sl_layer_sensitivity *rows =
		sl__arena_array(s->arena, n, sizeof(*rows));
	enum sl_status rc = rows ? SL_OK : sl__fail_nomem(err);

	for (size_t i = 0; !rc && i < n; i++) {
		rows[i] = change->sensitivities[i];
		rc = sl__arena_copy_text(s->arena, &rows[i].layer,
					 change->sensitivities[i].layer, err);
		if (!rc)
			rc = sl__arena_copy_text(s->arena, &rows[i].type,
						 change->sensitivities[i].type,
						 err);
	}
	change->sensitivities = rows;
	return rc;
}

static enum sl_status
describe_changes(struct search *s, size_t i, struct sl_error *err)
{
	const struct sl_variant *v = s->variants[i];
	struct sl_variant_change *list =
		sl__arena_array(s->arena, v->n_changes, sizeof(*list));
	enum sl_status rc = list ? SL_OK : sl__fail_nomem(err);

	for (size_t k = 0; !rc && k < v->n_changes; k++) {
		list[k] = v->changes[k];
		rc = sl__arena_copy_text(s->arena, &list[k].name,
					 v->changes[k].name, err);
		if (!rc)
			rc = sl__arena_copy_text(s->arena, &list[k].text,
						 v->changes[k].text, err);
		if (!rc)
			rc = copy_sensitivities(s, &list[k], err);
	}
	s->rows[i].changes = list;
	s->rows[i].n_changes = v->n_changes;
	return rc;
}

/* What is known of a variant before it is run. */
static enum sl_status
describe(struct search *s, size_t i, struct sl_error *err)
{
	struct sl_variant_result *row = &s->rows[i];
	const struct sl_graph *graph = graph_of(s, i);
	enum sl_status rc = sl__arena_copy_text(
		s->arena, &row->name,
		s->variants[i] ? s->variants[i]->name : "baseline", err);

	if (!rc && s->variants[i])
		rc = describe_changes(s, i, err);
	return rc ? rc : sl__onnx_size(&row->size_bytes, graph, err);
}

static enum sl_status
write_file(struct search *s, size_t i, struct sl_error *err)
{
	enum sl_status rc;

	if (graph_of(s, i) == s->graph)
		return sl__fail(err, SL_E_USAGE,
				"'%.100s' changes how the model is run, not "
				"the model: there is nothing to write",
				s->rows[i].name);
	rc = sl_graph_write(graph_of(s, i), s->how.onnx, err);
	return rc ? rc
		  : sl__arena_copy_text(s->arena, &s->rows[i].file, s->how.onnx,
					err);
}

static const struct sl_plan_options *
plan_of(const struct search *s, size_t i)
{
	return s->variants[i] ? &s->variants[i]->plan : &s->plan;
}

/* Whether a failure ends the search; else it is a candidate's own. */
static int
is_fatal(const struct search *s, enum sl_status rc)
{
	return rc == SL_E_NOMEM || rc == SL_E_INTERRUPTED ||
	       s->how.n_candidates;
}

static enum sl_status
refuse(struct search *s, size_t i, const char *why, struct sl_error *err)
{
	sl_variant_free(s->variants[i]);
	s->variants[i] = NULL;
	return sl__arena_copy_text(s->arena, &s->rows[i].refused, why, err);
}

static void
begin_row(struct sl_variant_result *r)
{
	r->time_ns = r->ratio = r->accuracy = r->difference.value =
		sl__no_estimate();
	r->most_speedup = r->output_error = r->difference.log_e = r->promised =
		(double)NAN;
}

static enum sl_status
add_variant(struct search *s, const char *changes, struct sl_error *err)
{
	size_t i = s->out->n_variants;
	struct sl_error why;
	enum sl_status rc;

	rc = sl__check_interrupt(s->making.interrupt, err);
	if (rc)
		return rc;
	begin_row(&s->rows[i]);
	rc = sl_variant_new(&s->variants[i], s->graph, changes, &s->making,
			    &why);
	if (rc && is_fatal(s, rc)) {
		if (err)
			*err = why;
		return rc;
	}
	s->out->n_variants++;
	if (!rc)
		return describe(s, i, err);
	rc = sl__arena_copy_text(s->arena, &s->rows[i].name, changes, err);
	return rc ? rc : refuse(s, i, why.text, err);
}

/* Those that a profile of the model speaks for. */
static enum sl_status
add_candidates(struct search *s, struct sl_error *err)
{
	struct sl__variant_profile profile = {.graph = s->graph,
					      .how = &s->how,
					      .making = &s->making,
					      .plan = &s->plan};
	struct sl__variant_candidates found = {0};
	enum sl_status rc = sl__variant_profile_run(&profile, &found, s->out,
						    s->arena, err);

	for (size_t i = 0; !rc && i < found.n; i++) {
		struct sl_variant_result *row = &s->rows[s->out->n_variants];

		rc = add_variant(s, found.list[i].changes, err);
		row->reason = found.list[i].reason;
		row->promised = found.list[i].promised;
	}
	sl_profile_free(profile.profile);
	return rc;
}

static enum sl_status
add_variants(struct search *s, struct sl_error *err)
{
	enum sl_status rc = SL_OK;

	if (!s->how.n_candidates)
		return add_candidates(s, err);
	for (size_t i = 0; !rc && i < s->how.n_candidates; i++)
		rc = add_variant(s, s->how.candidates[i], err);
	return rc;
}

static enum sl_status
evaluate(const struct search *s, size_t i, struct sl_evaluation **out,
	 struct sl_error *err)
{
	const struct sl_evaluate_options how = {
		.struct_size = sizeof(how),
		.plan = plan_of(s, i),
		.progress = s->making.progress,
		.progress_ctx = s->making.progress_ctx,
		.interrupt = s->making.interrupt,
		.allocator = s->making.allocator};
	enum sl_status rc =
		sl_evaluate(out, graph_of(s, i), s->making.data, &how, err);

	if (!rc && (*out)->is_partial) {
		sl_evaluation_free(*out);
		*out = NULL;
		rc = sl__fail(err, SL_E_INTERRUPTED, "interrupted");
	}
	return rc;
}

/* Its accuracy beside the baseline's, over the same samples. */
static enum sl_status
take_accuracy(struct search *s, size_t i, const struct sl_evaluation *e,
	      struct sl_error *err)
{
	struct sl_variant_result *r = &s->rows[i];
	size_t n = e->accuracy.n;
	double *scratch;

	r->accuracy = e->accuracy;
	r->accuracy_kind = e->kind;
	if (!i || n != s->baseline->accuracy.n)
		return SL_OK;
	scratch = sl__arena_array(s->arena, n, sizeof(*scratch));
	if (!scratch)
		return sl__fail_nomem(err);
	/* The error rate is that of all variants together. */
	r->difference = sl__paired_accuracy(
		s->baseline->by_sample, e->by_sample, n,
		0.05 / (double)(s->out->n_variants - 1), scratch);
	return SL_OK;
}

static enum sl_status
make_plan(const struct search *s, size_t i, struct sl_plan **out,
	  struct sl_error *err)
{
	struct sl_plan_options how = *plan_of(s, i);

	how.algorithms = SL_ALGORITHMS_FIXED;
	how.interrupt = s->making.interrupt;
	how.allocator = s->making.allocator;
	return sl_plan_new(out, graph_of(s, i), &how, err);
}

/* How far it agrees with the baseline on synthetic inputs. */
static enum sl_status
take_agreement(struct search *s, size_t i, struct sl_error *err)
{
	struct sl_variant_result *r = &s->rows[i];
	struct sl_plan *plan = NULL;
	struct sl__agreement found;
	enum sl_status rc = make_plan(s, i, &plan, err);

	if (!rc)
		rc = sl__agreement(&found, s->reference, plan, AGREEMENT_INPUTS,
				   s->out->seed, err);
	sl_plan_free(plan);
	if (rc)
		return rc;
	r->accuracy_kind = SL_ACCURACY_AGREEMENT;
	r->accuracy = found.share;
	r->accuracy_absent = found.absent;
	r->output_error = found.error;
	return SL_OK;
}

static enum sl_status
judge_accuracy(struct search *s, size_t i, struct sl_error *err)
{
	struct sl_evaluation *e = NULL;
	enum sl_status rc;

	if (!s->making.data)
		return take_agreement(s, i, err);
	rc = evaluate(s, i, &e, err);
	if (!rc)
		rc = take_accuracy(s, i, e, err);
	sl_evaluation_free(e);
	return rc;
}

static enum sl_status
judge_baseline(struct search *s, struct sl_error *err)
{
	enum sl_status rc;

	if (s->making.data) {
		rc = evaluate(s, 0, &s->baseline, err);
		return rc ? rc : take_accuracy(s, 0, s->baseline, err);
	}
	rc = make_plan(s, 0, &s->reference, err);
	s->rows[0].accuracy_kind = SL_ACCURACY_AGREEMENT;
	s->rows[0].accuracy =
		(struct sl_estimate){.value = 1,
				     .lo = 1,
				     .hi = 1,
				     .n = AGREEMENT_INPUTS,
				     .method = SL_METHOD_BINOMIAL};
	return rc;
}

/* A candidate that cannot be run is left out; of one that can, but not on this
 * data, the accuracy is absent. */
static enum sl_status
judge_accuracies(struct search *s, struct sl_error *err)
{
	enum sl_status rc = judge_baseline(s, err);

	for (size_t i = 1; !rc && i < s->out->n_variants; i++) {
		struct sl_plan *plan = NULL;
		struct sl_error why, other;

		if (s->rows[i].refused)
			continue;
		rc = judge_accuracy(s, i, &why);
		if (!rc)
			continue;
		if (rc == SL_E_NOMEM || rc == SL_E_INTERRUPTED) {
			if (err)
				*err = why;
			return rc;
		}
		rc = make_plan(s, i, &plan, &other);
		sl_plan_free(plan);
		if (rc && is_fatal(s, rc)) {
			if (err)
				*err = other;
			return rc;
		}
		rc = rc ? refuse(s, i, other.text, err)
			: sl__arena_copy_text(s->arena,
					      &s->rows[i].accuracy_absent,
					      why.text, err);
	}
	return rc;
}

/* The fastest arithmetic that the variant may use. */
static double
peak_of(const struct search *s, size_t i, int n_threads)
{
	const struct sl_machine *m = s->how.machine;
	enum sl_dtype dtype = plan_of(s, i)->dtype;
	double peak =
		sl_machine_peak_flops_per_s(m, SL_DTYPE_F32, (size_t)n_threads);

	if (dtype)
		peak = fmax(peak, sl_machine_peak_flops_per_s(
					  m, dtype, (size_t)n_threads));
	if (sl__model_precision(graph_of(s, i)).is_quantized)
		peak = fmax(peak, sl_machine_peak_flops_per_s(
					  m, SL_DTYPE_I8, (size_t)n_threads));
	return peak;
}

/* Whether physics allows what was measured. */
static void
check_speedup(struct search *s, size_t i, const struct sl_model_arm_result *a,
	      const struct sl_model_arm_result *b)
{
	struct sl_variant_result *r = &s->rows[i];
	double peak_a, peak_b, samples;

	if (!s->how.machine || !a->executed_flops || !b->executed_flops)
		return;
	peak_a = peak_of(s, 0, a->n_threads);
	peak_b = peak_of(s, i, b->n_threads);
	samples = (double)b->batch / (double)a->batch;
	if (!(peak_a > 0) || !(peak_b > 0))
		return;
	/* Fewer threads may wait less for each other: no peak explains that. */
	if (a->n_threads == b->n_threads)
		r->most_speedup =
			sl__most_speedup(samples * (double)a->executed_flops /
						 (double)b->executed_flops,
					 peak_b / peak_a,
					 samples * (double)a->memory_bytes /
						 (double)b->memory_bytes);
	r->is_implausible =
		(r->most_speedup > 0 && 1 / r->ratio.value > r->most_speedup) ||
		r->time_ns.value < 1e9 * (double)b->executed_flops / peak_b;
}

static void
take_times(struct search *s, const size_t *of,
	   const struct sl_model_comparison *c)
{
	for (size_t k = 0; k < c->n; k++) {
		const struct sl_model_arm_result *side = &c->sides[k];
		struct sl_variant_result *r = &s->rows[of[k]];

		r->time_ns = side->wall_ns;
		r->batch = side->batch;
		r->memory_bytes = side->memory_bytes;
		r->executed_flops = side->executed_flops;
		if (!k)
			continue;
		r->ratio = c->pairs[k - 1].comparison.ratio;
		r->verdict = sl__verdict_on_time(&c->pairs[k - 1]);
		r->is_promise_broken = sl__variant_breaks_promise(r);
		check_speedup(s, of[k], &c->sides[0], side);
	}
	s->out->n_rounds = c->n > 1 ? c->pairs[0].comparison.n_rounds : 0;
	s->out->noise = c->noise;
	s->out->elapsed_s = c->elapsed_s;
	s->out->stopped_by = c->stopped_by;
}

static enum sl_status
measure(struct search *s, struct sl_error *err)
{
	const struct sl_model_comparison_options how = {
		.struct_size = sizeof(how),
		.time_s = s->how.time_s > 0 ? s->how.time_s : 20,
		.seed = s->out->seed,
		.progress = s->making.progress,
		.progress_ctx = s->making.progress_ctx,
		.interrupt = s->making.interrupt,
		.allocator = s->making.allocator};
	struct sl_model_arm arms[SL_MODEL_ARMS_MAX];
	size_t of[SL_MODEL_ARMS_MAX], n = 0;
	struct sl_model_comparison *found;
	enum sl_status rc;

	for (size_t i = 0; i < s->out->n_variants && n < SL_MODEL_ARMS_MAX;
	     i++) {
		if (s->rows[i].refused)
			continue;
		of[n] = i;
		arms[n++] = (struct sl_model_arm){
			.name = s->rows[i].name,
			.graph = graph_of(s, i),
			.plan = plan_of(s, i),
			.inputs_folder =
				plan_of(s, i)->sizes
					? plan_of(s, i)->sizes->inputs_folder
					: NULL};
	}
	if (n < 2)
		return sl__fail(
			err, SL_E_DATA, "no change suits this model%s%.300s",
			s->out->n_variants > 1 ? ": " : "",
			s->out->n_variants > 1 ? s->rows[1].refused : "");
	rc = sl_compare_models(&found, arms, n, &how, err);
	if (rc)
		return rc;
	take_times(s, of, found);
	sl_model_comparison_free(found);
	return SL_OK;
}

/* What is known when it is interrupted is the result, unless that is nothing.
 */
static enum sl_status
search(struct search *s, struct sl_error *err)
{
	enum sl_status rc = describe(s, 0, err);

	s->out->n_variants = 1;
	begin_row(&s->rows[0]);
	if (!rc)
		rc = add_variants(s, err);
	if (!rc)
		rc = judge_accuracies(s, err);
	if (!rc)
		rc = measure(s, err);
	if (rc == SL_E_INTERRUPTED && s->rows[0].accuracy.n &&
	    s->out->n_variants > 1) {
		s->out->stopped_by = SL_STOP_INTERRUPT;
		rc = SL_OK;
	}
	if (rc)
		return rc;
	sl__variants_judge(s->out, s->rows);
	if (!s->how.onnx || s->out->recommended == SIZE_MAX ||
	    graph_of(s, s->out->recommended) == s->graph)
		return SL_OK;
	return write_file(s, s->out->recommended, err);
}

static enum sl_status
apply(struct search *s, struct sl_error *err)
{
	enum sl_status rc = describe(s, 0, err);

	s->out->is_applied = 1;
	s->out->n_variants = 1;
	begin_row(&s->rows[0]);
	begin_row(&s->rows[1]);
	if (!rc)
		rc = sl_variant_new(&s->variants[1], s->graph, s->how.apply,
				    &s->making, err);
	if (!rc)
		rc = describe(s, 1, err);
	s->out->n_variants = 2;
	s->out->recommended = s->out->closest = SIZE_MAX;
	return rc || !s->how.onnx ? rc : write_file(s, 1, err);
}

static enum sl_status
begin(struct search *s, struct sl_error *err)
{
	struct sl_optimization *out = s->out;
	enum sl_status rc;

	s->rows = sl__arena_array(s->arena, VARIANTS_MOST, sizeof(*s->rows));
	if (!s->rows)
		return sl__fail_nomem(err);
	out->variants = s->rows;
	out->objective = s->how.objective;
	out->limits = s->how.limits;
	out->accuracy_drop = s->how.accuracy_drop > 0 ? s->how.accuracy_drop
						      : 0.005;
	out->seed = s->making.seed ? s->making.seed : 1;
	rc = sl__arena_copy_text(s->arena, &out->name, s->graph->name, err);
	if (!rc)
		rc = sl__arena_copy_text(s->arena, &out->source,
					 s->graph->source, err);
	if (!rc && s->making.data)
		rc = sl__arena_copy_text(
			s->arena, &out->data,
			sl_dataset_source(s->making.data)->name, err);
	return rc;
}

static enum sl_status
take_options(struct search *s, const struct sl_optimize_options *options,
	     struct sl__plan_options_storage *plan, struct sl_error *err)
{
	enum sl_status rc = sl__options_copy(&s->how, sizeof(s->how), options,
					     "sl_optimize_options", err);

	if (!rc)
		rc = sl__options_copy(&s->making, sizeof(s->making),
				      s->how.variant, "sl_variant_options",
				      err);
	s->making.struct_size = sizeof(s->making);
	if (s->how.accuracy_drop > 0)
		s->making.accuracy_drop = s->how.accuracy_drop;
	if (!rc)
		rc = sl__plan_options_copy(plan, &s->making.plan, err);
	if (!rc && s->how.n_candidates >= SL_MODEL_ARMS_MAX)
		rc = sl__fail(err, SL_E_USAGE,
			      "%zu variants: at most %d are measured together",
			      s->how.n_candidates, SL_MODEL_ARMS_MAX - 1);
	if (!rc && (unsigned)s->how.objective >= SL_N_OBJECTIVES)
		rc = sl__fail(err, SL_E_USAGE, "no such objective");
	if (!rc && s->making.plan)
		s->plan = *s->making.plan;
	s->plan.struct_size = sizeof(s->plan);
	return rc;
}

enum sl_status
sl_optimize(struct sl_optimization **out, const struct sl_graph *graph,
	    const struct sl_optimize_options *options, struct sl_error *err)
{
	struct search s = {.graph = graph};
	struct sl__plan_options_storage plan;
	enum sl_status rc = take_options(&s, options, &plan, err);

	*out = NULL;
	if (rc)
		return rc;
	s.out = sl__arena_object_new(&s.arena, s.making.allocator,
				     sizeof(*s.out));
	if (!s.out)
		return sl__fail_nomem(err);
	rc = begin(&s, err);
	if (!rc)
		rc = s.how.apply ? apply(&s, err) : search(&s, err);
	sl_evaluation_free(s.baseline);
	sl_plan_free(s.reference);
	for (size_t i = 0; i < VARIANTS_MOST; i++)
		sl_variant_free(s.variants[i]);
	*out = sl__arena_object_free_on_error(s.out, rc);
	return rc;
}

void
sl_optimization_free(struct sl_optimization *o)
{
	sl__arena_object_free(o);
}
