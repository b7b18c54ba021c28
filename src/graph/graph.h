/* SPDX-License-Identifier: Apache-2.0 */
/* graph.h - a model: values, nodes, blocks, each by its number. */
#ifndef SL_GRAPH_H
#define SL_GRAPH_H

#include "base/map.h"
#include "base/file_mapping.h"
#include "graph/tensor.h"
#include "sleuth/inspecting.h"

/*
 * A size or an integer that may be known by name only: symbol i is the
 * number SL__SYMBOL_BASE + i; everything from SL__SYMBOL_END on is itself.
 * So a dimension, and an element of a tensor that holds dimensions, is one
 * int64_t.
 */
#define SL__SYMBOL_BASE INT64_MIN
#define SL__SYMBOL_END  (INT64_MIN / 2)

static inline int
sl__is_symbol(int64_t size)
{
	return size < SL__SYMBOL_END;
}

struct sl__symbol {
	const char *name;
	int64_t usual;  /* bound to this unless told otherwise; 0: nothing */
	int is_unnamed; /* the name is made of its place: "x.0" */
};

enum sl__type_kind {
	SL__TYPE_UNKNOWN = 0,
	SL__TYPE_TENSOR,
	SL__TYPE_SPARSE,
	SL__TYPE_SEQUENCE, /* of 'element' */
	SL__TYPE_OPTIONAL, /* of 'element' */
	SL__TYPE_MAP,
	SL__TYPE_OPAQUE
};

struct sl__type {
	enum sl__type_kind kind;
	enum sl_dtype dtype; /* of tensors, of maps' keys; NONE: not known */
	int rank;            /* -1: not known */
	const int64_t *dims; /* sizes or symbols */
	const struct sl__type *element;
};

#define SL__NONE UINT32_MAX /* no value, node or block */

struct sl__value {
	const char *name; /* never NULL, may be empty */
	enum sl_value_kind kind;
	uint32_t producer;               /* node, or SL__NONE */
	uint32_t block;                  /* where it is defined */
	struct sl__type declared;        /* by the file; may be UNKNOWN */
	const struct sl__tensor *tensor; /* of parameters, else NULL */
	uint32_t old_state; /* input that a new state replaces; else SL__NONE */
	int is_apart;       /* never fused with the node that uses it */
};

enum sl__attribute_kind {
	SL__ATTRIBUTE_INT = 1, /* ints[0] */
	SL__ATTRIBUTE_FLOAT,   /* floats[0] */
	SL__ATTRIBUTE_STRING,  /* strings[0] */
	SL__ATTRIBUTE_TENSOR,  /* tensor */
	SL__ATTRIBUTE_BLOCK,   /* block */
	SL__ATTRIBUTE_INTS,
	SL__ATTRIBUTE_FLOATS,
	SL__ATTRIBUTE_STRINGS,
	SL__ATTRIBUTE_TYPE, /* type */
	SL__ATTRIBUTE_OTHER /* lists of tensors or graphs: kept by name */
};

struct sl__attribute {
	const char *name;
	enum sl__attribute_kind kind;
	size_t n; /* of ints, floats or strings */
	const int64_t *ints;
	const float *floats;
	const char *const *strings; /* each ends in NUL; bytes after an inner
				       NUL are lost */
	const struct sl__tensor *tensor;
	const struct sl__type *type;
	uint32_t block;
};

struct sl__op; /* op_rules.h */
struct sl__node {
	const char *name; /* never NULL; "Conv_12" where the file has none */
	const char *domain, *type;
	const struct sl__op *op; /* NULL: not in the table, opaque */
	int version;             /* of its domain's operator set */
	enum sl_phase phase;     /* of a training step; FORWARD in a model */
	uint32_t forward;        /* of others: the model's node, or SL__NONE */
	uint32_t block;
	uint32_t n_inputs, n_outputs;
	size_t n_attributes;
	const uint32_t *inputs, *outputs; /* values; SL__NONE: left out */
	const struct sl__attribute *attributes;
};

/* Nodes in an order in which they can run, with inputs and outputs.  Block 0
 * is the model; others are the bodies of If, Loop and Scan, and may use values
 * of the blocks around them. */
struct sl__block {
	const char *name;
	uint32_t owner; /* node, SL__NONE for block 0 */
	size_t n_inputs, n_outputs, n_nodes, cap_nodes;
	uint32_t *inputs, *outputs, *nodes;
};

struct sl__opset {
	const char *domain;
	int version;
};

struct sl__metadata {
	const char *key, *value;
};

/*
 * Invariants after sl__graph_freeze(): ids are indices; a value has one
 * producer or is an input or has a tensor; each block's nodes stand after
 * the producers of what they use; nothing changes any more, not even storage
 * that is kept on the side, and any number of threads may read.
 */
struct sl_graph {
	struct sl__arena arena;
	const char *name;           /* "resnet50" */
	const char *source;         /* the path, or "zoo" */
	const char *producer;       /* who wrote the file; may be "" */
	int ir_version, is_builtin; /* of the zoo: known by its name */
	uint64_t seed; /* of weights that are made when read; 0: of a file */
	struct sl__value *values;
	struct sl__node *nodes;
	struct sl__block *blocks;
	struct sl__symbol *symbols;
	struct sl__map symbol_ids, place_ids; /* by name; by place */
	struct sl__opset *opsets;
	struct sl__metadata *metadata;
	struct sl__file_mapping *mappings; /* the file, and external ones */
	size_t n_values, n_nodes, n_blocks, n_symbols, n_opsets, n_metadata,
		n_mappings;
	size_t cap_values, cap_nodes, cap_blocks, cap_symbols, cap_mappings;
	int is_frozen;
};

#endif
