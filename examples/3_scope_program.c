/* SPDX-License-Identifier: Apache-2.0 */
/*
 * 3_scope_program.c - where does a program spend its time and memory?
 *
 * A small network, two layers and an activation, with scopes around its
 * parts.  The matrix products say how much work they are, one scope asks for
 * resources, and the report does the rest.  Then one of the parts is
 * profiled by itself.  Try it with libsleuth-alloc preloaded.
 */
#include <sleuth.h>

#include <stdio.h>
#include <stdlib.h>

enum { WIDTH = 256, N_STEPS = 400 };

static float weights[2][WIDTH][WIDTH];

/* y = W x */
static void
multiply(int layer, const float *x, float *y)
{
	struct sl_scope scope = sl_scope_begin("multiply", 0);

	for (int i = 0; i < WIDTH; i++) {
		float sum = 0;

		for (int k = 0; k < WIDTH; k++)
			sum += weights[layer][i][k] * x[k];
		y[i] = sum;
	}
	sl_scope_work(&scope, 2.0 * WIDTH * WIDTH,
		      (double)sizeof(float) * WIDTH * WIDTH);
	sl_scope_end(&scope);
}

static void
activate(float *x)
{
	SL_SCOPE("activate");

	for (int i = 0; i < WIDTH; i++)
		x[i] = x[i] > 0 ? x[i] : 0;
}

static int
forward(void *ctx)
{
	struct sl_scope scope = sl_scope_begin("forward", SL_SCOPE_RESOURCES);
	float *x = ctx;
	float *hidden = malloc(WIDTH * sizeof(*hidden));

	if (!hidden)
		return 1;
	multiply(0, x, hidden);
	activate(hidden);
	multiply(1, hidden, x);
	free(hidden);
	sl_scope_end(&scope);
	return 0;
}

int
main(void)
{
	struct sl_profile_function_options how =
		SL_PROFILE_FUNCTION_OPTIONS_INIT;
	static float x[WIDTH];
	struct sl_buf page = {0};
	struct sl_error err;
	int failed = 0;

	how.n_flops = 4.0 * WIDTH * WIDTH;
	how.time_s = 0.1;
	for (int i = 0; i < WIDTH; i++) {
		x[i] = 1;
		weights[0][i][i] = 1;
		weights[1][i][i] = 1;
	}
	for (int i = 0; i < N_STEPS && !failed; i++)
		failed = forward(x);
	if (failed || sl_scope_report(NULL, &page, &err) ||
	    sl_profile_function(&page, "forward", forward, x, &how, &err))
		fprintf(stderr, "%s\n", failed ? "out of memory" : err.text);
	else
		fputs(page.data, stdout);
	sl_buf_release(&page);
	return 0;
}
