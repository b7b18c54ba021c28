/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_covariates.c - what counts as disturbed, and shares of the machine.
 *
 * The arithmetic is fed recorded and synthetic counters; that the kernel's own
 * are read is checked by their invariants only.
 */
#include "harness.h"
#include "timing/covariates.h"

static void
shares_are_of_all_ticks(void **state)
{
	struct sl__system_times before = {1000, 600, 10};
	struct sl__system_times after = {1200, 700, 30};
	struct sl_noise noise;

	(void)state;
	/* 200 ticks: 100 idle, 20 stolen, 80 used, 30 of them by us. */
	sl__system_noise_shares(&noise, &before, &after, 0.15);
	assert_near(noise.steal_share.value, 0.1, 1e-12);
	assert_near(noise.neighbour_share.value, 0.4 - 0.15, 1e-12);
	assert_null(noise.steal_share.absent);
	/* Rounding may give us more than was used: nobody used less than 0. */
	sl__system_noise_shares(&noise, &before, &after, 0.9);
	assert_near(noise.neighbour_share.value, 0, 0);
}

static void
few_ticks_are_refused(void **state)
{
	struct sl__system_times before = {1000, 600, 10};
	struct sl__system_times after = {1019, 610, 10};
	struct sl_noise noise;

	(void)state;
	sl__system_noise_shares(&noise, &before, &after, 0.1);
	assert_true(isnan(noise.steal_share.value));
	assert_string_equal(noise.neighbour_share.absent,
			    "too short for the kernel's clock tick");
}

static void
disturbances_are_told_apart(void **state)
{
	struct sl__covariates calm = {1000, 50, 3, 0};
	struct sl__covariates preempted = {2000, 50, 4, 0};
	struct sl__covariates moved = {2000, 50, 3, 1};
	struct sl__covariates delayed = {2000, 50 + 1100, 3, 0};
	struct sl__covariates hardly = {2000, 50 + 900, 3, 0};
	struct sl__monitor monitor = {.schedstat_fd = -1};

	(void)state;
	/* Over 100,000 ns, 1 % of waiting is 1,000. */
	assert_false(sl__monitor_end_slot(&monitor, &calm, &calm, 100000));
	assert_true(sl__monitor_end_slot(&monitor, &calm, &preempted, 100000));
	assert_true(sl__monitor_end_slot(&monitor, &calm, &moved, 100000));
	assert_true(sl__monitor_end_slot(&monitor, &calm, &delayed, 100000));
	assert_false(sl__monitor_end_slot(&monitor, &calm, &hardly, 100000));
	assert_int_equal(monitor.n_slots, 5);
	assert_int_equal(monitor.n_disturbed, 3);
	assert_int_equal(monitor.n_migrations, 1);
	assert_int_equal(monitor.n_involuntary, 1);
	assert_int_equal(monitor.run_delay_ns, 2000);
	/* A command is preempted when it starts; a tenth of waiting counts. */
	assert_false(sl__monitor_end_child(&monitor, 2, 9000, 100000));
	assert_true(sl__monitor_end_child(&monitor, 0, 11000, 100000));
}

/* The kernel's own threads preempt an iteration of 100 ms on an idle machine,
 * too: what that takes decides. */
static void
a_long_slot_bears_a_preemption(void **state)
{
	struct sl__covariates before = {0, 0, 3, 0};
	struct sl__covariates once = {1000, 20000, 4, 0};
	struct sl__covariates moved = {1000, 20000, 4, 1};
	struct sl__covariates often = {1000, 20000, 13, 0};
	struct sl__covariates waited = {1000, 950000, 4, 0};
	struct sl__monitor monitor = {.schedstat_fd = 0};

	(void)state;
	/* 1 % of 100 ms is 1 ms; a preemption is 0.1 ms and its wait. */
	assert_false(sl__monitor_end_slot(&monitor, &before, &once, 1e8));
	assert_false(sl__monitor_end_slot(&monitor, &before, &moved, 1e8));
	assert_true(sl__monitor_end_slot(&monitor, &before, &often, 1e8));
	assert_true(sl__monitor_end_slot(&monitor, &before, &waited, 1e8));
	assert_true(sl__monitor_end_slot(&monitor, &before, &once, 9e6));
	monitor.schedstat_fd = -1;
	assert_true(sl__monitor_end_slot(&monitor, &before, &once, 1e8));
}

static void
own_cpu_time_is_taken_off(void **state)
{
	struct sl__covariates before = {.cpu_ns = 1000};
	struct sl__covariates after = {.cpu_ns = 11000};
	struct sl__monitor monitor = {.empty_cpu_ns = 500};

	(void)state;
	assert_near(sl__monitor_slot_cpu_ns(&monitor, &before, &after, 10, 25),
		    10000 - 500 - 10 * 2 * 25, 1e-9);
	assert_near(
		sl__monitor_slot_cpu_ns(&monitor, &before, &after, 1000, 25), 0,
		0);
}

static void
inner_measurements_are_added(void **state)
{
	struct sl_noise inner = {.n_slots = 10,
				 .n_disturbed = 2,
				 .involuntary_switches = {3, NULL},
				 .migrations = {1, NULL},
				 .run_delay_share = {0.25, NULL}};
	struct sl__monitor monitor = {.n_slots = 5};

	(void)state;
	sl__monitor_add_nested(&monitor, &inner, 2);
	assert_int_equal(monitor.n_slots, 15);
	assert_int_equal(monitor.n_disturbed, 2);
	assert_int_equal(monitor.n_involuntary, 3);
	assert_int_equal(monitor.run_delay_ns, 500000000);
	inner.run_delay_share.value = (double)NAN;
	inner.run_delay_share.absent = "no schedstat";
	sl__monitor_add_nested(&monitor, &inner, 2);
	assert_int_equal(monitor.run_delay_ns, 500000000);
}

static void
readings_only_grow(void **state)
{
	struct sl__covariates before, after;
	struct sl__monitor monitor;
	struct sl_noise noise;

	(void)state;
	sl__monitor_open(&monitor, NULL);
	sl__monitor_read_before(&monitor, &before);
	for (int i = 0; i < 300; i++)
		sl__monitor_probe_frequency(&monitor);
	sl__monitor_read_after(&monitor, &after);
	assert_true(after.cpu_ns > before.cpu_ns);
	assert_true(after.n_involuntary >= before.n_involuntary);
	assert_true(after.run_delay_ns >= before.run_delay_ns);
	assert_true(monitor.n_probes <= 256);
	sl__monitor_close(&monitor, &noise);
	assert_true(noise.frequency_drift.value >= 0);
	assert_null(noise.frequency_drift.absent);
	assert_true(noise.steal_share.absent || noise.steal_share.value >= 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shares_are_of_all_ticks),
		cmocka_unit_test(few_ticks_are_refused),
		cmocka_unit_test(disturbances_are_told_apart),
		cmocka_unit_test(a_long_slot_bears_a_preemption),
		cmocka_unit_test(own_cpu_time_is_taken_off),
		cmocka_unit_test(inner_measurements_are_added),
		cmocka_unit_test(readings_only_grow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
