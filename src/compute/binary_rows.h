/* SPDX-License-Identifier: Apache-2.0 */
/* binary_rows.h - functions of two elements, over rows of them. */
#ifndef SL_BINARY_ROWS_H
#define SL_BINARY_ROWS_H

#include <stdint.h>

/* Rows of a result and its operands: 'row' is what lies between two in
 * elements, 'step' 1, or 0 where a row is one element repeated. */
struct sl__binary_rows {
	int64_t n_rows, n;
	const void *a, *b;
	void *y;
	int64_t a_row, b_row, y_row;
	int a_step, b_step;
	float knob;
};

/* y = f(a, b) over all rows, of f32 or of int64; y may be a or b. */
typedef void sl__binary_function(const struct sl__binary_rows *r);

/* That of this machine. */
typedef sl__binary_function *sl__binary_chooser(void);
extern sl__binary_chooser sl__real_add_rows_for, sl__real_bias_gelu_rows_for,
	sl__real_bias_tanh_gelu_rows_for, sl__real_cube_rows_for,
	sl__real_div_rows_for, sl__real_equal_rows_for, sl__real_first_rows_for,
	sl__real_greater_rows_for, sl__real_greater_equal_rows_for,
	sl__real_less_rows_for, sl__real_less_equal_rows_for,
	sl__real_max_rows_for, sl__real_min_rows_for, sl__real_mul_rows_for,
	sl__real_prelu_rows_for, sl__real_root_rows_for,
	sl__real_scaled_add_rows_for, sl__real_square_rows_for,
	sl__real_sub_rows_for, sl__real_swiglu_rows_for, sl__real_fmod_rows_for,
	sl__real_mod_rows_for, sl__real_pow_rows_for, sl__whole_add_rows_for,
	sl__whole_and_rows_for, sl__whole_div_rows_for,
	sl__whole_equal_rows_for, sl__whole_fmod_rows_for,
	sl__whole_first_rows_for, sl__whole_greater_rows_for,
	sl__whole_greater_equal_rows_for, sl__whole_left_rows_for,
	sl__whole_less_rows_for, sl__whole_less_equal_rows_for,
	sl__whole_max_rows_for, sl__whole_min_rows_for, sl__whole_mod_rows_for,
	sl__whole_mul_rows_for, sl__whole_or_rows_for, sl__whole_right_rows_for,
	sl__whole_sub_rows_for, sl__whole_xor_rows_for;

#endif
