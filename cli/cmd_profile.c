/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_profile.c - `sleuth profile`: models run, measured and explained. */
#include "commands.h"
#include "exit_code.h"
#include "hardware_options.h"
#include "loading_options.h"
#include "model_options.h"
#include "options.h"
#include "output.h"
#include "plan_options.h"
#include "tty.h"

#include <stdio.h>
#include <string.h>

static const struct command_help help = {
	"profile", "MODEL... [options]",
	"Runs a model over and over and says how long an iteration takes and "
	"how "
	"sure that is,\nwhere time and memory go, what bounds each part on "
	"this machine, and what would\nhelp. MODEL is an ONNX file or a "
	"built-in one ('sleuth zoo' lists them); several\nare put side by "
	"side. Ctrl-C ends the measuring; what was found is shown.",
	"  sleuth profile resnet50\n"
	"  sleuth profile model.onnx --batch 8 --threads 1 --top 20\n"
	"  sleuth profile bert-base --seq 64 --by part --explain\n"
	"  sleuth profile resnet50 --brief --runs 100 --warmup 10\n"
	"  sleuth profile resnet50 --why fc\n"
	"  sleuth profile resnet18 --train --optimizer adamw --batch 8\n"
	"  sleuth profile digits-cnn --train --data digits --prefetch 1\n"
	"  sleuth profile mlp:784-256-128-10 resnet18 bert-base",
	"no model given; try 'sleuth profile resnet50'"};

struct arguments {
	struct model_options model;
	struct plan_options plan;
	struct output output;
	struct loading_options loading; /* of --train */
	struct repeated_values inputs;
	double time_s, precision;
	size_t n_warmup, n_runs, n_top, depth, trace_limit;
	const char *by, *layer, *why;
	int explain, brief, no_experiments, no_ablation, strict;
	const char *train, *optimizer, *loss, *output_name, *freeze;
	const char *recompute;
	size_t accumulate;
	/* Made from the words above. */
	struct sl_profile_view view;
	struct sl_profile_options profile;
	struct sl_training_options training;
	struct sl_loader_options loader;
	struct sl_dataset *data; /* NULL: synthetic inputs */
};

#define AT(field) offsetof(struct arguments, field)

static const struct option options[] = {
	{"time", 0, OPTION_SECONDS, AT(time_s), "S",
	 "for all measuring, after planning (5.5 with planning)", 0.001, 1e6,
	 0},
	{"warmup", 0, OPTION_COUNT, AT(n_warmup), "N",
	 "iterations left out first, instead of detecting them", 1, 1e9, 0},
	{"runs", 0, OPTION_COUNT, AT(n_runs), "N",
	 "rounds of iterations, instead of by time", 1, 1e9, 0},
	{"precision", 0, OPTION_SHARE, AT(precision), "P",
	 "stop once the median's 95 % interval is within P (1%)", 0.0001, 0.5,
	 0},
	{"top", 0, OPTION_COUNT, AT(n_top), "N",
	 "rows of the table of operations (10)", 1, 1e9, 0},
	{"by", 0, OPTION_TEXT, AT(by), "WHAT",
	 "list by layer, type, module or part", 0, 0, 0},
	{"depth", 0, OPTION_COUNT, AT(depth), "N",
	 "parts of a path that --by module keeps", 1, 64, 0},
	{"explain", 0, OPTION_FLAG, AT(explain), NULL,
	 "what each figure means and how it was found", 0, 0, 0},
	{"brief", 0, OPTION_FLAG, AT(brief), NULL,
	 "times, time accounting and memory only", 0, 0, 0},
	{"no-experiments", 0, OPTION_FLAG, AT(no_experiments), NULL,
	 "do not look for what bounds operations", 0, 0, 0},
	{"no-ablation", 0, OPTION_FLAG, AT(no_ablation), NULL,
	 "do not measure what leaving out would gain", 0, 0, 0},
	{"strict", 0, OPTION_FLAG, AT(strict), NULL,
	 "exit 2 when inconclusive, 3 when a cost is unknown", 0, 0, 0},
	{"train", 0, OPTION_MAYBE, AT(train), "OPTIMIZER",
	 "a training step: forward, loss, backward, update", 0, 0, 0},
	{"optimizer", 0, OPTION_TEXT, AT(optimizer), "NAME",
	 "of --train: sgd, momentum, adam (default), adamw", 0, 0, 0},
	{"loss", 0, OPTION_TEXT, AT(loss), "NAME",
	 "of --train: cross-entropy (default), nll, mse, bce", 0, 0, 0},
	{"output", 0, OPTION_TEXT, AT(output_name), "NAME",
	 "of --train: the output that the loss is of (the first)", 0, 0, 0},
	{"freeze", 0, OPTION_TEXT, AT(freeze), "REGEX",
	 "of --train: parameters that are not trained", 0, 0, 0},
	{"accumulate", 0, OPTION_COUNT, AT(accumulate), "K",
	 "of --train: micro-batches before each update (1)", 1, 4096, 0},
	{"recompute", 0, OPTION_TEXT, AT(recompute), "K",
	 "of --train: activations again, of auto or K segments", 0, 0, 0},
	{"layer", 0, OPTION_TEXT, AT(layer), "NAME",
	 "one layer alone, and within its model", 0, 0, 0},
	{"why", 0, OPTION_TEXT, AT(why), "LAYER",
	 "all that is known of one operation", 0, 0, 0},
	{"trace", 0, OPTION_TEXT, AT(output.own[0]), "FILE",
	 "whole iterations, for ui.perfetto.dev", 0, 0, 0},
	{"trace-limit", 0, OPTION_COUNT, AT(trace_limit), "N",
	 "events in a trace at most (100000)", 1, 1e9, 0},
	{"folded", 0, OPTION_TEXT, AT(output.own[1]), "FILE",
	 "folded stacks, for flame graphs", 0, 0, 0},
	{"input", 0, OPTION_WORDS, AT(inputs), "NAME=FILE",
	 "an input from a .npy or .pb file; may be repeated", 0, 0, 1},
};

/* The models of one command line, and what was found in them. */
struct job {
	struct arguments *arguments;
	struct models models;
	size_t n_found;
	const struct sl_profile **found;
	struct sl_layer_profile *layer; /* whose 'alone' was found, or NULL */
};

static void
read_by(struct arguments *a)
{
	static const char *const words[] = {"layer", "type", "module", "part",
					    NULL};

	a->view = (struct sl_profile_view){.struct_size = sizeof(a->view),
					   .n_top = a->n_top,
					   .depth = a->depth,
					   .explain = a->explain};
	if (a->by)
		a->view.by = (enum sl_profile_by)read_choice(help.name, "by",
							     a->by, words);
	else if (a->depth)
		a->view.by = SL_PROFILE_BY_MODULE;
	if (a->depth && a->view.by != SL_PROFILE_BY_MODULE)
		refuse(help.name,
		       "--depth goes with --by module, not with --by %s",
		       a->by);
}

static void
set_profile(struct arguments *a)
{
	a->profile = (struct sl_profile_options){
		.struct_size = sizeof(a->profile),
		.plan = &a->plan.plan,
		.inputs = a->profile.inputs,
		.n_inputs = a->inputs.n,
		.inputs_folder = a->model.inputs,
		.seed = a->plan.seed,
		.time_s = a->time_s,
		.precision = a->precision,
		.n_warmup = a->n_warmup,
		.n_runs = a->n_runs,
		.why = a->why,
	};
	if (a->brief)
		a->profile.flags |= SL_PROFILE_BRIEF;
	if (a->no_experiments)
		a->profile.flags |= SL_PROFILE_NO_DIAGNOSIS;
	if (a->no_ablation)
		a->profile.flags |= SL_PROFILE_NO_ABLATION;
}

/* Options that say nothing of several models are refused. */
static void
check_several(const struct arguments *a, size_t n_models)
{
	const char *option = a->layer           ? "layer"
			     : a->why           ? "why"
			     : a->output.own[0] ? "trace"
			     : a->output.own[1] ? "folded"
						: NULL;

	if (option && n_models > 1)
		refuse(help.name, "--%s is for one model, not %zu", option,
		       n_models);
}

/* It is about experiments, and about one operation of a model. */
static void
check_why(const struct arguments *a)
{
	const char *other = a->layer            ? "layer"
			    : a->train          ? "train"
			    : a->brief          ? "brief"
			    : a->no_experiments ? "no-experiments"
						: NULL;

	if (a->why && other)
		refuse(help.name, "--why does not go with --%s", other);
}

/* What --train and the options beside it say. */
static void
read_training(struct arguments *a)
{
	static const char *const losses[] = {"cross-entropy", "nll", "mse",
					     "bce", NULL};
	const char *alone = a->optimizer     ? "optimizer"
			    : a->loss        ? "loss"
			    : a->output_name ? "output"
			    : a->freeze      ? "freeze"
			    : a->accumulate  ? "accumulate"
			    : a->recompute   ? "recompute"
			    : a->loading.data
				    ? "data"
				    : loading_option_alone(&a->loading);
	const char *optimizer = a->train;

	if (!a->train) {
		if (alone)
			refuse(help.name, "--%s goes with --train", alone);
		return;
	}
	if (a->layer || a->model.inputs)
		refuse(help.name, "--%s does not go with --train",
		       a->layer ? "layer" : "inputs");
	if (loading_option_alone(&a->loading))
		refuse(help.name, "--%s goes with --data NAME",
		       loading_option_alone(&a->loading));
	if (a->loading.data && a->inputs.n)
		refuse(help.name, "--input does not go with --data");
	if (a->optimizer && *a->train)
		refuse(help.name,
		       "--train=%s and --optimizer %s both name an optimizer",
		       a->train, a->optimizer);
	if (a->optimizer)
		optimizer = a->optimizer;
	a->training = (struct sl_training_options){
		.struct_size = sizeof(a->training),
		.loss = (enum sl_loss)read_choice(help.name, "loss", a->loss,
						  losses),
		.output = a->output_name,
		.optimizer = optimizer_named(optimizer, help.name),
		.freeze = a->freeze,
		.seed = a->plan.seed,
		.n_micro_batches = a->accumulate,
		.n_segments = read_segments(a->recompute, help.name),
	};
	a->loader = (struct sl_loader_options){
		.struct_size = sizeof(a->loader),
		.seed = a->plan.seed,
		.n_threads = a->loading.prefetch,
		.augmentation = loading_augmentation(&a->loading)};
}

/* What --data names; 0, or an exit code. */
static int
open_data(struct arguments *a)
{
	const struct sl_dataset_options how = {
		.struct_size = sizeof(how),
		.labels = a->loading.labels,
		.context = (int64_t)a->loading.context,
		.seed = a->plan.seed};
	struct sl_error err;

	if (a->loading.data &&
	    sl_dataset_open(&a->data, a->loading.data, &how, &err))
		return exit_for(help.name, &err);
	a->profile.data = a->data;
	a->profile.loader = &a->loader;
	return 0;
}

static void
check(struct arguments *a)
{
	read_by(a);
	check_why(a);
	read_training(a);
	a->profile.inputs = input_files_parse(&a->inputs, help.name);
	model_options_resolve(&a->model, help.name);
	plan_options_resolve(&a->plan, help.name);
	output_check(&a->output, help.name);
	set_profile(a);
}

static enum sl_status
render(const void *result, const struct sl_render_options *how,
       struct sl_buf *out, struct sl_error *err)
{
	const struct job *job = result;

	struct sl_profile_view view = job->arguments->view;

	view.layer = job->layer;
	return sl_profile_render(job->found, job->n_found, &view, how, out,
				 err);
}

/* What is shown before the bar: the model, as one of several. */
static void
set_label(char *label, size_t n_bytes, const struct job *job, size_t k)
{
	if (job->models.n > 1)
		snprintf(label, n_bytes, "%.24s (%zu of %zu)",
			 job->models.names[k], k + 1, job->models.n);
	else
		snprintf(label, n_bytes, "%.24s", job->models.names[k]);
}

static enum sl_status
profile_model(struct job *job, size_t k, const struct sl_profile_options *how,
	      struct sl_error *err)
{
	const char *layer = job->arguments->layer;
	struct sl_profile *found;
	enum sl_status rc;

	if (layer) {
		rc = sl_profile_layer(&job->layer, job->models.graphs[k], layer,
				      how, err);
		job->found[k] = rc ? NULL : job->layer->alone;
		return rc;
	}
	if (job->arguments->train)
		rc = sl_profile_training(&found, job->models.graphs[k],
					 &job->arguments->training, how, err);
	else
		rc = sl_profile_forward(&found, job->models.graphs[k], how,
					err);
	job->found[k] = found;
	return rc;
}

static int
profile_one(struct job *job, size_t k)
{
	struct arguments *a = job->arguments;
	const struct sl_plan_options before = a->plan.plan;
	struct sl_profile_options how = a->profile;
	enum sl_status rc;
	struct sl_error err;
	char label[80];

	set_label(label, sizeof(label), job, k);
	a->plan.plan.sizes = &job->models.sizes[k];
	model_take_changes(job->models.variants[k], &a->plan.plan);
	how.inputs_folder = job->models.sizes[k].inputs_folder;
	how.interrupt = tty_catch_interrupt();
	how.progress = tty_progress(a->output.quiet);
	how.progress_ctx = label;
	rc = profile_model(job, k, &how, &err);
	a->plan.plan = before;
	if (rc)
		return exit_for_model(help.name, job->models.names[k], &err);
	job->n_found++;
	/* It may have come between two parts of the work. */
	return *how.interrupt ? EXIT_INTERRUPTED : 0;
}

/* What a trace lacks is said where it is asked for. */
static void
remark_on_trace(const struct sl_profile *p, size_t n, const char *file)
{
	if (n)
		complain(help.name, 0,
			 "%s: %zu event%s dropped; --trace-limit sets how many "
			 "there may be",
			 file, n, n == 1 ? " was" : "s were");
	if (!p->memory.n_timeline)
		complain(help.name, 0, "%s: no track of live memory: %s", file,
			 p->memory.tracked_bytes.absent
				 ? p->memory.tracked_bytes.absent
				 : "no step ran");
}

/* The files that one profile alone has. */
static int
write_own(const struct job *job)
{
	const struct arguments *a = job->arguments;
	size_t n_dropped = 0;
	const struct sl_trace_options how = {.struct_size = sizeof(how),
					     .limit = a->trace_limit,
					     .n_dropped = &n_dropped};
	int code = 0;

	for (size_t i = 0; i < 2 && !code; i++) {
		struct sl_buf page = {0};
		struct sl_error err;
		enum sl_status rc;

		if (!a->output.own[i] || !job->found[0])
			continue;
		rc = i ? sl_profile_folded(job->found[0], &page, &err)
		       : sl_profile_trace(job->found[0], &how, &page, &err);
		if (rc)
			code = exit_for(help.name, &err);
		else
			code = output_write_own(&page, help.name,
						a->output.own[i]);
		if (!code && !i && !a->output.quiet)
			remark_on_trace(job->found[0], n_dropped,
					a->output.own[0]);
		sl_buf_release(&page);
	}
	return code;
}

/* Under --strict a total that is not known is not a result, and a verdict
 * that is open is not one either. */
static int
judge(const struct job *job)
{
	int code = 0;

	for (size_t k = 0; k < job->n_found; k++) {
		const struct sl_profile *p = job->found[k];
		size_t n = (size_t)p->model->coverage.unknown.n_nodes;

		if (n) {
			code = complain(help.name, EXIT_INVALID,
					"%s: the cost of %zu node%s is unknown",
					job->models.names[k], n,
					n == 1 ? "" : "s");
			continue;
		}
		if (p->verdict.bottleneck > SL_BOTTLENECK_INCONCLUSIVE ||
		    (p->verdict.bottleneck == SL_BOTTLENECK_NOT_ASKED &&
		     p->ledger.is_closed))
			continue;
		complain(help.name, EXIT_UNDECIDED, "%s: inconclusive",
			 job->models.names[k]);
		code = code ? code : EXIT_UNDECIDED;
	}
	return code;
}

/* What was measured before an interrupt is reported; then its exit code. */
static int
report(const struct job *job, int stopped)
{
	const struct arguments *a = job->arguments;
	int code;

	tty_clear_progress();
	if (!a->output.quiet)
		model_remarks(help.name);
	code = write_own(job);
	if (!code)
		code = output_write(&a->output, help.name, render, job);
	if (code || stopped)
		return code ? code : stopped;
	return a->strict ? judge(job) : 0;
}

static int
run(struct arguments *a, struct models models)
{
	size_t n = models.n;
	struct job job = {.arguments = a,
			  .found = must_alloc(n, sizeof(*job.found))};
	int code = open_data(a);

	models.is_run = 1;
	models_open(&models, &a->model, help.name, a->plan.seed);
	job.models = models;
	for (size_t k = 0; k < n && !code; k++)
		code = profile_one(&job, k);
	if (!code || (code == EXIT_INTERRUPTED && job.n_found))
		code = report(&job, code);
	for (size_t k = 0; k < n && !job.layer; k++)
		sl_profile_free((struct sl_profile *)(uintptr_t)job.found[k]);
	models_close(&models);
	sl_dataset_close(a->data);
	sl_layer_profile_free(job.layer);
	return code;
}

/*
 * `profile --generate N`, `profile --overhead` and `profile op:NAME` are
 * commands of their own: their function, with argv as they take it, or NULL.
 */
static command_function *
other_command(char **argv)
{
	for (char **word = argv + 1; *word && strcmp(*word, "--"); word++) {
		if (!strncmp(*word, "op:", 3) && !strchr(*word, '='))
			return cmd_microbench;
		if (!strcmp(*word, "--overhead")) {
			for (; *word; word++)
				*word = word[1];
			return cmd_overhead;
		}
		if (strncmp(*word, "--generate", 10) ||
		    !strchr("=", (*word)[10]))
			continue;
		*word += 2; /* --tokens is as much shorter */
		memcpy(*word, "--tokens", 8);
		return cmd_generate;
	}
	return NULL;
}

int
cmd_profile(char **argv)
{
	struct arguments a = {0};
	const struct option_group groups[] = {
		OPTION_GROUP(options, &a),
		loading_option_group(&a.loading),
		model_option_group(&a.model),
		plan_option_group(&a.plan),
		output_option_group(&a.output),
	};
	command_function *other = other_command(argv);
	struct models models = {0};

	if (other)
		return other(argv);
	if (options_read_positional_names(&help, groups, 5, argv, &models.names,
					  &models.n))
		return EXIT_DONE;
	check_several(&a, models.n);
	check(&a);
	return run(&a, models);
}
