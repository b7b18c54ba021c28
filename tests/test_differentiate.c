/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_differentiate.c - every gradient rule against finite differences, in
 * f64, and no operator that has a rule without a case.
 */
#include "differentiated.h"

static const struct gradient_case cases[] = {
#define CASE(...) {.text = __VA_ARGS__},
#include "gradient_cases.def"
#undef CASE
};

enum { N_CASES = sizeof(cases) / sizeof(cases[0]) };

static void
test_rules_agree_with_differences(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_CASES; i++) {
		if (check_gradient_case(&cases[i]) == 0)
			fail_msg("%s: no gradient", cases[i].text);
	}
}

static int
has_case(const struct sl__op *op)
{
	char name[128];

	snprintf(name, sizeof(name), "%s%s%s ", op->domain,
		 op->domain[0] ? "." : "", op->type);
	for (size_t i = 0; i < N_CASES; i++) {
		if (!strncmp(cases[i].text, name, strlen(name)))
			return 1;
	}
	return 0;
}

static void
test_each_rule_has_a_case(void **state)
{
	(void)state;
	for (size_t i = 0; i < SL__N_OPS; i++) {
		const struct sl__op *op = &sl__ops[i];

		if (op->grad != sl__grad_none && op->grad != sl__grad_zero &&
		    !has_case(op))
			fail_msg("%s %s has a gradient and no case", op->domain,
				 op->type);
	}
}

/* The node is named, and why it has no gradient. */
static void
check_no_gradient(const char *text, const char *why)
{
	struct differentiated *d =
		differentiated(&(struct gradient_case){.text = text});

	assert_null(d->graph);
	if (!strstr(d->err.text, "node 'it'") || !strstr(d->err.text, why))
		fail_msg("%s: '%s', expected '%s'", text, d->err.text, why);
	differentiated_free(d);
}

static void
test_what_has_none_is_named(void **state)
{
	(void)state;
	check_no_gradient("Det 11 (f64[2,2])", "(Det): there is no gradient");
	check_no_gradient("Pad 13 (f64[3], i64[2]={1,1}) mode=reflect",
			  "adds constants");
	check_no_gradient("Clip 13 (f64[3], f64[])", "depend on data");
	check_no_gradient("Tile 1 (f64[2], f64[], f64[])", "before version 6");
}

/* Steps have the slope 0: nothing is computed. */
static void
test_steps_have_none(void **state)
{
	struct differentiated *d = differentiated(
		&(struct gradient_case){.text = "Floor 13 (f64[3])"});

	(void)state;
	assert_non_null(d->graph);
	assert_int_equal(d->gradients[0], SL__NONE);
	assert_int_equal(d->graph->n_nodes, 1);
	differentiated_free(d);
}

/* New nodes say what they are for; the model's keep their numbers. */
static void
test_nodes_say_what_they_are_for(void **state)
{
	struct differentiated *d = differentiated(&(struct gradient_case){
		.text = "MatMul 13 (f64[2,3], f64[3,4])"});

	(void)state;
	assert_non_null(d->graph);
	assert_true(d->graph->n_nodes > 1);
	assert_string_equal(d->graph->nodes[0].name, "it");
	assert_int_equal(d->graph->nodes[0].phase, SL_PHASE_FORWARD);
	for (size_t i = 1; i < d->graph->n_nodes; i++) {
		assert_int_equal(d->graph->nodes[i].phase, SL_PHASE_BACKWARD);
		assert_int_equal(d->graph->nodes[i].forward, 0);
		assert_int_equal(strncmp(d->graph->nodes[i].name, "it.", 3), 0);
	}
	differentiated_free(d);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rules_agree_with_differences),
		cmocka_unit_test(test_each_rule_has_a_case),
		cmocka_unit_test(test_what_has_none_is_named),
		cmocka_unit_test(test_steps_have_none),
		cmocka_unit_test(test_nodes_say_what_they_are_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
