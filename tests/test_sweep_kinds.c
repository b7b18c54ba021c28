/* SPDX-License-Identifier: Apache-2.0 */
/* test_sweep_kinds.c - kinds of synthetic operations, few and too many. */
#include "harness.h"

#include "analysis/sweep_measurements.h"

enum { POINTS = 2, MANY = SL__SWEEP_KINDS_MOST + 12 };

static struct sl_operation
operation_of(const char *type, double ns)
{
	return (struct sl_operation){.type = type,
				     .n_calls = 1,
				     .median_ns = {.value = ns, .n = 1},
				     .executed_flops = 10};
}

/* The kind of that type, NULL: of all others; or one that has nothing at any
 * point. */
static const struct sl__sweep_kind_times *
kind_named(const struct sl__sweep_measurements *work, const char *type)
{
	static double nothing[POINTS];
	static const struct sl__sweep_kind_times none = {.ns = nothing,
							 .flops = nothing};

	for (size_t i = 0; i < work->n_kinds; i++) {
		const struct sl__sweep_kind_times *k = &work->kinds[i];

		if (type ? k->kind == SL_SWEEP_KIND_TYPE &&
				    !strcmp(k->type, type)
			 : k->kind == SL_SWEEP_KIND_OTHERS)
			return k;
	}
	return &none;
}

static void
add(struct sl__sweep_measurements *work, size_t point, struct sl_operation *ops,
    size_t n, struct sl__arena *arena)
{
	const struct sl_profile p = {.operations = ops, .n_operations = n};

	assert_int_equal(sl__sweep_kinds_add(work, point, 0, &p, arena, NULL),
			 SL_OK);
}

static void
test_few(void **state)
{
	struct sl_operation ops[] = {operation_of("Conv", 5),
				     operation_of("Relu", 1),
				     operation_of("Conv", 7)};
	struct sl__sweep_measurements work = {.n_points = POINTS,
					      .n_visits = 1};
	struct sl__arena arena;

	(void)state;
	sl__arena_init(&arena, NULL);
	add(&work, 1, ops, 3, &arena);
	assert_int_equal(work.n_kinds, 2);
	assert_near(kind_named(&work, "Conv")->ns[0], 0, 0);
	assert_near(kind_named(&work, "Conv")->ns[1], 12, 1e-12);
	assert_near(kind_named(&work, "Conv")->flops[1], 20, 1e-12);
	/* Another time in the same place replaces it. */
	add(&work, 1, ops, 2, &arena);
	assert_near(kind_named(&work, "Conv")->ns[1], 5, 1e-12);
	sl__arena_release(&arena);
}

/* All that have no place are one kind; those that have one keep it. */
static void
test_many(void **state)
{
	struct sl_operation ops[MANY];
	char names[MANY][8];
	struct sl__sweep_measurements work = {.n_points = POINTS,
					      .n_visits = 1};
	struct sl__arena arena;

	(void)state;
	for (size_t i = 0; i < MANY; i++) {
		snprintf(names[i], sizeof(names[i]), "Op%zu", i);
		ops[i] = operation_of(names[i], 1);
	}
	sl__arena_init(&arena, NULL);
	for (size_t point = 0; point < POINTS; point++)
		add(&work, point, ops, MANY, &arena);
	assert_int_equal(work.n_kinds, SL__SWEEP_KINDS_MOST);
	for (size_t point = 0; point < POINTS; point++) {
		for (size_t i = 0; i < SL__SWEEP_KINDS_MOST - 1; i++)
			assert_near(kind_named(&work, names[i])->ns[point], 1,
				    0);
		assert_near(kind_named(&work, NULL)->ns[point],
			    MANY - (SL__SWEEP_KINDS_MOST - 1), 0);
	}
	sl__arena_release(&arena);
}

enum { SIZES = 5, VISITS = 2 };

/* Sizes 1, 2, 4, 8, 16 that take as long as they are large. */
struct growth {
	struct sl_sweep_point points[SIZES];
	struct sl_estimate medians[SIZES * VISITS];
	double needs[SIZES], executed[SIZES];
	struct sl__sweep_measurements work;
	struct sl_sweep_series series;
	struct sl__arena arena;
};

static void
make_growth(struct growth *g)
{
	memset(g, 0, sizeof(*g));
	sl__arena_init(&g->arena, NULL);
	for (size_t i = 0; i < SIZES; i++) {
		double n = (double)(1 << i);

		g->points[i] =
			(struct sl_sweep_point){.value = 1 << i,
						.n_visits = VISITS,
						.flops = 1000u << i,
						.memory_bytes = 4096u << i};
		g->needs[i] = g->executed[i] = n;
		for (size_t v = 0; v < VISITS; v++)
			g->medians[i * VISITS + v].value =
				n * (v ? 1.01 : 0.99);
	}
	g->work = (struct sl__sweep_measurements){.points = g->points,
						  .n_points = SIZES,
						  .n_visits = VISITS,
						  .medians = g->medians,
						  .needs = g->needs,
						  .executed = g->executed};
}

static struct sl_sweep_exponent
law_of(struct growth *g, enum sl_sweep_figure figure)
{
	assert_int_equal(sl__sweep_fit_exponents(&g->series, &g->work,
						 SL_AXIS_BATCH, &g->arena,
						 NULL),
			 SL_OK);
	for (size_t i = 0; i < g->series.n_exponents; i++) {
		if (g->series.exponents[i].figure == figure)
			return g->series.exponents[i];
	}
	fail_msg("no law of %d", (int)figure);
	return (struct sl_sweep_exponent){0};
}

/* The last size took half as long again, but not by itself. */
static void
test_spoilt_points_show_no_law(void **state)
{
	struct growth g;

	(void)state;
	make_growth(&g);
	for (size_t v = 0; v < VISITS; v++)
		g.medians[4 * VISITS + v].value *= 1.5;
	assert_true(fabs(law_of(&g, SL_SWEEP_TIME).exponent.value - 1) > 0.05);
	g.points[4].n_disturbed = VISITS;
	assert_near(law_of(&g, SL_SWEEP_TIME).exponent.value, 1, 1e-9);
	assert_near(law_of(&g, SL_SWEEP_TIME).formula, 1, 1e-9);
	for (size_t i = 1; i < 4; i++)
		g.points[i].n_disturbed = VISITS;
	assert_string_equal(law_of(&g, SL_SWEEP_TIME).absent,
			    "undisturbed at fewer than two sizes");
	/* What is counted stays. */
	assert_null(law_of(&g, SL_SWEEP_FLOPS).absent);
	sl__arena_release(&g.arena);
}

static void
test_memory_without_a_law(void **state)
{
	struct growth g;

	(void)state;
	make_growth(&g);
	assert_near(law_of(&g, SL_SWEEP_MEMORY).exponent.value, 1, 1e-9);
	g.points[2].memory_bytes *= 2;
	assert_string_equal(law_of(&g, SL_SWEEP_MEMORY).absent,
			    "no power law: a size is more than 10 % off it");
	assert_int_equal(law_of(&g, SL_SWEEP_MEMORY).exponent.n, 0);
	assert_true(isnan(law_of(&g, SL_SWEEP_MEMORY).exponent.value));
	sl__arena_release(&g.arena);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_few),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_spoilt_points_show_no_law),
		cmocka_unit_test(test_memory_without_a_law),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
