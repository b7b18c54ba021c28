/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_eval.c - `sleuth eval`: how often a model is right. */
#include "commands.h"
#include "exit_code.h"
#include "model_options.h"
#include "options.h"
#include "output.h"
#include "plan_options.h"
#include "tty.h"

static const struct command_help help = {
	"eval", "MODEL --data DATA [options]",
	"Runs a classifier or a language model on every sample of a data set's "
	"test split\nand shows its accuracy, its loss and what it confuses, "
	"with intervals. DATA is\ndigits, which is built in, a task with a "
	"known answer (copy:8, reverse:8, sort:8,\naddition:3), or a file: "
	".csv, .npy, .npz, .idx (MNIST's format) or .txt.",
	"  sleuth eval mlp:64-32-10 --data digits\n"
	"  sleuth eval mlp:64-32-10 --data digits --split train --json\n"
	"  sleuth eval gpt:1,16,2,12,16 --data reverse:8",
	"no model given; try 'sleuth eval mlp:64-32-10 --data digits'"};

struct arguments {
	struct plan_options plan;
	struct output output;
	const char *data, *labels, *test, *split, *scores;
	double validation;
	size_t batch, context;
};

#define AT(field) offsetof(struct arguments, field)

static const struct option options[] = {
	{"data", 0, OPTION_TEXT, AT(data), "DATA",
	 "a data set: digits, reverse:8, FILE.csv...", 0, 0, 0},
	{"labels", 0, OPTION_TEXT, AT(labels), "FILE",
	 "labels, where the data has none", 0, 0, 0},
	{"test", 0, OPTION_TEXT, AT(test), "FILE",
	 "the test split, of data from a file", 0, 0, 0},
	{"split", 0, OPTION_TEXT, AT(split), "NAME",
	 "test (the default), validation or train", 0, 0, 0},
	{"validation", 0, OPTION_SHARE, AT(validation), "SHARE",
	 "of the training samples, the validation split", 0, 0.999999, 0},
	{"context", 0, OPTION_COUNT, AT(context), "N",
	 "tokens of a sample of text (64)", 1, 1e6, 0},
	{"scores", 0, OPTION_TEXT, AT(scores), "NAME",
	 "the output that has the scores (the first)", 0, 0, 0},
	{"batch", 'b', OPTION_COUNT, AT(batch), "N",
	 "samples that run together (32)", 1, 1e9, 0},
};

RENDER_WITH(sl_evaluation_render)

static int
evaluate(const struct arguments *a, const char *name,
	 const struct sl_dataset *data)
{
	static const char *const splits[] = {"test", "train", "validation",
					     NULL};
	static const enum sl_split split_of[] = {SL_SPLIT_TEST, SL_SPLIT_TRAIN,
						 SL_SPLIT_VALIDATION};
	struct sl_evaluate_options how = {
		.struct_size = sizeof(how),
		.plan = &a->plan.plan,
		.output = a->scores,
		.has_split = a->split != NULL,
		.split = split_of[read_choice(help.name, "split", a->split,
					      splits)],
		.batch = (int64_t)a->batch,
		.interrupt = tty_catch_interrupt(),
		.progress = tty_progress(a->output.quiet),
		.progress_ctx = (void *)(uintptr_t)name,
	};
	struct sl_graph *graph = model_open(help.name, name, a->plan.seed);
	struct sl_evaluation *found;
	struct sl_error err;
	int code;

	if (sl_evaluate(&found, graph, data, &how, &err)) {
		code = exit_for_model(help.name, name, &err);
	} else {
		code = exit_unless_stopped(
			output_write(&a->output, help.name, render, found),
			found->is_partial ? SL_STOP_INTERRUPT : SL_STOP_RUNS);
		sl_evaluation_free(found);
	}
	sl_graph_free(graph);
	return code;
}

int
cmd_eval(char **argv)
{
	struct sl_dataset_options how = SL_DATASET_OPTIONS_INIT;
	struct arguments a = {0};
	const struct option_group groups[] = {
		OPTION_GROUP(options, &a),
		plan_option_group(&a.plan),
		output_option_group(&a.output),
	};
	struct sl_dataset *data;
	struct sl_error err;
	const char *model;
	int code;

	if (options_read_name(&help, groups, 3, argv, &model))
		return EXIT_DONE;
	if (!a.data)
		refuse(help.name, "no data given; try --data digits");
	plan_options_resolve(&a.plan, help.name);
	output_check(&a.output, help.name);
	how.labels = a.labels;
	how.test = a.test;
	how.context = (int64_t)a.context;
	how.validation = a.validation;
	how.seed = a.plan.seed;
	if (sl_dataset_open(&data, a.data, &how, &err))
		return exit_for(help.name, &err);
	code = evaluate(&a, model, data);
	sl_dataset_close(data);
	return code;
}
