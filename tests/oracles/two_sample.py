#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The numbers in test_two_sample.c, from SciPy."""
import numpy as np
from scipy import stats

A = [100, 102, 98, 101, 99]
B = [95, 97, 93, 96, 94]
C = [8.5, 9.1, 7.7, 12.4, 30.2, 9.9, 8.8]
D = [9.3, 9.7, 10.8, 9.5]
# Rounded to quarters, so that there are ties within and between.
E = [1, 1, 1.25, 1.5, 1.5, 1.5, 2, 2.25, 3]
F = [1.25, 1.5, 1.75, 2, 2, 2.5, 3.5]


def t_tests(name, a, b):
    for equal in (True, False):
        r = stats.ttest_ind(a, b, equal_var=equal)
        print(name, "pooled" if equal else "Welch", *map(
            lambda v: repr(float(v)), (r.statistic, r.df, r.pvalue)))


def ranks(name, a, b, method):
    r = stats.mannwhitneyu(a, b, method=method, use_continuity=True)
    print(name, method, float(r.statistic), repr(float(r.pvalue)))


t_tests("A B", A, B)
t_tests("C D", C, D)
ranks("A B", A, B, "exact")
ranks("C D", C, D, "exact")
ranks("E F", E, F, "asymptotic")
# i^2 mod 101 takes 50 values, once each, for i = 1..50: no ties, nor with
# a half added to the other side.
square = lambda i: i * i % 101
ranks("squares", [square(i) for i in range(1, 51)],
      [square(i) + 2.5 for i in range(1, 51)], "exact")
ranks("squares", [square(i) for i in range(1, 51)],
      [square(i) + 12.5 for i in range(1, 21)], "exact")
big = np.arange(60)
ranks("60", big, big * 0.9 + 7.31, "asymptotic")
