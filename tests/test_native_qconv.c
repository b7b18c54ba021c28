/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_native_qconv.c - convolutions of bytes give the reference kernel's
 * integers exactly: seeded odd sizes (channels around whole panels, results
 * around whole tiles, strides, unequal pads, one to three dimensions, images of
 * few channels and of many), and those that models have, each on one thread and
 * on three.  Where the CPU has the instructions, the own kernel runs them.
 */
#include "drawn_window.h"
#include "quantized_case.h"
#include "engine/quantized.h"

static int
has_vnni(void)
{
	return sl__isa_has(SL__ISA_AVX512 | SL__ISA_AVX512_VNNI);
}

static int
is_left_to_reference(void)
{
#ifdef SL_WITHOUT_DNNL
	return !has_vnni();
#else
	return !has_vnni() && !sl__dnnl_int8_is_exact();
#endif
}

/* The step that makes the convolution, whatever it needs in other layouts. */
static void
check_kernel_name(const char *line)
{
	struct sl_graph *graph = quantized_graph(line, 1);
	struct engine_case c = {.text = line};
	struct sl_plan *plan = engine_case_plan(graph, &c, 0, 1);
	struct sl_step step;
	int is_found = 0;

	for (size_t i = 0; sl_plan_step(plan, i, &step); i++)
		is_found |= !strncmp(step.kernel, "int8_conv:", 10);
	assert_int_equal(is_found, has_vnni());
	sl_plan_free(plan);
	sl_graph_free(graph);
}

/* The line of one convolution.  Scales are those of each channel or one, and
 * such that results fill the range of their type and go beyond it. */
static void
write_line(struct source *s, char *line, size_t cap)
{
	static const int outs[] = {17, 31, 32, 33, 40, 64, 96, 100};
	static const int ins[] = {4, 8, 12, 20, 32, 64, 1, 2, 3, 5, 9};
	int n = draw(s, 1, 6), y_signed = draw(s, 0, 1);
	int w_unsigned = draw(s, 0, 3) == 0, out = outs[draw(s, 0, 7)], in;
	char w_scale[32] = "f32[]={0.005}", bias[32] = "";
	struct window w;

	n = n > 3 ? 2 : n;
	in = ins[draw(s, 0, n == 3 ? 5 : 10)];
	draw_window(s, &w, n);
	if (draw(s, 0, 1))
		sprintf(w_scale, "f32[%d]", out);
	if (draw(s, 0, 3))
		sprintf(bias, ", i32[%d]", out);
	snprintf(line, cap,
		 "QLinearConv 10 (uint8[%d,%d%s], f32[]={0.02}, uint8[]={%d}, "
		 "%s[%d,%d%s], %s, %s, f32[]={0.4}, %s[]={%d}%s) "
		 "strides=[%s] dilations=[%s] pads=[%s%s]",
		 draw(s, 1, 2), in, w.x, draw(s, 0, 255),
		 w_unsigned ? "uint8" : "i8", out, in, w.k, w_scale,
		 w_unsigned ? "uint8[]={128}" : "i8[]={0}",
		 y_signed ? "i8" : "uint8",
		 draw(s, 0, 255) - (y_signed ? 128 : 0), bias, w.strides,
		 w.dilations, w.before, w.after);
}

static void
seeded_shapes(void **state)
{
	struct source s = {11};

	(void)state;
	for (int i = 0; i < 200; i++) {
		char line[512];

		write_line(&s, line, sizeof(line));
		check_quantized(line, 1, is_left_to_reference());
		check_kernel_name(line);
	}
}

/* Weights that are read once for all results, whole tiles, whole panels. */
static void
shapes_of_models(void **state)
{
	static const char *const lines[] = {
		"QLinearConv 10 (uint8[1,64,28,28], f32[]={0.02}, "
		"uint8[]={9}, i8[256,64,1,1], f32[256], i8[]={0}, "
		"f32[]={0.5}, uint8[]={3}, i32[256])",
		"QLinearConv 10 (uint8[2,512,7,7], f32[]={0.02}, "
		"uint8[]={0}, i8[512,512,1,1], f32[]={0.005}, i8[]={0}, "
		"f32[]={1.5}, uint8[]={0}, i32[512])",
		"QLinearConv 10 (uint8[1,256,7,7], f32[]={0.02}, "
		"uint8[]={130}, i8[160,256,3,3], f32[160], i8[]={0}, "
		"f32[]={2}, uint8[]={100}) pads=[1,1,1,1]",
		"QLinearConv 10 (uint8[1,3,45,61], f32[]={0.02}, "
		"uint8[]={114}, i8[64,3,7,7], f32[64], i8[]={0}, "
		"f32[]={0.5}, uint8[]={0}, i32[64]) pads=[3,3,3,3] "
		"strides=[2,2]",
		/* Dilated, and padding beyond the image. */
		"QLinearConv 10 (uint8[1,32,9,9], f32[]={0.02}, uint8[]={9}, "
		"i8[48,32,3,3], f32[]={0.005}, i8[]={0}, f32[]={0.5}, "
		"i8[]={-3}) pads=[8,8,8,8] dilations=[3,3]",
		"QLinearConv 10 (uint8[1,3,2,2], f32[]={0.02}, uint8[]={9}, "
		"i8[32,3,2,2], f32[]={0.005}, i8[]={0}, f32[]={0.5}, "
		"i8[]={-3}) pads=[9,9,9,9]",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		check_quantized(lines[i], 1, is_left_to_reference());
		check_kernel_name(lines[i]);
	}
}

/* Few results of each pixel, more taps than a tile has room for, sums that are
 * multiplied beyond int32: right too, by other kernels. */
static void
others_are_left(void **state)
{
	static const char *const lines[] = {
		"QLinearConv 10 (uint8[1,8,5,5], f32[]={0.02}, uint8[]={9}, "
		"i8[16,8,3,3], f32[]={0.005}, i8[]={0}, f32[]={0.5}, "
		"uint8[]={3})",
		"QLinearConv 10 (uint8[1,70,5,5], f32[]={0.02}, uint8[]={9}, "
		"i8[32,70,3,3], f32[]={0.005}, i8[]={0}, f32[]={0.5}, "
		"uint8[]={3})",
		"QLinearConv 10 (uint8[1,4,9,9], f32[]={0.02}, uint8[]={9}, "
		"i8[32,4,8,8], f32[]={0.005}, i8[]={0}, f32[]={0.5}, "
		"uint8[]={3})",
		"QLinearConv 10 (uint8[1,8,5,5], f32[]={1e6}, uint8[]={9}, "
		"i8[32,8,3,3], f32[]={0.005}, i8[]={0}, f32[]={1e-6}, "
		"uint8[]={3})",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
#ifdef SL_WITHOUT_DNNL
		check_quantized(lines[i], 1, 1);
#else
		check_quantized(lines[i], 1, !sl__dnnl_int8_is_exact());
#endif
	}
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(seeded_shapes),
		cmocka_unit_test(shapes_of_models),
		cmocka_unit_test(others_are_left),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
