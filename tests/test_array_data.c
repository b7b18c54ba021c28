/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_array_data.c - what arrays of NumPy say is what samples hold, from two
 * files or an archive; one that ends anywhere is refused, with a line.
 */
#include "base/buf.h"
#include "base/deflate.h"
#include "harness.h"
#include "sleuth.h"

#include <unistd.h>

static char folder[] = "/tmp/sleuth-array-XXXXXX";
static char archive[64], samples[64], labels[64];

static void
write_file(const char *path, const struct sl_buf *buf, size_t n)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_int_equal(fwrite(buf->data, 1, n, f), n);
	assert_int_equal(fclose(f), 0);
}

static void
add_number(struct sl_buf *buf, uint32_t x, size_t n_bytes)
{
	for (size_t i = 0; i < n_bytes; i++) {
		char byte = (char)(x >> 8 * i & 0xff);

		sl__buf_add(buf, &byte, 1);
	}
}

static void
make_array(struct sl_buf *buf, const char *type, const char *shape,
	   const void *numbers, size_t n_bytes)
{
	char header[128];
	int n = snprintf(header, sizeof(header),
			 "{'descr': '%s', 'fortran_order': False, 'shape': %s}",
			 type, shape);

	sl__buf_add(buf, "\x93NUMPY\1\0", 8);
	add_number(buf, (uint32_t)n, 2);
	sl__buf_add(buf, header, (size_t)n);
	sl__buf_add(buf, numbers, n_bytes);
}

static const float values[3][2] = {{1, 2.5f}, {-3, 4}, {5, 6}};
static const uint8_t classes[] = {0, 2, 1};

static void
make_pair(struct sl_buf *x, struct sl_buf *y)
{
	make_array(x, "<f4", "(3, 2)", values, sizeof(values));
	make_array(y, "|u1", "(3,)", classes, sizeof(classes));
}

/* A member, and its line of the directory. */
static void
add_member(struct sl_buf *zip, struct sl_buf *directory, const char *name,
	   const struct sl_buf *array, int is_deflated)
{
	size_t start = zip->n_bytes, n = array->n_bytes, n_name = strlen(name);
	struct sl_buf packed = {0};
	struct sl_error err;

	if (is_deflated) {
		assert_false(sl__deflate(&packed, array->data, n, &err));
		n = packed.n_bytes - 6; /* without zlib's ends */
	}
	sl__buf_add(zip, "PK\3\4", 4);
	add_number(zip, 20, 4);
	add_number(zip, is_deflated ? 8 : 0, 2);
	for (int i = 0; i < 4; i++)
		add_number(zip, 0, 4); /* as a stream leaves them */
	add_number(zip, (uint32_t)n_name, 4);
	sl__buf_text(zip, name);
	sl__buf_add(zip, is_deflated ? packed.data + 2 : array->data, n);

	sl__buf_add(directory, "PK\1\2", 4);
	add_number(directory, 20, 4);
	add_number(directory, 0, 2);
	add_number(directory, is_deflated ? 8 : 0, 2);
	add_number(directory, 0, 4);
	add_number(directory, 0, 4);
	add_number(directory, (uint32_t)n, 4);
	add_number(directory, (uint32_t)array->n_bytes, 4);
	add_number(directory, (uint32_t)n_name, 2);
	for (int i = 0; i < 3; i++)
		add_number(directory, 0, 4);
	add_number(directory, (uint32_t)start, 4);
	sl__buf_text(directory, name);
	sl_buf_release(&packed);
}

static void
make_archive(struct sl_buf *zip, const char *x_name, const char *y_name,
	     int is_deflated)
{
	struct sl_buf x = {0}, y = {0}, directory = {0};
	size_t start;

	make_pair(&x, &y);
	add_member(zip, &directory, y_name, &y, is_deflated);
	add_member(zip, &directory, x_name, &x, is_deflated);
	start = zip->n_bytes;
	sl__buf_add(zip, directory.data, directory.n_bytes);
	sl__buf_add(zip, "PK\5\6", 4);
	add_number(zip, 0, 4);
	add_number(zip, 2, 2);
	add_number(zip, 2, 2);
	add_number(zip, (uint32_t)directory.n_bytes, 4);
	add_number(zip, (uint32_t)start, 4);
	add_number(zip, 0, 2);
	sl_buf_release(&x);
	sl_buf_release(&y);
	sl_buf_release(&directory);
}

static void
check_samples(const char *path)
{
	const struct sl_data_source *s;
	struct sl_dataset *data;
	struct sl_error err;

	if (sl_dataset_open(&data, path, NULL, &err))
		fail_msg("%s", err.text);
	s = sl_dataset_source(data);
	assert_int_equal(s->n_samples[SL_SPLIT_TRAIN], 3);
	assert_int_equal(s->n_samples[SL_SPLIT_TEST], 0);
	assert_int_equal(s->n_classes, 3);
	assert_int_equal(s->inputs[0].rank, 1);
	assert_int_equal(s->inputs[0].dims[0], 2);
	for (size_t i = 0; i < 3; i++) {
		float sample[2];
		void *inputs[] = {sample};
		int64_t label;

		assert_false(s->fill(s->ctx, SL_SPLIT_TRAIN, i, inputs, &label,
				     NULL));
		assert_int_equal(label, classes[i]);
		assert_memory_equal(sample, values[i], sizeof(sample));
	}
	sl_dataset_close(data);
}

static void
samples_hold_what_arrays_say(void **state)
{
	static const char *const names[][2] = {{"x.npy", "y.npy"},
					       {"X.npy", "y.npy"},
					       {"images.npy", "labels.npy"},
					       {"data.npy", "target.npy"}};
	struct sl_buf x = {0}, y = {0};

	(void)state;
	make_pair(&x, &y);
	write_file(samples, &x, x.n_bytes);
	write_file(labels, &y, y.n_bytes);
	check_samples(samples);
	sl_buf_release(&x);
	sl_buf_release(&y);
	for (size_t i = 0; i < 8; i++) {
		struct sl_buf zip = {0};

		make_archive(&zip, names[i / 2][0], names[i / 2][1], i % 2);
		write_file(archive, &zip, zip.n_bytes);
		check_samples(archive);
		sl_buf_release(&zip);
	}
}

/* Files of samples, and those beside them that have their labels. */
static void
labels_are_found_by_the_name(void **state)
{
	static const char *const names[][2] = {
		{"x_test.npy", "y_test.npy"},
		{"X_train.npy", "y_train.npy"},
		{"my-images.npy", "my-labels.npy"},
		{"train.data.npy", "train.target.npy"},
	};
	struct sl_buf x = {0}, y = {0};

	(void)state;
	make_pair(&x, &y);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char x_path[80], y_path[80];

		snprintf(x_path, sizeof(x_path), "%s/%s", folder, names[i][0]);
		snprintf(y_path, sizeof(y_path), "%s/%s", folder, names[i][1]);
		write_file(x_path, &x, x.n_bytes);
		write_file(y_path, &y, y.n_bytes);
		check_samples(x_path);
		unlink(x_path);
		unlink(y_path);
	}
	sl_buf_release(&x);
	sl_buf_release(&y);
}

static void
check_refused(const char *path, const char *expected)
{
	struct sl_error err = {.status = SL_OK};
	struct sl_dataset *data;

	assert_int_equal(sl_dataset_open(&data, path, NULL, &err), SL_E_DATA);
	assert_null(data);
	if (!strstr(err.text, expected))
		fail_msg("%s", err.text);
}

static void
a_file_that_is_cut_off_is_refused(void **state)
{
	struct sl_buf x = {0}, y = {0};

	(void)state;
	for (int is_deflated = 0; is_deflated < 2; is_deflated++) {
		struct sl_buf zip = {0};

		make_archive(&zip, "x.npy", "y.npy", is_deflated);
		for (size_t n = 0; n < zip.n_bytes; n++) {
			write_file(archive, &zip, n);
			check_refused(archive, "is cut off, or no ZIP archive");
		}
		sl_buf_release(&zip);
	}
	make_pair(&x, &y);
	write_file(labels, &y, y.n_bytes);
	for (size_t n = 0; n < x.n_bytes; n++) {
		write_file(samples, &x, n);
		check_refused(samples, n < 10 ? "not a NumPy file" : "cut off");
	}
	sl_buf_release(&x);
	sl_buf_release(&y);
}

/* Every byte replaced: never a crash, and a line where it is refused. */
static void
a_damaged_archive_is_read_or_refused(void **state)
{
	static const char planted[] = {1, (char)0xff};

	(void)state;
	for (int is_deflated = 0; is_deflated < 2; is_deflated++) {
		struct sl_buf zip = {0};

		make_archive(&zip, "x.npy", "y.npy", is_deflated);
		for (size_t i = 0; i < zip.n_bytes * sizeof(planted); i++) {
			char *at = zip.data + i / sizeof(planted), old = *at;
			struct sl_error err = {.status = SL_OK};
			struct sl_dataset *data;
			enum sl_status rc;

			*at = planted[i % sizeof(planted)];
			write_file(archive, &zip, zip.n_bytes);
			rc = sl_dataset_open(&data, archive, NULL, &err);
			assert_true(rc == SL_OK || rc == SL_E_DATA);
			assert_int_equal(rc != SL_OK, err.text[0] != '\0');
			sl_dataset_close(data);
			*at = old;
		}
		sl_buf_release(&zip);
	}
}

static void
arrays_that_do_not_suit_are_named(void **state)
{
	static const float halves[] = {0, 0.5f, 1};
	static const double wild[2][6] = {{1, 2, 3, (double)NAN, 5, 6},
					  {1, 2, 3, 4, -1e39, 6}};
	struct sl_buf x = {0}, y = {0}, zip = {0};

	(void)state;
	make_array(&x, "<f4", "(3, 2)", values, sizeof(values));
	write_file(samples, &x, x.n_bytes);
	make_array(&y, "|u1", "(2,)", classes, 2);
	write_file(labels, &y, y.n_bytes);
	check_refused(samples, "there are 3 samples and 2 labels");
	sl_buf_release(&y);
	y = (struct sl_buf){0};
	make_array(&y, "<f4", "(3,)", halves, sizeof(halves));
	write_file(labels, &y, y.n_bytes);
	check_refused(samples, "label 1 is 0.5, no whole number from 0");
	sl_buf_release(&y);
	y = (struct sl_buf){0};
	make_array(&y, "|u1", "(3,)", classes, sizeof(classes));
	write_file(labels, &y, y.n_bytes);
	for (size_t i = 0; i < 2; i++) {
		sl_buf_release(&x);
		x = (struct sl_buf){0};
		make_array(&x, "<f8", "(3, 2)", wild[i], sizeof(wild[i]));
		write_file(samples, &x, x.n_bytes);
		check_refused(samples, i ? "sample 2 holds -1e+39, finite"
					 : "sample 1 holds nan, finite");
	}
	make_archive(&zip, "x.npy", "z.npy", 0);
	write_file(archive, &zip, zip.n_bytes);
	check_refused(archive, "has an array 'x', but no 'y'");
	sl_buf_release(&x);
	sl_buf_release(&y);
	sl_buf_release(&zip);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(samples_hold_what_arrays_say),
		cmocka_unit_test(labels_are_found_by_the_name),
		cmocka_unit_test(a_file_that_is_cut_off_is_refused),
		cmocka_unit_test(a_damaged_archive_is_read_or_refused),
		cmocka_unit_test(arrays_that_do_not_suit_are_named),
	};
	int rc;

	if (!mkdtemp(folder))
		return 1;
	snprintf(archive, sizeof(archive), "%s/data.npz", folder);
	snprintf(samples, sizeof(samples), "%s/x.npy", folder);
	snprintf(labels, sizeof(labels), "%s/y.npy", folder);
	rc = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(archive);
	unlink(samples);
	unlink(labels);
	rmdir(folder);
	return rc;
}
