/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_traffic.c - predicted traffic against a cache that is simulated line by
 * line, and against closed forms.
 */
#include "base/rng.h"
#include "simulated_cache.h"

enum { TENSOR = 40, CHAIN = 8, IN_FLIGHT = 4 }; /* lines; steps; lines */

/* Every result has a place of its own, or two places are used in turn. */
static void
make_chain(struct program *p, int takes_turns)
{
	memset(p, 0, sizeof(*p));
	for (size_t i = 0; i < CHAIN; i++) {
		size_t from = takes_turns ? i % 2 : i;
		size_t to = takes_turns ? (i + 1) % 2 : i + 1;

		add_step(p);
		reads(p, from * TENSOR, TENSOR);
		writes(p, to * TENSOR, TENSOR);
	}
}

static void
check_each(const struct program *p, size_t capacity, double in, double back)
{
	struct sl__cache_traffic out[STEPS_MOST];

	predict(p, capacity, out);
	for (size_t i = 0; i < p->n; i++) {
		assert_near(out[i].in_bytes, in * LINE, 0);
		assert_near(out[i].back_bytes, back * LINE, 0);
	}
	assert_near(difference(p, capacity), 0, 0);
}

static void
test_chain_beyond_the_cache_moves_all_its_bytes(void **state)
{
	struct program p;

	(void)state;
	make_chain(&p, 0);
	check_each(&p, TENSOR, TENSOR, TENSOR);
	make_chain(&p, 1);
	check_each(&p, 2 * TENSOR - IN_FLIGHT, TENSOR, TENSOR);
}

static void
test_chain_within_the_cache_moves_nothing(void **state)
{
	struct program p;

	(void)state;
	make_chain(&p, 0);
	check_each(&p, (CHAIN + 1) * TENSOR, 0, 0);
	make_chain(&p, 1);
	check_each(&p, 2 * TENSOR, 0, 0);
}

/* Results that are read at once are found, but all of them are dropped, and
 * written back, before the next iteration. */
static void
test_result_just_written_is_found(void **state)
{
	struct program p;
	struct sl__cache_traffic out[STEPS_MOST];

	(void)state;
	make_chain(&p, 0);
	predict(&p, 3 * TENSOR, out);
	assert_near(out[0].in_bytes, TENSOR * LINE, 0);
	for (size_t i = 1; i < p.n; i++)
		assert_near(out[i].in_bytes, 0, 0);
	for (size_t i = 0; i < p.n; i++)
		assert_near(out[i].back_bytes, TENSOR * LINE, 0);
	assert_near(difference(&p, 3 * TENSOR), 0, 0);
}

static void
test_change_in_place_moves_both_ways(void **state)
{
	struct program p = {0};

	(void)state;
	for (int i = 0; i < 3; i++) {
		add_step(&p);
		reads(&p, 0, TENSOR);
		writes(&p, 0, TENSOR);
	}
	check_each(&p, TENSOR - 1, TENSOR, TENSOR);
	check_each(&p, TENSOR, 0, 0);
}

/* x -> a -> b, then x + b in x's place: x is gone if the cache holds less than
 * what was touched in between. */
static void
make_residual(struct program *p)
{
	memset(p, 0, sizeof(*p));
	for (uint64_t i = 0; i < 4; i++) {
		add_step(p);
		reads(p, 0, TENSOR);
		writes(p, TENSOR, TENSOR);
		add_step(p);
		reads(p, TENSOR, TENSOR);
		writes(p, 2 * TENSOR, TENSOR);
		add_step(p);
		reads(p, 2 * TENSOR, TENSOR);
		reads(p, 0, TENSOR);
		writes(p, 0, TENSOR);
		add_step(p);
		reads(p, 3 * TENSOR + i * TENSOR, TENSOR); /* a weight */
		reads(p, 0, TENSOR);
		writes(p, 7 * TENSOR, TENSOR / 4);
	}
}

/* Where a part of an operand is still there the model takes it to shrink
 * evenly, which lines do to one or two; and it leaves out the lines that a
 * step has in hand, which shifts the capacity by as many. */
static void
check_between(const struct program *p, size_t capacity, double slack)
{
	static struct cache less, more;
	struct sl__cache_traffic out[STEPS_MOST];

	simulate(p, capacity - IN_FLIGHT, &less);
	simulate(p, capacity + IN_FLIGHT, &more);
	predict(p, capacity, out);
	for (size_t i = 0; i < p->n; i++) {
		double in = out[i].in_bytes / LINE;
		double back = out[i].back_bytes / LINE;

		if (in > less.in[i] / LINE + slack ||
		    in < more.in[i] / LINE - slack ||
		    back > less.back[i] / LINE + slack ||
		    back < more.back[i] / LINE - slack)
			fail_msg("step %zu at %zu lines: %g in, %g back", i,
				 capacity, in, back);
	}
}

static void
test_residual_at_every_capacity(void **state)
{
	struct program p;

	(void)state;
	make_residual(&p);
	for (size_t n = IN_FLIGHT + 1; n < 9 * TENSOR; n++)
		check_between(&p, n, 2);
}

/* Programs by dice, whose operands overlap in part: where in them the others
 * begin is left out, so that only the sum over all steps is near. */
static void
test_random_programs(void **state)
{
	static struct cache c;
	struct sl__cache_traffic out[STEPS_MOST];
	struct sl__rng rng;

	(void)state;
	sl__rng_init(&rng, 7);
	for (int round = 0; round < 60; round++) {
		struct program p = {0};
		size_t capacity = 16 + sl__rng_below(&rng, 1000);
		double predicted = 0, seen = 0, all = 0;

		for (int i = 0; i < 24; i++) {
			add_step(&p);
			for (int k = 0; k < 3; k++) {
				uint64_t n = 16 + 16 * sl__rng_below(&rng, 6);
				uint64_t at = 64 * sl__rng_below(&rng, 12);

				add_operand(&p, at, n, k < 2, k == 2);
			}
		}
		simulate(&p, capacity, &c);
		predict(&p, capacity, out);
		for (size_t i = 0; i < p.n; i++) {
			predicted += out[i].in_bytes + out[i].back_bytes;
			seen += c.in[i] + c.back[i];
			for (int k = 0; k < 3; k++)
				all += (double)p.operands[i][k].n_bytes;
		}
		if (fabs(predicted - seen) > 0.05 * all)
			fail_msg("round %d, %zu lines: %g, %g of %g", round,
				 capacity, predicted, seen, all);
	}
}

/* Caches do not disturb each other, and from a larger one no more comes. */
static void
test_several_caches_at_once(void **state)
{
	static const size_t sizes[] = {50, 200, 500};
	struct sl__cache_traffic all[3 * STEPS_MOST], one[STEPS_MOST];
	struct sl__cache_boundary b[3];
	struct sl__arena arena;
	struct program p;

	(void)state;
	make_residual(&p);
	sl__arena_init(&arena, NULL);
	for (int k = 0; k < 3; k++)
		b[k].capacity_bytes = b[k].own_bytes =
			(double)(sizes[k] * LINE);
	assert_int_equal(sl__traffic_predict(all, p.steps, p.n, b, 3, &arena),
			 SL_OK);
	for (size_t k = 0; k < 3; k++) {
		predict(&p, sizes[k], one);
		for (size_t i = 0; i < p.n; i++) {
			const struct sl__cache_traffic *c = &all[3 * i + k];

			assert_near(c->in_bytes, one[i].in_bytes, 0);
			assert_near(c->back_bytes, one[i].back_bytes, 0);
			assert_true(!k || c->in_bytes <= c[-1].in_bytes);
			assert_true(!k || c->back_bytes <= c[-1].back_bytes);
		}
	}
	sl__arena_release(&arena);
}

enum { SIDE = 48, ELEMENTS = 256 }; /* an element is a line here */

static size_t
element(size_t matrix, size_t row, size_t column)
{
	return (matrix * SIDE + row) * SIDE + column;
}

/* C += A B, blocks of C held while columns of A and rows of B go by. */
static double
blocked_bytes(size_t block, size_t capacity)
{
	static struct cache c;
	double sum = 0;

	cache_start(&c, capacity);
	for (size_t i0 = 0; i0 < SIDE; i0 += block)
		for (size_t j0 = 0; j0 < SIDE; j0 += block)
			for (size_t k = 0; k < SIDE; k++)
				for (size_t i = i0; i < i0 + block; i++)
					for (size_t j = j0; j < j0 + block;
					     j++) {
						touch(&c, element(0, i, k), 0,
						      1, 0);
						touch(&c, element(1, k, j), 0,
						      1, 0);
						touch(&c, element(2, i, j), 0,
						      0, 1);
					}
	while (c.n_held)
		drop_oldest(&c);
	sum = c.in[0] + c.back[0];
	return sum;
}

static void
make_matmul(struct program *p)
{
	memset(p, 0, sizeof(*p));
	add_step(p);
	reads(p, 0, (uint64_t)SIDE * SIDE);
	reads(p, (uint64_t)SIDE * SIDE, (uint64_t)SIDE * SIDE);
	writes(p, 2 * (uint64_t)SIDE * SIDE, (uint64_t)SIDE * SIDE);
	p->steps[0].products = (struct sl__matmuls){
		.n = 1,
		.n_multiply_adds = (double)SIDE * SIDE * SIDE,
		.n_covers = 1,
		.element_bytes = LINE};
}

static void
test_product_bound_holds_and_is_near(void **state)
{
	static const size_t blocks[] = {2, 4, 6, 8, 12};
	struct sl__cache_traffic out;
	struct program p;
	double best = 1e300, predicted;

	(void)state;
	make_matmul(&p);
	predict(&p, ELEMENTS, &out);
	predicted = out.in_bytes + out.back_bytes;
	for (size_t i = 0; i < 5; i++)
		best = fmin(best, blocked_bytes(blocks[i], ELEMENTS));
	assert_true(predicted <= best);
	assert_true(best <= 1.7 * predicted);
	assert_near(predicted, LINE * (2.0 * SIDE * SIDE * SIDE / 16 - 512),
		    1e-6);
}

/* Where all fits nothing moves, and where the bound is small all operands
 * still move once; many small products each find their own. */
static void
test_product_is_never_below_its_operands(void **state)
{
	struct sl__cache_traffic out;
	struct program p;

	(void)state;
	make_matmul(&p);
	predict(&p, 3 * (size_t)SIDE * SIDE, &out);
	assert_near(out.in_bytes + out.back_bytes, 0, 0);
	p.steps[0].products.n = 64;
	predict(&p, ELEMENTS, &out);
	assert_near(out.in_bytes, 2.0 * SIDE * SIDE * LINE, 0);
	assert_near(out.back_bytes, 1.0 * SIDE * SIDE * LINE, 0);
}

/* However a cache chooses, an iteration brings in or sends back what it touches
 * beyond what the cache holds; the least of all steps is no more than that, and
 * none is above what the rule says of its step. */
static void
test_least_is_what_no_choice_avoids(void **state)
{
	struct sl__cache_traffic out[STEPS_MOST];
	struct program p;

	(void)state;
	make_chain(&p, 0);
	for (size_t capacity = TENSOR; capacity <= (CHAIN + 2) * TENSOR;
	     capacity += TENSOR / 2) {
		double touched = (CHAIN + 1) * TENSOR, sum = 0;
		double beyond = fmax(0, touched - (double)capacity) * LINE;

		predict(&p, capacity, out);
		for (size_t i = 0; i < p.n; i++) {
			sum += out[i].least_bytes;
			assert_true(out[i].least_bytes <=
				    fmax(out[i].in_bytes, out[i].back_bytes));
		}
		assert_true(sum <= beyond * (1 + 1e-12));
		/* One way of a chain that moves all of it both ways. */
		if (capacity == TENSOR)
			assert_close(sum, beyond / 2, 1e-12);
	}
	/* Weights that are only read, ten times what the cache holds. */
	memset(&p, 0, sizeof(p));
	for (size_t i = 0; i < 10; i++) {
		add_step(&p);
		reads(&p, i * TENSOR, TENSOR);
	}
	predict(&p, TENSOR, out);
	for (size_t i = 0; i < p.n; i++)
		assert_close(out[i].least_bytes, 0.9 * TENSOR * LINE, 1e-12);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			test_chain_beyond_the_cache_moves_all_its_bytes),
		cmocka_unit_test(test_chain_within_the_cache_moves_nothing),
		cmocka_unit_test(test_result_just_written_is_found),
		cmocka_unit_test(test_change_in_place_moves_both_ways),
		cmocka_unit_test(test_residual_at_every_capacity),
		cmocka_unit_test(test_random_programs),
		cmocka_unit_test(test_several_caches_at_once),
		cmocka_unit_test(test_product_bound_holds_and_is_near),
		cmocka_unit_test(test_product_is_never_below_its_operands),
		cmocka_unit_test(test_least_is_what_no_choice_avoids),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
