/* SPDX-License-Identifier: Apache-2.0 */
/*
 * 7_train_model.c - does a network that is only an idea yet learn, and what
 * are its gradients?
 *
 * A small classifier is put together from layers and takes ten training steps
 * on one synthetic batch.
 */
#include <sleuth.h>

#include <math.h>
#include <stdio.h>

static void
add_layers(struct sl_builder *b)
{
	int x = sl_builder_input(
		b, "pixels", SL_DTYPE_F32, 2,
		(int64_t[]){sl_builder_symbol(b, "batch", 32), 784});

	x = sl_builder_relu(b, sl_builder_linear(b, x, 128, 1));
	sl_builder_output(b, sl_builder_linear(b, x, 10, 1), "scores");
}

/* The largest element of each gradient, as the last step left it. */
static enum sl_status
print_gradients(struct sl_trainer *trainer, struct sl_error *err)
{
	const char *name;

	for (size_t i = 0;
	     (name = sl_trainer_parameter_name(trainer, i)) != NULL; i++) {
		struct sl_array gradient;
		enum sl_status rc =
			sl_trainer_gradient(trainer, name, &gradient, err);
		const float *g = gradient.data;
		float largest = 0;

		if (rc)
			return rc;
		for (uint64_t k = 0; k < gradient.n_elements; k++)
			largest = fabsf(g[k]) > largest ? fabsf(g[k]) : largest;
		printf("  %-20s gradient at most %.4g\n", name,
		       (double)largest);
	}
	return SL_OK;
}

static enum sl_status
train(const struct sl_graph *graph, struct sl_error *err)
{
	struct sl_training_options how = SL_TRAINING_OPTIONS_INIT;
	struct sl_trainer *trainer;
	double loss = 0;
	enum sl_status rc;

	how.optimizer = SL_OPTIMIZER_ADAMW;
	how.flags = SL_TRAINING_KEEP_GRADIENTS;
	rc = sl_trainer_open(&trainer, graph, &how, NULL, err);
	if (rc)
		return rc;
	for (int i = 1; !rc && i <= 10; i++) {
		rc = sl_train_step(trainer, &loss, err);
		if (!rc)
			printf("step %2d: loss %.4f\n", i, loss);
	}
	if (!rc)
		rc = print_gradients(trainer, err);
	sl_trainer_close(trainer);
	return rc;
}

int
main(void)
{
	struct sl_builder *b = NULL;
	struct sl_graph *graph = NULL;
	struct sl_error err = {0};
	enum sl_status rc = sl_builder_new(&b, "classifier", NULL, &err);

	if (!rc) {
		add_layers(b);
		rc = sl_builder_finish(&graph, b, &err);
	}
	if (!rc)
		rc = train(graph, &err);
	if (rc)
		fprintf(stderr, "%s\n",
			*err.text ? err.text : sl_status_text(rc));
	sl_graph_free(graph);
	sl_builder_free(b);
	return rc ? 1 : 0;
}
