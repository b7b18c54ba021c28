/* SPDX-License-Identifier: Apache-2.0 */
/* test_folded.c - stacks for flame graphs. */
#include "known_profile.h"

static void
check(const struct sl_profile *profile, const char *expected)
{
	struct sl_buf out = {0};
	struct sl_error err;

	assert_int_equal(sl_profile_folded(profile, &out, &err), SL_OK);
	assert_string_equal(out.data ? out.data : "", expected);
	sl_buf_release(&out);
}

/* The last part of a name is a frame where the path does not end in it. */
static void
stacks(void **state)
{
	struct known_profile k;

	(void)state;
	known_profile(&k);
	check(&k.profile, "little_net;features;0;conv;Conv 4000\n"
			  "little_net;features;1;relu 1500\n"
			  "little_net;reorder_a_b_c 2500\n");
}

/* Exporters name a node after any of those that it took in. */
static void
leaves_are_operators(void **state)
{
	static const struct {
		const char *name, *type, *line;
	} rows[] = {
		{"a/b/BiasAdd/ReadVariableOp", "Conv", "little_net;a;b;Conv"},
		{"a/b/Relu;a/c/Conv2D1", "Conv", "little_net;a;b;Conv2D1"},
		{"a/b/Relu;a/c/BiasAdd", "Conv", "little_net;a;b;Conv"},
		{"a/b/MatMul_1_add", "MatMul", "little_net;a;b;MatMul_1_add"},
		{"a/b/Max", "ReduceMax", "little_net;a;b;ReduceMax"},
		{"a/b/conv_2", "Conv", "little_net;a;b;conv_2"},
	};
	struct known_profile k;

	(void)state;
	known_profile(&k);
	k.profile.n_operations = 1;
	k.operations[0].module = "a/b";
	k.operations[0].self_ns = 7;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char line[64];

		k.operations[0].name = rows[i].name;
		k.operations[0].type = rows[i].type;
		(void)snprintf(line, sizeof(line), "%s 7\n", rows[i].line);
		check(&k.profile, line);
	}
	/* Without modules too. */
	k.operations[0].module = "";
	k.operations[0].name = "output";
	k.operations[0].type = "Gemm";
	check(&k.profile, "little_net;Gemm 7\n");
}

static void
odd_names(void **state)
{
	struct known_profile k;

	(void)state;
	known_profile(&k);
	k.profile.n_operations = 1;
	k.operations[0].module = "/a//b\n;/";
	k.operations[0].name = "/a/b/Conv\t1";
	k.operations[0].self_ns = 0.4;
	check(&k.profile, "little_net;a;b__;Conv_1 0\n");
	k.operations[0].module = "";
	k.operations[0].name = "";
	k.profile.name = "";
	check(&k.profile, "_;Conv 0\n");
	k.profile.n_operations = 0;
	check(&k.profile, "");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stacks),
		cmocka_unit_test(leaves_are_operators),
		cmocka_unit_test(odd_names),
	};

	return cmocka_run_group_tests_name("folded", tests, NULL, NULL);
}
