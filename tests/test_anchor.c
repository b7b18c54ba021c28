/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_anchor.c - the anchor does the work of its version, whatever compiled it
 * and however often it ran (tests/oracles/anchor.py computed the same); the
 * median and its interval are those of the second of two runs; in a long
 * measurement at most 64 times are kept, spread evenly.
 */
#include "base/clock.h"
#include "harness.h"
#include "sleuth.h"
#include "timing/anchor.h"

/* Printed by tests/oracles/anchor.py. */
static const uint64_t CHECKSUM = 0xf1ae1f74ee6367b2u;

/* Every reading is so much later than the one before. */
struct steps {
	uint64_t now_ns, step_ns;
};

static uint64_t
step(void *ctx)
{
	struct steps *s = ctx;

	return s->now_ns += s->step_ns;
}

static struct sl_anchor *
anchor_with(const struct sl_clock *clock)
{
	struct sl_anchor *anchor;
	struct sl_error err;

	if (sl_anchor_new(&anchor, clock, &err))
		fail_msg("%s", err.text);
	return anchor;
}

static void
test_work(void **state)
{
	struct sl_anchor *anchor = anchor_with(NULL);

	(void)state;
	for (int i = 0; i < 3; i++) {
		sl_anchor_take(anchor);
		assert_true(sl__anchor_checksum(anchor) == CHECKSUM);
	}
	sl_anchor_free(anchor);
}

static void
test_reading(void **state)
{
	struct steps s = {.now_ns = 1000};
	const struct sl_clock clock = {.now_ns = step, .ctx = &s};
	struct sl_anchor *anchor = anchor_with(&clock);
	struct sl_anchor_reading r;

	(void)state;
	sl_anchor_read(anchor, &r);
	assert_int_equal(r.version, 0);
	assert_true(isnan(r.time_ns.value));
	for (uint64_t i = 1; i <= 6; i++) {
		s.step_ns = 100 * i;
		sl_anchor_take(anchor);
	}
	sl_anchor_read(anchor, &r);
	assert_int_equal(r.version, 1);
	/* Six samples: the smallest and the largest have 1 - 2 / 2^6. */
	assert_int_equal(r.time_ns.n, 6);
	assert_near(r.time_ns.value, 350, 0);
	assert_near(r.time_ns.lo, 100, 0);
	assert_near(r.time_ns.hi, 600, 0);
	sl_anchor_free(anchor);
}

/* Twenty seconds with a progress call each millisecond; the second half takes twice as
 * long, and the median is between the halves. */
static void
test_long(void **state)
{
	struct steps s = {.step_ns = 0};
	const struct sl_clock clock = {.now_ns = step, .ctx = &s};
	struct sl_anchor *anchor = anchor_with(&clock);
	struct sl_anchor_reading r;
	size_t n_most = 0;

	(void)state;
	for (int i = 0; i < 20000; i++) {
		s.now_ns += 1000000;
		s.step_ns = i < 10000 ? 100 : 200;
		sl_anchor_take_if_due(anchor);
		sl_anchor_read(anchor, &r);
		n_most = r.time_ns.n > n_most ? r.time_ns.n : n_most;
	}
	assert_int_equal(n_most, 64);
	assert_true(r.time_ns.n >= 32 && r.time_ns.n <= 64);
	assert_near(r.time_ns.lo, 100, 0);
	assert_near(r.time_ns.hi, 200, 0);
	sl_anchor_free(anchor);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_work),
		cmocka_unit_test(test_reading),
		cmocka_unit_test(test_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
