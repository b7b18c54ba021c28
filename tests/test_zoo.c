/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_zoo.c - built-in models by name: names are found or explained, weights
 * are made from seeds and not kept, caches are states, the head of GPT-2 is
 * tied, and a failed allocation leaks nothing.
 */
#include "harness.h"
#include "counting.h"
#include "model/zoo.h"
#include "graph/shapes.h"

static struct sl_graph *
open_model(const char *name)
{
	struct sl_graph *graph;
	struct sl_error err = {0};

	if (sl__zoo_open(&graph, name, NULL, &err))
		fail_msg("%s", err.text);
	return graph;
}

/* Keys and values handed in come back one longer, as states. */
static void
the_cache_is_a_state(void **state)
{
	struct sl_graph *graph = open_model("tinyllama@kv");
	struct sl__shapes_options how = {.free_sizes = SL__UNBOUND_REFUSE};
	const struct sl__block *main = &graph->blocks[0];
	struct sl__shapes *shapes;

	(void)state;
	assert_int_equal(sl__shapes_new(&shapes, graph, &how, NULL), SL_OK);
	assert_int_equal(main->n_inputs, 1 + 2 * 22);
	assert_int_equal(main->n_outputs, 1 + 2 * 22);
	for (size_t i = 1; i < main->n_inputs; i++) {
		const struct sl__type *old = &shapes->types[main->inputs[i]];
		const struct sl__type *new = &shapes->types[main->outputs[i]];

		assert_int_equal(graph->values[main->inputs[i]].kind,
				 SL_VALUE_STATE);
		assert_int_equal(graph->values[main->outputs[i]].old_state,
				 main->inputs[i]);
		assert_string_equal(sl__type_text(shapes, old), "1x4x128x64");
		assert_string_equal(sl__type_text(shapes, new), "1x4x129x64");
	}
	sl__shapes_free(shapes);
	sl_graph_free(graph);
}

/* The table of tokens is the head's weight too, used as it is. */
static void
the_head_of_gpt2_is_tied(void **state)
{
	struct sl_graph *graph = open_model("gpt2");
	uint32_t table = SL__NONE;
	size_t n_uses = 0, n_masks = 0;

	(void)state;
	for (uint32_t i = 0; i < graph->n_values; i++) {
		if (!strcmp(graph->values[i].name, "transformer.wte.weight"))
			table = i;
	}
	for (size_t i = 0; i < graph->n_nodes; i++) {
		const struct sl__node *node = &graph->nodes[i];

		n_masks += !strcmp(node->type, "Trilu");
		for (uint32_t k = 0; k < node->n_inputs; k++) {
			if (node->inputs[k] != table)
				continue;
			assert_string_equal(node->type,
					    n_uses++ ? "Gemm" : "Gather");
		}
	}
	assert_int_equal(n_uses, 2);
	assert_int_equal(n_masks, 1); /* one for all layers */
	sl_graph_free(graph);
}

/* Bytes handed out, none of which come back before the end. */
static void *
summing_alloc(size_t n_bytes, void *ctx)
{
	*(size_t *)ctx += n_bytes;
	return malloc(n_bytes);
}

static void
summing_release(void *block, void *ctx)
{
	(void)ctx;
	free(block);
}

static void
weights_are_not_kept(void **state)
{
	size_t n_bytes = 0;
	struct sl_allocator allocator = {summing_alloc, summing_release,
					 &n_bytes};
	struct sl_graph_options how = {.struct_size = sizeof(how),
				       .allocator = &allocator};
	struct sl_graph *graph;

	(void)state;
	assert_int_equal(sl__zoo_open(&graph, "gpt3-175b", &how, NULL), SL_OK);
	assert_in_range(n_bytes, 1, 16 << 20);
	sl_graph_free(graph);
}

static const struct sl__tensor *
tensor_named(const struct sl_graph *graph, const char *name)
{
	for (size_t i = 0; i < graph->n_values; i++) {
		if (!strcmp(graph->values[i].name, name))
			return graph->values[i].tensor;
	}
	return NULL;
}

/* The same seed gives the same bits, another seed and another layer others;
 * and the scale is He's: sqrt(2 / 256) behind a rectifier. */
static void
seeds_and_scale(void **state)
{
	enum { N = 8192 };
	struct sl_graph_options how = {.struct_size = sizeof(how), .seed = 2};
	static double a[N], b[N], c[N];
	struct sl_graph *one = open_model("mlp:64-256-128-10"), *two, *same;
	double square = 0;

	(void)state;
	same = open_model("mlp:64-256-128-10");
	assert_int_equal(sl__zoo_open(&two, "mlp:64-256-128-10", &how, NULL),
			 SL_OK);
	assert_true(sl__tensor_doubles(tensor_named(one, "linear_2.weight"), 0,
				       N, a));
	assert_true(sl__tensor_doubles(tensor_named(same, "linear_2.weight"), 0,
				       N, b));
	assert_true(sl__tensor_doubles(tensor_named(two, "linear_2.weight"), 0,
				       N, c));
	assert_memory_equal(a, b, sizeof(a));
	assert_memory_not_equal(a, c, sizeof(a));
	assert_true(sl__tensor_doubles(tensor_named(one, "linear.weight"), 0, N,
				       b));
	assert_memory_not_equal(a, b, sizeof(a));
	for (size_t i = 0; i < N; i++)
		square += a[i] * a[i] / N;
	assert_close(sqrt(square), sqrt(2.0 / 256), 0.03);
	sl_graph_free(one);
	sl_graph_free(two);
	sl_graph_free(same);
}

static void
every_entry_opens(void **state)
{
	const struct sl_zoo_entry *entry = sl_zoo();
	size_t n = 0;

	(void)state;
	for (; entry->name; entry++, n++) {
		struct sl_graph *graph = open_model(entry->example);

		assert_true(sl__zoo_is_name(entry->name));
		assert_true(sl__zoo_is_name(entry->example));
		assert_true(strlen(entry->about) > 10);
		assert_string_equal(sl_graph_name(graph), entry->example);
		assert_string_equal(graph->source, "zoo");
		sl_graph_free(graph);
	}
	assert_true(n >= 28);
	assert_false(sl__zoo_is_name("resnet5"));
	assert_false(sl__zoo_is_name("resnet500"));
	assert_false(sl__zoo_is_name(""));
	assert_true(sl__zoo_is_name("resnet50@what"));
}

static void
names_that_do_not_open_are_explained(void **state)
{
	static const struct {
		const char *name, *says;
	} cases[] = {
		{"resnet5", "resnet50"},
		{"reznet18", "resnet18"},
		{"gpt", "sizes are missing; write gpt:LAYERS,WIDTH,HEADS[,"},
		{"gpt3", "or gpt3-175b?"},
		{"gtp2", "did you mean gpt2?"},
		{"bert", "did you mean bert-base?"},
		{"ResNet18", "did you mean resnet18?"},
		{"resnet", "did you mean resnet18, resnet34 or resnet50?"},
		{"frobnicate", "'frobnicate'"},
		{"mobilenet", "mobilenetv2"},
		{"", "no built-in model"},
		{"mlp", "sizes are missing; write mlp:A-B-..., such as"},
		{"mlp:", "sizes are missing"},
		{"mlp:784", "1 size;"},
		{"mlp:784-x", "'x' is no size"},
		{"mlp:784--10", "a size is missing before a '-'"},
		{"mlp:784-10-", "a size is missing after the last '-'"},
		{"mlp:784,10", "'784,10' is no size"},
		{"mlp:784-0-10", "a size cannot be 0"},
		{"mlp:784-99999999999999999999", "99999 is too large"},
		{"mlp:1000000000000000000-10",
		 "1000000000000000000 is too large, the most is 1099511627776"},
		{"mlp:1099511627776-1099511627776", "64 bits"},
		{"linear:3000000000,4000000000",
		 "too large: 4000000000 x 3000000000 of f32"},
		{"linear:3", "write linear:IN,OUT, such as linear:768,3072"},
		{"linear:3,4,5", "3 sizes"},
		{"conv:3,64,7", "3 sizes"},
		{"conv:3,64,7,224,2,3,2", "2 groups"},
		{"conv:3,64,300,224,1,0", "conv:3,64,300,224,1,0: node 'conv'"},
		{"attention:128,512,7", "7 heads"},
		{"resnet50:3", "takes no sizes"},
		{"resnet50@kv", "there is no '@kv' of this model"},
		{"gpt2@cache", "there is no '@cache'"},
		{"gpt:2,64,4@cache", "there is no '@cache'"},
		{"mlp:4-2@kv", "there is no '@kv' of this model"},
		{"gpt:2,64", "2 sizes"},
		{"gpt:2,64,4,100,32,1", "6 sizes"},
		{"gpt:2,64,4,@kv", "a size is missing after the last ','"},
		{"gpt:2,64,5", "heads that divide its width"},
		{"gpt:1025,64,4", "at most 1024 layers"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct sl_graph *graph;
		struct sl_error err = {0};
		enum sl_status rc =
			sl__zoo_open(&graph, cases[i].name, NULL, &err);

		assert_null(graph);
		assert_int_equal(rc, SL_E_USAGE);
		assert_int_equal(err.status, SL_E_USAGE);
		if (!strstr(err.text, cases[i].says))
			fail_msg("'%s': %s", cases[i].name, err.text);
	}
}

static void
failed_allocations_leak_nothing(void **state)
{
	static const char *const names[] = {"mlp:4-5-6", "attention:8,16,2"};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		enum sl_status rc = SL_E_NOMEM;

		for (int n = 1; rc; n++) {
			struct counting c = {.fail_at = n};
			struct sl_allocator allocator = counting_allocator(&c);
			struct sl_graph_options how = {.struct_size =
							       sizeof(how),
						       .allocator = &allocator};
			struct sl_error err = {0};
			struct sl_graph *graph;

			rc = sl__zoo_open(&graph, names[i], &how, &err);
			assert_true(rc == SL_OK || rc == SL_E_NOMEM);
			sl_graph_free(graph);
			assert_int_equal(c.n_out, 0);
		}
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_cache_is_a_state),
		cmocka_unit_test(the_head_of_gpt2_is_tied),
		cmocka_unit_test(weights_are_not_kept),
		cmocka_unit_test(seeds_and_scale),
		cmocka_unit_test(every_entry_opens),
		cmocka_unit_test(names_that_do_not_open_are_explained),
		cmocka_unit_test(failed_allocations_leak_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
