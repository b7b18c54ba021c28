/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_peak.c - the loops behind the ceilings do the work they claim: each
 * multiply-add of ones adds one to a sum, streams leave their arrays as their
 * formula says, and a chase visits every line before it visits one again.
 */
#include "harness.h"
#include "machine/peak.h"
#include "machine/chase.h"
#include "machine/stream.h"

static void
every_kernel_does_the_operations_it_counts(void **state)
{
	static const uint64_t rounds[] = {1, 2, 1000, 12345};
	struct sl__peak_kernel kernels[SL__MAX_PEAK_KERNELS];
	size_t n = sl__peak_kernels(kernels), n_run = 0;

	(void)state;
	assert_in_range(n, 2, SL__MAX_PEAK_KERNELS);
	for (size_t i = 0; i < n; i++) {
		const struct sl__peak_kernel *k = &kernels[i];

		if (k->absent)
			continue;
		n_run++;
		for (size_t r = 0; r < 4; r++) {
			double expected =
				(double)rounds[r] * k->ops_per_round / 2;

			print_message("%s %s %zu bits, %d rounds\n",
				      sl_dtype_text(k->dtype), k->isa,
				      k->n_bits, (int)rounds[r]);
			assert_near(k->run(rounds[r]), expected, 0);
		}
	}
	assert_true(n_run >= 2); /* scalar f32 and f64 run everywhere */
}

static void
kernels_are_ordered_and_chains_are_many(void **state)
{
	struct sl__peak_kernel k[SL__MAX_PEAK_KERNELS];
	size_t n = sl__peak_kernels(k);

	(void)state;
	for (size_t i = 0; i < n; i++) {
		size_t lane_bits = k[i].dtype == SL_DTYPE_F64    ? 64
				   : k[i].dtype == SL_DTYPE_F32  ? 32
				   : k[i].dtype == SL_DTYPE_BF16 ? 16
								 : 8;

		if (i > 0 && k[i].dtype == k[i - 1].dtype)
			assert_true(k[i].n_bits >= k[i - 1].n_bits);
		if (k[i].run)
			assert_true(k[i].ops_per_round /
					    (2.0 * (double)(k[i].n_bits /
							    lane_bits)) >=
				    12);
	}
}

/* Only what the CPU has and nobody runs hides a ceiling, whatever the reason
 * says. */
static void
unexercised_kernels_hide_the_peak_of_their_type(void **state)
{
	static const struct sl__peak_kernel list[] = {
		{SL_DTYPE_F32, "scalar", 32, 2, NULL, NULL, 0, 0},
		{SL_DTYPE_F32, "wide", 512, 0, NULL, "not exercised", 0, 0},
		{SL_DTYPE_BF16, "tiles", 8192, 0, NULL,
		 "not exercised on this architecture", 1, 0},
		{SL_DTYPE_I8, "narrow", 128, 2, NULL, NULL, 0, 0},
		{SL_DTYPE_I8, "tiles", 8192, 0, NULL, "any other words", 1, 0},
	};
	struct sl__peak_kernel k[SL__MAX_PEAK_KERNELS];
	size_t n = sl__peak_kernels(k);

	(void)state;
	assert_false(sl__peak_has_untested_kernel(list, 5, SL_DTYPE_F32));
	assert_true(sl__peak_has_untested_kernel(list, 5, SL_DTYPE_BF16));
	assert_true(sl__peak_has_untested_kernel(list, 5, SL_DTYPE_I8));
	assert_false(sl__peak_has_untested_kernel(list, 4, SL_DTYPE_I8));
	/* Everybody's f32 has a ceiling: ceiling_probes.c rests on it. */
	assert_false(sl__peak_has_untested_kernel(k, n, SL_DTYPE_F32));
	for (size_t i = 0; i < n; i++) {
		assert_true(k[i].absent || k[i].run);
		if (k[i].is_unexercised)
			assert_true(k[i].absent && !k[i].run);
		else if (k[i].absent)
			assert_true(!strcmp(k[i].absent, SL__PEAK_LACKING) ||
				    !strcmp(k[i].absent, SL__PEAK_CAPPED));
	}
}

enum { N = 4 * SL__STREAM_STEP_BYTES / sizeof(double) };

struct arrays {
	_Alignas(64) double a[N + 8], b[N], c[N];
};

static void
fill(struct arrays *x)
{
	for (size_t i = 0; i < N; i++) {
		x->a[i] = -1;
		x->b[i] = (double)i;
		x->c[i] = 1000.0 + (double)i;
	}
	for (size_t i = N; i < N + 8; i++)
		x->a[i] = -1;
}

/* What an access leaves in a[i]. */
static double
expected(enum sl_access access, size_t i)
{
	if (access == SL_ACCESS_LOAD)
		return -1;
	if (access == SL_ACCESS_STORE || access == SL_ACCESS_STORE_NT)
		return 3;
	if (access == SL_ACCESS_COPY || access == SL_ACCESS_COPY_NT)
		return (double)i;
	return (double)i + 3 * (1000.0 + (double)i);
}

static void
check_streams(const struct sl__stream_kernels *streams)
{
	static struct arrays x;

	for (int access = 0; access < SL__N_STREAMS; access++) {
		struct sl__stream_arrays arrays = {x.a, x.b, x.c,
						   N * sizeof(double)};

		if (!streams->run[access])
			continue;
		fill(&x);
		streams->run[access](&arrays);
		for (size_t i = 0; i < N; i++)
			assert_near(x.a[i], expected((enum sl_access)access, i),
				    0);
		for (size_t i = N; i < N + 8; i++)
			assert_near(x.a[i], -1, 0); /* and not a bit more */
	}
}

static void
streams_move_what_they_say(void **state)
{
	(void)state;
	check_streams(sl__stream_kernels_widest());
	check_streams(sl__stream_kernels_generic());
}

static void
a_load_reads_every_vector(void **state)
{
	static struct arrays x;
	const struct sl__stream_kernels *all[] = {sl__stream_kernels_widest(),
						  sl__stream_kernels_generic()};

	(void)state;
	for (size_t s = 0; s < 2; s++) {
		struct sl__stream_arrays arrays = {x.a, NULL, NULL,
						   N * sizeof(double)};

		memset(x.a, 0, sizeof(x.a));
		assert_true(all[s]->run[SL_ACCESS_LOAD](&arrays) == 0);
		/* The first two words of each vector are in what it returns. */
		for (size_t i = 0; i < N; i += 8) {
			x.a[i] = 1;
			assert_true(all[s]->run[SL_ACCESS_LOAD](&arrays) != 0);
			x.a[i] = 0;
		}
	}
}

static void
plain_stores_move_one_array_more(void **state)
{
	(void)state;
	assert_near(sl__stream_traffic_ratio(SL_ACCESS_LOAD), 1, 0);
	assert_near(sl__stream_traffic_ratio(SL_ACCESS_STORE), 2, 0);
	assert_near(sl__stream_traffic_ratio(SL_ACCESS_COPY), 1.5, 0);
	assert_near(sl__stream_traffic_ratio(SL_ACCESS_TRIAD), 4.0 / 3, 1e-15);
	assert_near(sl__stream_traffic_ratio(SL_ACCESS_TRIAD_NT), 1, 0);
}

static void
a_chase_is_one_cycle_at_every_length(void **state)
{
	enum { LINES = 1000, LINE_BYTES = 64 };
	static _Alignas(64) unsigned char memory[LINES * LINE_BYTES];
	static const size_t lengths[] = {1, 2, 8, 64, 1000};
	struct sl__chase chase;

	(void)state;
	sl__chase_init(&chase, memory, LINE_BYTES, 7);
	for (size_t k = 0; k < 5; k++) {
		unsigned char seen[LINES] = {0};
		void **at = (void **)(void *)memory;

		sl__chase_grow(&chase, lengths[k]);
		for (size_t i = 0; i < lengths[k]; i++) {
			size_t line = (size_t)((unsigned char *)at - memory) /
				      LINE_BYTES;

			assert_true(line < lengths[k]);
			assert_int_equal(seen[line]++, 0);
			at = *at;
		}
		assert_ptr_equal(at, memory);
	}
	assert_int_equal(sl__chase_run(&chase, 17), 24);
}

/* All 6 cycles of 4 lines come equally often: chi-squared, 5 degrees of
 * freedom, .999 quantile 20.5 (R: qchisq(.999, 5)). */
static void
every_cycle_is_equally_likely(void **state)
{
	enum { RUNS = 6000 };
	static _Alignas(64) unsigned char memory[4 * 64];
	double counts[64] = {0}, chi_squared = 0;
	size_t n_kinds = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= RUNS; seed++) {
		struct sl__chase chase;
		size_t key = 0;
		void **at;

		sl__chase_init(&chase, memory, 64, seed);
		sl__chase_grow(&chase, 4);
		at = (void **)(void *)memory;
		for (int i = 0; i < 3; i++) {
			at = *at;
			key = 4 * key +
			      (size_t)((unsigned char *)at - memory) / 64;
		}
		counts[key]++;
	}
	for (size_t i = 0; i < 64; i++) {
		if (counts[i] < 1)
			continue;
		n_kinds++;
		chi_squared += (counts[i] - RUNS / 6.0) *
			       (counts[i] - RUNS / 6.0) / (RUNS / 6.0);
	}
	assert_int_equal(n_kinds, 6);
	assert_true(chi_squared < 20.5);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_kernel_does_the_operations_it_counts),
		cmocka_unit_test(kernels_are_ordered_and_chains_are_many),
		cmocka_unit_test(
			unexercised_kernels_hide_the_peak_of_their_type),
		cmocka_unit_test(streams_move_what_they_say),
		cmocka_unit_test(a_load_reads_every_vector),
		cmocka_unit_test(plain_stores_move_one_array_more),
		cmocka_unit_test(a_chase_is_one_cycle_at_every_length),
		cmocka_unit_test(every_cycle_is_equally_likely),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
