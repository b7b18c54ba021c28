/* SPDX-License-Identifier: Apache-2.0 */
/* hash.c - bytes into a word or two: the only user of xxHash. */
#include "base/hash.h"

#include <xxhash.h>

#include "base/banned.h"

uint64_t
sl__hash(const void *bytes, size_t n_bytes, uint64_t seed)
{
	return XXH3_64bits_withSeed(n_bytes ? bytes : "", n_bytes, seed);
}

struct sl__digest
sl__digest_of(const void *bytes, size_t n_bytes)
{
	XXH128_hash_t hash = XXH3_128bits(n_bytes ? bytes : "", n_bytes);

	return (struct sl__digest){{hash.low64, hash.high64}};
}
