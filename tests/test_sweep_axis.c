/* SPDX-License-Identifier: Apache-2.0 */
/* test_sweep_axis.c - ranges as users write them, and widths in names. */
#include "harness.h"

#include "driver/sweep_axis.h"

static void
assert_values(const char *text, const int64_t *expected, size_t n)
{
	struct sl_sweep_values v;
	struct sl_error err = {0};

	if (sl_sweep_read(&v, SL_AXIS_BATCH, text, &err))
		fail_msg("%s: %s", text, err.text);
	assert_int_equal(v.n, n);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(v.values[i], expected[i]);
}

#define VALUES(text, ...)                                   \
	assert_values(text, (const int64_t[]){__VA_ARGS__}, \
		      sizeof((const int64_t[]){__VA_ARGS__}) / 8)

static void
test_ranges(void **state)
{
	(void)state;
	VALUES("1..64", 1, 2, 4, 8, 16, 32, 64);
	VALUES("1..48", 1, 2, 4, 8, 16, 32, 48);
	VALUES("3..3", 3);
	VALUES("64..256:64", 64, 128, 192, 256);
	VALUES("1..10:4", 1, 5, 9, 10);
	VALUES("8", 8);
	VALUES("8,1,3,8", 1, 3, 8);
	VALUES("1,2,8..32", 1, 2, 8, 16, 32);
}

static void
test_wrong_ranges(void **state)
{
	static const char *const wrong[] = {"",
					    "x",
					    "1..",
					    "..8",
					    "0..8",
					    "8..1",
					    "1..8:0",
					    "1..8:",
					    "1,,2",
					    "1,",
					    "-1..8",
					    "1...8",
					    "1..8x",
					    "1..N",
					    "1..1000:1",
					    "1..9999999999999",
					    "1..99999999999999999999"};
	struct sl_sweep_values v;
	struct sl_error err;

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		err.text[0] = '\0';
		if (sl_sweep_read(&v, SL_AXIS_BATCH, wrong[i], &err) !=
		    SL_E_USAGE)
			fail_msg("'%s' was taken", wrong[i]);
		assert_true(err.text[0] != '\0');
	}
}

static void
test_threads(void **state)
{
	struct sl_sweep_values v;
	struct sl_error err;

	(void)state;
	assert_int_equal(sl_sweep_read(&v, SL_AXIS_THREADS, "1..N", NULL),
			 SL_OK);
	assert_int_equal(v.values[0], 1);
	assert_int_equal(sl_sweep_read(&v, SL_AXIS_THREADS, "1..100000", &err),
			 SL_E_USAGE);
	assert_non_null(strstr(err.text, "CPU"));
}

static void
assert_widened(const char *name, const char *expected)
{
	struct sl__arena arena;
	struct sl_error err = {0};
	const char *text;

	sl__arena_init(&arena, NULL);
	if (sl__axis_widened_model_name(&text, name, 96, &arena, &err))
		fail_msg("%s: %s", name, err.text);
	assert_string_equal(text, expected);
	sl__arena_release(&arena);
}

static void
test_widths(void **state)
{
	static const char *const none[] = {"resnet50", "mlp:8-4",
					   "mlp:",     "attention:128",
					   "mlp",      "linear:"};
	struct sl__arena arena;
	struct sl_error err;
	const char *text;

	(void)state;
	assert_widened("mlp:784-256-128-10", "mlp:784-96-96-10");
	assert_widened("mlp:8-1-4", "mlp:8-96-4");
	assert_widened("linear:768,3072", "linear:96,96");
	assert_widened("conv:3,64,7,224,2,3", "conv:96,96,7,224,2,3");
	assert_widened("attention:128,512,8", "attention:128,96,8");
	sl__arena_init(&arena, NULL);
	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
		assert_int_equal(sl__axis_widened_model_name(&text, none[i], 96,
							     &arena, &err),
				 SL_E_USAGE);
	sl__arena_release(&arena);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ranges),
		cmocka_unit_test(test_wrong_ranges),
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_widths),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
