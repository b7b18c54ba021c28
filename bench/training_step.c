/* SPDX-License-Identifier: Apache-2.0 */
/*
 * training_step.c - a model that makes a training step when it is told to, for
 * comparisons.
 *
 * usage: bench_training_step MODEL INPUTS THREADS
 *
 * Plans training steps of MODEL with AdamW, takes its inputs and the labels
 * (target.npy) from the folder INPUTS, makes one step and says how long all
 * that took and what the loss was; then reads lines "run N" and answers each
 * with N times in nanoseconds.
 */
#include "engine/training_plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const double RATE = 1e-4;

static double
now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int
fail(const struct sl_error *err)
{
	fprintf(stderr, "bench_training_step: %s\n", err->text);
	return 1;
}

static enum sl_status
load_inputs(struct sl__training_plan *p, const struct sl_graph *model,
	    const char *folder, struct sl_error *err)
{
	enum sl_status rc = SL_OK;
	char path[4096];

	for (size_t i = 0; !rc && i < sl_graph_n_inputs(model); i++) {
		const char *name =
			sl_graph_value_name(model, sl_graph_input(model, i));

		snprintf(path, sizeof(path), "%s/%s.npy", folder, name);
		rc = sl_plan_load_input(p->plan, name, path, err);
	}
	snprintf(path, sizeof(path), "%s/target.npy", folder);
	if (!rc)
		rc = sl_plan_load_input(
			p->plan,
			p->training->graph->values[p->training->target].name,
			path, err);
	return rc;
}

static int
serve(struct sl__training_plan *p, struct sl_error *err)
{
	char line[64];

	while (fgets(line, sizeof(line), stdin)) {
		int n = strncmp(line, "run ", 4) ? 0 : atoi(line + 4);

		for (int i = 0; i < n; i++) {
			double start = now_ns();

			if (sl__training_plan_step(p, RATE, NULL, NULL, err))
				return fail(err);
			printf("%.0f ", now_ns() - start);
		}
		printf("\n");
		fflush(stdout);
	}
	return 0;
}

int
main(int argc, char **argv)
{
	struct sl_plan_options how = {.struct_size = sizeof(how)};
	struct sl__training_options training = {.optimizer = SL_OPTIMIZER_ADAMW,
						.weight_decay = 0.01};
	struct sl__training_plan *p;
	struct sl_graph *model;
	struct sl_error err = {0};
	double start = now_ns(), loss;
	int code;

	if (argc != 4) {
		fprintf(stderr,
			"usage: bench_training_step MODEL INPUTS THREADS\n");
		return 64;
	}
	how.n_threads = atoi(argv[3]);
	if (sl_graph_open(&model, argv[1], NULL, &err) ||
	    sl__training_plan_new(&p, model, NULL, &training, &how, &err) ||
	    load_inputs(p, model, argv[2], &err) ||
	    sl__training_plan_step(p, RATE, &loss, NULL, &err))
		return fail(&err);
	printf("first %.0f %.9g\n", now_ns() - start, loss);
	fflush(stdout);
	code = serve(p, &err);
	sl__training_plan_free(p);
	sl_graph_free(model);
	return code;
}
