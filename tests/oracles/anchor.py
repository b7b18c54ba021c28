#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Computes what version 1 of the anchor computes, for tests/test_anchor.c."""
import struct

WORD = (1 << 64) - 1
N_LINES = 8192


def shift(x):
    x ^= x << 13 & WORD
    x ^= x >> 7
    return x ^ (x << 17 & WORD)


def integers():
    total = 0
    for x in (1, 2, 3, 4):
        for _ in range(20000):
            x = shift(x)
        total ^= x
    return total


def reals():
    total = 0
    for k in range(4):
        x = 0.0
        for _ in range(20000):
            x = x * (1 - 2 ** -10) + (k + 1) * 2 ** -9
        total += struct.unpack("<Q", struct.pack("<d", x))[0]
    return total


def memory():
    following = list(range(N_LINES))
    random = 88172645463325252
    for i in range(N_LINES - 1, 0, -1):
        random = shift(random)
        other = random % i
        following[i], following[other] = following[other], following[i]
    at = total = 0
    for i in range(N_LINES):
        at = following[at]
        total += at * i
    words = [8 * i + k for i in range(N_LINES) for k in range(1, 8)]
    return total + sum(w ^ 0x5555555555555555 for w in words) + sum(words)


def calls():
    x = 1
    for i in range(30000):
        x = (x + 1, shift(x), x + 2, 2 * x)[i % 4] & WORD
    return x


print(hex((integers() + reals() + memory() + calls()) & WORD))
