/* SPDX-License-Identifier: Apache-2.0 */
/*
 * train.c - a model trained on a data set.
 *
 * All that the next step depends on is in a struct sl__checkpoint: the number
 * of the step, from which the batch and the rate follow, and the states of the
 * trainer.  So a run that is resumed goes on to the same bits, provided that
 * the same kernels compute on as many threads.
 */
#include "base/clock.h"
#include "base/option_struct.h"
#include "base/status.h"
#include "driver/checkpoint.h"
#include "driver/profile_part.h"
#include "driver/train_data.h"
#include "driver/train_phases.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

#include "base/banned.h"

enum {
	USUAL_STEPS = 2000,
	CURVE_POINTS = 200 /* about as many as a page has columns */
};
/* As SL__TRAINER_USUAL_RATE was chosen. */
static const double usual_smoothing = 0.1;
static const uint64_t checkpoint_ns = 1000000000;

struct run {
	const struct sl_graph *graph;
	const struct sl_dataset *data;
	struct sl_train_options o; /* defaults filled in */
	struct sl_training_options training;
	struct sl_plan_options plan;
	struct sl_train_result *out;
	struct sl__arena *arena;
	struct sl__train_data inputs;
	struct sl_trainer *trainer;
	struct sl_loader *loader;
	struct sl_rate rate;
	struct sl__train_phases phases;
	struct sl__step_watch *watch; /* NULL: the run is not profiled */
	struct sl__residence residence;
	struct sl_loader_options loading;
	struct sl_batch batch; /* the last one */
	double plan_ns;
	struct sl__checkpoint now; /* its 'states' are filled to be written */
	size_t cap_curve, cap_validation;
	uint64_t steps_per_epoch, curve_stride;
	uint64_t begun_ns, saved_ns, steps_ns;
	double earlier_s, wait_ns;
};

const char *
sl_train_end_text(enum sl_train_end end)
{
	static const char *const words[SL_N_TRAIN_ENDS] = {
		"finished", "early stop", "interrupted"};

	return words[(unsigned)end < SL_N_TRAIN_ENDS ? end : 0];
}

static uint64_t
now_ns(const struct run *r)
{
	return sl__clock_now_ns(r->o.clock);
}

static int
is_interrupted(const struct run *r)
{
	return r->o.interrupt && *r->o.interrupt;
}

/* The options of steps, and of the plan that makes them. */
static enum sl_status
take_parts(struct run *r, struct sl_error *err)
{
	struct sl__plan_options_storage storage;
	const struct sl_plan_options *plan = r->o.plan;
	const struct sl_data_source *source = sl_dataset_source(r->data);
	enum sl_status rc = sl__options_copy(&r->training, sizeof(r->training),
					     r->o.training,
					     "sl_training_options", err);

	if (!rc)
		rc = sl__plan_options_copy(&storage, &plan, err);
	if (rc)
		return rc;
	r->plan = plan ? *plan
		       : (struct sl_plan_options){
				 .struct_size = sizeof(r->plan),
				 .algorithms = SL_ALGORITHMS_FIXED};
	/* A step that is interrupted would leave half of an update, and what
	 * is begun of an evaluation says little. */
	r->plan.sizes = NULL;
	r->plan.interrupt = NULL;
	if (!r->o.training)
		r->training.smoothing = usual_smoothing;
	if (!r->training.optimizer) {
		r->training.optimizer = SL_OPTIMIZER_ADAMW;
		if (r->training.weight_decay == 0)
			r->training.weight_decay = SL__TRAINER_USUAL_DECAY;
	}
	if (r->training.learning_rate == 0)
		r->training.learning_rate = SL__TRAINER_USUAL_RATE;
	if (r->training.n_micro_batches == 0)
		r->training.n_micro_batches = 1;
	r->training.flags |= SL__TRAINING_KEEP_OUTPUTS;
	if (source->n_labels > 1) {
		r->training.has_ignored = 1;
		r->training.ignored = SL_LABEL_IGNORED;
	}
	return SL_OK;
}

static enum sl_status
take_options(struct run *r, const struct sl_train_options *options,
	     struct sl_error *err)
{
	enum sl_status rc = sl__options_copy(&r->o, sizeof(r->o), options,
					     "sl_train_options", err);

	if (rc)
		return rc;
	if (r->o.batch < 0 || (unsigned)r->o.schedule >= SL_N_SCHEDULES ||
	    !(r->o.warmup <= 1) || !(r->o.final_share >= 0) ||
	    !(r->o.factor >= 0))
		return sl__fail(err, SL_E_USAGE,
				"a batch is 1 or more, a warm-up at most all "
				"steps, factors are not below 0");
	if (r->o.is_resumed && !r->o.checkpoint)
		return sl__fail(err, SL_E_USAGE,
				"there is no checkpoint to resume from");
	if (r->o.patience &&
	    !sl_dataset_source(r->data)->n_samples[SL_SPLIT_VALIDATION])
		return sl__fail(err, SL_E_USAGE,
				"an early stop needs a validation split");
	r->o.batch = r->o.batch ? r->o.batch
				: sl__train_data_usual_batch(r->graph);
	r->o.seed = r->o.seed ? r->o.seed : 1;
	r->o.warmup = r->o.warmup > 0   ? r->o.warmup
		      : r->o.warmup < 0 ? 0
					: 0.05;
	r->o.factor = r->o.factor > 0 ? r->o.factor : 0.1;
	return take_parts(r, err);
}

/* How many steps there are, and their rates. */
static void
set_schedule(struct run *r)
{
	uint64_t per_epoch = r->steps_per_epoch, n, third;

	if (!r->o.n_epochs)
		r->o.n_epochs = (USUAL_STEPS + per_epoch - 1) / per_epoch;
	n = r->o.n_epochs * per_epoch;
	third = (r->o.n_epochs + 2) / 3;
	r->rate = (struct sl_rate){
		.schedule = r->o.schedule,
		.peak = r->training.learning_rate,
		.n_steps = n,
		.n_warmup = (uint64_t)(r->o.warmup * (double)n),
		.final_share = r->o.final_share,
		.n_between =
			per_epoch *
			(r->o.epochs_between ? r->o.epochs_between : third),
		.factor = r->o.factor};
	r->curve_stride = (n + CURVE_POINTS - 1) / CURVE_POINTS;
}

/* The checkpoint of the run before, where there is one. */
static enum sl_status
read_checkpoint(struct run *r, struct sl_error *err)
{
	enum sl_status rc;

	if (!r->o.is_resumed || access(r->o.checkpoint, F_OK))
		return SL_OK;
	rc = sl__checkpoint_read(&r->now, r->o.checkpoint, r->arena, err);
	if (rc)
		return rc;
	r->cap_curve = r->now.n_curve;
	r->cap_validation = r->now.n_validation;
	r->earlier_s = r->now.elapsed_s;
	r->out->resumed_at = r->now.n_steps;
	if (!r->plan.n_threads)
		r->plan.n_threads = (int)r->now.n_threads;
	return SL_OK;
}

enum direction { GATHER, SCATTER };

/* All states into one row of bytes, or back. */
static enum sl_status
move_states(struct run *r, unsigned char *row, enum direction direction,
	    struct sl_error *err)
{
	struct sl__training_plan *p = r->trainer->plan;
	enum sl_status rc = SL_OK;
	struct sl_array a;
	void *data;

	for (size_t i = 0; !rc && i < p->training->n_states; i++) {
		rc = sl__training_plan_state(p, i, &a, &data, err);
		if (rc)
			return rc;
		if (direction == GATHER)
			memcpy(row, data, (size_t)a.n_bytes);
		else
			memcpy(data, row, (size_t)a.n_bytes);
		row += a.n_bytes;
	}
	return rc;
}

static enum sl_status
count_states(struct run *r, size_t *n_bytes, struct sl_error *err)
{
	const struct sl__training_plan *p = r->trainer->plan;
	enum sl_status rc = SL_OK;
	struct sl_array a;
	void *data;

	*n_bytes = 0;
	for (size_t i = 0; !rc && i < p->training->n_states; i++) {
		rc = sl__training_plan_state(r->trainer->plan, i, &a, &data,
					     err);
		*n_bytes += (size_t)a.n_bytes;
	}
	return rc;
}

/* What decides the bits of a run, beside what a checkpoint holds. */
static const char *
describe(const struct run *r)
{
	const struct sl_data_source *s = sl_dataset_source(r->data);
	const struct sl_training_options *t = &r->training;
	const struct sl_augmentation *a = &r->o.augmentation;
	const char *choices =
		sl__plan_choices_hash(r->trainer->plan->plan, r->arena);

	if (!choices)
		return NULL;
	return sl__arena_format(
		r->arena,
		"model=%s nodes=%zu data=%s samples=%zu validation=%zu "
		"batch=%lld micro=%llu epochs=%llu loss=%s optimizer=%s "
		"rate=%.17g "
		"decay=%.17g momentum=%.17g,%d betas=%.17g,%.17g "
		"epsilon=%.17g norm=%.17g smoothing=%.17g schedule=%s "
		"warmup=%llu final=%.17g factor=%.17g between=%llu "
		"patience=%llu augmentation=%lld,%d,%.17g seed=%llu "
		"threads=%d kernels(--isa,--dtype,CPU,version)=%s",
		sl_graph_name(r->graph), sl_graph_n_nodes(r->graph), s->name,
		s->n_samples[SL_SPLIT_TRAIN], s->n_samples[SL_SPLIT_VALIDATION],
		(long long)r->o.batch, (unsigned long long)t->n_micro_batches,
		(unsigned long long)r->o.n_epochs, sl_loss_text(t->loss),
		sl_optimizer_text(t->optimizer), t->learning_rate,
		t->weight_decay, t->momentum, t->is_nesterov, t->beta1,
		t->beta2, t->epsilon, t->max_norm, t->smoothing,
		sl_schedule_text(r->o.schedule),
		(unsigned long long)r->rate.n_warmup, r->rate.final_share,
		r->rate.factor, (unsigned long long)r->rate.n_between,
		(unsigned long long)r->o.patience, (long long)a->shift, a->flip,
		a->noise, (unsigned long long)r->o.seed,
		sl_plan_n_threads(r->trainer->plan->plan), choices);
}

/* Puts the states of a checkpoint that was read into the trainer, or makes
 * room for those of a new one. */
static enum sl_status
begin_states(struct run *r, struct sl_error *err)
{
	const char *settings = describe(r);
	size_t n = 0;
	enum sl_status rc = count_states(r, &n, err);

	if (rc)
		return rc;
	if (!settings)
		return sl__fail_nomem(err);
	if (r->now.settings) {
		rc = sl__checkpoint_compare(&r->now, settings, err);
		if (!rc && r->now.n_state_bytes != n)
			rc = sl__fail(err, SL_E_DATA,
				      "the checkpoint is of a model with other "
				      "parameters");
		if (!rc)
			rc = move_states(r, r->now.states, SCATTER, err);
		r->trainer->plan->n_steps = r->now.n_steps;
		return sl__error_prefix(err, rc, r->o.checkpoint);
	}
	r->now.settings = settings;
	r->now.n_state_bytes = n;
	r->now.best_loss = (double)INFINITY;
	r->now.n_threads = (uint64_t)sl_plan_n_threads(r->trainer->plan->plan);
	r->now.states = sl__arena_alloc(r->arena, n);
	return r->now.states ? SL_OK : sl__fail_nomem(err);
}

static int64_t
step_samples(const struct run *r)
{
	return r->o.batch * (int64_t)r->training.n_micro_batches;
}

static enum sl_status
open_loader(struct run *r, struct sl_error *err)
{
	struct sl_loader_options how = {.struct_size = sizeof(how),
					.batch = step_samples(r),
					.seed = r->o.seed,
					.n_threads = r->o.n_prefetch,
					.augmentation = r->o.augmentation,
					.allocator = r->o.allocator};
	const struct sl_data_source *s = sl_dataset_source(r->data);
	enum sl_status rc;

	r->steps_per_epoch = s->n_samples[SL_SPLIT_TRAIN] / (size_t)how.batch;
	if (r->steps_per_epoch) {
		how.epoch = r->now.n_steps / r->steps_per_epoch;
		how.position = r->now.n_steps % r->steps_per_epoch;
	}
	r->loading = how;
	rc = sl_loader_open(&r->loader, r->data, &how, err);
	if (!rc)
		r->steps_per_epoch = sl_loader_n_batches(r->loader);
	return rc;
}

static enum sl_status
open_trainer(struct run *r, struct sl_error *err)
{
	uint64_t start = now_ns(r);
	enum sl_status rc;

	if (r->o.profile)
		sl__residence_begin(&r->residence);
	r->plan.sizes = &r->inputs.sizes;
	rc = sl_trainer_open(&r->trainer, r->graph, &r->training, &r->plan,
			     err);
	r->plan.sizes = NULL;
	r->plan_ns = (double)(now_ns(r) - start);
	if (rc || !r->o.profile)
		return rc;
	sl__residence_pause(&r->residence);
	rc = sl__step_watch_new(&r->watch, r->trainer->plan->plan,
				r->rate.n_steps - r->now.n_steps, r->o.clock,
				r->arena, err);
	sl__residence_resume(&r->residence);
	return rc;
}

static enum sl_status
begin(struct run *r, struct sl_error *err)
{
	const struct sl_data_source *source = sl_dataset_source(r->data);
	const struct sl__batch_sizes batch = {r->o.batch,
					      r->training.n_micro_batches};
	enum sl_status rc = sl__train_data_bind(&r->inputs, r->graph, source,
						batch, r->arena, err);

	if (!rc)
		rc = read_checkpoint(r, err);
	if (!rc)
		rc = open_loader(r, err);
	if (rc)
		return rc;
	set_schedule(r);
	rc = open_trainer(r, err);
	if (rc)
		return rc;
	rc = sl__train_data_check(&r->inputs, r->trainer, err);
	if (!rc)
		rc = begin_states(r, err);
	if (!rc)
		rc = sl__train_phases_init(&r->phases, r->trainer->plan,
					   r->now.n_steps, r->rate.n_steps,
					   r->arena, err);
	r->begun_ns = r->saved_ns = now_ns(r);
	return rc;
}

static enum sl_status
add_point(struct run *r, struct sl_train_point **list, size_t *n, size_t *cap,
	  struct sl_train_point point, struct sl_error *err)
{
	if (!sl__arena_grow(r->arena, list, *n, cap, sizeof(**list)))
		return sl__fail_nomem(err);
	(*list)[(*n)++] = point;
	return SL_OK;
}

static struct sl_train_point
window_point(const struct run *r)
{
	const struct sl__train_window *w = &r->now.window;

	return (struct sl_train_point){.step = r->now.n_steps,
				       .loss = w->loss / (double)w->n_steps,
				       .accuracy = (double)w->n_correct /
						   (double)w->n_targets};
}

/* The step itself, recorded where it is its turn. */
static enum sl_status
run_step(struct run *r, double *loss, struct sl_error *err)
{
	struct sl__event_buffer *events = NULL;
	enum sl_status rc;

	if (r->watch)
		sl__step_watch_begin(r->watch);
	rc = sl_loader_next(r->loader, &r->batch, err);
	if (!rc)
		rc = sl__train_data_set(&r->inputs, r->trainer, &r->batch, err);
	if (r->watch) {
		sl__step_watch_fed(r->watch);
		events = sl__step_watch_events(r->watch);
	} else {
		events = sl__train_phases_begin(&r->phases, r->now.n_steps);
	}
	if (!rc)
		rc = sl__trainer_fill_inputs(r->trainer, err);
	if (!rc)
		rc = sl__training_plan_step(
			r->trainer->plan, sl_rate_at(&r->rate, r->now.n_steps),
			loss, events, err);
	if (rc)
		return rc;
	if (events)
		sl__train_phases_end(&r->phases, events, r->batch.wait_ns);
	if (r->watch)
		sl__step_watch_end(r->watch);
	r->wait_ns += r->batch.wait_ns;
	return SL_OK;
}

static enum sl_status
one_step(struct run *r, struct sl_error *err)
{
	struct sl__train_window *w = &r->now.window;
	uint64_t begun = now_ns(r), n_targets = 0, n_correct = 0;
	double loss = 0;
	enum sl_status rc = run_step(r, &loss, err);

	if (!rc)
		rc = sl__train_data_score(r->trainer, &r->batch, &n_targets,
					  &n_correct, err);
	if (rc)
		return rc;
	r->steps_ns += now_ns(r) - begun;
	r->now.n_steps++;
	w->loss += loss;
	w->n_steps++;
	w->n_targets += n_targets;
	w->n_correct += n_correct;
	if (r->now.n_steps % r->curve_stride &&
	    r->now.n_steps < r->rate.n_steps)
		return SL_OK;
	rc = add_point(r, &r->now.curve, &r->now.n_curve, &r->cap_curve,
		       window_point(r), err);
	*w = (struct sl__train_window){0};
	return rc;
}

static enum sl_status
evaluate(struct run *r, struct sl_split_score *out,
	 const struct sl_graph *model, enum sl_split split,
	 struct sl_error *err)
{
	const struct sl_evaluate_options how = {.struct_size = sizeof(how),
						.plan = &r->plan,
						.output = r->training.output,
						.has_split = 1,
						.split = split,
						.batch = r->o.batch,
						.allocator = r->o.allocator};
	struct sl_evaluation *e;
	enum sl_status rc = sl_evaluate(&e, model, r->data, &how, err);

	if (rc)
		return rc;
	*out = (struct sl_split_score){.kind = e->kind,
				       .accuracy = e->accuracy,
				       .top5 = e->top5,
				       .token = e->token,
				       .loss = e->loss};
	sl_evaluation_free(e);
	return SL_OK;
}

/* After an epoch: the loss of the validation split, and whether it is time to
 * end. */
static enum sl_status
validate(struct run *r, struct sl_error *err)
{
	struct sl_graph *model;
	struct sl_split_score found;
	enum sl_status rc;

	if (!sl_dataset_source(r->data)->n_samples[SL_SPLIT_VALIDATION])
		return SL_OK;
	rc = sl__trainer_model(r->trainer, &model, r->graph, r->o.allocator,
			       err);
	if (!rc)
		rc = evaluate(r, &found, model, SL_SPLIT_VALIDATION, err);
	sl_graph_free(model);
	if (rc)
		return rc;
	rc = add_point(
		r, &r->now.validation, &r->now.n_validation, &r->cap_validation,
		(struct sl_train_point){.step = r->now.n_steps,
					.loss = found.loss.value,
					.accuracy = found.accuracy.value},
		err);
	r->now.n_worse_epochs++;
	if (!rc && r->o.patience && found.loss.value < r->now.best_loss) {
		r->now.best_loss = found.loss.value;
		r->now.best_step = r->now.n_steps;
		r->now.n_worse_epochs = 0;
		if (!r->now.best)
			r->now.best =
				sl__arena_alloc(r->arena, r->now.n_state_bytes);
		rc = r->now.best ? move_states(r, r->now.best, GATHER, err)
				 : sl__fail_nomem(err);
	}
	return rc;
}

static enum sl_status
save(struct run *r, struct sl_error *err)
{
	enum sl_status rc;

	if (!r->o.checkpoint)
		return SL_OK;
	r->now.elapsed_s =
		r->earlier_s + (double)(now_ns(r) - r->begun_ns) / 1e9;
	rc = move_states(r, r->now.states, GATHER, err);
	if (!rc)
		rc = sl__checkpoint_write(&r->now, r->o.checkpoint, err);
	r->saved_ns = now_ns(r);
	return rc;
}

static void
tell(struct run *r, int is_epoch_end)
{
	struct sl_train_point p;
	const struct sl__checkpoint *c = &r->now;
	uint64_t n_made = c->n_steps - r->out->resumed_at;
	struct sl_train_progress now = {
		.step = c->n_steps,
		.n_steps = r->rate.n_steps,
		.epoch = (c->n_steps + r->steps_per_epoch - 1) /
			 r->steps_per_epoch,
		.n_epochs = r->o.n_epochs,
		.validation_loss = (double)NAN,
		.validation_accuracy = (double)NAN,
		.samples_per_s = (double)n_made * (double)step_samples(r) /
				 ((double)r->steps_ns / 1e9),
		.remaining_s = (double)(now_ns(r) - r->begun_ns) / 1e9 /
			       (double)n_made *
			       (double)(r->rate.n_steps - c->n_steps),
		.is_epoch_end = is_epoch_end};

	if (!r->o.progress)
		return;
	p = c->window.n_steps ? window_point(r) : c->curve[c->n_curve - 1];
	now.loss = p.loss;
	now.accuracy = p.accuracy;
	if (c->n_validation) {
		p = c->validation[c->n_validation - 1];
		now.validation_loss = p.loss;
		now.validation_accuracy = p.accuracy;
	}
	r->o.progress(&now, r->o.progress_ctx);
}

/* Whether a checkpoint is due after the step that was made. */
static int
is_save_due(const struct run *r, int is_epoch_end)
{
	if (r->o.steps_between)
		return r->now.n_steps % r->o.steps_between == 0;
	return is_epoch_end && now_ns(r) - r->saved_ns >= checkpoint_ns;
}

static enum sl_status
run_steps(struct run *r, struct sl_error *err)
{
	enum sl_status rc = SL_OK;

	while (!rc && r->now.n_steps < r->rate.n_steps) {
		int is_end;

		if (r->o.patience && r->now.n_worse_epochs >= r->o.patience) {
			r->out->end = SL_TRAIN_STOPPED_EARLY;
			break;
		}
		if (is_interrupted(r)) {
			r->out->end = SL_TRAIN_INTERRUPTED;
			break;
		}
		rc = one_step(r, err);
		if (rc)
			break;
		is_end = r->now.n_steps % r->steps_per_epoch == 0;
		if (is_end)
			rc = validate(r, err);
		if (!rc && is_save_due(r, is_end))
			rc = save(r, err);
		if (!rc)
			tell(r, is_end);
	}
	return rc ? rc : save(r, err);
}

/* The best parameters, and what they are worth. */
static enum sl_status
finish(struct run *r, struct sl_error *err)
{
	struct sl_train_result *out = r->out;
	enum sl_status rc = SL_OK;

	out->best_step = r->now.best_step;
	if (r->now.best)
		rc = move_states(r, r->now.best, SCATTER, err);
	if (!rc)
		rc = sl__trainer_model(r->trainer, &out->trained, r->graph,
				       r->o.allocator, err);
	if (rc)
		return rc;
	if (out->end == SL_TRAIN_INTERRUPTED)
		out->unevaluated = "interrupted";
	else if (!sl_dataset_source(r->data)->n_samples[SL_SPLIT_TEST])
		out->unevaluated = "there is no test split";
	else
		rc = evaluate(r, &out->test, out->trained, SL_SPLIT_TEST, err);
	return rc;
}

/* What the steps of the run say, and the loader against memory.  It comes last:
 * further steps are made. */
static enum sl_status
profile_steps(struct run *r, struct sl_error *err)
{
	struct sl__watched_training watched = {
		.subject = {.trainer = r->trainer,
			    .inputs = r->inputs,
			    .loading = r->loading,
			    .data = r->data,
			    .loader = r->loader,
			    .batch = r->batch},
		.training = &r->training,
		.residence = &r->residence,
		.plan_ns = r->plan_ns};
	const struct sl_profile_options how = {
		.struct_size = sizeof(how),
		.plan = &r->plan,
		.seed = r->o.seed,
		.time_s = r->o.profile_s > 0 ? r->o.profile_s : 2,
		.interrupt = r->o.interrupt,
		.allocator = r->o.allocator,
		.data = r->data};

	watched.iterations = sl__step_watch_finish(r->watch);
	if (!watched.iterations->n_recorded)
		return SL_OK;
	return sl__profile_watched(r->o.profile, r->graph, &watched, &how, err);
}

static void
fill_result(struct run *r)
{
	const struct sl_data_source *s = sl_dataset_source(r->data);
	const struct sl__training_graph *t = r->trainer->plan->training;
	struct sl_train_result *out = r->out;
	uint64_t n_made = r->now.n_steps - out->resumed_at;

	out->loss = r->training.loss;
	out->optimizer = r->training.optimizer;
	out->schedule = r->o.schedule;
	out->learning_rate = r->training.learning_rate;
	out->weight_decay = r->training.weight_decay;
	out->batch = r->o.batch;
	out->n_micro_batches = r->training.n_micro_batches;
	out->n_train = s->n_samples[SL_SPLIT_TRAIN];
	out->n_validation = s->n_samples[SL_SPLIT_VALIDATION];
	out->n_epochs = r->o.n_epochs;
	out->n_steps = r->rate.n_steps;
	out->n_done = r->now.n_steps;
	out->n_threads = sl_plan_n_threads(r->trainer->plan->plan);
	out->n_prefetch = r->o.n_prefetch;
	out->seed = r->o.seed;
	for (size_t i = 0; i < t->n_parameters; i++) {
		for (size_t k = 0; k < t->n_states; k++) {
			if (t->states[k].old == t->parameters[i].value)
				out->parameters +=
					t->states[k].initial->n_elements;
		}
	}
	out->elapsed_s = r->earlier_s + (double)(now_ns(r) - r->begun_ns) / 1e9;
	out->samples_per_s = n_made ? (double)n_made * (double)step_samples(r) /
					      ((double)r->steps_ns / 1e9)
				    : (double)NAN;
	out->wait_share = n_made ? r->wait_ns / (double)r->steps_ns
				 : (double)NAN;
	sl__train_phases_summarize(&r->phases, out->phases);
	out->curve = r->now.curve;
	out->n_curve = r->now.n_curve;
	out->validation = r->now.validation;
	out->n_points = r->now.n_validation;
}

static enum sl_status
copy_names(struct run *r, struct sl_error *err)
{
	const struct sl_data_source *s = sl_dataset_source(r->data);
	struct sl_train_result *out = r->out;

	out->name = sl__arena_string(r->arena, r->graph->name);
	out->source = sl__arena_string(r->arena, r->graph->source);
	out->data = sl__arena_string(r->arena, s->name);
	out->attribution = sl__arena_string(r->arena, s->attribution);
	return out->name && out->source && out->data &&
			       (out->attribution || !s->attribution)
		       ? SL_OK
		       : sl__fail_nomem(err);
}

enum sl_status
sl_train(struct sl_train_result **out, const struct sl_graph *graph,
	 const struct sl_dataset *data, const struct sl_train_options *options,
	 struct sl_error *err)
{
	struct run r = {.graph = graph, .data = data};
	enum sl_status rc = take_options(&r, options, err);

	*out = NULL;
	if (rc)
		return rc;
	if (r.o.profile)
		*r.o.profile = NULL;
	r.out = sl__arena_object_new(&r.arena, r.o.allocator, sizeof(*r.out));
	if (!r.out)
		return sl__fail_nomem(err);
	rc = copy_names(&r, err);
	if (!rc)
		rc = begin(&r, err);
	if (!rc)
		rc = run_steps(&r, err);
	if (!rc && r.watch)
		sl__residence_end(&r.residence);
	if (!rc)
		rc = finish(&r, err);
	if (!rc)
		fill_result(&r);
	if (!rc && r.watch)
		rc = profile_steps(&r, err);
	sl_loader_close(r.loader);
	sl_trainer_close(r.trainer);
	if (rc) {
		sl_train_free(r.out);
		return rc;
	}
	*out = r.out;
	return SL_OK;
}

void
sl_train_free(struct sl_train_result *result)
{
	if (!result)
		return;
	sl_graph_free(result->trained);
	sl__arena_object_free(result);
}
