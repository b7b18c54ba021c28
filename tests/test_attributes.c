/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Proves that an attribute of another kind than its name has in ONNX is
 * refused by name, that required ones are asked for in the versions that
 * demand them, and that neither is asked of operators that are not known.
 * The kinds are those of onnx's schemas (tests/oracles/attribute_kinds.py).
 */
#include "graph/graph_construction.h"
#include "harness.h"
#include "graph/op_rules.h"

static const int64_t ints[] = {1, 2};
static const float floats[] = {1, 2};
static const char *const strings[] = {"a", "b"};

/* What freezing a graph of this one node says; NULL: nothing. */
static const char *
complaint(struct sl__node *node, const struct sl__attribute *attribute)
{
	static struct sl_error err;
	struct sl_graph *g;
	uint32_t in, out, id;
	enum sl_status rc;

	assert_int_equal(sl__graph_new(&g, NULL, NULL), SL_OK);
	assert_int_equal(sl__graph_add_value(g, &in, "x", 0, NULL), SL_OK);
	assert_int_equal(sl__graph_add_value(g, &out, "y", 0, NULL), SL_OK);
	g->values[in].kind = SL_VALUE_INPUT;
	node->name = "n";
	node->n_inputs = node->n_outputs = 1;
	node->inputs = &in;
	node->outputs = &out;
	node->attributes = attribute;
	node->n_attributes = attribute ? 1 : 0;
	assert_int_equal(sl__graph_add_node(g, &id, node, NULL), SL_OK);
	err.status = SL_OK;
	rc = sl__graph_freeze(g, &err);
	sl_graph_free(g);
	if (rc)
		assert_int_equal(rc, SL_E_DATA);
	return rc ? err.text : NULL;
}

static const char *
with(const char *domain, const char *type, const char *name,
     enum sl__attribute_kind kind)
{
	struct sl__attribute attribute = {.name = name,
					  .kind = kind,
					  .n = 1,
					  .ints = ints,
					  .floats = floats,
					  .strings = strings};
	struct sl__node node = {.domain = domain, .type = type, .version = 13};

	return complaint(&node, &attribute);
}

static void
test_another_kind_is_refused(void **state)
{
	(void)state;
	assert_string_equal(
		with("", "Softmax", "axis", SL__ATTRIBUTE_STRING),
		"node 'n' (Softmax): attribute 'axis' must be an integer");
	assert_string_equal(
		with("", "MaxPool", "strides", SL__ATTRIBUTE_STRING),
		"node 'n' (MaxPool): attribute 'strides' must be a list of "
		"integers");
	assert_string_equal(
		with("", "Elu", "alpha", SL__ATTRIBUTE_INT),
		"node 'n' (Elu): attribute 'alpha' must be a real number");
	assert_string_equal(
		with("", "MaxPool", "auto_pad", SL__ATTRIBUTE_INTS),
		"node 'n' (MaxPool): attribute 'auto_pad' must be a string");
	assert_non_null(
		with("com.microsoft", "Gelu", "axis", SL__ATTRIBUTE_FLOAT));
}

static void
test_the_right_kind_passes(void **state)
{
	(void)state;
	assert_null(with("", "Softmax", "axis", SL__ATTRIBUTE_INT));
	assert_null(with("", "MaxPool", "strides", SL__ATTRIBUTE_INTS));
	assert_null(with("", "Elu", "alpha", SL__ATTRIBUTE_FLOAT));
	/* Says nothing, names nothing of ONNX, belongs to others. */
	assert_null(with("", "Softmax", "axis", SL__ATTRIBUTE_OTHER));
	assert_null(with("", "Softmax", "note", SL__ATTRIBUTE_STRING));
	assert_null(with("org.other", "Softmax", "axis", SL__ATTRIBUTE_FLOAT));
	assert_null(
		with("com.microsoft", "Gelu", "activation", SL__ATTRIBUTE_INT));
}

static void
test_required_attributes(void **state)
{
	static const struct {
		const char *type;
		int version, is_demanded;
	} rows[] = {{"Concat", 1, 0},     {"Concat", 4, 1}, {"Concat", 13, 1},
		    {"Cast", 13, 1},      {"LRN", 13, 1},   {"Einsum", 12, 1},
		    {"Unsqueeze", 11, 1}, {"Relu", 13, 0}};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct sl__node node = {.domain = "",
					.type = rows[i].type,
					.version = rows[i].version};
		const char *text = complaint(&node, NULL);

		if (!text != !rows[i].is_demanded ||
		    (text && !strstr(text, "is left out")))
			fail_msg("%s %d: %s", rows[i].type, rows[i].version,
				 text ? text : "(nothing)");
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_another_kind_is_refused),
		cmocka_unit_test(test_the_right_kind_passes),
		cmocka_unit_test(test_required_attributes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
