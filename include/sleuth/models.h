/* SPDX-License-Identifier: Apache-2.0 */
/* models.h - models: read, built, sized and counted, without running them. */
#ifndef SLEUTH_MODELS_H
#define SLEUTH_MODELS_H

#include "sleuth/basics.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A model: nodes and values, from an ONNX file, the zoo or a builder.
 * Nothing changes once it is made; any number of threads may read it.  The
 * numbers of a file stay in the file and are read when they are needed.
 */
struct sl_graph;

/* Nothing here is kept beyond the call but the allocator's own copy; of a
 * builder's, beyond sl_builder_finish(). */
struct sl_graph_options {
	size_t struct_size;
	uint64_t seed;            /* of the zoo's weights; default 1 */
	const struct sl_log *log; /* remarks, such as nodes out of order */
	const struct sl_allocator *allocator; /* NULL: malloc and free */
};
#define SL_GRAPH_OPTIONS_INIT SL_OPTIONS_INIT(struct sl_graph_options)

/*
 * Reads the model 'name': a path to an ONNX file, or a name of the zoo such
 * as "resnet50" or "mlp:784-256-128-10".  A name with a '/' or that ends in
 * ".onnx" is a path; any other is looked for in the zoo first.  SL_E_DATA
 * with the byte or node for a file that is malformed, SL_E_IO for one that
 * cannot be read, SL_E_USAGE for a name that is neither, with the nearest.
 */
SL_API enum sl_status sl_graph_open(struct sl_graph **out, const char *name,
				    const struct sl_graph_options *options,
				    struct sl_error *err) SL_CHECKED;
SL_API void sl_graph_free(struct sl_graph *graph);

/*
 * Writes the model as ONNX.  Weights go into the file; where they are more
 * than 2 GB (the format's limit), into "FILE.data" beside it.  Weights of
 * the zoo are made on the way and never held in memory.
 */
SL_API enum sl_status sl_graph_write(const struct sl_graph *graph,
				     const char *path,
				     struct sl_error *err) SL_CHECKED;

/* What a value is to its model. */
enum sl_value_kind {
	SL_VALUE_ACTIVATION = 0, /* computed by a node */
	SL_VALUE_INPUT,          /* given by the caller */
	SL_VALUE_PARAMETER,      /* a number of the model: initializers, and
				    Constant nodes that play their part */
	SL_VALUE_STATE           /* an input that the model hands back renewed:
				    KV caches, hidden states */
};

/* Where there is no value: an input that a node leaves out, or a number or
 * name that is none. */
#define SL_NO_VALUE SIZE_MAX

/*
 * Nodes and values have numbers from 0, bodies of loops and branches
 * included.  Strings live as long as the graph; for a number beyond the last
 * they are NULL, counts 0, values SL_NO_VALUE, kinds ACTIVATION, types NONE.
 */
SL_API const char *sl_graph_name(const struct sl_graph *graph);
SL_API size_t sl_graph_n_nodes(const struct sl_graph *graph);
SL_API size_t sl_graph_n_values(const struct sl_graph *graph);
SL_API const char *sl_graph_node_name(const struct sl_graph *graph,
				      size_t node_id);
SL_API const char *sl_graph_node_type(const struct sl_graph *graph,
				      size_t node_id); /* "Conv" */
SL_API const char *sl_graph_node_domain(const struct sl_graph *graph,
					size_t node_id); /* "": ONNX's */
SL_API const char *sl_graph_value_name(const struct sl_graph *graph,
				       size_t value_id);
SL_API enum sl_value_kind sl_graph_value_kind(const struct sl_graph *graph,
					      size_t value_id);

/* As the file declares it, or a parameter has it; NONE where only inference
 * can tell, see sl_sized_value(). */
SL_API enum sl_dtype sl_graph_value_dtype(const struct sl_graph *graph,
					  size_t value_id);

/* Inputs that a caller gives and outputs of the model, each a value's number,
 * in the order of the file; and the one of that name. */
SL_API size_t sl_graph_n_inputs(const struct sl_graph *graph);
SL_API size_t sl_graph_input(const struct sl_graph *graph, size_t i);
SL_API size_t sl_graph_find_input(const struct sl_graph *graph,
				  const char *name);
SL_API size_t sl_graph_n_outputs(const struct sl_graph *graph);
SL_API size_t sl_graph_output(const struct sl_graph *graph, size_t i);
SL_API size_t sl_graph_find_output(const struct sl_graph *graph,
				   const char *name);

/* Values that a node takes and makes; SL_NO_VALUE for one left out. */
SL_API size_t sl_graph_node_n_inputs(const struct sl_graph *graph,
				     size_t node_id);
SL_API size_t sl_graph_node_input(const struct sl_graph *graph, size_t node_id,
				  size_t i);
SL_API size_t sl_graph_node_n_outputs(const struct sl_graph *graph,
				      size_t node_id);
SL_API size_t sl_graph_node_output(const struct sl_graph *graph, size_t node_id,
				   size_t k);

/* A dimension that the model knows by name only, and its size. */
struct sl_dim_size {
	const char *name;
	int64_t size;
};

struct sl_input_shape {
	const char *input;
	const int64_t *dims;
	size_t rank;
};

/*
 * The sizes under which a model is looked at.  Three dimensions have names of
 * their own:
 *
 *	batch  the first dimension of the first input
 *	seq    called seq, sequence, seq_len, seq_length, sequence_length or
 *	       tokens; else the second dimension of the first input of integers
 *	past   called past, past_len, past_seq_len or past_sequence_length
 *
 * All others are bound by the name that the model gives them, or with the
 * whole shape of an input.  What is said twice must agree.  A dimension that
 * nothing binds takes the model's usual size: 1 for the batch, and what the
 * zoo says of its own (128 for seq); any other left free is SL_E_DATA.
 */
struct sl_sizes {
	size_t struct_size;
	int64_t batch, seq, past; /* 0: not said */
	int has_past;             /* past is said even if it is 0: the first
				     token, with a cache that is empty */
	const struct sl_dim_size *dims;
	size_t n_dims;
	const struct sl_input_shape *shapes;
	size_t n_shapes;
	const char *inputs_folder; /* files of inputs, input_N.pb or NAME.npy:
				      their shapes, and the contents of small
				      ones; NULL: none */
};
#define SL_SIZES_INIT SL_OPTIONS_INIT(struct sl_sizes)

/* Whether the model has what 'seq' and 'past' set, and a dimension of that
 * name. */
SL_API int sl_graph_has_seq(const struct sl_graph *graph);
SL_API int sl_graph_has_past(const struct sl_graph *graph);
SL_API int sl_graph_has_dim(const struct sl_graph *graph, const char *name);

/*
 * One layer as a model of its own: the node of that name, or all nodes of a
 * module such as "layer1.0".  What the layer takes from others becomes its
 * inputs, with the sizes it has under 'sizes' (NULL: the usual ones); its
 * weights stay where they are, so that 'graph' must outlive the new one.
 * SL_E_USAGE where nothing has that name; SL_E_ABSENT for a node with a body
 * (If, Loop); SL_E_DATA as sl_inspect() says.
 */
SL_API enum sl_status sl_graph_extract(struct sl_graph **out,
				       const struct sl_graph *graph,
				       const char *layer,
				       const struct sl_sizes *sizes,
				       struct sl_error *err) SL_CHECKED;

/* How a cost was found. */
enum sl_basis {
	SL_BASIS_COUNTED = 0, /* follows from shapes and attributes */
	SL_BASIS_ESTIMATED,   /* depends on data: a bound, 'why' says which */
	SL_BASIS_UNKNOWN      /* not known, 'why' says so; operations are 0,
				 bytes those of the shapes that are known */
};
enum { SL_N_BASES = SL_BASIS_UNKNOWN + 1 };

/* "counted", "estimated", "unknown"; never NULL. */
SL_API const char *sl_basis_text(enum sl_basis basis);

/* What tools that count FLOPs tell apart. */
enum sl_work {
	SL_WORK_OTHER = 0,   /* element-wise and whatever else computes */
	SL_WORK_MOVEMENT,    /* copies: transpose, concat, gather, pad ... */
	SL_WORK_VIEW,        /* nothing moves: reshape, squeeze, identity */
	SL_WORK_CONVOLUTION, /* transposed ones too */
	SL_WORK_LINEAR,      /* a product with a parameter */
	SL_WORK_PRODUCT,     /* a product of two activations: attention */
	SL_WORK_RECURRENT,
	SL_WORK_BATCH_NORM,
	SL_WORK_LAYER_NORM, /* LayerNormalization, RMS, Group, Instance */
	SL_WORK_ACTIVATION,
	SL_WORK_SOFTMAX,
	SL_WORK_POOL,
	SL_WORK_ADAPTIVE_POOL, /* global pooling, or to a given size */
	SL_WORK_REDUCTION,
	SL_WORK_EMBEDDING, /* rows looked up in a parameter */
	SL_WORK_QUANTIZE   /* to and from integers */
};
enum { SL_N_WORKS = SL_WORK_QUANTIZE + 1 };

/* "convolution", "attention matmul", ...; never NULL. */
SL_API const char *sl_work_text(enum sl_work work);

/*
 * What one call of a node does.  Operations are by kind: a fused
 * multiply-add is one 'fma' (two FLOPs), 'exp' is any transcendental
 * function.  Bytes are of weights, inputs and outputs, each once; views move
 * none, and a lookup reads the rows that it takes.
 */
struct sl_cost {
	uint64_t mul, add, fma, div, exp, cmp;
	uint64_t macs; /* the core: part of fma that is a convolution, a matrix
			  product, or a recurrent product */
	uint64_t weight_bytes, read_bytes,
		written_bytes;              /* read: not weights */
	uint64_t in_elements, out_elements; /* of the first input and output */
	enum sl_work work;
	enum sl_basis basis;
	const char *why; /* NULL when counted; lives as long as the result */
};

/* All operations: mul + add + 2 fma + div + exp + cmp. */
SL_API uint64_t sl_cost_operations(const struct sl_cost *cost);

/* All traffic: weights, read and written; both stop at UINT64_MAX. */
SL_API uint64_t sl_cost_bytes(const struct sl_cost *cost);

/* What counting tools would print for a model, and in which unit. */
enum sl_convention {
	SL_CONVENTION_CORE = 0,   /* MACs of convolutions and matmuls */
	SL_CONVENTION_TORCH,      /* FlopCounterMode: 2 x core, no LSTM */
	SL_CONVENTION_FVCORE,     /* fvcore 0.1.5: MACs and norms, pools; no
				     recurrence, no fused attention */
	SL_CONVENTION_THOP,       /* thop 0.1.1: MACs without attention, ... */
	SL_CONVENTION_ALL,        /* every operation of the typed vector */
	SL_CONVENTION_CORE_CAUSAL /* core with causal attention halved */
};
enum { SL_N_CONVENTIONS = SL_CONVENTION_CORE_CAUSAL + 1 };

/* "core", "torch", "fvcore", "thop", "all", "core_causal". */
SL_API const char *sl_convention_text(enum sl_convention convention);

/* "MACs" or "FLOPs". */
SL_API const char *sl_convention_unit(enum sl_convention convention);

/*
 * A model under one set of sizes: the shape of every value and the cost of
 * every node.  The graph must outlive it.  Nothing changes once it is made;
 * any number of threads may read it.
 */
struct sl_sized;

/* 'sizes' NULL: the usual ones; 'allocator' NULL: malloc and free.  Fails as
 * sl_inspect() does. */
SL_API enum sl_status sl_sized_new(struct sl_sized **out,
				   const struct sl_graph *graph,
				   const struct sl_sizes *sizes,
				   const struct sl_allocator *allocator,
				   struct sl_error *err) SL_CHECKED;
SL_API void sl_sized_free(struct sl_sized *sized); /* NULL is fine */

struct sl_value_shape {
	enum sl_dtype dtype; /* NONE: not known, or no tensor */
	int rank;            /* -1: not known, or no tensor */
	const int64_t *dims; /* -1: depends on data; lives as long as the
				sl_sized */
	int is_known;        /* all dimensions are, and the next two stand */
	uint64_t n_elements;
	uint64_t n_bytes; /* packed; 0 for strings */
};

/* Each returns 1, or 0 and leaves 'out' alone where there is no such value
 * or node. */
SL_API int sl_sized_value(const struct sl_sized *sized, size_t value_id,
			  struct sl_value_shape *out);

/*
 * What one call of a node does, and how often it is called in one run of the
 * model: once, in loops more, in branches not taken never; 0 with the basis
 * UNKNOWN where that depends on data.  'n_calls' may be NULL; 'why' lives as
 * long as the sl_sized.
 */
SL_API int sl_sized_node_cost(const struct sl_sized *sized, size_t node_id,
			      struct sl_cost *out, uint64_t *n_calls);

/*
 * What a model or a layer holds and computes.  'flops' are 2 x MACs, as papers
 * count; biases, activations and norms are not among them.  'all_flops' counts
 * every operation, one for each element of a Relu.  Per sample means per
 * element of the batch and does not depend on it.
 */
struct sl_counts {
	uint64_t parameters; /* trainable */
	uint64_t parameter_bytes;
	int64_t batch;
	uint64_t macs, flops; /* of the whole batch */
	uint64_t macs_per_sample, flops_per_sample;
	uint64_t all_flops;  /* sl_cost_operations() of the whole batch */
	uint64_t bias_flops; /* additions of biases, of the whole batch; not
				in flops.  Of a model: those inside products
				and convolutions, and an Add of a vector of
				parameters to what one of them makes, where
				nothing else uses that */
};

/* Trainable parameters: weights, each once, without statistics and
 * constants. */
SL_API enum sl_status sl_count_parameters(uint64_t *out,
					  const struct sl_graph *graph,
					  struct sl_error *err) SL_CHECKED;

/* 'sizes' NULL: batch 1 and the usual sizes.  SL_E_DATA when a size is not
 * known or, naming the first, when the cost of a node is not. */
SL_API enum sl_status sl_count_flops(struct sl_counts *out,
				     const struct sl_graph *graph,
				     const struct sl_sizes *sizes,
				     struct sl_error *err) SL_CHECKED;

/* Single layers in f32, by closed form; all_flops are those of the products
 * and biases.  SL_E_USAGE for sizes below 1 or
 * beyond 64 bits. */
SL_API enum sl_status sl_count_linear(struct sl_counts *out, int64_t batch,
				      int64_t n_in, int64_t n_out, int has_bias,
				      struct sl_error *err) SL_CHECKED;

/* sl_builder_conv2d() takes input channels and size from its input and does
 * not look at the three here. */
struct sl_conv2d {
	int64_t in_channels, out_channels;
	int64_t height, width;               /* of the input */
	int64_t kernel_height, kernel_width; /* 0: 3; as high */
	int64_t stride, padding, dilation;   /* 0: 1, 0, 1 */
	/* Along the width where they differ; 0: the same.  A padding of -1 is
	 * none. */
	int64_t stride_width, padding_width, dilation_width;
	int64_t groups; /* 0: 1 */
	int has_bias;
};
SL_API enum sl_status sl_count_conv2d(struct sl_counts *out, int64_t batch,
				      const struct sl_conv2d *conv,
				      struct sl_error *err) SL_CHECKED;

/* Four projections and two products, no softmax. */
SL_API enum sl_status sl_count_attention(struct sl_counts *out, int64_t batch,
					 int64_t seq, int64_t width,
					 int has_bias,
					 struct sl_error *err) SL_CHECKED;

/*
 * Assembles a model from layers (names, lists and numbers are copied):
 *
 *	int x = sl_builder_input(b, "x", SL_DTYPE_F32, 2,
 *				 (int64_t[]){sl_builder_symbol(b, "batch", 1),
 *					     784});
 *	x = sl_builder_linear(b, x, 256, 1);
 *	x = sl_builder_relu(b, x);
 *	sl_builder_output(b, x, "scores");
 *	rc = sl_builder_finish(&graph, b, &err);
 *
 * Values are small numbers from 0.  Errors stick: after the first one every
 * call returns -1 and does nothing, and sl_builder_finish() says what it was.
 * A builder is used by one thread.
 */
struct sl_builder;

SL_API enum sl_status sl_builder_new(struct sl_builder **out, const char *name,
				     const struct sl_graph_options *options,
				     struct sl_error *err) SL_CHECKED;
SL_API void sl_builder_free(struct sl_builder *b);

/*
 * Makes the graph and leaves the builder empty; sl_builder_free() is still
 * the caller's.
 */
SL_API enum sl_status sl_builder_finish(struct sl_graph **out,
					struct sl_builder *b,
					struct sl_error *err) SL_CHECKED;

/* A dimension known by name: put it where a size stands.  'usual' is what it
 * is unless the user says otherwise; 0 for nothing. */
SL_API int64_t sl_builder_symbol(struct sl_builder *b, const char *name,
				 int64_t usual);

SL_API int sl_builder_input(struct sl_builder *b, const char *name,
			    enum sl_dtype dtype, size_t rank,
			    const int64_t *dims);
SL_API void sl_builder_output(struct sl_builder *b, int value,
			      const char *name);

/* Names of what is added from here on start with "scope."; nests. */
SL_API void sl_builder_enter(struct sl_builder *b, const char *scope);
SL_API void sl_builder_leave(struct sl_builder *b);

/* Weights from here on, those of layers too, are of this type: F32 (the
 * default), F16 or BF16. */
SL_API void sl_builder_dtype(struct sl_builder *b, enum sl_dtype dtype);

/* Weights are drawn from a normal distribution of this deviation, or are all
 * 'mean' for deviation 0; made when read, never stored. */
SL_API int sl_builder_weight(struct sl_builder *b, const char *name,
			     size_t rank, const int64_t *dims, double mean,
			     double deviation);

/* Small constants, copied. */
SL_API int sl_builder_integers(struct sl_builder *b, const char *name,
			       size_t rank, const int64_t *dims,
			       const int64_t *values);
SL_API int sl_builder_floats(struct sl_builder *b, const char *name,
			     size_t rank, const int64_t *dims,
			     const float *values);

/*
 * Any ONNX operator; attributes set before it belong to it, and name it
 * where 'name' was set.  An input of -1 is left out.  Returns its first
 * output; the others are the numbers that follow, after
 * sl_builder_outputs(n).
 */
SL_API void sl_builder_name(struct sl_builder *b, const char *name);
SL_API void sl_builder_int(struct sl_builder *b, const char *key,
			   int64_t value);
SL_API void sl_builder_ints(struct sl_builder *b, const char *key, size_t n,
			    const int64_t *values);
SL_API void sl_builder_float(struct sl_builder *b, const char *key,
			     double value);
SL_API void sl_builder_text(struct sl_builder *b, const char *key,
			    const char *value);
SL_API void sl_builder_outputs(struct sl_builder *b, size_t n);

/* The next operator is of this domain, such as "com.microsoft"; one that
 * Sleuth does not know becomes a node whose results are not known. */
SL_API void sl_builder_domain(struct sl_builder *b, const char *domain);
SL_API int sl_builder_op(struct sl_builder *b, const char *type,
			 size_t n_inputs, const int *inputs);

/*
 * Layers, with weights of a scale that keeps activations in range.  Each takes
 * a value and returns the one it makes; sl_builder_name() before it names the
 * layer and its weights.
 */
SL_API int sl_builder_linear(struct sl_builder *b, int x, int64_t n_out,
			     int has_bias);
SL_API int sl_builder_conv2d(struct sl_builder *b, int x,
			     const struct sl_conv2d *conv);
SL_API int sl_builder_batch_norm(struct sl_builder *b, int x);
SL_API int sl_builder_layer_norm(struct sl_builder *b, int x);

enum sl_attention_flags {
	SL_ATTENTION_CAUSAL = 1u << 0, /* no token sees a later one */
	SL_ATTENTION_BIAS = 1u << 1    /* of the four projections */
};

/* Self-attention over batch x sequence x width: projections of queries, keys
 * and values, n_heads heads, a projection of what they give. */
SL_API int sl_builder_attention(struct sl_builder *b, int x, int64_t n_heads,
				unsigned flags);

/* Rows of a table of n_rows x width, by integers: ids of any shape get the
 * width as a last dimension. */
SL_API int sl_builder_embedding(struct sl_builder *b, int ids, int64_t n_rows,
				int64_t width);

enum sl_activation {
	SL_ACTIVATION_RELU = 0,
	SL_ACTIVATION_GELU,
	SL_ACTIVATION_SILU, /* x * sigmoid(x), two nodes */
	SL_ACTIVATION_SIGMOID,
	SL_ACTIVATION_TANH,
	SL_ACTIVATION_SOFTMAX /* along the last dimension */
};
enum { SL_N_ACTIVATIONS = SL_ACTIVATION_SOFTMAX + 1 };

SL_API int sl_builder_activation(struct sl_builder *b, int x,
				 enum sl_activation activation);
SL_API int sl_builder_relu(struct sl_builder *b, int x);

/* A window that moves over batch x channels x height x width. */
struct sl_pool2d {
	int64_t kernel_height, kernel_width; /* 0: 2; as high */
	int64_t stride, stride_width;   /* 0: the kernel's size; the same */
	int64_t padding, padding_width; /* 0: none; the same; width -1: none */
};

/* 'pool' NULL: windows of 2 x 2 that do not overlap.  Averages leave padding
 * out.  The global one makes one number of each channel, 1 x 1. */
SL_API int sl_builder_max_pool(struct sl_builder *b, int x,
			       const struct sl_pool2d *pool);
SL_API int sl_builder_average_pool(struct sl_builder *b, int x,
				   const struct sl_pool2d *pool);
SL_API int sl_builder_global_average_pool(struct sl_builder *b, int x);

/* All but the first dimension become one. */
SL_API int sl_builder_flatten(struct sl_builder *b, int x);

#ifdef __cplusplus
}
#endif

#endif
