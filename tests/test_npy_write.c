/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_npy_write.c - proves that arrays of every type and rank come back as
 * they were written, that the header is as NumPy's documentation says
 * (numbers from a multiple of 64 on, one line, ended by a newline), and that
 * what the format has no name for is refused before a file is touched.
 */
#include "base/arena.h"
#include "harness.h"
#include "model/npy.h"

#include <dirent.h>
#include <unistd.h>

static char folder[64], path[128];

static int
make_folder(void **state)
{
	(void)state;
	snprintf(folder, sizeof(folder), "/tmp/sleuth-npy-XXXXXX");
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/array.npy", folder);
	return 0;
}

static int
remove_folder(void **state)
{
	(void)state;
	(void)unlink(path);
	return rmdir(folder);
}

/* All bytes of the file, which the caller frees. */
static unsigned char *
read_all(size_t *n)
{
	FILE *f = fopen(path, "rb");
	unsigned char *bytes;
	long size;

	assert_non_null(f);
	assert_int_equal(fseek(f, 0, SEEK_END), 0);
	size = ftell(f);
	assert_true(size > 0);
	rewind(f);
	bytes = malloc((size_t)size);
	assert_non_null(bytes);
	assert_int_equal(fread(bytes, 1, (size_t)size, f), size);
	fclose(f);
	*n = (size_t)size;
	return bytes;
}

static void
check_header(const unsigned char *bytes, size_t n, const struct sl__tensor *t)
{
	size_t header = bytes[8] + 256u * bytes[9];

	assert_memory_equal(bytes, "\x93NUMPY\x01\x00", 8);
	assert_int_equal((10 + header) % 64, 0);
	assert_int_equal(n, 10 + header + t->n_bytes);
	assert_int_equal(bytes[10], '{');
	assert_int_equal(bytes[10 + header - 1], '\n');
	for (size_t i = 10; i < 10 + header - 1; i++)
		assert_true(bytes[i] >= 32 && bytes[i] < 127);
}

static void
check_round_trip(enum sl_dtype dtype, size_t rank, const int64_t *dims)
{
	struct sl__tensor t = {.dtype = dtype, .rank = rank, .dims = dims};
	struct sl__tensor back;
	struct sl__arena arena;
	struct sl_error err;
	unsigned char *numbers, *bytes;
	size_t n;

	assert_true(sl__tensor_compute_size(&t));
	numbers = calloc(1, (size_t)t.n_bytes + 1);
	assert_non_null(numbers);
	for (uint64_t i = 0; i < t.n_bytes; i++)
		numbers[i] = dtype == SL_DTYPE_BOOL ? (i % 3 == 1)
						    : (unsigned char)(i * 37);
	t.bytes = numbers;
	if (sl__npy_write(&t, path, NULL, &err))
		fail_msg("%s: %s", sl_dtype_text(dtype), err.text);
	bytes = read_all(&n);
	check_header(bytes, n, &t);
	sl__arena_init(&arena, NULL);
	if (sl__npy_read(&back, &arena, bytes, n, &err))
		fail_msg("%s: %s", sl_dtype_text(dtype), err.text);
	assert_int_equal(back.dtype, dtype);
	assert_int_equal(back.rank, rank);
	assert_int_equal(back.n_bytes, t.n_bytes);
	for (size_t i = 0; i < rank; i++)
		assert_int_equal(back.dims[i], dims[i]);
	if (t.n_bytes)
		assert_memory_equal(back.bytes, numbers, (size_t)t.n_bytes);
	sl__arena_release(&arena);
	free(numbers);
	free(bytes);
}

static const enum sl_dtype written[] = {
	SL_DTYPE_F32, SL_DTYPE_U8,  SL_DTYPE_I8,   SL_DTYPE_U16, SL_DTYPE_I16,
	SL_DTYPE_I32, SL_DTYPE_I64, SL_DTYPE_BOOL, SL_DTYPE_F16, SL_DTYPE_F64,
	SL_DTYPE_U32, SL_DTYPE_U64, SL_DTYPE_C64,  SL_DTYPE_C128};

static void
every_type_comes_back(void **state)
{
	const int64_t dims[] = {2, 3, 5};

	(void)state;
	for (size_t i = 0; i < sizeof(written) / sizeof(written[0]); i++)
		check_round_trip(written[i], 3, dims);
}

static void
every_rank_comes_back(void **state)
{
	const int64_t dims[] = {3, 1, 2, 1, 1, 2, 1, 1, 1, 1, 1, 1};
	const int64_t none[] = {4, 0, 2};
	const int64_t long_one[] = {100003};

	(void)state;
	for (size_t rank = 0; rank <= 12; rank++)
		check_round_trip(SL_DTYPE_F32, rank, dims);
	check_round_trip(SL_DTYPE_I64, 3, none);
	check_round_trip(SL_DTYPE_U8, 1, long_one);
}

/* Python's way to write a tuple: "()", "(3,)", "(2, 3,)". */
static void
shapes_are_tuples(void **state)
{
	static const char *const texts[] = {"'shape': ()", "'shape': (2,)",
					    "'shape': (2, 3,)"};
	const int64_t dims[] = {2, 3};
	const float x[6] = {0};

	(void)state;
	for (size_t rank = 0; rank <= 2; rank++) {
		struct sl__tensor t = {.dtype = SL_DTYPE_F32,
				       .rank = rank,
				       .dims = dims,
				       .bytes = (const unsigned char *)x};
		unsigned char *bytes;
		size_t n;

		assert_true(sl__tensor_compute_size(&t));
		assert_int_equal(sl__npy_write(&t, path, NULL, NULL), SL_OK);
		bytes = read_all(&n);
		bytes[10 + bytes[8] - 1] = '\0';
		assert_non_null(strstr((const char *)bytes + 10, texts[rank]));
		assert_non_null(
			strstr((const char *)bytes + 10, "'descr': '<f4'"));
		assert_non_null(strstr((const char *)bytes + 10,
				       "'fortran_order': False"));
		free(bytes);
	}
}

static int
is_written(enum sl_dtype dtype)
{
	for (size_t i = 0; i < sizeof(written) / sizeof(written[0]); i++) {
		if (written[i] == dtype)
			return 1;
	}
	return 0;
}

static void
other_types_are_refused(void **state)
{
	const int64_t dims[] = {2};
	const unsigned char bytes[64] = {0};
	struct sl_error err;

	(void)state;
	(void)unlink(path);
	for (int dtype = 0; dtype < SL_N_DTYPES; dtype++) {
		struct sl__tensor t = {.dtype = (enum sl_dtype)dtype,
				       .rank = 1,
				       .dims = dims,
				       .n_elements = 2,
				       .bytes = bytes};

		if (is_written(t.dtype))
			continue;
		assert_int_equal(sl__npy_write(&t, path, NULL, &err),
				 SL_E_ABSENT);
		assert_non_null(strstr(err.text, path));
		assert_int_not_equal(access(path, F_OK), 0);
	}
}

static void
failures_are_told(void **state)
{
	const int64_t dims[] = {2}, many[40] = {1};
	const float x[2] = {1, 2};
	struct sl__tensor t = {.dtype = SL_DTYPE_F32,
			       .rank = 1,
			       .dims = dims,
			       .bytes = (const unsigned char *)x};
	struct sl_error err;

	(void)state;
	assert_true(sl__tensor_compute_size(&t));
	assert_int_equal(
		sl__npy_write(&t, "/tmp/no such folder/x.npy", NULL, &err),
		SL_E_IO);
	assert_non_null(strstr(err.text, "/tmp/no such folder/x.npy"));
	t.rank = 40;
	t.dims = many;
	assert_int_equal(sl__npy_write(&t, path, NULL, &err), SL_E_ABSENT);
	assert_non_null(strstr(err.text, "40 dimensions"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_type_comes_back),
		cmocka_unit_test(every_rank_comes_back),
		cmocka_unit_test(shapes_are_tuples),
		cmocka_unit_test(other_types_are_refused),
		cmocka_unit_test(failures_are_told),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
