/* SPDX-License-Identifier: Apache-2.0 */
/* trained.h - training steps of a graph of text, by the reference kernels. */
#ifndef SL_TEST_TRAINED_H
#define SL_TEST_TRAINED_H

#include "graph_text.h"
#include "ops/evaluate.h"
#include "transform/training.h"

/*
 * The model in f64; inputs are numbers that their names decide (graph_text.h),
 * targets likewise or the classes 0, 1, 2 ... in turn.
 */
struct trained {
	struct graph_text *text;
	struct sl__training_graph *t; /* NULL: 'rc' and 'err' say why */
	struct sl__evaluator *ev;     /* of the last step */
	struct sl__tensor *tensors; /* by value of the graph: inputs, states */
	int64_t n_classes;
	double rate;
	enum sl_status rc;
	struct sl_error err;
};

static inline struct trained *
trained(const char *text, const struct sl__training_options *options)
{
	struct trained *s = calloc(1, sizeof(*s));

	assert_non_null(s);
	s->text = graph_text(text);
	s->rc = sl__training_graph_new(&s->t, s->text->graph, s->text->shapes,
				       options, &s->err);
	s->rate = 0.1;
	s->n_classes = 3;
	if (s->t)
		s->tensors = calloc(s->t->graph->n_values, sizeof(*s->tensors));
	return s;
}

static inline void
trained_free(struct trained *s)
{
	for (size_t i = 0; s->t && i < s->t->graph->n_values; i++)
		free((void *)(uintptr_t)s->tensors[i].bytes);
	free(s->tensors);
	sl__evaluator_free(s->ev);
	sl__training_graph_free(s->t);
	graph_text_free(s->text);
	free(s);
}

static inline const struct sl__tensor *
trained_initial(const struct trained *s, uint32_t value)
{
	for (size_t i = 0; i < s->t->n_states; i++) {
		if (s->t->states[i].old == value)
			return s->t->states[i].initial;
	}
	return NULL;
}

/* What an input starts as. */
static inline void
trained_fill(struct trained *s, uint32_t value)
{
	const struct sl__value *v = &s->t->graph->values[value];
	const struct sl__tensor *initial = trained_initial(s, value);
	struct sl__tensor *t = &s->tensors[value];
	unsigned char *bytes;

	t->dtype = v->declared.dtype;
	t->rank = (size_t)v->declared.rank;
	t->dims = v->declared.dims;
	assert_true(sl__tensor_compute_size(t));
	bytes = calloc(1, (size_t)t->n_bytes + 1);
	t->bytes = bytes;
	for (uint64_t i = 0; i < t->n_elements; i++) {
		double x = graph_text_random(v->name, i);

		if (value == s->t->rate)
			x = s->rate;
		else if (t->dtype == SL_DTYPE_I64)
			x = (double)((int64_t)i % s->n_classes);
		if (v->kind == SL_VALUE_STATE)
			x = 0;
		if (initial)
			assert_true(sl__tensor_doubles(initial, i, 1, &x));
		sl__store_doubles(bytes, t->dtype, i, 1, &x);
	}
}

/* One run with the states as they are; nothing is renewed. */
static inline void
trained_run(struct trained *s)
{
	const struct sl__block *main = &s->t->graph->blocks[0];

	sl__evaluator_free(s->ev);
	assert_int_equal(sl__evaluator_new(&s->ev, s->t->graph, NULL, &s->err),
			 SL_OK);
	s->ev->keeps_all = 1;
	for (size_t i = 0; i < main->n_inputs; i++) {
		uint32_t value = main->inputs[i];

		if (!s->tensors[value].bytes)
			trained_fill(s, value);
		sl__evaluator_set_tensor(s->ev, value, &s->tensors[value]);
	}
	s->rc = sl__evaluate_block(s->ev, 0, &s->err);
}

static inline const struct sl__tensor *
trained_value(struct trained *s, uint32_t value)
{
	const struct sl__runtime_value *found;

	if (s->rc || sl__evaluator_value(s->ev, value, &found, &s->err))
		fail_msg("%s", s->err.text);
	return &found->tensor;
}

static inline double
trained_number(struct trained *s, uint32_t value, uint64_t i)
{
	double x;

	assert_true(sl__tensor_doubles(trained_value(s, value), i, 1, &x));
	return x;
}

/* A step: a run, after which the states are the new ones. */
static inline void
trained_step(struct trained *s)
{
	trained_run(s);
	for (size_t i = 0; i < s->t->n_states; i++) {
		const struct sl__training_state *state = &s->t->states[i];
		const struct sl__tensor *from =
			trained_value(s, state->renewed);
		struct sl__tensor *to = &s->tensors[state->old];

		assert_true(sl__tensor_has_type_of(from, to));
		memcpy((void *)(uintptr_t)to->bytes, from->bytes,
		       (size_t)to->n_bytes);
	}
}

static inline const struct sl__trained_parameter *
trained_parameter(const struct trained *s, const char *name)
{
	for (size_t i = 0; i < s->t->n_parameters; i++) {
		if (!strcmp(s->t->parameters[i].name, name))
			return &s->t->parameters[i];
	}
	return NULL;
}

/* Gradients of all parameters against differences of the loss; see
 * differentiated.h for the tolerance. */
static inline void
check_trained_gradients(struct trained *s)
{
	double h = 1e-5;

	if (!s->t)
		fail_msg("%s", s->err.text);
	trained_run(s);
	for (size_t k = 0; k < s->t->n_parameters; k++) {
		const struct sl__trained_parameter *p = &s->t->parameters[k];
		struct sl__tensor *x = &s->tensors[p->value];
		double *numbers = (double *)(uintptr_t)x->bytes;

		assert_int_equal(x->dtype, SL_DTYPE_F64);
		for (uint64_t i = 0; i < x->n_elements; i++) {
			double before = numbers[i], up, down, is;

			numbers[i] = before + h;
			trained_run(s);
			up = trained_number(s, s->t->loss, 0);
			numbers[i] = before - h;
			trained_run(s);
			down = trained_number(s, s->t->loss, 0);
			numbers[i] = before;
			trained_run(s);
			is = trained_number(s, p->gradient, i);
			if (!(fabs(is - (up - down) / (2 * h)) <= 2e-7))
				fail_msg("%s[%llu]: %.9g, expected %.9g",
					 p->name, (unsigned long long)i, is,
					 (up - down) / (2 * h));
		}
	}
}

#endif
