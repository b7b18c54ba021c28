/* SPDX-License-Identifier: Apache-2.0 */
/*
 * low_rank.c - linear layers as two smaller ones.
 *
 * The factors come from subspace iteration: random rows, multiplied by W W^T a
 * few times and made orthonormal each time, span what the largest singular
 * vectors do (Halko, Martinsson and Tropp 2011, algorithm 4.4).
 */
#include "transform/low_rank.h"
#include "base/rng.h"
#include "base/status.h"
#include "graph/execution_order.h"
#include "graph/graph_construction.h"

#include <math.h>
#include <string.h>

#include "base/banned.h"

/* Each divides the share of what lies behind singular value r by the square of
 * the gap; two are usual, and weights of networks have small gaps. */
enum { N_ITERATIONS = 4 };

/* c [rows][n] = a [rows][inner] times b [inner][n]; eight rows at a time, so
 * that b is read that much less often. */
static void
multiply(double *c, const double *a, const double *b, const size_t sizes[3])
{
	size_t rows = sizes[0], inner = sizes[1], n = sizes[2];

	memset(c, 0, rows * n * sizeof(*c));
	for (size_t top = 0; top < rows; top += 8) {
		for (size_t k = 0; k < inner; k++) {
			for (size_t i = top; i < rows && i < top + 8; i++) {
				double x = a[i * inner + k];

				for (size_t j = 0; j < n; j++)
					c[i * n + j] += x * b[k * n + j];
			}
		}
	}
}

static double
dot(const double *x, const double *y, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += x[i] * y[i];
	return sum;
}

/* Gram and Schmidt, twice (Kahan: twice is enough).  A row that depends on
 * those before it becomes zero. */
static void
orthonormalize(double *q, size_t rows, size_t n)
{
	for (size_t i = 0; i < rows; i++) {
		double *row = q + i * n;
		double before = sqrt(dot(row, row, n)), after;

		for (size_t k = 0; k < 2 * i; k++) {
			const double *other = q + k % i * n;
			double x = dot(row, other, n);

			for (size_t j = 0; j < n; j++)
				row[j] -= x * other[j];
		}
		after = sqrt(dot(row, row, n));
		for (size_t j = 0; j < n; j++)
			row[j] = after > 1e-12 * before ? row[j] / after : 0;
	}
}

static void
transpose(double *to, const double *from, size_t rows, size_t columns)
{
	for (size_t i = 0; i < rows; i++) {
		for (size_t j = 0; j < columns; j++)
			to[j * rows + i] = from[i * columns + j];
	}
}

int
sl__factorize(const struct sl__factors *f, uint64_t seed,
	      struct sl__arena *arena)
{
	double *turned = sl__arena_array(arena, f->m * f->n, sizeof(*turned));
	double *q = sl__arena_array(arena, f->r * f->m, sizeof(*q));
	struct sl__rng rng;

	if (!turned || !q)
		return 0;
	transpose(turned, f->w, f->m, f->n);
	sl__rng_init(&rng, seed);
	for (size_t i = 0; i < f->r * f->m; i++)
		q[i] = sl__rng_normal(&rng);
	for (int i = 0; i <= N_ITERATIONS; i++) {
		if (i)
			multiply(q, f->right, turned,
				 (size_t[]){f->r, f->n, f->m});
		orthonormalize(q, f->r, f->m);
		multiply(f->right, q, f->w, (size_t[]){f->r, f->m, f->n});
	}
	transpose(f->left, q, f->r, f->m);
	return 1;
}

struct splitter {
	const struct sl_graph *from;
	struct sl_graph *to;
	struct sl__arena scratch;
	struct sl__value_users users;
	const struct sl__prune_options *how;
	uint64_t seed;
	size_t n_layers;
	double kept, all; /* sums of squares */
	struct sl_error *err;
};

/* A new parameter, of the type of another. */
static enum sl_status
add_weight(struct splitter *s, uint32_t *out, uint32_t like, const char *part,
	   const struct sl__factors *f)
{
	int is_left = f->left != NULL;
	const double *x = is_left ? f->left : f->right;
	struct sl__arena *arena = &s->to->arena;
	struct sl__tensor *t = sl__arena_alloc(arena, sizeof(*t));
	int64_t *dims = sl__arena_array(arena, 2, sizeof(*dims));
	char *name = sl__arena_format(&s->scratch, "%s.%s",
				      s->from->values[like].name, part);
	unsigned char *bytes;
	enum sl_status rc;

	if (!t || !dims || !name)
		return sl__fail_nomem(s->err);
	dims[0] = (int64_t)(is_left ? f->m : f->r);
	dims[1] = (int64_t)(is_left ? f->r : f->n);
	t->dtype = s->from->values[like].tensor->dtype;
	t->rank = 2;
	t->dims = dims;
	(void)sl__tensor_compute_size(t);
	t->bytes = bytes = sl__arena_alloc(arena, (size_t)t->n_bytes);
	if (!bytes)
		return sl__fail_nomem(s->err);
	sl__store_doubles(bytes, t->dtype, 0, (size_t)t->n_elements, x);
	rc = sl__graph_add_value(s->to, out, name, 0, s->err);
	if (rc)
		return rc;
	s->to->values[*out].kind = SL_VALUE_PARAMETER;
	s->to->values[*out].tensor = t;
	return SL_OK;
}

/* The layer that comes first makes a value that the other one takes. */
static enum sl_status
add_layer(struct splitter *s, uint32_t node, const uint32_t weights[2])
{
	struct sl__node *last = &s->to->nodes[node];
	struct sl__node first = *last;
	uint32_t *inputs =
		sl__arena_array(&s->to->arena, last->n_inputs, sizeof(*inputs));
	uint32_t between, id;
	char *value = sl__arena_format(&s->scratch, "%s.low_rank",
				       s->to->values[last->outputs[0]].name);
	enum sl_status rc;

	first.name = sl__arena_format(&s->to->arena, "%s.low_rank", last->name);
	if (!inputs || !value || !first.name)
		return sl__fail_nomem(s->err);
	rc = sl__graph_add_value(s->to, &between, value, 0, s->err);
	if (rc)
		return rc;
	memcpy(inputs, last->inputs, last->n_inputs * sizeof(*inputs));
	inputs[0] = between;
	inputs[1] = weights[1];
	first.inputs = (uint32_t[]){last->inputs[0], weights[0]};
	first.n_inputs = 2;
	first.outputs = &between;
	last->inputs = inputs;
	return sl__graph_add_node(s->to, &id, &first, s->err);
}

static enum sl_status
split(struct splitter *s, uint32_t node, struct sl__factors *f)
{
	const struct sl__node *n = &s->from->nodes[node];
	uint32_t weight = n->inputs[1], parts[2];
	int flips = (int)sl__attribute_int(n, "transB", 0) != 0;
	const struct sl__factors left = {.m = f->m, .r = f->r, .left = f->left};
	const struct sl__factors right = {
		.n = f->n, .r = f->r, .right = f->right};
	enum sl_status rc;

	/* A transposed weight is left [n][r], right [r][k]: the right one
	 * comes first. */
	rc = add_weight(s, &parts[flips], weight, "left", &left);
	if (!rc)
		rc = add_weight(s, &parts[!flips], weight, "right", &right);
	if (!rc)
		rc = add_layer(s, node, parts);
	for (size_t i = 0; i < f->r * f->n; i++)
		s->kept += f->right[i] * f->right[i];
	for (size_t i = 0; i < f->m * f->n; i++)
		s->all += f->w[i] * f->w[i];
	s->to->values[weight].tensor = NULL;
	s->to->values[weight].kind = SL_VALUE_ACTIVATION;
	s->n_layers++;
	return rc;
}

/* A linear layer whose weight nothing else uses, and the sizes of its parts;
 * 0: it stays. */
static int
read_layer(const struct splitter *s, const struct sl__node *n,
	   struct sl__factors *f)
{
	const struct sl__value *v;
	double r;

	if (n->block || !(sl__is_op(n, SL__OP_ONNX_MatMul) ||
			  sl__is_op(n, SL__OP_ONNX_Gemm)))
		return 0;
	v = &s->from->values[n->inputs[1]];
	if (!v->tensor || v->producer != SL__NONE || v->tensor->rank != 2 ||
	    (v->tensor->dtype != SL_DTYPE_F32 &&
	     v->tensor->dtype != SL_DTYPE_F16 &&
	     v->tensor->dtype != SL_DTYPE_BF16) ||
	    sl__attribute_int(n, "transA", 0) ||
	    sl__attribute_float(n, "alpha", 1) != 1 ||
	    s->users.first[n->inputs[1] + 1] - s->users.first[n->inputs[1]] !=
		    1)
		return 0;
	f->m = (size_t)v->tensor->dims[0];
	f->n = (size_t)v->tensor->dims[1];
	r = (1 - s->how->share) * (double)f->m * (double)f->n /
	    (double)(f->m + f->n);
	f->r = (size_t)(r + 1e-9);
	return f->r > 0;
}

static enum sl_status
split_layer(struct splitter *s, uint32_t node)
{
	const struct sl__node *n = &s->from->nodes[node];
	struct sl__arena_mark mark = sl__arena_mark(&s->scratch);
	struct sl__factors f;
	double *w;
	enum sl_status rc;

	if (!read_layer(s, n, &f))
		return SL_OK;
	w = sl__arena_array(&s->scratch, f.m * f.n, sizeof(*w));
	f.left = sl__arena_array(&s->scratch, f.m * f.r, sizeof(*f.left));
	f.right = sl__arena_array(&s->scratch, f.r * f.n, sizeof(*f.right));
	f.w = w;
	if (!w || !f.left || !f.right)
		return sl__fail_nomem(s->err);
	if (!sl__tensor_doubles(s->from->values[n->inputs[1]].tensor, 0,
				f.m * f.n, w))
		return sl__fail(s->err, SL_E_DATA,
				"the numbers of '%.200s' cannot be read",
				s->from->values[n->inputs[1]].name);
	if (!sl__factorize(&f, s->seed + node, &s->scratch))
		return sl__fail_nomem(s->err);
	rc = split(s, node, &f);
	sl__arena_rewind(&s->scratch, mark);
	return rc;
}

static enum sl_status
split_layers(struct splitter *s)
{
	struct sl_error *err = s->err;
	unsigned char *is_kept =
		sl__arena_alloc(&s->scratch, s->from->n_nodes + 1);
	enum sl_status rc = sl__graph_copy(s->to, s->from, err);

	if (!rc && !is_kept)
		rc = sl__fail_nomem(err);
	if (!rc)
		rc = sl__value_users_find(&s->users, s->from, &s->scratch, err);
	if (!rc)
		rc = sl__prune_find_kept(s->from, s->how, is_kept, &s->scratch,
					 err);
	for (uint32_t i = 0; !rc && i < s->from->n_nodes; i++) {
		if (!is_kept[i])
			rc = split_layer(s, i);
	}
	if (!rc && !s->n_layers)
		rc = sl__fail(err, SL_E_DATA,
			      "no linear layer can be two smaller ones");
	s->to->is_builtin = 0;
	s->to->seed = 0;
	return rc ? rc : sl__graph_freeze(s->to, err);
}

enum sl_status
sl__low_rank(struct sl__low_rank *out, const struct sl_graph *graph,
	     const struct sl__prune_options *how, uint64_t seed,
	     struct sl_error *err)
{
	struct splitter s = {
		.from = graph, .how = how, .seed = seed, .err = err};
	enum sl_status rc = sl__graph_new(&s.to, &graph->arena.allocator, err);

	*out = (struct sl__low_rank){0};
	if (rc)
		return rc;
	sl__arena_init(&s.scratch, &graph->arena.allocator);
	rc = split_layers(&s);
	sl__arena_release(&s.scratch);
	if (rc) {
		sl_graph_free(s.to);
		return rc;
	}
	*out = (struct sl__low_rank){s.to, s.n_layers,
				     s.all > 0 ? s.kept / s.all : 1};
	return SL_OK;
}
