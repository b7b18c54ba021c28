/* SPDX-License-Identifier: Apache-2.0 */
/*
 * op_norm.c - normalizations.
 *
 * Most are one formula over different rows: subtract the row's mean, divide
 * by its deviation, scale and shift.  What a row is, is all that layer,
 * instance, group and mean-variance normalization differ in.
 */
#include "graph/op_rules.h"
#include "ops/cost.h"

#include <string.h>

#include "base/banned.h"

/* Inputs 'first' to 'last' are vectors with one number per channel. */
static void
check_per_channel(struct sl__rule_context *call, size_t first, size_t last)
{
	const struct sl__type *in = sl__in_type(call, 0);

	for (size_t i = first; i <= last; i++) {
		const struct sl__type *v = sl__in_type(call, i);

		if (sl__in_rank(call, i) >= 0 &&
		    (v->rank != 1 ||
		     sl__sizes_differ(v->dims[0],
				      in->rank > 1 ? in->dims[1] : 1)))
			sl__rule_reject(
				call,
				"input %zu is %s where one number for each "
				"channel of %s belongs",
				i, sl__in_shape_text(call, i),
				sl__in_shape_text(call, 0));
	}
}

/* Statistics per channel, of the type of the mean that goes in. */
enum sl_status
sl__infer_batch_norm(struct sl__rule_context *call)
{
	const struct sl__type *in = sl__in_type(call, 0);
	int64_t n_channels;

	sl__out_set_like_input(call, 0, 0, SL_DTYPE_NONE);
	if (sl__in_rank(call, 0) < 0)
		return call->failure;
	/* Early versions may have statistics of each element instead. */
	if (sl__attribute_int(call->node, "spatial", 1))
		check_per_channel(call, 1, 4);
	n_channels = in->rank > 1 ? in->dims[1] : 1;
	for (size_t k = 1; k < call->node->n_outputs; k++)
		sl__out_set_shape(call, k, sl__in_dtype(call, 3), 1,
				  &n_channels);
	return call->failure;
}

/* Scale and bias are per group in the first version, then per channel. */
enum sl_status
sl__infer_group_norm(struct sl__rule_context *call)
{
	const struct sl__type *in = sl__in_type(call, 0);
	int64_t n_groups = sl__attribute_int(call->node, "num_groups", 1);

	sl__out_set_like_input(call, 0, 0, SL_DTYPE_NONE);
	if (sl__in_rank(call, 0) < 2)
		return call->failure;
	if (n_groups < 1 ||
	    (!sl__is_symbol(in->dims[1]) && in->dims[1] % n_groups))
		sl__rule_reject(call, "%lld channels do not make %lld groups",
				(long long)in->dims[1], (long long)n_groups);
	if (call->node->version >= 21)
		check_per_channel(call, 1, 2);
	return call->failure;
}

/* One with a mean and a deviation, or, where the mean is not subtracted, with
 * the latter alone: one for each row, input 0 with 1 from the axis on. */
enum sl_status
sl__infer_layer_norm(struct sl__rule_context *call)
{
	const struct sl__type *in = sl__in_type(call, 0);
	int64_t stash =
		sl__attribute_int(call->node, "stash_type", SL_DTYPE_F32);
	int64_t *dims;
	int axis;

	sl__out_set_like_input(call, 0, 0, SL_DTYPE_NONE);
	if (sl__in_rank(call, 0) < 0)
		return call->failure;
	axis = sl__axis_require(call, sl__attribute_int(call->node, "axis", -1),
				in->rank);
	dims = sl__sizes_copy_from_input(call, 0);
	if (stash < 0 || stash >= SL_N_DTYPES)
		stash = SL_DTYPE_F32;
	for (int d = axis; !call->failure && d < in->rank; d++)
		dims[d] = 1;
	for (size_t k = 1; k <= 2; k++)
		sl__out_set_shape(call, k, (enum sl_dtype)stash, in->rank,
				  dims);
	return call->failure;
}

enum sl_status
sl__infer_rms_norm(struct sl__rule_context *call)
{
	return sl__out_set_like_input(call, 0, 0, sl__in_dtype(call, 1));
}

/* The sum that is normalized may be asked for as well. */
enum sl_status
sl__infer_skip_layer_norm(struct sl__rule_context *call)
{
	sl__infer_layer_norm(call);
	return sl__out_set_like_input(call, 3, 0, SL_DTYPE_NONE);
}

/* Ids [batch, seq] to rows [batch, seq, hidden]; the length of each text;
 * perhaps the sum before it is normalized. */
enum sl_status
sl__infer_embed_layer_norm(struct sl__rule_context *call)
{
	const struct sl__type *ids = sl__in_type(call, 0),
			      *table = sl__in_type(call, 2);
	enum sl_dtype dtype = sl__in_dtype(call, 2);
	int64_t dims[3];

	if (sl__in_rank(call, 0) < 0 || sl__in_rank(call, 2) < 0)
		return sl__out_set_dtype_only(call, 0, dtype);
	if (ids->rank != 2 || table->rank != 2)
		return sl__rule_reject(
			call,
			"ids of rank %d, a table of rank %d; both "
			"are 2",
			ids->rank, table->rank);
	dims[0] = ids->dims[0];
	dims[1] = ids->dims[1];
	dims[2] = table->dims[1];
	sl__out_set_shape(call, 0, dtype, 3, dims);
	sl__out_set_shape(call, 1, SL_DTYPE_I32, 1, dims);
	return sl__out_set_shape(call, 2, dtype, 3, dims);
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
	sl__cost_add_operations(cost, n,
				SL__OPERATIONS_EACH(.add = 3, .mul = 2));
	sl__cost_add_operations(
		cost, n_rows,
		SL__OPERATIONS_EACH(.add = 1, .div = 3, .exp = 1));
}

static void
cost_scale(struct sl_cost *cost, int has_bias)
{
	sl__cost_add_operations(cost, cost->in_elements,
				has_bias ? SL__OPERATIONS_EACH(.fma = 1)
					 : SL__OPERATIONS_EACH(.mul = 1));
}

/* Elements of input 0 over those of a row, which starts at 'axis'. */
static uint64_t
rows_before(struct sl__rule_context *call, int axis)
{
	uint64_t n = 1;

	for (int d = 0; d < axis; d++)
		n = sl__saturating_mul(n, sl__in_dim(call, 0, d));
	return n;
}

static uint64_t
layer_rows(struct sl__rule_context *call)
{
	int rank = sl__in_rank(call, 0);

	return rows_before(
		call, sl__axis_normalize(
			      sl__attribute_int(call->node, "axis", -1), rank));
}

void
sl__cost_layer_norm(struct sl__rule_context *call, struct sl_cost *cost)
{
	cost_rows(cost, cost->in_elements, layer_rows(call));
	cost_scale(cost, sl__has_in(call, 2));
}

/* x / sqrt(mean(x x) + epsilon) * scale: nothing is subtracted. */
void
sl__cost_rms_norm(struct sl__rule_context *call, struct sl_cost *cost)
{
	cost->work = SL_WORK_LAYER_NORM;
	sl__cost_add_operations(cost, cost->in_elements,
				SL__OPERATIONS_EACH(.add = 1, .mul = 3));
	sl__cost_add_operations(
		cost, layer_rows(call),
		SL__OPERATIONS_EACH(.add = 1, .div = 2, .exp = 1));
}

/* Input and skip are added first, and a bias where there is one. */
void
sl__cost_skip_layer_norm(struct sl__rule_context *call, struct sl_cost *cost)
{
	cost_rows(cost, cost->in_elements, layer_rows(call));
	cost_scale(cost, sl__has_in(call, 3));
	sl__cost_add_operations(
		cost, cost->in_elements,
		SL__OPERATIONS_EACH(.add = sl__has_in(call, 4) ? 2 : 1));
}

void
sl__cost_skip_rms_norm(struct sl__rule_context *call, struct sl_cost *cost)
{
	sl__cost_rms_norm(call, cost);
	sl__cost_add_operations(
		cost, cost->in_elements,
		SL__OPERATIONS_EACH(.add = sl__has_in(call, 3) ? 2 : 1));
}

/* Whether input i, of those that are tables, came up before: its bytes stand
 * in the cost once. */
static int
is_table_again(struct sl__rule_context *call, size_t i)
{
	for (size_t k = 2; k < i; k++) {
		if (call->node->inputs[k] == call->node->inputs[i])
			return 1;
	}
	return 0;
}

/* A table of embeddings gives as many rows as the output has, not all. */
static void
read_rows(struct sl__rule_context *call, struct sl_cost *cost, size_t i)
{
	uint64_t *bytes = &cost->read_bytes, all, rows;
	struct sl__type taken;

	if (!sl__has_in(call, i) || is_table_again(call, i) ||
	    !sl__type_bytes(sl__in_type(call, i), &all) ||
	    !call->node->n_outputs || call->node->outputs[0] == SL__NONE)
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
sl__cost_embed_layer_norm(struct sl__rule_context *call, struct sl_cost *cost)
{
	cost_rows(cost, cost->out_elements, sl__in_elements(call, 0));
	cost_scale(cost, sl__has_in(call, 6));
	sl__cost_add_operations(
		cost, cost->out_elements,
		SL__OPERATIONS_EACH(.add = sl__has_in(call, 4) ? 2 : 1));
	for (size_t i = 2; i <= 4; i++)
		read_rows(call, cost, i);
}

void
sl__cost_instance_norm(struct sl__rule_context *call, struct sl_cost *cost)
{
	cost_rows(cost, cost->in_elements, rows_before(call, 2));
	cost_scale(cost, 1);
}

void
sl__cost_group_norm(struct sl__rule_context *call, struct sl_cost *cost)
{
	int64_t n_groups = sl__attribute_int(call->node, "num_groups", 1);

	cost_rows(cost, cost->in_elements,
		  sl__saturating_mul(sl__in_dim(call, 0, 0),
				     n_groups > 0 ? (uint64_t)n_groups : 1));
	cost_scale(cost, 1);
}

/* Rows are what the axes leave; by default one for each channel.  No scale. */
void
sl__cost_mean_variance_norm(struct sl__rule_context *call, struct sl_cost *cost)
{
	static const int64_t usual[] = {0, 2, 3};
	const int64_t *axes;
	size_t n_axes = sl__attribute_ints(call->node, "axes", &axes);
	int rank = sl__in_rank(call, 0);
	uint64_t n_rows = 1;

	if (!n_axes) {
		axes = usual;
		n_axes = 3;
	}
	for (int d = 0; d < rank; d++) {
		int is_axis = 0;

		for (size_t i = 0; i < n_axes; i++)
			is_axis |= sl__axis_normalize(axes[i], rank) == d;
		if (!is_axis)
			n_rows = sl__saturating_mul(n_rows,
						    sl__in_dim(call, 0, d));
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
sl__cost_batch_norm(struct sl__rule_context *call, struct sl_cost *cost)
{
	const struct sl__node *node = call->node;
	uint64_t n = cost->in_elements;
	uint64_t n_channels = sl__in_elements(call, 1);
	int is_training =
		node->version < 14
			? node->n_outputs > 1
			: sl__attribute_int(node, "training_mode", 0) != 0;

	cost->work = SL_WORK_BATCH_NORM;
	sl__cost_add_operations(cost, n, SL__OPERATIONS_EACH(.fma = 1));
	if (!is_training)
		return;
	sl__cost_add_operations(cost, n,
				SL__OPERATIONS_EACH(.fma = 1, .add = 2));
	sl__cost_add_operations(cost, n_channels,
				SL__OPERATIONS_EACH(.add = 1, .fma = 2,
						    .mul = 2, .div = 3,
						    .exp = 1));
}

/* x / sum(|x|), or x / sqrt(sum(x x)), along one axis. */
void
sl__cost_lp_norm(struct sl__rule_context *call, struct sl_cost *cost)
{
	uint64_t n = cost->in_elements;
	int axis = sl__axis_normalize(sl__attribute_int(call->node, "axis", -1),
				      sl__in_rank(call, 0));
	uint64_t length = sl__in_dim(call, 0, axis < 0 ? -1 : axis);
	uint64_t n_rows = length ? n / length : 0;

	cost->add = n - n_rows;
	cost->div = n;
	if (sl__attribute_int(call->node, "p", 2) == 1) {
		cost->cmp = n;
	} else {
		cost->mul = n;
		cost->exp = n_rows;
	}
}

/* x / (bias + a sum(x x))^beta, the sum over 'size' channels around it; the
 * squares are taken once. */
void
sl__cost_lrn(struct sl__rule_context *call, struct sl_cost *cost)
{
	int64_t size = sl__attribute_int(call->node, "size", 1);

	sl__cost_add_operations(
		cost, cost->in_elements,
		SL__OPERATIONS_EACH(.mul = 1, .fma = 1, .exp = 1, .div = 1,
				    .add = size > 0 ? (uint64_t)size - 1 : 0));
}
