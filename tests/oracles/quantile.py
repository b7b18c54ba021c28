#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The tables in test_quantile.c: NumPy's default quantiles, and ranks by
looking at every one with SciPy's binomial distribution."""
import numpy as np
from scipy.stats import binom

X = np.array([1.5, 2, 2, 3.25, 5, 8, 13, 40])


def ranks(n, q, alpha):
    below = [l for l in range(1, n + 1) if binom.cdf(l - 1, n, q) <= alpha / 2]
    above = [h for h in range(1, n + 1) if binom.sf(h - 1, n, q) <= alpha / 2]
    return (below[-1], above[0]) if below and above else (0, 0)


def needs_n(q, alpha):
    n = 1
    while ranks(n, q, alpha) == (0, 0):
        n += 1
    return n


print("quantiles")
for q in (0, 0.1, 0.25, 0.5, 0.9, 0.99, 1):
    print(f"\t{{{q}, {float(np.quantile(X, q))!r}}},")
print("ranks")
for n, q, alpha in ((5, 0.5, 0.05), (6, 0.5, 0.05), (20, 0.5, 0.05),
                    (100, 0.5, 0.05), (100, 0.9, 0.05), (100, 0.25, 0.1),
                    (500, 0.99, 0.05), (367, 0.99, 0.05), (368, 0.99, 0.05),
                    (1000, 0.001, 0.5), (4000, 0.5, 0.001)):
    print(f"\t{{{n}, {q}, {alpha}, {', '.join(map(str, ranks(n, q, alpha)))}}},")
print("needs_n")
for q, alpha in ((0.5, 0.05), (0.9, 0.05), (0.95, 0.05), (0.1, 0.05),
                 (0.99, 0.05), (0.5, 0.01), (0.5, 0.0625)):
    print(f"\t{{{q}, {alpha}, {needs_n(q, alpha)}}},")
