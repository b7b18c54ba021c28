/* SPDX-License-Identifier: Apache-2.0 */
/*
 * op_attention.c - attention whole: projections where the operator has the
 * weights, and softmax(Q K') V.
 *
 * Every operator is brought to the same sizes (struct sl__head_sizes); shapes
 * and costs follow from those alone.  Masks are not looked at: a causal
 * operator is counted in full, as a dense kernel computes it, and conventions
 * that halve it do so on their own.
 *
 * Queries, keys and values are brought to one layout, the past before the
 * present, and ref_heads.c does the rest.
 */
#include "ops/cost.h"
#include "ops/list_input.h"
#include "ops/op_row.h"
#include "ops/ref_heads.h"
#include "ops/ref_rules.h"

#include <math.h>
#include <string.h>

#include "base/banned.h"

static void
check_heads(struct sl__rule_context *call, const struct sl__head_sizes *h)
{
	if (h->n_heads < 1 || h->n_kv_heads < 1)
		sl__rule_reject(call, "the number of heads is missing");
	else if (sl__sizes_differ(h->n_heads % h->n_kv_heads, 0))
		sl__rule_reject(
			call,
			"%lld heads of queries on %lld of keys do not come "
			"out even",
			(long long)h->n_heads, (long long)h->n_kv_heads);
}

/* size / n, where that must come out even. */
static int64_t
share(struct sl__rule_context *call, int64_t size, int64_t n)
{
	if (n < 1)
		sl__rule_reject(call, "the number of heads is missing");
	else if (!sl__is_symbol(size) && size % n)
		sl__rule_reject(
			call,
			"a width of %lld over %lld heads does not come out "
			"even",
			(long long)size, (long long)n);
	return n < 1 ? 0 : sl__size_div(call->shapes, size, n);
}

/* The past and what is new, which makes the total; whether all went well. */
static int
end_heads(struct sl__head_sizes *h, struct sl__rule_context *call, int64_t past)
{
	h->past = past;
	h->total = sl__size_add(call->shapes, past, h->fresh);
	return !call->failure;
}

enum { MASK = 3, PAST_KEY = 4, PAST_VALUE = 5, LENGTHS = 6 };

static void
read_flat(struct sl__head_sizes *h, struct sl__rule_context *call)
{
	const struct sl__type *q = sl__in_type(call, 0),
			      *k = sl__in_type(call, 1);
	const struct sl__type *v = sl__in_type(call, 2);

	h->is_flat = 1;
	h->queries = q->dims[1];
	h->fresh = k->dims[1];
	h->n_heads = sl__attribute_int(call->node, "q_num_heads", 0);
	h->n_kv_heads =
		sl__attribute_int(call->node, "kv_num_heads", h->n_heads);
	check_heads(call, h);
	h->width = share(call, q->dims[2], h->n_heads);
	h->value_width = share(call, v->dims[2], h->n_kv_heads);
}

/* Like its kin below: 0 where a rank is not known, or what is known is wrong,
 * which is refused. */
static int
read_attention(struct sl__head_sizes *h, struct sl__rule_context *call)
{
	const struct sl__type *q = sl__in_type(call, 0),
			      *k = sl__in_type(call, 1);
	const struct sl__type *v = sl__in_type(call, 2);
	int rank = sl__in_rank(call, 0);

	*h = (struct sl__head_sizes){.dtype = sl__in_dtype(call, 0)};
	if (rank < 0 || sl__in_rank(call, 1) < 0 || sl__in_rank(call, 2) < 0)
		return 0;
	if ((rank != 3 && rank != 4) || k->rank != rank || v->rank != rank) {
		sl__rule_reject(call, "queries %s, keys %s, values %s",
				sl__in_shape_text(call, 0),
				sl__in_shape_text(call, 1),
				sl__in_shape_text(call, 2));
		return 0;
	}
	h->batch = q->dims[0];
	if (rank == 3) {
		read_flat(h, call);
	} else {
		h->n_heads = q->dims[1];
		h->n_kv_heads = k->dims[1];
		h->queries = q->dims[2];
		h->fresh = k->dims[2];
		h->width = q->dims[3];
		h->value_width = v->dims[3];
		if (!sl__is_symbol(h->n_heads) && !sl__is_symbol(h->n_kv_heads))
			check_heads(call, h);
	}
	return end_heads(h, call,
			 sl__in_dim_or_default(call, PAST_KEY, 4, 2, 0));
}

/* Output 0 as rows of all heads. */
static enum sl_status
say_flat(struct sl__rule_context *call, const struct sl__head_sizes *h)
{
	int64_t width = sl__size_mul(call->shapes, h->n_heads, h->value_width);

	return sl__out_set_shape(call, 0, h->dtype, 3,
				 (int64_t[]){h->batch, h->queries, width});
}

/* The result as the queries came, and the keys and values as a cache. */
static enum sl_status
say_heads(struct sl__rule_context *call, const struct sl__head_sizes *h)
{
	int64_t out[4] = {h->batch, h->n_heads, h->queries, h->value_width};
	int64_t keys[4] = {h->batch, h->n_kv_heads, h->total, h->width};
	int64_t values[4] = {h->batch, h->n_kv_heads, h->total, h->value_width};
	int64_t scores[4] = {h->batch, h->n_heads, h->queries, h->total};

	if (h->is_flat)
		say_flat(call, h);
	else
		sl__out_set_shape(call, 0, h->dtype, 4, out);
	sl__out_set_shape(call, 1, h->dtype, 4, keys);
	sl__out_set_shape(call, 2, h->dtype, 4, values);
	return sl__out_set_shape(call, 3, h->dtype, 4, scores);
}

static enum sl_status
say_dtypes(struct sl__rule_context *call, enum sl_dtype dtype)
{
	for (size_t k = 0; k < 4; k++)
		sl__out_set_dtype_only(call, k, dtype);
	return call->failure;
}

enum sl_status
sl__infer_attention(struct sl__rule_context *call)
{
	struct sl__head_sizes h;

	return read_attention(&h, call) ? say_heads(call, &h)
					: say_dtypes(call, h.dtype);
}

/* The two products and the softmax between them, per score: the scale, the
 * maximum, minus that and the sum, the exponential and the quotient. */
static void
count_heads(struct sl__rule_context *call, const struct sl__head_sizes *h,
	    int has_mask, struct sl_cost *cost)
{
	uint64_t scores = sl__saturating_mul(
		sl__saturating_mul((uint64_t)h->batch, (uint64_t)h->n_heads),
		sl__saturating_mul((uint64_t)h->queries, (uint64_t)h->total));

	cost->work = SL_WORK_PRODUCT;
	sl__cost_add_macs(
		cost,
		sl__saturating_mul(
			scores, sl__saturating_add((uint64_t)h->width,
						   (uint64_t)h->value_width)));
	sl__cost_add_operations(cost, scores,
				SL__OPERATIONS_EACH(.mul = 1, .cmp = 1,
						    .add = has_mask ? 3 : 2,
						    .exp = 1, .div = 1));
	if (sl__attribute_float(call->node, "softcap", 0) > 0)
		sl__cost_add_operations(
			cost, scores, SL__OPERATIONS_EACH(.exp = 1, .mul = 2));
}

void
sl__cost_attention(struct sl__rule_context *call, struct sl_cost *cost)
{
	struct sl__head_sizes h;

	if (read_attention(&h, call))
		count_heads(call, &h, sl__has_in(call, 3), cost);
	else
		sl__cost_unknown(call, cost);
}

/* Where the two operators with projections keep their operands. */
struct projected {
	size_t bias, mask, past, extra_bias;
};

static struct projected
projected_of(const struct sl__rule_context *call)
{
	static const struct projected plain = {2, 3, 4, 5};
	static const struct projected quantized = {2, 5, 8, 99};

	return sl__is_op(call->node, SL__OP_MS_QAttention) ? quantized : plain;
}

/* Widths of Q, K and V: attribute, else a third of the weight each. */
static enum sl_status
read_widths(int64_t widths[3], struct sl__rule_context *call)
{
	const int64_t *sizes;
	size_t n = sl__attribute_ints(call->node, "qkv_hidden_sizes", &sizes);
	const struct sl__type *w = sl__in_type(call, 1);

	if (n && n != 3)
		return sl__rule_reject(
			call, "qkv_hidden_sizes has %zu numbers, not 3", n);
	if (!n && (sl__in_rank(call, 1) != 2 ||
		   (!sl__is_symbol(w->dims[1]) && w->dims[1] % 3)))
		return sl__rule_reject(call,
				       "the weight's columns are not those of "
				       "Q, K and V");
	for (int i = 0; i < 3; i++) {
		widths[i] = n ? sizes[i]
			      : sl__size_div(call->shapes, w->dims[1], 3);
		if (widths[i] < 1 && (n || !sl__is_symbol(widths[i])))
			sl__rule_reject(call, "a width of %lld",
					(long long)widths[i]);
	}
	return call->failure;
}

static int
read_projected(struct sl__head_sizes *h, struct sl__rule_context *call)
{
	const struct sl__type *x = sl__in_type(call, 0),
			      *w = sl__in_type(call, 1);
	int is_quantized = sl__is_op(call->node, SL__OP_MS_QAttention);
	int64_t widths[3] = {0};

	*h = (struct sl__head_sizes){
		.dtype = sl__in_dtype(call, is_quantized ? 3 : 0),
		.is_flat = 1};
	if (sl__in_rank(call, 0) < 0 || sl__in_rank(call, 1) < 0)
		return 0;
	if (x->rank != 3 || w->rank != 2 ||
	    sl__sizes_differ(x->dims[2], w->dims[0]))
		sl__rule_reject(call, "a weight of %s does not fit rows of %s",
				sl__in_shape_text(call, 1),
				sl__in_shape_text(call, 0));
	if (call->failure || read_widths(widths, call))
		return 0;
	h->batch = x->dims[0];
	h->queries = h->fresh = x->dims[1];
	h->n_heads = h->n_kv_heads =
		sl__attribute_int(call->node, "num_heads", 0);
	h->width = share(call, widths[0], h->n_heads);
	h->value_width = share(call, widths[2], h->n_heads);
	return end_heads(
		h, call,
		sl__in_dim_or_default(call, projected_of(call).past, 5, 3, 0));
}

enum sl_status
sl__infer_projected_attention(struct sl__rule_context *call)
{
	struct sl__head_sizes h;

	if (!read_projected(&h, call))
		return say_dtypes(call, h.dtype);
	say_flat(call, &h);
	/* Keys and values of all tokens so far, in one tensor. */
	return sl__out_set_shape(
		call, 1, h.dtype, 5,
		(int64_t[]){2, h.batch, h.n_heads, h.total, h.width});
}

/* The projections outweigh the products at all but long sequences, so the
 * whole counts as a product with a parameter. */
void
sl__cost_projected_attention(struct sl__rule_context *call,
			     struct sl_cost *cost)
{
	struct projected at = projected_of(call);
	uint64_t rows = sl__saturating_mul(sl__in_dim(call, 0, 0),
					   sl__in_dim(call, 0, 1));
	struct sl__head_sizes h;

	if (!read_projected(&h, call)) {
		sl__cost_unknown(call, cost);
		return;
	}
	count_heads(call, &h,
		    sl__has_in(call, at.mask) ||
			    sl__has_in(call, at.extra_bias),
		    cost);
	cost->work = SL_WORK_LINEAR;
	sl__cost_add_macs(cost,
			  sl__saturating_mul(rows, sl__in_elements(call, 1)));
	if (sl__has_in(call, at.bias))
		sl__cost_add_operations(
			cost, sl__saturating_mul(rows, sl__in_dim(call, 1, 1)),
			SL__OPERATIONS_EACH(.add = 1));
}

/*
 * Q [batch][queries][heads * width]; or packed with K and V [batch][queries]
 * [heads][3][width]; K as Q, as a cache [batch][heads][keys][width], or
 * packed with V [batch][keys][heads][2][width].
 */
static int
read_multi_head(struct sl__head_sizes *h, struct sl__rule_context *call)
{
	const struct sl__type *q = sl__in_type(call, 0),
			      *k = sl__in_type(call, 1);

	*h = (struct sl__head_sizes){.dtype = sl__in_dtype(call, 0),
				     .is_flat = 1};
	if (sl__in_rank(call, 0) < 0 || (k && sl__in_rank(call, 1) < 0) ||
	    (sl__has_in(call, 2) && sl__in_rank(call, 2) < 0))
		return 0;
	if ((q->rank != 3 && q->rank != 5) ||
	    (k && (k->rank < 3 || k->rank > 5))) {
		sl__rule_reject(call, "queries of %s and keys of %s",
				sl__in_shape_text(call, 0),
				sl__in_shape_text(call, 1));
		return 0;
	}
	h->batch = q->dims[0];
	h->queries = h->fresh = q->dims[1];
	h->n_heads = h->n_kv_heads =
		sl__attribute_int(call->node, "num_heads", 0);
	h->width = share(call,
			 q->rank == 5 ? sl__size_mul(call->shapes, h->n_heads,
						     q->dims[4])
				      : q->dims[2],
			 h->n_heads);
	h->value_width = sl__in_dim_or_default(call, 2, 4, 3, h->width);
	if (sl__in_rank(call, 2) == 3)
		h->value_width =
			share(call, sl__in_type(call, 2)->dims[2], h->n_heads);
	if (k)
		h->fresh = k->dims[k->rank == 4 ? 2 : 1];
	return end_heads(h, call, sl__in_dim_or_default(call, 6, 4, 2, 0));
}

enum sl_status
sl__infer_multi_head(struct sl__rule_context *call)
{
	struct sl__head_sizes h;

	return read_multi_head(&h, call) ? say_heads(call, &h)
					 : say_dtypes(call, h.dtype);
}

void
sl__cost_multi_head(struct sl__rule_context *call, struct sl_cost *cost)
{
	struct sl__head_sizes h;

	if (!read_multi_head(&h, call)) {
		sl__cost_unknown(call, cost);
		return;
	}
	count_heads(call, &h, sl__has_in(call, 4) || sl__has_in(call, 5), cost);
	if (sl__has_in(call, 3)) /* added to Q, K and V */
		sl__cost_add_operations(
			cost,
			sl__saturating_mul(
				sl__in_elements(call, 3),
				sl__saturating_mul((uint64_t)h.batch,
						   (uint64_t)h.queries)),
			SL__OPERATIONS_EACH(.add = 1));
}

enum { GROUP_PAST = 3, GROUP_TOTAL = 6, GROUP_COS = 7 };

/* The cache has room for all tokens or grows by the fresh ones; which of the
 * two, total_sequence_length says if it is known. */
static int
read_group(struct sl__head_sizes *h, struct sl__rule_context *call)
{
	const struct sl__type *q = sl__in_type(call, 0);
	const int64_t *total;
	size_t n;

	*h = (struct sl__head_sizes){.dtype = sl__in_dtype(call, 0),
				     .is_flat = 1};
	if (sl__in_rank(call, 0) < 0)
		return 0;
	h->n_heads = sl__attribute_int(call->node, "num_heads", 0);
	h->n_kv_heads = sl__attribute_int(call->node, "kv_num_heads", 0);
	if (q->rank != 3)
		sl__rule_reject(call, "queries of %s",
				sl__in_shape_text(call, 0));
	if (h->n_heads > INT32_MAX || h->n_kv_heads > INT32_MAX)
		sl__rule_reject(call, "%lld heads", (long long)h->n_heads);
	check_heads(call, h);
	if (call->failure)
		return 0;
	h->batch = q->dims[0];
	h->queries = q->dims[1];
	/* Without keys of their own, Q, K and V are one tensor. */
	h->width = h->value_width =
		share(call, q->dims[2],
		      sl__has_in(call, 1) ? h->n_heads
					  : h->n_heads + 2 * h->n_kv_heads);
	h->fresh = sl__in_dim_or_default(call, 1, 3, 1, h->queries);
	end_heads(h, call, sl__in_dim_or_default(call, GROUP_PAST, 4, 2, 0));
	if (sl__in_integers(call, GROUP_TOTAL, &total, &n) && n == 1 &&
	    total[0] > 0)
		h->total = total[0];
	else
		h->is_cache_estimated = h->past != 0;
	return !call->failure;
}

enum sl_status
sl__infer_group_query(struct sl__rule_context *call)
{
	struct sl__head_sizes h;

	if (!read_group(&h, call))
		return say_dtypes(call, h.dtype);
	/* A cache with room for more stays as long as it is. */
	if (!sl__is_symbol(h.past) && !sl__is_symbol(h.total) &&
	    h.past > h.total)
		h.total = h.past;
	return say_heads(call, &h);
}

void
sl__cost_group_query(struct sl__rule_context *call, struct sl_cost *cost)
{
	struct sl__head_sizes h;

	if (!read_group(&h, call)) {
		sl__cost_unknown(call, cost);
		return;
	}
	count_heads(call, &h, 0, cost);
	if (sl__attribute_int(call->node, "do_rotary", 0) &&
	    sl__has_in(call, GROUP_COS))
		sl__cost_add_operations(
			cost,
			sl__saturating_mul(
				sl__saturating_mul((uint64_t)h.batch,
						   (uint64_t)h.queries),
				sl__saturating_mul(
					(uint64_t)(h.n_heads + h.n_kv_heads),
					(uint64_t)h.width)),
			SL__OPERATIONS_EACH(.mul = 1, .fma = 1));
	if (h.is_cache_estimated)
		sl__cost_mark_estimated(cost,
					"as if the whole cache were in use");
}

/* Q, K, V packed [batch][tokens][heads * width]; the state is a matrix a
 * head, [batch][n_kv_heads][width][value_width]. */
static int
read_linear(struct sl__head_sizes *h, struct sl__rule_context *call)
{
	*h = (struct sl__head_sizes){.dtype = sl__in_dtype(call, 0)};
	if (sl__in_rank(call, 0) < 0 || sl__in_rank(call, 1) < 0 ||
	    sl__in_rank(call, 2) < 0)
		return 0;
	for (size_t i = 0; i < 3; i++) {
		if (sl__in_rank(call, i) != 3)
			sl__rule_reject(call, "queries of %s",
					sl__in_shape_text(call, 0));
	}
	if (call->failure)
		return 0;
	h->batch = sl__in_type(call, 0)->dims[0];
	read_flat(h, call);
	return !call->failure;
}

enum sl_status
sl__infer_linear_attention(struct sl__rule_context *call)
{
	struct sl__head_sizes h;

	if (!read_linear(&h, call))
		return say_dtypes(call, h.dtype);
	say_flat(call, &h);
	return sl__out_set_shape(
		call, 1, h.dtype, 4,
		(int64_t[]){h.batch, h.n_kv_heads, h.width, h.value_width});
}

/* Per token and head, each element of the state: one product to renew it, one
 * to look at it, one more where the rule corrects by what is there, and a
 * factor where it fades; then the scale. */
void
sl__cost_linear_attention(struct sl__rule_context *call, struct sl_cost *cost)
{
	const char *rule =
		sl__attribute_string(call->node, "update_rule", "gated_delta");
	uint64_t n_renewed = strstr(rule, "delta") ? 2 : 1, states;
	struct sl__head_sizes h;

	if (!read_linear(&h, call)) {
		sl__cost_unknown(call, cost);
		return;
	}
	states = sl__saturating_mul(
		sl__saturating_mul((uint64_t)h.batch, (uint64_t)h.queries),
		sl__saturating_mul((uint64_t)h.width, (uint64_t)h.value_width));
	cost->work = SL_WORK_PRODUCT;
	sl__cost_add_macs(
		cost,
		sl__saturating_mul(
			states,
			sl__saturating_add(
				sl__saturating_mul(n_renewed,
						   (uint64_t)h.n_kv_heads),
				(uint64_t)h.n_heads)));
	if (strstr(rule, "gated"))
		cost->mul = sl__saturating_mul(states, (uint64_t)h.n_kv_heads);
	sl__cost_add_operations(cost, cost->out_elements,
				SL__OPERATIONS_EACH(.mul = 1));
	cost->exp = sl__in_elements(call, 4);
}

/* Each turned element is x cos + y sin: a product and a fused one.  The
 * caches hold one half of the turned width. */
void
sl__cost_rotary(struct sl__rule_context *call, struct sl_cost *cost)
{
	const struct sl__type *x = sl__in_type(call, 0);
	size_t cache = sl__is_op(call->node, SL__OP_MS_RotaryEmbedding) ? 2 : 1;
	uint64_t turned = sl__saturating_mul(2, sl__in_dim(call, cache, -1));
	uint64_t width = sl__in_dim(call, 0, -1);
	int64_t n_heads = sl__attribute_int(call->node, "num_heads", 0);

	if (x && x->rank == 3)
		width = n_heads > 0 ? width / (uint64_t)n_heads : turned;
	if (width == 0 || turned > width)
		turned = width;
	cost->mul =
		width ? sl__saturating_mul(cost->in_elements / width, turned)
		      : 0;
	cost->fma = cost->mul;
}

/* How each operator is read. */
static const struct {
	enum sl__op_id id;
	int (*read)(struct sl__head_sizes *h, struct sl__rule_context *call);
} readers[] = {
	{SL__OP_ONNX_Attention, read_attention},
	{SL__OP_ONNX_LinearAttention, read_linear},
	{SL__OP_MS_Attention, read_projected},
	{SL__OP_MS_GroupQueryAttention, read_group},
	{SL__OP_MS_MultiHeadAttention, read_multi_head},
};

enum sl_status
sl__head_attention_read(struct sl__head_attention *h,
			struct sl__kernel_call *ev)
{
	struct sl__head_sizes s = {0};
	struct sl__ref_rule_view v;

	if (sl__ref_rule_view_begin(&v, ev))
		return ev->failure;
	if (!SL__OP_ROW_OF(ev->node, readers)->read(&s, &v.call))
		sl__rule_reject(&v.call, "it lacks queries, keys or values");
	h->batch = s.batch;
	h->n_heads = s.n_heads;
	h->n_kv_heads = s.n_kv_heads;
	h->queries = s.queries;
	h->past = s.past;
	h->total = h->room = s.total;
	h->width = s.width;
	h->value_width = s.value_width;
	h->is_flat = s.is_flat;
	return sl__ref_rule_view_end(&v, ev);
}

/* What inference has not compared is compared here. */
static enum sl_status
read_sizes(struct sl__head_attention *h, struct sl__kernel_call *ev)
{
	int64_t n, fresh;

	if (sl__head_attention_read(h, ev))
		return ev->failure;
	n = h->n_kv_heads;
	fresh = h->total - h->past;
	for (size_t i = 1; i < 3; i++) {
		int64_t width = i == 1 ? h->width : h->value_width;

		if (h->is_flat
			    ? !sl__ref_input_has_dims(
				      ev, i, 3,
				      (int64_t[]){h->batch, fresh, n * width})
			    : !sl__ref_input_has_dims(
				      ev, i, 4,
				      (int64_t[]){h->batch, n, fresh, width}))
			return sl__ref_reject(
				ev, "keys and values do not fit the queries");
	}
	return SL_OK;
}

/* Input i as [batch][n_heads][n->n_rows][width], rows of input 'past' before
 * it. */
static const double *
join_past(struct sl__kernel_call *ev, size_t i, size_t past,
	  struct sl__head_row_counts n)
{
	const struct sl__tensor *t = sl__ref_input_tensor(ev, past);
	struct sl__head_row_target to = {.start = t ? t->dims[2] : 0};
	struct sl__head_rows rows =
		sl__head_rows_of_tensor(sl__ref_input_doubles(ev, i), &n,
					sl__ref_input_rank(ev, i) == 3);

	to.room = to.start + n.n_rows;
	return sl__head_rows_concat(ev, &to, sl__ref_optional_doubles(ev, past),
				    &rows, &n, NULL);
}

/* Checks that a past is [batch][n_kv_heads][past][width]. */
static enum sl_status
check_past(const struct sl__head_attention *h, struct sl__kernel_call *ev,
	   size_t i, int64_t width)
{
	if (sl__ref_input(ev, i) ? sl__ref_input_has_dims(
					   ev, i, 4,
					   (int64_t[]){h->batch, h->n_kv_heads,
						       h->past, width})
				 : h->past == 0)
		return SL_OK;
	return sl__ref_reject(ev, "input %zu does not fit the keys", i);
}

static enum sl_status
read_operands(struct sl__head_attention *h, struct sl__kernel_call *ev)
{
	int64_t fresh = h->total - h->past;
	struct sl__head_row_counts q = {h->batch, h->n_heads, h->queries,
					h->width};
	struct sl__head_row_counts k = {h->batch, h->n_kv_heads, fresh,
					h->width};
	struct sl__head_row_counts v = {h->batch, h->n_kv_heads, fresh,
					h->value_width};

	if (check_past(h, ev, PAST_KEY, h->width) ||
	    check_past(h, ev, PAST_VALUE, h->value_width))
		return ev->failure;
	h->q = join_past(ev, 0, SIZE_MAX, q);
	h->k = join_past(ev, 1, PAST_KEY, k);
	h->v = join_past(ev, 2, PAST_VALUE, v);
	return ev->failure;
}

/* The mask as something to add: of booleans 0 or no end below it.  It is
 * broadcast to [batch][heads][queries][total], and may have fewer keys. */
static enum sl_status
read_mask(struct sl__head_attention *h, struct sl__kernel_call *ev)
{
	const struct sl__tensor *t = sl__ref_input_tensor(ev, MASK);
	int64_t whole[4] = {h->batch, h->n_heads, h->queries, h->total};
	const double *x = sl__ref_optional_doubles(ev, MASK);
	int64_t steps[4];
	double *made;

	if (!x)
		return ev->failure;
	h->bias_keys = h->total;
	for (size_t d = 0; d < t->rank && t->rank <= 4; d++) {
		int64_t size = whole[4 - t->rank + d];
		int is_last = d == t->rank - 1;

		if (t->dims[d] != 1 && t->dims[d] != size &&
		    !(is_last && t->dims[d] < size))
			return sl__ref_reject(
				ev, "the mask does not fit the scores");
		if (is_last && t->dims[d] < size && t->dims[d] != 1)
			h->bias_keys = t->dims[d];
	}
	if (t->rank > 4)
		return sl__ref_reject(ev, "a mask of rank %zu", t->rank);
	sl__broadcast_strides(steps, 4, t->rank, t->dims);
	h->bias[0] = (struct sl__score_bias){x, steps[0], steps[1], steps[2],
					     steps[3]};
	if (t->dtype != SL_DTYPE_BOOL)
		return SL_OK;
	made = sl__ref_scratch_doubles(ev, (int64_t)t->n_elements);
	for (uint64_t i = 0; made && i < t->n_elements; i++)
		made[i] = x[i] > 0 ? 0 : -HUGE_VAL;
	h->bias[0].at = made;
	return ev->failure;
}

/* Where the first query stands: after the past, or, where the keys are a
 * cache of given lengths, at the end of what it holds. */
static enum sl_status
read_offsets(struct sl__head_attention *h, struct sl__kernel_call *ev)
{
	const struct sl__tensor *t = sl__ref_input_tensor(ev, LENGTHS);
	const int64_t *lengths = sl__ref_optional_integers(ev, LENGTHS);
	int64_t *offsets = sl__ref_scratch_integers(ev, h->batch);

	if (t && t->n_elements != (uint64_t)h->batch)
		return sl__ref_reject(ev,
				      "nonpad_kv_seqlen has %llu numbers for "
				      "%lld texts",
				      (unsigned long long)t->n_elements,
				      (long long)h->batch);
	for (int64_t b = 0; !ev->failure && b < h->batch; b++)
		offsets[b] = lengths ? lengths[b] - h->queries : h->past;
	h->offsets = offsets;
	h->ends = lengths;
	return ev->failure;
}

enum sl_status
sl__ref_attention(struct sl__kernel_call *ev)
{
	const struct sl__node *node = ev->node;
	int64_t mode = sl__attribute_int(node, "qk_matmul_output_mode", 0);
	struct sl__head_attention h = {.has_scores = sl__ref_output(ev, 3) !=
						     NULL};

	if (read_sizes(&h, ev) || read_operands(&h, ev) || read_mask(&h, ev) ||
	    read_offsets(&h, ev))
		return ev->failure;
	if (h.has_scores && (mode < 0 || mode > 3))
		return sl__ref_reject(ev, "qk_matmul_output_mode is %lld",
				      (long long)mode);
	h.stage = (enum sl__score_stage)(h.has_scores ? mode : 0);
	h.scale = sl__attribute_float(node, "scale", 1 / sqrt((double)h.width));
	h.softcap = sl__attribute_float(node, "softcap", 0);
	h.is_causal = sl__attribute_int(node, "is_causal", 0) != 0;
	h.left = sl__attribute_int(node, "left_window_size", -1);
	h.right = sl__attribute_int(node, "right_window_size", -1);
	return sl__head_attention_run(ev, &h)
		       ? ev->failure
		       : sl__head_attention_store(ev, &h);
}

/* x [batch][n_heads][n_rows][width] or flat; angles [positions][n_pairs]. */
struct rotary {
	struct sl__head_row_counts n;
	int is_flat;
	int64_t n_pairs, n_angles; /* n_angles: rows of the tables */
	const double *cosines, *sines;
	const int64_t *places;
	int64_t n_places; /* of 'places': one for each token, or one for all */
};

static enum sl_status
read_rotary(struct rotary *r, struct sl__kernel_call *ev)
{
	const struct sl__tensor *x = sl__ref_input_tensor(ev, 0);
	int64_t n_heads = sl__attribute_int(ev->node, "num_heads", 0);
	int64_t turned = sl__attribute_int(ev->node, "rotary_embedding_dim", 0);
	int64_t columns = sl__ref_input_dim(
		ev, sl__is_op(ev->node, SL__OP_MS_RotaryEmbedding) ? 2 : 1, -1);

	if (!x || (x->rank != 3 && x->rank != 4))
		return sl__ref_reject(ev, "it lacks tokens");
	r->is_flat = x->rank == 3;
	if (r->is_flat && n_heads < 1 && columns > 0)
		/* The tables are as wide as half a head. */
		n_heads = x->dims[2] / (2 * columns);
	r->n.batch = x->dims[0];
	r->n.n_heads = r->is_flat ? n_heads : x->dims[1];
	r->n.n_rows = x->dims[r->is_flat ? 1 : 2];
	if (r->is_flat && (n_heads < 1 || x->dims[2] % n_heads))
		return sl__ref_reject(ev, "%lld heads of a width of %lld",
				      (long long)n_heads,
				      (long long)x->dims[2]);
	r->n.width = r->is_flat ? x->dims[2] / n_heads : x->dims[3];
	turned = turned > 0 ? turned : r->n.width;
	r->n_pairs = turned / 2;
	if (turned > r->n.width || turned % 2 || columns != r->n_pairs)
		return sl__ref_reject(
			ev, "angles for %lld of %lld pairs of elements",
			(long long)columns, (long long)r->n_pairs);
	return SL_OK;
}

static enum sl_status
read_angles(struct rotary *r, struct sl__kernel_call *ev, size_t cosines,
	    size_t places)
{
	const struct sl__tensor *c = sl__ref_input_tensor(ev, cosines);
	const struct sl__tensor *s = sl__ref_input_tensor(ev, cosines + 1);
	const struct sl__tensor *p = sl__ref_input_tensor(ev, places);
	int64_t tokens = r->n.batch * r->n.n_rows;

	r->cosines = sl__ref_input_doubles(ev, cosines);
	r->sines = sl__ref_input_doubles(ev, cosines + 1);
	r->places = sl__ref_optional_integers(ev, places);
	if (ev->failure)
		return ev->failure;
	if (!c || !s || c->n_elements != s->n_elements)
		return sl__ref_reject(ev, "sines and cosines are not as "
					  "many");
	r->n_angles = r->n_pairs ? (int64_t)c->n_elements / r->n_pairs : tokens;
	r->n_places = p ? (int64_t)p->n_elements : 0;
	if ((p && r->n_places != 1 && r->n_places != tokens) ||
	    (!p && r->n_angles != tokens))
		return sl__ref_reject(
			ev, "places or angles for other than %lld tokens",
			(long long)tokens);
	return SL_OK;
}

/* The row of the tables for token i; -1: none. */
static int64_t
angle_of(const struct rotary *r, int64_t i)
{
	int64_t at = r->places ? r->places[r->n_places == 1 ? 0 : i] : i;

	if (at < 0 || at >= r->n_angles)
		return -1;
	at += r->places && r->n_places == 1 ? i % r->n.n_rows : 0;
	return at < r->n_angles ? at : -1;
}

static enum sl_status
turn_all(struct sl__kernel_call *ev, const struct rotary *r, double *y,
	 int is_interleaved)
{
	struct sl__head_rows rows =
		sl__head_rows_of_tensor(NULL, &r->n, r->is_flat);

	for (int64_t i = 0; i < r->n.batch * r->n.n_rows; i++) {
		int64_t at = angle_of(r, i);
		int64_t first = i / r->n.n_rows * rows.batch +
				i % r->n.n_rows * rows.row;

		if (at < 0)
			return sl__ref_reject(ev, "no angles for token %lld",
					      (long long)i);
		for (int64_t head = 0; head < r->n.n_heads; head++)
			sl__rotary_rotate_row(y + first + head * rows.head,
					      r->cosines + at * r->n_pairs,
					      r->sines + at * r->n_pairs,
					      r->n_pairs, is_interleaved);
	}
	return SL_OK;
}

/* ONNX has the places last, the other one second. */
enum sl_status
sl__ref_rotary(struct sl__kernel_call *ev)
{
	int is_other = sl__is_op(ev->node, SL__OP_MS_RotaryEmbedding);
	const struct sl__tensor *t = sl__ref_input_tensor(ev, 0);
	struct rotary r = {0};
	const double *x = sl__ref_input_doubles(ev, 0);
	double *y = sl__ref_scratch_output(ev, 0);

	if (ev->failure || read_rotary(&r, ev) ||
	    read_angles(&r, ev, is_other ? 2 : 1, is_other ? 1 : 3))
		return ev->failure;
	memcpy(y, x, (size_t)t->n_elements * sizeof(*y));
	if (turn_all(ev, &r, y,
		     sl__attribute_int(ev->node, "interleaved", 0) != 0))
		return ev->failure;
	return sl__ref_output_store_doubles(ev, 0, y);
}
