#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares what tests/test_op_*.c expect with the onnx package.

Every check_out() is inferred again by onnx.shape_inference, and every
check_known() computed by onnx.reference where no names are in it.  Lines that
onnx cannot judge (foreign domains, unknown ranks, what it leaves open) are
counted as skipped, differences are printed.  Needs onnx and numpy:

    tests/oracles/op_cases.py tests/test_op_*.c
"""
import re
import sys
import warnings

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

TYPES = {
    "f32": TensorProto.FLOAT, "f64": TensorProto.DOUBLE,
    "f16": TensorProto.FLOAT16, "bf16": TensorProto.BFLOAT16,
    "f8e4m3fn": TensorProto.FLOAT8E4M3FN, "bool": TensorProto.BOOL,
    "string": TensorProto.STRING, "uint4": TensorProto.UINT4,
    "int4": TensorProto.INT4}
for bits in (8, 16, 32, 64):
    TYPES[f"i{bits}"] = TYPES[f"int{bits}"] = getattr(TensorProto, f"INT{bits}")
    TYPES[f"uint{bits}"] = getattr(TensorProto, f"UINT{bits}")

CALL = re.compile(
    r'check_(out|known)\(\s*((?:"[^"]*"\s*)+),\s*((?:"[^"]*"\s*)+)\)')
NODE = re.compile(r"([\w.]+) (\d+) \((.*?)\)([^()]*?)(?:-> (\d+))?$")
INPUT = re.compile(r"(\w+)(?:\[([^\]]*)\])?(?:=\{([^}]*)\})?")


# Here onnx's inference takes the type of X, its schema that of the scale.
ALLOWED = {"RMSNormalization 23 (f32[2,8], f16[8])"}


class Skipped(Exception):
    pass


def text(literals):
    return "".join(re.findall(r'"([^"]*)"', literals))


def number(word):
    return float(word) if "." in word else int(word)


def attribute(word):
    key, value = word.split("=")
    if value.startswith("["):
        return key, [number(w) for w in value[1:-1].split(",") if w]
    try:
        return key, number(value)
    except ValueError:
        return key, value


def make_model(line):
    found = NODE.match(line.strip())
    if not found or "." in found[1]:
        raise Skipped
    op, version = found[1], int(found[2])
    inputs, initializers, names = [], [], []
    for i, part in enumerate(re.findall(r"(_(?!\w)|\w[^\[,]*(?:\[[^\]]*\])?"
                                        r"(?:=\{[^}]*\})?)", found[3])):
        if part == "_":
            names.append("")
            continue
        dtype, dims, contents = INPUT.match(part).groups()
        name = f"in{i}"
        names.append(name)
        if dims is not None:
            dims = [int(d) if d.isdigit() else d for d in dims.split(",") if d]
        if contents is None:
            inputs.append(
                helper.make_tensor_value_info(name, TYPES[dtype], dims))
            continue
        if re.search(r"(^|,)[a-mo-z]|(^|,)n(,|$)", contents):
            raise Skipped
        array = np.array([float(w) if "f" in dtype else int(w)
                          for w in contents.split(",") if w])
        kind = helper.tensor_dtype_to_np_dtype(TYPES[dtype])
        initializers.append(numpy_helper.from_array(
            array.astype(kind).reshape(dims), name))
    n_outputs = int(found[5] or onnx.defs.get_schema(op, version).min_output)
    outputs = [f"out{k}" for k in range(max(n_outputs, 1))]
    node = helper.make_node(op, names, outputs,
                            **dict(map(attribute, found[4].split())))
    graph = helper.make_graph(
        [node], "g", inputs,
        [helper.make_empty_tensor_value_info(o) for o in outputs],
        initializers)
    return helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", version)])


def check_out(model, expected):
    inferred = onnx.shape_inference.infer_shapes(model, data_prop=True)
    rows = expected.split(" ")
    compared = 0
    for row, value in zip(rows, inferred.graph.output):
        is_type = value.type.tensor_type
        dtype, dims = re.match(r"(\w+)(\?|\[.*\])", row).groups()
        if is_type.elem_type == 0 or dtype == "none":
            continue
        if TYPES[dtype] != is_type.elem_type:
            return f"type {is_type.elem_type}"
        if dims == "?" or not is_type.HasField("shape"):
            continue
        expect = [d for d in dims[1:-1].split(",") if d]
        got = [d.dim_param or (str(d.dim_value) if d.HasField("dim_value")
                               else "?") for d in is_type.shape.dim]
        if len(got) != len(expect) or any(
                g != e for g, e in zip(got, expect)
                if "?" not in (g, e) and not g.startswith("unk__")):
            return str(got)
        compared += 1
    if not compared:
        raise Skipped
    return None


def check_known(model, expected):
    if expected == "?" or model.graph.input:
        raise Skipped
    got = np.asarray(ReferenceEvaluator(model).run(None, {})[0])
    expect = np.array([float(w) for w in expected[1:-1].split(",") if w])
    # numpy's functions on f32 are off by one digit at times.
    if got.size == expect.size and np.allclose(
            got.astype(float).ravel(), expect, rtol=2e-7, atol=0,
            equal_nan=True):
        return None
    return str(got.tolist())


def main():
    warnings.simplefilter("ignore")
    n_agree = n_skipped = n_differ = 0
    for path in sys.argv[1:]:
        with open(path, encoding="utf-8") as file:
            calls = CALL.findall(file.read())
        for kind, line, expected in calls:
            line, expected = text(line), text(expected)
            try:
                check = check_out if kind == "out" else check_known
                problem = check(make_model(line), expected)
            except Skipped:
                n_skipped += 1
                continue
            except Exception as e:  # whatever onnx cannot judge
                print(f"{path}: {line}: skipped, {str(e)[:100]!r}")
                n_skipped += 1
                continue
            if problem and line not in ALLOWED:
                print(f"{path}: {line}: expected {expected}, onnx {problem}")
                n_differ += 1
            else:
                n_agree += 1
    print(f"{n_agree} agree, {n_differ} differ, {n_skipped} skipped")
    return 1 if n_differ else 0


if __name__ == "__main__":
    sys.exit(main())
