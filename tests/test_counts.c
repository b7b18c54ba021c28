/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Proves that the additions of biases are those on paper, in whichever way a
 * model writes them; that an Add which is no bias is not taken for one; that
 * no sequence is longer than its table of positions; and that structs of
 * another version are refused.
 */
#include "graph_text.h"

/* A Linear or convolution adds one bias for each number that it makes. */
static void
test_biases_of_models(void **state)
{
	static const struct {
		const char *model;
		int64_t batch, seq;
		uint64_t bias_flops;
	} rows[] = {
		{"linear:768,3072", 32, 0, 98304},
		{"mlp:784-256-128-10", 2, 0, UINT64_C(2) * (256 + 128 + 10)},
		/* Only its classifier has one. */
		{"resnet50", 1, 0, 1000},
		{"vgg16", 1, 0,
		 UINT64_C(224) * 224 * 128 + UINT64_C(112) * 112 * 256 +
			 UINT64_C(56) * 56 * 768 + UINT64_C(28) * 28 * 1536 +
			 UINT64_C(14) * 14 * 1536 + 4096 + 4096 + 1000},
		/* 4 x 768, 3072 and 768 in each layer; the pooler once. */
		{"bert-base", 1, 128, UINT64_C(12) * 128 * 6912 + 768},
		/* 3 x 768, 768, 3072 and 768; none in the head. */
		{"gpt2", 2, 64, UINT64_C(2) * 12 * 64 * 6912},
		{"llama-2-7b", 1, 16, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct sl_sizes sizes = {.struct_size = sizeof(sizes),
					 .batch = rows[i].batch,
					 .seq = rows[i].seq};
		struct sl_counts c;
		struct sl_graph *graph;

		assert_int_equal(
			sl_graph_open(&graph, rows[i].model, NULL, NULL),
			SL_OK);
		assert_int_equal(sl_count_flops(&c, graph, &sizes, NULL),
				 SL_OK);
		if (c.bias_flops != rows[i].bias_flops)
			fail_msg("%s: %llu, expected %llu", rows[i].model,
				 (unsigned long long)c.bias_flops,
				 (unsigned long long)rows[i].bias_flops);
		sl_graph_free(graph);
	}
}

static void
check_biases(const char *text, uint64_t expected)
{
	struct graph_text *g = graph_text(text);
	struct sl_counts c;

	assert_int_equal(sl_count_flops(&c, g->graph, NULL, NULL), SL_OK);
	assert_int_equal(c.bias_flops, expected);
	graph_text_free(g);
}

/* A Relu is one operation for each element, and a product has them all. */
static void
test_all_operations(void **state)
{
	struct graph_text *relu = graph_text("in x f32 4,6\n"
					     "y = Relu x\nout y\n");
	struct graph_text *both =
		graph_text("in x f32 4,2\n"
			   "const w f32 2,3 = 1,2,3,4,5,6.5\n"
			   "const b f32 3 = 1,2,3.5\n"
			   "y = Gemm x w b\nz = Relu y\nout z\n");
	struct sl_counts c;

	(void)state;
	assert_int_equal(sl_count_flops(&c, relu->graph, NULL, NULL), SL_OK);
	assert_int_equal(c.flops, 0);
	assert_int_equal(c.all_flops, 4 * 6);
	assert_int_equal(sl_count_flops(&c, both->graph, NULL, NULL), SL_OK);
	assert_int_equal(c.flops, 2 * 4 * 2 * 3);
	/* The product, its bias, the rectifier. */
	assert_int_equal(c.all_flops, 2 * 4 * 2 * 3 + 4 * 3 + 4 * 3);
	graph_text_free(relu);
	graph_text_free(both);
}

/* Of [steps][batch][width] the second dimension is the batch. */
static void
test_steps_are_no_samples(void **state)
{
	struct graph_text *g = graph_text("in x f32 5,2,3\n"
					  "const w f32 1,1,3 = 1,2,3\n"
					  "const r f32 1,1,1 = 1\n"
					  "y,h = RNN x w r hidden_size=1\n"
					  "out y\nout h\n");
	struct sl_counts c;

	(void)state;
	assert_int_equal(sl_count_flops(&c, g->graph, NULL, NULL), SL_OK);
	assert_int_equal(c.macs, 5 * 2 * (3 + 1));
	assert_int_equal(c.batch, 2);
	assert_int_equal(c.macs_per_sample, 5 * (3 + 1));
	graph_text_free(g);
}

#define PRODUCT                             \
	"in x f32 4,2\n"                    \
	"const w f32 2,3 = 1,2,3,4,5,6.5\n" \
	"const b f32 3 = 1,2,3.5\n"         \
	"const m f32 4,3 = 1,2,3,4,5,6,7,8,9,10,11,12.5\n"

static void
test_adds_in_a_graph(void **state)
{
	(void)state;
	check_biases(PRODUCT "y = MatMul x w\nz = Add b y\nout z\n", 12);
	check_biases(PRODUCT "z = Gemm x w b\nout z\n", 12);
	/* Somebody else uses the product, or it is a result itself. */
	check_biases(PRODUCT
		     "y = MatMul x w\nz = Add y b\nv = Relu y\nout z\nout v\n",
		     0);
	check_biases(PRODUCT "y = MatMul x w\nz = Add y b\nout z\nout y\n", 0);
	/* A number of its own for each result is no bias. */
	check_biases(PRODUCT "y = MatMul x w\nz = Add y m\nout z\n", 0);
	/* The second Add adds to something that has its bias. */
	check_biases(PRODUCT "y = Gemm x w b\nz = Add y b\nout z\n", 12);
	check_biases(PRODUCT "y = Relu x\nz = Add y y\nout z\n", 0);
}

/* Positions end where their table does: 1,024 in GPT-2, 512 in BERT; those of
 * LLaMA are computed. */
static void
test_positions(void **state)
{
	static const struct {
		const char *model;
		int64_t seq, past;
		const char *says; /* NULL: fits */
	} cases[] = {
		{"gpt2", 1024, 0, NULL},
		{"gpt2", 1025, 0, "index 1024 lies beyond the 1024 rows of "},
		{"gpt2", 2048, 0, "index 2047 lies beyond the 1024 rows of "},
		{"gpt2", 8192, 0, "index 8191 lies beyond the 1024 rows of "},
		{"gpt2@kv", 0, 1023, NULL},
		{"gpt2@kv", 0, 1024, "index 1024 lies beyond the 1024 rows"},
		{"bert-base", 512, 0, NULL},
		{"bert-base", 513, 0, "beyond the 512 rows"},
		{"tinyllama", 2049, 0, NULL},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct sl_sizes sizes = {.struct_size = sizeof(sizes),
					 .seq = cases[i].seq,
					 .past = cases[i].past};
		struct sl_counts counts;
		struct sl_graph *graph;
		struct sl_error err = {0};
		enum sl_status rc;

		assert_int_equal(
			sl_graph_open(&graph, cases[i].model, NULL, NULL),
			SL_OK);
		rc = sl_count_flops(&counts, graph, &sizes, &err);
		assert_int_equal(rc, cases[i].says ? SL_E_DATA : SL_OK);
		if (cases[i].says && !strstr(err.text, cases[i].says))
			fail_msg("%s", err.text);
		sl_graph_free(graph);
	}
}

static void
test_refused(void **state)
{
	const enum sl_convention none[] = {SL_CONVENTION_THOP,
					   (enum sl_convention)99};
	struct sl_sizes sizes = {.struct_size = 1};
	struct sl_inspect_options how = {.struct_size = sizeof(how),
					 .sizes = &sizes};
	struct graph_text *g = graph_text(PRODUCT "y = MatMul x w\nout y\n");
	struct sl_inspection *seen;
	struct sl_counts c;
	struct sl_error err;

	(void)state;
	assert_int_equal(sl_count_flops(&c, g->graph, &sizes, &err),
			 SL_E_USAGE);
	assert_int_equal(sl_inspect(&seen, g->graph, &how, &err), SL_E_USAGE);
	assert_null(seen);
	assert_non_null(strstr(err.text, "sl_sizes"));
	how.sizes = NULL;
	how.struct_size = 1;
	assert_int_equal(sl_inspect(&seen, g->graph, &how, &err), SL_E_USAGE);
	assert_non_null(strstr(err.text, "sl_inspect_options"));
	how.struct_size = sizeof(how);
	how.explain = none;
	how.n_explain = 2;
	assert_int_equal(sl_inspect(&seen, g->graph, &how, &err), SL_E_USAGE);
	assert_null(seen);
	assert_non_null(strstr(err.text, "99"));
	graph_text_free(g);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_operations),
		cmocka_unit_test(test_steps_are_no_samples),
		cmocka_unit_test(test_biases_of_models),
		cmocka_unit_test(test_adds_in_a_graph),
		cmocka_unit_test(test_positions),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
