/* SPDX-License-Identifier: Apache-2.0 */
/* variants.h - models changed, or run in another way, to see what it is worth.
 */
#ifndef SLEUTH_VARIANTS_H
#define SLEUTH_VARIANTS_H

#include "sleuth/data_sets.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How the range of an activation follows from what calibration saw of it. */
enum sl_calibration {
	SL_CALIBRATION_MIN_MAX = 0, /* all of it */
	SL_CALIBRATION_PERCENTILE,  /* all but one in 10,000 */
	SL_CALIBRATION_MSE          /* what gives the least squared error */
};
enum { SL_N_CALIBRATIONS = SL_CALIBRATION_MSE + 1 };

/* "min-max", "percentile", "mse"; never NULL. */
SL_API const char *sl_calibration_text(enum sl_calibration calibration);

struct sl_variant_options {
	size_t struct_size;
	const struct sl_plan_options *plan; /* how the model is run without any
					       change; NULL: defaults */
	const struct sl_dataset *data;      /* calibrates and fine-tunes, by its
					  training split; NULL: synthetic
					  inputs */
	size_t n_samples; /* that calibrate; default 128, or all there are */
	enum sl_calibration calibration;
	const char *const *keep; /* names of layers that stay as they are */
	size_t n_keep;
	uint64_t seed; /* of synthetic inputs and fine-tuning; default 1 */
	void (*progress)(const struct sl_progress *now, void *ctx);
	void *progress_ctx;
	const volatile sig_atomic_t *interrupt;
	const struct sl_allocator *allocator; /* NULL: malloc and free */
	double accuracy_drop; /* that int8 may cost, as a share: its layers'
				 sensitivities are measured, and those that cost
				 more stay in f32; 0: all layers are int8 */
};
#define SL_VARIANT_OPTIONS_INIT SL_OPTIONS_INIT(struct sl_variant_options)

/* What it costs to have one layer alone in 8 bits. */
struct sl_layer_sensitivity {
	const char *layer, *type; /* name and operator of the node */
	double output_error; /* root of the mean squared difference of the first
				output, over the root of its mean square */
	int is_kept;         /* it stays in f32, for accuracy's sake */
};

/* What one change did. */
struct sl_variant_change {
	const char *name; /* as asked for: "int8", "prune-channels=0.5" */
	const char *text; /* one line that says what it did */
	size_t n_layers;  /* that it changed; 0: only how the model is run */
	uint64_t weights_before_bytes, weights_after_bytes;

	/* Of int8 with a limit on accuracy: its layers, the most sensitive
	 * first, and the share of accuracy, or of agreement, that is lost on
	 * samples of the training split, or on synthetic inputs: with all
	 * layers in 8 bits, and with those that were chosen.  n 0: there was
	 * no limit. */
	const struct sl_layer_sensitivity *sensitivities;
	size_t n_sensitivities;
	double drop_of_all, drop;
};

/* A changed model.  Owns all it points to, but the weights that the change left
 * as they were: the model that it is of outlives it, and so do the options of
 * the plan. */
struct sl_variant {
	const char *name;             /* "int8,threads=1" */
	const struct sl_graph *graph; /* the model's own where no change was to
					 it */
	struct sl_plan_options plan;  /* how to run it */
	struct sl_sizes sizes;        /* of the plan */
	const struct sl_variant_change *changes;
	size_t n_changes;
};

/*
 * Applies changes, separated by commas, one after the other: "int8",
 * "prune-channels=0.5,int8", "threads=2,fuse=off".  SL_E_USAGE for a change
 * that is unknown, with the nearest, or whose value makes no sense; SL_E_DATA
 * for one that this model cannot have, with the reason, or where data and model
 * do not fit.
 */
SL_API enum sl_status sl_variant_new(struct sl_variant **out,
				     const struct sl_graph *graph,
				     const char *changes,
				     const struct sl_variant_options *options,
				     struct sl_error *err) SL_CHECKED;
SL_API void sl_variant_free(struct sl_variant *v); /* NULL is fine */

/* A change that can be asked for. */
struct sl_variant_rule {
	const char *name;
	const char *value; /* what follows "=": "N", "SHARE"; NULL: nothing */
	const char *text;  /* what it does */
};

/* The i-th change there is; NULL beyond the last. */
SL_API const struct sl_variant_rule *sl_variant_rule_at(size_t i);

#ifdef __cplusplus
}
#endif

#endif
