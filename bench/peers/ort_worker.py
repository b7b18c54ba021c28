# SPDX-License-Identifier: Apache-2.0
"""ONNX Runtime behind the same questions as bench/engine.c.

usage: ort_worker.py MODEL INPUTS THREADS
"""
import os
import resource
import sys
import time

import numpy
import onnxruntime


def main():
    model, folder, threads = sys.argv[1], sys.argv[2], int(sys.argv[3])
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.perf_counter_ns()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(
        model, options, providers=["CPUExecutionProvider"])
    inputs = {i.name: numpy.load(os.path.join(
        folder, i.name.replace("/", "_") + ".npy"))
        for i in session.get_inputs()}
    outputs = session.run(None, inputs)
    print("first", time.perf_counter_ns() - start,
          resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, before,
          flush=True)
    for line in sys.stdin:
        word, value = line.split(maxsplit=1)
        if word == "run":
            times = []
            for _ in range(int(value)):
                start = time.perf_counter_ns()
                session.run(None, inputs)
                times.append(time.perf_counter_ns() - start)
            print(*times, flush=True)
        elif word == "save":
            for k, array in enumerate(outputs):
                array.tofile(os.path.join(value.strip(), f"{k}.bin"))
            print("saved", flush=True)


main()
