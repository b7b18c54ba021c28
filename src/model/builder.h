/* SPDX-License-Identifier: Apache-2.0 */
/* builder.h - the inside of a builder: what its own files share. */
#ifndef SL_BUILDER_H
#define SL_BUILDER_H

#include "base/map.h"
#include "graph/shapes.h"
#include "sleuth/models.h"

enum { SL__BUILDER_OPSET = 20 }; /* the first with Gelu; ir version 9 */

struct sl__builder_scope {
	const char *prefix; /* "layer1.0." */
	struct sl__builder_scope *around;
};

/*
 * Invariants: 'graph' is NULL exactly when the builder was finished.  The
 * types of all values so far are in 'shapes', with symbols kept.  Once
 * 'failed' is not SL_OK nothing is added any more.  Numbers of values are the
 * graph's own.
 */
struct sl_builder {
	struct sl__arena arena; /* of names and lists while building */
	struct sl_graph *graph;
	struct sl__shapes *shapes;
	enum sl_status failed;
	struct sl_error err;
	uint64_t seed;
	enum sl_dtype dtype; /* of weights and single numbers from here on */
	int is_untrained;    /* norms of layers are 1, biases 0 */
	struct sl__builder_scope *scope;
	struct sl__map names;     /* of nodes and values: how often each was
				     asked for */
	struct sl__map constants; /* values of lists and scalars */
	/* Of the next node. */
	const char *name;   /* NULL: after its type */
	const char *domain; /* NULL: ONNX's own */
	int is_full_name;   /* the scope is in it, and it is taken */
	size_t n_new_outputs;
	double gain; /* 0: 1 */
	struct sl__attribute *attributes;
	size_t n_attributes, cap_attributes;
	/* Of the model. */
	uint32_t *inputs, *outputs;
	size_t n_inputs, n_outputs, cap_inputs, cap_outputs;
};

/* Makes the builder fail, unless it has failed already; returns -1. */
int sl__builder_fail(struct sl_builder *b, enum sl_status status,
		     const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Keeps a failure that has filled b->err: -1, or 0 for SL_OK. */
int sl__builder_keep_status(struct sl_builder *b, enum sl_status rc);
int sl__builder_nomem(struct sl_builder *b); /* -1 */

/* Makes room for one more element of an array in the builder's arena; 'array'
 * is the address of the pointer. */
int sl__builder_grow_array(struct sl_builder *b, void *array, size_t n,
			   size_t *cap, size_t n_bytes);

/* A name, or "name_2" and so on where it is taken; the same with the scope
 * before it.  NULL after a failure. */
const char *sl__builder_unique_name(struct sl_builder *b, const char *full);
const char *sl__builder_unique_scoped_name(struct sl_builder *b,
					   const char *name);

/* A scope whose name is put together; sl_builder_leave() ends it. */
void sl__builder_enter_scope_format(struct sl_builder *b, const char *format,
				    ...) __attribute__((format(printf, 2, 3)));

/* Enters the scope of a layer: the name that was set, else 'otherwise', made
 * unique. */
void sl__builder_enter_layer(struct sl_builder *b, const char *otherwise);

/* The next node, a layer's main one, takes the name of the scope itself. */
void sl__builder_name_after_scope(struct sl_builder *b);

/* A new value of the graph, and the value once the shapes know of it; -1
 * after a failure. */
int sl__builder_add_value(struct sl_builder *b, const char *name);
int sl__builder_infer_shapes(struct sl_builder *b, int value);

int sl__builder_check_rank(struct sl_builder *b, const char *name, size_t rank);

/* A tensor of the graph without numbers yet; NULL after a failure. */
struct sl__tensor *sl__builder_new_tensor(struct sl_builder *b,
					  const char *name, enum sl_dtype dtype,
					  size_t rank, const int64_t *dims);

/* An attribute that is a tensor of one f32. */
void sl__builder_tensor_attribute(struct sl_builder *b, const char *key,
				  float value);

/* A list of integers, a single number (of the type of weights) and a single
 * integer, as constants; the same again is the same value. */
int sl__builder_constant_list(struct sl_builder *b, size_t n,
			      const int64_t *values);
int sl__builder_constant_scalar(struct sl_builder *b, float value);
int sl__builder_constant_integer(struct sl_builder *b, int64_t value);

/* The node that makes a value; NULL for inputs, parameters and -1. */
const struct sl__node *sl__builder_producer(const struct sl_builder *b,
					    int value);

/* The rank of a value, and a dimension (from the end where negative).  The
 * builder fails, and -1 is returned, where it is not known, or known by name
 * only. */
int sl__builder_rank(struct sl_builder *b, int value);
int64_t sl__builder_dim_size(struct sl_builder *b, int value, int d);

#endif
