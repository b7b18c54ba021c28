/* SPDX-License-Identifier: Apache-2.0 */
/* test_command_rounds.c - rounds of scripted commands: what ends them, what an
 * interrupt leaves.  Letters that commands would write are kept in order. */
#include "harness.h"
#include "scripted.h"
#include "experiment/command_rounds.h"

enum { COMMANDS = 2, SHELL_RUNS = 51 };
enum { N_PROGRAMS = COMMANDS * SL__N_COMMAND_STAGES + 1 };

/* By program: parts of the first, parts of the second, the idle shell. */
static const char letters[N_PROGRAMS + 1] = "aSpcZbTqdYs";

struct scene {
	struct scripted_instruments script;
	struct sl__monitor monitor;
	struct sl_command commands[COMMANDS];
	struct sl__executable programs[N_PROGRAMS];
	struct sl__command_table table;
	struct sl_bench_options how;
	struct sl__command_rounds rounds;
	struct sl__arena arena;
	double wall_ns[COMMANDS], noise;
	char diary[4096];
	size_t n_run, interrupt_at; /* the n-th program, from 1; 0: none */
	unsigned delayed;           /* main runs, from bit 0 on: kept waiting */
	size_t n_main;
	volatile sig_atomic_t interrupted;
	int fails_with; /* exit code of the first, 0: none */
	struct sl_progress told[512];
	size_t n_told;
};

static enum sl_status
launch(size_t program, struct sl__run_result *run, void *ctx,
       struct sl_error *err)
{
	struct scene *s = ctx;
	size_t command = program / SL__N_COMMAND_STAGES;

	(void)err;
	memset(run, 0, sizeof(*run));
	s->diary[s->n_run++] = letters[program];
	if (s->n_run == s->interrupt_at) {
		s->interrupted = 1;
		run->exit_code = 130;
	}
	if (program == 0 && s->fails_with) {
		run->exit_code = s->fails_with;
		strcpy(run->stderr_tail, "two\nlines\n");
	}
	run->wall_ns = 1e6;
	run->user_ns = run->system_ns = 0.5e6;
	if (command < COMMANDS &&
	    program % SL__N_COMMAND_STAGES == SL__COMMAND_STAGE_MAIN) {
		run->wall_ns = s->wall_ns[command];
		run->user_ns = 3e6;
		run->system_ns = 0.25e6;
		run->wall_ns *=
			1 + s->noise * sl__rng_uniform(&s->script.time.rng);
		run->run_delay_ns = s->n_main < 32 &&
						    s->delayed >> s->n_main & 1
					    ? (uint64_t)(0.11 * run->wall_ns)
					    : 0;
		s->n_main++;
	}
	s->script.time.now_ns += (uint64_t)run->wall_ns;
	return SL_OK;
}

static void
tell(const struct sl_progress *now, void *ctx)
{
	struct scene *s = ctx;

	if (s->n_told < 512)
		s->told[s->n_told++] = *now;
}

/* Two commands of 10 ms that need no shell and have no other parts. */
static void
set_scene(struct scene *s)
{
	memset(s, 0, sizeof(*s));
	script_instruments(&s->script, 0);
	s->script.time.now_ns = 1000;
	sl__arena_init(&s->arena, NULL);
	for (size_t i = 0; i < COMMANDS; i++) {
		s->commands[i].name = i ? "second" : "first";
		s->wall_ns[i] = 10e6;
		s->programs[i * SL__N_COMMAND_STAGES].file = "/bin/true";
	}
	s->table = (struct sl__command_table){.commands = s->commands,
					      .n = COMMANDS,
					      .programs = s->programs};
	s->how = (struct sl_bench_options){.precision = 0.01,
					   .margin = 0.01,
					   .alpha = 0.05,
					   .min_runs = 10,
					   .seed = 1,
					   .progress = tell,
					   .progress_ctx = s,
					   .interrupt = &s->interrupted};
}

/* All parts, a shell and two warm-ups. */
static void
set_whole_scene(struct scene *s)
{
	set_scene(s);
	for (size_t i = 0; i < N_PROGRAMS; i++)
		s->programs[i].file = "/bin/true";
	s->table.uses_shell = 1;
	s->how.n_warmup = 2;
	s->how.n_runs = 3;
}

static enum sl_status
try_rounds(struct scene *s, struct sl_error *err)
{
	struct sl__command_rounds_options with = {.how = &s->how,
						  .table = &s->table,
						  .launch = launch,
						  .launch_ctx = s,
						  .monitor = &s->monitor,
						  .clock = &s->script.clock};

	sl__monitor_open(&s->monitor, &s->script.with);
	return sl__command_rounds_run(&s->rounds, &with, &s->arena, err);
}

/* Returns the second command's verdict. */
static enum sl_verdict
take(struct scene *s, enum sl_stop stopped_by, size_t n_rounds)
{
	enum sl_verdict second;

	assert_int_equal(try_rounds(s, NULL), SL_OK);
	assert_int_equal(s->rounds.stopped_by, stopped_by);
	assert_int_equal(s->rounds.n_rounds, n_rounds);
	assert_int_equal(s->rounds.arms.n_taken, n_rounds);
	second = s->rounds.arms.arms[1].wall.verdict;
	sl__arena_release(&s->arena);
	return second;
}

/* A round takes 20 ms.  A budget that is given is kept to half a round and
 * beats the least number of runs; the default one, 6 s, gives way to it. */
static void
time_ends_it(void **state)
{
	struct scene s;

	(void)state;
	for (size_t n = 4; n <= 5; n++) {
		set_scene(&s);
		s.how.precision = 1e-9;
		s.noise = 0.001;
		/* Four rounds, and a bit less or more than half of a fifth. */
		s.how.time_s = n == 4 ? 0.0891 : 0.0911;
		take(&s, SL_STOP_TIME, n);
		assert_near(s.rounds.elapsed_s, 0.02 * (double)n, 0.0001);
	}

	set_scene(&s);
	s.how.time_s = 1e-9;
	take(&s, SL_STOP_TIME, 1);

	set_scene(&s);
	s.how.precision = 1e-9;
	s.wall_ns[0] = s.wall_ns[1] = 1e9;
	s.noise = 0.001;
	take(&s, SL_STOP_TIME, 10);
}

static void
runs_end_it(void **state)
{
	struct scene s;

	(void)state;
	set_scene(&s);
	s.how.n_runs = 17;
	s.how.time_s = 1e-9;
	take(&s, SL_STOP_RUNS, 17);

	set_scene(&s);
	s.how.max_runs = 12;
	s.how.precision = 1e-9;
	s.noise = 0.01;
	take(&s, SL_STOP_RUNS, 12);
}

/* Medians are precise from the sixth round on, the least number of runs is ten
 * and a tenth of 6 s thirty; looked at with 10, 12, 14, 16, 19, 22, 25, 29 and
 * 33 rounds. */
static void
precision_ends_it(void **state)
{
	struct scene s;

	(void)state;
	set_scene(&s);
	s.wall_ns[1] = 12e6;
	take(&s, SL_STOP_PRECISION, 29);

	set_scene(&s);
	take(&s, SL_STOP_PRECISION, 33);

	/* Before it is decided who is faster, medians alone are not enough. */
	set_scene(&s);
	s.how.margin = 0;
	s.how.time_s = 3;
	take(&s, SL_STOP_TIME, 150);
}

static void
a_verdict_ends_it(void **state)
{
	struct scene s;

	(void)state;
	/* Decided after 7 rounds, and known at once: ten runs at least. */
	set_scene(&s);
	s.how.until = SL_UNTIL_VERDICT;
	s.wall_ns[1] = 12e6;
	assert_int_equal(take(&s, SL_STOP_VERDICT, 10), SL_VERDICT_SLOWER);
	/* A ratio that is not known well takes fifty rounds, but not that of a
	 * gate which passes: the last is not slower, and neither faster nor the
	 * same by the margin. */
	for (int i = 0; i < 3; i++) {
		set_scene(&s);
		s.how.until = i ? SL_UNTIL_GATE : SL_UNTIL_VERDICT;
		s.wall_ns[1] = i < 2 ? 20e6 : 9.9e6;
		s.noise = i < 2 ? 0.5 : 0.02;
		assert_int_equal(take(&s, SL_STOP_VERDICT, i < 2 ? 50 : 10),
				 i < 2 ? SL_VERDICT_SLOWER : 0);
	}
}

/* Rounds 2 and 5 have a run that waited for a tenth of its time. */
static void
disturbed_rounds_do_not_count(void **state)
{
	struct sl_noise noise;
	struct scene s;

	(void)state;
	set_scene(&s);
	s.how.n_runs = 20;
	s.delayed = 1u << 5 | 1u << 10;
	take(&s, SL_STOP_RUNS, 20);
	assert_int_equal(s.rounds.arms.n_disturbed, 2);
	assert_int_equal(s.rounds.arms.n_left_out, 2);
	sl__monitor_close(&s.monitor, &noise);
	assert_int_equal(noise.n_slots, 40);
	assert_int_equal(noise.n_disturbed, 2);
}

/* Set-up, the shell, two warm-ups in order and three rounds; then cleaning
 * up. */
static void
phases_follow_each_other(void **state)
{
	struct scene s;
	size_t i;

	(void)state;
	set_whole_scene(&s);
	take(&s, SL_STOP_RUNS, 3);
	assert_memory_equal(s.diary, "ST", 2);
	for (i = 2; i < 2 + SHELL_RUNS; i++)
		assert_int_equal(s.diary[i], 's');
	assert_memory_equal(s.diary + i, "pacqbdpacqbd", 12);
	i += 12;
	for (int k = 0; k < 3; k++, i += 6)
		assert_true(!memcmp(s.diary + i, "pacqbd", 6) ||
			    !memcmp(s.diary + i, "qbdpac", 6));
	assert_string_equal(s.diary + i, "ZY");
	assert_int_equal(s.rounds.shell_ns.n, SHELL_RUNS);
	assert_near(s.rounds.shell_ns.value, 1e6, 0);
	assert_int_equal(s.n_told, 3 + 4);
	for (i = 0; i < s.n_told; i++) {
		const struct sl_progress *now = &s.told[i];

		assert_string_equal(now->what,
				    i < 3 ? "warming up" : "measuring");
		assert_int_equal(now->n_done, i < 3 ? i : i - 3);
		assert_near(now->share,
			    i < 3 ? (double)i / 2 : (double)(i - 3) / 3, 1e-12);
		if (i < 4)
			assert_true(isnan(now->median_ns));
		else
			assert_near(now->median_ns, 10e6, 0);
	}
}

/* The shell takes 1 ms of each run, and all of a run that is shorter. */
static void
the_shells_time_is_taken_off(void **state)
{
	struct scene s;

	(void)state;
	set_whole_scene(&s);
	s.commands[0].shell_line = s.commands[1].shell_line = "line";
	s.wall_ns[1] = 0.5e6;
	assert_int_equal(try_rounds(&s, NULL), SL_OK);
	assert_near(s.rounds.columns[0].wall_ns[0], 9e6, 0);
	assert_near(s.rounds.columns[0].first_ns, 9e6, 0);
	assert_near(s.rounds.columns[0].user_ns[0], 2.5e6, 0);
	assert_near(s.rounds.columns[0].system_ns[0], 0, 0);
	assert_near(s.rounds.columns[1].wall_ns[2], 0, 0);
	sl__arena_release(&s.arena);
}

/* Codes that are ignored are counted; another ends it and quotes stderr. */
static void
failures_end_it_unless_ignored(void **state)
{
	static const int codes[] = {1, 3};
	struct sl_error err;
	struct scene s;

	(void)state;
	for (size_t n = 0; n < 4; n++) {
		set_scene(&s);
		s.fails_with = 3;
		s.how.n_runs = 2;
		s.how.ignore_failure = n < 3;
		s.how.ignored_codes = codes;
		s.how.n_ignored_codes = n;
		assert_int_equal(try_rounds(&s, &err),
				 n % 2 ? SL_E_MEASURE : SL_OK);
		if (n % 2 == 0)
			assert_int_equal(s.rounds.columns[0].n_failed, 2);
		sl__arena_release(&s.arena);
	}
	assert_string_equal(err.text, "'first' failed with exit code 3");
	assert_string_equal(err.stderr_tail, "two\nlines");
	assert_int_equal(err.hint, SL_HINT_FAILURE);
}

/* Wherever it falls, nothing but the cleaning up follows, and what it fell
 * into does not count; nor is its exit code a failure. */
static void
an_interrupt_in_each_phase(void **state)
{
	static const struct {
		size_t at, n_rounds;
	} rows[] = {
		{1, 0},       /* the first set-up */
		{2, 0},       /* the last one */
		{10, 0},      /* the shell */
		{53, 0},      /* the last shell */
		{54, 0},      /* a preparation before warm-up */
		{58, 0},      /* a warm-up */
		{65, 0},      /* the last part of the warm-up */
		{66, 0},      /* the first round */
		{71, 0},      /* its last part */
		{72 + 4, 1},  /* a run of the second */
		{72 + 11, 2}, /* its last part */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct sl_error err = {0};
		struct scene s;
		enum sl_status rc;

		set_whole_scene(&s);
		s.interrupt_at = rows[i].at;
		rc = try_rounds(&s, &err);
		assert_int_equal(rc,
				 rows[i].n_rounds ? SL_OK : SL_E_INTERRUPTED);
		assert_int_equal(s.rounds.n_rounds, rows[i].n_rounds);
		assert_int_equal(s.rounds.stopped_by, SL_STOP_INTERRUPT);
		assert_int_equal(s.n_run, rows[i].at + 2);
		assert_string_equal(s.diary + rows[i].at, "ZY");
		sl__arena_release(&s.arena);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(time_ends_it),
		cmocka_unit_test(runs_end_it),
		cmocka_unit_test(precision_ends_it),
		cmocka_unit_test(a_verdict_ends_it),
		cmocka_unit_test(disturbed_rounds_do_not_count),
		cmocka_unit_test(phases_follow_each_other),
		cmocka_unit_test(the_shells_time_is_taken_off),
		cmocka_unit_test(failures_end_it_unless_ignored),
		cmocka_unit_test(an_interrupt_in_each_phase),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
