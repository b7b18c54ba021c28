/* SPDX-License-Identifier: Apache-2.0 */
/*
 * interrupting.h - an allocator that sets an interrupt's flag at some request:
 * in the midst of a node of a body, which makes its values when it runs.
 */
#ifndef SL_TEST_INTERRUPTING_H
#define SL_TEST_INTERRUPTING_H

#include "counting.h"

#include <signal.h>

struct interrupting {
	struct counting counted;
	int at; /* request, counted from 1; 0: none */
	volatile sig_atomic_t flag;
	struct sl_allocator allocator;
};

static inline void *
interrupting_alloc(size_t n_bytes, void *ctx)
{
	struct interrupting *i = ctx;
	void *block = counting_alloc(n_bytes, &i->counted);

	if (i->counted.n_requests == i->at)
		i->flag = 1;
	return block;
}

static inline void
interrupting_release(void *block, void *ctx)
{
	struct interrupting *i = ctx;

	counting_release(block, &i->counted);
}

static inline void
interrupting_init(struct interrupting *i, int at)
{
	struct sl_allocator allocator = {interrupting_alloc,
					 interrupting_release, i};

	*i = (struct interrupting){.at = at, .allocator = allocator};
}

static inline struct sl_plan_options
interrupting_plan(struct interrupting *i)
{
	struct sl_plan_options how = {.struct_size = sizeof(how),
				      .n_threads = 1,
				      .algorithms = SL_ALGORITHMS_FIXED,
				      .flags = SL_PLAN_NO_CACHE,
				      .interrupt = &i->flag,
				      .allocator = &i->allocator};

	return how;
}

/* Models for graph_text.h: y = -(|x| + n x), by a loop, which the evaluator
 * runs: the size of one value that it carries is found when it runs. */
#define LOOP_TEXT(count, body)                              \
	"opset 13\n"                                        \
	"in x f32 4\n"                                      \
	"const n i64 1 = 5\n"                               \
	"const yes bool - = 1\n"                            \
	"block body\n"                                      \
	"in i i64 -\n"                                      \
	"in go bool -\n"                                    \
	"in sum f32 4\n"                                    \
	"in list i64 1,k\n" body "out list\n"               \
	"end\n"                                             \
	"h = Abs x\n"                                       \
	"some = NonZero x\n"                                \
	"last,all = Loop " count " yes h some body=@body\n" \
	"y = Neg last\n"                                    \
	"out y\n"

#define LOOP_BODY              \
	"stay = Identity go\n" \
	"next = Add sum x\n"   \
	"out stay\n"           \
	"out next\n"

static const char endless_text[] = LOOP_TEXT("-", LOOP_BODY);
static const char five_times_text[] = LOOP_TEXT("n", LOOP_BODY);

/* For 'progress': the request so many later, once three rounds are done. */
struct interrupting_later {
	struct interrupting *what;
	int n_more;
};

static inline void
interrupt_later(const struct sl_progress *now, void *ctx)
{
	const struct interrupting_later *later = ctx;

	if (!later->what->at && now->n_done >= 3)
		later->what->at =
			later->what->counted.n_requests + later->n_more;
}

#endif
