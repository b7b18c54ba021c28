/* SPDX-License-Identifier: Apache-2.0 */
/* test_arm_set.c - which rounds count, when it is settled, what is said. */
#include "harness.h"
#include "stats/arm_set.h"

struct scene {
	struct sl__arena arena;
	struct sl__rng coin;
	struct sl__arm_set match;
};

static void
set_scene(struct scene *s, size_t n, double margin)
{
	sl__arena_init(&s->arena, NULL);
	sl__rng_init(&s->coin, 1);
	assert_int_equal(sl__arm_set_init(&s->match, n, margin, 0.05, &s->coin,
					  &s->arena),
			 SL_OK);
	assert_int_equal(sl__arm_set_reserve(&s->match, 64, &s->arena), SL_OK);
}

static void
add_round(struct scene *s, const double *wall, double now_s)
{
	struct sl__round round = {.wall = wall, .cpu = wall, .now_s = now_s};

	sl__arm_set_add(&s->match, &round);
}

/* What is left out is counted and nothing else; what is disturbed and not left
 * out counts as any other round. */
static void
rounds_left_out_do_not_count(void **state)
{
	static const double wall[] = {1, 1.1}, other[] = {1, 0.1};
	struct sl_comparison row = {0};
	struct scene s;

	(void)state;
	set_scene(&s, 2, 0.01);
	for (int i = 0; i < 20; i++) {
		struct sl__round round = {.wall = i % 4 == 3 ? other : wall,
					  .cpu = wall,
					  .is_disturbed = i % 2,
					  .is_left_out = i % 4 == 3};

		sl__arm_set_add(&s.match, &round);
	}
	sl__arm_set_comparison(&s.match, 1, &row);
	assert_int_equal(s.match.n_taken, 20);
	assert_int_equal(row.n_disturbed, 10);
	assert_int_equal(row.n_left_out, 5);
	assert_int_equal(row.n_rounds, 15);
	assert_near(row.ratio.lo, 1.1, 1e-12);
	assert_near(row.ratio.hi, 1.1, 1e-12);
	sl__arena_release(&s.arena);
}

static void
settled_needs_verdict_and_rounds(void **state)
{
	/* B is slower each time, by 2 % and 10 % in turn. */
	static const double near[] = {1, 1.02}, far[] = {1, 1.1};
	struct sl_comparison row = {0};
	struct scene s;
	int n = 0;

	(void)state;
	set_scene(&s, 2, 0.01);
	while (!sl__arm_set_is_decided(&s.match)) {
		assert_false(sl__arm_set_is_settled(&s.match, 30));
		add_round(&s, n % 2 ? near : far, 100 + n);
		n++;
	}
	/* The one-sided process at 2 / alpha: 7 wins of 7. */
	assert_int_equal(n, 7);
	while (!sl__arm_set_is_settled(&s.match, 30)) {
		add_round(&s, n % 2 ? near : far, 100 + n);
		n++;
	}
	assert_int_equal(n, 30);
	assert_false(sl__arm_set_passes(&s.match));
	sl__arm_set_comparison(&s.match, 1, &row);
	assert_int_equal(row.verdict, SL_VERDICT_SLOWER);
	assert_int_equal(row.gate, SL_GATE_REGRESSED);
	assert_near(row.decided_after_s, 106, 0);
	assert_near(row.margin, 0.01, 0);
	sl__arena_release(&s.arena);
}

/* A ratio that is known well needs no further rounds. */
static void
narrow_interval_settles_early(void **state)
{
	static const double wall[] = {1, 1.1};
	struct scene s;
	int n = 0;

	(void)state;
	set_scene(&s, 2, 0.01);
	for (; !sl__arm_set_is_settled(&s.match, 50); n++)
		add_round(&s, wall, n);
	assert_int_equal(n, 7);
	sl__arena_release(&s.arena);
}

static void
rounds_survive_growing(void **state)
{
	static const double wall[] = {1, 1.1, 0.8};
	struct sl_comparison row = {0};
	struct scene s;

	(void)state;
	set_scene(&s, 3, 0.01);
	for (int i = 0; i < 100; i++) {
		if (i == 64)
			assert_int_equal(
				sl__arm_set_reserve(&s.match, 128, &s.arena),
				SL_OK);
		add_round(&s, wall, i);
	}
	sl__arm_set_comparison(&s.match, 2, &row);
	assert_int_equal(row.n_rounds, 100);
	assert_near(row.ratio.lo, 0.8, 1e-12);
	assert_near(row.ratio.hi, 0.8, 1e-12);
	assert_near(row.speedup, 1.25, 1e-12);
	sl__arena_release(&s.arena);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rounds_left_out_do_not_count),
		cmocka_unit_test(settled_needs_verdict_and_rounds),
		cmocka_unit_test(narrow_interval_settles_early),
		cmocka_unit_test(rounds_survive_growing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
