/* SPDX-License-Identifier: Apache-2.0 */
/* test_trace.c - iterations as trace events. */
#include "json_check.h"
#include "known_profile.h"

static size_t n_dropped; /* by the last trace */

static char *
trace(const struct sl_profile *profile, size_t limit)
{
	struct sl_trace_options options = {sizeof(options), limit, &n_dropped};
	struct sl_buf out = {0};
	struct sl_error err;

	assert_int_equal(sl_profile_trace(profile, &options, &out, &err),
			 SL_OK);
	assert_true(json_valid(out.data));
	return out.data;
}

/* Members of event i that are numbers. */
static double
at(const char *json, size_t i, const char *member)
{
	char path[64];

	snprintf(path, sizeof(path), "traceEvents[%zu].%s", i, member);
	return json_number_at(json, path);
}

static int
is(const char *json, size_t i, const char *member, const char *expected)
{
	char path[64];

	snprintf(path, sizeof(path), "traceEvents[%zu].%s", i, member);
	return json_is(json, path, expected);
}

static size_t
n_events(const char *json)
{
	char path[64];
	size_t n = 0;

	do {
		snprintf(path, sizeof(path), "traceEvents[%zu]", n++);
	} while (json_has(json, path));
	return n - 1;
}

enum {
	N_NAMES = 2,          /* of a thread, before its iteration */
	N_MEDIAN = 4 + 2,     /* an iteration, its operations, memory */
	MEDIAN = 1 + N_NAMES, /* where iterations begin; the process has a
				    name */
	FIRST = MEDIAN + N_MEDIAN + N_NAMES,
	LAST = FIRST + 4 + N_NAMES,
	N_ALL = LAST + 4
};

/* Three iterations: the first one is the slowest too, and is drawn once. */
static void
names_threads(void **state)
{
	struct known_profile k;
	char *json;

	(void)state;
	known_profile(&k);
	json = trace(&k.profile, 0);
	assert_int_equal(n_events(json), N_ALL);
	assert_true(is(json, 0, "name", "\"process_name\""));
	assert_true(is(json, 0, "args.name", "\"little net\""));
	assert_true(is(json, 1, "args.name", "\"median iteration\""));
	assert_true(is(json, 1, "tid", "1"));
	assert_true(is(json, FIRST - 2, "args.name",
		       "\"first iteration, slowest iteration 1\""));
	assert_true(is(json, LAST - 2, "args.name", "\"slowest iteration 2\""));
	assert_true(is(json, LAST - 1, "args.sort_index", "3"));
	assert_true(json_is(json, "otherData.model", "\"little net\""));
	assert_true(json_is(json, "otherData.tool", "\"sleuth\""));
	assert_true(json_is(json, "otherData.passes_recorded", "77"));
	assert_true(json_is(json, "otherData.events", "21"));
	assert_true(json_is(json, "otherData.dropped_events", "0"));
	assert_int_equal(n_dropped, 0);
	free(json);
}

static void
describes_operations(void **state)
{
	struct known_profile k;
	char *json;

	(void)state;
	known_profile(&k);
	json = trace(&k.profile, 0);
	assert_true(is(json, MEDIAN, "name", "\"iteration\""));
	assert_true(is(json, MEDIAN, "ts", "0"));
	assert_true(is(json, MEDIAN, "dur", "10"));
	assert_true(is(json, MEDIAN, "args.nth", "1"));
	assert_true(is(json, MEDIAN, "args.began_ms", "1"));
	assert_true(is(json, MEDIAN + 1, "name", "\"features.0.conv\""));
	assert_true(is(json, MEDIAN + 1, "ph", "\"X\""));
	assert_true(is(json, MEDIAN + 1, "ts", "1"));
	assert_true(is(json, MEDIAN + 1, "dur", "4"));
	assert_true(is(json, MEDIAN + 1, "args.type", "\"Conv\""));
	assert_true(is(json, MEDIAN + 1, "args.part", "\"convolution\""));
	assert_true(is(json, MEDIAN + 1, "args.kernel", "\"jit\""));
	assert_true(is(json, MEDIAN + 1, "args.path", "\"oneDNN\""));
	assert_true(is(json, MEDIAN + 1, "args.shape", "\"1x8x4x4\""));
	assert_true(is(json, MEDIAN + 1, "args.flops", "8000"));
	assert_true(is(json, MEDIAN + 1, "args.all_flops", "8128"));
	assert_true(is(json, MEDIAN + 1, "args.executed_gflops_per_s", "1.5"));
	assert_true(is(json, MEDIAN + 1, "args.bytes", "512"));
	assert_true(is(json, MEDIAN + 1, "args.gflops_per_s", "2"));
	assert_true(is(json, MEDIAN + 1, "args.bound", "\"compute\""));
	assert_true(is(json, MEDIAN + 3, "dur", "1.5"));
	/* In the iteration that took twice as long, half the rate. */
	assert_true(is(json, FIRST + 1, "args.gflops_per_s", "1"));
	assert_true(is(json, FIRST + 1, "ts", "2"));
	free(json);
}

/* Memory is known of two operations of the median iteration. */
static void
counts_memory(void **state)
{
	struct known_profile k;
	char *json;

	(void)state;
	known_profile(&k);
	json = trace(&k.profile, 0);
	assert_true(is(json, MEDIAN + 4, "ph", "\"C\""));
	assert_true(is(json, MEDIAN + 4, "ts", "1"));
	assert_true(is(json, MEDIAN + 4, "args.bytes", "4096"));
	assert_true(is(json, MEDIAN + 5, "ts", "8"));
	assert_true(is(json, MEDIAN + 5, "args.bytes", "1024"));
	free(json);
}

/* Slices of a thread nest: none begins before its iteration or the end of the
 * one before it, none ends after the iteration.  Marks lie across roundings. */
static void
slices_nest(void **state)
{
	struct known_profile k;
	double pass_end = 0, end = 0;
	char *json;

	(void)state;
	known_profile(&k);
	for (size_t i = 0; i < 4; i++) {
		for (size_t m = 0; m < 4; m++)
			k.events[i][m].start_ns = 10.4999 + 3.3333 * (double)m;
		k.iterations[i].wall_ns = 20.4;
	}
	json = trace(&k.profile, 0);
	for (size_t i = 0; i < N_ALL; i++) {
		double ts = at(json, i, "ts"), dur = at(json, i, "dur");

		if (isnan(dur)) /* of memory, or a name */
			continue;
		if (!isnan(at(json, i, "args.nth"))) {
			pass_end = dur;
			end = 0;
			continue;
		}
		assert_true(ts >= end && dur >= 0);
		end = ts + dur;
		assert_true(end <= pass_end + 1e-9);
		/* Whole nanoseconds. */
		assert_near(ts * 1e3, round(ts * 1e3), 1e-9);
	}
	free(json);
}

static void
stays_within_its_limit(void **state)
{
	struct known_profile k;
	size_t n_bytes = 0;

	(void)state;
	known_profile(&k);
	for (size_t limit = 1; limit <= N_ALL + 1; limit++) {
		char *json = trace(&k.profile, limit), text[24];
		size_t n = limit < N_ALL ? limit : N_ALL;

		assert_int_equal(n_events(json), n); /* names count too */
		snprintf(text, sizeof(text), "%zu", n);
		assert_true(json_is(json, "otherData.events", text));
		snprintf(text, sizeof(text), "%zu", N_ALL - n);
		assert_int_equal(strtoull(text, NULL, 10), n_dropped);
		assert_true(json_is(json, "otherData.dropped_events", text));
		assert_true(strlen(json) >= n_bytes);
		n_bytes = strlen(json);
		free(json);
	}
}

static void
empty_and_wrong(void **state)
{
	struct sl_trace_options wrong = {1, 0, NULL};
	struct sl_profile none = {.name = "a\"b\\", .source = ""};
	struct sl_buf out = {0};
	struct sl_error err;
	char *json = trace(&none, 0);

	(void)state;
	assert_int_equal(n_events(json), 1);
	assert_true(json_is(json, "otherData.events", "1"));
	free(json);
	assert_int_equal(sl_profile_trace(&none, &wrong, &out, &err),
			 SL_E_USAGE);
	assert_int_equal(sl_profile_trace(&none, NULL, &out, &err), SL_OK);
	sl_buf_release(&out);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_threads),
		cmocka_unit_test(describes_operations),
		cmocka_unit_test(counts_memory),
		cmocka_unit_test(slices_nest),
		cmocka_unit_test(stays_within_its_limit),
		cmocka_unit_test(empty_and_wrong),
	};

	return cmocka_run_group_tests_name("trace", tests, NULL, NULL);
}
