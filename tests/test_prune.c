/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_prune.c - channels that are all zero go, and no output changes at all:
 * through norms, residuals, concatenations, depthwise and grouped
 * convolutions, views and attention.  What is left has the sizes that follow
 * from the share; what cannot be followed stays, and is named.
 */
#include "rewritten.h"
#include "transform/prune.h"

/* Zeroes index i of a dimension of a constant. */
static void
zero(struct graph_text *g, const char *name, int axis, int64_t index)
{
	const struct sl__tensor *t =
		g->graph->values[graph_text_value(g, name)].tensor;
	unsigned char *bytes = (unsigned char *)(uintptr_t)t->bytes;
	uint64_t inner = 1;
	double none = 0;

	for (size_t d = (size_t)axis + 1; d < t->rank; d++)
		inner *= (uint64_t)t->dims[d];
	for (uint64_t i = 0; i < t->n_elements; i++) {
		if ((int64_t)(i / inner) % t->dims[axis] == index)
			sl__store_doubles(bytes, t->dtype, i, 1, &none);
	}
}

struct pruned_case {
	struct rewritten r; /* 'made' is the pruned graph */
	struct sl__pruned done;
};

/* Prunes; 'zeroed' are names of weights, dimensions and indices, "w,0,1;". */
static struct pruned_case
pruned(const char *text, const char *zeroed, enum sl__prune_kind kind,
       double share)
{
	struct pruned_case c = {.r = {.g = graph_text(text)}};
	struct sl__prune_options how = {.kind = kind, .share = share};
	struct sl_error err;

	for (const char *at = zeroed; *at; at = strchr(at, ';') + 1) {
		char name[16];
		int axis, index;

		assert_int_equal(
			sscanf(at, "%15[^,],%d,%d", name, &axis, &index), 3);
		zero(c.r.g, name, axis, index);
	}
	if (sl__prune(&c.done, c.r.g->graph, &how, &err))
		fail_msg("%s", err.text);
	c.r.made = c.done.graph;
	return c;
}

/* No output changes by a single bit. */
static void
finish_exact(struct pruned_case *c)
{
	rewritten_evaluate(&c->r, 0);
	rewritten_free(&c->r);
}

static void
assert_dims(const struct pruned_case *c, const char *name, const char *expected)
{
	const struct sl__tensor *t =
		c->r.made->values[graph_text_value(c->r.g, name)].tensor;
	char text[64] = "";

	assert_non_null(t);
	for (size_t d = 0; d < t->rank; d++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text),
			 "%s%d", d ? "," : "", (int)t->dims[d]);
	assert_string_equal(text, expected);
}

/* The scale of a norm counts: channel 0 has large weights and no scale. */
static void
norms_and_flatten(void **state)
{
	struct pruned_case c = pruned("in x f32 n,2,3,3\n"
				      "const w f32 4,2,3,3 = random\n"
				      "const b f32 4 = random\n"
				      "const s f32 4 = random\n"
				      "const o f32 4 = random\n"
				      "const m f32 4 = 0.5,0.25,-1,2\n"
				      "const v f32 4 = 1,2,3,4\n"
				      "const f f32 36,2 = random\n"
				      "c = Conv x w b pads=[1,1,1,1]\n"
				      "d = BatchNormalization c s o m v\n"
				      "e = Relu d\n"
				      "g = Flatten e\n"
				      "y = Gemm g f\n"
				      "out y\n",
				      "s,0,0;o,0,0;s,0,2;o,0,2;",
				      SL__PRUNE_CHANNELS, 0.5);

	(void)state;
	assert_int_equal(c.done.n_units, 4);
	assert_int_equal(c.done.n_removed, 2);
	assert_int_equal(c.done.n_held, 0);
	assert_int_equal(c.done.n_layers, 2);
	assert_dims(&c, "w", "2,2,3,3");
	assert_dims(&c, "v", "2");
	assert_dims(&c, "f", "18,2");
	rewritten_free(&c.r);
	/* n is a name: the numbers are compared with a size. */
	c = pruned("in x f32 2,2,3,3\n"
		   "const w f32 4,2,3,3 = random\n"
		   "const s f32 4 = random\n"
		   "const o f32 4 = random\n"
		   "const m f32 4 = 0.5,0.25,-1,2\n"
		   "const v f32 4 = 1,2,3,4\n"
		   "const f f32 2,36 = random\n"
		   "c = Conv x w pads=[1,1,1,1]\n"
		   "d = BatchNormalization c s o m v\n"
		   "e = Relu d\n"
		   "g = Flatten e\n"
		   "y = Gemm g f transB=1\n"
		   "out y\n",
		   "s,0,0;o,0,0;s,0,2;o,0,2;", SL__PRUNE_CHANNELS, 0.5);
	finish_exact(&c);
}

/* Layers that are added lose the same channels. */
static void
residual(void **state)
{
	struct pruned_case c = pruned("in x f32 2,3,4,4\n"
				      "const a f32 4,3,1,1 = random\n"
				      "const b f32 4,4,3,3 = random\n"
				      "const z f32 2,4,1,1 = random\n"
				      "const p f32 4,1,1 = random\n"
				      "c = Conv x a\n"
				      "r = PRelu c p\n"
				      "d = Conv r b pads=[1,1,1,1]\n"
				      "e = Add r d\n"
				      "k = MaxPool e kernel_shape=[2,2]\n"
				      "y = Conv k z\n"
				      "out y\n",
				      "a,0,2;b,0,2;", SL__PRUNE_CHANNELS, 0.25);

	(void)state;
	assert_int_equal(c.done.n_units, 4);
	assert_int_equal(c.done.n_removed, 1);
	assert_dims(&c, "a", "3,3,1,1");
	assert_dims(&c, "b", "3,3,3,3");
	assert_dims(&c, "z", "2,3,1,1");
	assert_dims(&c, "p", "3,1,1");
	finish_exact(&c);
}

/* Each of the layers that are concatenated loses its share. */
static void
concatenation(void **state)
{
	struct pruned_case c = pruned("in x f32 1,3,4,4\n"
				      "const a f32 2,3,1,1 = random\n"
				      "const b f32 4,3,1,1 = random\n"
				      "const z f32 2,6,1,1 = random\n"
				      "c = Conv x a\n"
				      "d = Conv x b\n"
				      "e = Concat c d axis=1\n"
				      "k = GlobalAveragePool e\n"
				      "y = Conv k z\n"
				      "out y\n",
				      "a,0,0;b,0,1;b,0,3;", SL__PRUNE_CHANNELS,
				      0.5);

	(void)state;
	assert_int_equal(c.done.n_removed, 3);
	assert_dims(&c, "a", "1,3,1,1");
	assert_dims(&c, "b", "2,3,1,1");
	assert_dims(&c, "z", "2,3,1,1");
	finish_exact(&c);
}

/* A depthwise convolution loses whole groups; other groups stay, and each
 * loses the same. */
static void
groups(void **state)
{
	struct pruned_case c = pruned("in x f32 1,3,4,4\n"
				      "const a f32 4,3,1,1 = random\n"
				      "const d f32 4,1,3,3 = random\n"
				      "const z f32 2,4,1,1 = random\n"
				      "c = Conv x a\n"
				      "e = Conv c d group=4 pads=[1,1,1,1]\n"
				      "f = Clip e\n"
				      "y = Conv f z\n"
				      "out y\n",
				      "a,0,1;d,0,1;a,0,2;d,0,2;",
				      SL__PRUNE_CHANNELS, 0.5);

	(void)state;
	assert_dims(&c, "d", "2,1,3,3");
	assert_int_equal(
		sl__attribute_int(rewritten_maker(&c.r, "e"), "group", 1), 2);
	finish_exact(&c);
	c = pruned("in x f32 1,3,4,4\n"
		   "const a f32 4,3,1,1 = random\n"
		   "const d f32 4,2,1,1 = random\n"
		   "const z f32 2,4,1,1 = random\n"
		   "c = Conv x a\n"
		   "e = Conv c d group=2\n"
		   "y = Conv e z\n"
		   "out y\n",
		   "a,0,1;a,0,3;d,0,0;d,0,2;", SL__PRUNE_CHANNELS, 0.5);
	assert_dims(&c, "a", "2,3,1,1");
	assert_dims(&c, "d", "2,1,1,1");
	assert_dims(&c, "z", "2,2,1,1");
	assert_int_equal(
		sl__attribute_int(rewritten_maker(&c.r, "e"), "group", 1), 2);
	finish_exact(&c);
}

/* Channels that are the last dimension when the tensor is flattened, by sizes
 * that two nodes share. */
static void
views(void **state)
{
	struct pruned_case c = pruned("in x f32 2,3,2,2\n"
				      "const a f32 4,3,1,1 = random\n"
				      "const b f32 4,3,1,1 = random\n"
				      "const s i64 2 = 0,16\n"
				      "const f f32 16,5 = random\n"
				      "const h f32 5,2 = random\n"
				      "c = Conv x a\n"
				      "d = Transpose c perm=[0,2,3,1]\n"
				      "e = Reshape d s\n"
				      "q = Conv x b\n"
				      "i = Reshape q s\n"
				      "j = MatMul e f\n"
				      "k = MatMul i f\n"
				      "l = Add j k\n"
				      "y = MatMul l h\n"
				      "out y\n",
				      "f,1,1;f,1,4;", SL__PRUNE_CHANNELS, 0.4);

	(void)state;
	assert_dims(&c, "f", "16,3");
	assert_int_equal(c.done.n_removed, 2);
	finish_exact(&c);
	c = pruned("in x f32 2,3,2,2\n"
		   "const a f32 4,3,1,1 = random\n"
		   "const s i64 2 = 0,16\n"
		   "const f f32 16,5 = random\n"
		   "c = Conv x a\n"
		   "d = Transpose c perm=[0,2,3,1]\n"
		   "e = Reshape d s\n"
		   "y = MatMul e f\n"
		   "out y\n",
		   "a,0,0;a,0,3;", SL__PRUNE_CHANNELS, 0.5);
	assert_dims(&c, "f", "8,5");
	finish_exact(&c);
}

/* Self-attention of two heads of 3, queries, keys and values in one product. */
static const char attention[] = "in x f32 2,5,6\n"
				"const w f32 6,18 = random\n"
				"const b f32 18 = random\n"
				"const s i64 4 = 0,0,2,3\n"
				"const t i64 3 = 0,0,6\n"
				"const u i64 3 = 6,6,6\n"
				"const o f32 6,6 = random\n"
				"h = MatMul x w\n"
				"i = Add h b\n"
				"q,k,v = Split i u axis=2\n"
				"a = Reshape q s\n"
				"c = Reshape k s\n"
				"d = Reshape v s\n"
				"e = Transpose a perm=[0,2,1,3]\n"
				"f = Transpose c perm=[0,2,3,1]\n"
				"g = Transpose d perm=[0,2,1,3]\n"
				"l = MatMul e f\n"
				"m = Softmax l\n"
				"n = MatMul m g\n"
				"p = Transpose n perm=[0,2,1,3]\n"
				"r = Reshape p t\n"
				"y = MatMul r o\n"
				"out y\n";

static void
heads(void **state)
{
	char zeroed[512] = "";
	struct pruned_case c;

	(void)state;
	for (int part = 0; part < 3; part++) {
		for (int i = 3; i < 6; i++)
			snprintf(zeroed + strlen(zeroed),
				 sizeof(zeroed) - strlen(zeroed),
				 "w,1,%d;b,0,%d;", 6 * part + i, 6 * part + i);
	}
	c = pruned(attention, zeroed, SL__PRUNE_HEADS, 0.5);
	assert_int_equal(c.done.n_units, 2);
	assert_int_equal(c.done.n_removed, 1);
	assert_dims(&c, "w", "6,9");
	assert_dims(&c, "b", "9");
	assert_dims(&c, "o", "3,6");
	finish_exact(&c);
}

static void
check_refusal(const char *text, const struct sl__prune_options *how,
	      const char *why)
{
	struct graph_text *g = graph_text(text);
	struct sl__pruned done;
	struct sl_error err;

	assert_true(sl__prune(&done, g->graph, how, &err) < 0);
	assert_null(done.graph);
	if (!strstr(err.text, why))
		fail_msg("%s", err.text);
	graph_text_free(g);
}

static void
refused(void **state)
{
	static const char *const keep[] = {"c"}, *const wrong[] = {"cc"};
	struct sl__prune_options how = {.share = 0.5};
	/* What nothing follows is in the way of one layer of two. */
	const char held[] = "in x f32 1,3,4,4\n"
			    "const a f32 4,3,1,1 = random\n"
			    "const z f32 4,4,1,1 = random\n"
			    "const t f32 2,4,1,1 = random\n"
			    "c = Conv x a\n"
			    "e = LRN c size=3\n"
			    "f = Conv e z\n"
			    "y = Conv f t\n"
			    "out y\n";
	struct pruned_case c = pruned(held, "", SL__PRUNE_CHANNELS, 0.5);

	(void)state;
	assert_int_equal(c.done.n_units, 8);
	assert_int_equal(c.done.n_held, 4);
	assert_int_equal(c.done.n_removed, 2);
	assert_string_equal(c.r.g->graph->nodes[c.done.held_by].type, "LRN");
	assert_dims(&c, "a", "4,3,1,1");
	assert_dims(&c, "z", "2,4,1,1");
	rewritten_free(&c.r);
	check_refusal("in x f32 1,3,4,4\n"
		      "const a f32 4,3,1,1 = random\n"
		      "const z f32 2,4,1,1 = random\n"
		      "c = Conv x a\n"
		      "e = LRN c size=3\n"
		      "y = Conv e z\n"
		      "out y\n",
		      &how, "node 'e' (LRN)");
	check_refusal("in x f32 2,3\n"
		      "const a f32 3,4 = random\n"
		      "y = MatMul x a\n"
		      "out y\n",
		      &how, "makes outputs of the model");
	how.share = 0.1;
	check_refusal(held, &how, "node 'e' (LRN)");
	how.keep = wrong;
	how.n_keep = 1;
	check_refusal(held, &how, "'cc'");
	how = (struct sl__prune_options){.kind = SL__PRUNE_HEADS, .share = 0.5};
	check_refusal(held, &how, "no heads of attention");
	how.keep = keep;
	how.n_keep = 1;
	check_refusal(attention, &how, "no heads of attention");
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(norms_and_flatten),
		cmocka_unit_test(residual),
		cmocka_unit_test(concatenation),
		cmocka_unit_test(groups),
		cmocka_unit_test(views),
		cmocka_unit_test(heads),
		cmocka_unit_test(refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
