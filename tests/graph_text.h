/* SPDX-License-Identifier: Apache-2.0 */
/* graph_text.h - graphs with blocks inside blocks, from lines of text. */
#ifndef SL_TEST_GRAPH_TEXT_H
#define SL_TEST_GRAPH_TEXT_H

#include "graph/graph_construction.h"
#include "ops/cost.h"
#include "counting.h"
#include "harness.h"
#include "graph/shapes.h"

/*
 * One line each, values by name, a name only once in the whole text:
 *
 *	opset 16
 *	in x f32 2,n          an input of the block; "-" is a scalar, "?" no
 *	                      shape
 *	const m i64 2 = 3,4   a parameter; i64, i32, f32, f64, f16 or bool; "= random" is
 *	                      numbers from -1 to 1 that its name decides,
 *	                      "= random*0.5" half of them
 *	block then            up to "end": a body, used by its name further on
 *	y,z = If c - then_branch=@then else_branch=@else
 *	                      "-" is an input left out; attributes: 1, 1.5,
 *	                      [1,2], 'word', @block; operators of
 *	                      com.microsoft with that and a dot before their
 *	                      name
 *	out y                 an output of the block
 */
struct graph_text {
	struct sl_graph *graph;
	struct sl__shapes *shapes;
	struct sl__costs costs;
	enum sl_status rc;
	struct sl_error err;
	int version;
	uint32_t block, outer[8];
	int depth;
	uint32_t inputs[8][16], outputs[8][16];
	size_t n_inputs[8], n_outputs[8];
};

static inline void *
graph_text_new(struct graph_text *g, size_t n_bytes)
{
	void *new = sl__arena_alloc(&g->graph->arena, n_bytes);

	assert_non_null(new);
	return new;
}

/* A copy of the word up to one of 'ends', after which *at is. */
static inline char *
graph_text_word(struct graph_text *g, const char **at, const char *ends)
{
	size_t n;
	char *word;

	*at += strspn(*at, " \t");
	n = strcspn(*at, ends);
	word = graph_text_new(g, n + 1);
	memcpy(word, *at, n);
	*at += n;
	return word;
}

static inline uint32_t
graph_text_value(struct graph_text *g, const char *name)
{
	uint32_t id;

	if (!strcmp(name, "-"))
		return SL__NONE;
	for (id = 0; id < g->graph->n_values; id++) {
		if (!strcmp(g->graph->values[id].name, name))
			return id;
	}
	assert_int_equal(
		sl__graph_add_value(g->graph, &id, name, g->block, NULL),
		SL_OK);
	g->graph->values[id].declared.rank = -1;
	return id;
}

static inline uint32_t
graph_text_block(struct graph_text *g, const char *name)
{
	for (uint32_t b = 1; b < g->graph->n_blocks; b++) {
		if (!strcmp(g->graph->blocks[b].name, name))
			return b;
	}
	fail_msg("no block '%s'", name);
	return SL__NONE;
}

/* "2,n", "-1,2" or "-" as sizes; the last is none. */
static inline int
graph_text_sizes(struct graph_text *g, const char *text, int64_t *sizes)
{
	int n = 0;

	while (*text && strcmp(text, "-") != 0 && *text != ']') {
		char *word = graph_text_word(g, &text, ",]");

		if (strchr("-0123456789", *word))
			sizes[n] = strtoll(word, NULL, 10);
		else
			assert_int_equal(sl__graph_intern_symbol(g->graph,
								 &sizes[n],
								 word, NULL),
					 SL_OK);
		n++;
		text += *text == ',';
	}
	return n;
}

static inline enum sl_dtype
graph_text_dtype(const char *word)
{
	return !strcmp(word, "i64")    ? SL_DTYPE_I64
	       : !strcmp(word, "i32")  ? SL_DTYPE_I32
	       : !strcmp(word, "bool") ? SL_DTYPE_BOOL
	       : !strcmp(word, "f16")  ? SL_DTYPE_F16
	       : !strcmp(word, "f64")  ? SL_DTYPE_F64
				       : SL_DTYPE_F32;
}

static inline struct sl__value *
graph_text_declare(struct graph_text *g, const char *at)
{
	uint32_t id = graph_text_value(g, graph_text_word(g, &at, " "));
	struct sl__value *v = &g->graph->values[id];
	int64_t *dims = graph_text_new(g, 16 * sizeof(*dims));
	char *shape;

	v->declared.kind = SL__TYPE_TENSOR;
	v->declared.dtype = graph_text_dtype(graph_text_word(g, &at, " "));
	shape = graph_text_word(g, &at, " \n");
	v->declared.dims = dims;
	v->declared.rank = *shape == '?' ? -1
					 : graph_text_sizes(g, shape, dims);
	v->kind = SL_VALUE_INPUT;
	return v;
}

/* Numbers from -1 to 1, the same for the same name. */
static inline double
graph_text_random(const char *name, uint64_t i)
{
	uint64_t x = i + 1;

	while (*name)
		x = (x ^ (unsigned char)*name++) * 0x9e3779b97f4a7c15;
	x ^= x >> 29;
	x *= 0xbf58476d1ce4e5b9;
	return (double)(x >> 11) * 0x1p-52 - 1;
}

static inline void
graph_text_constant(struct graph_text *g, const char *at)
{
	struct sl__value *v = graph_text_declare(g, at);
	struct sl__tensor *t = graph_text_new(g, sizeof(*t));
	unsigned char *bytes;
	double scale = 1;
	int is_random;

	t->dtype = v->declared.dtype;
	t->rank = (size_t)v->declared.rank;
	t->dims = v->declared.dims;
	assert_true(sl__tensor_compute_size(t));
	t->bytes = bytes = graph_text_new(g, (size_t)t->n_bytes + 1);
	at = strchr(at, '=') + 1;
	at += strspn(at, " ");
	is_random = !strncmp(at, "random", 6);
	if (is_random && at[6] == '*')
		scale = strtod(at + 7, NULL);
	for (uint64_t i = 0; i < t->n_elements; i++) {
		int64_t whole = strtoll(at, NULL, 10);
		double real = is_random ? scale * graph_text_random(v->name, i)
					: strtod(at, NULL);

		if (t->dtype == SL_DTYPE_I64 || t->dtype == SL_DTYPE_I32 ||
		    t->dtype == SL_DTYPE_BOOL)
			sl__store_integers(bytes, t->dtype, i, 1, &whole);
		else
			sl__store_doubles(bytes, t->dtype, i, 1, &real);
		at += is_random ? 0 : strcspn(at, ",\n");
		at += *at == ',';
	}
	v->kind = SL_VALUE_PARAMETER;
	v->tensor = t;
}

static inline void
graph_text_attribute(struct graph_text *g, struct sl__attribute *a,
		     const char *word)
{
	int64_t *ints = graph_text_new(g, 16 * sizeof(*ints));
	float *floats = graph_text_new(g, sizeof(*floats));
	const char **strings = graph_text_new(g, sizeof(*strings));

	a->name = graph_text_word(g, &word, "=");
	word++;
	a->ints = ints;
	a->floats = floats;
	a->strings = strings;
	a->n = 1;
	if (*word == '@') {
		a->kind = SL__ATTRIBUTE_BLOCK;
		a->block = graph_text_block(g, word + 1);
	} else if (*word == '[') {
		a->kind = SL__ATTRIBUTE_INTS;
		a->n = (size_t)graph_text_sizes(g, word + 1, ints);
	} else if (*word == '\'') {
		word++;
		a->kind = SL__ATTRIBUTE_STRING;
		strings[0] = graph_text_word(g, &word, "'");
	} else if (strchr(word, '.')) {
		a->kind = SL__ATTRIBUTE_FLOAT;
		floats[0] = strtof(word, NULL);
	} else {
		a->kind = SL__ATTRIBUTE_INT;
		ints[0] = strtoll(word, NULL, 10);
	}
}

static inline void
graph_text_node(struct graph_text *g, const char *at)
{
	uint32_t *inputs = graph_text_new(g, 64), id;
	uint32_t *outputs = graph_text_new(g, 64);
	struct sl__attribute *attributes =
		graph_text_new(g, 8 * sizeof(*attributes));
	struct sl__node node = {.domain = "",
				.version = g->version,
				.block = g->block,
				.inputs = inputs,
				.outputs = outputs,
				.attributes = attributes};

	while (*at != '=') {
		outputs[node.n_outputs++] =
			graph_text_value(g, graph_text_word(g, &at, ", ="));
		at += strspn(at, ", ");
	}
	at++;
	node.type = graph_text_word(g, &at, " \n");
	if (!strncmp(node.type, "com.microsoft.", 14)) {
		node.domain = "com.microsoft";
		node.type += 14;
	}
	while (at += strspn(at, " "), *at != '\n') {
		const char *word = graph_text_word(g, &at, " \n");

		if (strchr(word, '='))
			graph_text_attribute(
				g, &attributes[node.n_attributes++], word);
		else
			inputs[node.n_inputs++] = graph_text_value(g, word);
	}
	node.name = outputs[0] == SL__NONE ? node.type
					   : g->graph->values[outputs[0]].name;
	if (sl__graph_add_node(g->graph, &id, &node, &g->err))
		fail_msg("%s", g->err.text);
}

static inline void
graph_text_close(struct graph_text *g)
{
	int d = g->depth;

	assert_int_equal(sl__graph_set_inputs(g->graph, g->block, g->inputs[d],
					      g->n_inputs[d], NULL),
			 SL_OK);
	assert_int_equal(sl__graph_set_outputs(g->graph, g->block,
					       g->outputs[d], g->n_outputs[d],
					       NULL),
			 SL_OK);
	if (d)
		g->block = g->outer[--g->depth];
}

static inline void
graph_text_line(struct graph_text *g, const char *at)
{
	const char *line = at;
	char *word = graph_text_word(g, &at, " \n");
	int d = g->depth;

	if (!strcmp(word, "opset")) {
		g->version = atoi(at);
	} else if (!strcmp(word, "in")) {
		struct sl__value *v = graph_text_declare(g, at);

		g->inputs[d][g->n_inputs[d]++] =
			(uint32_t)(v - g->graph->values);
	} else if (!strcmp(word, "const")) {
		graph_text_constant(g, at);
	} else if (!strcmp(word, "out")) {
		word = graph_text_word(g, &at, " \n");
		g->outputs[d][g->n_outputs[d]++] = graph_text_value(g, word);
	} else if (!strcmp(word, "block")) {
		g->outer[g->depth++] = g->block;
		g->n_inputs[d + 1] = g->n_outputs[d + 1] = 0;
		word = graph_text_word(g, &at, " \n");
		assert_int_equal(
			sl__graph_add_block(g->graph, &g->block, word, NULL),
			SL_OK);
	} else if (!strcmp(word, "end")) {
		graph_text_close(g);
	} else if (*word) {
		graph_text_node(g, line);
	}
}

/* Free with graph_text_free(); 'allocator' serves the shapes. */
static inline struct graph_text *
graph_text_with(const char *text, const struct sl_allocator *allocator)
{
	struct sl__shapes_options options = {.free_sizes = SL__UNBOUND_KEEP,
					     .ignore_declared = 1,
					     .allocator = allocator};
	struct graph_text *g = calloc(1, sizeof(*g));

	assert_non_null(g);
	g->version = 16;
	assert_int_equal(sl__graph_new(&g->graph, NULL, NULL), SL_OK);
	while (text && *text) {
		graph_text_line(g, text);
		text = strchr(text, '\n');
		text += text != NULL;
	}
	graph_text_close(g);
	if (sl__graph_freeze(g->graph, &g->err))
		fail_msg("%s", g->err.text);
	g->rc = sl__shapes_new(&g->shapes, g->graph, &options, &g->err);
	if (!g->rc)
		g->rc = sl__costs_of_graph(&g->costs, g->shapes, &g->err);
	return g;
}

static inline struct graph_text *
graph_text(const char *text)
{
	struct graph_text *g = graph_text_with(text, NULL);

	if (g->rc)
		fail_msg("%s", g->err.text);
	return g;
}

static inline void
graph_text_free(struct graph_text *g)
{
	sl__shapes_free(g->shapes);
	sl_graph_free(g->graph);
	free(g);
}

/* What a value is: "2xn", "scalar", "?". */
static inline const char *
shape_of(struct graph_text *g, const char *name)
{
	return sl__type_text(g->shapes,
			     &g->shapes->types[graph_text_value(g, name)]);
}

/* The node that makes a value. */
static inline uint32_t
maker_of(struct graph_text *g, const char *name)
{
	return g->graph->values[graph_text_value(g, name)].producer;
}

#endif
