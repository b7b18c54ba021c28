/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_memory_told.c - proves that of a model's memory nothing is told that is
 * not known: how much of a workspace is touched, growth below nothing, what
 * lies outside the plan; that where no run was tracked the plan's own figures
 * stand; and that what a model takes is the same whatever ran before it.
 */
#include "fact_says.h"
#include "experiment/live_tensors.h"
#include "graph_text.h"
#include "analysis/memory_use.h"
#include "base/reading.h"
#include "experiment/subject.h"

#include <math.h>

enum { MIB = 1 << 20 };

static const struct sl_plan_options plain = {.struct_size = sizeof(plain),
					     .n_threads = 1,
					     .algorithms = SL_ALGORITHMS_FIXED,
					     .flags = SL_PLAN_NO_CACHE};

struct told {
	struct sl_graph *graph;
	struct sl__subject_model subject;
	struct sl__arena arena;
	struct sl__tensor_lifetimes tracking;
	struct sl__residence residence;
	struct sl_memory_use use;
};

static void
begin(struct told *t, const char *name)
{
	struct sl__subject_model_options how = {.plan = &plain};

	memset(t, 0, sizeof(*t));
	t->tracking.absent = "not asked for";
	assert_int_equal(sl_graph_open(&t->graph, name, NULL, NULL), SL_OK);
	assert_int_equal(
		sl__subject_model_open(&t->subject, t->graph, &how, NULL),
		SL_OK);
	sl__arena_init(&t->arena, NULL);
}

static void
take(struct told *t)
{
	struct sl__memory_sources from = {.plan = t->subject.plan,
					  .tracking = &t->tracking,
					  .residence = &t->residence};

	assert_int_equal(sl__memory_use_of(&t->use, &from, &t->arena, NULL),
			 SL_OK);
}

static void
end(struct told *t)
{
	sl__arena_release(&t->arena);
	sl__subject_model_close(&t->subject);
	sl_graph_free(t->graph);
}

/* Were all values but the model's inputs and outputs workspace, the pages
 * that have nothing else might stay untouched, and they alone. */
static void
workspace_may_stay_untouched(void **state)
{
	struct sl__program *p;
	double least, some;
	uint64_t values;
	struct told t;

	(void)state;
	begin(&t, "vgg16");
	take(&t);
	least = t.use.predicted_least_bytes;
	values = t.use.values_bytes;
	p = t.subject.plan->current;
	for (size_t i = 0; i < p->n_buffers; i++) {
		if (p->buffers[i].category == SL__CATEGORY_ACTIVATION)
			p->buffers[i].category = SL__CATEGORY_WORKSPACE;
	}
	take(&t);
	some = t.use.predicted_bytes - t.use.predicted_least_bytes;
	assert_true(t.use.predicted_least_bytes < least);
	assert_true(t.use.values_bytes < values);
	/* Inputs and outputs are less than a MiB, in a page or two each. */
	assert_true(t.use.values_bytes < MIB);
	assert_true(some <= (double)t.use.planned_bytes);
	assert_true(some >= (double)t.use.planned_bytes -
				    6.0 * (double)sl__backing_page_size());
	/* Nothing but them and weights must have been touched. */
	t.use.touched_bytes =
		sl__present((double)(t.use.values_bytes + t.use.packed_bytes));
	assert_int_equal(sl__memory_use_judge(&t.use, &t.arena, NULL), SL_OK);
	assert_null(t.use.impossible);
	t.use.touched_bytes.value -= 1;
	assert_int_equal(sl__memory_use_judge(&t.use, &t.arena, NULL), SL_OK);
	assert_int_equal(t.use.impossible->kind, SL_FACT_MEMORY_GROWTH);
	assert_true(fact_says(t.use.impossible, " MB of values"));
	end(&t);
}

static void
growth_is_not_negative(void **state)
{
	struct told t;

	(void)state;
	begin(&t, "mlp:64-32");
	t.residence.base.anonymous_bytes = 8.0 * MIB;
	t.residence.base.file_bytes = 2.0 * MIB;
	take(&t);
	assert_non_null(t.use.touched_bytes.absent);
	assert_true(isnan(t.use.touched_bytes.value));
	assert_non_null(t.use.file_bytes.absent);
	assert_null(t.use.impossible);
	/* As many file pages as before is a figure, no memory at all is not. */
	t.residence.base.file_bytes = 0;
	t.residence.base.anonymous_bytes = 0;
	take(&t);
	assert_null(t.use.file_bytes.absent);
	assert_non_null(t.use.touched_bytes.absent);
	end(&t);
}

static void
the_peak_has_its_moment(void **state)
{
	struct told t;

	(void)state;
	begin(&t, "mlp:64-32");
	take(&t);
	assert_int_equal(t.use.peak_moment, SL_PEAK_UNKNOWN);
	t.residence.n_pauses = 1;
	take(&t);
	assert_int_equal(t.use.peak_moment, SL_PEAK_PLANNING);
	t.residence.peak_stretch = 1;
	take(&t);
	assert_int_equal(t.use.peak_moment, SL_PEAK_RUNNING);
	t.residence.peak_stretch = -1;
	take(&t);
	assert_int_equal(t.use.peak_moment, SL_PEAK_UNKNOWN);
	end(&t);
}

/* The plan says of each step what the tracker sees. */
static void
the_plan_stands_in_for_the_tracker(void **state)
{
	const struct sl__live_tensors_options unhurried = {0};
	struct sl_memory_use planned;
	struct told t;

	(void)state;
	begin(&t, "resnet18");
	take(&t);
	planned = t.use;
	assert_non_null(planned.tracked_bytes.absent);
	assert_int_equal(planned.n_alive, 0);
	for (size_t i = 0; i < planned.n_timeline; i++) {
		uint64_t sum = 0;

		for (size_t k = 0; k < planned.n_tensors; k++) {
			const struct sl_memory_tensor *one =
				&planned.tensors[k];

			if (one->first <= i && i <= one->last)
				sum += one->n_bytes;
		}
		assert_int_equal(sum, planned.timeline[i].live_bytes);
	}
	assert_int_equal(sl__live_tensors_track(&t.tracking, t.subject.plan,
						&unhurried, &t.arena, NULL),
			 SL_OK);
	take(&t);
	assert_null(t.use.tracked_bytes.absent);
	assert_true(t.use.n_timeline > 10);
	assert_int_equal(planned.n_timeline, t.use.n_timeline);
	for (size_t i = 0; i < planned.n_timeline; i++) {
		assert_int_equal(planned.timeline[i].operation,
				 t.use.timeline[i].operation);
		assert_true(planned.timeline[i].live_bytes >=
			    t.use.timeline[i].live_bytes);
	}
	assert_int_equal(planned.peak_operation, t.use.peak_operation);
	assert_int_equal(planned.timeline[planned.peak_operation].live_bytes,
			 planned.live_bytes);
	assert_int_equal(planned.values_bytes, t.use.values_bytes);
	end(&t);
}

/* An If whose branches have sizes that only a run finds: what they hold is
 * neither in the plan nor at the peak. */
static void
what_lies_outside_the_plan_is_said(void **state)
{
	struct graph_text *g = graph_text_with("opset 13\n"
					       "in x f32 4,4\n"
					       "in c bool -\n"
					       "block then\n"
					       "a = NonZero x\n"
					       "out a\n"
					       "end\n"
					       "block else\n"
					       "n = Neg x\n"
					       "b = NonZero n\n"
					       "out b\n"
					       "end\n"
					       "y = If c then_branch=@then "
					       "else_branch=@else\n"
					       "out y\n",
					       NULL);
	struct sl_memory_use *use;
	struct sl_error err;

	(void)state;
	if (sl_measure_memory(&use, g->graph, &plain, &err))
		fail_msg("%s", err.text);
	assert_non_null(use->unplanned);
	assert_string_equal(use->tracked_bytes.absent, use->unplanned);
	assert_int_equal(use->n_timeline, 0);
	assert_true(isnan(use->efficiency));
	sl_memory_use_free(use);
	graph_text_free(g);
}

static struct sl_memory_use *
measured(const char *name)
{
	struct sl_memory_use *use;
	struct sl_graph *graph;
	struct sl_error err;

	assert_int_equal(sl_graph_open(&graph, name, NULL, NULL), SL_OK);
	if (sl_measure_memory(&use, graph, &plain, &err))
		fail_msg("%s", err.text);
	sl_graph_free(graph);
	return use;
}

static void
what_ran_before_does_not_matter(void **state)
{
	static const char small[] = "mlp:784-2048-1024-10";
	struct sl_memory_use *first = measured(small), *between, *again;

	(void)state;
	between = measured("resnet18");
	again = measured(small);
	assert_null(first->touched_bytes.absent);
	assert_null(again->touched_bytes.absent);
	assert_null(again->impossible);
	assert_near(again->touched_bytes.value, first->touched_bytes.value,
		    1.0 * MIB);
	assert_int_equal(again->planned_bytes, first->planned_bytes);
	assert_int_equal(again->packed_bytes, first->packed_bytes);
	assert_int_equal(again->mapped_bytes, first->mapped_bytes);
	assert_true(between->touched_bytes.value > 40.0 * MIB);
	sl_memory_use_free(first);
	sl_memory_use_free(between);
	sl_memory_use_free(again);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_ran_before_does_not_matter),
		cmocka_unit_test(workspace_may_stay_untouched),
		cmocka_unit_test(growth_is_not_negative),
		cmocka_unit_test(the_peak_has_its_moment),
		cmocka_unit_test(the_plan_stands_in_for_the_tracker),
		cmocka_unit_test(what_lies_outside_the_plan_is_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
