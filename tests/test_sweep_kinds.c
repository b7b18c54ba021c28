/* SPDX-License-Identifier: Apache-2.0 */
/* test_sweep_kinds.c - kinds of made-up operations, few and too many. */
#include "harness.h"

#include "sweep.h"

enum { POINTS = 2, MANY = SL__SWEEP_KINDS_MOST + 12 };

static struct sl_operation
operation_of(const char *type, double ns)
{
	return (struct sl_operation){.type = type,
				     .n_calls = 1,
				     .median_ns = {.value = ns, .n = 1},
				     .executed_flops = 10};
}

/* The kind of that name, or one that has nothing at any point. */
static const struct sl__sweep_kind *
kind_named(const struct sl__sweep_work *work, const char *name)
{
	static double nothing[POINTS];
	static const struct sl__sweep_kind none = {"", nothing, nothing};

	for (size_t i = 0; i < work->n_kinds; i++) {
		if (!strcmp(work->kinds[i].name, name))
			return &work->kinds[i];
	}
	return &none;
}

static void
add(struct sl__sweep_work *work, size_t point, const struct sl_operation *ops,
    size_t n, struct sl__arena *arena)
{
	const struct sl_profile p = {.operations = ops, .n_operations = n};

	assert_int_equal(sl__sweep_kinds_add(work, point, 0, &p, arena, NULL),
			 SL_OK);
}

static void
test_few(void **state)
{
	const struct sl_operation ops[] = {operation_of("Conv", 5),
					   operation_of("Relu", 1),
					   operation_of("Conv", 7)};
	struct sl__sweep_work work = {.n_points = POINTS, .n_visits = 1};
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
	struct sl__sweep_work work = {.n_points = POINTS, .n_visits = 1};
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
		assert_near(kind_named(&work, "others")->ns[point],
			    MANY - (SL__SWEEP_KINDS_MOST - 1), 0);
	}
	sl__arena_release(&arena);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_few),
		cmocka_unit_test(test_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
