/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_contrib_attention.c - the attentions of com.microsoft become the
 * standard's operators, which compute what the reference kernels of the node
 * compute; forms that are not known stay.
 */
#include "engine/plan.h"
#include "rewritten.h"

/* 2 texts of 5 tokens, 3 heads of 4. */
#define PROJECTED                                     \
	"in x f32 2,5,7\nconst w f32 7,36 = random\n" \
	"const b f32 36 = random\n"
#define ROWS "in q f32 2,5,12\nin k f32 2,6,12\nin v f32 2,6,15\n"

/* An Attention of the standard is left, which computes the same. */
static void
check_expanded(const char *text)
{
	struct rewritten r = rewritten_with(text, 0);
	int n = 0;

	for (size_t i = 0; i < r.made->n_nodes; i++) {
		n += sl__is_op(&r.made->nodes[i], SL__OP_ONNX_Attention);
		assert_string_not_equal(r.made->nodes[i].domain,
					"com.microsoft");
	}
	assert_int_equal(n, 1);
	rewritten_evaluate(&r, 1e-6);
	rewritten_free(&r);
}

static void
check_attention(const char *inputs, const char *call)
{
	char text[1024];

	snprintf(text, sizeof(text),
		 "%s%sy = com.microsoft.Attention x w b %s num_heads=3\n"
		 "out y\n",
		 PROJECTED, inputs, call);
	check_expanded(text);
}

static void
projects_and_attends(void **state)
{
	(void)state;
	check_rewritten(PROJECTED "y = com.microsoft.Attention x w b "
				  "num_heads=3\nout y\n",
			"sleuth.MatMul[Attention] Split[Attention] Attention");
	check_attention("", "- - - unidirectional=1 scale=0.25");
	check_expanded(PROJECTED
		       "y = com.microsoft.Attention x w - num_heads=2 "
		       "qkv_hidden_sizes=[8,8,20]\nout y\n");
}

/* Masks of integers in the forms that the operator takes. */
static void
reads_masks(void **state)
{
	(void)state;
	check_attention("const m i32 2,5 = 1,1,1,0,0,1,1,1,1,1\n", "m");
	check_attention("in m i32 2,5,5\n", "m");
	check_attention("in m i32 2,5\n", "m - - mask_filter_value=-3.0");
	check_attention("const m i32 2 = 3,5\n", "m");
	check_attention("const m i32 4 = 3,5,1,0\n", "m");
	check_attention("in s f32 1,3,5,5\n", "- - s");
	check_attention("in m i32 2,5\nin s f32 2,3,5,5\n", "m - s");
}

static void
carries_a_past(void **state)
{
	(void)state;
	check_expanded(PROJECTED
		       "in p f32 2,2,3,4,4\nin m i32 2,9\n"
		       "y,n = com.microsoft.Attention x w b m p num_heads=3 "
		       "unidirectional=1\nout y\nout n\n");
	check_expanded(PROJECTED
		       "y,n = com.microsoft.Attention x w b num_heads=3\n"
		       "out y\nout n\n");
}

static void
attends_with_many_heads(void **state)
{
	(void)state;
	check_expanded(ROWS "y = com.microsoft.MultiHeadAttention q k v "
			    "num_heads=3\nout y\n");
	check_expanded(ROWS
		       "const b f32 39 = random\nin m i32 2,6\n"
		       "y,pk,pv = com.microsoft.MultiHeadAttention q k v b m "
		       "num_heads=3\nout y\nout pk\nout pv\n");
	check_expanded(ROWS
		       "in ok f32 2,3,2,4\nin ov f32 2,3,2,5\n"
		       "in s f32 1,1,5,8\n"
		       "y,pk,pv = com.microsoft.MultiHeadAttention q k v - - "
		       "s ok ov num_heads=3 scale=0.3\nout y\nout pk\n"
		       "out pv\n");
	/* Keys and values that another projection made. */
	check_expanded("in q f32 2,5,12\nin k f32 2,3,6,4\n"
		       "in v f32 2,3,6,4\nconst b f32 36 = random\n"
		       "y = com.microsoft.MultiHeadAttention q k v b "
		       "num_heads=3\nout y\n");
}

static void
leaves_other_forms(void **state)
{
	(void)state;
	check_rewritten("in x f32 2,5,3,3,4\n"
			"y = com.microsoft.MultiHeadAttention x num_heads=3\n"
			"out y\n",
			"com.microsoft.MultiHeadAttention[MultiHeadAttention]");
	check_rewritten(ROWS "in b f32 39\n"
			     "y = com.microsoft.MultiHeadAttention q k v b "
			     "num_heads=3\nout y\n",
			"com.microsoft.MultiHeadAttention[MultiHeadAttention]");
	check_rewritten_with(
		PROJECTED "y = com.microsoft.Attention x w b num_heads=3\n"
			  "out y\n",
		SL__OPTIMIZE_NO_FUSION, "com.microsoft.Attention[Attention]");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(projects_and_attends),
		cmocka_unit_test(reads_masks),
		cmocka_unit_test(carries_a_past),
		cmocka_unit_test(attends_with_many_heads),
		cmocka_unit_test(leaves_other_forms),
	};

	return cmocka_run_group_tests_name("contrib_attention", tests, NULL,
					   NULL);
}
