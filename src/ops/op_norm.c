/* SPDX-License-Identifier: Apache-2.0 */
/*
 * op_norm.c - normalizations.
 *
 * Most are one formula over different rows: subtract the row's mean, divide
 * by its deviation, scale and shift.  What a row is, is all that layer,
 * instance, group and mean-variance normalization differ in.
 */
#include "base/status.h"
#include "graph/op_rules.h"
#include "ops/cost.h"

#include <string.h>

#include "base/banned.h"

/* Inputs 'first' to 'last' are vectors with one number per channel. */
static enum sl_status
check_per_channel(const struct sl__call *call, size_t first, size_t last,
		  struct sl_error *err)
{
	static const int64_t one = 1;
	const struct sl__type *in = sl__in(call, 0);
	int64_t n = in->rank > 1 ? in->dims[1] : one;

	for (size_t i = first; i <= last; i++) {
		const struct sl__type *v = sl__in(call, i);

		if (sl__in_rank(call, i) < 0)
			continue;
		if (v->rank != 1 || sl__sizes_differ(v->dims[0], n))
			return sl__refuse(err,
					  "input %zu is %s where one number "
					  "for each channel of %s belongs",
					  i, sl__type_text(call->shapes, v),
					  sl__type_text(call->shapes, in));
	}
	return SL_OK;
}

/* Statistics per channel, of the type of the mean that goes in. */
enum sl_status
sl__infer_batch_norm(const struct sl__call *call, struct sl_error *err)
{
	const struct sl__type *in = sl__in(call, 0);
	enum sl_dtype dtype = sl__in_dtype(call, 3);
	enum sl_status rc = sl__out_like(call, 0, 0, SL_DTYPE_NONE, err);
	int64_t n_channels = 1;

	/* Early versions may have statistics of each element instead. */
	if (!rc && sl__in_rank(call, 0) >= 0 &&
	    sl__int(call->node, "spatial", 1))
		rc = check_per_channel(call, 1, 4, err);
	if (sl__in_rank(call, 0) < 0 || call->node->n_outputs < 2)
		return rc;
	if (in->rank > 1)
		n_channels = in->dims[1];
	for (size_t k = 1; !rc && k < call->node->n_outputs; k++)
		rc = sl__out(call, k, dtype, 1, &n_channels, err);
	return rc;
}

/* Scale and bias are per group in the first version, then per channel. */
enum sl_status
sl__infer_group_norm(const struct sl__call *call, struct sl_error *err)
{
	const struct sl__type *in = sl__in(call, 0);
	int64_t n_groups = sl__int(call->node, "num_groups", 1);
	enum sl_status rc = sl__out_like(call, 0, 0, SL_DTYPE_NONE, err);

	if (rc || sl__in_rank(call, 0) < 2)
		return rc;
	if (n_groups < 1 ||
	    (!sl__is_symbol(in->dims[1]) && in->dims[1] % n_groups))
		return sl__refuse(err, "%lld channels do not make %lld groups",
				  (long long)in->dims[1], (long long)n_groups);
	return call->node->version < 21 ? SL_OK
					: check_per_channel(call, 1, 2, err);
}

/* The axis where the normalized dimensions start. */
static enum sl_status
first_axis(const struct sl__call *call, int *axis, struct sl_error *err)
{
	int64_t given = sl__int(call->node, "axis", -1);
	int rank = sl__in_rank(call, 0);

	*axis = sl__axis(given, rank);
	if (*axis < 0)
		return sl__refuse(err, "axis %lld is not one of %d dimensions",
				  (long long)given, rank);
	return SL_OK;
}

/* Outputs 'first' to 'last' are statistics, one for each row: input 0 with 1
 * from 'axis' on. */
static enum sl_status
out_row_statistics(const struct sl__call *call, int axis, size_t first,
		   size_t last, struct sl_error *err)
{
	const struct sl__type *in = sl__in(call, 0);
	int64_t stash = sl__int(call->node, "stash_type", SL_DTYPE_F32);
	int64_t *dims = sl__new_sizes(call, (size_t)in->rank);
	enum sl_status rc = SL_OK;

	if (!dims)
		return sl__fail_nomem(err);
	if (stash < 0 || stash >= SL_N_DTYPES)
		stash = SL_DTYPE_F32;
	for (int d = 0; d < in->rank; d++)
		dims[d] = d < axis ? in->dims[d] : 1;
	for (size_t k = first; !rc && k <= last; k++)
		rc = sl__out(call, k, (enum sl_dtype)stash, in->rank, dims,
			     err);
	return rc;
}

/* One with a mean and a deviation, or, where the mean is not subtracted, with
 * the latter alone. */
enum sl_status
sl__infer_layer_norm(const struct sl__call *call, struct sl_error *err)
{
	enum sl_status rc = sl__out_like(call, 0, 0, SL_DTYPE_NONE, err);
	int axis;

	if (rc || sl__in_rank(call, 0) < 0)
		return rc;
	rc = first_axis(call, &axis, err);
	return rc ? rc : out_row_statistics(call, axis, 1, 2, err);
}

enum sl_status
sl__infer_rms_norm(const struct sl__call *call, struct sl_error *err)
{
	enum sl_dtype dtype = sl__in_dtype(call, 1);

	return sl__out_like(call, 0, 0, dtype, err);
}

/* The sum that is normalized may be asked for as well. */
enum sl_status
sl__infer_skip_layer_norm(const struct sl__call *call, struct sl_error *err)
{
	enum sl_status rc = sl__infer_layer_norm(call, err);

	return rc ? rc : sl__out_like(call, 3, 0, SL_DTYPE_NONE, err);
}

/* Ids [batch, seq] to rows [batch, seq, hidden]; the length of each text;
 * perhaps the sum before it is normalized. */
enum sl_status
sl__infer_embed_layer_norm(const struct sl__call *call, struct sl_error *err)
{
	const struct sl__type *ids = sl__in(call, 0), *table = sl__in(call, 2);
	enum sl_dtype dtype = sl__in_dtype(call, 2);
	int64_t dims[3];
	enum sl_status rc;

	if (sl__in_rank(call, 0) < 0 || sl__in_rank(call, 2) < 0)
		return sl__out(call, 0, dtype, -1, NULL, err);
	if (ids->rank != 2 || table->rank != 2)
		return sl__refuse(err,
				  "ids of rank %d, a table of rank %d; "
				  "both are 2",
				  ids->rank, table->rank);
	dims[0] = ids->dims[0];
	dims[1] = ids->dims[1];
	dims[2] = table->dims[1];
	rc = sl__out(call, 0, dtype, 3, dims, err);
	if (!rc)
		rc = sl__out(call, 1, SL_DTYPE_I32, 1, dims, err);
	return rc ? rc : sl__out(call, 2, dtype, 3, dims, err);
}

/*
 * y = (x - mean) / sqrt(variance + epsilon) * scale + bias.  Per element: the
 * sum (add), the difference (add), its square (mul), their sum (add), the
 * product with the row's factor (mul), scale and bias (fma; mul without bias;
 * nothing without scale).  Per row: two means and a reciprocal (div), epsilon
 * (add), a root (exp).
 */
static void
cost_rows(struct sl_cost *cost, uint64_t n, uint64_t n_rows)
{
	cost->work = SL_WORK_LAYER_NORM;
	cost->in_elements = n;
	cost->add = sl__plus(sl__times(n, 3), n_rows);
	cost->mul = sl__times(n, 2);
	cost->div = sl__times(n_rows, 3);
	cost->exp = n_rows;
}

static void
cost_scale(struct sl_cost *cost, int has_bias)
{
	if (has_bias)
		cost->fma = cost->in_elements;
	else
		cost->mul = sl__plus(cost->mul, cost->in_elements);
}

/* Elements of input 0 over those of a row, which starts at 'axis'. */
static uint64_t
rows_before(const struct sl__call *call, int axis)
{
	uint64_t n = 1;

	for (int d = 0; d < axis; d++)
		n = sl__times(n, sl__in_dim(call, 0, d));
	return n;
}

static uint64_t
layer_rows(const struct sl__call *call)
{
	int rank = sl__in_rank(call, 0);

	return rows_before(call,
			   sl__axis(sl__int(call->node, "axis", -1), rank));
}

void
sl__cost_layer_norm(const struct sl__call *call, struct sl_cost *cost)
{
	cost_rows(cost, cost->in_elements, layer_rows(call));
	cost_scale(cost, sl__has_in(call, 2));
}

/* x / sqrt(mean(x x) + epsilon) * scale: nothing is subtracted. */
void
sl__cost_rms_norm(const struct sl__call *call, struct sl_cost *cost)
{
	uint64_t n = cost->in_elements, n_rows = layer_rows(call);

	cost->work = SL_WORK_LAYER_NORM;
	cost->add = sl__plus(n, n_rows);
	cost->mul = sl__times(n, 3);
	cost->div = sl__times(n_rows, 2);
	cost->exp = n_rows;
}

/* Input and skip are added first, and a bias where there is one. */
void
sl__cost_skip_layer_norm(const struct sl__call *call, struct sl_cost *cost)
{
	cost_rows(cost, cost->in_elements, layer_rows(call));
	cost_scale(cost, sl__has_in(call, 3));
	cost->add = sl__plus(cost->add, sl__times(cost->in_elements,
						  sl__has_in(call, 4) ? 2 : 1));
}

void
sl__cost_skip_rms_norm(const struct sl__call *call, struct sl_cost *cost)
{
	sl__cost_rms_norm(call, cost);
	cost->add = sl__plus(cost->add, sl__times(cost->in_elements,
						  sl__has_in(call, 3) ? 2 : 1));
}

/* Whether input i, of those that are tables, came up before: its bytes stand
 * in the cost once. */
static int
is_table_again(const struct sl__call *call, size_t i)
{
	for (size_t k = 2; k < i; k++) {
		if (call->node->inputs[k] == call->node->inputs[i])
			return 1;
	}
	return 0;
}

/* A table of embeddings gives as many rows as the output has, not all. */
static void
read_rows(const struct sl__call *call, struct sl_cost *cost, size_t i)
{
	uint64_t *bytes = &cost->read_bytes, all, rows;
	struct sl__type taken;

	if (!sl__has_in(call, i) || is_table_again(call, i) ||
	    !sl__type_bytes(sl__in(call, i), &all) || !call->node->n_outputs ||
	    call->node->outputs[0] == SL__NONE)
		return;
	taken = call->shapes->types[call->node->outputs[0]];
	taken.dtype = sl__in_dtype(call, i);
	if (!sl__type_bytes(&taken, &rows) || rows >= all)
		return;
	if (call->shapes->graph->values[call->node->inputs[i]].tensor)
		bytes = &cost->weight_bytes;
	if (*bytes >= all)
		*bytes -= all - rows;
}

/* Rows for words, places and, where there are any, segments are added up and
 * normalized. */
void
sl__cost_embed_layer_norm(const struct sl__call *call, struct sl_cost *cost)
{
	uint64_t n = cost->out_elements;

	cost_rows(cost, n, sl__in_elements(call, 0));
	cost_scale(cost, sl__has_in(call, 6));
	cost->add =
		sl__plus(cost->add, sl__times(n, sl__has_in(call, 4) ? 2 : 1));
	for (size_t i = 2; i <= 4; i++)
		read_rows(call, cost, i);
}

void
sl__cost_instance_norm(const struct sl__call *call, struct sl_cost *cost)
{
	cost_rows(cost, cost->in_elements, rows_before(call, 2));
	cost_scale(cost, 1);
}

void
sl__cost_group_norm(const struct sl__call *call, struct sl_cost *cost)
{
	int64_t n_groups = sl__int(call->node, "num_groups", 1);

	cost_rows(cost, cost->in_elements,
		  sl__times(sl__in_dim(call, 0, 0),
			    n_groups > 0 ? (uint64_t)n_groups : 1));
	cost_scale(cost, 1);
}

/* Rows are what the axes leave; by default one for each channel.  No scale. */
void
sl__cost_mean_variance_norm(const struct sl__call *call, struct sl_cost *cost)
{
	static const int64_t usual[] = {0, 2, 3};
	const int64_t *axes;
	size_t n_axes = sl__ints(call->node, "axes", &axes);
	int rank = sl__in_rank(call, 0);
	uint64_t n_rows = 1;

	if (!n_axes) {
		axes = usual;
		n_axes = 3;
	}
	for (int d = 0; d < rank; d++) {
		int is_axis = 0;

		for (size_t i = 0; i < n_axes; i++)
			is_axis |= sl__axis(axes[i], rank) == d;
		if (!is_axis)
			n_rows = sl__times(n_rows, sl__in_dim(call, 0, d));
	}
	cost_rows(cost, cost->in_elements, n_rows);
}

/*
 * In inference scale, bias, mean and variance are constants: y = x a + b, one
 * fma an element.  In training mean and variance are the batch's: the sum
 * (add), the difference (add), its square into a sum (fma) come first, and
 * per channel three divisions, a root, and two running averages (mul, fma).
 */
void
sl__cost_batch_norm(const struct sl__call *call, struct sl_cost *cost)
{
	const struct sl__node *node = call->node;
	uint64_t n = cost->in_elements;
	uint64_t n_channels = sl__in_elements(call, 1);
	int is_training = node->version < 14
				  ? node->n_outputs > 1
				  : sl__int(node, "training_mode", 0) != 0;

	cost->work = SL_WORK_BATCH_NORM;
	cost->fma = n;
	if (!is_training)
		return;
	cost->add = sl__plus(sl__times(n, 2), n_channels);
	cost->fma = sl__plus(sl__times(n, 2), sl__times(n_channels, 2));
	cost->mul = sl__times(n_channels, 2);
	cost->div = sl__times(n_channels, 3);
	cost->exp = n_channels;
}

/* x / sum(|x|), or x / sqrt(sum(x x)), along one axis. */
void
sl__cost_lp_norm(const struct sl__call *call, struct sl_cost *cost)
{
	uint64_t n = cost->in_elements;
	int axis =
		sl__axis(sl__int(call->node, "axis", -1), sl__in_rank(call, 0));
	uint64_t length = sl__in_dim(call, 0, axis < 0 ? -1 : axis);
	uint64_t n_rows = length ? n / length : 0;

	cost->add = n - n_rows;
	cost->div = n;
	if (sl__int(call->node, "p", 2) == 1) {
		cost->cmp = n;
	} else {
		cost->mul = n;
		cost->exp = n_rows;
	}
}

/* x / (bias + a sum(x x))^beta, the sum over 'size' channels around it; the
 * squares are taken once. */
void
sl__cost_lrn(const struct sl__call *call, struct sl_cost *cost)
{
	int64_t size = sl__int(call->node, "size", 1);
	uint64_t n = cost->in_elements;

	cost->mul = cost->fma = cost->exp = cost->div = n;
	cost->add = sl__times(n, size > 0 ? (uint64_t)size - 1 : 0);
}
