/* SPDX-License-Identifier: Apache-2.0 */
/*
 * evaluation.c - how often a model is right.
 *
 * Samples go through one plan, batch by batch; where the last batch is not
 * full, its last sample is repeated and not counted.  Shares of samples have
 * Clopper and Pearson's interval; tokens of one sequence depend on each other,
 * so that shares of tokens, and losses, are means over samples with Student's.
 */
#include "base/clock.h"
#include "base/option_struct.h"
#include "base/status.h"
#include "data/feed.h"
#include "graph/tensor.h"
#include "stats/bootstrap.h"
#include "stats/proportion.h"
#include "sleuth/evaluating.h"

#include <math.h>
#include <string.h>

#include "base/banned.h"

enum { CLASSES_MOST = 128, TOP = 5 };

struct evaluator {
	const struct sl_graph *graph;
	const struct sl_data_source *data;
	struct sl_evaluate_options options;
	struct sl__arena *arena; /* of the result */
	struct sl__arena scratch;
	struct sl_evaluation *out;
	struct sl__feed feed;
	struct sl_plan *plan;
	const char *output;
	int is_all; /* no split is asked for and there is no test: all of it */

	void **sample; /* inputs of one */
	int64_t *labels;
	double *scores;          /* of one position */
	double *losses, *shares; /* by sample; shares of right tokens */
	uint64_t *confusion;
	size_t n, n_done, n_right, n_top5, n_losses;
};

/* The split and index of the i-th sample that is looked at. */
static enum sl_status
fill_sample(struct evaluator *e, size_t i, struct sl_error *err)
{
	enum sl_split split = e->out->split;

	if (e->is_all && i >= e->data->n_samples[SL_SPLIT_TRAIN]) {
		split = SL_SPLIT_VALIDATION;
		i -= e->data->n_samples[SL_SPLIT_TRAIN];
	}
	return e->data->fill(e->data->ctx, split, i, e->sample, e->labels, err);
}

static enum sl_status
choose_split(struct evaluator *e, struct sl_error *err)
{
	const size_t *n = e->data->n_samples;

	if (e->options.has_split) {
		e->out->split = e->options.split;
	} else {
		e->is_all = !n[SL_SPLIT_TEST];
		e->out->split = e->is_all ? SL_SPLIT_TRAIN : SL_SPLIT_TEST;
	}
	e->n = n[e->out->split] + (e->is_all ? n[SL_SPLIT_VALIDATION] : 0);
	return e->n ? SL_OK
		    : sl__fail(err, SL_E_DATA,
			       "the %s split of %.200s is empty",
			       sl_split_text(e->out->split), e->data->name);
}

/* What the node that makes the scores says they are. */
static enum sl_scores
scores_of(const struct sl_graph *graph, size_t value)
{
	uint32_t producer = graph->values[value].producer;
	const char *type = producer == SL__NONE ? ""
						: graph->nodes[producer].type;

	if (!strcmp(type, "Softmax"))
		return SL_SCORES_PROBABILITIES;
	return !strcmp(type, "LogSoftmax") ? SL_SCORES_LOG_PROBABILITIES
					   : SL_SCORES_LOGITS;
}

static enum sl_status
find_output(struct evaluator *e, struct sl_error *err)
{
	size_t value =
		e->options.output
			? sl_graph_find_output(e->graph, e->options.output)
			: sl_graph_output(e->graph, 0);

	if (value == SL_NO_VALUE)
		return sl__fail(err, SL_E_DATA,
				"the model has no output '%.200s'",
				e->options.output ? e->options.output : "");
	e->output = sl_graph_value_name(e->graph, value);
	e->out->scores = scores_of(e->graph, value);
	return SL_OK;
}

static enum sl_status
make_plan(struct evaluator *e, struct sl_error *err)
{
	struct sl_plan_options plan = SL_PLAN_OPTIONS_INIT;
	struct sl_sizes sizes = SL_SIZES_INIT;
	enum sl_status rc;

	if (e->options.plan)
		plan = *e->options.plan;
	sizes.shapes = e->feed.shapes;
	sizes.n_shapes = e->feed.n;
	plan.sizes = &sizes;
	plan.allocator = e->options.allocator;
	plan.interrupt = e->options.interrupt;
	rc = sl_plan_new(&e->plan, e->graph, &plan, err);
	if (rc)
		return rc;
	e->out->n_threads = sl_plan_n_threads(e->plan);
	e->out->dtype = plan.dtype ? plan.dtype : SL_DTYPE_F32;
	return SL_OK;
}

/* Storage for one sample, and for figures of all of them. */
static enum sl_status
make_room(struct evaluator *e, struct sl_error *err)
{
	struct sl__arena *a = &e->scratch;
	const struct sl_data_source *d = e->data;

	e->sample = sl__arena_array(a, d->n_inputs, sizeof(*e->sample));
	e->labels = sl__arena_array(a, d->n_labels, sizeof(*e->labels));
	e->losses = sl__arena_array(a, e->n, sizeof(*e->losses));
	e->shares = sl__arena_array(a, e->n, sizeof(*e->shares));
	if (!e->sample || !e->labels || !e->losses || !e->shares)
		return sl__fail_nomem(err);
	for (size_t i = 0; i < d->n_inputs; i++) {
		size_t n = 1;

		for (size_t k = 0; k < d->inputs[i].rank; k++)
			n *= (size_t)d->inputs[i].dims[k];
		e->sample[i] = sl__arena_array(
			a, n, sl_dtype_bits(d->inputs[i].dtype) / 8);
		if (!e->sample[i])
			return sl__fail_nomem(err);
	}
	return SL_OK;
}

/* Samples from 'first' on into the inputs of the plan; their labels go to
 * all_labels. */
static enum sl_status
set_inputs(struct evaluator *e, size_t first, int64_t *all_labels,
	   struct sl_error *err)
{
	size_t n_labels = e->data->n_labels;
	enum sl_status rc = SL_OK;

	for (size_t k = 0; !rc && k < (size_t)e->feed.batch; k++) {
		size_t i = first + k < e->n ? first + k : e->n - 1;

		rc = fill_sample(e, i, err);
		for (size_t m = 0; !rc && m < e->feed.n; m++) {
			const struct sl__feed_input *in = &e->feed.inputs[m];
			struct sl_array array;
			void *data;

			rc = sl_plan_input(e->plan, in->name, &array, &data,
					   err);
			if (!rc)
				sl__feed_store(
					data, array.dtype, k * in->n_elements,
					e->sample[in->data_input],
					e->data->inputs[in->data_input].dtype,
					in->n_elements);
		}
		if (!rc)
			memcpy(all_labels + k * n_labels, e->labels,
			       n_labels * sizeof(*all_labels));
	}
	return rc;
}

/* How many scores each label has: the output is [batch][n_labels][classes],
 * but for dimensions of 1. */
static enum sl_status
find_classes(struct evaluator *e, const struct sl_array *scores,
	     struct sl_error *err)
{
	struct sl_evaluation *out = e->out;
	uint64_t n_places = (uint64_t)e->feed.batch * e->data->n_labels;
	size_t n_other = 0;

	for (size_t i = 1; i < scores->rank; i++)
		n_other += scores->dims[i] != 1;
	if (scores->dtype == SL_DTYPE_NONE || !scores->n_elements ||
	    scores->n_elements % n_places ||
	    n_other > (e->data->n_labels > 1 ? 2u : 1u) ||
	    (e->data->n_labels > 1 &&
	     (scores->rank < 3 ||
	      (uint64_t)scores->dims[1] != e->data->n_labels)))
		return sl__fail(err, SL_E_DATA,
				"output '%.100s' of the model holds %llu "
				"numbers for a batch of %lld: expected are "
				"scores%s of each class%s",
				e->output,
				(unsigned long long)scores->n_elements,
				(long long)e->feed.batch,
				e->data->n_labels > 1 ? ", by position," : "",
				scores->n_elements == n_places
					? " (one-hot labels? a label is the "
					  "number of its class)"
					: "");
	out->n_classes = (int64_t)(scores->n_elements / n_places);
	if (e->data->n_classes > out->n_classes)
		return sl__fail(err, SL_E_DATA,
				"labels of %.100s are 0 to %lld; output "
				"'%.100s' of the model has %lld score%s",
				e->data->name,
				(long long)e->data->n_classes - 1, e->output,
				(long long)out->n_classes,
				out->n_classes == 1 ? "" : "s");
	out->n_figures = out->n_classes <= CLASSES_MOST ? (size_t)out->n_classes
							: 0;
	e->confusion = sl__arena_array(e->arena,
				       out->n_figures * out->n_figures,
				       sizeof(*e->confusion));
	e->scores = sl__arena_array(&e->scratch, (size_t)out->n_classes,
				    sizeof(*e->scores));
	return e->confusion && e->scores ? SL_OK : sl__fail_nomem(err);
}

/* The cross-entropy of the label, in nats. */
static double
loss_of(const struct evaluator *e, int64_t label)
{
	double most = -(double)INFINITY, sum = 0, x = e->scores[label];

	if (e->out->scores == SL_SCORES_PROBABILITIES)
		return -log(x);
	if (e->out->scores == SL_SCORES_LOG_PROBABILITIES)
		return -x;
	for (int64_t i = 0; i < e->out->n_classes; i++)
		most = e->scores[i] > most ? e->scores[i] : most;
	for (int64_t i = 0; i < e->out->n_classes; i++)
		sum += exp(e->scores[i] - most);
	return most + log(sum) - x;
}

/* How many classes come before this one; NaN comes last. */
static size_t
rank_of(const struct evaluator *e, int64_t label)
{
	double x = e->scores[label];
	size_t n = 0;

	for (int64_t i = 0; i < e->out->n_classes; i++) {
		double y = e->scores[i];

		if (isnan(x) ? !isnan(y) || i < label
			     : y > x || (!(y < x) && !isnan(y) && i < label))
			n++;
	}
	return n;
}

static int64_t
highest(const struct evaluator *e)
{
	int64_t best = 0;

	for (int64_t i = 1; i < e->out->n_classes; i++) {
		if (e->scores[i] > e->scores[best] ||
		    (isnan(e->scores[best]) && !isnan(e->scores[i])))
			best = i;
	}
	return best;
}

/* One sample: labels, and scores from element 'first' on. */
static void
judge(struct evaluator *e, const struct sl__tensor *scores, uint64_t first,
      const int64_t *labels)
{
	size_t n_classes = (size_t)e->out->n_classes, n = 0, n_right = 0,
	       n_top5 = 0;
	double loss = 0;

	for (size_t i = 0; i < e->data->n_labels; i++) {
		size_t rank;

		if (labels[i] == SL_LABEL_IGNORED)
			continue;
		(void)sl__tensor_doubles(scores, first + i * n_classes,
					 n_classes, e->scores);
		rank = rank_of(e, labels[i]);
		n++;
		n_right += rank == 0;
		n_top5 += rank < TOP;
		loss += loss_of(e, labels[i]);
		if (e->out->n_figures)
			e->confusion[(size_t)labels[i] * n_classes +
				     (size_t)highest(e)]++;
	}
	if (!n)
		return;
	e->shares[e->n_done] = (double)n_right / (double)n;
	e->n_right += n_right == n;
	e->n_top5 += n_top5 == n;
	e->n_done++;
	if (isfinite(loss))
		e->losses[e->n_losses++] = loss / (double)n;
	else
		e->out->n_infinite++;
}

static enum sl_status
judge_batch(struct evaluator *e, size_t first, const int64_t *labels,
	    struct sl_error *err)
{
	size_t batch = (size_t)e->feed.batch;
	struct sl_array array;
	struct sl__tensor scores;
	enum sl_status rc = sl_plan_output(e->plan, e->output, &array, err);

	if (!rc && !e->confusion)
		rc = find_classes(e, &array, err);
	if (rc)
		return rc;
	scores = (struct sl__tensor){.dtype = array.dtype,
				     .rank = array.rank,
				     .dims = array.dims,
				     .n_elements = array.n_elements,
				     .n_stored = array.n_elements,
				     .n_bytes = array.n_bytes,
				     .bytes = array.data};
	for (size_t k = 0; k < batch && first + k < e->n; k++)
		judge(e, &scores, k * (array.n_elements / batch),
		      labels + k * e->data->n_labels);
	return SL_OK;
}

static enum sl_status
run_all(struct evaluator *e, struct sl_error *err)
{
	size_t batch = (size_t)e->feed.batch;
	int64_t *labels = sl__arena_array(&e->scratch, batch,
					  e->data->n_labels * sizeof(*labels));
	uint64_t start = sl__clock_now_ns(NULL);
	enum sl_status rc = labels ? SL_OK : sl__fail_nomem(err);

	for (size_t i = 0; !rc && i < e->n; i += batch) {
		rc = sl__check_interrupt(e->options.interrupt, err);
		if (!rc)
			rc = set_inputs(e, i, labels, err);
		if (!rc)
			rc = sl_plan_run(e->plan, err);
		if (!rc)
			rc = judge_batch(e, i, labels, err);
		if (!rc && e->options.progress) {
			double share = (double)(i + batch) / (double)e->n;
			double s =
				(double)(sl__clock_now_ns(NULL) - start) / 1e9;
			const struct sl_progress now = {
				"evaluating", i + batch, fmin(share, 1),
				fmax(s / share - s, 0), (double)NAN};

			e->options.progress(&now, e->options.progress_ctx);
		}
	}
	e->out->elapsed_s = (double)(sl__clock_now_ns(NULL) - start) / 1e9;
	if (rc == SL_E_INTERRUPTED && e->n_done) {
		e->out->is_partial = 1;
		rc = SL_OK;
	}
	return rc;
}

/* What each class has of the matrix. */
static enum sl_status
add_classes(struct evaluator *e, struct sl_error *err)
{
	struct sl_evaluation *out = e->out;
	size_t n = out->n_figures;
	struct sl_class_figures *c = sl__arena_array(e->arena, n, sizeof(*c));

	if (!c)
		return sl__fail_nomem(err);
	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; k < n; k++) {
			c[i].n += (size_t)e->confusion[i * n + k];
			c[i].n_predicted += (size_t)e->confusion[k * n + i];
		}
		c[i].n_right = (size_t)e->confusion[i * n + i];
		c[i].recall = sl__proportion(c[i].n_right, c[i].n, 0.05);
		c[i].precision =
			sl__proportion(c[i].n_right, c[i].n_predicted, 0.05);
	}
	out->classes = c;
	out->confusion = e->confusion;
	return SL_OK;
}

/* What the accuracy is the mean of: a sequence is right as a whole, or not. */
static enum sl_status
add_samples(struct evaluator *e, struct sl_error *err)
{
	double *x = sl__arena_array(e->arena, e->n_done, sizeof(*x));

	if (!x)
		return sl__fail_nomem(err);
	for (size_t i = 0; i < e->n_done; i++)
		x[i] = e->out->kind == SL_ACCURACY_TOKEN ? e->shares[i]
							 : e->shares[i] >= 1;
	e->out->by_sample = x;
	return SL_OK;
}

static enum sl_status
add_figures(struct evaluator *e, struct sl_error *err)
{
	struct sl_evaluation *out = e->out;
	size_t n_ignored = 0;
	enum sl_status rc;

	if (!e->n_done)
		return sl__fail(err, SL_E_DATA,
				"no label of %.200s counts: all are ignored",
				e->data->name);
	for (size_t i = 0; i < e->data->n_labels; i++)
		n_ignored += e->labels[i] == SL_LABEL_IGNORED;
	out->loss = sl__student_mean(e->losses, e->n_losses, 0.05);
	if (e->data->n_labels > 1)
		out->token = sl__student_mean(e->shares, e->n_done, 0.05);
	out->kind = e->data->n_labels == 1 ? SL_ACCURACY_TOP1
		    : n_ignored            ? SL_ACCURACY_EXACT
					   : SL_ACCURACY_TOKEN;
	out->accuracy = out->kind == SL_ACCURACY_TOKEN
				? out->token
				: sl__proportion(e->n_right, e->n_done, 0.05);
	if (out->kind == SL_ACCURACY_TOP1 && out->n_classes > TOP)
		out->top5 = sl__proportion(e->n_top5, e->n_done, 0.05);
	rc = add_samples(e, err);
	return rc ? rc : add_classes(e, err);
}

/* Names and sizes, so that graph and data may go. */
static enum sl_status
describe(struct evaluator *e, struct sl_error *err)
{
	const struct sl__feed_input *in = &e->feed.inputs[0];
	struct sl_evaluation *out = e->out;
	const struct {
		const char **to, *from;
	} texts[] = {
		{&out->name, e->graph->name},
		{&out->source, e->graph->source},
		{&out->data, e->data->name},
		{&out->attribution, e->data->attribution},
		{&out->sample_shape, in->sample_shape},
		{&out->input_shape, in->shape},
	};
	enum sl_status rc = SL_OK;

	out->batch = e->feed.batch;
	for (size_t i = 0; i < e->feed.n; i++)
		out->is_reshaped |= e->feed.inputs[i].is_reshaped;
	for (size_t i = 0; !rc && i < sizeof(texts) / sizeof(texts[0]); i++) {
		if (texts[i].from)
			rc = sl__arena_copy_text(e->arena, texts[i].to,
						 texts[i].from, err);
	}
	return rc;
}

static enum sl_status
evaluate(struct evaluator *e, struct sl_error *err)
{
	enum sl_status rc = choose_split(e, err);

	if (!rc)
		rc = find_output(e, err);
	if (!rc)
		rc = sl__feed_new(&e->feed, e->graph, e->data, e->options.batch,
				  &e->scratch, err);
	if (!rc && !e->feed.n)
		rc = sl__fail(err, SL_E_DATA, "the model takes no input");
	if (!rc)
		rc = describe(e, err);
	if (!rc)
		rc = make_plan(e, err);
	if (!rc)
		rc = make_room(e, err);
	if (!rc)
		rc = run_all(e, err);
	return rc ? rc : add_figures(e, err);
}

enum sl_status
sl_evaluate(struct sl_evaluation **out, const struct sl_graph *graph,
	    const struct sl_dataset *data,
	    const struct sl_evaluate_options *options, struct sl_error *err)
{
	struct evaluator e = {.graph = graph, .data = sl_dataset_source(data)};
	struct sl__plan_options_storage plan;
	enum sl_status rc = sl__options_copy(&e.options, sizeof(e.options),
					     options, "sl_evaluate_options",
					     err);

	*out = NULL;
	if (!rc)
		rc = sl__plan_options_copy(&plan, &e.options.plan, err);
	if (!rc &&
	    (e.options.batch < 0 || (unsigned)e.options.split >= SL_N_SPLITS))
		rc = sl__fail(err, SL_E_USAGE,
			      "no such split, or a batch below 1");
	if (rc)
		return rc;
	e.out = sl__arena_object_new(&e.arena, e.options.allocator,
				     sizeof(*e.out));
	if (!e.out)
		return sl__fail_nomem(err);
	sl__arena_init(&e.scratch, e.options.allocator);
	rc = evaluate(&e, err);
	sl_plan_free(e.plan);
	sl__arena_release(&e.scratch);
	*out = sl__arena_object_free_on_error(e.out, rc);
	return rc;
}

void
sl_evaluation_free(struct sl_evaluation *e)
{
	sl__arena_object_free(e);
}

const char *
sl_accuracy_kind_text(enum sl_accuracy_kind kind)
{
	static const char *const names[SL_N_ACCURACY_KINDS] = {
		[SL_ACCURACY_TOP1] = "top-1",
		[SL_ACCURACY_EXACT] = "exact",
		[SL_ACCURACY_TOKEN] = "token",
		[SL_ACCURACY_AGREEMENT] = "agreement"};

	return (unsigned)kind < SL_N_ACCURACY_KINDS ? names[kind] : "unknown";
}

const char *
sl_scores_text(enum sl_scores scores)
{
	static const char *const names[SL_N_SCORES] = {
		[SL_SCORES_LOGITS] = "logits",
		[SL_SCORES_PROBABILITIES] = "probabilities",
		[SL_SCORES_LOG_PROBABILITIES] = "log probabilities"};

	return (unsigned)scores < SL_N_SCORES ? names[scores] : "unknown";
}
