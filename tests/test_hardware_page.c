/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The page and the JSON of machines say the same, and say what is missing: a
 * type that a machine lacks, memory that is not given, nodes of unknown cost.
 */
#include "json_check.h"
#include "square_layer.h"

#include "report/fact_text.h"
#include "report/hardware_page.h"
#include "result/inspect_tables.h"
#include "result/record.h"

static struct sl_hardware *
machine(const char *words)
{
	struct sl_hardware *h;
	struct sl_error err;

	if (sl_hardware_open(&h, NULL, words, &err))
		fail_msg("%s", err.text);
	return h;
}

static void
write_report(struct sl_buf *out, const struct sl_hardware_report *r)
{
	struct sl__json writer;

	sl__json_init(&writer, out);
	writer.say = sl__fact_append_sentence;
	sl__record_write_object(&writer, NULL, &sl__table_hardware, r, NULL);
}

/* What is read is written again the same. */
static void
check_comes_back(const struct sl_buf *json)
{
	const struct sl__json_value *root;
	struct sl_hardware_report report = {0};
	struct sl_buf again = {0};
	struct sl__arena arena;

	sl__arena_init(&arena, NULL);
	assert_int_equal(
		sl__json_read(&root, json->data, json->n_bytes, &arena, NULL),
		SL_OK);
	assert_int_equal(sl__record_read(&report, &sl__table_hardware, root,
					 &arena, NULL),
			 SL_OK);
	write_report(&again, &report);
	assert_string_equal(again.data, json->data);
	sl_buf_release(&again);
	sl__arena_release(&arena);
}

/* Both formats of a report; the caller releases them. */
static void
render(const struct sl_hardware_report *r, struct sl_buf *page,
       struct sl_buf *json)
{
	struct sl_render_options how = {.struct_size = sizeof(how),
					.n_columns = 200};
	struct sl__doc doc;

	sl__doc_init(&doc, NULL);
	sl__hardware_page(&doc, "square", r, 0);
	assert_int_equal(sl__doc_render(&doc, &how, page, NULL), 0);
	sl__doc_release(&doc);
	write_report(json, r);
	assert_true(json_valid(json->data));
	check_comes_back(json);
}

static void
test_one_machine(void **state)
{
	struct sl_graph *graph = square_layer(0);
	struct sl_hardware *h =
		machine("peak=1G,bandwidth=1P,memory=1G,price=3.6");
	const struct sl_hardware *const machines[] = {h};
	struct sl_hardware_options how = {.struct_size = sizeof(how),
					  .rate_per_s = 700,
					  .n_samples = 1000};
	struct sl_hardware_report *r;
	struct sl_buf page = {0}, json = {0};
	double bound_ms = 2.0 * SQUARE_MACS / 1e6;

	(void)state;
	assert_int_equal(sl_hardware_report(&r, graph, machines, 1, &how, NULL),
			 0);
	render(r, &page, &json);
	assert_close(json_number_at(json.data, "hardware[0].bound_ms"),
		     bound_ms, 1e-9);
	assert_close(
		json_number_at(json.data, "hardware[0].operations[0].bound_ms"),
		bound_ms, 1e-9);
	assert_true(json_is(json.data, "hardware[0].operations[0].bound",
			    "\"compute\""));
	assert_true(json_is(json.data, "hardware[0].fits", "true"));
	assert_near(json_number_at(json.data, "hardware[0].serving.machines"),
		    2, 0);
	assert_close(json_number_at(json.data, "hardware[0].training.hours"),
		     1000 * 4.0 * SQUARE_MACS / 1e9 / 3600, 1e-9);
	assert_non_null(strstr(page.data, "2.097 ms"));
	assert_non_null(strstr(page.data, "Slowest layers on peak=1G"));
	assert_non_null(strstr(page.data, "in the type shown"));
	sl_buf_release(&page);
	sl_buf_release(&json);
	sl_hardware_report_free(r);
	sl_hardware_free(h);
	sl_graph_free(graph);
}

static void
test_what_is_missing(void **state)
{
	struct sl_graph *graph = square_layer(0);
	struct sl_hardware *bf16 = machine("peak.bf16=1G,bandwidth=1G");
	struct sl_hardware *int8 = machine("peak.int8=1G,bandwidth=1G");
	const struct sl_hardware *const machines[] = {bf16, int8};
	struct sl_hardware_report *r, unknown;
	struct sl_buf page = {0}, json = {0};

	(void)state;
	assert_int_equal(sl_hardware_report(&r, graph, machines, 2, NULL, NULL),
			 0);
	unknown = *r;
	unknown.n_unknown_nodes = 3;
	render(&unknown, &page, &json);
	assert_non_null(strstr(page.data, "bf16, not f32"));
	assert_non_null(strstr(page.data, "no f32"));
	assert_non_null(strstr(page.data, "not given"));
	assert_non_null(
		strstr(page.data, "The arithmetic of 3 nodes is not known"));
	assert_true(json_is(json.data, "hardware[0].dtype", "\"bf16\""));
	assert_true(json_is(json.data, "hardware[0].dtype_model", "\"f32\""));
	assert_true(json_is(json.data, "hardware[0].fits", "null"));
	assert_true(json_is(json.data, "hardware[0].cost_per_million", "null"));
	assert_true(json_is(json.data, "hardware[1].dtype", "null"));
	assert_true(json_is(json.data, "hardware[1].bound_ms", "null"));
	assert_true(json_is(json.data, "hardware[1].bound_ms_absent",
			    "\"it does not compute in f32\""));
	assert_true(json_is(json.data, "hardware_unknown_nodes", "3"));
	sl_buf_release(&page);
	sl_buf_release(&json);
	sl_hardware_report_free(r);
	sl_hardware_free(bf16);
	sl_hardware_free(int8);
	sl_graph_free(graph);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_machine),
		cmocka_unit_test(test_what_is_missing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
