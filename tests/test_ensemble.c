/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_ensemble.c - the rules hold on rounds that are known, and in simulated
 * models of twenty layers the promises do: at most 5 % of A/A runs are called
 * different, a slowdown of all layers is found where the total alone does not
 * see it, and one slow layer is named.
 */
#include "harness.h"
#include "stats/ensemble.h"
#include "stats/sign_test.h"
#include "simulated_noise.h"

enum { N_LAYERS = 20, N_MEMBERS = 3, CAP = 400 };
enum { WALL, CPU, LAYERS };

struct run {
	struct machine m;
	struct sl__ensemble e;
	struct sl__sign_count counts[N_LAYERS];
	double storage[N_MEMBERS * CAP];
	double slowdown[N_LAYERS]; /* of B, each layer */
};

static void
start(struct run *r, enum noise_kind noise_kind, uint64_t seed, double margin)
{
	struct sl__ensemble_options how = {.n_members = N_MEMBERS,
					   .margin = margin,
					   .alpha = .05,
					   .coin = &r->m.rng};

	memset(r, 0, sizeof(*r));
	machine_init(&r->m, noise_kind, seed);
	sl__ensemble_init(&r->e, &how, r->storage, CAP);
	for (int k = 0; k < N_LAYERS; k++)
		r->slowdown[k] = 1;
}

/* Layers of one iteration one after the other, so that noise hits some. */
static void
take_iteration(struct run *r, double *layers)
{
	for (int k = 0; k < N_LAYERS; k++)
		layers[k] = (1 + k % 5) * exp(next_slot(&r->m));
}

static double
total(const double *layers)
{
	double sum = 0;

	for (int k = 0; k < N_LAYERS; k++)
		sum += layers[k];
	return sum;
}

static double
median_of(double *x)
{
	for (int i = 1; i < N_LAYERS; i++) {
		for (int k = i; k > 0 && x[k - 1] > x[k]; k--) {
			double y = x[k];

			x[k] = x[k - 1];
			x[k - 1] = y;
		}
	}
	return (x[N_LAYERS / 2 - 1] + x[N_LAYERS / 2]) / 2;
}

/* CPU time: the same work, but what waits is not in it. */
static void
play_round(struct run *r)
{
	double iterations[2][N_LAYERS], d[N_LAYERS], log_ratios[N_MEMBERS];
	double cpu = .004 * sl__rng_normal(&r->m.rng), work[2] = {0, 0};
	int b = sl__rng_coin(&r->m.rng);

	take_iteration(r, iterations[0]);
	take_iteration(r, iterations[1]);
	for (int k = 0; k < N_LAYERS; k++) {
		iterations[b][k] *= r->slowdown[k];
		d[k] = log(iterations[b][k] / iterations[!b][k]);
		work[0] += 1 + k % 5;
		work[1] += (1 + k % 5) * r->slowdown[k];
		sl__sign_count_add(&r->counts[k], d[k], r->e.how.margin,
				   &r->m.rng);
	}
	log_ratios[WALL] = log(total(iterations[b]) / total(iterations[!b]));
	log_ratios[CPU] = log(work[1] / work[0]) + cpu;
	log_ratios[LAYERS] = median_of(d);
	sl__ensemble_add(&r->e, log_ratios);
}

static int
is_different(const struct run *r)
{
	return r->e.verdict == SL_VERDICT_SLOWER ||
	       r->e.verdict == SL_VERDICT_FASTER;
}

/* The same log-ratios again and again, until a verdict, at most 100 times. */
static size_t
rounds_to_verdict(struct run *r, double margin, unsigned is_silent,
		  const double *log_ratios)
{
	start(r, RANDOM_WALK, 1, margin);
	r->e.how.is_silent = is_silent;
	while (r->e.members[0].n < 100 && !r->e.verdict)
		sl__ensemble_add(&r->e, log_ratios);
	return r->e.decided_at;
}

/* ln of the average of three one-sided e-values. */
static double
average(double a, double b, double c)
{
	return log((exp(a) + exp(b) + exp(c)) / 3);
}

static void
the_average_decides_when_it_reaches_its_bound(void **state)
{
	const double alone[] = {.05, 0, 0};
	size_t n = 0, n_up = 0, alone_needs = 1;
	double log_e;
	struct run r;

	(void)state;
	/* The total wavers, CPU time always wins, layers always lose. */
	start(&r, RANDOM_WALK, 1, .01);
	do {
		const double d[] = {n % 3 ? .02 : -.02, .05, -.05};

		assert_int_equal(r.e.verdict, SL_VERDICT_UNDECIDED);
		n_up += n % 3 > 0;
		n++;
		sl__ensemble_add(&r.e, d);
		log_e = average(sl__sign_log_e_above(n, n_up),
				sl__sign_log_e_above(n, n),
				sl__sign_log_e_above(n, 0));
	} while (log_e < log(40));
	assert_int_equal(r.e.verdict, SL_VERDICT_SLOWER);
	assert_int_equal(r.e.gate, SL_GATE_REGRESSED);
	assert_int_equal(r.e.decided_by, CPU);
	assert_int_equal(r.e.decided_at, n);
	/* Whoever is silent has no part in the average. */
	while (sl__sign_log_e_above(alone_needs, alone_needs) < log(40))
		alone_needs++;
	assert_int_equal(rounds_to_verdict(&r, .01, 6, alone), alone_needs);
	assert_int_equal(r.e.decided_by, WALL);
	assert_true(alone_needs < n);
}

static void
nobody_overrules_the_total(void **state)
{
	/* More CPU time and slower layers, but the total gains. */
	const double odd[] = {-.05, .2, .2};
	struct run r;

	(void)state;
	rounds_to_verdict(&r, .01, 0, odd);
	assert_int_equal(r.e.verdict, SL_VERDICT_FASTER);
	assert_int_equal(r.e.gate, SL_GATE_OK);
	assert_int_equal(r.e.decided_by, WALL);
}

static void
the_total_takes_back_what_others_said(void **state)
{
	const double slower[] = {.002, .05, .05};
	struct run r;

	(void)state;
	rounds_to_verdict(&r, .01, 0, slower);
	assert_int_equal(r.e.verdict, SL_VERDICT_SAME);
	assert_int_equal(r.e.gate, SL_GATE_OK);
	/* Said before the total had proved anything, it is taken back. */
	start(&r, RANDOM_WALK, 1, .01);
	for (int i = 0; i < 12; i++) {
		const double early[] = {i % 2 ? .02 : .001, .05, .05};

		sl__ensemble_add(&r.e, early);
	}
	assert_int_equal(r.e.verdict, SL_VERDICT_SLOWER);
	assert_int_equal(r.e.gate, SL_GATE_REGRESSED);
	for (int i = 0; i < 80; i++)
		sl__ensemble_add(&r.e, slower);
	assert_int_equal(r.e.verdict, SL_VERDICT_SAME);
	assert_int_equal(r.e.gate, SL_GATE_OK);
}

static void
a_member_may_miss_a_round(void **state)
{
	const double missing[] = {.05, (double)NAN, .05};
	struct run r;

	(void)state;
	rounds_to_verdict(&r, .01, 0, missing);
	assert_int_equal(r.e.verdict, SL_VERDICT_SLOWER);
	assert_int_equal(r.e.members[CPU].n, 0);
	assert_near(sl__ensemble_member_log_e(&r.e, CPU), 0, 1e-12);
}

static void
the_evidence_is_the_average(void **state)
{
	const double up[] = {.05, .05, -.05};
	struct run r;
	double e[3];

	(void)state;
	start(&r, RANDOM_WALK, 1, .01);
	sl__ensemble_add(&r.e, up);
	sl__ensemble_add(&r.e, up);
	for (size_t i = 0; i < 3; i++)
		e[i] = exp(sl__ensemble_member_log_e(&r.e, i));
	assert_near(e[0], 1.5, 1e-12); /* 2^2 B(5/2, 1/2) / B(1/2, 1/2) */
	assert_near(exp(sl__ensemble_log_e(&r.e)), (e[0] + e[1] + e[2]) / 3,
		    1e-12);
	r.e.how.is_silent = 1u << LAYERS;
	assert_near(exp(sl__ensemble_log_e(&r.e)), (e[0] + e[1]) / 2, 1e-12);
}

static void
identical_models_are_seldom_called_different(void **state)
{
	static const enum noise_kind all[] = {LINEAR_DRIFT, RANDOM_WALK, BURSTS,
					      AUTOREGRESSIVE};

	(void)state;
	for (int i = 0; i < 2; i++) {
		size_t n_different = 0, n_named = 0;

		for (uint64_t run = 0; run < 2400; run++) {
			struct run r;
			double log_e[N_LAYERS];
			unsigned char named[N_LAYERS];
			size_t order[N_LAYERS];

			start(&r, all[run % 4], 7000 + run, i ? .01 : 0);
			for (int k = 0; k < 60; k++)
				play_round(&r);
			n_different += (size_t)is_different(&r);
			for (int k = 0; k < N_LAYERS; k++)
				log_e[k] = sl__sign_count_log_e(&r.counts[k]);
			n_named += sl__e_benjamini_hochberg(named, log_e,
							    N_LAYERS, .05,
							    order) > 0;
		}
		print_message("A/A, margin %g: %zu of 2400 called different, "
			      "a layer named in %zu\n",
			      i ? .01 : 0., n_different, n_named);
		assert_true(n_different <= 120);
		assert_true(n_named <= 120);
	}
}

static void
a_slowdown_of_all_layers_is_found_from_the_layers(void **state)
{
	size_t n_found = 0, n_total = 0, n_layers = 0;

	(void)state;
	for (uint64_t run = 0; run < 200; run++) {
		struct run r;

		start(&r, BURSTS, 100 + run, 0);
		/* CPU time, which this model has nearly exact, is not asked. */
		r.e.how.is_silent = 1u << CPU;
		for (int k = 0; k < N_LAYERS; k++)
			r.slowdown[k] = 1.01;
		for (int k = 0; k < 120; k++)
			play_round(&r);
		n_found += r.e.verdict == SL_VERDICT_SLOWER;
		n_layers += r.e.verdict == SL_VERDICT_SLOWER &&
			    r.e.decided_by == LAYERS;
		n_total += r.e.members[WALL].verdict == SL_VERDICT_SLOWER;
	}
	print_message("+1 %% of all layers: found in %zu of 200 (by the layers "
		      "%zu), from the total alone in %zu\n",
		      n_found, n_layers, n_total);
	assert_true(n_found >= 160);
	assert_true(n_layers * 10 >= n_found * 9);
	assert_true(2 * n_total <= n_found);
}

static void
one_slow_layer_of_twenty_is_named(void **state)
{
	size_t n_named = 0, n_wrong = 0, n_median = 0;

	(void)state;
	for (uint64_t run = 0; run < 200; run++) {
		struct run r;
		double log_e[N_LAYERS];
		unsigned char named[N_LAYERS];
		size_t order[N_LAYERS];

		start(&r, AUTOREGRESSIVE, 300 + run, .01);
		r.slowdown[13] = 1.05;
		for (int k = 0; k < 300; k++)
			play_round(&r);
		for (int k = 0; k < N_LAYERS; k++)
			log_e[k] = sl__sign_count_log_e(&r.counts[k]);
		sl__e_benjamini_hochberg(named, log_e, N_LAYERS, .05, order);
		n_named += named[13];
		for (int k = 0; k < N_LAYERS; k++)
			n_wrong += k != 13 && named[k];
		n_median += r.e.members[LAYERS].verdict == SL_VERDICT_SLOWER;
	}
	print_message("one slow layer: named in %zu of 200, others named %zu "
		      "times; seen by the median in %zu\n",
		      n_named, n_wrong, n_median);
	assert_true(n_named >= 180);
	assert_true(n_wrong <= 10);
	assert_int_equal(n_median, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_average_decides_when_it_reaches_its_bound),
		cmocka_unit_test(nobody_overrules_the_total),
		cmocka_unit_test(the_total_takes_back_what_others_said),
		cmocka_unit_test(a_member_may_miss_a_round),
		cmocka_unit_test(the_evidence_is_the_average),
		cmocka_unit_test(identical_models_are_seldom_called_different),
		cmocka_unit_test(
			a_slowdown_of_all_layers_is_found_from_the_layers),
		cmocka_unit_test(one_slow_layer_of_twenty_is_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
