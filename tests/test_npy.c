/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NumPy's files: what NumPy itself wrote (tests/oracles/npy_files.py) is read
 * as it was meant, and what cannot be used is refused in words that help.
 */
#include "harness.h"

#include "counting.h"
#include "model/npy.h"
#include "base/file_mapping.h"

struct loaded {
	struct sl__arena arena;
	struct sl__file_mapping file;
	struct sl__tensor tensor;
	struct sl_error err;
};

static enum sl_status
load(struct loaded *l, const char *name)
{
	char path[512];

	memset(l, 0, sizeof(*l));
	snprintf(path, sizeof(path), "%s/npy/%s.npy", SL_TEST_DATA, name);
	assert_int_equal(sl__file_mapping_open(&l->file, path, NULL), SL_OK);
	return sl__npy_read(&l->tensor, &l->arena, l->file.bytes,
			    l->file.n_bytes, &l->err);
}

static void
unload(struct loaded *l)
{
	sl__file_mapping_close(&l->file);
	sl__arena_release(&l->arena);
}

static void
numbers_of_every_type(void **state)
{
	static const struct {
		const char *name;
		enum sl_dtype dtype;
	} files[] = {
		{"f2", SL_DTYPE_F16},       {"f4", SL_DTYPE_F32},
		{"f8", SL_DTYPE_F64},       {"i1", SL_DTYPE_I8},
		{"i2", SL_DTYPE_I16},       {"i4", SL_DTYPE_I32},
		{"i8", SL_DTYPE_I64},       {"u1", SL_DTYPE_U8},
		{"u2", SL_DTYPE_U16},       {"u4", SL_DTYPE_U32},
		{"u8", SL_DTYPE_U64},       {"version2", SL_DTYPE_F32},
		{"version3", SL_DTYPE_F32},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		struct loaded l;
		double values[6];

		assert_int_equal(load(&l, files[i].name), SL_OK);
		assert_int_equal(l.tensor.dtype, files[i].dtype);
		assert_int_equal(l.tensor.rank, 2);
		assert_int_equal(l.tensor.dims[0], 2);
		assert_int_equal(l.tensor.dims[1], 3);
		assert_true(sl__tensor_doubles(&l.tensor, 0, 6, values));
		for (int k = 0; k < 6; k++)
			assert_near(values[k], k, 0);
		unload(&l);
	}
}

static void
odd_shapes_and_types(void **state)
{
	struct loaded l;
	float real[12];
	int64_t whole[6];
	double value;

	(void)state;
	assert_int_equal(load(&l, "b1"), SL_OK);
	assert_int_equal(l.tensor.dtype, SL_DTYPE_BOOL);
	assert_true(sl__tensor_integers(&l.tensor, 0, 6, whole));
	for (int k = 0; k < 6; k++)
		assert_int_equal(whole[k], k % 2);
	unload(&l);

	assert_int_equal(load(&l, "c8"), SL_OK);
	assert_int_equal(l.tensor.dtype, SL_DTYPE_C64);
	memcpy(real, l.tensor.bytes, sizeof(real));
	for (int k = 0; k < 6; k++) {
		assert_near((double)real[2 * k], k, 0);
		assert_near((double)real[2 * k + 1], 0, 0);
	}
	unload(&l);
	assert_int_equal(load(&l, "c16"), SL_OK);
	assert_int_equal(l.tensor.dtype, SL_DTYPE_C128);
	assert_int_equal(l.tensor.n_bytes, 96);
	unload(&l);

	assert_int_equal(load(&l, "scalar"), SL_OK);
	assert_int_equal(l.tensor.rank, 0);
	assert_true(sl__tensor_doubles(&l.tensor, 0, 1, &value));
	assert_near(value, 7, 0);
	unload(&l);
	assert_int_equal(load(&l, "rank1"), SL_OK);
	assert_int_equal(l.tensor.rank, 1);
	assert_int_equal(l.tensor.dims[0], 4);
	unload(&l);
	assert_int_equal(load(&l, "empty"), SL_OK);
	assert_int_equal(l.tensor.n_elements, 0);
	assert_int_equal(l.tensor.dims[1], 3);
	unload(&l);
}

static void
texts(void **state)
{
	static const char *const words[] = {"a", "z\xc3\xbcrich", "",
					    "\xf0\x9f\x98\x80"};
	struct loaded l;

	(void)state;
	assert_int_equal(load(&l, "text"), SL_OK);
	assert_int_equal(l.tensor.dtype, SL_DTYPE_STRING);
	assert_int_equal(l.tensor.n_elements, 4);
	for (int k = 0; k < 4; k++)
		assert_string_equal(l.tensor.strings[k], words[k]);
	unload(&l);
	assert_int_equal(load(&l, "bytes"), SL_OK);
	assert_string_equal(l.tensor.strings[0], "a");
	assert_string_equal(l.tensor.strings[1], "bcd");
	unload(&l);
}

static void
what_cannot_be_used(void **state)
{
	static const struct {
		const char *name, *says;
	} files[] = {
		{"big", "big-endian"},
		{"fortran", "Fortran order"},
		{"records", "records"},
		{"objects", "Python objects"},
		{"dates", "'<M8[s]' has no counterpart"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		struct loaded l;

		assert_int_equal(load(&l, files[i].name), SL_E_DATA);
		if (!strstr(l.err.text, files[i].says))
			fail_msg("%s", l.err.text);
		unload(&l);
	}
}

/* A file that ends anywhere, or has one byte changed, is read or refused;
 * nothing beyond it is touched. */
static void
damaged_files(void **state)
{
	static const char *const names[] = {"f4", "text", "version3"};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct loaded l;
		size_t n;

		assert_int_equal(load(&l, names[i]), SL_OK);
		n = l.file.n_bytes;
		for (size_t k = 0; k < n; k++) {
			unsigned char *bytes = malloc(k + 1);
			struct sl__tensor t;

			assert_non_null(bytes);
			memcpy(bytes, l.file.bytes, k);
			assert_int_equal(
				sl__npy_read(&t, &l.arena, bytes, k, &l.err),
				SL_E_DATA);
			free(bytes);
			bytes = malloc(n);
			assert_non_null(bytes);
			memcpy(bytes, l.file.bytes, n);
			bytes[k] ^= (unsigned char)(1u << k % 8);
			(void)!sl__npy_read(&t, &l.arena, bytes, n, &l.err);
			free(bytes);
		}
		unload(&l);
	}
}

/* A header of version 1 around 'text', without numbers. */
static enum sl_status
read_text(const char *text, struct sl_error *err)
{
	unsigned char bytes[512] = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0};
	struct sl__arena arena = {0};
	struct sl__tensor t;
	size_t n = strlen(text);
	enum sl_status rc;

	assert_true(n < 256);
	bytes[8] = (unsigned char)n;
	memcpy(bytes + 10, text, n);
	rc = sl__npy_read(&t, &arena, bytes, 10 + n, err);
	sl__arena_release(&arena);
	return rc;
}

static void
headers(void **state)
{
	static const char *const bad[] = {
		"",
		"{",
		"{}",
		"{'descr': '<f4', 'fortran_order': False}",
		"{'descr': '<f4', 'fortran_order': Maybe, 'shape': (0,)}",
		"{'descr': '<f4', 'fortran_order': False, 'shape': (0}",
		"{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}",
		"{'descr': '<f4', 'fortran_order': False, 'shape': (0 0)}",
		"{'descr': '<f4', 'fortran_order': False, 'shape': (0,), "
		"'shape': (0,)}",
		"{'descr': '<f4', 'fortran_order': False, 'shape': (0,), "
		"'more': 1}",
		"{'descr': '<f4' 'fortran_order': False, 'shape': (0,)}",
		"{'descr': '<f4', 'fortran_order': False, 'shape': "
		"(99999999999999999999,)}",
		"{'descr': '<f4', 'fortran_order': False, 'shape': "
		"(4294967296, 4294967296)}",
		"{'descr': '<f4', 'fortran_order': False, 'shape': (1,)}",
		"{'descr': '<U99999999', 'fortran_order': False, 'shape': "
		"(0,)}",
	};
	struct sl_error err;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(read_text(bad[i], &err), SL_E_DATA);
	assert_int_equal(read_text("{ \"shape\" : ( 0L , ) ,\n\"descr\":'=f4',"
				   "'fortran_order':True } \n",
				   &err),
			 SL_OK);
}

static void
memory_may_run_out(void **state)
{
	struct loaded l;

	(void)state;
	assert_int_equal(load(&l, "text"), SL_OK);
	for (int n = 1;; n++) {
		struct counting counting = {0, 0, n};
		struct sl__arena arena = {counting_allocator(&counting), NULL};
		enum sl_status rc = sl__npy_read(&l.tensor, &arena,
						 l.file.bytes, l.file.n_bytes,
						 &l.err);

		sl__arena_release(&arena);
		assert_int_equal(counting.n_out, 0);
		if (!rc)
			break;
		assert_int_equal(rc, SL_E_NOMEM);
	}
	unload(&l);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_of_every_type),
		cmocka_unit_test(odd_shapes_and_types),
		cmocka_unit_test(texts),
		cmocka_unit_test(what_cannot_be_used),
		cmocka_unit_test(damaged_files),
		cmocka_unit_test(headers),
		cmocka_unit_test(memory_may_run_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
