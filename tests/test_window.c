/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Proves how many positions a window takes: against a loop that tries each
 * position, for all small sizes, kernels, strides, dilations and paddings,
 * in floor and ceil mode and for each kind of automatic padding.
 */
#include "one_node.h"
#include "ops/window.h"

/* One window and one input, small enough to try all of them. */
struct trial {
	int in, kernel, stride, dilation, before, after;
};

/*
 * Tries positions one after another.  The window's last tap must lie in the
 * padded input.  In ceil mode the window may stick out at the end as long as
 * it starts in the input or in the padding before it; then no window starts
 * in the padding after it, whether it sticks out or not.
 */
static int
count_positions(const struct trial *t, int is_ceil)
{
	int end = t->before + t->in + t->after, n = 0;

	for (int start = 0; start < end; start += t->stride) {
		int last = start + (t->kernel - 1) * t->dilation;

		if (last < end && !is_ceil)
			n++;
		if (is_ceil && start < t->before + t->in &&
		    (last < end ||
		     start - t->stride + (t->kernel - 1) * t->dilation <
			     end - 1))
			n++;
	}
	return n;
}

static int64_t
positions(const struct trial *t, enum sl__padding padding, int is_ceil,
	  enum sl_status *rc)
{
	struct sl__window w = {.n = 1,
			       .padding = padding,
			       .is_ceil = is_ceil,
			       .kernel = {t->kernel},
			       .strides = {t->stride},
			       .dilations = {t->dilation}};
	struct sl_error err;
	struct sl__rule_context call = {.err = &err};
	int64_t n;

	if (padding == SL__PADDING_GIVEN) {
		w.pads_before[0] = t->before;
		w.pads_after[0] = t->after;
	}
	n = sl__window_output_size(&call, &w, 0, t->in);
	*rc = call.failure;
	return n;
}

static void
check_trial(const struct trial *t)
{
	int extent = (t->kernel - 1) * t->dilation + 1;
	struct trial bare = *t;
	enum sl_status rc;

	for (int is_ceil = 0; is_ceil < 2; is_ceil++) {
		int64_t n = positions(t, SL__PADDING_GIVEN, is_ceil, &rc);

		if (count_positions(t, is_ceil) == 0) {
			assert_int_equal(rc, SL_E_DATA);
			continue;
		}
		assert_int_equal(rc, SL_OK);
		if (n != count_positions(t, is_ceil))
			fail_msg("in %d kernel %d stride %d dilation %d pads "
				 "%d %d ceil %d: %d, expected %d",
				 t->in, t->kernel, t->stride, t->dilation,
				 t->before, t->after, is_ceil, (int)n,
				 count_positions(t, is_ceil));
	}
	/* One window per stride, whatever the kernel. */
	assert_int_equal(positions(t, SL__PADDING_SAME, 0, &rc),
			 (t->in + t->stride - 1) / t->stride);
	bare.before = bare.after = 0;
	if (t->in >= extent)
		assert_int_equal(positions(t, SL__PADDING_VALID, 0, &rc),
				 count_positions(&bare, 0));
}

static void
test_all_small_windows(void **state)
{
	struct trial t;

	(void)state;
	for (t.in = 1; t.in <= 9; t.in++)
		for (t.kernel = 1; t.kernel <= 4; t.kernel++)
			for (t.stride = 1; t.stride <= 4; t.stride++)
				for (t.dilation = 1; t.dilation <= 3;
				     t.dilation++)
					/* as frameworks have it, less than
					 * the kernel */
					for (int p = 0; p < t.kernel * t.kernel;
					     p++) {
						t.before = p / t.kernel;
						t.after = p % t.kernel;
						check_trial(&t);
					}
}

/* As ONNX Runtime pools: one window, while it lacks less than a stride, none
 * up to two of them. */
static void
test_a_window_that_sticks_out(void **state)
{
	(void)state;
	check_out("MaxPool 22 (f32[2,4,11,2]) kernel_shape=[1,3] "
		  "strides=[1,2] auto_pad=VALID",
		  "f32[2,4,11,1]");
	check_out("MaxPool 22 (f32[2,4,4]) kernel_shape=[3] strides=[3] "
		  "dilations=[2] ceil_mode=1",
		  "f32[2,4,1]");
	check_out("MaxPool 22 (f32[2,4,4]) kernel_shape=[6] strides=[2]",
		  "f32[2,4,0]");
	check_out("AveragePool 17 (f32[1,2,3]) kernel_shape=[4]", "f32[1,2,0]");
	check_refused("MaxPool 22 (f32[2,4,4]) kernel_shape=[8] strides=[2]",
		      "a window of 8 does not fit into 4");
	check_refused("Conv 17 (f32[1,1,2], f32[1,1,3])",
		      "a window of 3 does not fit into 2");
}

/* A kernel that comes from data leaves its own dimensions open. */
static void
test_a_kernel_of_unknown_size(void **state)
{
	(void)state;
	check_out("Conv 17 (f32[1,1,8,8], f32[3,1,2,k])", "f32[1,3,7,?]");
	check_out("ConvTranspose 17 (f32[1,1,8,8], f32[1,3,2,k])",
		  "f32[1,3,9,?]");
}

static void
test_an_empty_image_has_no_positions(void **state)
{
	struct trial t = {0, 3, 1, 1, 0, 0};
	enum sl_status rc;

	(void)state;
	assert_int_equal(positions(&t, SL__PADDING_GIVEN, 0, &rc), 0);
	assert_int_equal(rc, SL_OK);
	assert_int_equal(positions(&t, SL__PADDING_SAME, 0, &rc), 0);
}

/* Sizes at the edge of 64 bits end in a refusal, not in a wrapped number. */
static void
test_absurd_sizes_are_refused(void **state)
{
	(void)state;
	check_refused("MaxPool 12 (int8[1,1,9223372036854775807]) "
		      "kernel_shape=[2]",
		      "elements a side");
	check_refused("MaxPool 12 (f32[1,1,9]) kernel_shape=[2] "
		      "pads=[9223372036854775807,9223372036854775807]",
		      "pads holds 9223372036854775807");
	check_refused("MaxPool 12 (f32[1,1,9]) kernel_shape=[2] "
		      "dilations=[9223372036854775807]",
		      "dilations holds");
	check_refused("MaxPool 12 (f32[1,1,9])", "the kernel's size is not");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_small_windows),
		cmocka_unit_test(test_a_window_that_sticks_out),
		cmocka_unit_test(test_a_kernel_of_unknown_size),
		cmocka_unit_test(test_an_empty_image_has_no_positions),
		cmocka_unit_test(test_absurd_sizes_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
