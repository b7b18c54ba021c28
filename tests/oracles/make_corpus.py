#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the seeds of fuzz/corpus: tiny models that use every part of ONNX
that the reader knows.  Needs the packages onnx and numpy.

usage: make_corpus.py FOLDER
"""
import os
import sys

import numpy as np
from onnx import (AttributeProto, TensorProto,
                  TypeProto, helper as h, numpy_helper)

F32, I64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL


def info(name, dims=None, dtype=F32):
    return h.make_tensor_value_info(name, dtype, dims)


def model(nodes, inputs, outputs, name="g", ir=8, opsets=(("", 17),),
          functions=(), **graph):
    graph = h.make_graph(nodes, name, inputs, outputs, **graph)
    return h.make_model(graph, producer_name="corpus", ir_version=ir,
                        opset_imports=[h.make_opsetid(*o) for o in opsets],
                        functions=functions)


def tensor(name, dtype, dims, values, raw=False):
    return h.make_tensor(name, dtype, dims, values, raw)


def mlp():
    w = numpy_helper.from_array(np.ones((4, 3), np.float32), "w")
    b = tensor("b", F32, [3], [1, 2, 3])
    m = model([h.make_node("Gemm", ["x", "w", "b"], ["h"], "fc", alpha=0.5),
               h.make_node("Relu", ["h"], ["y"])],
              [info("x", ["batch", 4])], [info("y", ["batch", 3])],
              initializer=[w, b], value_info=[info("h", [None, 3])])
    h.set_model_props(m, {"author": "nobody", "empty": ""})
    return m


def conv():
    w = tensor("w", F32, [2, 1, 3, 3], [0.5] * 18)
    scale = [tensor(n, F32, [2], [1, 1]) for n in ("s", "o", "m", "v")]
    return model(
        [h.make_node("Conv", ["x", "w"], ["c"], pads=[1, 1, 1, 1],
                     strides=[2, 2]),
         h.make_node("BatchNormalization", ["c", "s", "o", "m", "v"], ["n"]),
         h.make_node("GlobalAveragePool", ["n"], ["p"]),
         h.make_node("Constant", [], ["two"],
                     value=tensor("", I64, [2], [0, -1])),
         h.make_node("Reshape", ["p", "two"], ["y"])],
        [info("x", ["N", 1, 8, 8])], [info("y", ["N", 2])],
        initializer=[w] + scale)


def types():
    """Every type of number, in the list that belongs to it."""
    tensors = []
    for dtype in range(1, TensorProto.FLOAT4E2M1 + 1):
        if dtype == TensorProto.STRING:
            values = [b"a", b"", b"\xff"]
        elif dtype in (TensorProto.COMPLEX64, TensorProto.COMPLEX128):
            values = [1 + 2j, 0, -1j]
        elif dtype == BOOL:
            values = [True, False, True]
        else:
            values = [1, 0, 1]
        tensors.append(tensor(f"t{dtype}", dtype, [3], values))
    return model([], [], [info("t1", [3])], ir=10, opsets=(("", 21),),
                 initializer=tensors)


def sparse():
    values = tensor("s", F32, [2], [1, 2])
    flat = h.make_sparse_tensor(values, tensor("i", I64, [2], [1, 5]), [2, 3])
    values2 = tensor("s2", F32, [2], [1, 2])
    rows = h.make_sparse_tensor(
        values2, tensor("i2", I64, [2, 2], [0, 1, 1, 2]), [2, 3])
    m = model([h.make_node("Add", ["s", "s2"], ["y"]),
               h.make_node("Constant", [], ["z"], sparse_value=flat)],
              [], [info("y", [2, 3]), info("z", [2, 3])],
              sparse_initializer=[flat, rows])
    return m


def external():
    t = TensorProto(name="w", data_type=F32, dims=[2, 2])
    t.data_location = TensorProto.EXTERNAL
    for key, value in (("location", "w.bin"), ("offset", "4"),
                       ("length", "16")):
        t.external_data.add(key=key, value=value)
    return model([h.make_node("MatMul", ["x", "w"], ["y"])],
                 [info("x", [2, 2])], [info("y", [2, 2])], initializer=[t])


def old_inputs():
    """IR 3: initializers are listed among the inputs."""
    w = tensor("w", F32, [2], [1, 2])
    return model([h.make_node("Add", ["x", "w"], ["y"])],
                 [info("x", [2]), info("w", [2])], [info("y", [2])], ir=3,
                 opsets=(("", 7),), initializer=[w])


def branches():
    def branch(op):
        return h.make_graph([h.make_node(op, ["x"], ["r"])], op, [],
                            [info("r", [2])])
    return model([h.make_node("If", ["c"], ["y"], "choose",
                              then_branch=branch("Relu"),
                              else_branch=branch("Neg"))],
                 [info("c", [], BOOL), info("x", [2])], [info("y", [2])])


def loop():
    body = h.make_graph(
        [h.make_node("Identity", ["go"], ["on"]),
         h.make_node("Add", ["a", "step"], ["b"]),
         h.make_node("Identity", ["b"], ["seen"])], "body",
        [info("i", [], I64), info("go", [], BOOL), info("a", [2])],
        [info("on", [], BOOL), info("b", [2]), info("seen", [2])],
        initializer=[tensor("inner", F32, [1], [0])])
    return model([h.make_node("Loop", ["n", "", "x"], ["y", "all"],
                              body=body)],
                 [info("x", [2]), info("step", [2])],
                 [info("y", [2]), info("all", ["n", 2])],
                 initializer=[tensor("n", I64, [], [3])])


def scan():
    body = h.make_graph([h.make_node("Add", ["s", "e"], ["s2"]),
                         h.make_node("Identity", ["s2"], ["o"])], "body",
                        [info("s", [2]), info("e", [2])],
                        [info("s2", [2]), info("o", [2])])
    return model([h.make_node("Scan", ["s0", "x"], ["last", "y"], body=body,
                              num_scan_inputs=1)],
                 [info("s0", [2]), info("x", [3, 2])],
                 [info("last", [2]), info("y", [3, 2])])


def functions():
    """Attributes by reference, with and without default; calls in calls."""
    def refer(node, name, of, kind):
        node.attribute.append(AttributeProto(name=name, ref_attr_name=of,
                                             type=kind))
        return node
    opset = [h.make_opsetid("", 17), h.make_opsetid("f", 1)]
    inner = h.make_function(
        "f", "Leak", ["x"], ["y"],
        [refer(h.make_node("LeakyRelu", ["x"], ["y"]), "alpha", "a",
               AttributeProto.FLOAT)], opset, ["a"])
    call = refer(h.make_node("Leak", ["p"], ["q"], "leak", domain="f"), "a",
                 "slope", AttributeProto.FLOAT)
    outer = h.make_function(
        "f", "Twice", ["p", "unused"], ["r", "p"],
        [call, h.make_node("Leak", ["q"], ["t"], domain="f", a=0.25),
         refer(h.make_node("Softmax", ["t"], ["r"]), "axis", "axis",
               AttributeProto.INT)],
        opset, ["slope"], [h.make_attribute("axis", 1)])
    return model([h.make_node("Twice", ["x"], ["y", "same"], "top",
                              domain="f", slope=0.125)],
                 [info("x", ["n", 2])], [info("y"), info("same")],
                 opsets=(("", 17), ("f", 1)), functions=[inner, outer])


def other_types():
    tensor_type = h.make_tensor_type_proto(F32, ["n", 2])
    values = [
        h.make_value_info("seq", h.make_sequence_type_proto(tensor_type)),
        h.make_value_info("opt", h.make_optional_type_proto(tensor_type)),
        h.make_value_info("map", h.make_map_type_proto(I64, tensor_type)),
        h.make_value_info("sp", h.make_sparse_tensor_type_proto(F32, [3])),
        h.make_value_info("bare", TypeProto())]
    return model([h.make_node("SequenceLength", ["seq"], ["y"]),
                  h.make_node("Optional", [], ["o"], type=tensor_type)],
                 values, [info("y", [], I64)])


def foreign():
    return model([h.make_node("Gelu", ["x"], ["h"], domain="com.microsoft"),
                  h.make_node("Mystery", ["h", "", "x"], ["y", "", "z"],
                              domain="acme", words=["a", "b"], word="c",
                              numbers=[1.5, 2.5], graphs=[
                                  h.make_graph([], "none", [], [])])],
                 [info("x", [2])], [info("y", [2])],
                 opsets=(("", 17), ("com.microsoft", 1), ("acme", 3)))


def unsorted():
    return model([h.make_node("Neg", ["b"], ["y"]),
                  h.make_node("Relu", ["a"], ["b"]),
                  h.make_node("Abs", ["x"], ["a"])],
                 [info("x", [2])], [info("y", [2])])


def quantized():
    one = tensor("one", F32, [], [0.5])
    zero = tensor("zero", TensorProto.UINT8, [], [128])
    return model([h.make_node("QuantizeLinear", ["x", "one", "zero"], ["q"]),
                  h.make_node("DequantizeLinear", ["q", "one", "zero"],
                              ["y"])],
                 [info("x", [2])], [info("y", [2])], initializer=[one, zero])


def constants():
    def constant(name, **value):
        return h.make_node("Constant", [], [name], **value)
    return model([constant("i", value_int=3), constant("f", value_float=1.5),
                  constant("is", value_ints=[1, 2]),
                  constant("fs", value_floats=[1.5, 2.5]),
                  constant("s", value_string="hi"),
                  constant("ss", value_strings=["a", "b"]),
                  constant("i", value_int=4),
                  h.make_node("ConstantOfShape", ["is"], ["y"],
                              value=tensor("v", F32, [1], [7]))],
                 [], [info("y")])


SEEDS = [mlp, conv, types, sparse, external, old_inputs, branches, loop, scan,
         functions, other_types, foreign, unsorted, quantized, constants]

if len(sys.argv) != 2:
    sys.exit(__doc__.strip().splitlines()[-1])
for make in SEEDS:
    made = make()
    with open(os.path.join(sys.argv[1], make.__name__ + ".onnx"), "wb") as out:
        out.write(made.SerializeToString(deterministic=True))
