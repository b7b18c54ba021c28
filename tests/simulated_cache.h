/* SPDX-License-Identifier: Apache-2.0 */
/* simulated_cache.h - programs that walk through memory, and a cache. */
#ifndef SL_TEST_SIMULATED_CACHE_H
#define SL_TEST_SIMULATED_CACHE_H

#include "harness.h"
#include "cost/traffic.h"

#include <math.h>

enum { LINE = 64, LINES_MOST = 1 << 14, STEPS_MOST = 64, OPERANDS_MOST = 4 };

/* A cache of whole lines that drops the one not touched for longest.  A line
 * that is written need not be fetched; one that was written goes back when it
 * is dropped, and who wrote it is charged. */
struct cache {
	size_t capacity, n_held; /* in lines */
	/* A ring of the lines held, around number LINES_MOST: what comes
	 * after it was touched last, what comes before it is the oldest. */
	size_t older[LINES_MOST + 1], newer[LINES_MOST + 1];
	int is_held[LINES_MOST], is_dirty[LINES_MOST];
	size_t writer[LINES_MOST];
	double in[STEPS_MOST], back[STEPS_MOST]; /* bytes of this iteration */
};

static inline void
cache_start(struct cache *c, size_t capacity)
{
	memset(c, 0, sizeof(*c));
	c->capacity = capacity;
	c->older[LINES_MOST] = c->newer[LINES_MOST] = LINES_MOST;
}

static inline void
take_out(struct cache *c, size_t line)
{
	c->newer[c->older[line]] = c->newer[line];
	c->older[c->newer[line]] = c->older[line];
}

static inline void
put_first(struct cache *c, size_t line)
{
	c->older[line] = c->older[LINES_MOST];
	c->newer[line] = LINES_MOST;
	c->newer[c->older[line]] = line;
	c->older[LINES_MOST] = line;
}

static inline void
drop_oldest(struct cache *c)
{
	size_t line = c->newer[LINES_MOST];

	take_out(c, line);
	if (c->is_dirty[line])
		c->back[c->writer[line]] += LINE;
	c->is_dirty[line] = c->is_held[line] = 0;
	c->n_held--;
}

static inline void
touch(struct cache *c, size_t line, size_t step, int is_read, int is_written)
{
	if (c->is_held[line]) {
		take_out(c, line);
	} else {
		if (c->n_held == c->capacity)
			drop_oldest(c);
		c->n_held++;
		c->is_held[line] = 1;
		if (is_read)
			c->in[step] += LINE;
	}
	put_first(c, line);
	if (is_written) {
		c->is_dirty[line] = 1;
		c->writer[line] = step;
	}
}

/* All operands side by side, from front to end, in lines. */
static inline void
walk(struct cache *c, const struct sl__traffic_step *s, size_t step)
{
	uint64_t most = 0, at[OPERANDS_MOST] = {0};

	for (size_t k = 0; k < s->n_operands; k++)
		most = s->operands[k].n_bytes > most ? s->operands[k].n_bytes
						     : most;
	for (uint64_t i = 1; i <= most / LINE; i++) {
		for (size_t k = 0; k < s->n_operands; k++) {
			const struct sl__traffic_operand *o = &s->operands[k];
			uint64_t n = o->n_bytes / LINE;

			for (; at[k] < i * n / (most / LINE); at[k]++)
				touch(c, o->start / LINE + at[k], step,
				      o->is_read, o->is_written);
		}
	}
}

struct program {
	struct sl__traffic_step steps[STEPS_MOST];
	struct sl__traffic_operand operands[STEPS_MOST][OPERANDS_MOST];
	size_t n;
};

static inline void
add_step(struct program *p)
{
	p->steps[p->n].operands = p->operands[p->n];
	p->n++;
}

/* To the last step; in lines. */
static inline void
add_operand(struct program *p, uint64_t start, uint64_t n, int is_read,
	    int is_written)
{
	struct sl__traffic_step *s = &p->steps[p->n - 1];

	assert_true(start + n <= LINES_MOST);
	p->operands[p->n - 1][s->n_operands++] = (struct sl__traffic_operand){
		start * LINE, n * LINE, is_read, is_written};
}

static inline void
reads(struct program *p, uint64_t start, uint64_t n)
{
	add_operand(p, start, n, 1, 0);
}

static inline void
writes(struct program *p, uint64_t start, uint64_t n)
{
	add_operand(p, start, n, 0, 1);
}

static inline void
simulate(const struct program *p, size_t capacity, struct cache *c)
{
	cache_start(c, capacity);
	for (int iteration = 0; iteration < 3; iteration++) {
		memset(c->in, 0, sizeof(c->in));
		memset(c->back, 0, sizeof(c->back));
		for (size_t i = 0; i < p->n; i++)
			walk(c, &p->steps[i], i);
	}
}

static inline void
predict(const struct program *p, size_t capacity, struct sl__cache_traffic *out)
{
	struct sl__cache_boundary b = {(double)(capacity * LINE),
				       (double)(capacity * LINE)};
	struct sl__arena arena;

	sl__arena_init(&arena, NULL);
	assert_int_equal(
		sl__traffic_predict(out, p->steps, p->n, &b, 1, &arena), SL_OK);
	sl__arena_release(&arena);
}

/* The largest difference of a step, in lines. */
static inline double
difference(const struct program *p, size_t capacity)
{
	static struct cache c;
	struct sl__cache_traffic out[STEPS_MOST];
	double most = 0;

	simulate(p, capacity, &c);
	predict(p, capacity, out);
	for (size_t i = 0; i < p->n; i++) {
		most = fmax(most, fabs(out[i].in_bytes - c.in[i]) / LINE);
		most = fmax(most, fabs(out[i].back_bytes - c.back[i]) / LINE);
	}
	return most;
}

#endif
