/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Proves that plans and runs survive the want of memory at every request:
 * fused layers, loops, branches, scans and sequences, sizes that depend on
 * data, new sizes, files in and out.  It is told as what it is, nothing is left
 * behind, and a run that succeeds all the same gives the same answer.
 */
#include "fail_each.h"
#include "run_case.h"

static const char layers[] = "opset 13\n"
			     "in x f32 n,4,8,8\n"
			     "const w f32 8,4,3,3 = random\n"
			     "const b f32 8 = random\n"
			     "const k f32 8,8 = random\n"
			     "c = Conv x w b pads=[1,1,1,1]\n"
			     "r = Relu c\n"
			     "p = GlobalAveragePool r\n"
			     "f = Flatten p\n"
			     "m = MatMul f k\n"
			     "y = Softmax m\n"
			     "out y\n";

/* Each weight needs a block, and so do the lists of so many values. */
static const char unfolded[] = "opset 13\n"
			       "in x f32 n,32\n"
			       "const w f32 32,64 = random\n"
			       "const v f32 64,32 = random\n"
			       "const u f32 64,32 = random\n"
			       "s = Add v u\n"
			       "h = MatMul x w\n"
			       "g = Tanh h\n"
			       "z = MatMul g s\n"
			       "y = Add z x\n"
			       "out y\n";

static const char found[] = "opset 13\n"
			    "in x f32 6\n"
			    "h = Abs x\n"
			    "i = NonZero h\n"
			    "const zero i64 1 = 0\n"
			    "j = Squeeze i zero\n"
			    "g = Gather h j\n"
			    "s = ReduceSum g zero keepdims=1\n"
			    "y = Add h s\n"
			    "out y\n"
			    "out i\n";

static const char sequences[] = "opset 13\n"
				"in x f32 3,2\n"
				"s = SplitToSequence x axis=0\n"
				"const at i64 - = 1\n"
				"e = SequenceErase s at\n"
				"f = SequenceInsert e x\n"
				"u = SequenceAt f at\n"
				"y = Abs u\n"
				"out y\n"
				"out f\n";

static const char looped[] = "opset 13\n"
			     "in n i64 -\n"
			     "in x f32 3,2\n"
			     "h = Abs x\n"
			     "const yes bool - = 1\n"
			     "const row f32 1,2 = 1,2\n"
			     "block body\n"
			     "in i i64 -\n"
			     "in go bool -\n"
			     "in sum f32 3,2\n"
			     "in list f32 ?\n"
			     "stay = Identity go\n"
			     "next = Add sum h\n"
			     "longer = Concat list row axis=0\n"
			     "out stay\n"
			     "out next\n"
			     "out longer\n"
			     "out next\n"
			     "end\n"
			     "y,l,all = Loop n yes x row body=@body\n"
			     "out y\n"
			     "out l\n"
			     "out all\n";

static const char branched[] = "opset 13\n"
			       "in c bool -\n"
			       "in x f32 4\n"
			       "block then\n"
			       "t = Neg x\n"
			       "out t\n"
			       "end\n"
			       "block else\n"
			       "i = NonZero x\n"
			       "e = Cast i to=1\n"
			       "const zero i64 1 = 0\n"
			       "e2 = Squeeze e zero\n"
			       "out e2\n"
			       "end\n"
			       "y = If c then_branch=@then else_branch=@else\n"
			       "out y\n";

static const char scanned[] = "opset 13\n"
			      "in s f32 2\n"
			      "in x f32 5,2\n"
			      "block body\n"
			      "in state f32 2\n"
			      "in row f32 2\n"
			      "next = Add state row\n"
			      "twice = Add next next\n"
			      "out next\n"
			      "out twice\n"
			      "end\n"
			      "last,y = Scan s x body=@body num_scan_inputs=1\n"
			      "out y\n"
			      "out last\n";

static const struct {
	const char *name, *text;
} models[] = {{"layers", layers},  {"unfolded", unfolded},
	      {"found", found},    {"sequences", sequences},
	      {"looped", looped},  {"branched", branched},
	      {"scanned", scanned}};

struct planned_run {
	const struct sl_graph *graph;
	const char *first; /* its first output, a tensor */
	unsigned flags;
	int64_t batch;
	unsigned char expected[4096];
	size_t n_bytes;
};

/* The same bits as the first time. */
static enum sl_status
check_answer(struct planned_run *r, struct sl_plan *p, struct sl_error *err)
{
	struct sl_array out;
	enum sl_status rc = sl_plan_output(p, r->first, &out, err);

	if (rc)
		return rc;
	assert_in_range(out.n_bytes, 1, sizeof(r->expected));
	if (!r->n_bytes)
		memcpy(r->expected, out.data, out.n_bytes);
	assert_memory_equal(r->expected, out.data, out.n_bytes);
	r->n_bytes = out.n_bytes;
	return SL_OK;
}

static enum sl_status
plan_and_run(void *ctx, const struct sl_allocator *allocator,
	     struct sl_error *err)
{
	struct planned_run *r = ctx;
	struct sl_sizes sizes = {.struct_size = sizeof(sizes),
				 .batch = r->batch};
	struct sl_plan_options how = {.struct_size = sizeof(how),
				      .sizes = &sizes,
				      .n_threads = 1,
				      .algorithms = SL_ALGORITHMS_FIXED,
				      .flags = r->flags | SL_PLAN_NO_CACHE,
				      .allocator = allocator};
	struct sl_plan *p;
	enum sl_status rc = sl_plan_new(&p, r->graph, &how, err);

	if (!rc)
		rc = sl_plan_fill_inputs(p, 1, err);
	if (!rc)
		rc = sl_plan_run(p, err);
	if (!rc)
		rc = check_answer(r, p, err);
	sl_plan_free(p);
	return rc;
}

static void
models_are_run(void **state)
{
	static const unsigned flags[] = {0, SL_PLAN_NO_FUSION,
					 SL_PLAN_REFERENCE};

	(void)state;
	for (size_t i = 0; i < sizeof(models) / sizeof(models[0]); i++) {
		struct graph_text *text = graph_text_with(models[i].text, NULL);
		const struct sl_graph *graph = text->graph;

		for (size_t k = 0; k < sizeof(flags) / sizeof(flags[0]); k++) {
			struct planned_run r = {
				.graph = graph,
				.first = graph->values[graph->blocks[0]
							       .outputs[0]]
						 .name,
				.flags = flags[k],
				.batch = i < 2 ? 3 : 0};

			fail_each(plan_and_run, &r, models[i].name);
		}
		graph_text_free(text);
	}
}

/* A plan that is given other sizes while memory ends can be used again. */
static enum sl_status
resize(void *ctx, const struct sl_allocator *allocator, struct sl_error *err)
{
	static const float rows[4][3] = {{1, 2, 3}, {4, 5, 6}, {-1}, {0.5F}};
	struct sl_plan_options how = {.struct_size = sizeof(how),
				      .n_threads = 1,
				      .algorithms = SL_ALGORITHMS_FIXED,
				      .flags = SL_PLAN_NO_CACHE,
				      .allocator = allocator};
	struct sl_plan *p;
	enum sl_status rc = sl_plan_new(&p, ctx, &how, err);

	for (int64_t n = 1; !rc && n <= 4; n++) {
		const int64_t dims[] = {n, 3};
		const struct sl_array x = {.dtype = SL_DTYPE_F32,
					   .rank = 2,
					   .dims = dims,
					   .data = rows,
					   .n_elements = 3 * (uint64_t)n,
					   .n_bytes = 12 * (uint64_t)n};

		rc = sl_plan_set_input(p, "x", &x, err);
		if (!rc)
			rc = sl_plan_run(p, err);
	}
	if (rc == SL_E_NOMEM && p) {
		struct sl_array out;
		struct sl_error later;

		failing_stop();
		assert_int_equal(sl_plan_fill_inputs(p, 1, &later), SL_OK);
		assert_int_equal(sl_plan_run(p, &later), SL_OK);
		assert_int_equal(sl_plan_output(p, "y", &out, &later), SL_OK);
	}
	sl_plan_free(p);
	return rc;
}

static void
plans_are_given_other_sizes(void **state)
{
	(void)state;
	fail_each(resize, g->graph, "other sizes");
}

struct written_run {
	struct sl_render_options how;
	const char *into; /* folder of outputs, or NULL */
};

static enum sl_status
run_files(void *ctx, const struct sl_allocator *allocator, struct sl_error *err)
{
	const struct written_run *w = ctx;
	struct sl_run_options how = options(NULL);
	struct sl_buf page = {0};
	struct sl_run *r;
	enum sl_status rc;

	plan.allocator = allocator;
	how.check_folder = folder;
	how.output_folder = w->into;
	rc = sl_run(&r, g->graph, &how, err);
	if (!rc) {
		assert_true(r->is_ok);
		rc = sl_run_render(r, &w->how, &page, err);
	}
	sl_buf_release(&page);
	sl_run_free(r);
	return rc;
}

static void
files_are_read_and_written(void **state)
{
	(void)state;
	put_case(6.75F);
	for (int f = SL_FORMAT_TEXT; f <= SL_FORMAT_MARKDOWN; f++) {
		struct written_run w = {.how = {.struct_size = sizeof(w.how),
						.format = (enum sl_format)f},
					.into = f ? NULL : folder};

		fail_each(run_files, &w, "files");
	}
}

/* One input from a NumPy file, which a run has written. */
static enum sl_status
load_file(void *ctx, const struct sl_allocator *allocator, struct sl_error *err)
{
	struct sl_run_options how = options(NULL);
	struct sl_plan *p;
	enum sl_status rc;

	plan.allocator = allocator;
	rc = sl_plan_new(&p, g->graph, how.plan, err);
	if (!rc)
		rc = sl_plan_load_input(p, "x", ctx, err);
	if (!rc)
		rc = sl_plan_load_inputs(p, folder, err);
	if (!rc)
		rc = sl_plan_run(p, err);
	sl_plan_free(p);
	return rc;
}

static void
inputs_are_loaded(void **state)
{
	static const float x[] = {1, 2, 3, 4, 5, 6};
	const int64_t dims[] = {2, 3};
	const struct sl__tensor t = {.dtype = SL_DTYPE_F32,
				     .rank = 2,
				     .dims = dims,
				     .n_elements = 6,
				     .n_bytes = sizeof(x),
				     .n_stored = 6,
				     .bytes = (const unsigned char *)x};
	char path[128];

	(void)state;
	put_case(6.75F);
	snprintf(path, sizeof(path), "%s/x.npy", folder);
	assert_int_equal(sl__npy_write(&t, path, NULL, NULL), SL_OK);
	fail_each(load_file, path, "x.npy");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(models_are_run),
		cmocka_unit_test(plans_are_given_other_sizes),
		cmocka_unit_test(files_are_read_and_written),
		cmocka_unit_test(inputs_are_loaded),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
