#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Orders of test_permutation.c: a Feistel network with cycle walking, written
anew from its definition with Python's integers."""
M = (1 << 64) - 1


def splitmix(z):
    z = (z + 0x9E3779B97F4A7C15) & M
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & M
    z = (z ^ z >> 27) * 0x94D049BB133111EB & M
    return z ^ z >> 31


def permuted(i, n, key):
    bits = max(4, ((n - 1).bit_length() + 1) // 2)
    while True:
        left, right = divmod(i, 1 << bits)
        for k in range(6):
            left, right = right, left ^ splitmix(key ^ k << 58 ^ right) % (
                1 << bits)
        i = left << bits | right
        if i < n:
            return i


for n, key in (10, 1), (100000, 0xDEADBEEF), (1 << 40, 5):
    print(n, hex(key), [permuted(i, n, key) for i in range(10)])
print(hex(splitmix(splitmix(7) ^ 3)))
