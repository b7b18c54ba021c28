/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_run.c - `sleuth run`: a model run once, and compared. */
#include "commands.h"
#include "exit_code.h"
#include "model_folder.h"
#include "model_options.h"
#include "options.h"
#include "output.h"
#include "plan_options.h"
#include "tty.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const struct command_help help = {
	"run", "MODEL [options]",
	"Runs a model once and shows what comes out and what computed it. "
	"Inputs come\nfrom files (.npy, or .pb as ONNX's test data has them), "
	"or are synthetic, from a\nseed. With --check, outputs are compared "
	"with "
	"DIR/output_N.pb; exits with 1 when\nthey differ. Without DIR it is "
	"test_data_set_0 beside the model. With --batch too,\nthe files' "
	"inputs and outputs are repeated.",
	"  sleuth run resnet50\n"
	"  sleuth run model.onnx --input x=image.npy --output results\n"
	"  sleuth run model.onnx --check test_data_set_0\n"
	"  sleuth run bert-base --seq 64 --dtype bf16 --threads 1 -v",
	"no model given; try 'sleuth run resnet50'"};

struct arguments {
	struct model_options model;
	struct plan_options plan;
	struct output output;
	struct repeated_values inputs;
	const char *folder, *check, *tolerance;
	struct sl_run_options run;
};

#define AT(field) offsetof(struct arguments, field)

static const struct option options[] = {
	{"input", 0, OPTION_WORDS, AT(inputs), "NAME=FILE",
	 "an input from a .npy or .pb file; may be repeated", 0, 0, 1},
	{"output", 'o', OPTION_TEXT, AT(folder), "DIR",
	 "write each output as DIR/NAME.npy", 0, 0, 0},
	{"check", 0, OPTION_MAYBE, AT(check), "DIR",
	 "inputs from DIR/input_N.pb, compare with output_N.pb", 0, 0, 1},
	{"tolerance", 0, OPTION_TEXT, AT(tolerance), "X",
	 "largest error that --check lets pass", 0, 0, 0},
};

RENDER_WITH(sl_run_render)

static void
check_folder(const char *option, const char *path, int may_make)
{
	struct stat known;

	if (!path)
		return;
	if (stat(path, &known)) {
		if (may_make && errno == ENOENT && !mkdir(path, 0777))
			return;
		exit(complain(help.name, EXIT_IO, "--%s %s: %s", option, path,
			      strerror(errno)));
	}
	if (!S_ISDIR(known.st_mode))
		refuse(help.name, "--%s %s: is a file, not a folder", option,
		       path);
}

/* --check alone: the data beside the model. */
static void
find_check(struct arguments *a, const char *model)
{
	a->check = model_test_data(model);
	if (!a->check)
		refuse(help.name,
		       "--check: no test_data_set_0 lies beside %s; name the "
		       "folder of the data",
		       model);
}

static void
read_tolerance(struct arguments *a)
{
	char *end;

	if (!a->tolerance)
		return;
	a->run.tolerance = strtod(a->tolerance, &end);
	if (end == a->tolerance || *end || !(a->run.tolerance > 0) ||
	    a->run.tolerance > 1e30)
		refuse(help.name,
		       "--tolerance %s: must be a number above 0, such as 1e-3",
		       a->tolerance);
	if (!a->check)
		refuse(help.name, "--tolerance is for --check");
}

static void
check(struct arguments *a)
{
	a->run.inputs = input_files_parse(&a->inputs, help.name);
	a->run.n_inputs = a->inputs.n;
	read_tolerance(a);
	check_folder("check", a->check, 0);
	model_options_resolve(&a->model, help.name);
	plan_options_resolve(&a->plan, help.name);
	output_check(&a->output, help.name);
	if (a->check && a->model.inputs)
		refuse(help.name,
		       "--check has inputs of its own; leave out --inputs");
	check_folder("output", a->folder, 1);
}

static int
run(struct arguments *a, const char *name)
{
	struct sl_graph *graph =
		a->check ? model_open(help.name, name, a->plan.seed)
			 : model_open_sized(help.name, name, &a->model,
					    a->plan.seed);
	struct sl_error err;
	struct sl_run *result;
	int code;

	a->run.struct_size = sizeof(a->run);
	a->plan.plan.sizes = &a->model.sizes;
	a->plan.plan.interrupt = tty_catch_interrupt();
	a->run.plan = &a->plan.plan;
	a->run.seed = a->plan.seed;
	a->run.inputs_folder = a->model.inputs;
	a->run.check_folder = a->check;
	a->run.output_folder = a->folder;
	if (sl_run(&result, graph, &a->run, &err)) {
		code = exit_for_model(help.name, name, &err);
	} else {
		code = output_write(&a->output, help.name, render, result);
		if (!code && !result->is_ok)
			code = EXIT_REGRESSED;
		sl_run_free(result);
	}
	sl_graph_free(graph);
	return code;
}

int
cmd_run(char **argv)
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
	if (a.check && !*a.check)
		find_check(&a, model);
	check(&a);
	return run(&a, model);
}
