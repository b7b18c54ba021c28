/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_fit.c - `sleuth fit`: the largest batch or sequence that fits. */
#include "commands.h"
#include "exit_code.h"
#include "hardware_options.h"
#include "model_options.h"
#include "options.h"
#include "output.h"
#include "tty.h"

#include <stdio.h>
#include <string.h>

static const struct command_help help = {
	"fit", "MODEL --mem SIZE [options]",
	"Finds the largest batch (or sequence) whose memory stays within "
	"SIZE, for\ninference or for training, and says what fills the memory "
	"there. Inference is\npredicted from plans of the engine, training "
	"from "
	"the graph; nothing is run,\nunless --verify looks for the largest "
	"that "
	"runs in a process with so much\nmemory. 8G is 8000000000 bytes, 8Gi "
	"is "
	"8 x 2^30. Exits with 1 when not even the\nsmallest fits.",
	"  sleuth fit resnet50 --mem 8G\n"
	"  sleuth fit gpt2 --mem 24Gi --train adamw --seq 1024\n"
	"  sleuth fit bert-base --mem 4G --axis seq\n"
	"  sleuth fit mobilenetv2 --mem 500M --verify"};

struct arguments {
	struct model_options model;
	struct output output;
	const char *memory, *train, *axis;
	int verify;
	struct sl_fit_options fit;
};

#define AT(field) offsetof(struct arguments, field)

static const struct option options[] = {
	{"mem", 0, OPTION_TEXT, AT(memory), "SIZE",
	 "memory to fit into: 8G, 16Gi, 512M", 0, 0, 0},
	{"train", 0, OPTION_MAYBE, AT(train), "OPTIMIZER",
	 "train with sgd, momentum, adam (default), adamw", 0, 0, 1},
	{"axis", 0, OPTION_TEXT, AT(axis), "WHAT",
	 "what grows: batch (default) or seq", 0, 0, 0},
	{"verify", 0, OPTION_FLAG, AT(verify), NULL,
	 "run it there, with so much memory, and fail beyond", 0, 0, 0},
};

static enum sl_status
render(const void *result, const struct sl_render_options *how,
       struct sl_buf *out, struct sl_error *err)
{
	return sl_fit_render(result, how, out, err);
}

static int
check(struct arguments *a)
{
	int code = 0;

	if (!a->memory)
		return complain(help.name, EXIT_USAGE,
				"how much memory? add --mem 8G");
	if (!sl_quantity_read(&a->fit.memory_bytes, a->memory) ||
	    !(a->fit.memory_bytes > 0))
		return complain(help.name, EXIT_USAGE,
				"--mem %s: not a size such as 8G, 16Gi or 512M",
				a->memory);
	if (a->axis && strcmp(a->axis, "batch") != 0 &&
	    strcmp(a->axis, "seq") != 0)
		return complain(help.name, EXIT_USAGE,
				"--axis %s: must be one of batch, seq",
				a->axis);
	if ((!a->axis || !strcmp(a->axis, "batch")) && a->model.batch)
		return complain(help.name, EXIT_USAGE,
				"--batch is what fit looks for; leave it out");
	if (a->axis && !strcmp(a->axis, "seq") && a->model.seq)
		return complain(help.name, EXIT_USAGE,
				"--seq is what fit looks for; leave it out");
	if (a->train && a->verify)
		return complain(help.name, EXIT_USAGE,
				"--verify runs inference; leave --train out");
	if (a->train)
		code = optimizer_named(&a->fit.optimizer, a->train, help.name);
	if (!code)
		code = model_options_check(&a->model, help.name);
	return code ? code : output_check(&a->output, help.name);
}

/* Tries it where that is asked for; over the budget is no success.  What was
 * predicted is shown whatever becomes of the trial. */
static int
report(struct arguments *a, const char *name, const struct sl_graph *graph,
       struct sl_fit *fit, int is_interrupted)
{
	enum sl_status rc = SL_OK;
	struct sl_error err;
	int code;

	if (a->verify && !is_interrupted)
		rc = sl_fit_verify(fit, graph, &a->fit, &err);
	code = output_write(&a->output, help.name, render, fit);
	if (is_interrupted)
		return complain(help.name, EXIT_INTERRUPTED, "%s: interrupted",
				name);
	if (rc)
		return exit_for_model(help.name, name, &err);
	if (!code && !(a->verify ? fit->verified.runs_at : fit->largest))
		code = EXIT_REGRESSED;
	return code;
}

static int
run(struct arguments *a, const char *name)
{
	const volatile sig_atomic_t *interrupt;
	struct sl_graph *graph;
	struct sl_error err;
	struct sl_fit *fit;
	int code = model_open(&graph, help.name, name, 0);

	if (code)
		return code;
	a->fit.struct_size = sizeof(a->fit);
	a->fit.axis = a->axis;
	a->fit.sizes = &a->model.sizes;
	/* Processes notice by themselves; this keeps us alive to tell. */
	interrupt = tty_catch_interrupt();
	if (sl_fit(&fit, graph, &a->fit, &err)) {
		code = exit_for_model(help.name, name, &err);
	} else {
		if (!a->output.quiet)
			model_remarks(help.name);
		code = report(a, name, graph, fit, *interrupt);
		sl_fit_free(fit);
	}
	sl_graph_free(graph);
	return code;
}

int
cmd_fit(char **argv)
{
	struct arguments a = {0};
	const struct option_group groups[] = {
		{options, sizeof(options) / sizeof(options[0]), &a},
		model_group(&a.model),
		output_group(&a.output),
	};
	const char **models;
	size_t n;
	int code = options_read_names(&help, groups, 3, argv, &models, &n);

	if (code)
		return code;
	if (n == 0)
		return complain(help.name, EXIT_USAGE,
				"no model given; try 'sleuth fit resnet50 "
				"--mem 8G'");
	if (n > 1)
		return complain(help.name, EXIT_USAGE,
				"one model at a time, not %zu", n);
	code = check(&a);
	return code ? code : run(&a, models[0]);
}
