/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_sweep.c - `sleuth sweep`: models over a range of sizes. */
#include "commands.h"
#include "exit_code.h"
#include "hardware_options.h"
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
	"1 when no point is within the limits, 2 when others\ndisturbed too "
	"much to tell, and 3 when more than half could not be measured.",
	"  sleuth sweep resnet50 --batch 1..64\n"
	"  sleuth sweep bert-base --seq 64..512:64 --time 2\n"
	"  sleuth sweep resnet18 mobilenetv2 --threads 1..N\n"
	"  sleuth sweep mlp:784-256-10 --width 64..4096 --batch 32\n"
	"  sleuth sweep resnet50 --batch 1..64 --mem 2G --latency 50ms\n"
	"  sleuth sweep resnet18 --train --batch 1..16",
	"no model given; try 'sleuth sweep resnet50 --batch 1..64'"};

struct arguments {
	struct model_options model;
	struct plan_options plan;
	struct output output;
	const char *ranges[SL_N_AXES]; /* as given; NULL: not */
	const char *memory, *train, *optimizer;
	struct sl_sweep_values values;
	struct sl_sweep_options sweep;
};

#define AT(field) offsetof(struct arguments, field)

static const struct option options[] = {
	{"batch", 'b', OPTION_TEXT, AT(ranges[SL_AXIS_BATCH]), "RANGE",
	 "batch sizes: 1..64, or a number", 0, 0, 0},
	{"seq", 0, OPTION_TEXT, AT(ranges[SL_AXIS_SEQ]), "RANGE",
	 "length of the sequence, or a number", 0, 0, 0},
	{"threads", 't', OPTION_TEXT, AT(ranges[SL_AXIS_THREADS]), "RANGE",
	 "threads: 1..N is up to all CPUs, or a number", 0, 0, 0},
	{"width", 0, OPTION_TEXT, AT(ranges[SL_AXIS_WIDTH]), "RANGE",
	 "width of mlp:, linear:, conv: or attention:", 0, 0, 0},
	{"train", 0, OPTION_MAYBE, AT(train), "OPTIMIZER",
	 "training steps: sgd, momentum, adam (default), adamw", 0, 0, 1},
	{"optimizer", 0, OPTION_TEXT, AT(optimizer), "NAME",
	 "that --train updates with", 0, 0, 0},
	{"mem", 0, OPTION_TEXT, AT(memory), "SIZE",
	 "the best point takes SIZE at most: 2G, 512Mi", 0, 0, 0},
	{"latency", 0, OPTION_SECONDS, AT(sweep.latency_s), "TIME",
	 "and an iteration takes TIME at most: 50ms", 1e-9, 1e6, 0},
	{"time", 0, OPTION_SECONDS, AT(sweep.time_s), "SECONDS",
	 "for measuring each point (1)", 1e-3, 1e6, 0},
	{"visits", 0, OPTION_COUNT, AT(sweep.n_visits), "N",
	 "times each point is visited, in random order (3)", 1, 20, 0},
	{"warmup", 0, OPTION_COUNT, AT(sweep.n_warmup), "N",
	 "untimed iterations of a visit", 0, 1e6, 0},
	{"runs", 0, OPTION_COUNT, AT(sweep.n_runs), "N",
	 "exactly N timed iterations of a visit", 1, 1e6, 0},
};

RENDER_WITH(sl_sweep_render)

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

/* A number fixes a size for all points, a range is what changes. */
static void
read_range(struct arguments *a, enum sl_axis axis)
{
	const char *name = sl_axis_text(axis), *text = a->ranges[axis];
	size_t *fixed[SL_N_AXES] = {[SL_AXIS_BATCH] = &a->model.batch,
				    [SL_AXIS_SEQ] = &a->model.seq,
				    [SL_AXIS_THREADS] = &a->plan.threads};
	struct sl_sweep_values values;
	struct sl_error err;

	if (is_range(text) && a->values.n)
		refuse(help.name,
		       "--%s %s: one range at a time; --%s is one already",
		       name, text, sl_axis_text(a->sweep.axis));
	if (sl_sweep_read(&values, axis, text, &err))
		refuse(help.name, "--%s %s: %s", name, text, err.text);
	if (is_range(text)) {
		a->values = values;
		a->sweep.axis = axis;
		return;
	}
	if (axis == SL_AXIS_WIDTH)
		refuse(help.name,
		       "--width %s: the width of one model is in its name; "
		       "give a range",
		       text);
	*fixed[axis] = (size_t)values.values[0];
}

static void
read_training(struct arguments *a)
{
	if (!a->train && a->optimizer)
		refuse(help.name, "--optimizer goes with --train");
	if (!a->train)
		return;
	if (a->model.inputs)
		refuse(help.name, "--inputs does not go with --train");
	if (a->optimizer && *a->train)
		refuse(help.name,
		       "--train=%s and --optimizer %s both name an optimizer",
		       a->train, a->optimizer);
	a->sweep.optimizer = optimizer_named(
		a->optimizer ? a->optimizer : a->train, help.name);
}

static void
check(struct arguments *a)
{
	read_training(a);
	for (int i = 0; i < SL_N_AXES; i++) {
		if (a->ranges[i])
			read_range(a, (enum sl_axis)i);
	}
	if (!a->values.n)
		refuse(help.name,
		       "what should change? add a range, such as --batch "
		       "1..64");
	if (a->memory)
		a->sweep.memory_bytes =
			parse_memory_bytes(a->memory, help.name);
	model_options_resolve(&a->model, help.name);
	plan_options_resolve(&a->plan, help.name);
	output_check(&a->output, help.name);
}

/* Others may disturb too much for a best point to be named: no limit is broken
 * for that, but none is proved to be kept either. */
static int
budget_code(const struct sl_sweep *sweep)
{
	int has_limits = sweep->memory_bytes > 0 || sweep->latency_s > 0;
	int code = EXIT_REGRESSED;

	for (size_t i = 0; i < sweep->n_series; i++) {
		const struct sl_sweep_series *s = &sweep->series[i];

		if (!s->best.absent)
			return EXIT_FINE;
		if (s->best.is_disturbed)
			code = has_limits ? EXIT_UNDECIDED : EXIT_FINE;
	}
	return code;
}

static int
report(struct arguments *a, const struct sl_sweep *sweep)
{
	size_t n_points = 0, n_measured = 0;
	int code = output_write(&a->output, help.name, render, sweep);

	for (size_t i = 0; i < sweep->n_series; i++) {
		n_points += sweep->series[i].n_points;
		n_measured += sweep->series[i].n_measured;
	}
	if (code)
		return code;
	if (sweep->stopped_by == SL_STOP_INTERRUPT)
		return EXIT_INTERRUPTED;
	if (2 * n_measured < n_points)
		return complain(help.name, EXIT_INVALID,
				"%zu of %zu points could not be measured",
				n_points - n_measured, n_points);
	return budget_code(sweep);
}

static int
run(struct arguments *a, const struct sl_sweep_model *models, size_t n)
{
	struct sl_sweep *sweep;
	struct sl_error err;
	int code;

	a->sweep.struct_size = sizeof(a->sweep);
	a->sweep.values = a->values.values;
	a->sweep.n_values = a->values.n;
	a->sweep.plan = &a->plan.plan;
	a->sweep.inputs_folder = models[0].sizes->inputs_folder;
	a->sweep.seed = a->plan.seed;
	a->sweep.interrupt = tty_catch_interrupt();
	a->sweep.progress = tty_progress(a->output.quiet);
	a->sweep.progress_ctx = (void *)(uintptr_t)help.name;
	if (sl_sweep(&sweep, models, n, &a->sweep, &err))
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
		OPTION_GROUP(options, &a),
		without_ranges(model_option_group(&a.model)),
		without_ranges(plan_option_group(&a.plan)),
		output_option_group(&a.output),
	};
	struct sl_sweep_model *models;
	struct models m = {0};
	int code;

	if (options_read_positional_names(&help, groups, 4, argv, &m.names,
					  &m.n))
		return EXIT_DONE;
	check(&a);
	models = must_alloc(m.n, sizeof(*models));
	/* Along width they are opened point by point. */
	if (a.sweep.axis != SL_AXIS_WIDTH)
		models_open(&m, &a.model, help.name, a.plan.seed);
	for (size_t i = 0; i < m.n; i++) {
		/* The data of a folder have one sequence length. */
		if (m.graphs && (m.n > 1 || a.sweep.axis == SL_AXIS_SEQ))
			m.sizes[i].inputs_folder = a.model.inputs;
		models[i].name = m.names[i];
		models[i].graph = m.graphs ? m.graphs[i] : NULL;
		models[i].sizes = m.graphs ? &m.sizes[i] : &a.model.sizes;
	}
	code = run(&a, models, m.n);
	if (m.graphs)
		models_close(&m);
	return code;
}
