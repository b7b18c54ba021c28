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
cached_name(char *cached, const char *name)
{
	const char *at = strchr(name, '@');
	const struct sl_zoo_entry *e = sl_zoo();
	size_t n;

	if (strlen(name) + 4 > NAME_MOST || (at && strcmp(at, "@kv") != 0))
		return 0;
	if (at)
		snprintf(cached, NAME_MOST, "%.*s", (int)(at - name), name);
	else
		snprintf(cached, NAME_MOST, "%s@kv", name);
	n = strcspn(cached, ":"); /* sizes stand in the name behind it */
	while (e->name &&
	       (strncmp(e->name, cached, n) || e->name[n] != cached[n] ||
		!strchr(e->name, '@') != !strchr(cached, '@')))
		e++;
	return e->name != NULL;
}

static void
check(const char *command, const struct model_options *m, size_t n)
{
	const char *size = m->seq                      ? "seq"
			   : m->past != PAST_NOT_GIVEN ? "past"
			   : m->dims.n                 ? "dim"
			   : m->shapes.n               ? "shape"
			   : m->inputs                 ? "inputs"
						       : NULL;

	if (size)
		refuse(command,
		       "--%s does not go with --generate: sizes follow from "
		       "--prompt and the token",
		       size);
	if (n > 2)
		refuse(command,
		       "--generate is for one model, or the same with and "
		       "without a cache, not %zu",
		       n);
}

RENDER_WITH(sl_generation_render)

int
generate_run(const char *command, const struct models *models,
	     const struct model_options *sizes,
	     const struct sl_generate_options *options,
	     const struct output *output)
{
	struct sl_generate_options how = *options;
	const char *name = models->names[0], *second = NULL;
	struct sl_graph *graph, *other = NULL;
	struct sl_generation *found;
	struct sl_error err;
	char cached[NAME_MOST];
	int code;

	check(command, sizes, models->n);
	if (models->n == 2)
		second = models->names[1];
	else if (cached_name(cached, name))
		second = cached;
	graph = model_open(command, name, how.seed);
	if (second)
		other = model_open(command, second, how.seed);
	how.cached = other;
	how.interrupt = tty_catch_interrupt();
	how.progress = tty_progress(output->quiet);
	how.progress_ctx = (void *)(uintptr_t)name;
	if (sl_generate(&found, graph, &how, &err)) {
		code = exit_for_model(command, name, &err);
	} else {
		code = exit_unless_stopped(
			output_write(output, command, render, found),
			found->stopped_by);
		sl_generation_free(found);
	}
	sl_graph_free(graph);
	sl_graph_free(other);
	return code;
}
