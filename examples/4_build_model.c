/* SPDX-License-Identifier: Apache-2.0 */
/*
 * 4_build_model.c - how big is a network that is only an idea yet?
 *
 * A small convolutional network is put together from layers and counted.
 * Nothing is trained, run or stored: weights are made when something reads
 * them.
 */
#include <sleuth.h>

#include <stdio.h>

/* Two convolutions with pooling, then a classifier of ten. */
static void
add_layers(struct sl_builder *b)
{
	const struct sl_conv2d first = {
		.out_channels = 16, .padding = 1, .has_bias = 1};
	const struct sl_conv2d second = {
		.out_channels = 32, .padding = 1, .has_bias = 1};
	int x = sl_builder_input(
		b, "image", SL_DTYPE_F32, 4,
		(int64_t[]){sl_builder_symbol(b, "batch", 1), 3, 32, 32});

	x = sl_builder_conv2d(b, x, &first);
	x = sl_builder_batch_norm(b, x);
	x = sl_builder_relu(b, x);
	x = sl_builder_max_pool(b, x, NULL);
	x = sl_builder_conv2d(b, x, &second);
	x = sl_builder_relu(b, x);
	x = sl_builder_global_average_pool(b, x);
	x = sl_builder_flatten(b, x);
	x = sl_builder_linear(b, x, 10, 1);
	sl_builder_output(b, x, "scores");
}

/* Each node with its cost and the shape of what it makes. */
static enum sl_status
list_nodes(const struct sl_graph *graph, const struct sl_sizes *sizes,
	   struct sl_error *err)
{
	struct sl_value_shape shape;
	struct sl_sized *sized;
	struct sl_cost cost;
	enum sl_status rc = sl_sized_new(&sized, graph, sizes, NULL, err);

	if (rc)
		return rc;
	for (size_t i = 0; i < sl_graph_n_nodes(graph); i++) {
		size_t result = sl_graph_node_output(graph, i, 0);

		if (!sl_sized_node_cost(sized, i, &cost, NULL) ||
		    !sl_sized_value(sized, result, &shape))
			continue;
		printf("%-20s %-20s %10llu MACs ", sl_graph_node_name(graph, i),
		       sl_graph_node_type(graph, i),
		       (unsigned long long)cost.macs);
		for (int d = 0; d < shape.rank; d++)
			printf("%s%lld", d ? "x" : " ",
			       (long long)shape.dims[d]);
		printf("\n");
	}
	sl_sized_free(sized);
	return SL_OK;
}

static enum sl_status
describe(const struct sl_graph *graph, struct sl_error *err)
{
	struct sl_sizes eight = SL_SIZES_INIT;
	struct sl_counts counts;
	uint64_t n_parameters;
	enum sl_status rc = sl_count_parameters(&n_parameters, graph, err);

	eight.batch = 8;
	if (!rc)
		rc = sl_count_flops(&counts, graph, &eight, err);
	if (!rc)
		rc = list_nodes(graph, &eight, err);
	if (rc)
		return rc;
	printf("%llu parameters, %llu FLOPs for an image, %llu for %lld\n",
	       (unsigned long long)n_parameters,
	       (unsigned long long)counts.flops_per_sample,
	       (unsigned long long)counts.flops, (long long)counts.batch);
	return SL_OK;
}

int
main(void)
{
	struct sl_builder *builder;
	struct sl_graph *graph = NULL;
	struct sl_error err;
	enum sl_status rc = sl_builder_new(&builder, "small", NULL, &err);

	if (!rc) {
		add_layers(builder);
		rc = sl_builder_finish(&graph, builder, &err);
	}
	if (!rc)
		rc = describe(graph, &err);
	if (rc)
		fprintf(stderr, "%s\n", err.text);
	sl_graph_free(graph);
	sl_builder_free(builder);
	return rc ? 1 : 0;
}
