/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_loader.c - every epoch has each sample once, in an order of its own;
 * batches are the same bits whatever the number of threads and wherever the
 * loader began; a sample that cannot be had ends it at its batch.
 */
#include "harness.h"
#include "counting.h"
#include "numbered_samples.h"
#include "data/loader.h"
#include "sleuth.h"

enum { BATCH = 8, N_SAMPLES = 83, N_BATCHES = N_SAMPLES / BATCH };

static struct sl_loader *
open_loader(const struct sl_dataset *data, struct sl_loader_options *how)
{
	struct sl_loader *loader;
	struct sl_error err;

	how->batch = BATCH;
	if (sl_loader_open(&loader, data, how, &err))
		fail_msg("%s", err.text);
	assert_int_equal(sl_loader_n_batches(loader), N_BATCHES);
	return loader;
}

static struct sl_dataset *
open_numbered(struct numbered_samples *mine)
{
	struct sl_dataset *data;

	numbered_init(mine, N_SAMPLES, 0);
	assert_false(sl_dataset_new(&data, &mine->source, NULL, NULL));
	return data;
}

static void
an_epoch_has_each_sample_once(void **state)
{
	struct sl_loader_options how = SL_LOADER_OPTIONS_INIT;
	struct numbered_samples mine;
	struct sl_dataset *data = open_numbered(&mine);
	struct sl_loader *loader = open_loader(data, &how);
	size_t order[3][N_SAMPLES] = {{0}}, n_same = 0;
	struct sl_batch b;

	(void)state;
	for (uint64_t i = 0; i < 3 * N_BATCHES; i++) {
		assert_false(sl_loader_next(loader, &b, NULL));
		assert_int_equal(b.epoch, i / N_BATCHES);
		assert_int_equal(b.position, i % N_BATCHES);
		assert_int_equal(b.n_inputs, 2);
		assert_int_equal(b.inputs[0].rank, 3);
		assert_int_equal(b.inputs[0].dims[0], BATCH);
		assert_int_equal(b.inputs[0].dims[2], 3);
		assert_int_equal(b.inputs[0].n_bytes, BATCH * 6 * 4);
		assert_int_equal(b.inputs[1].rank, 1);
		assert_int_equal(b.labels.rank, 1);
		assert_int_equal(b.labels.n_elements, BATCH);
		for (size_t k = 0; k < BATCH; k++) {
			float number = ((const float *)b.inputs[0].data)[6 * k];
			size_t nth = (size_t)number;

			assert_int_equal(((const int64_t *)b.inputs[1].data)[k],
					 -(int64_t)nth);
			assert_int_equal(((const int64_t *)b.labels.data)[k],
					 nth % 7);
			order[b.epoch][b.position * BATCH + k] = nth;
		}
	}
	for (size_t e = 0; e < 3; e++) {
		unsigned char seen[N_SAMPLES] = {0};

		for (size_t i = 0; i < N_BATCHES * BATCH; i++) {
			assert_int_equal(seen[order[e][i]]++, 0);
			n_same += order[e][i] == order[(e + 1) % 3][i];
		}
	}
	/* Of 240 places one in 83 agrees by chance: 3. */
	assert_true(n_same < 15);
	sl_loader_close(loader);
	sl_dataset_close(data);
}

static void
in_order_means_in_order(void **state)
{
	struct sl_loader_options how = SL_LOADER_OPTIONS_INIT;
	struct numbered_samples mine;
	struct sl_dataset *data = open_numbered(&mine);
	struct sl_loader *loader;
	struct sl_batch b;

	(void)state;
	how.is_in_order = 1;
	loader = open_loader(data, &how);
	for (int64_t i = 0; i < 2 * N_BATCHES; i++) {
		assert_false(sl_loader_next(loader, &b, NULL));
		for (int64_t k = 0; k < BATCH; k++)
			assert_int_equal(((const int64_t *)b.inputs[1].data)[k],
					 -(i % N_BATCHES * BATCH + k));
	}
	sl_loader_close(loader);
	sl_dataset_close(data);
}

/* With every change to samples that there is. */
static void
threads_and_resuming_change_no_bit(void **state)
{
	static const struct {
		size_t n_threads, n_ahead;
		uint64_t skip; /* batches, by beginning after them */
	} cases[] = {{0, 0, 0}, {1, 1, 0},  {1, 0, 0},  {3, 0, 0},
		     {3, 7, 0}, {0, 0, 13}, {2, 40, 25}};
	static float expected[40][BATCH * 6];
	struct numbered_samples mine;
	struct sl_dataset *data = open_numbered(&mine);

	(void)state;
	for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
		struct sl_loader_options how = SL_LOADER_OPTIONS_INIT;
		struct sl_loader *loader;
		struct sl_batch b;

		how.seed = 4;
		how.n_threads = cases[c].n_threads;
		how.n_ahead = cases[c].n_ahead;
		how.epoch = cases[c].skip / N_BATCHES;
		how.position = cases[c].skip % N_BATCHES;
		how.augmentation = (struct sl_augmentation){.shift = 1, 1, 0.5};
		loader = open_loader(data, &how);
		for (uint64_t i = cases[c].skip; i < 40; i++) {
			assert_false(sl_loader_next(loader, &b, NULL));
			assert_int_equal(b.epoch, i / N_BATCHES);
			assert_int_equal(b.position, i % N_BATCHES);
			if (!c)
				memcpy(expected[i], b.inputs[0].data,
				       b.inputs[0].n_bytes);
			assert_memory_equal(expected[i], b.inputs[0].data,
					    b.inputs[0].n_bytes);
		}
		sl_loader_close(loader);
	}
	sl_dataset_close(data);
}

/* Sample 41 of an order without shuffling is in batch 5. */
static void
a_failing_sample_ends_it_at_its_batch(void **state)
{
	struct numbered_samples mine;
	struct sl_dataset *data = open_numbered(&mine);

	(void)state;
	mine.fail_at = 41;
	for (size_t n_threads = 0; n_threads < 4; n_threads++) {
		struct sl_loader_options how = SL_LOADER_OPTIONS_INIT;
		struct sl_error err = {.status = SL_OK};
		struct sl_loader *loader;
		struct sl_batch b;

		how.is_in_order = 1;
		how.n_threads = n_threads;
		loader = open_loader(data, &how);
		for (size_t i = 0; i < 5; i++)
			assert_false(sl_loader_next(loader, &b, &err));
		for (size_t i = 0; i < 2; i++) {
			assert_int_equal(sl_loader_next(loader, &b, &err),
					 SL_E_IO);
			assert_string_equal(err.text, "sample 41 is gone");
			assert_null(b.inputs);
		}
		sl_loader_close(loader);
	}
	sl_dataset_close(data);
}

/* Threads that are at work, and such as wait for room, end. */
static void
it_can_be_closed_at_any_time(void **state)
{
	struct numbered_samples mine;
	struct sl_dataset *data = open_numbered(&mine);

	(void)state;
	for (size_t n_taken = 0; n_taken < 20; n_taken++) {
		struct sl_loader_options how = SL_LOADER_OPTIONS_INIT;
		struct sl_loader *loader;
		struct sl_batch b;

		how.n_threads = 1 + n_taken % 4;
		loader = open_loader(data, &how);
		for (size_t i = 0; i < n_taken; i++)
			assert_false(sl_loader_next(loader, &b, NULL));
		sl_loader_close(loader);
	}
	sl_dataset_close(data);
}

static uint64_t
scripted_reading(void *ctx)
{
	return *(uint64_t *)ctx += 250;
}

static void
the_wait_is_that_of_the_clock(void **state)
{
	struct sl_loader_options how = SL_LOADER_OPTIONS_INIT;
	uint64_t now = 0;
	const struct sl_clock clock = {scripted_reading, &now};
	struct numbered_samples mine;
	struct sl_dataset *data = open_numbered(&mine);
	struct sl_loader *loader;
	struct sl_batch b;

	(void)state;
	how.clock = &clock;
	loader = open_loader(data, &how);
	assert_false(sl_loader_next(loader, &b, NULL));
	assert_near(b.wait_ns, 250, 0);
	sl_loader_close(loader);
	sl_dataset_close(data);
}

static void
check_refused(const struct sl_dataset *data, struct sl_loader_options *how,
	      enum sl_status expected, const char *text)
{
	struct sl_error err = {.status = SL_OK};
	struct sl_loader *loader;

	assert_int_equal(sl_loader_open(&loader, data, how, &err), expected);
	assert_null(loader);
	assert_string_equal(err.text, text);
}

static void
what_makes_no_sense_is_refused(void **state)
{
	struct sl_loader_options how = SL_LOADER_OPTIONS_INIT;
	struct numbered_samples mine;
	struct sl_dataset *data = open_numbered(&mine);

	(void)state;
	how.batch = 84;
	check_refused(data, &how, SL_E_DATA,
		      "a batch of 84 samples: the train split of numbered has "
		      "83");
	how.split = SL_SPLIT_TEST;
	check_refused(data, &how, SL_E_DATA, "numbered has no test split");
	how.split = SL_SPLIT_TRAIN;
	how.batch = 8;
	how.augmentation.shift = -1;
	check_refused(data, &how, SL_E_USAGE, "shifts and noise are 0 or more");
	sl_dataset_close(data);
}

/* The second input alone: a whole number. */
static void
augmentation_that_changes_nothing_is_refused(void **state)
{
	struct sl_loader_options how = SL_LOADER_OPTIONS_INIT;
	struct numbered_samples mine;
	struct sl_data_source source;
	struct sl_dataset *data;

	(void)state;
	numbered_init(&mine, N_SAMPLES, 0);
	source = mine.source;
	source.inputs = &mine.source.inputs[1];
	source.n_inputs = 1;
	assert_false(sl_dataset_new(&data, &source, NULL, NULL));
	how.augmentation.noise = 0.5;
	check_refused(data, &how, SL_E_USAGE,
		      "samples of numbered are whole numbers, to which no "
		      "noise can be added");
	how.augmentation = (struct sl_augmentation){.flip = 1};
	check_refused(data, &how, SL_E_USAGE,
		      "samples of numbered have no rows and columns to shift "
		      "or flip");
	sl_dataset_close(data);
}

static void
each_failing_allocation_is_told(void **state)
{
	struct sl_loader_options how = SL_LOADER_OPTIONS_INIT;
	struct counting counting = {0};
	const struct sl_allocator allocator = counting_allocator(&counting);
	struct numbered_samples mine;
	struct sl_dataset *data = open_numbered(&mine);
	struct sl_loader *loader;
	enum sl_status rc;

	(void)state;
	how.allocator = &allocator;
	how.batch = BATCH;
	how.n_threads = 2;
	do {
		counting.n_requests = 0;
		counting.fail_at++;
		rc = sl_loader_open(&loader, data, &how, NULL);
		assert_true(rc == SL_OK || rc == SL_E_NOMEM);
		sl_loader_close(loader);
		assert_int_equal(counting.n_out, 0);
	} while (rc);
	assert_true(counting.fail_at > 1);
	sl_dataset_close(data);
}

/* Once it has settled, as many batches as it holds are there: none is made
 * while they are taken. */
static void
a_settled_loader_is_full(void **state)
{
	struct sl_loader_options how = {.struct_size = sizeof(how),
					.n_threads = 2};
	struct numbered_samples mine;
	struct sl_dataset *data = open_numbered(&mine);
	struct sl_loader *loader = open_loader(data, &how);
	struct sl_batch b;
	size_t n = sl__loader_n_slots(loader);

	(void)state;
	assert_int_equal(n, 4); /* one in use, one more than threads ahead */
	sl__loader_settle(loader);
	/* What cannot be had any more was had before. */
	mine.fail_at = 1;
	for (size_t i = 0; i < n; i++)
		assert_false(sl_loader_next(loader, &b, NULL));
	sl_loader_close(loader);
	/* Without threads there is nothing to wait for. */
	how.n_threads = 0;
	loader = open_loader(data, &how);
	assert_int_equal(sl__loader_n_slots(loader), 1);
	sl__loader_settle(loader);
	sl_loader_close(loader);
	sl_dataset_close(data);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_epoch_has_each_sample_once),
		cmocka_unit_test(in_order_means_in_order),
		cmocka_unit_test(threads_and_resuming_change_no_bit),
		cmocka_unit_test(a_failing_sample_ends_it_at_its_batch),
		cmocka_unit_test(it_can_be_closed_at_any_time),
		cmocka_unit_test(a_settled_loader_is_full),
		cmocka_unit_test(the_wait_is_that_of_the_clock),
		cmocka_unit_test(what_makes_no_sense_is_refused),
		cmocka_unit_test(augmentation_that_changes_nothing_is_refused),
		cmocka_unit_test(each_failing_allocation_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
