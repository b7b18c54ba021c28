/* SPDX-License-Identifier: Apache-2.0 */
/* same_graph.h - whether two graphs are the same, value by value. */
#ifndef SL_TEST_SAME_GRAPH_H
#define SL_TEST_SAME_GRAPH_H

#include "graph/graph.h"
#include "harness.h"

/* Two graphs, and which value of b each value of a is. */
struct pairing {
	const struct sl_graph *a, *b;
	uint32_t *values; /* SL__NONE: not met yet */
};

static inline void
same_value(struct pairing *p, uint32_t a, uint32_t b)
{
	if (a == SL__NONE || b == SL__NONE) {
		assert_int_equal(a, b);
		return;
	}
	if (p->values[a] == SL__NONE)
		p->values[a] = b;
	assert_int_equal(p->values[a], b);
}

static inline void
same_size(const struct pairing *p, int64_t a, int64_t b)
{
	if (!sl__is_symbol(a)) {
		assert_true(a == b);
		return;
	}
	assert_true(sl__is_symbol(b));
	assert_string_equal(p->a->symbols[a - SL__SYMBOL_BASE].name,
			    p->b->symbols[b - SL__SYMBOL_BASE].name);
}

static inline void
same_type(const struct pairing *p, const struct sl__type *a,
	  const struct sl__type *b)
{
	assert_int_equal(a->kind, b->kind);
	if (a->kind == SL__TYPE_UNKNOWN)
		return;
	assert_int_equal(a->dtype, b->dtype);
	assert_int_equal(a->rank, b->rank);
	for (int i = 0; i < a->rank; i++)
		same_size(p, a->dims[i], b->dims[i]);
	assert_int_equal(!a->element, !b->element);
	if (a->element && b->element)
		same_type(p, a->element, b->element);
}

/* Contents too, made where they are generated. */
static inline void
same_tensor(const struct sl__tensor *a, const struct sl__tensor *b)
{
	char made_a[4096], made_b[4096];

	assert_int_equal(a->dtype, b->dtype);
	assert_int_equal(a->rank, b->rank);
	for (size_t i = 0; i < a->rank; i++)
		assert_true(a->dims[i] == b->dims[i]);
	assert_true(a->n_elements == b->n_elements);
	assert_true(a->n_stored == b->n_stored);
	assert_true(a->n_bytes == b->n_bytes);
	assert_int_equal(a->is_sparse, b->is_sparse);
	if (a->is_sparse)
		same_tensor(a->indices, b->indices);
	for (uint64_t i = 0; a->strings && i < a->n_stored; i++)
		assert_string_equal(a->strings[i], b->strings[i]);
	for (uint64_t at = 0; !a->strings && at < a->n_bytes;
	     at += sizeof(made_a)) {
		uint64_t left = a->n_bytes - at;
		size_t n = left < sizeof(made_a) ? left : sizeof(made_a);
		const void *x = sl__tensor_byte_range(a, at, n, made_a);
		const void *y = sl__tensor_byte_range(b, at, n, made_b);

		assert_non_null(x);
		assert_non_null(y);
		assert_memory_equal(x, y, n);
	}
}

static inline void same_block(struct pairing *p, uint32_t a, uint32_t b);

static inline void
same_attribute(struct pairing *p, const struct sl__attribute *a,
	       const struct sl__attribute *b)
{
	assert_string_equal(a->name, b->name);
	assert_int_equal(a->kind, b->kind);
	assert_int_equal(a->n, b->n);
	assert_int_equal(!a->tensor, !b->tensor);
	assert_int_equal(!a->type, !b->type);
	for (size_t i = 0; i < a->n; i++) {
		if (a->ints)
			assert_true(a->ints[i] == b->ints[i]);
		if (a->floats)
			assert_memory_equal(&a->floats[i], &b->floats[i],
					    sizeof(float));
		if (a->strings)
			assert_string_equal(a->strings[i], b->strings[i]);
	}
	if (a->tensor)
		same_tensor(a->tensor, b->tensor);
	if (a->type)
		same_type(p, a->type, b->type);
	if (a->kind == SL__ATTRIBUTE_BLOCK)
		same_block(p, a->block, b->block);
}

static inline void
same_node(struct pairing *p, const struct sl__node *a, const struct sl__node *b)
{
	assert_string_equal(a->name, b->name);
	assert_string_equal(a->type, b->type);
	assert_string_equal(a->domain, b->domain);
	assert_int_equal(a->n_inputs, b->n_inputs);
	assert_int_equal(a->n_outputs, b->n_outputs);
	assert_int_equal(a->n_attributes, b->n_attributes);
	for (uint32_t i = 0; i < a->n_inputs; i++)
		same_value(p, a->inputs[i], b->inputs[i]);
	for (uint32_t i = 0; i < a->n_outputs; i++)
		same_value(p, a->outputs[i], b->outputs[i]);
	for (size_t i = 0; i < a->n_attributes; i++)
		same_attribute(p, &a->attributes[i], &b->attributes[i]);
}

static inline void
same_block(struct pairing *p, uint32_t a, uint32_t b)
{
	const struct sl__block *x = &p->a->blocks[a], *y = &p->b->blocks[b];

	assert_int_equal(x->n_inputs, y->n_inputs);
	assert_int_equal(x->n_outputs, y->n_outputs);
	assert_int_equal(x->n_nodes, y->n_nodes);
	for (size_t i = 0; i < x->n_inputs; i++)
		same_value(p, x->inputs[i], y->inputs[i]);
	for (size_t i = 0; i < x->n_nodes; i++)
		same_node(p, &p->a->nodes[x->nodes[i]],
			  &p->b->nodes[y->nodes[i]]);
	for (size_t i = 0; i < x->n_outputs; i++)
		same_value(p, x->outputs[i], y->outputs[i]);
}

/* Fails unless b is a but for the numbers of values and, unless names_too,
 * the names of what is neither input nor output of the model.  Values that
 * nothing uses are not looked at. */
static inline void
assert_same_graph(const struct sl_graph *a, const struct sl_graph *b,
		  int names_too)
{
	struct pairing p = {a, b, malloc(a->n_values * sizeof(uint32_t) + 1)};

	assert_non_null(p.values);
	memset(p.values, 0xff, a->n_values * sizeof(uint32_t));
	assert_int_equal(a->n_nodes, b->n_nodes);
	assert_int_equal(a->n_metadata, b->n_metadata);
	for (size_t i = 0; i < a->n_metadata; i++) {
		assert_string_equal(a->metadata[i].key, b->metadata[i].key);
		assert_string_equal(a->metadata[i].value, b->metadata[i].value);
	}
	same_block(&p, 0, 0);
	for (size_t i = 0; i < a->blocks[0].n_inputs; i++)
		assert_string_equal(a->values[a->blocks[0].inputs[i]].name,
				    b->values[b->blocks[0].inputs[i]].name);
	for (size_t i = 0; i < a->blocks[0].n_outputs; i++)
		assert_string_equal(a->values[a->blocks[0].outputs[i]].name,
				    b->values[b->blocks[0].outputs[i]].name);
	for (size_t v = 0; v < a->n_values; v++) {
		const struct sl__value *x = &a->values[v], *y;

		if (p.values[v] == SL__NONE)
			continue;
		y = &b->values[p.values[v]];
		assert_int_equal(x->kind, y->kind);
		if (names_too)
			assert_string_equal(x->name, y->name);
		if (x->producer != SL__NONE || !x->tensor)
			same_type(&p, &x->declared, &y->declared);
		assert_int_equal(!x->tensor, !y->tensor);
		if (x->tensor)
			same_tensor(x->tensor, y->tensor);
	}
	free(p.values);
}

#endif
