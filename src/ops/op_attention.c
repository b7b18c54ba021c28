/* SPDX-License-Identifier: Apache-2.0 */
/*
 * op_attention.c - attention whole: projections where the operator has the
 * weights, and softmax(Q K') V.
 *
 * Every operator is brought to the same sizes (struct heads); shapes and
 * costs follow from those alone.  Masks are not looked at: a causal operator
 * is counted in full, as a dense kernel computes it, and conventions that
 * halve it do so on their own.
 */
#include "graph/op_rules.h"
#include "ops/cost.h"
#include "ops/moving.h"

#include <string.h>

#include "base/banned.h"

/*
 * Queries [batch][n_heads][queries][width], keys [batch][n_kv_heads][past +
 * fresh][width], values as keys with value_width.
 */
struct heads {
	int64_t batch, n_heads, n_kv_heads;
	int64_t queries, past, fresh;
	int64_t width, value_width;
	int64_t total; /* past + fresh, or as the node says */
	int is_flat;   /* Q is [batch][queries][n_heads * width] */
	int is_cache_estimated;
	enum sl_dtype dtype;
};

static void
check_heads(struct sl__call *call, const struct heads *h)
{
	if (h->n_heads < 1 || h->n_kv_heads < 1)
		sl__refuse(call, "the number of heads is missing");
	else if (sl__sizes_differ(h->n_heads % h->n_kv_heads, 0))
		sl__refuse(call,
			   "%lld heads of queries on %lld of keys do not come "
			   "out even",
			   (long long)h->n_heads, (long long)h->n_kv_heads);
}

/* size / n, where that must come out even. */
static int64_t
share(struct sl__call *call, int64_t size, int64_t n)
{
	if (n < 1)
		sl__refuse(call, "the number of heads is missing");
	else if (!sl__is_symbol(size) && size % n)
		sl__refuse(call,
			   "a width of %lld over %lld heads does not come out "
			   "even",
			   (long long)size, (long long)n);
	return n < 1 ? 0 : sl__size_div(call->shapes, size, n);
}

/* The past and what is new, which makes the total; whether all went well. */
static int
end_heads(struct heads *h, struct sl__call *call, int64_t past)
{
	h->past = past;
	h->total = sl__size_add(call->shapes, past, h->fresh);
	return !call->failure;
}

enum { PAST_KEY = 4 };

static void
read_flat(struct heads *h, struct sl__call *call)
{
	const struct sl__type *q = sl__in(call, 0), *k = sl__in(call, 1);
	const struct sl__type *v = sl__in(call, 2);

	h->is_flat = 1;
	h->queries = q->dims[1];
	h->fresh = k->dims[1];
	h->n_heads = sl__int(call->node, "q_num_heads", 0);
	h->n_kv_heads = sl__int(call->node, "kv_num_heads", h->n_heads);
	check_heads(call, h);
	h->width = share(call, q->dims[2], h->n_heads);
	h->value_width = share(call, v->dims[2], h->n_kv_heads);
}

/* Like its kin below: 0 where a rank is not known, or what is known is wrong,
 * which is refused. */
static int
read_attention(struct heads *h, struct sl__call *call)
{
	const struct sl__type *q = sl__in(call, 0), *k = sl__in(call, 1);
	const struct sl__type *v = sl__in(call, 2);
	int rank = sl__in_rank(call, 0);

	*h = (struct heads){.dtype = sl__in_dtype(call, 0)};
	if (rank < 0 || sl__in_rank(call, 1) < 0 || sl__in_rank(call, 2) < 0)
		return 0;
	if ((rank != 3 && rank != 4) || k->rank != rank || v->rank != rank) {
		sl__refuse(call, "queries %s, keys %s, values %s",
			   sl__in_text(call, 0), sl__in_text(call, 1),
			   sl__in_text(call, 2));
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
	return end_heads(h, call, sl__dim_or(call, PAST_KEY, 4, 2, 0));
}

/* Output 0 as rows of all heads. */
static enum sl_status
say_flat(struct sl__call *call, const struct heads *h)
{
	int64_t width = sl__size_mul(call->shapes, h->n_heads, h->value_width);

	return sl__out(call, 0, h->dtype, 3,
		       (int64_t[]){h->batch, h->queries, width});
}

/* The result as the queries came, and the keys and values as a cache. */
static enum sl_status
say_heads(struct sl__call *call, const struct heads *h)
{
	int64_t out[4] = {h->batch, h->n_heads, h->queries, h->value_width};
	int64_t keys[4] = {h->batch, h->n_kv_heads, h->total, h->width};
	int64_t values[4] = {h->batch, h->n_kv_heads, h->total, h->value_width};
	int64_t scores[4] = {h->batch, h->n_heads, h->queries, h->total};

	if (h->is_flat)
		say_flat(call, h);
	else
		sl__out(call, 0, h->dtype, 4, out);
	sl__out(call, 1, h->dtype, 4, keys);
	sl__out(call, 2, h->dtype, 4, values);
	return sl__out(call, 3, h->dtype, 4, scores);
}

static enum sl_status
say_dtypes(struct sl__call *call, enum sl_dtype dtype)
{
	for (size_t k = 0; k < 4; k++)
		sl__out_rankless(call, k, dtype);
	return call->failure;
}

enum sl_status
sl__infer_attention(struct sl__call *call)
{
	struct heads h;

	return read_attention(&h, call) ? say_heads(call, &h)
					: say_dtypes(call, h.dtype);
}

/* The two products and the softmax between them, per score: the scale, the
 * maximum, minus that and the sum, the exponential and the quotient. */
static void
count_heads(struct sl__call *call, const struct heads *h, int has_mask,
	    struct sl_cost *cost)
{
	uint64_t scores =
		sl__times(sl__times((uint64_t)h->batch, (uint64_t)h->n_heads),
			  sl__times((uint64_t)h->queries, (uint64_t)h->total));

	cost->work = SL_WORK_PRODUCT;
	sl__count_macs(cost,
		       sl__times(scores, sl__plus((uint64_t)h->width,
						  (uint64_t)h->value_width)));
	sl__count(cost, scores,
		  SL__PER(.mul = 1, .cmp = 1, .add = has_mask ? 3 : 2, .exp = 1,
			  .div = 1));
	if (sl__float(call->node, "softcap", 0) > 0)
		sl__count(cost, scores, SL__PER(.exp = 1, .mul = 2));
}

void
sl__cost_attention(struct sl__call *call, struct sl_cost *cost)
{
	struct heads h;

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
projected_of(const struct sl__call *call)
{
	static const struct projected plain = {2, 3, 4, 5};
	static const struct projected quantized = {2, 5, 8, 99};

	return sl__is_op(call->node, SL__OP_MS_QAttention) ? quantized : plain;
}

/* Widths of Q, K and V: attribute, else a third of the weight each. */
static enum sl_status
read_widths(int64_t widths[3], struct sl__call *call)
{
	const int64_t *sizes;
	size_t n = sl__ints(call->node, "qkv_hidden_sizes", &sizes);
	const struct sl__type *w = sl__in(call, 1);

	if (n && n != 3)
		return sl__refuse(call,
				  "qkv_hidden_sizes has %zu numbers, not 3", n);
	if (!n && (sl__in_rank(call, 1) != 2 ||
		   (!sl__is_symbol(w->dims[1]) && w->dims[1] % 3)))
		return sl__refuse(call, "the weight's columns are not those of "
					"Q, K and V");
	for (int i = 0; i < 3; i++) {
		widths[i] = n ? sizes[i]
			      : sl__size_div(call->shapes, w->dims[1], 3);
		if (widths[i] < 1 && (n || !sl__is_symbol(widths[i])))
			sl__refuse(call, "a width of %lld",
				   (long long)widths[i]);
	}
	return call->failure;
}

static int
read_projected(struct heads *h, struct sl__call *call)
{
	const struct sl__type *x = sl__in(call, 0), *w = sl__in(call, 1);
	int is_quantized = sl__is_op(call->node, SL__OP_MS_QAttention);
	int64_t widths[3] = {0};

	*h = (struct heads){.dtype = sl__in_dtype(call, is_quantized ? 3 : 0),
			    .is_flat = 1};
	if (sl__in_rank(call, 0) < 0 || sl__in_rank(call, 1) < 0)
		return 0;
	if (x->rank != 3 || w->rank != 2 ||
	    sl__sizes_differ(x->dims[2], w->dims[0]))
		sl__refuse(call, "a weight of %s does not fit rows of %s",
			   sl__in_text(call, 1), sl__in_text(call, 0));
	if (call->failure || read_widths(widths, call))
		return 0;
	h->batch = x->dims[0];
	h->queries = h->fresh = x->dims[1];
	h->n_heads = h->n_kv_heads = sl__int(call->node, "num_heads", 0);
	h->width = share(call, widths[0], h->n_heads);
	h->value_width = share(call, widths[2], h->n_heads);
	return end_heads(h, call,
			 sl__dim_or(call, projected_of(call).past, 5, 3, 0));
}

enum sl_status
sl__infer_projected_attention(struct sl__call *call)
{
	struct heads h;

	if (!read_projected(&h, call))
		return say_dtypes(call, h.dtype);
	say_flat(call, &h);
	/* Keys and values of all tokens so far, in one tensor. */
	return sl__out(call, 1, h.dtype, 5,
		       (int64_t[]){2, h.batch, h.n_heads, h.total, h.width});
}

/* The projections outweigh the products at all but long sequences, so the
 * whole counts as a product with a parameter. */
void
sl__cost_projected_attention(struct sl__call *call, struct sl_cost *cost)
{
	struct projected at = projected_of(call);
	uint64_t rows =
		sl__times(sl__in_dim(call, 0, 0), sl__in_dim(call, 0, 1));
	struct heads h;

	if (!read_projected(&h, call)) {
		sl__cost_unknown(call, cost);
		return;
	}
	count_heads(call, &h,
		    sl__has_in(call, at.mask) ||
			    sl__has_in(call, at.extra_bias),
		    cost);
	cost->work = SL_WORK_LINEAR;
	sl__count_macs(cost, sl__times(rows, sl__in_elements(call, 1)));
	if (sl__has_in(call, at.bias))
		sl__count(cost, sl__times(rows, sl__in_dim(call, 1, 1)),
			  SL__PER(.add = 1));
}

/*
 * Q [batch][queries][heads * width]; or packed with K and V [batch][queries]
 * [heads][3][width]; K as Q, as a cache [batch][heads][keys][width], or
 * packed with V [batch][keys][heads][2][width].
 */
static int
read_multi_head(struct heads *h, struct sl__call *call)
{
	const struct sl__type *q = sl__in(call, 0), *k = sl__in(call, 1);

	*h = (struct heads){.dtype = sl__in_dtype(call, 0), .is_flat = 1};
	if (sl__in_rank(call, 0) < 0 || (k && sl__in_rank(call, 1) < 0) ||
	    (sl__has_in(call, 2) && sl__in_rank(call, 2) < 0))
		return 0;
	if ((q->rank != 3 && q->rank != 5) ||
	    (k && (k->rank < 3 || k->rank > 5))) {
		sl__refuse(call, "queries of %s and keys of %s",
			   sl__in_text(call, 0), sl__in_text(call, 1));
		return 0;
	}
	h->batch = q->dims[0];
	h->queries = h->fresh = q->dims[1];
	h->n_heads = h->n_kv_heads = sl__int(call->node, "num_heads", 0);
	h->width = share(call,
			 q->rank == 5 ? sl__size_mul(call->shapes, h->n_heads,
						     q->dims[4])
				      : q->dims[2],
			 h->n_heads);
	h->value_width = sl__dim_or(call, 2, 4, 3, h->width);
	if (sl__in_rank(call, 2) == 3)
		h->value_width =
			share(call, sl__in(call, 2)->dims[2], h->n_heads);
	if (k)
		h->fresh = k->dims[k->rank == 4 ? 2 : 1];
	return end_heads(h, call, sl__dim_or(call, 6, 4, 2, 0));
}

enum sl_status
sl__infer_multi_head(struct sl__call *call)
{
	struct heads h;

	return read_multi_head(&h, call) ? say_heads(call, &h)
					 : say_dtypes(call, h.dtype);
}

void
sl__cost_multi_head(struct sl__call *call, struct sl_cost *cost)
{
	struct heads h;

	if (!read_multi_head(&h, call)) {
		sl__cost_unknown(call, cost);
		return;
	}
	count_heads(call, &h, sl__has_in(call, 4) || sl__has_in(call, 5), cost);
	if (sl__has_in(call, 3)) /* added to Q, K and V */
		sl__count(cost,
			  sl__times(sl__in_elements(call, 3),
				    sl__times((uint64_t)h.batch,
					      (uint64_t)h.queries)),
			  SL__PER(.add = 1));
}

enum { GROUP_PAST = 3, GROUP_TOTAL = 6, GROUP_COS = 7 };

/* The cache has room for all tokens or grows by the fresh ones; which of the
 * two, total_sequence_length says if it is known. */
static int
read_group(struct heads *h, struct sl__call *call)
{
	const struct sl__type *q = sl__in(call, 0);
	const int64_t *total;
	size_t n;

	*h = (struct heads){.dtype = sl__in_dtype(call, 0), .is_flat = 1};
	if (sl__in_rank(call, 0) < 0)
		return 0;
	h->n_heads = sl__int(call->node, "num_heads", 0);
	h->n_kv_heads = sl__int(call->node, "kv_num_heads", 0);
	if (q->rank != 3)
		sl__refuse(call, "queries of %s", sl__in_text(call, 0));
	if (h->n_heads > INT32_MAX || h->n_kv_heads > INT32_MAX)
		sl__refuse(call, "%lld heads", (long long)h->n_heads);
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
	h->fresh = sl__dim_or(call, 1, 3, 1, h->queries);
	end_heads(h, call, sl__dim_or(call, GROUP_PAST, 4, 2, 0));
	if (sl__in_integers(call, GROUP_TOTAL, &total, &n) && n == 1 &&
	    total[0] > 0)
		h->total = total[0];
	else
		h->is_cache_estimated = h->past != 0;
	return !call->failure;
}

enum sl_status
sl__infer_group_query(struct sl__call *call)
{
	struct heads h;

	if (!read_group(&h, call))
		return say_dtypes(call, h.dtype);
	/* A cache with room for more stays as long as it is. */
	if (!sl__is_symbol(h.past) && !sl__is_symbol(h.total) &&
	    h.past > h.total)
		h.total = h.past;
	return say_heads(call, &h);
}

void
sl__cost_group_query(struct sl__call *call, struct sl_cost *cost)
{
	struct heads h;

	if (!read_group(&h, call)) {
		sl__cost_unknown(call, cost);
		return;
	}
	count_heads(call, &h, 0, cost);
	if (sl__int(call->node, "do_rotary", 0) && sl__has_in(call, GROUP_COS))
		sl__count(cost,
			  sl__times(sl__times((uint64_t)h.batch,
					      (uint64_t)h.queries),
				    sl__times((uint64_t)(h.n_heads +
							 h.n_kv_heads),
					      (uint64_t)h.width)),
			  SL__PER(.mul = 1, .fma = 1));
	if (h.is_cache_estimated)
		sl__cost_estimate(cost, "as if the whole cache were in use");
}

/* Q, K, V packed [batch][tokens][heads * width]; the state is a matrix a
 * head, [batch][n_kv_heads][width][value_width]. */
static int
read_linear(struct heads *h, struct sl__call *call)
{
	*h = (struct heads){.dtype = sl__in_dtype(call, 0)};
	if (sl__in_rank(call, 0) < 0 || sl__in_rank(call, 1) < 0 ||
	    sl__in_rank(call, 2) < 0)
		return 0;
	for (size_t i = 0; i < 3; i++) {
		if (sl__in_rank(call, i) != 3)
			sl__refuse(call, "queries of %s", sl__in_text(call, 0));
	}
	if (call->failure)
		return 0;
	h->batch = sl__in(call, 0)->dims[0];
	read_flat(h, call);
	return !call->failure;
}

enum sl_status
sl__infer_linear_attention(struct sl__call *call)
{
	struct heads h;

	if (!read_linear(&h, call))
		return say_dtypes(call, h.dtype);
	say_flat(call, &h);
	return sl__out(
		call, 1, h.dtype, 4,
		(int64_t[]){h.batch, h.n_kv_heads, h.width, h.value_width});
}

/* Per token and head, each element of the state: one product to renew it, one
 * to look at it, one more where the rule corrects by what is there, and a
 * factor where it fades; then the scale. */
void
sl__cost_linear_attention(struct sl__call *call, struct sl_cost *cost)
{
	const char *rule = sl__word(call->node, "update_rule", "gated_delta");
	uint64_t n_renewed = strstr(rule, "delta") ? 2 : 1, states;
	struct heads h;

	if (!read_linear(&h, call)) {
		sl__cost_unknown(call, cost);
		return;
	}
	states = sl__times(
		sl__times((uint64_t)h.batch, (uint64_t)h.queries),
		sl__times((uint64_t)h.width, (uint64_t)h.value_width));
	cost->work = SL_WORK_PRODUCT;
	sl__count_macs(
		cost,
		sl__times(states,
			  sl__plus(sl__times(n_renewed, (uint64_t)h.n_kv_heads),
				   (uint64_t)h.n_heads)));
	if (strstr(rule, "gated"))
		cost->mul = sl__times(states, (uint64_t)h.n_kv_heads);
	sl__count(cost, cost->out_elements, SL__PER(.mul = 1));
	cost->exp = sl__in_elements(call, 4);
}

/* Each turned element is x cos + y sin: a product and a fused one.  The
 * caches hold one half of the turned width. */
void
sl__cost_rotary(struct sl__call *call, struct sl_cost *cost)
{
	const struct sl__type *x = sl__in(call, 0);
	size_t cache = sl__is_op(call->node, SL__OP_MS_RotaryEmbedding) ? 2 : 1;
	uint64_t turned = sl__times(2, sl__in_dim(call, cache, -1));
	uint64_t width = sl__in_dim(call, 0, -1);
	int64_t n_heads = sl__int(call->node, "num_heads", 0);

	if (x && x->rank == 3)
		width = n_heads > 0 ? width / (uint64_t)n_heads : turned;
	if (width == 0 || turned > width)
		turned = width;
	cost->mul = width ? sl__times(cost->in_elements / width, turned) : 0;
	cost->fma = cost->mul;
}
