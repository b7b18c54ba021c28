/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_reader.h - what the parts of the ONNX reader share. */
#ifndef SL_ONNX_READER_H
#define SL_ONNX_READER_H

#include "assembly.h"
#include "map.h"
#include "onnx_fields.h"
#include "wire.h"

enum {
	SL__ONNX_NESTING_MOST = 64, /* graphs, functions and types within one
				       another; real ones have 3 */
	SL__ONNX_RANK_MOST = 64     /* of a tensor; real ones have 8 */
};

/* Attributes by name: the defaults of a function, or what a call gives. */
struct sl__onnx_given {
	struct sl__map names; /* -> index */
	struct sl__wire *attributes;
};

struct sl__onnx_function {
	struct sl__wire body;
	const char *name;
	struct sl__map opsets; /* domain -> version */
	struct sl__onnx_given defaults;
	int is_open; /* being inlined right now */
};

/*
 * Names and what they stand for: one scope per graph and per call of a
 * function.  A name that is not here is looked for in 'around'; a function
 * sees nothing around it.
 */
struct sl__onnx_scope {
	struct sl__onnx_scope *around;
	struct sl__map values; /* name -> value; SL__NONE: left out */
	uint32_t block;
	const char *prefix;         /* of names: "call/" in functions */
	struct sl__onnx_call *call; /* NULL: not in a function */
};

/* One call of a function, while its body is read. */
struct sl__onnx_call {
	struct sl__onnx_function *function;
	struct sl__onnx_scope *caller;
	struct sl__onnx_given given;
	uint32_t n_unnamed; /* nodes of the body without a name, so far */
};

/*
 * Invariants: what the graph keeps lies in 'arena' (the graph's), what only
 * reading needs in 'scratch'.  budget_bytes is how much may still be
 * allocated, so that a file cannot ask for much more than it is long.
 */
struct sl__onnx_reader {
	struct sl_graph *graph; /* NULL: a tensor alone is read */
	struct sl__arena *arena;
	struct sl__arena scratch;
	struct sl__wire_file file;
	const char *folder; /* of external data; NULL: none is looked for */
	int is_mapped;      /* the bytes are pages of a file */
	uint64_t budget_bytes;
	unsigned depth;
	struct sl__map opsets;    /* domain -> version */
	struct sl__map functions; /* domain, name and overload -> index */
	struct sl__onnx_function *function_list;
	size_t n_inlined;         /* calls and nodes of functions so far */
	uint64_t inline_fields;   /* that inlining may still visit */
	struct sl__map symbols;   /* name -> number */
	struct sl__map externals; /* path -> number of the mapping */
	char *text;               /* for names on their way to a map */
	size_t cap_text;
	uint32_t *ids; /* for the lists of a node */
	size_t cap_ids;
};

/* onnx_read.c.  Takes off the budget; SL_E_DATA when it is used up. */
enum sl_status sl__onnx_charge(struct sl__onnx_reader *r, uint64_t n_bytes,
			       struct sl_error *err) SL_CHECKED;

/* A zeroed array in r->arena, charged; NULL with 'err' filled. */
void *sl__onnx_array(struct sl__onnx_reader *r, size_t n, size_t n_bytes,
		     struct sl_error *err);

/* The string field, behind 'prefix', copied into r->arena; NULL with 'err'. */
const char *sl__onnx_text(struct sl__onnx_reader *r, const char *prefix,
			  const struct sl__field *field, struct sl_error *err);

/* The string in r->text, where the next call overwrites it; NULL: no
 * memory. */
const char *sl__onnx_key(struct sl__onnx_reader *r,
			 const struct sl__field *field, struct sl_error *err);

/* One level deeper, or SL_E_DATA; the caller decrements r->depth. */
enum sl_status sl__onnx_descend(struct sl__onnx_reader *r, size_t at,
				struct sl_error *err) SL_CHECKED;

/* An entry of a list of operator sets; adds it to 'opsets'. */
enum sl_status sl__onnx_opset(struct sl__onnx_reader *r, struct sl__wire entry,
			      struct sl__map *opsets, struct sl__opset *out,
			      struct sl_error *err) SL_CHECKED;

/* onnx_graph.c.  Reads a graph into scope->block. */
enum sl_status sl__onnx_graph(struct sl__onnx_reader *r, struct sl__wire wire,
			      struct sl__onnx_scope *scope,
			      struct sl_error *err) SL_CHECKED;

/* The nodes of a message, which are its fields of that number. */
enum sl_status sl__onnx_nodes(struct sl__onnx_reader *r, struct sl__wire wire,
			      uint32_t number, struct sl__onnx_scope *scope,
			      struct sl_error *err) SL_CHECKED;

/* What a name stands for; NULL: nothing. */
const size_t *sl__onnx_find(const struct sl__onnx_scope *scope,
			    const char *name);

/* onnx_node.c. */
enum sl_status sl__onnx_node(struct sl__onnx_reader *r, struct sl__wire wire,
			     struct sl__onnx_scope *scope,
			     struct sl_error *err) SL_CHECKED;

/* onnx_attribute.c.  *out has no name where nothing was given for it. */
enum sl_status sl__onnx_attribute(struct sl__onnx_reader *r,
				  struct sl__wire wire,
				  struct sl__onnx_scope *scope,
				  struct sl__attribute *out,
				  struct sl_error *err) SL_CHECKED;
enum sl_status sl__onnx_give(struct sl__onnx_reader *r, struct sl__wire wire,
			     uint32_t number, struct sl__onnx_given *out,
			     struct sl_error *err) SL_CHECKED;

/* onnx_function.c: making functions known, finding and inlining them. */
enum sl_status sl__onnx_functions(struct sl__onnx_reader *r,
				  struct sl__wire model, size_t n,
				  struct sl_error *err) SL_CHECKED;
struct sl__onnx_function *sl__onnx_callee(struct sl__onnx_reader *r,
					  const struct sl__field head[3]);
enum sl_status sl__onnx_inline(struct sl__onnx_reader *r, struct sl__wire node,
			       const char *name,
			       struct sl__onnx_scope *scope,
			       struct sl_error *err) SL_CHECKED;
