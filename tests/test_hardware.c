/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Descriptions of machines: every one in the tree reads, says where each
 * figure is from, and obeys arithmetic that follows from its source; broken
 * ones are refused by line.
 */
#include "harness.h"
#include "machine/hardware.h"

static struct sl_hardware *
read_text(const char *text)
{
	struct sl_hardware *h;
	struct sl_error err;

	if (sl__hardware_parse(&h, "box", text, &err))
		fail_msg("%s", err.text);
	return h;
}

static void
test_every_description_in_the_tree(void **state)
{
	struct sl_hardware_list *list;
	struct sl_error err;

	(void)state;
	assert_int_equal(sl_hardware_list(&list, SL_HARDWARE_DATA, &err), 0);
	assert_true(list->n >= 10);
	for (size_t i = 0; i < list->n; i++) {
		struct sl_hardware *h;

		if (sl_hardware_open(&h, SL_HARDWARE_DATA, list->ids[i], &err))
			fail_msg("%s", err.text);
		assert_string_equal(h->id, list->ids[i]);
		assert_true(h->memory_bytes > 1e9);
		assert_non_null(strstr(h->source, "bandwidth: "));
		assert_non_null(strstr(h->source, "memory: "));
		assert_true(isnan(h->price_per_hour) ==
			    (strstr(h->source, "price: ") == NULL));
		if (i)
			assert_true(strcmp(list->ids[i - 1], list->ids[i]) < 0);
		sl_hardware_free(h);
	}
	sl_hardware_list_free(list);
}

/* 96 cores at 3.55 GHz with two 8-wide multiply-adds a cycle; 12 channels of
 * 8 bytes at 4.8 GHz. */
static void
test_figures_follow_from_their_source(void **state)
{
	struct sl_hardware *h;

	(void)state;
	assert_int_equal(
		sl_hardware_open(&h, SL_HARDWARE_DATA, "epyc-9654", NULL), 0);
	assert_close(h->peak_ops_per_s[SL_DTYPE_F32], 96 * 3.55e9 * 2 * 8 * 2,
		     1e-3);
	assert_close(h->bandwidth_bytes_per_s, 12 * 8 * 4.8e9, 1e-9);
	sl_hardware_free(h);
}

static void
test_reads_text_and_falls_back_on_types(void **state)
{
	struct sl_hardware *h = read_text("# remark\n"
					  "name  A Box  with blanks\n"
					  "kind cpu\n"
					  "peak f32 2T  the label\n"
					  "peak bf16 4T\n"
					  "bandwidth 100G measured\n"
					  "memory 16Gi\n");

	(void)state;
	assert_string_equal(h->name, "A Box  with blanks");
	assert_near(h->memory_bytes, 16.0 * 1024 * 1024 * 1024, 0);
	assert_true(isnan(h->price_per_hour));
	assert_string_equal(h->source,
			    "peak f32: the label; bandwidth: measured");
	assert_int_equal(sl__hardware_compute_dtype(h, SL_DTYPE_F16),
			 SL_DTYPE_BF16);
	assert_int_equal(sl__hardware_compute_dtype(h, SL_DTYPE_I8),
			 SL_DTYPE_F32);
	assert_int_equal(sl__hardware_compute_dtype(h, SL_DTYPE_F64),
			 SL_DTYPE_NONE);
	sl_hardware_free(h);
}

/* Real numbers are not computed as integers, and f32 as narrower ones only
 * where there is nothing else. */
static void
test_types_that_a_machine_lacks(void **state)
{
	static const struct {
		const char *peaks;
		enum sl_dtype model, machine;
	} rows[] = {
		{"peak bf16 1T\npeak int8 2T\n", SL_DTYPE_F32, SL_DTYPE_BF16},
		{"peak f16 1T\n", SL_DTYPE_F32, SL_DTYPE_F16},
		{"peak f16 1T\npeak f64 1G\n", SL_DTYPE_F32, SL_DTYPE_F64},
		{"peak int8 1T\n", SL_DTYPE_F32, SL_DTYPE_NONE},
		{"peak int8 1T\n", SL_DTYPE_F16, SL_DTYPE_NONE},
		{"peak f32 1T\npeak int8 1T\n", SL_DTYPE_F64, SL_DTYPE_NONE},
		{"peak f64 1T\n", SL_DTYPE_F64, SL_DTYPE_F64},
		{"peak f32 1T\n", SL_DTYPE_BF16, SL_DTYPE_F32},
		{"peak f32 1T\npeak f16 1T\n", SL_DTYPE_F8E4M3FN, SL_DTYPE_F16},
		{"peak f32 1T\npeak int8 1T\n", SL_DTYPE_U8, SL_DTYPE_I8},
		{"peak f32 1T\npeak int8 1T\n", SL_DTYPE_I64, SL_DTYPE_F32},
		{"peak bf16 1T\n", SL_DTYPE_I64, SL_DTYPE_BF16},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char text[128];
		struct sl_hardware *h;

		snprintf(text, sizeof(text), "%sbandwidth 1G\n", rows[i].peaks);
		h = read_text(text);
		assert_int_equal(sl__hardware_compute_dtype(h, rows[i].model),
				 rows[i].machine);
		sl_hardware_free(h);
	}
}

static void
test_reads_words(void **state)
{
	struct sl_hardware *h;
	struct sl_error err;

	(void)state;
	assert_int_equal(
		sl_hardware_open(&h, NULL,
				 "peak=100G,peak.int8=400G,bandwidth=50G,"
				 "price=1.5",
				 &err),
		0);
	assert_near(h->peak_ops_per_s[SL_DTYPE_F32], 100e9, 0);
	assert_near(h->peak_ops_per_s[SL_DTYPE_I8], 400e9, 0);
	assert_near(h->price_per_hour, 1.5, 0);
	assert_near(h->memory_bytes, 0, 0);
	sl_hardware_free(h);
}

static void
check_refused(const char *text, const char *words)
{
	struct sl_hardware *h;
	struct sl_error err;

	assert_int_equal(sl__hardware_parse(&h, "box", text, &err), SL_E_DATA);
	assert_null(h);
	if (!strstr(err.text, words))
		fail_msg("'%s' does not say '%s'", err.text, words);
}

static void
test_refuses_by_line(void **state)
{
	struct sl_hardware *h;
	struct sl_error err;

	(void)state;
	check_refused("name x\npeak f33 2T\n", "box: line 2");
	check_refused("peak f32 2X\n", "line 1: not a figure");
	check_refused("speed 3\n", "line 1: must be");
	check_refused("peak f32 2T\n", "no bandwidth");
	check_refused("bandwidth 2G\n", "no peak");
	assert_int_equal(sl_hardware_open(&h, NULL, "peak=", &err), SL_E_USAGE);
	assert_int_equal(sl_hardware_open(&h, NULL, "speed=3", &err),
			 SL_E_USAGE);
	assert_int_equal(sl_hardware_open(&h, SL_HARDWARE_DATA, "h99", &err),
			 SL_E_USAGE);
	assert_int_equal(sl_hardware_open(&h, NULL, "no/such.hw", &err),
			 SL_E_IO);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_description_in_the_tree),
		cmocka_unit_test(test_figures_follow_from_their_source),
		cmocka_unit_test(test_reads_text_and_falls_back_on_types),
		cmocka_unit_test(test_types_that_a_machine_lacks),
		cmocka_unit_test(test_reads_words),
		cmocka_unit_test(test_refuses_by_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
