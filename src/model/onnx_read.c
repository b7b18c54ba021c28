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
#include "model/onnx_parts.h"

#include <limits.h>
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
	r->err = err;
	r->arena = arena;
	sl__arena_init(&r->scratch, &arena->allocator);
	r->file.bytes = bytes;
	r->file.n_bytes = n_bytes;
	r->file.max_fields = UINT64_MAX;
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

static enum sl_status
outline_field(struct sl__onnx_reader *r, const struct sl__wire *model,
	      const struct sl__field *f, struct outline *out)
{
	switch (f->number) {
	case SL__MODEL_IR_VERSION:
		return sl__wire_integer(model, f, &out->ir_version, r->err);
	case SL__MODEL_GRAPH:
		if (out->graph.number)
			return sl__fail(r->err, SL_E_DATA,
					"byte %zu: a second graph; the first "
					"begins at byte %zu",
					f->at, out->graph.at);
		out->graph = *f;
		break;
	case SL__MODEL_PRODUCER_NAME:
		out->producer = *f;
		break;
	case SL__MODEL_PRODUCER_VERSION:
		out->producer_version = *f;
		break;
	case SL__MODEL_OPSET_IMPORT:
		out->n_opsets++;
		break;
	case SL__MODEL_METADATA_PROPS:
		out->n_metadata++;
		break;
	case SL__MODEL_FUNCTIONS:
		out->n_functions++;
		break;
	default:
		return SL_OK;
	}
	return sl__wire_expect(model, f, SL__WIRE_BYTES, r->err);
}

static enum sl_status
read_outline(struct sl__onnx_reader *r, struct sl__wire model,
	     struct outline *out)
{
	struct sl__field f;
	enum sl_status rc;

	memset(out, 0, sizeof(*out));
	do {
		rc = sl__wire_next(&model, &f, r->err);
		if (!rc)
			rc = outline_field(r, &model, &f, out);
	} while (!rc && f.number);
	if (rc)
		return rc;
	if (!out->graph.number)
		return sl__fail(r->err, SL_E_DATA,
				"holds no graph: not an ONNX model, or one "
				"that was cut off");
	if (out->ir_version < 0 || out->ir_version > INT_MAX)
		return sl__fail(r->err, SL_E_DATA, "IR version %lld",
				(long long)out->ir_version);
	return SL_OK;
}

static enum sl_status
read_metadata(struct sl__onnx_reader *r, struct sl__wire pair,
	      struct sl__metadata *out)
{
	struct sl__field f;
	enum sl_status rc;

	out->key = out->value = "";
	for (;;) {
		const char **text;

		rc = sl__wire_next(&pair, &f, r->err);
		if (rc || !f.number)
			return rc;
		if (f.number == SL__PAIR_KEY)
			text = &out->key;
		else if (f.number == SL__PAIR_VALUE)
			text = &out->value;
		else
			continue;
		*text = sl__onnx_text(r, &pair, &f, "");
		if (!*text)
			return r->err->status;
	}
}

/* Operator sets and metadata. */
static enum sl_status
read_lists(struct sl__onnx_reader *r, struct sl__wire model,
	   const struct outline *outline)
{
	struct sl_graph *graph = r->graph;
	struct sl__wire inner;
	struct sl__field f;
	enum sl_status rc;

	graph->opsets =
		sl__onnx_array(r, outline->n_opsets, sizeof(*graph->opsets));
	if (!graph->opsets)
		return r->err->status;
	graph->metadata = sl__onnx_array(r, outline->n_metadata,
					 sizeof(*graph->metadata));
	if (!graph->metadata)
		return r->err->status;
	for (;;) {
		rc = sl__wire_next(&model, &f, r->err);
		if (rc || !f.number)
			return rc;
		if (f.number != SL__MODEL_OPSET_IMPORT &&
		    f.number != SL__MODEL_METADATA_PROPS)
			continue;
		rc = sl__wire_enter(&inner, &model, &f, "model's list", r->err);
		if (!rc && f.number == SL__MODEL_OPSET_IMPORT)
			rc = sl__onnx_opset(r, inner, &r->opsets,
					    &graph->opsets[graph->n_opsets++]);
		else if (!rc)
			rc = read_metadata(
				r, inner,
				&graph->metadata[graph->n_metadata++]);
		if (rc)
			return rc;
	}
}

/* "pytorch 2.1.0" */
static enum sl_status
read_producer(struct sl__onnx_reader *r, const struct sl__wire *model,
	      const struct outline *outline)
{
	const char *name = "";

	if (outline->producer.number) {
		name = sl__onnx_text(r, model, &outline->producer, "");
		if (!name)
			return r->err->status;
	}
	r->graph->producer = name;
	if (!outline->producer_version.n_bytes)
		return SL_OK;
	if (*name)
		name = sl__arena_format(r->arena, "%s ", name);
	if (!name)
		return sl__fail_nomem(r->err);
	name = sl__onnx_text(r, model, &outline->producer_version, name);
	if (!name)
		return r->err->status;
	r->graph->producer = name;
	return SL_OK;
}

static enum sl_status
read_model(struct sl__onnx_reader *r)
{
	struct sl__onnx_scope scope = {.prefix = ""};
	struct sl__wire model, graph;
	struct outline outline;
	enum sl_status rc;

	if (!r->file.n_bytes)
		return sl__fail(r->err, SL_E_DATA, "is empty");
	sl__wire_init(&model, &r->file, "model");
	rc = read_outline(r, model, &outline);
	if (rc)
		return rc;
	r->graph->ir_version = (int)outline.ir_version;
	rc = read_producer(r, &model, &outline);
	if (!rc)
		rc = read_lists(r, model, &outline);
	if (!rc)
		rc = sl__onnx_functions(r, model, outline.n_functions);
	if (!rc)
		rc = sl__wire_enter(&graph, &model, &outline.graph, "graph",
				    r->err);
	if (rc)
		return rc;
	return sl__onnx_graph(r, graph, &scope);
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

static enum sl_status
check_options(const struct sl_graph_options *options, struct sl_error *err)
{
	if (options && options->struct_size != sizeof(*options))
		return sl__fail(err, SL_E_USAGE,
				"sl_graph_options: struct_size is wrong");
	return SL_OK;
}

/* Where a model comes from. */
struct origin {
	struct sl__mapping file;
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
	struct sl__mapping file = origin->file;
	enum sl_status rc = sl__graph_new(out, allocator, err);

	if (!origin->is_mapped)
		return rc;
	if (!rc)
		rc = sl__graph_add_mapping(*out, &file, err);
	if (!rc)
		return SL_OK;
	sl_graph_free(*out);
	sl__mapping_close(&file);
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
	rc = read_model(&r);
	if (!rc)
		rc = name_graph(graph, origin->path, err);
	if (!rc && !origin->is_mapped)
		graph->name = graph->blocks[0].name;
	if (!rc)
		sl__graph_take_usual(graph);
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
	struct sl_error ignored = {.status = SL_OK, .text = ""};
	enum sl_status rc;

	*out = NULL;
	if (!err)
		err = &ignored;
	rc = check_options(options, err);
	if (rc)
		return rc;
	return read_origin(out, &origin, options, err);
}

enum sl_status
sl__onnx_open(struct sl_graph **out, const char *path,
	      const struct sl_graph_options *options, struct sl_error *err)
{
	struct origin origin = {{NULL, 0}, path, NULL, NULL, 1};
	struct sl_error ignored = {.status = SL_OK, .text = ""};
	const char *slash = strrchr(path, '/');
	struct sl__arena scratch;
	char *folder;
	enum sl_status rc;

	*out = NULL;
	if (!err)
		err = &ignored;
	rc = check_options(options, err);
	if (rc)
		return rc;
	sl__arena_init(&scratch, options ? options->allocator : NULL);
	folder = sl__arena_string(&scratch, slash ? path : ".");
	if (folder && slash)
		folder[slash == path ? 1 : slash - path] = '\0';
	origin.folder = folder;
	rc = folder ? sl__external_target(&scratch, path, folder,
					  &origin.target, err)
		    : sl__fail_nomem(err);
	if (!rc)
		rc = sl__mapping_open(&origin.file, path, err);
	if (rc)
		goto out;
	rc = read_origin(out, &origin, options, err);
	rc = sl__within(err, rc, path);
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
	struct sl_error ignored = {.status = SL_OK, .text = ""};
	struct sl__onnx_reader r;
	struct sl__wire wire;
	struct sl__field name;
	enum sl_status rc;

	memset(out, 0, sizeof(*out));
	if (!err)
		err = &ignored;
	if (!n_bytes)
		return sl__fail(err, SL_E_DATA, "is empty");
	reader_init(&r, arena, bytes, n_bytes, err);
	sl__wire_init(&wire, &r.file, "tensor");
	rc = sl__onnx_tensor(&r, wire, out, &name);
	sl__arena_release(&r.scratch);
	if (rc == SL_E_DATA && begins_with_name(bytes, n_bytes))
		return sl__fail(err, rc,
				"is a sequence or an optional, not a tensor");
	return rc;
}
