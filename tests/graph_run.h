/* SPDX-License-Identifier: Apache-2.0 */
/* graph_run.h - graphs from lines of text, run by the reference kernels. */
#ifndef SL_TEST_GRAPH_RUN_H
#define SL_TEST_GRAPH_RUN_H

#include "ops/evaluate.h"
#include "graph_text.h"

/* A graph that has been run. */
struct course {
	struct graph_text *g;
	struct sl__evaluator *ev;
	enum sl_status rc;
	struct sl_error err;
};

static inline void
course_start(struct course *c, const char *text,
	     const struct sl_allocator *allocator)
{
	memset(c, 0, sizeof(*c));
	c->g = graph_text_with(text, NULL);
	c->rc = sl__evaluator_new(&c->ev, c->g->graph, allocator, &c->err);
}

static inline void
course_finish(struct course *c)
{
	sl__evaluator_free(c->ev);
	graph_text_free(c->g);
}

static inline void
course_run(struct course *c, const char *text)
{
	course_start(c, text, NULL);
	assert_int_equal(c->rc, SL_OK);
	c->rc = sl__evaluate_block(c->ev, 0, &c->err);
	if (c->rc)
		fail_msg("%s", c->err.text);
}

/* "[2,1]={1,2}": the sizes and numbers that a value holds. */
static inline void
check_value(struct course *c, const char *name, const char *expected)
{
	const struct sl__runtime_value *content;
	char text[512];
	size_t n = 0;

	assert_int_equal(sl__evaluator_value(c->ev,
					     graph_text_value(c->g, name),
					     &content, NULL),
			 SL_OK);
	n += (size_t)snprintf(text, sizeof(text), "[");
	for (size_t d = 0; d < content->tensor.rank; d++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%lld",
				      d ? "," : "",
				      (long long)content->tensor.dims[d]);
	n += (size_t)snprintf(text + n, sizeof(text) - n, "]={");
	for (uint64_t i = 0; i < content->tensor.n_elements; i++) {
		double number;

		assert_true(
			sl__tensor_doubles(&content->tensor, i, 1, &number));
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%g",
				      i ? "," : "", number);
	}
	snprintf(text + n, sizeof(text) - n, "}");
	assert_string_equal(text, expected);
}

static inline void
check_refused(const char *text, const char *why)
{
	struct course c;

	course_start(&c, text, NULL);
	assert_int_equal(c.rc, SL_OK);
	assert_int_equal(sl__evaluate_block(c.ev, 0, &c.err), SL_E_DATA);
	if (!strstr(c.err.text, why))
		fail_msg("%s", c.err.text);
	course_finish(&c);
}

#endif
