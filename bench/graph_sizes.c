/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How reading and inspecting a model grows with its nodes: files of 6,250 to
 * 100,000 nodes (residual blocks of MatMul, Add, Relu, Add, with two
 * parameters each), opened and inspected in turn, as time a node.  A cost
 * linear in nodes shows as a flat column.
 */
#include <sleuth.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { N_SIZES = 5, ROUNDS = 7, LARGEST = 100000 };

static int
refuse(const char *what, const struct sl_error *err)
{
	fprintf(stderr, "bench_graph_sizes: %s: %s\n", what, err->text);
	return 1;
}

static enum sl_status
write_model(const char *path, int n_nodes, struct sl_error *err)
{
	struct sl_builder *b;
	struct sl_graph *graph;
	enum sl_status rc = sl_builder_new(&b, "blocks", NULL, err);
	int x;

	if (rc)
		return rc;
	x = sl_builder_input(
		b, "x", SL_DTYPE_F32, 3,
		(int64_t[]){sl_builder_symbol(b, "batch", 1), 4, 8});
	for (int i = 0; i < n_nodes / 4; i++) {
		char name[32];
		int pair[2] = {x, 0};

		snprintf(name, sizeof(name), "block%d", i);
		sl_builder_enter(b, name);
		pair[1] = sl_builder_linear(b, x, 8, 1);
		pair[1] = sl_builder_op(b, "Relu", 1, &pair[1]);
		x = sl_builder_op(b, "Add", 2, pair);
		sl_builder_leave(b);
	}
	sl_builder_output(b, x, "y");
	rc = sl_builder_finish(&graph, b, err);
	sl_builder_free(b);
	if (rc)
		return rc;
	rc = sl_graph_write(graph, path, err);
	sl_graph_free(graph);
	return rc;
}

/* One look at the model in a file; ctx is the path. */
static int
look(void *ctx)
{
	struct sl_inspection *inspection;
	struct sl_graph *graph;
	struct sl_error err;
	int failed;

	if (sl_graph_open(&graph, ctx, NULL, &err))
		return refuse(ctx, &err);
	failed = sl_inspect(&inspection, graph, NULL, &err) != SL_OK;
	if (failed)
		refuse(ctx, &err);
	else
		sl_inspection_free(inspection);
	sl_graph_free(graph);
	return failed;
}

static int
measure(char *path, int n_nodes)
{
	struct sl_measure_options how = {
		.struct_size = sizeof(how), .n_runs = ROUNDS, .n_warmup = 1};
	struct sl_measurement *m;
	struct sl_error err;

	if (sl_measure(&m, look, path, &how, &err))
		return refuse("measuring", &err);
	printf("%8d  %10.2f  %12.0f\n", n_nodes, m->wall.median.value / 1e6,
	       m->wall.median.value / n_nodes);
	sl_measurement_free(m);
	return 0;
}

int
main(void)
{
	char folder[] = "/tmp/sleuth-bench-XXXXXX", paths[N_SIZES][64];
	struct sl_error err;
	int failed = 0;

	if (!mkdtemp(folder)) {
		perror("bench_graph_sizes");
		return 1;
	}
	printf("   nodes   median ms    ns per node\n");
	for (int i = 0; !failed && i < N_SIZES; i++) {
		int n_nodes = LARGEST >> (N_SIZES - 1 - i);

		snprintf(paths[i], sizeof(paths[i]), "%s/%d.onnx", folder,
			 n_nodes);
		if (write_model(paths[i], n_nodes, &err))
			failed = refuse(paths[i], &err);
		else
			failed = measure(paths[i], n_nodes);
		unlink(paths[i]);
	}
	rmdir(folder);
	return failed;
}
