#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Training steps of ResNet-18, ViT, BERT and GPT-2 by PyTorch, in float64.

Prints tests/whole_models.def, which test_whole_models.c compares with: the loss
of each of three steps, and of each parameter the sum of its gradient in the
first step, of the absolute values of that, and both of the parameter after the
last step.  The models, at small sizes, are those of tests/whole_models.h; weights
and inputs are as in training.py.  Made with torch 2.15.0.
"""
import torch
import torch.nn.functional as F
from torch import nn

from training import classes, ones, random, zeros

N = 16  # how wide transformers are


class Weights(dict):
    """Parameters by name, made when they are first asked for."""

    def weight(self, name, *dims, scale=0.25):
        if name not in self:
            self[name] = (scale * random(name, *dims)).requires_grad_()
        return self[name]

    def norm_weights(self, name, n):
        if name + ".s" not in self:
            self[name + ".s"], self[name + ".o"] = ones(n), zeros(n)
        return self[name + ".s"], self[name + ".o"]

    def norm(self, name, x):
        return F.layer_norm(x, (N,), *self.norm_weights(name, N))

    def linear(self, name, x, n_out):
        return (x @ self.weight(name + ".w", x.shape[-1], n_out)
                + self.weight(name + ".b", n_out))

    def attention(self, i, x, mask=None, is_causal=False):
        """PyTorch's own, two heads of 8."""
        qkv = self.linear(f"{i}.qkv", x, 3 * N)
        q, k, v = (y.unflatten(2, (2, 8)).transpose(1, 2)
                   for y in qkv.split(N, 2))
        y = F.scaled_dot_product_attention(q, k, v, mask, is_causal=is_causal)
        return self.linear(f"{i}.out", y.transpose(1, 2).flatten(2), N)

    def convolution(self, name, x, n, k, stride):
        y = F.conv2d(x, self.weight(name + ".w", n, x.shape[1], k, k),
                     stride=stride, padding=k // 2)
        return F.batch_norm(y, None, None, *self.norm_weights(name, n),
                            training=True)


def resnet18(p):
    x = random("x", 2, 3, 64, 64)

    def block(name, x, n):
        stride = 1 if x.shape[1] == n else 2
        y = F.relu(p.convolution(name + ".a", x, n, 3, stride))
        y = p.convolution(name + ".b", y, n, 3, 1)
        if stride == 2:
            x = p.convolution(name + ".d", x, n, 1, 2)
        return F.relu(y + x)

    def loss():
        y = F.max_pool2d(F.relu(p.convolution("stem", x, 4, 7, 2)), 3, 2, 1)
        for stage, n in enumerate((4, 8, 12, 16), 1):
            for name in "ab":
                y = block(f"{stage}{name}", y, n)
        y = F.linear(y.mean((2, 3)), p.weight("fc.w", 3, 16),
                     p.weight("fc.b", 3))
        return F.cross_entropy(y, classes(3, 2))

    return loss, lambda w: torch.optim.SGD(w, lr=.1, momentum=.9,
                                           weight_decay=1e-2), None


def vit(p):
    x = random("x", 2, 3, 12, 12)

    def loss():
        y = F.conv2d(x, p.weight("pt.w", N, 3, 4, 4), p.weight("pt.b", N),
                     stride=4).flatten(2).transpose(1, 2)
        token = p.weight("token", 1, 1, N).expand(2, 1, N)
        y = torch.cat([token, y], 1) + p.weight("place", 1, 10, N)
        for i in range(2):
            y = p.attention(i, p.norm(f"{i}.n", y)) + y
            z = F.gelu(p.linear(f"{i}.up", p.norm(f"{i}.m", y), 32))
            y = p.linear(f"{i}.down", z, N) + y
        y = p.linear("y", p.norm("ln", y)[:, 0], 3)
        return F.cross_entropy(y, classes(3, 2), label_smoothing=.1)

    return loss, lambda w: torch.optim.AdamW(w, lr=.01, weight_decay=.1), None


def bert(p):
    words, kinds = classes(3, 2, 6), classes(3, 2, 6)
    mask = torch.zeros(2, 1, 1, 6, dtype=torch.float64)
    mask[1, :, :, 4:] = -10000

    def loss():
        y = (p.weight("word", 9, N, scale=1)[words]
             + p.weight("kind", 3, N, scale=1)[kinds]
             + p.weight("place", 8, N, scale=1)[:6])
        y = p.norm("0.x", y)
        for i in range(2):
            y = p.norm(f"{i}.n", p.attention(i, y, mask) + y)
            z = F.gelu(p.linear(f"{i}.up", y, 32))
            y = p.norm(f"{i + 1}.x", p.linear(f"{i}.down", z, N) + y)
        y = torch.tanh(p.linear("pool", y[:, 0], N))
        return F.cross_entropy(p.linear("y", y, 3), classes(3, 2))

    return loss, lambda w: torch.optim.Adam(w, lr=.01, weight_decay=.01), None


def gpt2(p):
    words = classes(3, 2, 4)

    def loss():
        table = p.weight("word", 7, N, scale=.5)
        y = table[words] + p.weight("place", 8, N)[:4]
        for i in range(2):
            y = p.attention(i, p.norm(f"{i}.n", y), is_causal=True) + y
            z = F.gelu(p.linear(f"{i}.up", p.norm(f"{i}.m", y), 32),
                       approximate="tanh")
            y = p.linear(f"{i}.down", z, N) + y
        y = p.norm("ln", y) @ table.T
        return F.cross_entropy(y.reshape(8, 7), classes(3, 8))

    return loss, lambda w: torch.optim.AdamW(w, lr=.01, weight_decay=.1), 1.


def main():
    print("/* SPDX-License-Identifier: Apache-2.0 */")
    print("/* whole_models.def - printed by oracles/whole_models.py:\n"
          " * LOSS(model, step, it); PARAMETER(model, name, sum of the gradient, "
          "of its\n * absolute values, sum of the parameter, of its absolute "
          "values). */")
    for build in (resnet18, vit, bert, gpt2):
        p, model = Weights(), build.__name__
        loss, optimizer_of, most = build(p)
        loss()
        optimizer = optimizer_of(p.values())
        sums = {}
        for step in range(3):
            optimizer.zero_grad()
            value = loss()
            value.backward()
            if step == 0:
                sums = {name: (w.grad.sum(), w.grad.abs().sum())
                        for name, w in p.items()}
            if most:
                nn.utils.clip_grad_norm_(p.values(), most)
            print(f'LOSS("{model}", {step}, {value.item():.12g})')
            optimizer.step()
        for name, w in p.items():
            numbers = ", ".join(f"{x:.10g}" for x in
                                (*sums[name], w.sum(), w.abs().sum()))
            print(f'PARAMETER("{model}", "{name}", {numbers})')


main()
