#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes tests/data/ort_quantized/: models that ONNX Runtime's own quantizers
made of two small ones, with an input and ONNX Runtime's output of each.

    python3 tests/oracles/ort_quantized.py tests/data/ort_quantized

Needs onnx, onnxruntime (1.31 was used) and numpy.  test_ort_quantized.c runs them."""
import os
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from onnxruntime import quantization
from onnxruntime.quantization.matmul_nbits_quantizer import MatMulNBitsQuantizer

RNG = np.random.default_rng(18)


def weights(name, *dims):
    return numpy_helper.from_array((RNG.standard_normal(dims) / np.sqrt(np.prod(dims[1:]) or 1)).astype(np.float32), name)


def model(name, nodes, constants, x, y):
    graph = helper.make_graph(
        nodes, name, [helper.make_tensor_value_info("x", TensorProto.FLOAT, x)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, y)], constants)
    return helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid("", 21)])


def image_model():
    """A residual block with a depthwise convolution, pools and a classifier."""
    node = helper.make_node
    return model("image", [
        node("Conv", ["x", "w1", "b1"], ["c1"], pads=[1, 1, 1, 1]), node("Relu", ["c1"], ["r1"]),
        node("MaxPool", ["r1"], ["p"], kernel_shape=[2, 2], strides=[2, 2]),
        node("Conv", ["p", "w2", "b2"], ["c2"], pads=[1, 1, 1, 1], group=8),
        node("Add", ["c2", "p"], ["s"]), node("Relu", ["s"], ["r2"]),
        node("GlobalAveragePool", ["r2"], ["a"]), node("Flatten", ["a"], ["f"]),
        node("Gemm", ["f", "w3", "b3"], ["y"], transB=1)],
        [weights("w1", 8, 3, 3, 3), weights("b1", 8), weights("w2", 8, 1, 3, 3), weights("b2", 8),
         weights("w3", 5, 8), weights("b3", 5)], [2, 3, 8, 8], [2, 5])


def matrix_model():
    node = helper.make_node
    return model("matrix", [
        node("MatMul", ["x", "w1"], ["m1"]), node("Add", ["m1", "b1"], ["a1"]), node("Relu", ["a1"], ["r"]),
        node("MatMul", ["r", "w2"], ["y"])],
        [weights("w1", 64, 96), weights("b1", 96), weights("w2", 96, 40)], [1, 3, 64], [1, 3, 40])


def sample(dims):
    return RNG.standard_normal(dims).astype(np.float32)


class Samples(quantization.CalibrationDataReader):
    def __init__(self, dims):
        self.left = [{"x": sample(dims)} for _ in range(8)]

    def get_next(self):
        return self.left.pop() if self.left else None


def static(path, out, dims, **how):
    quantization.quantize_static(path, out, Samples(dims), **how)


def n_bits(path, out, bits, block, is_symmetric, level):
    q = MatMulNBitsQuantizer(onnx.load(path), bits=bits, block_size=block, is_symmetric=is_symmetric, accuracy_level=level)
    q.process()
    q.model.save_model_to_file(out)


def save(folder, name, path, dims):
    """The model, an input and what ONNX Runtime makes of it."""
    to = os.path.join(folder, name)
    os.makedirs(to, exist_ok=True)
    x = sample(dims)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    y, = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"]).run(None, {"x": x})
    os.replace(path, os.path.join(to, "model.onnx"))
    for kind, array in (("input", x), ("output", y)):
        with open(os.path.join(to, kind + "_0.pb"), "wb") as f:
            f.write(numpy_helper.from_array(array).SerializeToString())


def main():
    folder = sys.argv[1]
    s8, u8 = quantization.QuantType.QInt8, quantization.QuantType.QUInt8
    operators = quantization.QuantFormat.QOperator
    with tempfile.TemporaryDirectory() as scratch:
        image, matrix, made = (os.path.join(scratch, n) for n in ("image.onnx", "matrix.onnx", "made.onnx"))
        onnx.save(image_model(), image)
        onnx.save(matrix_model(), matrix)
        pixels, rows = [2, 3, 8, 8], [1, 3, 64]
        cases = [
            ("image_qdq_u8", pixels, lambda: static(image, made, pixels, per_channel=True, activation_type=u8, weight_type=s8)),
            ("image_qdq_s8", pixels, lambda: static(image, made, pixels, activation_type=s8, weight_type=s8)),
            ("image_operators", pixels, lambda: static(image, made, pixels, quant_format=operators)),
            ("matrix_qdq", rows, lambda: static(matrix, made, rows, activation_type=u8, weight_type=s8)),
            ("image_dynamic", pixels, lambda: quantization.quantize_dynamic(image, made, weight_type=u8)),
            ("matrix_dynamic", rows, lambda: quantization.quantize_dynamic(matrix, made, weight_type=s8, per_channel=True)),
            ("matrix_4_bits", rows, lambda: n_bits(matrix, made, 4, 32, False, 0)),
            ("matrix_4_bits_symmetric", rows, lambda: n_bits(matrix, made, 4, 64, True, 4)),
            ("matrix_8_bits", rows, lambda: n_bits(matrix, made, 8, 32, True, 4)),
        ]
        for name, dims, make in cases:
            make()
            save(folder, name, made, dims)


if __name__ == "__main__":
    main()
