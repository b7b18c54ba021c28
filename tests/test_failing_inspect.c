/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Proves that what is known of a model without running it, and the pages that
 * show it, survive the want of memory at every request: it is told as what it
 * is, and nothing is left behind.
 */
#include "built.h"
#include "fail_each.h"

struct inspected {
	struct sl_graph *graph;
	const char *name;
	int is_brief;
	struct sl_buf expected; /* JSON of the first time */
};

/* What succeeds although a request failed is what it is without. */
static void
check_whole(struct inspected *i, const struct sl_inspection *seen)
{
	const struct sl_render_options how = {.struct_size = sizeof(how),
					      .format = SL_FORMAT_JSON};
	struct sl_buf text = {0};

	failing_stop();
	assert_int_equal(
		sl_inspection_render(&seen, 1, NULL, &how, &text, NULL), SL_OK);
	if (!i->expected.data) {
		i->expected = text;
		return;
	}
	assert_string_equal(text.data, i->expected.data);
	sl_buf_release(&text);
}

static enum sl_status
inspect_graph(void *ctx, const struct sl_allocator *allocator,
	      struct sl_error *err)
{
	static const enum sl_convention pair[] = {SL_CONVENTION_FVCORE,
						  SL_CONVENTION_ALL};
	struct inspected *i = ctx;
	struct sl_inspect_options how = {.struct_size = sizeof(how),
					 .explain = pair,
					 .n_explain = 2,
					 .weights = !i->is_brief,
					 .brief = i->is_brief,
					 .allocator = allocator};
	struct sl_inspection *seen;
	enum sl_status rc = sl_inspect(&seen, i->graph, &how, err);

	if (!rc)
		check_whole(i, seen);
	sl_inspection_free(seen);
	return rc;
}

static void
models_are_inspected(void **state)
{
	static const char *const names[] = {
		"mlp:16-32-4", "attention:4,8,2",
		SL_TEST_DATA "/models/decoder_kv.onnx",
		SL_TEST_DATA "/models/unknown_operator.onnx",
		SL_TEST_DATA "/models/unknown_sizes.onnx"};

	(void)state;
	for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++) {
		struct inspected i = {.name = names[k]};

		assert_int_equal(sl_graph_open(&i.graph, i.name, NULL, NULL),
				 SL_OK);
		fail_each(inspect_graph, &i, i.name);
		sl_graph_free(i.graph);
		sl_buf_release(&i.expected);
	}
}

/* Costs that depend on what tensors hold are not counted without. */
static void
contents_are_looked_up(void **state)
{
	struct inspected i = {.graph = running_sum(), .name = "running sum"};

	(void)state;
	fail_each(inspect_graph, &i, i.name);
	sl_graph_free(i.graph);
	sl_buf_release(&i.expected);
}

/* Large ones, at places that differ from model to model. */
static void
built_in_models_are_inspected(void **state)
{
	long first = 1;

	(void)state;
	for (const struct sl_zoo_entry *z = sl_zoo(); z->name; z++) {
		struct inspected i = {.name = z->example, .is_brief = 1};

		assert_int_equal(sl_graph_open(&i.graph, i.name, NULL, NULL),
				 SL_OK);
		fail_from(inspect_graph, &i, i.name, first, 997);
		first = first * 7 % 997;
		sl_graph_free(i.graph);
		sl_buf_release(&i.expected);
	}
}

/* A page in one format. */
struct shown {
	const struct sl_inspection *seen[2];
	size_t n;
	const struct sl_fit *fit;
	struct sl_inspect_view view;
	struct sl_render_options how;
};

static enum sl_status
show_zoo(const struct sl_render_options *how, struct sl_buf *out,
	 struct sl_error *err)
{
	struct sl_zoo_list *list;
	enum sl_status rc = sl_zoo_count(&list, err);

	if (rc)
		return rc;
	rc = sl_zoo_render(list, how, out, err);
	sl_zoo_list_free(list);
	return rc;
}

static enum sl_status
show(void *ctx, const struct sl_allocator *allocator, struct sl_error *err)
{
	const struct shown *s = ctx;
	struct sl_buf out = {0};
	enum sl_status rc;

	(void)allocator;
	if (s->n)
		rc = sl_inspection_render(s->seen, s->n, &s->view, &s->how,
					  &out, err);
	else if (s->fit)
		rc = sl_fit_render(s->fit, &s->how, &out, err);
	else
		rc = show_zoo(&s->how, &out, err);
	sl_buf_release(&out);
	return rc;
}

/* All formats, with each request failing, or every step-th. */
static void
show_each(struct shown *s, const char *what, long step)
{
	for (int format = SL_FORMAT_TEXT; format <= SL_FORMAT_MARKDOWN;
	     format++) {
		s->how.struct_size = sizeof(s->how);
		s->how.format = (enum sl_format)format;
		s->view.struct_size = sizeof(s->view);
		assert_true(fail_from(show, s, what, step == 1 ? 1 : 1 + format,
				      step) > 0);
	}
}

static struct sl_graph *
graph_of(const char *name)
{
	struct sl_graph *graph;
	struct sl_error err;

	if (sl_graph_open(&graph, name, NULL, &err))
		fail_msg("%s", err.text);
	return graph;
}

static void
inspections_are_shown(void **state)
{
	static const enum sl_convention pair[] = {SL_CONVENTION_FVCORE,
						  SL_CONVENTION_ALL};
	struct sl_inspect_options how = {.struct_size = sizeof(how),
					 .explain = pair,
					 .n_explain = 2,
					 .weights = 1};
	struct sl_graph *graph = graph_of("attention:4,8,2");
	struct sl_inspection *seen;

	(void)state;
	assert_int_equal(sl_inspect(&seen, graph, &how, NULL), SL_OK);
	for (int by = SL_BY_LAYER; by <= SL_BY_PATH; by++) {
		struct shown s = {.seen = {seen, seen},
				  .n = 1,
				  .view.by = (enum sl_by)by};

		show_each(&s, "inspection", 1);
		s.n = 2;
		show_each(&s, "inspections", 1);
	}
	sl_inspection_free(seen);
	sl_graph_free(graph);
}

static void
the_zoo_is_shown(void **state)
{
	struct shown s = {.n = 0};

	(void)state;
	show_each(&s, "zoo", 40009);
}

static enum sl_status
fit_graph(void *ctx, const struct sl_allocator *allocator, struct sl_error *err)
{
	struct sl_fit_options how = {.struct_size = sizeof(how),
				     .memory_bytes = 1e4,
				     .optimizer = SL_OPTIMIZER_ADAM,
				     .allocator = allocator};
	struct sl_fit *fit;
	enum sl_status rc = sl_fit(&fit, ctx, &how, err);

	sl_fit_free(fit);
	return rc;
}

static void
what_fits_is_found_and_shown(void **state)
{
	struct sl_fit_options how = {.struct_size = sizeof(how),
				     .memory_bytes = 1e6};
	struct sl_graph *graph = graph_of("mlp:16-32-4");
	struct sl_fit *fit;
	struct shown s = {.n = 0};

	(void)state;
	fail_each(fit_graph, graph, "fit");
	assert_int_equal(sl_fit(&fit, graph, &how, NULL), SL_OK);
	s.fit = fit;
	show_each(&s, "fit", 1);
	sl_fit_free(fit);
	sl_graph_free(graph);
}

static enum sl_status
place_graph(void *ctx, const struct sl_allocator *allocator,
	    struct sl_error *err)
{
	struct sl_hardware_options how = {.struct_size = sizeof(how),
					  .rate_per_s = 1e6,
					  .latency_s = 1,
					  .n_samples = 1e6,
					  .allocator = allocator};
	struct sl_hardware_report *report = NULL;
	struct sl_hardware *card = NULL, *words = NULL;
	struct sl_hardware_list *list;
	enum sl_status rc = sl_hardware_list(&list, SL_HARDWARE_DATA, err);

	if (!rc)
		rc = sl_hardware_open(&card, SL_HARDWARE_DATA, "t4", err);
	if (!rc)
		rc = sl_hardware_open(&words, NULL,
				      "peak=100G,bandwidth=50G,memory=16G,"
				      "price=2",
				      err);
	if (!rc)
		rc = sl_hardware_report(
			&report, ctx,
			(const struct sl_hardware *const[]){card, words}, 2,
			&how, err);
	sl_hardware_report_free(report);
	sl_hardware_free(words);
	sl_hardware_free(card);
	sl_hardware_list_free(list);
	return rc;
}

static void
places_are_found(void **state)
{
	struct sl_graph *graph = graph_of("mlp:16-32-4");

	(void)state;
	assert_true(fail_from(place_graph, graph, "hardware", 1, 7) > 0);
	sl_graph_free(graph);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(models_are_inspected),
		cmocka_unit_test(contents_are_looked_up),
		cmocka_unit_test(built_in_models_are_inspected),
		cmocka_unit_test(inspections_are_shown),
		cmocka_unit_test(the_zoo_is_shown),
		cmocka_unit_test(what_fits_is_found_and_shown),
		cmocka_unit_test(places_are_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
