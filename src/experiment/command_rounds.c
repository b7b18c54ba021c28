/* SPDX-License-Identifier: Apache-2.0 */
/*
 * command_rounds.c - whole commands, run in random-order rounds.
 *
 * Every round runs each command once, in an order drawn afresh, so that
 * whatever happens to the machine happens to all of them alike.  The columns
 * of runs grow between rounds, never while a command runs (that is another
 * process anyway).  A round in which an interrupt fell does not count: it may
 * have ended a command.
 */
#include "experiment/command_rounds.h"
#include "base/buf.h"
#include "base/status.h"
#include "experiment/stderr_lines.h"
#include "stats/quantile.h"
#include "stats/summary.h"

#include <math.h>
#include <string.h>

#include "base/banned.h"

/*
 * The commands of a benchmark, ready for the launcher.
 *
 * All looking up happens here, before anything is timed: a command that does
 * not exist is told at once, not in the middle of a run.
 */

static size_t
table_index(size_t command, enum sl__command_stage part)
{
	return command * SL__N_COMMAND_STAGES + (size_t)part;
}

static size_t
idle_shell(const struct sl__command_table *table)
{
	return table->n * SL__N_COMMAND_STAGES;
}

static size_t
count_words(const char *const *argv)
{
	size_t n = 0;

	while (argv[n])
		n++;
	return n;
}

static const char *const *
copy_words(const char *const *argv, struct sl__arena *arena)
{
	size_t n = count_words(argv);
	const char **copy = sl__arena_array(arena, n + 1, sizeof(*copy));

	for (size_t i = 0; copy && i < n; i++) {
		copy[i] = sl__arena_string(arena, argv[i]);
		if (!copy[i])
			return NULL;
	}
	return copy;
}

/* The words as a person would type them. */
static const char *
join_words(const char *const *argv, struct sl__arena *arena)
{
	struct sl_buf line = {0};
	const char *copy = NULL;

	for (size_t i = 0; argv[i]; i++) {
		sl__buf_text(&line, i ? " " : "");
		sl__buf_shell_word(&line, argv[i]);
	}
	if (!sl__buf_status(&line, NULL))
		copy = sl__arena_string(arena, line.data);
	sl_buf_release(&line);
	return copy;
}

/* 'shell' may have arguments of its own, blanks between: "bash --norc". */
static enum sl_status
shell_program(struct sl__executable *out, const char *shell, const char *line,
	      struct sl__arena *arena, struct sl_error *err)
{
	char *words = sl__arena_string(arena, shell);
	size_t n = 0, n_most = strlen(shell) / 2 + 1;
	const char **argv = sl__arena_array(arena, n_most + 3, sizeof(*argv));
	char *rest = NULL;

	if (!argv || !words)
		return sl__fail_nomem(err);
	for (char *word = strtok_r(words, " ", &rest); word;
	     word = strtok_r(NULL, " ", &rest))
		argv[n++] = word;
	out->file = sl__launcher_find_program(n ? argv[0] : shell, arena, err);
	if (!out->file)
		return SL_E_MEASURE;
	argv[n++] = "-c";
	argv[n] = line;
	out->argv = argv;
	return SL_OK;
}

static enum sl_status
copy_command(struct sl_command *out, const struct sl_command *in,
	     struct sl__arena *arena, struct sl_error *err)
{
	const char *const *lines[] = {&in->setup, &in->prepare, &in->conclude,
				      &in->cleanup, &in->output};
	const char **copies[] = {&out->setup, &out->prepare, &out->conclude,
				 &out->cleanup, &out->output};

	if (!in->argv == !in->shell_line || (in->argv && !in->argv[0]))
		return sl__fail(err, SL_E_USAGE, "a command is empty");
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		*copies[i] = sl__arena_string(arena, *lines[i]);
		if (*lines[i] && !*copies[i])
			return sl__fail_nomem(err);
	}
	out->argv = in->argv ? copy_words(in->argv, arena) : NULL;
	out->shell_line = sl__arena_string(arena, in->shell_line);
	out->name = in->name   ? sl__arena_string(arena, in->name)
		    : in->argv ? join_words(in->argv, arena)
			       : out->shell_line;
	if (!out->name || (!out->argv && !out->shell_line))
		return sl__fail_nomem(err);
	return SL_OK;
}

static enum sl_status
copy_parameters(struct sl_command *out, const struct sl_command *in,
		struct sl__arena *arena, struct sl_error *err)
{
	struct sl_parameter *copies =
		sl__arena_array(arena, in->n_parameters, sizeof(*copies));

	if (!copies)
		return sl__fail_nomem(err);
	for (size_t i = 0; i < in->n_parameters; i++) {
		copies[i].name =
			sl__arena_string(arena, in->parameters[i].name);
		copies[i].value =
			sl__arena_string(arena, in->parameters[i].value);
		if (!copies[i].name || !copies[i].value)
			return sl__fail_nomem(err);
	}
	out->parameters = copies;
	out->n_parameters = in->n_parameters;
	return SL_OK;
}

/* The programs of one command: itself and what it brings along, which shows its
 * output where the command does. */
static enum sl_status
find_programs(struct sl__executable *out, const struct sl_command *command,
	      const struct sl_bench_options *how, struct sl__arena *arena,
	      struct sl_error *err)
{
	const char *lines[SL__N_COMMAND_STAGES] = {
		[SL__COMMAND_STAGE_SETUP] = command->setup,
		[SL__COMMAND_STAGE_PREPARE] = command->prepare,
		[SL__COMMAND_STAGE_CONCLUDE] = command->conclude,
		[SL__COMMAND_STAGE_CLEANUP] = command->cleanup,
	};
	enum sl_status rc = sl__launcher_set_output(
		out, command->output ? command->output : how->output, err);

	if (rc)
		return rc;
	for (size_t part = SL__COMMAND_STAGE_SETUP; part < SL__N_COMMAND_STAGES;
	     part++) {
		if (!lines[part])
			continue;
		rc = shell_program(&out[part], "/bin/sh", lines[part], arena,
				   err);
		if (rc)
			return rc;
		if (out->sink == SL__STDOUT_SINK_INHERIT)
			out[part].sink = SL__STDOUT_SINK_INHERIT;
	}
	if (command->shell_line)
		return shell_program(out, how->shell, command->shell_line,
				     arena, err);
	out->argv = command->argv;
	out->file = sl__launcher_find_program(command->argv[0], arena, err);
	if (!out->file && strchr(command->argv[0], ' ') && !command->argv[1])
		return sl__error_set_hint(err, SL_E_MEASURE, SL_HINT_LINE);
	return out->file ? SL_OK : SL_E_MEASURE;
}

enum sl_status
sl__command_table_init(struct sl__command_table *table,
		       const struct sl_command *commands, size_t n,
		       const struct sl_bench_options *how,
		       struct sl__arena *arena, struct sl_error *err)
{
	enum sl_status rc;

	memset(table, 0, sizeof(*table));
	table->n = n;
	table->commands = sl__arena_array(arena, n, sizeof(*table->commands));
	table->programs = sl__arena_array(arena, n * SL__N_COMMAND_STAGES + 1,
					  sizeof(*table->programs));
	if (!table->commands || !table->programs)
		return sl__fail_nomem(err);
	for (size_t i = 0; i < n; i++) {
		struct sl_command *copy = &table->commands[i];

		rc = copy_command(copy, &commands[i], arena, err);
		if (!rc)
			rc = copy_parameters(copy, &commands[i], arena, err);
		if (!rc)
			rc = find_programs(
				&table->programs[i * SL__N_COMMAND_STAGES],
				copy, how, arena, err);
		if (rc)
			return rc;
		table->uses_shell |= copy->shell_line != NULL;
	}
	if (!table->uses_shell)
		return SL_OK;
	return shell_program(&table->programs[idle_shell(table)], how->shell,
			     "", arena, err);
}

enum {
	MAX_ROUNDS = 1 << 20,
	FIRST_ROUNDS = 64,       /* room reserved at first */
	N_SHELL_RUNS = 51,       /* odd: the median is one of them */
	PROBE_GAP_NS = 20000000, /* 20 ms between frequency probes */
	TELL_GAP_NS = 100000000, /* 0.1 s between two medians */
	MIN_ROUNDS_SETTLED = 50  /* after a verdict, for the ratio */
};

static const double DEFAULT_TIME_S = 3; /* for each command, as hyperfine */

struct bench {
	struct sl__command_rounds *out;
	const struct sl__command_rounds_options *with;
	const struct sl_bench_options *how;
	size_t n; /* commands */
	struct sl__arena *arena;
	struct sl__runner runner;
	double *round_wall_ns, *round_cpu_ns; /* [n] of this round */
	double shell_ns[N_SHELL_RUNS]; /* wall time of an idle shell, then */
	double shell_user_ns[N_SHELL_RUNS], shell_system_ns[N_SHELL_RUNS];
	size_t next_check;
	double median_ns; /* of command 0, when progress was last told */
	uint64_t probed_ns, told_ns;
};

static int
is_interrupted(const struct bench *b)
{
	return sl__runner_is_interrupted(&b->runner);
}

static int
grow_column(struct bench *b, struct sl__command_samples *c, size_t cap)
{
	double **columns[] = {&c->wall_ns, &c->user_ns, &c->system_ns,
			      &c->resident_bytes};
	size_t n = b->out->n_rounds;
	int is_whole = 1;

	for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++) {
		*columns[i] = sl__arena_realloc_array(b->arena, *columns[i], n,
						      cap, sizeof(double));
		is_whole &= *columns[i] != NULL;
	}
	c->exit_codes = sl__arena_realloc_array(b->arena, c->exit_codes, n, cap,
						sizeof(*c->exit_codes));
	return is_whole && c->exit_codes;
}

/* Makes room for another round. */
static enum sl_status
reserve_round(struct bench *b, struct sl_error *err)
{
	struct sl__arm_set *arms = &b->out->arms;
	size_t cap = arms->cap_rounds ? 2 * arms->cap_rounds : FIRST_ROUNDS;

	if (b->out->n_rounds < arms->cap_rounds)
		return SL_OK;
	for (size_t i = 0; i < b->n; i++) {
		if (!grow_column(b, &b->out->columns[i], cap))
			return sl__fail_nomem(err);
	}
	if (sl__arm_set_reserve(arms, cap, b->arena))
		return sl__fail_nomem(err);
	return SL_OK;
}

static enum sl_status
reserve(struct bench *b, struct sl_error *err)
{
	struct sl__command_rounds *out = b->out;
	size_t n = b->n;

	out->columns = sl__arena_array(b->arena, n, sizeof(*out->columns));
	b->runner.order = sl__arena_array(b->arena, n, sizeof(size_t));
	b->round_wall_ns = sl__arena_array(b->arena, n, sizeof(double));
	b->round_cpu_ns = sl__arena_array(b->arena, n, sizeof(double));
	if (!out->columns || !b->runner.order || !b->round_wall_ns ||
	    !b->round_cpu_ns ||
	    sl__arm_set_init(&out->arms, n, b->how->margin, b->how->alpha,
			     &out->coin, b->arena))
		return sl__fail_nomem(err);
	for (size_t i = 0; i < n; i++)
		out->columns[i].first_ns = (double)NAN;
	b->median_ns = (double)NAN;
	return reserve_round(b, err);
}

/* One of several lines, without a blank, that the shell knows no program for
 * (exit code 127 by POSIX): perhaps the argument of another. */
static int
is_lone_word(const struct bench *b, size_t command,
	     const struct sl__run_result *run)
{
	const char *line = b->with->table->commands[command].shell_line;

	return b->n > 1 && run->exit_code == 127 && line && !strchr(line, ' ');
}

static enum sl_status
fail_run(const struct bench *b, size_t command, enum sl__command_stage part,
	 const struct sl__run_result *run, struct sl_error *err)
{
	static const char *const prefixes[SL__N_COMMAND_STAGES] = {
		"", "the setup of ", "the preparation of ",
		"the conclusion of ", "the cleanup of "};
	const char *name = b->with->table->commands[command].name;

	if (run->start_error)
		return sl__fail_errno(err, SL_E_MEASURE, run->start_error,
				      "cannot run '%s'", name);
	if (run->signal_number)
		sl__fail(err, SL_E_MEASURE,
			 "%s'%s' was ended by signal %d (%s)", prefixes[part],
			 name, run->signal_number,
			 strsignal(run->signal_number));
	else
		sl__fail(err, SL_E_MEASURE, "%s'%s' failed with exit code %d",
			 prefixes[part], name, run->exit_code);
	if (err)
		sl__stderr_last_lines(err->stderr_tail, run->stderr_tail);
	return sl__error_set_hint(err, SL_E_MEASURE,
				  part != SL__COMMAND_STAGE_MAIN ? SL_HINT_NONE
				  : is_lone_word(b, command, run)
					  ? SL_HINT_WORDS
					  : SL_HINT_FAILURE);
}

static int
is_ignored(const struct sl_bench_options *how, int exit_code)
{
	size_t i = 0;

	while (i < how->n_ignored_codes && how->ignored_codes[i] != exit_code)
		i++;
	return how->ignore_failure &&
	       (!how->n_ignored_codes || i < how->n_ignored_codes);
}

static enum sl_status
launch(struct bench *b, size_t index, struct sl__run_result *run,
       struct sl_error *err)
{
	return b->with->launch(index, run, b->with->launch_ctx, err);
}

/* Runs a part that is not timed, where the command has it. */
static enum sl_status
run_part(struct bench *b, size_t command, enum sl__command_stage part,
	 struct sl_error *err)
{
	size_t index = table_index(command, part);
	struct sl__run_result run;
	enum sl_status rc;

	if (!b->with->table->programs[index].file)
		return SL_OK;
	rc = launch(b, index, &run, err);
	if (rc || is_interrupted(b))
		return rc;
	if (run.start_error || run.exit_code)
		return fail_run(b, command, part, &run, err);
	return SL_OK;
}

static enum sl_status
set_up(struct sl__slot *slot, void *ctx, struct sl_error *err)
{
	return run_part(ctx, slot->arm, SL__COMMAND_STAGE_SETUP, err);
}

/* Every command's cleanup, whatever happened; the first failure is told. */
static enum sl_status
clean_up(struct bench *b, struct sl_error *err)
{
	enum sl_status rc = SL_OK;

	for (size_t i = 0; i < b->n; i++) {
		enum sl_status cleaned = run_part(
			b, i, SL__COMMAND_STAGE_CLEANUP, rc ? NULL : err);

		if (!rc)
			rc = cleaned;
	}
	return rc;
}

static enum sl_status
start_shell(struct sl__slot *slot, void *ctx, struct sl_error *err)
{
	struct bench *b = ctx;
	struct sl__run_result run;
	enum sl_status rc = launch(b, idle_shell(b->with->table), &run, err);

	if (rc || is_interrupted(b))
		return rc;
	if (run.start_error || run.exit_code)
		return sl__fail(err, SL_E_MEASURE,
				"the shell '%s' does not work", b->how->shell);
	b->shell_ns[slot->round] = run.wall_ns;
	b->shell_user_ns[slot->round] = run.user_ns;
	b->shell_system_ns[slot->round] = run.system_ns;
	return SL_OK;
}

/* 'ns' of a command without the shell's, which is not its own; no time is
 * negative. */
static double
without_shell(const struct bench *b, size_t command, double ns, double shell_ns)
{
	if (!b->with->table->commands[command].shell_line)
		return ns;
	return fmax(ns - shell_ns, 0);
}

/* One run with its preparation and conclusion; the result is 'latest'. */
static enum sl_status
run_once(struct sl__slot *slot, void *ctx, struct sl_error *err)
{
	struct bench *b = ctx;
	size_t command = slot->arm;
	struct sl__command_samples *c = &b->out->columns[command];
	struct sl__run_result *run = &c->latest;
	enum sl_status rc;

	rc = run_part(b, command, SL__COMMAND_STAGE_PREPARE, err);
	if (rc || is_interrupted(b))
		return rc;
	rc = launch(b, table_index(command, SL__COMMAND_STAGE_MAIN), run, err);
	if (rc || is_interrupted(b))
		return rc;
	if (run->start_error ||
	    (run->exit_code && !is_ignored(b->how, run->exit_code)))
		return fail_run(b, command, SL__COMMAND_STAGE_MAIN, run, err);
	if (isnan(c->first_ns))
		c->first_ns = without_shell(b, command, run->wall_ns,
					    b->out->shell_ns.value);
	return run_part(b, command, SL__COMMAND_STAGE_CONCLUDE, err);
}

static void
note_disturbance(struct sl__slot *slot, void *ctx)
{
	struct bench *b = ctx;
	const struct sl__run_result *run = &b->out->columns[slot->arm].latest;

	if (!is_interrupted(b))
		slot->is_disturbed = sl__monitor_end_child(
			b->with->monitor, run->n_involuntary, run->run_delay_ns,
			run->wall_ns);
}

/* Writes the latest run of a command into its columns and this round. */
static void
store_run(struct bench *b, size_t command)
{
	struct sl__command_samples *c = &b->out->columns[command];
	const struct sl__run_result *run = &c->latest;
	const struct sl__command_rounds *out = b->out;
	size_t at = out->n_rounds;

	c->wall_ns[at] =
		without_shell(b, command, run->wall_ns, out->shell_ns.value);
	c->user_ns[at] =
		without_shell(b, command, run->user_ns, out->shell_user_ns);
	c->system_ns[at] =
		without_shell(b, command, run->system_ns, out->shell_system_ns);
	c->resident_bytes[at] = (double)run->peak_bytes;
	c->exit_codes[at] = run->exit_code;
	c->n_failed += run->exit_code != 0;
	b->round_wall_ns[command] = fmax(c->wall_ns[at], 1);
	b->round_cpu_ns[command] = fmax(c->user_ns[at] + c->system_ns[at], 1);
}

static enum sl_status
close_round(const struct sl__finished_round *taken, void *ctx,
	    struct sl_error *err)
{
	struct bench *b = ctx;
	struct sl__round round = {.wall = b->round_wall_ns,
				  .cpu = b->round_cpu_ns,
				  .is_disturbed = taken->is_disturbed,
				  .is_left_out = taken->is_left_out,
				  .now_s = sl__runner_elapsed_s(&b->runner)};

	if (is_interrupted(b))
		return SL_OK;
	for (size_t i = 0; i < b->n; i++)
		store_run(b, i);
	b->out->n_rounds++;
	sl__arm_set_add(&b->out->arms, &round);
	b->runner.ahead_ns = taken->took_ns / 2;
	if (b->runner.now_ns - b->probed_ns > PROBE_GAP_NS) {
		sl__monitor_probe_frequency(b->with->monitor);
		b->probed_ns = b->runner.now_ns;
	}
	return reserve_round(b, err);
}

/* The median so far, worked out ten times a second at most. */
static void
describe(struct sl_progress *now, void *ctx)
{
	struct bench *b = ctx;
	size_t n = b->out->n_rounds;

	if (n &&
	    (!b->told_ns || b->runner.now_ns - b->told_ns >= TELL_GAP_NS)) {
		b->told_ns = b->runner.now_ns;
		memcpy(b->out->arms.scratch, b->out->columns[0].wall_ns,
		       n * sizeof(double));
		b->median_ns = sl__median_in_place(b->out->arms.scratch, n);
	}
	now->median_ns = b->median_ns;
}

static int
is_median_known(struct bench *b, size_t command)
{
	size_t n = b->out->n_rounds;
	double *sorted = b->out->arms.scratch;
	struct sl_estimate median;

	memcpy(sorted, b->out->columns[command].wall_ns, n * sizeof(double));
	sl__sort(sorted, n);
	median = sl__quantile_estimate(sorted, n, 0.5, 0.05);
	return !median.needs_n &&
	       (median.hi - median.lo) / 2 <= b->how->precision * median.value;
}

/*
 * Whether verdicts have fallen and medians are precise; not before a tenth of
 * the budget: less would not see any drift.
 */
static int
is_precise(struct bench *b)
{
	int is_known = 1;

	if (!sl__arm_set_is_decided(&b->out->arms) ||
	    !sl__interim_look_is_due(&b->next_check, b->out->n_rounds) ||
	    sl__runner_spent_share(&b->runner) < 0.1)
		return 0;
	for (size_t i = 0; i < b->n; i++)
		is_known = is_known && is_median_known(b, i);
	return is_known;
}

static int
is_enough(void *ctx)
{
	struct bench *b = ctx;
	size_t min_runs = b->how->min_runs;

	if (b->out->n_rounds < min_runs)
		return 0;
	if (b->how->until == SL_UNTIL_PRECISION)
		return is_precise(b);
	/* Nobody acts on the ratio of what passes, so that it may be rough. */
	if (b->how->until == SL_UNTIL_GATE && sl__arm_set_passes(&b->out->arms))
		return 1;
	return sl__arm_set_is_settled(
		&b->out->arms,
		min_runs > MIN_ROUNDS_SETTLED ? min_runs : MIN_ROUNDS_SETTLED);
}

/* What goes before the rounds; each is skipped where there is none of it. */
static enum sl_status
prepare(struct bench *b, struct sl_error *err)
{
	const struct sl__phase_spec phases[] = {
		{.n_arms = b->n, .n_rounds = 1, .run = set_up},
		{.n_arms = 1,
		 .n_rounds = b->with->table->uses_shell ? N_SHELL_RUNS : 0,
		 .run = start_shell},
		{.name = "warming up",
		 .n_arms = b->n,
		 .n_rounds = b->how->n_warmup,
		 .run = run_once},
	};

	for (size_t i = 0; i < sizeof(phases) / sizeof(phases[0]); i++) {
		struct sl__phase_spec phase = phases[i];
		enum sl_status rc;

		phase.is_in_order = 1;
		phase.ctx = b;
		if (!phase.n_rounds)
			continue;
		rc = sl__runner_run(&b->runner, &phase, err);
		if (rc || is_interrupted(b))
			return rc;
		if (phase.run != start_shell)
			continue;
		b->out->shell_ns =
			sl__median_estimate(b->shell_ns, N_SHELL_RUNS);
		b->out->shell_user_ns =
			sl__median_in_place(b->shell_user_ns, N_SHELL_RUNS);
		b->out->shell_system_ns =
			sl__median_in_place(b->shell_system_ns, N_SHELL_RUNS);
	}
	return SL_OK;
}

/* The budget is for measuring: it starts after set-up and warm-up. */
static enum sl_status
measure(struct bench *b, struct sl_error *err)
{
	const struct sl_bench_options *how = b->how;
	double default_s = DEFAULT_TIME_S * (double)b->n;
	struct sl__phase_spec measuring = {
		.name = "measuring",
		.n_arms = b->n,
		.n_rounds = how->n_runs,
		.min_rounds = how->time_s > 0 || !how->min_runs ? 1
								: how->min_runs,
		.max_rounds = how->max_runs ? how->max_runs : MAX_ROUNDS,
		.time_s = how->time_s > 0 ? how->time_s : default_s,
		.enough = how->until == SL_UNTIL_PRECISION ? SL_STOP_PRECISION
							   : SL_STOP_VERDICT,
		.run = run_once,
		.finish = note_disturbance,
		.close = close_round,
		.is_enough = is_enough,
		.describe = describe,
		.ctx = b,
	};
	enum sl_status rc;

	if (how->n_runs)
		measuring.max_rounds = 0;
	sl__runner_restart_budget(&b->runner);
	rc = sl__runner_run(&b->runner, &measuring, err);
	b->out->elapsed_s = sl__runner_elapsed_s(&b->runner);
	b->out->stopped_by = b->runner.stopped_by;
	if (b->out->stopped_by == SL_STOP_TIME && measuring.max_rounds &&
	    b->out->n_rounds >= measuring.max_rounds)
		b->out->stopped_by = SL_STOP_RUNS;
	return rc;
}

enum sl_status
sl__command_rounds_run(struct sl__command_rounds *out,
		       const struct sl__command_rounds_options *with,
		       struct sl__arena *arena, struct sl_error *err)
{
	struct bench b = {.out = out,
			  .with = with,
			  .how = with->how,
			  .n = with->table->n,
			  .arena = arena};
	enum sl_status rc, cleaned;

	memset(out, 0, sizeof(*out));
	sl__rng_init(&out->coin, ~with->how->seed);
	b.runner.control = (struct sl__runner_hooks){with->how->interrupt,
						     with->how->progress,
						     with->how->progress_ctx,
						     {.clock = with->clock}};
	sl__runner_start_budget(&b.runner, with->how->seed);
	rc = reserve(&b, err);
	if (!rc)
		rc = prepare(&b, err);
	if (!rc)
		rc = measure(&b, err);
	cleaned = clean_up(&b, rc ? NULL : err);
	if (!rc && !is_interrupted(&b))
		rc = cleaned;
	if (!rc && !out->n_rounds)
		rc = sl__fail(err, SL_E_INTERRUPTED,
			      "interrupted before the first round was over");
	return rc;
}
