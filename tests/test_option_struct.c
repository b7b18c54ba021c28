/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_option_struct.c - callers and library may know different versions of a
 * struct.
 *
 * A struct that exists in two versions stands for all of them; the tests of
 * public functions iteration short structs to these.
 */
#include "base/option_struct.h"
#include "harness.h"
#include "sleuth.h"
#include "short_options.h"

#include <string.h>

/* As the library knows it, as an older and as a newer caller do. */
struct known {
	size_t struct_size;
	double time_s;
	const char *name;
};

struct older {
	size_t struct_size;
	double time_s;
};

struct newer {
	size_t struct_size;
	double time_s;
	const char *name;
	int fresh, extra;
};

static enum sl_status
take(struct known *out, const void *options, struct sl_error *err)
{
	memset(out, 0xff, sizeof(*out));
	return sl__options_copy(out, sizeof(*out), options, "sl_known_options",
				err);
}

static void
test_same_and_none(void **state)
{
	const struct known given = {sizeof(given), 2, "x"};
	struct known got;

	(void)state;
	assert_int_equal(take(&got, &given, NULL), SL_OK);
	assert_memory_equal(&got, &given, sizeof(got));
	assert_int_equal(take(&got, NULL, NULL), SL_OK);
	assert_int_equal(got.struct_size, sizeof(got));
	assert_true(got.time_s == 0);
	assert_null(got.name);
}

static void
test_older_caller(void **state)
{
	const struct older given = {sizeof(given), 2};
	struct known got;

	(void)state;
	assert_int_equal(take(&got, &given, NULL), SL_OK);
	assert_int_equal(got.struct_size, sizeof(got));
	assert_true(got.time_s == 2);
	assert_null(got.name);
	/* Nothing but the size, at the end of memory. */
	assert_int_equal(take(&got, short_options(), NULL), SL_OK);
	assert_true(got.time_s == 0);
}

static void
test_newer_caller(void **state)
{
	struct newer given = {.struct_size = sizeof(given), .name = "x"};
	struct sl_error err;
	struct known got;

	(void)state;
	assert_int_equal(take(&got, &given, NULL), SL_OK);
	assert_int_equal(got.struct_size, sizeof(got));
	assert_string_equal(got.name, "x");
	/* The last byte counts as well as the first. */
	given.extra = -1;
	assert_int_equal(take(&got, &given, &err), SL_E_USAGE);
	assert_non_null(strstr(err.text, "struct sl_known_options: byte 28"));
	given.fresh = 1;
	assert_int_equal(take(&got, &given, &err), SL_E_USAGE);
	assert_non_null(strstr(err.text, "byte 24"));
	assert_non_null(strstr(err.text, "newer"));
}

static void
test_size_never_set(void **state)
{
	static const size_t sizes[] = {0, 1, sizeof(size_t) - 1, 4097,
				       SIZE_MAX};
	struct known given = {0}, got;
	struct sl_error err;

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		given.struct_size = sizes[i];
		assert_int_equal(take(&got, &given, &err), SL_E_USAGE);
		assert_non_null(strstr(err.text, "SL_KNOWN_OPTIONS_INIT"));
		assert_non_null(
			strstr(err.text, "sizeof(struct sl_known_options)"));
	}
}

/* A plan's options bring their sizes, which may be of another version too. */
static void
test_plan_and_sizes(void **state)
{
	struct {
		size_t struct_size;
		int64_t batch;
	} sizes = {sizeof(sizes), 7};
	const struct sl_sizes *asked = NULL;
	struct sl_plan_options plan = SL_PLAN_OPTIONS_INIT;
	const struct sl_plan_options *given = &plan;
	struct sl__plan_options_storage copy;
	struct sl_error err;

	(void)state;
	plan.n_threads = 3;
	plan.sizes = (const void *)&sizes;
	assert_int_equal(sl__plan_options_copy(&copy, &given, NULL), SL_OK);
	assert_ptr_equal(given, &copy.plan);
	assert_int_equal(given->n_threads, 3);
	assert_ptr_equal(given->sizes, &copy.sizes);
	assert_int_equal(given->sizes->batch, 7);
	assert_null(given->sizes->dims);
	sizes.struct_size = 0;
	given = &plan;
	assert_int_equal(sl__plan_options_copy(&copy, &given, &err),
			 SL_E_USAGE);
	assert_non_null(strstr(err.text, "SL_SIZES_INIT"));
	given = NULL;
	assert_int_equal(sl__plan_options_copy(&copy, &given, NULL), SL_OK);
	assert_null(given);
	assert_int_equal(sl__sizes_copy(&copy.sizes, &asked, NULL), SL_OK);
	assert_null(asked);
}

/* Public functions take what an older caller has: all defaults here. */
static void
test_public_functions(void **state)
{
	const void *old = short_options();
	struct sl_graph *graph;
	struct sl_plan *plan;
	struct sl_counts counts, usual;
	struct sl_buf page = {0};
	struct sl_inspection *seen;

	(void)state;
	assert_int_equal(sl_graph_open(&graph, "mlp:4-3", old, NULL), SL_OK);
	assert_int_equal(sl_count_flops(&counts, graph, old, NULL), SL_OK);
	assert_int_equal(sl_count_flops(&usual, graph, NULL, NULL), SL_OK);
	assert_int_equal(counts.flops, usual.flops);
	assert_int_equal(sl_plan_new(&plan, graph, old, NULL), SL_OK);
	sl_plan_free(plan);
	assert_int_equal(sl_inspect(&seen, graph, old, NULL), SL_OK);
	assert_int_equal(
		sl_inspection_render((const struct sl_inspection *const *)&seen,
				     1, old, old, &page, NULL),
		SL_OK);
	sl_buf_release(&page);
	sl_inspection_free(seen);
	sl_graph_free(graph);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same_and_none),
		cmocka_unit_test(test_older_caller),
		cmocka_unit_test(test_newer_caller),
		cmocka_unit_test(test_size_never_set),
		cmocka_unit_test(test_plan_and_sizes),
		cmocka_unit_test(test_public_functions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
