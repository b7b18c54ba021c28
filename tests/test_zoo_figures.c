/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_zoo_figures.c - the built-in models hold and compute exactly what
 * others count for them (tests/oracles/zoo.py asks torchvision, transformers
 * and PyTorch's flop counter), and no node's cost or shape is unknown.
 */
#include "harness.h"
#include "model/zoo.h"
#include "ops/cost.h"

static struct sl_graph *
open_model(const char *name)
{
	struct sl_graph *graph;
	struct sl_error err = {0};

	if (sl__zoo_open(&graph, name, NULL, &err))
		fail_msg("%s", err.text);
	return graph;
}

struct totals {
	uint64_t trainable, statistics, macs;
};

/* Statistics are the fourth and fifth input of BatchNormalization. */
static uint64_t
count_statistics(const struct sl_graph *graph)
{
	uint64_t n = 0;

	for (size_t i = 0; i < graph->n_nodes; i++) {
		const struct sl__node *node = &graph->nodes[i];

		if (strcmp(node->type, "BatchNormalization") != 0)
			continue;
		for (size_t k = 3; k < 5; k++)
			n += graph->values[node->inputs[k]].tensor->n_elements;
	}
	return n;
}

/* Weights are made by a rule; constants have bytes. */
static uint64_t
count_weights(const struct sl_graph *graph)
{
	uint64_t n = 0;

	for (size_t i = 0; i < graph->n_values; i++) {
		const struct sl__tensor *t = graph->values[i].tensor;

		if (t && t->generator)
			n += t->n_elements;
	}
	return n;
}

static struct totals
totals_of(const char *name, const struct sl_sizes *sizes)
{
	struct sl__shapes_options how = {.sizes = sizes};
	struct sl_graph *graph = open_model(name);
	struct totals totals = {0};
	struct sl__shapes *shapes;
	struct sl_error err = {0};

	if (sl__shapes_new(&shapes, graph, &how, &err))
		fail_msg("%s: %s", name, err.text);
	for (uint32_t i = 0; i < graph->n_nodes; i++) {
		struct sl_cost cost;

		sl__cost_node(shapes, i, &cost);
		if (cost.basis != SL_BASIS_COUNTED)
			fail_msg("%s: node %s (%s): %s", name,
				 graph->nodes[i].name, graph->nodes[i].type,
				 cost.why);
		totals.macs += cost.macs;
	}
	assert_int_equal(shapes->n_unresolved, 0);
	totals.statistics = count_statistics(graph);
	totals.trainable = count_weights(graph) - totals.statistics;
	sl__shapes_free(shapes);
	sl_graph_free(graph);
	return totals;
}

static void
others_count_the_same(void **state)
{
	static const struct {
		const char *name;
		uint64_t trainable, statistics, macs;
	} cases[] = {
		{"mlp:784-256-128-10", 235146, 0, 234752},
		{"linear:768,3072", 2362368, 0, 2359296},
		{"linear:3072,768", 2360064, 0, 2359296},
		{"linear:128,64", 8256, 0, 16384 / 2},
		{"linear:1024,512", 524800, 0, 524288},
		{"conv:3,64,7,224,2,3", 9472, 0, 236027904 / 2},
		{"conv:3,64,7,224,2,0", 9472, 0, 223552896 / 2},
		{"conv:3,16,3,32", 448, 0, 884736 / 2},
		{"conv:3,16,3,32,1,0", 448, 0, 777600 / 2},
		{"conv:8,8,3,16,1,1,8", 80, 0, 36864 / 2},
		{"attention:128,512", 1048576, 0, 301989888 / 2},
		{"attention:128,512,1", 1048576, 0, 301989888 / 2},
		{"lenet5", 61706, 0, 416520},
		{"vgg16", 138357544, 0, 15470264320},
		{"resnet18", 11689512, 9600, 1814073344},
		{"resnet34", 21797672, 17024, 3663761408},
		{"resnet50", 25557032, 25610152 - 25557032, 4089184256},
		{"resnet101", 44549160, 105344, 7801405440},
		{"resnet152", 60192808, 151424, 11513626624},
		{"mobilenetv2", 3504872, 34112, 300774272},
		/* Keras' summaries of the reference models have 24908, 221794,
		 * 78666 and 269992 parameters, statistics included. */
		{"ds-cnn", 23756, 24908 - 23756, 2656768},
		{"mobilenetv1-0.25", 216322, 221794 - 216322, 7489664},
		{"resnet8", 78186, 78666 - 78186, 12501632},
		{"autoencoder", 267928, 269992 - 267928, 264192},
		{"efficientnet-b0", 5288548, 42016, 385814752},
		{"vit-b-16", 86567656, 0, 17563828224},
		{"unet", 31031810, 0, 36881367040},
		{"lstm", 19780400, 0, 1697280000},
		{"bert-base", 109482240, 0, 11174215680},
		{"gpt2", 124439808, 0, 16114089984},
		{"gpt2-medium", 354823168, 0, 46047297536},
		{"gpt2-large", 774030080, 0, 100341022720},
		{"gpt2-xl", 1557611200, 0, 201552896000},
		{"llama-2-7b", 6738415616, 0, 850000871424},
		{"tinyllama", 1100048384, 0, 133882183680},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct totals t = totals_of(cases[i].name, NULL);

		if (t.trainable != cases[i].trainable ||
		    t.statistics != cases[i].statistics ||
		    t.macs != cases[i].macs)
			fail_msg("%s: %llu parameters, %llu statistics, %llu "
				 "multiply-adds",
				 cases[i].name, (unsigned long long)t.trainable,
				 (unsigned long long)t.statistics,
				 (unsigned long long)t.macs);
	}
}

static void
a_long_sequence(void **state)
{
	const struct sl_sizes sizes = {.struct_size = sizeof(sizes),
				       .seq = 1024};

	(void)state;
	assert_int_equal(totals_of("gpt2", &sizes).macs, 145824153600);
}

/*
 * The closed forms of a GPT with a tied head: 12 L d^2 + 13 L d + V d + C d +
 * 2 d parameters; for each token every matrix once and, in each layer, two
 * products with all tokens.  The paper's table D.1 has 174,600 million for
 * GPT-3.
 */
static void
gpts_by_closed_form(void **state)
{
	static const struct {
		const char *name;
		uint64_t layers, d, words, context, seq;
	} cases[] = {
		{"gpt3-175b", 96, 12288, 50257, 2048, 2048},
		{"gpt:12,768,12", 12, 768, 50257, 1024, 1024},
		{"gpt:3,96,4", 3, 96, 50257, 1024, 7},
		{"gpt:2,64,4,100", 2, 64, 100, 1024, 9},
		{"gpt:200,64,1,100,32", 200, 64, 100, 32, 32},
		{"tiny-gpt", 2, 64, 256, 128, 19},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t n = cases[i].layers, d = cases[i].d;
		uint64_t seq = cases[i].seq, words = cases[i].words;
		struct sl_sizes sizes = {.struct_size = sizeof(sizes),
					 .seq = (int64_t)seq};
		struct totals t = totals_of(cases[i].name, &sizes);

		assert_int_equal(t.trainable,
				 12 * n * d * d + 13 * n * d +
					 (words + cases[i].context + 2) * d);
		assert_int_equal(t.macs, seq * (12 * n * d * d + words * d) +
						 2 * n * seq * seq * d);
		if (!i)
			assert_int_equal(t.trainable / 100000000, 1746);
	}
}

/* Every weight matrix once, and two products with past + 1 keys and values
 * in each layer. */
static void
a_step_with_a_cache(void **state)
{
	static const struct {
		const char *name;
		uint64_t trainable, n_layers, width, inner, keys, words;
	} cases[] = {
		{"gpt2@kv", 124439808, 12, 768, 8 * 768, 768, 50257},
		{"gpt2-medium@kv", 354823168, 24, 1024, 8 * 1024, 1024, 50257},
		{"gpt2-large@kv", 774030080, 36, 1280, 8 * 1280, 1280, 50257},
		{"gpt2-xl@kv", 1557611200, 48, 1600, 8 * 1600, 1600, 50257},
		{"gpt:2,64,4,100,1024@kv",
		 2 * (12 * 4096 + 13 * 64) + 1126 * 64, 2, 64, 8 * 64, 64, 100},
		{"gpt3-175b@kv", 174604259328, 96, 12288, 8 * 12288, 12288,
		 50257},
		{"llama-2-7b@kv", 6738415616, 32, 4096, 3 * 11008, 4096, 32000},
		{"tinyllama@kv", 1100048384, 22, 2048, 3 * 5632, 256, 32000},
	};
	struct sl_sizes sizes = {.struct_size = sizeof(sizes)};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t w = cases[i].width, past = i % 2 ? 500 : 128;
		uint64_t weights =
			w * (2 * w + 2 * cases[i].keys) + w * cases[i].inner;
		struct totals t;

		sizes.past = past == 128 ? 0 : (int64_t)past;
		t = totals_of(cases[i].name, &sizes);
		assert_int_equal(t.trainable, cases[i].trainable);
		assert_int_equal(
			t.macs,
			cases[i].n_layers * (weights + 2 * (past + 1) * w) +
				w * cases[i].words);
	}
}

/* Layer by layer: weights and biases, norms; a product for each weight and
 * place it is used at. */
static void
digits_by_closed_form(void **state)
{
	/* Two norms, four projections, two linear layers. */
	const uint64_t layer =
		4 * 64 + 4 * (64 * 64 + 64) + 64 * 128 + 128 + 128 * 64 + 64;
	struct totals t = totals_of("digits-mlp", NULL);

	(void)state;
	assert_int_equal(t.trainable,
			 (64 + 1) * 128 + (128 + 1) * 64 + (64 + 1) * 10);
	assert_int_equal(t.macs, 64 * 128 + 128 * 64 + 64 * 10);
	t = totals_of("digits-cnn", NULL);
	assert_int_equal(t.trainable, 9 * (16 + 16 * 32 + 32 * 32) +
					      2 * (16 + 32 + 32) +
					      (128 + 1) * 10);
	assert_int_equal(t.statistics, 2 * (16 + 32 + 32));
	assert_int_equal(t.macs, 9 * (16 * 64 + 16 * 32 * 64 + 32 * 32 * 16) +
					 128 * 10);
	t = totals_of("digits-transformer", NULL);
	assert_int_equal(t.trainable, (8 + 1) * 64 + 8 * 64 + 2 * layer +
					      2 * 64 + (64 + 1) * 10);
	assert_int_equal(t.macs, 8 * 8 * 64 +
					 2 * (8 * (4 * 64 * 64 + 2 * 64 * 128) +
					      2 * 8 * 8 * 64) +
					 64 * 10);
}

/* Models to be trained begin with norms of 1 and biases of 0; weights are of
 * the seed. */
static void
untrained_models_start_plain(void **state)
{
	static const char *const names[] = {"digits-mlp", "digits-cnn",
					    "digits-transformer", "tiny-gpt"};
	const struct sl_graph_options other = {.struct_size = sizeof(other),
					       .seed = 2};
	struct sl_error err = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct sl_graph *a = open_model(names[i]), *b;
		size_t n_drawn = 0;

		if (sl__zoo_open(&b, names[i], &other, &err))
			fail_msg("%s", err.text);
		for (size_t v = 0; v < a->n_values; v++) {
			const struct sl__tensor *t = a->values[v].tensor;
			const char *name = a->values[v].name;
			double first, same;

			if (!t || !t->generator)
				continue;
			assert_true(sl__tensor_doubles(t, 0, 1, &first));
			assert_true(sl__tensor_doubles(b->values[v].tensor, 0,
						       1, &same));
			if (t->generator->kind == SL__TENSOR_GENERATOR_NORMAL) {
				n_drawn++;
				assert_true(first < same || first > same);
				continue;
			}
			assert_int_equal(t->rank, 1);
			assert_true(
				first ==
				(strstr(name, "bias") || strstr(name, "mean")
					 ? 0.0
					 : 1.0));
		}
		assert_true(n_drawn >= 3);
		sl_graph_free(a);
		sl_graph_free(b);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(others_count_the_same),
		cmocka_unit_test(a_long_sequence),
		cmocka_unit_test(gpts_by_closed_form),
		cmocka_unit_test(a_step_with_a_cache),
		cmocka_unit_test(digits_by_closed_form),
		cmocka_unit_test(untrained_models_start_plain),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
