/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_fields.h - the numbers of ONNX's fields that Sleuth knows. */
#ifndef SL_ONNX_FIELDS_H
#define SL_ONNX_FIELDS_H

/* As in onnx.proto, up to IR version 13. */

enum sl__onnx_model_field {
	SL__MODEL_IR_VERSION = 1,
	SL__MODEL_PRODUCER_NAME = 2,
	SL__MODEL_PRODUCER_VERSION = 3,
	SL__MODEL_GRAPH = 7,
	SL__MODEL_OPSET_IMPORT = 8,
	SL__MODEL_METADATA_PROPS = 14,
	SL__MODEL_FUNCTIONS = 25
};

/* StringStringEntryProto. */
enum sl__onnx_pair_field { SL__PAIR_KEY = 1, SL__PAIR_VALUE = 2 };

enum sl__onnx_opset_field { SL__OPSET_DOMAIN = 1, SL__OPSET_VERSION = 2 };

enum sl__onnx_graph_field {
	SL__GRAPH_NODE = 1,
	SL__GRAPH_NAME = 2,
	SL__GRAPH_INITIALIZER = 5,
	SL__GRAPH_INPUT = 11,
	SL__GRAPH_OUTPUT = 12,
	SL__GRAPH_VALUE_INFO = 13,
	SL__GRAPH_SPARSE_INITIALIZER = 15
};

enum sl__onnx_node_field {
	SL__NODE_INPUT = 1,
	SL__NODE_OUTPUT = 2,
	SL__NODE_NAME = 3,
	SL__NODE_OP_TYPE = 4,
	SL__NODE_ATTRIBUTE = 5,
	SL__NODE_DOMAIN = 7,
	SL__NODE_OVERLOAD = 8
};

enum sl__onnx_attribute_field {
	SL__ATTR_NAME = 1,
	SL__ATTR_F = 2,
	SL__ATTR_I = 3,
	SL__ATTR_S = 4,
	SL__ATTR_T = 5,
	SL__ATTR_G = 6,
	SL__ATTR_FLOATS = 7,
	SL__ATTR_INTS = 8,
	SL__ATTR_STRINGS = 9,
	SL__ATTR_TP = 14,
	SL__ATTR_TYPE = 20,
	SL__ATTR_REF_ATTR_NAME = 21,
	SL__ATTR_SPARSE_TENSOR = 22
};

/* What SL__ATTR_TYPE says. */
enum sl__onnx_attribute_type {
	SL__ATTR_TYPE_NONE = 0,
	SL__ATTR_TYPE_FLOAT = 1,
	SL__ATTR_TYPE_INT = 2,
	SL__ATTR_TYPE_STRING = 3,
	SL__ATTR_TYPE_TENSOR = 4,
	SL__ATTR_TYPE_GRAPH = 5,
	SL__ATTR_TYPE_FLOATS = 6,
	SL__ATTR_TYPE_INTS = 7,
	SL__ATTR_TYPE_STRINGS = 8,
	SL__ATTR_TYPE_TENSORS = 9,
	SL__ATTR_TYPE_GRAPHS = 10,
	SL__ATTR_TYPE_SPARSE_TENSOR = 11,
	SL__ATTR_TYPE_SPARSE_TENSORS = 12,
	SL__ATTR_TYPE_TYPE_PROTO = 13,
	SL__ATTR_TYPE_TYPE_PROTOS = 14
};

enum sl__onnx_tensor_field {
	SL__TENSOR_DIMS = 1,
	SL__TENSOR_DATA_TYPE = 2,
	SL__TENSOR_SEGMENT = 3,
	SL__TENSOR_FLOAT_DATA = 4,
	SL__TENSOR_INT32_DATA = 5,
	SL__TENSOR_STRING_DATA = 6,
	SL__TENSOR_INT64_DATA = 7,
	SL__TENSOR_NAME = 8,
	SL__TENSOR_RAW_DATA = 9,
	SL__TENSOR_DOUBLE_DATA = 10,
	SL__TENSOR_UINT64_DATA = 11,
	SL__TENSOR_EXTERNAL_DATA = 13,
	SL__TENSOR_DATA_LOCATION = 14 /* 1: external */
};

enum sl__onnx_sparse_field {
	SL__SPARSE_VALUES = 1,
	SL__SPARSE_INDICES = 2,
	SL__SPARSE_DIMS = 3
};

/* SequenceProto and OptionalProto. */
enum sl__onnx_sequence_field {
	SL__SEQUENCE_TENSOR = 3,
	SL__SEQUENCE_SEQUENCE = 5,
	SL__SEQUENCE_OPTIONAL = 7
};

enum sl__onnx_value_info_field {
	SL__VALUE_INFO_NAME = 1,
	SL__VALUE_INFO_TYPE = 2
};

enum sl__onnx_type_field {
	SL__TYPE_FIELD_TENSOR = 1,
	SL__TYPE_FIELD_SEQUENCE = 4,
	SL__TYPE_FIELD_MAP = 5,
	SL__TYPE_FIELD_OPAQUE = 7,
	SL__TYPE_FIELD_SPARSE = 8,
	SL__TYPE_FIELD_OPTIONAL = 9,
	/* Inside those: */
	SL__TYPE_FIELD_ELEMENT = 1,
	SL__TYPE_FIELD_SHAPE = 2,
	SL__SHAPE_DIM = 1,
	SL__DIM_VALUE = 1,
	SL__DIM_PARAM = 2
};

enum sl__onnx_function_field {
	SL__FUNCTION_NAME = 1,
	SL__FUNCTION_INPUT = 4,
	SL__FUNCTION_OUTPUT = 5,
	SL__FUNCTION_NODE = 7,
	SL__FUNCTION_OPSET_IMPORT = 9,
	SL__FUNCTION_DOMAIN = 10,
	SL__FUNCTION_ATTRIBUTE_PROTO = 11,
	SL__FUNCTION_OVERLOAD = 13
};

#endif
