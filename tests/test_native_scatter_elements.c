/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_native_scatter_elements.c - ScatterElements against its reference
 * kernel, which must be met exactly.
 */
#include "engine_case.h"

static void
check(const char *text)
{
	check_case(&(struct engine_case){.text = text, .share = 1e-30});
}

static void
puts_elements(void **state)
{
	static const char *const lines[] = {
		"ScatterElements 18 (f32[7], i64[3]={6,0,-2}, f32[3])",
		"ScatterElements 18 (f32[3,4], i64[2,3]={0,2,1,-1,0,0}, "
		"f32[2,3])",
		"ScatterElements 18 (f32[3,4], i32[3,2]={0,3,1,-1,2,2}, "
		"f32[3,2]) axis=1",
		"ScatterElements 18 (i64[2,3,2], i64[1,2,2]={0,1,1,0}, "
		"i64[1,2,2]) axis=-3",
		"ScatterElements 18 (bool[4], i64[1]={2}, bool[1])",
		"Scatter 9 (f32[3,4], i64[1,2]={2,1}, f32[1,2]) axis=1",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++)
		check(lines[i]);
}

/* Several updates of one place, in order. */
static void
reduces(void **state)
{
	static const char *const how[] = {"none", "add", "mul", "max", "min"};
	char text[256];

	(void)state;
	for (size_t i = 0; i < sizeof(how) / sizeof(*how); i++) {
		snprintf(text, sizeof(text),
			 "ScatterElements 18 (f32[4,3], "
			 "i64[5,3]={0,1,2,0,3,2,0,1,2,1,1,1,3,3,-1}, "
			 "f32[5,3]) reduction=%s",
			 how[i]);
		check(text);
		snprintf(text, sizeof(text),
			 "ScatterElements 18 (f32[2,3,4], "
			 "i64[2,2,3]={0,1,2,0,3,3,1,1,2,1,1,1}, f32[2,2,3]) "
			 "axis=2 reduction=%s",
			 how[i]);
		check(text);
	}
}

static void
leaves_other_types_to_the_reference(void **state)
{
	(void)state;
	check_case(&(struct engine_case){
		"ScatterElements 18 (i64[4], i64[2]={1,1}, i64[2]) "
		"reduction=add",
		.is_reference = 1});
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(puts_elements),
		cmocka_unit_test(reduces),
		cmocka_unit_test(leaves_other_types_to_the_reference),
	};

	return cmocka_run_group_tests_name("native_scatter_elements", tests,
					   NULL, NULL);
}
