/* SPDX-License-Identifier: Apache-2.0 */
/* ref_ml_scores.c - scores and labels, as models of ai.onnx.ml give them. */
#include "ops/ref_ml_scores.h"
#include "ops/ref_softmax.h"
#include "stats/special.h"

#include <math.h>

#include "base/banned.h"

enum sl__ml_transform
sl__ml_transform_read(struct sl__kernel_call *ev)
{
	static const char *const words[] = {
		"NONE", "LOGISTIC", "SOFTMAX", "SOFTMAX_ZERO", "PROBIT", NULL};

	return (enum sl__ml_transform)sl__ref_attribute_choice(
		ev, "post_transform", words);
}

static double
logistic(double x)
{
	return 1 / (1 + exp(-x));
}

/* Numbers this close to 0 are 0, as in ONNX Runtime. */
static void
softmax_but_zeros(double *scores, int64_t n)
{
	const double zero = 1e-7;
	double most = -HUGE_VAL, sum = 0;

	for (int64_t k = 0; k < n; k++)
		most = fmax(most, scores[k]);
	for (int64_t k = 0; k < n; k++) {
		if (fabs(scores[k]) > zero) {
			scores[k] = exp(scores[k] - most);
			sum += scores[k];
		} else {
			scores[k] *= exp(-most);
		}
	}
	for (int64_t k = 0; sum > 0 && k < n; k++)
		scores[k] /= sum;
}

void
sl__ml_transform_scores(double *scores, int64_t n, enum sl__ml_transform how)
{
	switch (how) {
	case SL__ML_SOFTMAX:
		sl__softmax_line(scores, scores, n, 1);
		break;
	case SL__ML_SOFTMAX_ZERO:
		softmax_but_zeros(scores, n);
		break;
	case SL__ML_LOGISTIC:
		for (int64_t k = 0; k < n; k++)
			scores[k] = logistic(scores[k]);
		break;
	case SL__ML_PROBIT:
		for (int64_t k = 0; k < n; k++)
			scores[k] = sl__normal_quantile(scores[k]);
		break;
	case SL__ML_NONE:
	default:
		break;
	}
}

void
sl__ml_transform_pair(double *scores, enum sl__ml_pair pair,
		      enum sl__ml_transform how)
{
	double score = scores[0];

	if (how == SL__ML_LOGISTIC) {
		scores[0] = logistic(-score);
		scores[1] = logistic(score);
		return;
	}
	if (how == SL__ML_PROBIT)
		score = sl__normal_quantile(score);
	scores[0] = pair == SL__ML_COMPLEMENT ? 1 - score : -score;
	scores[1] = score;
}

size_t
sl__ml_floats(const struct sl__kernel_call *ev, const char *name,
	      const float **values)
{
	const struct sl__attribute *a = sl__attribute_find(ev->node, name);

	*values = a ? a->floats : NULL;
	return a && a->floats ? a->n : 0;
}

enum sl_status
sl__ml_classes_read(struct sl__ml_classes *classes, struct sl__kernel_call *ev)
{
	static const char *const names[] = {"classlabels_ints",
					    "classlabels_int64s"};
	const struct sl__attribute *words =
		sl__attribute_find(ev->node, "classlabels_strings");

	*classes = (struct sl__ml_classes){0};
	if (words && words->strings) {
		classes->n = words->n;
		classes->words = words->strings;
	}
	for (size_t i = 0; i < 2 && !classes->n; i++)
		classes->n =
			sl__attribute_ints(ev->node, names[i], &classes->ints);
	return classes->n ? SL_OK : sl__ref_reject(ev, "it names no classes");
}

enum sl_status
sl__ml_classes_store(const struct sl__ml_classes *classes,
		     struct sl__kernel_call *ev, const size_t *chosen,
		     int64_t n_rows)
{
	const char **words = NULL;
	int64_t *ints = NULL;

	if (ev->failure || !sl__ref_output(ev, 0))
		return ev->failure;
	if (classes->words)
		words = sl__ref_scratch(ev, (size_t)n_rows, sizeof(*words));
	else
		ints = sl__ref_scratch_integers(ev, n_rows);
	for (int64_t i = 0; !ev->failure && i < n_rows; i++) {
		if (words)
			words[i] = classes->words[chosen[i]];
		else
			ints[i] = classes->ints[chosen[i]];
	}
	if (words && !ev->failure)
		return sl__ref_value_set_strings(ev, sl__ref_output(ev, 0), 1,
						 &n_rows, words);
	return ev->failure ? ev->failure
			   : sl__ref_output_store_integers(ev, 0, ints);
}

size_t
sl__ml_largest(const double *scores, size_t n)
{
	size_t best = 0;

	for (size_t k = 1; k < n; k++) {
		if (scores[k] > scores[best])
			best = k;
	}
	return best;
}

void
sl__ml_rows(const struct sl__kernel_call *ev, int64_t *n_rows,
	    int64_t *n_features)
{
	*n_features = sl__ref_input_dim(ev, 0, -1);
	*n_rows = sl__ref_input_rank(ev, 0) < 2 ? 1
						: sl__ref_input_dim(ev, 0, 0);
}
