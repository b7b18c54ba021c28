# SPDX-License-Identifier: Apache-2.0
"""Figures of test_convention.c: what fvcore, thop and PyTorch's own counter
print for torchvision's models.  Needs torch, torchvision, fvcore, thop.
"""
import torch
import torchvision
from fvcore.nn import FlopCountAnalysis
from thop import profile
from torch.utils.flop_counter import FlopCounterMode

for name in ("resnet18", "vgg16", "mobilenet_v2", "efficientnet_b0"):
    model = getattr(torchvision.models, name)(weights=None).eval()
    x = torch.zeros(1, 3, 224, 224)
    counter = FlopCounterMode(display=False)
    with torch.no_grad(), counter:
        model(x)
    analysis = FlopCountAnalysis(model, x)
    analysis.unsupported_ops_warnings(False)
    macs, _ = profile(model, inputs=(x,), verbose=False)
    print(name, "torch", counter.get_total_flops(), "fvcore",
          analysis.total(), "thop", int(macs))
