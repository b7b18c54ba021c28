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
#include "sleuth.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/reading.h"
#include "base/status.h"
#include "experiment/command_table.h"
#include "stats/bootstrap.h"
#include "stats/distribution.h"
#include "stats/match.h"
#include "stats/quantile.h"
#include "stats/summary.h"
#include "timing/runner.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "base/banned.h"

enum {
	MAX_COMMANDS = 256,
	MAX_ROUNDS = 1 << 20,
	FIRST_ROUNDS = 64,       /* room reserved at first */
	N_SHELL_RUNS = 51,       /* odd: the median is one of them */
	PROBE_GAP_NS = 20000000, /* 20 ms between frequency probes */
	COUNTER_SLACK_BYTES = 256 * 1024,
	TELL_GAP_NS = 100000000, /* 0.1 s between two medians */
	MIN_ROUNDS_SETTLED = 50  /* after a verdict, for the ratio */
};

static const double DEFAULT_TIME_S = 3; /* for each command, as hyperfine */

/* The runs of one command. */
struct column {
	double *wall_ns, *user_ns, *system_ns, *resident_bytes;
	int *exit_codes;
	size_t n_failed;
	double first_ns;
	struct sl__run latest;
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
	struct sl__match match;
	size_t *order;
	double *round_wall_ns, *round_cpu_ns; /* [table.n] of this round */
	size_t n_rounds, n_warmup_done;
	size_t next_check;
	double median_ns; /* of command 0, when progress was last told */
	struct sl_estimate shell_ns;
	uint64_t start_ns, deadline_ns, probed_ns, told_ns, round_ns;
	double elapsed_s;
	enum sl_stop stopped_by;
	int interrupted;
};

static enum sl_status
check_options(const struct sl_bench_options *how, size_t n,
	      struct sl_error *err)
{
	if (n < 1 || n > MAX_COMMANDS)
		return sl__fail(err, SL_E_USAGE,
				"%zu commands: must be 1 to %d", n,
				MAX_COMMANDS);
	if (how->time_s < 0 || how->time_s > 1e6 || isnan(how->time_s))
		return sl__fail(err, SL_E_USAGE,
				"time of %g s: must be above 0, at most 1e6",
				how->time_s);
	if (!(how->precision > 0 && how->precision < 1))
		return sl__fail(err, SL_E_USAGE,
				"precision of %g: must be between 0 and 1",
				how->precision);
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
	    !grow_doubles(b, &c->resident_bytes, cap))
		return 0;
	if (c->exit_codes)
		memcpy(codes, c->exit_codes, b->n_rounds * sizeof(*codes));
	c->exit_codes = codes;
	return 1;
}

/* Makes room for another round. */
static enum sl_status
reserve_round(struct bench *b, struct sl_error *err)
{
	size_t cap = b->match.cap_rounds ? 2 * b->match.cap_rounds
					 : FIRST_ROUNDS;

	if (b->n_rounds < b->match.cap_rounds)
		return SL_OK;
	for (size_t i = 0; i < b->table.n; i++) {
		if (!grow_column(b, &b->columns[i], cap))
			return sl__fail_nomem(err);
	}
	if (sl__match_reserve(&b->match, cap, b->arena))
		return sl__fail_nomem(err);
	return SL_OK;
}

static enum sl_status
init_columns(struct bench *b, struct sl_error *err)
{
	size_t n = b->table.n;

	b->columns = sl__arena_array(b->arena, n, sizeof(*b->columns));
	b->order = sl__arena_array(b->arena, n, sizeof(*b->order));
	b->round_wall_ns = sl__arena_array(b->arena, n, sizeof(double));
	b->round_cpu_ns = sl__arena_array(b->arena, n, sizeof(double));
	if (!b->columns || !b->order || !b->round_wall_ns || !b->round_cpu_ns ||
	    sl__match_init(&b->match, n, b->how->margin, b->how->alpha,
			   &b->coin, b->arena))
		return sl__fail_nomem(err);
	for (size_t i = 0; i < n; i++)
		b->columns[i].first_ns = (double)NAN;
	b->median_ns = (double)NAN;
	return SL_OK;
}

static enum sl_status
fail_run(const struct bench *b, size_t command, const char *part,
	 const struct sl__run *run, struct sl_error *err)
{
	const char *name = b->table.commands[command].name;

	if (run->start_error)
		return sl__fail_errno(err, SL_E_MEASURE, run->start_error,
				      "cannot run '%s'", name);
	if (run->signal_number)
		return sl__fail(err, SL_E_MEASURE,
				"%s'%s' was ended by signal %d (%s)", part,
				name, run->signal_number,
				strsignal(run->signal_number));
	return sl__fail(err, SL_E_MEASURE, "%s'%s' failed with exit code %d",
			part, name, run->exit_code);
}

static enum sl_status
launch(struct bench *b, size_t index, struct sl__run *run, struct sl_error *err)
{
	return sl__launcher_run(&b->launcher, index, run, b->how->interrupt,
				err);
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
	rc = launch(b, index, &run, err);
	if (rc || is_interrupted(b))
		return rc;
	if (run.start_error || run.exit_code)
		return fail_run(b, command, prefixes[part], &run, err);
	return SL_OK;
}

static enum sl_status
set_up(struct bench *b, struct sl_error *err)
{
	enum sl_status rc = SL_OK;

	for (size_t i = 0; i < b->table.n && !rc && !is_interrupted(b); i++)
		rc = run_part(b, i, SL__PART_SETUP, err);
	return rc;
}

/* Every command's cleanup, whatever happened; the first failure is told. */
static enum sl_status
clean_up(struct bench *b, struct sl_error *err)
{
	enum sl_status rc = SL_OK;

	for (size_t i = 0; i < b->table.n; i++) {
		enum sl_status cleaned =
			run_part(b, i, SL__PART_CLEANUP, rc ? NULL : err);

		if (!rc)
			rc = cleaned;
	}
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
	rc = launch(b, sl__command_table_index(command, SL__PART_MAIN), run,
		    err);
	if (rc || is_interrupted(b))
		return rc;
	if (run->start_error || (run->exit_code && !b->how->ignore_failure))
		return fail_run(b, command, "", run, err);
	if (isnan(c->first_ns))
		c->first_ns = run->wall_ns;
	return run_part(b, command, SL__PART_CONCLUDE, err);
}

/* What starting the shell takes, which is part of every run through it. */
static enum sl_status
calibrate_shell(struct bench *b, struct sl_error *err)
{
	double times_ns[N_SHELL_RUNS];
	size_t n = 0;

	if (!b->table.uses_shell)
		return SL_OK;
	while (n < N_SHELL_RUNS) {
		struct sl__run run;
		enum sl_status rc = launch(
			b, sl__command_table_idle_shell(&b->table), &run, err);

		if (rc || is_interrupted(b))
			return rc;
		if (run.start_error || run.exit_code)
			return sl__fail(err, SL_E_MEASURE,
					"the shell '%s' does not work",
					b->how->shell);
		times_ns[n++] = run.wall_ns;
	}
	sl__sort(times_ns, n);
	b->shell_ns = sl__quantile_estimate(times_ns, n, 0.5, 0.05);
	return SL_OK;
}

/* The median so far, worked out ten times a second at most. */
static void
update_median(struct bench *b)
{
	if (!b->n_rounds || (b->told_ns && now_ns() - b->told_ns < TELL_GAP_NS))
		return;
	b->told_ns = now_ns();
	memcpy(b->match.scratch, b->columns[0].wall_ns,
	       b->n_rounds * sizeof(double));
	b->median_ns = sl__median_in_place(b->match.scratch, b->n_rounds);
}

static void
report_progress(struct bench *b, const char *what)
{
	size_t n_warmup = b->how->n_warmup, n_runs = b->how->n_runs;
	struct sl_progress p = {.what = what, .n_done = b->n_rounds};
	double elapsed = elapsed_s(b);

	if (!b->how->progress)
		return;
	update_median(b);
	p.median_ns = b->median_ns;
	if (b->n_warmup_done < n_warmup)
		p.share = (double)b->n_warmup_done / (double)n_warmup;
	else if (n_runs)
		p.share = (double)b->n_rounds / (double)n_runs;
	else
		p.share =
			1e9 * elapsed / (double)(b->deadline_ns - b->start_ns);
	p.share = fmin(p.share, 1);
	p.remaining_s = p.share > 0 ? elapsed / p.share * (1 - p.share)
				    : (double)NAN;
	b->how->progress(&p, b->how->progress_ctx);
}

/* Writes the latest run of a command into its columns and this round. */
static int
store_run(struct bench *b, size_t command)
{
	struct column *c = &b->columns[command];
	const struct sl__run *run = &c->latest;
	size_t at = b->n_rounds;

	c->wall_ns[at] = run->wall_ns;
	c->user_ns[at] = run->user_ns;
	c->system_ns[at] = run->system_ns;
	c->resident_bytes[at] = (double)run->peak_bytes;
	c->exit_codes[at] = run->exit_code;
	c->n_failed += run->exit_code != 0;
	b->round_wall_ns[command] = fmax(run->wall_ns, 1);
	b->round_cpu_ns[command] = fmax(run->user_ns + run->system_ns, 1);
	return sl__watch_child(&b->watch, run->n_involuntary, run->run_delay_ns,
			       run->wall_ns);
}

static void
judge_round(struct bench *b)
{
	struct sl__round round = {.wall = b->round_wall_ns,
				  .cpu = b->round_cpu_ns,
				  .now_s = elapsed_s(b)};

	for (size_t i = 0; i < b->table.n; i++)
		round.is_disturbed |= store_run(b, i);
	b->n_rounds++;
	round.is_left_out = sl__is_left_out(
		round.is_disturbed,
		b->match.n_disturbed + (size_t)round.is_disturbed, b->n_rounds);
	sl__match_add(&b->match, &round);
}

static int
precise_enough(struct bench *b)
{
	size_t n = b->n_rounds;
	double *sorted = b->match.scratch;

	for (size_t i = 0; i < b->table.n; i++) {
		struct sl_estimate median;

		memcpy(sorted, b->columns[i].wall_ns, n * sizeof(double));
		sl__sort(sorted, n);
		median = sl__quantile_estimate(sorted, n, 0.5, 0.05);
		if (median.needs_n || (median.hi - median.lo) / 2 >
					      b->how->precision * median.value)
			return 0;
	}
	return 1;
}

/*
 * Whether verdicts have fallen and medians are precise.  Looks whenever the
 * rounds have grown by an eighth, and not before a tenth of the budget: less
 * would not see any drift.
 */
static int
is_precise(struct bench *b)
{
	if (b->n_rounds < b->how->min_runs || b->n_rounds < b->next_check ||
	    !sl__match_is_decided(&b->match))
		return 0;
	b->next_check = b->n_rounds + b->n_rounds / 8 + 1;
	if ((now_ns() - b->start_ns) * 10 < b->deadline_ns - b->start_ns ||
	    !precise_enough(b))
		return 0;
	b->stopped_by = SL_STOP_PRECISION;
	return 1;
}

static int
is_settled(struct bench *b)
{
	size_t min_rounds = b->how->min_runs > MIN_ROUNDS_SETTLED
				    ? b->how->min_runs
				    : MIN_ROUNDS_SETTLED;

	if (b->n_rounds < b->how->min_runs ||
	    !sl__match_is_settled(&b->match, min_rounds))
		return 0;
	b->stopped_by = SL_STOP_VERDICT;
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
	if (b->how->until == SL_UNTIL_VERDICT ? is_settled(b) : is_precise(b))
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
	while (b->n_warmup_done < b->how->n_warmup) {
		for (size_t k = 0; k < b->table.n; k++) {
			enum sl_status rc = run_once(b, k, err);

			if (rc || b->interrupted)
				return rc;
		}
		b->n_warmup_done++;
		report_progress(b, "warming up");
	}
	return SL_OK;
}

/* The budget is for measuring: it starts after set-up and warm-up. */
static void
start_budget(struct bench *b)
{
	double time_s = b->how->time_s;

	if (time_s == 0)
		time_s = DEFAULT_TIME_S * (double)b->table.n;
	b->start_ns = now_ns();
	b->deadline_ns = b->start_ns + (uint64_t)(time_s * 1e9);
}

static enum sl_status
play(struct bench *b, struct sl_error *err)
{
	enum sl_status rc, cleaned;

	start_budget(b);
	rc = reserve_round(b, err);
	if (!rc)
		rc = set_up(b, err);
	if (!rc && !b->interrupted)
		rc = calibrate_shell(b, err);
	if (!rc && !b->interrupted)
		rc = warm_up(b, err);
	start_budget(b);
	while (!rc && !finished(b))
		rc = play_round(b, err);
	b->elapsed_s = elapsed_s(b);
	cleaned = clean_up(b, rc ? NULL : err);
	if (!rc && !b->interrupted)
		rc = cleaned;
	if (!rc && !b->n_rounds)
		rc = sl__fail(err, SL_E_INTERRUPTED,
			      "interrupted before the first round was over");
	return rc;
}

/*
 * What lies below the launcher's own memory cannot be seen through it.  The
 * kernel keeps these counts per CPU and adds them up in batches of 32 pages,
 * so that two equal ones may differ by 256 KiB on two CPUs.
 */
static struct sl_reading
peak_memory(const struct bench *b, const struct column *c)
{
	double peak_bytes = 0, floor_bytes = (double)c->latest.floor_bytes;
	const char *reason;

	for (size_t i = 0; i < b->n_rounds; i++)
		peak_bytes = fmax(peak_bytes, c->resident_bytes[i]);
	if (peak_bytes > floor_bytes + COUNTER_SLACK_BYTES)
		return sl__present(peak_bytes);
	reason = sl__arena_format(
		b->arena, "not above the %.1f MB of the process that starts it",
		floor_bytes / 1e6);
	return sl__absent(reason ? reason : "not above the launcher's own");
}

/* Mean CPU time; time is not negative, whatever Student's t says. */
static struct sl_estimate
mean_time(const double *x, size_t n)
{
	struct sl_estimate mean = sl__student_mean(x, n, 0.05);

	if (mean.lo < 0)
		mean.lo = 0;
	return mean;
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
	if (out->command->shell_line)
		out->shell = b->shell_ns;
	out->user = mean_time(c->user_ns, b->n_rounds);
	out->system = mean_time(c->system_ns, b->n_rounds);
	out->peak_bytes = peak_memory(b, c);
	out->wall.first_ns = c->first_ns;
	return sl__distribution_of(&out->wall, c->wall_ns, b->n_rounds, &how,
				   b->arena, err);
}

static struct sl_reading
memory_ratio(const struct bench *b, const struct sl_bench_result *base,
	     const struct sl_bench_result *other)
{
	const struct sl_bench_result *unseen = base->peak_bytes.absent ? base
								       : other;
	const char *reason;

	if (!unseen->peak_bytes.absent)
		return sl__present(base->peak_bytes.value /
				   other->peak_bytes.value);
	reason = sl__arena_format(b->arena, "'%s': %s", unseen->command->name,
				  unseen->peak_bytes.absent);
	return sl__absent(reason ? reason : unseen->peak_bytes.absent);
}

static void
conclude_duel(struct bench *b, size_t command,
	      const struct sl_bench_result *results, struct sl_comparison *out)
{
	sl__match_conclude(&b->match, command, out);
	out->a = results[0].command->name;
	out->b = results[command].command->name;
	out->memory_ratio = memory_ratio(b, &results[0], &results[command]);
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
	out->elapsed_s = b->elapsed_s;
	out->stopped_by = b->stopped_by;
	out->seed = b->how->seed;
	out->noise.migrations =
		sl__absent("not visible for a process that has ended");
	return SL_OK;
}

/* Whether the commands will be able to open it: told before they run. */
static enum sl_status
try_open(const char *path, int flags, struct sl_error *err)
{
	int fd = open(path, flags | O_CLOEXEC, 0666);

	if (fd < 0)
		return sl__fail_errno(err, SL_E_IO, errno, "%s", path);
	close(fd);
	return SL_OK;
}

static enum sl_status
open_launcher(struct bench *b, struct sl_error *err)
{
	struct sl__streams streams = {"/dev/null", "/dev/null"};
	enum sl_status rc = SL_OK;

	if (b->how->input)
		streams.input = b->how->input;
	if (b->how->output && strcmp(b->how->output, "inherit") == 0)
		streams.output = NULL;
	else if (b->how->output)
		streams.output = b->how->output;
	rc = try_open(streams.input, O_RDONLY, err);
	if (!rc && streams.output)
		rc = try_open(streams.output, O_WRONLY | O_CREAT | O_APPEND,
			      err);
	if (rc)
		return rc;
	return sl__launcher_open(&b->launcher, b->table.programs, &streams,
				 err);
}

static struct sl_bench_options
with_defaults(const struct sl_bench_options *options)
{
	struct sl_bench_options how = {.struct_size = sizeof(how)};

	if (options)
		how = *options;
	if (how.precision == 0)
		how.precision = 0.01;
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
	enum sl_status rc;

	rc = init_columns(b, err);
	if (rc)
		return rc;
	rc = open_launcher(b, err);
	if (rc)
		return rc;
	sl__watch_open(&b->watch, NULL);
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
	struct sl_bench_options how;
	struct bench b = {.how = &how};
	struct sl_bench *result;
	enum sl_status rc;

	*out = NULL;
	if (options && options->struct_size != sizeof(*options))
		return sl__fail(err, SL_E_USAGE,
				"sl_bench_options: struct_size is wrong");
	how = with_defaults(options);
	rc = check_options(&how, n, err);
	if (!rc)
		rc = sl__match_defaults(&how.margin, &how.alpha, err);
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
