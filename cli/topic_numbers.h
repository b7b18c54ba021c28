/* SPDX-License-Identifier: Apache-2.0 */
/* topic_numbers.h - the figures of `sleuth help TOPIC`. */
#ifndef SL_TOPIC_NUMBERS_H
#define SL_TOPIC_NUMBERS_H

#include <stdint.h>

#include "sleuth.h"

/* What a machine was measured to reach, on as many threads as were tried. */
struct ridge {
	double flops_per_s;         /* in f32 */
	double bytes_per_s;         /* from and to memory */
	double operations_per_byte; /* where the two meet */
};

/* Whether all of it was measured; *out is otherwise unchanged. */
int find_ridge(struct ridge *out, const struct sl_machine *m);

/* The operation of a small model that takes longest here, measured for a
 * fraction of a second. */
#define SMALL_MODEL "mlp:784-256-128-10"
struct hottest {
	char name[64];
	double share; /* of an iteration */
};

void find_hottest_operation(struct hottest *out);

/* Operations per byte of the addition of two vectors in f32: one for two
 * numbers read and one written. */
#define ADDITION_INTENSITY (1.0 / 12)

/* Ends the program, after one line on stderr, where a call failed: an answer
 * that is missing is not taken for one. */
void exit_if_failed(enum sl_status rc, const struct sl_error *err);

/* What is counted in a model under these sizes (0: the usual ones). */
struct sl_inspection *inspect_model(const char *name, int64_t batch,
				    int64_t seq);

/*
 * Each finds its figures when it is called, by counting or by measuring for a
 * fraction of a second, and prints a few lines.
 */
typedef void numbers_function(void);

numbers_function numbers_parameters, numbers_flops, numbers_memory,
	numbers_latency, numbers_warmup, numbers_intervals, numbers_roofline,
	numbers_amdahl, numbers_batch, numbers_overhead, numbers_training;

/* "25,557,032"; each call in a line needs a text of its own. */
struct grouped {
	char s[32];
};

const char *grouped(struct grouped *out, uint64_t n);

#endif
