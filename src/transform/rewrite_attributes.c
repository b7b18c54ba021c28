/* SPDX-License-Identifier: Apache-2.0 */
/* rewrite_attributes.c - nodes that passes make, part by part. */
#include "base/status.h"
#include "transform/rewrite.h"

#include <string.h>

#include "base/banned.h"

/* An attribute of n values of a kind, copied where there are any. */
static enum sl_status
begin(struct sl__rewrite *rw, struct sl__attribute *out, const char *name,
      enum sl__attribute_kind kind, size_t n, struct sl_error *err)
{
	memset(out, 0, sizeof(*out));
	out->name = sl__arena_string(&rw->to->arena, name);
	out->kind = kind;
	out->n = n;
	return out->name ? SL_OK : sl__fail_nomem(err);
}

static void *
copied(struct sl__rewrite *rw, const void *values, size_t n, size_t n_bytes)
{
	void *copy = sl__arena_array(&rw->to->arena, n, n_bytes);

	if (copy && n)
		memcpy(copy, values, n * n_bytes);
	return copy;
}

enum sl_status
sl__rewrite_ints(struct sl__rewrite *rw, struct sl__attribute *out,
		 const char *name, const int64_t *values, size_t n,
		 struct sl_error *err)
{
	enum sl_status rc = begin(rw, out, name, SL__ATTRIBUTE_INTS, n, err);

	if (rc)
		return rc;
	out->ints = copied(rw, values, n, sizeof(*values));
	return out->ints ? SL_OK : sl__fail_nomem(err);
}

enum sl_status
sl__rewrite_int(struct sl__rewrite *rw, struct sl__attribute *out,
		const char *name, int64_t value, struct sl_error *err)
{
	enum sl_status rc = sl__rewrite_ints(rw, out, name, &value, 1, err);

	out->kind = SL__ATTRIBUTE_INT;
	return rc;
}

enum sl_status
sl__rewrite_floats(struct sl__rewrite *rw, struct sl__attribute *out,
		   const char *name, const float *values, size_t n,
		   struct sl_error *err)
{
	enum sl_status rc = begin(rw, out, name, SL__ATTRIBUTE_FLOATS, n, err);

	if (rc)
		return rc;
	out->floats = copied(rw, values, n, sizeof(*values));
	return out->floats ? SL_OK : sl__fail_nomem(err);
}

enum sl_status
sl__rewrite_float(struct sl__rewrite *rw, struct sl__attribute *out,
		  const char *name, float value, struct sl_error *err)
{
	enum sl_status rc = sl__rewrite_floats(rw, out, name, &value, 1, err);

	out->kind = SL__ATTRIBUTE_FLOAT;
	return rc;
}

enum sl_status
sl__rewrite_strings(struct sl__rewrite *rw, struct sl__attribute *out,
		    const char *name, const char *const *values, size_t n,
		    struct sl_error *err)
{
	struct sl__arena *arena = &rw->to->arena;
	const char **copy;
	enum sl_status rc = begin(rw, out, name, SL__ATTRIBUTE_STRINGS, n, err);

	if (rc)
		return rc;
	copy = sl__arena_array(arena, n, sizeof(*copy));
	if (!copy)
		return sl__fail_nomem(err);
	for (size_t i = 0; i < n; i++) {
		copy[i] = sl__arena_string(arena, values[i]);
		if (!copy[i])
			return sl__fail_nomem(err);
	}
	out->strings = copy;
	return SL_OK;
}

enum sl_status
sl__rewrite_string(struct sl__rewrite *rw, struct sl__attribute *out,
		   const char *name, const char *value, struct sl_error *err)
{
	enum sl_status rc = sl__rewrite_strings(rw, out, name, &value, 1, err);

	out->kind = SL__ATTRIBUTE_STRING;
	return rc;
}

enum sl_status
sl__rewrite_list(struct sl__rewrite *rw, uint32_t *out, const int64_t *values,
		 size_t n, struct sl_error *err)
{
	int64_t dim = (int64_t)n;
	struct sl__tensor like = {
		.dtype = SL_DTYPE_I64, .rank = 1, .dims = &dim};
	unsigned char *bytes;
	enum sl_status rc =
		sl__rewrite_add_constant(rw, out, &like, &bytes, err);

	if (!rc)
		sl__store_integers(bytes, SL_DTYPE_I64, 0, n, values);
	return rc;
}

static void
refuse(struct sl__making *m, const char *what)
{
	if (!m->rc)
		m->rc = sl__fail(m->err, SL_E_ABSENT,
				 "a node that is rewritten has more %s than "
				 "there is room for",
				 what);
}

void
sl__make_begin(struct sl__making *m, struct sl__rewrite *rw, const char *domain,
	       const char *type, int version, struct sl_error *err)
{
	memset(m, 0, sizeof(*m));
	m->rw = rw;
	m->err = err;
	m->node.name = "";
	m->node.domain = domain;
	m->node.type = type;
	m->node.version = version;
	m->node.inputs = m->inputs;
	m->node.outputs = m->outputs;
	m->node.attributes = m->attributes;
}

/* What attributes point to is shared: the original graph outlives the new. */
void
sl__make_attributes_of(struct sl__making *m, uint32_t like)
{
	const struct sl__node *node = &m->rw->nodes[like].node;

	m->node.name = node->name;
	if (node->n_attributes > SL__MAKING_ATTRIBUTES) {
		refuse(m, "attributes");
		return;
	}
	m->node.n_attributes = node->n_attributes;
	if (node->n_attributes)
		memcpy(m->attributes, node->attributes,
		       node->n_attributes * sizeof(*m->attributes));
}

void
sl__make_like(struct sl__making *m, struct sl__rewrite *rw, uint32_t like,
	      struct sl_error *err)
{
	const struct sl__node *node = &rw->nodes[like].node;

	sl__make_begin(m, rw, node->domain, node->type, node->version, err);
	sl__make_attributes_of(m, like);
}

void
sl__make_input(struct sl__making *m, uint32_t value)
{
	if (m->node.n_inputs == SL__MAKING_INPUTS)
		refuse(m, "inputs");
	else
		m->inputs[m->node.n_inputs++] = value;
}

void
sl__make_output(struct sl__making *m, uint32_t value)
{
	if (m->node.n_outputs == SL__MAKING_OUTPUTS)
		refuse(m, "outputs");
	else
		m->outputs[m->node.n_outputs++] = value;
}

void
sl__make_drop(struct sl__making *m, const char *name)
{
	for (size_t i = 0; i < m->node.n_attributes; i++) {
		if (strcmp(m->attributes[i].name, name) != 0)
			continue;
		m->attributes[i] = m->attributes[--m->node.n_attributes];
		return;
	}
}

/* Where an attribute of that name goes; NULL after a failure. */
static struct sl__attribute *
place(struct sl__making *m, const char *name)
{
	if (m->rc)
		return NULL;
	sl__make_drop(m, name);
	if (m->node.n_attributes == SL__MAKING_ATTRIBUTES) {
		refuse(m, "attributes");
		return NULL;
	}
	return &m->attributes[m->node.n_attributes++];
}

void
sl__make_int(struct sl__making *m, const char *name, int64_t value)
{
	struct sl__attribute *a = place(m, name);

	if (a)
		m->rc = sl__rewrite_int(m->rw, a, name, value, m->err);
}

void
sl__make_ints(struct sl__making *m, const char *name, const int64_t *values,
	      size_t n)
{
	struct sl__attribute *a = place(m, name);

	if (a)
		m->rc = sl__rewrite_ints(m->rw, a, name, values, n, m->err);
}

void
sl__make_float(struct sl__making *m, const char *name, float value)
{
	struct sl__attribute *a = place(m, name);

	if (a)
		m->rc = sl__rewrite_float(m->rw, a, name, value, m->err);
}

void
sl__make_floats(struct sl__making *m, const char *name, const float *values,
		size_t n)
{
	struct sl__attribute *a = place(m, name);

	if (a)
		m->rc = sl__rewrite_floats(m->rw, a, name, values, n, m->err);
}

void
sl__make_string(struct sl__making *m, const char *name, const char *value)
{
	struct sl__attribute *a = place(m, name);

	if (a)
		m->rc = sl__rewrite_string(m->rw, a, name, value, m->err);
}

void
sl__make_strings(struct sl__making *m, const char *name,
		 const char *const *values, size_t n)
{
	struct sl__attribute *a = place(m, name);

	if (a)
		m->rc = sl__rewrite_strings(m->rw, a, name, values, n, m->err);
}

void
sl__make_cover(struct sl__making *m, uint32_t node)
{
	if (m->n_covers == SL__MAKING_COVERS)
		refuse(m, "parts");
	else
		m->covers[m->n_covers++] = node;
}

enum sl_status
sl__make_end(struct sl__making *m, uint32_t *out)
{
	uint32_t id;

	if (m->rc)
		return m->rc;
	for (size_t i = 0; i < m->n_covers; i++) {
		if (!m->rw->nodes[m->covers[i]].is_gone)
			sl__rewrite_remove(m->rw, m->covers[i]);
	}
	return sl__rewrite_add_node(m->rw, out ? out : &id, &m->node, m->covers,
				    m->n_covers, m->err);
}
