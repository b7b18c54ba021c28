#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes tests/data/models/unknown_sizes.onnx: the places of numbers that are
not 0, of which there are as many as the data have.  Of its memory the input
is known, 16 bytes a sample.  Needs the package onnx.

usage: unknown_sizes.py FILE.onnx
"""
import sys

from onnx import TensorProto, helper as h

graph = h.make_graph(
    [h.make_node("NonZero", ["x"], ["y"], name="places")],
    "unknown_sizes",
    [h.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", 4])],
    [h.make_tensor_value_info("y", TensorProto.INT64, [2, "found"])],
    doc_string="As many places as there are numbers that are not 0: the size "
               "of the result depends on the data.")
model = h.make_model(graph, producer_name="unknown_sizes.py", ir_version=8,
                     opset_imports=[h.make_opsetid("", 17)])
with open(sys.argv[1], "wb") as file:
    file.write(model.SerializeToString())
