/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_memory.c - proves of random programs that buffers which are needed at
 * the same time do not overlap, that they are aligned and inside the block,
 * that the bound is the one found by looking at every step; and of the
 * small built-in models that the block is not much larger than the bound;
 * test_memory_zoo.c does so of the large ones.
 */
#include "harness.h"
#include "base/rng.h"
#include "engine/program.h"
#include "planned_waste.h"

enum { BUFFERS_MOST = 60, STEPS_MOST = 40, OPERANDS_MOST = 6, ROUNDS = 400 };

struct random_program {
	struct sl__program p;
	struct sl__buffer buffers[BUFFERS_MOST];
	struct sl__step steps[STEPS_MOST];
	uint32_t operands[STEPS_MOST][OPERANDS_MOST];
	int is_needed[STEPS_MOST][BUFFERS_MOST]; /* of bases, by hand */
};

/* A stretch of an earlier base. */
static void
make_view(struct random_program *r, uint32_t id, struct sl__rng *rng)
{
	uint32_t base = r->buffers[sl__rng_below(rng, id)].base;
	struct sl__buffer *b = &r->buffers[id];

	b->base = base;
	b->category = r->buffers[base].category;
	b->offset = sl__rng_below(rng, r->buffers[base].n_bytes + 1);
	b->n_bytes =
		sl__rng_below(rng, r->buffers[base].n_bytes - b->offset + 1);
}

static void
make_buffers(struct random_program *r, struct sl__rng *rng)
{
	r->p.n_buffers = sl__rng_below(rng, BUFFERS_MOST + 1);
	for (uint32_t i = 0; i < r->p.n_buffers; i++) {
		struct sl__buffer *b = &r->buffers[i];

		if (i > 0 && sl__rng_below(rng, 4) == 0) {
			make_view(r, i, rng);
			continue;
		}
		b->base = i;
		b->category = (enum sl__memory_category)sl__rng_below(rng, 5);
		/* Small ones, large ones, and some of no size. */
		b->n_bytes = sl__rng_below(rng, sl__rng_below(rng, 3) ? 300
								      : 100000);
		if (sl__rng_below(rng, 10) == 0)
			b->n_bytes = 0;
	}
}

static void
make_steps(struct random_program *r, struct sl__rng *rng)
{
	r->p.n_steps = sl__rng_below(rng, STEPS_MOST + 1);
	for (size_t s = 0; s < r->p.n_steps; s++) {
		struct sl__step *step = &r->steps[s];

		step->operands = r->operands[s];
		if (!r->p.n_buffers)
			continue;
		step->n_operands =
			(uint32_t)sl__rng_below(rng, OPERANDS_MOST + 1);
		for (uint32_t k = 0; k < step->n_operands; k++)
			step->operands[k] =
				(uint32_t)sl__rng_below(rng, r->p.n_buffers);
	}
}

/* From the first step that names a base, or a view of it, to the last;
 * inputs always, outputs to the end. */
static void
find_needs(struct random_program *r)
{
	size_t n_steps = r->p.n_steps ? r->p.n_steps : 1;

	for (uint32_t b = 0; b < r->p.n_buffers; b++) {
		size_t first = n_steps, last = 0;

		for (size_t s = 0; s < r->p.n_steps; s++) {
			for (uint32_t k = 0; k < r->steps[s].n_operands; k++) {
				if (r->buffers[r->operands[s][k]].base != b)
					continue;
				first = s < first ? s : first;
				last = s;
			}
		}
		if (r->buffers[b].category == SL__CATEGORY_OUTPUT &&
		    first == n_steps)
			first = 0;
		if (r->buffers[b].category == SL__CATEGORY_INPUT)
			first = 0;
		if (r->buffers[b].category == SL__CATEGORY_INPUT ||
		    r->buffers[b].category == SL__CATEGORY_OUTPUT)
			last = n_steps - 1;
		for (size_t s = first; s < n_steps && s <= last; s++)
			r->is_needed[s][b] = 1;
	}
}

static int
lies_in_block(const struct random_program *r, uint32_t b)
{
	return r->buffers[b].base == b && r->buffers[b].n_bytes > 0 &&
	       r->buffers[b].category != SL__CATEGORY_CONSTANT;
}

static void
check_pair(const struct random_program *r, uint32_t a, uint32_t b, size_t s)
{
	const struct sl__buffer *x = &r->buffers[a], *y = &r->buffers[b];

	if (x->offset + x->n_bytes <= y->offset ||
	    y->offset + y->n_bytes <= x->offset)
		return;
	fail_msg("buffers %u and %u overlap at step %zu", a, b, s);
}

static uint64_t
check_step(const struct random_program *r, size_t s)
{
	uint64_t sum = 0;

	for (uint32_t a = 0; a < r->p.n_buffers; a++) {
		if (!lies_in_block(r, a) || !r->is_needed[s][a])
			continue;
		assert_int_equal(r->buffers[a].offset % 64, 0);
		assert_true(r->buffers[a].offset + r->buffers[a].n_bytes <=
			    r->p.block_bytes);
		sum += (r->buffers[a].n_bytes + 63) / 64 * 64;
		for (uint32_t b = a + 1; b < r->p.n_buffers; b++) {
			if (lies_in_block(r, b) && r->is_needed[s][b])
				check_pair(r, a, b, s);
		}
	}
	return sum;
}

static void
check_views(const struct random_program *r, const struct sl__buffer *before)
{
	for (uint32_t i = 0; i < r->p.n_buffers; i++) {
		const struct sl__buffer *b = &r->buffers[i];

		if (b->base == i)
			continue;
		/* Their place in the base is the maker's. */
		assert_int_equal(b->offset, before[i].offset);
		assert_true(b->offset + b->n_bytes <=
			    r->buffers[b->base].n_bytes);
	}
}

static void
places_random_programs(void **state)
{
	static struct random_program r;
	struct sl__buffer before[BUFFERS_MOST];
	struct sl_error err;

	(void)state;
	for (uint64_t round = 0; round < ROUNDS; round++) {
		struct sl__rng rng;
		uint64_t most = 0;

		memset(&r, 0, sizeof(r));
		sl__rng_init(&rng, round + 1);
		sl__arena_init(&r.p.arena, NULL);
		r.p.buffers = r.buffers;
		r.p.steps = r.steps;
		make_buffers(&r, &rng);
		make_steps(&r, &rng);
		find_needs(&r);
		memcpy(before, r.buffers, sizeof(before));
		assert_int_equal(sl__program_place_buffers(&r.p, &err), SL_OK);
		for (size_t s = 0; s < (r.p.n_steps ? r.p.n_steps : 1); s++) {
			uint64_t sum = check_step(&r, s);

			most = sum > most ? sum : most;
		}
		assert_int_equal(r.p.bound_bytes, most);
		assert_true(r.p.block_bytes >= most);
		check_views(&r, before);
		sl__arena_release(&r.p.arena);
	}
}

/* Sizes of which the sum is beyond all bounds are no memory, not a small
 * block. */
static void
sums_do_not_wrap(void **state)
{
	static struct random_program r;
	struct sl_error err;

	(void)state;
	for (uint64_t n_bytes = UINT64_MAX; n_bytes > UINT64_MAX / 16;
	     n_bytes /= 2) {
		memset(&r, 0, sizeof(r));
		sl__arena_init(&r.p.arena, NULL);
		r.p.buffers = r.buffers;
		r.p.steps = r.steps;
		r.p.n_buffers = 32;
		r.p.n_steps = 1;
		for (uint32_t i = 0; i < 32; i++) {
			r.buffers[i].base = i;
			r.buffers[i].category = SL__CATEGORY_INPUT;
			r.buffers[i].n_bytes = n_bytes - i;
		}
		assert_int_equal(sl__program_place_buffers(&r.p, &err),
				 SL_E_NOMEM);
		sl__arena_release(&r.p.arena);
	}
}

enum { MANY = 12000, AHEAD = 40 };

/* Thousands, each needed for up to AHEAD steps from its own on: at no step two
 * overlap, and room is used again. */
static void
places_thousands(void **state)
{
	struct sl__buffer *buffers =
		test_calloc(MANY, sizeof(struct sl__buffer));
	struct sl__step *steps = test_calloc(MANY, sizeof(struct sl__step));
	uint32_t(*operands)[2] = test_calloc(MANY, sizeof(*operands));
	struct sl__program p = {.buffers = buffers, .steps = steps};
	struct sl__rng rng;
	struct sl_error err;

	(void)state;
	sl__rng_init(&rng, 5);
	sl__arena_init(&p.arena, NULL);
	p.n_buffers = p.n_steps = MANY;
	for (uint32_t i = 0; i < MANY; i++) {
		uint32_t back = (uint32_t)sl__rng_below(&rng, AHEAD);

		buffers[i].base = i;
		buffers[i].n_bytes = 1 + sl__rng_below(&rng, 5000);
		operands[i][0] = i;
		operands[i][1] = i > back ? i - back : 0;
		steps[i].operands = operands[i];
		steps[i].n_operands = 2;
	}
	assert_int_equal(sl__program_place_buffers(&p, &err), SL_OK);
	for (uint32_t a = 0; a < MANY; a++) {
		assert_true(buffers[a].offset + buffers[a].n_bytes <=
			    p.block_bytes);
		for (uint32_t b = a + 1; b < MANY && b <= buffers[a].last; b++)
			assert_true(buffers[a].offset + buffers[a].n_bytes <=
					    buffers[b].offset ||
				    buffers[b].offset + buffers[b].n_bytes <=
					    buffers[a].offset);
	}
	assert_true(p.block_bytes <= 2 * p.bound_bytes);
	sl__arena_release(&p.arena);
	test_free(operands);
	test_free(steps);
	test_free(buffers);
}

static void
wastes_little_on_small_models(void **state)
{
	static const char *const names[] = {
		"mlp:784-256-128-10", "linear:768,3072", "conv:3,64,7,224,2,3",
		"attention:128,512",  "lenet5",          "mobilenetv2",
		"efficientnet-b0",    "resnet18",        "lstm"};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		check_planned_waste(names[i]);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sums_do_not_wrap),
		cmocka_unit_test(places_random_programs),
		cmocka_unit_test(places_thousands),
		cmocka_unit_test(wastes_little_on_small_models),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
