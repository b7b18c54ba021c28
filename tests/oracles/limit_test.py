#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: Apache-2.0
"""Logarithms of e-values of the limit test, by summing the mixture's integral
in exact steps, and early stopping by summing binomial terms: for
tests/test_limit_test.c.  Needs nothing but Python."""
from math import asin, comb, exp, log, pi, sin, sqrt


def log_e_holds(n, k, q, steps=400000):
    """The mixture over s < q.  With s = sin(u)^2 the density of
    Beta(1/2, 1/2) is constant in u; the middle of each step is taken."""
    top = asin(sqrt(q))
    terms = []
    for i in range(steps):
        s = sin((i + 0.5) / steps * top) ** 2
        terms.append(k * log(s / q) + (n - k) * log((1 - s) / (1 - q)))
    most = max(terms)
    return most + log(sum(exp(t - most) for t in terms) / steps)


def log_e_fails(n, k, q):
    return log_e_holds(n, n - k, 1 - q)


def in_time(t, p):
    h = 0
    while True:
        h += 1
        n = h + t
        if sum(comb(n, i) * (1 - p) ** i * p ** (n - i)
               for i in range(t + 1)) <= 0.01:
            return h


for case in [(0, 0, .01), (100, 0, .1), (400, 0, .01), (1000, 2, .01),
             (1000, 10, .01), (500, 30, .1)]:
    print("holds", case, "%.9f" % log_e_holds(*case))
for case in [(10, 5, .1), (100, 4, .01), (1000, 10, .01), (1000, 2, .01)]:
    print("fails", case, "%.9f" % log_e_fails(*case))
for t, p in [(0, .9), (1, .9), (1, .99), (1, .999), (5, .9), (20, .99)]:
    print("in time", t, p, in_time(t, p))
