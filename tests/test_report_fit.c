/* SPDX-License-Identifier: Apache-2.0 */
/* test_report_fit.c - fits made by hand, read from their JSON, give the same
 * pages: planned or from the graph, tried or not, fixed, unbounded, too
 * large. */
#include "harness.h"
#include "json_check.h"
#include "reads_back.h"

static struct sl_fit
planted(void)
{
	return (struct sl_fit){.name = "net",
			       .source = "zoo",
			       .axis = SL_GROWTH_BATCH,
			       .sizes = "batch 512, seq 128",
			       .memory_bytes = 1e9,
			       .largest = 512,
			       .is_planned = 1,
			       .n_plans = 7,
			       .size = 512,
			       .parameters_bytes = 4e8,
			       .others_bytes = 1e6,
			       .activations_bytes = 5e8,
			       .total_bytes = 9.01e8,
			       .next_bytes = 1.1e9,
			       .graph_largest = 400,
			       .graph_size = 400,
			       .graph_bytes = 9.5e8};
}

static void
train(struct sl_fit *f)
{
	f->is_planned = 0;
	f->unplanned = "training is not planned";
	f->n_plans = 0;
	f->optimizer = SL_OPTIMIZER_ADAM;
	f->phase = SL_PHASE_UPDATE;
	f->gradients_bytes = 1e8;
	f->optimizer_bytes = 2e8;
	f->others_bytes = 0;
	f->next_bytes = (double)NAN;
	f->axis = SL_GROWTH_SEQ;
}

static void
verify(struct sl_fit *f)
{
	f->verified = (struct sl_fit_verified){
		.n_trials = 9,
		.runs_at = 500,
		.fails_at = 501,
		.planned_at = 510,
		.used_bytes = 9.9e8,
		.weights_bytes = 4e8,
		.block_bytes = 5.5e8,
		.why = "malloc, \"no\" memory",
		.difference = "the plan counts no pages of its own"};
}

static enum sl_status
render(const void *result, const struct sl_render_options *how,
       struct sl_buf *out, struct sl_error *err)
{
	const struct sl_fit *f = result;

	return sl_fit_render(f, how, out, err);
}

static void
predictions_come_back(void **state)
{
	struct sl_fit f = planted();

	(void)state;
	assert_renders_back(render, &f);
	f.limit = "its positions end at 512";
	f.next_bytes = (double)NAN;
	assert_renders_back(render, &f);
	f.limit = NULL;
	assert_renders_back(render, &f);
	f.is_cut = 1;
	assert_renders_back(render, &f);
	f.is_unbounded = 1;
	assert_renders_back(render, &f);
	f = planted();
	f.n_unknown = 3;
	assert_renders_back(render, &f);
	f.largest = 0;
	f.size = 1;
	assert_renders_back(render, &f);
	f.total_bytes = 2e9;
	assert_renders_back(render, &f);
	f.fixed_at = 1;
	assert_renders_back(render, &f);
	f = planted();
	train(&f);
	assert_renders_back(render, &f);
	snprintf(f.verified.why, sizeof(f.verified.why), "%s",
		 "training cannot be run");
	assert_renders_back(render, &f);
}

static void
trials_come_back(void **state)
{
	struct sl_fit f = planted();

	(void)state;
	verify(&f);
	assert_renders_back(render, &f);
	f.fixed_at = 500;
	f.verified.difference = NULL;
	assert_renders_back(render, &f);
	f.verified.fails_at = 0;
	assert_renders_back(render, &f);
	f.verified.runs_at = 0;
	f.verified.used_bytes = f.verified.weights_bytes =
		f.verified.block_bytes = (double)NAN;
	assert_renders_back(render, &f);
}

/* What ran is the answer, in JSON and in CSV. */
static void
trial_is_the_answer(void **state)
{
	struct sl_render_options how = {.struct_size = sizeof(how),
					.format = SL_FORMAT_JSON};
	struct sl_fit f = planted();
	struct sl_buf out = {0};

	(void)state;
	verify(&f);
	assert_int_equal(sl_fit_render(&f, &how, &out, NULL), SL_OK);
	assert_true(json_is(out.data, "fit.largest", "500"));
	assert_true(json_is(out.data, "fit.largest_basis", "\"verified\""));
	assert_true(json_is(out.data, "fit.predicted_largest", "512"));
	assert_true(json_is(out.data, "fit.verified.as_predicted", "false"));
	sl_buf_release(&out);
	how.format = SL_FORMAT_CSV;
	assert_int_equal(sl_fit_render(&f, &how, &out, NULL), SL_OK);
	assert_string_equal(out.data,
			    "model,axis,largest,optimizer,memory_bytes,"
			    "parameters_bytes,others_bytes,activations_bytes,"
			    "gradients_bytes,optimizer_bytes,total_bytes\n"
			    "net,batch,500,none,1000000000,400000000,1000000,"
			    "500000000,0,0,901000000\n");
	sl_buf_release(&out);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(predictions_come_back),
		cmocka_unit_test(trials_come_back),
		cmocka_unit_test(trial_is_the_answer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
