#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Core MACs of models by running them: core_macs.py FOLDER...

Each FOLDER holds model.onnx and test_data_set_0/input_N.pb.  ONNX Runtime
runs the model with every value of the main graph as an output; the products
of each node then follow from the shapes that really occurred.  Prints one
line a model: MACs and the folder.  Needs onnx, onnxruntime, numpy.
"""
import math
import pathlib
import sys

import numpy
import onnx
import onnxruntime


def feeds(model, folder):
    initializers = {t.name for t in model.graph.initializer}
    names = [i.name for i in model.graph.input if i.name not in initializers]
    for i, name in enumerate(names):
        path = folder / "test_data_set_0" / f"input_{i}.pb"
        tensor = onnx.TensorProto.FromString(path.read_bytes())
        yield name, onnx.numpy_helper.to_array(tensor)


def shapes(model, folder):
    """Shapes of all values, from one run and the initializers."""
    given = dict(feeds(model, folder))
    wide = onnx.ModelProto.FromString(model.SerializeToString())
    del wide.graph.output[:]
    names = [o for n in model.graph.node for o in n.output if o]
    wide.graph.output.extend(onnx.helper.make_empty_tensor_value_info(n)
                             for n in names)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.graph_optimization_level = (
        onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL)
    session = onnxruntime.InferenceSession(wide.SerializeToString(), options)
    known = {t.name: tuple(t.dims) for t in model.graph.initializer}
    known.update((k, v.shape) for k, v in given.items())
    known.update(zip(names, (numpy.shape(v)
                             for v in session.run(names, given))))
    return known


def attribute(node, name, otherwise):
    for a in node.attribute:
        if a.name == name:
            return onnx.helper.get_attribute_value(a)
    return otherwise


def macs_of(node, known):
    ins = [known.get(i) for i in node.input]
    out = known.get(node.output[0])
    if node.op_type in ("Conv", "ConvInteger", "QLinearConv"):
        weight = ins[3 if node.op_type == "QLinearConv" else 1]
        return math.prod(out) * math.prod(weight[1:])
    if node.op_type == "ConvTranspose":
        return math.prod(ins[0]) * math.prod(ins[1][1:])
    if node.op_type in ("MatMul", "MatMulInteger", "QLinearMatMul"):
        return math.prod(out) * ins[0][-1]
    if node.op_type == "Gemm":
        at = 0 if attribute(node, "transA", 0) else 1
        return math.prod(out) * ins[0][at]
    if node.op_type in ("LSTM", "GRU", "RNN"):
        directions, gates, width = ins[1]
        steps = ins[0][0] * ins[0][1]
        return steps * directions * gates * (width + ins[2][2])
    if node.op_type == "Einsum":
        raise SystemExit("Einsum is not counted here")
    return 0


for name in sys.argv[1:]:
    folder = pathlib.Path(name)
    model = onnx.load(folder / "model.onnx")
    known = shapes(model, folder)
    print(sum(macs_of(n, known) for n in model.graph.node), folder.name)
