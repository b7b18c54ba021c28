#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The numbers in test_tensor.c: weights made of a seed and an index.

mix() is the finalizer of splitmix64 (Steele, Lea and Flood, OOPSLA 2014) in
whole integers, checked with a published output; normal numbers are sums of
four 16-bit parts, brought to variance 1.
"""
from fractions import Fraction

MASK = 2**64 - 1


def mix(x):
    x = (x + 0x9E3779B97F4A7C15) & MASK
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & MASK
    return x ^ (x >> 31)


assert mix(1234567) == 6457827717110365317


def normal(bits):
    total = sum(bits >> shift & 0xFFFF for shift in (0, 16, 32, 48))
    return float(Fraction(total - 131070) / Fraction("37837.22"))


def uniform(bits):
    """From -1 up to 1, in steps of 2^-52."""
    return float(Fraction(bits >> 11, 2**52) - 1)


for name, make in (("normal", normal), ("uniform", uniform)):
    print(name, [make(mix(7 ^ mix(i))) for i in (0, 1, 2, 1000003)])
