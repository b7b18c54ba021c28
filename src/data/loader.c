/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loader.c - batches of a data set, made by the caller or ahead of it.
 *
 * Batches are numbered.  What one holds follows from its number alone, so that
 * threads take the next number each and share nothing but the slots that
 * batches are made in.  A batch has the slot of its number modulo the slots;
 * threads wait until it is free, the consumer until it is ready.
 */
#include "base/arena.h"
#include "base/clock.h"
#include "base/option_struct.h"
#include "base/status.h"
#include "data/augment.h"
#include "data/loader.h"
#include "data/permutation.h"

#include <pthread.h>
#include <string.h>

#include "base/banned.h"

enum { THREADS_MOST = 256, AHEAD_MOST = 4096 };

struct slot {
	struct sl_array *inputs;
	void **at; /* where the sample being made goes, by input */
	int64_t *labels;
	float *scratch;
	int is_ready;
	enum sl_status rc;
	struct sl_error err;
};

/*
 * Invariants: n_freed <= n_taken <= n_freed + 1: the consumer has one batch at
 * most.  Numbers below n_begun are being made or are made; n_begun <=
 * n_freed + n_slots.  The lock guards these, is_ready and is_ending.
 */
struct sl_loader {
	const struct sl_data_source *source;
	struct sl_loader_options options;
	struct sl__arena *arena;
	uint64_t n_batches, first; /* of an epoch; number of the first */
	size_t n_slots, n_started;
	struct slot *slots;
	pthread_t *threads;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	uint64_t n_begun, n_taken, n_freed;
	int is_ending;
};

/* One sample of a batch. */
static enum sl_status
make_sample(struct sl_loader *l, struct slot *slot, uint64_t epoch,
	    size_t index, int64_t *labels)
{
	const struct sl_data_source *s = l->source;
	const struct sl_augmentation *how = &l->options.augmentation;
	uint64_t key = sl__mixed_key(l->options.seed, epoch);
	enum sl_status rc;
	struct sl__rng rng;

	if (!l->options.is_in_order)
		index = sl__permuted(index, s->n_samples[l->options.split],
				     key);
	rc = s->fill(s->ctx, l->options.split, index, slot->at, labels,
		     &slot->err);
	if (rc || (!how->shift && !how->flip && !(how->noise > 0)))
		return rc;
	sl__rng_init(&rng, sl__mixed_key(key, index));
	for (size_t i = 0; i < s->n_inputs; i++) {
		if (s->inputs[i].dtype == SL_DTYPE_F32)
			sl__augment(slot->at[i], slot->scratch, &s->inputs[i],
				    how, &rng);
	}
	return SL_OK;
}

static enum sl_status
make_batch(struct sl_loader *l, uint64_t number)
{
	struct slot *slot = &l->slots[number % l->n_slots];
	uint64_t nth = l->first + number, epoch = nth / l->n_batches;
	size_t batch = (size_t)l->options.batch;
	size_t from = (size_t)(nth % l->n_batches) * batch;
	enum sl_status rc = SL_OK;

	for (size_t k = 0; !rc && k < batch; k++) {
		for (size_t i = 0; i < l->source->n_inputs; i++) {
			const struct sl_array *a = &slot->inputs[i];

			memcpy(&slot->at[i], &a->data, sizeof(slot->at[i]));
			slot->at[i] = (char *)slot->at[i] +
				      k * (size_t)(a->n_bytes / batch);
		}
		rc = make_sample(l, slot, epoch, from + k,
				 slot->labels + k * l->source->n_labels);
	}
	return rc;
}

static void *
thread_main(void *arg)
{
	struct sl_loader *l = arg;

	pthread_mutex_lock(&l->lock);
	for (;;) {
		uint64_t number;
		struct slot *slot;
		enum sl_status rc;

		while (!l->is_ending && l->n_begun >= l->n_freed + l->n_slots)
			pthread_cond_wait(&l->changed, &l->lock);
		if (l->is_ending)
			break;
		number = l->n_begun++;
		slot = &l->slots[number % l->n_slots];
		pthread_mutex_unlock(&l->lock);
		rc = make_batch(l, number);
		pthread_mutex_lock(&l->lock);
		slot->rc = rc;
		slot->is_ready = 1;
		pthread_cond_broadcast(&l->changed);
	}
	pthread_mutex_unlock(&l->lock);
	return NULL;
}

/* Waits for the next batch; the one before is free from now on, unless it
 * failed. */
static struct slot *
take_slot(struct sl_loader *l)
{
	struct slot *slot;

	pthread_mutex_lock(&l->lock);
	if (l->n_freed < l->n_taken) {
		slot = &l->slots[l->n_freed % l->n_slots];
		if (slot->rc) {
			pthread_mutex_unlock(&l->lock);
			return slot;
		}
		slot->is_ready = 0;
		l->n_freed++;
		pthread_cond_broadcast(&l->changed);
	}
	slot = &l->slots[l->n_taken % l->n_slots];
	while (l->n_started && !slot->is_ready)
		pthread_cond_wait(&l->changed, &l->lock);
	l->n_taken++;
	pthread_mutex_unlock(&l->lock);
	if (!l->n_started)
		slot->rc = make_batch(l, l->n_taken - 1);
	return slot;
}

enum sl_status
sl_loader_next(struct sl_loader *loader, struct sl_batch *out,
	       struct sl_error *err)
{
	uint64_t start = sl__clock_now_ns(loader->options.clock), nth;
	struct slot *slot = take_slot(loader);
	size_t n_labels = loader->source->n_labels;

	memset(out, 0, sizeof(*out));
	if (slot->rc) {
		if (err)
			*err = slot->err;
		return slot->rc;
	}
	nth = loader->first + loader->n_taken - 1;
	out->epoch = nth / loader->n_batches;
	out->position = nth % loader->n_batches;
	out->inputs = slot->inputs;
	out->n_inputs = loader->source->n_inputs;
	/* The labels' sizes stand behind the inputs'. */
	out->labels = slot->inputs[out->n_inputs];
	out->labels.rank = n_labels > 1 ? 2 : 1;
	out->wait_ns =
		(double)(sl__clock_now_ns(loader->options.clock) - start);
	return SL_OK;
}

/* An array of a batch: n_bytes 0 where there is no memory for it. */
static struct sl_array
new_array(struct sl_loader *l, enum sl_dtype dtype, size_t rank,
	  const int64_t *dims)
{
	struct sl_array a = {.dtype = dtype, .rank = rank + 1};
	int64_t *all = sl__arena_array(l->arena, rank + 1, sizeof(*all));
	uint64_t n = (uint64_t)l->options.batch;

	for (size_t i = 0; i < rank; i++) {
		if (__builtin_mul_overflow(n, (uint64_t)dims[i], &n))
			return a;
	}
	a.data = sl__arena_array(l->arena, (size_t)n, sl_dtype_bits(dtype) / 8);
	if (!all || !a.data)
		return a;
	all[0] = l->options.batch;
	if (rank)
		memcpy(all + 1, dims, rank * sizeof(*dims));
	a.dims = all;
	a.n_elements = n;
	a.n_bytes = n * sl_dtype_bits(dtype) / 8;
	return a;
}

static enum sl_status
init_slot(struct sl_loader *l, struct slot *slot, struct sl_error *err)
{
	const struct sl_data_source *s = l->source;
	int64_t n_labels = (int64_t)s->n_labels;
	uint64_t most = 0;

	slot->inputs = sl__arena_array(l->arena, s->n_inputs + 1,
				       sizeof(*slot->inputs));
	slot->at = sl__arena_array(l->arena, s->n_inputs, sizeof(*slot->at));
	if (!slot->inputs || !slot->at)
		return sl__fail_nomem(err);
	for (size_t i = 0; i < s->n_inputs; i++) {
		slot->inputs[i] = new_array(l, s->inputs[i].dtype,
					    s->inputs[i].rank,
					    s->inputs[i].dims);
		if (!slot->inputs[i].dims)
			return sl__fail_nomem(err);
		if (slot->inputs[i].n_bytes > most)
			most = slot->inputs[i].n_bytes;
	}
	slot->inputs[s->n_inputs] = new_array(l, SL_DTYPE_I64, 1, &n_labels);
	memcpy(&slot->labels, &slot->inputs[s->n_inputs].data,
	       sizeof(slot->labels));
	slot->scratch = sl__arena_alloc(
		l->arena, (size_t)(most / (uint64_t)l->options.batch));
	if (!slot->inputs[s->n_inputs].dims || !slot->scratch)
		return sl__fail_nomem(err);
	return SL_OK;
}

static enum sl_status
start_threads(struct sl_loader *l, struct sl_error *err)
{
	size_t n = l->options.n_threads;

	l->threads = sl__arena_array(l->arena, n, sizeof(*l->threads));
	if (!l->threads)
		return sl__fail_nomem(err);
	for (size_t i = 0; i < n; i++) {
		int error =
			pthread_create(&l->threads[i], NULL, thread_main, l);

		if (error)
			return sl__fail_errno(err, SL_E_NOMEM, error,
					      "cannot start loader thread %zu "
					      "of %zu",
					      i + 1, n);
		l->n_started++;
	}
	return SL_OK;
}

/* An augmentation that no input can have would be no augmentation. */
static enum sl_status
check_augmentation(const struct sl_augmentation *a,
		   const struct sl_data_source *s, struct sl_error *err)
{
	int has_image = 0, has_real = 0;

	if (a->shift < 0 || a->shift > INT32_MAX || !(a->noise >= 0))
		return sl__fail(err, SL_E_USAGE,
				"shifts and noise are 0 or more");
	for (size_t i = 0; i < s->n_inputs; i++) {
		int is_real = s->inputs[i].dtype == SL_DTYPE_F32;

		has_real |= is_real;
		has_image |= is_real && s->inputs[i].rank >= 2;
	}
	if ((a->shift || a->flip) && !has_image)
		return sl__fail(err, SL_E_USAGE,
				"samples of %.200s have no rows and columns to "
				"shift or flip",
				s->name);
	if (a->noise > 0 && !has_real)
		return sl__fail(err, SL_E_USAGE,
				"samples of %.200s are whole numbers, to which "
				"no noise can be added",
				s->name);
	return SL_OK;
}

static enum sl_status
check_options(struct sl_loader_options *o, const struct sl_data_source *s,
	      struct sl_error *err)
{
	o->batch = o->batch ? o->batch : 32;
	o->seed = o->seed ? o->seed : 1;
	if ((unsigned)o->split >= SL_N_SPLITS || o->batch < 1 ||
	    o->n_threads > THREADS_MOST || o->n_ahead > AHEAD_MOST)
		return sl__fail(err, SL_E_USAGE,
				"a loader has a split, a batch of 1 or more, "
				"up to %d threads and %d batches ahead",
				THREADS_MOST, AHEAD_MOST);
	if (!s->n_samples[o->split])
		return sl__fail(err, SL_E_DATA, "%.200s has no %s split",
				s->name, sl_split_text(o->split));
	if ((uint64_t)o->batch > s->n_samples[o->split])
		return sl__fail(err, SL_E_DATA,
				"a batch of %lld samples: the %s split of "
				"%.200s has %zu",
				(long long)o->batch, sl_split_text(o->split),
				s->name, s->n_samples[o->split]);
	return check_augmentation(&o->augmentation, s, err);
}

/* The lock is there already, and sl_loader_close() does the rest. */
static enum sl_status
start(struct sl_loader *l, struct sl_error *err)
{
	const struct sl_loader_options *o = &l->options;
	enum sl_status rc = SL_OK;

	l->n_batches = l->source->n_samples[o->split] / (uint64_t)o->batch;
	l->first = o->epoch * l->n_batches + o->position;
	l->n_slots = 1;
	if (o->n_threads)
		l->n_slots += o->n_ahead ? o->n_ahead : 1 + o->n_threads;
	l->slots = sl__arena_array(l->arena, l->n_slots, sizeof(*l->slots));
	if (!l->slots)
		return sl__fail_nomem(err);
	for (size_t i = 0; !rc && i < l->n_slots; i++)
		rc = init_slot(l, &l->slots[i], err);
	return rc ? rc : start_threads(l, err);
}

enum sl_status
sl_loader_open(struct sl_loader **out, const struct sl_dataset *data,
	       const struct sl_loader_options *options, struct sl_error *err)
{
	const struct sl_data_source *source = sl_dataset_source(data);
	struct sl_loader_options how;
	struct sl__arena *arena;
	struct sl_loader *l;
	enum sl_status rc = sl__options_copy(&how, sizeof(how), options,
					     "sl_loader_options", err);

	*out = NULL;
	if (!rc)
		rc = check_options(&how, source, err);
	if (rc)
		return rc;
	l = sl__arena_object_new(&arena, how.allocator, sizeof(*l));
	if (!l)
		return sl__fail_nomem(err);
	l->source = source;
	l->options = how;
	l->arena = arena;
	pthread_mutex_init(&l->lock, NULL);
	pthread_cond_init(&l->changed, NULL);
	rc = start(l, err);
	if (rc) {
		sl_loader_close(l);
		return rc;
	}
	*out = l;
	return SL_OK;
}

void
sl_loader_close(struct sl_loader *loader)
{
	if (!loader)
		return;
	pthread_mutex_lock(&loader->lock);
	loader->is_ending = 1;
	pthread_cond_broadcast(&loader->changed);
	pthread_mutex_unlock(&loader->lock);
	for (size_t i = 0; i < loader->n_started; i++)
		pthread_join(loader->threads[i], NULL);
	pthread_cond_destroy(&loader->changed);
	pthread_mutex_destroy(&loader->lock);
	sl__arena_object_free(loader);
}

uint64_t
sl_loader_n_batches(const struct sl_loader *loader)
{
	return loader->n_batches;
}

size_t
sl__loader_n_slots(const struct sl_loader *loader)
{
	return loader->n_slots;
}

void
sl__loader_settle(struct sl_loader *loader)
{
	size_t i = 0;

	pthread_mutex_lock(&loader->lock);
	while (loader->n_started && i < loader->n_slots) {
		if (loader->slots[i].is_ready)
			i++;
		else
			pthread_cond_wait(&loader->changed, &loader->lock);
	}
	pthread_mutex_unlock(&loader->lock);
}
