/* SPDX-License-Identifier: Apache-2.0 */
/* profile_forward.c - a model's forward pass: time, rates, memory and a
 * verdict. */
#include <sleuth.h>

#include <stdio.h>

int
main(void)
{
	struct sl_profile_options how = SL_PROFILE_OPTIONS_INIT;
	struct sl_graph *graph = NULL;
	struct sl_profile *p = NULL;
	struct sl_error err;
	int failed;

	how.time_s = 0.2;
	how.flags = SL_PROFILE_BRIEF; /* without it: bounds and advice too */
	failed = sl_graph_open(&graph, "lenet5", NULL, &err) ||
		 sl_profile_forward(&p, graph, &how, &err);
	if (failed)
		fprintf(stderr, "%s\n", err.text);
	else
		printf("%.4f ms, %.2f GFLOP/s, %.0f samples/s, %.2f MB, "
		       "verdict: %s\n",
		       p->latency.median.value / 1e6,
		       p->rates.flops_per_s / 1e9, p->rates.samples_per_s,
		       (double)p->memory.reserved_bytes / 1e6,
		       sl_bottleneck_text(p->verdict.bottleneck));
	sl_profile_free(p);
	sl_graph_free(graph);
	return failed;
}
