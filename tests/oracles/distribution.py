#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The numbers in test_distribution.c: NumPy and SciPy on a series that both
sides compute from a linear congruential generator."""
import numpy as np
from scipy import stats

N = 500


def series(n):
    state, out = 1, []
    for _ in range(n):
        for _ in range(3):
            state = (state * 1103515245 + 12345) % 2**31
        out.append(100 - 20 * np.log1p(-(state / 2**31)))
    return np.array(out)


def ranks(n, q):
    """Largest l with P(Bin < l) <= 2.5 %, smallest h with P(Bin >= h)."""
    low = max(l for l in range(n + 1) if stats.binom.cdf(l - 1, n, q) <= 0.025)
    high = min(h for h in range(n + 2) if stats.binom.sf(h - 1, n, q) <= 0.025)
    return low, high


def mad_fences(x):
    m = np.median(x)
    right = np.median(x[x >= m] - m)
    left = np.median(m - x[x <= m])
    return m - 3.5 * left / 0.6745, m + 3.5 * right / 0.6745


x = series(N)
s = np.sort(x)
print(f"min {s[0]:.12g} max {s[-1]:.12g} std {x.std(ddof=1):.12g}")
print(f"mad {stats.median_abs_deviation(x):.12g} "
      f"skew {stats.skew(x, bias=False):.12g}")
for q in (0.5, 0.9, 0.95, 0.99):
    l, h = ranks(N, q)
    print(f"q {q}: {np.quantile(x, q):.12g} [{s[l - 1]:.12g}, "
          f"{s[h - 1]:.12g}]")
bca = stats.bootstrap((x,), np.mean, n_resamples=100000, random_state=1,
                      method="BCa").confidence_interval
print(f"mean {x.mean():.12g} BCa [{bca.low:.6g}, {bca.high:.6g}]")
low, high = mad_fences(x)
print("outliers", np.sum(x < low), np.sum(x > high))
clipped = np.clip(x, low, high)
d = clipped - clipped.mean()
r = [np.sum(d[k:] * d[:-k]) / np.sum(d * d) for k in range(1, 11)]
print(f"lag 1 {r[0]:.12g}, limit {2 / np.sqrt(N):.4g}, Ljung-Box "
      f"{N * (N + 2) * sum(v * v / (N - k) for k, v in enumerate(r, 1)):.6g}")
print(f"chi-squared 99 % at 10: {stats.chi2.ppf(0.99, 10):.17g}")
