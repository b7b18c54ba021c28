/* SPDX-License-Identifier: Apache-2.0 */
/* peak.h - loops that do nothing but arithmetic. */
#ifndef SL_PEAK_H
#define SL_PEAK_H

#include "sleuth/basics.h"

/*
 * One loop for one type and one instruction set.  run() makes n_rounds rounds
 * of ops_per_round operations in at least 12 chains that do not depend on
 * each other, and returns the sum over all lanes of what it accumulated.
 * Every multiply-add adds exactly 1 to that sum, so that
 *
 *	2 * run(n) == n * ops_per_round
 *
 * shows that the work was done; exact while n < 2^24 (f32 lanes count).
 */
struct sl__peak_kernel {
	enum sl_dtype dtype;
	const char *isa;
	size_t n_bits;
	double ops_per_round;             /* a multiply-add is 2 */
	double (*run)(uint64_t n_rounds); /* NULL: not exercised */
	const char *absent; /* why it cannot be run here; NULL when it can */
	int is_unexercised; /* absent, yet the engine may use it: it could be
			       faster than all that run */
	int is_lacking;     /* absent because the CPU does not have it */
};

/* The reasons of kernels for instructions that the CPU lacks, and for those
 * that the engine does not use either (isa.h). */
#define SL__PEAK_LACKING "this CPU does not have it"
#define SL__PEAK_CAPPED  "capped"

enum {
	SL__MAX_PEAK_KERNELS = 32,
	/* Rounds beyond which an f32 lane stops counting exactly. */
	SL__MAX_PEAK_ROUNDS = 1 << 24
};

/*
 * Fills kernels[] with those of x86, which this CPU cannot run included, and
 * returns how many; at most SL__MAX_PEAK_KERNELS with all others.
 */
size_t sl__peak_x86(struct sl__peak_kernel *kernels); /* 0 elsewhere */

/* All of them, by type and then width. */
size_t sl__peak_kernels(struct sl__peak_kernel *kernels);

/* Whether kernels of a type are unexercised: what the others reach is then no
 * ceiling. */
int sl__peak_has_untested_kernel(const struct sl__peak_kernel *kernels,
				 size_t n, enum sl_dtype dtype);

/*
 * X(i, ...) for every chain.  Twelve hide the latency, up to 6 cycles, of two
 * instructions a cycle; a multiply and an add one after the other take up to
 * 7 (4 + 3), hence fourteen.
 */
#define SL__CHAINS_12(X, ...) \
	X(0, __VA_ARGS__)     \
	X(1, __VA_ARGS__)     \
	X(2, __VA_ARGS__)     \
	X(3, __VA_ARGS__)     \
	X(4, __VA_ARGS__)     \
	X(5, __VA_ARGS__)     \
	X(6, __VA_ARGS__)     \
	X(7, __VA_ARGS__)     \
	X(8, __VA_ARGS__)     \
	X(9, __VA_ARGS__) X(10, __VA_ARGS__) X(11, __VA_ARGS__)
#define SL__CHAINS_14(X, ...)         \
	SL__CHAINS_12(X, __VA_ARGS__) \
	X(12, __VA_ARGS__) X(13, __VA_ARGS__)

#endif
