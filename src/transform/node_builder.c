/* SPDX-License-Identifier: Apache-2.0 */
/* node_builder.c - nodes that passes make, part by part. */
#include "base/status.h"
#include "transform/rewrite.h"

#include <string.h>

#include "base/banned.h"

static void
refuse(struct sl__node_builder *m, const char *what)
{
	if (!m->rw->rc)
		m->rw->rc = sl__fail(m->rw->err, SL_E_ABSENT,
				     "a node that is rewritten has more %s "
				     "than there is room for",
				     what);
}

void
sl__node_builder_begin(struct sl__node_builder *m, struct sl__rewrite *rw,
		       const char *domain, const char *type, int version)
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
sl__node_builder_copy_attributes(struct sl__node_builder *m, uint32_t like)
{
	const struct sl__node *node = &m->rw->nodes[like].node;

	m->node.name = node->name;
	if (node->n_attributes > SL__NODE_BUILDER_ATTRIBUTES) {
		refuse(m, "attributes");
		return;
	}
	m->node.n_attributes = node->n_attributes;
	if (node->n_attributes)
		memcpy(m->attributes, node->attributes,
		       node->n_attributes * sizeof(*m->attributes));
}

void
sl__node_builder_begin_like(struct sl__node_builder *m, struct sl__rewrite *rw,
			    uint32_t like)
{
	const struct sl__node *node = &rw->nodes[like].node;

	sl__node_builder_begin(m, rw, node->domain, node->type, node->version);
	sl__node_builder_copy_attributes(m, like);
}

void
sl__node_builder_add_input(struct sl__node_builder *m, uint32_t value)
{
	if (m->node.n_inputs == SL__NODE_BUILDER_INPUTS)
		refuse(m, "inputs");
	else
		m->inputs[m->node.n_inputs++] = value;
}

void
sl__node_builder_add_inputs(struct sl__node_builder *m, const uint32_t *values,
			    size_t n)
{
	for (size_t i = 0; i < n; i++)
		sl__node_builder_add_input(m, values[i]);
}

void
sl__node_builder_add_output(struct sl__node_builder *m, uint32_t value)
{
	if (m->node.n_outputs == SL__NODE_BUILDER_OUTPUTS)
		refuse(m, "outputs");
	else
		m->outputs[m->node.n_outputs++] = value;
}

void
sl__node_builder_drop_attribute(struct sl__node_builder *m, const char *name)
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
set(struct sl__node_builder *m, const char *name, enum sl__attribute_kind kind,
    const void *values, size_t n, size_t n_bytes)
{
	void *copy = sl__rewrite_copy_list(m->rw, values, n, n, n_bytes);
	struct sl__attribute *a;

	sl__node_builder_drop_attribute(m, name);
	if (m->node.n_attributes == SL__NODE_BUILDER_ATTRIBUTES)
		refuse(m, "attributes");
	if (m->rw->rc)
		return;
	a = &m->attributes[m->node.n_attributes++];
	*a = (struct sl__attribute){.name = name, .kind = kind};
	sl__attribute_set_values(a, copy, n);
}

void
sl__node_builder_set_int(struct sl__node_builder *m, const char *name,
			 int64_t value)
{
	set(m, name, SL__ATTRIBUTE_INT, &value, 1, sizeof(value));
}

void
sl__node_builder_set_ints(struct sl__node_builder *m, const char *name,
			  const int64_t *values, size_t n)
{
	set(m, name, SL__ATTRIBUTE_INTS, values, n, sizeof(*values));
}

void
sl__node_builder_set_float(struct sl__node_builder *m, const char *name,
			   float value)
{
	set(m, name, SL__ATTRIBUTE_FLOAT, &value, 1, sizeof(value));
}

void
sl__node_builder_set_floats(struct sl__node_builder *m, const char *name,
			    const float *values, size_t n)
{
	set(m, name, SL__ATTRIBUTE_FLOATS, values, n, sizeof(*values));
}

void
sl__node_builder_set_string(struct sl__node_builder *m, const char *name,
			    const char *value)
{
	set(m, name, SL__ATTRIBUTE_STRING, &value, 1, sizeof(value));
}

void
sl__node_builder_set_strings(struct sl__node_builder *m, const char *name,
			     const char *const *values, size_t n)
{
	set(m, name, SL__ATTRIBUTE_STRINGS, values, n, sizeof(*values));
}

void
sl__node_builder_add_covered(struct sl__node_builder *m, uint32_t node)
{
	if (m->n_covers == SL__NODE_BUILDER_COVERS)
		refuse(m, "parts");
	else
		m->covers[m->n_covers++] = node;
}

uint32_t
sl__node_builder_finish(struct sl__node_builder *m)
{
	if (m->rw->rc)
		return 0;
	for (size_t i = 0; i < m->n_covers; i++) {
		if (!m->rw->nodes[m->covers[i]].is_gone)
			sl__rewrite_remove_node(m->rw, m->covers[i]);
	}
	return sl__rewrite_add_node(m->rw, &m->node, m->covers, m->n_covers);
}
