/* SPDX-License-Identifier: Apache-2.0 */
/*
 * layer_sensitivity.c - what 8 bits cost each layer, and which stay in f32.
 *
 * A layer's sensitivity is the error of the model's output when that layer
 * alone is quantized.  Errors of layers do not simply add, so the choice is not
 * computed from them: they give the order in which layers are left out, and the
 * accuracy of each such model is measured.
 */
#include "driver/layer_sensitivity.h"
#include "base/status.h"
#include "experiment/agreement.h"
#include "experiment/sample_inputs.h"
#include "graph/graph.h"
#include "sleuth/evaluating.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/banned.h"

enum {
	ERROR_SAMPLES = 32,    /* of data, that errors are measured on */
	ERROR_BATCH = 16,      /* of them at a time */
	ERROR_SYNTHETIC = 4,   /* synthetic inputs, each of a plan's batch */
	JUDGED_SAMPLES = 1024, /* of data: 0.1 points are one of them */
	JUDGED_SYNTHETIC = 32,
	/* Other numbers than those that calibrate (seeds 1,000 apart) and that
	 * results are reported on (the first 32). */
	SEED_OF_ERRORS = 300,
	SEED_OF_JUDGING = 400
};

struct layer {
	uint32_t node;
	double error;
};

struct chooser {
	const struct sl__sensitivity_options *what;
	struct sl__arena scratch;
	struct layer *layers; /* the most sensitive first, once that is known */
	size_t n_layers;
	unsigned char *is_kept; /* of the model that is tried */
	struct sl__sample_inputs inputs;
	struct sl_plan *baseline;
	struct sl_dataset *judged; /* samples of the training split; NULL */
	double accuracy;           /* of the model as it is */
	size_t n_done, n_steps;
};

static void
tell_progress(struct chooser *c)
{
	const struct sl_variant_options *how = c->what->how;
	struct sl_progress now = {.what = "sensitivity of layers",
				  .n_done = ++c->n_done,
				  .median_ns = (double)NAN};

	now.share = fmin(1, (double)c->n_done / (double)c->n_steps);
	if (how->progress)
		how->progress(&now, how->progress_ctx);
}

static enum sl_status
find_layers(struct chooser *c, struct sl_error *err)
{
	const struct sl_graph *graph = c->what->quantize->graph;
	unsigned char *is_layer =
		sl__arena_alloc(&c->scratch, graph->n_nodes + 1);
	enum sl_status rc;

	c->is_kept = sl__arena_alloc(&c->scratch, graph->n_nodes + 1);
	c->layers = sl__arena_array(&c->scratch, graph->n_nodes,
				    sizeof(*c->layers));
	if (!is_layer || !c->is_kept || !c->layers)
		return sl__fail_nomem(err);
	rc = sl__quantize_find_layers(is_layer, c->what->quantize, err);
	for (uint32_t i = 0; !rc && i < graph->n_nodes; i++) {
		if (is_layer[i])
			c->layers[c->n_layers++].node = i;
	}
	if (!rc && !c->n_layers)
		rc = sl__fail(err, SL_E_DATA,
			      "the model has no layer with constant weights "
			      "that could be quantized");
	c->n_steps = c->n_layers + 4; /* and some that are judged */
	return rc;
}

/* The model with all layers quantized but those of the list that are marked,
 * and those that were to be kept anyway. */
static enum sl_status
make_graph(struct chooser *c, struct sl_graph **out, struct sl_error *err)
{
	struct sl__quantize_options how = *c->what->quantize;
	size_t n_layers;

	for (size_t i = 0; i < how.graph->n_nodes; i++)
		c->is_kept[i] |= how.is_kept[i];
	how.is_kept = c->is_kept;
	return sl__quantize_static(out, &n_layers, &how, c->what->ranges, err);
}

/* Marks layers first to n - 1 of the list, and no other. */
static void
keep_layers(struct chooser *c, size_t first, size_t n)
{
	memset(c->is_kept, 0, c->what->quantize->graph->n_nodes);
	for (size_t i = first; i < n; i++)
		c->is_kept[c->layers[i].node] = 1;
}

static enum sl_status
make_plan(struct chooser *c, const struct sl_graph *graph, struct sl_plan **out,
	  struct sl_error *err)
{
	struct sl_plan_options how = *c->what->plan;
	struct sl_sizes sizes;

	sl__sample_inputs_size(&c->inputs, &how, &sizes);
	how.algorithms = SL_ALGORITHMS_FIXED;
	how.interrupt = c->what->how->interrupt;
	how.allocator = c->what->how->allocator;
	return sl_plan_new(out, graph, &how, err);
}

static enum sl_status
set_inputs(const void *ctx, struct sl_plan *plan, size_t i,
	   struct sl_error *err)
{
	const struct chooser *c = ctx;

	return sl__sample_inputs_set(&c->inputs, plan, i, err);
}

/* How far a changed model is from the model as it is. */
static enum sl_status
compare(struct chooser *c, struct sl__agreement *out,
	const struct sl_graph *graph, struct sl_error *err)
{
	const struct sl__agreement_inputs inputs = {
		.set = set_inputs, .ctx = c, .n = c->inputs.n_sets};
	struct sl_plan *plan = NULL;
	enum sl_status rc = make_plan(c, graph, &plan, err);

	if (!rc)
		rc = sl__agreement_on(out, c->baseline, plan, &inputs, err);
	sl_plan_free(plan);
	return rc;
}

/* The inputs that models are compared on, and the plan of the model as it is
 * for them. */
static enum sl_status
begin_comparing(struct chooser *c, size_t n_synthetic, uint64_t seed,
		struct sl_error *err)
{
	const struct sl_variant_options *how = c->what->how;
	struct sl__sample_inputs *in = &c->inputs;
	enum sl_status rc;

	*in = (struct sl__sample_inputs){.n_samples = n_synthetic,
					 .seed = how->seed + seed};
	if (how->data) {
		in->data = sl_dataset_source(how->data);
		in->n_samples = ERROR_SAMPLES;
		if (in->n_samples > in->data->n_samples[SL_SPLIT_TRAIN])
			in->n_samples = in->data->n_samples[SL_SPLIT_TRAIN];
	}
	rc = sl__sample_inputs_init(in, c->what->quantize->graph, ERROR_BATCH,
				    &c->scratch, err);
	sl_plan_free(c->baseline);
	c->baseline = NULL;
	return rc ? rc
		  : make_plan(c, c->what->quantize->graph, &c->baseline, err);
}

/* The error of the output with layer i alone in 8 bits. */
static enum sl_status
measure_error(struct chooser *c, size_t i, struct sl_error *err)
{
	struct sl__agreement found;
	struct sl_graph *graph = NULL;
	enum sl_status rc = sl__check_interrupt(c->what->how->interrupt, err);

	if (rc)
		return rc;
	keep_layers(c, 0, c->n_layers);
	c->is_kept[c->layers[i].node] = 0;
	rc = make_graph(c, &graph, err);
	if (!rc)
		rc = compare(c, &found, graph, err);
	sl_graph_free(graph);
	if (rc)
		return rc;
	c->layers[i].error = found.error;
	if (isnan(found.error))
		return sl__fail(err, SL_E_DATA, "sensitivity of layers: %s",
				found.absent ? found.absent
					     : "the first output is all zeros");
	tell_progress(c);
	return SL_OK;
}

/* Larger errors first; where they are the same, the earlier layer. */
static int
compare_layers(const void *a, const void *b)
{
	const struct layer *p = a, *q = b;

	if (p->error > q->error || p->error < q->error)
		return p->error > q->error ? -1 : 1;
	return p->node < q->node ? -1 : 1;
}

static enum sl_status
measure_errors(struct chooser *c, struct sl_error *err)
{
	enum sl_status rc =
		begin_comparing(c, ERROR_SYNTHETIC, SEED_OF_ERRORS, err);

	for (size_t i = 0; !rc && i < c->n_layers; i++)
		rc = measure_error(c, i, err);
	if (!rc)
		qsort(c->layers, c->n_layers, sizeof(*c->layers),
		      compare_layers);
	return rc;
}

/* Samples of the training split, spread over it, as a data set of its own. */
static enum sl_status
fill_judged(void *ctx, enum sl_split split, size_t index, void *const *inputs,
	    int64_t *labels, struct sl_error *err)
{
	const struct sl_data_source *from = ctx;
	size_t all = from->n_samples[SL_SPLIT_TRAIN];
	size_t n = all < JUDGED_SAMPLES ? all : JUDGED_SAMPLES;

	(void)split;
	return from->fill(from->ctx, SL_SPLIT_TRAIN, index * all / n, inputs,
			  labels, err);
}

static enum sl_status
evaluate(struct chooser *c, const struct sl_graph *graph, double *accuracy,
	 struct sl_error *err)
{
	const struct sl_evaluate_options how = {
		.struct_size = sizeof(how),
		.plan = c->what->plan,
		.has_split = 1,
		.split = SL_SPLIT_TRAIN,
		.interrupt = c->what->how->interrupt,
		.allocator = c->what->how->allocator};
	struct sl_evaluation *e = NULL;
	enum sl_status rc = sl_evaluate(&e, graph, c->judged, &how, err);

	if (!rc && e->is_partial)
		rc = sl__fail(err, SL_E_INTERRUPTED, "interrupted");
	if (!rc)
		*accuracy = e->accuracy.value;
	sl_evaluation_free(e);
	return rc;
}

static enum sl_status
begin_judging(struct chooser *c, struct sl_error *err)
{
	const struct sl_data_source *from;
	const struct sl_dataset_options how = {.struct_size = sizeof(how),
					       .allocator =
						       c->what->how->allocator};
	struct sl_data_source part;
	enum sl_status rc;

	if (!c->what->how->data)
		return begin_comparing(c, JUDGED_SYNTHETIC, SEED_OF_JUDGING,
				       err);
	from = sl_dataset_source(c->what->how->data);
	part = *from;
	memset(part.n_samples, 0, sizeof(part.n_samples));
	part.n_samples[SL_SPLIT_TRAIN] =
		from->n_samples[SL_SPLIT_TRAIN] < JUDGED_SAMPLES
			? from->n_samples[SL_SPLIT_TRAIN]
			: JUDGED_SAMPLES;
	part.fill = fill_judged;
	part.ctx = (void *)(uintptr_t)from;
	rc = sl_dataset_new(&c->judged, &part, &how, err);
	return rc ? rc
		  : evaluate(c, c->what->quantize->graph, &c->accuracy, err);
}

/* What is lost with the n most sensitive layers in f32. */
static enum sl_status
judge(struct chooser *c, size_t n, double *drop, struct sl_error *err)
{
	struct sl_graph *graph = NULL;
	struct sl__agreement found;
	double accuracy = 0;
	enum sl_status rc = sl__check_interrupt(c->what->how->interrupt, err);

	if (rc)
		return rc;
	keep_layers(c, 0, n);
	rc = make_graph(c, &graph, err);
	if (!rc && c->judged)
		rc = evaluate(c, graph, &accuracy, err);
	else if (!rc)
		rc = compare(c, &found, graph, err);
	sl_graph_free(graph);
	if (rc)
		return rc;
	if (!c->judged && !found.share.n)
		return sl__fail(err, SL_E_DATA, "no agreement to keep: %s",
				found.absent);
	*drop = c->judged ? c->accuracy - accuracy : 1 - found.share.value;
	tell_progress(c);
	return SL_OK;
}

static int
is_within(const struct chooser *c, double drop)
{
	return drop <= c->what->how->accuracy_drop + 1e-9; /* sums of shares */
}

/* How many layers are left out: doubled until the drop is within the limit,
 * then halfway between the most that was not and the least that was. */
static enum sl_status
choose_number(struct chooser *c, struct sl_variant_change *change, size_t *n,
	      struct sl_error *err)
{
	size_t bad = 0, good, most = c->n_layers - 1, closest = 0;
	double drop = change->drop_of_all, least = drop;
	enum sl_status rc = SL_OK;

	for (good = 1; most && bad < most; good *= 2) {
		good = good < most ? good : most;
		rc = judge(c, good, &drop, err);
		if (rc || is_within(c, drop))
			break;
		bad = good;
		if (drop < least) {
			least = drop;
			closest = good;
		}
	}
	if (rc)
		return rc;
	if (!is_within(c, drop))
		return sl__fail(err, SL_E_DATA,
				"no choice of layers loses at most %.3g "
				"points; the closest, with %zu of %zu left in "
				"f32, loses %.3g",
				100 * c->what->how->accuracy_drop, closest,
				c->n_layers, 100 * least);
	change->drop = drop;
	while (bad + 1 < good) {
		size_t middle = bad + (good - bad) / 2;

		rc = judge(c, middle, &drop, err);
		if (rc)
			return rc;
		if (is_within(c, drop)) {
			good = middle;
			change->drop = drop;
		} else {
			bad = middle;
		}
	}
	*n = good;
	return SL_OK;
}

static enum sl_status
choose(struct chooser *c, struct sl_variant_change *change, size_t *n,
       struct sl_error *err)
{
	enum sl_status rc = find_layers(c, err);

	*n = 0;
	if (!rc)
		rc = measure_errors(c, err);
	if (!rc)
		rc = begin_judging(c, err);
	if (!rc)
		rc = judge(c, 0, &change->drop_of_all, err);
	change->drop = change->drop_of_all;
	if (!rc && !is_within(c, change->drop_of_all))
		rc = choose_number(c, change, n, err);
	return rc;
}

/* The list, and the marks. */
static enum sl_status
conclude(const struct chooser *c, struct sl_variant_change *change,
	 unsigned char *is_kept, size_t n, struct sl__arena *arena)
{
	const struct sl_graph *graph = c->what->quantize->graph;
	struct sl_layer_sensitivity *rows =
		sl__arena_array(arena, c->n_layers, sizeof(*rows));

	if (!rows)
		return SL_E_NOMEM;
	for (size_t i = 0; i < c->n_layers; i++) {
		uint32_t node = c->layers[i].node;

		rows[i].layer = graph->nodes[node].name; /* lives as long */
		rows[i].type = graph->nodes[node].type;
		rows[i].output_error = c->layers[i].error;
		rows[i].is_kept = i < n;
		if (i < n)
			is_kept[node] = 1;
	}
	change->sensitivities = rows;
	change->n_sensitivities = c->n_layers;
	return SL_OK;
}

enum sl_status
sl__sensitivity_choose(struct sl_variant_change *change, unsigned char *is_kept,
		       const struct sl__sensitivity_options *what,
		       struct sl__arena *arena, struct sl_error *err)
{
	struct chooser c = {.what = what};
	enum sl_status rc;
	size_t n;

	sl__arena_init(&c.scratch, what->how->allocator);
	rc = choose(&c, change, &n, err);
	if (!rc && conclude(&c, change, is_kept, n, arena))
		rc = sl__fail_nomem(err);
	sl_dataset_close(c.judged);
	sl_plan_free(c.baseline);
	sl__arena_release(&c.scratch);
	return rc;
}
