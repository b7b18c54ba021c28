/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_fit.c - `sleuth fit`: the largest batch or sequence that fits. */
#include "commands.h"
#include "exit_code.h"
#include "hardware_options.h"
#include "model_options.h"
#include "options.h"
#include "output.h"
#include "plan_options.h"
#include "tty.h"

static const struct command_help help = {
	"fit", "MODEL --mem SIZE [options]",
	"Finds the largest batch (or sequence) whose memory stays within "
	"SIZE, for\ninference or for training, and says what fills the memory "
	"there. It is\npredicted from plans of the engine; nothing is run, "
	"unless --verify looks for\nthe largest that runs in a process with so "
	"much memory. 8G is 8000000000 bytes,\n8Gi is 8 x 2^30. Exits with 1 "
	"when not even the smallest fits.",
	"  sleuth fit resnet50 --mem 8G\n"
	"  sleuth fit gpt2 --mem 24Gi --train adamw --seq 1024\n"
	"  sleuth fit bert-base --mem 4G --axis seq\n"
	"  sleuth fit mobilenetv2 --mem 500M --verify\n"
	"  sleuth fit resnet18 --mem 1G --train --verify",
	"no model given; try 'sleuth fit resnet50 --mem 8G'"};

struct arguments {
	struct model_options model;
	struct output output;
	const char *memory, *train, *axis, *isa;
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
	{"isa", 0, OPTION_TEXT, AT(isa), "LEVEL", ISA_OPTION_HELP, 0, 0, 0},
};

RENDER_WITH(sl_fit_render)

static void
check(struct arguments *a)
{
	static const char *const axes[] = {"batch", "seq", NULL};
	size_t axis;

	if (!a->memory)
		refuse(help.name, "how much memory? add --mem 8G");
	a->fit.memory_bytes = parse_memory_bytes(a->memory, help.name);
	axis = read_choice(help.name, "axis", a->axis, axes);
	if (axis ? a->model.seq : a->model.batch)
		refuse(help.name, "--%s is what fit looks for; leave it out",
		       axes[axis]);
	if (a->train)
		a->fit.optimizer = optimizer_named(a->train, help.name);
	model_options_resolve(&a->model, help.name);
	output_check(&a->output, help.name);
	isa_limit_resolve(a->isa, help.name);
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
	struct sl_graph *graph = model_open(help.name, name, 0);
	struct sl_error err;
	struct sl_fit *fit;
	int code;

	a->fit.struct_size = sizeof(a->fit);
	a->fit.axis = a->axis;
	a->fit.sizes = &a->model.sizes;
	/* Processes notice by themselves; this keeps us alive to tell. */
	interrupt = tty_catch_interrupt();
	if (sl_fit(&fit, graph, &a->fit, &err)) {
		code = exit_for_model(help.name, name, &err);
	} else {
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
		OPTION_GROUP(options, &a),
		model_option_group(&a.model),
		output_option_group(&a.output),
	};
	const char *model;

	if (options_read_name(&help, groups, 3, argv, &model))
		return EXIT_DONE;
	check(&a);
	return run(&a, model);
}
