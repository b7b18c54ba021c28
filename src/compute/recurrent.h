/* SPDX-License-Identifier: Apache-2.0 */
/* recurrent.h - LSTM, GRU and RNN, f32, gates in ONNX's order. */
#ifndef SL_RECURRENT_H
#define SL_RECURRENT_H

#include <stdint.h>

enum sl__recurrent_kind {
	SL__RECURRENT_LSTM = 0,
	SL__RECURRENT_GRU,
	SL__RECURRENT_RNN
};

/* One direction's weights: [k][columns] in panels, and biases. */
struct sl__recurrent_weights {
	float *w, *r, *r_new; /* the last: of GRU's new state */
	float *bias;          /* of all gates */
	float *bias_new;      /* of GRU: the state's part, weighed by r */
};

typedef void sl__cell_function(float *restrict gates, float *restrict h,
			       float *restrict c, int64_t n);

/* The caller sets sizes and flags, packs the weights once, and sets what stands
 * at the end before each run. */
struct sl__recurrent {
	enum sl__recurrent_kind kind;
	int64_t seq, batch, input, hidden, directions;
	int64_t columns; /* of all gates */
	int is_batch_first, is_reverse;
	int is_reset_late; /* linear_before_reset */
	int is_relu;       /* RNN's function */
	struct sl__recurrent_weights weights[2];
	sl__cell_function *cell, *reset;

	const float *x;
	float *work;                /* sl__recurrent_work_floats() */
	float *y, *last_h, *last_c; /* NULL: not wanted */
	float *first_h, *first_c;   /* NULL: zeros */
	const int32_t *lengths;     /* of samples; NULL: seq */
};

/* Numbers of h, or of c. */
int64_t sl__recurrent_states(const struct sl__recurrent *l);
int64_t sl__recurrent_work_floats(const struct sl__recurrent *l);

/* Packs W, R and, unless that is NULL, B of all directions; 'to' holds so many
 * numbers for each direction and must stay. */
int64_t sl__recurrent_weight_floats(const struct sl__recurrent *l);
void sl__recurrent_pack(struct sl__recurrent *l, float *to,
			const float *const *all);

void sl__recurrent_run(struct sl__recurrent *l, int n_threads);

#endif
