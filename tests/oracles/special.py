#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The tables in test_special.c, computed with 40 digits by mpmath: closed
forms where there are any, else sums, series and quadrature that share no
method with special.c."""
from mpmath import (betainc, exp, findroot, log, log1p, loggamma, mp, mpf,
                    ncdf, pi, quad, sqrt)

mp.dps = 40


def row(*numbers):
    print("\t{" + ", ".join(repr(float(v)) for v in numbers) + "},")


def normal_quantile(p):
    p = mpf(p)
    start = -sqrt(-2 * log(p)) if p < 0.01 else mpf(-1)
    return findroot(lambda z: log(ncdf(z) / p), start)


def student_tail(s, df):
    """P(T > s) by quadrature of the density, s / (1 + s) made finite."""
    s, df = mpf(s), mpf(df)
    scale = exp(loggamma((df + 1) / 2) - loggamma(df / 2)) / sqrt(pi * df)
    density = lambda x: scale * exp(-(df + 1) / 2 * log1p(x * x / df))
    folded = lambda u: density(s + u / (1 - u)) / (1 - u) ** 2
    return quad(folded, [mpf(k) / 32 for k in range(33)])


def binomial_cdf(k, n, p):
    """Terms from k downwards until they no longer matter."""
    p = mpf(p)
    term = exp(loggamma(mpf(n) + 1) - loggamma(mpf(k) + 1)
               - loggamma(mpf(n - k) + 1) + k * log(p) + (n - k) * log1p(-p))
    total = mpf(0)
    while k >= 0 and term > total * mpf(10) ** -30:
        total += term
        term *= mpf(k) / (n - k + 1) * (1 - p) / p
        k -= 1
    return total


print("normal_cdf")
for z in (-30, -8, -1.96, -0.1, 0.3, 2, 6):
    row(z, ncdf(mpf(z)))
print("normal_quantile")
for p in (1e-300, 1e-20, 1e-5, 0.01, 0.025, 0.2, 0.4):
    row(p, normal_quantile(p))
print("beta_cdf")
for x, a, b in ((0.1, 0.5, 0.5), (0.01, 2, 3), (0.9, 2, 3), (0.5, 0.01, 4),
                (1e-30, 0.5, 2), (0.3, 30, 40), (0.2, 30, 40), (0.999, 80, 0.3),
                (0.52, 500.5, 499.5)):
    row(x, a, b, betainc(mpf(a), mpf(b), 0, mpf(x), regularized=True))
print("student_cdf")
for t, df in ((-0.01, 3), (-1, 0.5), (-2.5, 2.5), (-12, 4), (-2, 29),
              (-5, 100), (-2, 1e4), (-6, 1e7)):
    row(t, df, student_tail(-t, df))
print("binomial_cdf")
for k, n, p in ((3, 10, 0.5), (0, 367, 0.01), (400, 1000, 0.5),
                (4996837, 10**7, 0.5), (9899370, 10**7, 0.99),
                (9800, 10**7, 0.001), (0, 10**7, 1e-7)):
    row(k, n, p, binomial_cdf(k, n, p))
print("student_quantile at 0.975, as printed in tables")
for df in (1, 2, 4, 9, 30, 1e6):
    row(df, findroot(lambda s: log(student_tail(s, df) / mpf(0.025)),
                     12.7 if df == 1 else 4.3 if df == 2 else 2))
