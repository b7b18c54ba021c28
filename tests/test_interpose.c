/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_interpose.c - linked with libsleuth-alloc: counts and sizes are those
 * that were asked for, and planted courses of memory get their names.
 * Builds with a sanitizer, which has an allocator of its own, leave this
 * program out.
 */
#include "harness.h"
#include "measured_memory.h"
#include "sleuth.h"

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MIB = 1 << 20 };

/* Keeps the compiler from leaving out a block that nobody reads. */
static void *volatile sink;

__attribute__((noinline)) static void *
block_of(size_t n_bytes)
{
	void *block = malloc(n_bytes);

	sink = block;
	return block;
}

static void
release(void *block)
{
	sink = NULL;
	free(block);
}

static int
ten_blocks(void *ctx)
{
	void **blocks = ctx;

	for (int i = 0; i < 10; i++)
		blocks[i] = block_of(1000);
	for (int i = 0; i < 4; i++)
		release(blocks[i]);
	return 0;
}

static void
counts_and_sizes_are_exact(void **state)
{
	void *blocks[10];
	struct sl_memory *m = measure(ten_blocks, blocks, SL_MEMORY_INTERPOSED);

	(void)state;
	assert_null(m->method_reason);
	assert_near(m->n_allocations.value, 10, 0);
	assert_near(m->n_frees.value, 4, 0);
	assert_near(m->requested_bytes.value, 10000, 0);
	assert_true(m->allocated_bytes.value >= 10000 &&
		    m->allocated_bytes.value <= 11000);
	assert_close(m->freed_bytes.value, 0.4 * m->allocated_bytes.value,
		     1e-12);
	assert_near(m->peak_bytes - m->baseline_bytes, m->allocated_bytes.value,
		    0);
	assert_near(m->final_bytes - m->baseline_bytes,
		    m->allocated_bytes.value - m->freed_bytes.value, 0);
	assert_int_equal(m->n_by_size[9], 10); /* 512 to 1023 */
	for (int i = 4; i < 10; i++)
		release(blocks[i]);
	sl_memory_free(m);
}

/* One caller makes one site, more as many as the compiler's loop has. */
static void
call_sites_add_up(void **state)
{
	void *blocks[10];

	(void)state;
	for (size_t depth = 1; depth <= 8; depth *= 2) {
		struct sl_memory_options how = {.struct_size = sizeof(how),
						.site_depth = depth};
		uint64_t n_allocations = 0;
		struct sl_memory *m;

		assert_int_equal(sl_measure_function_memory(&m, ten_blocks,
							    blocks, &how, NULL),
				 SL_OK);
		for (size_t i = 0; i < m->n_sites; i++) {
			n_allocations += m->sites[i].n_allocations;
			assert_true(m->sites[i].n_addresses <= depth);
			assert_true(strlen(m->sites[i].where) > 0);
		}
		assert_int_equal(n_allocations, 10);
		if (depth == 1)
			assert_int_equal(m->n_sites, 1);
		for (int i = 4; i < 10; i++)
			release(blocks[i]);
		sl_memory_free(m);
	}
}

static int
every_function(void *ctx)
{
	void *block;

	(void)ctx;
	sink = calloc(10, 100);
	block = realloc(sink, 5000);
	sink = block;
	release(block);
	if (posix_memalign(&block, 64, 128))
		return 1;
	release(block);
	block = aligned_alloc(64, 256);
	sink = block;
	release(block);
	sink = realloc(NULL, 10);
	release(sink);
	return 0;
}

static void
every_function_is_seen(void **state)
{
	struct sl_memory *m =
		measure(every_function, NULL, SL_MEMORY_INTERPOSED);

	(void)state;
	assert_near(m->n_allocations.value, 5, 0);
	assert_near(m->n_frees.value, 5, 0);
	assert_near(m->requested_bytes.value, 1000 + 5000 + 128 + 256 + 10, 0);
	assert_near(m->freed_bytes.value, m->allocated_bytes.value, 0);
	assert_near(m->final_bytes, m->baseline_bytes, 0);
	sl_memory_free(m);
}

static int
sawtooth(void *ctx)
{
	void *blocks[50];

	(void)ctx;
	for (int tooth = 0; tooth < 20; tooth++) {
		for (int i = 0; i < 50; i++)
			blocks[i] = block_of(2000);
		for (int i = 0; i < 50; i++)
			release(blocks[i]);
	}
	return 0;
}

static int
copies(void *ctx)
{
	char *data = block_of(MIB);

	(void)ctx;
	memset(data, 1, MIB);
	for (int i = 0; i < 8; i++) {
		char *copy = block_of(MIB);

		memcpy(copy, data, MIB);
		release(data);
		data = copy;
	}
	release(data);
	return 0;
}

static int
growing(void *ctx)
{
	void **blocks = ctx;

	for (int i = 0; i < 50; i++)
		blocks[i] = block_of(20000);
	return 0;
}

static void
release_all(void **blocks)
{
	for (int i = 0; i < 50; i++)
		release(blocks[i]);
}

static int
spike(void *ctx)
{
	(void)growing(ctx);
	release_all(ctx);
	return 0;
}

static int
flat(void *ctx)
{
	(void)ctx;
	for (int i = 0; i < 10000; i++)
		release(block_of(64));
	return 0;
}

static void
planted_patterns_get_their_names(void **state)
{
	void *blocks[50];
	const struct {
		sl_function *fn;
		enum sl_memory_pattern pattern;
	} cases[] = {
		{flat, SL_MEMORY_FLAT},         {spike, SL_MEMORY_SPIKE},
		{sawtooth, SL_MEMORY_SAWTOOTH}, {copies, SL_MEMORY_COPIES},
		{growing, SL_MEMORY_GROWING}, /* fills blocks */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct sl_memory *m =
			measure(cases[i].fn, blocks, SL_MEMORY_AUTO);

		assert_string_equal(sl_memory_pattern_text(m->pattern),
				    sl_memory_pattern_text(cases[i].pattern));
		assert_true(strlen(m->evidence) > 0);
		sl_memory_free(m);
	}
	release_all(blocks);
}

static void *
thread_main(void *ctx)
{
	flat(ctx);
	return NULL;
}

static int
four_threads(void *ctx)
{
	pthread_t threads[4];

	(void)ctx;
	for (int i = 0; i < 4; i++) {
		if (pthread_create(&threads[i], NULL, thread_main, NULL))
			return 1;
	}
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	return 0;
}

static void
all_threads_are_seen(void **state)
{
	struct sl_memory *m = measure(four_threads, NULL, SL_MEMORY_INTERPOSED);

	(void)state;
	assert_int_equal(m->n_by_size[6], 40000);
	sl_memory_free(m);
}

static int
measure_inside(void *ctx)
{
	struct sl_memory *m;
	enum sl_status *rc = ctx;

	*rc = sl_measure_function_memory(&m, nothing, NULL, NULL, NULL);
	return 3;
}

static void
one_recording_at_a_time(void **state)
{
	enum sl_status rc = SL_OK;
	struct sl_memory *m;

	(void)state;
	assert_int_equal(
		sl_measure_function_memory(&m, measure_inside, &rc, NULL, NULL),
		SL_E_MEASURE);
	assert_int_equal(rc, SL_E_MEASURE);
	/* The failure ended the recording: another one may start. */
	m = measure(nothing, NULL, SL_MEMORY_INTERPOSED);
	sl_memory_free(m);
}

static int
fork_and_allocate(void *ctx)
{
	pid_t child = fork();
	int status;

	(void)ctx;
	if (child == 0) {
		release(block_of(100));
		_exit(0);
	}
	return child < 0 || waitpid(child, &status, 0) != child || status;
}

/* The lock is free in a child, whatever other threads did with it. */
static void
a_forked_child_is_not_recorded(void **state)
{
	struct sl_memory *m =
		measure(fork_and_allocate, NULL, SL_MEMORY_INTERPOSED);

	(void)state;
	assert_near(m->n_allocations.value, 0, 0);
	sl_memory_free(m);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counts_and_sizes_are_exact),
		cmocka_unit_test(call_sites_add_up),
		cmocka_unit_test(every_function_is_seen),
		cmocka_unit_test(planted_patterns_get_their_names),
		cmocka_unit_test(all_threads_are_seen),
		cmocka_unit_test(one_recording_at_a_time),
		cmocka_unit_test(a_forked_child_is_not_recorded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
