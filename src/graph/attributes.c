/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attributes.c - attributes of the wrong kind, and required ones left out.
 *
 * Across ONNX an attribute's name settles its kind, with a few exceptions
 * that are not in the lists; so one list per kind serves all operators
 * (tests/oracles/attribute_kinds.py makes them).  The rules of operators read
 * attributes with defaults and cannot fail, therefore this comes before them.
 */
#include "base/status.h"
#include "graph/op_rules.h"

#include <string.h>

#include "base/banned.h"

/* Names between blanks, so that one is found as a whole word. */
static const char int_names[] =
	" align_corners allowzero antialias axis batch_axis batch_dims"
	" block_size blocksize broadcast ceil_mode center_point_box"
	" chunk_size count_include_pad default_int64 detect_negative"
	" detect_positive dtype end exclude_outside exclusive fmod"
	" group hidden_size ignore_index input_forget interleaved"
	" inverse is_case_sensitive is_causal is_test k keepdims"
	" kv_num_heads largest layout left_window_size"
	" linear_before_reset max_gram_length max_map max_skip_count"
	" maxsplit min_gram_length multi_class n_supports n_targets"
	" new_axis noop_with_empty_axes num_groups num_heads"
	" num_outputs num_scan_inputs offset_group one_class onesided"
	" output_datatype output_dtype output_height output_sequence"
	" output_width periodic precision q_num_heads"
	" qk_matmul_output_mode replaced_value_int64 reverse"
	" right_window_size rotary_embedding_dim sample_size"
	" sampling_ratio saturate select_last_index size"
	" softmax_precision sorted spatial start stash_type"
	" storage_order targets time_axis training_mode transA transB"
	" upper value_int zeros ";

static const char float_names[] =
	" alpha beta bias clip cubic_coeff_a default_float epsilon"
	" extrapolation_value gamma height_scale high lambd low max"
	" mean min momentum ratio replaced_value_float softcap"
	" spatial_scale threshold value_float width_scale ";

static const char string_names[] =
	" activation approximate auto_pad case_change_action cast_to"
	" coordinate_transformation_mode default_string delimiter"
	" direction equation keep_aspect_ratio_policy kernel_type"
	" locale map_layout mode nearest_mode norm padding_mode pattern"
	" pixel_format reduction round_mode update_rule value_string ";

static const char ints_names[] =
	" axes cats_int64s class_ids class_nodeids class_treeids"
	" classlabels_int64s classlabels_ints consumed_inputs dilations"
	" directions ends imputed_value_int64s inputdimensions"
	" int64_vocabulary kernel_shape keys_int64s leaf_targetids"
	" ngram_counts ngram_indexes nodes_falseleafs"
	" nodes_falsenodeids nodes_featureids"
	" nodes_missing_value_tracks_true nodes_nodeids nodes_treeids"
	" nodes_trueleafs nodes_truenodeids output_padding output_shape"
	" paddings pads perm pool_int64s pooled_shape scan_input_axes"
	" scan_input_directions scan_output_axes scan_output_directions"
	" shape split starts strides target_ids target_nodeids"
	" target_treeids tree_roots value_ints values_int64s"
	" vectors_per_class ";

static const char floats_names[] =
	" activation_alpha activation_beta base_values class_weights"
	" coefficients imputed_value_floats intercepts kernel_params"
	" keys_floats nodes_values offset prob_a prob_b rho scales"
	" support_vectors target_weights value_floats values_floats"
	" weights ";

static const char strings_names[] =
	" activations cats_strings classes_strings classlabels_strings"
	" keys_strings pool_strings stopwords string_vocabulary"
	" value_strings values_strings ";

static const char block_names[] = " body else_branch then_branch ";

/* The same in operators of com.microsoft; other names have other kinds. */
static const char shared_names[] =
	" alpha axis dilations epsilon group kernel_shape num_heads"
	" pads strides transA transB ";

static const struct {
	const char *names;
	enum sl__attribute_kind kind;
	const char *text;
} lists[] = {
	{int_names, SL__ATTRIBUTE_INT, "an integer"},
	{ints_names, SL__ATTRIBUTE_INTS, "a list of integers"},
	{float_names, SL__ATTRIBUTE_FLOAT, "a real number"},
	{floats_names, SL__ATTRIBUTE_FLOATS, "a list of real numbers"},
	{string_names, SL__ATTRIBUTE_STRING, "a string"},
	{strings_names, SL__ATTRIBUTE_STRINGS, "a list of strings"},
	{block_names, SL__ATTRIBUTE_BLOCK, "a graph"},
};

static int
is_among(const char *name, const char *names)
{
	size_t n = strlen(name);

	if (!n || strchr(name, ' '))
		return 0;
	for (; names; names = strchr(names, ' ')) {
		names++;
		if (!strncmp(names, name, n) && names[n] == ' ')
			return 1;
	}
	return 0;
}

static enum sl_status
check_kind(const struct sl__node *node, const struct sl__attribute *a,
	   struct sl_error *err)
{
	/* One that says neither type nor contents is as good as left out. */
	if (a->kind == SL__ATTRIBUTE_OTHER)
		return SL_OK;
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		if (!is_among(a->name, lists[i].names))
			continue;
		if (a->kind == lists[i].kind)
			return SL_OK;
		return sl__fail(err, SL_E_DATA,
				"node '%.200s' (%.60s): attribute '%s' must "
				"be %s",
				node->name, node->type, a->name, lists[i].text);
	}
	return SL_OK;
}

/* Versions from 'since' to before 'until' (0: all) demand the attribute.
 * Operators whose own rules say so are not among them. */
static const struct {
	enum sl__op_id id;
	int since, until;
	const char *name;
} required[] = {
	{SL__OP_ONNX_BitShift, 11, 0, "direction"},
	{SL__OP_ONNX_Cast, 6, 0, "to"},
	{SL__OP_ONNX_Concat, 4, 0, "axis"},
	{SL__OP_ONNX_ConcatFromSequence, 11, 0, "axis"},
	{SL__OP_ONNX_Einsum, 12, 0, "equation"},
	{SL__OP_ONNX_GroupNormalization, 18, 0, "num_groups"},
	{SL__OP_ONNX_LRN, 1, 0, "size"},
	{SL__OP_ONNX_MaxRoiPool, 1, 0, "pooled_shape"},
	{SL__OP_ONNX_Pad, 2, 11, "pads"},
	{SL__OP_ONNX_Slice, 1, 10, "ends"},
	{SL__OP_ONNX_Slice, 1, 10, "starts"},
	{SL__OP_ONNX_Unsqueeze, 1, 13, "axes"},
	{SL__OP_ONNX_Upsample, 7, 9, "scales"},
};

enum sl_status
sl__op_check_attributes(const struct sl__node *node, struct sl_error *err)
{
	int is_shared = node->op && strcmp(node->op->domain, "") != 0 &&
			strcmp(node->op->domain, "ai.onnx.ml") != 0;
	enum sl_status rc = SL_OK;

	if (!node->op)
		return SL_OK;
	for (size_t i = 0; !rc && i < node->n_attributes; i++) {
		const struct sl__attribute *a = &node->attributes[i];

		if (!is_shared || is_among(a->name, shared_names))
			rc = check_kind(node, a, err);
	}
	for (size_t i = 0; !rc && i < sizeof(required) / sizeof(required[0]);
	     i++) {
		if (sl__is_op(node, required[i].id) &&
		    node->version >= required[i].since &&
		    (!required[i].until || node->version < required[i].until) &&
		    !sl__attribute_find(node, required[i].name))
			rc = sl__fail(err, SL_E_DATA,
				      "node '%.200s' (%.60s): its attribute "
				      "'%s' is left out",
				      node->name, node->type, required[i].name);
	}
	return rc;
}
