#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Figures of test_evaluation.c: scores and labels from a linear congruential
generator, judged by scikit-learn, and Student's interval by SciPy."""
import numpy as np
from scipy import stats
from sklearn import metrics

N, C = 200, 7
state = 1


def draw(n):
    global state
    state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
    return (state >> 33) % n


scores, labels = np.zeros((N, C)), np.zeros(N, dtype=int)
for i in range(N):
    labels[i] = draw(C)
    # No two scores of a sample are equal: eighths apart by class.
    scores[i] = [draw(40) / 10 + k / 64 for k in range(C)]
    scores[i][labels[i]] += 2
scores = scores.astype(np.float32).astype(float)
predicted = scores.argmax(axis=1)
p = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
print("accuracy", metrics.accuracy_score(labels, predicted) * N)
print("top5", metrics.top_k_accuracy_score(labels, scores, k=5) * N)
print("loss", repr(metrics.log_loss(labels, p)))
each = -np.log(p[np.arange(N), labels])
print("interval", stats.t.interval(0.95, N - 1, each.mean(), stats.sem(each)))
print(metrics.confusion_matrix(labels, predicted))
print("recall", metrics.recall_score(labels, predicted, average=None))
print("precision", metrics.precision_score(labels, predicted, average=None))
