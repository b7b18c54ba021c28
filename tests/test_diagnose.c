/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_diagnose.c - proves that experiments on steps leave a model as it was,
 * look at the steps they are told to, and say what could not be done.
 */
#include "experiment/diagnose.h"
#include "analysis/operations.h"
#include "graph_text.h"
#include "plan_input.h"
#include "base/thread.h"
#include "engine/observer.h"

/* Three steps of one node each. */
static const char chain[] = "opset 13\n"
			    "in x f32 64,64\n"
			    "a = Sigmoid x\n"
			    "b = Softmax a\n"
			    "y = Relu b\n"
			    "out y\n";

/* The same for a batch that is left open. */
static const char open_chain[] = "opset 13\n"
				 "in x f32 n,64\n"
				 "a = Sigmoid x\n"
				 "b = Softmax a\n"
				 "y = Relu b\n"
				 "out y\n";

/* The last of n rows of an input that has one: with two it lies outside. */
static const char lonely[] = "opset 13\n"
			     "in x f32 n,1\n"
			     "in z f32 1,4\n"
			     "const one f32 - = 1\n"
			     "a = Abs x\n"
			     "b = Add a one\n"
			     "c = Sign b\n"
			     "d = ReduceSum c - keepdims=0\n"
			     "e = Sub d one\n"
			     "i = Cast e - to=7\n"
			     "y = Gather z i - axis=0\n"
			     "out y\n";

struct fixture {
	struct graph_text *g;
	struct sl__subject_model subject;
	struct sl__arena arena;
	struct sl__step_responses diagnosis;
};

static void
start(struct fixture *f, const char *text, int n_threads)
{
	struct sl_plan_options plan = {.struct_size = sizeof(plan),
				       .n_threads = n_threads,
				       .algorithms = SL_ALGORITHMS_FIXED,
				       .flags = SL_PLAN_NO_FUSION |
						SL_PLAN_NO_CACHE};
	static struct sl_plan_options kept; /* borrowed by the subject */
	struct sl__subject_model_options how = {.plan = &kept, .seed = 1};
	struct sl_error err;

	kept = plan;
	memset(f, 0, sizeof(*f));
	f->g = graph_text_with(text, NULL);
	sl__arena_init(&f->arena, NULL);
	if (sl__subject_model_open(&f->subject, f->g->graph, &how, &err))
		fail_msg("%s", err.text);
}

static void
finish(struct fixture *f)
{
	sl__subject_model_close(&f->subject);
	sl__arena_release(&f->arena);
	graph_text_free(f->g);
}

static void
diagnose(struct fixture *f, struct sl__diagnose_options *how)
{
	struct sl_error err;

	how->time_s = how->time_s > 0 ? how->time_s : 0.01;
	how->seed = 1;
	if (sl__diagnose(&f->diagnosis, &f->subject, how, &f->arena, &err))
		fail_msg("%s", err.text);
}

static void
copy_output(struct fixture *f, float *out, size_t n)
{
	struct sl_array a;
	struct sl_error err;

	if (sl_plan_output(f->subject.plan, "y", &a, &err))
		fail_msg("%s", err.text);
	assert_int_equal(a.n_elements, n);
	memcpy(out, a.data, n * sizeof(*out));
}

static sl__run_function *original;
static const unsigned char *result_at;
static int n_spoils;

/* What it reads, which may lie where its result goes, grows by 1 each time:
 * running it twice gives another result. */
static enum sl_status
spoil(struct sl__step *step, struct sl_error *err)
{
	float *x = (float *)(void *)step->at[0];

	for (uint32_t k = 0; k < step->n_operands; k++) {
		if (step->at[k] != result_at)
			x = (float *)(void *)step->at[k];
	}
	for (int i = 0; i < 64 * 64; i++)
		x[i] += 1;
	n_spoils++;
	return original(step, err);
}

static void
in_place_steps_survive(void **state)
{
	static float before[64 * 64], after[64 * 64];
	const size_t steps[] = {2, 1};
	struct sl__diagnose_options how = {.steps = steps, .n_steps = 2};
	struct sl__program *p;
	struct fixture f;

	(void)state;
	start(&f, chain, 1);
	p = f.subject.plan->current;
	assert_int_equal(p->n_steps, 3);
	original = p->steps[2].run;
	result_at = p->buffers[p->outputs[0]].data;
	p->steps[2].run = spoil;
	n_spoils = 0;
	assert_int_equal(sl_plan_run(f.subject.plan, NULL), SL_OK);
	copy_output(&f, before, 64 * 64);
	assert_true(before[0] > 1 && before[0] < 2);
	diagnose(&f, &how);
	copy_output(&f, after, 64 * 64);
	assert_memory_equal(before, after, sizeof(before));
	/* It did run twice in a row, in a trial and in each round. */
	assert_true(n_spoils > 2 * (int)f.diagnosis.n_rounds);
	assert_true(f.diagnosis.responses[0].at[SL_CONDITION_WARM].n > 0);
	finish(&f);
}

static void
assert_timed(const struct sl_timed *t, size_t n)
{
	assert_int_equal(t->n, n);
	assert_null(t->absent);
	assert_true(t->ns >= 0 && isfinite(t->ns));
	assert_true(t->spread >= 0 || t->ns == 0);
}

static void
assert_absent(const struct sl_timed *t)
{
	assert_int_equal(t->n, 0);
	assert_non_null(t->absent);
	assert_true(isnan(t->ns) && isnan(t->spread));
}

static void
times_what_it_is_told_to(void **state)
{
	const size_t steps[] = {1, 0};
	struct sl__diagnose_options how = {.steps = steps, .n_steps = 2};
	struct fixture f;

	(void)state;
	start(&f, chain, 2);
	diagnose(&f, &how);
	assert_int_equal(f.diagnosis.n, 2);
	assert_true(f.diagnosis.n_rounds >= 2);
	for (size_t i = 0; i < 2; i++) {
		const struct sl_response *r = &f.diagnosis.responses[i];

		assert_int_equal(r->step, steps[i]);
		assert_timed(&r->at[SL_CONDITION_IN_PLACE],
			     f.diagnosis.n_rounds);
		assert_timed(&r->at[SL_CONDITION_WARM], f.diagnosis.n_rounds);
		assert_timed(&r->at[SL_CONDITION_ALONE], f.diagnosis.n_rounds);
		/* Nobody is there to empty caches or to hog memory. */
		assert_absent(&r->at[SL_CONDITION_COLD]);
		assert_absent(&r->at[SL_CONDITION_HOGGED]);
		/* Nor can 64 rows be anything else. */
		assert_string_equal(r->at[SL_CONDITION_DOUBLED].absent,
				    "the model's batch is fixed");
		assert_true(isnan(r->doubled_flops) && isnan(r->doubled_bytes));
	}
	assert_string_equal(f.diagnosis.no_doubled,
			    "the model's batch is fixed");
	assert_non_null(f.diagnosis.no_cold);
	assert_non_null(f.diagnosis.no_hog);
	assert_null(f.diagnosis.no_alone);
	assert_true(isnan(f.diagnosis.hog.dram));
	finish(&f);
}

static void
doubles_an_open_batch(void **state)
{
	const size_t steps[] = {0, 1};
	struct sl__diagnose_options how = {
		.steps = steps, .n_steps = 2, .time_s = 10};
	struct fixture f;

	(void)state;
	start(&f, open_chain, 1);
	/* A budget of ten seconds: planning once more is no question. */
	diagnose(&f, &how);
	assert_null(f.diagnosis.no_doubled);
	for (size_t i = 0; i < 2; i++) {
		const struct sl_response *r = &f.diagnosis.responses[i];
		const struct sl__step *s =
			&f.subject.plan->current->steps[steps[i]];

		assert_timed(&r->at[SL_CONDITION_DOUBLED],
			     f.diagnosis.n_rounds);
		assert_true(r->doubled_bytes == 2 * (double)s->n_bytes);
		assert_true(r->doubled_flops == 2 * (double)s->executed_flops);
	}
	finish(&f);
}

static void
goes_without_a_batch_that_fails(void **state)
{
	const size_t steps[] = {0};
	struct sl__diagnose_options how = {
		.steps = steps, .n_steps = 1, .time_s = 10};
	struct fixture f;

	(void)state;
	start(&f, lonely, 1);
	diagnose(&f, &how);
	assert_non_null(f.diagnosis.no_doubled);
	assert_non_null(strstr(f.diagnosis.no_doubled,
			       "it fails at twice the batch: "));
	assert_timed(&f.diagnosis.responses[0].at[SL_CONDITION_WARM],
		     f.diagnosis.n_rounds);
	assert_absent(&f.diagnosis.responses[0].at[SL_CONDITION_DOUBLED]);
	finish(&f);
}

/* A thread that may use one CPU leaves none for the hog; where it may use
 * two, all five are timed. */
static void
needs_a_spare_cpu(void **state)
{
	const size_t steps[] = {0};
	struct sl__diagnose_options how = {.steps = steps, .n_steps = 1};
	struct sl__ceiling_probes_options probes = {.dtype = SL_DTYPE_F32,
						    .n_threads = 1};
	const struct sl_response *r;
	struct sl_error err;
	struct fixture f;

	(void)state;
	start(&f, chain, 1);
	if (sl__ceiling_probes_open(&how.probes, &probes, &err))
		fail_msg("%s", err.text);
	diagnose(&f, &how);
	r = &f.diagnosis.responses[0];
	assert_timed(&r->at[SL_CONDITION_COLD], f.diagnosis.n_rounds);
	assert_timed(&r->at[SL_CONDITION_ALONE], f.diagnosis.n_rounds);
	if (sl__thread_n_cpus() > 1) {
		assert_timed(&r->at[SL_CONDITION_HOGGED], f.diagnosis.n_rounds);
		assert_true(f.diagnosis.hog.dram > 0);
	} else {
		assert_absent(&r->at[SL_CONDITION_HOGGED]);
		assert_non_null(f.diagnosis.no_hog);
	}
	sl__ceiling_probes_close(how.probes);
	finish(&f);
}

static void
leaves_reference_steps_alone(void **state)
{
	const size_t steps[] = {0};
	struct sl__diagnose_options how = {.steps = steps, .n_steps = 1};
	static struct sl_plan_options kept;
	struct fixture f;

	(void)state;
	start(&f, chain, 1);
	kept = *f.subject.options.plan;
	kept.flags |= SL_PLAN_REFERENCE;
	sl__subject_model_close(&f.subject);
	assert_int_equal(
		sl__subject_model_open(
			&f.subject, f.g->graph,
			&(struct sl__subject_model_options){.plan = &kept},
			NULL),
		SL_OK);
	diagnose(&f, &how);
	for (int c = 0; c < SL_N_CONDITIONS; c++)
		assert_absent(&f.diagnosis.responses[0].at[c]);
	finish(&f);
}

static void
stops_when_told(void **state)
{
	const size_t steps[] = {0};
	volatile sig_atomic_t stop = 1;
	struct sl__diagnose_options how = {
		.steps = steps, .n_steps = 1, .control.interrupt = &stop};
	struct fixture f;

	(void)state;
	start(&f, chain, 1);
	diagnose(&f, &how);
	assert_true(f.diagnosis.is_interrupted);
	assert_int_equal(f.diagnosis.n, 1);
	assert_string_equal(
		f.diagnosis.responses[0].at[SL_CONDITION_IN_PLACE].absent,
		"interrupted");
	finish(&f);
}

static enum sl_status
break_down(struct sl__step *step, struct sl_error *err)
{
	(void)step;
	if (err)
		snprintf(err->text, sizeof(err->text), "broken");
	return SL_E_DATA;
}

static void
fails_as_a_pass_does(void **state)
{
	const size_t steps[] = {0};
	struct sl__diagnose_options how = {
		.steps = steps, .n_steps = 1, .time_s = 0.01};
	struct sl_error err;
	struct fixture f;

	(void)state;
	start(&f, chain, 1);
	f.subject.plan->current->steps[1].run = break_down;
	assert_int_equal(
		sl__diagnose(&f.diagnosis, &f.subject, &how, &f.arena, &err),
		SL_E_DATA);
	assert_non_null(strstr(err.text, "broken"));
	finish(&f);
}

static void
counts_hot_operations(void **state)
{
	enum { MANY = 2 * SL__HOT_MOST };
	static struct sl_operation ops[MANY];
	static size_t order[MANY];
	struct sl_profile p = {
		.operations = ops, .n_operations = 4, .by_time = order};

	(void)state;
	for (size_t i = 0; i < MANY; i++)
		order[i] = i;
	ops[0].share = 0.5;
	ops[1].share = 0.3;
	ops[2].share = 0.1;
	ops[3].share = 0.1;
	assert_int_equal(sl__hot_count(&p, 0.9), 3);
	assert_int_equal(sl__hot_count(&p, 0.4), 1);
	assert_int_equal(sl__hot_count(&p, 0.81), 3);
	assert_int_equal(sl__hot_count(&p, 1), 4);
	for (size_t i = 0; i < MANY; i++)
		ops[i].share = 1.0 / MANY;
	p.n_operations = MANY;
	assert_int_equal(sl__hot_count(&p, 0.9), SL__HOT_MOST);
	p.n_operations = 0;
	assert_int_equal(sl__hot_count(&p, 0.9), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(in_place_steps_survive),
		cmocka_unit_test(times_what_it_is_told_to),
		cmocka_unit_test(doubles_an_open_batch),
		cmocka_unit_test(goes_without_a_batch_that_fails),
		cmocka_unit_test(needs_a_spare_cpu),
		cmocka_unit_test(leaves_reference_steps_alone),
		cmocka_unit_test(stops_when_told),
		cmocka_unit_test(fails_as_a_pass_does),
		cmocka_unit_test(counts_hot_operations),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
