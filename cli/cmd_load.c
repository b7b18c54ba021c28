/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_load.c - `sleuth load`: a model under load, and whether a limit holds. */
#include "commands.h"
#include "exit_code.h"
#include "model_options.h"
#include "options.h"
#include "output.h"
#include "plan_options.h"
#include "tty.h"

#include <stdlib.h>
#include <string.h>

enum { BATCH_USUAL = 8 };

static const struct command_help help = {
	"load", "MODEL --scenario WHAT [options]",
	"Puts a model under load as MLPerf does: one query after another "
	"(single), queries\nof 8 samples (multi), queries that arrive at "
	"random (server), or all samples at\nonce (offline). Latency counts "
	"from when a query was to arrive, so that waiting\nis part of it. With "
	"--slo it decides whether a percentile stays within a limit;\na server "
	"without --qps is asked for the highest rate that does. Exits with 1 "
	"where\nthe limit or rate does not hold, 2 where that is open, 3 where "
	"the dispatcher was\ntoo late to say.",
	"  sleuth load resnet50 --scenario single\n"
	"  sleuth load mobilenetv2 --scenario server --qps 20 --slo p99=100ms\n"
	"  sleuth load mobilenetv2 --scenario server --slo p90=50ms --time 20\n"
	"  sleuth load mobilenetv2 --scenario server --qps 40 --batching on",
	"no model given; try 'sleuth load resnet50 --scenario single'"};

struct arguments {
	struct model_options model;
	struct plan_options plan;
	struct output output;
	const char *scenario, *qps, *slo, *batching;
	size_t batch_most;
	int search;
	double time_s;
	struct sl_load_options load;
};

#define AT(field) offsetof(struct arguments, field)

static const struct option options[] = {
	{"scenario", 0, OPTION_TEXT, AT(scenario), "WHAT",
	 "single (default), multi, server or offline", 0, 0, 0},
	{"qps", 0, OPTION_TEXT, AT(qps), "N",
	 "queries that arrive in a second (server)", 0, 0, 0},
	{"slo", 0, OPTION_TEXT, AT(slo), "LIMIT",
	 "latency limit of a percentile: p99=50ms", 0, 0, 0},
	{"search", 0, OPTION_FLAG, AT(search), NULL,
	 "find the highest rate that holds the limit (server)", 0, 0, 0},
	{"batching", 0, OPTION_TEXT, AT(batching), "HOW",
	 "off (default), or on: queries that wait run together", 0, 0, 0},
	{"max-batch", 0, OPTION_COUNT, AT(batch_most), "N",
	 "with batching, queries that run together at most (8)", 2, 32768, 0},
	{"time", 0, OPTION_SECONDS, AT(time_s), "SECONDS",
	 "of measuring (10; server 20; a search 60)", 0.001, 1e6, 0},
};

RENDER_WITH(sl_load_render)

/* "p99=50ms" */
static void
read_limit(struct arguments *a)
{
	const char *equals;
	char *end = NULL;
	double percent = 0;

	if (!a->slo)
		return;
	equals = strchr(a->slo, '=');
	if (equals && (a->slo[0] == 'p' || a->slo[0] == 'P'))
		percent = strtod(a->slo + 1, &end);
	if (!equals || end != equals || end == a->slo + 1 ||
	    !parse_seconds(&a->load.limit_s, equals + 1) ||
	    !(a->load.limit_s > 0))
		refuse(help.name, "--slo %s: must be such as p99=50ms", a->slo);
	if (!(percent >= 50 && percent <= 99.99))
		refuse(help.name, "--slo %s: a percentile of 50 to 99.99",
		       a->slo);
	a->load.percentile = percent / 100;
}

static void
check(struct arguments *a)
{
	static const char *const scenarios[] = {"single", "multi", "server",
						"offline", NULL};
	static const char *const switches[] = {"off", "on", NULL};
	int is_server, is_batching;

	a->load.scenario = (enum sl_scenario)read_choice(
		help.name, "scenario", a->scenario, scenarios);
	is_server = a->load.scenario == SL_SCENARIO_SERVER;
	is_batching =
		read_choice(help.name, "batching", a->batching, switches) != 0;
	read_limit(a);
	if (a->qps && (!sl_quantity_read(&a->load.rate_per_s, a->qps) ||
		       !(a->load.rate_per_s > 0) || a->load.rate_per_s > 1e6))
		refuse(help.name, "--qps %s: must be above 0, at most 1M",
		       a->qps);
	if (!is_server && (a->qps || a->search || is_batching))
		refuse(help.name,
		       "%s is for --scenario server: in the others the next "
		       "query comes when one is served",
		       a->qps      ? "--qps"
		       : a->search ? "--search"
				   : "--batching");
	if (a->search && a->qps)
		refuse(help.name, "--search finds the rate; leave --qps out");
	if (is_server && !a->qps && !a->slo)
		refuse(help.name, "how many queries? add --qps 20, or --slo "
				  "p99=50ms to find the highest rate for");
	if (a->batch_most && !is_batching)
		refuse(help.name, "--max-batch goes with --batching on");
	if (is_batching)
		a->load.batch_most = a->batch_most ? a->batch_most
						   : BATCH_USUAL;
	model_options_resolve(&a->model, help.name);
	plan_options_resolve(&a->plan, help.name);
	output_check(&a->output, help.name);
}

static int
exit_for_verdict(const struct sl_load *load)
{
	return load->verdict == SL_LOAD_FAILS       ? EXIT_REGRESSED
	       : load->verdict == SL_LOAD_UNDECIDED ? EXIT_UNDECIDED
	       : load->verdict == SL_LOAD_INVALID   ? EXIT_INVALID
						    : EXIT_FINE;
}

static int
run(struct arguments *a, const char *name)
{
	struct sl_graph *graph =
		model_open_sized(help.name, name, &a->model, a->plan.seed);
	struct sl_plan_options plan = a->plan.plan;
	struct sl_load_options *how = &a->load;
	struct sl_load *found;
	struct sl_error err;
	int code;

	plan.sizes = &a->model.sizes;
	how->struct_size = sizeof(*how);
	how->plan = &plan;
	how->inputs_folder = a->model.inputs;
	how->time_s = a->time_s;
	how->seed = a->plan.seed;
	how->interrupt = tty_catch_interrupt();
	how->progress = tty_progress(a->output.quiet);
	how->progress_ctx = (void *)(uintptr_t)name;
	if (sl_load(&found, graph, how, &err)) {
		code = exit_for_model(help.name, name, &err);
	} else {
		code = output_write(&a->output, help.name, render, found);
		code = exit_unless_stopped(code, found->stopped_by);
		if (!code)
			code = exit_for_verdict(found);
		sl_load_free(found);
	}
	sl_graph_free(graph);
	return code;
}

int
cmd_load(char **argv)
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
	check(&a);
	return run(&a, model);
}
