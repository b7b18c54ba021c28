/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_row_names.c - rows of a table whose names differ have labels that
 * differ, within the room there is, and names that fit stay as they are.
 */
#include "harness.h"

#include "report/row_names.h"
#include "report/printable.h"

enum { LAYERS = 12 };

static void
names_that_fit_stay(void **state)
{
	static const char *const names[] = {"stem.conv", "layer1.0.conv1",
					    "layer1.0.conv1"};
	struct sl__arena arena;
	const char **labels;

	(void)state;
	sl__arena_init(&arena, NULL);
	labels = sl__row_names_shorten(&arena, names, 3, 20);
	assert_non_null(labels);
	for (size_t i = 0; i < 3; i++)
		assert_string_equal(labels[i], names[i]);
	sl__arena_release(&arena);
}

/* One does not fit: the same words leave all of its module, and no others. */
static void
a_module_loses_one_prefix(void **state)
{
	static const char *const names[] = {
		"lm_head", "transformer.h.2.mlp.c_fc",
		"transformer.h.1.mlp.c_proj", "transformer.h.10.attn.c_proj"};
	static const char *const expected[] = {"lm_head", "…h.2.mlp.c_fc",
					       "…h.1.mlp.c_proj",
					       "…h.10.attn.c_proj"};
	struct sl__arena arena;
	const char **labels;

	(void)state;
	sl__arena_init(&arena, NULL);
	labels = sl__row_names_shorten(&arena, names, 4, 24);
	assert_non_null(labels);
	for (size_t i = 0; i < 4; i++)
		assert_string_equal(labels[i], expected[i]);
	sl__arena_release(&arena);
}

static void
what_differs_is_kept(void **state)
{
	static const char *const names[] = {
		"tf_bert/bert/encoder/layer_._3/attention/self/query/Mul_add",
		"tf_bert/bert/encoder/layer_._11/attention/self/query/Mul_add",
		"tf_bert/bert/pooler/dense"};
	struct sl__arena arena;
	const char **labels;

	(void)state;
	sl__arena_init(&arena, NULL);
	labels = sl__row_names_shorten(&arena, names, 3, 16);
	assert_non_null(labels);
	assert_string_equal(labels[0], "…e/l._3/…Mul_add");
	assert_string_equal(labels[1], "…e/l._11…Mul_add");
	assert_string_equal(labels[2], "…pooler/dense");
	sl__arena_release(&arena);
}

/* Two in each of two layers: neither the layer nor the rest is enough. */
static void
both_differences_are_kept(void **state)
{
	static const char *const names[] = {
		"bert/encoder/layer_._0/attention/self/query/dot/MatMul_add",
		"bert/encoder/layer_._0/attention/self/value/dot/MatMul_add",
		"bert/encoder/layer_._1/attention/self/query/dot/MatMul_add",
		"bert/encoder/layer_._1/attention/self/value/dot/MatMul_add",
		"constant"};
	struct sl__arena arena;
	const char **labels;

	(void)state;
	sl__arena_init(&arena, NULL);
	labels = sl__row_names_shorten(&arena, names, 5, 20);
	assert_non_null(labels);
	for (size_t i = 0; i < 4; i++) {
		assert_non_null(strstr(labels[i], i < 2 ? "_0" : "_1"));
		assert_non_null(strstr(labels[i], i % 2 ? "v" : "q"));
		assert_null(strchr(labels[i], '#'));
	}
	assert_string_equal(labels[4], "constant");
	sl__arena_release(&arena);
}

/* Whatever the room, and where even numbers have to tell them apart. */
static void
labels_are_distinct_and_fit(void **state)
{
	char text[LAYERS][200];
	const char *names[LAYERS];
	struct sl__arena arena;

	(void)state;
	for (size_t i = 0; i < LAYERS; i++) {
		const char *kinds[] = {"attention/self", "output/dense"};

		snprintf(text[i], sizeof(text[i]),
			 "model/encoder/layer_with_a_long_name/%s/%zu/"
			 "an_operation_with_a_name_of_its_own/Mul_add",
			 kinds[i % 2], i / 2);
		names[i] = text[i];
	}
	sl__arena_init(&arena, NULL);
	for (size_t room = 10; room < 130; room++) {
		const char **labels =
			sl__row_names_shorten(&arena, names, LAYERS, room);

		assert_non_null(labels);
		for (size_t i = 0; i < LAYERS; i++) {
			if (sl__utf8_width(labels[i]) > room)
				fail_msg("%zu: %s", room, labels[i]);
			for (size_t k = 0; k < i; k++)
				assert_string_not_equal(labels[i], labels[k]);
		}
	}
	sl__arena_release(&arena);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_that_fit_stay),
		cmocka_unit_test(a_module_loses_one_prefix),
		cmocka_unit_test(what_differs_is_kept),
		cmocka_unit_test(both_differences_are_kept),
		cmocka_unit_test(labels_are_distinct_and_fit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
