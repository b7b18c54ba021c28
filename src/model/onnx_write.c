/* SPDX-License-Identifier: Apache-2.0 */
/*
 * onnx_write.c - graphs into ONNX files.
 *
 * First everything is settled: names, the types of outputs that declare none,
 * which operator sets and IR version the model needs, and which weights stay
 * in the file (all of them, unless the message would exceed what protocol
 * buffers can hold).  Then the file is written from front to back, with
 * weights made or copied in pieces.  Both files get their names when both are
 * whole.
 */
#include "model/onnx_write.h"
#include "base/map.h"
#include "base/status.h"
#include "model/onnx_writer.h"

#include <limits.h>
#include <string.h>

#include "base/banned.h"

enum {
	EXTERNAL_LEAST_BYTES = 1024, /* smaller weights stay in the model */
	ALIGNMENT_BYTES = 4096,      /* so that weights can be mapped */
	NESTING_MOST = 64            /* as the graph's own limit */
};

/* Whether names of block 'around' are seen in 'block'. */
static int
is_seen(const struct sl_graph *graph, uint32_t around, uint32_t block)
{
	for (int depth = 0; depth <= NESTING_MOST; depth++) {
		if (block == around)
			return 1;
		if (graph->blocks[block].owner == SL__NONE)
			return 0;
		block = graph->nodes[graph->blocks[block].owner].block;
	}
	return 0;
}

/* Names in use, and the values that bear the same one in blocks that do not
 * see each other. */
struct naming {
	struct sl__onnx_write_plan *plan;
	struct sl__map owners; /* name -> the value that took it last */
	uint32_t *others;      /* per value: the one that took it before */
	struct sl_error *err;
};

static int
is_taken(const struct naming *naming, const char *name, uint32_t value)
{
	const struct sl_graph *graph = naming->plan->graph;
	const size_t *owner = sl__map_find(&naming->owners, name);
	uint32_t block = graph->values[value].block;
	uint32_t other = owner ? (uint32_t)*owner : SL__NONE;

	for (; other != SL__NONE; other = naming->others[other]) {
		uint32_t theirs = graph->values[other].block;

		if (is_seen(graph, theirs, block) ||
		    is_seen(graph, block, theirs))
			return 1;
	}
	return 0;
}

static enum sl_status
name_value(struct naming *naming, uint32_t value)
{
	struct sl__onnx_write_plan *plan = naming->plan;
	const char *name = plan->graph->values[value].name;
	const size_t *owner;

	if (!*name)
		name = sl__arena_format(&plan->arena, "value_%u", value);
	while (name && is_taken(naming, name, value))
		name = sl__arena_format(&plan->arena, "%s_%u", name, value);
	if (!name)
		return sl__fail_nomem(naming->err);
	owner = sl__map_find(&naming->owners, name);
	naming->others[value] = owner ? (uint32_t)*owner : SL__NONE;
	plan->names[value] = name;
	return sl__map_put(&naming->owners, name, value, naming->err);
}

/* The model's own values first: their names are known outside. */
static enum sl_status
name_values(struct sl__onnx_write_plan *plan, struct sl_error *err)
{
	const struct sl_graph *graph = plan->graph;
	struct naming naming = {.plan = plan, .err = err};
	enum sl_status rc = SL_OK;

	sl__map_init(&naming.owners, &plan->arena);
	naming.others = sl__arena_array(&plan->arena, graph->n_values,
					sizeof(*naming.others));
	plan->names = sl__arena_array(&plan->arena, graph->n_values,
				      sizeof(*plan->names));
	if (!naming.others || !plan->names)
		return sl__fail_nomem(err);
	for (uint32_t v = 0; !rc && v < graph->n_values; v++) {
		if (graph->values[v].block == 0)
			rc = name_value(&naming, v);
	}
	for (uint32_t v = 0; !rc && v < graph->n_values; v++) {
		if (graph->values[v].block != 0)
			rc = name_value(&naming, v);
	}
	return rc;
}

/* Adds what is not there; returns the version that is. */
static int
import(struct sl__opset *opsets, size_t *n, const char *domain, int version)
{
	if (!strcmp(domain, "ai.onnx"))
		domain = "";
	for (size_t i = 0; i < *n; i++) {
		if (!strcmp(opsets[i].domain, domain))
			return opsets[i].version;
	}
	opsets[*n].domain = domain;
	opsets[*n].version = version;
	++*n;
	return version;
}

/* A node of a function may mean another version of its operator set than the
 * model has; a file can say one only. */
static enum sl_status
import_node(struct sl__opset *opsets, size_t *n, const struct sl__node *node,
	    struct sl_error *err)
{
	int version = node->version ? node->version : 1;
	int imported = import(opsets, n, node->domain, version);

	if (!node->op || !node->version || imported == version)
		return SL_OK;
	return sl__fail(err, SL_E_DATA,
			"node '%.200s' (%.60s) is of version %d of its "
			"operator set, from a function; the model has version "
			"%d, and one file cannot hold both",
			node->name, node->type, version, imported);
}

/* The model's operator sets, and those that functions brought with them. */
static enum sl_status
plan_opsets(struct sl__onnx_write_plan *plan, struct sl_error *err)
{
	const struct sl_graph *graph = plan->graph;
	size_t cap = graph->n_opsets + graph->n_nodes + 1, n = 0;
	struct sl__opset *opsets =
		sl__arena_array(&plan->arena, cap, sizeof(*opsets));

	if (!opsets)
		return sl__fail_nomem(err);
	for (size_t i = 0; i < graph->n_opsets; i++)
		import(opsets, &n, graph->opsets[i].domain,
		       graph->opsets[i].version);
	for (size_t i = 0; i < graph->n_nodes; i++) {
		enum sl_status rc =
			import_node(opsets, &n, &graph->nodes[i], err);

		if (rc)
			return rc;
	}
	/* A model must import something. */
	if (!n)
		import(opsets, &n, "", 17);
	plan->opsets = opsets;
	plan->n_opsets = n;
	return SL_OK;
}

static int
ir_version_of_dtype(enum sl_dtype dtype)
{
	if (dtype >= SL_DTYPE_U2)
		return 13;
	if (dtype >= SL_DTYPE_F8E8M0)
		return 12;
	if (dtype >= SL_DTYPE_F4E2M1)
		return 11;
	if (dtype >= SL_DTYPE_U4)
		return 10;
	return dtype >= SL_DTYPE_F8E4M3FN ? 9 : 8;
}

/* The IR version that came with the operator set, or that the types of
 * number need.  8 (2021) is what every reader in use takes. */
static void
plan_ir_version(struct sl__onnx_write_plan *plan)
{
	static const struct {
		int opset, ir_version;
	} steps[] = {{19, 9}, {21, 10}, {23, 11}, {24, 12}, {25, 13}};
	int version = 8;

	for (size_t i = 0; i < plan->n_opsets; i++) {
		if (*plan->opsets[i].domain)
			continue;
		for (size_t k = 0; k < sizeof(steps) / sizeof(steps[0]); k++) {
			if (plan->opsets[i].version >= steps[k].opset)
				version = steps[k].ir_version;
		}
	}
	for (size_t v = 0; v < plan->graph->n_values; v++) {
		const struct sl__value *value = &plan->graph->values[v];
		enum sl_dtype dtype = value->tensor ? value->tensor->dtype
						    : value->declared.dtype;

		if (ir_version_of_dtype(dtype) > version)
			version = ir_version_of_dtype(dtype);
	}
	plan->ir_version = version;
}

static void
mark_listed(struct sl__onnx_write_plan *plan, const struct sl__block *block)
{
	for (size_t i = 0; i < block->n_inputs; i++)
		plan->is_listed[block->inputs[i]] = 1;
	for (size_t i = 0; i < block->n_outputs; i++)
		plan->is_listed[block->outputs[i]] = 1;
}

static enum sl_status
chain_values(struct sl__onnx_write_plan *plan, struct sl_error *err)
{
	const struct sl_graph *graph = plan->graph;
	struct sl__arena *arena = &plan->arena;
	size_t n = graph->n_values;

	plan->first =
		sl__arena_array(arena, graph->n_blocks, sizeof(*plan->first));
	plan->next = sl__arena_array(arena, n, sizeof(*plan->next));
	plan->is_listed = sl__arena_array(arena, n, sizeof(*plan->is_listed));
	plan->offsets = sl__arena_array(arena, n, sizeof(*plan->offsets));
	plan->scratch = sl__arena_alloc(arena, SL__PIECE_BYTES);
	if (!plan->first || !plan->next || !plan->is_listed || !plan->offsets ||
	    !plan->scratch)
		return sl__fail_nomem(err);
	for (size_t b = 0; b < graph->n_blocks; b++) {
		plan->first[b] = SL__NONE;
		mark_listed(plan, &graph->blocks[b]);
	}
	while (n--) {
		uint32_t *first = &plan->first[graph->values[n].block];

		plan->offsets[n] = SL__NO_OFFSET;
		plan->next[n] = *first;
		*first = (uint32_t)n;
	}
	return SL_OK;
}

/* Whether the model's outputs say what they are. */
static int
is_declared(const struct sl_graph *graph)
{
	const struct sl__block *main = &graph->blocks[0];

	for (size_t i = 0; i < main->n_outputs; i++) {
		const struct sl__type *type =
			&graph->values[main->outputs[i]].declared;

		if (type->kind == SL__TYPE_UNKNOWN ||
		    (type->kind == SL__TYPE_TENSOR &&
		     type->dtype == SL_DTYPE_NONE))
			return 0;
	}
	return 1;
}

/*
 * ONNX wants the outputs' types declared.  Where the model does not and they
 * cannot be inferred either, they are left out: most readers infer them
 * again.
 */
static enum sl_status
infer_outputs(struct sl__onnx_write_plan *plan, struct sl__shapes **shapes,
	      struct sl_error *err)
{
	const struct sl__shapes_options options = {
		.free_sizes = SL__UNBOUND_KEEP,
		.allocator = &plan->arena.allocator};
	struct sl_error why; /* not told where the file is written */
	enum sl_status rc;

	*shapes = NULL;
	if (is_declared(plan->graph))
		return SL_OK;
	rc = sl__shapes_new(shapes, plan->graph, &options, &why);
	plan->shapes = *shapes;
	if (rc && rc != SL_E_DATA)
		return sl__fail(err, rc, "%s", why.text);
	return SL_OK;
}

/* "FILE.data" with its folder, for the draft; location is without. */
static char *
data_path(struct sl__onnx_write_plan *plan, const char *path)
{
	char *full = sl__arena_format(&plan->arena, "%s.data", path);
	char *slash = full ? strrchr(full, '/') : NULL;

	plan->location = slash ? slash + 1 : full;
	return full;
}

static int
goes_outside(const struct sl__value *value)
{
	const struct sl__tensor *t = value->tensor;

	return value->producer == SL__NONE && t && !t->is_sparse &&
	       !t->strings && !t->absent && t->n_bytes >= EXTERNAL_LEAST_BYTES;
}

static void
place_outside(struct sl__onnx_write_plan *plan)
{
	uint64_t at = 0;

	for (size_t v = 0; v < plan->graph->n_values; v++) {
		if (!goes_outside(&plan->graph->values[v]))
			continue;
		plan->offsets[v] = at;
		at += plan->graph->values[v].tensor->n_bytes;
		at += (ALIGNMENT_BYTES - at % ALIGNMENT_BYTES) %
		      ALIGNMENT_BYTES;
	}
}

/*
 * Keeps all weights in the model where that is possible.  *path of the data
 * file is NULL where none is needed.
 */
static enum sl_status
place(struct sl__onnx_write_plan *plan, struct sl__wire_writer *w, char **path)
{
	char *beside = *path;
	uint64_t n_bytes = sl__wire_message_size(w, sl__onnx_put_model, NULL);

	*path = NULL;
	if (w->status || n_bytes <= plan->most_bytes)
		return w->status;
	place_outside(plan);
	n_bytes = sl__wire_message_size(w, sl__onnx_put_model, NULL);
	if (w->status)
		return w->status;
	if (n_bytes > plan->most_bytes)
		return sl__fail(w->err, SL_E_DATA,
				"takes %llu bytes without its weights; an ONNX "
				"file holds %llu",
				(unsigned long long)n_bytes,
				(unsigned long long)plan->most_bytes);
	*path = beside;
	return SL_OK;
}

static enum sl_status
write_data(const struct sl__onnx_write_plan *plan,
	   struct sl__atomic_file *draft, struct sl_error *err)
{
	static const unsigned char zeros[ALIGNMENT_BYTES];
	struct sl__wire_writer w = {.draft = draft, .ctx = plan, .err = err};

	for (size_t v = 0; v < plan->graph->n_values && !w.status; v++) {
		if (plan->offsets[v] == SL__NO_OFFSET)
			continue;
		sl__wire_put_bytes(&w, zeros,
				   (size_t)(plan->offsets[v] - w.n_bytes));
		sl__onnx_put_numbers(&w, plan->graph->values[v].tensor);
	}
	return w.status ? w.status : sl__atomic_file_flush(draft, err);
}

static enum sl_status
write_model(struct sl__wire_writer *w, struct sl__atomic_file *draft)
{
	w->draft = draft;
	w->n_bytes = 0;
	sl__onnx_put_model(w, NULL);
	return w->status ? w->status : sl__atomic_file_flush(draft, w->err);
}

/* The model, and the data file where data_path is not NULL. */
static enum sl_status
write_files(struct sl__wire_writer *w, const char *path,
	    const char *path_of_data)
{
	const struct sl__onnx_write_plan *plan = w->ctx;
	const struct sl_allocator *allocator = &plan->arena.allocator;
	struct sl__atomic_file *model = NULL, *data = NULL;
	enum sl_status rc;

	rc = sl__atomic_file_open(&model, path, allocator, w->err);
	if (!rc && path_of_data)
		rc = sl__atomic_file_open(&data, path_of_data, allocator,
					  w->err);
	if (!rc)
		rc = write_model(w, model);
	if (!rc && data)
		rc = write_data(plan, data, w->err);
	if (!rc && data)
		rc = sl__atomic_file_commit(data, w->err);
	if (!rc)
		rc = sl__atomic_file_commit(model, w->err);
	sl__atomic_file_free(data);
	sl__atomic_file_free(model);
	return rc;
}

static enum sl_status
settle(struct sl__onnx_write_plan *plan, struct sl_error *err)
{
	enum sl_status rc = name_values(plan, err);

	if (!rc)
		rc = plan_opsets(plan, err);
	if (!rc)
		rc = chain_values(plan, err);
	if (!rc)
		plan_ir_version(plan);
	return rc;
}

enum sl_status
sl__onnx_write(const struct sl_graph *graph, const char *path,
	       uint64_t most_bytes, struct sl_error *err)
{
	struct sl__onnx_write_plan plan = {.graph = graph,
					   .most_bytes = most_bytes};
	struct sl__wire_writer w = {.ctx = &plan, .err = err};
	struct sl__shapes *shapes = NULL;
	enum sl_status rc;
	char *outside;

	sl__arena_init(&plan.arena, &graph->arena.allocator);
	rc = settle(&plan, err);
	if (!rc)
		rc = infer_outputs(&plan, &shapes, err);
	if (rc)
		goto out;
	outside = data_path(&plan, path);
	if (!outside) {
		rc = sl__fail_nomem(err);
		goto out;
	}
	rc = place(&plan, &w, &outside);
	if (!rc)
		rc = write_files(&w, path, outside);
out:
	sl__shapes_free(shapes);
	sl__arena_release(&plan.arena);
	return rc;
}

enum sl_status
sl__onnx_size(uint64_t *n_bytes, const struct sl_graph *graph,
	      struct sl_error *err)
{
	struct sl__onnx_write_plan plan = {.graph = graph};
	struct sl__wire_writer w = {.ctx = &plan, .err = err};
	struct sl__shapes *shapes = NULL;
	enum sl_status rc;

	sl__arena_init(&plan.arena, &graph->arena.allocator);
	rc = settle(&plan, err);
	if (!rc)
		rc = infer_outputs(&plan, &shapes, err);
	if (!rc) {
		*n_bytes = sl__wire_message_size(&w, sl__onnx_put_model, NULL);
		rc = w.status;
	}
	sl__shapes_free(shapes);
	sl__arena_release(&plan.arena);
	return rc;
}

enum sl_status
sl_graph_write(const struct sl_graph *graph, const char *path,
	       struct sl_error *err)
{
	/* A message of 2 GB is refused by protocol buffers. */
	return sl__onnx_write(graph, path, INT32_MAX, err);
}
