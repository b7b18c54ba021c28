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

Kept in onnx_newer: cases of operators, versions and types that the data of
Debian 12 does not have, and sequences and optionals for the program: some of ONNX's own, and some made here, whose answers
are those of ONNX's reference evaluator.  It evaluates Attention by the
operator's own function body: its kernel gives capped scores where mode 0 asks
for those before the cap.
"""
import argparse
import dataclasses
import os
import random
import shutil
import sys

import numpy as np
import onnx
from onnx import helper
from onnx.backend.test import cmd_tools
from onnx.backend.test.case import node
from onnx.backend.test.case.test_case import TestCase
from onnx.reference import ReferenceEvaluator

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

NEWER = """
ai_onnx_ml_label_encoder_string_int ai_onnx_ml_label_encoder_tensor_mapping
ai_onnx_ml_tree_ensemble_set_membership ai_onnx_ml_tree_ensemble_single_tree
attention_24_fullymasked_qk_matmul_output_mode3_zero
attention_4d_softcap_neginf_mask_poison
attention_local_window_gqa_rank4_mask attention_local_window_with_past
averagepool_2d_ceil_last_window_starts_on_pad bitcast_float32_to_int32
bitcast_bool_to_uint8 bitshift_left_int8_overflow
cast_FLOAT4E2M1_to_FLOAT cast_FLOAT_to_FLOAT4E2M1 cast_e8m0_FLOAT_to_FLOAT8E8M0
cast_e8m0_FLOAT8E8M0_to_FLOAT cast_FLOAT_to_INT2 cast_UINT2_to_FLOAT
causal_conv_with_state_with_bias_and_past_state celu_bfloat16
cumprod_2d_axis_1 dequantizelinear_float4e2m1 dequantizelinear_int2
div_int32_trunc einsum_scalar identity_opt linear_attention_gated_delta
lpnormalization_default mod_float_edge_cases_fmod_0_float32
nonmaxsuppression_iou_threshold_boundary
optional_get_element_optional_sequence
optional_has_element_empty_optional_input qlinearmatmul_2D_int8_float16
qlinearmatmul_3D_int8_float32 quantizelinear_float4e2m1 quantizelinear_uint2
range_bfloat16_type_positive_delta rms_normalization_2d_axis1
rms_normalization_3d_axis1_epsilon rotary_embedding_no_position_ids
rotary_embedding_with_interleaved_rotary_dim scan9_multi_state
sequence_insert_at_back spacetodepth_crd_mode_example swiglu_alpha swish tensorscatter
tensorscatter_circular top_k_same_values unique_bfloat16_sorted_without_axis
""".split()


def body_of(op, opset, types):
    """The nodes of Attention's own function; values have the names of the
    operator's inputs and outputs."""
    body = onnx.FunctionProto()
    body.ParseFromString(
        onnx.defs.get_schema(op.op_type, opset).get_context_dependent_function(
            op.SerializeToString(), [t.SerializeToString() for t in types]))
    return list(body.node)


def made(name, op, inputs, opset, domain=""):
    """A case of one node; 'inputs' by name, outputs by the reference."""
    types = [helper.make_tensor_type_proto(
        helper.np_dtype_to_tensor_dtype(x.dtype), x.shape)
        for x in inputs.values()]

    def model(outputs, nodes):
        return helper.make_model(
            helper.make_graph(
                nodes, name, [helper.make_value_info(n, t)
                              for n, t in zip(inputs, types)], outputs),
            opset_imports=[helper.make_opsetid(domain, opset)], ir_version=10)

    nodes = (body_of(op, opset, types) if op.op_type == "Attention" else [op])
    untyped = [helper.make_value_info(n, onnx.TypeProto()) for n in op.output]
    results = ReferenceEvaluator(model(untyped, nodes)).run(None, inputs)
    typed = [helper.make_tensor_value_info(
        n, helper.np_dtype_to_tensor_dtype(y.dtype), y.shape)
        for n, y in zip(op.output, results)]
    return TestCase(name="test_" + name, model_name=name, url=None,
                    model_dir=None, model=model(typed, [op]),
                    data_sets=[(list(inputs.values()), results)], kind="node",
                    rtol=1e-3, atol=1e-7)


def attention_cases(real):
    """Every qk_matmul_output_mode, with a mask, a cap, causal, with a past."""
    q, k, v = real(2, 2, 3, 4), real(2, 1, 4, 4), real(2, 1, 4, 4)
    past = {"past_key": real(2, 1, 2, 4), "past_value": real(2, 1, 2, 4)}
    masks = {"float": real(3, 6), "bool": real(2, 2, 3, 6) > -0.5}
    for mode in range(4):
        for kind, mask in masks.items():
            yield made(f"attention_made_mode{mode}_{kind}_mask",
                       helper.make_node(
                           "Attention",
                           ["Q", "K", "V", "attn_mask", "past_key",
                            "past_value"],
                           ["Y", "present_key", "present_value",
                            "qk_matmul_output"],
                           softcap=1.5, is_causal=kind == "bool",
                           qk_matmul_output_mode=mode),
                       {"Q": q, "K": k, "V": v, "attn_mask": mask, **past}, 24)


def tree_cases(real):
    """Two trees of three leaves, by every way of adding them up."""
    x = real(5, 2)
    x[4, 0] = np.nan
    for how in range(4):
        yield made(f"tree_ensemble_made_aggregate{how}", helper.make_node(
            "TreeEnsemble", ["X"], ["Y"], domain="ai.onnx.ml",
            aggregate_function=how, n_targets=1, post_transform=0,
            tree_roots=[0, 2], nodes_featureids=[0, 1, 1, 0],
            nodes_modes=onnx.numpy_helper.from_array(
                np.array([0, 3, 2, 1], np.uint8), "modes"),
            nodes_splits=onnx.numpy_helper.from_array(
                np.array([0.1, 0.2, -0.3, 0.4], np.float32), "splits"),
            nodes_missing_value_tracks_true=[1, 0, 0, 0],
            nodes_truenodeids=[1, 0, 3, 3], nodes_trueleafs=[0, 1, 0, 1],
            nodes_falsenodeids=[2, 1, 5, 4], nodes_falseleafs=[1, 1, 1, 1],
            leaf_targetids=[0] * 6,
            leaf_weights=onnx.numpy_helper.from_array(
                np.array([1, -2, 3, -4, 5, -6], np.float32), "weights")),
            {"X": x}, 5, "ai.onnx.ml")


def made_cases():
    rng = np.random.default_rng(1)

    def real(*shape):
        return rng.standard_normal(shape).astype(np.float32)

    yield from attention_cases(real)
    yield from tree_cases(real)
    # More than the generator draws at a time.
    yield made("dropout_made_seed", helper.make_node(
        "Dropout", ["x", "ratio", "training"], ["y", "mask"], seed=5),
        {"x": real(400), "ratio": np.array(0.25, np.float32),
         "training": np.array(True)}, 22)


def write(cases, folder):
    """The cases as files, each in the folder of its kind."""
    cmd_tools.model_test.collect_testcases = lambda: cases
    cmd_tools.generate_data(argparse.Namespace(output=folder))


def named(cases, names):
    """Those of the names, each of which must be there."""
    names = {"test_" + name for name in names}
    found = [case for case in cases if case.name in names]
    assert len(names) == len(found), names - {c.name for c in found}
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
    shutil.rmtree(os.path.join(sys.argv[1], "onnx_newer"), ignore_errors=True)
    write([dataclasses.replace(case, kind="onnx_newer")
           for case in named(cases, NEWER) + list(made_cases())], sys.argv[1])


main()
