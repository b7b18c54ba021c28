/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_native_qdepthwise.c - convolutions of each channel of bytes by itself
 * give the reference kernel's integers exactly, at every level of instruction
 * sets: seeded odd sizes (channels and results around whole blocks, kernels
 * wider than four taps, strides, unequal pads, one to three dimensions, both
 * types of all operands), each on one thread and on three.
 */
#include "drawn_window.h"
#include "quantized_case.h"

/* The line of one convolution.  Scales are those of each channel or one, and
 * such that results fill the range of their type and go beyond it. */
static void
write_line(struct source *s, char *line, size_t cap)
{
	static const int around[] = {1,  2,  3,  15, 16, 17, 31, 32,
				     33, 40, 63, 64, 65, 96, 100};
	int c = around[draw(s, 0, 14)], n = draw(s, 1, 6);
	int x_signed = draw(s, 0, 1), y_signed = draw(s, 0, 1);
	int w_unsigned = draw(s, 0, 3) == 0;
	char w_scale[32] = "f32[]={0.005}", bias[32] = "";
	struct window w;

	n = n > 3 ? 2 : n;
	draw_window(s, &w, n);
	if (draw(s, 0, 1))
		sprintf(w_scale, "f32[%d]", c);
	if (draw(s, 0, 3))
		sprintf(bias, ", i32[%d]", c);
	snprintf(line, cap,
		 "QLinearConv 10 (%s[%d,%d%s], f32[]={0.02}, %s[]={%d}, "
		 "%s[%d,1%s], %s, %s, f32[]={0.13}, %s[]={%d}%s) group=%d "
		 "strides=[%s] dilations=[%s] pads=[%s%s]",
		 x_signed ? "i8" : "uint8", draw(s, 1, 2), c, w.x,
		 x_signed ? "i8" : "uint8",
		 draw(s, 0, 255) - (x_signed ? 128 : 0),
		 w_unsigned ? "uint8" : "i8", c, w.k, w_scale,
		 w_unsigned ? "uint8[]={128}" : "i8[]={0}",
		 y_signed ? "i8" : "uint8",
		 draw(s, 0, 255) - (y_signed ? 128 : 0), bias, c, w.strides,
		 w.dilations, w.before, w.after);
}

static void
seeded_shapes(void **state)
{
	struct source s = {7};

	(void)state;
	for (int i = 0; i < 200; i++) {
		char line[512];

		write_line(&s, line, sizeof(line));
		check_quantized(line, 1, 0);
	}
}

/* Many rows and whole blocks, as models have them. */
static void
large_shapes(void **state)
{
	static const char *const lines[] = {
		"QLinearConv 10 (uint8[1,96,33,33], f32[]={0.02}, "
		"uint8[]={9}, i8[96,1,3,3], f32[96], i8[]={0}, f32[]={0.05}, "
		"uint8[]={3}, i32[96]) group=96 pads=[1,1,1,1] strides=[2,2]",
		"QLinearConv 10 (uint8[2,144,28,28], f32[]={0.02}, "
		"uint8[]={0}, i8[144,1,3,3], f32[]={0.005}, i8[]={0}, "
		"f32[]={0.05}, uint8[]={0}, i32[144]) group=144 "
		"pads=[1,1,1,1]",
		"QLinearConv 10 (i8[1,64,20,19], f32[]={0.02}, i8[]={-128}, "
		"i8[64,1,5,5], f32[64], i8[]={0}, f32[]={0.2}, i8[]={-128}, "
		"i32[64]) group=64 pads=[2,2,2,2]",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		check_quantized(lines[i], 1, 0);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(seeded_shapes),
		cmocka_unit_test(large_shapes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
