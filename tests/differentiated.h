/* SPDX-License-Identifier: Apache-2.0 */
/* differentiated.h - gradients of one node against finite differences. */
#ifndef SL_TEST_DIFFERENTIATED_H
#define SL_TEST_DIFFERENTIATED_H

#include "node_text.h"
#include "ops/evaluate.h"
#include "transform/differentiate.h"

/*
 * A case is the line that node_text.h describes, in f64.  Inputs without
 * contents are filled with seeded numbers from 'low' to 'high'; the gradients
 * of those that are f64 are checked.  The seed of each output's gradient is
 * random, so that the whole Jacobian counts:
 *
 *	sum_k <dy_k, y_k(x + h e_i) - y_k(x - h e_i)> / 2h = dx_i
 *
 * With h = 1e-5 the difference has an error of h^2 / 6 times a third
 * derivative, some 1e-10, and one of 1e-16 / h = 1e-11 by rounding; what may
 * differ is 1e-7 of the largest gradient.
 */
struct gradient_case {
	const char *text;
	double low, high; /* of inputs; both 0: -2 to 2 */
};

struct differentiated {
	struct sl_graph *model, *graph;
	struct sl__shapes *shapes;                 /* of the model */
	struct sl__tensor tensors[NODE_TEXT_MOST]; /* of inputs */
	struct sl__tensor seeds[NODE_TEXT_MOST];
	uint32_t seed_inputs[NODE_TEXT_MOST];
	uint32_t gradients[NODE_TEXT_MOST]; /* by input; SL__NONE: none */
	uint64_t state;
	struct sl_error err;
};

static inline double
differentiated_random(struct differentiated *d, double low, double high)
{
	d->state = d->state * 6364136223846793005u + 1442695040888963407u;
	return low + (high - low) * (double)(d->state >> 33) / 2147483648.0;
}

/* A tensor of that type with numbers between low and high. */
static inline void
differentiated_fill(struct differentiated *d, struct sl__tensor *t,
		    const struct sl__type *type, double low, double high)
{
	unsigned char *bytes;

	t->dtype = type->dtype;
	t->rank = (size_t)type->rank;
	t->dims = type->dims;
	assert_true(sl__tensor_compute_size(t));
	t->bytes = bytes = calloc(1, (size_t)t->n_bytes + 1);
	assert_non_null(bytes);
	for (uint64_t i = 0; i < t->n_elements; i++) {
		double x = differentiated_random(d, low, high);

		if (sl__dtype_family(t->dtype) == SL__DTYPE_INTEGER)
			x = t->dtype == SL_DTYPE_BOOL ? x > (low + high) / 2
						      : floor(x);
		sl__store_doubles(bytes, t->dtype, i, 1, &x);
	}
}

static inline void
differentiated_free(struct differentiated *d)
{
	for (size_t i = 0; i < NODE_TEXT_MOST; i++) {
		free((void *)(uintptr_t)d->tensors[i].bytes);
		free((void *)(uintptr_t)d->seeds[i].bytes);
	}
	sl__shapes_free(d->shapes);
	sl_graph_free(d->graph);
	sl_graph_free(d->model);
	free(d);
}

/* The graph of gradients; d->graph stays NULL where there is none, and d->err
 * says why. */
static inline struct differentiated *
differentiated(const struct gradient_case *c)
{
	struct sl__shapes_options options = {.free_sizes = SL__UNBOUND_KEEP};
	struct differentiated *d = calloc(1, sizeof(*d));
	struct node_text r = {.at = c->text};
	int is_usual = c->low == 0 && c->high == 0;
	double low = is_usual ? -2 : c->low, high = is_usual ? 2 : c->high;
	unsigned char *is_wanted;
	struct sl__differentiation *made;
	uint32_t outputs[NODE_TEXT_MOST], seeds[NODE_TEXT_MOST];
	size_t n = 0;

	assert_non_null(d);
	node_text_graph(&r);
	d->model = r.graph;
	d->state = 1;
	if (sl__shapes_new(&d->shapes, d->model, &options, &d->err))
		fail_msg("%s: %s", c->text, d->err.text);
	assert_int_equal(
		sl__differentiation_new(&made, d->model, d->shapes, &d->err),
		SL_OK);
	for (uint32_t k = 0; k < r.node.n_outputs; k++) {
		const struct sl__type *type = &d->shapes->types[r.outputs[k]];

		if (type->dtype != SL_DTYPE_F64)
			continue;
		differentiated_fill(d, &d->seeds[n], type, -1, 1);
		seeds[n] = sl__node_writer_add_input(&made->w, "dy", type,
						     SL_VALUE_INPUT);
		d->seed_inputs[n] = seeds[n];
		outputs[n++] = r.outputs[k];
	}
	is_wanted = calloc(1, made->w.graph->n_values);
	assert_non_null(is_wanted);
	for (uint32_t i = 0; i < r.node.n_inputs; i++) {
		uint32_t v = r.inputs[i];

		d->gradients[i] = SL__NONE;
		if (v == SL__NONE || d->model->values[v].tensor)
			continue;
		differentiated_fill(d, &d->tensors[i], &d->shapes->types[v],
				    low, high);
		is_wanted[v] = d->tensors[i].dtype == SL_DTYPE_F64;
	}
	if (!sl__differentiate(made, is_wanted, outputs, seeds, n)) {
		for (uint32_t i = 0; i < r.node.n_inputs; i++) {
			if (r.inputs[i] != SL__NONE && is_wanted[r.inputs[i]])
				d->gradients[i] = sl__differentiation_gradient(
					made, r.inputs[i]);
		}
		if (sl__differentiation_finish(made, &d->graph))
			fail_msg("%s: %s", c->text, d->err.text);
	}
	free(is_wanted);
	sl__differentiation_free(made);
	return d;
}

/* Runs a graph with the inputs as they are; free the evaluator. */
static inline struct sl__evaluator *
differentiated_run(struct differentiated *d, const struct sl_graph *graph,
		   const char *text)
{
	const struct sl__node *node = &d->model->nodes[0];
	struct sl__evaluator *ev;

	assert_int_equal(sl__evaluator_new(&ev, graph, NULL, &d->err), SL_OK);
	ev->keeps_all = 1;
	for (uint32_t i = 0; i < node->n_inputs; i++) {
		if (d->tensors[i].bytes)
			sl__evaluator_set_tensor(ev, node->inputs[i],
						 &d->tensors[i]);
	}
	for (size_t i = 0; graph == d->graph && d->seeds[i].bytes; i++)
		sl__evaluator_set_tensor(ev, d->seed_inputs[i], &d->seeds[i]);
	if (sl__evaluate_block(ev, 0, &d->err))
		fail_msg("%s: %s", text, d->err.text);
	return ev;
}

static inline const struct sl__tensor *
differentiated_value(struct differentiated *d, struct sl__evaluator *ev,
		     uint32_t value)
{
	const struct sl__runtime_value *v;

	if (sl__evaluator_value(ev, value, &v, &d->err))
		fail_msg("%s", d->err.text);
	return &v->tensor;
}

/* Sum of outputs times seeds. */
static inline double
differentiated_loss(struct differentiated *d, const char *text)
{
	struct sl__evaluator *ev = differentiated_run(d, d->model, text);
	const struct sl__node *node = &d->model->nodes[0];
	double sum = 0, y, dy;
	size_t n = 0;

	for (uint32_t k = 0; k < node->n_outputs; k++) {
		const struct sl__tensor *t =
			differentiated_value(d, ev, node->outputs[k]);

		if (t->dtype != SL_DTYPE_F64)
			continue;
		for (uint64_t i = 0; i < t->n_elements; i++) {
			assert_true(sl__tensor_doubles(t, i, 1, &y));
			assert_true(
				sl__tensor_doubles(&d->seeds[n], i, 1, &dy));
			sum += y * dy;
		}
		n++;
	}
	sl__evaluator_free(ev);
	return sum;
}

/* The loss as element i of an input is moved. */
static inline double
differentiated_moved(struct differentiated *d, size_t input, uint64_t i,
		     double by, const char *text)
{
	double *x = (double *)(uintptr_t)d->tensors[input].bytes + i;
	double before = *x, loss;

	*x += by;
	loss = differentiated_loss(d, text);
	*x = before;
	return loss;
}

static inline void
differentiated_compare(struct differentiated *d, const struct gradient_case *c,
		       size_t input, const struct sl__tensor *found)
{
	const struct sl__tensor *x = &d->tensors[input];
	double h = 1e-5, most = 0;

	assert_int_equal(found->dtype, SL_DTYPE_F64);
	if (!sl__tensor_has_type_of(found, x))
		fail_msg("%s: the gradient of input %zu has other sizes",
			 c->text, input);
	for (int pass = 0; pass < 2; pass++) {
		for (uint64_t i = 0; i < x->n_elements; i++) {
			double up =
				differentiated_moved(d, input, i, h, c->text);
			double down =
				differentiated_moved(d, input, i, -h, c->text);
			double expected = (up - down) / (2 * h), is;

			assert_true(sl__tensor_doubles(found, i, 1, &is));
			if (pass == 0)
				most = fmax(most, fabs(expected));
			else if (!(fabs(is - expected) <= 1e-7 * (most + 1)))
				fail_msg("%s: gradient of input %zu, element "
					 "%llu is %.9g, expected %.9g",
					 c->text, input, (unsigned long long)i,
					 is, expected);
		}
	}
}

/* Checks the gradient of every input that has one; returns how many. */
static inline int
check_gradient_case(const struct gradient_case *c)
{
	struct differentiated *d = differentiated(c);
	struct sl__evaluator *ev;
	int n = 0;

	if (!d->graph)
		fail_msg("%s: %s", c->text, d->err.text);
	ev = differentiated_run(d, d->graph, c->text);
	for (uint32_t i = 0; i < d->model->nodes[0].n_inputs; i++) {
		if (d->gradients[i] == SL__NONE)
			continue;
		differentiated_compare(
			d, c, i, differentiated_value(d, ev, d->gradients[i]));
		n++;
	}
	sl__evaluator_free(ev);
	differentiated_free(d);
	return n;
}

#endif
