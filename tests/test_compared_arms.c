/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_compared_arms.c - arms that are the same run in the same way, whatever
 * each would have chosen; and where they do not, no difference is claimed.
 */
#include "choice_folder.h"
#include "graph_text.h"
#include "needs_dnnl.h"
#include "driver/compared_arms.h"
#include "engine/dnnl_choice.h"
#include "engine/dnnl_primitive_desc.h"

#define HEAD                               \
	"opset 13\n"                       \
	"in x f32 1,64,28,28\n"            \
	"const w f32 64,64,3,3 = random\n" \
	"const v f32 64,64,1,1 = random\n" \
	"a = Conv x w pads=[1,1,1,1]\n"    \
	"b = Relu a\n"                     \
	"c = Conv b w pads=[1,1,1,1]\n"    \
	"d = Relu c\n"

static const char chain[] = HEAD "z = Conv d v\n"
				 "out z\n";
/* The last layer does more. */
static const char planted[] = HEAD "z = Conv d w pads=[1,1,1,1]\n"
				   "out z\n";

/* A machine on which nobody else uses the CPUs: no choice is doubtful. */
static struct sl__system_times still_now;

static void
read_nothing(struct sl__covariates *now, void *ctx)
{
	(void)ctx;
	memset(now, 0, sizeof(*now));
}

static int
read_still(struct sl__system_times *now, void *ctx)
{
	(void)ctx;
	still_now.total += 1000000;
	still_now.idle += 1000000;
	*now = still_now;
	return 1;
}

static const struct sl__monitor_source still = {read_nothing, read_still, NULL};

static struct sl_plan_options
options_in(const struct folder *f)
{
	struct sl_plan_options how = {.struct_size = sizeof(how),
				      .n_threads = 1,
				      .cache_folder = f->path};

	return how;
}

/* The layout that a plan settles on by itself. */
static int
layout_alone(const struct graph_text *g, const struct folder *f)
{
	struct sl_plan_options how = options_in(f);
	struct sl_plan *plan;
	struct sl_error err;
	int layout;

	if (sl_plan_new(&plan, g->graph, &how, &err))
		fail_msg("%s", err.text);
	layout = plan->current->image_layout;
	sl_plan_free(plan);
	return layout;
}

static struct sl__choices *
table_of(const struct folder *f)
{
	struct sl_plan_options how = options_in(f);
	struct sl__choices *table;
	struct sl_error err;

	if (sl__choices_new(&table, &how, &err))
		fail_msg("%s", err.text);
	return table;
}

static size_t
n_rows(const struct folder *f)
{
	struct sl__choices *table = table_of(f);
	size_t n = table->n;

	sl__choices_free(table);
	return n;
}

/* Rows from number 'first' on whose key has the words get other values. */
static void
forge(const struct folder *f, size_t first, const char *words,
      void (*change)(struct sl__choice *row))
{
	struct sl__choices *table = table_of(f);
	struct sl_error err;
	size_t n = 0;

	for (size_t i = first; i < table->n; i++) {
		struct sl__choice row = table->rows[i];

		if (!strstr(table->keys[i], words) ||
		    row.elapsed_ns == UINT64_MAX)
			continue;
		change(&row);
		assert_int_equal(
			sl__choices_put(table, table->keys[i], &row, &err), 0);
		n++;
	}
	assert_true(n > 0);
	sl__choices_save(table);
	sl__choices_free(table);
}

static void
make_slow(struct sl__choice *row)
{
	row->elapsed_ns = 1000000000;
}

static void
use_winograd(struct sl__choice *row)
{
	row->is_own = row->is_winograd = 1;
	row->is_plain = 0;
	snprintf(row->kernel, sizeof(row->kernel), "own_winograd");
}

static void
use_direct(struct sl__choice *row)
{
	row->is_own = 1;
	row->is_winograd = row->is_plain = 0;
	snprintf(row->kernel, sizeof(row->kernel), "own_conv");
}

/* By itself, B would have its images lie elsewise: its own layer is said to be
 * slow in the layout of A. */
static void
an_arm_follows_the_first(void **state)
{
	struct sl_model_comparison_options how = {.struct_size = sizeof(how),
						  .seed = 1};
	struct sl_plan_options plan;
	struct sl_model_arm arms[2];
	struct sl__compared_arms made = {0};
	struct graph_text *a, *b;
	struct sl_error err;
	struct folder f;
	size_t n_known, n_renewed;
	char words[64];
	int layout;

	(void)state;
	needs_dnnl();
	sl__choices_monitor_source = &still;
	folder_new(&f);
	plan = options_in(&f);
	a = graph_text_with(chain, NULL);
	b = graph_text_with(planted, NULL);
	layout = layout_alone(a, &f);
	n_known = n_rows(&f);
	(void)layout_alone(b, &f);
	snprintf(words, sizeof(words), " %s ",
		 sl__image_layout_text((enum sl__image_layout)layout));
	forge(&f, n_known, words, make_slow);
	assert_int_not_equal(layout_alone(b, &f), layout);
	arms[0] = (struct sl_model_arm){.graph = a->graph, .plan = &plan};
	arms[1] = (struct sl_model_arm){.graph = b->graph, .plan = &plan};
	if (sl__compared_arms_open(&made, arms, 2, &how, &err))
		fail_msg("%s", err.text);
	for (int i = 0; i < 2; i++)
		assert_int_equal(made.subjects[i]->plan->current->image_layout,
				 layout);
	/* What is made again is made likewise. */
	if (sl__compared_arms_renew(&made, &n_renewed, &err))
		fail_msg("%s", err.text);
	assert_int_equal(n_renewed, 2);
	sl__compared_arms_close(&made);
	sl__choices_monitor_source = NULL;
	graph_text_free(a);
	graph_text_free(b);
	folder_free(&f);
}

/* Arms that remember different things cannot follow each other. */
static void
a_difference_of_choices_is_not_claimed(void **state)
{
	struct sl_model_comparison_options how = {.struct_size = sizeof(how),
						  .time_s = 1};
	struct sl_plan_options plans[2];
	struct sl_model_arm arms[2];
	struct sl_model_comparison *v;
	const struct sl_arm_comparison *p;
	struct graph_text *g;
	struct sl_error err;
	struct folder f[2];

	(void)state;
	needs_dnnl();
	sl__choices_monitor_source = &still;
	g = graph_text_with(chain, NULL);
	for (int i = 0; i < 2; i++) {
		folder_new(&f[i]);
		plans[i] = options_in(&f[i]);
		(void)layout_alone(g, &f[i]);
		forge(&f[i], 0, " kernel 3x3", i ? use_direct : use_winograd);
		arms[i] = (struct sl_model_arm){.graph = g->graph,
						.plan = &plans[i]};
	}
	if (sl_compare_models(&v, arms, 2, &how, &err))
		fail_msg("%s", err.text);
	p = &v->pairs[0];
	assert_true(p->n_other_kernels >= 1);
	assert_int_not_equal(p->comparison.verdict, SL_VERDICT_SLOWER);
	assert_int_not_equal(p->comparison.verdict, SL_VERDICT_FASTER);
	assert_int_not_equal(p->comparison.gate, SL_GATE_REGRESSED);
	assert_int_not_equal(p->wall_verdict, SL_VERDICT_SLOWER);
	assert_int_not_equal(p->cpu.verdict, SL_VERDICT_SLOWER);
	assert_int_equal(p->n_named, 0);
	print_message("ratio %.3f, ln E %.1f\n", p->comparison.ratio.value,
		      p->log_e);
	sl_model_comparison_free(v);
	sl__choices_monitor_source = NULL;
	graph_text_free(g);
	for (int i = 0; i < 2; i++)
		folder_free(&f[i]);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_arm_follows_the_first),
		cmocka_unit_test(a_difference_of_choices_is_not_claimed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
