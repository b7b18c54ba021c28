/* SPDX-License-Identifier: Apache-2.0 */
/*
 * distil.c - a model trained on what another one computes.
 *
 * Student and teacher see the same batches, and the loss is the squared
 * difference of their first outputs: scores before a softmax say more of a
 * sample than its class does (Ba and Caruana, "Do deep nets really need to be
 * deep?", 2014).  No labels are needed.  Steps, rates and optimizer are those of
 * a training run.
 */
#include "driver/distil.h"
#include "base/clock.h"
#include "base/status.h"
#include "driver/train_data.h"
#include "graph/graph.h"

#include <math.h>

#include "base/banned.h"

struct distiller {
	const struct sl__distil_options *o;
	const struct sl_graph *student, *teacher;
	struct sl__train_data inputs;
	struct sl_plan *plan; /* of the teacher */
	struct sl_trainer *trainer;
	struct sl_loader *loader;
	struct sl_rate rate;
	uint64_t steps_per_epoch, n_done, begun_ns;
	double squares, teacher_squares; /* means, summed over an epoch */
};

static enum sl_status
open_loader(struct distiller *d, struct sl_error *err)
{
	const struct sl_loader_options how = {.struct_size = sizeof(how),
					      .batch = d->inputs.batch,
					      .seed = d->o->seed,
					      .allocator = d->o->allocator};
	enum sl_status rc = sl_loader_open(&d->loader, d->o->data, &how, err);

	if (rc)
		return rc;
	d->steps_per_epoch = sl_loader_n_batches(d->loader);
	d->rate = (struct sl_rate){
		.peak = SL__TRAINER_USUAL_RATE,
		.n_steps = d->o->n_epochs * d->steps_per_epoch,
		.n_warmup = d->o->n_epochs * d->steps_per_epoch / 20};
	return SL_OK;
}

static enum sl_status
open_models(struct distiller *d, struct sl_error *err)
{
	const struct sl_plan_options plan = {.struct_size = sizeof(plan),
					     .sizes = &d->inputs.sizes,
					     .algorithms = SL_ALGORITHMS_FIXED,
					     .n_threads = d->o->n_threads,
					     .allocator = d->o->allocator};
	const struct sl_training_options training = {
		.struct_size = sizeof(training),
		.loss = SL_LOSS_MSE,
		.optimizer = SL_OPTIMIZER_ADAMW,
		.learning_rate = SL__TRAINER_USUAL_RATE,
		.weight_decay = SL__TRAINER_USUAL_DECAY,
		.seed = d->o->seed};
	enum sl_status rc = sl_plan_new(&d->plan, d->teacher, &plan, err);

	return rc ? rc
		  : sl_trainer_open(&d->trainer, d->student, &training, &plan,
				    err);
}

/* What the teacher makes of a batch; *out is the plan's until its next run. */
static enum sl_status
ask_teacher(struct distiller *d, const struct sl_batch *batch,
	    struct sl_array *out, struct sl_error *err)
{
	enum sl_status rc = SL_OK;

	for (size_t i = 0; !rc && i < batch->n_inputs; i++) {
		struct sl_array a = batch->inputs[i];

		a.rank = d->inputs.whole[i].rank;
		a.dims = d->inputs.whole[i].dims;
		rc = sl_plan_set_input(d->plan, d->inputs.whole[i].input, &a,
				       err);
	}
	if (!rc)
		rc = sl_plan_run(d->plan, err);
	if (!rc)
		rc = sl_plan_output(
			d->plan,
			sl_graph_value_name(d->teacher,
					    sl_graph_output(d->teacher, 0)),
			out, err);
	if (!rc && out->dtype != SL_DTYPE_F32)
		rc = sl__fail(err, SL_E_DATA,
			      "the first output of the model is of type %s; "
			      "what is learned from it is f32",
			      sl_dtype_text(out->dtype));
	return rc;
}

static double
mean_square(const struct sl_array *a)
{
	const float *x = a->data;
	double sum = 0;

	for (uint64_t i = 0; i < a->n_elements; i++)
		sum += (double)x[i] * (double)x[i];
	return a->n_elements ? sum / (double)a->n_elements : 0;
}

static enum sl_status
one_step(struct distiller *d, double *loss, struct sl_error *err)
{
	struct sl_batch batch;
	struct sl_array target;
	enum sl_status rc = sl_loader_next(d->loader, &batch, err);

	if (!rc)
		rc = ask_teacher(d, &batch, &target, err);
	if (!rc)
		rc = sl__train_data_set_with(&d->inputs, d->trainer, &batch,
					     &target, err);
	if (!rc)
		rc = sl__trainer_fill_inputs(d->trainer, err);
	if (!rc)
		rc = sl__training_plan_step(d->trainer->plan,
					    sl_rate_at(&d->rate, d->n_done),
					    loss, NULL, err);
	if (rc)
		return rc;
	if (d->n_done++ % d->steps_per_epoch == 0)
		d->squares = d->teacher_squares = 0;
	d->squares += *loss;
	d->teacher_squares += mean_square(&target);
	return SL_OK;
}

static void
tell(const struct distiller *d, double loss)
{
	double elapsed_s = (double)(sl__clock_now_ns(NULL) - d->begun_ns) / 1e9;
	double n_left = (double)(d->rate.n_steps - d->n_done);
	const struct sl_train_progress now = {
		.step = d->n_done,
		.n_steps = d->rate.n_steps,
		.epoch = (d->n_done + d->steps_per_epoch - 1) /
			 d->steps_per_epoch,
		.n_epochs = d->o->n_epochs,
		.loss = loss,
		.accuracy = (double)NAN,
		.validation_loss = (double)NAN,
		.validation_accuracy = (double)NAN,
		.remaining_s = elapsed_s / (double)d->n_done * n_left};

	if (d->o->progress)
		d->o->progress(&now, d->o->progress_ctx);
}

static enum sl_status
run_steps(struct distiller *d, struct sl_error *err)
{
	enum sl_status rc = SL_OK;
	double loss = 0;

	d->begun_ns = sl__clock_now_ns(NULL);
	while (!rc && d->n_done < d->rate.n_steps) {
		rc = sl__check_interrupt(d->o->interrupt, err);
		if (!rc)
			rc = one_step(d, &loss, err);
		if (!rc)
			tell(d, loss);
	}
	return rc;
}

enum sl_status
sl__distil(struct sl__distilled *out, const struct sl_graph *student,
	   const struct sl_graph *teacher,
	   const struct sl__distil_options *options, struct sl_error *err)
{
	struct distiller d = {
		.o = options, .student = student, .teacher = teacher};
	const struct sl__batch_sizes sizes = {
		sl__train_data_usual_batch(student), 1};
	struct sl__arena arena;
	enum sl_status rc;

	*out = (struct sl__distilled){.error = (double)NAN};
	sl__arena_init(&arena, options->allocator);
	rc = sl__train_data_bind(&d.inputs, student,
				 sl_dataset_source(options->data), sizes,
				 &arena, err);
	if (!rc)
		rc = open_loader(&d, err);
	if (!rc)
		rc = open_models(&d, err);
	if (!rc)
		rc = run_steps(&d, err);
	if (!rc)
		rc = sl__trainer_model(d.trainer, &out->graph, student,
				       options->allocator, err);
	if (!rc && d.teacher_squares > 0)
		out->error = sqrt(d.squares / d.teacher_squares);
	sl_loader_close(d.loader);
	sl_trainer_close(d.trainer);
	sl_plan_free(d.plan);
	sl__arena_release(&arena);
	return rc;
}
