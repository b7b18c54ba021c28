#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes cases of ONNX's backend tests with the onnx package (1.23.2).

onnx_cases.py --all FOLDER    every node case, for SL_ONNX_TESTDATA=FOLDER
onnx_cases.py tests/data      those that the tests keep

Kept in onnx_corrected: cases of the releases that Debian has whose answers
ONNX has corrected since.  Adam's model lacked its epsilon; casts to bf16 were
cut, not rounded; casts to four bits saturated, and now wrap; QLinearMatMul
wrapped, where the standard saturates; AveragePool divided by positions that
lie beyond the padding.
"""
import argparse
import os
import random
import shutil
import sys

import numpy as np
from onnx.backend.test import cmd_tools
from onnx.backend.test.case import node

CORRECTED = (
    ["adam_multiple", "cast_FLOAT_to_BFLOAT16", "castlike_FLOAT_to_BFLOAT16",
     "castlike_FLOAT_to_BFLOAT16_expanded",
     "averagepool_3d_dilations_large_count_include_pad_is_1_ceil_mode_is_True"]
    + [f"cast_{a}_to_{b}" for a in ("FLOAT", "FLOAT16")
       for b in ("INT4", "UINT4")]
    + [f"qlinearmatmul_{rank}_int8_{scale}" for rank in ("2D", "3D")
       for scale in ("float16", "float32")])

# Its input is as it was, and larger than what is kept.
UNCHANGED = ["averagepool_3d_dilations_large_count_include_pad_is_1_"
             "ceil_mode_is_True/test_data_set_0/input_0.pb",
             "averagepool_3d_dilations_large_count_include_pad_is_1_"
             "ceil_mode_is_True/model.onnx"]


def write(cases, folder):
    """The cases as files, in FOLDER/node."""
    cmd_tools.model_test.collect_testcases = lambda: cases
    cmd_tools.generate_data(argparse.Namespace(output=folder))


def named(cases, names):
    """Those of the names, each of which must be there."""
    names = {"test_" + name for name in names}
    found = [case for case in cases if case.name in names]
    assert names == {case.name for case in found}, names
    return found


def main():
    random.seed(0)
    np.random.seed(0)
    cases = node.collect_testcases()
    if sys.argv[1] == "--all":
        write(cases, sys.argv[2])
        return
    folder = os.path.join(sys.argv[1], "onnx_corrected")
    shutil.rmtree(folder, ignore_errors=True)
    write(named(cases, CORRECTED), folder)
    for path in UNCHANGED:
        os.remove(os.path.join(folder, "node", "test_" + path))


main()
