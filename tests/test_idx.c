/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_idx.c - what a file of IDX says is what samples hold, gzip or not; one
 * that ends anywhere is refused, with a line.
 */
#include "harness.h"
#include "sleuth.h"

#include <unistd.h>

static char folder[] = "/tmp/sleuth-idx-XXXXXX";
static char images[64], labels[64];

static const unsigned char image_bytes[] = {0, 0, 8, 3, 0, 0, 0,   2, 0,  0,
					    0, 1, 0, 0, 0, 2, 255, 0, 51, 102};
static const unsigned char label_bytes[] = {0, 0, 8, 1, 0, 0, 0, 2, 1, 4};
/* image_bytes, by gzip */
static const unsigned char gzip_bytes[] = {
	0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03, 0x63, 0x60,
	0xe0, 0x60, 0x66, 0x60, 0x60, 0x60, 0x02, 0x62, 0x46, 0x10, 0xfd, 0x9f,
	0xc1, 0x38, 0x0d, 0x00, 0xc1, 0x3b, 0x46, 0xc8, 0x14, 0x00, 0x00, 0x00};

static void
write_file(const char *path, const unsigned char *bytes, size_t n)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, n, f), n);
	assert_int_equal(fclose(f), 0);
}

static void
check_samples(void)
{
	static const float expected[2][2] = {{1, 0}, {0.2f, 0.4f}};
	const struct sl_data_source *s;
	struct sl_dataset *data;
	struct sl_error err;

	if (sl_dataset_open(&data, images, NULL, &err))
		fail_msg("%s", err.text);
	s = sl_dataset_source(data);
	assert_int_equal(s->n_samples[SL_SPLIT_TRAIN], 2);
	assert_int_equal(s->n_classes, 5);
	assert_int_equal(s->inputs[0].rank, 2);
	assert_int_equal(s->inputs[0].dims[0], 1);
	assert_int_equal(s->inputs[0].dims[1], 2);
	for (size_t i = 0; i < 2; i++) {
		float sample[2];
		void *inputs[] = {sample};
		int64_t label;

		assert_false(s->fill(s->ctx, SL_SPLIT_TRAIN, i, inputs, &label,
				     NULL));
		assert_int_equal(label, label_bytes[8 + i]);
		assert_memory_equal(sample, expected[i], sizeof(sample));
	}
	sl_dataset_close(data);
}

static void
samples_hold_what_files_say(void **state)
{
	(void)state;
	write_file(labels, label_bytes, sizeof(label_bytes));
	write_file(images, image_bytes, sizeof(image_bytes));
	check_samples();
	write_file(images, gzip_bytes, sizeof(gzip_bytes));
	check_samples();
}

static void
check_refused(void)
{
	struct sl_error err = {.status = SL_OK};
	struct sl_dataset *data;

	assert_int_equal(sl_dataset_open(&data, images, NULL, &err), SL_E_DATA);
	assert_null(data);
	if (!strstr(err.text, "cut") && !strstr(err.text, "not an IDX file"))
		fail_msg("%s", err.text);
}

static void
a_file_that_is_cut_off_is_refused(void **state)
{
	(void)state;
	for (size_t n = 0; n < sizeof(image_bytes); n++) {
		write_file(images, image_bytes, n);
		check_refused();
	}
	for (size_t n = 0; n < sizeof(gzip_bytes); n++) {
		write_file(images, gzip_bytes, n);
		check_refused();
	}
	write_file(images, image_bytes, sizeof(image_bytes));
	for (size_t n = 0; n < sizeof(label_bytes); n++) {
		write_file(labels, label_bytes, n);
		check_refused();
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(samples_hold_what_files_say),
		cmocka_unit_test(a_file_that_is_cut_off_is_refused),
	};
	int rc;

	if (!mkdtemp(folder))
		return 1;
	snprintf(images, sizeof(images), "%s/images-idx3-ubyte", folder);
	snprintf(labels, sizeof(labels), "%s/labels-idx1-ubyte", folder);
	rc = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(images);
	unlink(labels);
	rmdir(folder);
	return rc;
}
