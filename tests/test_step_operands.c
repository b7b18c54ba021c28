/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_step_operands.c - proves that operands of a step are kept and put back
 * to the byte, and that flushing changes nothing but where they lie.
 */
#include "experiment/step_operands.h"
#include "machine/flush.h"
#include "harness.h"

enum { N = 1000 }; /* no multiple of a line, nor of two threads' parts */

struct fixture {
	unsigned char weights[N], a[N], b[7], saved[2 * N];
	struct sl__buffer buffers[3];
	uint32_t operands[3];
	unsigned char *at[3];
	struct sl__step step;
	struct sl__program program;
};

static void
start(struct fixture *f)
{
	memset(f, 0, sizeof(*f));
	f->at[0] = f->weights;
	f->at[1] = f->a;
	f->at[2] = f->b;
	f->buffers[0] = (struct sl__buffer){.category = SL__CATEGORY_CONSTANT,
					    .n_bytes = N};
	f->buffers[1] = (struct sl__buffer){.n_bytes = N, .base = 1};
	f->buffers[2] = (struct sl__buffer){.n_bytes = sizeof(f->b), .base = 2};
	for (uint32_t k = 0; k < 3; k++)
		f->operands[k] = k;
	f->step.n_operands = 3;
	f->step.operands = f->operands;
	f->step.at = f->at;
	f->program.buffers = f->buffers;
	for (size_t i = 0; i < N; i++) {
		f->weights[i] = (unsigned char)(i * 7);
		f->a[i] = (unsigned char)(i * 13 + 1);
	}
	memcpy(f->b, "sleuth", sizeof(f->b));
}

static void
keeps_and_puts_back(void **state)
{
	static struct fixture f;
	unsigned char before[N];

	(void)state;
	for (int n_threads = 1; n_threads <= 2; n_threads++) {
		struct sl__operands o = {&f.program, &f.step, n_threads,
					 f.saved};

		start(&f);
		memcpy(before, f.a, N);
		assert_int_equal(sl__operands_bytes(&f.program, &f.step),
				 N + sizeof(f.b));
		sl__operands_save(&o);
		assert_false(sl__operands_differ(&o));
		f.a[N - 1] ^= 1;
		assert_true(sl__operands_differ(&o));
		f.a[N - 1] ^= 1;
		f.b[6] = 'x';
		assert_true(sl__operands_differ(&o));
		memset(f.a, 0, N);
		f.weights[0] = 99;
		sl__operands_restore(&o);
		assert_memory_equal(f.a, before, N);
		assert_memory_equal(f.b, "sleuth", sizeof(f.b));
		/* Weights are nobody's to change, and not looked at. */
		assert_int_equal(f.weights[0], 99);
	}
}

static void
flushing_changes_nothing(void **state)
{
	static struct fixture f, same;
	struct sl__operands o = {&f.program, &f.step, 2, f.saved};
	unsigned char byte = 1;

	(void)state;
	start(&f);
	start(&same);
	assert_int_equal(sl__operands_flush(&o),
			 sl__flush_cache_lines(&byte, 1));
	assert_memory_equal(f.a, same.a, N);
	assert_memory_equal(f.b, same.b, sizeof(f.b));
	assert_memory_equal(f.weights, same.weights, N);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keeps_and_puts_back),
		cmocka_unit_test(flushing_changes_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
