/* SPDX-License-Identifier: Apache-2.0 */
/*
 * constants.c - constants in the forms that kernels want, made once.
 *
 * What a plan makes of a constant it inserts into the weight cache, for other
 * plans of the same graph, and finds there what they have made
 * (weight_cache.h).  Small ones are made faster than they are found.
 */
#include "engine/constants.h"
#include "base/status.h"
#include "engine/dnnl_form.h"

#include <string.h>

#include "base/banned.h"

enum { SHARED_BYTES_LEAST = 4096 };

/* How a constant was made: its bytes described, and how they lie now. */
struct made_form {
	int is_copy; /* as the tensor has them: the two do not count */
	dnnl_memory_desc_t from, to;
};

static int
is_same_form(const void *a, const void *b)
{
	const struct made_form *x = a, *y = b;

	if (x->is_copy || y->is_copy)
		return x->is_copy == y->is_copy;
	return dnnl_memory_desc_equal(&x->from, &y->from) &&
	       dnnl_memory_desc_equal(&x->to, &y->to);
}

/* A constant that is to be made: where it comes from and what others know it
 * by. */
struct making {
	const struct sl__tensor *tensor;
	struct made_form form;
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
	m->key.layout = &m->form;
	m->key.n_bytes = sizeof(m->form);
	m->key.is_same = is_same_form;
	m->is_shared = n_bytes >= SHARED_BYTES_LEAST &&
		       sl__identity_of(&m->key.tensor, m->tensor, model);
}

/* Whether it was made before: then *buffer is where. */
static enum sl_status
find_made(const struct making *m, struct sl__planner *pl, int *is_made,
	  uint32_t *buffer, struct sl_error *err)
{
	const unsigned char *data =
		m->is_shared
			? sl__weight_cache_find(pl->program->weights, &m->key)
			: NULL;

	*is_made = data != NULL;
	return data ? sl__plan_lay(pl, m->n_bytes, data, 0, buffer, err)
		    : SL_OK;
}

static void
insert(const struct making *m, struct sl__planner *pl, uint32_t buffer)
{
	if (m->is_shared)
		sl__weight_cache_insert(pl->program->weights, &m->key,
					sl__plan_data(pl, buffer), m->n_bytes);
}

static enum sl_status
make_copy(const struct making *m, struct sl__planner *pl, uint32_t *buffer,
	  struct sl_error *err)
{
	const struct sl__tensor *t = m->tensor;
	enum sl_status rc = sl__plan_keep(pl, t->n_bytes, buffer, err);
	const void *from;
	unsigned char *to;

	if (rc || !t->n_bytes)
		return rc;
	to = sl__plan_data(pl, *buffer);
	from = sl__tensor_piece(t, 0, (size_t)t->n_bytes, to);
	if (from != to)
		memcpy(to, from, (size_t)t->n_bytes);
	sl__tensor_let_go(t, 0, t->n_bytes);
	insert(m, pl, *buffer);
	return SL_OK;
}

/* A copy in the program's own pages; what is made when read is made there,
 * and pages of a file are let go. */
static enum sl_status
copy_constant(struct sl__planner *pl, uint32_t value, uint32_t *buffer,
	      struct sl_error *err)
{
	const struct sl__tensor *t = pl->graph->values[value].tensor;
	const struct sl__datum *datum;
	struct making m = {.form.is_copy = 1};
	int is_made;
	enum sl_status rc;

	/* Says what is wrong with numbers that cannot be had. */
	if (!t->generator) {
		rc = sl__evaluator_value(pl->program->evaluator, value, &datum,
					 err);
		if (rc)
			return rc;
	}
	begin(&m, pl, value, t->n_bytes);
	rc = find_made(&m, pl, &is_made, buffer, err);
	return rc || is_made ? rc : make_copy(&m, pl, buffer, err);
}

/* Kernels may count on elements being aligned to their size; in a file they
 * need not be. */
static int
lies_ready(const struct sl__tensor *t)
{
	size_t align = sl_dtype_bits(t->dtype) / 8;

	return !t->generator &&
	       (align <= 1 || (uintptr_t)t->bytes % align == 0);
}

enum sl_status
sl__plan_read_constant(struct sl__planner *pl, uint32_t value, uint32_t *buffer,
		       struct sl_error *err)
{
	const struct sl__tensor *t = pl->graph->values[value].tensor;
	const struct sl__datum *datum;
	enum sl_status rc;

	if (!lies_ready(t)) {
		rc = copy_constant(pl, value, buffer, err);
	} else {
		rc = sl__evaluator_value(pl->program->evaluator, value, &datum,
					 err);
		if (!rc)
			rc = sl__plan_lay(pl, t->n_bytes, t->bytes, 1, buffer,
					  err);
	}
	if (!rc)
		sl__plan_alias(pl, value, NULL, *buffer);
	return rc;
}

enum sl_status
sl__plan_own(struct sl__planner *pl, uint32_t value, uint32_t *buffer,
	     struct sl_error *err)
{
	struct sl__held *held = &pl->held[value];
	enum sl_status rc;

	for (uint32_t i = 0; i < held->n_versions; i++) {
		struct sl__version *v = &held->versions[i];

		if (v->form)
			continue;
		if (!pl->program->buffers[v->buffer].is_stored) {
			*buffer = v->buffer;
			return SL_OK;
		}
		rc = copy_constant(pl, value, buffer, err);
		if (!rc)
			v->buffer = *buffer;
		return rc;
	}
	rc = copy_constant(pl, value, buffer, err);
	if (!rc)
		sl__plan_alias(pl, value, NULL, *buffer);
	return rc;
}

/* A constant as it was packed. */
struct sl__packed {
	const struct sl__form *as, *form;
	uint32_t buffer;
	struct sl__packed *next;
};

/* The tensor's own bytes: held, made before, or made for this and let go
 * again, in *loaded. */
static enum sl_status
bytes_of(const struct making *m, struct sl__planner *pl, uint32_t value,
	 struct sl__datum *loaded, const unsigned char **out,
	 struct sl_error *err)
{
	const struct sl__datum *held = &pl->program->evaluator->values[value];
	struct made_form copy = {.is_copy = 1};
	struct sl__weight_key key = m->key;
	enum sl_status rc;

	*out = held->tensor.bytes;
	if (held->kind != SL__TYPE_UNKNOWN)
		return SL_OK;
	key.layout = &copy;
	if (m->is_shared && m->tensor->generator)
		*out = sl__weight_cache_peek(pl->program->weights, &key);
	if (*out)
		return SL_OK;
	rc = sl__datum_load(loaded, m->tensor, &pl->program->arena.allocator,
			    err);
	*out = loaded->tensor.bytes;
	return rc;
}

static enum sl_status
make_packed(const struct making *m, struct sl__planner *pl, uint32_t value,
	    uint32_t *buffer, struct sl_error *err)
{
	struct sl__datum loaded = {0};
	const unsigned char *bytes;
	enum sl_status rc = sl__plan_keep(pl, m->n_bytes, buffer, err);

	if (rc)
		return rc;
	rc = bytes_of(m, pl, value, &loaded, &bytes, err);
	if (!rc)
		rc = sl__dnnl_reorder_now(pl->program->dnnl, &m->form.from,
					  bytes, &m->form.to,
					  sl__plan_data(pl, *buffer), err);
	if (!rc) {
		sl__tensor_let_go(m->tensor, 0, m->tensor->n_bytes);
		insert(m, pl, *buffer);
	}
	sl__datum_clear(&loaded, &pl->program->arena.allocator);
	return rc;
}

static enum sl_status
pack(struct sl__planner *pl, uint32_t value, const struct sl__form *as,
     const struct sl__form *form, uint32_t *buffer, struct sl_error *err)
{
	struct making m = {.form.to = form->md};
	int is_made;
	enum sl_status rc;

	if (!sl__form_md(pl, value, as, &m.form.from))
		return sl__fail(err, SL_E_BUG, "a constant cannot be packed");
	begin(&m, pl, value, sl__form_bytes(form));
	rc = find_made(&m, pl, &is_made, buffer, err);
	return rc || is_made ? rc : make_packed(&m, pl, value, buffer, err);
}

enum sl_status
sl__plan_pack(struct sl__planner *pl, uint32_t value, const struct sl__form *as,
	      const struct sl__form *form, uint32_t *buffer,
	      struct sl_error *err)
{
	struct sl__held *held = &pl->held[value];
	struct sl__packed *p = held->packed;
	enum sl_status rc;

	while (p &&
	       !(sl__form_equal(p->as, as) && sl__form_equal(p->form, form)))
		p = p->next;
	if (p) {
		*buffer = p->buffer;
		return SL_OK;
	}
	rc = pack(pl, value, as, form, buffer, err);
	p = rc ? NULL : sl__plan_state(pl, sizeof(*p));
	if (!p)
		return rc ? rc : sl__fail_nomem(err);
	*p = (struct sl__packed){as, form, *buffer, held->packed};
	held->packed = p;
	return SL_OK;
}
