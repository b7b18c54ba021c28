/* SPDX-License-Identifier: Apache-2.0 */
/*
 * onnx_read.c - ONNX files into graphs: the model around the graph.
 *
 * The file is walked field by field where it lies.  Names and lists are
 * copied into the graph's arena; weights stay in the file.  What a file may
 * cost is bounded in three ways: memory by a multiple of its length, nesting
 * by a number of levels, and functions by the nodes and fields they unfold
 * to.  Everything else is linear in the length of the file.
 */
#include "model/onnx_read.h"
#include "base/log.h"
#include "base/status.h"
#include "graph/op_rules.h"
#include "model/external.h"
#include "model/file_kind.h"
#include "model/onnx_parse.h"

#include <limits.h>
#include <stddef.h>
#include <string.h>

#include "base/banned.h"

enum {
	MIB = 1 << 20,
	BUDGET_FLOOR_MIB = 64,
	BUDGET_MOST_MIB = 64 << 10, /* ids of values stay below 2^32 */
	/* The least node with a result takes some 12 bytes of a file and, with
	 * its value, name and place in two tables, some 700 in memory. */
	BUDGET_PER_BYTE = 64,
	INLINE_FIELDS = 64 << 20 /* half a second's worth */
};

static void
reader_init(struct sl__onnx_reader *r, struct sl__arena *arena,
	    const unsigned char *bytes, size_t n_bytes, struct sl_error *err)
{
	uint64_t most = (uint64_t)BUDGET_MOST_MIB * MIB;

	memset(r, 0, sizeof(*r));
	r->arena = arena;
	sl__arena_init(&r->scratch, &arena->allocator);
	r->file.bytes = bytes;
	r->file.n_bytes = n_bytes;
	r->file.max_fields = UINT64_MAX;
	r->file.err = err;
	r->budget_bytes = (uint64_t)BUDGET_FLOOR_MIB * MIB;
	r->budget_bytes += n_bytes > most / BUDGET_PER_BYTE
				   ? most
				   : (uint64_t)n_bytes * BUDGET_PER_BYTE;
	r->inline_fields = INLINE_FIELDS;
	sl__map_init(&r->opsets, &r->scratch);
	sl__map_init(&r->functions, &r->scratch);
	sl__map_init(&r->externals, &r->scratch);
}

/* What the outermost message has, found in one walk over it. */
struct outline {
	struct sl__field graph, producer, producer_version;
	int64_t ir_version;
	size_t n_opsets, n_metadata, n_functions;
};

static struct outline
read_outline(struct sl__onnx_reader *r, struct sl__wire_reader model)
{
	static const struct sl__wire_store_rule rows[] = {
		{SL__MODEL_IR_VERSION, SL__WIRE_VARINT, SL__WIRE_STORE_INTEGER,
		 offsetof(struct outline, ir_version)},
		{SL__MODEL_GRAPH, SL__WIRE_BYTES, SL__WIRE_STORE_FIELD,
		 offsetof(struct outline, graph)},
		{SL__MODEL_PRODUCER_NAME, SL__WIRE_BYTES, SL__WIRE_STORE_FIELD,
		 offsetof(struct outline, producer)},
		{SL__MODEL_PRODUCER_VERSION, SL__WIRE_BYTES,
		 SL__WIRE_STORE_FIELD,
		 offsetof(struct outline, producer_version)},
		{SL__MODEL_OPSET_IMPORT, SL__WIRE_BYTES,
		 SL__WIRE_STORE_FIELD_COUNT,
		 offsetof(struct outline, n_opsets)},
		{SL__MODEL_METADATA_PROPS, SL__WIRE_BYTES,
		 SL__WIRE_STORE_FIELD_COUNT,
		 offsetof(struct outline, n_metadata)},
		{SL__MODEL_FUNCTIONS, SL__WIRE_BYTES,
		 SL__WIRE_STORE_FIELD_COUNT,
		 offsetof(struct outline, n_functions)},
		{0},
	};
	struct outline out = {.ir_version = 0};
	struct sl__field f;

	while (sl__wire_next(&model, &f)) {
		if (f.number == SL__MODEL_GRAPH && out.graph.number)
			sl__wire_fail(&r->file,
				      "byte %zu: a second graph; the first "
				      "begins at byte %zu",
				      f.at, out.graph.at);
		sl__wire_store_field(&model, &f, rows, &out);
	}
	if (!out.graph.number)
		sl__wire_fail(&r->file,
			      "holds no graph: not an ONNX model, or one that "
			      "was cut off");
	if (out.ir_version < 0 || out.ir_version > INT_MAX)
		sl__wire_fail(&r->file, "IR version %lld",
			      (long long)out.ir_version);
	return out;
}

/* Operator sets and metadata. */
static void
read_lists(struct sl__onnx_reader *r, struct sl__wire_reader model,
	   const struct outline *outline)
{
	struct sl_graph *graph = r->graph;
	struct sl__field f;

	graph->opsets = sl__onnx_alloc_in_graph(r, outline->n_opsets,
						sizeof(*graph->opsets));
	graph->metadata = sl__onnx_alloc_in_graph(r, outline->n_metadata,
						  sizeof(*graph->metadata));
	while (sl__wire_next(&model, &f)) {
		if (f.number == SL__MODEL_OPSET_IMPORT)
			graph->opsets[graph->n_opsets++] = sl__onnx_parse_opset(
				r,
				sl__wire_enter_message(&model, &f,
						       "model's list"),
				&r->opsets);
		else if (f.number == SL__MODEL_METADATA_PROPS)
			graph->metadata[graph->n_metadata++] =
				sl__onnx_parse_string_pair(
					r, sl__wire_enter_message(
						   &model, &f, "model's list"));
	}
}

/* "pytorch 2.1.0" */
static const char *
read_producer(struct sl__onnx_reader *r, const struct outline *outline)
{
	const char *name = sl__onnx_text(r, &outline->producer, "");

	if (!outline->producer_version.n_bytes)
		return name;
	if (*name)
		name = sl__onnx_text_or_nomem(
			r, sl__arena_format(r->arena, "%s ", name));
	return sl__onnx_text(r, &outline->producer_version, name);
}

static void
read_model(struct sl__onnx_reader *r)
{
	struct sl__onnx_scope scope = {.prefix = ""};
	struct outline outline;
	struct sl__wire_reader model;

	if (!r->file.n_bytes)
		sl__wire_fail(&r->file, "is empty");
	sl__wire_init(&model, &r->file, "model");
	outline = read_outline(r, model);
	r->graph->ir_version = (int)outline.ir_version;
	r->graph->producer = read_producer(r, &outline);
	read_lists(r, model, &outline);
	sl__onnx_parse_functions(r, model, outline.n_functions);
	sl__onnx_parse_graph(
		r, sl__wire_enter_message(&model, &outline.graph, "graph"),
		&scope);
}

/*
 * A model is called by its file, since exporters call every graph "main_graph"
 * or "torch_jit"; and by its folder where the file is just "model.onnx".
 */
static enum sl_status
name_graph(struct sl_graph *graph, const char *source, struct sl_error *err)
{
	const char *end = source + strlen(source), *start = end, *dot;

	while (start > source && start[-1] != '/')
		start--;
	if (!strcmp(start, "model.onnx") && start - source > 1) {
		end = --start;
		while (start > source && start[-1] != '/')
			start--;
	} else {
		dot = strrchr(start, '.');
		if (dot && dot != start)
			end = dot;
	}
	graph->source = sl__arena_string(&graph->arena, source);
	graph->name = sl__arena_format(&graph->arena, "%.*s",
				       (int)(end - start), start);
	if (!graph->source || !graph->name)
		return sl__fail_nomem(err);
	if (!*graph->name)
		graph->name = graph->blocks[0].name;
	return SL_OK;
}

/* Where a model comes from. */
struct origin {
	struct sl__file_mapping file;
	const char *path;   /* or "memory" */
	const char *folder; /* of external data, or NULL */
	const char *target; /* where links lead to, or NULL */
	int is_mapped;
};

/* The newest version of ai.onnx of which an operator is in the table. */
static int
newest_known(void)
{
	int newest = 0;

	for (int i = 0; i < SL__N_OPS; i++) {
		if (!*sl__ops[i].domain && sl__ops[i].since > newest)
			newest = sl__ops[i].since;
	}
	return newest;
}

/* What a reader of the report should know about the file. */
static void
remark(const struct sl__onnx_reader *r, const struct sl_log *log)
{
	const size_t *version = sl__map_find(&r->opsets, "");

	if (r->n_replaced)
		sl__log(log,
			"%zu constant%s the name of an earlier one; the last "
			"of a name counts, as in ONNX Runtime",
			r->n_replaced, r->n_replaced == 1 ? " has" : "s have");
	if (!r->graph->n_opsets && r->graph->n_nodes)
		sl__log(log, "it imports no operator set; version 1 is taken");
	if (r->n_opsets_again)
		sl__log(log, "an operator set is imported in two versions; the "
			     "newer counts");
	if (version && *version > (size_t)newest_known())
		sl__log(log,
			"operator set %zu is newer than what is known (%d)",
			*version, newest_known());
	if (r->n_missing)
		sl__log(log, "the weights of %zu tensor%s are not there: %s",
			r->n_missing, r->n_missing == 1 ? "" : "s", r->missing);
}

/* A graph that a mapped file belongs to; the file is closed where there is
 * none. */
static enum sl_status
new_graph(struct sl_graph **out, const struct origin *origin,
	  const struct sl_allocator *allocator, struct sl_error *err)
{
	struct sl__file_mapping file = origin->file;
	enum sl_status rc = sl__graph_new(out, allocator, err);

	if (!origin->is_mapped)
		return rc;
	if (!rc)
		rc = sl__graph_add_mapping(*out, &file, err);
	if (!rc)
		return SL_OK;
	sl_graph_free(*out);
	sl__file_mapping_close(&file);
	return rc;
}

/* A mapped file is taken over, whatever comes of it. */
static enum sl_status
read_origin(struct sl_graph **out, const struct origin *origin,
	    const struct sl_graph_options *options, struct sl_error *err)
{
	struct sl__onnx_reader r;
	struct sl_graph *graph;
	const char *kind;
	enum sl_status rc = new_graph(&graph, origin,
				      options ? options->allocator : NULL, err);

	if (rc)
		return rc;
	reader_init(&r, &graph->arena, origin->file.bytes, origin->file.n_bytes,
		    err);
	r.graph = graph;
	r.folder = origin->folder;
	r.is_mapped = origin->is_mapped;
	r.target = origin->target;
	read_model(&r);
	rc = r.file.status;
	if (!rc)
		rc = name_graph(graph, origin->path, err);
	if (!rc && !origin->is_mapped)
		graph->name = graph->blocks[0].name;
	if (!rc)
		sl__graph_load_default_sizes(graph);
	if (!rc)
		rc = sl__graph_freeze(graph, err);
	if (!rc && options)
		remark(&r, options->log);
	sl__arena_release(&r.scratch);
	if (!rc) {
		*out = graph;
		return SL_OK;
	}
	kind = sl__file_kind(origin->file.bytes, origin->file.n_bytes);
	sl_graph_free(graph);
	if (rc == SL_E_DATA && kind)
		return sl__fail(err, rc, "is %s, not an ONNX model", kind);
	return rc;
}

enum sl_status
sl__onnx_read(struct sl_graph **out, const unsigned char *bytes, size_t n_bytes,
	      const char *folder, const struct sl_graph_options *options,
	      struct sl_error *err)
{
	struct origin origin = {{bytes, n_bytes}, "memory", folder, NULL, 0};

	*out = NULL;
	return read_origin(out, &origin, options, err);
}

enum sl_status
sl__onnx_open(struct sl_graph **out, const char *path,
	      const struct sl_graph_options *options, struct sl_error *err)
{
	struct origin origin = {{NULL, 0}, path, NULL, NULL, 1};
	const char *slash = strrchr(path, '/');
	struct sl__arena scratch;
	char *folder;
	enum sl_status rc;

	*out = NULL;
	sl__arena_init(&scratch, options ? options->allocator : NULL);
	folder = sl__arena_string(&scratch, slash ? path : ".");
	if (folder && slash)
		folder[slash == path ? 1 : slash - path] = '\0';
	origin.folder = folder;
	rc = folder ? sl__external_data_link_folder(&scratch, path, folder,
						    &origin.target, err)
		    : sl__fail_nomem(err);
	if (!rc)
		rc = sl__file_mapping_open(&origin.file, path, err);
	if (rc)
		goto out;
	rc = read_origin(out, &origin, options, err);
	rc = sl__error_prefix(err, rc, path);
out:
	sl__arena_release(&scratch);
	return rc;
}

/*
 * Whether bytes that are no tensor begin with a name, as sequences and
 * optionals do: where a tensor has its dimensions.
 */
static int
begins_with_name(const unsigned char *bytes, size_t n_bytes)
{
	size_t n = n_bytes >= 2 && bytes[0] == (1 << 3 | SL__WIRE_BYTES)
			   ? bytes[1]
			   : 0;

	if (!n || n > n_bytes - 2)
		return 0;
	for (size_t i = 0; i < n; i++) {
		if (bytes[2 + i] < ' ' || bytes[2 + i] > '~')
			return 0;
	}
	return 1;
}

enum sl_status
sl__onnx_read_tensor(struct sl__tensor *out, struct sl__arena *arena,
		     const unsigned char *bytes, size_t n_bytes,
		     struct sl_error *err)
{
	struct sl__onnx_reader r;
	struct sl__wire_reader wire;
	struct sl__field name;
	enum sl_status rc;

	memset(out, 0, sizeof(*out));
	if (!n_bytes)
		return sl__fail(err, SL_E_DATA, "is empty");
	reader_init(&r, arena, bytes, n_bytes, err);
	sl__wire_init(&wire, &r.file, "tensor");
	sl__onnx_parse_tensor(&r, wire, out, &name);
	rc = r.file.status;
	sl__arena_release(&r.scratch);
	if (rc == SL_E_DATA && begins_with_name(bytes, n_bytes))
		return sl__fail(err, rc,
				"is a sequence or an optional, not a tensor");
	return rc;
}
