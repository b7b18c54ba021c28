/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Softmax and LogSoftmax against the reference kernels: lines that lie in one
 * piece and side by side, short and long, and what has no end.
 */
#include "engine_case.h"

static void
all_axes(void **state)
{
	static const char *const sizes[] = {
		"[7] axis=0",       "[3,1] axis=1",      "[5,1000]",
		"[5,33,2] axis=1",  "[4,5,129] axis=1",  "[4,5,6] axis=0",
		"[2,3,7,9] axis=3", "[2,3,7,9] axis=-3", "[70,65,131]",
	};
	static const char *const ops[] = {"Softmax", "LogSoftmax"};
	char line[96];

	(void)state;
	for (size_t i = 0; i < 2 * sizeof(sizes) / sizeof(*sizes); i++) {
		const char *size = sizes[i / 2];
		int n = (int)strcspn(size, " ");

		snprintf(line, sizeof(line), "%s 13 (f32%.*s)%s", ops[i % 2], n,
			 size, size + n);
		check_kernel(line);
		check_case(&(struct engine_case){
			.text = line, .low = -200, .high = 200});
		check_case(&(struct engine_case){.text = line, .has_ends = 1});
	}
}

/* Before version 13 a line spans all axes from the given one on. */
static void
old_versions(void **state)
{
	(void)state;
	check_kernel("Softmax 11 (f32[3,5,7])");
	check_kernel("Softmax 1 (f32[3,5,7]) axis=2");
	check_kernel("LogSoftmax 11 (f32[3,5,7]) axis=0");
	check_kernel("Softmax 11 (f32[3,5]) axis=2");
}

static void
left_to_others(void **state)
{
	(void)state;
	check_case(&(struct engine_case){"Softmax 13 (f64[3,5])",
					 .is_reference = 1});
	check_case(&(struct engine_case){"Softmax 13 (f32[3,0])",
					 .is_reference = 1});
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_axes),
		cmocka_unit_test(old_versions),
		cmocka_unit_test(left_to_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
