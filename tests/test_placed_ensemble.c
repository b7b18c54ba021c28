/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_placed_ensemble.c - where things lie moves them for as long as they lie
 * there: rounds alone then find differences between equals, placements do not,
 * and still find what is there.
 */
#include "stats/ensemble.h"
#include "harness.h"

enum { RUNS = 300, PLACEMENTS = 40, ROUNDS = 6, CAP = PLACEMENTS * ROUNDS };

struct game {
	struct sl__rng rng;
	struct sl__ensemble e;
	double storage[CAP], scratch[CAP];
};

static void
start(struct game *g, uint64_t seed, int is_placed)
{
	struct sl__ensemble_options how = {.n_members = 1,
					   .margin = 0.01,
					   .alpha = 0.05,
					   .coin = &g->rng,
					   .is_placed = is_placed};

	sl__rng_init(&g->rng, seed);
	sl__ensemble_init(&g->e, &how, g->storage, CAP);
}

/* Rounds of one placement, around what the place makes of B / A. */
static void
play_placement(struct game *g, double log_ratio, double reach)
{
	double place = log_ratio + reach * sl__rng_normal(&g->rng);

	for (int i = 0; i < ROUNDS; i++) {
		double d = place + 0.003 * sl__rng_normal(&g->rng);

		sl__ensemble_add(&g->e, &d);
	}
	/* The median, but for the little that rounds add to it. */
	sl__ensemble_add_placement(&g->e, &place);
}

static int
play(struct game *g, double log_ratio, double reach)
{
	for (int i = 0; i < PLACEMENTS && !g->e.verdict; i++)
		play_placement(g, log_ratio, reach);
	return g->e.verdict == SL_VERDICT_SLOWER ||
	       g->e.verdict == SL_VERDICT_FASTER;
}

static int
count_differences(double log_ratio, double reach, int is_placed)
{
	struct game g;
	int n = 0;

	for (uint64_t seed = 1; seed <= RUNS; seed++) {
		start(&g, seed, is_placed);
		n += play(&g, log_ratio, reach);
	}
	return n;
}

/* Of one half: B differs that takes more than 1.5 times as long, or less than
 * 1 / 1.5 of the time, wherever both lie; 1.4 is the same. */
static void
a_wide_margin_is_a_ratio(void **state)
{
	static const struct {
		double ratio;
		enum sl_verdict verdict;
	} rows[] = {
		{1.7, SL_VERDICT_SLOWER},
		{1.4, SL_VERDICT_SAME},
		{1 / 1.4, SL_VERDICT_SAME},
		{1 / 1.7, SL_VERDICT_FASTER},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct game g;

		start(&g, 1, 1);
		g.e.members[0].margin = 0.5;
		(void)play(&g, log(rows[i].ratio), 0.01);
		assert_int_equal(g.e.verdict, rows[i].verdict);
	}
}

static void
equals_in_different_places_are_not_called_different(void **state)
{
	int by_rounds = count_differences(0, 0.05, 0);
	int by_places = count_differences(0, 0.05, 1);

	(void)state;
	print_message("equals called different: by rounds %d, by placements "
		      "%d of %d\n",
		      by_rounds, by_places, RUNS);
	assert_true(by_rounds > RUNS / 4);
	/* At most 5 %; three deviations of such a count are 11. */
	assert_true(by_places <= RUNS / 20 + 11);
}

static void
what_differs_is_found_all_the_same(void **state)
{
	(void)state;
	assert_int_equal(count_differences(0.03, 0.002, 1), RUNS);
	assert_true(count_differences(0.10, 0.05, 1) > RUNS * 9 / 10);
}

static void
equals_are_proved_the_same(void **state)
{
	struct game g;

	(void)state;
	start(&g, 3, 1);
	assert_int_equal(play(&g, 0, 0.002), 0);
	assert_int_equal(g.e.verdict, SL_VERDICT_SAME);
	assert_int_equal(g.e.gate, SL_GATE_OK);
	assert_int_equal(sl__ensemble_member_verdict(&g.e, 0), SL_VERDICT_SAME);
}

/* One placement proves a thing of itself only. */
static void
one_placement_decides_nothing(void **state)
{
	struct sl_estimate ratio;
	struct game g;

	(void)state;
	start(&g, 1, 1);
	for (int i = 0; i < 60; i++) {
		double d = 0.08 + 0.001 * sl__rng_normal(&g.rng);

		sl__ensemble_add(&g.e, &d);
	}
	assert_int_equal(g.e.members[0].verdict, SL_VERDICT_SLOWER);
	assert_int_equal(g.e.verdict, SL_VERDICT_UNDECIDED);
	assert_int_equal(g.e.gate, SL_GATE_UNDECIDED);
	assert_int_equal(sl__ensemble_member_verdict(&g.e, 0),
			 SL_VERDICT_UNDECIDED);
	ratio = sl__ensemble_ratio(&g.e, 0, g.scratch);
	assert_true(ratio.needs_n > 60);
	assert_true(isnan(ratio.lo));
	assert_near(ratio.value, exp(0.08), 0.002);
}

/* The interval holds both what rounds and what placements allow. */
static void
the_interval_is_no_shorter_than_either(void **state)
{
	struct sl_estimate ratio, rounds;
	struct game g;
	double half;

	(void)state;
	start(&g, 9, 1);
	for (int i = 0; i < 12; i++)
		play_placement(&g, 0.1, 0.05);
	half = sl__anytime_t_half_width(&g.e.placements[0], 0.05);
	ratio = sl__ensemble_ratio(&g.e, 0, g.scratch);
	rounds = sl__paired_test_ratio(&g.e.members[0], g.scratch);
	assert_true(ratio.lo <= rounds.lo && ratio.hi >= rounds.hi);
	assert_true(ratio.lo <= exp(g.e.placements[0].mean - half));
	assert_true(ratio.hi >= exp(g.e.placements[0].mean + half));
	assert_true(ratio.lo < exp(0.1) && ratio.hi > exp(0.1));
}

/* What was proved early and is contradicted later is not said in the end. */
static void
a_verdict_that_evidence_turns_against_is_taken_back(void **state)
{
	struct game g;

	(void)state;
	start(&g, 2, 1);
	for (int i = 0; i < 6; i++)
		play_placement(&g, 0.05, 0.001);
	assert_int_equal(g.e.verdict, SL_VERDICT_SLOWER);
	assert_int_equal(g.e.gate, SL_GATE_REGRESSED);
	for (int i = 0; i < 14; i++)
		play_placement(&g, -0.05, 0.001);
	assert_int_not_equal(g.e.verdict, SL_VERDICT_SLOWER);
	assert_int_not_equal(g.e.gate, SL_GATE_REGRESSED);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_wide_margin_is_a_ratio),
		cmocka_unit_test(
			equals_in_different_places_are_not_called_different),
		cmocka_unit_test(what_differs_is_found_all_the_same),
		cmocka_unit_test(equals_are_proved_the_same),
		cmocka_unit_test(one_placement_decides_nothing),
		cmocka_unit_test(the_interval_is_no_shorter_than_either),
		cmocka_unit_test(
			a_verdict_that_evidence_turns_against_is_taken_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
