/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_load_run.c - queries under a scripted clock: waiting times are those of
 * Lindley's recursion to the nanosecond and of Erlang's and Pollaczek's closed
 * forms on average; batches, early ends, overload, interrupts and failures.
 */
#include "harness.h"
#include "base/status.h"
#include "experiment/load_run.h"
#include "md1_queue.h"
#include "scripted.h"

enum { SERVICE_NS = 1000000 };

struct scene {
	struct scripted_instruments s;
	struct sl__arena arena;
	struct sl__load_run run;
	struct sl__load_server server;
	struct sl__load_run_options how;
	size_t n_calls, fail_at, interrupt_at;
	uint64_t late_ns; /* that each wait takes longer */
};

static enum sl_status
serve(size_t batch, void *ctx, struct sl_error *err)
{
	struct scene *scene = ctx;

	(void)batch;
	if (++scene->n_calls == scene->fail_at)
		return sl__fail(err, SL_E_DATA, "planted");
	if (scene->n_calls == scene->interrupt_at) {
		scene->s.time.interrupted = 1;
		return sl__fail(err, SL_E_INTERRUPTED, "planted");
	}
	scene->s.time.now_ns += SERVICE_NS;
	return SL_OK;
}

static void
wait_scripted(uint64_t left_ns, void *ctx)
{
	struct scene *scene = ctx;

	scene->s.time.now_ns += left_ns + scene->late_ns;
}

static void
setup(struct scene *scene, double rho, double time_s)
{
	memset(scene, 0, sizeof(*scene));
	script_instruments(&scene->s, 0);
	sl__arena_init(&scene->arena, NULL);
	scene->server = (struct sl__load_server){
		.serve = serve, .batches = {1}, .n_batches = 1, .ctx = scene};
	scene->how = (struct sl__load_run_options){
		.rate_per_s = rho * 1e9 / SERVICE_NS,
		.time_s = time_s,
		.n_most = 1000,
		.seed = 1,
		.control = scripted_control(&scene->s, NULL, NULL),
		.wait = wait_scripted,
		.wait_ctx = scene,
	};
}

static enum sl_status
go(struct scene *scene, struct sl_error *err)
{
	return sl__load_run(&scene->run, &scene->server, &scene->how,
			    &scene->arena, err);
}

static void
waits_are_those_of_the_queue(void **state)
{
	const double rho = .7;
	double wait = 0, sum = 0, n_long = 0, n;
	struct scene scene;

	(void)state;
	setup(&scene, rho, 60);
	assert_int_equal(go(&scene, NULL), SL_OK);
	n = (double)scene.run.n_served;
	assert_int_equal(scene.run.n_served, scene.run.n_scheduled);
	assert_int_equal(scene.run.n_arrived, scene.run.n_served);
	for (size_t i = 0; i < scene.run.n_served; i++) {
		const uint64_t *due = scene.run.due_ns;

		assert_near(scene.run.latency_ns[i], wait + SERVICE_NS, .5);
		assert_int_equal(scene.run.begins[i], !(wait > 0));
		assert_near(sl__load_lateness_ns(&scene.run, i), 0, 0);
		sum += wait / SERVICE_NS;
		n_long += wait > 2 * SERVICE_NS;
		if (i + 1 < scene.run.n_served)
			wait = fmax(0, wait + SERVICE_NS -
					       (double)(due[i + 1] - due[i]));
	}
	/* 42000 waits are worth some 2500 independent ones: 3 sd. */
	assert_close(sum / n, md1_mean_wait(rho), .09);
	assert_near(n_long / n, 1 - md1_waits_at_most(rho, 2), .025);
	assert_near(scene.run.busy_s, n * SERVICE_NS / 1e9, 1e-6);
	assert_int_equal(sl__load_is_overloaded(&scene.run), 0);
	sl__arena_release(&scene.arena);
}

static void
the_next_query_follows_the_last(void **state)
{
	struct scene scene;

	(void)state;
	setup(&scene, 0, .05);
	assert_int_equal(go(&scene, NULL), SL_OK);
	assert_int_equal(scene.run.n_served, 50);
	assert_int_equal(scene.run.stopped_by, SL_STOP_TIME);
	for (size_t i = 0; i < 50; i++) {
		assert_near(scene.run.latency_ns[i], SERVICE_NS, 0);
		assert_int_equal(scene.run.begins[i], 1);
	}
	sl__arena_release(&scene.arena);
}

static void
batches_take_what_waits(void **state)
{
	struct scene scene;
	size_t n = 0;

	(void)state;
	setup(&scene, 3, 5);
	scene.server.batches[1] = 2;
	scene.server.batches[2] = 4;
	scene.server.n_batches = 3;
	assert_int_equal(go(&scene, NULL), SL_OK);
	for (size_t i = 0; i < 3; i++) {
		assert_true(scene.run.n_runs[i] > 0);
		n += scene.run.n_runs[i] * scene.server.batches[i];
	}
	assert_int_equal(n, scene.run.n_served);
	assert_int_equal(scene.run.n_served, scene.run.n_scheduled);
	/* One at a time would have left two thirds. */
	assert_int_equal(sl__load_is_overloaded(&scene.run), 0);
	sl__arena_release(&scene.arena);
}

static void
overload_ends(void **state)
{
	struct sl__limit_evidence e;
	struct scene scene;

	(void)state;
	setup(&scene, 2, 10);
	assert_int_equal(go(&scene, NULL), SL_OK);
	assert_near(scene.run.elapsed_s, 11, .01);
	assert_true(sl__load_is_overloaded(&scene.run));
	assert_in_range(scene.run.n_arrived - scene.run.n_served, 8000, 10000);
	sl__arena_release(&scene.arena);

	/* With a limit, as soon as the schedule cannot hold it any more. */
	setup(&scene, 2, 10);
	scene.how.limit_ns = 10 * SERVICE_NS;
	scene.how.late_share = .01;
	assert_int_equal(go(&scene, NULL), SL_OK);
	assert_int_equal(scene.run.stopped_by, SL_STOP_VERDICT);
	assert_true(scene.run.elapsed_s < 1);
	sl__load_run_evidence(&e, &scene.run, scene.how.limit_ns, .01, 0);
	assert_true(e.log_e_fails >= log(20));
	assert_true(e.n_late > scene.run.n_late); /* of those that wait */
	assert_true(sl__load_is_overloaded(&scene.run));
	sl__arena_release(&scene.arena);
}

/* Queries handed out late are late, and it is known why. */
static void
lateness_is_part_of_the_latency(void **state)
{
	struct sl__limit_evidence as_is, on_time;
	struct scene scene;
	size_t n = 0;

	(void)state;
	setup(&scene, .02, 20);
	scene.late_ns = 3 * SERVICE_NS;
	assert_int_equal(go(&scene, NULL), SL_OK);
	for (size_t i = 0; i < scene.run.n_served; i++) {
		double late_ns = sl__load_lateness_ns(&scene.run, i);

		assert_true(scene.run.latency_ns[i] >= SERVICE_NS + late_ns);
		n += fabs(late_ns - 3 * SERVICE_NS) < 1;
	}
	assert_true(n > scene.run.n_served * 8 / 10);
	sl__load_run_evidence(&as_is, &scene.run, 2.5 * SERVICE_NS, .1, 0);
	sl__load_run_evidence(&on_time, &scene.run, 2.5 * SERVICE_NS, .1, 1);
	assert_true(as_is.log_e_fails > log(20));
	assert_true(on_time.log_e_fails < 0);
	assert_true(on_time.n_late < as_is.n_late / 4);
	sl__arena_release(&scene.arena);
}

static void
what_was_served_is_kept(void **state)
{
	struct sl_error err;
	struct scene scene;

	(void)state;
	setup(&scene, .5, 10);
	scene.interrupt_at = 8;
	assert_int_equal(go(&scene, &err), SL_OK);
	assert_int_equal(scene.run.stopped_by, SL_STOP_INTERRUPT);
	assert_int_equal(scene.run.n_served, 7);
	sl__arena_release(&scene.arena);

	setup(&scene, .5, 10);
	scene.interrupt_at = 1;
	assert_int_equal(go(&scene, &err), SL_E_INTERRUPTED);
	sl__arena_release(&scene.arena);

	setup(&scene, .5, 10);
	scene.fail_at = 3;
	assert_int_equal(go(&scene, &err), SL_E_DATA);
	assert_string_equal(err.text, "planted");
	sl__arena_release(&scene.arena);

	/* Nothing arrives: 1e-9 queries are expected. */
	setup(&scene, 1e-12, 1e-3);
	assert_int_equal(go(&scene, &err), SL_E_MEASURE);
	sl__arena_release(&scene.arena);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(waits_are_those_of_the_queue),
		cmocka_unit_test(the_next_query_follows_the_last),
		cmocka_unit_test(batches_take_what_waits),
		cmocka_unit_test(overload_ends),
		cmocka_unit_test(lateness_is_part_of_the_latency),
		cmocka_unit_test(what_was_served_is_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
