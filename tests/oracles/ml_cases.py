#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares what tests/test_ref_ml_*.c expect with ONNX Runtime.

Every check_evaluated() whose text is literal is run there; numbers may differ
by the rounding of single precision.  Needs onnx, onnxruntime and numpy:

    tests/oracles/ml_cases.py tests/test_ref_ml_*.c
"""
import re
import sys

import numpy as np
import onnxruntime
from onnx import TensorProto, helper

TYPES = {"f32": (TensorProto.FLOAT, np.float32),
         "i64": (TensorProto.INT64, np.int64),
         "string": (TensorProto.STRING, object)}
CALL = re.compile(r"check_evaluated\(\s*((?:\"[^\"]*\"|[A-Z]+|\s)+),\s*"
                  r"((?:\"[^\"]*\"\s*)+)\)")
TENSOR = re.compile(r"(\w+)\[([^\]]*)\]=\{([^}]*)\}")


def literal(text, macros):
    parts = re.findall(r'"([^"]*)"|([A-Z]+)', text)
    return "".join(a or literal(macros[b], macros) for a, b in parts)


def tensor(match):
    kind, dims, words = match
    words = [w.strip().strip("'") for w in words.split(",") if w.strip()]
    dims = [int(d) for d in dims.split(",") if d]
    return kind, np.array(words, dtype=TYPES[kind][1]).reshape(dims)


def attribute(word):
    key, value = word.split("=", 1)
    if value.startswith("["):
        words = value[1:-1].split(",")
        if words[0].startswith("'"):
            return key, [w.strip("'") for w in words]
        return key, [float(w) if "." in w else int(w) for w in words]
    if re.fullmatch(r"nan|-?\d+\.\d*", value):
        return key, float(value)
    return key, int(value) if re.fullmatch(r"-?\d+", value) else value


def run(line, n_outputs):
    name, version, inputs, attributes = re.fullmatch(
        r"(\S+) (\d+) \((.*?)\) ?(.*)", line).groups()
    domain, _, op = name.rpartition(".")
    values = [tensor(m) for m in TENSOR.findall(inputs)]
    names = [f"x{i}" for i in range(len(values))]
    node = helper.make_node(
        op, names, [f"y{i}" for i in range(n_outputs)], domain=domain,
        **dict(attribute(w) for w in attributes.split() if w))
    graph = helper.make_graph([node], "g", [
        helper.make_tensor_value_info(n, TYPES[k][0], v.shape)
        for n, (k, v) in zip(names, values)], [
        helper.make_empty_tensor_value_info(y) for y in node.output])
    model = helper.make_model(graph, ir_version=8, opset_imports=[
        helper.make_opsetid("", 15), helper.make_opsetid(domain, int(version))])
    session = onnxruntime.InferenceSession(model.SerializeToString())
    return session.run(None, {n: v for n, (_, v) in zip(names, values)})


def is_same(got, wanted):
    if got.shape != wanted.shape:
        return False
    if got.dtype.kind in "fi":
        return np.allclose(got, wanted, 1e-5, 1e-6, equal_nan=True)
    return list(got.ravel()) == list(wanted.ravel())


def main():
    n_same = n_wrong = 0
    for path in sys.argv[1:]:
        source = open(path).read()
        macros = {k: v.replace("\\\n", " ") for k, v in re.findall(
            r"#define (\w+)\s+((?:.*\\\n)*.*)\n", source)}
        for line, answer in CALL.findall(source):
            line = literal(line, macros)
            wanted = [tensor(m)[1] for m in TENSOR.findall(
                literal(answer, macros))]
            got = run(line, len(wanted))
            if all(is_same(a, b) for a, b in zip(got, wanted)):
                n_same += 1
            else:
                n_wrong += 1
                print(f"{path}: {line}\n  here {wanted}\n  there {got}")
    print(f"{n_same} the same, {n_wrong} not")
    return n_wrong > 0


sys.exit(main())
