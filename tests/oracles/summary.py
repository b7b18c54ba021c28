#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The numbers in test_summary.c, from NumPy and SciPy."""
import numpy as np
from scipy import stats

TIMES = np.array([12.5, 11.0, 14.25, 11.0, 98.0, 13.5, 12.0, 12.75, 11.5, 19.0])


def show(name, value):
    print(name, repr(float(value)))


for x in (TIMES, TIMES[:9]):
    print("n", len(x))
    show("mean", np.mean(x))
    show("std", np.std(x, ddof=1))
    show("median", np.median(x))
    show("mad", stats.median_abs_deviation(x))
    show("skewness", stats.skew(x, bias=False))
centred = TIMES - TIMES.mean()
for lag in (1, 2, 9):
    show(f"autocorrelation {lag}",
         np.correlate(centred, centred, "full")[len(TIMES) - 1 + lag]
         / np.sum(centred**2))
