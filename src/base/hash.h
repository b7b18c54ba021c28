/* SPDX-License-Identifier: Apache-2.0 */
/* hash.h - bytes into a word or two: XXH3 of xxHash. */
#ifndef SL_HASH_H
#define SL_HASH_H

#include "sleuth/basics.h"

/*
 * 64 bits: for tables, checksums and names.  The same on every machine, so it
 * may be written to files.  Not for secrets: whoever knows the seed can write
 * texts that collide.  NULL is fine for no bytes.
 */
uint64_t sl__hash(const void *bytes, size_t n_bytes, uint64_t seed);

/* 128 bits: two that are equal come from equal bytes, in practice. */
struct sl__digest {
	uint64_t words[2];
};

struct sl__digest sl__digest_of(const void *bytes, size_t n_bytes);

#endif
