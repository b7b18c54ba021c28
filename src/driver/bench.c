/* SPDX-License-Identifier: Apache-2.0 */
/* bench.c - sl_bench(): whole commands, and what their runs mean. */
#include "base/arena.h"
#include "base/reading.h"
#include "base/option_struct.h"
#include "base/status.h"
#include "experiment/command_rounds.h"
#include "stats/bootstrap.h"
#include "stats/distribution.h"

#include <math.h>

#include "base/banned.h"

enum {
	MAX_COMMANDS = 256,
	MAX_ROUNDS = 1 << 20,
	COUNTER_SLACK_BYTES = 256 * 1024
};

struct bench {
	const struct sl_bench_options *how;
	struct sl__arena *arena;
	struct sl__command_table table;
	struct sl__launcher launcher;
	struct sl__monitor monitor;
	struct sl__command_rounds rounds;
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

/*
 * What lies below the launcher's own memory cannot be seen through it.  The
 * kernel keeps these counts per CPU and adds them up in batches of 32 pages,
 * so that two equal ones may differ by 256 KiB on two CPUs.
 */
static struct sl_reading
peak_memory(const struct bench *b, const struct sl__command_samples *c)
{
	double peak_bytes = 0, floor_bytes = (double)c->latest.floor_bytes;
	const char *reason;

	for (size_t i = 0; i < b->rounds.n_rounds; i++)
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
	struct sl__command_samples *c = &b->rounds.columns[command];
	struct sl__distribution_options how = {
		.alpha = 0.05,
		.samples_per_slot = 1,
		.warmup_is_fixed = b->how->n_warmup > 0,
		.rng = &b->rounds.coin,
	};

	out->command = &b->table.commands[command];
	out->wall_ns = c->wall_ns;
	out->user_ns = c->user_ns;
	out->system_ns = c->system_ns;
	out->resident_bytes = c->resident_bytes;
	out->exit_codes = c->exit_codes;
	out->n_runs = b->rounds.n_rounds;
	out->n_failed = c->n_failed;
	if (out->command->shell_line)
		out->shell = b->rounds.shell_ns;
	out->user = mean_time(c->user_ns, b->rounds.n_rounds);
	out->system = mean_time(c->system_ns, b->rounds.n_rounds);
	out->peak_bytes = peak_memory(b, c);
	out->wall.first_ns = c->first_ns;
	return sl__distribution_summarize(&out->wall, c->wall_ns,
					  b->rounds.n_rounds, &how, b->arena,
					  err);
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
conclude_test(struct bench *b, size_t command,
	      const struct sl_bench_result *results, struct sl_comparison *out)
{
	sl__arm_set_comparison(&b->rounds.arms, command, out);
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
			conclude_test(b, i, results, &comparisons[i - 1]);
	}
	out->results = results;
	out->n_results = n;
	out->comparisons = comparisons;
	out->n_comparisons = n - 1;
	out->elapsed_s = b->rounds.elapsed_s;
	out->stopped_by = b->rounds.stopped_by;
	out->seed = b->how->seed;
	out->noise.migrations =
		sl__absent("not measurable for a process that has ended");
	return SL_OK;
}

static void
set_defaults(struct sl_bench_options *how)
{
	if (how->precision == 0)
		how->precision = 0.01;
	if (how->min_runs == 0)
		how->min_runs = 10;
	if (!how->shell)
		how->shell = "/bin/sh";
	if (how->seed == 0)
		how->seed = 1;
}

static enum sl_status
launch(size_t program, struct sl__run_result *out, void *ctx,
       struct sl_error *err)
{
	struct bench *b = ctx;

	return sl__launcher_run(&b->launcher, program, out, b->how->interrupt,
				err);
}

static enum sl_status
run_bench(struct bench *b, struct sl_bench *out, struct sl_error *err)
{
	const struct sl__command_rounds_options with = {.how = b->how,
							.table = &b->table,
							.launch = launch,
							.launch_ctx = b,
							.monitor = &b->monitor};
	enum sl_status rc = sl__launcher_open(
		&b->launcher, b->table.programs,
		b->how->input ? b->how->input : "/dev/null", err);

	if (rc)
		return rc;
	sl__monitor_open(&b->monitor, NULL);
	rc = sl__command_rounds_run(&b->rounds, &with, b->arena, err);
	/* The launcher's children count as ours only when it is gone. */
	sl__launcher_close(&b->launcher);
	sl__monitor_close(&b->monitor, &out->noise);
	return rc ? rc : conclude(b, out, err);
}

enum sl_status
sl_bench(struct sl_bench **out, const struct sl_command *commands, size_t n,
	 const struct sl_bench_options *options, struct sl_error *err)
{
	struct sl_bench_options how;
	struct bench b = {.how = &how};
	struct sl_bench *result;
	enum sl_status rc = sl__options_copy(&how, sizeof(how), options,
					     "sl_bench_options", err);

	*out = NULL;
	set_defaults(&how);
	if (!rc)
		rc = check_options(&how, n, err);
	if (!rc)
		rc = sl__arm_set_defaults(&how.margin, &how.alpha, err);
	if (rc)
		return rc;
	result = sl__arena_object_new(&b.arena, how.allocator, sizeof(*result));
	if (!result)
		return sl__fail_nomem(err);
	rc = sl__command_table_init(&b.table, commands, n, &how, b.arena, err);
	if (!rc)
		rc = run_bench(&b, result, err);
	*out = sl__arena_object_free_on_error(result, rc);
	return rc;
}

void
sl_bench_free(struct sl_bench *b)
{
	sl__arena_object_free(b);
}
