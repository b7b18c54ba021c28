/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_ref_image.c - proves that pictures are sampled, cropped and put
 * together as GridSample, AffineGrid, RoiAlign and Col2Im say; all figures
 * are by hand.
 */
#include "evaluated.h"

#define SQUARE "f64[1,1,2,2]={1,2,3,4}"
#define RAMP   "f64[1,1,4]={0,1,2,3}"
#define PLANE  "f64[1,1,4,4]={0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15}"

/* The middle, and a corner that lies half a pixel outside. */
static void
test_linear_sampling(void **state)
{
	static const struct {
		const char *padding, *expected;
	} rows[] = {
		{"zeros", "2.5,0.25"},
		{"border", "2.5,1"},
		{"reflection", "2.5,1"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char line[200], expected[64];

		snprintf(line, sizeof(line),
			 "GridSample 16 (" SQUARE ", f64[1,1,2,2]={0,0,-1,-1}) "
			 "mode=bilinear padding_mode=%s",
			 rows[i].padding);
		snprintf(expected, sizeof(expected), "f64[1,1,1,2]={%s}",
			 rows[i].expected);
		check_evaluated(line, expected);
	}
}

/* With aligned corners the edge is the middle of the outer pixels: x = 2 is
 * half a pixel to the right, between the rows. */
static void
test_aligned_sampling(void **state)
{
	(void)state;
	check_evaluated("GridSample 20 (" SQUARE ", f64[1,1,3,2]={-1,-1,1,1,"
			"2,0}) align_corners=1",
			"f64[1,1,1,3]={1,4,1.5}");
	check_evaluated("GridSample 20 (" SQUARE ", f64[1,1,1,2]={2,0}) "
			"align_corners=1 padding_mode=border",
			"f64[1,1,1,1]={3}");
	check_evaluated("GridSample 20 (" SQUARE ", f64[1,1,1,2]={2,0}) "
			"align_corners=1 padding_mode=reflection",
			"f64[1,1,1,1]={2.5}");
}

static void
test_nearest_sampling_prefers_even(void **state)
{
	(void)state;
	check_evaluated("GridSample 20 (f64[1,1,3]={1,2,3}, "
			"f64[1,3,1]={-0.5,0.5,1.4}) mode=nearest "
			"align_corners=1",
			"f64[1,1,3]={1,3,3}");
	/* 4 is reflected at 2.5 to 1. */
	check_evaluated("GridSample 20 (f64[1,1,3]={1,2,3}, f64[1,1,1]={2}) "
			"mode=nearest padding_mode=reflection",
			"f64[1,1,1]={2}");
}

/*
 * Half way the weights of the cubic filter are -3/32, 19/32, 19/32, -3/32.
 * Half a pixel before the first of 0, 1, 2, 3 they fall on elements -2, -1,
 * 0, 1, of which padding makes others.
 */
static void
test_cubic_sampling(void **state)
{
	(void)state;
	check_evaluated("GridSample 20 (" RAMP ", f64[1,1,1]={0}) mode=cubic "
			"align_corners=1",
			"f64[1,1,1]={1.5}");
	check_evaluated("GridSample 20 (" RAMP ", "
			"f64[1,1,1]={-1.33333333333333333}) mode=cubic "
			"align_corners=1 padding_mode=border",
			"f64[1,1,1]={-0.09375}");
	check_evaluated("GridSample 20 (" RAMP ", "
			"f64[1,1,1]={-1.33333333333333333}) mode=cubic "
			"align_corners=1 padding_mode=reflection",
			"f64[1,1,1]={0.3125}");
}

static void
test_sampling_of_channels_and_depth(void **state)
{
	(void)state;
	check_evaluated("GridSample 20 (f64[1,2,2,2,2]={1,2,3,4,5,6,7,8,11,12,"
			"13,14,15,16,17,18}, f64[1,1,1,2,3]={0,0,0,1,-1,-1}) "
			"align_corners=1",
			"f64[1,2,1,1,2]={4.5,2,14.5,12}");
	check_evaluated("GridSample 20 (" SQUARE ", f64[1,1,1,2]={nan,0})",
			"f64[1,1,1,1]={0}");
	check_evaluated("GridSample 20 (" SQUARE ", f64[1,0,1,2]={})",
			"f64[1,1,0,1]={}");
	check_fails("GridSample 20 (f64[1,1,0,2]={}, f64[1,1,1,2]={0,0})",
		    "without elements");
}

static void
test_affine_grid(void **state)
{
	(void)state;
	check_evaluated("AffineGrid 20 (f64[1,2,3]={1,0,0,0,1,0}, "
			"i64[4]={1,1,2,2})",
			"f64[1,2,2,2]={-0.5,-0.5,0.5,-0.5,-0.5,0.5,0.5,0.5}");
	check_evaluated("AffineGrid 20 (f64[1,2,3]={2,0,5,0,1,0}, "
			"i64[4]={1,1,1,3}) align_corners=1",
			"f64[1,1,3,2]={3,0,5,0,7,0}");
	/* x goes along the last dimension. */
	check_evaluated("AffineGrid 20 (f64[1,3,4]={0,0,0,7,0,0,0,8,1,0,0,0}, "
			"i64[5]={1,1,1,1,2})",
			"f64[1,1,1,2,3]={7,8,-0.5,7,8,0.5}");
	check_fails("AffineGrid 20 (f64[1,2,3]={1,0,0,0,1,0}, "
		    "i64[5]={1,1,1,1,2})",
		    "theta does not fit");
}

#define WHOLE "f64[1,4]={0,0,4,4}, i64[1]={0}"

static void
test_regions(void **state)
{
	(void)state;
	/* Samples fall on pixels: quarters of the plane. */
	check_evaluated("RoiAlign 16 (" PLANE ", " WHOLE ") output_height=2 "
			"output_width=2 sampling_ratio=2",
			"f64[1,1,2,2]={2.5,4.5,10.5,12.5}");
	check_evaluated("RoiAlign 16 (" PLANE ", " WHOLE ") output_height=2 "
			"output_width=2 mode=max",
			"f64[1,1,2,2]={5,7,13,15}");
	/* Half a pixel on, the last samples are held at the edge. */
	check_evaluated("RoiAlign 10 (" PLANE ", " WHOLE ") output_height=2 "
			"output_width=2 sampling_ratio=2",
			"f64[1,1,2,2]={5,6.75,12,13.75}");
	check_evaluated("RoiAlign 16 (" PLANE ", f64[1,4]={0,0,8,8}, "
			"i64[1]={0}) spatial_scale=0.5 output_height=2 "
			"output_width=2 sampling_ratio=2 "
			"coordinate_transformation_mode=output_half_pixel",
			"f64[1,1,2,2]={5,6.75,12,13.75}");
}

/* Of one sample between 5, 6, 9 and 10 the mode takes the greatest quarter. */
static void
test_greatest_part_of_a_region(void **state)
{
	(void)state;
	check_evaluated("RoiAlign 10 (" PLANE ", f64[1,4]={0,0,3,3}, "
			"i64[1]={0}) sampling_ratio=1 mode=max",
			"f64[1,1,1,1]={2.5}");
	check_evaluated("RoiAlign 10 (" PLANE ", f64[1,4]={0,0,3,3}, "
			"i64[1]={0}) sampling_ratio=1",
			"f64[1,1,1,1]={7.5}");
	check_evaluated("RoiAlign 16 (" PLANE ", f64[1,4]={90,90,95,95}, "
			"i64[1]={0})",
			"f64[1,1,1,1]={0}");
	check_fails("RoiAlign 16 (" PLANE ", f64[1,4]={0,0,4,4}, i64[1]={1})",
		    "image 1 of 1");
	check_fails("RoiAlign 16 (" PLANE ", f64[1,4]={0,0,1e30,4}, "
		    "i64[1]={0})",
		    "a region of");
}

static void
test_columns_add_up(void **state)
{
	(void)state;
	check_evaluated("Col2Im 18 (f64[1,4,4]={1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,"
			"1}, i64[2]={3,3}, i64[2]={2,2})",
			"f64[1,1,3,3]={1,2,1,2,4,2,1,2,1}");
	check_evaluated("Col2Im 18 (f64[1,2,2]={1,2,3,4}, i64[1]={5}, "
			"i64[1]={2}) dilations=[2] strides=[2]",
			"f64[1,1,5]={1,0,5,0,4}");
	check_evaluated("Col2Im 18 (f64[1,2,2]={1,2,3,4}, i64[1]={2}, "
			"i64[1]={2}) pads=[1,0]",
			"f64[1,1,2]={5,4}");
	check_evaluated("Col2Im 18 (f64[1,4,1]={1,2,3,4}, i64[1]={2}, "
			"i64[1]={2})",
			"f64[1,2,2]={1,2,3,4}");
	check_fails("Col2Im 18 (f64[1,2,3]={1,2,3,4,5,6}, i64[1]={5}, "
		    "i64[1]={2})",
		    "3 columns do not fit");
}

/* A bin of 2^20 by 2^20 samples would take hours. */
static void
test_samples_have_an_end(void **state)
{
	(void)state;
	check_fails("RoiAlign 16 (f32[1,1,1,1]={1}, "
		    "f32[1,4]={0,0,1000000,1000000}, i64[1]={0})",
		    "1000000x1000000 samples");
	check_fails("RoiAlign 16 (f32[1,1,1,1]={1}, f32[1,4]={0,0,1,1}, "
		    "i64[1]={0}) sampling_ratio=100000",
		    "100000x100000 samples");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_linear_sampling),
		cmocka_unit_test(test_aligned_sampling),
		cmocka_unit_test(test_nearest_sampling_prefers_even),
		cmocka_unit_test(test_cubic_sampling),
		cmocka_unit_test(test_sampling_of_channels_and_depth),
		cmocka_unit_test(test_affine_grid),
		cmocka_unit_test(test_regions),
		cmocka_unit_test(test_greatest_part_of_a_region),
		cmocka_unit_test(test_columns_add_up),
		cmocka_unit_test(test_samples_have_an_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
