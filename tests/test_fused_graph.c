/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_fused_graph.c - memory and traffic of quantized models are those of
 * integers where an engine fuses DequantizeLinear, operator and
 * QuantizeLinear, by hand and against what the engine plans; nodes that do
 * not fuse, and models without them, count as the file has them.
 */
#include "analysis/static_analysis.h"
#include "counting.h"
#include "graph_text.h"
#include "json_check.h"
#include "largest_step.h"

#define SCALES                                                                \
	"opset 13\nconst sx f32 - = 0.0313\nconst sw f32 - = 0.00789\n"       \
	"const sy f32 - = 0.1017\nconst i0 i64 - = 0\nconst i99 i64 - = 99\n" \
	"u0 = Cast i0 to=2\nu99 = Cast i99 to=2\nz = Cast i0 to=3\n"
#define IMAGE                                                     \
	SCALES "in x f32 1,4,6,6\nxq = QuantizeLinear x sx u99\n" \
	       "xd = DequantizeLinear xq sx u99\n"
#define CONV                              \
	"const w f32 8,4,3,3 = random\n"  \
	"wq = QuantizeLinear w sw z\n"    \
	"wd = DequantizeLinear wq sw z\n" \
	"a = Conv xd wd pads=[1,1,1,1]\n"

static struct sl_inspection *
inspect_text(const char *text)
{
	struct graph_text *g = graph_text(text);
	struct sl_inspection *seen;
	struct sl_error err;

	if (sl_inspect(&seen, g->graph, NULL, &err))
		fail_msg("%s", err.text);
	graph_text_free(g);
	return seen;
}

static const struct sl_cost *
cost_of(const struct sl_inspection *seen, const char *layer)
{
	for (size_t i = 0; i < seen->n_layers; i++) {
		if (!strcmp(seen->layers[i].name, layer))
			return &seen->layers[i].cost;
	}
	fail_msg("no layer '%s'", layer);
	return &seen->cost;
}

static void
check_fused(const struct sl_inspection *seen, size_t n_quantize,
	    size_t n_dequantize, size_t n_apart)
{
	assert_int_equal(seen->fused.n_quantize, n_quantize);
	assert_int_equal(seen->fused.n_dequantize, n_dequantize);
	assert_int_equal(seen->fused.n_apart, n_apart);
}

/*
 * x of 144 numbers is quantized, convolved to 288 and taken back to reals.  A
 * scale and a zero point are 5 bytes.  The weights, which the file quantizes
 * from reals, are 288 integers.
 */
static void
test_convolution(void **state)
{
	static const char *const parts[] = {"xd", "wq", "wd", "r", "yq"};
	struct sl_inspection *seen =
		inspect_text(IMAGE CONV "r = Relu a\n"
					"yq = QuantizeLinear r sy u0\n"
					"y = DequantizeLinear yq sy u0\n"
					"out y\n");
	const struct sl_cost *c = cost_of(seen, "a");

	(void)state;
	check_fused(seen, 2, 2, 2);
	assert_int_equal(c->weight_bytes, 288 + 3 * 5);
	assert_int_equal(c->read_bytes, 144);
	assert_int_equal(c->written_bytes, 288);
	assert_int_equal(c->macs, 36 * 8 * 4 * 9);
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		assert_int_equal(sl_cost_bytes(cost_of(seen, parts[i])), 0);
	assert_int_equal(sl_cost_bytes(cost_of(seen, "xq")), 576 + 5 + 144);
	assert_int_equal(sl_cost_bytes(cost_of(seen, "y")), 288 + 5 + 1152);
	assert_int_equal(seen->n_bytes, 303 + 144 + 288 + 725 + 1445);
	/* Operations stay the model's. */
	assert_int_equal(cost_of(seen, "r")->cmp, 288);

	/* yq and y; as the file has it, xd, wd and a as reals, and u0. */
	assert_int_equal(seen->memory.live_bytes, 288 + 1152);
	assert_string_equal(seen->memory.peak_layer, "y");
	assert_int_equal(seen->memory.n_alive_all, 2);
	assert_int_equal(seen->memory.activation_bytes, 144 + 288 + 1152);
	assert_int_equal(seen->memory.unfused_bytes, 576 + 1152 + 1152 + 1);
	sl_inspection_free(seen);
}

/* Every byte that the fused graph moves counts for one node of the model. */
static void
check_sums(const char *text)
{
	struct graph_text *g = graph_text(text);
	struct sl__shapes_options how = {.sizes = NULL};
	struct sl__arena arena;
	struct sl__execution_order steps;
	struct sl__roles roles;
	struct sl__static_analysis *s;
	uint64_t model = 0, fused = 0;

	sl__arena_init(&arena, NULL);
	assert_int_equal(
		sl__execution_order_find(&steps, g->graph, &arena, NULL),
		SL_OK);
	assert_int_equal(sl__roles_classify(&roles, &steps, &arena, NULL),
			 SL_OK);
	assert_int_equal(
		sl__static_analysis_new(&s, &steps, &roles, &how, NULL), SL_OK);
	assert_non_null(s->fused);
	for (size_t i = 0; i < g->graph->n_nodes; i++)
		model += sl_cost_bytes(&s->costs.per_call[i]);
	for (size_t i = 0; i < s->fused->graph->n_nodes; i++)
		fused += sl_cost_bytes(&s->fused->costs.per_call[i]);
	assert_int_equal(model, fused);
	assert_ptr_equal(sl__static_analysis_liveness(s), &s->fused->liveness);
	sl__static_analysis_free(s);
	sl__arena_release(&arena);
	graph_text_free(g);
}

static void
test_sums(void **state)
{
	(void)state;
	check_sums(IMAGE CONV "y = QuantizeLinear a sy u99\nout y\n");
	/* Relu stays as a Clip of codes: the zero is no end of theirs. */
	check_sums(IMAGE CONV "r = Relu a\ny = QuantizeLinear r sy u99\n"
			      "out y\n");
	/* The pool is quantized before it, by a node that is in no file. */
	check_sums(IMAGE "m = MaxPool xd kernel_shape=[2,2]\n"
			 "y = QuantizeLinear m sy u0\nout y\n");
	/* Reals that two operators take. */
	check_sums(IMAGE "const w f32 4,4,1,1 = random\n"
			 "wq = QuantizeLinear w sw z\n"
			 "wd = DequantizeLinear wq sw z\na = Conv xd wd\n"
			 "aq = QuantizeLinear a sy u99\n"
			 "ad = DequantizeLinear aq sy u99\ns = Add ad xd\n"
			 "y = QuantizeLinear s sy u99\nout y\n");
}

static struct sl_buf
render(const char *text, enum sl_format format)
{
	struct sl_inspection *seen = inspect_text(text);
	const struct sl_inspection *one = seen;
	struct sl_render_options how = {.struct_size = sizeof(how),
					.format = format};
	struct sl_buf out = {0};

	assert_int_equal(sl_inspection_render(&one, 1, NULL, &how, &out, NULL),
			 SL_OK);
	sl_inspection_free(seen);
	return out;
}

/* The report says what is fused; of a model that has nothing, nothing. */
static void
test_report(void **state)
{
	static const char *const fused = IMAGE CONV
		"y = QuantizeLinear a sy u99\nout y\n";
	static const char *const plain = "in x f32 1,4\ny = Relu x\nout y\n";
	struct sl_buf out = render(fused, SL_FORMAT_TEXT);

	(void)state;
	assert_non_null(strstr(out.data,
			       "  quantized   2 QuantizeLinear and 2 "
			       "DequantizeLinear count as part of their\n"));
	assert_non_null(strstr(out.data, "operators, 1 by itself: traffic"));
	sl_buf_release(&out);
	out = render(fused, SL_FORMAT_JSON);
	assert_near(json_number_at(out.data, "cost.fused.quantize"), 2, 0);
	assert_near(json_number_at(out.data, "cost.fused.dequantize"), 2, 0);
	assert_near(json_number_at(out.data, "cost.fused.apart"), 1, 0);
	assert_near(json_number_at(out.data, "memory.live_bytes"), 576 + 144,
		    0);
	assert_near(json_number_at(out.data, "memory.unfused_live_bytes"),
		    576 + 1152 + 1152 + 1, 0);
	sl_buf_release(&out);
	out = render(plain, SL_FORMAT_TEXT);
	assert_null(strstr(out.data, "quantized"));
	sl_buf_release(&out);
	out = render(plain, SL_FORMAT_JSON);
	assert_false(json_has(out.data, "cost.fused"));
	assert_false(json_has(out.data, "memory.unfused_live_bytes"));
	sl_buf_release(&out);
}

/* Without an operator that has an integer form, without a QuantizeLinear
 * behind it, and without either. */
static void
test_unfused(void **state)
{
	static const char *const texts[] = {
		IMAGE "e = Exp xd\ny = QuantizeLinear e sy u99\nout y\n",
		IMAGE CONV "out a\n",
		"in x f32 1,4\ny = Relu x\nout y\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct sl_inspection *seen = inspect_text(texts[i]);

		check_fused(seen, 0, 0, 0);
		assert_int_equal(seen->memory.unfused_bytes,
				 seen->memory.live_bytes);
		sl_inspection_free(seen);
	}
	/* As the file has it: DequantizeLinear writes the reals. */
	struct sl_inspection *seen = inspect_text(texts[0]);

	assert_int_equal(cost_of(seen, "xd")->written_bytes, 576);
	sl_inspection_free(seen);
}

static void
test_out_of_memory(void **state)
{
	struct graph_text *g =
		graph_text(IMAGE CONV "y = QuantizeLinear a sy u99\nout y\n");
	enum sl_status rc;
	int n = 0;

	(void)state;
	do {
		struct counting c = {.fail_at = ++n};
		struct sl_allocator allocator = counting_allocator(&c);
		struct sl_inspect_options how = {.struct_size = sizeof(how),
						 .allocator = &allocator};
		struct sl_inspection *seen = NULL;

		rc = sl_inspect(&seen, g->graph, &how, NULL);
		assert_true(rc == SL_OK || rc == SL_E_NOMEM);
		sl_inspection_free(seen);
		assert_int_equal(c.n_out, 0);
	} while (rc);
	assert_true(n > 20);
	graph_text_free(g);
}

#ifdef SL_TEST_MODELS
static uint64_t
lines_of(uint64_t n_bytes)
{
	return (n_bytes + 63) / 64 * 64;
}

/*
 * The engine's plan has the same values at the same moment.  Three things are
 * its own: a value takes whole lines of 64 bytes, the model's inputs, which
 * stay the caller's, are there to the end (here they are gone from the graph at
 * the peak), and the step at the peak may have a workspace.  Without oneDNN
 * convolutions in front of the depthwise ones run on reference kernels: then the
 * peak is where their result is reordered, which is there twice.
 */
static void
check_plan(const char *name, uint64_t live_bytes, uint64_t input_bytes)
{
	struct sl_plan_options how = {.struct_size = sizeof(how),
				      .algorithms = SL_ALGORITHMS_FIXED,
				      .flags = SL_PLAN_NO_CACHE};
	struct sl_inspection *seen;
	struct sl_plan_memory memory;
	struct sl_plan *plan;
	struct sl_graph *graph;
	struct sl_error err;
	uint64_t peak = 0, reordered;
	char path[512];

	snprintf(path, sizeof(path), "%s/%s/model.onnx", SL_TEST_MODELS, name);
	if (sl_graph_open(&graph, path, NULL, &err) ||
	    sl_inspect(&seen, graph, NULL, &err) ||
	    sl_plan_new(&plan, graph, &how, &err))
		fail_msg("%s: %s", name, err.text);
	sl_plan_memory(plan, &memory);
	assert_int_equal(seen->memory.live_bytes, live_bytes);
	assert_int_equal(seen->memory.n_alive, seen->memory.n_alive_all);
	for (size_t i = 0; i < seen->memory.n_alive; i++)
		peak += lines_of(seen->memory.alive[i].n_bytes);
	reordered = bytes_of_largest_reorder(plan->current);
	if (peak < reordered)
		peak = reordered;
	else
		peak += workspace_of_largest_step(plan->current);
	assert_int_equal(memory.live_bytes, lines_of(input_bytes) + peak);
	sl_plan_free(plan);
	sl_inspection_free(seen);
	sl_graph_free(graph);
}
#endif

#ifdef SL_TEST_MODELS
static struct sl_inspection *
inspect_model(const char *name, int has_inputs)
{
	struct sl_sizes sizes = {.struct_size = sizeof(sizes)};
	struct sl_inspect_options how = {.struct_size = sizeof(how),
					 .sizes = &sizes};
	struct sl_inspection *seen = NULL;
	struct sl_graph *graph;
	struct sl_error err;
	char path[512], inputs[512];

	snprintf(path, sizeof(path), "%s/%s/model.onnx", SL_TEST_MODELS, name);
	snprintf(inputs, sizeof(inputs), "%s/%s/test_data_set_0",
		 SL_TEST_MODELS, name);
	if (has_inputs)
		sizes.inputs_folder = inputs;
	if (sl_graph_open(&graph, path, NULL, &err) ||
	    sl_inspect(&seen, graph, &how, &err))
		fail_msg("%s: %s", name, err.text);
	sl_graph_free(graph);
	return seen;
}
#endif

/* One network in both of ONNX's forms: with the integer operators written out
 * it moves the same, but for scales and zero points. */
static void
test_both_forms(void **state)
{
	(void)state;
#ifdef SL_TEST_MODELS
	struct sl_inspection *pairs = inspect_model("micro_kws_qdq", 0);
	struct sl_inspection *whole = inspect_model("micro_kws_qop", 0);

	check_fused(pairs, 15, 27, 2);
	check_fused(whole, 1, 1, 2); /* around a Transpose */
	assert_int_equal(pairs->cost.macs, whole->cost.macs);
	assert_int_equal(pairs->cost.read_bytes, whole->cost.read_bytes);
	assert_int_equal(pairs->cost.written_bytes, whole->cost.written_bytes);
	assert_in_range(pairs->cost.weight_bytes, whole->cost.weight_bytes - 16,
			whole->cost.weight_bytes + 16);
	assert_int_equal(pairs->memory.live_bytes, whole->memory.live_bytes);
	assert_int_equal(whole->memory.unfused_bytes, whole->memory.live_bytes);
	sl_inspection_free(whole);
	/* What is computed from an input that a file holds is no constant. */
	whole = inspect_model("micro_kws_qdq", 1);
	assert_int_equal(pairs->n_bytes, whole->n_bytes);
	assert_int_equal(pairs->memory.live_bytes, whole->memory.live_bytes);
	sl_inspection_free(pairs);
	sl_inspection_free(whole);
#else
	skip();
#endif
}

/* MobileNetV2: 96 x 122 x 122 codes and 96 x 61 x 61, around a depthwise
 * convolution; keyword spotting: 16 x 49 x 40 and 16 x 24 x 20, around a
 * pool. */
static void
test_plans(void **state)
{
	(void)state;
#ifdef SL_TEST_MODELS
	check_plan("mobilenetv2_qdq", 96 * (122 * 122 + 61 * 61),
		   4 * 3 * 244 * 244);
	check_plan("micro_kws_qdq", 16 * (49 * 40 + 24 * 20), 4 * 49 * 40);
#else
	skip();
#endif
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_convolution),
		cmocka_unit_test(test_sums),
		cmocka_unit_test(test_report),
		cmocka_unit_test(test_unfused),
		cmocka_unit_test(test_out_of_memory),
		cmocka_unit_test(test_both_forms),
		cmocka_unit_test(test_plans),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
