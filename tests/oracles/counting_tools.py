# SPDX-License-Identifier: Apache-2.0
"""What counting tools print for single layers: the table of conventions.md, and
the figures of test_convention.c for layers that are one operator.

Needs torch, fvcore and thop; torch on a CPU, in f32.
"""
import logging
import warnings

import torch
from fvcore.nn import FlopCountAnalysis
from thop import profile
from torch import nn
from torch.nn.functional import scaled_dot_product_attention
from torch.utils.flop_counter import FlopCounterMode

warnings.simplefilter("ignore")
logging.disable(logging.CRITICAL)


class Fused(nn.Module):
    def __init__(self, **how):
        super().__init__()
        self.how = how

    def forward(self, q, k=None, v=None):
        return scaled_dot_product_attention(q, q if k is None else k,
                                            q if v is None else v, **self.how)


class Projected(nn.Module):
    """com.microsoft.Attention: one product with the weights of Q, K and V."""

    def __init__(self, width, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.project = nn.Linear(width, 3 * width)

    def forward(self, x):
        split = x.shape[0], x.shape[1], self.n_heads, -1
        q, k, v = (part.view(split).transpose(1, 2)
                   for part in self.project(x).chunk(3, -1))
        return scaled_dot_product_attention(q, k, v)


class Dtln(nn.Module):
    """The layers of the model dtln_1: https://github.com/breizhn/DTLN."""

    def __init__(self):
        super().__init__()
        self.first = nn.LSTM(257, 128, batch_first=True)
        self.second = nn.LSTM(128, 128, batch_first=True)
        self.dense = nn.Linear(128, 257)

    def forward(self, x):
        return torch.sigmoid(self.dense(self.second(self.first(x)[0])[0]))


class Pieces(nn.Module):
    def forward(self, x):
        return torch.softmax(x @ x.transpose(-1, -2), -1) @ x


image = torch.randn(1, 8, 16, 16)
heads = torch.randn(1, 4, 32, 8)
tokens = torch.randn(1, 10, 16)
sequences = torch.randn(3, 10, 16)
queries = torch.randn(2, 8, 10, 16)
keys = torch.randn(2, 2, 24, 16)
values = torch.randn(2, 2, 24, 12)
recurrent = [
    (f"{layer.__name__}{what}", layer(16, 32, batch_first=True, **how),
     (sequences,))
    for layer in (nn.RNN, nn.GRU, nn.LSTM)
    for what, how in ((", batch of 3", {}), (", no bias", {"bias": False}),
                      (", both ways", {"bidirectional": True}))
]
cases = [
    ("attention in pieces", Pieces(), (heads,)),
    ("attention fused", Fused(), (heads,)),
    ("attention fused, causal", Fused(is_causal=True), (heads,)),
    ("attention fused, 8 on 2", Fused(enable_gqa=True), (queries, keys, keys)),
    ("attention fused, values", Fused(), (queries[:, :2], keys, values)),
    ("attention projected", Projected(16, 2), (tokens,)),
    ("multi-head attention", nn.MultiheadAttention(16, 2, batch_first=True),
     (tokens,) * 3),
    ("LSTM", nn.LSTM(16, 32, batch_first=True), (tokens,)),
    ("GRU", nn.GRU(16, 32, batch_first=True), (tokens,)),
    ("transposed convolution", nn.ConvTranspose2d(8, 4, 2, 2), (image,)),
    ("average pool", nn.AvgPool2d(2), (image,)),
    ("adaptive pool", nn.AdaptiveAvgPool2d(1), (image,)),
    ("bilinear", nn.Upsample(scale_factor=2, mode="bilinear"), (image,)),
    ("softmax", nn.Softmax(-1), (image,)),
    ("BatchNorm", nn.BatchNorm2d(8), (image,)),
    ("LayerNorm", nn.LayerNorm(16), (image,)),
    ("GroupNorm", nn.GroupNorm(2, 8), (image,)),
    ("InstanceNorm", nn.InstanceNorm2d(8, affine=True), (image,)),
    ("RMSNorm", nn.RMSNorm(16), (image,)),
    ("dtln_1", Dtln(), (torch.randn(1, 1, 257),)),
] + recurrent

with torch.no_grad():
    for name, module, inputs in cases:
        module.eval()
        with FlopCounterMode(display=False) as counter:
            module(*inputs)
        fvcore = int(FlopCountAnalysis(module, inputs).total())
        thop = int(profile(module, inputs=inputs, verbose=False)[0])
        print(f"{name:24} torch {counter.get_total_flops():7} "
              f"fvcore {fvcore:7} thop {thop:7}")
