/* SPDX-License-Identifier: Apache-2.0 */
/*
 * 5_run_model.c - what does a model answer, and what computes it?
 *
 * usage: 5_run_model [MODEL]
 *
 * MODEL is an ONNX file or a built-in model; without it LeNet-5, whose weights
 * are made from a seed.  Its first input, where it takes floats, is set to a
 * pattern; the others are made up.  Then it is run and the first numbers of
 * every output are printed.
 */
#include <sleuth.h>

#include <stdio.h>
#include <stdlib.h>

enum { SHOWN_MOST = 10 };

static const char *
input_name(const struct sl_graph *graph, size_t i)
{
	return sl_graph_value_name(graph, sl_graph_input(graph, i));
}

/* Numbers of one's own, in the sizes that the plan has.  They are copied: the
 * array may go afterwards.  sl_plan_input() also says where an input lies, for
 * those who would rather write there. */
static enum sl_status
set_pattern(struct sl_plan *plan, const char *name, struct sl_error *err)
{
	struct sl_array in;
	float *numbers;
	enum sl_status rc = sl_plan_input(plan, name, &in, NULL, err);

	if (rc || in.dtype != SL_DTYPE_F32)
		return rc;
	numbers = malloc((size_t)in.n_bytes + 1);
	if (!numbers)
		return SL_E_NOMEM;
	for (uint64_t i = 0; i < in.n_elements; i++)
		numbers[i] = (float)(i % 16) / 16;
	in.data = numbers;
	rc = sl_plan_set_input(plan, name, &in, err);
	free(numbers);
	return rc;
}

static void
print_array(const char *name, const struct sl_array *a)
{
	uint64_t n = a->n_elements < SHOWN_MOST ? a->n_elements : SHOWN_MOST;

	printf("%s, %s", name, sl_dtype_text(a->dtype));
	for (size_t d = 0; d < a->rank; d++)
		printf("%s%lld", d ? "x" : " ", (long long)a->dims[d]);
	printf(":");
	for (uint64_t i = 0; a->dtype == SL_DTYPE_F32 && i < n; i++)
		printf(" %.4g", (double)((const float *)a->data)[i]);
	printf("%s\n", n < a->n_elements ? " ..." : "");
}

static enum sl_status
print_outputs(struct sl_plan *plan, const struct sl_graph *graph,
	      struct sl_error *err)
{
	for (size_t k = 0; k < sl_graph_n_outputs(graph); k++) {
		const char *name =
			sl_graph_value_name(graph, sl_graph_output(graph, k));
		struct sl_array out;
		enum sl_status rc = sl_plan_output(plan, name, &out, err);

		if (rc)
			return rc;
		print_array(name, &out);
	}
	return SL_OK;
}

static void
print_steps(const struct sl_plan *plan)
{
	size_t n[SL_N_PATHS] = {0};
	struct sl_step step;

	for (size_t i = 0; sl_plan_step(plan, i, &step); i++)
		n[step.path]++;
	printf("%zu steps on %d threads:", sl_plan_n_steps(plan),
	       sl_plan_n_threads(plan));
	for (int p = 0; p < SL_N_PATHS; p++) {
		if (n[p])
			printf(" %zu %s", n[p], sl_path_text((enum sl_path)p));
	}
	printf("\n");
}

static enum sl_status
answer(struct sl_plan *plan, const struct sl_graph *graph, struct sl_error *err)
{
	enum sl_status rc = SL_OK;

	if (sl_graph_n_inputs(graph))
		rc = set_pattern(plan, input_name(graph, 0), err);
	if (!rc)
		rc = sl_plan_fill_inputs(plan, 1, err);
	if (!rc)
		rc = sl_plan_run(plan, err);
	if (!rc)
		rc = print_outputs(plan, graph, err);
	if (!rc)
		print_steps(plan);
	return rc;
}

int
main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "lenet5";
	struct sl_graph *graph = NULL;
	struct sl_plan *plan = NULL;
	struct sl_error err = {0};
	enum sl_status rc = sl_graph_open(&graph, name, NULL, &err);

	if (!rc)
		rc = sl_plan_new(&plan, graph, NULL, &err);
	if (!rc)
		rc = answer(plan, graph, &err);
	if (rc)
		fprintf(stderr, "%s: %s\n", name,
			*err.text ? err.text : sl_status_text(rc));
	sl_plan_free(plan);
	sl_graph_free(graph);
	return rc ? 1 : 0;
}
