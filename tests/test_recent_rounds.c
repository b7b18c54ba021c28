/* SPDX-License-Identifier: Apache-2.0 */
/* test_recent_rounds.c - typical times: sums of medians, and over which rounds.
 */
#include "experiment/recent_rounds.h"
#include "base/rng.h"
#include "harness.h"

#include <math.h>

enum { STEPS = 30, ROUNDS = 15, GROUPS = 200 };

struct rounds {
	struct sl__arena arena;
	struct sl__recent_rounds recent;
	struct sl__iteration_times now, typical;
	double steps[2][STEPS];
};

static void
start(struct rounds *r, size_t n_steps, size_t cap)
{
	*r = (struct rounds){.now = {.cpu_ns = 1}};
	r->now.step_ns = r->steps[0];
	r->typical.step_ns = r->steps[1];
	sl__arena_init(&r->arena, NULL);
	assert_int_equal(
		sl__recent_rounds_reserve(&r->recent, n_steps, cap, &r->arena),
		0);
}

static void
add(struct rounds *r, double first, double second, double wall, double cpu)
{
	r->now.step_ns[0] = first;
	r->now.step_ns[1] = second;
	r->now.wall_ns = wall;
	r->now.cpu_ns = cpu;
	sl__recent_rounds_add(&r->recent, &r->now);
}

static void
parts_have_medians_of_their_own(void **state)
{
	struct rounds r;

	(void)state;
	start(&r, 2, 8);
	add(&r, 10, 20, 33, 70);
	add(&r, 90, 21, 116, 80); /* rests are 3, 5 and 4 */
	add(&r, 11, 80, 95, 75);
	sl__recent_rounds_typical(&r.recent, 8, &r.typical);
	assert_near(r.typical.step_ns[0], 11, 0);
	assert_near(r.typical.step_ns[1], 21, 0);
	assert_near(r.typical.wall_ns, 11 + 21 + 4, 1e-12);
	assert_near(r.typical.cpu_ns, 75, 0);
	/* One round is itself. */
	sl__recent_rounds_typical(&r.recent, 1, &r.typical);
	assert_near(r.typical.wall_ns, 95, 1e-12);
	sl__arena_release(&r.arena);
}

static void
the_oldest_rounds_go(void **state)
{
	struct rounds r;

	(void)state;
	start(&r, 2, 3);
	for (int i = 1; i <= 5; i++)
		add(&r, i, 0, i, 1);
	sl__recent_rounds_typical(&r.recent, 100, &r.typical);
	assert_near(r.typical.wall_ns, 4, 0);
	sl__recent_rounds_typical(&r.recent, 2, &r.typical);
	assert_near(r.typical.wall_ns, 4.5, 0);
	sl__recent_rounds_clear(&r.recent);
	add(&r, 9, 0, 9, 1);
	sl__recent_rounds_typical(&r.recent, 100, &r.typical);
	assert_near(r.typical.wall_ns, 9, 0);
	/* Of none, what was there stays. */
	sl__recent_rounds_clear(&r.recent);
	sl__recent_rounds_typical(&r.recent, 100, &r.typical);
	assert_near(r.typical.wall_ns, 9, 0);
	sl__arena_release(&r.arena);
}

/* Thirty steps of which each is disturbed in one round of ten, for as long
 * again, and by 3 % of noise; 'scale' times all of that. */
static double
play_group(struct rounds *r, struct sl__rng *rng, double scale, double *sums)
{
	for (int i = 0; i < ROUNDS; i++) {
		r->now.wall_ns = 0;
		for (size_t s = 0; s < STEPS; s++) {
			double ns = 100 * (1 + 0.03 * sl__rng_normal(rng));

			ns += sl__rng_uniform(rng) < 0.1 ? 100 : 0;
			r->now.step_ns[s] = scale * ns;
			r->now.wall_ns += scale * ns;
		}
		sl__recent_rounds_add(&r->recent, &r->now);
		sums[i] = r->now.wall_ns;
	}
	sl__recent_rounds_typical(&r->recent, ROUNDS, &r->typical);
	return r->typical.wall_ns;
}

static int
by_value(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* The variance of ln of the sum of medians is less than a quarter of that of
 * the median of sums: 0.5 and 1.9 % here. */
static void
a_sum_of_medians_varies_less(void **state)
{
	double squares[2] = {0}, means[2] = {0}, sums[ROUNDS];
	struct sl__rng rng;
	struct rounds r;

	(void)state;
	start(&r, STEPS, ROUNDS);
	sl__rng_init(&rng, 1);
	for (int i = 0; i < GROUPS; i++) {
		double x[2];

		x[0] = log(play_group(&r, &rng, 1, sums));
		qsort(sums, ROUNDS, sizeof(*sums), by_value);
		x[1] = log(sums[ROUNDS / 2]);
		for (int k = 0; k < 2; k++) {
			means[k] += x[k] / GROUPS;
			squares[k] += x[k] * x[k] / GROUPS;
		}
	}
	for (int k = 0; k < 2; k++)
		squares[k] -= means[k] * means[k];
	print_message("sd of a group: %.2f %% by parts, %.2f %% by sums\n",
		      100 * sqrt(squares[0]), 100 * sqrt(squares[1]));
	assert_true(squares[0] < squares[1] / 4);
	sl__arena_release(&r.arena);
}

/* What the margin of a test needs: all times k times as long, the sum too. */
static void
a_scale_is_a_scale(void **state)
{
	double sums[ROUNDS], one, other;
	struct sl__rng rng;
	struct rounds r;

	(void)state;
	start(&r, STEPS, ROUNDS);
	sl__rng_init(&rng, 2);
	one = play_group(&r, &rng, 1, sums);
	sl__rng_init(&rng, 2);
	other = play_group(&r, &rng, 1.01, sums);
	assert_near(other / one, 1.01, 1e-12);
	sl__arena_release(&r.arena);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parts_have_medians_of_their_own),
		cmocka_unit_test(the_oldest_rounds_go),
		cmocka_unit_test(a_sum_of_medians_varies_less),
		cmocka_unit_test(a_scale_is_a_scale),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
