/* SPDX-License-Identifier: Apache-2.0 */
/* one_node.h - one node, and what its operator's rules say about it. */
#ifndef SL_TEST_ONE_NODE_H
#define SL_TEST_ONE_NODE_H

#include "ops/cost.h"
#include "counting.h"
#include "node_text.h"
#include "size_text.h"
#include "graph/shapes.h"

/*
 * Each check takes the line that node_text.h describes:
 *
 *	check_out("Add 13 (f32[2,3], f32[3])", "f32[2,3]");
 *	check_known("Add 13 (i64[2]={1,2}, i64[]={1})", "{2,3}");
 *	check_refused("Add 13 (f32[2], f32[3])", "do not go together");
 *	check_cost("Relu 13 (f32[2,3])",
 *		   {.cmp = 6, .work = SL_WORK_ACTIVATION});
 *
 * Several outputs are separated by a space; "?" stands for a shape that is
 * not known, or for contents; a value about which nothing is known is "none?".
 */
struct one_node {
	struct sl_graph *graph;
	struct sl__shapes *shapes; /* NULL when inferring failed */
	struct sl_cost cost;
	enum sl_status rc;
	struct sl_error err;
	char text[2048]; /* of the last answer */
};

static inline void
one_node_free(struct one_node *n)
{
	sl__shapes_free(n->shapes);
	sl_graph_free(n->graph);
	free(n);
}

/* Contents that are known by name come in after the first look. */
static inline void
one_node_name_contents(struct one_node *n, const struct node_text *r)
{
	int is_any = 0;

	for (uint32_t i = 0; i < r->node.n_inputs; i++) {
		struct sl__known_contents *known;

		if (!r->contents[i])
			continue;
		known = sl__arena_alloc(&n->shapes->arena, sizeof(*known));
		assert_non_null(known);
		known->dtype = n->graph->values[r->inputs[i]].declared.dtype;
		known->n = r->n_contents[i];
		known->ints = r->contents[i];
		n->shapes->known[r->inputs[i]] = known;
		is_any = 1;
	}
	if (is_any)
		n->rc = sl__infer_node(n->shapes, 0, &n->err);
}

/* Free with one_node_free(); 'allocator' serves the shapes. */
static inline struct one_node *
one_node_with(const char *text, const struct sl_allocator *allocator)
{
	struct sl__shapes_options options = {.free_sizes = SL__UNBOUND_KEEP,
					     .allocator = allocator};
	struct one_node *n = calloc(1, sizeof(*n));
	struct node_text r = {.at = text};

	assert_non_null(n);
	node_text_graph(&r);
	n->graph = r.graph;
	n->rc = sl__shapes_new(&n->shapes, n->graph, &options, &n->err);
	if (!n->rc)
		one_node_name_contents(n, &r);
	if (!n->rc)
		sl__cost_node(n->shapes, 0, &n->cost);
	return n;
}

static inline struct one_node *
one_node(const char *text)
{
	return one_node_with(text, NULL);
}

static inline void one_node_add(struct one_node *n, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static inline void
one_node_add(struct one_node *n, const char *format, ...)
{
	size_t used = strlen(n->text);
	va_list args;

	va_start(args, format);
	vsnprintf(n->text + used, sizeof(n->text) - used, format, args);
	va_end(args);
}

static inline void
one_node_add_size(struct one_node *n, size_t i, int64_t size)
{
	one_node_add(n, "%s%s", i ? "," : "", size_text(n->shapes, size));
}

/* "f32[2,n] i64[2]": what the outputs are; the message where that failed. */
static inline const char *
one_node_types(struct one_node *n)
{
	n->text[0] = '\0';
	if (n->rc)
		one_node_add(n, "%s", n->err.text);
	for (uint32_t k = 0; !n->rc && k < n->graph->nodes[0].n_outputs; k++) {
		const struct sl__type *type =
			&n->shapes->types[n->graph->nodes[0].outputs[k]];

		one_node_add(n, "%s%s", k ? " " : "",
			     sl_dtype_text(type->dtype));
		if (type->kind != SL__TYPE_TENSOR || type->rank < 0) {
			one_node_add(n, "?");
			continue;
		}
		one_node_add(n, "[");
		for (int d = 0; d < type->rank; d++)
			one_node_add_size(n, (size_t)d, type->dims[d]);
		one_node_add(n, "]");
	}
	return n->text;
}

/* "{1,2.5}" or "?", of each output. */
static inline const char *
one_node_contents(struct one_node *n)
{
	n->text[0] = '\0';
	if (n->rc)
		one_node_add(n, "%s", n->err.text);
	for (uint32_t k = 0; !n->rc && k < n->graph->nodes[0].n_outputs; k++) {
		const struct sl__known_contents *known =
			n->shapes->known[n->graph->nodes[0].outputs[k]];

		one_node_add(n, "%s%s", k ? " " : "", known ? "{" : "?");
		for (size_t i = 0; known && i < known->n; i++) {
			if (known->ints)
				one_node_add_size(n, i, known->ints[i]);
			else
				one_node_add(n, "%s%.9g", i ? "," : "",
					     known->floats[i]);
		}
		one_node_add(n, "%s", known ? "}" : "");
	}
	return n->text;
}

#define check_out(text, types) \
	check_answer((text), (types), one_node_types, __FILE__, __LINE__)
#define check_known(text, contents) \
	check_answer((text), (contents), one_node_contents, __FILE__, __LINE__)

static inline void
check_answer(const char *text, const char *expected,
	     const char *answer(struct one_node *n), const char *file, int line)
{
	struct one_node *n = one_node(text);

	if (strcmp(answer(n), expected) != 0) {
		print_error("%s gives %s, expected %s\n", text, n->text,
			    expected);
		_fail(file, line);
	}
	one_node_free(n);
}

/* The model is wrong, and the message says 'why' somewhere. */
#define check_refused(text, why) \
	check_refusal((text), (why), __FILE__, __LINE__)

static inline void
check_refusal(const char *text, const char *why, const char *file, int line)
{
	struct one_node *n = one_node(text);

	if (n->rc != SL_E_DATA || !strstr(n->err.text, why)) {
		print_error("%s gives %d, '%s'; expected '%s'\n", text,
			    (int)n->rc, one_node_types(n), why);
		_fail(file, line);
	}
	one_node_free(n);
}

/* Operations, work and basis; bytes where 'expected' has any. */
#define check_cost(text, ...) \
	check_one_cost((text), &(struct sl_cost)__VA_ARGS__, __FILE__, __LINE__)

static inline void
check_one_cost(const char *text, const struct sl_cost *expected,
	       const char *file, int line)
{
	struct one_node *n = one_node(text);
	const struct sl_cost *c = &n->cost, *e = expected;
	const struct {
		const char *name;
		uint64_t is, expected;
	} rows[] = {
		{"mul", c->mul, e->mul},
		{"add", c->add, e->add},
		{"fma", c->fma, e->fma},
		{"div", c->div, e->div},
		{"exp", c->exp, e->exp},
		{"cmp", c->cmp, e->cmp},
		{"macs", c->macs, e->macs},
		{"work", c->work, e->work},
		{"basis", c->basis, e->basis},
		{"weight bytes", c->weight_bytes,
		 e->weight_bytes ? e->weight_bytes : c->weight_bytes},
		{"read bytes", c->read_bytes,
		 e->read_bytes ? e->read_bytes : c->read_bytes},
		{"written bytes", c->written_bytes,
		 e->written_bytes ? e->written_bytes : c->written_bytes},
		{"failure", (uint64_t)-n->rc, 0},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (rows[i].is == rows[i].expected)
			continue;
		print_error("%s: %s is %llu, expected %llu\n", text,
			    rows[i].name, (unsigned long long)rows[i].is,
			    (unsigned long long)rows[i].expected);
		_fail(file, line);
	}
	one_node_free(n);
}

/* Every allocation of inferring fails once: no memory, nothing leaks. */
static inline void
check_allocations(const char *text)
{
	struct counting c = {0};
	struct sl_allocator allocator = counting_allocator(&c);

	for (int fail_at = 1;; fail_at++) {
		struct one_node *n;
		enum sl_status rc;

		c.n_requests = 0;
		c.fail_at = fail_at;
		n = one_node_with(text, &allocator);
		rc = n->rc;
		one_node_free(n);
		assert_int_equal(c.n_out, 0);
		if (c.n_requests < fail_at) {
			assert_int_equal(rc, SL_OK);
			return;
		}
		assert_int_equal(rc, SL_E_NOMEM);
	}
}

#endif
