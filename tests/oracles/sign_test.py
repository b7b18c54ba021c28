#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Numbers for test_sign_test.c in exact rational arithmetic.

E = 2^n B(W + 1/2, n - W + 1/2) / B(1/2, 1/2) is rational: the ratio of betas
is C(2W, W) C(2L, L) / (4^n C(n, W)) with L = n - W.  The one-sided mixture
is an integral over p > 1/2 of half-integer powers, done by mpmath.
"""
from fractions import Fraction
from math import comb

import mpmath


def e_value(n, wins):
    losses = n - wins
    return Fraction(
        2**n * comb(2 * wins, wins) * comb(2 * losses, losses),
        4**n * comb(n, wins),
    )


def wins_needed(n, bound):
    return next(w for w in range((n + 1) // 2, n + 2)
                if w > n or e_value(n, w) >= bound)


def ln(x):
    """Of a fraction whose parts may be beyond a double."""
    return float(mpmath.log(mpmath.mpf(x.numerator) / x.denominator))


def log_e_above(n, wins):
    mpmath.mp.dps = 60
    a, b = mpmath.mpf(wins) + 0.5, mpmath.mpf(n - wins) + 0.5
    mass = mpmath.betainc(b, a, 0, 0.5, regularized=True)
    return float(mpmath.log(2 * mass)) + ln(e_value(n, wins))


def ever_rejected(n, bound):
    """P(E >= bound at some time up to n) for a fair coin, exactly."""
    alive, rejected = {0: Fraction(1)}, Fraction(0)
    for k in range(1, n + 1):
        after = {}
        for wins, p in alive.items():
            for w in (wins, wins + 1):
                after[w] = after.get(w, 0) + p / 2
        for w in [w for w in after if e_value(k, w) >= bound]:
            rejected += after.pop(w)
        alive = after
    return float(rejected)


print("wins needed at 5 %")
for n in (6, 7, 10, 20, 30, 50, 100, 200, 1000):
    print(n, wins_needed(n, 20))
print("wins needed at 1 %")
for n in (9, 10, 100):
    print(n, wins_needed(n, 100))
print("ln E")
for n, w in ((1, 0), (7, 7), (50, 25), (1000, 558), (5000, 4000)):
    print(n, w, repr(ln(e_value(n, w))))
print("ln E above")
for n, w in ((1, 1), (10, 0), (20, 17), (50, 25), (1000, 558), (5000, 100)):
    print(n, w, repr(log_e_above(n, w)))
print("ever rejected by 200 rounds", repr(ever_rejected(200, 20)))
