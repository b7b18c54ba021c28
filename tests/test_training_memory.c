/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_training_memory.c - what a training step needs: the most bytes of tensors
 * that the plan predicts are those that the tracker finds alive, to the byte,
 * whatever the model, the optimizer, micro-batches and recomputation; the
 * optimizer's state is 4 or 8 bytes a parameter; and what the process touches is
 * within 5 % of what was predicted.
 */
#include "dnnl_memory.h"
#include "harness.h"
#include "needs_dnnl.h"
#include "sleuth.h"

#include <math.h>

enum { MIB = 1 << 20 };

struct setting {
	const char *model;
	int64_t batch;
	enum sl_optimizer optimizer;
	uint64_t n_micro;
	int64_t n_segments;
	double max_norm;
};

static struct sl_profile *
profiled(const struct setting *s)
{
	struct sl_profile_options how = SL_PROFILE_OPTIONS_INIT;
	struct sl_training_options training = SL_TRAINING_OPTIONS_INIT;
	struct sl_plan_options plan = SL_PLAN_OPTIONS_INIT;
	struct sl_sizes sizes = SL_SIZES_INIT;
	struct sl_graph *graph;
	struct sl_profile *p;
	struct sl_error err;

	sizes.batch = s->batch;
	plan.sizes = &sizes;
	plan.n_threads = 1;
	plan.algorithms = SL_ALGORITHMS_FIXED;
	plan.flags = SL_PLAN_NO_CACHE;
	how.plan = &plan;
	how.flags = SL_PROFILE_BRIEF;
	how.n_runs = 3;
	how.time_s = 3600; /* the tracker takes what it needs */
	training.optimizer = s->optimizer;
	training.n_micro_batches = s->n_micro;
	training.n_segments = s->n_segments;
	training.max_norm = s->max_norm;
	if (sl_graph_open(&graph, s->model, NULL, &err) ||
	    sl_profile_training(&p, graph, &training, &how, &err))
		fail_msg("%s: %s", s->model, err.text);
	sl_graph_free(graph);
	return p;
}

static void
test_predicted_is_tracked(void **state)
{
	static const struct setting settings[] = {
		{"mlp:64-48-32-10", 16, SL_OPTIMIZER_SGD, 1, 0, 0},
		{"mlp:64-48-32-10", 16, SL_OPTIMIZER_ADAMW, 1, 0, 0},
		{"mlp:64-48-32-10", 16, SL_OPTIMIZER_ADAM, 1, 0, 1},
		{"mlp:64-48-32-10", 8, SL_OPTIMIZER_MOMENTUM, 3, 0, 0},
		{"mlp:64-64-64-64-10", 32, SL_OPTIMIZER_ADAM, 1, 3, 0},
		{"digits-cnn", 8, SL_OPTIMIZER_ADAM, 1, 0, 0},
		{"digits-transformer", 4, SL_OPTIMIZER_ADAMW, 1, 0, 0},
		{"gpt:2,32,2,64,128", 2, SL_OPTIMIZER_ADAMW, 1, 0, 0},
		{"lenet5", 4, SL_OPTIMIZER_MOMENTUM, 1, 0, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(settings) / sizeof(*settings); i++) {
		struct sl_profile *p = profiled(&settings[i]);
		const struct sl_training_profile *t = p->training;
		const struct sl_memory_use *m = &p->memory;

		if (m->tracked_bytes.absent)
			fail_msg("%s: %s", settings[i].model,
				 m->tracked_bytes.absent);
		if (m->tracked_bytes.value != (double)m->live_bytes)
			fail_msg("%s: %.0f bytes tracked, %llu predicted",
				 settings[i].model, m->tracked_bytes.value,
				 (unsigned long long)m->live_bytes);
		assert_int_equal(t->gradients_bytes, t->parameters_bytes);
		assert_int_equal(t->optimizer_bytes[SL_OPTIMIZER_SGD], 0);
		assert_int_equal(t->optimizer_bytes[SL_OPTIMIZER_MOMENTUM],
				 t->parameters_bytes);
		assert_int_equal(t->optimizer_bytes[SL_OPTIMIZER_ADAM],
				 2 * t->parameters_bytes);
		assert_int_equal(t->optimizer_bytes[SL_OPTIMIZER_ADAMW],
				 2 * t->parameters_bytes);
		sl_profile_free(p);
	}
}

/* Parameters, two moments and a gradient of 8.4 million numbers. */
static void
test_touched_is_predicted(void **state)
{
	static const struct setting large = {
		"mlp:2048-2048-2048-10", 4, SL_OPTIMIZER_ADAM, 1, 0, 0};
	struct sl_profile *p;
	const struct sl_memory_use *m;

	(void)state;
	needs_dnnl(); /* reference kernels take memory as they run */
	p = profiled(&large);
	m = &p->memory;
	assert_int_equal(p->training->parameters_bytes,
			 4 * (2 * (2048 * 2048 + 2048) + 2048 * 10 + 10));
	if (isnan(m->predicted_bytes)) /* as under a sanitizer */
		print_message("malloc keeps no records, nothing is "
			      "predicted\n");
	assert_true(isnan(m->predicted_bytes) ||
		    m->predicted_bytes > 100.0 * MIB);
	if (KERNELS_KEEP_MEMORY)
		assert_true(m->touched_bytes.value >=
			    0.95 * m->predicted_bytes);
	else if (fabs(m->touched_bytes.value - m->predicted_bytes) >
		 0.05 * m->predicted_bytes)
		fail_msg("%.0f bytes touched, %.0f predicted",
			 m->touched_bytes.value, m->predicted_bytes);
	sl_profile_free(p);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_touched_is_predicted),
		cmocka_unit_test(test_predicted_is_tracked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
