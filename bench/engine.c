/* SPDX-License-Identifier: Apache-2.0 */
/*
 * engine.c - a model that runs when it is told to, for comparisons.
 *
 * usage: bench_engine MODEL INPUTS [OPTION=VALUE ...]
 *
 * Opens and plans MODEL, takes its inputs from the folder INPUTS (NAME.npy; "-"
 * makes them up), runs once and says how long that took and how much memory it
 * needed; then reads lines "run N" and answers each with N times in
 * nanoseconds.  "save DIR" writes the outputs as NAME.bin, plain numbers, for
 * comparison. Options: threads, dtype (f32, bf16), algorithms (measured,
 * fixed), winograd (1, 0).
 */
#include "sleuth.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

static double
now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static long
peak_kilobytes(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_maxrss;
}

static int
fail(const struct sl_error *err)
{
	fprintf(stderr, "bench_engine: %s\n", err->text);
	return 1;
}

static void
read_option(struct sl_plan_options *how, const char *word)
{
	if (!strncmp(word, "threads=", 8))
		how->n_threads = atoi(word + 8);
	else if (!strcmp(word, "dtype=bf16"))
		how->dtype = SL_DTYPE_BF16;
	else if (!strcmp(word, "algorithms=fixed"))
		how->algorithms = SL_ALGORITHMS_FIXED;
	else if (!strcmp(word, "winograd=0"))
		how->flags |= SL_PLAN_NO_WINOGRAD;
}

static int
run_times(struct sl_plan *plan, int n, struct sl_error *err)
{
	for (int i = 0; i < n; i++) {
		double start = now_ns();

		if (sl_plan_run(plan, err))
			return fail(err);
		printf("%.0f ", now_ns() - start);
	}
	printf("\n");
	fflush(stdout);
	return 0;
}

static int
save(struct sl_plan *plan, const struct sl_graph *graph, const char *folder,
     struct sl_error *err)
{
	char path[8192];

	for (size_t k = 0; k < sl_graph_n_outputs(graph); k++) {
		const char *name =
			sl_graph_value_name(graph, sl_graph_output(graph, k));
		struct sl_array a;
		FILE *file;

		if (sl_plan_output(plan, name, &a, err))
			return fail(err);
		snprintf(path, sizeof(path), "%s/%zu.bin", folder, k);
		file = fopen(path, "wb");
		if (!file || fwrite(a.data, 1, (size_t)a.n_bytes, file) !=
				     (size_t)a.n_bytes) {
			fprintf(stderr, "bench_engine: %s: not written\n",
				path);
			return 1;
		}
		fclose(file);
	}
	printf("saved\n");
	fflush(stdout);
	return 0;
}

/* Answers lines of standard input until there are no more. */
static int
serve(struct sl_plan *plan, const struct sl_graph *graph)
{
	struct sl_error err;
	char line[4096];
	int code = 0;

	while (!code && fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = '\0';
		if (!strncmp(line, "run ", 4))
			code = run_times(plan, atoi(line + 4), &err);
		else if (!strncmp(line, "save ", 5))
			code = save(plan, graph, line + 5, &err);
	}
	return code;
}

int
main(int argc, char **argv)
{
	struct sl_plan_options how = {.struct_size = sizeof(how)};
	struct sl_sizes sizes = {.struct_size = sizeof(sizes)};
	struct sl_graph *graph;
	struct sl_plan *plan;
	struct sl_error err;
	double start = now_ns();
	int code;

	if (argc < 3) {
		fprintf(stderr, "usage: bench_engine MODEL INPUTS "
				"[OPTION=VALUE ...]\n");
		return 64;
	}
	for (int i = 3; i < argc; i++)
		read_option(&how, argv[i]);
	if (strcmp(argv[2], "-") != 0)
		sizes.inputs_folder = argv[2];
	how.sizes = &sizes;
	if (sl_graph_open(&graph, argv[1], NULL, &err) ||
	    sl_plan_new(&plan, graph, &how, &err) ||
	    (sizes.inputs_folder && sl_plan_load_inputs(plan, argv[2], &err)) ||
	    sl_plan_fill_inputs(plan, 1, &err) || sl_plan_run(plan, &err))
		return fail(&err);
	printf("first %.0f %ld\n", now_ns() - start, peak_kilobytes());
	fflush(stdout);
	code = serve(plan, graph);
	sl_plan_free(plan);
	sl_graph_free(graph);
	return code;
}
