#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Numbers for test_ref_recurrent.c: ONNX's formulas in NumPy, 64 bits.

Prints the line of each case and what it gives.
"""
import numpy as np


def text(a, dtype="f64"):
    sizes = ",".join(map(str, a.shape))
    return f"{dtype}[{sizes}]={{{','.join(f'{v + 0.0:.7g}' for v in a.ravel())}}}"


def numbers(*shape, start=0):
    """Tenths from -0.6 to 0.6 in a mixed order."""
    i = np.arange(int(np.prod(shape)))
    return ((i * 7 + 3 + start * 5) % 13 - 6).reshape(shape) / 10


def sigmoid(v):
    return 1 / (1 + np.exp(-v))


def step(op, w, r, bias, peepholes, x, h, c, clip, late, coupled):
    n = len(h)
    gates = len(w) // n
    wx = np.split(w @ x + bias[: len(w)], gates)
    rh = np.split(r @ h + bias[len(w) :], gates)
    cut = lambda v: np.clip(v, -clip, clip)
    if op == "RNN":
        return np.tanh(cut(wx[0] + rh[0])), c
    if op == "GRU":
        z, reset = sigmoid(cut(wx[0] + rh[0])), sigmoid(cut(wx[1] + rh[1]))
        late_part = reset * rh[2]
        early_part = r[2 * n :] @ (reset * h) + bias[len(w) + 2 * n :]
        q = np.tanh(cut(wx[2] + (late_part if late else early_part)))
        return (1 - z) * q + z * h, c
    p = np.split(peepholes, 3)
    i = sigmoid(cut(wx[0] + rh[0] + p[0] * c))
    f = 1 - i if coupled else sigmoid(cut(wx[2] + rh[2] + p[2] * c))
    c = f * c + i * np.tanh(cut(wx[3] + rh[3]))
    o = sigmoid(cut(wx[1] + rh[1] + p[1] * c))
    return o * np.tanh(c), c


def run(op, inputs, direction="forward", clip=np.inf, late=0, coupled=0):
    x, w, r, bias, lengths, h0, c0, p = inputs
    steps, batch, _ = x.shape
    d, rows, n = r.shape
    bias = np.zeros((d, 2 * rows)) if bias is None else bias
    p = np.zeros((d, 3 * n)) if p is None else p
    h = np.zeros((d, batch, n)) if h0 is None else h0.copy()
    c = np.zeros((d, batch, n)) if c0 is None else c0.copy()
    y = np.zeros((steps, d, batch, n))
    for k in range(d):
        for b in range(batch):
            order = list(range(steps if lengths is None else lengths[b]))
            if direction == "reverse" or k == 1:
                order.reverse()
            for t in order:
                h[k, b], c[k, b] = step(op, w[k], r[k], bias[k], p[k],
                                        x[t, b], h[k, b], c[k, b], clip,
                                        late, coupled)
                y[t, k, b] = h[k, b]
    return y, h, c


def show(op, inputs, attributes, outputs):
    words = ["_" if v is None else text(v, "i32" if v.dtype.kind == "i" else "f64")
             for v in inputs]
    while words[-1] == "_":
        words.pop()
    print(f"{op} 14 ({', '.join(words)}) {attributes} -> {len(outputs)}")
    print("   ", " ".join(text(o) for o in outputs))


def weights(d, gates, n):
    return numbers(d, gates * n, 1, start=1), numbers(d, gates * n, n, start=2)


X, LENGTHS = numbers(3, 2, 1), np.array([2, 3])
both = "direction=bidirectional"

case = (X, *weights(1, 4, 1), None, LENGTHS, None, None, None)
show("LSTM", case, "hidden_size=1 direction=reverse", run("LSTM", case, "reverse"))

case = (X, *weights(2, 4, 1), numbers(2, 8, start=3), LENGTHS,
        numbers(2, 2, 1, start=4), numbers(2, 2, 1, start=5), numbers(2, 3, start=6))
y, h, c = run("LSTM", case, "bidirectional")
show("LSTM", case, "hidden_size=1 " + both, (y, h, c))
swap = lambda a: np.swapaxes(a, 0, 1)
case = (swap(X), *case[1:5], swap(case[5]), swap(case[6]), case[7])
show("LSTM", case, f"hidden_size=1 {both} layout=1",
     (y.transpose(2, 0, 1, 3), swap(h), swap(c)))

case = (X, *weights(1, 4, 1), None, None, None, np.array([[[0.9], [-0.4]]]), None)
show("LSTM", case, "hidden_size=1 input_forget=1 clip=0.2",
     run("LSTM", case, clip=float(np.float32(0.2)), coupled=1))

case = (X, *weights(2, 3, 2), numbers(2, 12, start=3), LENGTHS,
        numbers(2, 2, 2, start=4), None, None)
for late in (0, 1):
    show("GRU", case, f"hidden_size=2 {both} linear_before_reset={late}",
         run("GRU", case, "bidirectional", late=late)[:2])

case = (X, *weights(1, 1, 2), None, LENGTHS, None, None, None)
show("RNN", case, "hidden_size=2 direction=reverse", run("RNN", case, "reverse")[:2])
