/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_gate_check.c - exact figures regress beyond their limit and not at it;
 * times are judged by their intervals, and with several baselines by how these
 * differ; a figure that is missing is invalid, not fine.  Simulated: the same
 * program against twenty results that vary from run to run is called slower in
 * at most 5 % of cases, one that is slower by ten times the spread always.
 */
#include "base/rng.h"
#include "harness.h"
#include "sleuth.h"

enum { N_BASELINES = 20, TEXT_BYTES = 512 };

struct figures {
	double median_ms, half_ms; /* of the interval */
	double flops;
	const char *sizes;
};

static struct sl_buf
document(char text[TEXT_BYTES], struct figures f)
{
	int n = snprintf(text, TEXT_BYTES,
			 "{\"schema\": 1, \"tool\": {\"version\": \"1\"}, "
			 "\"command\": \"profile\", \"kind\": \"profile\", "
			 "\"model\": {\"name\": \"m\", \"sizes\": \"%s\"}, "
			 "\"cost\": {\"flops\": %.0f}, \"latency\": {\"n\": 50,"
			 " \"median_ms\": %.17g, \"ci95_ms\": {\"lo\": %.17g, "
			 "\"hi\": %.17g}}}",
			 f.sizes ? f.sizes : "batch 1", f.flops, f.median_ms,
			 f.median_ms - f.half_ms, f.median_ms + f.half_ms);

	return (struct sl_buf){.data = text, .n_bytes = (size_t)n};
}

static struct sl_gate_check *
check(const struct sl_buf *now, const struct sl_buf *before, size_t n,
      const struct sl_gate_limit *limit)
{
	const struct sl_gate_options how = {.struct_size = sizeof(how),
					    .now = now,
					    .baselines = before,
					    .n_baselines = n,
					    .limits = limit,
					    .n_limits = limit != NULL};
	struct sl_gate_check *g;
	struct sl_error err;

	if (sl_gate_documents(&g, &how, &err))
		fail_msg("%s", err.text);
	return g;
}

static enum sl_gate
verdict(struct figures now, struct figures before, struct sl_gate_limit limit)
{
	char a[TEXT_BYTES], b[TEXT_BYTES];
	const struct sl_buf old = document(a, before), new = document(b, now);
	struct sl_gate_check *g = check(&new, &old, 1, &limit);
	enum sl_gate found = g->verdict;

	assert_false(g->is_invalid);
	sl_gate_check_free(g);
	return found;
}

static void
test_exact(void **state)
{
	const struct sl_gate_limit none = {.metric = SL_GATE_FLOPS, .share = 0};
	const struct sl_gate_limit some = {.metric = SL_GATE_FLOPS,
					   .share = 0.1};
	const struct figures old = {10, 1, 1000, NULL};

	(void)state;
	assert_int_equal(verdict(old, old, none), SL_GATE_OK);
	assert_int_equal(
		verdict((struct figures){10, 1, 1001, NULL}, old, none),
		SL_GATE_REGRESSED);
	assert_int_equal(verdict((struct figures){10, 1, 900, NULL}, old, none),
			 SL_GATE_OK);
	assert_int_equal(
		verdict((struct figures){10, 1, 1099, NULL}, old, some),
		SL_GATE_OK);
	assert_int_equal(
		verdict((struct figures){10, 1, 1101, NULL}, old, some),
		SL_GATE_REGRESSED);
}

/* Half-widths of 1 % on both sides are 1.4 % of the ratio. */
static void
test_times(void **state)
{
	const struct sl_gate_limit limit = {.metric = SL_GATE_TIME,
					    .share = 0.05};
	const struct figures old = {10, 0.1, 1, NULL};

	(void)state;
	assert_int_equal(verdict(old, old, limit), SL_GATE_OK);
	assert_int_equal(
		verdict((struct figures){10.3, 0.1, 1, NULL}, old, limit),
		SL_GATE_OK);
	assert_int_equal(
		verdict((struct figures){10.5, 0.1, 1, NULL}, old, limit),
		SL_GATE_UNDECIDED);
	assert_int_equal(
		verdict((struct figures){10.7, 0.1, 1, NULL}, old, limit),
		SL_GATE_REGRESSED);
	assert_int_equal(verdict((struct figures){9, 0.1, 1, NULL}, old, limit),
			 SL_GATE_OK);
}

static void
test_missing(void **state)
{
	const struct sl_gate_limit size = {.metric = SL_GATE_SIZE, .share = 0};
	const struct figures old = {10, 0.1, 1, NULL};
	char a[TEXT_BYTES], b[TEXT_BYTES];
	const struct sl_buf one = document(a, old);
	const struct sl_buf other =
		document(b, (struct figures){10, 0.1, 1, "batch 8"});
	struct sl_gate_check *g = check(&one, &one, 1, &size);

	(void)state;
	assert_true(g->is_invalid);
	assert_non_null(g->rows[0].invalid);
	sl_gate_check_free(g);
	/* Without limits, those that are there: time and FLOPs. */
	g = check(&one, &one, 1, NULL);
	assert_int_equal(g->n_rows, 2);
	assert_false(g->is_invalid);
	sl_gate_check_free(g);
	/* Another batch is another series. */
	g = check(&one, &other, 1, NULL);
	assert_int_equal(g->n_rows, 0);
	assert_true(g->is_invalid);
	sl_gate_check_free(g);
}

/* Of 1,000 results against twenty that differ by 1 %, the share of regressed,
 * where the result itself is slower by 'factor'. */
static int
n_regressed(double factor)
{
	static char texts[N_BASELINES + 1][TEXT_BYTES];
	struct sl_buf documents[N_BASELINES + 1];
	const struct sl_gate_limit none = {.metric = SL_GATE_TIME, .share = 0};
	struct sl__rng rng;
	int n = 0;

	sl__rng_init(&rng, 3);
	for (int i = 0; i < 1000; i++) {
		for (size_t k = 0; k <= N_BASELINES; k++) {
			double ms = 10 * (1 + 0.01 * sl__rng_normal(&rng)) *
				    (k == N_BASELINES ? factor : 1);

			documents[k] = document(
				texts[k],
				(struct figures){ms, 0.001 * ms, 1, NULL});
		}
		struct sl_gate_check *g = check(&documents[N_BASELINES],
						documents, N_BASELINES, &none);

		n += g->verdict == SL_GATE_REGRESSED;
		sl_gate_check_free(g);
	}
	return n;
}

static void
test_spread(void **state)
{
	(void)state;
	assert_in_range(n_regressed(1), 1, 50);
	assert_int_equal(n_regressed(1.1), 1000);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_exact),
		cmocka_unit_test(test_times),
		cmocka_unit_test(test_missing),
		cmocka_unit_test(test_spread),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
