/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_sequence_task.c - each answer is worked out anew here, digit by digit;
 * no sequence comes twice, in training or in the test.
 */
#include "harness.h"
#include "sleuth.h"

enum { PLUS = 10, EQUALS };

struct sequence {
	int64_t tokens[1100], labels[1100];
	size_t length;
};

static void
take(struct sequence *out, const struct sl_dataset *data, enum sl_split split,
     size_t index)
{
	const struct sl_data_source *s = sl_dataset_source(data);
	void *inputs[] = {out->tokens};

	assert_int_equal(s->n_inputs, 1);
	assert_int_equal(s->inputs[0].dtype, SL_DTYPE_I64);
	assert_int_equal(s->inputs[0].dims[0], s->n_labels);
	assert_int_equal(s->n_classes, 12);
	out->length = s->n_labels;
	assert_false(s->fill(s->ctx, split, index, inputs, out->labels, NULL));
	/* Where a label counts it is the next token. */
	for (size_t i = 0; i + 1 < out->length; i++)
		assert_true(out->labels[i] == SL_LABEL_IGNORED ||
			    out->labels[i] == out->tokens[i + 1]);
}

static struct sl_dataset *
open_task(const char *name)
{
	struct sl_dataset *data;
	struct sl_error err;

	if (sl_dataset_open(&data, name, NULL, &err))
		fail_msg("%s", err.text);
	return data;
}

static void
copies_and_reversals_are_right(void **state)
{
	static const char *const tasks[] = {"copy:5", "reverse:30"};
	static const size_t lengths[] = {5, 30};

	(void)state;
	for (size_t c = 0; c < 2; c++) {
		struct sl_dataset *data = open_task(tasks[c]);
		size_t n = lengths[c];

		for (size_t i = 0; i < 1000; i++) {
			struct sequence s;

			take(&s, data, i % 2 ? SL_SPLIT_TEST : SL_SPLIT_TRAIN,
			     i);
			assert_int_equal(s.length, 2 * n);
			assert_int_equal(s.tokens[n], EQUALS);
			for (size_t k = 0; k < n; k++) {
				assert_int_equal(s.labels[k], SL_LABEL_IGNORED);
				assert_true(s.tokens[k] < 10);
				assert_int_equal(s.labels[n + k],
						 s.tokens[c ? n - 1 - k : k]);
			}
		}
		sl_dataset_close(data);
	}
}

/* Sorted, and each digit as often as before. */
static void
sorting_is_right(void **state)
{
	struct sl_dataset *data = open_task("sort"); /* of 8 */

	(void)state;
	for (size_t i = 0; i < 1000; i++) {
		int counts[10] = {0};
		struct sequence s;

		take(&s, data, SL_SPLIT_TEST, i);
		assert_int_equal(s.length, 16);
		for (size_t k = 0; k < 8; k++) {
			counts[s.tokens[k]]++;
			counts[s.labels[8 + k]]--;
			assert_true(!k || s.labels[8 + k] >= s.labels[7 + k]);
		}
		for (size_t k = 0; k < 10; k++)
			assert_int_equal(counts[k], 0);
	}
	sl_dataset_close(data);
}

static void
sums_are_right(void **state)
{
	struct sl_dataset *data = open_task("addition:3");

	(void)state;
	for (size_t i = 0; i < 1000; i++) {
		int64_t a = 0, b = 0, sum = 0;
		struct sequence s;

		take(&s, data, SL_SPLIT_TRAIN, i);
		assert_int_equal(s.length, 11);
		assert_int_equal(s.tokens[3], PLUS);
		assert_int_equal(s.tokens[7], EQUALS);
		for (size_t k = 0; k < 3; k++) {
			a = 10 * a + s.tokens[k];
			b = 10 * b + s.tokens[4 + k];
		}
		for (size_t k = 4; k-- > 0;)
			sum = 10 * sum + s.labels[7 + k];
		assert_int_equal(sum, a + b);
		assert_int_equal(s.labels[6], SL_LABEL_IGNORED);
	}
	sl_dataset_close(data);
}

/* All sequences of four digits: every one is in one of the splits, once. */
static void
no_sequence_comes_twice(void **state)
{
	static unsigned char seen[10000];
	struct sl_dataset *data = open_task("copy:4");
	const struct sl_data_source *source = sl_dataset_source(data);

	(void)state;
	assert_int_equal(source->n_samples[SL_SPLIT_TRAIN], 9000);
	assert_int_equal(source->n_samples[SL_SPLIT_TEST], 1000);
	for (size_t i = 0; i < 10000; i++) {
		struct sequence s;

		take(&s, data, i < 9000 ? SL_SPLIT_TRAIN : SL_SPLIT_TEST,
		     i < 9000 ? i : i - 9000);
		assert_int_equal(seen[s.tokens[0] * 1000 + s.tokens[1] * 100 +
				      s.tokens[2] * 10 + s.tokens[3]]++,
				 0);
	}
	sl_dataset_close(data);
}

static void
another_seed_gives_others(void **state)
{
	struct sl_dataset_options how = SL_DATASET_OPTIONS_INIT;
	struct sl_dataset *data[2];
	struct sequence s[2];
	size_t n_same = 0;

	(void)state;
	for (size_t k = 0; k < 2; k++) {
		how.seed = k + 1;
		assert_false(sl_dataset_open(&data[k], "copy:8", &how, NULL));
	}
	for (size_t i = 0; i < 100; i++) {
		for (size_t k = 0; k < 2; k++)
			take(&s[k], data[k], SL_SPLIT_TRAIN, i);
		n_same += !memcmp(s[0].tokens, s[1].tokens, 8 * 8);
	}
	assert_true(n_same < 3);
	sl_dataset_close(data[0]);
	sl_dataset_close(data[1]);
}

static void
lengths_that_make_no_sense_are_refused(void **state)
{
	static const char *const wrong[] = {"copy:3",  "copy:",      "copy:8x",
					    "copy:-8", "copy:513",   "sort:0",
					    "copi:8",  "addition:1", ""};
	struct sl_error err;
	struct sl_dataset *data;

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_int_equal(sl_dataset_open(&data, wrong[i], NULL, &err),
				 SL_E_USAGE);
	assert_int_equal(sl_dataset_open(&data, "addition:1", NULL, &err),
			 SL_E_USAGE);
	assert_string_equal(err.text, "'addition:1': write addition:N with a "
				      "length of 2 to 512");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(copies_and_reversals_are_right),
		cmocka_unit_test(sorting_is_right),
		cmocka_unit_test(sums_are_right),
		cmocka_unit_test(no_sequence_comes_twice),
		cmocka_unit_test(another_seed_gives_others),
		cmocka_unit_test(lengths_that_make_no_sense_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
