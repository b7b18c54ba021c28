/* SPDX-License-Identifier: Apache-2.0 */
/* count_flops.c - how many parameters and FLOPs does a model have? */
#include <sleuth.h>

#include <stdio.h>

int
main(void)
{
	struct sl_graph *graph = NULL;
	struct sl_counts counts;
	struct sl_error err;

	if (sl_graph_open(&graph, "mlp:784-256-128-10", NULL, &err) ||
	    sl_count_flops(&counts, graph, NULL, &err)) {
		fprintf(stderr, "%s\n", err.text);
		sl_graph_free(graph);
		return 1;
	}
	printf("%llu parameters, %llu FLOPs, %llu with biases and Relu\n",
	       (unsigned long long)counts.parameters,
	       (unsigned long long)counts.flops,
	       (unsigned long long)counts.all_flops);
	sl_graph_free(graph);
	return 0;
}
