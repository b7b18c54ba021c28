/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_deflate.c - what was deflated comes back; streams that Python's zlib
 * and gzip wrote are read; damaged, cut and overlong ones are refused.
 */
#include "harness.h"
#include "base/buf.h"
#include "base/deflate.h"
#include "base/rng.h"

#include <stdlib.h>
#include <string.h>

static const char plain[] = "sleuth sleuth sleuth sleuth";
enum { N_PLAIN = sizeof plain - 1 };

/* zlib.compress() and gzip.compress(mtime=0) of Python 3.11. */
static const unsigned char zlib_bytes[] = {0x78, 0x9c, 0x2b, 0xce, 0x49, 0x2d,
					   0x2d, 0xc9, 0x50, 0x28, 0xc6, 0x42,
					   0x01, 0x00, 0x96, 0x11, 0x0a, 0xb5};
static const unsigned char gzip_bytes[] = {
	0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03,
	0x2b, 0xce, 0x49, 0x2d, 0x2d, 0xc9, 0x50, 0x28, 0xc6, 0x42,
	0x01, 0x00, 0x47, 0x1b, 0x3a, 0x63, 0x1b, 0x00, 0x00, 0x00};

static void
test_reads_every_form(void **state)
{
	char out[N_PLAIN];

	(void)state;
	assert_int_equal(SL_OK, sl__inflate(out, N_PLAIN, zlib_bytes,
					    sizeof zlib_bytes, SL__DEFLATE_ZLIB,
					    NULL));
	assert_memory_equal(out, plain, N_PLAIN);
	memset(out, 0, N_PLAIN);
	assert_int_equal(SL_OK, sl__inflate(out, N_PLAIN, zlib_bytes + 2,
					    sizeof zlib_bytes - 6,
					    SL__DEFLATE_RAW, NULL));
	assert_memory_equal(out, plain, N_PLAIN);
	memset(out, 0, N_PLAIN);
	assert_int_equal(SL_OK, sl__inflate(out, N_PLAIN, gzip_bytes,
					    sizeof gzip_bytes, SL__DEFLATE_GZIP,
					    NULL));
	assert_memory_equal(out, plain, N_PLAIN);
}

/* Every length but the right one, every cut, every flipped byte. */
static void
test_refuses_what_is_not_whole(void **state)
{
	unsigned char damaged[sizeof zlib_bytes];
	char out[2 * N_PLAIN];

	(void)state;
	for (size_t n = 0; n < sizeof out; n++)
		assert_int_equal(sl__inflate(out, n, zlib_bytes,
					     sizeof zlib_bytes,
					     SL__DEFLATE_ZLIB, NULL),
				 n == N_PLAIN ? SL_OK : SL_E_DATA);
	for (size_t n = 0; n < sizeof zlib_bytes; n++)
		assert_int_equal(sl__inflate(out, N_PLAIN, zlib_bytes, n,
					     SL__DEFLATE_ZLIB, NULL),
				 SL_E_DATA);
	for (size_t i = 0; i < sizeof zlib_bytes; i++) {
		memcpy(damaged, zlib_bytes, sizeof damaged);
		damaged[i] ^= 0x55;
		assert_int_equal(sl__inflate(out, N_PLAIN, damaged,
					     sizeof damaged, SL__DEFLATE_ZLIB,
					     NULL),
				 SL_E_DATA);
	}
}

/* More than a chunk each way: noise, which does not shrink, and zeros. */
static void
test_round_trip(void **state)
{
	enum { N = 300000 };
	unsigned char *bytes = calloc(2, N), *back = malloc(2 * N);
	struct sl_buf small = {0}, whole = {0};
	struct sl__rng rng;

	(void)state;
	assert_true(bytes && back);
	sl__rng_init(&rng, 7);
	for (size_t i = 0; i < N; i++)
		bytes[i] = (unsigned char)sl__rng_next(&rng);
	assert_int_equal(SL_OK, sl__deflate(&small, bytes, 2 * N, NULL));
	assert_in_range(small.n_bytes, N, N + N / 100);
	assert_int_equal(SL_OK,
			 sl__inflate(back, 2 * N, small.data, small.n_bytes,
				     SL__DEFLATE_ZLIB, NULL));
	assert_memory_equal(back, bytes, 2 * N);
	assert_int_equal(SL_OK, sl__inflate_all(&whole, 2 * N, small.data,
						small.n_bytes, SL__DEFLATE_ZLIB,
						NULL));
	assert_int_equal(whole.n_bytes, 2 * N);
	assert_memory_equal(whole.data, bytes, 2 * N);
	sl_buf_release(&whole);
	assert_int_equal(sl__inflate_all(&whole, 2 * N - 1, small.data,
					 small.n_bytes, SL__DEFLATE_ZLIB, NULL),
			 SL_E_DATA);
	sl_buf_release(&whole);
	sl_buf_release(&small);
	free(back);
	free(bytes);
}

static void
test_no_bytes(void **state)
{
	struct sl_buf small = {0};

	(void)state;
	assert_int_equal(SL_OK, sl__deflate(&small, NULL, 0, NULL));
	assert_int_equal(SL_OK, sl__inflate(NULL, 0, small.data, small.n_bytes,
					    SL__DEFLATE_ZLIB, NULL));
	sl_buf_release(&small);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reads_every_form),
		cmocka_unit_test(test_refuses_what_is_not_whole),
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_no_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
