/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_convention.c - the figures of other tools come out as those tools print
 * them (tests/oracles/conventions.py and counting_tools.py run them), and the
 * line items between any two sum to the difference.
 */
#include "inspected.h"
#include "cost/convention.h"
#include "graph/op_rules.h"
#include "node_text.h"

struct published {
	const char *model;
	uint64_t core, fvcore, thop; /* 0: no figure */
	int64_t seq;
};

static const struct published rows[] = {
	{"resnet18", 1814073344, 1819065856, 1824033792, 0},
	{"resnet50", 4089184256, 4111512576, 4133742592, 0},
	{"vgg16", 15470264320, 15470289408, 15470314496, 0},
	/* thop itself prints 64,000 less: it misses the pool, which this model
	 * calls as a function. */
	{"mobilenetv2", 300774272, 314193216, 327550720, 0},
	{"efficientnet-b0", 385814752, 401659392, 415145024, 0},
	{"vit-b-16", 17563828224, 17582740224, 16863630336, 0},
	{"bert-base", 11174215680, 11186503680, 10882056192, 128},
	{"gpt2", 145824153600, 0, 0, 1024},
	{"llama-2-7b", 850000871424, 0, 0, 128},
};
enum { N_ROWS = sizeof(rows) / sizeof(rows[0]) };

static void
test_published(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_ROWS; i++) {
		struct sl_inspection *seen =
			inspect(rows[i].model, rows[i].seq);
		const uint64_t *c = seen->conventions;

		assert_int_equal(c[SL_CONVENTION_CORE], rows[i].core);
		assert_int_equal(c[SL_CONVENTION_TORCH], 2 * rows[i].core);
		if (rows[i].fvcore)
			assert_int_equal(c[SL_CONVENTION_FVCORE],
					 rows[i].fvcore);
		if (rows[i].thop)
			assert_int_equal(c[SL_CONVENTION_THOP], rows[i].thop);
		assert_int_equal(c[SL_CONVENTION_ALL],
				 sl_cost_operations(&seen->cost));
		sl_inspection_free(seen);
	}
}

/* Of GPT-2's core, 2 x 12 x 1024^2 x 768 MACs are attention's products, and a
 * causal mask hides half of them; BERT's hides nothing. */
static void
test_causal(void **state)
{
	struct sl_inspection *seen = inspect("gpt2", 1024);
	const uint64_t products = UINT64_C(24) * 1024 * 1024 * 768;

	(void)state;
	assert_int_equal(seen->conventions[SL_CONVENTION_CORE_CAUSAL],
			 seen->conventions[SL_CONVENTION_CORE] - products / 2);
	sl_inspection_free(seen);
	seen = inspect("bert-base", 128);
	assert_int_equal(seen->conventions[SL_CONVENTION_CORE_CAUSAL],
			 seen->conventions[SL_CONVENTION_CORE]);
	sl_inspection_free(seen);
	/* One new token sees all before it. */
	seen = inspect("gpt2@kv", 0);
	assert_int_equal(seen->conventions[SL_CONVENTION_CORE_CAUSAL],
			 seen->conventions[SL_CONVENTION_CORE]);
	sl_inspection_free(seen);
}

static void
check_sums(const char *model)
{
	for (int a = 0; a < SL_N_CONVENTIONS; a++) {
		enum sl_convention pair[2] = {(enum sl_convention)a,
					      SL_CONVENTION_CORE};
		struct sl_inspect_options how = {
			.brief = 1, .explain = pair, .n_explain = 2};

		for (int b = 0; b < SL_N_CONVENTIONS; b++) {
			const struct sl_explanation *e;
			struct sl_inspection *seen;
			int64_t sum = 0;

			pair[1] = (enum sl_convention)b;
			seen = inspect_with(model, 0, 0, &how);
			assert_int_equal(seen->n_explanations, 1);
			e = &seen->explanations[0];
			for (size_t r = 0; r < e->n_rows; r++) {
				assert_int_not_equal(e->rows[r].amount, 0);
				assert_true(*e->rows[r].text);
				sum += e->rows[r].amount;
			}
			assert_int_equal(sum,
					 (int64_t)(e->b_count - e->a_count));
			sl_inspection_free(seen);
		}
	}
}

static void
test_sums(void **state)
{
	(void)state;
	check_sums("resnet18");
	check_sums("vit-b-16");
	check_sums("gpt2");
	check_sums("lstm");
	check_sums("tinyllama");
}

/* The lines speak of what differs, with the numbers that make it up. */
static void
test_lines(void **state)
{
	const enum sl_convention pair[] = {
		SL_CONVENTION_FVCORE, SL_CONVENTION_THOP, SL_CONVENTION_CORE};
	struct sl_inspect_options how = {
		.brief = 1, .explain = pair, .n_explain = 3};
	struct sl_inspection *seen = inspect_with("resnet50", 0, 0, &how);
	const struct sl_explanation *e = seen->explanations;

	(void)state;
	assert_int_equal(seen->n_explanations, 2);
	assert_int_equal(e[0].n_rows, 2);
	assert_string_equal(e[0].rows[0].text,
			    "BatchNorm, 53 layers: 2 x 11,113,984 elements");
	assert_int_equal(e[0].rows[0].amount, 2 * 11113984);
	assert_string_equal(e[0].rows[1].text,
			    "adaptive pooling, 1 layer: outputs");
	assert_int_equal(e[0].rows[1].amount, 2048);
	assert_int_equal(e[1].b, SL_CONVENTION_CORE);
	assert_int_equal(e[1].rows[0].amount, -2 * 11113984);
	sl_inspection_free(seen);

	/* One alone is compared with core; torch differs in its unit only. */
	how.n_explain = 1;
	seen = inspect_with("resnet50", 0, 0, &how);
	assert_int_equal(seen->explanations[0].a, SL_CONVENTION_CORE);
	assert_int_equal(seen->explanations[0].b, SL_CONVENTION_FVCORE);
	sl_inspection_free(seen);
}

/* docs/conventions.md: an RMS norm counts nothing in fvcore and thop, whatever
 * it is called; any other norm 5 and 4 for each element. */
static void
test_norms(void **state)
{
	static const struct {
		const char *domain, *type;
		uint64_t fvcore, thop; /* of 10 elements */
	} norms[] = {
		{"", "LayerNormalization", 50, 40},
		{"", "GroupNormalization", 50, 40},
		{"", "InstanceNormalization", 50, 40},
		{"com.microsoft", "SkipLayerNormalization", 50, 40},
		{"", "RMSNormalization", 0, 0},
		{"", "SimplifiedLayerNormalization", 0, 0},
		{"com.microsoft", "SimplifiedLayerNormalization", 0, 0},
		{"com.microsoft", "SkipSimplifiedLayerNormalization", 0, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(norms) / sizeof(norms[0]); i++) {
		const struct sl__node node = {
			.domain = norms[i].domain,
			.type = norms[i].type,
			.op = sl__op_find(norms[i].domain, norms[i].type)};
		const struct sl_cost cost = {.work = SL_WORK_LAYER_NORM,
					     .in_elements = 10,
					     .out_elements = 10};
		struct sl__tally tally = {0};

		assert_non_null(node.op);
		sl__tally_add_node(&tally, &node, &cost, 1);
		assert_int_equal(
			sl__convention_count(&tally, SL_CONVENTION_FVCORE),
			norms[i].fvcore);
		assert_int_equal(
			sl__convention_count(&tally, SL_CONVENTION_THOP),
			norms[i].thop);
	}
}

static void
check_layer(const char *text, uint64_t torch, uint64_t fvcore, uint64_t thop)
{
	static const struct sl_inspect_options brief = {
		.struct_size = sizeof(brief), .brief = 1};
	struct node_text r = {.at = text};
	struct sl_inspection *seen;
	struct sl_error err;

	node_text_graph(&r);
	if (sl_inspect(&seen, r.graph, &brief, &err))
		fail_msg("%s: %s", text, err.text);
	assert_int_equal(seen->conventions[SL_CONVENTION_TORCH], torch);
	assert_int_equal(seen->conventions[SL_CONVENTION_FVCORE], fvcore);
	assert_int_equal(seen->conventions[SL_CONVENTION_THOP], thop);
	assert_int_equal(seen->conventions[SL_CONVENTION_CORE],
			 seen->cost.macs);
	sl_inspection_free(seen);
	sl_graph_free(r.graph);
}

/* Layers that are one operator, as the tools count them on a CPU in f32:
 * tests/oracles/counting_tools.py. */
static void
test_recurrent(void **state)
{
	(void)state;
	check_layer("RNN 14 (f32[10,3,16], f32[1,32,16], f32[1,32,32], "
		    "f32[1,64]) hidden_size=32",
		    92160, 0, 48960);
	check_layer("RNN 14 (f32[10,3,16], f32[1,32,16], f32[1,32,32]) "
		    "hidden_size=32",
		    92160, 0, 47040);
	check_layer("RNN 14 (f32[10,3,16], f32[2,32,16], f32[2,32,32], "
		    "f32[2,64]) hidden_size=32 direction=bidirectional",
		    184320, 0, 97920);
	check_layer("GRU 14 (f32[10,3,16], f32[1,96,16], f32[1,96,32], "
		    "f32[1,192]) hidden_size=32",
		    276480, 0, 150720);
	check_layer("GRU 14 (f32[10,3,16], f32[1,96,16], f32[1,96,32]) "
		    "hidden_size=32",
		    276480, 0, 144960);
	check_layer("GRU 14 (f32[10,3,16], f32[2,96,16], f32[2,96,32], "
		    "f32[2,192]) hidden_size=32 direction=bidirectional",
		    552960, 0, 301440);
	check_layer("LSTM 14 (f32[10,3,16], f32[1,128,16], f32[1,128,32], "
		    "f32[1,256]) hidden_size=32",
		    0, 0, 199680);
	check_layer("LSTM 14 (f32[10,3,16], f32[1,128,16], f32[1,128,32]) "
		    "hidden_size=32",
		    0, 0, 192000);
	check_layer("LSTM 14 (f32[10,3,16], f32[2,128,16], f32[2,128,32], "
		    "f32[2,256]) hidden_size=32 direction=bidirectional",
		    0, 0, 399360);
}

static void
test_fused_attention(void **state)
{
	(void)state;
	check_layer("Attention 23 (f32[1,4,32,8], f32[1,4,32,8], "
		    "f32[1,4,32,8])",
		    131072, 0, 0);
	check_layer("Attention 23 (f32[1,4,32,8], f32[1,4,32,8], "
		    "f32[1,4,32,8]) is_causal=1",
		    131072, 0, 0);
	check_layer("Attention 23 (f32[2,8,10,16], f32[2,2,24,16], "
		    "f32[2,2,24,16])",
		    245760, 0, 0);
	check_layer("com.microsoft.MultiHeadAttention 1 (f32[2,10,32], "
		    "f32[2,2,24,16], f32[2,2,24,12]) num_heads=2",
		    53760, 0, 0);
	/* The same 8 on 2 heads and 24 tokens, 14 of them in the cache. */
	check_layer("com.microsoft.GroupQueryAttention 1 (f32[2,10,128], "
		    "f32[2,10,32], f32[2,10,32], f32[2,2,14,16], "
		    "f32[2,2,14,16], i32[2], i32[]={24}) num_heads=8 "
		    "kv_num_heads=2 -> 3",
		    245760, 0, 0);
	check_layer("com.microsoft.Attention 1 (f32[1,10,16], f32[16,48], "
		    "f32[48]) num_heads=2",
		    21760, 7680, 7680);
}

/* What a tool leaves out is told, and how much it is. */
static void
test_uncounted(void **state)
{
	const enum sl_convention pair[] = {
		SL_CONVENTION_CORE, SL_CONVENTION_TORCH, SL_CONVENTION_FVCORE,
		SL_CONVENTION_THOP};
	struct sl_inspect_options how = {
		.brief = 1, .explain = pair, .n_explain = 4};
	struct sl_inspection *seen = inspect_with("lstm", 0, 128, &how);
	const struct sl_explanation *e = seen->explanations;
	/* 128 steps of two layers of 4 gates, 650 wide. */
	const int64_t products = INT64_C(128) * 2 * 4 * 650 * (650 + 650);

	(void)state;
	assert_int_equal(seen->n_explanations, 3);
	assert_int_equal(e[0].n_rows, 1);
	assert_string_equal(e[0].rows[0].text,
			    "LSTM, 2 layers: not counted by torch");
	assert_int_equal(e[0].rows[0].amount, -products);
	assert_int_equal(e[1].n_rows, 1);
	assert_string_equal(e[1].rows[0].text,
			    "LSTM, 2 layers: not counted by fvcore");
	assert_int_equal(e[1].rows[0].amount, -products);
	/* 4 x 3 for the gates, 3 for the cell, 1 for the output. */
	assert_int_equal(e[2].n_rows, 1);
	assert_string_equal(e[2].rows[0].text,
			    "recurrent, 2 layers: gates besides the matmuls, "
			    "counted by thop");
	assert_int_equal(e[2].rows[0].amount, 128 * 2 * 650 * 16);
	sl_inspection_free(seen);
}

/* The network that showed it: FlopCounterMode sees one product of three. */
static void
test_dtln(void **state)
{
	(void)state;
#ifdef SL_TEST_MODELS
	struct sl_inspection *seen =
		inspect(SL_TEST_MODELS "/dtln_1/model.onnx", 0);

	assert_int_equal(seen->conventions[SL_CONVENTION_CORE], 361088);
	assert_int_equal(seen->conventions[SL_CONVENTION_TORCH], 65792);
	assert_int_equal(seen->conventions[SL_CONVENTION_FVCORE], 32896);
	assert_int_equal(seen->conventions[SL_CONVENTION_THOP], 365184);
	sl_inspection_free(seen);
#else
	skip();
#endif
}

static void
test_texts(void **state)
{
	(void)state;
	assert_string_equal(sl_convention_text(SL_CONVENTION_CORE_CAUSAL),
			    "core_causal");
	assert_string_equal(sl_convention_unit(SL_CONVENTION_TORCH), "FLOPs");
	assert_string_equal(sl_convention_unit(SL_CONVENTION_THOP), "MACs");
	assert_string_equal(sl_work_text(SL_WORK_PRODUCT), "attention matmul");
	assert_string_equal(sl_work_text(SL_WORK_QUANTIZE), "quantization");
	assert_string_equal(sl_work_text(SL_WORK_ADAPTIVE_POOL),
			    "adaptive pooling");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_published),
		cmocka_unit_test(test_causal),
		cmocka_unit_test(test_sums),
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_norms),
		cmocka_unit_test(test_recurrent),
		cmocka_unit_test(test_fused_attention),
		cmocka_unit_test(test_uncounted),
		cmocka_unit_test(test_dtln),
		cmocka_unit_test(test_texts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
