#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes tests/data/models/endless.onnx: a Loop without a count, whose body
says each time that there is another: a pass of it never ends.  Needs the
package onnx.

usage: endless.py FILE.onnx
"""
import sys

from onnx import TensorProto, helper as h

F32, I64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL
body = h.make_graph(
    [h.make_node("Identity", ["go"], ["stay"], name="stay"),
     h.make_node("Add", ["sum", "x"], ["next"], name="add")],
    "body",
    [h.make_tensor_value_info("i", I64, []),
     h.make_tensor_value_info("go", BOOL, []),
     h.make_tensor_value_info("sum", F32, [4])],
    [h.make_tensor_value_info("stay", BOOL, []),
     h.make_tensor_value_info("next", F32, [4])])
graph = h.make_graph(
    [h.make_node("Loop", ["", "yes", "x"], ["y"], name="loop", body=body)],
    "endless",
    [h.make_tensor_value_info("x", F32, [4])],
    [h.make_tensor_value_info("y", F32, [4])],
    initializer=[h.make_tensor("yes", BOOL, [], [True])])
model = h.make_model(graph, producer_name="endless.py", ir_version=8,
                     opset_imports=[h.make_opsetid("", 17)])
with open(sys.argv[1], "wb") as file:
    file.write(model.SerializeToString())
