/* SPDX-License-Identifier: Apache-2.0 */
/* Reductions against the reference kernels, over axes of all kinds. */
#include "engine_case.h"

static const char *const ops[] = {
	"ReduceSum",       "ReduceMean", "ReduceMax",
	"ReduceMin",       "ReduceL1",   "ReduceL2",
	"ReduceSumSquare", "ReduceProd", "ReduceLogSum",
};

static const char *const sizes[] = {
	"[7]",
	"[3,37] axes=[1]",
	"[3,37] axes=[0] keepdims=0",
	"[5,6,7] axes=[1]",
	"[2,3,4,5] axes=[0,2]",
	"[2,3,4,5] axes=[1,3] keepdims=0",
	"[2,3,4,5] axes=[2,3]",
	"[2,3,4,5] axes=[-1,0]",
	"[9,1,300] axes=[1]",
	"[1,5,1] axes=[0]",
};

static void
all_axes(void **state)
{
	char line[96];

	(void)state;
	for (size_t i = 0; i < sizeof(ops) / sizeof(*ops); i++) {
		for (size_t k = 0; k < sizeof(sizes) / sizeof(*sizes); k++) {
			int n = (int)strcspn(sizes[k], " ");

			snprintf(line, sizeof(line), "%s 11 (f32%.*s)%s",
				 ops[i], n, sizes[k], sizes[k] + n);
			check_case(&(struct engine_case){
				.text = line, .low = 0.5, .high = 1.5});
			if (i != 8)
				check_kernel(line);
			check_case(&(struct engine_case){.text = line,
							 .has_ends = 1});
		}
	}
}

/* Long sums keep their digits, bands and rows are shared by threads. */
static void
large(void **state)
{
	static const char *const lines[] = {
		"ReduceSum 13 (f32[1,300001], i64[1]={1})",
		"ReduceMean 18 (f32[3000,131], i64[1]={0})",
		"ReduceMean 18 (f32[3,64,57,57], i64[2]={2,3})",
		"ReduceMax 18 (f32[37,64,65], i64[1]={1})",
		"ReduceSum 13 (f32[3,4], i64[0]={}) noop_with_empty_axes=1",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++)
		check_case(&(struct engine_case){
			.text = lines[i], .low = 1, .high = 2});
}

static void
places(void **state)
{
	static const char *const lines[] = {
		"ArgMax 13 (f32[5,7]) axis=1",
		"ArgMin 13 (f32[5,7]) axis=1 keepdims=0",
		"ArgMax 13 (f32[5,7,3]) axis=0",
		"ArgMin 13 (f32[5,7,3]) axis=1 select_last_index=1",
		"ArgMax 13 (f32[300,1000]) axis=-1 select_last_index=1",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		check_kernel(lines[i]);
		check_case(
			&(struct engine_case){.text = lines[i], .has_ends = 1});
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_axes),
		cmocka_unit_test(large),
		cmocka_unit_test(places),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
