/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_ref_resize.c - proves that images are resized as each mode of
 * interpolation, of coordinates and of rounding says, by hand on four
 * elements; the cubic figures are the formula's, evaluated by NumPy.
 */
#include "evaluated.h"

#define FOUR "f64[4]={1,2,3,4}"
#define WAVY "f64[4]={1,3,2,5}"

static void
test_nearest_rounds_as_told(void **state)
{
	/* Elements 0, 0.5, 1, 1.5 and so on; then -0.25, 0.25, 0.75, ... */
	static const struct {
		const char *mode, *whole, *half;
	} rows[] = {
		{"floor", "1,1,2,2,3,3", "1,1,1,2,2,3"},
		{"ceil", "1,2,2,3,3,3", "1,2,2,3,3,3"},
		{"round_prefer_floor", "1,1,2,2,3,3", "1,1,2,2,3,3"},
		{"round_prefer_ceil", "1,2,2,3,3,3", "1,1,2,2,3,3"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char line[200], expected[64];

		for (int is_half = 0; is_half < 2; is_half++) {
			snprintf(line, sizeof(line),
				 "Resize 13 (uint8[3]={1,2,3}, _, f32[1]={2}) "
				 "coordinate_transformation_mode=%s "
				 "nearest_mode=%s",
				 is_half ? "half_pixel" : "asymmetric",
				 rows[i].mode);
			snprintf(expected, sizeof(expected), "uint8[6]={%s}",
				 is_half ? rows[i].half : rows[i].whole);
			check_evaluated(line, expected);
		}
	}
}

/* 2 / 0.8 is half way only where it is computed in 32 bits, like 0.8. */
static void
test_half_way_is_found_in_32_bits(void **state)
{
	(void)state;
	check_evaluated("Resize 13 (f32[5]={0,1,2,3,4}, _, f32[1]={0.8}) "
			"coordinate_transformation_mode=asymmetric "
			"nearest_mode=round_prefer_ceil",
			"f32[4]={0,1,3,4}");
}

static void
test_coordinates(void **state)
{
	(void)state;
	check_evaluated("Resize 13 (" FOUR ", _, f32[1]={2}) mode=linear",
			"f64[8]={1,1.25,1.75,2.25,2.75,3.25,3.75,4}");
	check_evaluated("Resize 13 (" FOUR ", _, _, i64[1]={7}) mode=linear "
			"coordinate_transformation_mode=align_corners",
			"f64[7]={1,1.5,2,2.5,3,3.5,4}");
	check_evaluated("Resize 13 (" FOUR ", _, _, i64[1]={1}) mode=linear "
			"coordinate_transformation_mode=align_corners",
			"f64[1]={1}");
	check_evaluated("Resize 13 (" FOUR ", _, f32[1]={2}) mode=linear "
			"coordinate_transformation_mode=asymmetric",
			"f64[8]={1,1.5,2,2.5,3,3.5,4,4}");
	check_evaluated("Resize 13 (" FOUR ", _, _, i64[1]={1}) mode=linear",
			"f64[1]={2.5}");
	check_evaluated("Resize 13 (" FOUR ", _, _, i64[1]={1}) mode=linear "
			"coordinate_transformation_mode=pytorch_half_pixel",
			"f64[1]={1}");
	check_evaluated("Resize 11 (" FOUR ", _, f32[1]={2}) "
			"coordinate_transformation_mode=tf_half_pixel_for_nn "
			"nearest_mode=floor",
			"f64[8]={1,1,2,2,3,3,4,4}");
	/* 2.4 elements cut to 2, about the middle: at 2/3 and 7/3. */
	check_evaluated("Resize 19 (" FOUR ", _, f32[1]={0.6}) mode=linear "
			"coordinate_transformation_mode=half_pixel_symmetric",
			"f64[2]={1.666667,3.333333}");
}

/* From 1.5 before the first element to 1.5 behind the last. */
static void
test_crop_goes_beyond_the_image(void **state)
{
	(void)state;
	check_evaluated("Resize 13 (" FOUR ", f32[2]={-0.5,1.5}, _, "
			"i64[1]={5}) mode=linear extrapolation_value=10.0 "
			"coordinate_transformation_mode=tf_crop_and_resize",
			"f64[5]={10,1,2.5,4,10}");
	check_evaluated("Resize 13 (i16[4]={1,2,3,4}, f32[2]={-0.5,1.5}, _, "
			"i64[1]={5}) extrapolation_value=-7.0 "
			"coordinate_transformation_mode=tf_crop_and_resize",
			"i16[5]={-7,1,2,4,-7}");
	/* A crop of two dimensions, outside in one of them. */
	check_evaluated("Resize 13 (f64[2,2]={1,2,3,4}, "
			"f32[4]={0,0,1,2}, _, i64[2]={2,3}) mode=linear "
			"extrapolation_value=9.0 "
			"coordinate_transformation_mode=tf_crop_and_resize",
			"f64[2,3]={1,2,9,3,4,9}");
	/* The middle of a crop to one element. */
	check_evaluated("Resize 13 (" FOUR ", f32[2]={0,0.5}, _, i64[1]={1}) "
			"mode=linear "
			"coordinate_transformation_mode=tf_crop_and_resize",
			"f64[1]={1.75}");
}

static void
test_cubic(void **state)
{
	(void)state;
	check_evaluated("Resize 13 (" WAVY ", _, f32[1]={2}) mode=cubic",
			"f64[8]={0.7890625,1.488281,2.652344,2.878906,"
			"1.980469,2.574219,4.285156,5.316406}");
	check_evaluated("Resize 13 (" WAVY ", _, f32[1]={2}) mode=cubic "
			"exclude_outside=1",
			"f64[8]={0.7272727,1.441696,2.596226,2.878906,"
			"1.980469,2.656604,4.353357,5.409091}");
	check_evaluated("Resize 13 (" WAVY ", _, f32[1]={2}) mode=cubic "
			"cubic_coeff_a=-0.5",
			"f64[8]={0.859375,1.429688,2.664062,2.867188,"
			"2.039062,2.539062,4.367188,5.210938}");
	check_evaluated("Resize 13 (" WAVY ", _, f32[1]={2}) mode=cubic "
			"cubic_coeff_a=-0.5 exclude_outside=1",
			"f64[8]={0.8235294,1.40146,2.625954,2.867188,"
			"2.039062,2.59542,4.408759,5.264706}");
}

/* Half the size: weights 1, 3, 3, 1 about 0.5 and 2.5; what is outside is
 * the edge, or nothing. */
static void
test_antialias_widens_the_filter(void **state)
{
	(void)state;
	check_evaluated("Resize 18 (" FOUR ", _, f32[1]={0.5}) mode=linear "
			"antialias=1",
			"f64[2]={1.625,3.375}");
	check_evaluated("Resize 18 (" FOUR ", _, f32[1]={0.5}) mode=linear "
			"antialias=1 exclude_outside=1",
			"f64[2]={1.714286,3.285714}");
	check_evaluated("Resize 18 (" WAVY ", _, f32[1]={0.5}) mode=cubic "
			"antialias=1",
			"f64[2]={1.728516,3.701172}");
	/* There is nothing to widen where the image grows. */
	check_evaluated("Resize 18 (" FOUR ", _, f32[1]={2}) mode=linear "
			"antialias=1",
			"f64[8]={1,1.25,1.75,2.25,2.75,3.25,3.75,4}");
}

static void
test_axes_and_proportions(void **state)
{
	(void)state;
	check_evaluated("Resize 18 (f64[2,1,2]={1,2,3,4}, _, f32[1]={2}) "
			"axes=[-2]",
			"f64[2,2,2]={1,2,1,2,3,4,3,4}");
	check_evaluated("Resize 18 (f64[2,1]={1,2}, _, _, i64[2]={4,4}) "
			"keep_aspect_ratio_policy=not_larger",
			"f64[4,2]={1,1,1,1,2,2,2,2}");
	check_evaluated("Resize 18 (f64[1,2]={1,2}, _, _, i64[2]={2,2}) "
			"axes=[1,0] keep_aspect_ratio_policy=not_smaller",
			"f64[2,4]={1,1,2,2,1,1,2,2}");
	check_evaluated("Resize 13 (f64[2,2]={1,2,3,4}, _, f32[2]={2,1.5}) "
			"mode=linear "
			"coordinate_transformation_mode=asymmetric",
			"f64[4,3]={1,1.666667,2,2,2.666667,3,3,3.666667,4,3,"
			"3.666667,4}");
}

static void
test_types(void **state)
{
	(void)state;
	check_evaluated("Resize 13 (string[2]={'a','b'}, _, _, i64[1]={3})",
			"string[3]={'a','a','b'}");
	check_evaluated("Resize 13 (f16[2]={1,2}, _, f32[1]={2}) mode=linear",
			"f16[4]={1,1.25,1.75,2}");
	check_evaluated("Resize 13 (uint8[2]={1,4}, _, f32[1]={2}) mode=linear",
			"uint8[4]={1,1,3,4}");
	check_evaluated("Resize 13 (f32[0,2]={}, _, f32[2]={2,2})",
			"f32[0,4]={}");
	check_evaluated("Resize 13 (f32[]={3}, _, f32[0]={})", "f32[]={3}");
}

static void
test_old_versions(void **state)
{
	(void)state;
	/* The nearest from below where it grows, from above where it shrinks:
	 * elements 0, 1.67, 3.33. */
	check_evaluated("Resize 10 (f32[5]={0,1,2,3,4}, f32[1]={0.6})",
			"f32[3]={0,2,4}");
	check_evaluated("Resize 10 (f32[2]={1,2}, f32[1]={2})",
			"f32[4]={1,1,2,2}");
	check_evaluated("Upsample 9 (f32[2]={1,2}, f32[1]={1.5}) mode=linear",
			"f32[3]={1,1.666667,2}");
	check_evaluated("Upsample 7 (f32[1,2]={1,2}) scales=[2.0,1.0]",
			"f32[2,2]={1,2,1,2}");
	check_evaluated("Upsample 1 (f32[1,1,1,2]={1,2}) height_scale=2.0 "
			"width_scale=2.0 mode=bilinear",
			"f32[1,1,2,4]={1,1.5,2,2,1,1.5,2,2}");
}

static void
test_refused(void **state)
{
	(void)state;
	check_fails("Resize 13 (f32[2]={1,2})", "neither scales nor sizes");
	check_fails("Resize 13 (f32[0]={}, _, _, i64[1]={2})", "empty image");
	check_fails("Resize 13 (f32[2]={1,2}, _, f32[1]={2}) mode=sinc",
		    "mode is 'sinc'");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nearest_rounds_as_told),
		cmocka_unit_test(test_half_way_is_found_in_32_bits),
		cmocka_unit_test(test_coordinates),
		cmocka_unit_test(test_crop_goes_beyond_the_image),
		cmocka_unit_test(test_cubic),
		cmocka_unit_test(test_antialias_widens_the_filter),
		cmocka_unit_test(test_axes_and_proportions),
		cmocka_unit_test(test_types),
		cmocka_unit_test(test_old_versions),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
