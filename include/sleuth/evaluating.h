/* SPDX-License-Identifier: Apache-2.0 */
/* evaluating.h - how often a model is right. */
#ifndef SLEUTH_EVALUATING_H
#define SLEUTH_EVALUATING_H

#include "sleuth/data_sets.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What the accuracy of an evaluation counts. */
enum sl_accuracy_kind {
	SL_ACCURACY_TOP1 = 0, /* samples whose class has the highest score */
	SL_ACCURACY_EXACT,    /* sequences of which every token is right */
	SL_ACCURACY_TOKEN,    /* tokens of a text, each predicted from those
				 before it */
	SL_ACCURACY_AGREEMENT /* without labels: highest scores that are those
				 of another model; no evaluation has it */
};
enum { SL_N_ACCURACY_KINDS = SL_ACCURACY_AGREEMENT + 1 };

/* "top-1", "exact", "token", "agreement"; never NULL. */
SL_API const char *sl_accuracy_kind_text(enum sl_accuracy_kind kind);

/* What the scores of a model are. */
enum sl_scores {
	SL_SCORES_LOGITS = 0,
	SL_SCORES_PROBABILITIES,    /* it ends in a Softmax */
	SL_SCORES_LOG_PROBABILITIES /* it ends in a LogSoftmax */
};
enum { SL_N_SCORES = SL_SCORES_LOG_PROBABILITIES + 1 };

/* "logits", "probabilities", "log probabilities"; never NULL. */
SL_API const char *sl_scores_text(enum sl_scores scores);

/* Samples, or tokens, of one class. */
struct sl_class_figures {
	size_t n, n_predicted, n_right;
	struct sl_estimate recall, precision; /* n 0: there are none */
};

/* Owns all it points to; graph, data set and options may go before it. */
struct sl_evaluation {
	const char *name, *source;      /* of the model */
	const char *data, *attribution; /* of the data set; NULL: not known */
	enum sl_split split;
	enum sl_accuracy_kind kind;
	enum sl_scores scores;
	int is_reshaped; /* samples have other sizes than the model's input,
			    and as many elements */
	const char *sample_shape, *input_shape; /* "1x8x8" */
	int64_t batch;
	int n_threads;
	enum sl_dtype dtype;

	/* Shares by Clopper and Pearson's interval; those of tokens, and the
	 * loss, by Student's t over samples, of which tokens are parts. */
	struct sl_estimate accuracy;
	struct sl_estimate top5;  /* the label is among the five highest; n 0:
				     there are five classes or fewer */
	struct sl_estimate token; /* share of right tokens; n 0: no tokens */
	struct sl_estimate loss;  /* cross-entropy of a label, in nats */
	size_t n_infinite;        /* samples whose loss is infinite or NaN: the
				     loss leaves them out */

	int64_t n_classes; /* of the model's scores */
	const struct sl_class_figures *classes;
	size_t n_figures; /* n_classes; 0: there are too many to list */
	/* [n_figures][n_figures]: counts of label (row) and prediction. */
	const uint64_t *confusion;
	double elapsed_s;
	int is_partial;          /* interrupted: of the samples so far */
	const double *by_sample; /* accuracy.n shares, of which the accuracy is
				    the mean */
};

/* Whether one model is right more often than another. */
enum sl_accuracy_change {
	SL_ACCURACY_UNPROVED = 0, /* no difference is proved */
	SL_ACCURACY_LOWER,
	SL_ACCURACY_HIGHER
};
enum { SL_N_ACCURACY_CHANGES = SL_ACCURACY_HIGHER + 1 };

/* "no proved difference", "lower", "higher"; never NULL. */
SL_API const char *sl_accuracy_change_text(enum sl_accuracy_change change);

/* The accuracy of a model less that of a baseline, over the same samples. */
struct sl_accuracy_difference {
	struct sl_estimate value; /* n 0: there is none */
	size_t n_gained, n_lost;  /* samples that the model is more right about
				     than the baseline, and less */
	double log_e;             /* ln of the e-value against "as many gained
				     as lost" */
	enum sl_accuracy_change change;
};

struct sl_evaluate_options {
	size_t struct_size;
	const struct sl_plan_options *plan; /* its batch is not looked at; NULL:
					       defaults */
	const char *output; /* of the model, that has the scores; NULL: the
			       first */
	int has_split;      /* 'split' counts; else the test split, or, where
			       there is none, all samples there are */
	enum sl_split split;
	int64_t batch; /* samples that run together; default 32, or what the
			  model has fixed */
	void (*progress)(const struct sl_progress *now, void *ctx);
	void *progress_ctx;
	const volatile sig_atomic_t *interrupt;
	const struct sl_allocator *allocator; /* NULL: malloc and free */
};
#define SL_EVALUATE_OPTIONS_INIT SL_OPTIONS_INIT(struct sl_evaluate_options)

/*
 * Runs a model on every sample of a split and compares its scores with the
 * labels.  The scores are an output [batch][classes], or [batch][positions]
 * [classes] where samples have a label for each position; further dimensions
 * of 1 do not matter.  A prediction is the highest score, the first of equal
 * ones; NaN is never the highest.
 *
 * SL_E_DATA where data and model do not fit, with what was expected; for a
 * label that the model has no score of; for a split without samples.
 * Otherwise fails as sl_plan_new() and sl_plan_run() do.
 */
SL_API enum sl_status sl_evaluate(struct sl_evaluation **out,
				  const struct sl_graph *graph,
				  const struct sl_dataset *data,
				  const struct sl_evaluate_options *options,
				  struct sl_error *err) SL_CHECKED;
SL_API void sl_evaluation_free(struct sl_evaluation *e); /* NULL is fine */

/* TEXT, JSON, CSV (the confusion matrix), MARKDOWN, HTML, SVG. */
SL_API enum sl_status sl_evaluation_render(const struct sl_evaluation *e,
					   const struct sl_render_options *how,
					   struct sl_buf *out,
					   struct sl_error *err) SL_CHECKED;

#ifdef __cplusplus
}
#endif

#endif
