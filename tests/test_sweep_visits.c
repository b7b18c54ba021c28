/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_sweep_visits.c - the visits of a sweep, by a script that profiles: how
 * many there are, in what order, which are made again, what ends them.
 */
#include "harness.h"
#include "scripted.h"
#include "base/arena.h"
#include "driver/sweep.h"

enum { VALUES = 2, VISITS = 3, VISIT_NS = 10000000, MOST = 64 };

static const int64_t values[VALUES] = {1, 4};

struct scene {
	struct scripted_instruments script;
	struct sl_graph *graph;
	struct sl_sweep_options how;
	struct sl_sweep *sweep;
	int64_t visited[MOST]; /* the batch of each visit */
	size_t n_visited;
	uint64_t disturbed; /* visits, by bits: others took a fifth */
	size_t interrupt_at, cut_at, fail_at; /* visits, from 1; 0: none */
	struct sl_progress told[MOST];
	size_t n_told;
};

static struct scene *scene; /* a profile knows nothing of it */

static void
tell(const struct sl_progress *now, void *ctx)
{
	struct scene *s = ctx;

	assert_string_equal(now->what, s->visited[s->n_visited - 1] == 1
					       ? "small batch 1"
					       : "small batch 4");
	s->told[s->n_told++] = *now;
}

static enum sl_status
scripted_profile(struct sl_profile **out, const struct sl_graph *graph,
		 const struct sl_profile_options *how, struct sl_error *err)
{
	const struct sl_progress half = {.what = "iterations", .share = 0.5};
	struct sl_inspect_options brief = {.struct_size = sizeof(brief),
					   .brief = 1,
					   .sizes = how->plan->sizes};
	struct scene *s = scene;
	struct sl__arena *arena;
	struct sl_inspection *model;
	size_t nth = s->n_visited++;

	*out = NULL;
	assert_near(how->time_s, 0.9 / VISITS, 1e-12);
	s->visited[nth] = how->plan->sizes->batch;
	s->script.time.now_ns += VISIT_NS;
	how->progress(&half, how->progress_ctx);
	if (nth + 1 == s->interrupt_at || nth + 1 == s->cut_at)
		s->script.time.interrupted = 1;
	if (nth + 1 == s->cut_at)
		return SL_E_INTERRUPTED;
	if (nth + 1 == s->fail_at) {
		(void)snprintf(err->text, sizeof(err->text), "broken");
		return SL_E_DATA;
	}
	*out = sl__arena_object_new(&arena, NULL, sizeof(**out));
	assert_non_null(*out);
	assert_int_equal(sl_inspect(&model, graph, &brief, err), SL_OK);
	(*out)->model = model;
	(*out)->source = "";
	(*out)->batch = how->plan->sizes->batch;
	(*out)->latency.median = (struct sl_estimate){
		.value = 1000, .lo = 990, .hi = 1010, .n = 100};
	(*out)->noise.neighbour_share.value = s->disturbed >> nth & 1 ? 0.2 : 0;
	return SL_OK;
}

/* A step whose passes have 300 and 500 FLOPs. */
static enum sl_status
scripted_training(struct sl_profile **out, const struct sl_graph *graph,
		  const struct sl_training_options *training,
		  const struct sl_profile_options *how, struct sl_error *err)
{
	static const struct sl_training_phase phases[] = {
		{.phase = SL_PHASE_FORWARD, .core_flops = 300},
		{.phase = SL_PHASE_BACKWARD, .core_flops = 500},
	};
	static const struct sl_training_profile step = {.phases = phases,
							.n_phases = 2};
	enum sl_status rc = scripted_profile(out, graph, how, err);

	assert_int_equal(training->optimizer, SL_OPTIMIZER_MOMENTUM);
	assert_int_equal(training->seed, 7);
	if (!rc)
		(*out)->training = &step;
	return rc;
}

static void
open_scene(struct scene *s)
{
	struct sl_error err;

	memset(s, 0, sizeof(*s));
	scene = s;
	script_instruments(&s->script, 0);
	if (sl_graph_open(&s->graph, "mlp:8-4", NULL, &err))
		fail_msg("%s", err.text);
	s->how = (struct sl_sweep_options){.struct_size = sizeof(s->how),
					   .axis = SL_AXIS_BATCH,
					   .values = values,
					   .n_values = VALUES,
					   .n_visits = VISITS,
					   .time_s = 0.9,
					   .progress = tell,
					   .progress_ctx = s,
					   .interrupt =
						   &s->script.time.interrupted};
}

static void
close_scene(struct scene *s)
{
	sl_sweep_free(s->sweep);
	sl_graph_free(s->graph);
}

static enum sl_status
try_sweep(struct scene *s, struct sl_error *err)
{
	const struct sl_sweep_model model = {.name = "small",
					     .graph = s->graph};
	const struct sl__sweep_test_hooks script = {
		&s->script.clock, scripted_profile, scripted_training};

	return sl__sweep(&s->sweep, &model, 1, &s->how, &script, err);
}

static const struct sl_sweep_point *
sweep(struct scene *s)
{
	struct sl_error err;

	if (try_sweep(s, &err))
		fail_msg("%s", err.text);
	return s->sweep->series[0].points;
}

static void
each_round_visits_every_point(void **state)
{
	const struct sl_sweep_point *points;
	struct scene s;
	size_t n_first = 0;

	(void)state;
	for (uint64_t seed = 1; seed < 9; seed++) {
		open_scene(&s);
		s.how.seed = seed;
		points = sweep(&s);
		assert_int_equal(s.sweep->stopped_by, SL_STOP_RUNS);
		assert_int_equal(s.n_visited, VALUES * VISITS);
		for (size_t r = 0; r < VISITS; r++) {
			assert_int_equal(s.visited[2 * r] +
						 s.visited[2 * r + 1],
					 values[0] + values[1]);
			n_first += s.visited[2 * r] == values[0];
		}
		for (size_t i = 0; i < VALUES; i++)
			assert_int_equal(points[i].n_visits, VISITS);
		assert_near(s.sweep->elapsed_s, 6 * VISIT_NS / 1e9, 1e-12);
		close_scene(&s);
	}
	/* Either comes first, by the seed: 24 fair coins. */
	assert_in_range(n_first, 4, 20);
}

/* FLOPs are those of all passes; a folder of inputs has no labels. */
static void
an_optimizer_makes_them_training_steps(void **state)
{
	const struct sl_sweep_point *points;
	struct sl_error err;
	struct scene s;

	(void)state;
	open_scene(&s);
	s.how.seed = 7;
	s.how.optimizer = SL_OPTIMIZER_MOMENTUM;
	points = sweep(&s);
	assert_int_equal(s.sweep->optimizer, SL_OPTIMIZER_MOMENTUM);
	for (size_t i = 0; i < VALUES; i++)
		assert_int_equal(points[i].flops, 300 + 500);
	close_scene(&s);
	open_scene(&s);
	s.how.optimizer = SL_OPTIMIZER_MOMENTUM;
	s.how.inputs_folder = ".";
	assert_int_equal(try_sweep(&s, &err), SL_E_USAGE);
	close_scene(&s);
}

/* A visit's half is a twelfth of the sweep. */
static void
progress_is_of_the_whole(void **state)
{
	struct scene s;

	(void)state;
	open_scene(&s);
	sweep(&s);
	assert_int_equal(s.n_told, 6);
	for (size_t i = 0; i < 6; i++) {
		double share = ((double)i + 0.5) / 6;
		double spent_s = (double)(i + 1) * VISIT_NS / 1e9;

		assert_near(s.told[i].share, share, 1e-12);
		assert_near(s.told[i].remaining_s, spent_s / share - spent_s,
			    1e-12);
	}
	close_scene(&s);
}

static void
disturbed_visits_are_made_again(void **state)
{
	const struct sl_sweep_point *points;
	struct scene s;

	(void)state;
	/* The first round, whose repetitions are calm. */
	open_scene(&s);
	s.disturbed = 3;
	points = sweep(&s);
	assert_int_equal(s.n_visited, 8);
	assert_int_equal(s.visited[6] + s.visited[7], 5);
	for (size_t i = 0; i < VALUES; i++) {
		assert_int_equal(points[i].n_visits, VISITS);
		assert_int_equal(points[i].n_repeated, 1);
		assert_int_equal(points[i].n_disturbed, 0);
	}
	close_scene(&s);
	/* Disturbed again: the first stays, and once is enough. */
	open_scene(&s);
	s.disturbed = 3 | 3 << 6;
	points = sweep(&s);
	assert_int_equal(s.n_visited, 8);
	assert_int_equal(points[0].n_disturbed + points[1].n_disturbed, 2);
	close_scene(&s);
	/* Four of six: the machine is as it is. */
	open_scene(&s);
	s.disturbed = 15;
	points = sweep(&s);
	assert_int_equal(s.n_visited, 6);
	assert_int_equal(points[0].n_repeated + points[1].n_repeated, 0);
	close_scene(&s);
}

static void
an_interrupt_in_each_phase(void **state)
{
	static const struct {
		size_t at, n_kept;
		int cuts; /* the visit has no result */
	} rows[] = {
		{1, 1, 0}, {2, 1, 1}, {4, 4, 0}, {4, 3, 1},
		{7, 6, 0}, {7, 6, 1}, /* visits that are made again */
	};
	struct sl_error err;
	struct scene s;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct sl_sweep_point *points;

		open_scene(&s);
		s.disturbed = 3;
		*(rows[i].cuts ? &s.cut_at : &s.interrupt_at) = rows[i].at;
		points = sweep(&s);
		assert_int_equal(s.sweep->stopped_by, SL_STOP_INTERRUPT);
		assert_int_equal(s.n_visited, rows[i].at);
		assert_int_equal(points[0].n_visits + points[1].n_visits,
				 rows[i].n_kept);
		close_scene(&s);
	}
	/* Before there is a point there is nothing. */
	for (int is_at_once = 0; is_at_once < 2; is_at_once++) {
		open_scene(&s);
		s.cut_at = 1;
		s.script.time.interrupted = is_at_once;
		assert_int_equal(try_sweep(&s, &err), SL_E_INTERRUPTED);
		assert_null(s.sweep);
		assert_string_equal(err.text,
				    "interrupted before the first point");
		assert_int_equal(s.n_visited, 1 - is_at_once);
		close_scene(&s);
	}
}

/* What was measured there before stays, and the reason is a note. */
static void
a_point_that_fails_is_not_visited_again(void **state)
{
	const struct sl_sweep_point *points;
	struct scene s;
	size_t failed;

	(void)state;
	open_scene(&s);
	s.fail_at = 1;
	points = sweep(&s);
	failed = s.visited[0] == values[1];
	assert_int_equal(s.n_visited, 1 + VISITS);
	assert_string_equal(points[failed].absent, "broken");
	assert_int_equal(points[!failed].n_visits, VISITS);
	close_scene(&s);
	open_scene(&s);
	s.fail_at = 3;
	points = sweep(&s);
	failed = s.visited[2] == values[1];
	assert_int_equal(s.n_visited, 2 + 1 + 2);
	assert_null(points[failed].absent);
	assert_string_equal(points[failed].note, "broken");
	assert_int_equal(points[failed].n_visits, 1);
	close_scene(&s);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_round_visits_every_point),
		cmocka_unit_test(an_optimizer_makes_them_training_steps),
		cmocka_unit_test(progress_is_of_the_whole),
		cmocka_unit_test(disturbed_visits_are_made_again),
		cmocka_unit_test(an_interrupt_in_each_phase),
		cmocka_unit_test(a_point_that_fails_is_not_visited_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
