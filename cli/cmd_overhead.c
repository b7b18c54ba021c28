/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_overhead.c - `sleuth overhead`: what instrumenting a model costs. */
#include "commands.h"
#include "exit_code.h"
#include "model_options.h"
#include "options.h"
#include "output.h"
#include "plan_options.h"
#include "tty.h"

static const struct command_help help = {
	"overhead", "MODEL [options]",
	"Measures what it costs to observe a model while it runs: a scope "
	"around each\niteration, timestamps between steps, hooks around steps, "
	"a scope for each step.\nEach round runs every way and a bare "
	"iteration in random order, and the cost is\nthe median of the "
	"differences.",
	"  sleuth overhead resnet50\n"
	"  sleuth overhead model.onnx --threads 1 --time 10",
	"no model given; try 'sleuth overhead resnet50'"};

struct arguments {
	struct model_options model;
	struct plan_options plan;
	struct output output;
	struct repeated_values inputs;
	struct sl_profile_options how;
};

#define AT(field) offsetof(struct arguments, field)

static const struct option options[] = {
	{"time", 0, OPTION_SECONDS, AT(how.time_s), "SECONDS",
	 "for measuring (3)", 0.001, 1e6, 0},
	{"runs", 0, OPTION_COUNT, AT(how.n_runs), "N",
	 "rounds, instead of by time", 1, 1e9, 0},
	{"input", 0, OPTION_WORDS, AT(inputs), "NAME=FILE",
	 "an input from a .npy or .pb file; may be repeated", 0, 0, 1},
};

RENDER_WITH(sl_overhead_study_render)

static int
run(struct arguments *a, const char *name)
{
	struct sl_graph *graph =
		model_open_sized(help.name, name, &a->model, a->plan.seed);
	struct sl_overhead_study *study;
	struct sl_error err;
	int code;

	a->plan.plan.sizes = &a->model.sizes;
	a->how.struct_size = sizeof(a->how);
	a->how.plan = &a->plan.plan;
	a->how.n_inputs = a->inputs.n;
	a->how.inputs_folder = a->model.inputs;
	a->how.seed = a->plan.seed;
	a->how.interrupt = tty_catch_interrupt();
	if (sl_study_overhead(&study, graph, &a->how, &err)) {
		code = exit_for_model(help.name, name, &err);
	} else {
		code = exit_unless_stopped(
			output_write(&a->output, help.name, render, study),
			study->stopped_by);
		sl_overhead_study_free(study);
	}
	sl_graph_free(graph);
	return code;
}

int
cmd_overhead(char **argv)
{
	struct arguments a = {0};
	const struct option_group groups[] = {
		OPTION_GROUP(options, &a),
		model_option_group(&a.model),
		plan_option_group(&a.plan),
		output_option_group(&a.output),
	};
	const char *model;

	if (options_read_name(&help, groups, 4, argv, &model))
		return EXIT_DONE;
	a.how.inputs = input_files_parse(&a.inputs, help.name);
	model_options_resolve(&a.model, help.name);
	plan_options_resolve(&a.plan, help.name);
	output_check(&a.output, help.name);
	return run(&a, model);
}
