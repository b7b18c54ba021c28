/* SPDX-License-Identifier: Apache-2.0 */
/* training_runs.h - models trained on data. */
#ifndef SLEUTH_TRAINING_RUNS_H
#define SLEUTH_TRAINING_RUNS_H

#include "sleuth/data_sets.h"
#include "sleuth/evaluating.h"
#include "sleuth/training_steps.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How the learning rate goes on after the warm-up. */
enum sl_schedule {
	SL_SCHEDULE_COSINE = 0, /* falls along half a cosine to its final
				   share */
	SL_SCHEDULE_CONSTANT,
	SL_SCHEDULE_STEP /* multiplied by 'factor' every n_between steps */
};
enum { SL_N_SCHEDULES = SL_SCHEDULE_STEP + 1 };

/* "cosine", "constant", "step"; never NULL. */
SL_API const char *sl_schedule_text(enum sl_schedule schedule);

struct sl_rate {
	enum sl_schedule schedule;
	double peak;        /* the rate after the warm-up */
	uint64_t n_steps;   /* in all */
	uint64_t n_warmup;  /* steps over which it rises from 0 to the peak */
	double final_share; /* of the peak, at the end of COSINE */
	uint64_t n_between; /* of STEP, 1 or more */
	double factor;      /* of STEP */
};

/* The learning rate of a step, which counts from 0. */
SL_API double sl_rate_at(const struct sl_rate *rate, uint64_t step);

/* How a run stands, after each step. */
struct sl_train_progress {
	uint64_t step, n_steps, epoch, n_epochs; /* done, and in all; epochs
						    count from 1 */
	double loss, accuracy; /* means since the curve's last point */
	double validation_loss, validation_accuracy; /* NaN: none yet */
	double samples_per_s, remaining_s;
	int is_epoch_end;
};

struct sl_profile;

struct sl_train_options {
	size_t struct_size;
	const struct sl_training_options *training; /* loss, optimizer, rate
						       (0: 0.004); no optimizer
						       is AdamW with a decay of
						       0.1; NULL: label
						       smoothing of 0.1 too */
	const struct sl_plan_options *plan; /* its sizes are not looked at;
					       NULL: fixed algorithms */
	int64_t batch;                      /* default 32; of a micro-batch
					       where a step has several */
	uint64_t n_epochs; /* default: as many as make 2,000 steps */
	enum sl_schedule schedule;
	double warmup;           /* share of all steps; default 0.05, negative
				    means none */
	double final_share;      /* of the rate, of COSINE; default 0 */
	double factor;           /* of STEP; default 0.1 */
	uint64_t epochs_between; /* of STEP; default a third of all */
	uint64_t patience;       /* epochs without a lower loss of the
				    validation split after which the run ends, with
				    the parameters of the best; 0: never */
	const char *checkpoint;  /* a file; NULL: none */
	uint64_t steps_between;  /* checkpoints; default: every epoch, but at
				    least a second */
	int is_resumed; /* go on from the checkpoint where the file is there */
	struct sl_augmentation augmentation;
	size_t n_prefetch; /* threads that make batches; default 0 */
	uint64_t seed;     /* of the order of samples and of augmentation; 0:
			      1 */
	void (*progress)(const struct sl_train_progress *now, void *ctx);
	void *progress_ctx;
	const volatile sig_atomic_t *interrupt;
	const struct sl_clock *clock;         /* NULL: the monotonic one */
	const struct sl_allocator *allocator; /* NULL: malloc and free */
	/* NULL: the run is not profiled.  Else where a profile of its steps
	 * goes, for the caller to free: some of them are recorded, and after
	 * the run the loader is compared with memory for profile_s (default 2)
	 * seconds.  NULL there where the run made too few steps. */
	struct sl_profile **profile;
	double profile_s;
};
#define SL_TRAIN_OPTIONS_INIT SL_OPTIONS_INIT(struct sl_train_options)

struct sl_train_point {
	uint64_t step; /* the last of those it is the mean of, from 1 */
	double loss, accuracy;
};

enum sl_train_end {
	SL_TRAIN_FINISHED = 0,
	SL_TRAIN_STOPPED_EARLY, /* the validation loss fell no more */
	SL_TRAIN_INTERRUPTED
};
enum { SL_N_TRAIN_ENDS = SL_TRAIN_INTERRUPTED + 1 };

/* "finished", "early stop", "interrupted"; never NULL. */
SL_API const char *sl_train_end_text(enum sl_train_end end);

/* Time of a step: data, forward, loss, backward, update. */
enum { SL_TRAIN_PHASES = 5 };
struct sl_train_phase {
	enum sl_phase phase;
	struct sl_estimate ns; /* median over a sample of the steps */
};

/* How often a model is right on the samples of a split.  Shares by Clopper and
 * Pearson's interval; of tokens, and the loss, by Student's t over samples. */
struct sl_split_score {
	enum sl_accuracy_kind kind;
	struct sl_estimate accuracy;
	struct sl_estimate top5;  /* labels are among the five highest scores;
				     n 0: five classes or fewer */
	struct sl_estimate token; /* share of right labels of a sequence; n 0:
				     no sequence */
	struct sl_estimate loss;  /* cross-entropy of a label, in nats; samples
				     where it is infinite left out */
};

/* Owns all it points to but the data set; the graph that was trained must
 * outlive 'trained'. */
struct sl_train_result {
	const char *name, *source;      /* of the model */
	const char *data, *attribution; /* NULL: not known */
	enum sl_loss loss;
	enum sl_optimizer optimizer;
	enum sl_schedule schedule;
	double learning_rate, weight_decay;
	int64_t batch;
	uint64_t n_train, n_validation; /* samples */
	uint64_t n_epochs, n_steps;     /* that were to be made */
	uint64_t n_done;                /* steps behind the parameters' run */
	uint64_t resumed_at;            /* steps that an earlier run made */
	uint64_t parameters;            /* numbers that are trained */
	int n_threads;
	size_t n_prefetch;
	uint64_t seed;
	enum sl_train_end end;
	uint64_t best_step;   /* whose parameters these are; 0: the last */
	double elapsed_s;     /* earlier runs included, evaluations too */
	double samples_per_s; /* over the steps of this run; NaN: it made none */
	double wait_share;    /* of the time of steps, waited for data */
	struct sl_train_phase phases[SL_TRAIN_PHASES];
	const struct sl_train_point *curve;      /* of training batches */
	const struct sl_train_point *validation; /* after epochs */
	size_t n_curve, n_points;                /* n_points: of validation */
	struct sl_split_score test; /* accuracy.n 0: see 'unevaluated' */
	const char *unevaluated;    /* why there is no score of the test split;
				       NULL: there is */
	struct sl_graph *trained;   /* for inference, with its parameters */
	uint64_t n_micro_batches;   /* of a step, each with 'batch' samples */
};

/*
 * Trains a model on a data set.  The same seed, data, threads and algorithms
 * give the same parameters to the bit, resumed or not.  SL_E_DATA where data
 * and model do not fit, where the loss is no number, and for a checkpoint of
 * another run.  An interrupt ends the run after a step, with what there is.
 */
SL_API enum sl_status sl_train(struct sl_train_result **out,
			       const struct sl_graph *graph,
			       const struct sl_dataset *data,
			       const struct sl_train_options *options,
			       struct sl_error *err) SL_CHECKED;
SL_API void sl_train_free(struct sl_train_result *result); /* NULL is fine */

/* TEXT, JSON, CSV (the curve), MARKDOWN, HTML, SVG. */
SL_API enum sl_status sl_train_render(const struct sl_train_result *result,
				      const struct sl_render_options *how,
				      struct sl_buf *out,
				      struct sl_error *err) SL_CHECKED;

#ifdef __cplusplus
}
#endif

#endif
