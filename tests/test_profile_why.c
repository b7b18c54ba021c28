/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_profile_why.c - proves that the page about one operation has what was
 * measured of it and the two nearest answers, and nothing of the others; and
 * that a profile asks about the operation that covers a node, hot or not.
 */
#include "harness.h"
#include "reads_back.h"
#include "rendered_profile.h"

static void
ask(struct recorded_profile *r, struct sl_response *response)
{
	struct sl_operation *o = &r->operations[3];

	record_profile(r);
	memset(response, 0, sizeof(*response));
	for (int k = 0; k < SL_N_CONDITIONS; k++)
		response->at[k] =
			(struct sl_timed){1e6 * (k + 1), 0.05, 7, NULL};
	response->at[SL_CONDITION_DOUBLED] = (struct sl_timed){
		(double)NAN, (double)NAN, 0, "the batch is fixed"};
	response->n_dependent = 1;
	r->profile.why = o->name = "features.7";
	o->response = response;
	o->judgement.bound = SL_BOUND_UNKNOWN;
	o->judgement.nearest[0] = SL_BOUND_L3;
	o->judgement.nearest[1] = SL_BOUND_DRAM;
	o->judgement.likelihood[0] = 0.61;
	o->judgement.likelihood[1] = 0.35;
}

static void
the_page_is_about_one_operation(void **state)
{
	struct recorded_profile r;
	struct sl_response response;
	struct sl_buf out;

	(void)state;
	ask(&r, &response);
	out = render(&r, SL_FORMAT_TEXT, 80, 0);
	assert_has(&out, r.operations[3].name);
	assert_has(&out, "nearest      l3 0.61, then dram 0.35");
	assert_has(&out, "bound by     unknown");
	assert_has(&out, "as in the model");
	assert_has(&out, "3.00 ×"); /* cold, of 1 ms in place */
	assert_has(&out, "not at twice the batch: the batch is fixed");
	assert_has_not(&out, "nan");
	assert_has_not(&out, "Where the time goes");
	assert_has_not(&out, "What would help");
	sl_buf_release(&out);
}

/* Others were busy: no answer, but what was seen stays. */
static void
a_disturbed_page_gives_no_answer(void **state)
{
	struct recorded_profile r;
	struct sl_response response;
	struct sl_buf out;

	(void)state;
	ask(&r, &response);
	r.profile.others_share = 0.5;
	out = render(&r, SL_FORMAT_TEXT, 80, 0);
	assert_has(&out, "others had too much of the CPUs");
	assert_has_not(&out, "nearest");
	assert_has(&out, "from empty caches");
	sl_buf_release(&out);
}

static struct sl_profile *
profile_why(const char *why, struct sl_error *err)
{
	struct sl_profile_options how = {.struct_size = sizeof(how),
					 .n_runs = 3,
					 .n_warmup = 1,
					 .time_s = 0.2,
					 .flags = SL_PROFILE_BRIEF,
					 .why = why};
	struct sl_graph *graph = NULL;
	struct sl_profile *p = NULL;

	assert_int_equal(sl_graph_open(&graph, "lenet5", NULL, err), SL_OK);
	if (sl_profile_forward(&p, graph, &how, err))
		p = NULL;
	sl_graph_free(graph);
	return p;
}

/* tanh_4 is fused into the layer before it, which takes hardly any time. */
static void
a_node_is_found_in_what_covers_it(void **state)
{
	struct sl_error err;
	struct sl_profile *p = profile_why("tanh_4", &err);

	(void)state;
	assert_non_null(p);
	assert_string_equal(p->why, "fc2");
	sl_profile_free(p);
	assert_null(profile_why("fc22", &err));
	assert_int_equal(err.status, SL_E_USAGE);
	assert_non_null(strstr(err.text, "did you mean 'fc2'?"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_page_is_about_one_operation),
		cmocka_unit_test(a_disturbed_page_gives_no_answer),
		cmocka_unit_test(a_node_is_found_in_what_covers_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
