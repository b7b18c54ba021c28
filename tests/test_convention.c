/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_convention.c - the figures of other tools come out as those tools print
 * them (tests/oracles/conventions.py runs them), and the line items between
 * any two sum to the difference.
 */
#include "inspected.h"
#include "cost/convention.h"
#include "graph/op_rules.h"

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
		sl__tally_add(&tally, &node, &cost, 1);
		assert_int_equal(
			sl__convention_count(&tally, SL_CONVENTION_FVCORE),
			norms[i].fvcore);
		assert_int_equal(
			sl__convention_count(&tally, SL_CONVENTION_THOP),
			norms[i].thop);
	}
}

static void
test_texts(void **state)
{
	(void)state;
	assert_string_equal(sl_convention_text(SL_CONVENTION_CORE_CAUSAL),
			    "core_causal");
	assert_string_equal(sl_convention_unit(SL_CONVENTION_TORCH), "FLOPs");
	assert_string_equal(sl_convention_unit(SL_CONVENTION_THOP), "MACs");
	assert_string_equal(sl_work_text(SL_WORK_PRODUCT), "attention product");
	assert_string_equal(sl_work_text(SL_WORK_QUANTIZE), "quantization");
	assert_string_equal(sl_work_text(SL_WORK_ADAPTIVE_POOL),
			    "adaptive pooling");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_published), cmocka_unit_test(test_causal),
		cmocka_unit_test(test_sums),      cmocka_unit_test(test_lines),
		cmocka_unit_test(test_norms),     cmocka_unit_test(test_texts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
