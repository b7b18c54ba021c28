/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_dataset.c - the digits are those that scikit-learn has, the split is
 * fixed, no sample is in two splits, and what makes no sense is refused in one
 * line.
 */
#include "harness.h"
#include "counting.h"
#include "numbered_samples.h"
#include "sleuth.h"

static const struct sl_data_source *
open_digits(struct sl_dataset **data, double validation)
{
	struct sl_dataset_options how = SL_DATASET_OPTIONS_INIT;

	how.validation = validation;
	assert_int_equal(sl_dataset_open(data, "digits", &how, NULL), SL_OK);
	return sl_dataset_source(*data);
}

/* load_digits() of scikit-learn: target counts and data.sum(). */
static void
digits_are_all_there(void **state)
{
	static const size_t expected[] = {178, 182, 177, 183, 181,
					  182, 181, 179, 174, 180};
	size_t counts[10] = {0};
	struct sl_dataset *data;
	const struct sl_data_source *s = open_digits(&data, 0);
	double sum = 0;

	(void)state;
	assert_int_equal(s->n_samples[SL_SPLIT_TRAIN], 1438);
	assert_int_equal(s->n_samples[SL_SPLIT_VALIDATION], 0);
	assert_int_equal(s->n_samples[SL_SPLIT_TEST], 359);
	for (int split = 0; split < SL_N_SPLITS; split++) {
		for (size_t i = 0; i < s->n_samples[split]; i++) {
			float pixels[64];
			void *inputs[] = {pixels};
			int64_t label;

			assert_int_equal(s->fill(s->ctx, (enum sl_split)split,
						 i, inputs, &label, NULL),
					 SL_OK);
			counts[label]++;
			for (size_t k = 0; k < 64; k++) {
				assert_true(pixels[k] >= 0 && pixels[k] <= 1);
				sum += 16 * (double)pixels[k];
			}
		}
	}
	for (size_t i = 0; i < 10; i++)
		assert_int_equal(counts[i], expected[i]);
	assert_near(sum, 561718, 0);
	sl_dataset_close(data);
}

/* The first ten images are 0 to 9 in order: the fifth and the tenth are in the
 * test split. */
static void
every_fifth_digit_is_in_the_test(void **state)
{
	static const int64_t train[] = {0, 1, 2, 3, 5, 6, 7, 8},
			     test[] = {4, 9};
	struct sl_dataset *data;
	const struct sl_data_source *s = open_digits(&data, 0);
	float pixels[64];
	void *inputs[] = {pixels};
	int64_t label;

	(void)state;
	for (size_t i = 0; i < 8; i++) {
		assert_false(s->fill(s->ctx, SL_SPLIT_TRAIN, i, inputs, &label,
				     NULL));
		assert_int_equal(label, train[i]);
	}
	for (size_t i = 0; i < 2; i++) {
		assert_false(s->fill(s->ctx, SL_SPLIT_TEST, i, inputs, &label,
				     NULL));
		assert_int_equal(label, test[i]);
	}
	sl_dataset_close(data);
}

static void
no_sample_is_in_two_splits(void **state)
{
	static const size_t n_expected[] = {750, 250, 100};
	struct sl_dataset_options how = SL_DATASET_OPTIONS_INIT;
	struct numbered_samples mine;
	unsigned char seen[3000] = {0};
	const struct sl_data_source *s;
	struct sl_dataset *data;
	size_t n_moved = 0;

	(void)state;
	numbered_init(&mine, 1000, 100);
	how.validation = 0.25;
	assert_false(sl_dataset_new(&data, &mine.source, &how, NULL));
	s = sl_dataset_source(data);
	for (int split = 0; split < SL_N_SPLITS; split++) {
		assert_int_equal(s->n_samples[split], n_expected[split]);
		for (size_t i = 0; i < s->n_samples[split]; i++) {
			float number[6];
			int64_t negative, label;
			void *inputs[] = {number, &negative};

			assert_false(s->fill(s->ctx, (enum sl_split)split, i,
					     inputs, &label, NULL));
			assert_int_equal(seen[-negative]++, 0);
			assert_int_equal(-negative / 1000,
					 split == SL_SPLIT_TEST ? 2 : 0);
			n_moved += split == SL_SPLIT_VALIDATION &&
				   -negative >= 250;
		}
	}
	/* Drawn, not the first: three quarters of them are from beyond. */
	assert_true(n_moved > 150);
	sl_dataset_close(data);
}

static void
labels_out_of_range_are_named(void **state)
{
	struct sl_error err = {.status = SL_OK};
	struct numbered_samples mine;
	const struct sl_data_source *s;
	struct sl_dataset *data;
	float number[6];
	int64_t negative, label;
	void *inputs[] = {number, &negative};

	(void)state;
	numbered_init(&mine, 10, 0);
	mine.mislabel_at = 3;
	assert_false(sl_dataset_new(&data, &mine.source, NULL, NULL));
	s = sl_dataset_source(data);
	assert_false(s->fill(s->ctx, SL_SPLIT_TRAIN, 2, inputs, &label, &err));
	assert_int_equal(
		s->fill(s->ctx, SL_SPLIT_TRAIN, 3, inputs, &label, &err),
		SL_E_DATA);
	assert_string_equal(err.text, "numbered, train sample 3: the label 7 "
				      "is out of range, 0 to 6");
	sl_dataset_close(data);
}

static void
check_refused(const char *name, double validation, enum sl_status expected,
	      const char *text)
{
	struct sl_dataset_options how = SL_DATASET_OPTIONS_INIT;
	struct sl_error err = {.status = SL_OK};
	struct sl_dataset *data = (void *)&err;

	how.validation = validation;
	assert_int_equal(sl_dataset_open(&data, name, &how, &err), expected);
	assert_null(data);
	assert_string_equal(err.text, text);
}

static void
what_makes_no_sense_is_refused(void **state)
{
	struct sl_dataset_options how = SL_DATASET_OPTIONS_INIT;
	struct sl_error err;
	struct numbered_samples mine;
	struct sl_dataset *data;

	(void)state;
	check_refused("digits", 1.5, SL_E_USAGE,
		      "a validation share of 1.5: from 0 to below 1");
	check_refused("digits", 0.0001, SL_E_DATA,
		      "0.0001 of the 1438 training samples of digits is none: "
		      "the validation split would be empty");
	how.labels = "labels.npy";
	assert_int_equal(sl_dataset_open(&data, "digits", &how, &err),
			 SL_E_USAGE);
	assert_string_equal(err.text, "'digits' takes no file of labels");
	how.labels = NULL;
	how.test = "test.csv";
	assert_int_equal(sl_dataset_open(&data, "digits", &how, &err),
			 SL_E_USAGE);
	assert_string_equal(err.text, "'digits' has a test split of its own");
	how.test = "other.csv";
	assert_int_equal(sl_dataset_open(&data, "some.npz", &how, &err),
			 SL_E_USAGE);
	assert_string_equal(
		err.text, "the test file 'other.csv' must be of the format of "
			  "'some.npz': CSV, arrays or text");
	numbered_init(&mine, 0, 0);
	assert_int_equal(sl_dataset_new(&data, &mine.source, NULL, NULL),
			 SL_E_DATA);
	numbered_init(&mine, 1, 0);
	mine.source.n_classes = 0;
	assert_int_equal(sl_dataset_new(&data, &mine.source, NULL, NULL),
			 SL_E_USAGE);
}

static void
each_failing_allocation_is_told(void **state)
{
	struct sl_dataset_options how = SL_DATASET_OPTIONS_INIT;
	struct counting counting = {0};
	const struct sl_allocator allocator = counting_allocator(&counting);
	struct sl_dataset *data;
	enum sl_status rc;

	(void)state;
	how.allocator = &allocator;
	do {
		counting.n_requests = 0;
		counting.fail_at++;
		rc = sl_dataset_open(&data, "digits", &how, NULL);
		assert_true(rc == SL_OK || rc == SL_E_NOMEM);
		sl_dataset_close(data);
		assert_int_equal(counting.n_out, 0);
	} while (rc);
	assert_true(counting.fail_at > 1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(digits_are_all_there),
		cmocka_unit_test(every_fifth_digit_is_in_the_test),
		cmocka_unit_test(no_sample_is_in_two_splits),
		cmocka_unit_test(labels_out_of_range_are_named),
		cmocka_unit_test(what_makes_no_sense_is_refused),
		cmocka_unit_test(each_failing_allocation_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
