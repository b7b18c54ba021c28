/* SPDX-License-Identifier: Apache-2.0 */
/* training_steps.h - models trained on this machine, step by step. */
#ifndef SLEUTH_TRAINING_STEPS_H
#define SLEUTH_TRAINING_STEPS_H

#include "sleuth/inspecting.h"
#include "sleuth/running.h"

#ifdef __cplusplus
extern "C" {
#endif

enum sl_loss {
	SL_LOSS_CROSS_ENTROPY = 0, /* of scores, which a softmax follows */
	SL_LOSS_NLL,               /* of logarithms of probabilities */
	SL_LOSS_MSE,
	SL_LOSS_BCE /* of scores, which a sigmoid follows */
};
enum { SL_N_LOSSES = SL_LOSS_BCE + 1 };

/* "cross-entropy", "nll", "mse", "bce"; never NULL. */
SL_API const char *sl_loss_text(enum sl_loss loss);

enum sl_training_flags {
	SL_TRAINING_NO_UPDATE = 1u << 0,     /* gradients only */
	SL_TRAINING_KEEP_GRADIENTS = 1u << 1 /* readable after a step; takes
						their memory all through it */
};

struct sl_training_options {
	size_t struct_size;
	enum sl_loss loss;
	const char *output; /* of the model that the loss is of; NULL: the
				first */
	int has_ignored;    /* targets of the class 'ignored' count nothing */
	int64_t ignored;
	double smoothing; /* of labels, 0 to 1 */

	enum sl_optimizer optimizer; /* NONE: Adam */
	double learning_rate;        /* 0: 0.001 */
	double momentum;             /* of MOMENTUM; 0: 0.9 */
	int is_nesterov;
	double beta1, beta2, epsilon; /* of ADAM, ADAMW; 0: 0.9, 0.999, 1e-8 */
	double weight_decay;
	double max_norm; /* gradients are clipped to; 0: not at all */

	const char *freeze;       /* parameters whose name matches this extended
			       regular expression are not trained; NULL: none */
	uint64_t seed;            /* of synthetic inputs and targets; 0: 1 */
	unsigned flags;           /* enum sl_training_flags */
	uint64_t n_micro_batches; /* of a step, whose gradients are averaged
				     before its update; default 1, at most
				     4096.  The plan's batch is that of one;
				     inputs that have a batch and the target
				     hold all of them, one after the other along
				     their first dimension */
	int64_t n_segments; /* that the forward pass is cut into: activations
			       of all but the last are not kept for the backward
			       pass but computed again, to the same bits; 0 or
			       1: none, at most 64; negative: as many as need
			       the least memory */
};
#define SL_TRAINING_OPTIONS_INIT SL_OPTIONS_INIT(struct sl_training_options)

/*
 * A model that is trained, with its parameters, optimizer state and plan.  The
 * graph must outlive it and stays as it is.  Used by one thread at a time.
 */
struct sl_trainer;

/*
 * Makes the graph of one training step (forward, loss, backward, update) and
 * its plan; both options may be NULL.  SL_E_DATA: there is nothing to train
 * (no parameters, all frozen, no path from a parameter to the output), no such
 * output, a pattern that is no regular expression or matches nothing,
 * micro-batches of a model whose first input has no batch.
 * SL_E_ABSENT names a node without a gradient, or with a body where there are
 * micro-batches.  Otherwise fails as
 * sl_plan_new() does.
 */
SL_API enum sl_status sl_trainer_open(struct sl_trainer **out,
				      const struct sl_graph *graph,
				      const struct sl_training_options *options,
				      const struct sl_plan_options *plan,
				      struct sl_error *err) SL_CHECKED;
SL_API void sl_trainer_close(struct sl_trainer *trainer); /* NULL is fine */

/*
 * Copies what an input of the model holds, or the target, whose name is
 * "target": classes (i64) of cross-entropy and nll, else numbers of the
 * output's type and sizes.  It stays for all steps until it is set again.
 * SL_E_DATA for another type or other sizes, and for classes that the output
 * does not have.
 */
SL_API enum sl_status sl_trainer_set_input(struct sl_trainer *trainer,
					   const char *name,
					   const struct sl_array *value,
					   struct sl_error *err) SL_CHECKED;

/* Like sl_trainer_set_input(), from a .npy or .pb file. */
SL_API enum sl_status sl_trainer_load_input(struct sl_trainer *trainer,
					    const char *name, const char *path,
					    struct sl_error *err) SL_CHECKED;

/*
 * One training step.  Inputs that were not set are made as by
 * sl_plan_fill_inputs(); a target that was not set is drawn: classes evenly,
 * 0 or 1 for bce, normal numbers for mse.  *loss is that before the update, the
 * mean over micro-batches; NULL is fine.  SL_E_DATA where it is not a number: the parameters then stay
 * as they were.
 */
SL_API enum sl_status sl_train_step(struct sl_trainer *trainer, double *loss,
				    struct sl_error *err) SL_CHECKED;

/* Whether the target of the last step was drawn: the loss then says nothing
 * about the model. */
SL_API int sl_trainer_has_synthetic_target(const struct sl_trainer *trainer);

/* From the next step on; above 0. */
SL_API void sl_trainer_set_rate(struct sl_trainer *trainer,
				double learning_rate);

/* Parameters that are trained, by their names in the model; NULL beyond the
 * last. */
SL_API size_t sl_trainer_n_parameters(const struct sl_trainer *trainer);
SL_API const char *sl_trainer_parameter_name(const struct sl_trainer *trainer,
					     size_t i);

/*
 * What a parameter holds now, and its gradient of the last step as the loss
 * gave it, before clipping.  What *out points to is the trainer's, until the
 * next step.  SL_E_DATA for a name that is not trained; of gradients SL_E_USAGE
 * before the first step, and where they are not kept
 * (SL_TRAINING_KEEP_GRADIENTS or SL_TRAINING_NO_UPDATE).
 */
SL_API enum sl_status sl_trainer_parameter(struct sl_trainer *trainer,
					   const char *name,
					   struct sl_array *out,
					   struct sl_error *err) SL_CHECKED;
SL_API enum sl_status sl_trainer_gradient(struct sl_trainer *trainer,
					  const char *name,
					  struct sl_array *out,
					  struct sl_error *err) SL_CHECKED;

#ifdef __cplusplus
}
#endif

#endif
