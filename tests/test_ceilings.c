/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_ceilings.c - what is measured is chosen as documented, and plateaus
 * are found and named on curves whose levels are known beforehand: clean,
 * noisy, with ramps, with a cache that lies about its size.
 */
#include "harness.h"
#include "base/rng.h"
#include "machine/ceiling.h"
#include "machine/plateau.h"

static const struct sl_cache three_caches[] = {
	{1, SL_CACHE_DATA, 32768, 64, 2, 1},
	{1, SL_CACHE_INSTRUCTION, 32768, 64, 2, 1},
	{2, SL_CACHE_UNIFIED, 1 << 20, 64, 2, 1},
	{3, SL_CACHE_UNIFIED, 32 << 20, 64, 1, 2},
};

/* Sizes from 4 KiB to 128 MiB, and a value for each. */
struct curve {
	size_t sizes[128];
	double values[128];
	size_t n;
};

struct step {
	size_t up_to_bytes;
	double value;
};

/*
 * A staircase with a ramp: a size up to twice the end of a step lies halfway,
 * in the logarithm, to the next.
 */
static struct curve
staircase(const struct step *steps, size_t n_steps, double noise, uint64_t seed)
{
	struct curve c;
	struct sl__rng rng;

	sl__rng_init(&rng, seed);
	c.n = sl__ceiling_working_set_sizes(c.sizes, 128 << 20);
	for (size_t i = 0; i < c.n; i++) {
		size_t k = 0;

		while (k + 1 < n_steps && c.sizes[i] > steps[k].up_to_bytes)
			k++;
		c.values[i] = steps[k].value;
		if (k > 0 && c.sizes[i] < 3 * steps[k - 1].up_to_bytes / 2)
			c.values[i] = sqrt(steps[k].value * steps[k - 1].value);
		c.values[i] *= exp(noise * sl__rng_normal(&rng));
	}
	return c;
}

static struct sl__plateaus
find_and_name(const struct curve *c, size_t n_caches, size_t n_threads)
{
	struct sl__plateaus plateaus;
	struct sl__arena arena;

	sl__arena_init(&arena, NULL);
	assert_int_equal(
		sl__plateaus_find(&plateaus, c->values, c->n, &arena, NULL),
		SL_OK);
	sl__plateaus_name(
		&plateaus, c->sizes, three_caches, n_caches, n_threads,
		sl__size_exceeds_caches(c->sizes[c->n - 1], three_caches,
					n_caches, n_threads));
	sl__arena_release(&arena);
	return plateaus;
}

static const struct step bandwidth_steps[] = {
	{32768, 215e9}, {1 << 20, 118e9}, {32 << 20, 98e9}, {SIZE_MAX, 34e9}};
static const struct step latency_steps[] = {
	{32768, 1.08}, {1 << 20, 3.8}, {32 << 20, 14}, {SIZE_MAX, 110}};

static void
assert_four_levels(const struct sl__plateaus *p, const struct step *steps,
		   double tolerance)
{
	static const enum sl_level levels[] = {SL_LEVEL_L1, SL_LEVEL_L2,
					       SL_LEVEL_L3, SL_LEVEL_DRAM};

	assert_int_equal(p->n, 4);
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(p->at[i].level, levels[i]);
		assert_close(p->at[i].value, steps[i].value, tolerance);
	}
}

static void
levels_of_a_quiet_curve_end_where_they_do(void **state)
{
	struct curve c = staircase(latency_steps, 4, 0.002, 1);
	struct sl__plateaus p = find_and_name(&c, 4, 1);

	(void)state;
	assert_four_levels(&p, latency_steps, 0.01);
	assert_int_equal(c.sizes[p.at[0].last], 32768);
	assert_int_equal(c.sizes[p.at[1].last], 1 << 20);
	assert_int_equal(c.sizes[p.at[2].last], 32 << 20);
	assert_int_equal(p.at[3].last, c.n - 1);
}

static void
noise_of_five_percent_hides_no_level(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 200; seed++) {
		struct curve c = staircase(latency_steps, 4, 0.05, seed);
		struct sl__plateaus p = find_and_name(&c, 4, 1);

		assert_four_levels(&p, latency_steps, 0.15);
	}
}

/* L2 and L3 are only 20 % apart: seen when the noise is 1 %. */
static void
close_levels_are_told_apart_when_it_is_quiet(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 200; seed++) {
		struct curve c = staircase(bandwidth_steps, 4, 0.01, seed);
		struct sl__plateaus p = find_and_name(&c, 4, 1);

		assert_four_levels(&p, bandwidth_steps, 0.05);
	}
}

static void
a_flat_curve_is_one_plateau_without_a_name(void **state)
{
	static const struct step flat[] = {{SIZE_MAX, 50e9}};

	(void)state;
	for (uint64_t seed = 1; seed <= 200; seed++) {
		struct curve c = staircase(flat, 1, 0.02, seed);
		struct sl__plateaus p = find_and_name(&c, 4, 1);

		assert_int_equal(p.n, 1);
		assert_int_equal(p.at[0].level, SL_LEVEL_NONE);
	}
}

/* A virtual machine that shows 32 MiB but has 8: names stay, sizes are those
 * of the curve. */
static void
a_cache_that_lies_is_found_where_it_ends(void **state)
{
	static const struct step steps[] = {
		{32768, 1.08}, {1 << 20, 3.8}, {8 << 20, 14}, {SIZE_MAX, 110}};
	struct curve c = staircase(steps, 4, 0.02, 3);
	struct sl__plateaus p = find_and_name(&c, 4, 1);

	(void)state;
	assert_four_levels(&p, steps, 0.1);
	assert_int_equal(c.sizes[p.at[2].last], 8 << 20);
}

/* Three plateaus and three caches: one cache is missing from the curve. */
static void
a_missing_level_is_not_invented(void **state)
{
	static const struct step steps[] = {
		{32768, 1.08}, {32 << 20, 14}, {SIZE_MAX, 110}};
	struct curve c = staircase(steps, 3, 0.02, 4);
	struct sl__plateaus p = find_and_name(&c, 4, 1);

	(void)state;
	assert_int_equal(p.n, 3);
	assert_int_equal(p.at[0].level, SL_LEVEL_L1);
	assert_int_equal(p.at[1].level, SL_LEVEL_L3);
	assert_int_equal(p.at[2].level, SL_LEVEL_DRAM);
}

static void
without_known_caches_only_memory_has_a_name(void **state)
{
	struct curve c = staircase(latency_steps, 4, 0.02, 5);
	struct sl__plateaus p = find_and_name(&c, 0, 1);

	(void)state;
	assert_int_equal(p.n, 4);
	assert_int_equal(p.at[0].level, SL_LEVEL_NONE);
	assert_int_equal(p.at[3].level, SL_LEVEL_DRAM);
}

static void
memory_begins_at_twice_the_share_of_the_cache(void **state)
{
	(void)state;
	assert_false(
		sl__size_exceeds_caches((64 << 20) - 1, three_caches, 4, 1));
	assert_true(sl__size_exceeds_caches(64 << 20, three_caches, 4, 1));
	assert_true(sl__size_exceeds_caches(32 << 20, three_caches, 4, 2));
}

static void
thread_counts_double_and_end_with_all(void **state)
{
	static const size_t expected[] = {1, 2, 4, 6};
	size_t counts[64];

	(void)state;
	assert_int_equal(sl__ceiling_thread_counts(counts, 6), 4);
	assert_memory_equal(counts, expected, sizeof(expected));
	assert_int_equal(sl__ceiling_thread_counts(counts, 1), 1);
	assert_int_equal(counts[0], 1);
	assert_int_equal(sl__ceiling_thread_counts(counts, 2), 2);
	assert_int_equal(sl__ceiling_thread_counts(counts, 8), 4);
}

static void
sizes_go_from_4_kib_in_half_octaves(void **state)
{
	size_t sizes[128];
	size_t n = sl__ceiling_working_set_sizes(sizes, 128 << 20);

	(void)state;
	assert_int_equal(n, 31);
	assert_int_equal(sizes[0], 4096);
	assert_int_equal(sizes[2], 8192);
	assert_int_equal(sizes[30], 128 << 20);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(sizes[i] % 256, 0);
		assert_close((double)sizes[i], 4096 * exp2((double)i / 2),
			     0.07);
	}
}

static void
the_largest_size_is_four_caches_shared_and_limited(void **state)
{
	(void)state;
	assert_int_equal(
		sl__ceiling_max_working_set(three_caches, 4, 1, SIZE_MAX),
		128 << 20);
	assert_int_equal(
		sl__ceiling_max_working_set(three_caches, 4, 2, SIZE_MAX),
		64 << 20);
	assert_int_equal(
		sl__ceiling_max_working_set(three_caches, 4, 1, 1 << 20),
		1 << 20);
	/* Nothing known of the caches: 64 MiB. */
	assert_int_equal(sl__ceiling_max_working_set(NULL, 0, 1, SIZE_MAX),
			 64 << 20);
	assert_int_equal(sl__ceiling_max_working_set(NULL, 0, 1, 0), 4096);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(levels_of_a_quiet_curve_end_where_they_do),
		cmocka_unit_test(noise_of_five_percent_hides_no_level),
		cmocka_unit_test(close_levels_are_told_apart_when_it_is_quiet),
		cmocka_unit_test(a_flat_curve_is_one_plateau_without_a_name),
		cmocka_unit_test(a_cache_that_lies_is_found_where_it_ends),
		cmocka_unit_test(a_missing_level_is_not_invented),
		cmocka_unit_test(without_known_caches_only_memory_has_a_name),
		cmocka_unit_test(memory_begins_at_twice_the_share_of_the_cache),
		cmocka_unit_test(thread_counts_double_and_end_with_all),
		cmocka_unit_test(sizes_go_from_4_kib_in_half_octaves),
		cmocka_unit_test(
			the_largest_size_is_four_caches_shared_and_limited),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
