/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_optimize.c - `sleuth optimize`: what changes of a model are worth. */
#include "commands.h"
#include "exit_code.h"
#include "fill.h"
#include "model_options.h"
#include "options.h"
#include "output.h"
#include "plan_options.h"
#include "recipe.h"
#include "tty.h"

#include <stdio.h>
#include <string.h>

static const struct command_help help = {
	"optimize", "MODEL [options]",
	"Profiles the model, tries changes that act on what bounds it, and "
	"runs it and all\nvariants in turn, in random order. One table says "
	"what each is worth: time, memory,\nfile and accuracy, with what is "
	"proved, and one is recommended. Without --data,\naccuracy is "
	"agreement with the model as it is. With --limit it is a budget: exits "
	"with 1 where nothing "
	"meets it.\nWith --apply the changes are made, and nothing is "
	"measured.",
	"  sleuth optimize digits-cnn --data digits --time 5\n"
	"  sleuth optimize mobilenetv2 --limit latency=100ms,memory=50MB\n"
	"  sleuth optimize lenet5 --try bf16 --try threads=1 --recipe=r.txt\n"
	"  sleuth optimize digits-cnn --apply bf16,threads=1",
	NULL};

struct arguments {
	struct model_options model;
	struct plan_options plan;
	struct output output;
	struct recipe recipe;
	struct repeated_values tried;
	const char *onnx, *recipe_file, *objective, *limits;
	double time_s;
	int changes;
	struct sl_variant_limits most; /* made from 'limits' */
};

#define AT(field) offsetof(struct arguments, field)

static const struct option options[] = {
	{"apply", 'a', OPTION_TEXT, AT(recipe.apply), "CHANGES",
	 "make these alone: bf16,threads=1, or @RECIPE", 0, 0, 0},
	{"try", 0, OPTION_WORDS, AT(tried), "CHANGES",
	 "a variant to measure; may be repeated", 0, 0, 1},
	{"objective", 0, OPTION_TEXT, AT(objective), "WHAT",
	 "best in latency (default), memory, accuracy or size", 0, 0, 0},
	{"limit", 0, OPTION_TEXT, AT(limits), "LIMITS",
	 "latency=10ms,memory=50MB,size=9MB,accuracy=97%", 0, 0, 0},
	{"accuracy-drop", 0, OPTION_SHARE, AT(recipe.drop), "P",
	 "that int8 and the recommended one may have (0.5pp)", 1e-9, 1, 0},
	{"time", 0, OPTION_SECONDS, AT(time_s), "SECONDS",
	 "for measuring, after planning (20)", 1e-3, 1e6, 0},
	{"recipe", 0, OPTION_TEXT, AT(recipe_file), "FILE",
	 "write the recommended changes, for --apply @FILE", 0, 0, 0},
	{"changes", 0, OPTION_FLAG, AT(changes), NULL,
	 "list the changes there are", 0, 0, 0},
	{"onnx", 0, OPTION_TEXT, AT(onnx), "FILE",
	 "write the changed model, or the recommended one", 0, 0, 0},
	{"data", 'd', OPTION_TEXT, AT(recipe.data), "DATA",
	 "a data set: digits, reverse:8, FILE.csv...", 0, 0, 0},
	{"labels", 0, OPTION_TEXT, AT(recipe.labels), "FILE",
	 "labels, where the data has none", 0, 0, 0},
	{"test", 0, OPTION_TEXT, AT(recipe.test), "FILE",
	 "the test split, of data from a file", 0, 0, 0},
	{"context", 0, OPTION_COUNT, AT(recipe.context), "N",
	 "tokens of a sample of text (64)", 1, 1e6, 0},
	{"calibration", 0, OPTION_TEXT, AT(recipe.calibration), "HOW",
	 "ranges of int8: min-max (default), percentile, mse", 0, 0, 0},
	{"samples", 0, OPTION_COUNT, AT(recipe.samples), "N",
	 "samples that calibrate (128)", 1, 1e9, 0},
	{"keep", 0, OPTION_WORDS, AT(recipe.keep), "LAYER",
	 "a layer that stays as it is; may be repeated", 0, 0, 1},
};

RENDER_WITH(sl_optimization_render)

static int
list_changes(void)
{
	const struct sl_variant_rule *r;
	char name[64];

	for (size_t i = 0; (r = sl_variant_rule_at(i)); i++) {
		snprintf(name, sizeof(name), "%s%s%s", r->name,
			 r->value ? "=" : "", r->value ? r->value : "");
		printf("  %-22s ", name);
		print_filled(r->text, 25, 25);
	}
	return EXIT_FINE;
}

/* One of "latency=10ms,memory=50MB"; 0: it makes no sense. */
static int
read_limit(struct sl_variant_limits *out, char *word)
{
	char *value = strchr(word, '=');

	if (!value)
		return 0;
	*value++ = '\0';
	for (unsigned i = 0; i < SL_N_OBJECTIVES; i++) {
		double *limit = &out->of[i];

		if (strcmp(word, sl_objective_text((enum sl_objective)i)) != 0)
			continue;
		if (*limit > 0)
			return 0;
		if (i == SL_OBJECTIVE_ACCURACY)
			return parse_share(limit, value) && *limit > 0 &&
			       *limit <= 1;
		if (i != SL_OBJECTIVE_LATENCY)
			return sl_quantity_read(limit, value) && *limit > 0;
		if (!parse_seconds(limit, value))
			return 0;
		*limit *= 1e9;
		return *limit > 0;
	}
	return 0;
}

static void
read_limits(struct arguments *a)
{
	char *words = must_alloc(strlen(a->limits) + 1, 1), *next;

	strcpy(words, a->limits);
	for (char *word = words; word; word = next) {
		next = strchr(word, ',');
		if (next)
			*next++ = '\0';
		if (!read_limit(&a->most, word))
			refuse(help.name,
			       "--limit %s: must be such as latency=10ms, "
			       "memory=50MB, size=9MB or accuracy=97%%, each "
			       "once",
			       a->limits);
	}
}

static void
check(struct arguments *a)
{
	if (a->recipe.apply && (a->tried.n || a->limits))
		refuse(help.name,
		       "--apply measures nothing; leave --try and --limit out");
	if (a->recipe.apply && *a->recipe.apply == '@')
		recipe_read(&a->recipe, help.name, a->recipe.apply + 1);
	if (!a->plan.seed)
		a->plan.seed = a->recipe.seed;
	if (a->limits)
		read_limits(a);
	a->output.own[0] = a->onnx;
	a->output.own[1] = a->recipe_file;
	model_options_resolve(&a->model, help.name);
	plan_options_resolve(&a->plan, help.name);
	output_check(&a->output, help.name);
}

static struct sl_variant_options
making_of(const struct arguments *a, const char *name,
	  const struct sl_dataset *data)
{
	static const char *const calibrations[] = {"min-max", "percentile",
						   "mse", NULL};

	return (struct sl_variant_options){
		.struct_size = sizeof(struct sl_variant_options),
		.plan = &a->plan.plan,
		.data = data,
		.n_samples = a->recipe.samples,
		.calibration = (enum sl_calibration)read_choice(
			help.name, "calibration", a->recipe.calibration,
			calibrations),
		.keep = a->recipe.keep.words,
		.n_keep = a->recipe.keep.n,
		.seed = a->plan.seed,
		.progress = tty_progress(a->output.quiet),
		.progress_ctx = (void *)(uintptr_t)name,
		.interrupt = tty_catch_interrupt()};
}

/* The recommended changes, or those that were applied. */
static int
write_recipe(const struct arguments *a, const struct sl_optimization *found)
{
	struct recipe recipe = a->recipe;

	if (!found->is_applied) {
		if (found->recommended == SIZE_MAX || !found->recommended)
			return complain(help.name, 0,
					"no change is recommended: no recipe "
					"is written");
		recipe.apply = found->variants[found->recommended].name;
	}
	recipe.seed = a->plan.seed;
	return recipe_write(&recipe, help.name, a->recipe_file);
}

/* A limit that nothing meets is no success. */
static int
finish(const struct arguments *a, const struct sl_optimization *found)
{
	int code;

	tty_clear_progress();
	code = exit_unless_stopped(
		output_write(&a->output, help.name, render, found),
		found->stopped_by);
	if (!code && a->recipe_file)
		code = write_recipe(a, found);
	if (!code && a->limits && found->recommended == SIZE_MAX)
		code = EXIT_REGRESSED;
	return code;
}

/* What the machine can do, measured once and kept; NULL where that fails. */
static struct sl_machine *
probe(const struct arguments *a)
{
	const struct sl_machine_options how = {
		.struct_size = sizeof(how),
		.interrupt = tty_catch_interrupt(),
		.progress = tty_progress(a->output.quiet),
		.progress_ctx = (void *)(uintptr_t) "machine, once"};
	struct sl_machine *machine = NULL;

	if (a->recipe.apply || sl_machine_probe(&machine, &how, NULL))
		return NULL;
	return machine;
}

static int
optimize(const struct arguments *a, const char *name,
	 const struct sl_graph *graph, const struct sl_dataset *data)
{
	static const char *const objectives[] = {"latency", "memory",
						 "accuracy", "size", NULL};
	const struct sl_variant_options making = making_of(a, name, data);
	struct sl_optimize_options how = {
		.struct_size = sizeof(how),
		.variant = &making,
		.apply = a->recipe.apply,
		.onnx = a->onnx && !strcmp(a->onnx, "-") ? "/dev/stdout"
							 : a->onnx,
		.candidates = a->tried.words,
		.n_candidates = a->tried.n,
		.objective = (enum sl_objective)read_choice(
			help.name, "objective", a->objective, objectives),
		.limits = a->most,
		.accuracy_drop = a->recipe.drop,
		.time_s = a->time_s};
	struct sl_machine *machine = probe(a);
	struct sl_optimization *found;
	struct sl_error err;
	int code;

	how.machine = machine;
	if (sl_optimize(&found, graph, &how, &err))
		code = exit_for_model(help.name, name, &err);
	else
		code = finish(a, found);
	sl_optimization_free(found);
	sl_machine_free(machine);
	return code;
}

static int
run(struct arguments *a, const char *name)
{
	const struct sl_dataset_options source = {
		.struct_size = sizeof(source),
		.labels = a->recipe.labels,
		.test = a->recipe.test,
		.context = (int64_t)a->recipe.context,
		.seed = a->plan.seed};
	struct sl_graph *graph =
		model_open_sized(help.name, name, &a->model, a->plan.seed);
	struct sl_dataset *data = NULL;
	struct sl_error err;
	int code;

	a->plan.plan.sizes = &a->model.sizes;
	if (a->recipe.data &&
	    sl_dataset_open(&data, a->recipe.data, &source, &err))
		code = exit_for(help.name, &err);
	else
		code = optimize(a, name, graph, data);
	sl_dataset_close(data);
	sl_graph_free(graph);
	return code;
}

int
cmd_optimize(char **argv)
{
	struct arguments a = {0};
	const struct option_group groups[] = {
		OPTION_GROUP(options, &a),
		model_option_group(&a.model),
		plan_option_group(&a.plan),
		output_option_group(&a.output),
	};
	const char **names;
	size_t n;

	if (options_read_positional_names(&help, groups, 4, argv, &names, &n))
		return EXIT_DONE;
	if (a.changes)
		return list_changes();
	if (n != 1)
		refuse(help.name,
		       n ? "one model, please"
			 : "no model given; try 'sleuth optimize digits-cnn'");
	check(&a);
	return run(&a, names[0]);
}
