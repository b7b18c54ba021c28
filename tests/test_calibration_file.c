/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_calibration_file.c - proves that what known kernels answered is read as
 * it was written, and that nothing else is read.
 */
#include "harness.h"
#include "base/buf.h"
#include "experiment/calibrate.h"

static struct sl__calibration
some_steps(struct sl__known_step steps[3])
{
	for (size_t i = 0; i < 3; i++) {
		struct sl__step_evidence *c = &steps[i].evidence;

		memset(&steps[i], 0, sizeof(steps[i]));
		steps[i].bound = i < 2 ? SL_BOUND_DRAM : SL_BOUND_LAYOUT;
		steps[i].kernel = i < 2 ? 0 : 2;
		steps[i].is_repeat = i == 1;
		steps[i].number = 4 + i / 2;
		c->dtype = SL_DTYPE_F32;
		c->n_threads = 2;
		c->n_dependent = 1;
		c->flops = 1e6 + (double)i;
		c->least_ns = (double)NAN;
		c->size_bytes[SL__MEMORY_DRAM] = (double)INFINITY;
		c->is_same_alone = 1;
		c->hog.l2 = 1.25;
		for (int k = 0; k < SL_N_CONDITIONS; k++)
			c->at_ns[k] = k + 0.5 + (double)i;
		c->at_ns[SL_CONDITION_DOUBLED] = (double)NAN;
	}
	return (struct sl__calibration){steps, 3, 7, 2.5};
}

static void
what_was_written_is_read(void **state)
{
	struct sl__known_step steps[3];
	struct sl__calibration written = some_steps(steps), read;
	struct sl_buf text = {0}, again = {0};
	struct sl__arena arena;

	(void)state;
	sl__arena_init(&arena, NULL);
	sl__calibration_write(&text, &written);
	assert_non_null(text.data);
	assert_int_equal(sl__calibration_read(&read, text.data, &arena, NULL),
			 SL_OK);
	assert_int_equal(read.n, 3);
	assert_near(read.elapsed_s, 2.5, 0);
	assert_int_equal(read.steps[1].bound, SL_BOUND_DRAM);
	assert_true(read.steps[1].is_repeat);
	assert_int_equal(read.steps[2].kernel, 2);
	assert_int_equal(read.steps[2].number, 5);
	assert_int_equal(read.n_missing, 7);
	assert_true(isnan(read.steps[2].evidence.least_ns));
	assert_near(read.steps[2].evidence.at_ns[1], 3.5, 0);
	assert_near(read.steps[0].evidence.hog.l2, 1.25, 0);
	sl__calibration_write(&again, &read);
	assert_string_equal(text.data, again.data);
	sl_buf_release(&text);
	sl_buf_release(&again);
	sl__arena_release(&arena);
}

static void
nothing_else_is_read(void **state)
{
	struct sl__known_step steps[3];
	struct sl__calibration written = some_steps(steps), read;
	struct sl_buf text = {0};
	struct sl__arena arena;
	char *version;

	(void)state;
	sl__arena_init(&arena, NULL);
	assert_int_equal(sl__calibration_read(&read, "", &arena, NULL),
			 SL_E_ABSENT);
	sl__calibration_write(&text, &written);
	/* A digit changed, a line lost, another version. */
	text.data[text.n_bytes - 2] ^= 1;
	assert_int_equal(sl__calibration_read(&read, text.data, &arena, NULL),
			 SL_E_ABSENT);
	text.data[text.n_bytes - 2] ^= 1;
	version = strstr(text.data, " 2 ");
	assert_non_null(version);
	version[1] = '0';
	assert_int_equal(sl__calibration_read(&read, text.data, &arena, NULL),
			 SL_E_ABSENT);
	version[1] = '2';
	assert_int_equal(sl__calibration_read(&read, text.data, &arena, NULL),
			 SL_OK);
	text.data[text.n_bytes - 20] = '\0';
	assert_int_equal(sl__calibration_read(&read, text.data, &arena, NULL),
			 SL_E_ABSENT);
	sl_buf_release(&text);
	sl__arena_release(&arena);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_written_is_read),
		cmocka_unit_test(nothing_else_is_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
