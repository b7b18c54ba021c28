/* SPDX-License-Identifier: Apache-2.0 */
/* unary_functions.h - functions of one element, over a run of them. */
#ifndef SL_UNARY_FUNCTIONS_H
#define SL_UNARY_FUNCTIONS_H

#include <stdint.h>

/* Two parameters of a function. */
struct sl__knobs {
	float a, b;
	int64_t low, high; /* bounds of whole numbers */
};

typedef void sl__real_function(const float *x, int64_t n,
			       const struct sl__knobs *k, float *y);
typedef void sl__whole_function(const int64_t *x, int64_t n,
				const struct sl__knobs *k, int64_t *y);

/* That of this machine; y may be x. */
typedef sl__real_function *sl__real_chooser(void);
extern sl__real_chooser sl__real_abs_for, sl__real_ceil_for, sl__real_celu_for,
	sl__real_clip_for, sl__real_elu_for, sl__real_erf_for, sl__real_exp_for,
	sl__real_floor_for, sl__real_gelu_for, sl__real_tanh_gelu_for,
	sl__real_hard_sigmoid_for, sl__real_hard_swish_for, sl__real_is_inf_for,
	sl__real_is_nan_for, sl__real_leaky_relu_for, sl__real_log_for,
	sl__real_mish_for, sl__real_neg_for, sl__real_reciprocal_for,
	sl__real_relu_for, sl__real_round_for, sl__real_selu_for,
	sl__real_shrink_for, sl__real_sigmoid_for, sl__real_sign_for,
	sl__real_softplus_for, sl__real_softsign_for, sl__real_sqrt_for,
	sl__real_swish_for, sl__real_tanh_for, sl__real_thresholded_relu_for,
	sl__real_acos_for, sl__real_acosh_for, sl__real_asin_for,
	sl__real_asinh_for, sl__real_atan_for, sl__real_atanh_for,
	sl__real_cos_for, sl__real_cosh_for, sl__real_sin_for,
	sl__real_sinh_for, sl__real_tan_for;
extern sl__whole_function sl__whole_abs, sl__whole_bit_not, sl__whole_clip,
	sl__whole_neg, sl__whole_not, sl__whole_relu, sl__whole_same,
	sl__whole_sign;

#endif
