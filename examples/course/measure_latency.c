/* SPDX-License-Identifier: Apache-2.0 */
/* measure_latency.c - how long does a model take? */
#include <sleuth.h>

#include <stdio.h>

int
main(void)
{
	struct sl_measure_options how = SL_MEASURE_OPTIONS_INIT;
	struct sl_graph *graph = NULL;
	struct sl_plan *plan = NULL;
	struct sl_measurement *m = NULL;
	struct sl_error err;
	int failed;

	how.n_warmup = 10;
	how.n_runs = 100;
	failed = sl_graph_open(&graph, "lenet5", NULL, &err) ||
		 sl_plan_new(&plan, graph, NULL, &err) ||
		 sl_plan_fill_inputs(plan, 1, &err) ||
		 sl_measure_latency(&m, plan, &how, &err);
	if (failed)
		fprintf(stderr, "%s\n", err.text);
	else
		printf("median %.4f ms, %zu runs\n", m->wall.median.value / 1e6,
		       m->wall.n);
	sl_measurement_free(m);
	sl_plan_free(plan);
	sl_graph_free(graph);
	return failed;
}
