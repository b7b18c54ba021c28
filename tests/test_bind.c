/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Binding sizes: what each option binds, which wins, and that contradictions
 * and free dimensions are refused with the option that would help.
 */
#include "graph/graph_construction.h"
#include "harness.h"
#include "graph/shapes.h"

static void
add_input(struct sl_graph *g, const char *name, enum sl_dtype dtype,
	  const int64_t *dims, int rank)
{
	uint32_t ids[4];
	size_t n = g->blocks[0].n_inputs;

	memcpy(ids, g->blocks[0].inputs, n * sizeof(*ids));
	assert_int_equal(sl__graph_add_value(g, &ids[n], name, 0, NULL), 0);
	g->values[ids[n]].kind = SL_VALUE_INPUT;
	g->values[ids[n]].declared = (struct sl__type){.kind = SL__TYPE_TENSOR,
						       .dtype = dtype,
						       .rank = rank,
						       .dims = dims};
	assert_int_equal(sl__graph_set_inputs(g, 0, ids, n + 1, NULL), 0);
}

static int64_t dims[3]; /* batch, seq, 8 */

/* ids[batch, seq] of integers and x[batch, seq, 8]. */
static struct sl_graph *
text_model(const char *batch, const char *seq)
{
	struct sl_graph *g;
	uint32_t none = 0;

	assert_int_equal(sl__graph_new(&g, NULL, NULL), 0);
	assert_int_equal(sl__graph_set_inputs(g, 0, &none, 0, NULL), 0);
	assert_int_equal(sl__graph_intern_symbol(g, &dims[0], batch, NULL), 0);
	assert_int_equal(sl__graph_intern_symbol(g, &dims[1], seq, NULL), 0);
	dims[2] = 8;
	add_input(g, "ids", SL_DTYPE_I64, dims, 2);
	add_input(g, "x", SL_DTYPE_F32, dims, 3);
	assert_int_equal(sl__graph_freeze(g, NULL), 0);
	return g;
}

static void
check(const struct sl_graph *g, const struct sl_sizes *sizes, const char *text)
{
	struct sl__shapes_options how = {.sizes = sizes};
	struct sl_error err = {0};
	struct sl__shapes *s;

	if (sl__shapes_new(&s, g, &how, &err)) {
		assert_int_equal(err.status, SL_E_DATA);
		if (!strstr(err.text, text))
			fail_msg("'%s' does not say '%s'", err.text, text);
		return;
	}
	assert_string_equal(sl__type_text(s, &s->types[1]), text);
	sl__shapes_free(s);
}

static void
test_what_each_option_binds(void **state)
{
	struct sl_graph *g = text_model("N", "len");
	const struct sl_dim_size len = {"len", 5}, wrong = {"width", 5};
	const int64_t shape[] = {2, 7, 8};
	const struct sl_input_shape x = {"x", shape, 3}, flat = {"x", shape, 2},
				    ghost = {"y", shape, 3};

	(void)state;
	check(g, &(struct sl_sizes){.seq = 9}, "1x9x8");
	check(g, &(struct sl_sizes){.batch = 4, .seq = 9}, "4x9x8");
	check(g, &(struct sl_sizes){.dims = &len, .n_dims = 1}, "1x5x8");
	check(g, &(struct sl_sizes){.shapes = &x, .n_shapes = 1}, "2x7x8");
	check(g, NULL, "dimension 1 of input 'ids' is free ('len')");
	check(g, &(struct sl_sizes){.dims = &wrong, .n_dims = 1},
	      "no such dimension; it has 'N', 'len'");
	check(g, &(struct sl_sizes){.shapes = &ghost, .n_shapes = 1},
	      "no such input; it has 'ids' (N,len), 'x' (N,len,8)");
	check(g, &(struct sl_sizes){.shapes = &flat, .n_shapes = 1},
	      "has 3 dimensions (N,len,8), not 2");
	check(g, &(struct sl_sizes){.past = 3}, "past: no dimension");
	sl_graph_free(g);
}

/* What a caller could say comes with the failure, for it to put into words. */
static void
check_hint(const struct sl_graph *g, const struct sl_sizes *sizes,
	   enum sl_hint hint)
{
	struct sl__shapes_options how = {.sizes = sizes};
	struct sl_error err = {0};
	struct sl__shapes *s;

	assert_int_equal(sl__shapes_new(&s, g, &how, &err), SL_E_DATA);
	assert_int_equal(err.hint, hint);
	assert_int_equal(err.n_missing, 0);
}

/* All that nothing gives comes at once; one that two inputs have, once. */
static void
test_missing(void **state)
{
	struct sl__shapes_options how = {0};
	int64_t more[] = {3, 0, 0};
	struct sl_error err = {0};
	struct sl__shapes *s;
	struct sl_graph *g;
	uint32_t none = 0;

	(void)state;
	assert_int_equal(sl__graph_new(&g, NULL, NULL), 0);
	assert_int_equal(sl__graph_set_inputs(g, 0, &none, 0, NULL), 0);
	assert_int_equal(sl__graph_intern_symbol(g, &dims[0], "N", NULL), 0);
	assert_int_equal(sl__graph_intern_symbol(g, &dims[1], "len", NULL), 0);
	assert_int_equal(sl__graph_intern_symbol(g, &more[1], "width", NULL),
			 0);
	more[2] = dims[1];
	add_input(g, "ids", SL_DTYPE_I64, dims, 2);
	add_input(g, "x", SL_DTYPE_F32, more, 3);
	add_input(g, "y", SL_DTYPE_F32, NULL, -1);
	assert_int_equal(sl__graph_freeze(g, NULL), 0);
	assert_int_equal(sl__shapes_new(&s, g, &how, &err), SL_E_DATA);
	assert_int_equal(err.hint, SL_HINT_MISSING);
	assert_int_equal(err.n_missing, 3);
	assert_string_equal(err.missing[0].input, "ids");
	assert_string_equal(err.missing[0].dim, "len");
	assert_string_equal(err.missing[1].input, "x");
	assert_string_equal(err.missing[1].dim, "width");
	assert_string_equal(err.missing[2].input, "y");
	assert_string_equal(err.missing[2].dim, "");
	assert_string_equal(err.text,
			    "dimension 1 of input 'ids' is free ('len'); "
			    "dimension 1 of input 'x' is free ('width'); the "
			    "model gives no shape for its input 'y'");
	/* Nobody has to listen. */
	assert_int_equal(sl__shapes_new(&s, g, &how, NULL), SL_E_DATA);
	sl_graph_free(g);
}

static void
test_hints(void **state)
{
	struct sl_graph *g = text_model("N", "len");
	const struct sl_dim_size wrong = {"width", 5};

	(void)state;
	check_hint(g, &(struct sl_sizes){.dims = &wrong, .n_dims = 1},
		   SL_HINT_SIZE);
	check_hint(g, &(struct sl_sizes){.past = 3}, SL_HINT_SIZE_OR_DIM);
	sl_graph_free(g);
}

static void
test_contradictions(void **state)
{
	struct sl_graph *g = text_model("batch", "seq");
	const int64_t shape[] = {2, 7, 9}, fine[] = {2, 7, 8};
	const struct sl_input_shape x = {"x", shape, 3}, y = {"x", fine, 3};

	(void)state;
	check(g, &(struct sl_sizes){.shapes = &x, .n_shapes = 1},
	      "fixes dimension 2 of 'x' at 8, not 9");
	check(g, &(struct sl_sizes){.shapes = &y, .n_shapes = 1, .batch = 3},
	      "batch: 'batch' is 2 already");
	sl_graph_free(g);
}

/* A batch that would be ignored is refused, and so are shapes that no tensor
 * has. */
static void
test_inputs_without_dimensions(void **state)
{
	struct sl_graph *g;
	int64_t many[65] = {0};
	const int64_t wrong[] = {2, -3};
	const struct sl_input_shape deep = {"x", many, 65},
				    bad = {"x", wrong, 2};
	uint32_t none = 0;

	(void)state;
	assert_int_equal(sl__graph_new(&g, NULL, NULL), 0);
	assert_int_equal(sl__graph_set_inputs(g, 0, &none, 0, NULL), 0);
	add_input(g, "x", SL_DTYPE_F32, NULL, -1);
	assert_int_equal(sl__graph_freeze(g, NULL), 0);
	check(g, &(struct sl_sizes){.shapes = &deep, .n_shapes = 1},
	      "at most 64 dimensions, not 65");
	check(g, &(struct sl_sizes){.shapes = &bad, .n_shapes = 1},
	      "cannot be negative (-3)");
	check(g, &(struct sl_sizes){.batch = 8}, "batch: the model's first");
	sl_graph_free(g);
}

static void
test_usual_sizes(void **state)
{
	struct sl_graph *g = text_model("batch", "seq");

	(void)state;
	g->symbols[1].usual = 128;
	check(g, NULL, "1x128x8");
	check(g, &(struct sl_sizes){.seq = 3}, "1x3x8");
	sl_graph_free(g);
}

/* A cache of no tokens is a size; without has_past 0 is none. */
static void
test_past_may_be_empty(void **state)
{
	struct sl_graph *g = text_model("batch", "past_len");

	(void)state;
	g->symbols[1].usual = 128;
	check(g, &(struct sl_sizes){.has_past = 1}, "1x0x8");
	check(g, &(struct sl_sizes){.past = 3}, "1x3x8");
	check(g, &(struct sl_sizes){.past = 3, .has_past = 1}, "1x3x8");
	check(g, &(struct sl_sizes){.past = 0}, "1x128x8");
	assert_true(sl_graph_has_past(g));
	assert_true(sl_graph_has_dim(g, "past_len"));
	assert_false(sl_graph_has_dim(g, "past"));
	sl_graph_free(g);
	g = text_model("batch", "len");
	assert_true(sl_graph_has_seq(g));
	assert_false(sl_graph_has_past(g));
	sl_graph_free(g);
}

static void
test_sizes_kept_free(void **state)
{
	struct sl__shapes_options how = {.free_sizes = SL__UNBOUND_KEEP};
	struct sl_graph *g = text_model("batch", "seq");
	struct sl__shapes *s;

	(void)state;
	assert_int_equal(sl__shapes_new(&s, g, &how, NULL), 0);
	assert_string_equal(sl__type_text(s, &s->types[1]), "batch,seq,8");
	sl__shapes_free(s);
	sl_graph_free(g);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_each_option_binds),
		cmocka_unit_test(test_hints),
		cmocka_unit_test(test_missing),
		cmocka_unit_test(test_contradictions),
		cmocka_unit_test(test_inputs_without_dimensions),
		cmocka_unit_test(test_usual_sizes),
		cmocka_unit_test(test_past_may_be_empty),
		cmocka_unit_test(test_sizes_kept_free),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
