/* SPDX-License-Identifier: Apache-2.0 */
/* evaluation_table.c - fields of how often a model is right. */
#include "base/status.h"
#include "result/record.h"
#include "result/tables.h"
#include "result/words.h"
#include "sleuth/evaluating.h"

#include <stdlib.h>

#include "base/banned.h"

static const char too_many[] = "too many classes to list";

static const struct sl__field model_fields[] = {
	SL__F(TEXT, sl_evaluation, name, "name", "of the model"),
	SL__F(TEXT, sl_evaluation, source, "source", "path, or zoo"),
	SL__F(WORD, sl_evaluation, scores, "scores", "what it computes",
	      .words = &sl__words_scores),
	SL__F(WORD, sl_evaluation, dtype, "dtype", "that it computes in",
	      .words = &sl__words_dtype),
	SL__F(WHOLE, sl_evaluation, n_threads, "threads", "that it runs on"),
	SL__F(SIGNED, sl_evaluation, batch, "batch",
	      "samples that run together"),
};
static SL__RECORD(model, "model", sl_evaluation, model_fields, 0);

static const struct sl__field data_fields[] = {
	SL__F(TEXT, sl_evaluation, data, "name", "of the data set"),
	SL__F(TEXT, sl_evaluation, attribution, "attribution",
	      "whose data it is", .is_left_out = 1),
	SL__F(WORD, sl_evaluation, split, "split",
	      "that was evaluated; train: all samples, of a data set without "
	      "a test split, unless it was asked for",
	      .words = &sl__words_split),
	SL__F(TEXT, sl_evaluation, sample_shape, "shape",
	      "of a sample's first input"),
	SL__F(TEXT, sl_evaluation, input_shape, "input_shape",
	      "of the model's, without the batch"),
	SL__F(BOOLEAN, sl_evaluation, is_reshaped, "reshaped",
	      "the two differ and have as many elements"),
};
static SL__RECORD(data, "data", sl_evaluation, data_fields, 0);

static const struct sl__field class_fields[] = {
	SL__F(WHOLE, sl_class_figures, n, "labels", "of this class"),
	SL__F(WHOLE, sl_class_figures, n_predicted, "predicted",
	      "predictions of it"),
	SL__F(WHOLE, sl_class_figures, n_right, "right", "of these"),
	SL__F(NUMBER, sl_class_figures, recall.value, "recall",
	      "right, of the labels", .absent = "no label is of it"),
	SL__F(INTERVAL, sl_class_figures, recall, "recall_ci95",
	      "its 95 % interval"),
	SL__F(NUMBER, sl_class_figures, precision.value, "precision",
	      "right, of the predictions", .absent = "it is never predicted"),
	SL__F(INTERVAL, sl_class_figures, precision, "precision_ci95",
	      "its 95 % interval"),
};

static void
settle_class(void *record)
{
	struct sl_class_figures *c = record;

	c->recall.n = c->n;
	c->precision.n = c->n_predicted;
	c->recall.needs_n = !c->n;
	c->precision.needs_n = !c->n_predicted;
}

static SL__RECORD(class_figures, "accuracy.classes", sl_class_figures,
		  class_fields, .settle = settle_class);

static void
write_confusion(struct sl__json *json, const struct sl__field *f,
		const void *record)
{
	const struct sl_evaluation *e = record;

	sl__json_array(json, f->key);
	for (size_t i = 0; i < e->n_figures; i++) {
		sl__json_array(json, NULL);
		for (size_t k = 0; k < e->n_figures; k++)
			sl__json_integer(json, NULL,
					 e->confusion[i * e->n_figures + k]);
		sl__json_end_array(json);
	}
	sl__json_end_array(json);
}

/* The classes stand before it and say how many there are. */
static enum sl_status
read_confusion(void *record, const struct sl__json_value *value,
	       struct sl__arena *arena, struct sl_error *err)
{
	struct sl_evaluation *e = record;
	size_t n = e->n_figures, at = 0;
	uint64_t *counts = sl__arena_array(arena, n, n * sizeof(*counts));

	if (!counts)
		return sl__fail_nomem(err);
	e->confusion = counts;
	for (const struct sl__json_value *row = value->first;
	     row && value->n == n && row->n == n; row = row->next) {
		for (const struct sl__json_value *c = row->first; c;
		     c = c->next) {
			if (c->kind != SL__JSON_NUMBER)
				return sl__fail(err, SL_E_DATA,
						"a count of the confusion "
						"matrix is no number");
			counts[at++] = strtoull(c->text, NULL, 10);
		}
	}
	return at == n * n ? SL_OK
			   : sl__fail(err, SL_E_DATA,
				      "the confusion matrix has not a row and "
				      "a column for each of %zu classes",
				      n);
}

SL__WHY(few_classes, sl_evaluation, e,
	e->top5.n                     ? NULL
	: e->kind == SL_ACCURACY_TOP1 ? "five classes or fewer"
				      : "not of sequences")
SL__WHY(no_tokens, sl_evaluation, e, e->token.n ? NULL : "a class per sample")
SL__WHY(unlisted, sl_evaluation, e, e->n_figures ? NULL : too_many)

static const struct sl__field accuracy_fields[] = {
	SL__F(NUMBER, sl_evaluation, accuracy.value, "test",
	      "share that is right, of the split that data.split names"),
	SL__F(INTERVAL, sl_evaluation, accuracy, "ci95", "its 95 % interval"),
	SL__F(WHOLE, sl_evaluation, accuracy.n, "n", "samples"),
	SL__F(WORD, sl_evaluation, accuracy.method, "method",
	      "how the interval was found", .words = &sl__words_method),
	SL__F(WORD, sl_evaluation, kind, "kind",
	      "what is right: a class, whole sequences, tokens",
	      .words = &sl__words_accuracy_kind),
	SL__F_ESTIMATE(sl_evaluation, top5, "top5",
		       "share whose label is among the five highest scores",
		       few_classes),
	SL__F_ESTIMATE(sl_evaluation, token, "token",
		       "share of right tokens, mean over samples", no_tokens),
	SL__F(NUMBER, sl_evaluation, loss.value, "loss",
	      "cross-entropy of a label in nats, mean over samples",
	      .absent = "not finite"),
	SL__F(INTERVAL, sl_evaluation, loss, "loss_ci95", "its 95 % interval"),
	SL__F(WHOLE, sl_evaluation, loss.n, "loss_n", "samples behind it"),
	SL__F(WHOLE, sl_evaluation, n_infinite, "infinite_losses",
	      "samples that the loss leaves out: theirs is infinite or NaN"),
	SL__F(SIGNED, sl_evaluation, n_classes, "n_classes",
	      "scores of the model"),
	SL__F_LIST(LIST, sl_evaluation, classes, n_figures, "classes",
		   "each of them", .of = &class_figures, .is_flat = 1),
	{.key = "confusion",
	 .kind = SL__FIELD_OWN,
	 SL__AT(sl_evaluation, confusion),
	 .made = SL__FIELD_WHOLES,
	 .write = write_confusion,
	 .read = read_confusion,
	 .why = unlisted,
	 .meaning = "a row for each label: how often each class was predicted"},
	SL__F(BOOLEAN, sl_evaluation, is_partial, "partial",
	      "interrupted: of the samples so far"),
};
static SL__RECORD(accuracy, "accuracy", sl_evaluation, accuracy_fields, 0);

static const struct sl__field evaluation_fields[] = {
	SL__F_GROUP(&model, "model", "that was evaluated"),
	SL__F_GROUP(&data, "data", "that it was evaluated on"),
	SL__F_GROUP(&accuracy, "accuracy", "how often it is right"),
	SL__F(NUMBER, sl_evaluation, elapsed_s, "elapsed_ms",
	      "time that it took, planning aside", .factor = 1e3),
};
SL__RECORD(sl__table_evaluation, "evaluation", sl_evaluation, evaluation_fields,
	   0);
