/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_inspect.c - what sl_inspect() says of a whole model: published
 * counts, sums that must agree with their parts, what is not known and why,
 * real models, and every allocation failing once.
 */
#include "graph_text.h"
#include "inspected.h"
#include "analysis/layers.h"

struct published {
	const char *model;
	uint64_t trainable, statistics;
};

static void
test_parameters(void **state)
{
	static const struct published rows[] = {
		{"resnet18", 11689512, 9600},
		{"resnet50", 25557032, 25610152 - 25557032},
		{"vgg16", 138357544, 0},
		{"mobilenetv2", 3504872, 34112},
		{"vit-b-16", 86567656, 0},
		{"bert-base", 109482240, 0},
		{"gpt2", 124439808, 0},
		{"gpt2-medium", 354823168, 0},
		{"gpt2-large", 774030080, 0},
		{"gpt2-xl", 1557611200, 0},
		{"llama-2-7b", 6738415616, 0},
		{"mlp:784-256-128-10", 235146, 0},
		{"linear:768,3072", 2362368, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct sl_inspection *seen = inspect(rows[i].model, 0);
		const struct sl_parameters *p = &seen->parameters;
		uint64_t of_layers = 0, n_bytes = 0;

		assert_int_equal(p->trainable, rows[i].trainable);
		assert_int_equal(p->statistics, rows[i].statistics);
		assert_int_equal(p->trainable_bytes, 4 * rows[i].trainable);
		for (size_t k = 0; k < seen->n_layers; k++)
			of_layers += seen->layers[k].parameters;
		assert_int_equal(of_layers, p->trainable);
		for (size_t k = 0; k < p->n_dtypes; k++)
			n_bytes += p->by_dtype[k].n_bytes;
		assert_int_equal(n_bytes, p->n_bytes);
		assert_int_equal(p->n_bytes, seen->memory.parameter_bytes);
		sl_inspection_free(seen);
	}
}

static void
check_groups(const struct sl_inspection *seen,
	     const struct sl_layer_group *groups, size_t n)
{
	uint64_t macs = 0, parameters = 0;
	size_t n_layers = 0;
	double share = 0;

	for (size_t i = 0; i < n; i++) {
		macs += groups[i].macs;
		parameters += groups[i].parameters;
		n_layers += groups[i].n_layers;
		share += groups[i].share;
		if (i)
			assert_true(groups[i].macs <= groups[i - 1].macs);
	}
	assert_int_equal(macs, seen->cost.macs);
	/* Branches that are not taken have weights too. */
	assert_true(parameters <= seen->parameters.trainable);
	assert_int_equal(n_layers, seen->n_layers);
	assert_near(share, 1, 1e-9);
}

static void
check_sums(const struct sl_inspection *seen)
{
	const struct sl_coverage *c = &seen->coverage;
	uint64_t alive = 0;

	check_groups(seen, seen->by_type, seen->n_types);
	check_groups(seen, seen->by_path, seen->n_paths);
	assert_int_equal(seen->flops, 2 * seen->cost.macs);
	assert_int_equal(c->counted.n_nodes + c->estimated.n_nodes +
				 c->unknown.n_nodes,
			 seen->n_layers);
	assert_int_equal(c->counted.n_bytes + c->estimated.n_bytes +
				 c->unknown.n_bytes,
			 seen->n_bytes);
	for (size_t i = 0; i < seen->memory.n_alive; i++) {
		alive += seen->memory.alive[i].n_bytes;
		if (i)
			assert_true(seen->memory.alive[i].n_bytes <=
				    seen->memory.alive[i - 1].n_bytes);
	}
	assert_true(alive <= seen->memory.live_bytes);
	if (seen->memory.n_alive < 10)
		assert_int_equal(alive, seen->memory.live_bytes);
	assert_true(seen->memory.live_bytes <=
		    seen->memory.activation_bytes +
			    seen->memory.interface_bytes);
}

static void
test_sums(void **state)
{
	static const char *const models[] = {"resnet18", "vit-b-16", "gpt2",
					     "lstm", "unet"};

	(void)state;
	for (size_t i = 0; i < sizeof(models) / sizeof(models[0]); i++) {
		struct sl_inspection *seen = inspect(models[i], 0);

		check_sums(seen);
		assert_int_equal(seen->coverage.unknown.n_nodes, 0);
		assert_int_equal(seen->n_unresolved, 0);
		sl_inspection_free(seen);
	}
}

/* Paths of modules, as exporters write names. */
static void
test_paths(void **state)
{
	static const char *const rows[][3] = {
		{"/layer1/layer1.0/conv1/Conv", "Conv",
		 "layer1/layer1.0/conv1"},
		{"layer1.0.conv1", "Conv", "layer1/0/conv1"},
		{"layer1.0.Relu_3", "Relu", "layer1/0"},
		{"Conv_12", "Conv", ""},
		{"lm_head.concat", "Concat", "lm_head"},
		{"transformer.gather_2", "Gather", "transformer"},
		{"lm_head", "Gemm", "lm_head"},
		{"relu_2", "Relu", ""},
		{"conv1", "Conv", "conv1"},
		{"model/a/Relu;model/b/BiasAdd", "Conv", "model/a"},
		{"", "Conv", ""},
		{"/Flatten", "Flatten", ""},
	};
	struct sl__arena arena;

	(void)state;
	sl__arena_init(&arena, NULL);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct sl__node node = {.name = rows[i][0], .type = rows[i][1]};

		assert_string_equal(sl__node_module_path(&arena, &node),
				    rows[i][2]);
	}
	sl__arena_release(&arena);
}

/* A batch of four costs four times one sample. */
static void
test_batch(void **state)
{
	static const struct sl_inspect_options how = {.brief = 1};
	struct sl_inspection *one = inspect_with("vit-b-16", 1, 0, &how);
	struct sl_inspection *four = inspect_with("vit-b-16", 4, 0, &how);

	(void)state;
	assert_int_equal(four->batch, 4);
	assert_int_equal(four->flops, 4 * one->flops);
	assert_int_equal(four->flops_per_sample, one->flops);
	assert_string_equal(four->sizes, "batch 4");
	assert_string_equal(four->inputs, "x 4x3x224x224 f32");
	assert_int_equal(four->n_growth, 0);
	sl_inspection_free(one);
	sl_inspection_free(four);
}

/* Linear(1000, 500): 1,000,000 FLOPs, 500 more for the bias; and the model's
 * own counts. */
static void
test_counts(void **state)
{
	struct sl_sizes sizes = {.struct_size = sizeof(sizes), .batch = 3};
	struct sl_counts counts;
	struct sl_graph *graph;
	struct sl_error err;
	uint64_t n;

	(void)state;
	if (sl_graph_open(&graph, "linear:1000,500", NULL, &err))
		fail_msg("%s", err.text);
	assert_int_equal(sl_count_parameters(&n, graph, &err), SL_OK);
	assert_int_equal(n, 1000 * 500 + 500);
	assert_int_equal(sl_count_flops(&counts, graph, &sizes, &err), SL_OK);
	assert_int_equal(counts.parameters, n);
	assert_int_equal(counts.batch, 3);
	assert_int_equal(counts.flops, 3000000);
	assert_int_equal(counts.flops_per_sample, 1000000);
	assert_int_equal(counts.bias_flops, 1500);
	sl_graph_free(graph);
}

/* An operator that nobody knows is named, with its domain, and its shape is
 * said to be open. */
static void
test_unknown(void **state)
{
	struct graph_text *text = graph_text("in x f32 2,3\n"
					     "y = Frobnicate x\n"
					     "out y\n");
	const struct sl_graph *graph = text->graph;
	struct sl_inspection *seen;
	struct sl_counts counts;
	struct sl_error err;

	(void)state;
	assert_int_equal(sl_inspect(&seen, graph, NULL, &err), SL_OK);
	assert_int_equal(seen->coverage.unknown.n_nodes, 1);
	assert_int_equal(seen->coverage.n_names, 1);
	assert_string_equal(seen->coverage.names[0],
			    "Frobnicate (ai.onnx): the operator is not known");
	assert_int_equal(seen->n_unresolved, 1);
	assert_string_equal(seen->unresolved[0].names[2], "Frobnicate");
	sl_inspection_free(seen);
	assert_int_equal(sl_count_flops(&counts, graph, NULL, &err), SL_E_DATA);
	assert_non_null(strstr(err.text, "Frobnicate"));
	graph_text_free(text);
}

/* Llama-2-7B: 2 x 32 layers x 4,096 numbers for each token, 524,288 B in f16.
 * What is alive at the peak is all there, ten by name. */
static void
test_memory(void **state)
{
	struct sl_inspection *seen = inspect("llama-2-7b", 0);
	const struct sl_live_set *m = &seen->memory;
	uint64_t sum;

	(void)state;
	assert_near(m->kv_elements_per_token.value, 262144, 0);
	assert_near(2 * m->kv_elements_per_token.value, 524288, 0);
	assert_near(m->kv_bytes_per_token.value, 1048576, 0);
	sum = m->others_bytes;
	for (size_t k = 0; k < m->n_alive; k++)
		sum += m->alive[k].n_bytes;
	assert_int_equal(sum, m->live_bytes);
	assert_true(m->n_alive <= 10 && m->n_alive <= m->n_alive_all);
	sl_inspection_free(seen);
	seen = inspect("resnet50", 0);
	assert_non_null(seen->memory.kv_elements_per_token.absent);
	sl_inspection_free(seen);
	seen = inspect("gpt2@kv", 0); /* 24 caches are alive throughout */
	assert_int_equal(seen->memory.n_alive, 10);
	assert_true(seen->memory.n_alive_all > 24);
	assert_true(seen->memory.others_bytes > 0);
	sl_inspection_free(seen);
}

#ifdef SL_TEST_MODELS
/* All real models inspect, each node's cost is known, and sums agree. */
static void
test_models(void **state)
{
	static const char *const models[] = {"basic_pitch_nmp",
					     "dtln_1",
					     "dtln_2",
					     "gpt2_past_tiny",
					     "gtcrn_simple",
					     "magika_v3_3",
					     "micro_kws_fp32",
					     "micro_kws_qdq",
					     "micro_kws_qop",
					     "mnist",
					     "mobilenetv2_qdq",
					     "silero_vad_v6",
					     "squeezenet_fp16",
					     "super_resolution",
					     "tf_bert_qa_tiny",
					     "ultraface_rfb320",
					     "silero_vad_op18_ifless"};
	char path[512], inputs[512];

	(void)state;
	for (size_t i = 0; i < sizeof(models) / sizeof(models[0]); i++) {
		struct sl_sizes sizes = {.struct_size = sizeof(sizes),
					 .inputs_folder = inputs};
		struct sl_inspect_options how = {.struct_size = sizeof(how),
						 .sizes = &sizes,
						 .weights = 1};
		struct sl_inspection *seen = NULL;
		struct sl_graph *graph;
		struct sl_error err;

		snprintf(path, sizeof(path), "%s/%s/model.onnx", SL_TEST_MODELS,
			 models[i]);
		snprintf(inputs, sizeof(inputs), "%s/%s/test_data_set_0",
			 SL_TEST_MODELS, models[i]);
		if (sl_graph_open(&graph, path, NULL, &err) ||
		    sl_inspect(&seen, graph, &how, &err))
			fail_msg("%s: %s", models[i], err.text);
		sl_graph_free(graph);
		assert_int_equal(seen->coverage.unknown.n_nodes, 0);
		check_groups(seen, seen->by_type, seen->n_types);
		sl_inspection_free(seen);
	}
}
#endif

/* Whichever allocation fails, nothing is left behind. */
static void
test_out_of_memory(void **state)
{
	const enum sl_convention pair[] = {SL_CONVENTION_FVCORE,
					   SL_CONVENTION_ALL};
	struct sl_graph *graph;
	struct sl_error err;
	enum sl_status rc;
	int n = 0;

	(void)state;
	if (sl_graph_open(&graph, "attention:4,8,2", NULL, &err))
		fail_msg("%s", err.text);
	do {
		struct counting c = {.fail_at = ++n};
		struct sl_allocator allocator = counting_allocator(&c);
		struct sl_inspect_options how = {.struct_size = sizeof(how),
						 .explain = pair,
						 .n_explain = 2,
						 .weights = 1,
						 .allocator = &allocator};
		struct sl_inspection *seen;

		rc = sl_inspect(&seen, graph, &how, &err);
		if (rc) {
			assert_int_equal(rc, SL_E_NOMEM);
			assert_null(seen);
		}
		sl_inspection_free(seen);
		assert_int_equal(c.n_out, 0);
		if (!rc)
			assert_true(c.n_requests < n);
	} while (rc);
	assert_true(n > 10);
	sl_graph_free(graph);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parameters),
		cmocka_unit_test(test_sums),
		cmocka_unit_test(test_paths),
		cmocka_unit_test(test_batch),
		cmocka_unit_test(test_counts),
		cmocka_unit_test(test_unknown),
		cmocka_unit_test(test_memory),
#ifdef SL_TEST_MODELS
		cmocka_unit_test(test_models),
#endif
		cmocka_unit_test(test_out_of_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
