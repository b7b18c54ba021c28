#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The numbers in test_bootstrap.c: Student and BCa intervals from SciPy, block
lengths from the arch package (Sheppard), which follows the authors' code."""
import numpy as np
from arch.bootstrap import optimal_block_length
from scipy import stats

TIMES = [10.2, 10.4, 9.9, 10.1, 12.8, 10.0, 10.3, 11.1, 25.4, 10.2, 10.6, 9.8,
         10.9, 14.2, 10.0, 10.5, 10.7, 11.9, 10.1, 17.3]


def show(name, *values):
    print(name, *[f"{float(v):.10g}" for v in values])


def bca(name, x, statistic):
    r = stats.bootstrap((np.asarray(x),), statistic, n_resamples=200000,
                        method="BCa", vectorized=True, batch=1000,
                        rng=np.random.default_rng(1))
    show(name, *r.confidence_interval, r.standard_error)


def series(n, rho):
    """AR(1) driven by the linear congruential generator of C's standard."""
    state, y, x = 1, 0.0, []
    for _ in range(n):
        state = (state * 1103515245 + 12345) % 2**31
        y = rho * y + state / 2**31 - 0.5
        x.append(y)
    return np.array(x)


for x in ([1, 2, 3, 4, 5], TIMES):
    show("Student", *stats.t.interval(0.95, len(x) - 1, np.mean(x),
                                      stats.sem(x)))
bca("BCa mean", TIMES, np.mean)
bca("BCa median", TIMES, np.median)
# A skewed sample above the size from which groups are left out.
i = np.arange(1500)
bca("BCa mean of 1500",
    np.exp(2 * stats.norm.ppf((i * 757 % 1500 + 0.5) / 1500)), np.mean)
for n in (100, 1000):
    for rho in (0, 0.3, 0.8, -0.5):
        show(f"block {n} {rho}",
             max(1, optimal_block_length(series(n, rho))["stationary"].iloc[0]))
