/* SPDX-License-Identifier: Apache-2.0 */
/*
 * anchor.c - fixed work whose time says how fast the machine is just now.
 *
 * Four kernels of some 50 us each on a core of 4 GHz: chains of integer and of
 * floating-point arithmetic, a walk through 512 KiB in random order and two
 * passes over them, and calls through pointers.  Their ratio to what is
 * measured beside them is what a history draws, so the work is frozen: whoever
 * changes a constant or an operation here raises VERSION, which begins a new
 * series, and the checksum in the test.  Empty assembly hides values from
 * compilers, which would otherwise fold or vectorise one chain and not another.
 * Another compiler or another build can still shift it by a few per cent: the
 * anchor follows the machine, not the compiler.
 */
#include "timing/anchor.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/status.h"
#include "stats/quantile.h"

#include <string.h>

#include "base/banned.h"

enum {
	VERSION = 1,
	N_CHAINS = 4,
	N_INTEGER_STEPS = 20000,
	N_REAL_STEPS = 20000,
	N_LINES = 8192, /* of 64 bytes: 512 KiB */
	LINE_WORDS = 8,
	N_CALLS = 30000,
	SAMPLES_MOST = 64 /* the median of 64 is known to some 13 % of the
			     spread of one: 1.25 / sqrt(64) */
};

/* A sample runs the work twice, a quarter of a millisecond each: some 3 % of the
 * time at most. */
static const uint64_t FIRST_GAP_NS = 20000000;

struct sl_anchor {
	const struct sl_clock *clock;
	uint64_t (*lines)[LINE_WORDS]; /* word 0: the line that comes next */
	double samples_ns[SAMPLES_MOST];
	size_t n_samples;
	uint64_t gap_ns, last_ns;
	uint64_t checksum;
};

/* xorshift64 with the shifts 13, 7, 17 (Marsaglia 2003). */
static uint64_t
shift(uint64_t x)
{
	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return x;
}

/* One cycle through all lines (Sattolo 1986), always the same. */
static void
link_lines(uint64_t (*lines)[LINE_WORDS])
{
	uint64_t random = 88172645463325252u; /* Marsaglia's first */

	for (size_t i = 0; i < N_LINES; i++) {
		lines[i][0] = i;
		for (size_t k = 1; k < LINE_WORDS; k++)
			lines[i][k] = i * LINE_WORDS + k;
	}
	for (size_t i = N_LINES - 1; i > 0; i--) {
		size_t other;
		uint64_t kept = lines[i][0];

		random = shift(random);
		other = random % i;
		lines[i][0] = lines[other][0];
		lines[other][0] = kept;
	}
}

static uint64_t
run_integers(void)
{
	uint64_t x[N_CHAINS] = {1, 2, 3, 4};

	for (int i = 0; i < N_INTEGER_STEPS; i++) {
		for (int k = 0; k < N_CHAINS; k++) {
			x[k] = shift(x[k]);
			__asm__ volatile("" : "+r"(x[k]));
		}
	}
	return x[0] ^ x[1] ^ x[2] ^ x[3];
}

/* Converges to 2 (k + 1); the product and the sum stay apart, since the value
 * between them is hidden. */
static uint64_t
run_reals(void)
{
	double x[N_CHAINS] = {0};
	uint64_t sum = 0, bits;

	for (int i = 0; i < N_REAL_STEPS; i++) {
		for (int k = 0; k < N_CHAINS; k++) {
			double product = x[k] * 0.9990234375; /* 1 - 2^-10 */

			__asm__ volatile("" : "+m"(product));
			x[k] = product + (k + 1) * 0.001953125; /* 2^-9 */
		}
	}
	for (int k = 0; k < N_CHAINS; k++) {
		memcpy(&bits, &x[k], sizeof(bits));
		sum += bits;
	}
	return sum;
}

/* The second pass restores what the first changed. */
static uint64_t
run_memory(uint64_t (*lines)[LINE_WORDS])
{
	const uint64_t mask = 0x5555555555555555u;
	uint64_t at = 0, sum = 0;

	for (uint64_t i = 0; i < N_LINES; i++) {
		at = lines[at][0];
		sum += at * i;
	}
	for (int pass = 0; pass < 2; pass++) {
		for (size_t i = 0; i < N_LINES; i++) {
			for (size_t k = 1; k < LINE_WORDS; k++) {
				lines[i][k] ^= mask;
				sum += lines[i][k];
			}
		}
	}
	return sum;
}

static uint64_t
add_one(uint64_t x)
{
	return x + 1;
}

static uint64_t
add_two(uint64_t x)
{
	return x + 2;
}

static uint64_t
double_it(uint64_t x)
{
	return 2 * x;
}

static uint64_t
run_calls(void)
{
	static uint64_t (*const volatile functions[])(uint64_t) = {
		add_one, shift, add_two, double_it};
	uint64_t x = 1;

	for (unsigned i = 0; i < N_CALLS; i++)
		x = functions[i % 4](x);
	return x;
}

static void
run_mix(struct sl_anchor *a)
{
	a->checksum = run_integers();
	a->checksum += run_reals();
	a->checksum += run_memory(a->lines);
	a->checksum += run_calls();
}

uint64_t
sl__anchor_checksum(const struct sl_anchor *anchor)
{
	return anchor->checksum;
}

enum sl_status
sl_anchor_new(struct sl_anchor **out, const struct sl_clock *clock,
	      struct sl_error *err)
{
	struct sl__arena *arena;
	struct sl_anchor *a = sl__arena_object_new(&arena, NULL, sizeof(*a));

	*out = NULL;
	if (!a)
		return sl__fail_nomem(err);
	a->clock = clock;
	a->gap_ns = FIRST_GAP_NS;
	a->lines = sl__arena_array(arena, N_LINES, sizeof(*a->lines));
	if (!a->lines) {
		sl__arena_object_free(a);
		return sl__fail_nomem(err);
	}
	link_lines(a->lines);
	*out = a;
	return SL_OK;
}

void
sl_anchor_free(struct sl_anchor *anchor)
{
	sl__arena_object_free(anchor);
}

/* Keeps every second sample, and doubles the gap between them. */
static void
thin(struct sl_anchor *a)
{
	for (size_t i = 0; i < SAMPLES_MOST / 2; i++)
		a->samples_ns[i] = a->samples_ns[2 * i];
	a->n_samples = SAMPLES_MOST / 2;
	a->gap_ns *= 2;
}

void
sl_anchor_take(struct sl_anchor *anchor)
{
	uint64_t from_ns;

	/* What ran before left its own data in the caches. */
	run_mix(anchor);
	if (anchor->n_samples == SAMPLES_MOST)
		thin(anchor);
	from_ns = sl__clock_now_ns(anchor->clock);
	run_mix(anchor);
	anchor->last_ns = sl__clock_now_ns(anchor->clock);
	anchor->samples_ns[anchor->n_samples++] =
		(double)(anchor->last_ns - from_ns);
}

void
sl_anchor_take_if_due(struct sl_anchor *anchor)
{
	if (sl__clock_now_ns(anchor->clock) - anchor->last_ns >= anchor->gap_ns)
		sl_anchor_take(anchor);
}

void
sl_anchor_read(const struct sl_anchor *anchor, struct sl_anchor_reading *out)
{
	double sorted[SAMPLES_MOST];

	memcpy(sorted, anchor->samples_ns,
	       anchor->n_samples * sizeof(sorted[0]));
	out->version = anchor->n_samples ? VERSION : 0;
	out->time_ns = anchor->n_samples
			       ? sl__median_estimate(sorted, anchor->n_samples)
			       : sl__no_estimate();
}
