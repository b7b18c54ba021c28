# SPDX-License-Identifier: Apache-2.0
"""What counting tools print for single layers: the table of conventions.md.

Needs torch, fvcore and thop.
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
    def __init__(self, is_causal):
        super().__init__()
        self.is_causal = is_causal

    def forward(self, x):
        return scaled_dot_product_attention(x, x, x, is_causal=self.is_causal)


class Pieces(nn.Module):
    def forward(self, x):
        return torch.softmax(x @ x.transpose(-1, -2), -1) @ x


image = torch.randn(1, 8, 16, 16)
heads = torch.randn(1, 4, 32, 8)
tokens = torch.randn(1, 10, 16)
cases = [
    ("attention in pieces", Pieces(), (heads,)),
    ("attention fused", Fused(False), (heads,)),
    ("attention fused, causal", Fused(True), (heads,)),
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
]

with torch.no_grad():
    for name, module, inputs in cases:
        module.eval()
        with FlopCounterMode(display=False) as counter:
            module(*inputs)
        fvcore = int(FlopCountAnalysis(module, inputs).total())
        thop = int(profile(module, inputs=inputs, verbose=False)[0])
        print(f"{name:24} torch {counter.get_total_flops():7} "
              f"fvcore {fvcore:7} thop {thop:7}")
