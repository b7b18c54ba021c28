/* SPDX-License-Identifier: Apache-2.0 */
/* ref_ml_scores.h - scores and labels, as models of ai.onnx.ml give them. */
#ifndef SL_REF_ML_SCORES_H
#define SL_REF_ML_SCORES_H

#include "ops/ref.h"

/* What becomes of scores at last, the attribute post_transform. */
enum sl__ml_transform {
	SL__ML_NONE,
	SL__ML_LOGISTIC,
	SL__ML_SOFTMAX,
	SL__ML_SOFTMAX_ZERO, /* where a score is 0 it stays so */
	SL__ML_PROBIT
};

/* How one score stands for two classes, as in ONNX Runtime: the other has
 * what is left to 1, or the opposite. */
enum sl__ml_pair { SL__ML_COMPLEMENT, SL__ML_OPPOSITE };

/* The labels of a classifier; one of the two lists. */
struct sl__ml_classes {
	size_t n;
	const int64_t *ints;
	const char *const *words;
};

enum sl__ml_transform sl__ml_transform_read(struct sl__kernel_call *ev);

/* In place; n scores of one row. */
void sl__ml_transform_scores(double *scores, int64_t n,
			     enum sl__ml_transform how);

/* scores[0] becomes those of two classes. */
void sl__ml_transform_pair(double *scores, enum sl__ml_pair pair,
			   enum sl__ml_transform how);

/* The floats of an attribute; none where the node lacks it. */
size_t sl__ml_floats(const struct sl__kernel_call *ev, const char *name,
		     const float **values);

/* Fails where the node names no classes. */
enum sl_status sl__ml_classes_read(struct sl__ml_classes *classes,
				   struct sl__kernel_call *ev);

/* Output 0: the label of each row, by the number of its class. */
enum sl_status sl__ml_classes_store(const struct sl__ml_classes *classes,
				    struct sl__kernel_call *ev,
				    const size_t *chosen, int64_t n_rows);

/* The place of the largest, the first of those that are. */
size_t sl__ml_largest(const double *scores, size_t n);

/* Rows and features of input 0; a single row where it has one dimension. */
void sl__ml_rows(const struct sl__kernel_call *ev, int64_t *n_rows,
		 int64_t *n_features);

#endif
