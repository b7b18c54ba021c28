/* SPDX-License-Identifier: Apache-2.0 */
/* Amounts with prefixes of 1000 and 1024, and what is no amount. */
#include "harness.h"
#include "sleuth.h"

static void
test_quantities(void **state)
{
	static const struct {
		const char *text;
		double value;
	} good[] = {{"1", 1},     {"1.5k", 1500},
		    {"8G", 8e9},  {"8Gi", 8.0 * 1024 * 1024 * 1024},
		    {"2T", 2e12}, {"66.9T", 66.9e12},
		    {".5M", 5e5}, {"1e3", 1000},
		    {"1GB", 1e9}, {"8GiB", 8.0 * 1024 * 1024 * 1024},
		    {"512B", 512}};
	static const char *const bad[] = {"",    "G",    "-1",   "1Q",
					  "1BG", "1GBB", "B",    "1E",
					  "nan", "1 G",  "1e999"};
	double value;

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		assert_true(sl_quantity_read(&value, good[i].text));
		assert_near(value, good[i].value, 0);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(sl_quantity_read(&value, bad[i]));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_quantities),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
