/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_repeats.c - layers whose names differ in numbers only and that cost the
 * same become one row, all others stay apart, the sums are kept, labels name
 * the range, and long names are cut from the left.
 */
#include "harness.h"
#include "report/repeats.h"
#include "counting.h"

static struct sl_layer
layer(const char *name, uint64_t macs, const char *shape)
{
	struct sl_layer l = {.name = name,
			     .type = "Conv",
			     .n_calls = 1,
			     .cost = {.fma = macs,
				      .macs = macs,
				      .read_bytes = 10,
				      .written_bytes = 1},
			     .parameters = 3,
			     .output_shape = shape,
			     .share = 0.1};

	return l;
}

static void
alike_layers_are_one_row(void **state)
{
	const struct sl_layer layers[] = {
		layer("stem", 50, "1x4"),
		layer("block.0.conv1", 100, "1x8"),
		layer("block.1.conv1", 100, "1x8"),
		layer("block.0.conv2", 100, "1x8"), /* another number */
		layer("block.10.conv1", 100, "1x8"),
		layer("block.2.conv1", 100, "1x9"), /* another shape */
		layer("block.3.conv1", 99, "1x8"),  /* another cost */
		layer("blocks.4.conv1", 100, "1x8"),
	};
	const struct sl_inspection i = {.layers = layers, .n_layers = 8};
	struct sl__arena arena;
	struct sl__repeated_layers *rows;
	size_t n, n_layers = 0;

	(void)state;
	sl__arena_init(&arena, NULL);
	rows = sl__repeated_layers_group(&arena, &i, 0, &n);
	assert_int_equal(n, 5);
	assert_int_equal(rows[0].n, 4);
	assert_int_equal(rows[0].macs, 400);
	assert_int_equal(rows[0].operations, 800);
	assert_int_equal(rows[0].n_bytes, 44);
	assert_int_equal(rows[0].parameters, 12);
	assert_near(rows[0].share, 0.4, 1e-12);
	assert_string_equal(sl__repeated_layers_label(&arena, &rows[0], 1),
			    "block.[0-10].conv[1-2]");
	assert_string_equal(sl__repeated_layers_label(&arena, &rows[0], 0),
			    "block.*.conv*");
	assert_string_equal(sl__repeated_layers_label(&arena, &rows[4], 0),
			    "stem");
	for (size_t k = 0; k < n; k++)
		n_layers += rows[k].n;
	assert_int_equal(n_layers, 8);

	/* Whole: one each, in the order they run. */
	rows = sl__repeated_layers_group(&arena, &i, 1, &n);
	assert_int_equal(n, 8);
	for (size_t k = 0; k < n; k++)
		assert_ptr_equal(rows[k].rows[0], &layers[k]);
	sl__arena_release(&arena);
}

static void
labels_keep_digits_as_they_are(void **state)
{
	const struct sl_layer layers[] = {
		layer("a007/9/99999999999999999999999999", 1, ""),
		layer("a007/11/99999999999999999999999999", 1, ""),
	};
	const struct sl_inspection i = {.layers = layers, .n_layers = 2};
	struct sl__arena arena;
	struct sl__repeated_layers *rows;
	size_t n;

	(void)state;
	sl__arena_init(&arena, NULL);
	rows = sl__repeated_layers_group(&arena, &i, 0, &n);
	assert_int_equal(n, 1);
	assert_string_equal(sl__repeated_layers_label(&arena, rows, 1),
			    "a007/[9-11]/99999999999999999999999999");
	sl__arena_release(&arena);
}

static void
long_names_are_cut_from_the_left(void **state)
{
	static const struct {
		const char *name;
		size_t n_columns;
		const char *expected;
	} cases[] = {
		{"encoder.layer.0.output.dense", 28,
		 "encoder.layer.0.output.dense"},
		{"encoder.layer.0.output.dense", 25,
		 "enc.layer.0.output.dense"},
		{"encoder.layer.0.output.dense", 20, "enc.lay.0.out.dense"},
		{"encoder.layer.0.output.dense", 15, "e.l.0.out.dense"},
		{"encoder.layer.0.output.dense", 1, "e.l.0.o.dense"},
		{"/encoder/layer.0/MatMul", 1, "/e/l.0/MatMul"},
		{"encoder_layer_[0-11].mlp.3", 1, "e[0-11].m.3"},
		{"single", 2, "single"},
		{"", 5, ""},
		{"...", 1, "..."},
	};
	struct sl__arena arena;

	(void)state;
	sl__arena_init(&arena, NULL);
	for (size_t k = 0; k < sizeof(cases) / sizeof(*cases); k++)
		assert_string_equal(sl__layer_name_shorten(&arena,
							   cases[k].name,
							   cases[k].n_columns),
				    cases[k].expected);
	sl__arena_release(&arena);
}

static void
types_are_shortened_word_by_word(void **state)
{
	static const char *const rows[][2] = {
		{"Conv", "Conv"},
		{"BatchNormalization", "BatchNorm"},
		{"LayerNormalization", "LayerNorm"},
		{"ConvTranspose", "ConvTranspose"},
		{"QLinearConvTranspose", "QLinearConvT"},
		{"Transpose", "Transpose"},
		{"GlobalAveragePool", "GlobalAvgPool"},
		{"DequantizeLinear", "DequantLinear"},
		{"QLinearConv", "QLinearConv"},
		{"MultiHeadLatentAttention", "MultiH…ntAttn"},
		{"", ""},
	};
	struct sl__arena arena;

	(void)state;
	sl__arena_init(&arena, NULL);
	for (size_t k = 0; k < sizeof(rows) / sizeof(*rows); k++)
		assert_string_equal(sl__op_type_shorten(&arena, rows[k][0], 13),
				    rows[k][1]);
	sl__arena_release(&arena);
}

static void
failed_allocations_are_null(void **state)
{
	const struct sl_layer layers[] = {layer("a.1", 1, ""),
					  layer("a.2", 1, "")};
	const struct sl_inspection i = {.layers = layers, .n_layers = 2};

	(void)state;
	for (int fail_at = 1;; fail_at++) {
		struct counting counting = {.fail_at = fail_at};
		struct sl_allocator allocator = counting_allocator(&counting);
		struct sl__arena arena;
		size_t n;
		int is_done;

		sl__arena_init(&arena, &allocator);
		is_done = sl__repeated_layers_group(&arena, &i, 0, &n) != NULL;
		sl__arena_release(&arena);
		assert_true(counting.n_requests > 0);
		assert_int_equal(is_done, counting.n_requests < fail_at);
		assert_int_equal(counting.n_out, 0);
		if (is_done)
			break;
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(alike_layers_are_one_row),
		cmocka_unit_test(labels_keep_digits_as_they_are),
		cmocka_unit_test(long_names_are_cut_from_the_left),
		cmocka_unit_test(types_are_shortened_word_by_word),
		cmocka_unit_test(failed_allocations_are_null),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
