#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Training steps of small models by PyTorch, in float64.

Prints tests/torch_training.def, which test_torch_training.c compares with: the
loss of each of three steps, sums of the gradients of the first step and of
their absolute values, and the same of the weights after the last.  Weights,
inputs and targets are those of tests/graph_text.h and tests/trained.h: a hash
of a name and a place.  Made with torch 2.15.0.
"""
import torch
import torch.nn.functional as F

MASK = (1 << 64) - 1


def random(name, *dims):
    """graph_text_random(): numbers from -1 to 1 that a name decides."""
    n = 1
    for d in dims:
        n *= d
    numbers = []
    for i in range(n):
        x = i + 1
        for c in name.encode():
            x = ((x ^ c) * 0x9E3779B97F4A7C15) & MASK
        x ^= x >> 29
        x = (x * 0xBF58476D1CE4E5B9) & MASK
        numbers.append((x >> 11) * 2.0**-52 - 1)
    return torch.tensor(numbers, dtype=torch.float64).reshape(dims)


def classes(n, *dims):
    total = 1
    for d in dims:
        total *= d
    return torch.tensor([i % n for i in range(total)]).reshape(dims)


def weights(**sizes):
    return {k: random(k, *v).requires_grad_() for k, v in sizes.items()}


def ones(n):
    return torch.ones(n, dtype=torch.float64, requires_grad=True)


def zeros(n):
    return torch.zeros(n, dtype=torch.float64, requires_grad=True)


def mlp():
    p = weights(w1=(5, 6), b1=(6,), w2=(3, 6), b2=(3,))
    x, t = random("x", 4, 5), classes(3, 4)

    def loss():
        h = F.relu(x @ p["w1"] + p["b1"])
        return F.cross_entropy(h @ p["w2"].T + p["b2"], t,
                               label_smoothing=0.1)

    return p, loss, torch.optim.SGD(p.values(), lr=0.1, momentum=0.9,
                                    nesterov=True, weight_decay=0.01), None


def resnet():
    p = weights(w1=(4, 3, 3, 3))
    p["s1"], p["o1"] = ones(4), zeros(4)
    p.update(weights(w2=(4, 2, 3, 3)))
    p["s2"], p["o2"] = ones(4), zeros(4)
    p.update(weights(w3=(3, 4), b3=(3,)))
    x, t = random("x", 2, 3, 8, 8), classes(3, 2)

    def norm(y, i):
        return F.batch_norm(y, None, None, p[f"s{i}"], p[f"o{i}"],
                            training=True)

    def loss():
        a = F.relu(norm(F.conv2d(x, p["w1"], padding=1), 1))
        d = F.max_pool2d(a, 3, 2, 1)
        e = norm(F.conv2d(d, p["w2"], padding=1, groups=2), 2)
        g = F.relu(e + d).mean((2, 3))
        return F.cross_entropy(g @ p["w3"].T + p["b3"], t)

    return p, loss, torch.optim.Adam(p.values(), lr=0.01), None


def encoder():
    p = weights(t=(7, 8), q=(8, 8), k=(8, 8), v=(8, 8), o=(8, 8))
    p["s1"], p["z1"], p["s2"], p["z2"] = ones(8), zeros(8), ones(8), zeros(8)
    p.update(weights(u=(8, 16), c=(16,), d=(16, 8)))
    i, t = classes(3, 2, 5), classes(3, 2, 5)

    def heads(y):
        return y.reshape(2, 5, 2, 4).transpose(1, 2)

    def loss():
        e = p["t"][i]
        n = F.layer_norm(e, (8,), p["s1"], p["z1"])
        q, k, v = (heads(n @ p[name]) for name in "qkv")
        a = torch.softmax(q @ k.transpose(2, 3) * 0.5, -1) @ v
        r = a.transpose(1, 2).reshape(2, 5, 8) @ p["o"] + e
        m = F.layer_norm(r, (8,), p["s2"], p["z2"])
        r = F.gelu(m @ p["u"] + p["c"]) @ p["d"] + r
        return F.cross_entropy((r @ p["t"].T).reshape(10, 7), t.reshape(10))

    return p, loss, torch.optim.AdamW(p.values(), lr=0.01,
                                      weight_decay=0.1), 0.5


def lstm():
    p = weights(w=(1, 12, 3), r=(1, 12, 3), b=(1, 24), l=(3, 3))
    x, t = random("x", 4, 2, 3), classes(3, 4, 2)
    order = [0, 2, 3, 1]  # ONNX has i, o, f, c; torch i, f, c, o

    def gates(y):
        return torch.cat([y.reshape(4, 3, -1)[k] for k in order])

    def loss():
        bias = p["b"].reshape(2, 12)
        names = ["weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0"]
        values = [gates(p["w"][0]), gates(p["r"][0]),
                  gates(bias[0]).flatten(), gates(bias[1]).flatten()]
        cell = torch.nn.LSTM(3, 3, dtype=torch.float64)
        y, _ = torch.func.functional_call(cell, dict(zip(names, values)),
                                          (x,))
        return F.cross_entropy((y @ p["l"]).reshape(8, 3), t.reshape(8))

    return p, loss, torch.optim.SGD(p.values(), lr=0.1), None


def main():
    print("/* SPDX-License-Identifier: Apache-2.0 */")
    print("/* torch_training.def - printed by oracles/training.py: LOSS(model, "
          "step, it),\n * GRADIENT and WEIGHT(model, name, sum, sum of absolute "
          "values). */")
    for build in (mlp, resnet, encoder, lstm):
        p, loss, optimizer, most = build()
        model = build.__name__
        for step in range(3):
            optimizer.zero_grad()
            value = loss()
            value.backward()
            if step == 0:
                for name, w in p.items():
                    print(f'GRADIENT("{model}", "{name}", '
                          f"{w.grad.sum():.12g}, {w.grad.abs().sum():.12g})")
            if most:
                torch.nn.utils.clip_grad_norm_(p.values(), most)
            print(f'LOSS("{model}", {step}, {value.item():.12g})')
            optimizer.step()
        for name, w in p.items():
            print(f'WEIGHT("{model}", "{name}", {w.sum():.12g}, '
                  f"{w.abs().sum():.12g})")


if __name__ == "__main__":
    main()
