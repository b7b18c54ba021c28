#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes tests/data/models/unknown_operator.onnx: a product of 8 by 4 (32
multiply-adds) and a node of a domain that nobody knows, whose cost must be
reported as unknown.  Needs the package onnx.

usage: unknown_operator.py FILE.onnx
"""
import sys

from onnx import TensorProto, helper as h

F32 = TensorProto.FLOAT
weight = h.make_tensor("weight", F32, [8, 4], [0.5] * 32)
graph = h.make_graph(
    [h.make_node("MatMul", ["x", "weight"], ["y"], name="product"),
     h.make_node("Squash", ["y"], ["z"], name="squash", domain="org.example")],
    "unknown_operator",
    [h.make_tensor_value_info("x", F32, [1, 8])],
    [h.make_tensor_value_info("z", F32, [1, 4])],
    initializer=[weight])
model = h.make_model(graph, producer_name="unknown_operator.py", ir_version=8,
                     opset_imports=[h.make_opsetid("", 17),
                                    h.make_opsetid("org.example", 1)])
with open(sys.argv[1], "wb") as file:
    file.write(model.SerializeToString())
