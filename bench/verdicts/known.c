/* SPDX-License-Identifier: Apache-2.0 */
/*
 * known.c - models whose bottleneck is known, profiled.
 *
 * usage: bench_planted --list | --list-held-out | --list-brief
 *        bench_planted CASE [SEED [RECORDS]]
 *
 * Builds the model of a case, profiles it, and writes one line: what was
 * expected, what was found, and how sure that is; "-" where the whole model's
 * answer is not known.  What the experiments measured of a typical operation is added to the file RECORDS, one line, for
 * tests/test_recorded_verdicts.c.
 */
#include "planted_case.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The bound that most of the time has; UNKNOWN where that is it. */
static enum sl_bound
most_of(const struct sl_finding *f)
{
	int best = 0;

	for (int b = 1; b < SL_N_BOUNDS; b++) {
		if (f->shares[b] > f->shares[best])
			best = b;
	}
	return (enum sl_bound)best;
}

static const char *
answer(const struct planted *c, const struct sl_profile *p)
{
	const struct sl_operation *top;

	if (c->asks == ASKS_BOUND)
		return sl_bound_text(most_of(&p->verdict));
	if (c->asks == ASKS_PEAK) {
		if (!p->memory.n_timeline)
			return "unknown";
		top = &p->operations[p->memory.peak_operation];
		return strstr(top->name, "spike") ? "named" : "other";
	}
	top = &p->operations[p->by_time[0]];
	return strstr(top->name, "slow") ? "named" : "other";
}

static void
print_facts(char sign, const struct sl_fact *facts, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct sl_buf text = {0};

		if (!sl_fact_text(&facts[i], &text, NULL))
			printf("  %c %s\n", sign, text.data);
		sl_buf_release(&text);
	}
}

/* Of the CPUs, while it was measured; 0: not known. */
static double
others_share(const struct sl_profile *p)
{
	const struct sl_noise *noise = &p->noise;
	double share = isnan(p->others_share) ? 0 : p->others_share;

	if (noise->neighbour_share.absent)
		return share;
	return fmax(share, noise->neighbour_share.value +
				   (noise->steal_share.absent
					    ? 0
					    : noise->steal_share.value));
}

static void
print_answer(const struct planted *c, const struct sl_profile *p)
{
	const struct sl_operation *top = &p->operations[p->by_time[0]];

	printf("%s %s %s %s %s %.2f %.2f %s %.3f\n", c->name,
	       c->asks == ASKS_BOUND ? sl_bound_text(c->bound) : "named",
	       answer(c, p), c->verdict ? sl_bottleneck_text(c->verdict) : "-",
	       sl_bottleneck_text(p->verdict.bottleneck), p->verdict.confidence,
	       p->elapsed_s, p->ledger.is_closed ? "closed" : "open",
	       others_share(p));
	print_facts('+', top->judgement.evidence, top->judgement.n_evidence);
	print_facts('-', top->judgement.against, top->judgement.n_against);
	print_facts('=', p->verdict.evidence, p->verdict.n_evidence);
}

static void
write_levels(FILE *f, const struct sl_ceilings *ceilings)
{
	static const enum sl_level memories[] = {SL_LEVEL_L2, SL_LEVEL_L3,
						 SL_LEVEL_DRAM};

	for (int k = 0; k < 3; k++) {
		double rate = (double)NAN, size = (double)NAN;

		for (size_t i = 0; i < ceilings->n_levels; i++) {
			if (ceilings->levels[i].level != memories[k])
				continue;
			rate = ceilings->levels[i].bytes_per_s.value;
			size = (double)ceilings->levels[i].size_bytes;
		}
		fprintf(f, " %.4g %.6g", rate, size);
	}
}

/* The columns of tests/data/verdicts.txt. */
static void
record(FILE *f, const struct planted *c, const struct sl_profile *p,
       const struct sl_operation *op)
{
	fprintf(f, "%s %s %s %d %d %zu %.5g %.5g %.6g %.6g %.4g %.4g", c->name,
		sl_bound_text(c->bound), sl_bound_text(op->judgement.bound),
		op->path == SL_PATH_REFERENCE || op->path == SL_PATH_STEPWISE,
		op->response && op->response->is_same_alone,
		p->ceilings.n_threads, op->median_ns.value, op->min_ns,
		(double)op->executed_flops, (double)op->n_bytes,
		p->ceilings.flops_per_s.value, p->ceilings.step_ns.value);
	write_levels(f, &p->ceilings);
	for (int k = 0; k < SL_N_CONDITIONS; k++)
		fprintf(f, " %.5g %.3g",
			op->response ? op->response->at[k].ns : (double)NAN,
			op->response ? op->response->at[k].spread
				     : (double)NAN);
	fprintf(f, " %.4g %.4g %.4g %.4g %.3g", p->hog.dram, p->hog.l3,
		p->hog.l2, p->hog.compute, p->others_share);
	fprintf(f, " %.6g %.6g %.6g %.6g\n",
		op->response ? op->response->doubled_flops : (double)NAN,
		op->response ? op->response->doubled_bytes : (double)NAN,
		(double)op->core_flops,
		op->response ? op->response->n_dependent : 1);
}

/* One that is typical: the longest where it prevails, else the middle one of
 * those that were experimented on. */
static int
write_record(const char *path, const struct planted *c,
	     const struct sl_profile *p)
{
	const struct sl_operation *op = &p->operations[p->by_time[0]];
	FILE *f;

	if (c->asks != ASKS_BOUND)
		return 0;
	f = fopen(path, "a");
	if (!f) {
		perror(path);
		return 1;
	}
	if (op->share < 0.3)
		op = &p->operations[p->by_time[p->n_hot / 2]];
	record(f, c, p, op);
	return fclose(f) ? 1 : 0;
}

/* The caches of all threads as they were found, from ceilings of a tiny
 * model. */
static enum sl_status
find_caches(const struct planted *c, double *bytes, int *n_threads,
	    struct sl_error *err)
{
	struct sl_plan_options plan = {.struct_size = sizeof(plan),
				       .n_threads = c->n_threads};
	struct sl_profile_options how = {.struct_size = sizeof(how),
					 .plan = &plan,
					 .time_s = 0.1,
					 .flags = SL_PROFILE_NO_ABLATION |
						  SL_PROFILE_NO_DIAGNOSIS};
	struct sl_graph *graph = NULL;
	struct sl_profile *p = NULL;
	enum sl_status rc = sl_graph_open(&graph, "mlp:8-8", NULL, err);

	if (!rc)
		rc = sl_profile_forward(&p, graph, &how, err);
	for (size_t i = 0; !rc && i < p->ceilings.n_levels; i++) {
		const struct sl_ceiling_level *l = &p->ceilings.levels[i];
		double all = (double)(l->size_bytes * p->ceilings.n_threads);

		if (l->level == SL_LEVEL_L2)
			bytes[UNIT_L2] = all;
		if (l->level == SL_LEVEL_L3)
			bytes[UNIT_L3] = all;
	}
	if (!rc)
		*n_threads = p->n_threads;
	sl_profile_free(p);
	sl_graph_free(graph);
	return rc;
}

static enum sl_status
profile(const struct planted *c, uint64_t seed, struct sl_profile **out,
	struct sl_error *err)
{
	double bytes[] = {[UNIT_ONE] = 1, [UNIT_L2] = 0, [UNIT_L3] = 0};
	int n_threads = 1;
	struct sl_plan_options plan = {.struct_size = sizeof(plan),
				       .n_threads = c->n_threads,
				       .dtype = c->dtype,
				       .flags = c->flags};
	struct sl_profile_options how = {.struct_size = sizeof(how),
					 .plan = &plan,
					 .seed = seed,
					 .time_s = 2,
					 .flags = SL_PROFILE_NO_ABLATION};
	struct sl_graph *graph = NULL;
	struct sl_builder *b;
	enum sl_status rc = find_caches(c, bytes, &n_threads, err);

	if (!rc)
		rc = sl_builder_new(&b, c->name, NULL, err);
	if (rc)
		return rc;
	c->build(b, (int64_t)(c->size * bytes[c->unit]), n_threads);
	rc = sl_builder_finish(&graph, b, err);
	if (!rc)
		rc = sl_profile_forward(out, graph, &how, err);
	sl_graph_free(graph);
	sl_builder_free(b);
	return rc;
}

static int
run(const struct planted *c, uint64_t seed, const char *records)
{
	struct sl_profile *p = NULL;
	struct sl_error err;
	int failed = 0;

	if (profile(c, seed, &p, &err)) {
		fprintf(stderr, "%s: %s\n", c->name, err.text);
		return 1;
	}
	print_answer(c, p);
	if (records)
		failed = write_record(records, c, p);
	sl_profile_free(p);
	return failed;
}

/* Lists cases, or runs the one of that name; -1: there is none. */
static int
find(const struct planted *cases, size_t n, char **argv, int argc)
{
	for (size_t i = 0; i < n; i++) {
		if (argv[1][0] == '-')
			printf("%s\n", cases[i].name);
		else if (!strcmp(argv[1], cases[i].name))
			return run(&cases[i],
				   argc > 2 ? strtoull(argv[2], NULL, 10) : 1,
				   argc > 3 ? argv[3] : NULL);
	}
	return argv[1][0] == '-' ? 0 : -1;
}

/* Of the suite, or of what is held out; a name is looked for in all. */
int
main(int argc, char **argv)
{
	const struct {
		const struct planted *cases;
		size_t n;
		const char *option;
	} lists[] = {{suite, n_suite, "--list"},
		     {suite_operators, n_suite_operators, "--list"},
		     {held_out, n_held_out, "--list-held-out"},
		     {held_out_later, n_held_out_later, "--list-held-out"},
		     {held_out_brief, n_held_out_brief, "--list-brief"}};
	int is_list = argc > 1 && argv[1][0] == '-', rc = -1;

	for (size_t i = 0; argc > 1 && i < sizeof(lists) / sizeof(lists[0]) &&
			   (is_list || rc < 0);
	     i++) {
		if (!is_list || !strcmp(argv[1], lists[i].option))
			rc = find(lists[i].cases, lists[i].n, argv, argc);
	}
	if (rc >= 0)
		return rc;
	fprintf(stderr,
		"usage: %s --list | --list-held-out | --list-brief | CASE "
		"[SEED [RECORDS]]\n",
		argv[0]);
	return 64;
}
