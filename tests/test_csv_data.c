/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_csv_data.c - what a CSV file says is what samples hold; what is wrong
 * is named with line and column; a file that ends anywhere is read or refused.
 */
#include "harness.h"
#include "sleuth.h"

#include <unistd.h>

static char folder[] = "/tmp/sleuth-csv-XXXXXX";
static char path[64];

static void
write_file(const char *text, size_t n)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_int_equal(fwrite(text, 1, n, f), n);
	assert_int_equal(fclose(f), 0);
}

static enum sl_status
open_text(struct sl_dataset **data, const char *text, struct sl_error *err)
{
	write_file(text, strlen(text));
	return sl_dataset_open(data, path, NULL, err);
}

static void
samples_hold_what_the_file_says(void **state)
{
	static const char *const texts[] = {
		"1,2.5,0\n-3e1,+.25,2\n", "1,2.5,0\r\n\r\n-3e1,.25,2",
		"width,height,class\n1, 2.5 ,0\n\n-30,0.25,2.0\n",
		"\xef\xbb\xbf"
		"1,2.5,0\n-30,0.25,2\n",
		"\"w\",\"h\",\"c\"\n\"1\", \"2.5\" "
		",0\r\n\"-30\",0.25,\"2\"\r\n"};
	static const float expected[2][2] = {{1, 2.5f}, {-30, 0.25f}};
	static const int64_t classes[] = {0, 2};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		const struct sl_data_source *s;
		struct sl_dataset *data;
		struct sl_error err;

		if (open_text(&data, texts[i], &err))
			fail_msg("%s", err.text);
		s = sl_dataset_source(data);
		assert_int_equal(s->n_samples[SL_SPLIT_TRAIN], 2);
		assert_int_equal(s->n_samples[SL_SPLIT_TEST], 0);
		assert_int_equal(s->n_classes, 3);
		assert_int_equal(s->inputs[0].dims[0], 2);
		for (size_t k = 0; k < 2; k++) {
			float values[2];
			void *inputs[] = {values};
			int64_t label;

			assert_false(s->fill(s->ctx, SL_SPLIT_TRAIN, k, inputs,
					     &label, NULL));
			assert_int_equal(label, classes[k]);
			assert_memory_equal(values, expected[k],
					    sizeof(values));
		}
		sl_dataset_close(data);
	}
}

static void
what_is_wrong_is_named(void **state)
{
	static const struct {
		const char *text, *expected;
	} cases[] = {
		{"1,2,0\n1,1\n", "line 2 has 2 columns, 3 are expected: it "
				 "ends after column 2"},
		{"1,2,0\n\n1,2,3,4\n", "line 3 has 4 columns, 3 are expected: "
				       "it goes on after column 3"},
		{"1,2,0\n1,x2,0\n", "line 2, column 2: 'x2' is no number"},
		{"1,2,0\n1,,0\n", "line 2, column 2: '' is no number"},
		{",2,0\n1,2,0\n", "line 1, column 1: '' is no number"},
		{"nan,2,0\n", "line 1, column 1: 'nan' is no number"},
		{"1,-1e39,0\n", "line 1, column 2: '-1e39' is beyond all "
				"numbers of f32"},
		{"1,2,-1\n", "line 1, column 3: the class -1 is no whole "
			     "number from 0 to 1048575"},
		{"1,2,0.5\n", "line 1, column 3: the class 0.5 is no whole "
			      "number from 0 to 1048575"},
		{"1\n", "line 1 has one column: numbers and a class are "
			"expected, with commas between"},
		{"", "has no samples"},
		{"a,b\n", "has no samples"},
		{"1;2;0\n1;2;0\n", "line 2 has one column: numbers and a class "
				   "are expected, with commas between, not "
				   "semicolons"},
		{"1\t2\t0\n1\t2\t0\n", "line 2 has one column: numbers and a "
				       "class are expected, with commas "
				       "between, not tabs"},
		{"\"1,2,0\n", "line 1, column 1: '\"1' is no number"},
		{"\",2,0\n", "line 1, column 1: '\"' is no number"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct sl_error err = {.status = SL_OK};
		struct sl_dataset *data;
		char text[600];

		assert_int_equal(open_text(&data, cases[i].text, &err),
				 SL_E_DATA);
		snprintf(text, sizeof(text), "%s: %s", path, cases[i].expected);
		assert_string_equal(err.text, text);
		assert_null(data);
	}
}

/* Every byte of a small file left out from the end, and every byte replaced. */
static void
hostile_files_are_read_or_refused(void **state)
{
	static const char text[] = "a,b\n1.5e2,-2,0\r\n3,4,1\n";
	static const char planted[] = {'\0', ',', '\n',      '-',
				       'e',  '9', (char)0xff};
	char changed[sizeof(text)];

	(void)state;
	for (size_t i = 0; i < sizeof(text); i++) {
		for (size_t k = 0; k <= sizeof(planted); k++) {
			struct sl_error err = {.status = SL_OK};
			struct sl_dataset *data;
			enum sl_status rc;

			memcpy(changed, text, sizeof(text));
			if (k < sizeof(planted))
				changed[i] = planted[k];
			write_file(changed,
				   k < sizeof(planted) ? sizeof(text) - 1 : i);
			rc = sl_dataset_open(&data, path, NULL, &err);
			assert_true(rc == SL_OK || rc == SL_E_DATA);
			assert_int_equal(rc != SL_OK, err.text[0] != '\0');
			sl_dataset_close(data);
		}
	}
}

static void
a_missing_file_is_named(void **state)
{
	struct sl_error err;
	struct sl_dataset *data;

	(void)state;
	assert_int_equal(
		sl_dataset_open(&data, "nowhere/at-all.csv", NULL, &err),
		SL_E_IO);
	assert_non_null(strstr(err.text, "nowhere/at-all.csv"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(samples_hold_what_the_file_says),
		cmocka_unit_test(what_is_wrong_is_named),
		cmocka_unit_test(hostile_files_are_read_or_refused),
		cmocka_unit_test(a_missing_file_is_named),
	};
	int rc;

	if (!mkdtemp(folder))
		return 1;
	snprintf(path, sizeof(path), "%s/data.csv", folder);
	rc = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(path);
	rmdir(folder);
	return rc;
}
