/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_cache_ladder.c - proves that the caches a process gets are found from
 * ladders that were recorded on three machines, whatever these say they have,
 * and from a staircase that is known.
 */
#include "harness.h"
#include "base/rng.h"
#include "machine/cache_ladder.h"
#include "machine/ceiling_probes_state.h"

enum { SIZES_MOST = 64, REPEATS_MOST = 8 };

struct recorded {
	double sizes[SIZES_MOST];
	double ns[REPEATS_MOST * SIZES_MOST];
	double s_per_byte[REPEATS_MOST * SIZES_MOST];
	size_t n_sizes, n_repeats;
};

/* Lines of repetition, bytes, nanoseconds per access, GB/s of a stream. */
static void
read_ladder(struct recorded *r, const char *path)
{
	FILE *f = fopen(path, "r");
	size_t n = 0;
	char line[128];

	memset(r, 0, sizeof(*r));
	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		char *at = line;
		double repeat = strtod(at, &at), size = strtod(at, &at);

		if (repeat < 0.5)
			r->sizes[r->n_sizes++] = size;
		r->ns[n] = strtod(at, &at);
		r->s_per_byte[n] = 1e-9 / strtod(at, &at);
		r->n_repeats = (size_t)repeat + 1;
		assert_true(r->n_sizes < SIZES_MOST);
		assert_true(++n < REPEATS_MOST * SIZES_MOST);
	}
	fclose(f);
	assert_int_equal(n, r->n_sizes * r->n_repeats);
}

static void
find(struct sl__found_caches *out, const struct recorded *r)
{
	struct sl__ladder_curve latency = {r->sizes, r->n_sizes, r->n_repeats,
					   r->ns};
	struct sl__ladder_curve stream = {r->sizes, r->n_sizes, r->n_repeats,
					  r->s_per_byte};
	struct sl__arena arena;

	sl__arena_init(&arena, NULL);
	assert_int_equal(
		sl__cache_ladder_find(out, &latency, &stream, &arena, NULL),
		SL_OK);
	sl__arena_release(&arena);
	for (size_t i = 0; i < out->n; i++) {
		const struct sl_found_cache *c = &out->at[i];

		print_message(
			"L%zu %.0f KiB [%.0f, %.0f], streams %.0f [%.0f, "
			"%.0f], %.2f ns, behind it %.2f ns\n",
			i + 1, c->latency.bytes / 1024,
			c->latency.lo_bytes / 1024, c->latency.hi_bytes / 1024,
			c->stream.bytes / 1024, c->stream.lo_bytes / 1024,
			c->stream.hi_bytes / 1024, c->latency_ns, c->behind_ns);
	}
}

static void
assert_within(const struct sl_cache_edge *edge, double lo_kib, double hi_kib)
{
	assert_true(edge->lo_bytes <= edge->bytes);
	assert_true(edge->bytes <= edge->hi_bytes);
	assert_true(edge->lo_bytes >= lo_kib * 1024);
	assert_true(edge->hi_bytes <= hi_kib * 1024);
}

static void
assert_contains(const struct sl_cache_edge *edge, double kib)
{
	assert_true(edge->lo_bytes <= kib * 1024);
	assert_true(edge->hi_bytes >= kib * 1024);
}

/* The guest is shown 48 KiB, 2 MiB and 260 MiB. */
static void
a_xeon_that_shows_260_mib_gives_16(void **state)
{
	struct recorded r;
	struct sl__found_caches found;

	(void)state;
	read_ladder(&r, SL_TEST_DATA "/ladders/emerald-rapids.txt");
	find(&found, &r);
	assert_int_equal(found.n, 3);
	assert_contains(&found.at[0].latency, 48);
	assert_contains(&found.at[1].latency, 2048);
	assert_within(&found.at[0].latency, 36, 64);
	assert_within(&found.at[1].latency, 1024, 3.5 * 1024);
	assert_within(&found.at[2].latency, 8 * 1024, 80 * 1024);
	assert_true(found.at[2].latency.bytes > 14 * 1024 * 1024.0);
	assert_true(found.at[2].latency.bytes < 28 * 1024 * 1024.0);
	assert_close(found.at[2].latency_ns, 35.0, 0.1);
	assert_close(found.at[2].behind_ns, 135.0, 0.1);
	/* Streams are prefetched from the last cache for longer. */
	assert_within(&found.at[1].stream, 1024, 3.5 * 1024);
	assert_within(&found.at[2].stream, 95 * 1024, 220 * 1024);
}

/* Recorded on two virtual CPUs of an AMD EPYC that has 32 KiB, 1 MiB and 32
 * MiB, the last one shared with other guests: a chase loses it to whoever
 * streams, a stream of its own does not. */
static void
an_epyc_gives_its_own_caches_and_a_share(void **state)
{
	struct recorded r;
	struct sl__found_caches found;

	(void)state;
	read_ladder(&r, SL_TEST_DATA "/ladders/zen4.txt");
	find(&found, &r);
	assert_int_equal(found.n, 3);
	assert_contains(&found.at[0].latency, 32);
	assert_contains(&found.at[1].latency, 1024);
	assert_within(&found.at[0].latency, 16, 64);
	assert_within(&found.at[1].latency, 256, 2048);
	assert_within(&found.at[2].latency, 4 * 1024, 32 * 1024);
	assert_within(&found.at[2].stream, 8 * 1024, 64 * 1024);
	assert_contains(&found.at[2].stream, 31 * 1024);
}

/* Recorded on two virtual CPUs of an AMD EPYC (Zen 5) that has 48 KiB, 1 MiB and
 * 32 MiB.  Other guests leave a chase so little of the last one that twice it
 * has no level between 4 ns and 155; a stream has one.  The third time eight
 * programs were busy. */
static void
an_epyc_whose_last_cache_streams_alone_see(void **state)
{
	static const char *const files[] = {"zen5-0.txt", "zen5-1.txt",
					    "zen5-2.txt"};

	(void)state;
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		struct recorded r;
		struct sl__found_caches found;
		char path[256];

		snprintf(path, sizeof(path), "%s/ladders/%s", SL_TEST_DATA,
			 files[i]);
		read_ladder(&r, path);
		find(&found, &r);
		assert_int_equal(found.n, 3);
		assert_int_equal(found.at[2].level, SL_LEVEL_L3);
		/* 45 KiB fit in some repetitions only. */
		assert_contains(&found.at[0].latency, 40);
		assert_contains(&found.at[1].latency, 1024);
		assert_within(&found.at[1].latency, 256, 3 * 1024);
		assert_within(&found.at[1].stream, 128, 3 * 1024);
		assert_contains(&found.at[1].stream, 1024);
		assert_within(&found.at[2].latency, 1024, 12 * 1024);
		assert_within(&found.at[2].stream, 2 * 1024, 96 * 1024);
		assert_contains(&found.at[2].stream, 31 * 1024);
		assert_true(found.at[1].behind_ns < 30);
		assert_true(found.at[2].behind_ns > 120);
	}
}

/* Neighbours let sets from 1.4 to 3 MiB be as near as each other, in one of
 * three repetitions: that is no cache. */
static void
a_level_of_one_repetition_is_none(void **state)
{
	struct recorded r;
	struct sl__found_caches found;

	(void)state;
	read_ladder(&r, SL_TEST_DATA "/ladders/zen5-3.txt");
	find(&found, &r);
	assert_int_equal(found.n, 3);
	assert_contains(&found.at[0].latency, 48);
	assert_contains(&found.at[1].latency, 1024);
	assert_within(&found.at[1].latency, 512, 3 * 1024);
	assert_contains(&found.at[1].stream, 1024);
	assert_within(&found.at[2].latency, 5 * 1024, 32 * 1024);
	assert_contains(&found.at[2].stream, 31 * 1024);
	assert_true(found.at[1].behind_ns < 30);
	assert_true(found.at[2].behind_ns > 120);
}

/* Caches of 32 KiB and 6 MiB with 10 % of noise, one access in 25 disturbed
 * threefold; a set beyond a cache hits it in proportion. */
static void
make_staircase(struct recorded *r, uint64_t seed)
{
	const double edges[] = {32 * 1024.0, 6 * 1024 * 1024.0};
	const double ns[] = {1, 8, 90};
	struct sl__rng rng;

	memset(r, 0, sizeof(*r));
	sl__rng_init(&rng, seed);
	r->n_repeats = 3;
	r->n_sizes = 48;
	for (size_t i = 0; i < r->n_sizes; i++)
		r->sizes[i] = 8192 * exp2((double)i / 3);
	for (size_t i = 0; i < r->n_sizes * r->n_repeats; i++) {
		double size = r->sizes[i % r->n_sizes], mean = ns[0];

		for (int k = 0; k < 2; k++)
			mean += (ns[k + 1] - ns[k]) *
				fmax(0, 1 - edges[k] / size);
		mean *= 0.95 + 0.1 * sl__rng_uniform(&rng);
		r->ns[i] = sl__rng_below(&rng, 25) ? mean : 3 * mean;
		r->s_per_byte[i] = 1e-11;
	}
}

static void
a_noisy_staircase_is_found(void **state)
{
	size_t n_right = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 40; seed++) {
		struct recorded r;
		struct sl__found_caches found;

		make_staircase(&r, seed);
		find(&found, &r);
		n_right += found.n == 2 &&
			   found.at[0].latency.lo_bytes <= 48 * 1024 &&
			   found.at[0].latency.hi_bytes >= 32 * 1024 &&
			   found.at[1].latency.lo_bytes <= 9e6 &&
			   found.at[1].latency.hi_bytes >= 6e6 &&
			   isnan(found.at[1].stream.bytes);
	}
	print_message("%zu of 40 staircases found\n", n_right);
	assert_true(n_right >= 38);
}

static void
a_flat_curve_has_no_cache(void **state)
{
	struct recorded r;
	struct sl__found_caches found;

	(void)state;
	make_staircase(&r, 1);
	for (size_t i = 0; i < r.n_sizes * r.n_repeats; i++)
		r.ns[i] = 5;
	find(&found, &r);
	assert_int_equal(found.n, 0);
}

/* A set of each level lies beyond the one before it and within its own, and
 * what the system shows plays no part but who shares what. */
static void
probes_take_sizes_from_what_was_found(void **state)
{
	static const struct sl_cache shown[] = {
		{1, SL_CACHE_DATA, 48 << 10, 64, 2, 1},
		{2, SL_CACHE_UNIFIED, 2 << 20, 64, 2, 1},
		{3, SL_CACHE_UNIFIED, (size_t)260 << 20, 64, 1, 2},
	};
	struct sl_machine m = {.caches = shown, .n_caches = 3};
	struct recorded r;
	struct sl__found_caches found;
	struct sl__probe_sets sets;

	(void)state;
	read_ladder(&r, SL_TEST_DATA "/ladders/emerald-rapids.txt");
	find(&found, &r);
	m.found_caches = found.at;
	m.n_found_caches = found.n;
	for (size_t n = 1; n <= 2; n++) {
		double last = found.at[2].latency.lo_bytes / (double)n;

		sl__probe_sets_choose(&sets, &m, n);
		assert_true((double)sets.set_bytes[SL_LEVEL_L1] <=
			    found.at[0].latency.lo_bytes);
		assert_true((double)sets.set_bytes[SL_LEVEL_L2] >
			    found.at[0].latency.hi_bytes);
		assert_true((double)sets.set_bytes[SL_LEVEL_L2] <
			    found.at[1].latency.lo_bytes);
		assert_true((double)sets.set_bytes[SL_LEVEL_L3] >
			    found.at[1].latency.hi_bytes);
		assert_true((double)sets.set_bytes[SL_LEVEL_L3] < last);
		assert_close((double)sets.share_bytes[SL_LEVEL_L3],
			     found.at[2].stream.bytes / (double)n, 1e-6);
	}
	/* Nothing was found: the first two have sizes all CPUs have. */
	m.n_found_caches = 0;
	sl__probe_sets_choose(&sets, &m, 1);
	assert_true(sets.set_bytes[SL_LEVEL_L1] && sets.set_bytes[SL_LEVEL_L2]);
	assert_int_equal(sets.set_bytes[SL_LEVEL_L3], 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_xeon_that_shows_260_mib_gives_16),
		cmocka_unit_test(an_epyc_gives_its_own_caches_and_a_share),
		cmocka_unit_test(an_epyc_whose_last_cache_streams_alone_see),
		cmocka_unit_test(a_level_of_one_repetition_is_none),
		cmocka_unit_test(a_noisy_staircase_is_found),
		cmocka_unit_test(a_flat_curve_has_no_cache),
		cmocka_unit_test(probes_take_sizes_from_what_was_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
