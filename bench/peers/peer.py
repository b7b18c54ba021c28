# SPDX-License-Identifier: Apache-2.0
"""Peers in virtual environments of their own, and inputs that ONNX Runtime and
Sleuth's engine share."""
import os
import subprocess
import venv

PACKAGES = ["onnxruntime", "onnx", "numpy"]


def environment(build, name="peers", packages=tuple(PACKAGES)):
    """The python that has these packages, ONNX Runtime if none are given, kept
    below the build folder; None, after a word, where it cannot be
    installed."""
    folder = os.path.join(build, name)
    python = os.path.join(folder, "bin", "python")
    try:
        if not os.path.exists(python):
            venv.create(folder, with_pip=True)
        subprocess.run([python, "-c", "import " + ", ".join(packages)],
                       check=True, capture_output=True)
    except (subprocess.CalledProcessError, OSError):
        done = subprocess.run([python, "-m", "pip", "install", "--quiet",
                               *packages], check=False)
        if done.returncode:
            print(f"skipped: {packages[0]} cannot be installed here")
            return None
    return python


MAKE_INPUTS = """
import glob, os, sys, numpy, onnx, onnxruntime
from onnx import numpy_helper
model, folder = sys.argv[1:3]
given = os.path.join(os.path.dirname(model), "test_data_set_0")
onnxruntime.set_default_logger_severity(3)
session = onnxruntime.InferenceSession(model,
                                       providers=["CPUExecutionProvider"])
rng = numpy.random.default_rng(1)
usual = {"batch": 1, "seq": 128, "past": 128}
if "kv" in model:
    usual["seq"] = 1

def recorded(k):
    with open(os.path.join(given, f"input_{k}.pb"), "rb") as file:
        tensor = onnx.TensorProto.FromString(file.read())
    return numpy_helper.to_array(tensor)

def made_up(i):
    shape = [d if isinstance(d, int) else usual.get(d, 1) for d in i.shape]
    if "int" not in i.type:
        return rng.standard_normal(shape).astype("float32")
    high = 2 if "type" in i.name else 100
    array = rng.integers(0, high, shape)
    if "mask" in i.name:
        array = numpy.ones(shape)
    return array.astype(i.type[7:-1])

for k, i in enumerate(session.get_inputs()):
    array = recorded(k) if os.path.isdir(given) else made_up(i)
    numpy.save(os.path.join(folder, i.name.replace("/", "_")), array)
"""


def make_inputs(python, model, folder):
    """Empties 'folder' and fills it with NAME.npy: those recorded beside the
    model, or else synthetic ones."""
    os.makedirs(folder, exist_ok=True)
    for name in os.listdir(folder):
        os.unlink(os.path.join(folder, name))
    subprocess.run([python, "-c", MAKE_INPUTS, model, folder], check=True)


def export(sleuth, name, folder):
    """The file of a model: 'name' itself, or what the zoo has by that name."""
    if name.endswith(".onnx"):
        return name
    path = os.path.join(folder, name.replace("@", "_") + ".onnx")
    if not os.path.exists(path):
        subprocess.run([sleuth, "zoo", "export", name, path, "--quiet"],
                       check=True, stdout=subprocess.DEVNULL)
    return path


def label(name):
    """A file called model.onnx is known by its folder."""
    folder = os.path.basename(os.path.dirname(name))
    return folder if name.endswith("model.onnx") else os.path.basename(name)
