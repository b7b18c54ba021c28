/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_checkpoint.c - a training run in a file: what was written is read, to
 * the bit; a file that is cut off anywhere, or has one bit changed, is refused;
 * runs that differ are told apart by the setting.
 */
#include "driver/checkpoint.h"
#include "base/file.h"
#include "harness.h"

#include <stdio.h>
#include <unistd.h>

static const char path[] = "test_checkpoint.file";

static struct sl__checkpoint
example(void)
{
	static struct sl_train_point curve[] = {{10, 2.5, 0.1}, {20, 0.1, 1}};
	static struct sl_train_point validation[] = {{20, 0.3, 0.9}};
	static unsigned char states[] = "the states", best[] = "better one";

	return (struct sl__checkpoint){.settings = "model=a batch=3",
				       .n_threads = 2,
				       .n_steps = 23,
				       .elapsed_s = 1.5,
				       .window = {0.75, 3, 96, 90},
				       .best_loss = 0.3,
				       .best_step = 20,
				       .n_worse_epochs = 1,
				       .curve = curve,
				       .n_curve = 2,
				       .validation = validation,
				       .n_validation = 1,
				       .states = states,
				       .best = best,
				       .n_state_bytes = 10};
}

static void
what_is_written_is_read(void **state)
{
	struct sl__checkpoint a = example(), b;
	struct sl__arena arena;
	struct sl_error err;

	(void)state;
	sl__arena_init(&arena, NULL);
	for (int has_best = 0; has_best < 2; has_best++) {
		a.best = has_best ? a.best : NULL;
		assert_int_equal(sl__checkpoint_write(&a, path, &err), SL_OK);
		assert_int_equal(sl__checkpoint_read(&b, path, &arena, &err),
				 SL_OK);
		assert_string_equal(b.settings, a.settings);
		assert_int_equal(b.n_steps, 23);
		assert_int_equal(b.n_threads, 2);
		assert_int_equal(b.best_step, 20);
		assert_int_equal(b.n_worse_epochs, 1);
		assert_memory_equal(&b.window, &a.window, sizeof(a.window));
		assert_memory_equal(&b.best_loss, &a.best_loss, 8);
		assert_memory_equal(&b.elapsed_s, &a.elapsed_s, 8);
		assert_int_equal(b.n_curve, 2);
		assert_memory_equal(b.curve, a.curve, sizeof(*a.curve) * 2);
		assert_int_equal(b.n_validation, 1);
		assert_memory_equal(b.validation, a.validation,
				    sizeof(*a.validation));
		assert_int_equal(b.n_state_bytes, 10);
		assert_memory_equal(b.states, a.states, 10);
		assert_int_equal(b.best != NULL, a.best != NULL);
		a = example();
	}
	sl__arena_release(&arena);
	unlink(path);
}

static void
damage_is_refused(void **state)
{
	struct sl__checkpoint a = example(), b;
	struct sl_buf whole = {0};
	struct sl__arena arena;
	struct sl_error err;

	(void)state;
	sl__arena_init(&arena, NULL);
	assert_int_equal(sl__checkpoint_write(&a, path, &err), SL_OK);
	assert_int_equal(sl__file_read(&whole, path, 1 << 20, &err), SL_OK);
	for (size_t n = 0; n < whole.n_bytes; n++) {
		assert_int_equal(sl__file_write(path, whole.data, n, &err),
				 SL_OK);
		assert_int_equal(sl__checkpoint_read(&b, path, &arena, &err),
				 SL_E_DATA);
		whole.data[n] ^= 4;
		assert_int_equal(
			sl__file_write(path, whole.data, whole.n_bytes, &err),
			SL_OK);
		assert_int_equal(sl__checkpoint_read(&b, path, &arena, &err),
				 SL_E_DATA);
		whole.data[n] ^= 4;
	}
	sl_buf_release(&whole);
	sl__arena_release(&arena);
	unlink(path);
	assert_int_equal(sl__checkpoint_read(&b, path, &arena, &err), SL_E_IO);
}

static void
other_settings_are_named(void **state)
{
	const struct sl__checkpoint a = example();
	struct sl_error err;

	(void)state;
	assert_int_equal(sl__checkpoint_compare(&a, "model=a batch=3", &err),
			 SL_OK);
	assert_int_equal(sl__checkpoint_compare(&a, "model=a batch=32", &err),
			 SL_E_DATA);
	assert_string_equal(err.text, "the checkpoint is of another run: it "
				      "has batch=3, this one has batch=32");
	assert_int_equal(sl__checkpoint_compare(&a, "model=b batch=3", &err),
			 SL_E_DATA);
	assert_non_null(strstr(err.text, "model=a, this one has model=b"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_written_is_read),
		cmocka_unit_test(damage_is_refused),
		cmocka_unit_test(other_settings_are_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
