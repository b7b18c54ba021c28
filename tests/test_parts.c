/* SPDX-License-Identifier: Apache-2.0 */
/* test_parts.c - what each operation is for, from structure alone. */
#include "graph_text.h"
#include "analysis/parts.h"

/* Of a plan whose parts are asked for. */
struct parted {
	struct sl_plan *plan;
	struct sl__arena arena;
	enum sl_part *parts;
	char text[2048];
};

static struct parted *
part(const struct sl_graph *graph, unsigned flags, int64_t seq)
{
	struct sl_sizes sizes = {.struct_size = sizeof(sizes), .seq = seq};
	struct sl_plan_options how = {.struct_size = sizeof(how),
				      .sizes = &sizes,
				      .algorithms = SL_ALGORITHMS_FIXED,
				      .n_threads = 1,
				      .flags = flags | SL_PLAN_NO_CACHE};
	struct parted *p = calloc(1, sizeof(*p));
	struct sl_error err;

	assert_non_null(p);
	sl__arena_init(&p->arena, NULL);
	if (sl_plan_new(&p->plan, graph, &how, &err))
		fail_msg("%s", err.text);
	p->parts = sl__arena_array(&p->arena, sl_plan_n_steps(p->plan),
				   sizeof(*p->parts));
	assert_non_null(p->parts);
	if (sl__network_parts_classify(p->parts, p->plan, &p->arena, &err))
		fail_msg("%s", err.text);
	return p;
}

static void
part_free(struct parted *p)
{
	sl_plan_free(p->plan);
	sl__arena_release(&p->arena);
	free(p);
}

/* How many of each part; reorders, which depend on the machine, are looked at
 * but not counted. */
static void
check_model(const char *name, int64_t seq, unsigned flags, const char *expected)
{
	struct sl_graph *graph;
	struct sl_error err;
	struct parted *p;
	struct sl_step step;
	size_t n[SL_N_PARTS] = {0}, used = 0;

	if (sl_graph_open(&graph, name, NULL, &err))
		fail_msg("%s", err.text);
	p = part(graph, flags, seq);
	for (size_t i = 0; sl_plan_step(p->plan, i, &step); i++) {
		if (step.n_covers)
			n[p->parts[i]]++;
		else
			assert_int_equal(p->parts[i], SL_PART_MOVEMENT);
	}
	for (int k = 0; k < SL_N_PARTS; k++) {
		if (n[k])
			used += (size_t)snprintf(
				p->text + used, sizeof(p->text) - used,
				"%s%zu %s", used ? ", " : "", n[k],
				sl_part_text((enum sl_part)k));
	}
	assert_string_equal(p->text, expected);
	part_free(p);
	sl_graph_free(graph);
}

/* 12 layers of: query, key, value, attention, output; 2 linear layers; 2
 * norms.  Two tables and the sums with token types and positions; the mask's
 * difference and product belong to attention. */
static void
bert(void **state)
{
	(void)state;
	check_model("bert-base", 8, 0,
		    "62 attention, 24 feed-forward, 4 embedding, "
		    "25 normalisation, 1 head, 1 data movement");
}

/* One layer for queries, keys and values, and its split. */
static void
gpt2(void **state)
{
	(void)state;
	check_model("gpt2", 8, 0,
		    "36 attention, 24 feed-forward, 2 embedding, "
		    "25 normalisation, 1 head, 12 data movement");
}

static void
vit(void **state)
{
	(void)state;
	check_model("vit-b-16", 0, 0,
		    "36 attention, 24 feed-forward, 2 embedding, "
		    "25 normalisation, 1 head, 14 data movement");
}

/* 20 convolutions and 2 pools. */
static void
resnet18(void **state)
{
	(void)state;
	check_model("resnet18", 0, 0, "22 convolution, 1 head");
	/* 20 norms, 17 activations behind them and 8 sums. */
	check_model("resnet18", 0, SL_PLAN_NO_FUSION,
		    "25 other, 20 normalisation, 22 convolution, 1 head");
}

static void
small_models(void **state)
{
	(void)state;
	check_model("lstm", 4, 0, "1 embedding, 2 recurrent, 1 head");
	check_model("mlp:8-8-8-2", 0, 0, "2 feed-forward, 1 head");
	check_model("mlp:8-8-8-2", 0, SL_PLAN_NO_FUSION,
		    "4 feed-forward, 1 head");
	check_model("attention:16,64,4", 0, 0, "5 attention");
	check_model("lenet5", 0, 0, "2 feed-forward, 4 convolution, 1 head");
}

/* One step for each node: "Type part" of each, views left out. */
static void
check_nodes(const char *text, const char *expected)
{
	struct graph_text *g = graph_text_with(text, NULL);
	struct parted *p = part(g->graph, SL_PLAN_NO_FUSION, 0);
	struct sl_step step;
	size_t used = 0;

	for (size_t i = 0; sl_plan_step(p->plan, i, &step); i++) {
		if (!step.n_covers)
			continue;
		used += (size_t)snprintf(p->text + used, sizeof(p->text) - used,
					 "%s%s %s", used ? "; " : "", step.type,
					 sl_part_text(p->parts[i]));
	}
	assert_string_equal(p->text, expected);
	part_free(p);
	graph_text_free(g);
}

#define WEIGHTS                                                  \
	"const wq f32 8,8 = random\nconst wk f32 8,8 = random\n" \
	"const wv f32 8,8 = random\nconst wo f32 8,8 = random\n" \
	"const g f32 8 = random\nconst half f32 - = 0.5\n"

/* Keys are normalised and scaled on their way: the layer before is still
 * attention's, and the norm before the layers is not looked through. */
static void
operands_are_followed(void **state)
{
	(void)state;
	check_nodes("in x f32 2,6,8\nin m f32 6,6\n" WEIGHTS
		    "n = LayerNormalization x g\n"
		    "q = MatMul n wq\nk = MatMul n wk\nv = MatMul n wv\n"
		    "kn = LayerNormalization k g\nks = Mul kn half\n"
		    "t = Transpose ks perm=[0,2,1]\ns = MatMul q t\n"
		    "mm = Sub m half\nsm = Add s mm\np = Softmax sm axis=2\n"
		    "c = MatMul p v\no = MatMul c wo\nr = Add o x\n"
		    "f = MatMul r wq\na = Relu f\nh = MatMul a wk\n"
		    "y = Add h r\nout y\n",
		    "LayerNormalization normalisation; MatMul attention; "
		    "MatMul attention; MatMul attention; "
		    "LayerNormalization normalisation; Mul attention; "
		    "Transpose data movement; MatMul attention; "
		    "Sub attention; Add attention; Softmax attention; "
		    "MatMul attention; MatMul attention; Add other; "
		    "MatMul feed-forward; Relu feed-forward; "
		    "MatMul feed-forward; Add other");
}

/* What attention reads and others too was not made for it. */
static void
residuals_end_the_search(void **state)
{
	(void)state;
	check_nodes("in x f32 2,6,8\n" WEIGHTS "f = MatMul x wq\ne = Add f x\n"
		    "t = Transpose e perm=[0,2,1]\ns = MatMul e t\n"
		    "p = Softmax s axis=2\nc = MatMul p e\nr = Add c e\n"
		    "out r\n",
		    "MatMul feed-forward; Add other; Transpose data movement; "
		    "MatMul attention; Softmax attention; MatMul attention; "
		    "Add other");
}

/* A softmax behind a product that no second product follows is a head's. */
static void
heads_end_in_pieces(void **state)
{
	(void)state;
	check_nodes("in x f32 2,8\n" WEIGHTS "const ax i64 1 = 1\n"
		    "a = MatMul x wq\nb = Relu a\nh = MatMul b wk\n"
		    "m = ReduceMax h ax\nd = Sub h m\ne = Exp d\n"
		    "z = ReduceSum e ax\ny = Div e z\nout y\n",
		    "MatMul feed-forward; Relu feed-forward; MatMul head; "
		    "ReduceMax head; Sub head; Exp head; ReduceSum head; "
		    "Div head");
	/* An output that goes on inside is no end. */
	check_nodes("in x f32 2,8\n" WEIGHTS
		    "a = MatMul x wq\nb = Tanh a\nh = MatMul b wk\n"
		    "out b\nout h\n",
		    "MatMul feed-forward; Tanh feed-forward; MatMul head");
	/* Nor is the last sum of residuals. */
	check_nodes("in x f32 2,8\n" WEIGHTS
		    "a = MatMul x wq\ny = Add a x\nout y\n",
		    "MatMul feed-forward; Add other");
}

#define PATCHES                                            \
	"in x f32 1,3,8,8\nconst w f32 4,3,4,4 = random\n" \
	"const flat i64 3 = 1,4,4\n"                       \
	"c = Conv x w strides=[4,4]\nr = Reshape c flat\n"

static void
patches_are_an_embedding(void **state)
{
	(void)state;
	check_nodes(PATCHES "const pos f32 4,4 = random\n"
			    "e = Transpose r perm=[0,2,1]\nz = Add e pos\n"
			    "t = Transpose z perm=[0,2,1]\ns = MatMul z t\n"
			    "p = Softmax s axis=2\nc2 = MatMul p z\n"
			    "y = Add c2 z\nout y\n",
		    "Conv embedding; Transpose data movement; Add embedding; "
		    "Transpose data movement; MatMul attention; "
		    "Softmax attention; MatMul attention; Add other");
	/* Without attention it is a convolution. */
	check_nodes(PATCHES "y = Relu r\nout y\n",
		    "Conv convolution; Relu convolution");
}

static void
lookups_need_a_table(void **state)
{
	(void)state;
	check_nodes("in x f32 2,8\nin i i64 3\nconst table f32 5,8 = random\n"
		    "a = Gather table i\nb = Gather x i axis=1\n"
		    "out a\nout b\n",
		    "Gather embedding; Gather data movement");
}

static void
fails_for_want_of_memory(void **state)
{
	struct graph_text *g =
		graph_text_with("in x f32 2,8\ny = Relu x\nout y\n", NULL);
	struct counting counting = {0};
	struct sl_allocator allocator = counting_allocator(&counting);
	struct parted *p = part(g->graph, 0, 0);
	struct sl__arena arena;
	enum sl_status rc = SL_E_NOMEM;
	struct sl_error err;

	(void)state;
	for (int at = 1; rc && at < 64; at++) {
		counting.n_requests = 0;
		counting.fail_at = at;
		sl__arena_init(&arena, &allocator);
		rc = sl__network_parts_classify(p->parts, p->plan, &arena,
						&err);
		sl__arena_release(&arena);
		assert_true(rc == SL_OK || rc == SL_E_NOMEM);
		assert_int_equal(counting.n_out, 0);
		assert_true(at > 1 || rc);
	}
	assert_int_equal(rc, SL_OK);
	part_free(p);
	graph_text_free(g);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bert),
		cmocka_unit_test(gpt2),
		cmocka_unit_test(vit),
		cmocka_unit_test(resnet18),
		cmocka_unit_test(small_models),
		cmocka_unit_test(operands_are_followed),
		cmocka_unit_test(residuals_end_the_search),
		cmocka_unit_test(heads_end_in_pieces),
		cmocka_unit_test(patches_are_an_embedding),
		cmocka_unit_test(lookups_need_a_table),
		cmocka_unit_test(fails_for_want_of_memory),
	};

	return cmocka_run_group_tests_name("parts", tests, NULL, NULL);
}
