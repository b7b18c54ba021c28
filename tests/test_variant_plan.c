/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_variant_plan.c - proves that another plan of a model is made where it
 * can be, that its steps are the ones that do the same, and that it says why
 * where there is none.
 */
#include "experiment/diagnose.h"
#include "engine/dnnl_choice.h"
#include "graph_text.h"
#include "needs_dnnl.h"

#include <unistd.h>

static const char open_batch[] = "opset 13\n"
				 "in x f32 n,64\n"
				 "const w f32 64,32 = random\n"
				 "a = Sigmoid x\n"
				 "b = MatMul a w\n"
				 "y = Softmax b\n"
				 "out y\n";
static const char fixed_batch[] = "opset 13\n"
				  "in x f32 4,64\n"
				  "y = Softmax x\n"
				  "out y\n";
/* Twelve rows fit, twenty-four do not. */
static const char stiff[] = "opset 13\n"
			    "in x f32 n,64\n"
			    "const s i64 2 = 12,64\n"
			    "a = Reshape x s\n"
			    "y = Softmax a\n"
			    "out y\n";

struct fixture {
	struct graph_text *g;
	struct sl_sizes sizes;
	struct sl_plan_options plan;
	struct sl__subject_model subject;
	struct sl__arena arena;
	struct sl__variant_plan variant;
	size_t steps[8];
};

static void
start(struct fixture *f, const char *text, int64_t batch, int n_threads)
{
	struct sl__subject_model_options how = {.plan = &f->plan, .seed = 1};
	struct sl_error err;

	memset(f, 0, sizeof(*f));
	f->sizes = (struct sl_sizes){.struct_size = sizeof(f->sizes),
				     .batch = batch};
	f->plan = (struct sl_plan_options){.struct_size = sizeof(f->plan),
					   .sizes = &f->sizes,
					   .n_threads = n_threads,
					   .algorithms = SL_ALGORITHMS_FIXED,
					   .flags = SL_PLAN_NO_FUSION |
						    SL_PLAN_NO_CACHE};
	f->g = graph_text_with(text, NULL);
	sl__arena_init(&f->arena, NULL);
	if (sl__subject_model_open(&f->subject, f->g->graph, &how, &err))
		fail_msg("%s", err.text);
	for (size_t i = 0; i < 8; i++)
		f->steps[i] = i;
}

static struct sl__variant_options
options(struct fixture *f)
{
	return (struct sl__variant_options){
		.of = &f->subject,
		.steps = f->steps,
		.n = f->subject.plan->current->n_steps,
		.plan_s = 100};
}

static void
finish(struct fixture *f)
{
	sl__variant_close(&f->variant);
	sl__subject_model_close(&f->subject);
	sl__arena_release(&f->arena);
	graph_text_free(f->g);
}

static void
assert_paired(const struct fixture *f, double work)
{
	const struct sl__program *a = f->subject.plan->current;
	const struct sl__program *b = f->variant.plan->current;

	for (size_t i = 0; i < a->n_steps; i++) {
		size_t k = f->variant.steps[i];

		assert_true(k < b->n_steps);
		assert_int_equal(f->variant.slot_of[k], i);
		assert_string_equal(a->steps[i].name, b->steps[k].name);
		assert_true((double)b->steps[k].nominal_flops ==
			    work * (double)a->steps[i].nominal_flops);
		assert_int_equal(
			f->variant.is_same[i],
			!strcmp(a->steps[i].kernel, b->steps[k].kernel));
	}
}

static void
one_thread_does_the_same(void **state)
{
	struct sl__variant_options how;
	struct fixture f;

	(void)state;
	start(&f, open_batch, 4, 2);
	how = options(&f);
	assert_int_equal(
		sl__variant_open_one_thread(&f.variant, &how, &f.arena, NULL),
		SL_OK);
	assert_null(f.variant.absent);
	assert_ptr_not_equal(f.variant.plan, f.subject.plan);
	assert_int_equal(sl_plan_n_threads(f.variant.plan), 1);
	assert_paired(&f, 1);
	assert_int_equal(sl_plan_run(f.variant.plan, NULL), SL_OK);
	finish(&f);
	/* A plan of one thread is its own. */
	start(&f, open_batch, 4, 1);
	how = options(&f);
	assert_int_equal(
		sl__variant_open_one_thread(&f.variant, &how, &f.arena, NULL),
		SL_OK);
	assert_ptr_equal(f.variant.plan, f.subject.plan);
	assert_null(f.variant.subject.plan);
	assert_paired(&f, 1);
	finish(&f);
}

static void
twice_the_batch_is_twice_the_work(void **state)
{
	struct sl__variant_options how;
	struct sl_array x, y;
	float before[6 * 64];
	struct fixture f;

	(void)state;
	start(&f, open_batch, 3, 1);
	how = options(&f);
	assert_int_equal(sl__variant_open_double_batch(&f.variant, &how, 0,
						       &f.arena, NULL),
			 SL_OK);
	assert_null(f.variant.absent);
	assert_paired(&f, 2);
	assert_int_equal(sl_plan_input(f.variant.plan, "x", &x, NULL, NULL),
			 SL_OK);
	memcpy(before, x.data, sizeof(before));
	assert_int_equal(sl__variant_warm_up(&f.variant, 0, NULL), SL_OK);
	assert_memory_equal(before, x.data, sizeof(before));
	assert_int_equal(sl__variant_warm_up(&f.variant, 1, NULL), SL_OK);
	assert_int_equal(sl_plan_output(f.variant.plan, "y", &y, NULL), SL_OK);
	assert_int_equal(y.dims[0], 6);
	/* The first plan is what it was. */
	assert_int_equal(sl_plan_run(f.subject.plan, NULL), SL_OK);
	assert_int_equal(sl_plan_output(f.subject.plan, "y", &y, NULL), SL_OK);
	assert_int_equal(y.dims[0], 3);
	finish(&f);
}

/* Whatever algorithm was measured for the batch serves twice the batch, and
 * nothing is measured, or remembered, for that. */
#ifndef SL_WITHOUT_DNNL /* where nothing is measured */
static void
algorithms_are_taken_over(void **state)
{
	static const char conv[] = "opset 13\n"
				   "in x f32 n,16,14,14\n"
				   "const w f32 16,16,3,3 = random\n"
				   "y = Conv x w pads=[1,1,1,1]\n"
				   "out y\n";
	char folder[] = "/tmp/sleuth-test-XXXXXX";
	struct sl__variant_options how;
	struct sl__choices *known, *after;
	struct fixture f;

	(void)state;
	needs_dnnl();
	assert_non_null(mkdtemp(folder));
	start(&f, conv, 1, 1);
	sl__subject_model_close(&f.subject);
	f.plan.algorithms = SL_ALGORITHMS_MEASURED;
	f.plan.flags = 0;
	f.plan.cache_folder = folder;
	assert_int_equal(
		sl__subject_model_open(
			&f.subject, f.g->graph,
			&(struct sl__subject_model_options){.plan = &f.plan},
			NULL),
		SL_OK);
	assert_int_equal(
		sl__choices_new(&known, &f.subject.plan->options, NULL), SL_OK);
	assert_true(known->n > 0);
	how = options(&f);
	assert_int_equal(sl__variant_open_double_batch(&f.variant, &how, 0,
						       &f.arena, NULL),
			 SL_OK);
	assert_null(f.variant.absent);
	for (size_t i = 0; i < how.n; i++)
		assert_true(f.variant.is_same[i]);
	assert_int_equal(
		sl__choices_new(&after, &f.subject.plan->options, NULL), SL_OK);
	assert_int_equal(after->n, known->n);
	assert_int_equal(unlink(known->path), 0);
	assert_int_equal(rmdir(folder), 0);
	sl__choices_free(known);
	sl__choices_free(after);
	finish(&f);
}
#endif

static const char *
why_none(struct fixture *f, double plan_ns)
{
	struct sl__variant_options how = options(f);

	assert_int_equal(sl__variant_open_double_batch(
				 &f->variant, &how, plan_ns, &f->arena, NULL),
			 SL_OK);
	assert_null(f->variant.plan);
	assert_non_null(f->variant.absent);
	for (size_t i = 0; i < how.n; i++)
		assert_true(f->variant.steps[i] == SIZE_MAX);
	return f->variant.absent;
}

static void
says_why_there_is_none(void **state)
{
	const int64_t dims[] = {4, 64};
	const struct sl_input_shape shape = {
		.input = "x", .dims = dims, .rank = 2};
	struct fixture f;

	(void)state;
	start(&f, fixed_batch, 0, 1);
	assert_string_equal(why_none(&f, 0), "the model's batch is fixed");
	finish(&f);
	start(&f, stiff, 12, 1);
	assert_non_null(strstr(why_none(&f, 0), "cannot be planned: "));
	finish(&f);
	start(&f, open_batch, 4, 1);
	assert_non_null(strstr(why_none(&f, 1e12), "longer than the "));
	f.sizes.shapes = &shape;
	f.sizes.n_shapes = 1;
	assert_string_equal(why_none(&f, 0), "the batch is said as a shape");
	f.sizes.n_shapes = 0;
	f.subject.options.n_inputs = 1;
	assert_non_null(strstr(why_none(&f, 0), "files"));
	f.subject.options.n_inputs = 0;
	finish(&f);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_thread_does_the_same),
		cmocka_unit_test(twice_the_batch_is_twice_the_work),
#ifndef SL_WITHOUT_DNNL
		cmocka_unit_test(algorithms_are_taken_over),
#endif
		cmocka_unit_test(says_why_there_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
