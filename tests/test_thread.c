/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_thread.c - every member runs once per run, none iterations a gathering
 * before all have come, and nothing is left when the team is gone.  The
 * shared arrays are plain on purpose: a thread sanitizer then checks that
 * runs and gatherings order what they promise to order.
 */
#define _GNU_SOURCE
#include "harness.h"
#include "counting.h"
#include "base/thread.h"

#include <sched.h>

enum { MAX_TEAM = 4, N_ROUNDS = 200 };

struct shared {
	struct sl__team *team;
	size_t n;
	unsigned n_calls[MAX_TEAM];
	unsigned round[MAX_TEAM];
	int torn[MAX_TEAM]; /* set by a member that saw another behind */
};

static struct sl__team *
new_team(size_t n)
{
	struct sl__team *team;

	assert_int_equal(sl__team_new(&team, n, NULL, NULL), SL_OK);
	return team;
}

static void
count_call(size_t rank, void *ctx)
{
	struct shared *s = ctx;

	s->n_calls[rank]++;
}

static void
every_member_runs_once_per_run(void **state)
{
	(void)state;
	for (size_t n = 1; n <= MAX_TEAM; n++) {
		struct shared s = {.team = new_team(n), .n = n};

		for (unsigned run = 1; run <= N_ROUNDS; run++) {
			sl__team_run(s.team, count_call, &s);
			for (size_t i = 0; i < MAX_TEAM; i++)
				assert_int_equal(s.n_calls[i], i < n ? run : 0);
		}
		sl__team_free(s.team);
	}
}

/* Between two gatherings each member writes its own round; after the first,
 * all rounds are equal. */
static void
gather_in_rounds(size_t rank, void *ctx)
{
	struct shared *s = ctx;

	for (unsigned round = 1; round <= N_ROUNDS; round++) {
		s->round[rank] = round;
		sl__team_barrier(s->team);
		for (size_t i = 0; i < s->n; i++) {
			if (s->round[i] != round)
				s->torn[rank] = 1;
		}
		sl__team_barrier(s->team);
	}
}

static void
nobody_passes_before_all_have_come(void **state)
{
	(void)state;
	for (size_t n = 1; n <= MAX_TEAM; n++) {
		struct shared s = {.team = new_team(n), .n = n};

		sl__team_run(s.team, gather_in_rounds, &s);
		sl__team_run(s.team, gather_in_rounds, &s);
		for (size_t i = 0; i < n; i++) {
			assert_int_equal(s.torn[i], 0);
			assert_int_equal(s.round[i], N_ROUNDS);
		}
		sl__team_free(s.team);
	}
}

static void
the_caller_s_cpus_are_put_back(void **state)
{
	cpu_set_t before, during, after;
	struct sl__team *team;

	(void)state;
	assert_int_equal(sched_getaffinity(0, sizeof(before), &before), 0);
	assert_int_equal(sl__thread_n_cpus(), CPU_COUNT(&before));
	team = new_team(2);
	assert_int_equal(sched_getaffinity(0, sizeof(during), &during), 0);
	assert_int_equal(CPU_COUNT(&during), 1);
	sl__team_free(team);
	assert_int_equal(sched_getaffinity(0, sizeof(after), &after), 0);
	assert_true(CPU_EQUAL(&before, &after));
}

static void
a_team_that_never_ran_ends(void **state)
{
	(void)state;
	sl__team_free(new_team(3));
	sl__team_free(NULL);
}

static void
any_allocation_may_fail(void **state)
{
	int n_failures = 0;

	(void)state;
	for (int fail_at = 1;; fail_at++) {
		struct counting c = {0, 0, fail_at};
		struct sl_allocator allocator = counting_allocator(&c);
		struct sl_error err = {.status = SL_OK, .text = ""};
		struct sl__team *team;
		enum sl_status rc = sl__team_new(&team, 2, &allocator, &err);

		sl__team_free(team);
		assert_int_equal(c.n_out, 0);
		if (rc == SL_OK)
			break;
		assert_int_equal(rc, SL_E_NOMEM);
		assert_null(team);
		n_failures++;
	}
	assert_true(n_failures > 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_member_runs_once_per_run),
		cmocka_unit_test(nobody_passes_before_all_have_come),
		cmocka_unit_test(the_caller_s_cpus_are_put_back),
		cmocka_unit_test(a_team_that_never_ran_ends),
		cmocka_unit_test(any_allocation_may_fail),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
