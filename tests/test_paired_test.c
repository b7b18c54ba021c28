/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_paired_test.c - the verdict follows its rules on rounds that are known,
 * and in simulation keeps its promises: at most 5 % of A/A runs are called
 * different with a look after every round, the interval of the ratio covers
 * whatever drift both slots share, and the gate's three outcomes come at their
 * rates.
 */
#include "harness.h"
#include "stats/paired_test.h"
#include "stats/sign_test.h"
#include "simulated_noise.h"

enum { N_ROUNDS = 300 };

/* One round in coin order of A and of B, 'ratio' times as long. */
static void
next_round(struct sl__paired_test *test, struct machine *m, double ratio)
{
	double first = exp(next_slot(m)), second = exp(next_slot(m));

	if (sl__rng_coin(&m->rng))
		sl__paired_test_add(test, first, ratio * second);
	else
		sl__paired_test_add(test, second, ratio * first);
}

/* A whole run; 'test' keeps pointing to 'm' and 'storage'. */
static void
play(struct sl__paired_test *test, struct machine *m, double *storage, size_t n,
     double margin, double ratio)
{
	sl__paired_test_init(test, storage, n, margin, .05, &m->rng);
	for (size_t i = 0; i < n; i++)
		next_round(test, m, ratio);
}

static void
without_a_margin_seven_wins_decide(void **state)
{
	double storage[8], scratch[8];
	struct sl__paired_test test;
	struct sl__rng coin;

	(void)state;
	sl__rng_init(&coin, 1);
	sl__paired_test_init(&test, storage, 8, 0, .05, &coin);
	assert_true(isnan(sl__paired_test_ratio(&test, scratch).value));
	for (int i = 1; i <= 6; i++) {
		sl__paired_test_add(&test, 100, 100 + i);
		assert_int_equal(test.verdict, SL_VERDICT_UNDECIDED);
	}
	assert_true(isnan(sl__paired_test_ratio(&test, scratch).lo));
	assert_int_equal(sl__paired_test_ratio(&test, scratch).needs_n, 7);
	sl__paired_test_add(&test, 100, 107);
	assert_int_equal(test.verdict, SL_VERDICT_SLOWER);
	assert_int_equal(test.gate, SL_GATE_REGRESSED);
	assert_int_equal(test.decided_at, 7);
	assert_near(sl__paired_test_ratio(&test, scratch).value, 1.04, 1e-12);
	assert_near(sl__paired_test_ratio(&test, scratch).lo, 1.01, 1e-12);
	assert_near(sl__paired_test_ratio(&test, scratch).hi, 1.07, 1e-12);
	assert_int_equal(sl__paired_test_ratio(&test, scratch).needs_n, 0);
	/* A full test takes one more, and then none. */
	sl__paired_test_add(&test, 100, 50);
	sl__paired_test_add(&test, 100, 50);
	assert_int_equal(test.n, 8);
	assert_int_equal(test.verdict, SL_VERDICT_SLOWER);
}

/* Rounds with this ratio until the verdict falls, at most 100. */
static size_t
rounds_to_verdict(struct sl__paired_test *test, double *storage, double margin,
		  double ratio)
{
	struct sl__rng coin;

	sl__rng_init(&coin, 1);
	sl__paired_test_init(test, storage, 100, margin, .05, &coin);
	while (test->n < 100 && !test->verdict)
		sl__paired_test_add(test, 1, ratio);
	return test->decided_at;
}

static void
with_a_margin_each_bound_counts_by_itself(void **state)
{
	size_t n_to_20 = 1, n_to_40 = 1;
	struct sl__paired_test test;
	double storage[100];

	(void)state;
	while (sl__sign_log_e_above(n_to_20, n_to_20) < log(20))
		n_to_20++;
	while (sl__sign_log_e_above(n_to_40, n_to_40) < log(40))
		n_to_40++;
	assert_int_equal(rounds_to_verdict(&test, storage, .01, 1.011),
			 n_to_40);
	assert_int_equal(test.verdict, SL_VERDICT_SLOWER);
	assert_int_equal(test.gate, SL_GATE_REGRESSED);
	assert_int_equal(rounds_to_verdict(&test, storage, .01, 1.009),
			 n_to_20);
	assert_int_equal(test.verdict, SL_VERDICT_SAME);
	assert_int_equal(test.gate, SL_GATE_OK);
	assert_int_equal(rounds_to_verdict(&test, storage, .01, 1 / 1.011),
			 n_to_40);
	assert_int_equal(test.verdict, SL_VERDICT_FASTER);
	assert_int_equal(test.gate, SL_GATE_OK);
}

static void
ties_are_decided_by_the_coin(void **state)
{
	size_t n_different = 0, n_above = 0;
	double storage[100];
	struct sl__paired_test test;
	struct sl__rng coin;

	(void)state;
	sl__rng_init(&coin, 3);
	for (int run = 0; run < 1000; run++) {
		sl__paired_test_init(&test, storage, 100, 0, .05, &coin);
		for (int i = 0; i < 100; i++)
			sl__paired_test_add(&test, 42, 42);
		n_different += test.verdict != SL_VERDICT_UNDECIDED;
		n_above += test.n_above_zero;
	}
	assert_true(n_different <= 50);
	assert_near((double)n_above, 50000, 4 * 158.0); /* 4 sd */
}

static void
identical_sides_are_seldom_called_different(void **state)
{
	static const double margins[] = {0, .01};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		size_t n_different = 0;

		for (uint64_t run = 0; run < 2000; run++) {
			double storage[N_ROUNDS];
			struct machine m;
			struct sl__paired_test d;

			machine_init(&m, AUTOREGRESSIVE, 1000 + run);
			play(&d, &m, storage, N_ROUNDS, margins[i], 1);
			n_different += d.verdict == SL_VERDICT_FASTER ||
				       d.verdict == SL_VERDICT_SLOWER;
		}
		print_message("A/A, margin %g: %zu of 2000 called different\n",
			      margins[i], n_different);
		assert_true(n_different <= 100);
	}
}

/* Whether the interval held 'ratio' at each of 30 looks. */
static int
covers_throughout(enum noise_kind noise_kind, uint64_t seed, double ratio)
{
	double storage[N_ROUNDS], scratch[N_ROUNDS];
	struct sl__paired_test d;
	struct machine m;

	machine_init(&m, noise_kind, seed);
	sl__paired_test_init(&d, storage, N_ROUNDS, 0, .05, &m.rng);
	while (d.n < N_ROUNDS) {
		struct sl_estimate e;

		for (int i = 0; i < 10; i++)
			next_round(&d, &m, ratio);
		e = sl__paired_test_ratio(&d, scratch);
		if (e.lo > ratio || e.hi < ratio)
			return 0;
	}
	return 1;
}

static void
the_interval_covers_under_drift(void **state)
{
	(void)state;
	for (int w = 0; w <= AUTOREGRESSIVE; w++) {
		size_t n_covered = 0;

		for (uint64_t run = 0; run < 1000; run++)
			n_covered += (size_t)covers_throughout(
				(enum noise_kind)w, 5000 + run, 1.03);
		print_message("noise_kind %d: %zu of 1000 runs covered at all "
			      "30 looks\n",
			      w, n_covered);
		assert_true(n_covered >= 950);
	}
}

static void
the_gate_keeps_its_rates(void **state)
{
	static const struct {
		const char *what;
		double ratio;
		size_t n_rounds, max_ok, min_ok, max_regressed, min_regressed;
	} rows[] = {
		{"three margins slower", 1.03, 300, 20, 0, 1000, 950},
		{"the same", 1.0, 300, 1000, 950, 20, 0},
		{"at the margin", 1.01, 300, 50, 0, 50, 0},
		{"too few rounds", 1.03, 6, 0, 0, 0, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		size_t n_ok = 0, n_regressed = 0;

		for (uint64_t run = 0; run < 1000; run++) {
			double storage[N_ROUNDS];
			struct machine m;
			struct sl__paired_test d;

			machine_init(&m, BURSTS, 9000 + run);
			play(&d, &m, storage, rows[i].n_rounds, .01,
			     rows[i].ratio);
			n_ok += d.gate == SL_GATE_OK;
			n_regressed += d.gate == SL_GATE_REGRESSED;
		}
		print_message("gate, %s: %zu ok, %zu regressed of 1000\n",
			      rows[i].what, n_ok, n_regressed);
		assert_in_range(n_ok, rows[i].min_ok, rows[i].max_ok);
		assert_in_range(n_regressed, rows[i].min_regressed,
				rows[i].max_regressed);
	}
}

/* Log-ratios with standard deviation 0.05: what is promised is found. */
static void
the_minimum_detectable_change_is_found(void **state)
{
	double storage[200], scratch[200], promised = 0;
	size_t n_found = 0;
	struct sl__paired_test d;
	struct sl__rng rng;

	(void)state;
	sl__rng_init(&rng, 11);
	for (int run = 0; run < 500; run++) {
		sl__paired_test_init(&d, storage, 200, 0, .05, &rng);
		for (int i = 0; i < 200; i++)
			sl__paired_test_add(&d, 1,
					    exp(.05 * sl__rng_normal(&rng)));
		promised +=
			sl__paired_test_minimum_detectable(&d, scratch) / 500;
	}
	/* 125 of 200 wins needed: 65.4 %, which a shift of 0.395 sd gives. */
	assert_near(promised, exp(.395 * .05) - 1, .002);
	for (int run = 0; run < 500; run++) {
		sl__paired_test_init(&d, storage, 200, 0, .05, &rng);
		for (int i = 0; i < 200; i++)
			sl__paired_test_add(
				&d, 1,
				(1 + promised) *
					exp(.05 * sl__rng_normal(&rng)));
		n_found += d.verdict == SL_VERDICT_SLOWER;
	}
	print_message("minimum detectable %.4f found in %zu of 500\n", promised,
		      n_found);
	assert_true(n_found >= 400);
	sl__paired_test_init(&d, storage, 200, 0, .05, &rng);
	for (int i = 0; i < 10; i++)
		sl__paired_test_add(&d, 1, 1 + 1e-3 * i);
	assert_true(isnan(sl__paired_test_minimum_detectable(&d, scratch)));
}

static void
verdicts_have_names(void **state)
{
	(void)state;
	assert_string_equal(sl_verdict_text(SL_VERDICT_FASTER), "faster");
	assert_string_equal(sl_verdict_text(SL_VERDICT_SLOWER), "slower");
	assert_string_equal(sl_verdict_text(SL_VERDICT_SAME), "same");
	assert_string_equal(sl_verdict_text(SL_VERDICT_UNDECIDED), "undecided");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_a_margin_seven_wins_decide),
		cmocka_unit_test(with_a_margin_each_bound_counts_by_itself),
		cmocka_unit_test(ties_are_decided_by_the_coin),
		cmocka_unit_test(identical_sides_are_seldom_called_different),
		cmocka_unit_test(the_interval_covers_under_drift),
		cmocka_unit_test(the_gate_keeps_its_rates),
		cmocka_unit_test(the_minimum_detectable_change_is_found),
		cmocka_unit_test(verdicts_have_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
