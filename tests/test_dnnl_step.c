/* SPDX-License-Identifier: Apache-2.0 */
/* test_dnnl_step.c - proves that one thread reorders what is small, and all of
 * them what is large, to the same end. */
#include "needs_dnnl.h"
#include "planned_graph.h"

static const char small_text[] = "in x f32 1,16,6,6\n"
				 "const w f32 16,16,3,3 = random\n"
				 "a = Conv x w pads=[1,1,1,1]\n"
				 "b = Softmax a axis=3\n"
				 "out b\n";
/* What comes out is 256 KiB, twice. */
static const char large_text[] = "in x f32 1,8,32,32\n"
				 "const w f32 64,8,3,3 = random\n"
				 "a = Conv x w pads=[1,1,1,1]\n"
				 "b = Softmax a axis=3\n"
				 "out b\n";

/* That the largest of all reorders of a plan for two threads has. */
static int
threads_of(const char *text, const int64_t *dims)
{
	struct planned p;
	uint64_t most_bytes = 0;
	int n_threads = 0;

	planned_start(&p, text, 2, SL_PLAN_NO_FUSION);
	planned_fill(&p, "x", 4, dims, 1);
	planned_check(&p);
	for (size_t i = 0; i < p.plan->current->n_steps; i++) {
		const struct sl__step *s = &p.plan->current->steps[i];

		if (s->node != SL__NONE || s->n_bytes <= most_bytes)
			continue;
		most_bytes = s->n_bytes;
		n_threads = s->n_threads;
	}
	planned_finish(&p);
	return n_threads;
}

static void
few_bytes_are_one_threads(void **state)
{
	static const int64_t dims[] = {1, 16, 6, 6};

	(void)state;
	needs_dnnl();
	assert_int_equal(threads_of(small_text, dims), 1);
}

static void
many_bytes_are_shared(void **state)
{
	static const int64_t dims[] = {1, 8, 32, 32};

	(void)state;
	needs_dnnl();
	assert_int_equal(threads_of(large_text, dims), 2);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(few_bytes_are_one_threads),
		cmocka_unit_test(many_bytes_are_shared),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
