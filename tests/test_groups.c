/* SPDX-License-Identifier: Apache-2.0 */
/* test_groups.c - operations summed up, and iterations as timelines. */
#include "result/groups.h"
#include "known_profile.h"
#include "experiment/timed_iterations.h"

static void
check(const struct sl_operation_group *g, const char *name, size_t n,
      double self_ns, double share)
{
	assert_string_equal(g->name, name);
	assert_int_equal(g->n_operations, n);
	assert_near(g->self_ns, self_ns, 1e-9);
	assert_near(g->share, share, 1e-12);
}

static void
sums(void **state)
{
	struct known_profile k;
	struct sl__arena arena;
	struct sl_error err;

	(void)state;
	known_profile(&k);
	sl__arena_init(&arena, NULL);
	assert_int_equal(sl__profile_fill_groups(&k.profile, &arena, &err),
			 SL_OK);
	assert_int_equal(k.profile.n_types, 3);
	check(&k.profile.by_type[0], "Conv", 1, 4000, 0.5);
	check(&k.profile.by_type[1], "Reorder", 1, 2500.4, 0.3125);
	check(&k.profile.by_type[2], "Relu", 1, 1500, 0.1875);
	assert_int_equal(k.profile.n_parts, 2);
	check(&k.profile.by_part[0], "convolution", 2, 5500, 0.6875);
	check(&k.profile.by_part[1], "data movement", 1, 2500.4, 0.3125);
	assert_int_equal(k.profile.n_modules, 2);
	check(&k.profile.by_module[0], "features", 2, 5500, 0.6875);
	check(&k.profile.by_module[1], "", 1, 2500.4, 0.3125);
	/* The second one runs in every other iteration. */
	assert_int_equal(k.profile.by_module[0].core_flops, 8000);
	assert_int_equal(k.profile.by_module[0].nominal_flops, 8128 + 64);
	assert_int_equal(k.profile.by_module[0].executed_flops, 6000 + 64);
	assert_int_equal(k.profile.by_module[0].n_bytes, 512 + 512);
	assert_int_equal(k.profile.by_module[0].parameters, 10);
	sl__arena_release(&arena);
}

static void
depths(void **state)
{
	static const char *const second[] = {"features/0", "features/1", ""};
	static const char *const whole[] = {"features/0/conv", "features/1",
					    ""};
	static const double ns[] = {4000, 1500, 2500.4};
	struct known_profile k;
	struct sl__arena arena;

	(void)state;
	known_profile(&k);
	sl__arena_init(&arena, NULL);
	for (size_t depth = 2; depth < 5; depth++) {
		const char *const *names = depth == 2 ? second : whole;
		const size_t order[] = {0, 2, 1};
		const struct sl_operation_group *g;
		size_t n;

		/* 0 is as deep as they are. */
		g = sl__groups_by_module(&k.profile, depth == 4 ? 0 : depth,
					 &arena, &n);
		assert_non_null(g);
		assert_int_equal(n, 3);
		for (size_t i = 0; i < n; i++)
			check(&g[i], names[order[i]], 1, ns[order[i]],
			      k.operations[order[i]].share);
	}
	sl__arena_release(&arena);
}

/* Names that differ in numbers only are one. */
static void
alike(void **state)
{
	struct known_profile k;
	struct sl__arena arena;
	const struct sl_operation_group *g;
	size_t n;

	(void)state;
	known_profile(&k);
	sl__arena_init(&arena, NULL);
	k.operations[0].name = "layer.0.attention";
	k.operations[1].name = "layer.11.attention";
	k.operations[2].name = "layer.2.output2";
	g = sl__groups_alike(&k.profile, &arena, &n);
	assert_non_null(g);
	assert_int_equal(n, 2);
	check(&g[0], "layer.*.attention", 2,
	      k.operations[0].self_ns + k.operations[1].self_ns,
	      k.operations[0].share + k.operations[1].share);
	check(&g[1], "layer.*.output*", 1, k.operations[2].self_ns,
	      k.operations[2].share);
	sl__arena_release(&arena);
}

/* Equal times come by name. */
static void
ties(void **state)
{
	struct known_profile k;
	struct sl__arena arena;
	struct sl_error err;

	(void)state;
	known_profile(&k);
	for (size_t i = 0; i < 3; i++)
		k.operations[i].self_ns = 1;
	sl__arena_init(&arena, NULL);
	assert_int_equal(sl__profile_fill_groups(&k.profile, &arena, &err),
			 SL_OK);
	assert_string_equal(k.profile.by_type[0].name, "Conv");
	assert_string_equal(k.profile.by_type[1].name, "Relu");
	assert_string_equal(k.profile.by_type[2].name, "Reorder");
	sl__arena_release(&arena);
}

/* Two ticks to a nanosecond; an iteration of two steps from tick 1000 on. */
static void
timelines(void **state)
{
	struct sl__timestamp stamps[] = {
		{1010, 0, 1}, {1110, 1, 1}, {1150, SL__NONE, 1}};
	struct sl__traced_iteration kept = {
		{.stamps = stamps, .n_stamps = 3, .cap = 3}, 1000, 1160, 4};
	struct sl__timed_iterations iterations = {.ticks_per_ns = 2,
						  .n_recorded = 9,
						  .kept.first = kept,
						  .kept.median = kept,
						  .kept.n_slow = 2,
						  .origin = 800};
	struct sl_profile out = {0};
	struct sl__arena arena;
	struct sl_error err;

	(void)state;
	iterations.kept.slow[0] = iterations.kept.slow[1] = kept;
	iterations.kept.slow[1].nth = 7;
	sl__arena_init(&arena, NULL);
	assert_int_equal(
		sl__profile_fill_timelines(&out, &iterations, &arena, &err),
		SL_OK);
	assert_int_equal(out.n_iterations, 4);
	assert_int_equal(out.iterations[0].why, SL_KEPT_FIRST);
	assert_int_equal(out.iterations[1].why, SL_KEPT_MEDIAN);
	assert_int_equal(out.iterations[3].why, SL_KEPT_SLOWEST);
	assert_int_equal(out.iterations[3].nth, 7);
	for (size_t i = 0; i < 4; i++) {
		const struct sl_trace_iteration *it = &out.iterations[i];

		assert_near(it->start_ns, 100, 0);
		assert_near(it->wall_ns, 80, 0);
		assert_int_equal(it->n_events, 3);
		assert_near(it->events[0].start_ns, 5, 0);
		assert_near(it->events[1].start_ns, 55, 0);
		assert_near(it->events[2].start_ns, 75, 0);
		assert_int_equal(it->events[1].operation, 1);
		assert_true(it->events[2].operation == SIZE_MAX);
	}
	iterations.n_recorded = 0;
	assert_int_equal(
		sl__profile_fill_timelines(&out, &iterations, &arena, &err),
		SL_OK);
	assert_int_equal(out.n_iterations, 0);
	sl__arena_release(&arena);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sums),      cmocka_unit_test(depths),
		cmocka_unit_test(alike),     cmocka_unit_test(ties),
		cmocka_unit_test(timelines),
	};

	return cmocka_run_group_tests_name("groups", tests, NULL, NULL);
}
