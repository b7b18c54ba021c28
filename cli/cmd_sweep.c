/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_sweep.c - `sleuth sweep`: models over a range of sizes. */
#include "commands.h"
#include "exit_code.h"
#include "model_options.h"
#include "options.h"
#include "output.h"
#include "plan_options.h"
#include "tty.h"

#include <string.h>

static const struct command_help help = {
	"sweep", "MODEL [MODEL...] --batch 1..64 [options]",
	"Measures models over a range of one size: batch, sequence, threads or "
	"width of\nlayers. Says how time, throughput and memory grow, with "
	"fitted exponents beside\nthose of the formulas, where the knee is, "
	"and which size is best within limits.\n1..64 doubles, 64..512:64 goes "
	"in steps, 1,3,8 is a list; a single number fixes\na size. Exits with "
	"1 when no point is within the limits.",
	"  sleuth sweep resnet50 --batch 1..64\n"
	"  sleuth sweep bert-base --seq 64..512:64 --time 2\n"
	"  sleuth sweep resnet18 mobilenetv2 --threads 1..N\n"
	"  sleuth sweep mlp:784-256-10 --width 64..4096 --batch 32\n"
	"  sleuth sweep resnet50 --batch 1..64 --mem 2G --latency 50ms"};

struct arguments {
	struct model_options model;
	struct plan_options plan;
	struct output output;
	const char *ranges[SL_N_AXES]; /* as given; NULL: not */
	const char *memory;
	struct sl_sweep_values values;
	struct sl_sweep_options sweep;
};

#define AT(field) offsetof(struct arguments, field)

static const struct option options[] = {
	{"batch", 'b', OPTION_TEXT, AT(ranges[SL_AXIS_BATCH]), "RANGE",
	 "samples at once: 1..64, or a number", 0, 0, 0},
	{"seq", 0, OPTION_TEXT, AT(ranges[SL_AXIS_SEQ]), "RANGE",
	 "length of the sequence, or a number", 0, 0, 0},
	{"threads", 't', OPTION_TEXT, AT(ranges[SL_AXIS_THREADS]), "RANGE",
	 "threads: 1..N is up to all CPUs, or a number", 0, 0, 0},
	{"width", 0, OPTION_TEXT, AT(ranges[SL_AXIS_WIDTH]), "RANGE",
	 "width of mlp:, linear:, conv: or attention:", 0, 0, 0},
	{"mem", 0, OPTION_TEXT, AT(memory), "SIZE",
	 "the best point takes SIZE at most: 2G, 512Mi", 0, 0, 0},
	{"latency", 0, OPTION_SECONDS, AT(sweep.latency_s), "TIME",
	 "and a pass takes TIME at most: 50ms", 1e-9, 1e6, 0},
	{"time", 0, OPTION_SECONDS, AT(sweep.time_s), "SECONDS",
	 "for measuring each point (1)", 1e-3, 1e6, 0},
	{"visits", 0, OPTION_COUNT, AT(sweep.n_visits), "N",
	 "times each point is visited, in random order (3)", 1, 20, 0},
	{"warmup", 0, OPTION_COUNT, AT(sweep.n_warmup), "N",
	 "untimed passes of a visit", 0, 1e6, 0},
	{"runs", 0, OPTION_COUNT, AT(sweep.n_runs), "N",
	 "exactly N timed passes of a visit", 1, 1e6, 0},
};

static enum sl_status
render(const void *result, const struct sl_render_options *how,
       struct sl_buf *out, struct sl_error *err)
{
	return sl_sweep_render(result, how, out, err);
}

/* A group without the options that this command reads as ranges. */
static struct option_group
without_ranges(struct option_group group)
{
	struct option *kept = must_alloc(group.n, sizeof(*kept));
	size_t n = 0;

	for (size_t i = 0; i < group.n; i++) {
		const char *name = group.options[i].name;

		if (strcmp(name, "batch") && strcmp(name, "seq") &&
		    strcmp(name, "threads"))
			kept[n++] = group.options[i];
	}
	group.options = kept;
	group.n = n;
	return group;
}

static int
is_range(const char *text)
{
	return strchr(text, ',') || strstr(text, "..");
}

/* A number fixes a size for all points. */
static int
fix_size(struct arguments *a, enum sl_axis axis)
{
	const char *name = sl_axis_text(axis), *text = a->ranges[axis];
	struct sl_sweep_values one;
	struct sl_error err;

	if (sl_sweep_read(&one, axis, text, &err))
		return complain(help.name, EXIT_USAGE, "--%s %s: %s", name,
				text, err.text);
	if (axis == SL_AXIS_WIDTH)
		return complain(help.name, EXIT_USAGE,
				"--width %s: the width of one model is in its "
				"name; give a range",
				text);
	if (axis == SL_AXIS_BATCH)
		a->model.batch = (size_t)one.values[0];
	else if (axis == SL_AXIS_SEQ)
		a->model.seq = (size_t)one.values[0];
	else
		a->plan.threads = (size_t)one.values[0];
	return 0;
}

static int
take_axis(struct arguments *a, enum sl_axis axis)
{
	const char *name = sl_axis_text(axis), *text = a->ranges[axis];
	struct sl_error err;

	if (a->values.n)
		return complain(help.name, EXIT_USAGE,
				"--%s %s: one range at a time; --%s is one "
				"already",
				name, text, sl_axis_text(a->sweep.axis));
	if (sl_sweep_read(&a->values, axis, text, &err))
		return complain(help.name, EXIT_USAGE, "--%s %s: %s", name,
				text, err.text);
	a->sweep.axis = axis;
	return 0;
}

static int
read_ranges(struct arguments *a)
{
	int code = 0;

	for (int i = 0; !code && i < SL_N_AXES; i++) {
		if (!a->ranges[i])
			continue;
		code = is_range(a->ranges[i]) ? take_axis(a, (enum sl_axis)i)
					      : fix_size(a, (enum sl_axis)i);
	}
	if (!code && !a->values.n)
		code = complain(help.name, EXIT_USAGE,
				"what should change? add a range, such as "
				"--batch 1..64");
	return code;
}

static int
check(struct arguments *a)
{
	int code = read_ranges(a);

	if (!code && a->memory &&
	    (!sl_quantity_read(&a->sweep.memory_bytes, a->memory) ||
	     !(a->sweep.memory_bytes > 0)))
		code = complain(help.name, EXIT_USAGE,
				"--mem %s: not a size such as 8G, 16Gi or 512M",
				a->memory);
	if (!code)
		code = model_options_check(&a->model, help.name);
	if (!code)
		code = plan_options_check(&a->plan, help.name);
	return code ? code : output_check(&a->output, help.name);
}

/* What the models are and the sizes they have; along width they are opened
 * point by point. */
static int
open_models(struct arguments *a, const char **names, size_t n,
	    struct sl_graph **graphs, struct sl_sweep_model *models)
{
	int code = 0;

	for (size_t i = 0; !code && i < n; i++) {
		models[i].name = names[i];
		models[i].sizes = &a->model.sizes;
		if (a->sweep.axis != SL_AXIS_WIDTH)
			code = model_open(&graphs[i], help.name, names[i],
					  a->plan.seed);
		models[i].graph = graphs[i];
	}
	if (code || a->sweep.axis == SL_AXIS_WIDTH || n < 2)
		return code;
	code = model_sizes_check(&a->model, graphs, n, help.name);
	for (size_t i = 0; !code && i < n; i++) {
		struct sl_sizes *sizes = must_alloc(1, sizeof(*sizes));

		*sizes = model_sizes(&a->model, graphs[i]);
		models[i].sizes = sizes;
	}
	return code;
}

static int
report(struct arguments *a, const struct sl_sweep *sweep)
{
	size_t n_measured = 0, n_best = 0;
	int code;

	if (!a->output.quiet)
		model_remarks(help.name);
	code = output_write(&a->output, help.name, render, sweep);
	for (size_t i = 0; i < sweep->n_series; i++) {
		n_measured += sweep->series[i].n_measured;
		n_best += !sweep->series[i].best.absent;
	}
	if (code)
		return code;
	if (sweep->stopped_by == SL_STOP_INTERRUPT)
		return EXIT_INTERRUPTED;
	if (!n_measured)
		return complain(help.name, EXIT_INVALID,
				"no point could be measured");
	return n_best ? 0 : EXIT_REGRESSED; /* over the budget */
}

static int
run(struct arguments *a, const struct sl_sweep_model *models, size_t n)
{
	struct sl_sweep *sweep;
	struct sl_error err;
	enum sl_status rc;
	char name[] = "sweep";
	int code;

	a->sweep.struct_size = sizeof(a->sweep);
	a->sweep.values = a->values.values;
	a->sweep.n_values = a->values.n;
	a->sweep.plan = &a->plan.plan;
	a->sweep.inputs_folder = a->model.inputs;
	a->sweep.seed = a->plan.seed;
	a->sweep.interrupt = tty_catch_interrupt();
	if (tty_shows_progress() && !a->output.quiet) {
		a->sweep.progress = tty_progress;
		a->sweep.progress_ctx = name;
	}
	rc = sl_sweep(&sweep, models, n, &a->sweep, &err);
	tty_clear_progress();
	if (rc)
		return exit_for(help.name, &err);
	code = report(a, sweep);
	sl_sweep_free(sweep);
	return code;
}

int
cmd_sweep(char **argv)
{
	struct arguments a = {0};
	const struct option_group groups[] = {
		{options, sizeof(options) / sizeof(options[0]), &a},
		without_ranges(model_group(&a.model)),
		without_ranges(plan_group(&a.plan)),
		output_group(&a.output),
	};
	struct sl_sweep_model *models;
	struct sl_graph **graphs;
	const char **names;
	size_t n;
	int code = options_read_names(&help, groups, 4, argv, &names, &n);

	if (code)
		return code;
	if (n == 0)
		return complain(help.name, EXIT_USAGE,
				"no model given; try 'sleuth sweep resnet50 "
				"--batch 1..64'");
	code = check(&a);
	if (code)
		return code;
	models = must_alloc(n, sizeof(*models));
	graphs = must_alloc(n, sizeof(*graphs));
	code = open_models(&a, names, n, graphs, models);
	if (!code)
		code = run(&a, models, n);
	for (size_t i = 0; i < n; i++)
		sl_graph_free(graphs[i]);
	return code;
}
