/* SPDX-License-Identifier: Apache-2.0 */
/* generate_run.c - `sleuth profile --generate`: the loop of a decoder. */
#include "generate_run.h"
#include "exit_code.h"
#include "tty.h"

#include <stdio.h>
#include <string.h>

enum { NAME_MOST = 64 };

/* The built-in model that is this one with a cache, or without; 0: there is
 * none. */
static int
twin_name(char *twin, const char *name)
{
	const char *at = strchr(name, '@');
	const struct sl_zoo_entry *e = sl_zoo();

	if (strlen(name) + 4 > NAME_MOST || (at && strcmp(at, "@kv") != 0))
		return 0;
	if (at)
		snprintf(twin, NAME_MOST, "%.*s", (int)(at - name), name);
	else
		snprintf(twin, NAME_MOST, "%s@kv", name);
	while (e->name && strcmp(e->name, twin) != 0)
		e++;
	return e->name != NULL;
}

static void
check(const struct generate_request *r, size_t n)
{
	const struct model_options *m = r->model;
	const char *size = m->seq                      ? "seq"
			   : m->past != PAST_NOT_GIVEN ? "past"
			   : m->dims.n                 ? "dim"
			   : m->shapes.n               ? "shape"
			   : m->inputs                 ? "inputs"
						       : NULL;

	if (size)
		refuse(r->command,
		       "--%s does not go with --generate: sizes follow from "
		       "--prompt and the token",
		       size);
	if (n > 2)
		refuse(r->command,
		       "--generate is for one model, or the same with and "
		       "without a cache, not %zu",
		       n);
}

RENDER_WITH(sl_generation_render)

static int
measure(const struct generate_request *r, const char *name,
	struct sl_graph *const graphs[2])
{
	struct sl_plan_options plan = r->plan->plan;
	struct sl_generate_options how = {
		.struct_size = sizeof(how),
		.plan = &plan,
		.twin = graphs[1],
		.prompt = (int64_t)r->prompt,
		.n_tokens = (int64_t)r->n_tokens,
		.time_s = r->time_s,
		.n_rounds = r->n_rounds,
		.seed = r->plan->seed,
		.flags = r->brief ? SL_PROFILE_NO_CEILINGS : 0,
		.interrupt = tty_catch_interrupt(),
	};
	struct sl_generation *found;
	struct sl_error err;
	enum sl_status rc;
	int code;

	plan.sizes = &r->model->sizes;
	how.progress = tty_progress(r->output->quiet);
	how.progress_ctx = (void *)(uintptr_t)name;
	rc = sl_generate(&found, graphs[0], &how, &err);
	tty_clear_progress();
	if (rc)
		return exit_for_model(r->command, name, &err);
	code = output_write(r->output, r->command, render, found);
	if (!code && found->stopped_by == SL_STOP_INTERRUPT)
		code = EXIT_INTERRUPTED;
	sl_generation_free(found);
	return code;
}

int
generate_run(const struct generate_request *r, const char *const *models,
	     size_t n)
{
	struct sl_graph *graphs[2] = {NULL, NULL};
	char twin[NAME_MOST];
	const char *second = NULL;
	int code;

	check(r, n);
	if (n == 2)
		second = models[1];
	else if (twin_name(twin, models[0]))
		second = twin;
	graphs[0] = model_open(r->command, models[0], r->plan->seed);
	if (second)
		graphs[1] = model_open(r->command, second, r->plan->seed);
	code = measure(r, models[0], graphs);
	for (int i = 0; i < 2; i++)
		sl_graph_free(graphs[i]);
	return code;
}
