/* SPDX-License-Identifier: Apache-2.0 */
/* rewrite_attributes.c - nodes that passes make, part by part. */
#include "base/status.h"
#include "transform/rewrite.h"

#include <string.h>

#include "base/banned.h"

static void
refuse(struct sl__making *m, const char *what)
{
	if (!m->rw->rc)
		m->rw->rc = sl__fail(m->rw->err, SL_E_ABSENT,
				     "a node that is rewritten has more %s "
				     "than there is room for",
				     what);
}

void
sl__make_begin(struct sl__making *m, struct sl__rewrite *rw, const char *domain,
	       const char *type, int version)
{
	memset(m, 0, sizeof(*m));
	m->rw = rw;
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
sl__make_like(struct sl__making *m, struct sl__rewrite *rw, uint32_t like)
{
	const struct sl__node *node = &rw->nodes[like].node;

	sl__make_begin(m, rw, node->domain, node->type, node->version);
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
sl__make_inputs(struct sl__making *m, const uint32_t *values, size_t n)
{
	for (size_t i = 0; i < n; i++)
		sl__make_input(m, values[i]);
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

/* Sets an attribute to n values of n_bytes each, which are copied. */
static void
set(struct sl__making *m, const char *name, enum sl__attribute_kind kind,
    const void *values, size_t n, size_t n_bytes)
{
	void *copy = sl__rewrite_copy(m->rw, values, n, n, n_bytes);
	struct sl__attribute *a;

	sl__make_drop(m, name);
	if (m->node.n_attributes == SL__MAKING_ATTRIBUTES)
		refuse(m, "attributes");
	if (m->rw->rc)
		return;
	a = &m->attributes[m->node.n_attributes++];
	*a = (struct sl__attribute){.name = name, .kind = kind};
	sl__attribute_set_values(a, copy, n);
}

void
sl__make_int(struct sl__making *m, const char *name, int64_t value)
{
	set(m, name, SL__ATTRIBUTE_INT, &value, 1, sizeof(value));
}

void
sl__make_ints(struct sl__making *m, const char *name, const int64_t *values,
	      size_t n)
{
	set(m, name, SL__ATTRIBUTE_INTS, values, n, sizeof(*values));
}

void
sl__make_float(struct sl__making *m, const char *name, float value)
{
	set(m, name, SL__ATTRIBUTE_FLOAT, &value, 1, sizeof(value));
}

void
sl__make_floats(struct sl__making *m, const char *name, const float *values,
		size_t n)
{
	set(m, name, SL__ATTRIBUTE_FLOATS, values, n, sizeof(*values));
}

void
sl__make_string(struct sl__making *m, const char *name, const char *value)
{
	set(m, name, SL__ATTRIBUTE_STRING, &value, 1, sizeof(value));
}

void
sl__make_strings(struct sl__making *m, const char *name,
		 const char *const *values, size_t n)
{
	set(m, name, SL__ATTRIBUTE_STRINGS, values, n, sizeof(*values));
}

void
sl__make_cover(struct sl__making *m, uint32_t node)
{
	if (m->n_covers == SL__MAKING_COVERS)
		refuse(m, "parts");
	else
		m->covers[m->n_covers++] = node;
}

uint32_t
sl__make_end(struct sl__making *m)
{
	if (m->rw->rc)
		return 0;
	for (size_t i = 0; i < m->n_covers; i++) {
		if (!m->rw->nodes[m->covers[i]].is_gone)
			sl__rewrite_remove(m->rw, m->covers[i]);
	}
	return sl__rewrite_add_node(m->rw, &m->node, m->covers, m->n_covers);
}
