#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The numbers in test_hash.c, from the Python package xxhash, which brings a
copy of xxHash of its own (pip install xxhash).

The lengths are those around which XXH3 changes its way: 3, 8, 16, 128, 240
and a block of 1024 bytes.
"""
import xxhash

SEED = 0x9E3779B97F4A7C15


def text(n):
    return bytes((7 * i + 3) % 251 for i in range(n))


for n in (0, 1, 3, 4, 8, 9, 16, 17, 128, 129, 240, 241, 1024, 1025, 5000):
    digest = xxhash.xxh3_128_intdigest(text(n))
    print("\t{%d, 0x%016xu, 0x%016xu,\n\t {{0x%016xu, 0x%016xu}}}," % (
        n, xxhash.xxh3_64_intdigest(text(n)),
        xxhash.xxh3_64_intdigest(text(n), SEED),
        digest & (2**64 - 1), digest >> 64))
