/* SPDX-License-Identifier: Apache-2.0 */
/* run_case.h - a small model, a folder for its files, and runs of it. */
#ifndef SL_TEST_RUN_CASE_H
#define SL_TEST_RUN_CASE_H

#include "base/arena.h"
#include "graph_text.h"
#include "model/npy.h"

#include <unistd.h>

/* y = relu(x w + b), c = how many rows */
static const char perceptron[] = "opset 13\n"
				 "in x f32 n,3\n"
				 "const w f32 3,2 = 1,-1,2,0,0.5,1\n"
				 "const b f32 2 = 0.25,-1\n"
				 "h = MatMul x w\n"
				 "s = Add h b\n"
				 "y = Relu s\n"
				 "a = ArgMax y axis=1\n"
				 "out y\n"
				 "out a\n";

static char folder[64];
static struct graph_text *g;
static struct sl_plan_options plan; /* of options() */

static inline int
set_up(void **state)
{
	(void)state;
	snprintf(folder, sizeof(folder), "/tmp/sleuth-run-XXXXXX");
	assert_non_null(mkdtemp(folder));
	g = graph_text_with(perceptron, NULL);
	g->graph->name = "perceptron";
	g->graph->source = "text";
	return 0;
}

static inline int
tear_down(void **state)
{
	char command[128];

	(void)state;
	graph_text_free(g);
	snprintf(command, sizeof(command), "rm -r '%s'", folder);
	return system(command);
}

/* A TensorProto of f32 (1) or int64 (7): dims, type, raw data; all short. */
static inline void
put_pb(const char *name, int type, size_t rank, const unsigned char *dims,
       const void *bytes, size_t n_bytes)
{
	unsigned char head[32];
	size_t n = 0;
	char path[128];
	FILE *file;

	for (size_t i = 0; i < rank; i++) {
		head[n++] = 0x08;
		head[n++] = dims[i];
	}
	head[n++] = 0x10;
	head[n++] = (unsigned char)type;
	head[n++] = 0x4a;
	assert_true(n_bytes < 128);
	head[n++] = (unsigned char)n_bytes;
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = fopen(path, "wb");
	assert_non_null(file);
	assert_int_equal(fwrite(head, 1, n, file), n);
	assert_int_equal(fwrite(bytes, 1, n_bytes, file), n_bytes);
	assert_int_equal(fclose(file), 0);
}

static const float x_rows[] = {1, 2, 3, -1, -2, -3};
static const unsigned char x_dims[] = {2, 3}, y_dims[] = {2, 2},
			   a_dims[] = {2, 1};

/* By hand: x w + b is (6.75, 1), then (-6.25, -3). */
static inline void
put_case(float y0)
{
	const float y[] = {y0, 1, 0, 0};
	const int64_t a[] = {0, 0};

	put_pb("input_0.pb", 1, 2, x_dims, x_rows, sizeof(x_rows));
	put_pb("output_0.pb", 1, 2, y_dims, y, sizeof(y));
	put_pb("output_1.pb", 7, 2, a_dims, a, sizeof(a));
}

static inline struct sl_run_options
options(const struct sl_sizes *sizes)
{
	struct sl_run_options how = {.struct_size = sizeof(how)};

	plan = (struct sl_plan_options){.struct_size = sizeof(plan),
					.sizes = sizes,
					.n_threads = 1,
					.algorithms = SL_ALGORITHMS_FIXED,
					.flags = SL_PLAN_NO_CACHE};
	how.plan = &plan;
	return how;
}

static inline struct sl_run *
run(const struct sl_run_options *how)
{
	struct sl_run *out;
	struct sl_error err;

	if (sl_run(&out, g->graph, how, &err))
		fail_msg("%s", err.text);
	return out;
}

static inline void
check_refused(const struct sl_run_options *how, enum sl_status status,
	      const char *said)
{
	struct sl_run *out;
	struct sl_error err;

	assert_int_equal(sl_run(&out, g->graph, how, &err), status);
	assert_null(out);
	if (!strstr(err.text, said))
		fail_msg("'%s' does not say '%s'", err.text, said);
}

#endif
