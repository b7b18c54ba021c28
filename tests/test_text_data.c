/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_text_data.c - samples are stretches of a text, labels the bytes that
 * follow, the last tenth is the test split; a text of any length is read or
 * refused.
 */
#include "harness.h"
#include "sleuth.h"

#include <unistd.h>

enum { CONTEXT = 4, LENGTH = 90 };

static char folder[] = "/tmp/sleuth-text-XXXXXX";
static char path[64];

static unsigned char
byte_at(size_t i)
{
	return (unsigned char)(i * 7 + 200);
}

static enum sl_status
open_text(struct sl_dataset **data, size_t n, struct sl_error *err)
{
	struct sl_dataset_options how = SL_DATASET_OPTIONS_INIT;
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(fputc(byte_at(i), f), byte_at(i));
	assert_int_equal(fclose(f), 0);
	how.context = CONTEXT;
	return sl_dataset_open(data, path, &how, err);
}

static void
check_split(const struct sl_data_source *s, enum sl_split split, size_t first)
{
	for (size_t k = 0; k < s->n_samples[split]; k++) {
		int64_t tokens[CONTEXT], labels[CONTEXT];
		void *inputs[] = {tokens};

		assert_false(s->fill(s->ctx, split, k, inputs, labels, NULL));
		for (size_t i = 0; i < CONTEXT; i++) {
			size_t at = (first + k) * CONTEXT + i;

			assert_int_equal(tokens[i], byte_at(at));
			assert_int_equal(labels[i], byte_at(at + 1));
		}
	}
}

static void
a_text_of_any_length_is_read_or_refused(void **state)
{
	(void)state;
	for (size_t n = 0; n < LENGTH; n++) {
		struct sl_error err = {.status = SL_OK};
		const struct sl_data_source *s;
		struct sl_dataset *data;
		size_t n_train, n_test;
		char text[200];

		if (n <= CONTEXT) {
			assert_int_equal(open_text(&data, n, &err), SL_E_DATA);
			snprintf(text, sizeof(text),
				 "%s has %zu bytes; a context of 4 takes 5 or "
				 "more",
				 path, n);
			assert_string_equal(err.text, text);
			assert_null(data);
			continue;
		}
		if (open_text(&data, n, &err))
			fail_msg("%s", err.text);
		s = sl_dataset_source(data);
		n_train = s->n_samples[SL_SPLIT_TRAIN];
		n_test = s->n_samples[SL_SPLIT_TEST];
		assert_int_equal(n_train + n_test, (n - 1) / CONTEXT);
		assert_int_equal(n_test, n < 9    ? 0
					 : n < 45 ? 1
					 : n < 85 ? 2
						  : 3);
		assert_int_equal(s->n_classes, 256);
		check_split(s, SL_SPLIT_TRAIN, 0);
		check_split(s, SL_SPLIT_TEST, n_train);
		sl_dataset_close(data);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_text_of_any_length_is_read_or_refused),
	};
	int rc;

	if (!mkdtemp(folder))
		return 1;
	snprintf(path, sizeof(path), "%s/a.txt", folder);
	rc = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(path);
	rmdir(folder);
	return rc;
}
