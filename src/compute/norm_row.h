/* SPDX-License-Identifier: Apache-2.0 */
/* norm_row.h - rows normalized. */
#ifndef SL_NORM_ROW_H
#define SL_NORM_ROW_H

#include <stdint.h>

/* One row, or a span of one: y = (x - mean) * factor * scale + bias. */
struct sl__norm_row {
	int64_t n;
	const float *x, *scale, *bias; /* the last two may be NULL */
	float *y;
	float mean, factor, offset;
};

/* The functions of this machine. */
struct sl__norm {
	/* Fills mean and factor, which is 1 / sqrt(variance + epsilon). */
	void (*measure)(struct sl__norm_row *r, int is_centred, float epsilon);
	void (*scale)(const struct sl__norm_row *r);
	/* y = (x - mean) * factor + offset */
	void (*shift)(const struct sl__norm_row *r);
	void (*add)(const struct sl__norm_row *r); /* y += x */
};
struct sl__norm sl__norm_for(void);

#endif
