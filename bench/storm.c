/* SPDX-License-Identifier: Apache-2.0 */
/*
 * storm.c - writes a model of many small operations, for profilers.
 *
 *	usage: bench_storm FILE.onnx OPERATIONS ELEMENTS
 *
 * A chain of Relu, Neg, Abs and Sigmoid in turn on a vector.
 */
#include "sleuth.h"

#include <stdio.h>
#include <stdlib.h>

int
main(int argc, char **argv)
{
	static const char *const types[] = {"Relu", "Neg", "Abs", "Sigmoid"};
	struct sl_builder *b;
	struct sl_graph *graph = NULL;
	struct sl_error err;
	long n_operations = argc == 4 ? atol(argv[2]) : 0;
	int64_t n_elements = argc == 4 ? atol(argv[3]) : 0;
	int x;

	if (n_operations < 1 || n_elements < 1) {
		fprintf(stderr, "usage: bench_storm FILE.onnx OPERATIONS "
				"ELEMENTS\n");
		return 64;
	}
	if (sl_builder_new(&b, "storm", NULL, &err)) {
		fprintf(stderr, "bench_storm: %s\n", err.text);
		return 1;
	}
	x = sl_builder_input(b, "x", SL_DTYPE_F32, 1, &n_elements);
	for (long i = 0; i < n_operations; i++)
		x = sl_builder_op(b, types[i % 4], 1, &x);
	sl_builder_output(b, x, "y");
	if (sl_builder_finish(&graph, b, &err) ||
	    sl_graph_write(graph, argv[1], &err)) {
		fprintf(stderr, "bench_storm: %s\n", err.text);
		return 1;
	}
	sl_graph_free(graph);
	sl_builder_free(b);
	return 0;
}
