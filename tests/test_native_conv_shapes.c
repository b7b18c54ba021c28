/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_native_conv_shapes.c - own convolutions of seeded odd sizes against the
 * reference kernels: channels around whole lines and tiles, strides,
 * dilations, groups, unequal pads, one pixel, one to three dimensions, each on
 * one thread and on three.  Tolerances are those of test_dnnl_conv.c.
 */
#define ENGINE_CASE_FLAGS SL__PLAN_NO_DNNL
#include "conv_graph.h"

struct source {
	uint64_t state;
};

/* A number from 'low' to 'high'. */
static int
draw(struct source *s, int low, int high)
{
	s->state = s->state * 6364136223846793005u + 1442695040888963407u;
	return low + (int)((s->state >> 33) % (uint64_t)(high - low + 1));
}

static int
pick(struct source *s, const int *list, int n)
{
	return list[draw(s, 0, n - 1)];
}

/* Channels of a group, in and out, and how many groups. */
struct channels {
	int in, out, groups;
};

static struct channels
draw_channels(struct source *s)
{
	static const int ins[] = {1, 2, 3, 7, 15, 16, 17, 32, 33, 48};
	static const int outs[] = {1, 2, 5, 8, 15, 16, 17, 31, 32, 33, 65};
	static const int depths[] = {2, 3, 15, 16, 17, 35, 48};

	switch (draw(s, 0, 5)) {
	case 0: /* depthwise */
		return (struct channels){1, 1, pick(s, depths, 7)};
	case 1:
		return (struct channels){pick(s, ins, 6), pick(s, outs, 5),
					 draw(s, 2, 4)};
	default:
		return (struct channels){pick(s, ins, 10), pick(s, outs, 11),
					 1};
	}
}

/* Writes the line of one convolution; sizes leave at least one position. */
static void
write_line(struct source *s, char *line, size_t cap)
{
	struct channels c = draw_channels(s);
	int n = draw(s, 1, 6), batch = draw(s, 1, 2);
	char x[64] = "", k[64] = "", strides[64] = "", dilations[64] = "",
	     before[64] = "", after[64] = "";

	n = n > 3 ? 2 : n;
	for (int d = 0; d < n; d++) {
		int kernel = draw(s, 1, n == 3 ? 3 : 5);
		int stride = draw(s, 1, 3), dilation = draw(s, 1, 2);
		int extent = (kernel - 1) * dilation + 1;
		int b = draw(s, 0, extent - 1), a = draw(s, 0, extent - 1);
		int size = draw(s, 1, n == 3 ? 6 : 19);
		const char *comma = d ? "," : "";

		size = size + a + b < extent ? extent : size;
		sprintf(x + strlen(x), ",%d", size);
		sprintf(k + strlen(k), ",%d", kernel);
		sprintf(strides + strlen(strides), "%s%d", comma, stride);
		sprintf(dilations + strlen(dilations), "%s%d", comma, dilation);
		sprintf(before + strlen(before), "%s%d", comma, b);
		sprintf(after + strlen(after), ",%d", a);
	}
	snprintf(line, cap,
		 "Conv 11 (f32[%d,%d%s], f32[%d,%d%s], f32[%d]) group=%d "
		 "strides=[%s] dilations=[%s] pads=[%s%s]",
		 batch, c.in * c.groups, x, c.out * c.groups, c.in, k,
		 c.out * c.groups, c.groups, strides, dilations, before, after);
}

static void
seeded_shapes(void **state)
{
	struct source s = {42};

	(void)state;
	for (int i = 0; i < 150; i++) {
		char line[512];
		struct engine_case c = {.text = line};
		struct sl_graph *graph;

		write_line(&s, line, sizeof(line));
		graph = conv_graph(line, 2, NULL, 0, NULL);
		check_graph(graph, &c);
		sl_graph_free(graph);
	}
}

/* Large enough for several blocks of k and tiles of threads; padded to a
 * point. */
static void
large_shapes(void **state)
{
	static const char *const lines[] = {
		"Conv 11 (f32[1,64,30,31], f32[40,64,3,3], f32[40]) "
		"pads=[1,1,1,1]",
		"Conv 11 (f32[1,72,13,13], f32[33,72,3,3], f32[33]) "
		"pads=[2,0,1,1] strides=[2,1]",
		"Conv 11 (f32[3,520,5,5], f32[70,520,1,1], f32[70])",
		"Conv 11 (f32[1,16,1,1], f32[16,16,3,3], f32[16]) "
		"pads=[1,1,1,1]",
		"Conv 11 (f32[1,40,33,33], f32[40,1,5,5], f32[40]) group=40 "
		"pads=[2,2,2,2] strides=[2,2]",
		"Conv 11 (f32[2,40,9,7], f32[40,1,3,3], f32[40]) group=40 "
		"pads=[1,1,1,1]",
		"Conv 11 (f32[1,17,4,4], f32[17,1,5,3], f32[17]) group=17 "
		"pads=[2,1,2,1]",
		"Conv 11 (f32[1,33,20,21], f32[33,1,3,3], f32[33]) group=33 "
		"pads=[0,1,1,2] strides=[1,2]",
		"Conv 11 (f32[1,16,4,5,9], f32[16,1,2,3,3], f32[16]) group=16 "
		"pads=[1,1,2,0,1,0] dilations=[2,1,1]",
		"ConvTranspose 11 (f32[1,48,9,9], f32[48,20,4,4], f32[20]) "
		"strides=[2,2] pads=[1,1,1,1]",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		struct engine_case c = {.text = lines[i]};
		struct sl_graph *graph = conv_graph(lines[i], 2, NULL, 0, NULL);

		check_graph(graph, &c);
		sl_graph_free(graph);
	}
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
