/* SPDX-License-Identifier: Apache-2.0 */
/*
 * 6_profile_model.c - where does the time of a model go?
 *
 * usage: 6_profile_model [MODEL]
 *
 * MODEL is an ONNX file or a built-in model; without it LeNet-5.  It is run
 * for a second, the five operations that take longest are printed, and what
 * kind of work takes how much of the time.  Then hooks of our own, which are
 * called around every step of a plan, add up what the steps touch.
 */
#include <sleuth.h>

#include <math.h>
#include <stdio.h>

enum { SHOWN = 5 };

/* Where each run's time went: all of it is accounted for. */
static void
print_accounting(const struct sl_profile *p)
{
	const struct sl_ledger *time = &p->ledger;

	printf("%s: %.4g ms an inference (median of %zu), %d threads\n",
	       p->name, p->latency.median.value / 1e6, p->latency.median.n,
	       p->n_threads);
	printf("operations %.1f %%, gaps %.1f %%, recording %.1f %%, "
	       "unattributed %.1f %%\n",
	       100 * time->operations_ns / time->wall_ns,
	       100 * time->gaps_ns / time->wall_ns, 100 * time->overhead_share,
	       100 * time->residual_share);
}

static void
print_operations(const struct sl_profile *p)
{
	const struct sl_operation *top[SHOWN];
	size_t n = sl_top_operations(p, SHOWN, top);

	for (size_t i = 0; i < n; i++) {
		printf("  %-24.24s %-12.12s %9.4g us %5.1f %%", top[i]->name,
		       top[i]->type, top[i]->self_ns / 1e3,
		       100 * top[i]->share);
		/* What multiplies nothing, as a pooling, has no such rate: NaN. */
		if (top[i]->flops_per_s > 0)
			printf(" %8.3g GFLOP/s", top[i]->flops_per_s / 1e9);
		printf("\n");
	}
	printf("%zu of %zu operations take 80 %% of the time\n", p->n_for_80,
	       p->n_operations);
	for (size_t i = 0; i < p->n_parts; i++)
		printf("  %-24s %5.1f %%\n", p->by_part[i].name,
		       100 * p->by_part[i].share);
}

static enum sl_status
profile(const struct sl_graph *graph, struct sl_error *err)
{
	struct sl_profile_options how = SL_PROFILE_OPTIONS_INIT;
	struct sl_profile *p;
	enum sl_status rc;

	how.time_s = 1;
	how.flags = SL_PROFILE_BRIEF; /* no experiments */
	rc = sl_profile_forward(&p, graph, &how, err);
	if (rc)
		return rc;
	print_accounting(p);
	print_operations(p);
	sl_profile_free(p);
	return SL_OK;
}

/* What a tool of one's own might gather. */
struct observer {
	size_t n_steps;
	double n_bytes;
};

static void
before_step(const struct sl_plan *plan, size_t step, void *ctx)
{
	struct observer *w = ctx;
	struct sl_step s;

	if (sl_plan_step(plan, step, &s))
		w->n_bytes += (double)s.n_bytes;
}

static void
after_step(const struct sl_plan *plan, size_t step, void *ctx)
{
	struct observer *w = ctx;

	(void)plan;
	(void)step;
	w->n_steps++;
}

static enum sl_status
watch(const struct sl_graph *graph, struct sl_error *err)
{
	struct observer w = {0};
	const struct sl_hooks hooks = {before_step, after_step, &w};
	struct sl_plan *plan;
	enum sl_status rc = sl_plan_new(&plan, graph, NULL, err);

	if (rc)
		return rc;
	sl_plan_set_hooks(plan, &hooks);
	rc = sl_plan_fill_inputs(plan, 1, err);
	if (!rc)
		rc = sl_plan_run(plan, err);
	if (!rc)
		printf("hooks saw %zu steps that touch %.3g MB\n", w.n_steps,
		       w.n_bytes / 1e6);
	sl_plan_free(plan);
	return rc;
}

int
main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "lenet5";
	struct sl_graph *graph = NULL;
	struct sl_error err = {0};
	enum sl_status rc = sl_graph_open(&graph, name, NULL, &err);

	if (!rc)
		rc = profile(graph, &err);
	if (!rc)
		rc = watch(graph, &err);
	if (rc)
		fprintf(stderr, "%s: %s\n", name,
			*err.text ? err.text : sl_status_text(rc));
	sl_graph_free(graph);
	return rc ? 1 : 0;
}
