/* SPDX-License-Identifier: Apache-2.0 */
/* bench_table.c - fields of functions and commands that were timed. */
#include "result/tables.h"
#include "result/words.h"
#include "sleuth/overheads.h"

#include <math.h>

#include "base/banned.h"

#define MS .unit = SL__NS_PER_MS
#define LATENCY(s, m) \
	SL__F(OBJECT, s, m, "latency", "wall time", .of = &sl__table_latency)
#define NOISE(s)                                                           \
	SL__F(OBJECT, s, noise, "noise", "what disturbed the measurement", \
	      .of = &sl__table_noise)

static const struct sl__field clock_fields[] = {
	SL__F(NUMBER, sl_measurement, clock_cost_ns, "reading_ms",
	      "cost of one reading of the clock, subtracted", MS),
	SL__F(NUMBER, sl_measurement, clock_resolution_ns, "resolution_ms",
	      "smallest step seen", MS),
};
static SL__RECORD(clock_of, "clock", sl_measurement, clock_fields, 0);

static const struct sl__field measurement_fields[] = {
	SL__F(TEXT, sl_measurement, name, "name", "of the function"),
	LATENCY(sl_measurement, wall),
	SL__F_TIME(sl_measurement, cpu, "cpu",
		   "CPU time of the thread per call", NULL),
	SL__F(WHOLE, sl_measurement, calls_per_sample, "calls_per_sample",
	      "above 1, each time is a mean over that many calls"),
	SL__F_GROUP(&clock_of, "clock", "the clock that timed it"),
	NOISE(sl_measurement),
	SL__F_ENDING(sl_measurement),
	SL__F_LIST(NUMBERS, sl_measurement, samples_ns, n_samples, "times_ms",
		   "every time in order, warm-up first", MS),
};
SL__RECORD(sl__table_measurement, "measurement", sl_measurement,
	   measurement_fields, 0);

static const struct sl__field comparisons_fields[] = {
	SL__F_LIST(FIRST, sl_comparisons, rows, n, "comparison",
		   "the first of the next", .of = &sl__table_comparison),
	SL__F_LIST(LIST, sl_comparisons, rows, n, "comparisons",
		   "each function against the first",
		   .of = &sl__table_comparison),
	NOISE(sl_comparisons),
	SL__F_ENDING(sl_comparisons),
};
SL__RECORD(sl__table_comparisons, "comparisons", sl_comparisons,
	   comparisons_fields, 0);

SL__WHY(no_shell_line, sl_command, c,
	c->shell_line ? NULL : "run without a shell")
SL__WHY(no_argv, sl_command, c, c->argv ? NULL : "run by a shell")

static const struct sl__field command_fields[] = {
	SL__F(TEXT, sl_command, name, "command",
	      "its name, or its words where it has none"),
	SL__F(TEXT, sl_command, shell_line, "shell_line",
	      "what a shell was given", .why = no_shell_line, .is_left_out = 1),
	SL__F(ARGV, sl_command, argv, "argv", "what was run without a shell",
	      .why = no_argv, .is_left_out = 1),
	SL__F(TEXT, sl_command, setup, "setup",
	      "line for a shell before all runs; not timed, as the next three",
	      .is_left_out = 1),
	SL__F(TEXT, sl_command, prepare, "prepare", "before each run",
	      .is_left_out = 1),
	SL__F(TEXT, sl_command, conclude, "conclude", "after each run",
	      .is_left_out = 1),
	SL__F(TEXT, sl_command, cleanup, "cleanup", "after all runs",
	      .is_left_out = 1),
	SL__F(TEXT, sl_command, output, "output",
	      "where its output went, if said of it alone", .is_left_out = 1),
	SL__F_LIST(PAIRS, sl_command, parameters, n_parameters, "parameters",
		   "by name; empty without any"),
};
static SL__RECORD(command, "command", sl_command, command_fields, 0);

static const struct sl__field memory_fields[] = {
	SL__F(READING, sl_bench_result, peak_bytes, "resident_peak_bytes",
	      "largest resident set of any run"),
};
static SL__RECORD(memory, "memory", sl_bench_result, memory_fields, 0);

SL__WHY(no_shell, sl_bench_result, r, r->shell.n ? NULL : "no shell")

static const struct sl__field bench_result_fields[] = {
	SL__F(POINTER, sl_bench_result, command, NULL, "the command",
	      .of = &command),
	LATENCY(sl_bench_result, wall),
	SL__F_TIME(sl_bench_result, user, "user",
		   "mean CPU time of the command and its children", NULL),
	SL__F_TIME(sl_bench_result, system, "system",
		   "the same spent in the kernel", NULL),
	SL__F_GROUP(&memory, "memory", "of the command"),
	SL__F(NUMBER, sl_bench_result, shell.value, "shell_ms",
	      "starting the shell alone, median; taken off every run", MS,
	      .why = no_shell),
	SL__F(INTERVAL, sl_bench_result, shell, "shell_ci95_ms",
	      "its 95 % interval", MS, .why = no_shell, .is_left_out = 1),
	SL__F(WHOLE, sl_bench_result, shell.n, "shell_n", "samples behind it",
	      .why = no_shell, .is_left_out = 1),
	SL__F(WHOLE, sl_bench_result, n_runs, "runs", "timed runs"),
	SL__F(WHOLE, sl_bench_result, n_failed, "failed",
	      "of these, with an exit code other than 0"),
	SL__F_LIST(NUMBERS, sl_bench_result, wall_ns, n_runs, "times_ms",
		   "every timed run in order, warm-up included where it was "
		   "detected and not asked for",
		   MS),
	SL__F_LIST(NUMBERS, sl_bench_result, user_ns, n_runs, "user_times_ms",
		   "CPU time of each", MS),
	SL__F_LIST(NUMBERS, sl_bench_result, system_ns, n_runs,
		   "system_times_ms", "the same in the kernel", MS),
	SL__F_LIST(NUMBERS, sl_bench_result, resident_bytes, n_runs,
		   "resident_bytes", "largest resident set of each"),
	SL__F_LIST(SIGNEDS, sl_bench_result, exit_codes, n_runs, "exit_codes",
		   "of these runs; 128 + signal where one ended it"),
};
static SL__RECORD(bench_result, "results", sl_bench_result, bench_result_fields,
		  0);

static const struct sl__field only_latency_fields[] = {
	LATENCY(sl_bench_result, wall),
};
static SL__RECORD(only_latency, "results", sl_bench_result, only_latency_fields,
		  0);

SL__WHY(are_several, sl_bench, b, b->n_results == 1 ? NULL : "several commands")
SL__WHY(is_alone, sl_bench, b, b->n_comparisons ? NULL : "one command")

static const struct sl__field bench_fields[] = {
	SL__F_LIST(FIRST, sl_bench, results, n_results, NULL,
		   "of the only command", .of = &only_latency,
		   .why = are_several),
	SL__F_LIST(LIST, sl_bench, results, n_results, "results",
		   "one for each command, in the order given",
		   .of = &bench_result),
	SL__F_LIST(FIRST, sl_bench, comparisons, n_comparisons, "comparison",
		   "the first of the next", .of = &sl__table_comparison,
		   .why = is_alone, .is_left_out = 1),
	SL__F_LIST(LIST, sl_bench, comparisons, n_comparisons, "comparisons",
		   "each command against the first",
		   .of = &sl__table_comparison, .is_left_out = 1),
	NOISE(sl_bench),
	SL__F_ENDING(sl_bench),
};
/* Each command but the first is compared with it. */
static const char *
check_bench(const void *record)
{
	const struct sl_bench *b = record;

	return b->n_results && b->n_comparisons == b->n_results - 1
		       ? NULL
		       : "not every command is compared with the first";
}

SL__RECORD(sl__table_bench, "bench", sl_bench, bench_fields,
	   .check = check_bench);

SL__WHY(no_verdict, sl_selfcheck_row, r,
	isnan(r->seconds.value) ? "no verdict was reached" : NULL)

static const struct sl__field selfcheck_row_fields[] = {
	SL__F(NUMBER, sl_selfcheck_row, planted, "planted",
	      "change asked for, as a share of the work"),
	SL__F(NUMBER, sl_selfcheck_row, planted_real, "planted_real",
	      "change made, in whole iterations"),
	SL__F(WHOLE, sl_selfcheck_row, n_verdicts, "verdicts", "comparisons"),
	SL__F(WHOLE, sl_selfcheck_row, n_different, "different",
	      "called faster or slower"),
	SL__F(WHOLE, sl_selfcheck_row, n_right, "right",
	      "of these, in the planted direction"),
	SL__F_ESTIMATE(sl_selfcheck_row, rate, "rate",
		       "different / verdicts where nothing was planted, else "
		       "right / verdicts; Clopper-Pearson",
		       NULL),
	SL__F(NUMBER, sl_selfcheck_row, seconds.value, "median_ms",
	      "to a verdict, of those reached", .factor = 1e3,
	      .why = no_verdict),
	SL__F(INTERVAL, sl_selfcheck_row, seconds, "median_ci95_ms",
	      "its 95 % interval", .unit = 1e-3, .why = no_verdict),
	SL__F(WHOLE, sl_selfcheck_row, seconds.n, "median_n",
	      "verdicts behind it"),
};
static SL__RECORD(selfcheck_row, "selfcheck.rows", sl_selfcheck_row,
		  selfcheck_row_fields, 0);

static const struct sl__field selfcheck_group_fields[] = {
	SL__F(NUMBER, sl_selfcheck, budget_s, "budget_ms",
	      "time for one verdict", .factor = 1e3),
	SL__F(NUMBER, sl_selfcheck, function_ns, "work_ms",
	      "length of the work measured", MS),
	SL__F_LIST(LIST, sl_selfcheck, rows, n_rows, "rows",
		   "A against A first, then planted changes",
		   .of = &selfcheck_row),
};
static SL__RECORD(selfcheck_group, "selfcheck", sl_selfcheck,
		  selfcheck_group_fields, 0);

static const struct sl__field selfcheck_fields[] = {
	SL__F_GROUP(&selfcheck_group, "selfcheck",
		    "Sleuth's own error rates on this machine"),
	NOISE(sl_selfcheck),
	SL__F_ENDING(sl_selfcheck),
};
SL__RECORD(sl__table_selfcheck, "selfcheck", sl_selfcheck, selfcheck_fields, 0);

static const struct sl__field overhead_row_fields[] = {
	SL__F(WORD, sl_overhead_row, instrumentation, "name",
	      "what observes a run", .words = &sl__words_instrumentation),
	SL__F(WHOLE, sl_overhead_row, n_events, "events",
	      "clock readings or hook calls per iteration"),
	SL__F(NUMBER, sl_overhead_row, event_ns, "event_ms",
	      "time of each of these", MS),
	SL__F_TIME(sl_overhead_row, extra_ns, "extra",
		   "instrumented minus bare iteration, median of rounds", NULL),
	SL__F(NUMBER, sl_overhead_row, share, "share",
	      "of the baseline iteration"),
	SL__F(WORD, sl_overhead_row, fitness, "fit_for",
	      "always: at most 1 %; development: at most 5 %; unknown: the "
	      "interval is too wide to tell",
	      .words = &sl__words_fitness),
};
static SL__RECORD(overhead_row, "overhead.levels", sl_overhead_row,
		  overhead_row_fields, 0);

static const struct sl__field overhead_model_fields[] = {
	SL__F(TEXT, sl_overhead_study, name, "name", "of the model"),
};
static SL__RECORD(overhead_model, "model", sl_overhead_study,
		  overhead_model_fields, 0);

static const struct sl__field study_fields[] = {
	SL__F(WHOLE, sl_overhead_study, n_steps, "steps", "of the plan"),
	SL__F(WHOLE, sl_overhead_study, n_threads, "threads", "of the plan"),
	SL__F(WHOLE, sl_overhead_study, n_rounds, "rounds", "that count"),
	SL__F_TIME(sl_overhead_study, bare_ns, "bare",
		   "median of an iteration without instrumentation", NULL),
	{.key = "levels",
	 .kind = SL__FIELD_LIST,
	 SL__AT(sl_overhead_study, rows),
	 .most = SL_N_INSTRUMENTATIONS,
	 .of = &overhead_row,
	 .meaning =
		 "instrumentation, each with more detail than the one before"},
};
static SL__RECORD(instrumentation, "overhead", sl_overhead_study, study_fields,
		  0);

static const struct sl__field overhead_fields[] = {
	SL__F_GROUP(&overhead_model, "model", "that was run"),
	SL__F_GROUP(&instrumentation, "overhead", "what instrumentation costs"),
	SL__F_ENDING(sl_overhead_study),
};
SL__RECORD(sl__table_overhead, "overhead", sl_overhead_study, overhead_fields,
	   0);
