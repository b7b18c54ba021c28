/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench.c - sl_bench(): whole commands in random-order rounds.
 *
 * Every round runs each command once, in an order drawn afresh, so that
 * whatever happens to the machine happens to all of them alike.  The columns
 * of runs grow between rounds, never while a command runs (that is another
 * process anyway).  Ends when medians are precise and verdicts fallen, when
 * the time is spent, or after the number of runs asked for.
 */
#define _GNU_SOURCE
#include "sleuth.h"
#include "arena.h"
#include "bootstrap.h"
#include "clock.h"
#include "command_table.h"
#include "covariates.h"
#include "distribution.h"
#include "quantile.h"
#include "status.h"
#include "summary.h"
#include "verdict.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "banned.h"

enum {
	MAX_COMMANDS = 256,
	MAX_ROUNDS = 1 << 20,
	FIRST_ROUNDS = 64,       /* room reserved at first */
	N_SHELL_RUNS = 51,       /* odd: the median is one of them */
	PROBE_GAP_NS = 20000000, /* 20 ms between frequency probes */
	COUNTER_SLACK_BYTES = 256 * 1024
};

static const double DEFAULT_TIME_S = 3; /* for each command, as hyperfine */

/* The runs of one command, and its duels with command 0. */
struct column {
	double *wall_ns, *user_ns, *system_ns, *resident_bytes;
	double *duel_wall, *duel_cpu;
	int *exit_codes;
	size_t n_failed;
	double first_ns;
	double decided_s; /* NaN while open */
	struct sl__run latest;
	struct sl__duel wall, cpu;
};

struct bench {
	const struct sl_bench_options *how;
	struct sl__arena *arena;
	struct sl__command_table table;
	struct sl__launcher launcher;
	struct sl__watch watch;
	struct sl__rng order_rng; /* apart, so that ties do not change orders */
	struct sl__rng coin;
	struct column *columns; /* [table.n] */
	size_t *order;
	size_t n_rounds, cap_rounds, n_disturbed;
	size_t next_check;
	double *scratch; /* [cap_rounds] */
	double shell_ns;
	uint64_t start_ns, deadline_ns, probed_ns, round_ns;
	enum sl_stop stopped_by;
	int interrupted;
};

static enum sl_status
check_options(const struct sl_bench_options *how, size_t n,
	      struct sl_error *err)
{
	if (how->struct_size != sizeof(*how))
		return sl__fail(err, SL_E_USAGE,
				"sl_bench_options: struct_size is wrong");
	if (n < 1 || n > MAX_COMMANDS)
		return sl__fail(err, SL_E_USAGE,
				"%zu commands: must be 1 to %d", n,
				MAX_COMMANDS);
	if (how->time_s < 0 || how->time_s > 1e6 || isnan(how->time_s))
		return sl__fail(err, SL_E_USAGE,
				"time of %g s: must be above 0, at most 1e6",
				how->time_s);
	if (!(how->margin < 1) || !(how->precision > 0 && how->precision < 1))
		return sl__fail(err, SL_E_USAGE,
				"margin and precision must be below 1");
	if (how->n_runs > MAX_ROUNDS || how->max_runs > MAX_ROUNDS)
		return sl__fail(err, SL_E_USAGE, "more than %d runs asked for",
				MAX_ROUNDS);
	return SL_OK;
}

static uint64_t
now_ns(void)
{
	return sl__clock_now_ns(NULL);
}

static double
elapsed_s(const struct bench *b)
{
	return (double)(now_ns() - b->start_ns) / 1e9;
}

static int
is_interrupted(struct bench *b)
{
	if (b->how->interrupt && *b->how->interrupt)
		b->interrupted = 1;
	return b->interrupted;
}

/* ------------------------------------------------------------ storage -- */

static int
grow_doubles(struct bench *b, double **column, size_t cap)
{
	double *larger = sl__arena_array(b->arena, cap, sizeof(*larger));

	if (!larger)
		return 0;
	if (*column)
		memcpy(larger, *column, b->n_rounds * sizeof(*larger));
	*column = larger;
	return 1;
}

static int
grow_column(struct bench *b, struct column *c, size_t cap)
{
	int *codes = sl__arena_array(b->arena, cap, sizeof(*codes));

	if (!codes || !grow_doubles(b, &c->wall_ns, cap) ||
	    !grow_doubles(b, &c->user_ns, cap) ||
	    !grow_doubles(b, &c->system_ns, cap) ||
	    !grow_doubles(b, &c->resident_bytes, cap) ||
	    !grow_doubles(b, &c->duel_wall, cap) ||
	    !grow_doubles(b, &c->duel_cpu, cap))
		return 0;
	if (c->exit_codes)
		memcpy(codes, c->exit_codes, b->n_rounds * sizeof(*codes));
	c->exit_codes = codes;
	c->wall.log_ratios = c->duel_wall;
	c->cpu.log_ratios = c->duel_cpu;
	c->wall.cap = c->cpu.cap = cap;
	return 1;
}

/* Makes room for another round. */
static enum sl_status
reserve_round(struct bench *b, struct sl_error *err)
{
	size_t cap = b->cap_rounds ? 2 * b->cap_rounds : FIRST_ROUNDS;

	if (b->n_rounds < b->cap_rounds)
		return SL_OK;
	for (size_t i = 0; i < b->table.n; i++) {
		if (!grow_column(b, &b->columns[i], cap))
			return sl__fail_nomem(err);
	}
	if (!grow_doubles(b, &b->scratch, cap))
		return sl__fail_nomem(err);
	b->cap_rounds = cap;
	return SL_OK;
}

static enum sl_status
init_columns(struct bench *b, struct sl_error *err)
{
	size_t n = b->table.n;
	double alpha = n > 2 ? b->how->alpha / (double)(n - 1) : b->how->alpha;

	b->columns = sl__arena_array(b->arena, n, sizeof(*b->columns));
	b->order = sl__arena_array(b->arena, n, sizeof(*b->order));
	if (!b->columns || !b->order)
		return sl__fail_nomem(err);
	for (size_t i = 0; i < n; i++) {
		struct column *c = &b->columns[i];

		c->first_ns = (double)NAN;
		c->decided_s = (double)NAN;
		sl__duel_init(&c->wall, NULL, 0, b->how->margin, alpha,
			      &b->coin);
		sl__duel_init(&c->cpu, NULL, 0, b->how->margin, alpha,
			      &b->coin);
	}
	return SL_OK;
}

/* ------------------------------------------------------------- running -- */

static enum sl_status
fail_run(const struct bench *b, size_t command, const char *part,
	 const struct sl__run *run, struct sl_error *err)
{
	const char *name = b->table.commands[command].name;

	if (run->start_error)
		return sl__fail_errno(err, SL_E_MEASURE, run->start_error,
				      "cannot run '%s'", name);
	if (run->exit_code > 128)
		return sl__fail(err, SL_E_MEASURE,
				"%s'%s' was ended by signal %d (%s)", part,
				name, run->exit_code - 128,
				strsignal(run->exit_code - 128));
	return sl__fail(err, SL_E_MEASURE, "%s'%s' failed with exit code %d",
			part, name, run->exit_code);
}

/* Runs a part that is not timed, where the command has it. */
static enum sl_status
run_part(struct bench *b, size_t command, enum sl__part part,
	 struct sl_error *err)
{
	static const char *const prefixes[SL__N_PARTS] = {
		"", "the setup of ", "the preparation of ",
		"the conclusion of ", "the cleanup of "};
	size_t index = sl__command_table_index(command, part);
	struct sl__run run;
	enum sl_status rc;

	if (!b->table.programs[index].file)
		return SL_OK;
	rc = sl__launcher_run(&b->launcher, index, &run, err);
	if (rc || is_interrupted(b))
		return rc;
	if (run.start_error || run.exit_code)
		return fail_run(b, command, prefixes[part], &run, err);
	return SL_OK;
}

static enum sl_status
run_part_of_all(struct bench *b, enum sl__part part, struct sl_error *err)
{
	enum sl_status rc = SL_OK;

	for (size_t i = 0; i < b->table.n && !rc; i++)
		rc = run_part(b, i, part, err);
	return rc;
}

/* One run with its preparation and conclusion; the result is 'latest'. */
static enum sl_status
run_once(struct bench *b, size_t command, struct sl_error *err)
{
	struct column *c = &b->columns[command];
	struct sl__run *run = &c->latest;
	enum sl_status rc;

	rc = run_part(b, command, SL__PART_PREPARE, err);
	if (rc || is_interrupted(b))
		return rc;
	rc = sl__launcher_run(&b->launcher,
			      sl__command_table_index(command, SL__PART_MAIN),
			      run, err);
	if (rc || is_interrupted(b))
		return rc;
	if (run->start_error || (run->exit_code && !b->how->ignore_failure))
		return fail_run(b, command, "", run, err);
	if (isnan(c->first_ns))
		c->first_ns = run->wall_ns;
	return run_part(b, command, SL__PART_CONCLUDE, err);
}

/* What starting the shell takes, to be taken off every run through it. */
static enum sl_status
calibrate_shell(struct bench *b, struct sl_error *err)
{
	double times_ns[N_SHELL_RUNS];
	size_t n = 0;

	if (!b->table.uses_shell)
		return SL_OK;
	while (n < N_SHELL_RUNS && !is_interrupted(b)) {
		struct sl__run run;
		enum sl_status rc = sl__launcher_run(
			&b->launcher, sl__command_table_idle_shell(&b->table),
			&run, err);

		if (rc)
			return rc;
		if (run.start_error || run.exit_code)
			return sl__fail(err, SL_E_MEASURE,
					"the shell '%s' does not work",
					b->how->shell);
		times_ns[n++] = run.wall_ns;
		/* Never more than a tenth of the budget. */
		if ((now_ns() - b->start_ns) * 10 >
		    b->deadline_ns - b->start_ns)
			break;
	}
	if (n)
		b->shell_ns = sl__median_in_place(times_ns, n);
	return SL_OK;
}

static void
report_progress(struct bench *b, const char *what)
{
	struct sl_progress p = {.what = what, .n_done = b->n_rounds};
	double elapsed = (double)(now_ns() - b->start_ns);

	if (!b->how->progress)
		return;
	if (b->how->n_runs)
		p.share = (double)b->n_rounds / (double)b->how->n_runs;
	else
		p.share = elapsed / (double)(b->deadline_ns - b->start_ns);
	p.share = fmin(p.share, 1);
	p.remaining_s = p.share > 0 ? elapsed / p.share * (1 - p.share) / 1e9
				    : (double)NAN;
	p.median_ns = (double)NAN;
	if (b->n_rounds) {
		memcpy(b->scratch, b->columns[0].wall_ns,
		       b->n_rounds * sizeof(double));
		p.median_ns = sl__median_in_place(b->scratch, b->n_rounds);
	}
	b->how->progress(&p, b->how->progress_ctx);
}

/* ------------------------------------------------------------- rounds -- */

/* Writes the latest run of a command into its columns. */
static int
store_run(struct bench *b, size_t command)
{
	struct column *c = &b->columns[command];
	const struct sl__run *run = &c->latest;
	double shell_ns = b->table.commands[command].shell_line ? b->shell_ns
								: 0;

	c->wall_ns[b->n_rounds] = fmax(run->wall_ns - shell_ns, 1);
	c->user_ns[b->n_rounds] = run->user_ns;
	c->system_ns[b->n_rounds] = run->system_ns;
	c->resident_bytes[b->n_rounds] = (double)run->peak_bytes;
	c->exit_codes[b->n_rounds] = run->exit_code;
	c->n_failed += run->exit_code != 0;
	return sl__watch_child(&b->watch, run->n_involuntary, run->run_delay_ns,
			       run->wall_ns);
}

/*
 * Hands a whole round to the duels, unless something disturbed any of its
 * runs and most rounds go undisturbed: a rule blind to who was hit.
 */
static void
judge_round(struct bench *b)
{
	const struct column *base = &b->columns[0];
	size_t at = b->n_rounds;
	int disturbed = 0;

	for (size_t i = 0; i < b->table.n; i++)
		disturbed |= store_run(b, i);
	b->n_rounds++;
	b->n_disturbed += (size_t)disturbed;
	if (disturbed && 2 * b->n_disturbed < b->n_rounds)
		return;
	for (size_t i = 1; i < b->table.n; i++) {
		struct column *c = &b->columns[i];

		sl__duel_add(&c->wall, base->wall_ns[at], c->wall_ns[at]);
		sl__duel_add(&c->cpu,
			     fmax(base->user_ns[at] + base->system_ns[at], 1),
			     fmax(c->user_ns[at] + c->system_ns[at], 1));
		if (c->wall.verdict && isnan(c->decided_s))
			c->decided_s = elapsed_s(b);
	}
}

static int
precise_enough(struct bench *b)
{
	size_t n = b->n_rounds;

	for (size_t i = 0; i < b->table.n; i++) {
		struct sl_estimate median;

		memcpy(b->scratch, b->columns[i].wall_ns, n * sizeof(double));
		sl__sort(b->scratch, n);
		median = sl__quantile_estimate(b->scratch, n, 0.5, 0.05);
		if (median.needs_n || (median.hi - median.lo) / 2 >
					      b->how->precision * median.value)
			return 0;
	}
	return 1;
}

static int
all_decided(const struct bench *b)
{
	for (size_t i = 1; i < b->table.n; i++) {
		if (!b->columns[i].wall.verdict)
			return 0;
	}
	return 1;
}

/* Whether the question asked is answered; says in stopped_by which. */
static int
answered(struct bench *b)
{
	if (b->n_rounds < b->how->min_runs || b->n_rounds < b->next_check ||
	    !all_decided(b))
		return 0;
	b->next_check = b->n_rounds + b->n_rounds / 8 + 1;
	/* A tenth of the budget at least: less would not see any drift. */
	if (b->how->until == SL_UNTIL_PRECISION &&
	    ((now_ns() - b->start_ns) * 10 < b->deadline_ns - b->start_ns ||
	     !precise_enough(b)))
		return 0;
	b->stopped_by = b->how->until == SL_UNTIL_PRECISION ? SL_STOP_PRECISION
							    : SL_STOP_VERDICT;
	return 1;
}

static int
finished(struct bench *b)
{
	size_t limit = b->how->n_runs ? b->how->n_runs : b->how->max_runs;

	if (is_interrupted(b)) {
		b->stopped_by = SL_STOP_INTERRUPT;
		return 1;
	}
	if (b->n_rounds >= (limit ? limit : MAX_ROUNDS)) {
		b->stopped_by = SL_STOP_RUNS;
		return 1;
	}
	if (b->how->n_runs || !b->n_rounds)
		return 0;
	if (answered(b))
		return 1;
	/* A budget the user gave is kept, to half a round; the default one
	 * gives way to the smallest number of runs. */
	if (b->how->time_s == 0 && b->n_rounds < b->how->min_runs)
		return 0;
	b->stopped_by = SL_STOP_TIME;
	return now_ns() + b->round_ns / 2 >= b->deadline_ns;
}

static enum sl_status
play_round(struct bench *b, struct sl_error *err)
{
	uint64_t start_ns = now_ns();
	enum sl_status rc;

	rc = reserve_round(b, err);
	if (rc)
		return rc;
	sl__rng_permutation(&b->order_rng, b->order, b->table.n);
	for (size_t i = 0; i < b->table.n; i++) {
		rc = run_once(b, b->order[i], err);
		if (rc || b->interrupted)
			return rc; /* half a round does not count */
	}
	judge_round(b);
	if (now_ns() - b->probed_ns > PROBE_GAP_NS) {
		sl__watch_probe(&b->watch);
		b->probed_ns = now_ns();
	}
	b->round_ns = now_ns() - start_ns;
	report_progress(b, "measuring");
	return SL_OK;
}

static enum sl_status
warm_up(struct bench *b, struct sl_error *err)
{
	for (size_t i = 0; i < b->how->n_warmup; i++) {
		for (size_t k = 0; k < b->table.n; k++) {
			enum sl_status rc = run_once(b, k, err);

			if (rc || b->interrupted)
				return rc;
		}
		report_progress(b, "warming up");
	}
	return SL_OK;
}

static enum sl_status
play(struct bench *b, struct sl_error *err)
{
	enum sl_status rc, cleaned;

	rc = reserve_round(b, err);
	if (!rc)
		rc = run_part_of_all(b, SL__PART_SETUP, err);
	if (rc)
		return rc;
	rc = calibrate_shell(b, err);
	if (!rc)
		rc = warm_up(b, err);
	while (!rc && !finished(b))
		rc = play_round(b, err);
	/* Clean up whatever happened; the first error is the one to tell. */
	cleaned = run_part_of_all(b, SL__PART_CLEANUP, rc ? NULL : err);
	if (!rc && cleaned && !b->interrupted)
		rc = cleaned;
	if (!rc && !b->n_rounds)
		rc = sl__fail(err, SL_E_INTERRUPTED,
			      "interrupted before the first round was over");
	return rc;
}

/* ------------------------------------------------------------ results -- */

/*
 * What lies below the launcher's own memory cannot be seen through it.  The
 * kernel keeps these counts per CPU and adds them up in batches of 32 pages,
 * so that two equal ones may differ by 256 KiB on two CPUs.
 */
static struct sl_reading
peak_memory(const struct bench *b, const struct column *c)
{
	struct sl_reading peak = {0, NULL};
	double floor_bytes = (double)c->latest.floor_bytes;

	for (size_t i = 0; i < b->n_rounds; i++)
		peak.value = fmax(peak.value, c->resident_bytes[i]);
	if (peak.value <= floor_bytes + COUNTER_SLACK_BYTES) {
		peak.value = (double)NAN;
		peak.absent = sl__arena_format(
			b->arena,
			"not above the %.1f MB of the process that starts it",
			floor_bytes / 1e6);
		if (!peak.absent)
			peak.absent = "not above the launcher's own";
	}
	return peak;
}

static enum sl_status
conclude_command(struct bench *b, size_t command, struct sl_bench_result *out,
		 struct sl_error *err)
{
	struct column *c = &b->columns[command];
	struct sl__distribution_options how = {
		.alpha = 0.05,
		.samples_per_slot = 1,
		.warmup_is_fixed = b->how->n_warmup > 0,
		.rng = &b->coin,
	};

	out->command = &b->table.commands[command];
	out->wall_ns = c->wall_ns;
	out->user_ns = c->user_ns;
	out->system_ns = c->system_ns;
	out->resident_bytes = c->resident_bytes;
	out->exit_codes = c->exit_codes;
	out->n_runs = b->n_rounds;
	out->n_failed = c->n_failed;
	out->shell_ns = out->command->shell_line ? b->shell_ns : 0;
	out->user = sl__student_mean(c->user_ns, b->n_rounds, 0.05);
	out->system = sl__student_mean(c->system_ns, b->n_rounds, 0.05);
	out->peak_bytes = peak_memory(b, c);
	out->wall.first_ns = c->first_ns;
	return sl__distribution_of(&out->wall, c->wall_ns, b->n_rounds, &how,
				   b->arena, err);
}

static struct sl_reading
memory_ratio(const struct sl_bench_result *a, const struct sl_bench_result *b)
{
	struct sl_reading ratio = {(double)NAN, a->peak_bytes.absent};

	if (!ratio.absent)
		ratio.absent = b->peak_bytes.absent;
	if (!ratio.absent)
		ratio.value = a->peak_bytes.value / b->peak_bytes.value;
	return ratio;
}

static void
conclude_duel(struct bench *b, size_t command,
	      const struct sl_bench_result *results, struct sl_comparison *out)
{
	const struct column *c = &b->columns[command];

	sl__duel_conclude(&c->wall, out, b->scratch);
	out->a = results[0].command->name;
	out->b = results[command].command->name;
	out->cpu_ratio = sl__duel_ratio(&c->cpu, b->scratch);
	out->memory_ratio = memory_ratio(&results[0], &results[command]);
	out->n_disturbed = b->n_disturbed;
	out->decided_after_s = c->decided_s;
}

static enum sl_status
conclude(struct bench *b, struct sl_bench *out, struct sl_error *err)
{
	size_t n = b->table.n;
	struct sl_bench_result *results =
		sl__arena_array(b->arena, n, sizeof(*results));
	struct sl_comparison *comparisons =
		sl__arena_array(b->arena, n, sizeof(*comparisons));

	if (!results || !comparisons)
		return sl__fail_nomem(err);
	for (size_t i = 0; i < n; i++) {
		enum sl_status rc = conclude_command(b, i, &results[i], err);

		if (rc)
			return rc;
		if (i)
			conclude_duel(b, i, results, &comparisons[i - 1]);
	}
	out->results = results;
	out->n_results = n;
	out->comparisons = comparisons;
	out->n_comparisons = n - 1;
	out->elapsed_s = elapsed_s(b);
	out->stopped_by = b->stopped_by;
	out->seed = b->how->seed;
	out->noise.migrations.value = (double)NAN;
	out->noise.migrations.absent =
		"not visible for a process that has ended";
	return SL_OK;
}

/* ------------------------------------------------------------- set-up -- */

static enum sl_status
open_stream(int *out, const char *path, int flags, struct sl_error *err)
{
	*out = open(path, flags | O_CLOEXEC, 0666);
	if (*out < 0)
		return sl__fail_errno(err, SL_E_IO, errno, "%s", path);
	return SL_OK;
}

/* Opens the streams, forks the launcher, closes the streams again. */
static enum sl_status
open_launcher(struct bench *b, struct sl_error *err)
{
	struct sl__streams streams = {-1, -1, -1};
	const char *output = b->how->output;
	enum sl_status rc;

	rc = open_stream(&streams.in_fd,
			 b->how->input ? b->how->input : "/dev/null", O_RDONLY,
			 err);
	if (rc)
		return rc;
	if (output && strcmp(output, "inherit") == 0) {
		streams.out_fd = dup(STDOUT_FILENO);
		streams.err_fd = dup(STDERR_FILENO);
	} else {
		rc = open_stream(&streams.out_fd, output ? output : "/dev/null",
				 O_WRONLY | O_CREAT | O_APPEND, err);
		streams.err_fd = rc ? -1 : dup(streams.out_fd);
	}
	if (!rc)
		rc = sl__launcher_open(&b->launcher, b->table.programs,
				       &streams, err);
	close(streams.in_fd);
	if (streams.out_fd >= 0)
		close(streams.out_fd);
	if (streams.err_fd >= 0)
		close(streams.err_fd);
	return rc;
}

static struct sl_bench_options
with_defaults(const struct sl_bench_options *options)
{
	struct sl_bench_options how = {.struct_size = sizeof(how)};

	if (options)
		how = *options;
	if (how.precision == 0)
		how.precision = 0.01;
	if (how.margin == 0)
		how.margin = 0.01;
	if (how.margin < 0)
		how.margin = 0;
	if (how.alpha == 0)
		how.alpha = 0.05;
	if (how.min_runs == 0)
		how.min_runs = 10;
	if (!how.shell)
		how.shell = "/bin/sh";
	if (how.seed == 0)
		how.seed = 1;
	return how;
}

static enum sl_status
run_bench(struct bench *b, struct sl_bench *out, struct sl_error *err)
{
	double time_s = b->how->time_s;
	enum sl_status rc;

	if (time_s == 0)
		time_s = DEFAULT_TIME_S * (double)b->table.n;
	rc = init_columns(b, err);
	if (rc)
		return rc;
	rc = open_launcher(b, err);
	if (rc)
		return rc;
	sl__watch_open(&b->watch);
	b->start_ns = now_ns();
	b->deadline_ns = b->start_ns + (uint64_t)(time_s * 1e9);
	rc = play(b, err);
	/* The launcher's children count as ours only when it is gone. */
	sl__launcher_close(&b->launcher);
	sl__watch_close(&b->watch, &out->noise);
	return rc ? rc : conclude(b, out, err);
}

enum sl_status
sl_bench(struct sl_bench **out, const struct sl_command *commands, size_t n,
	 const struct sl_bench_options *options, struct sl_error *err)
{
	struct sl_bench_options how = with_defaults(options);
	struct bench b = {.how = &how};
	struct sl_bench *result;
	enum sl_status rc;

	*out = NULL;
	rc = check_options(&how, n, err);
	if (rc)
		return rc;
	result = sl__boxed_new(&b.arena, how.allocator, sizeof(*result));
	if (!result)
		return sl__fail_nomem(err);
	sl__rng_init(&b.order_rng, how.seed);
	sl__rng_init(&b.coin, ~how.seed);
	rc = sl__command_table_init(&b.table, commands, n, how.shell, b.arena,
				    err);
	if (!rc)
		rc = run_bench(&b, result, err);
	if (rc) {
		sl_bench_free(result);
		return rc;
	}
	*out = result;
	return SL_OK;
}

void
sl_bench_free(struct sl_bench *b)
{
	sl__boxed_free(b);
}
