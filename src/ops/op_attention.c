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

/* A dimension of an input of the given rank; otherwise where it has
 * another or none. */
static int64_t
dim_or(const struct sl__call *call, size_t i, int rank, int d,
       int64_t otherwise)
{
	return sl__in_rank(call, i) == rank ? sl__in(call, i)->dims[d]
					    : otherwise;
}

static enum sl_status
check_heads(const struct heads *h, struct sl_error *err)
{
	if (h->n_heads < 1 || h->n_kv_heads < 1)
		return sl__refuse(err, "the number of heads is missing");
	if (sl__sizes_differ(h->n_heads % h->n_kv_heads, 0))
		return sl__refuse(
			err,
			"%lld heads of queries on %lld of keys do not "
			"come out even",
			(long long)h->n_heads, (long long)h->n_kv_heads);
	return SL_OK;
}

/* size / n, where that must come out even. */
static enum sl_status
share(int64_t *out, const struct sl__call *call, int64_t size, int64_t n,
      struct sl_error *err)
{
	if (n < 1)
		return sl__refuse(err, "the number of heads is missing");
	if (!sl__is_symbol(size) && size % n)
		return sl__refuse(err,
				  "a width of %lld over %lld heads does not "
				  "come out even",
				  (long long)size, (long long)n);
	*out = sl__size_div(call->shapes, size, n);
	return SL_OK;
}

enum { PAST_KEY = 4 };

static enum sl_status
read_flat(struct heads *h, const struct sl__call *call, struct sl_error *err)
{
	const struct sl__type *q = sl__in(call, 0), *k = sl__in(call, 1);
	const struct sl__type *v = sl__in(call, 2);
	enum sl_status rc;

	h->is_flat = 1;
	h->queries = q->dims[1];
	h->fresh = k->dims[1];
	h->n_heads = sl__int(call->node, "q_num_heads", 0);
	h->n_kv_heads = sl__int(call->node, "kv_num_heads", h->n_heads);
	rc = check_heads(h, err);
	if (!rc)
		rc = share(&h->width, call, q->dims[2], h->n_heads, err);
	return rc ? rc
		  : share(&h->value_width, call, v->dims[2], h->n_kv_heads,
			  err);
}

static enum sl_status
read_attention(struct heads *h, const struct sl__call *call, int *is_known,
	       struct sl_error *err)
{
	const struct sl__type *q = sl__in(call, 0), *k = sl__in(call, 1);
	const struct sl__type *v = sl__in(call, 2);
	int rank = sl__in_rank(call, 0);
	enum sl_status rc = SL_OK;

	memset(h, 0, sizeof(*h));
	h->dtype = sl__in_dtype(call, 0);
	*is_known = rank >= 0 && sl__in_rank(call, 1) >= 0 &&
		    sl__in_rank(call, 2) >= 0;
	if (!*is_known)
		return SL_OK;
	if ((rank != 3 && rank != 4) || k->rank != rank || v->rank != rank)
		return sl__refuse(err, "queries %s, keys %s, values %s",
				  sl__type_text(call->shapes, q),
				  sl__type_text(call->shapes, k),
				  sl__type_text(call->shapes, v));
	h->batch = q->dims[0];
	if (rank == 3) {
		rc = read_flat(h, call, err);
	} else {
		h->n_heads = q->dims[1];
		h->n_kv_heads = k->dims[1];
		h->queries = q->dims[2];
		h->fresh = k->dims[2];
		h->width = q->dims[3];
		h->value_width = v->dims[3];
		if (!sl__is_symbol(h->n_heads) && !sl__is_symbol(h->n_kv_heads))
			rc = check_heads(h, err);
	}
	h->past = dim_or(call, PAST_KEY, 4, 2, 0);
	h->total = sl__size_add(call->shapes, h->past, h->fresh);
	return rc;
}

/* The result as the queries came, and the keys and values as a cache. */
static enum sl_status
say_heads(const struct sl__call *call, const struct heads *h,
	  struct sl_error *err)
{
	int64_t flat[3] = {h->batch, h->queries, 0};
	int64_t out[4] = {h->batch, h->n_heads, h->queries, h->value_width};
	int64_t keys[4] = {h->batch, h->n_kv_heads, h->total, h->width};
	int64_t values[4] = {h->batch, h->n_kv_heads, h->total, h->value_width};
	int64_t scores[4] = {h->batch, h->n_heads, h->queries, h->total};
	enum sl_status rc;

	flat[2] = sl__size_mul(call->shapes, h->n_heads, h->value_width);
	rc = h->is_flat ? sl__out(call, 0, h->dtype, 3, flat, err)
			: sl__out(call, 0, h->dtype, 4, out, err);
	if (!rc)
		rc = sl__out(call, 1, h->dtype, 4, keys, err);
	if (!rc)
		rc = sl__out(call, 2, h->dtype, 4, values, err);
	return rc ? rc : sl__out(call, 3, h->dtype, 4, scores, err);
}

static enum sl_status
say_dtypes(const struct sl__call *call, enum sl_dtype dtype,
	   struct sl_error *err)
{
	enum sl_status rc = SL_OK;

	for (size_t k = 0; !rc && k < 4; k++)
		rc = sl__out_rankless(call, k, dtype, err);
	return rc;
}

enum sl_status
sl__infer_attention(const struct sl__call *call, struct sl_error *err)
{
	struct heads h;
	int is_known;
	enum sl_status rc = read_attention(&h, call, &is_known, err);

	if (rc)
		return rc;
	return is_known ? say_heads(call, &h, err)
			: say_dtypes(call, h.dtype, err);
}

/* The two products and the softmax between them, per score. */
static void
count_heads(const struct sl__call *call, const struct heads *h, int has_mask,
	    struct sl_cost *cost)
{
	uint64_t scores =
		sl__times(sl__times((uint64_t)h->batch, (uint64_t)h->n_heads),
			  sl__times((uint64_t)h->queries, (uint64_t)h->total));
	double cap = sl__float(call->node, "softcap", 0);

	cost->work = SL_WORK_PRODUCT;
	cost->macs = sl__times(
		scores, sl__plus((uint64_t)h->width, (uint64_t)h->value_width));
	cost->fma = cost->macs;
	cost->mul = scores;                              /* the scale */
	cost->cmp = scores;                              /* the maximum */
	cost->add = sl__times(scores, has_mask ? 3 : 2); /* minus it; sum */
	cost->exp = scores;
	cost->div = scores;
	if (cap > 0) {
		cost->exp = sl__plus(cost->exp, scores);
		cost->mul = sl__plus(cost->mul, sl__times(2, scores));
	}
}

void
sl__cost_attention(const struct sl__call *call, struct sl_cost *cost)
{
	struct heads h;
	int is_known;

	if (read_attention(&h, call, &is_known, NULL) || !is_known) {
		sl__cost_unknown(call, cost);
		return;
	}
	count_heads(call, &h, sl__has_in(call, 3), cost);
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
read_widths(int64_t widths[3], const struct sl__call *call,
	    struct sl_error *err)
{
	const int64_t *sizes;
	size_t n = sl__ints(call->node, "qkv_hidden_sizes", &sizes);
	const struct sl__type *w = sl__in(call, 1);

	if (n && n != 3)
		return sl__refuse(err,
				  "qkv_hidden_sizes has %zu numbers, "
				  "not 3",
				  n);
	if (!n && (sl__in_rank(call, 1) != 2 ||
		   (!sl__is_symbol(w->dims[1]) && w->dims[1] % 3)))
		return sl__refuse(err, "the weight's columns are not those of "
				       "Q, K and V");
	for (int i = 0; i < 3; i++) {
		widths[i] = n ? sizes[i]
			      : sl__size_div(call->shapes, w->dims[1], 3);
		if (widths[i] < 1 && (n || !sl__is_symbol(widths[i])))
			return sl__refuse(err, "a width of %lld",
					  (long long)widths[i]);
	}
	return SL_OK;
}

static enum sl_status
read_projected(struct heads *h, const struct sl__call *call, int *is_known,
	       struct sl_error *err)
{
	const struct sl__type *x = sl__in(call, 0), *w = sl__in(call, 1);
	int is_quantized = sl__is_op(call->node, SL__OP_MS_QAttention);
	int64_t widths[3] = {0};
	enum sl_status rc;

	memset(h, 0, sizeof(*h));
	h->dtype = sl__in_dtype(call, is_quantized ? 3 : 0);
	*is_known = sl__in_rank(call, 0) >= 0 && sl__in_rank(call, 1) >= 0;
	if (!*is_known)
		return SL_OK;
	if (x->rank != 3 || w->rank != 2 ||
	    sl__sizes_differ(x->dims[2], w->dims[0]))
		return sl__refuse(err, "a weight of %s does not fit rows of %s",
				  sl__type_text(call->shapes, w),
				  sl__type_text(call->shapes, x));
	rc = read_widths(widths, call, err);
	if (rc)
		return rc;
	h->is_flat = 1;
	h->batch = x->dims[0];
	h->queries = h->fresh = x->dims[1];
	h->n_heads = h->n_kv_heads = sl__int(call->node, "num_heads", 0);
	h->past = dim_or(call, projected_of(call).past, 5, 3, 0);
	h->total = sl__size_add(call->shapes, h->past, h->fresh);
	rc = share(&h->width, call, widths[0], h->n_heads, err);
	return rc ? rc
		  : share(&h->value_width, call, widths[2], h->n_heads, err);
}

enum sl_status
sl__infer_projected_attention(const struct sl__call *call, struct sl_error *err)
{
	struct heads h;
	int is_known;
	enum sl_status rc = read_projected(&h, call, &is_known, err);

	if (rc)
		return rc;
	if (!is_known)
		return say_dtypes(call, h.dtype, err);
	rc = sl__out(call, 0, h.dtype, 3,
		     (int64_t[]){h.batch, h.queries,
				 sl__size_mul(call->shapes, h.n_heads,
					      h.value_width)},
		     err);
	/* Keys and values of all tokens so far, in one tensor. */
	return rc ? rc
		  : sl__out(call, 1, h.dtype, 5,
			    (int64_t[]){2, h.batch, h.n_heads, h.total,
					h.width},
			    err);
}

/* The projections outweigh the products at all but long sequences, so the
 * whole counts as a product with a parameter. */
void
sl__cost_projected_attention(const struct sl__call *call, struct sl_cost *cost)
{
	struct projected at = projected_of(call);
	uint64_t rows =
		sl__times(sl__in_dim(call, 0, 0), sl__in_dim(call, 0, 1));
	struct heads h;
	uint64_t macs;
	int is_known;

	if (read_projected(&h, call, &is_known, NULL) || !is_known) {
		sl__cost_unknown(call, cost);
		return;
	}
	count_heads(call, &h,
		    sl__has_in(call, at.mask) ||
			    sl__has_in(call, at.extra_bias),
		    cost);
	macs = sl__times(rows, sl__in_elements(call, 1));
	cost->work = SL_WORK_LINEAR;
	cost->macs = sl__plus(cost->macs, macs);
	cost->fma = sl__plus(cost->fma, macs);
	if (sl__has_in(call, at.bias))
		cost->add = sl__plus(cost->add,
				     sl__times(rows, sl__in_dim(call, 1, 1)));
}

/*
 * Q [batch][queries][heads * width]; or packed with K and V [batch][queries]
 * [heads][3][width]; K as Q, as a cache [batch][heads][keys][width], or
 * packed with V [batch][keys][heads][2][width].
 */
static enum sl_status
read_multi_head(struct heads *h, const struct sl__call *call, int *is_known,
		struct sl_error *err)
{
	const struct sl__type *q = sl__in(call, 0), *k = sl__in(call, 1);
	int64_t hidden;
	enum sl_status rc;

	memset(h, 0, sizeof(*h));
	h->dtype = sl__in_dtype(call, 0);
	*is_known = sl__in_rank(call, 0) >= 0 &&
		    (!k || sl__in_rank(call, 1) >= 0) &&
		    (!sl__has_in(call, 2) || sl__in_rank(call, 2) >= 0);
	if (!*is_known)
		return SL_OK;
	if ((q->rank != 3 && q->rank != 5) ||
	    (k && (k->rank < 3 || k->rank > 5)))
		return sl__refuse(err, "queries of %s and keys of %s",
				  sl__type_text(call->shapes, q),
				  k ? sl__type_text(call->shapes, k) : "none");
	h->is_flat = 1;
	h->batch = q->dims[0];
	h->queries = h->fresh = q->dims[1];
	h->n_heads = h->n_kv_heads = sl__int(call->node, "num_heads", 0);
	hidden = q->rank == 5
			 ? sl__size_mul(call->shapes, h->n_heads, q->dims[4])
			 : q->dims[2];
	rc = share(&h->width, call, hidden, h->n_heads, err);
	if (rc)
		return rc;
	h->value_width = dim_or(call, 2, 4, 3, h->width);
	if (sl__in_rank(call, 2) == 3)
		rc = share(&h->value_width, call, sl__in(call, 2)->dims[2],
			   h->n_heads, err);
	if (k)
		h->fresh = k->dims[k->rank == 4 ? 2 : 1];
	h->past = dim_or(call, 6, 4, 2, 0);
	h->total = sl__size_add(call->shapes, h->past, h->fresh);
	return rc;
}

enum sl_status
sl__infer_multi_head(const struct sl__call *call, struct sl_error *err)
{
	struct heads h;
	int is_known;
	enum sl_status rc = read_multi_head(&h, call, &is_known, err);

	if (rc)
		return rc;
	return is_known ? say_heads(call, &h, err)
			: say_dtypes(call, h.dtype, err);
}

void
sl__cost_multi_head(const struct sl__call *call, struct sl_cost *cost)
{
	struct heads h;
	int is_known;

	if (read_multi_head(&h, call, &is_known, NULL) || !is_known) {
		sl__cost_unknown(call, cost);
		return;
	}
	count_heads(call, &h, sl__has_in(call, 4) || sl__has_in(call, 5), cost);
	if (sl__has_in(call, 3)) /* added to Q, K and V */
		cost->add = sl__plus(cost->add,
				     sl__times(sl__in_elements(call, 3),
					       sl__times((uint64_t)h.batch,
							 (uint64_t)h.queries)));
}

enum { GROUP_PAST = 3, GROUP_TOTAL = 6, GROUP_COS = 7 };

/* The cache has room for all tokens or grows by the fresh ones; which of the
 * two, total_sequence_length says if it is known. */
static void
read_cache(struct heads *h, const struct sl__call *call)
{
	const int64_t *total;
	size_t n;

	h->past = dim_or(call, GROUP_PAST, 4, 2, 0);
	h->total = sl__size_add(call->shapes, h->past, h->fresh);
	if (sl__in_integers(call, GROUP_TOTAL, &total, &n) && n == 1 &&
	    total[0] > 0)
		h->total = total[0];
	else
		h->is_cache_estimated = h->past != 0;
}

static enum sl_status
read_group(struct heads *h, const struct sl__call *call, int *is_known,
	   struct sl_error *err)
{
	const struct sl__type *q = sl__in(call, 0);
	int64_t n_parts;
	enum sl_status rc;

	memset(h, 0, sizeof(*h));
	h->dtype = sl__in_dtype(call, 0);
	*is_known = sl__in_rank(call, 0) >= 0;
	if (!*is_known)
		return SL_OK;
	if (q->rank != 3)
		return sl__refuse(err, "queries of %s",
				  sl__type_text(call->shapes, q));
	h->is_flat = 1;
	h->batch = q->dims[0];
	h->queries = q->dims[1];
	h->n_heads = sl__int(call->node, "num_heads", 0);
	h->n_kv_heads = sl__int(call->node, "kv_num_heads", 0);
	if (h->n_heads > INT32_MAX || h->n_kv_heads > INT32_MAX)
		return sl__refuse(err, "%lld heads", (long long)h->n_heads);
	rc = check_heads(h, err);
	if (rc)
		return rc;
	/* Without keys of their own, Q, K and V are one tensor. */
	n_parts = sl__has_in(call, 1) ? h->n_heads
				      : h->n_heads + 2 * h->n_kv_heads;
	rc = share(&h->width, call, q->dims[2], n_parts, err);
	h->value_width = h->width;
	h->fresh = dim_or(call, 1, 3, 1, h->queries);
	read_cache(h, call);
	return rc;
}

enum sl_status
sl__infer_group_query(const struct sl__call *call, struct sl_error *err)
{
	struct heads h;
	int is_known;
	enum sl_status rc = read_group(&h, call, &is_known, err);

	if (rc)
		return rc;
	if (!is_known)
		return say_dtypes(call, h.dtype, err);
	/* A cache with room for more stays as long as it is. */
	if (!sl__is_symbol(h.past) && !sl__is_symbol(h.total) &&
	    h.past > h.total)
		h.total = h.past;
	return say_heads(call, &h, err);
}

void
sl__cost_group_query(const struct sl__call *call, struct sl_cost *cost)
{
	struct heads h;
	uint64_t turned;
	int is_known;

	if (read_group(&h, call, &is_known, NULL) || !is_known) {
		sl__cost_unknown(call, cost);
		return;
	}
	count_heads(call, &h, 0, cost);
	if (sl__int(call->node, "do_rotary", 0) &&
	    sl__has_in(call, GROUP_COS)) {
		turned = sl__times(
			sl__times((uint64_t)h.batch, (uint64_t)h.queries),
			sl__times((uint64_t)(h.n_heads + h.n_kv_heads),
				  (uint64_t)h.width));
		cost->mul = sl__plus(cost->mul, turned);
		cost->fma = sl__plus(cost->fma, turned);
	}
	if (h.is_cache_estimated) {
		cost->basis = SL_BASIS_ESTIMATED;
		cost->why = "as if the whole cache were in use";
	}
}

/* Q, K, V packed [batch][tokens][heads * width]; the state is a matrix a
 * head, [batch][n_kv_heads][width][value_width]. */
static enum sl_status
read_linear(struct heads *h, const struct sl__call *call, int *is_known,
	    struct sl_error *err)
{
	memset(h, 0, sizeof(*h));
	h->dtype = sl__in_dtype(call, 0);
	*is_known = sl__in_rank(call, 0) >= 0 && sl__in_rank(call, 1) >= 0 &&
		    sl__in_rank(call, 2) >= 0;
	if (!*is_known)
		return SL_OK;
	if (sl__in_rank(call, 0) != 3 || sl__in_rank(call, 1) != 3 ||
	    sl__in_rank(call, 2) != 3)
		return sl__refuse(err, "queries of %s",
				  sl__type_text(call->shapes, sl__in(call, 0)));
	h->batch = sl__in(call, 0)->dims[0];
	return read_flat(h, call, err);
}

enum sl_status
sl__infer_linear_attention(const struct sl__call *call, struct sl_error *err)
{
	struct heads h;
	int is_known;
	enum sl_status rc = read_linear(&h, call, &is_known, err);

	if (rc)
		return rc;
	if (!is_known)
		return say_dtypes(call, h.dtype, err);
	rc = sl__out(call, 0, h.dtype, 3,
		     (int64_t[]){h.batch, h.queries,
				 sl__size_mul(call->shapes, h.n_heads,
					      h.value_width)},
		     err);
	return rc ? rc
		  : sl__out(call, 1, h.dtype, 4,
			    (int64_t[]){h.batch, h.n_kv_heads, h.width,
					h.value_width},
			    err);
}

/* Per token and head, each element of the state: one product to renew it, one
 * to look at it, one more where the rule corrects by what is there, and a
 * factor where it fades. */
void
sl__cost_linear_attention(const struct sl__call *call, struct sl_cost *cost)
{
	const char *rule = sl__word(call->node, "update_rule", "gated_delta");
	uint64_t n_renewed = strstr(rule, "delta") ? 2 : 1, states;
	struct heads h;
	int is_known;

	if (read_linear(&h, call, &is_known, NULL) || !is_known) {
		sl__cost_unknown(call, cost);
		return;
	}
	states = sl__times(
		sl__times((uint64_t)h.batch, (uint64_t)h.queries),
		sl__times((uint64_t)h.width, (uint64_t)h.value_width));
	cost->work = SL_WORK_PRODUCT;
	cost->macs = sl__times(
		states, sl__plus(sl__times(n_renewed, (uint64_t)h.n_kv_heads),
				 (uint64_t)h.n_heads));
	cost->fma = cost->macs;
	if (strstr(rule, "gated"))
		cost->mul = sl__times(states, (uint64_t)h.n_kv_heads);
	cost->mul = sl__plus(cost->mul, cost->out_elements); /* the scale */
	cost->exp = sl__in_elements(call, 4);
}

/* Each turned element is x cos + y sin: a product and a fused one.  The
 * caches hold one half of the turned width. */
void
sl__cost_rotary(const struct sl__call *call, struct sl_cost *cost)
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
