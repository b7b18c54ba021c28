/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_layer_counts.c - single layers by closed form: the figures of the course
 * that people check by hand, the rules of padding, stride, dilation and
 * groups, and sizes that make no sense.
 */
#include "harness.h"
#include "sleuth.h"

static void
linear_layers(void **state)
{
	static const struct {
		int64_t batch, n_in, n_out;
		uint64_t parameters, flops, bias_flops;
	} cases[] = {{1, 768, 3072, 2362368, 4718592, 3072},
		     {1, 3072, 768, 2360064, 4718592, 768},
		     {1, 128, 64, 8256, 16384, 64},
		     {1, 1024, 512, 524800, 1048576, 512},
		     {1, 512, 512, 262656, 524288, 512},
		     {64, 512, 512, 262656, 33554432, 32768},
		     {1, 1000, 500, 500500, 1000000, 500},
		     {32, 768, 3072, 2362368, 150994944, 98304}};
	struct sl_counts c;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(sl_count_linear(&c, cases[i].batch,
						 cases[i].n_in, cases[i].n_out,
						 1, NULL),
				 SL_OK);
		assert_int_equal(c.parameters, cases[i].parameters);
		assert_int_equal(c.parameter_bytes, 4 * cases[i].parameters);
		assert_int_equal(c.batch, cases[i].batch);
		assert_int_equal(c.flops, cases[i].flops);
		assert_int_equal(c.macs, cases[i].flops / 2);
		assert_int_equal(c.flops_per_sample * (uint64_t)c.batch,
				 c.flops);
		assert_int_equal(c.macs_per_sample * 2, c.flops_per_sample);
		assert_int_equal(c.bias_flops, cases[i].bias_flops);
	}
	assert_int_equal(sl_count_linear(&c, 1, 768, 3072, 0, NULL), SL_OK);
	assert_int_equal(c.parameters, 2359296);
	assert_int_equal(c.bias_flops, 0);
}

static void
a_perceptron_is_the_sum_of_its_layers(void **state)
{
	static const int64_t sizes[] = {784, 256, 128, 10};
	uint64_t parameters = 0;
	struct sl_counts c;

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(
			sl_count_linear(&c, 1, sizes[i], sizes[i + 1], 1, NULL),
			SL_OK);
		parameters += c.parameters;
	}
	assert_int_equal(parameters, 235146);
}

static void
convolutions(void **state)
{
	static const struct {
		struct sl_conv2d conv;
		uint64_t flops;
	} cases[] = {
		{{3, 64, 224, 224, 7, 7, 2, 3, 0, 0, 0, 0, 0, 0}, 236027904},
		{{3, 64, 224, 224, 7, 7, 2, 0, 0, 0, 0, 0, 0, 0}, 223552896},
		{{3, 16, 32, 32, 3, 3, 1, 1, 0, 0, 0, 0, 0, 0}, 884736},
		{{3, 16, 32, 32, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, 777600},
		/* 8 channels each by itself: 8 * 9 * 16 * 16 */
		{{8, 8, 16, 16, 3, 3, 1, 1, 1, 0, 0, 0, 8, 0}, 36864},
		/* a kernel of 3 spread over 5: 12 x 12 places */
		{{1, 1, 16, 16, 3, 3, 1, 0, 2, 0, 0, 0, 1, 0}, 2592},
		/* 1 x 5 over 7 x 9, stride 2: 4 x 3 places */
		{{2, 4, 7, 9, 1, 5, 2, 0, 1, 0, 0, 0, 1, 0}, 960},
		/* stride 1 x 2, padding 1 x 2: 8 x 5 places of 9 */
		{{1, 1, 8, 8, 3, 3, 1, 1, 1, 2, 2, 1, 1, 0}, 720},
		/* padding down alone: 8 x 6 places */
		{{1, 1, 8, 8, 3, 3, 1, 1, 1, 1, -1, 1, 1, 0}, 864},
		/* spread along the width alone: 6 x 2 places */
		{{1, 1, 8, 8, 3, 3, 1, 0, 1, 1, 0, 3, 1, 0}, 216},
	};
	struct sl_counts c;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(sl_count_conv2d(&c, 1, &cases[i].conv, NULL),
				 SL_OK);
		assert_int_equal(c.flops, cases[i].flops);
		assert_int_equal(sl_count_conv2d(&c, 5, &cases[i].conv, NULL),
				 SL_OK);
		assert_int_equal(c.flops, 5 * cases[i].flops);
		assert_int_equal(c.flops_per_sample, cases[i].flops);
	}
}

static void
parameters_of_convolutions(void **state)
{
	struct sl_conv2d conv = {.in_channels = 64,
				 .out_channels = 128,
				 .height = 8,
				 .width = 4,
				 .padding = 1,
				 .groups = 2,
				 .has_bias = 1};
	struct sl_counts c;

	(void)state;
	assert_int_equal(sl_count_conv2d(&c, 3, &conv, NULL), SL_OK);
	assert_int_equal(c.parameters, 32 * 9 * 128 + 128);
	assert_int_equal(c.bias_flops, 3 * 128 * 8 * 4);
}

static void
attention(void **state)
{
	struct sl_counts c;

	(void)state;
	assert_int_equal(sl_count_attention(&c, 1, 128, 512, 0, NULL), SL_OK);
	assert_int_equal(c.flops, 301989888);
	assert_int_equal(c.parameters, 4 * 512 * 512);
	assert_int_equal(c.bias_flops, 0);
	assert_int_equal(sl_count_attention(&c, 3, 128, 512, 1, NULL), SL_OK);
	assert_int_equal(c.flops, 3 * UINT64_C(301989888));
	assert_int_equal(c.parameters, 4 * 512 * 512 + 4 * 512);
	assert_int_equal(c.bias_flops, 3 * 4 * 128 * 512);
	assert_int_equal(sl_count_attention(&c, 7, 128, 512, 0, NULL), SL_OK);
	assert_int_equal(c.flops, 7 * UINT64_C(301989888));
}

static void
sizes_that_make_no_sense_are_refused(void **state)
{
	const struct sl_conv2d wide = {3, 8, 4, 4, 7, 7, 1,
				       0, 1, 0, 0, 0, 1, 0};
	const struct sl_conv2d groups = {3, 8, 9, 9, 3, 3, 1,
					 0, 1, 0, 0, 0, 2, 0};
	const struct sl_conv2d inward = {3,  8, 9, 9, 3, 3, 1,
					 -1, 1, 0, 0, 0, 1, 0};
	const struct sl_conv2d nothing = {0};
	const int64_t huge = INT64_C(1) << 40;
	struct sl_error err;
	struct sl_counts c;

	(void)state;
	assert_int_equal(sl_count_linear(&c, 0, 1, 1, 0, &err), SL_E_USAGE);
	assert_int_equal(sl_count_linear(&c, 1, -5, 1, 0, &err), SL_E_USAGE);
	assert_non_null(strstr(err.text, "-5"));
	assert_int_equal(sl_count_linear(&c, 1, huge, huge, 0, &err),
			 SL_E_USAGE);
	assert_non_null(strstr(err.text, "64 bits"));
	assert_int_equal(sl_count_linear(&c, huge, huge / 256, 1, 0, &err),
			 SL_E_USAGE);
	assert_int_equal(sl_count_attention(&c, 1, huge, 8, 0, &err),
			 SL_E_USAGE);
	assert_int_equal(sl_count_attention(&c, 1, 8, 0, 0, &err), SL_E_USAGE);
	assert_int_equal(sl_count_conv2d(&c, 1, &wide, &err), SL_E_USAGE);
	assert_non_null(strstr(err.text, "does not fit"));
	assert_int_equal(sl_count_conv2d(&c, 1, &groups, &err), SL_E_USAGE);
	assert_non_null(strstr(err.text, "groups"));
	assert_int_equal(sl_count_conv2d(&c, 1, &inward, &err), SL_E_USAGE);
	assert_int_equal(sl_count_conv2d(&c, 1, &nothing, NULL), SL_E_USAGE);
	assert_int_equal(c.macs, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(linear_layers),
		cmocka_unit_test(a_perceptron_is_the_sum_of_its_layers),
		cmocka_unit_test(convolutions),
		cmocka_unit_test(parameters_of_convolutions),
		cmocka_unit_test(attention),
		cmocka_unit_test(sizes_that_make_no_sense_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
