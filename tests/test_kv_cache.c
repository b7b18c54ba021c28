/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_kv_cache.c - a decoder that is given a cache computes, token by token,
 * the scores that it computes without one for the whole text: the built-in one,
 * and ones that write masks, positions and rotations as exporters do.  Models
 * that look ahead, have a cache or no attention are refused.
 */
#include "tiny_decoder.h"
#include "experiment/decoder.h"
#include "graph_text.h"
#include "sleuth.h"

enum { N_TOKENS = 7 };

/* Runs n tokens after n_past of the text that the seed decides. */
static struct sl_plan *
run_tokens(struct sl__decoder *d, int64_t n_past, int64_t n,
	   struct sl__runtime_value *scores)
{
	struct sl_plan_options how = {.struct_size = sizeof(how),
				      .n_threads = 1,
				      .algorithms = SL_ALGORITHMS_FIXED};
	struct sl_sizes sizes;
	struct sl_error err = {0};
	struct sl_plan *plan;

	assert_int_equal(sl__decoder_sizes(d, n_past, n, &sizes, &err), SL_OK);
	how.sizes = &sizes;
	if (sl_plan_new(&plan, d->graph, &how, &err) ||
	    sl__decoder_set_inputs(d, plan, n_past, &err) ||
	    sl_plan_run(plan, &err) ||
	    sl__plan_output_value(plan, 0, scores, &err) ||
	    (d->has_cache && sl__decoder_keep_state(d, plan, n_past + n, &err)))
		fail_msg("%s", err.text);
	return plan;
}

/* The rows of a go are those of the whole text. */
static void
compare_rows(const struct sl__tensor *all, const struct sl__tensor *go,
	     int64_t n_past)
{
	int64_t width = all->dims[2];

	assert_int_equal(go->dims[2], width);
	for (uint64_t i = 0; i < go->n_elements; i++) {
		double x, y;

		assert_true(sl__tensor_doubles(
			all, (uint64_t)(n_past * width) + i, 1, &x));
		assert_true(sl__tensor_doubles(go, i, 1, &y));
		assert_true(fabs(x - y) < 1e-5);
	}
}

static void
check_same_scores(const struct sl_graph *graph, size_t n_layers)
{
	static const int64_t goes[] = {3, 1, 2, 1};
	struct sl__decoder whole, cached;
	struct sl__runtime_value all, go;
	struct sl_variant *v;
	struct sl_plan *plan, *part;
	struct sl__arena arena;
	struct sl_error err = {0};
	int64_t n_past = 0;

	if (sl_variant_new(&v, graph, "kv-cache", NULL, &err))
		fail_msg("%s", err.text);
	assert_int_equal(v->changes[0].n_layers, n_layers);
	sl__arena_init(&arena, NULL);
	assert_int_equal(sl__decoder_open(&whole, graph, 0, 5, &arena, &err),
			 SL_OK);
	assert_int_equal(
		sl__decoder_open(&cached, v->graph, 0, 5, &arena, &err), SL_OK);
	assert_false(whole.has_cache);
	assert_true(cached.has_cache);
	plan = run_tokens(&whole, 0, N_TOKENS, &all);
	for (size_t i = 0; i < sizeof(goes) / sizeof(goes[0]); i++) {
		part = run_tokens(&cached, n_past, goes[i], &go);
		assert_int_equal(go.tensor.dims[1], goes[i]);
		compare_rows(&all.tensor, &go.tensor, n_past);
		sl_plan_free(part);
		n_past += goes[i];
	}
	assert_int_equal(n_past, N_TOKENS);
	sl_plan_free(plan);
	sl__decoder_close(&whole);
	sl__decoder_close(&cached);
	sl__arena_release(&arena);
	sl_variant_free(v);
}

static void
built_in(void **state)
{
	struct sl_graph *graph;

	(void)state;
	assert_int_equal(sl_graph_open(&graph, "tiny-gpt", NULL, NULL), SL_OK);
	check_same_scores(graph, 2);
	sl_graph_free(graph);
}

/* A run of as many tokens becomes one of the last, after all before it. */
static void
a_run_is_of_one_token(void **state)
{
	struct sl_sizes sizes = {
		.struct_size = sizeof(sizes), .batch = 2, .seq = 24};
	struct sl_plan_options plan = {.struct_size = sizeof(plan),
				       .sizes = &sizes};
	struct sl_variant_options how = {.struct_size = sizeof(how),
					 .plan = &plan};
	struct sl_graph *graph;
	struct sl_variant *v;
	struct sl_plan *step;
	struct sl_array in;
	struct sl_error err;
	void *data;

	(void)state;
	assert_int_equal(sl_graph_open(&graph, "tiny-gpt", NULL, NULL), SL_OK);
	if (sl_variant_new(&v, graph, "kv-cache", &how, &err) ||
	    sl_plan_new(&step, v->graph, &v->plan, &err) ||
	    sl_plan_input(step, "input_ids", &in, &data, &err))
		fail_msg("%s", err.text);
	assert_int_equal(in.n_elements, 2);
	if (sl_plan_input(step, "past_key_0", &in, &data, &err))
		fail_msg("%s", err.text);
	assert_int_equal(in.dims[0], 2);
	assert_int_equal(in.dims[2], 23);
	if (sl_plan_fill_inputs(step, 1, &err) || sl_plan_run(step, &err))
		fail_msg("%s", err.text);
	sl_plan_free(step);
	sl_variant_free(v);
	sl_graph_free(graph);
}

/* Positions by Range, keys turned around when heads are split, and a mask cut
 * out of a constant by the lengths of queries and keys. */
static const char buffered[] = "n = Shape input_ids\n"
			       "len = Gather n one\n"
			       "pos = Range zero len one\n"
			       "pe = Gather places pos\n"
			       "we = Gather words input_ids\n"
			       "x = Add we pe\n"
			       "q = MatMul x wq\n"
			       "k = MatMul x wk\n"
			       "v = MatMul x wv\n"
			       "q4 = Reshape q heads\n"
			       "k4 = Reshape k heads\n"
			       "v4 = Reshape v heads\n"
			       "qh = Transpose q4 perm=[0,2,1,3]\n"
			       "kh = Transpose k4 perm=[0,2,3,1]\n"
			       "vh = Transpose v4 perm=[0,2,1,3]\n"
			       "s0 = MatMul qh kh\n"
			       "s1 = Div s0 two\n"
			       "ks = Shape kh\n"
			       "kl = Gather ks i3\n"
			       "qs = Shape qh\n"
			       "ql = Gather qs i2\n"
			       "d = Sub kl ql\n"
			       "d1 = Unsqueeze d i0\n"
			       "k1 = Unsqueeze kl i0\n"
			       "m1 = Slice tri d1 k1 a2\n"
			       "m2 = Slice m1 i0 k1 a3\n"
			       "s2 = Where m2 s1 far\n"
			       "p = Softmax s2 axis=-1\n"
			       "c = MatMul p vh\n"
			       "ct = Transpose c perm=[0,2,1,3]\n"
			       "cj = Reshape ct joined\n"
			       "y = MatMul cj wo\n"
			       "out y\n";

/* Rotations by position, one pair of heads that share keys, a mask by Trilu
 * and one that the model is given. */
static const char rotated[] = "x = Gather words input_ids\n"
			      "n = Shape x start=1 end=2\n"
			      "len = Squeeze n\n"
			      "pos = Range zero len one\n"
			      "fp = Cast pos to=1\n"
			      "fc = Unsqueeze fp i1\n"
			      "ang = Mul fc freq\n"
			      "cos = Cos ang\n"
			      "sin = Sin ang\n"
			      "q = MatMul x wq\n"
			      "k = MatMul x wk4\n"
			      "v = MatMul x wv4\n"
			      "q4 = Reshape q heads\n"
			      "k4 = Reshape k shared\n"
			      "v4 = Reshape v shared\n"
			      "qh = Transpose q4 perm=[0,2,1,3]\n"
			      "kh = Transpose k4 perm=[0,2,1,3]\n"
			      "vh = Transpose v4 perm=[0,2,1,3]\n"
			      "qa,qb = Split qh axis=3 num_outputs=2\n"
			      "qn = Neg qb\n"
			      "qr = Concat qn qa axis=3\n"
			      "q5 = Mul qh cos\n"
			      "q6 = Mul qr sin\n"
			      "qq = Add q5 q6\n"
			      "ka,kb = Split kh axis=3 num_outputs=2\n"
			      "kn = Neg kb\n"
			      "kr = Concat kn ka axis=3\n"
			      "k5 = Mul kh cos\n"
			      "k6 = Mul kr sin\n"
			      "kk = Add k5 k6\n"
			      "kt = Transpose kk perm=[0,1,3,2]\n"
			      "s0 = MatMul qq kt\n"
			      "nn = Concat n n axis=0\n"
			      "ones = Expand far nn\n"
			      "tri2 = Trilu ones one upper=1\n"
			      "s1 = Add s0 tri2\n"
			      "mf = Cast attention_mask to=1\n"
			      "mb = Sub mf unit\n"
			      "mm = Mul mb big\n"
			      "mu = Unsqueeze mm a12\n"
			      "s2 = Add s1 mu\n"
			      "p = Softmax s2 axis=-1\n"
			      "c = MatMul p vh\n"
			      "ct = Transpose c perm=[0,2,1,3]\n"
			      "cj = Reshape ct joined\n"
			      "y = MatMul cj wo\n"
			      "out y\n";

static struct graph_text *
exported(const char *nodes, const char *more)
{
	char text[8192], *at = text;

	at += snprintf(text, sizeof(text),
		       "opset 18\n"
		       "in input_ids i64 b,s\n%s"
		       "const words f32 20,8 = random\n"
		       "const places f32 16,8 = random\n"
		       "const zero i64 - = 0\nconst one i64 - = 1\n"
		       "const i0 i64 1 = 0\nconst i1 i64 1 = 1\n"
		       "const i2 i64 - = 2\nconst i3 i64 - = 3\n"
		       "const a2 i64 1 = 2\nconst a3 i64 1 = 3\n"
		       "const a12 i64 2 = 1,2\n"
		       "const two f32 - = 2\nconst far f32 - = -10000\n"
		       "const unit f32 - = 1\nconst big f32 - = 10000\n"
		       "const freq f32 1,4 = 1,0.1,1,0.1\n"
		       "const heads i64 4 = 0,0,2,4\n"
		       "const shared i64 4 = 0,0,1,4\n"
		       "const joined i64 3 = 0,0,8\n"
		       "const wq f32 8,8 = random\nconst wk f32 8,8 = random\n"
		       "const wv f32 8,8 = random\n"
		       "const wk4 f32 8,4 = random\n"
		       "const wv4 f32 8,4 = random\n"
		       "const wo f32 8,20 = random\n"
		       "const tri bool 1,1,16,16 = ",
		       more);
	for (int i = 0; i < 256; i++)
		at += snprintf(at, (size_t)(text + sizeof(text) - at), "%s%d",
			       i ? "," : "", i % 16 <= i / 16);
	snprintf(at, (size_t)(text + sizeof(text) - at), "\n%s", nodes);
	return graph_text(text);
}

static void
as_exporters_write_it(void **state)
{
	struct graph_text *g = exported(buffered, "");

	(void)state;
	check_same_scores(g->graph, 1);
	graph_text_free(g);
	g = exported(rotated, "in attention_mask i64 b,s\n");
	check_same_scores(g->graph, 1);
	graph_text_free(g);
}

static void
check_refusal(struct sl_graph *graph, const char *why)
{
	struct sl_variant *v;
	struct sl_error err;

	assert_int_equal(sl_variant_new(&v, graph, "kv-cache", NULL, &err),
			 SL_E_DATA);
	assert_null(v);
	if (!strstr(err.text, why))
		fail_msg("%s", err.text);
	sl_graph_free(graph);
}

static void
refused(void **state)
{
	struct sl_graph *graph;

	(void)state;
	check_refusal(tiny_decoder(TINY_BOTH_WAYS), "tokens see later ones");
	check_refusal(tiny_decoder(TINY_CACHED), "a cache already");
	assert_int_equal(sl_graph_open(&graph, "mlp:4-3-2", NULL, NULL), SL_OK);
	check_refusal(graph, "no attention was found");
	assert_int_equal(
		sl_graph_open(&graph, "digits-transformer", NULL, NULL), SL_OK);
	check_refusal(graph, "no attention was found");
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(built_in),
		cmocka_unit_test(a_run_is_of_one_token),
		cmocka_unit_test(as_exporters_write_it),
		cmocka_unit_test(refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
