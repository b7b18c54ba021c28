/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_failing_suite.c - requests for memory fail while a suite runs and is
 * shown: it says so, or its cells do, and nothing leaks.
 */
#include "fail_each.h"

#include <unistd.h>

static enum sl_status
attempt_suite(void *ctx, const struct sl_allocator *allocator,
	      struct sl_error *err)
{
	const char *text = ctx;
	const struct sl_suite_options how = {.struct_size = sizeof(how),
					     .lock_path = "failing_suite.lock",
					     .allocator = allocator};
	const struct sl_render_options page = {.struct_size = sizeof(page)};
	struct sl_buf out = {0};
	struct sl_suite *s;
	enum sl_status rc;

	rc = sl_suite_run(&s, text, strlen(text), &how, err);
	if (!rc)
		rc = sl_suite_render(s, &page, &out, err);
	sl_suite_free(s);
	sl_buf_release(&out);
	unlink("failing_suite.lock");
	return rc;
}

static void
requests_fail(void **state)
{
	static char text[] =
		"repetitions = 1\nrounds = 1\nthreads = 1\n[a]\nmodel = "
		"mlp:4-2\nvariants = baseline, fuse=off\nmax-size = 1M\n";

	(void)state;
	assert_true(fail_from(attempt_suite, text, "suite", 1, 7) > 0);
	unlink("failing_suite.lock.partial");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(requests_fail)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
