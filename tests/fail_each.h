/* SPDX-License-Identifier: Apache-2.0 */
/* fail_each.h - a public function, with each of its allocations failing. */
#ifndef SL_TEST_FAIL_EACH_H
#define SL_TEST_FAIL_EACH_H

#include "failing_memory.h"
#include "harness.h"
#include "sleuth.h"

/*
 * Does something that takes memory and releases all of it again, whether it
 * succeeds or not.  'allocator' is to be handed on where an option takes one:
 * what is asked of it counts and fails like all else, and is counted apart, so
 * that a block which goes back elsewhere than it came from is found.
 */
typedef enum sl_status attempt(void *ctx, const struct sl_allocator *allocator,
			       struct sl_error *err);

static inline void *
fail_each_alloc(size_t n_bytes, void *ctx)
{
	void *block = failing_malloc(n_bytes);

	*(long *)ctx += block != NULL;
	return block;
}

static inline void
fail_each_release(void *block, void *ctx)
{
	--*(long *)ctx;
	failing_free(block);
}

/*
 * One attempt, of which request number 'fail_at' fails (0: none does): it must
 * end as 'expected', as without that, or say that there is no memory, and leave
 * nothing behind.
 */
static inline enum sl_status
fail_one(attempt *try, void *ctx, const char *what, long fail_at,
	 enum sl_status expected)
{
	long n_own = 0, n_before = failing_out();
	const struct sl_allocator allocator = {fail_each_alloc,
					       fail_each_release, &n_own};
	struct sl_error err = {.status = SL_OK};
	enum sl_status rc;

	failing_start(fail_at);
	rc = try(ctx, &allocator, &err);
	failing_stop();
	if (rc != expected && !(fail_at && rc == SL_E_NOMEM))
		fail_msg("%s, request %ld: %s (%s)", what, fail_at, err.text,
			 sl_status_text(rc));
	if (rc && (err.status != rc || !*err.text))
		fail_msg("%s, request %ld: '%s' does not tell", what, fail_at,
			 err.text);
	if (n_own || failing_out() != n_before)
		fail_msg("%s, request %ld: %ld blocks are left, %ld of them "
			 "of the allocator",
			 what, fail_at, failing_out() - n_before, n_own);
	return rc;
}

/* Requests 'first', first + step, ... fail, one at a time; returns the number
 * of attempts that did. */
static inline long
fail_from(attempt *try, void *ctx, const char *what, long first, long step)
{
	struct sl_error err = {.status = SL_OK};
	enum sl_status expected;
	long n_failed = 0;

	/* What is found once and kept is found here. */
	failing_start(0);
	expected = try(ctx, NULL, &err);
	failing_stop();
	(void)fail_one(try, ctx, what, 0, expected);
	for (long n = first;; n += step) {
		enum sl_status rc = fail_one(try, ctx, what, n, expected);

		if (failing_requests() < n) {
			assert_int_equal(rc, expected);
			return n_failed;
		}
		n_failed += rc == SL_E_NOMEM;
	}
}

/* Every request fails once, and some of these make it fail. */
static inline void
fail_each(attempt *try, void *ctx, const char *what)
{
	assert_true(fail_from(try, ctx, what, 1, 1) > 0);
}

#endif
