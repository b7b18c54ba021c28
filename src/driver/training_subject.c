/* SPDX-License-Identifier: Apache-2.0 */
/* training_subject.c - training steps of a model, made ready to be profiled. */
#include "driver/training_subject.h"
#include "analysis/training_phases.h"
#include "base/clock.h"
#include "base/option_struct.h"
#include "base/status.h"
#include "base/thread.h"
#include "data/loader.h"

#include <math.h>

#include "base/banned.h"

enum sl_status
sl__training_subject_feed(void *ctx, struct sl_error *err)
{
	struct sl__training_subject *s = ctx;
	enum sl_status rc = sl_loader_next(s->loader, &s->batch, err);

	return rc ? rc
		  : sl__train_data_set(&s->inputs, s->trainer, &s->batch, err);
}

/* Sizes are those of the samples. */
static enum sl_status
bind_data(struct sl__training_subject *s, struct sl__subject_model *subject,
	  uint64_t n_micro, struct sl__arena *arena, struct sl_error *err)
{
	struct sl_sizes *sizes = &subject->sizes;
	struct sl__batch_sizes batch = {.n_micro = n_micro};
	enum sl_status rc;

	if (sizes->n_shapes || sizes->n_dims || sizes->seq || sizes->has_past ||
	    sizes->past)
		return sl__fail(err, SL_E_USAGE,
				"samples of the data have their sizes: only "
				"the batch can be said");
	batch.batch = sizes->batch ? sizes->batch
		      : s->loading.batch
			      ? s->loading.batch
			      : sl__train_data_usual_batch(subject->graph);
	rc = sl__train_data_bind(&s->inputs, subject->graph,
				 sl_dataset_source(s->data), batch, arena, err);
	s->loading.batch = batch.batch * (int64_t)s->inputs.n_micro;
	if (!rc)
		*sizes = s->inputs.sizes;
	return rc;
}

static enum sl_status
open_trainer(struct sl__training_subject *s, struct sl__subject_model *subject,
	     struct sl_training_options own,
	     const struct sl_profile_options *how, struct sl_error *err)
{
	uint64_t start = sl__clock_now_ns(NULL);
	struct sl_plan_options plan = {.struct_size = sizeof(plan)};
	enum sl_status rc;

	if (s->data && sl_dataset_source(s->data)->n_labels > 1) {
		own.has_ignored = 1;
		own.ignored = SL_LABEL_IGNORED;
	}
	if (how->plan)
		plan = *how->plan;
	plan.sizes = &subject->sizes;
	if (how->interrupt)
		plan.interrupt = how->interrupt;
	rc = sl_trainer_open(&s->trainer, subject->graph, &own, &plan, err);
	if (rc)
		return rc;
	subject->plan = s->trainer->plan->plan;
	subject->plan_ns = (double)(sl__clock_now_ns(NULL) - start);
	return SL_OK;
}

/* The first batch as inputs. */
static enum sl_status
open_loader(struct sl__training_subject *s, struct sl_error *err)
{
	enum sl_status rc = sl__train_data_check(&s->inputs, s->trainer, err);

	if (!rc)
		rc = sl_loader_open(&s->loader, s->data, &s->loading, err);
	return rc ? rc : sl__training_subject_feed(s, err);
}

enum sl_status
sl__training_subject_open(struct sl__training_subject *out,
			  struct sl__subject_model *subject,
			  const struct sl_training_options *training,
			  const struct sl_profile_options *how,
			  struct sl__arena *arena, struct sl_error *err)
{
	struct sl_training_options own;
	enum sl_status rc;

	*out = (struct sl__training_subject){.data = how->data};
	rc = sl__options_copy(&own, sizeof(own), training,
			      "sl_training_options", err);
	if (rc)
		return rc;
	rc = sl__options_copy(&out->loading, sizeof(out->loading), how->loader,
			      "sl_loader_options", err);
	if (rc)
		return rc;
	if (how->inputs_folder)
		return sl__fail(err, SL_E_USAGE,
				"a training step takes inputs one by one, "
				"not from a folder");
	subject->sizes.struct_size = sizeof(subject->sizes);
	if (how->plan && how->plan->sizes)
		subject->sizes = *how->plan->sizes;
	if (out->data)
		rc = bind_data(out, subject, own.n_micro_batches, arena, err);
	if (!rc)
		rc = open_trainer(out, subject, own, how, err);
	if (!rc && out->data)
		rc = open_loader(out, err);
	for (size_t i = 0; !rc && i < how->n_inputs; i++)
		rc = sl_trainer_load_input(out->trainer, how->inputs[i].input,
					   how->inputs[i].path, err);
	return rc ? rc : sl__trainer_fill_inputs(out->trainer, err);
}

void
sl__training_subject_close(struct sl__training_subject *s)
{
	sl_loader_close(s->loader);
	sl_trainer_close(s->trainer);
}

enum sl_status
sl__training_subject_attribute(const struct sl__training_subject *s,
			       struct sl_profile *profile,
			       const struct sl__timed_iterations *iterations,
			       struct sl__arena *arena, struct sl_error *err)
{
	struct sl__training_plan *plan = s->trainer->plan;
	const struct sl__training_sources sources = {plan, iterations};
	struct sl_training_profile *out;
	struct sl__tensor loss;
	enum sl_status rc =
		sl__training_attribute_time(profile, &sources, arena, err);

	if (rc)
		return rc;
	out = (struct sl_training_profile *)(uintptr_t)profile->training;
	out->loss = s->trainer->options.loss;
	out->optimizer = s->trainer->options.optimizer;
	out->has_synthetic_target = s->trainer->has_synthetic_target;
	out->last_loss = (double)NAN;
	if (s->data) {
		out->n_prefetch = s->loading.n_threads;
		out->augmentation = s->loading.augmentation;
		rc = sl__arena_copy_text(arena, &out->data,
					 sl_dataset_source(s->data)->name, err);
	}
	if (rc || !plan->plan->has_run) /* interrupted within a step */
		return rc;
	rc = sl__training_plan_value(plan, plan->training->loss, &loss, err);
	if (rc)
		return rc;
	if (!sl__tensor_doubles(&loss, 0, 1, &out->last_loss) ||
	    isnan(out->last_loss))
		return sl__training_plan_fail_nan(plan, err);
	return SL_OK;
}

static enum sl_status
feed_from_memory(void *ctx, struct sl_error *err)
{
	struct sl__training_subject *s = ctx;

	return sl__train_data_set(&s->inputs, s->trainer, &s->batch, err);
}

static void
settle(void *ctx)
{
	struct sl__training_subject *s = ctx;

	sl__loader_settle(s->loader);
}

/* Threads that slept have to be woken and spread over the CPUs.  A slot of 0.5
 * ms tells more of that than of a whole run; from 4 ms on, measured with steps
 * of 0.4 ms, a longer one told the same. */
#define AHEAD_NS 4e6

/* Threads make batches in turns: a slot has two of each. */
static struct sl__feed_arm
loader_arm(struct sl__training_subject *s, double iteration_ns)
{
	double n = s->loading.n_threads ? AHEAD_NS / fmax(iteration_ns, 1) : 0;

	return (struct sl__feed_arm){
		.feed = sl__training_subject_feed,
		.settle = settle,
		.ctx = s,
		.n_drained = sl__loader_n_slots(s->loader) - 1,
		.n_least = (size_t)fmax(n, 2 * (double)s->loading.n_threads)};
}

/* What a step waits for its batch, below which more threads are no use. */
#define WAIT_LEAST 0.02

enum { PREFETCH_MOST = 8 };

/*
 * How many threads would keep up with the steps: a batch takes one thread as
 * long as the step waits for it and, where threads work ahead, as long as the
 * step computes, times the threads.  First as many as CPUs at most: beyond that
 * threads help only where they wait for something else.  0: those that there
 * are do.
 */
static size_t
wanted_threads(const struct sl__training_subject *s,
	       const struct sl_training_profile *t)
{
	double n_now = (double)s->loading.n_threads;
	double wait_ns = t->phases[0].ns.value;
	double rest_ns = fmax(t->step_ns - wait_ns, 1);
	double batch_ns = fmax(n_now, 1) * wait_ns + n_now * rest_ns;
	size_t most;

	if (!(wait_ns > WAIT_LEAST * t->step_ns) || n_now >= PREFETCH_MOST)
		return 0;
	most = s->loading.n_threads ? PREFETCH_MOST : sl__thread_n_cpus();
	return (size_t)fmin(fmax(ceil(batch_ns / rest_ns), n_now + 1),
			    fmin((double)most, PREFETCH_MOST));
}

/* Of B / A, with a margin of 1 %. */
static enum sl_verdict
verdict_of(const struct sl_estimate *ratio)
{
	if (ratio->hi < 1 / 1.01)
		return SL_VERDICT_FASTER;
	if (ratio->lo > 1.01)
		return SL_VERDICT_SLOWER;
	return ratio->lo > 1 / 1.01 && ratio->hi < 1.01 ? SL_VERDICT_SAME
							: SL_VERDICT_UNDECIDED;
}

static int
is_known(const struct sl_estimate *ratio)
{
	return ratio->n && !ratio->needs_n;
}

enum { AS_IT_IS = 0, FROM_MEMORY, AHEAD, N_AHEAD = SL__FEED_ARMS_MOST - AHEAD };

/* Arms of the rounds: loaders that work ahead have subjects of their own. */
struct feeds {
	struct sl__training_subject ahead[N_AHEAD];
	struct sl__feed_arm arms[SL__FEED_ARMS_MOST];
	struct sl_estimate ratios[SL__FEED_ARMS_MOST];
	size_t n;
};

static enum sl_status
add_ahead(struct feeds *f, const struct sl__training_subject *s,
	  size_t n_threads, double iteration_ns, struct sl_error *err)
{
	struct sl__training_subject *own = &f->ahead[f->n - AHEAD];
	enum sl_status rc;

	*own = *s;
	own->loader = NULL;
	own->loading.n_threads = n_threads;
	rc = sl_loader_open(&own->loader, s->data, &own->loading, err);
	if (rc)
		return rc;
	f->arms[f->n++] = loader_arm(own, iteration_ns);
	sl__loader_settle(own->loader);
	return SL_OK;
}

/* One thread more is tried, and as many as would keep up: they may have no
 * CPU, or need none.  The one that is more surely fast is kept. */
static void
keep_comparisons(struct sl_training_profile *out, const struct feeds *f,
		 struct sl_feed_comparison *list)
{
	const struct sl_estimate *memory = &f->ratios[FROM_MEMORY];
	size_t best = AHEAD;

	if (!is_known(memory))
		return;
	list[out->n_comparisons++] =
		(struct sl_feed_comparison){.feed = SL_FEED_MEMORY,
					    .ratio = *memory,
					    .verdict = verdict_of(memory)};
	if (f->n == AHEAD)
		return;
	if (f->n > AHEAD + 1 && f->ratios[AHEAD + 1].hi < f->ratios[AHEAD].hi)
		best = AHEAD + 1;
	list[out->n_comparisons++] = (struct sl_feed_comparison){
		.feed = SL_FEED_PREFETCH,
		.n_prefetch = f->ahead[best - AHEAD].loading.n_threads,
		.ratio = f->ratios[best],
		.verdict = verdict_of(&f->ratios[best])};
}

enum sl_status
sl__training_subject_compare_feeds(struct sl__training_subject *s,
				   struct sl_profile *out,
				   const struct sl__feed_rounds_options *how,
				   struct sl__arena *arena,
				   struct sl_error *err)
{
	struct sl_training_profile *t =
		(struct sl_training_profile *)(uintptr_t)out->training;
	struct feeds f = {.arms = {loader_arm(s, how->iteration_ns),
				   {.feed = feed_from_memory, .ctx = s}},
			  .n = AHEAD};
	struct sl_feed_comparison *list =
		sl__arena_array(arena, SL_FEED_COMPARISONS_MOST, sizeof(*list));
	size_t n_more = s->loading.n_threads + 1, n_most = wanted_threads(s, t);
	enum sl_status rc = SL_OK;

	if (!list)
		return sl__fail_nomem(err);
	t->comparisons = list;
	if (n_most)
		rc = add_ahead(&f, s, n_more, how->iteration_ns, err);
	if (!rc && n_most > n_more)
		rc = add_ahead(&f, s, n_most, how->iteration_ns, err);
	if (!rc)
		rc = sl__feed_rounds_run(f.ratios, f.arms, f.n, how, arena,
					 err);
	if (!rc)
		keep_comparisons(t, &f, list);
	for (size_t i = 0; i < N_AHEAD; i++)
		sl_loader_close(f.ahead[i].loader);
	return rc;
}
