/* SPDX-License-Identifier: Apache-2.0 */
/* optimizer_update.h - one step of an optimizer over a stretch of f32. */
#ifndef SL_OPTIMIZER_UPDATE_H
#define SL_OPTIMIZER_UPDATE_H

#include <stdint.h>

/* What a step does with each element, once its numbers are known. */
struct sl__update_factors {
	float rate, scale, decay, keep; /* x is kept by 'keep' before */
	float momentum, beta1, beta2, root, epsilon;
	int is_nesterov;
};

struct sl__update_tensors {
	const float *x, *g, *v, *h; /* v and h may be NULL */
	float *to_x, *to_v, *to_h;
};

/* Of elements first to end - 1; each may be renewed where it lies. */
typedef void sl__update_function(const struct sl__update_factors *f,
				 const struct sl__update_tensors *t,
				 int64_t first, int64_t end);

sl__update_function *sl__sgd_for(void);
sl__update_function *sl__momentum_for(void);
sl__update_function *sl__adam_for(void);

#endif
