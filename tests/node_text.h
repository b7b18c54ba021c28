/* SPDX-License-Identifier: Apache-2.0 */
/* node_text.h - a graph of one node, from a line of text. */
#ifndef SL_TEST_NODE_TEXT_H
#define SL_TEST_NODE_TEXT_H

#include "base/dtype.h"
#include "graph/graph_construction.h"
#include "harness.h"
#include "graph/op_rules.h"

/*
 * "ReduceSum 13 (f32[2,n,4], i64[1]={1}) keepdims=0 -> 1"
 *
 * The operator with its domain before it ("com.microsoft.Gelu"; none is
 * ai.onnx), the version of its domain's operator set, the inputs, attributes
 * and the number of outputs (the table's least unless given).  An input is a
 * type of number with its dimensions, which are numbers or names; without
 * brackets the rank is not known; "_" is an input left out.  Contents in
 * braces make it a parameter, or, where names are among them, an input whose
 * contents are known.  Attributes: key=1, key=1.5, key=word, key=[1,2],
 * key=[1.5,2.0], key=['word','other'].
 */
enum { NODE_TEXT_MOST = 64 }; /* inputs, outputs, attributes, dims */

struct node_text {
	struct sl_graph *graph;
	const char *at;
	struct sl__node node;
	uint32_t inputs[NODE_TEXT_MOST], outputs[NODE_TEXT_MOST];
	struct sl__attribute attributes[NODE_TEXT_MOST];
	const int64_t *contents[NODE_TEXT_MOST]; /* with names among them */
	size_t n_contents[NODE_TEXT_MOST];
};

static inline void
node_text_skip(struct node_text *r)
{
	while (*r->at == ' ' || *r->at == ',')
		r->at++;
}

static inline int
node_text_take(struct node_text *r, const char *sign)
{
	node_text_skip(r);
	if (strncmp(r->at, sign, strlen(sign)) != 0)
		return 0;
	r->at += strlen(sign);
	return 1;
}

/* Letters up to one of 'ends', in the graph's arena. */
static inline const char *
node_text_word(struct node_text *r, const char *ends)
{
	size_t n;
	char *word;

	node_text_skip(r);
	n = strcspn(r->at, ends);
	word = sl__arena_alloc(&r->graph->arena, n + 1);
	assert_non_null(word);
	memcpy(word, r->at, n);
	r->at += n;
	return word;
}

static inline int
node_text_is_number(const char *word)
{
	return (*word >= '0' && *word <= '9') || *word == '-' ||
	       (*word == '.' && word[1] != '.') || !strcmp(word, "nan");
}

static inline int64_t
node_text_size(struct node_text *r, const char *word)
{
	struct sl_error err;
	int64_t size;

	if (node_text_is_number(word))
		return strtoll(word, NULL, 10);
	assert_int_equal(sl__graph_intern_symbol(r->graph, &size, word, &err),
			 SL_OK);
	return size;
}

static inline enum sl_dtype
node_text_dtype(const char *word)
{
	for (int i = 1; i < SL_N_DTYPES; i++) {
		const char *text = sl_dtype_text((enum sl_dtype)i);

		if (!strcmp(text, word) ||
		    (word[0] == 'i' && word[1] != 'n' &&
		     !strncmp(text, "int", 3) && !strcmp(text + 3, word + 1)))
			return (enum sl_dtype)i;
	}
	fail_msg("no type of number is called '%s'", word);
	return SL_DTYPE_NONE;
}

/* Sizes between brackets or braces. */
static inline size_t
node_text_sizes(struct node_text *r, const char *end, int64_t *sizes)
{
	size_t n = 0;

	while (!node_text_take(r, end)) {
		assert_true(*r->at && n < NODE_TEXT_MOST);
		sizes[n++] = node_text_size(r, node_text_word(r, ",]} "));
	}
	return n;
}

static inline void *
node_text_copy(struct node_text *r, const void *from, size_t n_bytes)
{
	void *to = sl__arena_alloc(&r->graph->arena, n_bytes);

	assert_non_null(to);
	if (n_bytes)
		memcpy(to, from, n_bytes);
	return to;
}

/* Contents as a tensor of f32, f64, bool or integers. */
static inline void
node_text_tensor(struct node_text *r, struct sl__value *value)
{
	struct sl__tensor *t =
		sl__arena_alloc(&r->graph->arena, sizeof(struct sl__tensor));
	unsigned n_bits = sl_dtype_bits(value->declared.dtype);
	unsigned char bytes[8 * NODE_TEXT_MOST];
	size_t n = 0;

	assert_non_null(t);
	while (!node_text_take(r, "}")) {
		double number = strtod(node_text_word(r, ",} "), NULL);
		float single = (float)number;
		int64_t whole = (int64_t)number;

		assert_true(*r->at && n < NODE_TEXT_MOST);
		if (value->declared.dtype == SL_DTYPE_F32)
			memcpy(bytes + 4 * n, &single, 4);
		else if (value->declared.dtype == SL_DTYPE_F64)
			memcpy(bytes + 8 * n, &number, 8);
		else
			memcpy(bytes + n_bits / 8 * n, &whole, n_bits / 8);
		n++;
	}
	t->dtype = value->declared.dtype;
	t->rank = (size_t)value->declared.rank;
	t->dims = value->declared.dims;
	assert_true(sl__tensor_compute_size(t));
	assert_int_equal(t->n_elements, n);
	t->bytes = node_text_copy(r, bytes, n_bits / 8 * n);
	value->kind = SL_VALUE_PARAMETER;
	value->tensor = t;
}

static inline int
node_text_has_names(const char *at)
{
	for (; *at && *at != '}'; at++) {
		if (strchr("{, ", at[-1]) && *at >= 'a' && *at <= 'z')
			return 1;
	}
	return 0;
}

static inline void
node_text_input(struct node_text *r)
{
	uint32_t i = r->node.n_inputs++;
	int64_t sizes[NODE_TEXT_MOST];
	struct sl__value *value;
	struct sl_error err;
	char name[16];

	assert_true(i < NODE_TEXT_MOST);
	if (node_text_take(r, "_")) {
		r->inputs[i] = SL__NONE;
		return;
	}
	snprintf(name, sizeof(name), "in%u", i);
	assert_int_equal(
		sl__graph_add_value(r->graph, &r->inputs[i], name, 0, &err),
		SL_OK);
	value = &r->graph->values[r->inputs[i]];
	value->kind = SL_VALUE_INPUT;
	value->declared.kind = SL__TYPE_TENSOR;
	value->declared.rank = -1;
	value->declared.dtype = node_text_dtype(node_text_word(r, "[,) "));
	if (*r->at == '[') {
		r->at++;
		value->declared.rank = (int)node_text_sizes(r, "]", sizes);
		value->declared.dims = node_text_copy(
			r, sizes,
			(size_t)value->declared.rank * sizeof(*sizes));
	}
	if (!node_text_take(r, "={"))
		return;
	if (sl__dtype_family(value->declared.dtype) == SL__DTYPE_FLOAT ||
	    !node_text_has_names(r->at)) {
		node_text_tensor(r, value);
		return;
	}
	r->n_contents[i] = node_text_sizes(r, "}", sizes);
	r->contents[i] =
		node_text_copy(r, sizes, r->n_contents[i] * sizeof(*sizes));
}

static inline void
node_text_list(struct node_text *r, struct sl__attribute *a)
{
	int64_t ints[NODE_TEXT_MOST];
	float floats[NODE_TEXT_MOST];
	const char *words[NODE_TEXT_MOST];
	int is_real = 0, are_words = 0;

	while (!node_text_take(r, "]")) {
		const char *word;

		if (node_text_take(r, "'")) {
			are_words = 1;
			words[a->n] = node_text_word(r, "'");
			r->at++;
			a->n++;
			continue;
		}
		word = node_text_word(r, ",] ");
		assert_true(*r->at && a->n < NODE_TEXT_MOST);
		is_real |= strchr(word, '.') != NULL;
		ints[a->n] = strtoll(word, NULL, 10);
		floats[a->n++] = strtof(word, NULL);
	}
	a->kind = are_words ? SL__ATTRIBUTE_STRINGS
		  : is_real ? SL__ATTRIBUTE_FLOATS
			    : SL__ATTRIBUTE_INTS;
	if (are_words)
		a->strings = node_text_copy(r, words, a->n * sizeof(*words));
	else if (is_real)
		a->floats = node_text_copy(r, floats, a->n * sizeof(*floats));
	else
		a->ints = node_text_copy(r, ints, a->n * sizeof(*ints));
}

static inline void
node_text_attribute(struct node_text *r)
{
	struct sl__attribute *a = &r->attributes[r->node.n_attributes++];
	const char *word;
	int64_t whole;
	float real;

	a->name = node_text_word(r, "=");
	assert_true(node_text_take(r, "="));
	if (node_text_take(r, "[")) {
		node_text_list(r, a);
		return;
	}
	word = node_text_word(r, " ");
	whole = strtoll(word, NULL, 10);
	real = strtof(word, NULL);
	a->n = 1;
	if (!node_text_is_number(word)) {
		a->kind = SL__ATTRIBUTE_STRING;
		a->strings = node_text_copy(r, &word, sizeof(const char *));
	} else if (strchr(word, '.') || isnan(real)) {
		a->kind = SL__ATTRIBUTE_FLOAT;
		a->floats = node_text_copy(r, &real, sizeof(real));
	} else {
		a->kind = SL__ATTRIBUTE_INT;
		a->ints = node_text_copy(r, &whole, sizeof(whole));
	}
}

static inline void
node_text_outputs(struct node_text *r)
{
	const struct sl__op *op = sl__op_find(r->node.domain, r->node.type);
	struct sl_error err;
	char name[16];

	assert_non_null(op);
	r->node.n_outputs = op->min_outputs ? (uint32_t)op->min_outputs : 1;
	if (node_text_take(r, "->"))
		r->node.n_outputs =
			(uint32_t)strtoul(node_text_word(r, " "), NULL, 10);
	for (uint32_t k = 0; k < r->node.n_outputs; k++) {
		snprintf(name, sizeof(name), "out%u", k);
		assert_int_equal(sl__graph_add_value(r->graph, &r->outputs[k],
						     name, 0, &err),
				 SL_OK);
	}
}

static inline void
node_text_read(struct node_text *r)
{
	char *type = node_text_copy(r, r->at, strcspn(r->at, " ") + 1);
	char *dot;

	type[strcspn(r->at, " ")] = '\0';
	r->at += strlen(type);
	dot = strrchr(type, '.');
	if (dot)
		*dot = '\0';
	r->node.domain = dot ? type : "";
	r->node.type = dot ? dot + 1 : type;
	r->node.name = "it";
	r->node.version = (int)node_text_size(r, node_text_word(r, "( "));
	assert_true(node_text_take(r, "("));
	while (!node_text_take(r, ")"))
		node_text_input(r);
	node_text_skip(r);
	while (*r->at && strncmp(r->at, "->", 2) != 0) {
		node_text_attribute(r);
		node_text_skip(r);
	}
	node_text_outputs(r);
	r->node.inputs = r->inputs;
	r->node.outputs = r->outputs;
	r->node.attributes =
		node_text_copy(r, r->attributes, sizeof(r->attributes));
}

/* Makes the graph; r->at is the text, everything else 0. */
static inline void
node_text_graph(struct node_text *r)
{
	uint32_t given[NODE_TEXT_MOST], n_given = 0, id;
	struct sl_error err = {0};

	assert_int_equal(sl__graph_new(&r->graph, NULL, &err), SL_OK);
	node_text_read(r);
	for (uint32_t i = 0; i < r->node.n_inputs; i++) {
		if (r->inputs[i] != SL__NONE &&
		    !r->graph->values[r->inputs[i]].tensor)
			given[n_given++] = r->inputs[i];
	}
	assert_int_equal(
		sl__graph_set_inputs(r->graph, 0, given, n_given, &err), SL_OK);
	assert_int_equal(sl__graph_add_node(r->graph, &id, &r->node, &err),
			 SL_OK);
	assert_int_equal(sl__graph_freeze(r->graph, &err), SL_OK);
}

#endif
