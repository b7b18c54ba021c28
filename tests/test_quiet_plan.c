/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_quiet_plan.c - what running a plan allocates: of ours nothing, of
 * oneDNN's the same few blocks in every run.
 *
 * malloc and its kin of this program count their calls on the way to the C
 * library's.  A plan without a primitive of oneDNN makes none; one with
 * primitives makes as many in every run, a few for each.  (Under a sanitizer,
 * which has its own malloc, this program is not built.)
 */
#define _GNU_SOURCE
#include "harness.h"
#include "sleuth.h"

#include <stdatomic.h>

extern void *__libc_malloc(size_t n_bytes);
extern void *__libc_calloc(size_t n, size_t n_bytes);
extern void *__libc_realloc(void *block, size_t n_bytes);
extern void *__libc_memalign(size_t alignment, size_t n_bytes);

static _Atomic long n_blocks;

void *
malloc(size_t n_bytes)
{
	n_blocks++;
	return __libc_malloc(n_bytes);
}

void *
calloc(size_t n, size_t n_bytes)
{
	n_blocks++;
	return __libc_calloc(n, n_bytes);
}

void *
realloc(void *block, size_t n_bytes)
{
	n_blocks++;
	return __libc_realloc(block, n_bytes);
}

int
posix_memalign(void **out, size_t alignment, size_t n_bytes)
{
	n_blocks++;
	*out = __libc_memalign(alignment, n_bytes);
	return *out ? 0 : 12; /* ENOMEM */
}

/* Blocks per run, the same in each of 20; *n_primitives of oneDNN run. */
static long
blocks_per_run(const char *model, unsigned flags, size_t *n_primitives)
{
	struct sl_plan_options how = {.struct_size = sizeof(how),
				      .n_threads = 2,
				      .algorithms = SL_ALGORITHMS_FIXED,
				      .flags = flags};
	struct sl_graph *graph;
	struct sl_plan *plan;
	struct sl_error err;
	struct sl_step step;
	long first = -1;

	if (sl_graph_open(&graph, model, NULL, &err) ||
	    sl_plan_new(&plan, graph, &how, &err) ||
	    sl_plan_fill_inputs(plan, 1, &err) || sl_plan_run(plan, &err) ||
	    sl_plan_run(plan, &err))
		fail_msg("%s", err.text);
	for (int i = 0; i < 20; i++) {
		long before = n_blocks;

		if (sl_plan_run(plan, &err))
			fail_msg("%s", err.text);
		if (first < 0)
			first = n_blocks - before;
		assert_int_equal(n_blocks - before, first);
	}
	*n_primitives = 0;
	for (size_t i = 0; sl_plan_step(plan, i, &step); i++)
		*n_primitives += step.path == SL_PATH_DNNL;
	sl_plan_free(plan);
	sl_graph_free(graph);
	return first;
}

static void
the_counter_counts(void **state)
{
	long before = n_blocks;
	void *volatile block = malloc(100);

	(void)state;
	free(block);
	assert_int_equal(n_blocks, before + 1);
}

static void
own_kernels_allocate_nothing(void **state)
{
	size_t n_primitives;
	long n = blocks_per_run("mlp:64-32-16-10", 0, &n_primitives);

	(void)state;
	assert_int_equal(n_primitives, 0);
	assert_int_equal(n, 0);
}

static void
reference_kernels_allocate_nothing(void **state)
{
	size_t n_primitives;
	long n = blocks_per_run("lenet5", SL_PLAN_REFERENCE, &n_primitives);

	(void)state;
	assert_int_equal(n_primitives, 0);
	assert_int_equal(n, 0);
}

#ifdef SL_WITHOUT_DNNL
static void
own_convolutions_allocate_nothing(void **state)
{
	size_t n_primitives;
	long n = blocks_per_run("resnet18", 0, &n_primitives);

	(void)state;
	assert_int_equal(n_primitives, 0);
	assert_int_equal(n, 0);
}

#else
static void
primitives_allocate_a_few(void **state)
{
	size_t n_primitives;
	long n = blocks_per_run("resnet18", 0, &n_primitives);

	(void)state;
	print_message("resnet18: %ld blocks a run by %zu primitives\n", n,
		      n_primitives);
	assert_true(n_primitives > 20);
	/* oneDNN 2.6 makes 5 to 12 for each execution. */
	assert_true(n > 0 && n <= 16 * (long)n_primitives);
}
#endif

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_counter_counts),
		cmocka_unit_test(own_kernels_allocate_nothing),
		cmocka_unit_test(reference_kernels_allocate_nothing),
#ifdef SL_WITHOUT_DNNL
		cmocka_unit_test(own_convolutions_allocate_nothing),
#else
		cmocka_unit_test(primitives_allocate_a_few),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
