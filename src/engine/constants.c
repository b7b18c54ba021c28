/* SPDX-License-Identifier: Apache-2.0 */
/*
 * constants.c - constants in the layouts that kernels want, made once.
 *
 * What a plan makes of a constant it inserts into the weight cache, for other
 * plans of the same graph, and finds there what they have made
 * (weight_cache.h).  Small ones are made faster than they are found.
 */
#include "engine/constants.h"
#include "base/status.h"
#include "engine/compile.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

#include "base/banned.h"

enum { SHARED_BYTES_LEAST = 4096 };

/* How a constant was made, as others know it: 'pack' is NULL for a copy of its
 * bytes. */
struct key {
	struct sl__packing packing; /* its 'how' is here: */
	_Alignas(16) unsigned char how[SL__PACKING_HOW_MOST];
};

static int
is_same_packing(const struct sl__packing *x, const void *x_how,
		const struct sl__packing *y, const void *y_how)
{
	if (x->pack != y->pack || x->n_how != y->n_how || !x->pack)
		return x->pack == y->pack && !x->pack;
	return x->is_same ? x->is_same(x_how, y_how)
			  : !memcmp(x_how, y_how, x->n_how);
}

static int
is_same_key(const void *a, const void *b)
{
	const struct key *x = a, *y = b;

	return is_same_packing(&x->packing, x->how, &y->packing, y->how);
}

/* A constant that is to be made: where it comes from and what others know it
 * by. */
struct making {
	const struct sl__tensor *tensor;
	struct key known_by;
	struct sl__weight_key key;
	uint64_t n_bytes; /* once made */
	int is_shared;
};

static void
begin(struct making *m, const struct sl__planner *pl, uint32_t value,
      uint64_t n_bytes)
{
	const struct sl_graph *model = pl->program->weights->graph;

	m->tensor = pl->graph->values[value].tensor;
	m->n_bytes = n_bytes;
	m->key.layout = &m->known_by;
	m->key.n_bytes = offsetof(struct key, how) + m->known_by.packing.n_how;
	m->key.is_same = is_same_key;
	m->is_shared =
		n_bytes >= SHARED_BYTES_LEAST &&
		sl__tensor_fingerprint_of(&m->key.tensor, m->tensor, model);
}

/* Where it was made before; SL__NONE where it was not. */
static uint32_t
find_made(const struct making *m, struct sl__planner *pl)
{
	const unsigned char *data =
		m->is_shared && !pl->rc
			? sl__weight_cache_find(pl->program->weights, &m->key)
			: NULL;

	return data ? sl__plan_wrap_constant_data(pl, m->n_bytes, data, 0)
		    : SL__NONE;
}

static void
insert(const struct making *m, struct sl__planner *pl, const void *data)
{
	if (m->is_shared)
		sl__weight_cache_insert(pl->program->weights, &m->key, data,
					m->n_bytes);
}

static int
is_dry(const struct sl__planner *pl)
{
	return (pl->options->flags & SL__PLAN_DRY) != 0;
}

static uint32_t
make_copy(const struct making *m, struct sl__planner *pl)
{
	const struct sl__tensor *t = m->tensor;
	const void *from;
	void *to;
	uint32_t buffer = sl__plan_persistent_buffer(pl, t->n_bytes, &to);

	if (pl->rc || !t->n_bytes)
		return buffer;
	from = is_dry(pl) ? to
			  : sl__tensor_byte_range(t, 0, (size_t)t->n_bytes, to);
	if (from != to)
		memcpy(to, from, (size_t)t->n_bytes);
	sl__tensor_release_pages(t, 0, t->n_bytes);
	insert(m, pl, to);
	return buffer;
}

/* Says what is wrong with numbers that cannot be had. */
static int
check_numbers(struct sl__planner *pl, uint32_t value)
{
	const struct sl__runtime_value *content;

	return !pl->rc &&
	       sl__planner_keep_status(
		       pl, sl__evaluator_value(pl->program->evaluator, value,
					       &content, pl->err));
}

/* A copy in the program's own pages; what is made when read is made there,
 * and pages of a file are let go. */
static uint32_t
copy_constant(struct sl__planner *pl, uint32_t value)
{
	const struct sl__tensor *t = pl->graph->values[value].tensor;
	struct making m = {0};
	uint32_t buffer;

	if (!t->generator && !check_numbers(pl, value))
		return SL__NONE;
	begin(&m, pl, value, t->n_bytes);
	buffer = find_made(&m, pl);
	return buffer == SL__NONE ? make_copy(&m, pl) : buffer;
}

/* Kernels, and what packs for them, may count on elements being aligned to
 * their size; in a file they need not be. */
static int
is_aligned(const struct sl__tensor *t, const unsigned char *bytes)
{
	size_t align = sl_dtype_bits(t->dtype) / 8;

	return align <= 1 || (uintptr_t)bytes % align == 0;
}

static int
lies_ready(const struct sl__tensor *t)
{
	return !t->generator && is_aligned(t, t->bytes);
}

uint32_t
sl__plan_unpacked_constant(struct sl__planner *pl, uint32_t value)
{
	const struct sl__tensor *t = pl->graph->values[value].tensor;
	uint32_t buffer = SL__NONE;

	if (!lies_ready(t))
		buffer = copy_constant(pl, value);
	else if (check_numbers(pl, value))
		buffer = sl__plan_wrap_constant_data(pl, t->n_bytes, t->bytes,
						     1);
	sl__plan_alias(pl, value, NULL, buffer);
	return buffer;
}

uint32_t
sl__plan_constant_in_own_pages(struct sl__planner *pl, uint32_t value)
{
	struct sl__planned_value *held = &pl->held[value];
	uint32_t buffer;

	for (uint32_t i = 0; i < held->n_versions; i++) {
		struct sl__value_version *v = &held->versions[i];

		if (v->layout)
			continue;
		if (pl->program->buffers[v->buffer].is_stored) {
			buffer = copy_constant(pl, value);
			v->buffer = pl->rc ? v->buffer : buffer;
		}
		return v->buffer;
	}
	buffer = copy_constant(pl, value);
	sl__plan_alias(pl, value, NULL, buffer);
	return buffer;
}

/* A constant as it was packed. */
struct sl__packed {
	struct sl__packing packing;
	uint32_t buffer;
	struct sl__packed *next;
};

/* Makes the tensor's bytes; a dry plan only takes the room for them. */
static enum sl_status
load(const struct making *m, struct sl__planner *pl,
     struct sl__runtime_value *loaded)
{
	const struct sl_allocator *allocator = &pl->program->arena.allocator;
	const struct sl__tensor *t = m->tensor;

	if (!is_dry(pl) || !t->generator)
		return sl__runtime_value_load(loaded, t, allocator, pl->err);
	return sl__runtime_value_alloc_tensor(loaded, t->dtype, t->rank,
					      t->dims, allocator, pl->err);
}

/* The tensor's own bytes: held, made before, or made for this and let go
 * again, in *loaded. */
static const unsigned char *
find_bytes(const struct making *m, struct sl__planner *pl, uint32_t value,
	   struct sl__runtime_value *loaded)
{
	const struct sl__runtime_value *held =
		&pl->program->evaluator->values[value];
	static const struct key copy = {0};
	struct sl__weight_key key = m->key;
	const unsigned char *made = NULL;

	if (held->kind != SL__TYPE_UNKNOWN)
		return held->tensor.bytes;
	key.layout = &copy;
	if (m->is_shared && m->tensor->generator)
		made = sl__weight_cache_peek(pl->program->weights, &key);
	if (made)
		return made;
	sl__planner_keep_status(pl, load(m, pl, loaded));
	return loaded->tensor.bytes;
}

/* Those, or a copy in *loaded where their elements are not aligned. */
static const unsigned char *
bytes_of(const struct making *m, struct sl__planner *pl, uint32_t value,
	 struct sl__runtime_value *loaded)
{
	const unsigned char *bytes = find_bytes(m, pl, value, loaded);
	const struct sl__tensor *t = m->tensor;

	if (pl->rc || is_aligned(t, bytes))
		return bytes;
	if (sl__planner_keep_status(
		    pl, sl__runtime_value_alloc_tensor(
				loaded, t->dtype, t->rank, t->dims,
				&pl->program->arena.allocator, pl->err)) &&
	    !is_dry(pl))
		memcpy(loaded->bytes, bytes, (size_t)t->n_bytes);
	return loaded->bytes;
}

static uint32_t
make_packed(const struct making *m, struct sl__planner *pl, uint32_t value)
{
	struct sl__runtime_value loaded = {0};
	const unsigned char *bytes;
	void *to;
	uint32_t buffer = sl__plan_persistent_buffer(pl, m->n_bytes, &to);

	if (pl->rc)
		return buffer;
	bytes = bytes_of(m, pl, value, &loaded);
	if (!pl->rc &&
	    (is_dry(pl) ||
	     m->known_by.packing.pack(pl, m->known_by.how, bytes, to))) {
		sl__tensor_release_pages(m->tensor, 0, m->tensor->n_bytes);
		insert(m, pl, to);
	}
	sl__runtime_value_clear(&loaded, &pl->program->arena.allocator);
	return buffer;
}

static uint32_t
pack(struct sl__planner *pl, uint32_t value, const struct sl__packing *packing)
{
	struct making m = {.known_by.packing = *packing};
	uint32_t buffer;

	memcpy(m.known_by.how, packing->how, packing->n_how);
	begin(&m, pl, value, packing->n_bytes);
	buffer = find_made(&m, pl);
	return buffer == SL__NONE ? make_packed(&m, pl, value) : buffer;
}

uint32_t
sl__plan_constant_packed_by(struct sl__planner *pl, uint32_t value,
			    const struct sl__packing *packing)
{
	struct sl__planned_value *held = &pl->held[value];
	struct sl__packed *p;
	void *how;

	for (p = held->packed; p; p = p->next) {
		if (is_same_packing(&p->packing, p->packing.how, packing,
				    packing->how))
			return p->buffer;
	}
	assert(packing->n_how <= SL__PACKING_HOW_MOST);
	p = sl__plan_alloc_state(pl, sizeof(*p));
	how = sl__plan_alloc_state(pl, packing->n_how);
	if (!p || !how)
		return SL__NONE;
	memcpy(how, packing->how, packing->n_how);
	*p = (struct sl__packed){*packing, pack(pl, value, packing),
				 held->packed};
	p->packing.how = how;
	held->packed = p;
	return p->buffer;
}
