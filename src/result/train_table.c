/* SPDX-License-Identifier: Apache-2.0 */
/* train_table.c - fields of a model that was trained on data. */
#include "result/tables.h"
#include "result/words.h"
#include "sleuth/training_runs.h"

#include "base/banned.h"

#define MS .unit = SL__NS_PER_MS

static const struct sl__field model_fields[] = {
	SL__F(TEXT, sl_train_result, name, "name", "of the model"),
	SL__F(TEXT, sl_train_result, source, "source", "path, or zoo"),
};
static SL__RECORD(model, "model", sl_train_result, model_fields, 0);

static const struct sl__field data_fields[] = {
	SL__F(TEXT, sl_train_result, data, "name", "of the data set"),
	SL__F(TEXT, sl_train_result, attribution, "attribution",
	      "whose data it is", .absent = "not known"),
	SL__F(WHOLE, sl_train_result, n_train, "train", "samples to train on"),
	SL__F(WHOLE, sl_train_result, n_validation, "validation",
	      "samples of the validation split"),
};
static SL__RECORD(data, "data", sl_train_result, data_fields, 0);

static const struct sl__field phase_fields[] = {
	SL__F(WORD, sl_train_phase, phase, "name",
	      "of the phase; data: waiting for a batch",
	      .words = &sl__words_step_phase),
	SL__F(NUMBER, sl_train_phase, ns.value, "ms",
	      "median over the steps that were recorded", MS,
	      .absent = "no step was recorded"),
	SL__F(INTERVAL, sl_train_phase, ns, "ci95_ms", "its 95 % interval", MS),
	SL__F(WHOLE, sl_train_phase, ns.n, "n", "steps behind it"),
};
static SL__RECORD(phase, "training.phases", sl_train_phase, phase_fields, 0);

static const struct sl__field point_fields[] = {
	SL__F(WHOLE, sl_train_point, step, "step", "the last of them, from 1"),
	SL__F(NUMBER, sl_train_point, loss, "loss", "the mean",
	      .absent = "infinite"),
	SL__F(NUMBER, sl_train_point, accuracy, "accuracy",
	      "share of labels with the highest score", .absent = "no labels"),
};
static SL__RECORD(point, "training.curve", sl_train_point, point_fields, 0);

#define NOT_EVALUATED SL__REASON(sl_train_result, unevaluated)

static const struct sl__field final_fields[] = {
	SL__F(NUMBER, sl_split_score, loss.value, "loss",
	      "cross-entropy of a label, in nats", .absent = "infinite"),
	SL__F(INTERVAL, sl_split_score, loss, "loss_ci95", "its 95 % interval"),
	SL__F(NUMBER, sl_split_score, accuracy.value, "accuracy",
	      "as accuracy.test"),
	SL__F(INTERVAL, sl_split_score, accuracy, "ci95",
	      "of the accuracy, its 95 % interval"),
};
static SL__RECORD(final, "training.final", sl_split_score, final_fields, 0);

SL__WHY(no_top5, sl_split_score, e, e->top5.n ? NULL : "five classes or fewer")
SL__WHY(no_tokens, sl_split_score, e, e->token.n ? NULL : "one label a sample")

static const struct sl__field accuracy_fields[] = {
	SL__F(NUMBER, sl_split_score, accuracy.value, "test",
	      "share of the test split that is right"),
	SL__F(INTERVAL, sl_split_score, accuracy, "ci95", "its 95 % interval"),
	SL__F(WHOLE, sl_split_score, accuracy.n, "n", "samples"),
	SL__F(WORD, sl_split_score, kind, "kind",
	      "top-1 of samples, or exact where every label of one is right",
	      .words = &sl__words_accuracy_kind),
	SL__F_ESTIMATE(sl_split_score, top5, "top5",
		       "share with the label among the five highest scores",
		       no_top5),
	SL__F_ESTIMATE(sl_split_score, token, "token",
		       "share of right labels of a sequence", no_tokens),
};
static SL__RECORD(accuracy, "accuracy", sl_split_score, accuracy_fields, 0);

SL__WHY(not_resumed, sl_train_result, r, r->resumed_at ? NULL : "not resumed")

static const struct sl__field training_fields[] = {
	SL__F(WORD, sl_train_result, loss, "loss", "that is minimised",
	      .words = &sl__words_loss),
	SL__F(WORD, sl_train_result, optimizer, "optimizer",
	      "that updates the parameters", .words = &sl__words_optimizer),
	SL__F(NUMBER, sl_train_result, learning_rate, "learning_rate",
	      "after the warm-up"),
	SL__F(NUMBER, sl_train_result, weight_decay, "weight_decay",
	      "of the optimizer"),
	SL__F(WORD, sl_train_result, schedule, "schedule",
	      "of the learning rate", .words = &sl__words_schedule),
	SL__F(SIGNED, sl_train_result, batch, "batch",
	      "samples of a micro-batch"),
	SL__F(WHOLE, sl_train_result, n_micro_batches, "micro_batches",
	      "of a step, whose gradients are averaged before the update"),
	SL__F(WHOLE, sl_train_result, n_epochs, "epochs",
	      "that were to be made"),
	SL__F(WHOLE, sl_train_result, n_steps, "steps", "of all epochs"),
	SL__F(WHOLE, sl_train_result, n_done, "steps_done",
	      "with those of earlier runs"),
	SL__F(WHOLE, sl_train_result, resumed_at, "resumed_at",
	      "steps that earlier runs made", .why = not_resumed),
	SL__F(WORD, sl_train_result, end, "ended_by", "why it ended",
	      .words = &sl__words_train_end),
	SL__F(WHOLE, sl_train_result, best_step, "best_step",
	      "whose parameters these are", .absent = "the last"),
	SL__F(WHOLE, sl_train_result, parameters, "parameters",
	      "numbers that are trained"),
	SL__F(SIGNED, sl_train_result, n_threads, "threads", "of a step"),
	SL__F(WHOLE, sl_train_result, n_prefetch, "prefetch",
	      "threads that make batches ahead"),
	SL__F(NUMBER, sl_train_result, samples_per_s, "samples_per_s",
	      "over all steps of this run", .absent = "no step was made"),
	SL__F(NUMBER, sl_train_result, wait_share, "wait_share",
	      "of the time of steps, waited for data",
	      .absent = "no step was made"),
	SL__F(NUMBER, sl_train_result, elapsed_s, "elapsed_ms",
	      "evaluations and earlier runs included", .factor = 1e3),
	SL__F(OBJECT, sl_train_result, test, "final", "on the test split",
	      .of = &final, NOT_EVALUATED),
	{.key = "phases",
	 .kind = SL__FIELD_LIST,
	 SL__AT(sl_train_result, phases),
	 .most = SL_TRAIN_PHASES,
	 .of = &phase,
	 .meaning = "of a step, in order"},
	SL__F_LIST(LIST, sl_train_result, curve, n_curve, "curve",
		   "means over training batches", .of = &point, .is_flat = 1),
	SL__F_LIST(LIST, sl_train_result, validation, n_points, "validation",
		   "the validation split after epochs", .of = &point,
		   .is_flat = 1),
};
static SL__RECORD(training, "training", sl_train_result, training_fields, 0);

static const struct sl__field train_fields[] = {
	SL__F_GROUP(&model, "model", "that was trained"),
	SL__F_GROUP(&data, "data", "it was trained on"),
	SL__F_GROUP(&training, "training", "of the whole run"),
	SL__F(OBJECT, sl_train_result, test, "accuracy", "of the trained model",
	      .of = &accuracy, NOT_EVALUATED),
	SL__F(WHOLE, sl_train_result, seed, "seed",
	      "of the order of samples and of augmentation"),
};
SL__RECORD(sl__table_train, "train", sl_train_result, train_fields, 0);
