/* SPDX-License-Identifier: Apache-2.0 */
/* training.h - a model into the graph of one training step. */
#ifndef SL_TRAINING_H
#define SL_TRAINING_H

#include "transform/differentiate.h"
#include "sleuth/training_steps.h"

/* Zero means the default. */
struct sl__training_options {
	enum sl_loss loss;
	const char *output; /* of the model that the loss is of; NULL: the
			       first */
	int has_ignored;    /* targets of that class count as nothing */
	int64_t ignored;
	double smoothing; /* of labels, 0 to 1 */

	enum sl_optimizer optimizer; /* NONE: gradients only */
	double momentum;             /* of MOMENTUM; 0: 0.9 */
	int is_nesterov;
	double beta1, beta2, epsilon; /* of ADAM, ADAMW; 0: 0.9, 0.999, 1e-8 */
	double weight_decay;
	double max_norm;    /* gradients are clipped to; 0: not at all */
	int64_t n_segments; /* of the forward pass, computed again for the
			       backward pass but for the last; 0: none,
			       negative: as many as need the least memory */
	uint64_t n_micro;   /* micro-batches whose gradients are averaged before
			     the update; 0: 1 */

	const unsigned char *is_frozen; /* by value of the model: not trained;
					   NULL: none */
	int keeps_gradients;            /* they are outputs */
	int keeps_norms;   /* no layer normalization runs again, where there are
			    no segments */
	int keeps_outputs; /* the model's output of every micro-batch is one,
			      not of the last alone */
};

/* What a step renews: input 'old' becomes what 'renewed' is (SL__NONE: stays, as
 * parameters without an optimizer do).  'initial' is what it starts as; NULL:
 * zeros. */
struct sl__training_state {
	uint32_t old, renewed;
	const struct sl__tensor *initial;
};

/* A weight that is trained, and the node of the model that uses it first. */
struct sl__trained_parameter {
	uint32_t value, gradient, forward;
	const char *name;
};

/*
 * Inputs of the graph are the model's, 'target', 'rate' (the learning rate; both
 * SL__NONE where not needed) and the states; outputs the model's output that is
 * trained, 'loss', gradients where they are kept, and the states renewed.  Nodes
 * of the model keep their numbers; the nodes of a phase stand together, in the
 * order forward, loss, backward, update; nodes that compute activations again
 * stand within backward.  A plan moves updates (transform/update_order.h).
 *
 * With micro-batches forward, loss and backward come once for each, one after
 * the other.  Inputs that have a batch, and the target, hold all of them along
 * their first dimension; the loss is the mean, and gradients are of it.
 */
struct sl__training_graph {
	struct sl_graph *graph;
	uint32_t output, target, rate, loss;
	uint32_t *outputs; /* of the micro-batches whose output is kept, the
			      first first; without micro-batches 'output' */
	size_t n_outputs, n_micro;
	size_t n_segments; /* that there are; 1: no segments are computed again */
	size_t n_model_nodes; /* the first nodes are the model's */
	int64_t n_classes; /* that targets choose from; 0: they are numbers */
	struct sl__training_state *states;
	size_t n_states;
	struct sl__trained_parameter *parameters;
	size_t n_parameters;
};

/*
 * The step of a model under sizes that are all known; the model outlives it.
 * SL_E_DATA where nothing can be trained, SL_E_ABSENT where a node has no
 * gradient; both say which.
 */
enum sl_status
sl__training_graph_new(struct sl__training_graph **out,
		       const struct sl_graph *model,
		       const struct sl__shapes *shapes,
		       const struct sl__training_options *options,
		       struct sl_error *err) SL_CHECKED;
void sl__training_graph_free(struct sl__training_graph *t); /* NULL is fine */

/* training_loss.c: adds the nodes of the loss, and t's target and loss. */
void sl__training_add_loss(struct sl__training_graph *t,
			   struct sl__differentiation *d,
			   const struct sl__training_options *options);

/* recompute.c: lets the backward pass, whose nodes are there, use activations
 * that are computed again, and fills t->n_segments.  Storage is from 'arena'. */
void sl__training_recompute(struct sl__training_graph *t,
			    struct sl__differentiation *d, int64_t n_segments,
			    struct sl__arena *arena);

/* recompute_norms.c: the backward pass, likewise, uses results of layer
 * normalizations that are computed again from what their gradients keep. */
void sl__training_recompute_norms(struct sl__training_graph *t,
				  struct sl__differentiation *d,
				  struct sl__arena *arena);

/*
 * accumulate.c: a step whose gradients are known becomes one of several
 * micro-batches.  Splits inputs and the target, copies all nodes that depend on
 * them, and sums gradients; the gradient of the loss has been scaled by the
 * caller.  Storage is from 'arena'.  SL_E_DATA where the model has no batch.
 */
void sl__training_accumulate(struct sl__training_graph *t,
			     struct sl__differentiation *d,
			     const struct sl__training_options *options,
			     struct sl__arena *arena);

#endif
