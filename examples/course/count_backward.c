/* SPDX-License-Identifier: Apache-2.0 */
/* count_backward.c - what a training step computes and holds, beside the
 * forward pass. */
#include <sleuth.h>

#include <stdio.h>

int
main(void)
{
	struct sl_graph *graph = NULL;
	struct sl_inspection *seen = NULL;
	struct sl_error err;
	int failed;

	failed = sl_graph_open(&graph, "mlp:784-256-128-10", NULL, &err) ||
		 sl_inspect(&seen, graph, NULL, &err);
	if (failed)
		fprintf(stderr, "%s\n", err.text);
	else
		printf("forward %llu FLOPs, backward %llu (%.2f x), gradients "
		       "%.2f MB, Adam's state %.2f MB\n",
		       (unsigned long long)seen->training.forward_flops,
		       (unsigned long long)seen->training.backward_flops,
		       seen->training.backward_to_forward,
		       (double)seen->training.gradient_bytes / 1e6,
		       (double)seen->training
				       .optimizer_bytes[SL_OPTIMIZER_ADAM] /
			       1e6);
	sl_inspection_free(seen);
	sl_graph_free(graph);
	return failed;
}
