# SPDX-License-Identifier: Apache-2.0
"""PyTorch's training step behind the same questions as bench/training_step.c.

usage: torch_worker.py NAME export FOLDER   writes NAME.onnx, x.npy, target.npy
       torch_worker.py NAME memory          the most bytes of tensors in a step
       torch_worker.py NAME THREADS         steps when told
"""
import os
import sys
import time

import numpy
import torch
from torch import nn


class Encoder(nn.Module):
    """Four layers, 256 wide, four heads, 1,024 inside."""

    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(
            nn.TransformerEncoderLayer(256, 4, 1024, dropout=0.,
                                       batch_first=True) for _ in range(4))
        for layer in self.layers:  # of rate 0: no nodes of their own
            for name in "dropout", "dropout1", "dropout2":
                setattr(layer, name, nn.Identity())
        self.head = nn.Linear(256, 10)

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return self.head(x.mean(1))


def make(name):
    """A model, its input and labels: the same in every process."""
    torch.manual_seed(1)
    if name == "mlp":
        model = nn.Sequential(nn.Linear(784, 512), nn.ReLU(),
                              nn.Linear(512, 512), nn.ReLU(),
                              nn.Linear(512, 10))
        return model, torch.randn(64, 784), torch.randint(0, 10, (64,))
    if name == "resnet18":
        from torchvision.models import resnet18
        return (resnet18(), torch.randn(8, 3, 224, 224),
                torch.randint(0, 1000, (8,)))
    return Encoder(), torch.randn(8, 128, 256), torch.randint(0, 10, (8,))


def export(name, folder):
    model, x, target = make(name)
    torch.onnx.export(model.train(), (x,), os.path.join(folder, name + ".onnx"),
                      dynamo=False, opset_version=17, input_names=["x"],
                      training=torch.onnx.TrainingMode.TRAINING,
                      do_constant_folding=False)
    numpy.save(os.path.join(folder, "x.npy"), x.numpy())
    numpy.save(os.path.join(folder, "target.npy"), target.numpy())


def optimizer_of(model):
    return torch.optim.AdamW(model.parameters(), lr=1e-4, weight_decay=.01,
                             fused=True)


def bytes_of(tensors):
    return sum(t.numel() * t.element_size() for t in tensors)


def memory(name):
    """What stays from step to step, and the running sum of the profiler's
    memory events in one.  As in a step of ours, the output of the model lasts
    until the end."""
    model, x, target = make(name)
    model.train()
    optimizer = optimizer_of(model)

    def step():
        output = model(x)
        loss = nn.functional.cross_entropy(output, target)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        return output, loss

    step()
    stays = bytes_of([x, target, *model.parameters(), *model.buffers(),
                      *(t for state in optimizer.state.values()
                        for t in state.values() if torch.is_tensor(t))])
    with torch.profiler.profile(
            activities=[torch.profiler.ProfilerActivity.CPU],
            profile_memory=True) as profiler:
        step()
    events = [(e.start_ns(), e.nbytes())
              for e in profiler.profiler.kineto_results.events()
              if e.name() == "[memory]"]
    most = now = 0
    for _, n_bytes in sorted(events, key=lambda e: e[0]):
        now += n_bytes
        most = max(most, now)
    print(stays + most)


def serve(name, threads):
    start = time.perf_counter_ns()
    torch.set_num_threads(threads)
    model, x, target = make(name)
    model.train()
    optimizer = optimizer_of(model)

    def step():
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), target)
        loss.backward()
        optimizer.step()
        return loss.item()

    loss = step()
    print("first", time.perf_counter_ns() - start, loss, flush=True)
    for line in sys.stdin:
        times = []
        for _ in range(int(line.split()[1])):
            start = time.perf_counter_ns()
            step()
            times.append(time.perf_counter_ns() - start)
        print(*times, flush=True)


if sys.argv[2] == "export":
    export(sys.argv[1], sys.argv[3])
elif sys.argv[2] == "memory":
    memory(sys.argv[1])
else:
    serve(sys.argv[1], int(sys.argv[2]))
