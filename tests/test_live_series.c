/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_live_series.c - each planted course of live memory gets its name, at
 * every length, and joining points loses neither an extreme nor an event.
 */
#include "harness.h"
#include "memory/live_series.h"

enum { CAP = 64, KB = 1000 };

/* A course under construction: live memory starts at 1 MB. */
struct course {
	struct sl_live_point points[CAP];
	struct sl__live_series series;
	double baseline, live;
};

static void
begin(struct course *c)
{
	sl__live_series_init(&c->series, c->points, CAP);
	c->baseline = 1000 * KB;
	c->live = c->baseline;
}

static void
change(struct course *c, double bytes)
{
	struct sl_live_point point;

	c->live += bytes;
	point = (struct sl_live_point){1, c->live, c->live, c->live,
				       bytes > 0 ? bytes : 0};
	sl__live_series_add(&c->series, &point);
}

static enum sl_memory_pattern
pattern_of(const struct course *c, struct sl__live_pattern *shape)
{
	sl__live_pattern_classify(shape, &c->series, c->baseline, c->live,
				  4096);
	return shape->pattern;
}

/* Ramps of n small blocks, freed together at the end of each. */
static void
plant_sawtooth(struct course *c, int n_teeth, int n_blocks)
{
	begin(c);
	for (int tooth = 0; tooth < n_teeth; tooth++) {
		for (int i = 0; i < n_blocks; i++)
			change(c, KB);
		for (int i = 0; i < n_blocks; i++)
			change(c, -KB);
	}
}

/* A block of 500 kB that comes and goes. */
static void
plant_copies(struct course *c, int n)
{
	begin(c);
	for (int i = 0; i < n; i++) {
		change(c, 500 * KB);
		change(c, -500 * KB);
	}
}

static void
flat_is_less_than_a_page(void **state)
{
	struct sl__live_pattern shape;
	struct course c;

	(void)state;
	begin(&c);
	assert_int_equal(pattern_of(&c, &shape), SL_MEMORY_FLAT);
	for (int i = 0; i < 1000; i++) {
		change(&c, 64);
		change(&c, -64);
	}
	assert_int_equal(pattern_of(&c, &shape), SL_MEMORY_FLAT);
	assert_near(shape.range_bytes, 64, 0);
}

static void
growing_keeps_what_it_takes(void **state)
{
	struct sl__live_pattern shape;
	struct course c;

	(void)state;
	for (int n = 10; n <= 10000; n *= 10) {
		begin(&c);
		for (int i = 0; i < n; i++) {
			change(&c, 3 * KB);
			change(&c, -2 * KB);
		}
		assert_int_equal(pattern_of(&c, &shape), SL_MEMORY_GROWING);
		assert_near(shape.retained_bytes, n * (double)KB, 0);
	}
}

static void
a_single_block_kept_is_growing(void **state)
{
	struct sl__live_pattern shape;
	struct course c;

	(void)state;
	begin(&c);
	change(&c, 500 * KB);
	assert_int_equal(pattern_of(&c, &shape), SL_MEMORY_GROWING);
	begin(&c);
	change(&c, -500 * KB);
	assert_int_equal(pattern_of(&c, &shape), SL_MEMORY_SHRINKING);
}

static void
a_spike_comes_back(void **state)
{
	struct sl__live_pattern shape;
	struct course c;

	(void)state;
	for (int n = 1; n <= 100000; n *= 10) {
		plant_sawtooth(&c, 1, n > 5 ? n : 5);
		assert_int_equal(pattern_of(&c, &shape), SL_MEMORY_SPIKE);
		assert_int_equal(shape.n_teeth, 1);
	}
}

/* A buffer is freed and made again: an excursion downwards. */
static void
a_dip_is_a_spike_too(void **state)
{
	struct sl__live_pattern shape;
	struct course c;
	char text[256];

	(void)state;
	begin(&c);
	change(&c, -500 * KB);
	change(&c, 500 * KB);
	assert_int_equal(pattern_of(&c, &shape), SL_MEMORY_SPIKE);
	sl__live_pattern_evidence(text, sizeof(text), &shape);
	assert_string_equal(text, "falls by 500000 bytes and back (1 time), 0 "
				  "bytes stay");
}

static void
sawtooth_is_made_of_small_blocks(void **state)
{
	struct sl__live_pattern shape;
	struct course c;

	(void)state;
	for (int n = 3; n <= 3000; n *= 10) {
		plant_sawtooth(&c, n, 20);
		assert_int_equal(pattern_of(&c, &shape), SL_MEMORY_SAWTOOTH);
		assert_true(shape.n_teeth >= 3);
		assert_true(shape.n_teeth <= (size_t)n);
	}
}

static void
copies_are_single_large_blocks(void **state)
{
	struct sl__live_pattern shape;
	struct course c;

	(void)state;
	for (int n = 3; n <= 30000; n *= 10) {
		plant_copies(&c, n);
		assert_int_equal(pattern_of(&c, &shape), SL_MEMORY_COPIES);
		assert_near(shape.block_bytes, 500 * KB, 0);
	}
}

/* A copy handed from step to step: two live at once, one stays. */
static void
copies_that_replace_each_other(void **state)
{
	struct sl__live_pattern shape;
	struct course c;

	(void)state;
	begin(&c);
	change(&c, 500 * KB);
	for (int i = 0; i < 10; i++) {
		change(&c, 500 * KB);
		change(&c, -500 * KB);
	}
	assert_int_equal(pattern_of(&c, &shape), SL_MEMORY_COPIES);
}

/* Samples of resident memory know no blocks: never "copies". */
static void
samples_without_blocks_are_sawtooth(void **state)
{
	struct sl__live_pattern shape;
	struct course c;

	(void)state;
	plant_copies(&c, 10);
	for (size_t i = 0; i < c.series.n; i++)
		c.points[i].step_bytes = 0;
	assert_int_equal(pattern_of(&c, &shape), SL_MEMORY_SAWTOOTH);
}

static void
joining_keeps_extremes_and_events(void **state)
{
	uint64_t n_events = 0;
	double low = 1e18, high = 0;
	struct course c;

	(void)state;
	begin(&c);
	for (int i = 0; i < 12345; i++)
		change(&c, i == 777 ? 9e6 : i == 778 ? -9e6 - 5000 : 0);
	assert_true(c.series.n <= CAP && c.series.n > CAP / 4);
	for (size_t i = 0; i < c.series.n; i++) {
		n_events += c.points[i].n_events;
		low = fmin(low, c.points[i].low_bytes);
		high = fmax(high, c.points[i].high_bytes);
	}
	assert_int_equal(n_events, 12345);
	assert_near(high, 10e6, 0);
	assert_near(low, 1e6 - 5000, 0);
	assert_near(c.points[c.series.n - 1].last_bytes, c.live, 0);
}

static void
evidence_quotes_the_figures(void **state)
{
	struct sl__live_pattern shape;
	struct course c;
	char text[256];

	(void)state;
	plant_copies(&c, 5);
	sl__live_pattern_classify(&shape, &c.series, c.baseline, c.live, 4096);
	sl__live_pattern_evidence(text, sizeof(text), &shape);
	assert_string_equal(text, "at least 5 times a single block of up to "
				  "500000 bytes comes and goes, 100 % of the "
				  "range");
	assert_string_equal(sl_memory_pattern_text(shape.pattern),
			    "temporary copies");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(flat_is_less_than_a_page),
		cmocka_unit_test(growing_keeps_what_it_takes),
		cmocka_unit_test(a_single_block_kept_is_growing),
		cmocka_unit_test(a_spike_comes_back),
		cmocka_unit_test(a_dip_is_a_spike_too),
		cmocka_unit_test(sawtooth_is_made_of_small_blocks),
		cmocka_unit_test(copies_are_single_large_blocks),
		cmocka_unit_test(copies_that_replace_each_other),
		cmocka_unit_test(samples_without_blocks_are_sawtooth),
		cmocka_unit_test(joining_keeps_extremes_and_events),
		cmocka_unit_test(evidence_quotes_the_figures),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
