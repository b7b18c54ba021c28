/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_suite.c - a suite of small models: each cell has its figures once, a
 * model that fails leaves the others alone, cells that do not fit together run
 * in batches, limits are judged, a suite that was interrupted goes on where it
 * was, and the lock file says what differs.
 */
#include "harness.h"
#include "reads_back.h"

#include "base/buf.h"
#include "base/file.h"

#include <unistd.h>

static const char lock[] = "test_suite.lock";
static const char partial[] = "test_suite.lock.partial";

static const char small[] = "repetitions = 6\n"
			    "rounds = 2\n"
			    "threads = 1\n"
			    "variants = baseline, fuse=off\n"
			    "[mlp]\n"
			    "model = mlp:64-16-10\n"
			    "data = digits\n"
			    "scenarios = single, multi\n"
			    "max-memory = 1G\n"
			    "[lenet]\n"
			    "model = lenet5\n";

static volatile sig_atomic_t flag;

static struct sl_suite *
run(const char *text, struct sl_suite_options how)
{
	struct sl_suite *out;
	struct sl_error err;

	how.struct_size = sizeof(how);
	if (sl_suite_run(&out, text, strlen(text), &how, &err))
		fail_msg("%s", err.text);
	return out;
}

static enum sl_status
render(const void *result, const struct sl_render_options *how,
       struct sl_buf *out, struct sl_error *err)
{
	return sl_suite_render(result, how, out, err);
}

static void
every_cell_has_its_figures(void **state)
{
	static const size_t baselines[] = {0, 0, 2, 2, 4, 4};
	static const int64_t batches[] = {1, 1, 8, 8, 1, 1};
	struct sl_suite *s = run(small, (struct sl_suite_options){0});

	(void)state;
	assert_int_equal(s->n_cells, 6);
	assert_int_equal(s->n_done, 6);
	assert_int_equal(s->n_batches, 1);
	for (size_t i = 0; i < 6; i++) {
		const struct sl_suite_cell *c = &s->cells[i];

		assert_null(c->failed);
		assert_int_equal(c->time_ns.n, 6);
		assert_true(c->time_ns.lo > 0 &&
			    c->time_ns.lo <= c->time_ns.value &&
			    c->time_ns.value <= c->time_ns.hi);
		assert_int_equal(c->baseline, baselines[i]);
		assert_int_equal(c->ratio.n, 6);
		assert_int_equal(c->batch, batches[i]);
		assert_int_equal(c->n_threads, 1);
		assert_true(c->memory_bytes > c->size_bytes / 2);
		assert_int_equal(c->n_limits, i < 4);
	}
	/* By closed form: 64 x 16 + 16 + 16 x 10 + 10 of four bytes. */
	assert_int_equal(s->cells[0].size_bytes, 4840);
	assert_near(s->cells[4].ratio.value, 1, 0);
	assert_null(s->cells[1].accuracy_absent);
	assert_int_equal(s->cells[3].accuracy.n, 359);
	assert_near(s->cells[3].accuracy.value, s->cells[0].accuracy.value, 0);
	assert_non_null(s->cells[4].accuracy_absent);
	assert_int_equal(s->verdict, SL_GATE_OK);
	assert_renders_back(render, s);
	sl_suite_free(s);
}

static void
failures_stay_with_their_cells(void **state)
{
	const char *text = "repetitions = 1\n"
			   "threads = 1\n"
			   "[a]\nmodel = nosuch.onnx\nmax-time = 1s\n"
			   "[b]\nmodel = mlp:4-2\n"
			   "[c]\nmodel = mlp:4-2\ndata = nosuch.csv\n"
			   "[d]\nmodel = mlp:4-2\nbatch = 1\nseq = 8\n";
	struct sl_suite *s = run(text, (struct sl_suite_options){0});

	(void)state;
	assert_int_equal(s->n_cells, 4);
	assert_non_null(strstr(s->cells[0].failed, "nosuch.onnx"));
	assert_null(s->cells[1].failed);
	assert_int_equal(s->cells[1].time_ns.n, 1);
	assert_non_null(strstr(s->cells[2].failed, "nosuch.csv"));
	assert_non_null(s->cells[3].failed);
	assert_int_equal(s->cells[0].limits[0].verdict, SL_GATE_UNDECIDED);
	assert_true(isnan(s->cells[0].limits[0].value));
	assert_int_equal(s->verdict, SL_GATE_UNDECIDED);
	assert_renders_back(render, s);
	sl_suite_free(s);
}

static void
cells_that_do_not_fit_run_in_batches(void **state)
{
	struct sl_suite *s =
		run(small, (struct sl_suite_options){.memory_bytes = 1,
						     .n_repetitions = 2});

	(void)state;
	assert_int_equal(s->n_batches, 6);
	for (size_t i = 0; i < 6; i++) {
		assert_int_equal(s->cells[i].batch_nth, i);
		assert_int_equal(s->cells[i].time_ns.n, 2);
		assert_int_equal(s->cells[i].ratio.n, 2);
	}
	sl_suite_free(s);
}

static void
limits_are_judged(void **state)
{
	const char *text = "repetitions = 6\n"
			   "threads = 1\n"
			   "[a]\nmodel = mlp:64-10\ndata = digits\n"
			   "max-time = 1ns\nmax-size = 2600\n"
			   "min-accuracy = 99.9%\n"
			   "[b]\nmodel = mlp:64-10\n"
			   "max-time = 1000s\nmax-size = 2599\n";
	struct sl_suite *s = run(text, (struct sl_suite_options){0});
	const struct sl_suite_limit *a = s->cells[0].limits;
	const struct sl_suite_limit *b = s->cells[1].limits;

	(void)state;
	assert_int_equal(s->cells[0].n_limits, 3);
	assert_int_equal(a[0].metric, SL_GATE_TIME);
	assert_int_equal(a[0].verdict, SL_GATE_REGRESSED);
	assert_int_equal(a[1].verdict, SL_GATE_OK);
	assert_int_equal(a[2].metric, SL_GATE_ACCURACY);
	assert_int_equal(a[2].verdict, SL_GATE_REGRESSED);
	assert_int_equal(b[0].verdict, SL_GATE_OK);
	assert_int_equal(b[1].verdict, SL_GATE_REGRESSED);
	assert_int_equal(s->verdict, SL_GATE_REGRESSED);
	sl_suite_free(s);
}

/* Sets the flag once four repetitions were made. */
static void
interrupt(const struct sl_progress *now, void *ctx)
{
	int *n = ctx;

	if (strcmp(now->what, "measuring") == 0 && ++*n == 5)
		flag = 1;
}

static void
what_was_finished_is_not_measured_again(void **state)
{
	int n = 0;
	struct sl_suite_options how = {.lock_path = lock,
				       .progress = interrupt,
				       .progress_ctx = &n,
				       .interrupt = &flag};
	struct sl_suite *s = run(small, how), *t;

	(void)state;
	flag = 0;
	assert_int_equal(s->stopped_by, SL_STOP_INTERRUPT);
	assert_int_equal(s->n_done, 4);
	assert_int_equal(access(partial, F_OK), 0);
	assert_int_not_equal(access(lock, F_OK), 0);
	how.progress = NULL;
	t = run(small, how);
	assert_int_equal(t->n_resumed, 4);
	assert_int_equal(t->n_done, 6);
	assert_int_not_equal(access(partial, F_OK), 0);
	assert_true(t->is_new_lock);
	assert_int_equal(t->n_differences, 0);
	assert_near(t->cells[1].accuracy.value, s->cells[1].accuracy.value, 0);
	sl_suite_free(s);
	sl_suite_free(t);
	unlink(lock);
}

/* As if what is finished had taken an hour. */
static void
tell_an_hour(void)
{
	static const char key[] = "\"seconds\":";
	struct sl_buf was = {0}, now = {0};
	const char *at;

	assert_int_equal(sl__file_read(&was, partial, 1 << 20, NULL), SL_OK);
	at = strstr(was.data, key);
	assert_non_null(at);
	at += sizeof(key) - 1;
	sl__buf_format(&now, "%.*s3600%s", (int)(at - was.data), was.data,
		       at + strcspn(at, ",\n}"));
	assert_int_equal(sl_buf_write(&now, partial, NULL), SL_OK);
	sl_buf_release(&was);
	sl_buf_release(&now);
}

static void
repetitions_fill_the_time(void **state)
{
	const char *text = "repetitions = 2\ntime = 1000s\nthreads = 1\n"
			   "[a]\nmodel = mlp:4-2\n";
	int n = 0;
	struct sl_suite_options how = {.lock_path = lock,
				       .progress = interrupt,
				       .progress_ctx = &n,
				       .interrupt = &flag};
	struct sl_suite *s = run(text, how);

	(void)state;
	flag = 0;
	assert_int_equal(s->n_done, 4);
	assert_near(s->asked_s, 1000, 0);
	sl_suite_free(s);
	tell_an_hour();
	s = run(text, how);
	assert_int_equal(s->stopped_by, SL_STOP_RUNS);
	assert_int_equal(s->n_resumed, 4);
	assert_int_equal(s->n_done, 4);
	assert_int_equal(s->n_repetitions, 4);
	assert_int_equal(s->cells[0].time_ns.n, 4);
	sl_suite_free(s);
	unlink(lock);
}

/* Another experiment, or what is no such file, is begun anew. */
static void
others_partial_results_are_left_alone(void **state)
{
	static const char broken[] = "{\"identity\": ";
	const struct sl_buf text = {(char *)(uintptr_t)broken,
				    sizeof(broken) - 1, sizeof(broken)};
	struct sl_suite_options how = {.lock_path = lock, .interrupt = &flag};
	struct sl_suite *s;
	int n = 0;

	(void)state;
	how.progress = interrupt;
	how.progress_ctx = &n;
	sl_suite_free(run(small, how));
	flag = 0;
	how.progress = NULL;
	how.n_repetitions = 5;
	s = run(small, how);
	assert_int_equal(s->n_resumed, 0);
	assert_int_equal(s->n_done, 5);
	sl_suite_free(s);
	assert_int_equal(sl_buf_write(&text, partial, NULL), SL_OK);
	s = run(small, how);
	assert_int_equal(s->n_resumed, 0);
	assert_int_equal(s->n_differences, 0);
	sl_suite_free(s);
	unlink(lock);
}

static void
the_lock_says_what_differs(void **state)
{
	const char *before = "seed = 1\nrepetitions = 1\nthreads = 1\n"
			     "[a]\nmodel = mlp:4-2\n";
	const char *after = "seed = 2\nrepetitions = 1\nthreads = 1\n"
			    "[b]\nmodel = mlp:4-2\n";
	struct sl_suite_options how = {.lock_path = lock};
	struct sl_suite *s;
	size_t n_gone = 0, n_new = 0, n_other = 0;

	(void)state;
	sl_suite_free(run(before, how));
	s = run(after, how);
	for (size_t i = 0; i < s->n_differences; i++) {
		const struct sl_suite_difference *d = &s->differences[i];

		n_gone += !d->now;
		n_new += !d->locked;
		n_other += d->now && d->locked;
	}
	assert_int_equal(n_gone, 1); /* the choices of a */
	assert_int_equal(n_new, 1);
	assert_int_equal(n_other, 2); /* seed, and the text */
	assert_false(s->is_new_lock);
	assert_renders_back(render, s);
	sl_suite_free(s);
	how.is_relocked = 1;
	sl_suite_free(run(after, how));
	how.is_relocked = 0;
	s = run(after, how);
	assert_int_equal(s->n_differences, 0);
	sl_suite_free(s);
	unlink(lock);
}

static void
what_cannot_be_written_loses_no_result(void **state)
{
	struct sl_suite *s =
		run("repetitions = 1\nthreads = 1\n[a]\nmodel = mlp:4-2\n",
		    (struct sl_suite_options){.lock_path = "nosuch/x.lock"});

	(void)state;
	assert_non_null(s->unsaved);
	assert_int_equal(s->cells[0].time_ns.n, 1);
	sl_suite_free(s);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_cell_has_its_figures),
		cmocka_unit_test(failures_stay_with_their_cells),
		cmocka_unit_test(cells_that_do_not_fit_run_in_batches),
		cmocka_unit_test(limits_are_judged),
		cmocka_unit_test(what_was_finished_is_not_measured_again),
		cmocka_unit_test(repetitions_fill_the_time),
		cmocka_unit_test(others_partial_results_are_left_alone),
		cmocka_unit_test(the_lock_says_what_differs),
		cmocka_unit_test(what_cannot_be_written_loses_no_result),
	};

	unlink(lock);
	unlink(partial);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
