/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_inspect.c - `sleuth inspect`: a model's sizes and costs, without a run.
 */
#include "commands.h"
#include "exit_code.h"
#include "hardware_options.h"
#include "model_options.h"
#include "options.h"
#include "output.h"

#include <stdio.h>
#include <string.h>

static const struct command_help help = {
	"inspect", "MODEL... [options]",
	"Says what a model holds, computes and needs, without running it: "
	"parameters,\nFLOPs as every tool counts them, bytes moved, memory to "
	"run and to train, layer\nby layer, and how all that grows. MODEL is "
	"an ONNX file or a built-in one such\nas resnet50, gpt2 or "
	"mlp:784-256-128-10 ('sleuth zoo' lists them); several are\nput side "
	"by side.",
	"  sleuth inspect model.onnx\n"
	"  sleuth inspect gpt2 --seq 1024 --by type\n"
	"  sleuth inspect resnet50 --explain fvcore,thop\n"
	"  sleuth inspect resnet50 --on all --rate 50/s --latency 20ms\n"
	"  sleuth inspect mlp:784-256-128-10 resnet50 bert-base",
	"no model given; try 'sleuth inspect resnet50'"};

/* Weights that take long to read. */
#define MANY_WEIGHTS 500000000u

struct arguments {
	struct model_options model;
	struct hardware_options hardware;
	struct output output;
	size_t n_top, depth, seed;
	const char *by, *explain;
	int weights, strict;
	/* Made from the words above. */
	struct sl_inspect_view view;
	enum sl_convention conventions[SL_N_CONVENTIONS];
	size_t n_conventions;
};

#define AT(field) offsetof(struct arguments, field)

static const struct option options[] = {
	{"by", 0, OPTION_TEXT, AT(by), "WHAT",
	 "list by layer, type or depth (of module paths)", 0, 0, 0},
	{"depth", 0, OPTION_COUNT, AT(depth), "N",
	 "parts of a path that --by depth keeps (1)", 1, 64, 0},
	{"top", 0, OPTION_COUNT, AT(n_top), "N", "rows to show", 1, 1e9, 0},
	{"explain", 0, OPTION_TEXT, AT(explain), "LIST",
	 "why tools differ: core, fvcore, thop, ...", 0, 0, 0},
	{"weights", 0, OPTION_FLAG, AT(weights), NULL,
	 "read all weights and describe them", 0, 0, 0},
	{"seed", 0, OPTION_COUNT, AT(seed), "N",
	 "of the weights of built-in models (1)", 1, 1e19, 0},
	{"strict", 0, OPTION_FLAG, AT(strict), NULL,
	 "exit with 3 when the cost of a node is unknown", 0, 0, 0},
};

/* The models of one command line, and what was found in them. */
struct job {
	const struct arguments *arguments;
	struct models models;
	/* Of those that could be inspected, in order. */
	size_t n_found;
	const char **names;
	struct sl_inspection **found;
	struct sl_hardware_report **placed; /* NULL without --on */
};

static void
read_by(struct arguments *a)
{
	static const char *const words[] = {"layer", "type", "depth", NULL};
	static const enum sl_by values[] = {SL_BY_LAYER, SL_BY_TYPE,
					    SL_BY_PATH};

	a->view = (struct sl_inspect_view){.struct_size = sizeof(a->view),
					   .depth = a->depth,
					   .n_top = a->n_top};
	if (a->by)
		a->view.by = values[read_choice(help.name, "by", a->by, words)];
	else if (a->depth)
		a->view.by = SL_BY_PATH;
	if (a->depth && a->view.by != SL_BY_PATH)
		refuse(help.name,
		       "--depth goes with --by depth, not with --by %s", a->by);
}

static void
add_convention(struct arguments *a, const char *word, size_t n_letters)
{
	char meant[32];
	const char *near = NULL;

	snprintf(meant, sizeof(meant), "%.*s", (int)n_letters, word);
	for (int i = 0; i < SL_N_CONVENTIONS; i++) {
		const char *name = sl_convention_text((enum sl_convention)i);

		near = sl_text_nearer(meant, near, name);
		if (strlen(name) != n_letters ||
		    strncmp(name, word, n_letters) != 0)
			continue;
		for (size_t k = 0; k < a->n_conventions; k++) {
			if (a->conventions[k] == (enum sl_convention)i)
				refuse(help.name,
				       "--explain %s: '%s' is there twice",
				       a->explain, name);
		}
		a->conventions[a->n_conventions++] = (enum sl_convention)i;
		return;
	}
	if (near)
		refuse(help.name, "--explain %s: did you mean '%s'?",
		       a->explain, near);
	refuse(help.name,
	       "--explain %s: '%.*s' is none of core, torch, fvcore, thop, "
	       "all, core_causal",
	       a->explain, (int)n_letters, word);
}

static void
read_explain(struct arguments *a)
{
	const char *word = a->explain;

	while (word) {
		size_t n = strcspn(word, ",");

		add_convention(a, word, n);
		word = word[n] ? word + n + 1 : NULL;
	}
	if (a->n_conventions == 1 && a->conventions[0] == SL_CONVENTION_CORE)
		refuse(help.name,
		       "--explain core: name what to compare it with, as in "
		       "core,fvcore");
}

static enum sl_status
render(const void *result, const struct sl_render_options *how,
       struct sl_buf *out, struct sl_error *err)
{
	const struct job *job = result;
	struct sl_inspect_view view = job->arguments->view;

	for (size_t k = 0; job->placed && k < job->n_found; k++)
		job->found[k]->hardware = job->placed[k];
	return sl_inspection_render(
		(const struct sl_inspection *const *)job->found, job->n_found,
		&view, how, out, err);
}

static enum sl_status
place_one(struct job *job, size_t k, struct sl_error *err)
{
	const struct hardware_options *o = &job->arguments->hardware;
	struct sl_hardware_options how = o->how;

	how.sizes = &job->models.sizes[k];
	return sl_hardware_report(
		&job->placed[job->n_found], job->models.graphs[k],
		(const struct sl_hardware *const *)o->machines, o->n_machines,
		&how, err);
}

/* Reading very many numbers takes minutes; say so. */
static void
warn_of_weights(const struct job *job, size_t k)
{
	uint64_t n;

	if (job->arguments->output.quiet || !job->arguments->weights ||
	    sl_count_parameters(&n, job->models.graphs[k], NULL) ||
	    n < MANY_WEIGHTS)
		return;
	complain(help.name, 0,
		 "%s: reading %.1f billion weights; this takes a while",
		 job->models.names[k], (double)n / 1e9);
}

/* Where that fails, the others are still inspected. */
static void
inspect_one(struct job *job, size_t k, struct sl_error *err)
{
	const struct arguments *a = job->arguments;
	const struct sl_inspect_options how = {
		.struct_size = sizeof(how),
		.sizes = &job->models.sizes[k],
		.explain = a->conventions,
		.n_explain = a->n_conventions,
		.weights = a->weights,
	};
	struct sl_inspection **found = &job->found[job->n_found];
	enum sl_status rc;

	warn_of_weights(job, k);
	rc = sl_inspect(found, job->models.graphs[k], &how, err);
	if (!rc && job->placed)
		rc = place_one(job, k, err);
	if (rc) {
		sl_inspection_free(*found);
		return;
	}
	job->names[job->n_found++] = job->models.names[k];
}

/* Under --strict a total that is not known is not a result. */
static int
check_coverage(const struct job *job)
{
	int code = 0;

	for (size_t k = 0; k < job->n_found; k++) {
		const struct sl_coverage *c = &job->found[k]->coverage;
		size_t n = (size_t)c->unknown.n_nodes;

		if (n)
			code = complain(help.name, EXIT_INVALID,
					"%s: the cost of %zu node%s is unknown",
					job->names[k], n, n == 1 ? "" : "s");
	}
	return code;
}

/* What could not be inspected is told last; the first decides the code. */
static int
tell_errors(const struct job *job, const struct sl_error *errors)
{
	int code = 0;

	for (size_t k = 0; k < job->models.n; k++) {
		int next = errors[k].status
				   ? exit_for_model(help.name,
						    job->models.names[k],
						    &errors[k])
				   : 0;

		code = code ? code : next;
	}
	return code;
}

static int
run(const struct arguments *a, struct models models)
{
	size_t n = models.n;
	struct job job = {.arguments = a,
			  .models = models,
			  .names = must_alloc(n, sizeof(*job.names)),
			  .found = must_alloc(n, sizeof(*job.found))};
	struct sl_error *errors = must_alloc(n, sizeof(*errors));
	int code = 0;

	if (a->hardware.n_machines)
		job.placed = must_alloc(n, sizeof(*job.placed));
	for (size_t k = 0; k < n; k++)
		inspect_one(&job, k, &errors[k]);
	if (job.n_found)
		code = output_write(&a->output, help.name, render, &job);
	if (!code)
		code = tell_errors(&job, errors);
	if (!code && a->strict)
		code = check_coverage(&job);
	for (size_t k = 0; k < job.n_found; k++) {
		if (job.placed)
			sl_hardware_report_free(job.placed[k]);
		sl_inspection_free(job.found[k]);
	}
	return code;
}

int
cmd_inspect(char **argv)
{
	struct arguments a = {.model = {.is_static = 1}};
	const struct option_group groups[] = {
		model_option_group(&a.model),
		OPTION_GROUP(options, &a),
		hardware_option_group(&a.hardware),
		output_option_group(&a.output),
	};
	struct models models = {0};
	int code;

	if (options_read_positional_names(&help, groups, 4, argv, &models.names,
					  &models.n))
		return EXIT_DONE;
	read_by(&a);
	read_explain(&a);
	model_options_resolve(&a.model, help.name);
	hardware_options_resolve(&a.hardware, help.name);
	output_check(&a.output, help.name);
	models_open(&models, &a.model, help.name, a.seed);
	code = run(&a, models);
	models_close(&models);
	hardware_options_release(&a.hardware);
	return code;
}
