#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The numbers in test_fit.c: SciPy's linregress and curve_fit, and the
profile interval by root finding on SciPy's own minimum for each exponent."""
import numpy as np
from scipy import optimize, stats

X = np.array([1.0, 2, 3, 4, 6, 8, 12, 16])
Y = np.array([2.1, 3.9, 6.2, 7.8, 12.3, 15.8, 24.5, 31.6])
# 50 + 3 x^1.5, each off by a few percent.
T = np.array([54.1, 57.6, 66.9, 73.2, 95.5, 117.0, 176.3, 240.2])


def show(name, *numbers):
    print(name, *[f"{v:.10g}" for v in numbers])


def line(name, x, y):
    fit = stats.linregress(x, y)
    n = len(x)
    t = stats.t.ppf(0.975, n - 2)
    rss = np.sum((y - fit.intercept - fit.slope * x) ** 2)
    show(name + " slope", fit.slope, fit.slope - t * fit.stderr,
         fit.slope + t * fit.stderr)
    show(name + " intercept", fit.intercept,
         fit.intercept - t * fit.intercept_stderr,
         fit.intercept + t * fit.intercept_stderr)
    show(name + " r2, residual std", fit.rvalue**2, np.sqrt(rss / (n - 2)))


def profile_rss(k):
    """Least relative squares for one exponent, both terms not negative."""
    columns = np.column_stack([1 / T, X**k / T])
    return optimize.nnls(columns, np.ones(len(X)))[1] ** 2


def affine():
    law = lambda x, a, c, k: a + c * x**k
    (a, c, k), _ = optimize.curve_fit(law, X, T, p0=(50, 3, 1.5), sigma=T,
                                      ftol=1e-15, xtol=1e-15, gtol=1e-15)
    df = len(X) - 3
    rss = profile_rss(k)
    limit = rss * (1 + stats.t.ppf(0.975, df) ** 2 / df)
    bound = lambda lo, hi: optimize.brentq(
        lambda e: profile_rss(e) - limit, lo, hi, xtol=1e-12)
    show("affine a c k", a, c, k)
    show("affine k interval", bound(0.2, k), bound(k, 5))
    show("affine residual std", np.sqrt(rss / df))


line("line", X, Y)
line("power", np.log(X), np.log(T))
affine()
