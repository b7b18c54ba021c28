/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_generate.c - `sleuth generate`: a decoder's token loop, measured. */
#include "commands.h"
#include "exit_code.h"
#include "model_options.h"
#include "options.h"
#include "output.h"
#include "plan_options.h"
#include "tty.h"

#include <stdio.h>
#include <string.h>

enum { NAME_MOST = 64 };

static const struct command_help help = {
	"generate", "MODEL [MODEL WITH CACHE] [options]",
	"Measures the loop in which a decoder generates text, token by token: "
	"the time to\nthe first token, the time of each further one, and the "
	"memory at the end. Where\nthe model exists with and without a KV "
	"cache, both are measured and compared:\nbuilt-in models such as gpt2 "
	"have both; of files, name two. Sequence lengths\nfollow from --prompt "
	"and the token.",
	"  sleuth generate gpt2 --tokens 16\n"
	"  sleuth generate gpt2 --tokens 64 --prompt 128 --batch 4\n"
	"  sleuth generate decoder.onnx decoder_with_past.onnx",
	"no model given; try 'sleuth generate gpt2'"};

struct arguments {
	struct plan_options plan;
	struct output output;
	size_t batch, n_tokens, n_prompt, n_runs;
	double time_s;
	int brief;
};

#define AT(field) offsetof(struct arguments, field)

static const struct option options[] = {
	{"tokens", 0, OPTION_COUNT, AT(n_tokens), "N",
	 "tokens to generate (16)", 1, 1e6, 0},
	{"prompt", 0, OPTION_COUNT, AT(n_prompt), "N",
	 "tokens of the prompt (32)", 1, 1e6, 0},
	{"batch", 'b', OPTION_COUNT, AT(batch), "N", "batch size (1)", 1, 1e15,
	 0},
	{"time", 0, OPTION_SECONDS, AT(time_s), "SECONDS",
	 "for all of it, planning included (20)", 0.001, 1e6, 0},
	{"runs", 0, OPTION_COUNT, AT(n_runs), "N",
	 "rounds over the loop, instead of by time", 1, 1e9, 0},
	{"brief", 0, OPTION_FLAG, AT(brief), NULL,
	 "do not measure the machine's ceilings", 0, 0, 0},
};

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

RENDER_WITH(sl_generation_render)

/* 'second' may be NULL. */
static int
run(const struct arguments *a, const char *name, const char *second)
{
	const struct sl_sizes sizes = {.struct_size = sizeof(sizes),
				       .batch = (int64_t)a->batch};
	struct sl_plan_options plan = a->plan.plan;
	struct sl_generate_options how = {
		.struct_size = sizeof(how),
		.plan = &plan,
		.prompt = (int64_t)a->n_prompt,
		.n_tokens = a->n_tokens ? (int64_t)a->n_tokens : 16,
		.time_s = a->time_s,
		.n_rounds = a->n_runs,
		.seed = a->plan.seed,
		.flags = a->brief ? SL_PROFILE_NO_CEILINGS : 0,
		.interrupt = tty_catch_interrupt(),
		.progress = tty_progress(a->output.quiet),
		.progress_ctx = (void *)(uintptr_t)name,
	};
	struct sl_graph *graph = model_open(help.name, name, how.seed);
	struct sl_graph *other =
		second ? model_open(help.name, second, how.seed) : NULL;
	struct sl_generation *found;
	struct sl_error err;
	int code;

	plan.sizes = &sizes;
	how.cached = other;
	if (sl_generate(&found, graph, &how, &err)) {
		code = exit_for_model(help.name, name, &err);
	} else {
		code = exit_unless_stopped(
			output_write(&a->output, help.name, render, found),
			found->stopped_by);
		sl_generation_free(found);
	}
	sl_graph_free(graph);
	sl_graph_free(other);
	return code;
}

int
cmd_generate(char **argv)
{
	struct arguments a = {0};
	const struct option_group groups[] = {
		OPTION_GROUP(options, &a),
		plan_option_group(&a.plan),
		output_option_group(&a.output),
	};
	const char **names, *second = NULL;
	char cached[NAME_MOST];
	size_t n;

	if (options_read_positional_names(&help, groups, 3, argv, &names, &n))
		return EXIT_DONE;
	if (n > 2)
		refuse(help.name,
		       "one model, or the same with and without a cache, not "
		       "%zu",
		       n);
	plan_options_resolve(&a.plan, help.name);
	output_check(&a.output, help.name);
	if (n == 2)
		second = names[1];
	else if (cached_name(cached, names[0]))
		second = cached;
	return run(&a, names[0], second);
}
