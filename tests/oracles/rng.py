#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The numbers in test_rng.c: splitmix64 and xoshiro256** in whole integers.

Written from the definitions of Steele, Lea and Flood (OOPSLA 2014) and of
Blackman and Vigna (TOMS 47:4, 2021).  Python's integers have no width, so
every step says where 64 bits end: a mistake in the C code's shifts or types
would not be repeated here.  The two published vectors are checked first.
"""

MASK = 2**64 - 1


def splitmix64(seed):
    while True:
        seed = (seed + 0x9E3779B97F4A7C15) & MASK
        z = seed
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        yield z ^ (z >> 31)


def rotate(x, k):
    return ((x << k) | (x >> (64 - k))) & MASK


def xoshiro256ss(state):
    a, b, c, d = state
    while True:
        yield (rotate((b * 5) & MASK, 7) * 9) & MASK
        t = (b << 17) & MASK
        c ^= a
        d ^= b
        b ^= c
        a ^= d
        c ^= t
        d = rotate(d, 45)


def take(n, numbers):
    return [next(numbers) for _ in range(n)]


def show(name, numbers):
    print(name)
    for x in numbers:
        print(f"\t0x{x:016x}u,")


# The first outputs published for seed 1234567 and for the state 1, 2, 3, 4.
assert take(3, splitmix64(1234567)) == [
    6457827717110365317, 3203168211198807973, 9817491932198370423]
assert take(7, xoshiro256ss([1, 2, 3, 4])) == [
    11520, 0, 1509978240, 1215971899390074240, 1216172134540287360,
    607988272756665600, 16172922978634559625]

show("splitmix64, seed 1234567", take(4, splitmix64(1234567)))
show("xoshiro256**, state 1 2 3 4", take(10, xoshiro256ss([1, 2, 3, 4])))
for seed in (0, 1, MASK):
    numbers = xoshiro256ss(take(4, splitmix64(seed)))
    show(f"xoshiro256**, seed {seed}", take(4, numbers))
numbers = xoshiro256ss(take(4, splitmix64(7)))
show("xoshiro256**, seed 7, output 1000", take(1000, numbers)[-1:])
