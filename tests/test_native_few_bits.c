/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_native_few_bits.c - rows times weights of 4 and 8 bits against the
 * reference kernel: of any length and number, with and without zero points and
 * bias.
 *
 * Where rows become 8 bits, an element is off by up to 1/254 of the largest of
 * its 32; those errors are independent, so that a sum of K products, of
 * numbers between -3 and 3, is off by 0.4 % of its deviation, and by five times
 * that hardly ever.  Rows whose elements are all the same are exact.
 */
#include "quantized_case.h"

enum { N = 37 };

struct shape {
	int bits, block, m, k;
	int has_more; /* zero points and a bias */
};

static void
write_case(char *text, size_t n, const struct shape *s, int level)
{
	int n_blocks = (s->k + s->block - 1) / s->block;
	int zeros = s->bits == 4 ? (n_blocks + 1) / 2 : n_blocks;
	char more[100] = "";

	if (s->has_more)
		snprintf(more, sizeof(more), ", uint8[%d], _, f32[%d]",
			 N * zeros, N);
	snprintf(text, n,
		 "com.microsoft.MatMulNBits 1 (f32[%d,%d], uint8[%d,%d,%d], "
		 "f32[%d]%s) K=%d N=%d bits=%d block_size=%d "
		 "accuracy_level=%d",
		 s->m, s->k, N, n_blocks, s->block * s->bits / 8, N * n_blocks,
		 more, s->k, N, s->bits, s->block, level);
}

static void
check_shape(int bits, int block, int m, int k, int has_more)
{
	const struct shape s = {bits, block, m, k, has_more};
	struct sl_graph *graph;
	char text[300];

	for (int level = 0; level <= 4; level += 4) {
		struct engine_case c = {text, .low = -3, .high = 3};

		write_case(text, sizeof(text), &s, level);
		graph = quantized_graph(text, 1);
		c.share = level ? 0.02 : 1e-5;
		check_graph(graph, &c);
		c.low = c.high = 2;
		c.share = 1e-5;
		check_graph(graph, &c);
		sl_graph_free(graph);
	}
}

static void
any_number_of_rows(void **state)
{
	(void)state;
	for (int bits = 4; bits <= 8; bits += 4) {
		for (int m = 1; m <= 6; m++) {
			check_shape(bits, 32, m, 256, 0);
			check_shape(bits, 32, m, 96, 1);
		}
	}
}

static void
any_length(void **state)
{
	static const int lengths[] = {1, 31, 33, 64, 127, 160, 300};

	(void)state;
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		for (int block = 32; block <= 256; block *= 2) {
			check_shape(4, block, 2, lengths[i], 0);
			check_shape(8, block, 1, lengths[i], 1);
		}
	}
}

/* Blocks of another size, and weights of two bits. */
static void
others_are_slow(void **state)
{
	(void)state;
	check_quantized("com.microsoft.MatMulNBits 1 (f32[2,64], "
			"uint8[5,4,8], f32[20]) K=64 N=5 bits=4 block_size=16",
			1, 1);
	check_quantized("com.microsoft.MatMulNBits 1 (f32[2,64], "
			"uint8[5,2,8], f32[10]) K=64 N=5 bits=2 block_size=32",
			1, 1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_number_of_rows),
		cmocka_unit_test(any_length),
		cmocka_unit_test(others_are_slow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
