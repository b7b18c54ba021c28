/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Proves that a dimension's name is a name and nothing else: a model that
 * calls its dimensions what our texts of sizes look like has the figures of
 * the same model with plain names, whichever option binds them; one without a
 * name is not the one that is called like its place; and what expressions of
 * sizes are worth is what inference finds where the sizes are known.
 */
#include "built.h"
#include "model/onnx_read.h"
#include "onnx_bytes.h"
#include "size_text.h"

#include <unistd.h>

enum { N_NAMES = 3 };

static const char *const names_of[][N_NAMES] = {
	{"n", "m", "k"},       {"batch-size", "a*(b)", "x-1"},
	{"2n", "(2n*x)", "x"}, {"batch size", " ", "(batch size+ )"},
	{"?", "1", "(?*1)"},   {"ids.0", "ids.1", "'"},
};
enum { N_MODELS = sizeof(names_of) / sizeof(names_of[0]) };

static int
one_of(struct sl_builder *b, int list, int64_t at)
{
	int index = sl_builder_integers(b, "at", 1, (int64_t[]){1}, &at);

	return sl_builder_op(b, "Gather", 2, (int[]){list, index});
}

/* Tokens ids[A,B] are embedded, multiplied as (A*B) rows, attended to, and go
 * on with what y[A,C,16] holds: A*B, B-1 and (B-1)+C come up on the way. */
static struct sl_graph *
odd_model(const char *const *names)
{
	struct sl_builder *b = new_builder();
	int64_t a = sl_builder_symbol(b, names[0], 0);
	int64_t n = sl_builder_symbol(b, names[1], 0);
	int64_t c = sl_builder_symbol(b, names[2], 0);
	int ids =
		sl_builder_input(b, "ids", SL_DTYPE_I64, 2, (int64_t[]){a, n});
	int y = sl_builder_input(b, "y", SL_DTYPE_F32, 3,
				 (int64_t[]){a, c, 16});
	int table = sl_builder_weight(b, "table", 2, (int64_t[]){50, 16}, 0, 1);
	int w = sl_builder_weight(b, "w", 2, (int64_t[]){16, 16}, 0, 1);
	int width = sl_builder_integers(b, "width", 1, (int64_t[]){1},
					(int64_t[]){16});
	int one = sl_builder_integers(b, "one", 1, (int64_t[]){1},
				      (int64_t[]){1});
	int x = sl_builder_op(b, "Gather", 2, (int[]){table, ids});
	int shape = sl_builder_op(b, "Shape", 1, &x), rows, flat, end;

	rows = sl_builder_op(b, "Mul", 2,
			     (int[]){one_of(b, shape, 0), one_of(b, shape, 1)});
	sl_builder_int(b, "axis", 0);
	flat = sl_builder_op(b, "Concat", 2, (int[]){rows, width});
	flat = sl_builder_op(b, "Reshape", 2, (int[]){x, flat});
	sl_builder_output(b, flat, "rows");
	flat = sl_builder_op(b, "MatMul", 2, (int[]){flat, w});
	x = sl_builder_op(b, "Reshape", 2, (int[]){flat, shape});
	x = sl_builder_attention(b, x, 4, 0);
	end = one_of(b, shape, 1);
	x = sl_builder_op(b, "Slice", 4, (int[]){x, one, end, one});
	sl_builder_int(b, "axis", 1);
	x = sl_builder_op(b, "Concat", 2, (int[]){x, y});
	x = sl_builder_linear(b, x, 8, 1);
	sl_builder_output(b, x, "z");
	return finish(b);
}

static void
check_growth(const struct sl_growth *a, const struct sl_growth *b)
{
	assert_int_equal(a->axis, b->axis);
	assert_int_equal(a->figure, b->figure);
	assert_int_equal(a->at, b->at);
	assert_null(a->absent);
	assert_null(b->absent);
	assert_near(a->exponent, b->exponent, 0);
	assert_int_equal(a->is_polynomial, b->is_polynomial);
	if (!a->is_polynomial)
		return;
	assert_near(a->constant, b->constant, 0);
	assert_near(a->linear, b->linear, 0);
	assert_near(a->quadratic, b->quadratic, 0);
}

/* Batch by 'how' 0 as --batch, 1 as --dim; the others always by name. */
static struct sl_inspection *
inspect_odd(const struct sl_graph *graph, const char *const *names, int how)
{
	const struct sl_dim_size dims[] = {
		{names[1], 6}, {names[2], 3}, {names[0], 2}};
	struct sl_sizes sizes = {.struct_size = sizeof(sizes),
				 .batch = how ? 0 : 2,
				 .dims = dims,
				 .n_dims = how ? 3 : 2};
	struct sl_inspect_options options = {.struct_size = sizeof(options),
					     .sizes = &sizes};
	struct sl_inspection *seen;
	struct sl_error err = {0};

	if (sl_inspect(&seen, graph, &options, &err))
		fail_msg("%s: %s", names[0], err.text);
	return seen;
}

static void
names_do_not_change_figures(void **state)
{
	struct sl_graph *plain = odd_model(names_of[0]);
	struct sl_inspection *a = inspect_odd(plain, names_of[0], 0);
	char sizes[128];

	(void)state;
	/* Products of 12 rows, of 4 heads over 6 tokens, of 2*8 rows. */
	assert_true(a->flops > 2 * (12 * 16 * 16 + 16 * 16 * 8));
	assert_int_equal(a->n_growth, 8); /* 4 figures by batch and by seq */
	for (int how = 0; how < 2; how++) {
		for (size_t i = 1; i < N_MODELS; i++) {
			const char *const *names = names_of[i];
			struct sl_graph *odd = odd_model(names);
			struct sl_inspection *b = inspect_odd(odd, names, how);

			snprintf(sizes, sizeof(sizes), "%s 2, %s 6, %s 3",
				 names[0], names[1], names[2]);
			assert_string_equal(b->sizes, sizes);
			assert_int_equal(b->flops, a->flops);
			assert_int_equal(b->n_growth, a->n_growth);
			for (size_t k = 0; k < a->n_growth; k++)
				check_growth(&a->growth[k], &b->growth[k]);
			sl_inspection_free(b);
			sl_graph_free(odd);
		}
	}
	sl_inspection_free(a);
	sl_graph_free(plain);
}

static int64_t
largest(const char *const *names, const char *axis)
{
	struct sl_graph *graph = odd_model(names);
	const struct sl_dim_size dims[] = {{names[2], 3}, {names[1], 6}};
	struct sl_sizes sizes = {.struct_size = sizeof(sizes),
				 .dims = dims,
				 .n_dims = strcmp(axis, "seq") ? 2 : 1};
	struct sl_fit_options how = {.struct_size = sizeof(how),
				     .memory_bytes = 100000,
				     .axis = axis,
				     .graph_only = 1,
				     .sizes = &sizes};
	struct sl_error err = {0};
	struct sl_fit *f;
	int64_t size;

	if (sl_fit(&f, graph, &how, &err))
		fail_msg("%s: %s", names[0], err.text);
	size = f->largest;
	assert_true(size > 1);
	sl_fit_free(f);
	sl_graph_free(graph);
	return size;
}

static void
names_do_not_change_what_fits(void **state)
{
	(void)state;
	for (size_t i = 1; i < N_MODELS; i++) {
		assert_int_equal(largest(names_of[i], "batch"),
				 largest(names_of[0], "batch"));
		assert_int_equal(largest(names_of[i], "seq"),
				 largest(names_of[0], "seq"));
	}
}

/* Written and read again it is the same model, sizes that came up included. */
static void
names_travel_in_files(void **state)
{
	char folder[] = "/tmp/sleuth_names_XXXXXX", path[64];

	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/odd.onnx", folder);
	for (size_t i = 0; i < N_MODELS; i++) {
		struct sl_graph *a = odd_model(names_of[i]), *b;
		struct sl_inspection *x = inspect_odd(a, names_of[i], 1), *y;

		assert_int_equal(sl_graph_write(a, path, NULL), SL_OK);
		assert_int_equal(sl_graph_open(&b, path, NULL, NULL), SL_OK);
		for (size_t k = 0; k < N_NAMES; k++)
			assert_string_equal(b->symbols[k].name, names_of[i][k]);
		y = inspect_odd(b, names_of[i], 1);
		assert_int_equal(x->flops, y->flops);
		assert_int_equal(a->n_symbols, b->n_symbols);
		sl_inspection_free(x);
		sl_inspection_free(y);
		sl_graph_free(a);
		sl_graph_free(b);
	}
	unlink(path);
	rmdir(folder);
}

/* An f32 value; NULL for a dimension about which nothing is said. */
static void
put_value(struct bytes *graph, unsigned field, const char *name,
	  const char *const dims[2])
{
	struct bytes info = {0}, type = {0}, tensor = {0}, shape = {0};

	for (size_t i = 0; i < 2; i++) {
		struct bytes dim = {0};

		if (dims[i])
			put_text(&dim, 2, dims[i]);
		put_message(&shape, 1, &dim);
	}
	put_text(&info, 1, name);
	put_int(&tensor, 1, 1);
	put_message(&tensor, 2, &shape);
	put_message(&type, 1, &tensor);
	put_message(&info, 2, &type);
	put_message(graph, field, &info);
}

/* x[?, ""] + y["x.0", "x.1"]: the file says of no two that they are equal. */
static struct sl_graph *
model_without_names(void)
{
	struct bytes nodes = {0}, model;
	struct sl_error err = {0};
	struct sl_graph *graph;

	put_node(&nodes, "Add", "", "x y", "z");
	put_value(&nodes, 11, "x", (const char *const[]){NULL, ""});
	put_value(&nodes, 11, "y", (const char *const[]){"x.0", "x.1"});
	put_value(&nodes, 12, "z", (const char *const[]){"x.0", NULL});
	model = model_of(&nodes, 17);
	if (sl__onnx_read(&graph, model.data, model.n, NULL, NULL, &err))
		fail_msg("%s", err.text);
	bytes_release(&model);
	return graph;
}

static const int64_t *
dims_of(const struct sl_graph *graph, size_t input)
{
	return graph->values[graph->blocks[0].inputs[input]].declared.dims;
}

static void
check_sizes(const struct sl_graph *graph, const struct sl_sizes *sizes,
	    const char *expected)
{
	struct sl__shapes_options how = {.sizes = sizes};
	struct sl_error err = {0};
	struct sl__shapes *s;

	if (sl__shapes_new(&s, graph, &how, &err)) {
		if (!strstr(err.text, expected))
			fail_msg("'%s' does not say '%s'", err.text, expected);
		return;
	}
	assert_string_equal(
		sl__type_text(s, &s->types[graph->blocks[0].outputs[0]]),
		expected);
	sl__shapes_free(s);
}

static void
unnamed_dimensions_are_their_own(void **state)
{
	struct sl_graph *graph = model_without_names();
	const int64_t *x = dims_of(graph, 0), *y = dims_of(graph, 1);
	const struct sl_dim_size dims[] = {{"x.0", 2}, {"x.1", 3}, {"", 4}};
	const int64_t sides[] = {2, 3}, wrong[] = {5, 3};
	const struct sl_input_shape shape = {"x", sides, 2},
				    other = {"x", wrong, 2};

	(void)state;
	assert_int_equal(graph->n_symbols, 5); /* z.1 too */
	for (int i = 0; i < 2; i++) {
		assert_false(x[i] == y[i]);
		assert_true(graph->symbols[x[i] - SL__SYMBOL_BASE].is_unnamed);
		assert_false(graph->symbols[y[i] - SL__SYMBOL_BASE].is_unnamed);
	}
	check_sizes(graph, &(struct sl_sizes){.dims = dims, .n_dims = 2},
		    "dimension 1 of input 'x' is free and has no name");
	check_sizes(graph,
		    &(struct sl_sizes){.dims = dims,
				       .n_dims = 2,
				       .shapes = &shape,
				       .n_shapes = 1},
		    "2x3");
	check_sizes(graph,
		    &(struct sl_sizes){.dims = dims,
				       .n_dims = 2,
				       .shapes = &other,
				       .n_shapes = 1},
		    "do not go together");
	check_sizes(graph, &(struct sl_sizes){.dims = dims, .n_dims = 3},
		    "dim : the model has no such dimension; it has ");
	sl_graph_free(graph);
}

/* The sizes of all values, derived and then bound, against those inferred
 * from bound ones; *n counts the expressions. */
static void
compare_sizes(const struct sl_graph *graph, const struct sl_sizes *sizes,
	      size_t *n)
{
	struct sl__shapes_options how = {.sizes = sizes},
				  kept = {.free_sizes = SL__UNBOUND_KEEP};
	struct sl__shapes *a, *b;

	assert_int_equal(sl__shapes_new(&a, graph, &kept, NULL), SL_OK);
	assert_int_equal(sl__shapes_new(&b, graph, &how, NULL), SL_OK);
	for (size_t v = 0; v < graph->n_values; v++) {
		const struct sl__type *s = &a->types[v], *t = &b->types[v];

		assert_int_equal(s->rank, t->rank);
		for (int d = 0; d < s->rank; d++) {
			int64_t size = size_value(a, s->dims[d], b->bound);

			if (size != -1)
				assert_true(size == t->dims[d]);
			*n += sl__is_symbol(s->dims[d]) &&
			      (size_t)(s->dims[d] - SL__SYMBOL_BASE) >=
				      graph->n_symbols;
		}
	}
	sl__shapes_free(a);
	sl__shapes_free(b);
}

static void
expressions_are_worth_what_is_inferred(void **state)
{
	size_t n = 0;

	(void)state;
	for (size_t i = 0; i < N_MODELS; i++) {
		const struct sl_dim_size dims[] = {{names_of[i][0], 5},
						   {names_of[i][1], 7},
						   {names_of[i][2], 11}};
		struct sl_graph *graph = odd_model(names_of[i]);

		compare_sizes(graph,
			      &(struct sl_sizes){.dims = dims, .n_dims = 3},
			      &n);
		sl_graph_free(graph);
	}
	/* rows twice, what is left of the tokens, and these with y thrice */
	assert_int_equal(n, 6 * N_MODELS);
	for (const struct sl_zoo_entry *z = sl_zoo(); z->name; z++) {
		struct sl_graph *graph;

		assert_int_equal(sl_graph_open(&graph, z->example, NULL, NULL),
				 SL_OK);
		compare_sizes(graph, &(struct sl_sizes){.batch = 3}, &n);
		sl_graph_free(graph);
	}
	assert_true(n > 500);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_do_not_change_figures),
		cmocka_unit_test(names_do_not_change_what_fits),
		cmocka_unit_test(names_travel_in_files),
		cmocka_unit_test(unnamed_dimensions_are_their_own),
		cmocka_unit_test(expressions_are_worth_what_is_inferred),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
