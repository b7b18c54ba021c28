#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What Sleuth writes, in the eyes of the onnx checker and ONNX Runtime.

    usage: written_models.py SLEUTH FOLDER|NAME...

Every model.onnx below a FOLDER is read and written again by `sleuth zoo
export`; the checker must take the copy where it takes the original, and ONNX
Runtime, its optimizations off, must give the same bits for the inputs that
lie beside the model.  Every NAME of the zoo is exported, checked and run on
random inputs, which must give finite numbers.
"""
import glob
import os
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime
from onnx import numpy_helper

SLEUTH = sys.argv[1]
RANDOM = ("bernoulli", "dropout", "multinomial", "random", "training")
FREE_SIZE = 16  # of dimensions that have only a name


def objection(path):
    """What the checker says against a model, or None."""
    try:
        onnx.checker.check_model(path)
        return None
    except Exception as error:  # its own classes, and ValueError
        return str(error).split("\n", maxsplit=1)[0]


def session(path):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.graph_optimization_level = (
        onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL)
    return onnxruntime.InferenceSession(
        path, options, providers=["CPUExecutionProvider"])


def stored_inputs(folder, inputs):
    """From input_N.pb; None where one is missing or is no tensor."""
    feed = {}
    for i, value in enumerate(inputs):
        path = os.path.join(folder, f"input_{i}.pb")
        if not value.type.startswith("tensor") or not os.path.exists(path):
            return None
        tensor = onnx.TensorProto()
        with open(path, "rb") as file:
            tensor.ParseFromString(file.read())
        feed[value.name] = numpy_helper.to_array(tensor)
    return feed


def random_inputs(inputs):
    random = np.random.default_rng(1)
    feed = {}
    for value in inputs:
        shape = [size if isinstance(size, int)
                 else 1 if size == "batch" else FREE_SIZE
                 for size in value.shape]
        if value.type == "tensor(float)":
            feed[value.name] = random.standard_normal(shape, np.float32)
        else:
            feed[value.name] = random.integers(0, 2, shape, np.int64)
    return feed


def same(a, b):
    if isinstance(a, list):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict) or a is None:
        return a == b
    a, b = np.asarray(a), np.asarray(b)
    return a.dtype == b.dtype and a.shape == b.shape and (
        a.tobytes() == b.tobytes() if a.dtype != object else (a == b).all())


def check_copy(path, copy):
    """A problem or None, and whether both models ran."""
    said = objection(copy)
    if said and not objection(path):
        return "checker: " + said, False
    try:
        original = session(path)
    except Exception:
        return None, False
    try:
        other = session(copy)
    except Exception as error:
        return f"ONNX Runtime does not load it: {error}", False
    folder = os.path.dirname(path)
    sets = sorted(glob.glob(folder + "/test_data_set_*")) + [folder]
    feed = stored_inputs(sets[0], original.get_inputs())
    if feed is None:
        return None, False
    try:
        expected = original.run(None, feed)
    except Exception:
        return None, False
    found = other.run(None, feed)
    if any(word in path for word in RANDOM):
        return None, True
    if not all(map(same, expected, found)):
        return "the outputs differ", True
    return None, True


def check_zoo(path):
    said = objection(path)
    if said:
        return "checker: " + said
    model = session(path)
    for output in model.run(None, random_inputs(model.get_inputs())):
        if not np.isfinite(output).all():
            return "an output is not finite"
    return None


n_models = n_ran = n_bad = 0
for word in sys.argv[2:]:
    is_folder = os.path.isdir(word)
    names = (sorted(glob.glob(word + "/**/model.onnx", recursive=True))
             if is_folder else [word])
    for name in names:
        with tempfile.TemporaryDirectory() as folder:
            copy = os.path.join(folder, "copy.onnx")
            done = subprocess.run([SLEUTH, "zoo", "export", name, copy],
                                  capture_output=True, text=True, check=False)
            if done.returncode:
                problem, ran = done.stderr.strip(), False
            elif is_folder:
                problem, ran = check_copy(name, copy)
            else:
                problem, ran = check_zoo(copy), True
        n_models += 1
        n_ran += ran
        if problem:
            n_bad += 1
            print(f"{name}: {problem}")
print(f"{n_models} models, {n_ran} run, {n_bad} wrong")
sys.exit(n_bad > 0)
