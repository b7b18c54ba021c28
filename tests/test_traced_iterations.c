/* SPDX-License-Identifier: Apache-2.0 */
/* test_traced_iterations.c - which passes are kept, of events that are made up.
 */
#include "harness.h"
#include "result/traced_iterations.h"
#include "base/rng.h"

enum { N_STEPS = 3, N_MOST = 20000 };

/* Iterations of so many ticks, one after the other. */
struct made {
	struct sl__arena arena;
	struct sl__traced_iterations kept;
	uint64_t took[N_MOST];
	size_t n;
};

/* Marks hold which iteration they are of, so that a copy can be told. */
static void
add(struct made *m, uint64_t took)
{
	struct sl__timestamp stamps[N_STEPS + 1];
	struct sl__event_buffer events = {
		.stamps = stamps, .n_stamps = N_STEPS + 1, .cap = N_STEPS + 1};
	uint64_t begin = 1000000 * (uint64_t)m->n;

	assert_true(m->n < N_MOST);
	for (uint32_t i = 0; i <= N_STEPS; i++)
		stamps[i] = (struct sl__timestamp){begin + took * i / N_STEPS,
						   i < N_STEPS ? i : SL__NONE,
						   1};
	m->took[m->n++] = took;
	sl__traced_iterations_offer(&m->kept, &events, begin, begin + took);
	memset(stamps, 0xff, sizeof(stamps));
}

static void
open_kept(struct made *m, size_t n_slowest)
{
	sl__arena_init(&m->arena, NULL);
	m->n = 0;
	assert_int_equal(sl__traced_iterations_init(&m->kept, N_STEPS,
						    n_slowest, &m->arena),
			 0);
}

/* What is kept is the nth iteration, all of it. */
static void
check_whole(const struct made *m, const struct sl__traced_iteration *kept)
{
	uint64_t begin = 1000000 * (uint64_t)kept->nth;

	assert_true(kept->nth < m->n);
	assert_true(kept->begin == begin);
	assert_true(kept->end - kept->begin == m->took[kept->nth]);
	assert_int_equal(kept->events.n_stamps, N_STEPS + 1);
	for (uint32_t i = 0; i <= N_STEPS; i++) {
		assert_int_equal(kept->events.stamps[i].step,
				 i < N_STEPS ? i : SL__NONE);
		assert_true(kept->events.stamps[i].ticks ==
			    begin + m->took[kept->nth] * i / N_STEPS);
	}
}

/* Shares of iterations that are faster, and that are slower. */
static void
ranks(const struct made *m, const struct sl__traced_iteration *kept,
      double *faster, double *slower)
{
	uint64_t took = kept->end - kept->begin;

	*faster = *slower = 0;
	for (size_t i = 0; i < m->n; i++) {
		*faster += (double)(m->took[i] < took) / (double)m->n;
		*slower += (double)(m->took[i] > took) / (double)m->n;
	}
}

/* Every kind of run: still, rising, falling, with a step, with outliers. */
static uint64_t
pattern(int kind, size_t i, size_t n, struct sl__rng *rng)
{
	uint64_t noise = (uint64_t)(sl__rng_uniform(rng) * 10000);

	switch (kind) {
	case 0:
		return 50000 + noise;
	case 1:
		return 50000 + i;
	case 2:
		return 100000 - i;
	case 3: /* a long warm-up, then faster */
		return i < n / 4 ? 90000 + noise : 50000 + noise;
	case 4: /* slower from three quarters on */
		return i < 3 * n / 4 ? 50000 + noise : 90000 + noise;
	case 5:
		return 50000 + noise + (i % 7 ? 0 : 400000);
	case 6:
		return 50000 + 30000 * (uint64_t)sl__rng_coin(rng) + noise;
	case 7:
		return 50000 + i * 40000 / n + noise;
	default:
		return 77777;
	}
}

static void
is_near_the_median(void **state)
{
	static const size_t lengths[] = {1, 2, 3, 9, 40, 100, 1000, N_MOST};
	static struct made m;
	struct sl__rng rng;

	(void)state;
	sl__rng_init(&rng, 5);
	for (int kind = 0; kind < 9; kind++) {
		for (size_t k = 0; k < 8; k++) {
			double faster, slower;

			open_kept(&m, 0);
			for (size_t i = 0; i < lengths[k]; i++)
				add(&m, pattern(kind, i, lengths[k], &rng));
			sl__traced_iterations_pick_median(&m.kept);
			check_whole(&m, &m.kept.median);
			ranks(&m, &m.kept.median, &faster, &slower);
			if (faster > 0.6 || slower > 0.6)
				fail_msg("kind %d of %zu: %g are faster, %g "
					 "slower",
					 kind, lengths[k], faster, slower);
			sl__arena_release(&m.arena);
		}
	}
}

/* The slowest of all, slowest first, each once; and the first. */
static void
keeps_slowest(void **state)
{
	static struct made m;
	struct sl__rng rng;

	(void)state;
	sl__rng_init(&rng, 11);
	open_kept(&m, 5);
	for (size_t i = 0; i < 3000; i++)
		add(&m, 1000 + 7 * (uint64_t)(i * 1103 % 3000));
	sl__traced_iterations_pick_median(&m.kept);
	assert_int_equal(m.kept.n_slow, 5);
	for (size_t i = 0; i < 5; i++) {
		check_whole(&m, &m.kept.slow[i]);
		assert_true(m.took[m.kept.slow[i].nth] ==
			    1000 + 7 * (2999 - i));
	}
	check_whole(&m, &m.kept.first);
	assert_int_equal(m.kept.first.nth, 0);
	sl__arena_release(&m.arena);
}

/* Fewer iterations than could be kept; none. */
static void
keeps_what_there_is(void **state)
{
	static struct made m;

	(void)state;
	open_kept(&m, 8);
	sl__traced_iterations_pick_median(&m.kept);
	assert_int_equal(m.kept.n_slow, 0);
	assert_int_equal(m.kept.median.events.n_stamps, 0);
	add(&m, 300);
	add(&m, 100);
	add(&m, 200);
	sl__traced_iterations_pick_median(&m.kept);
	assert_int_equal(m.kept.n_slow, 3);
	assert_int_equal(m.kept.median.nth, 2);
	assert_int_equal(m.kept.slow[0].nth, 0);
	assert_int_equal(m.kept.slow[2].nth, 1);
	sl__arena_release(&m.arena);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(is_near_the_median),
		cmocka_unit_test(keeps_slowest),
		cmocka_unit_test(keeps_what_there_is),
	};

	return cmocka_run_group_tests_name("kept iterations", tests, NULL,
					   NULL);
}
