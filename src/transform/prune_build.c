/* SPDX-License-Identifier: Apache-2.0 */
/*
 * prune_build.c - a model without channels that were chosen.
 *
 * Weights lose the indices that went; so do numbers of the model that say how
 * many there are: groups of convolutions, sizes that Reshape and Split are
 * given.  Sizes that the file declares between inputs and outputs are left out.
 */
#include "base/status.h"
#include "graph/graph_construction.h"
#include "transform/prune.h"

#include <string.h>

#include "base/banned.h"

struct build {
	const struct sl__units *u;
	const unsigned char *is_removed;
	struct sl_graph *to;
	struct sl__arena *scratch;
	enum sl_status
		rc; /* of the first failure, after which nothing is done */
	struct sl_error *err;
};

static void *
allocate(struct build *b, struct sl__arena *arena, size_t n, size_t n_bytes)
{
	void *block = b->rc ? NULL : sl__arena_array(arena, n, n_bytes);

	if (!block && !b->rc)
		b->rc = sl__fail_nomem(b->err);
	return block;
}

static int
is_kept(const struct build *b, uint32_t value, int axis, int64_t i)
{
	uint32_t first = sl__units_first(b->u, value, axis);

	return first == SL__NONE ||
	       !b->is_removed[sl__units_root(b->u, first + (uint32_t)i)];
}

/* What is left of a dimension. */
static int64_t
kept_size(const struct build *b, uint32_t value, int axis)
{
	int64_t n = 0, size = sl__units_size(b->u, value, axis);

	if (sl__is_symbol(size))
		return size;
	for (int64_t i = 0; i < size; i++)
		n += is_kept(b, value, axis, i);
	return n;
}

static int
loses_any(const struct build *b, uint32_t value)
{
	for (int d = 0; d < sl__units_rank(b->u, value); d++) {
		if (kept_size(b, value, d) != sl__units_size(b->u, value, d))
			return 1;
	}
	return 0;
}

/* Copies what is kept, from dimension d on; returns where it ended. */
static unsigned char *
copy_kept(const struct build *b, uint32_t value, int d, unsigned char *to,
	  const unsigned char *from)
{
	const struct sl__tensor *t = b->u->graph->values[value].tensor;
	uint64_t n_bytes = t->n_bytes;

	for (int k = 0; k <= d; k++)
		n_bytes /= (uint64_t)t->dims[k];
	for (int64_t i = 0; i < t->dims[d]; i++) {
		const unsigned char *at = from + (uint64_t)i * n_bytes;

		if (!is_kept(b, value, d, i))
			continue;
		if ((size_t)d + 1 < t->rank) {
			to = copy_kept(b, value, d + 1, to, at);
		} else {
			memcpy(to, at, (size_t)n_bytes);
			to += n_bytes;
		}
	}
	return to;
}

static void
shrink_tensor(struct build *b, uint32_t value)
{
	const struct sl__tensor *old = b->u->graph->values[value].tensor;
	struct sl__arena_mark mark = sl__arena_mark(b->scratch);
	struct sl__tensor *t = allocate(b, &b->to->arena, 1, sizeof(*t));
	int64_t *dims = allocate(b, &b->to->arena, old->rank, sizeof(*dims));
	void *all = allocate(b, b->scratch, 1,
			     old->bytes ? 1 : (size_t)old->n_bytes);
	const void *from;
	unsigned char *bytes;

	if (b->rc)
		return;
	for (size_t d = 0; d < old->rank; d++)
		dims[d] = kept_size(b, value, (int)d);
	t->dtype = old->dtype;
	t->rank = old->rank;
	t->dims = dims;
	from = old->is_sparse || sl_dtype_bits(old->dtype) % 8
		       ? NULL
		       : sl__tensor_byte_range(old, 0, (size_t)old->n_bytes,
					       all);
	if (!from || !sl__tensor_compute_size(t)) {
		b->rc = sl__fail(b->err, SL_E_DATA,
				 "the numbers of '%.200s' cannot be read",
				 b->to->values[value].name);
		return;
	}
	bytes = allocate(b, &b->to->arena, 1, (size_t)t->n_bytes);
	if (bytes)
		copy_kept(b, value, 0, bytes, from);
	t->bytes = bytes;
	if (!b->rc)
		b->rc = sl__graph_set_tensor(b->to, value, t, b->err);
	sl__arena_rewind(b->scratch, mark);
}

/* Gives an input of a node a list of integers of its own. */
static void
set_input_list(struct build *b, uint32_t node, uint32_t input,
	       const int64_t *list, size_t n)
{
	struct sl__node *to = &b->to->nodes[node];
	uint32_t *inputs =
		allocate(b, &b->to->arena, to->n_inputs, sizeof(*inputs));
	struct sl__tensor *t = allocate(b, &b->to->arena, 1, sizeof(*t));
	int64_t *dims = allocate(b, &b->to->arena, 1, sizeof(*dims));
	unsigned char *bytes = allocate(b, &b->to->arena, n, sizeof(*list));
	char *name;
	uint32_t id;

	if (b->rc)
		return;
	name = sl__arena_format(b->scratch, "%s.sizes%zu",
				b->to->values[to->outputs[0]].name,
				b->to->n_values);
	b->rc = name ? sl__graph_add_value(b->to, &id, name, 0, b->err)
		     : sl__fail_nomem(b->err);
	if (b->rc)
		return;
	dims[0] = (int64_t)n;
	*t = (struct sl__tensor){
		.dtype = SL_DTYPE_I64, .rank = 1, .dims = dims, .bytes = bytes};
	(void)sl__tensor_compute_size(t);
	sl__store_integers(bytes, SL_DTYPE_I64, 0, n, list);
	b->to->values[id].kind = SL_VALUE_PARAMETER;
	b->to->values[id].tensor = t;
	memcpy(inputs, to->inputs, to->n_inputs * sizeof(*inputs));
	inputs[input] = id;
	to->inputs = inputs;
}

/* Replaces the integers of an attribute. */
static void
set_attribute_list(struct build *b, uint32_t node, const char *name,
		   const int64_t *list)
{
	struct sl__node *to = &b->to->nodes[node];
	struct sl__attribute *all =
		allocate(b, &b->to->arena, to->n_attributes, sizeof(*all));

	for (size_t i = 0; all && i < to->n_attributes; i++) {
		int64_t *copy;

		all[i] = to->attributes[i];
		if (strcmp(all[i].name, name))
			continue;
		copy = allocate(b, &b->to->arena, all[i].n, sizeof(*copy));
		if (!copy)
			return;
		memcpy(copy, list, all[i].n * sizeof(*copy));
		all[i].ints = copy;
	}
	if (all)
		to->attributes = all;
}

static void
rewrite_conv(struct build *b, uint32_t node, const struct sl__node *n)
{
	int64_t groups = sl__attribute_int(n, "group", 1), kept;

	/* Those of one input channel went whole. */
	if (groups == 1 || sl__units_size(b->u, n->inputs[1], 1) != 1)
		return;
	kept = kept_size(b, n->inputs[0], 1);
	if (kept != groups)
		set_attribute_list(b, node, "group", &kept);
}

static void
rewrite_reshape(struct build *b, uint32_t node, const struct sl__node *n)
{
	uint32_t x = n->inputs[0], y = n->outputs[0];
	int rank = sl__units_rank(b->u, y), is_changed = 0;
	int64_t sizes[SL__RANK_MOST];

	if ((!loses_any(b, y) && !loses_any(b, x)) ||
	    !sl__units_reshape_sizes(b->u, n, sizes))
		return;
	for (int d = 0; d < rank; d++) {
		int64_t kept = kept_size(b, y, d);
		int copies_other = sizes[d] == 0 && kept_size(b, x, d) != kept;

		if (kept == sl__units_size(b->u, y, d) && !copies_other)
			continue;
		is_changed = 1;
		sizes[d] = kept;
	}
	if (is_changed)
		set_input_list(b, node, 1, sizes, (size_t)rank);
}

static void
rewrite_split(struct build *b, uint32_t node, const struct sl__node *n)
{
	int axis = sl__axis_normalize(sl__attribute_int(n, "axis", 0),
				      sl__units_rank(b->u, n->inputs[0]));
	int64_t *sizes = allocate(b, b->scratch, n->n_outputs, sizeof(*sizes));

	if (b->rc || !loses_any(b, n->inputs[0]))
		return;
	for (uint32_t i = 0; i < n->n_outputs; i++)
		sizes[i] = kept_size(b, n->outputs[i], axis);
	if (n->n_inputs > 1 && n->inputs[1] != SL__NONE)
		set_input_list(b, node, 1, sizes, n->n_outputs);
	else
		set_attribute_list(b, node, "split", sizes);
}

static void
rewrite_node(struct build *b, uint32_t node, size_t *n_layers)
{
	const struct sl__node *n = &b->u->graph->nodes[node];

	if (b->rc || !n->op || n->block)
		return;
	*n_layers += sl__has_weights(n) &&
		     b->u->graph->values[n->inputs[1]].tensor &&
		     loses_any(b, n->inputs[1]);
	if (sl__is_op(n, SL__OP_ONNX_Conv))
		rewrite_conv(b, node, n);
	else if (sl__is_op(n, SL__OP_ONNX_Reshape))
		rewrite_reshape(b, node, n);
	else if (sl__is_op(n, SL__OP_ONNX_Split))
		rewrite_split(b, node, n);
}

/* Lists that had their only users here are no parameters any more. */
static void
drop_unused(struct build *b)
{
	const struct sl_graph *to = b->to;
	unsigned char *is_used =
		allocate(b, b->scratch, to->n_values, sizeof(*is_used));

	if (!is_used)
		return;
	for (size_t i = 0; i < to->n_nodes; i++) {
		for (uint32_t k = 0; k < to->nodes[i].n_inputs; k++) {
			if (to->nodes[i].inputs[k] != SL__NONE)
				is_used[to->nodes[i].inputs[k]] = 1;
		}
	}
	for (size_t i = 0; i < to->n_blocks; i++) {
		for (size_t k = 0; k < to->blocks[i].n_outputs; k++)
			is_used[to->blocks[i].outputs[k]] = 1;
	}
	for (size_t v = 0; v < to->n_values; v++) {
		if (is_used[v] || to->values[v].kind != SL_VALUE_PARAMETER ||
		    to->values[v].producer != SL__NONE)
			continue;
		to->values[v].tensor = NULL;
		to->values[v].kind = SL_VALUE_ACTIVATION;
	}
}

/* The rules of operators agree with what was built. */
static void
check_sizes(struct build *b)
{
	const struct sl__shapes_options keep = {
		.free_sizes = SL__UNBOUND_KEEP,
		.allocator = &b->to->arena.allocator};
	const struct sl__block *model = &b->to->blocks[0];
	struct sl__shapes *shapes;

	b->rc = sl__shapes_new(&shapes, b->to, &keep, b->err);
	for (size_t i = 0; !b->rc && i < model->n_outputs; i++) {
		const struct sl__type *new = &shapes->types[model->outputs[i]];
		const struct sl__type *old =
			&b->u->shapes->types[model->outputs[i]];
		int is_same = new->rank == old->rank;

		for (int d = 0; is_same && d < new->rank; d++)
			is_same = sl__is_symbol(old->dims[d]) ||
				  new->dims[d] == old->dims[d];
		if (!is_same)
			b->rc = sl__fail(b->err, SL_E_DATA,
					 "output '%.200s' would change its "
					 "size: the model cannot be followed",
					 b->to->values[model->outputs[i]].name);
	}
	sl__shapes_free(shapes);
}

static void
shrink(struct build *b, size_t *n_layers)
{
	const struct sl_graph *from = b->u->graph;

	b->rc = sl__graph_copy(b->to, from, b->err);
	for (uint32_t v = 0; !b->rc && v < from->n_values; v++) {
		if (!loses_any(b, v))
			continue;
		b->to->values[v].declared = (struct sl__type){.rank = -1};
		if (from->values[v].tensor)
			shrink_tensor(b, v);
	}
	for (uint32_t i = 0; i < from->n_nodes; i++)
		rewrite_node(b, i, n_layers);
	drop_unused(b);
	b->to->is_builtin = 0;
	b->to->seed = 0;
	if (!b->rc)
		b->rc = sl__graph_freeze(b->to, b->err);
	if (!b->rc)
		check_sizes(b);
}

enum sl_status
sl__prune_build(struct sl_graph **out, size_t *n_layers,
		const struct sl__units *u, const unsigned char *is_removed,
		struct sl__arena *arena, struct sl_error *err)
{
	struct build b = {
		.u = u, .is_removed = is_removed, .scratch = arena, .err = err};

	*out = NULL;
	*n_layers = 0;
	b.rc = sl__graph_new(&b.to, &u->graph->arena.allocator, err);
	if (b.rc)
		return b.rc;
	shrink(&b, n_layers);
	if (b.rc)
		sl_graph_free(b.to);
	else
		*out = b.to;
	return b.rc;
}
