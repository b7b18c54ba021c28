/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_hash.c - hashes are XXH3's, seeded or not, at the lengths where it
 * changes its way; numbers from tests/oracles/xxh3.py.  Files hold them, so
 * they must never change.
 */
#include "harness.h"
#include "base/hash.h"

static const uint64_t seed = 0x9e3779b97f4a7c15u;

static const struct {
	size_t n_bytes;
	uint64_t plain, seeded;
	struct sl__digest digest;
} cases[] = {
	{0,
	 0x2d06800538d394c2u,
	 0x602b0e2cd6662c8bu,
	 {{0x6001c324468d497fu, 0x99aa06d3014798d8u}}},
	{1,
	 0x13e608bc156defedu,
	 0x1b4c466098160569u,
	 {{0x13e608bc156defedu, 0x22bbb76b211a39bau}}},
	{3,
	 0xa9088dda485b481cu,
	 0xa8bacd847619199eu,
	 {{0xa9088dda485b481cu, 0xce31763cbf8245a5u}}},
	{4,
	 0x6d9253b16c8b1ed3u,
	 0xe1c585329cf1878eu,
	 {{0x788a609154b0fe20u, 0x47197970590746b1u}}},
	{8,
	 0x60539db630471163u,
	 0xbc53d62e02f670a4u,
	 {{0x3cd024e3d63a1588u, 0xe3bc8a5f46171555u}}},
	{9,
	 0xfeff668361d723a8u,
	 0xd4fb426f424e6e62u,
	 {{0xeafab1c7f123109fu, 0xc72c88247a9a56d7u}}},
	{16,
	 0xb8c859b0f030b585u,
	 0x7775d23337d796b5u,
	 {{0x60d75c5e47d40a24u, 0xce0b9647ab24f884u}}},
	{17,
	 0x714a04408e79b80fu,
	 0x7d1872b1361c0fa6u,
	 {{0xeeed7654312a26d7u, 0xbfd327edcc2fbd12u}}},
	{128,
	 0x4634ae6a253a60e4u,
	 0x6072eeea69a714e1u,
	 {{0xef7e4d57ed67de26u, 0xa04233e3c9599748u}}},
	{129,
	 0xc095b9b1b087722du,
	 0x03eaa733894b01e0u,
	 {{0xa28da26446fd5ab0u, 0x6e83694c09641bb7u}}},
	{240,
	 0x887af00281f75d38u,
	 0xafc0dd809d9541d2u,
	 {{0x2288b3c22f48dea4u, 0x9a8457fec9cfea5eu}}},
	{241,
	 0x82b1de299f6e411eu,
	 0x1509ae4e9a8f3e5au,
	 {{0x82b1de299f6e411eu, 0x07870750a9743956u}}},
	{1024,
	 0xf75e768c7cdd54b2u,
	 0x3d94cacca96d54d3u,
	 {{0xf75e768c7cdd54b2u, 0xf96a1bbdb2fef572u}}},
	{1025,
	 0x667a5eabe344e5dfu,
	 0x4233224517ff2505u,
	 {{0x667a5eabe344e5dfu, 0x2b5651dd466531bau}}},
	{5000,
	 0x8e5898f51713d386u,
	 0x3679ad6c0207c685u,
	 {{0x8e5898f51713d386u, 0x2cd84822f38d1845u}}},
};

static void
hashes_are_those_of_xxh3(void **state)
{
	unsigned char text[5000];

	(void)state;
	for (size_t i = 0; i < sizeof(text); i++)
		text[i] = (unsigned char)((7 * i + 3) % 251);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		size_t n = cases[i].n_bytes;
		struct sl__digest digest = sl__digest_of(text, n);

		assert_int_equal(sl__hash(text, n, 0), cases[i].plain);
		assert_int_equal(sl__hash(text, n, seed), cases[i].seeded);
		assert_int_equal(digest.words[0], cases[i].digest.words[0]);
		assert_int_equal(digest.words[1], cases[i].digest.words[1]);
	}
}

static void
no_bytes_may_be_no_pointer(void **state)
{
	struct sl__digest digest = sl__digest_of(NULL, 0);

	(void)state;
	assert_int_equal(sl__hash(NULL, 0, 0), cases[0].plain);
	assert_int_equal(digest.words[0], cases[0].digest.words[0]);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hashes_are_those_of_xxh3),
		cmocka_unit_test(no_bytes_may_be_no_pointer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
