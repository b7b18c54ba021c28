/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_ref_detect.c - proves which boxes NonMaxSuppression keeps where scores
 * are equal, boxes just touch the limits and corners are in either order.
 */
#include "evaluated.h"

/* The unit square twice, and one beside it. */
#define TWINS "f32[1,3,4]={0,0,1,1,0,0,1,1,0,5,1,6}"

static void
test_first_of_equal_scores(void **state)
{
	(void)state;
	check_evaluated("NonMaxSuppression 11 (" TWINS ", "
			"f32[1,1,3]={0.5,0.5,0.5}, i64[1]={3})",
			"i64[2,3]={0,0,0,0,0,2}");
	check_evaluated("NonMaxSuppression 11 (" TWINS ", "
			"f32[1,1,3]={0.5,0.5,0.5}, i64[1]={1})",
			"i64[1,3]={0,0,0}");
	check_evaluated("NonMaxSuppression 11 (" TWINS ", "
			"f32[1,1,3]={0.5,0.6,0.7}, i64[1]={3})",
			"i64[2,3]={0,0,2,0,0,1}");
	check_evaluated("NonMaxSuppression 11 (" TWINS ", "
			"f32[1,1,3]={nan,0.6,0.7}, i64[1]={3}, f32[1]={1})",
			"i64[3,3]={0,0,2,0,0,1,0,0,0}");
}

/* The second box is the first and as much again: they share a half. */
static void
test_limit_of_overlap(void **state)
{
	const char *const halves[] = {
		"f32[1,2,4]={0,0,1,1,0,0,1,2}, f32[1,1,2]={0.9,0.8}",
		"f32[1,2,4]={1,1,0,0,0,2,1,0}, f32[1,1,2]={0.9,0.8}",
	};
	char line[256];

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		snprintf(line, sizeof(line),
			 "NonMaxSuppression 11 (%s, i64[1]={2}, f32[1]={0.5})",
			 halves[i]);
		check_evaluated(line, "i64[2,3]={0,0,0,0,0,1}");
		snprintf(line, sizeof(line),
			 "NonMaxSuppression 11 (%s, i64[1]={2}, f32[1]={0.49})",
			 halves[i]);
		check_evaluated(line, "i64[1,3]={0,0,0}");
	}
	/* As centres and sizes they share 1/5, as corners nothing. */
	check_evaluated("NonMaxSuppression 11 (f32[1,2,4]={0,0,1,1,0,1,1,2}, "
			"f32[1,1,2]={0.9,0.8}, i64[1]={2}, f32[1]={0.21}) "
			"center_point_box=1",
			"i64[2,3]={0,0,0,0,0,1}");
	check_evaluated("NonMaxSuppression 11 (f32[1,2,4]={0,0,1,1,0,1,1,2}, "
			"f32[1,1,2]={0.9,0.8}, i64[1]={2}, f32[1]={0.19}) "
			"center_point_box=1",
			"i64[1,3]={0,0,0}");
}

static void
test_scores_exceed_the_threshold(void **state)
{
	(void)state;
	check_evaluated("NonMaxSuppression 11 (" TWINS ", "
			"f32[1,1,3]={0.5,0.75,0.5}, i64[1]={3}, f32[1]={0}, "
			"f32[1]={0.5})",
			"i64[1,3]={0,0,1}");
}

/* Each class of each image is judged by itself, no more than so many of it;
 * by default none. */
static void
test_classes_and_images(void **state)
{
	(void)state;
	check_evaluated("NonMaxSuppression 11 (f32[2,1,4]={0,0,1,1,0,0,1,1}, "
			"f32[2,2,1]={0.9,0.8,0.7,0.6}, i64[1]={9})",
			"i64[4,3]={0,0,0,0,1,0,1,0,0,1,1,0}");
	check_evaluated("NonMaxSuppression 11 (" TWINS ", "
			"f32[1,1,3]={0.5,0.5,0.5})",
			"i64[0,3]={}");
	check_evaluated("NonMaxSuppression 11 (f32[1,0,4]={}, f32[1,2,0]={}, "
			"i64[1]={3})",
			"i64[0,3]={}");
	check_fails("NonMaxSuppression 11 (" TWINS ", f32[1,1,2]={1,2}, "
		    "i64[1]={3})",
		    "the scores do not fit");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_first_of_equal_scores),
		cmocka_unit_test(test_limit_of_overlap),
		cmocka_unit_test(test_scores_exceed_the_threshold),
		cmocka_unit_test(test_classes_and_images),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
