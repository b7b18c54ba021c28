/* SPDX-License-Identifier: Apache-2.0 */
/* topic_numbers.h - the figures of `sleuth help TOPIC`. */
#ifndef SL_TOPIC_NUMBERS_H
#define SL_TOPIC_NUMBERS_H

#include "sleuth.h"

/* What a machine was measured to reach, on as many threads as were tried. */
struct ridge {
	double flops_per_s;         /* in f32 */
	double bytes_per_s;         /* from and to memory */
	double operations_per_byte; /* where the two meet */
};

/* Whether all of it was measured; *out is otherwise unchanged. */
int find_ridge(struct ridge *out, const struct sl_machine *m);

/* Operations per byte of the addition of two vectors in f32: one for two
 * numbers read and one written. */
#define ADDITION_INTENSITY (1.0 / 12)

/*
 * Each finds its figures when it is called, by counting or by measuring for a
 * fraction of a second, and prints a few lines.  Return 0, or an exit code
 * after one line on stderr.
 */
int numbers_parameters(void);
int numbers_flops(void);
int numbers_memory(void);
int numbers_latency(void);
int numbers_warmup(void);
int numbers_intervals(void);
int numbers_roofline(void);
int numbers_amdahl(void);
int numbers_batch(void);
int numbers_overhead(void);
int numbers_training(void);

#endif
