/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_onnx_hostile.c - files made to hurt: whatever the bytes, the answer is
 * a graph or SL_E_DATA with one line, in memory bounded by the length of the
 * file.  Also what is no model at all: each is told by what it seems to be.
 */
#include "counting.h"
#include "onnx_bytes.h"
#include "model/onnx_read.h"

/* How much is allocated at most. */
struct weighing {
	size_t n_bytes;
};

static void *
weighing_alloc(size_t n_bytes, void *ctx)
{
	((struct weighing *)ctx)->n_bytes += n_bytes;
	return malloc(n_bytes);
}

static void
weighing_release(void *block, void *ctx)
{
	(void)ctx;
	free(block);
}

static enum sl_status
read_weighed(const unsigned char *bytes, size_t n_bytes, size_t *n_allocated,
	     struct sl_error *err)
{
	struct weighing weighing = {0};
	struct sl_allocator allocator = {weighing_alloc, weighing_release,
					 &weighing};
	struct sl_graph_options options = {.struct_size = sizeof(options),
					   .allocator = &allocator};
	struct sl_graph *graph;
	enum sl_status rc =
		sl__onnx_read(&graph, bytes, n_bytes, NULL, &options, err);

	assert_int_equal(rc == SL_OK, graph != NULL);
	sl_graph_free(graph);
	*n_allocated = weighing.n_bytes;
	return rc;
}

static void
expect_refusal(struct bytes *model, const char *says)
{
	struct sl_error err = {.status = SL_OK, .text = ""};
	size_t n_allocated;

	assert_int_equal(
		read_weighed(model->data, model->n, &n_allocated, &err),
		SL_E_DATA);
	if (!strstr(err.text, says))
		fail_msg("'%s' does not say '%s'", err.text, says);
	bytes_release(model);
}

/* A model with a bit of everything. */
static struct bytes
rich_model(void)
{
	static const float numbers[2] = {1, 2};
	struct bytes graph = {0}, node, part = {0}, body = {0}, model;

	node = node_of("If", "choose", "c", "y");
	put_node(&body, "Relu", "", "x", "r");
	put_info(&body, 12, "r", "2");
	put_text(&part, 1, "then_branch");
	put_message(&part, 6, &body);
	put_int(&part, 20, 5);
	put_message(&node, 5, &part);
	put_message(&graph, 1, &node);
	node = node_of("Twice", "call", "y", "z");
	put_text(&node, 7, "f");
	put_message(&graph, 1, &node);
	put_text(&graph, 2, "rich");
	part = tensor_of("w", 1, 2, numbers, sizeof(numbers));
	put_message(&graph, 5, &part);
	put_info(&graph, 11, "c", "");
	put_info(&graph, 11, "x", "n ?");
	put_info(&graph, 12, "z", "2");
	model = model_of(&graph, 17);
	put_text(&part, 1, "Twice");
	put_text(&part, 4, "p");
	put_text(&part, 5, "q");
	node = node_of("Add", "", "p p", "q");
	put_message(&part, 7, &node);
	put_text(&part, 10, "f");
	put_message(&model, 25, &part);
	return model;
}

static void
truncation_at_every_byte_is_survived(void **state)
{
	struct bytes model = rich_model();
	struct sl_error err = {.status = SL_OK, .text = ""};
	size_t n_allocated;

	(void)state;
	if (read_weighed(model.data, model.n, &n_allocated, &err))
		fail_msg("%s", err.text);
	for (size_t n = 0; n < model.n; n++) {
		/* A block of exactly n bytes: a sanitizer guards its end. */
		unsigned char *cut = malloc(n + !n);
		enum sl_status rc;

		assert_non_null(cut);
		memcpy(cut, model.data, n);
		rc = read_weighed(cut, n, &n_allocated, &err);
		assert_true(rc == SL_OK || rc == SL_E_DATA);
		free(cut);
	}
	expect_refusal(&(struct bytes){NULL, 0, 0}, "is empty");
	bytes_release(&model);
}

static void
every_flipped_bit_is_survived(void **state)
{
	struct bytes model = rich_model();
	struct sl_error err = {.status = SL_OK, .text = ""};
	size_t n_allocated;

	(void)state;
	for (size_t i = 0; i < 8 * model.n; i++) {
		unsigned char bit = (unsigned char)(1u << i % 8);
		enum sl_status rc;

		model.data[i / 8] ^= bit;
		rc = read_weighed(model.data, model.n, &n_allocated, &err);
		assert_true(rc == SL_OK || rc == SL_E_DATA);
		assert_true(n_allocated < 1 << 20);
		model.data[i / 8] ^= bit;
	}
	bytes_release(&model);
}

/* If within If within If ...: a graph in an attribute in a node. */
static void
deep_nesting_is_refused(void **state)
{
	struct bytes graph = {0}, model;

	(void)state;
	for (int i = 0; i < 100; i++) {
		struct bytes attribute = {0}, node = node_of("If", "", "", "");

		put_text(&attribute, 1, "then_branch");
		put_message(&attribute, 6, &graph);
		put_int(&attribute, 20, 5);
		put_message(&node, 5, &attribute);
		put_message(&graph, 1, &node);
	}
	model = model_of(&graph, 17);
	expect_refusal(&model, "nested more than 64 levels deep");

	/* Sequences of sequences. */
	struct bytes type = {0}, info = {0};
	for (int i = 0; i < 100; i++) {
		struct bytes outer = {0};

		put_message(&outer, 1, &type);
		put_message(&type, 4, &outer);
	}
	put_text(&info, 1, "x");
	put_message(&info, 2, &type);
	put_message(&graph, 11, &info);
	model = model_of(&graph, 17);
	expect_refusal(&model, "nested more than 64 levels deep");
}

static void
graphs_that_cannot_run_are_refused(void **state)
{
	struct bytes graph = {0}, model;

	(void)state;
	put_node(&graph, "Neg", "a", "q", "p");
	put_node(&graph, "Neg", "b", "p", "q");
	model = model_of(&graph, 17);
	expect_refusal(&model, "cycle");

	put_node(&graph, "Neg", "self", "p", "p");
	model = model_of(&graph, 17);
	expect_refusal(&model, "'self'");

	put_node(&graph, "Neg", "a", "nowhere", "p");
	model = model_of(&graph, 17);
	expect_refusal(&model, "uses 'nowhere', which nothing makes");

	put_info(&graph, 12, "nowhere", NULL);
	model = model_of(&graph, 17);
	expect_refusal(&model, "nothing makes the output 'nowhere'");

	put_info(&graph, 11, "x", NULL);
	put_node(&graph, "Neg", "a", "x", "p");
	put_node(&graph, "Abs", "b", "x", "p");
	model = model_of(&graph, 17);
	expect_refusal(&model, "'p' is defined a second time");

	put_info(&graph, 11, "x", NULL);
	put_node(&graph, "Neg", "a", "x", "x");
	model = model_of(&graph, 17);
	expect_refusal(&model, "'x' is defined a second time");

	put_node(&graph, "", "a", "", "");
	model = model_of(&graph, 17);
	expect_refusal(&model, "a node without an operator");

	model = model_of(&graph, 17);
	put_message(&model, 7, &graph);
	expect_refusal(&model, "a second graph");
}

/* The smallest things, a hundred thousand times: memory stays a multiple of
 * the file's length, whatever is repeated. */
static void
repeated_fields_take_bounded_memory(void **state)
{
	enum { N = 100000 };
	struct {
		unsigned graph_field;
		const char *bytes;
		size_t n;
	} cases[] = {{1,
		      "\x22\x01"
		      "A",
		      3}, /* nodes */
		     {1,
		      "\x22\x01"
		      "A\x12\x00\x0a\x00",
		      7},
		     {5, "", 0},                           /* tensors */
		     {11, "", 0},                          /* inputs */
		     {13, "\x0a\x01x\x12\x02\x0a\x00", 7}, /* types */
		     {2, "name", 4}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct bytes graph = {0}, model;
		struct sl_error err = {.status = SL_OK, .text = ""};
		size_t n_allocated;
		enum sl_status rc;

		for (int k = 0; k < N; k++)
			put_field(&graph, cases[i].graph_field, cases[i].bytes,
				  cases[i].n);
		model = model_of(&graph, 17);
		rc = read_weighed(model.data, model.n, &n_allocated, &err);
		assert_true(rc == SL_OK || rc == SL_E_DATA);
		assert_true(n_allocated < 160 * model.n + (1 << 20));
		bytes_release(&model);
	}
}

/* A hundred thousand values of unknown dimensions, used backwards. */
static void
large_graphs_take_linear_time(void **state)
{
	enum { N = 100000 };
	struct bytes graph = {0}, model;
	struct sl_error err = {.status = SL_OK, .text = ""};
	size_t n_allocated;

	(void)state;
	for (int i = N; i > 0; i--) {
		char in[16], out[16];

		snprintf(in, sizeof(in), "v%d", i - 1);
		snprintf(out, sizeof(out), "v%d", i);
		put_node(&graph, "Neg", "", in, out);
		put_info(&graph, 13, out, "? ?");
	}
	put_info(&graph, 11, "v0", "? ?");
	model = model_of(&graph, 17);
	assert_int_equal(read_weighed(model.data, model.n, &n_allocated, &err),
			 SL_OK);
	assert_true(n_allocated < 160 * model.n);
	bytes_release(&model);
}

static void
what_is_no_model_is_told_by_its_kind(void **state)
{
	static const struct {
		const char *bytes;
		size_t n;
		const char *says;
	} cases[] = {
		{"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", 16,
		 "is a PNG image, not an ONNX model"},
		{"PK\3\4\x14\0\0\0", 8, "is a ZIP archive"},
		{"Dear reader,\n", 13, "is a text file, not an ONNX model"},
		{"version https://git-lfs.github.com/spec/v1\n", 43,
		 "is a Git LFS pointer"},
		{"\x7f"
		 "ELF\2\1\1",
		 7, "is a program or library"},
		{"\x93NUMPY\1\0", 8, "is a NumPy array"},
		{"\x08\x07\x12\x02xy", 6, "holds no graph"},
		{"\x08\x07\x3a\x7f"
		 "a",
		 5,
		 "ends at byte 5 inside field 7 of the "
		 "model, which begins at byte 2; is the file complete?"},
		{"\xff\xff\xff\xff", 4, "byte 0"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct bytes b = {0};

		put(&b, cases[i].bytes, cases[i].n);
		expect_refusal(&b, cases[i].says);
	}
}

static void
any_allocation_may_fail(void **state)
{
	struct bytes model = rich_model();

	(void)state;
	for (int fail_at = 1;; fail_at++) {
		struct counting c = {0, 0, fail_at};
		struct sl_allocator allocator = counting_allocator(&c);
		struct sl_graph_options options = {.struct_size =
							   sizeof(options),
						   .allocator = &allocator};
		struct sl_graph *graph;
		enum sl_status rc = sl__onnx_read(&graph, model.data, model.n,
						  NULL, &options, NULL);

		sl_graph_free(graph);
		assert_int_equal(c.n_out, 0);
		if (rc == SL_OK)
			break;
		assert_int_equal(rc, SL_E_NOMEM);
	}
	bytes_release(&model);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(truncation_at_every_byte_is_survived),
		cmocka_unit_test(every_flipped_bit_is_survived),
		cmocka_unit_test(deep_nesting_is_refused),
		cmocka_unit_test(graphs_that_cannot_run_are_refused),
		cmocka_unit_test(repeated_fields_take_bounded_memory),
		cmocka_unit_test(large_graphs_take_linear_time),
		cmocka_unit_test(what_is_no_model_is_told_by_its_kind),
		cmocka_unit_test(any_allocation_may_fail),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
