/* SPDX-License-Identifier: Apache-2.0 */
/*
 * 8_profile_training.c - where does the time of one training step go?
 *
 * A small classifier, put together from layers, is profiled as it trains:
 * forward pass, loss, backward pass and update by AdamW.
 */
#include <sleuth.h>

#include <stdio.h>

static enum sl_status
build(struct sl_graph **graph, struct sl_builder *b, struct sl_error *err)
{
	int x = sl_builder_input(
		b, "pixels", SL_DTYPE_F32, 2,
		(int64_t[]){sl_builder_symbol(b, "batch", 64), 784});

	x = sl_builder_relu(b, sl_builder_linear(b, x, 512, 1));
	sl_builder_output(b, sl_builder_linear(b, x, 10, 1), "scores");
	return sl_builder_finish(graph, b, err);
}

static enum sl_status
profile(const struct sl_graph *graph, struct sl_error *err)
{
	struct sl_training_options training = SL_TRAINING_OPTIONS_INIT;
	struct sl_profile_options how = SL_PROFILE_OPTIONS_INIT;
	struct sl_profile *p;
	enum sl_status rc;

	training.optimizer = SL_OPTIMIZER_ADAMW;
	how.flags = SL_PROFILE_BRIEF;
	how.time_s = 0.5;
	rc = sl_profile_training(&p, graph, &training, &how, err);
	if (rc)
		return rc;
	for (size_t k = 0; k < p->training->n_phases; k++)
		printf("%-9s %8.3f ms, %5.1f %%\n",
		       sl_phase_text(p->training->phases[k].phase),
		       p->training->phases[k].ns.value / 1e6,
		       100 * p->training->phases[k].share);
	printf("a step takes %.3f ms, backward %.2f x forward\n",
	       p->training->step_ns / 1e6, p->training->backward_to_forward);
	sl_profile_free(p);
	return SL_OK;
}

int
main(void)
{
	struct sl_builder *b = NULL;
	struct sl_graph *graph = NULL;
	struct sl_error err = {0};
	enum sl_status rc = sl_builder_new(&b, "classifier", NULL, &err);

	if (!rc)
		rc = build(&graph, b, &err);
	if (!rc)
		rc = profile(graph, &err);
	if (rc)
		fprintf(stderr, "%s\n",
			*err.text ? err.text : sl_status_text(rc));
	sl_graph_free(graph);
	sl_builder_free(b);
	return rc ? 1 : 0;
}
