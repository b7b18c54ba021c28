/* SPDX-License-Identifier: Apache-2.0 */
/* surveyed.h - a graph from lines of text, and what follows from it. */
#ifndef SL_TEST_SURVEYED_H
#define SL_TEST_SURVEYED_H

#include "graph_text.h"
#include "cost/backward.h"

struct surveyed {
	struct graph_text *text;
	struct sl__arena arena;
	struct sl__execution_order steps;
	struct sl__roles roles;
	struct sl__cost_analysis_inputs forward;
	struct sl__attentions attentions;
	struct sl__liveness liveness;
	struct sl_training training;
};

/* Free with surveyed_free(). */
static inline struct surveyed *
survey(const char *lines)
{
	struct surveyed *s = calloc(1, sizeof(*s));

	assert_non_null(s);
	s->text = graph_text(lines);
	sl__arena_init(&s->arena, NULL);
	assert_int_equal(sl__execution_order_find(&s->steps, s->text->graph,
						  &s->arena, NULL),
			 SL_OK);
	assert_int_equal(
		sl__roles_classify(&s->roles, &s->steps, &s->arena, NULL),
		SL_OK);
	s->forward.shapes = s->text->shapes;
	s->forward.costs = &s->text->costs;
	s->forward.steps = &s->steps;
	s->forward.roles = &s->roles;
	assert_int_equal(sl__attentions_find(&s->attentions, &s->forward,
					     &s->arena, NULL),
			 SL_OK);
	assert_int_equal(
		sl__liveness_of(&s->liveness, &s->forward, &s->arena, NULL),
		SL_OK);
	assert_int_equal(sl__training_of(&s->training, &s->forward,
					 &s->attentions, &s->liveness,
					 &s->arena, NULL),
			 SL_OK);
	return s;
}

static inline void
surveyed_free(struct surveyed *s)
{
	sl__arena_release(&s->arena);
	graph_text_free(s->text);
	free(s);
}

static inline const char *
role_of(struct surveyed *s, const char *name)
{
	return sl_role_text(s->roles.role[graph_text_value(s->text, name)]);
}

#endif
