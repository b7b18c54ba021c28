/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_reader.h - what the parts of the ONNX reader share. */
#ifndef SL_ONNX_READER_H
#define SL_ONNX_READER_H

#include "base/map.h"
#include "graph/graph_construction.h"
#include "model/onnx_fields.h"
#include "model/wire.h"
#include "sleuth/models.h"

enum {
	SL__ONNX_NESTING_MOST = 64, /* graphs, functions and types within one
				       another; real ones have 3 */
	SL__ONNX_RANK_MOST = 64     /* of a tensor; real ones have 8 */
};

/* Attributes by name: the defaults of a function, or what a call gives. */
struct sl__onnx_attribute_map {
	struct sl__map names; /* -> index */
	struct sl__wire_reader *attributes;
};

struct sl__onnx_function {
	struct sl__wire_reader body;
	const char *name;
	struct sl__map opsets; /* domain -> version */
	struct sl__onnx_attribute_map defaults;
	int is_open; /* being inlined right now */
};

/*
 * Names and what they stand for: one scope per graph and per call of a
 * function.  A name that is not here is looked for in 'around'; a function
 * sees nothing around it.
 */
struct sl__onnx_scope {
	const struct sl__onnx_scope *around;
	struct sl__map values;   /* name -> value; SL__NONE: left out */
	struct sl__map promised; /* of a function: outputs -> the caller's
				    values, until its body defines them */
	uint32_t block;
	const char *prefix;         /* of names: "call/" in functions */
	struct sl__onnx_call *call; /* NULL: not in a function */
};

/* One call of a function, while its body is read. */
struct sl__onnx_call {
	struct sl__onnx_function *function;
	struct sl__onnx_scope *caller;
	struct sl__onnx_attribute_map given;
	uint32_t n_unnamed; /* nodes of the body without a name, so far */
};

/*
 * Invariants: what the graph keeps lies in 'arena' (the graph's), what only
 * reading needs in 'scratch'.  budget_bytes is how much may still be
 * allocated, so that a file cannot ask for much more than it is long.
 *
 * The first failure sticks in 'file' (wire.h): after it messages have no
 * fields, texts are empty and arrays NULL, so that loops over fields end and
 * whoever only hands things on need not look.
 */
struct sl__onnx_reader {
	struct sl_graph *graph; /* NULL: a tensor alone is read */
	struct sl__arena *arena;
	struct sl__arena scratch;
	struct sl__wire_file file;
	const char *folder; /* of external data; NULL: none is looked for */
	const char *target; /* the folder where the model lies that 'folder'
			       has a link to; NULL: it has none */
	int is_mapped;      /* the bytes are pages of a file */
	uint64_t budget_bytes;
	unsigned depth;
	struct sl__map opsets;    /* domain -> version */
	struct sl__map functions; /* domain, name and overload -> index */
	struct sl__onnx_function *function_list;
	size_t n_functions;
	size_t n_open_calls;
	size_t n_replaced;        /* constants given a second time */
	size_t n_opsets_again;    /* second versions of an operator set */
	size_t n_missing;         /* tensors whose file cannot be read */
	const char *missing;      /* why the first of them cannot */
	size_t n_inlined;         /* calls and nodes of functions so far */
	uint64_t inline_fields;   /* that inlining may still visit */
	struct sl__map externals; /* path -> number of the mapping */
	char *text;               /* for names on their way to a map */
	size_t cap_text;
	uint32_t *ids; /* for the lists of a node */
	size_t cap_ids;
};

/* What a node says of itself; fields that it leaves out have number 0. */
struct sl__onnx_node_header {
	struct sl__field name, type, domain, overload;
	size_t n_inputs, n_outputs, n_attributes;
};

/* onnx_reader.c.  Takes off the budget; 0, and SL_E_DATA, when it is used up.
 */
int sl__onnx_charge(struct sl__onnx_reader *r, uint64_t n_bytes);

/* Zeroed storage of the graph's, charged, or for reading only; NULL after a
 * failure. */
void *sl__onnx_alloc_in_graph(struct sl__onnx_reader *r, size_t n,
			      size_t n_bytes);
void *sl__onnx_alloc_scratch(struct sl__onnx_reader *r, size_t n,
			     size_t n_bytes);

/* A string, behind 'prefix', in r->arena; or in r->text, where the next call
 * overwrites it.  The field is BYTES or was left out. */
const char *sl__onnx_text(struct sl__onnx_reader *r,
			  const struct sl__field *field, const char *prefix);
const char *sl__onnx_name_scratch(struct sl__onnx_reader *r,
				  const struct sl__field *field);

/* A text that was just formatted in an arena, which may have failed. */
const char *sl__onnx_text_or_nomem(struct sl__onnx_reader *r, const char *text);

/* Names are told apart up to their first NUL: SL_E_DATA for one inside. */
void sl__onnx_check_name(struct sl__onnx_reader *r,
			 const struct sl__field *field);

/* Room for n bytes and a NUL in r->text, for n ids in r->ids; whether there
 * is. */
int sl__onnx_reserve_text_scratch(struct sl__onnx_reader *r, size_t n);
int sl__onnx_reserve_id_scratch(struct sl__onnx_reader *r, size_t n);

void sl__onnx_map_put(struct sl__onnx_reader *r, struct sl__map *map,
		      const char *key, size_t value);

/* One level deeper, or 0 and SL_E_DATA; else the caller decrements r->depth. */
int sl__onnx_descend(struct sl__onnx_reader *r, size_t at);

/* An entry of a list of operator sets; adds it to 'opsets', where the newer
 * version of a domain stays. */
struct sl__opset sl__onnx_parse_opset(struct sl__onnx_reader *r,
				      struct sl__wire_reader entry,
				      struct sl__map *opsets);

/* A StringStringEntryProto. */
struct sl__metadata sl__onnx_parse_string_pair(struct sl__onnx_reader *r,
					       struct sl__wire_reader pair);

#endif
