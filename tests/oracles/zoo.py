# SPDX-License-Identifier: Apache-2.0
"""Figures of the built-in models by other implementations: trainable
parameters, BatchNorm statistics and multiply-adds as PyTorch's FlopCounterMode
counts them.  Needs torch, torchvision and transformers; nothing is downloaded
and weights stay on the meta device."""
import torch
import torchvision.models as vision
import transformers as text
from torch import nn
from torch.utils.flop_counter import FlopCounterMode


class UNet(nn.Module):
    """Ronneberger et al. 2015 with padding 1, 3 channels in, 2 classes."""

    def __init__(self):
        super().__init__()
        widths = [64, 128, 256, 512, 1024]

        def double(n_in, n_out):
            return nn.Sequential(
                nn.Conv2d(n_in, n_out, 3, padding=1), nn.ReLU(),
                nn.Conv2d(n_out, n_out, 3, padding=1), nn.ReLU())

        self.down = nn.ModuleList(
            double(a, b) for a, b in zip([3] + widths, widths))
        self.enlarge = nn.ModuleList(
            nn.ConvTranspose2d(2 * w, w, 2, 2) for w in widths[:-1])
        self.up = nn.ModuleList(double(2 * w, w) for w in widths[:-1])
        self.last = nn.Conv2d(64, 2, 1)

    def forward(self, x):
        skips = []
        for i, block in enumerate(self.down):
            x = block(nn.functional.max_pool2d(x, 2) if i else x)
            skips.append(x)
        for i in reversed(range(4)):
            x = self.up[i](torch.cat([skips[i], self.enlarge[i](x)], 1))
        return self.last(x)


def lenet5():
    return nn.Sequential(
        nn.Conv2d(1, 6, 5), nn.Tanh(), nn.AvgPool2d(2),
        nn.Conv2d(6, 16, 5), nn.Tanh(), nn.AvgPool2d(2), nn.Flatten(),
        nn.Linear(400, 120), nn.Tanh(), nn.Linear(120, 84), nn.Tanh(),
        nn.Linear(84, 10))


class LSTM(nn.Module):
    """Zaremba et al. 2014, medium.  Its products are counted by hand: the
    flop counter does not see into a recurrent layer."""

    def __init__(self):
        super().__init__()
        self.encoder = nn.Embedding(10000, 650)
        self.lstm = nn.LSTM(650, 650, 2)
        self.decoder = nn.Linear(650, 10000)


def report(name, model, x=None, macs=None):
    trainable = sum(p.numel() for p in model.parameters())
    statistics = sum(p.numel() for n, p in model.named_buffers()
                     if "running_" in n)
    if x is not None:
        model.eval()
        with FlopCounterMode(display=False) as counter, torch.no_grad():
            model(x)
        macs = counter.get_total_flops() // 2
    print(f"{name:16} {trainable:13,} {statistics:8,} {macs:16,}")


def gpt2(layers, width, heads):
    return text.GPT2LMHeadModel(text.GPT2Config(
        n_layer=layers, n_embd=width, n_head=heads,
        attn_implementation="eager"))


def llama(layers, width, heads, kv_heads, inner):
    return text.LlamaForCausalLM(text.LlamaConfig(
        num_hidden_layers=layers, hidden_size=width, intermediate_size=inner,
        num_attention_heads=heads, num_key_value_heads=kv_heads,
        vocab_size=32000, attn_implementation="eager"))


with torch.device("meta"):
    image = torch.empty(1, 3, 224, 224)
    tokens = torch.zeros(1, 128, dtype=torch.long)
    report("lenet5", lenet5(), torch.empty(1, 1, 32, 32))
    for name in ("vgg16 resnet18 resnet34 resnet50 resnet101 resnet152 "
                 "mobilenet_v2 efficientnet_b0 vit_b_16").split():
        report(name, getattr(vision, name)(), image)
    report("unet", UNet(), image)
    report("lstm", LSTM(),
           macs=128 * (2 * 4 * 650 * (650 + 650) + 650 * 10000))
    report("bert-base", text.BertModel(text.BertConfig(
        attn_implementation="eager")), tokens)
    report("gpt2", gpt2(12, 768, 12), tokens)
    report("gpt2-medium", gpt2(24, 1024, 16), tokens)
    report("gpt2-large", gpt2(36, 1280, 20), tokens)
    report("gpt2-xl", gpt2(48, 1600, 25), tokens)
    report("llama-2-7b", llama(32, 4096, 32, 32, 11008), tokens)
    report("tinyllama", llama(22, 2048, 32, 4, 5632), tokens)
