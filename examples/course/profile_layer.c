/* SPDX-License-Identifier: Apache-2.0 */
/* profile_layer.c - one layer of a model, alone and where it stands. */
#include <sleuth.h>

#include <stdio.h>

int
main(void)
{
	struct sl_profile_options how = SL_PROFILE_OPTIONS_INIT;
	struct sl_graph *graph = NULL;
	struct sl_layer_profile *p = NULL;
	struct sl_error err;
	int failed;

	how.time_s = 0.2;
	how.flags = SL_PROFILE_BRIEF;
	failed = sl_graph_open(&graph, "lenet5", NULL, &err) ||
		 sl_profile_layer(&p, graph, "conv2", &how, &err);
	if (failed)
		fprintf(stderr, "%s\n", err.text);
	else
		printf("conv2: %.2f us in the model, %.2f us alone, %llu "
		       "parameters, %llu FLOPs\n",
		       p->context_ns.value / 1e3, p->alone_ns.value / 1e3,
		       (unsigned long long)
			       p->alone->model->parameters.trainable,
		       (unsigned long long)p->alone->model->flops);
	sl_layer_profile_free(p);
	sl_graph_free(graph);
	return failed;
}
