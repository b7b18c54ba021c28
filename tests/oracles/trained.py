#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trained models in ONNX Runtime: the class that Sleuth says, of every image.

usage: trained.py PROGRAM

Trains the three models of digits, saves them, and runs each on the 359 test
images in ONNX Runtime and with `sleuth run`.  Classes must all agree, and so
must the share of right ones with what `sleuth train` reports.  Fails otherwise.
With onnxruntime 1.31.1 and numpy 2.4.6 it printed:

	digits-mlp: 359 images, 0 differ, 355 right
	digits-cnn: 359 images, 0 differ, 357 right
	digits-transformer: 359 images, 0 differ, 352 right
"""
import json
import os
import subprocess
import sys
import tempfile

import numpy as np
import onnxruntime

SHAPES = {"digits-mlp": (64,), "digits-cnn": (1, 8, 8),
          "digits-transformer": (8, 8)}
IMAGES = os.path.join(os.path.dirname(__file__), "../../data/digit_images.def")


def test_images():
    with open(IMAGES, encoding="ascii") as file:
        rows = [line.rstrip(",\n").split(",") for line in file
                if line[:1].isdigit()]
    rows = np.array(rows, dtype=np.float32)[4::5]
    return rows[:, :64] / 16, rows[:, 64].astype(np.int64)


def main():
    program = os.path.abspath(sys.argv[1])
    pixels, digits = test_images()
    os.chdir(tempfile.mkdtemp())
    for model, shape in SHAPES.items():
        x = pixels.reshape(-1, *shape)
        np.save("x.npy", x)
        result = json.loads(subprocess.run(
            [program, "train", model, "--data", "digits", "--json", "-q",
             f"--onnx={model}.onnx"], check=True, capture_output=True).stdout)
        subprocess.run([program, "run", f"{model}.onnx", "--input",
                        "x=x.npy", "--output", ".", "-q"], check=True)
        ours = np.load("logits.npy").argmax(axis=1)
        session = onnxruntime.InferenceSession(f"{model}.onnx")
        theirs = session.run(None, {"x": x})[0].argmax(axis=1)
        n_differ = int((ours != theirs).sum())
        share = float((theirs == digits).mean())
        reported = result["accuracy"]["test"]
        print(f"{model}: {len(digits)} images, {n_differ} differ, "
              f"{(theirs == digits).sum()} right")
        if n_differ or abs(share - reported) > 1e-12:
            sys.exit(f"{model}: reported {reported}, ONNX Runtime {share}")


main()
