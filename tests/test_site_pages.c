/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_site_pages.c - the list shows the newest results first and leads to all
 * others; filters stay in the form and in the links; names stay text, in pages
 * and in addresses; a result's page is the one that is written to a file, in
 * the frame of the site; what is not there is told on a page.
 */
#include "served.h"

enum { N_MORE = 250 };

static void
put_labelled(const char *document, const char *branch, double at_s)
{
	struct sl_store *store = store_at(store_path);

	put(store, document,
	    &(struct sl_labels){.struct_size = sizeof(struct sl_labels),
				.saved_at_s = at_s,
				.branch = branch,
				.machine = "m"});
	sl_store_close(store);
}

static void
test_list(void **state)
{
	const char *reply;

	(void)state;
	put_labelled(document_of("a&b <i> \\\"q\\\" é", 2), "main", 1e9);
	start_serving(NULL);
	reply = ask(served.port, "GET /");
	assert_int_equal(status_of(reply), 200);
	assert_non_null(strstr(reply, "Content-Type: text/html"));
	assert_non_null(strstr(reply, "<a class=\"run\" href=\"/runs/1\">run:1"
				      "</a></td><td>2001-09-09 01:46</td>"));
	assert_non_null(strstr(
		reply, "<a href=\"/series?model=a%26b%20%3Ci%3E%20%22q%22%20"
		       "%C3%A9\">a&amp;b &lt;i&gt; &quot;q&quot; é</a>"));
	assert_non_null(strstr(reply, "2.000 ms"));
	assert_null(strstr(reply, "<i>"));
	assert_null(strstr(reply, ">Older<"));
	assert_null(strstr(reply, ">Newer<"));
	stop_serving();
}

static void
test_filters_stay(void **state)
{
	const char *reply;

	(void)state;
	start_serving(NULL);
	reply = ask(served.port, "GET /?branch=%22%3E%3Cscript%3E");
	assert_non_null(strstr(reply, "<input name=\"branch\" "
				      "value=\"&quot;&gt;&lt;script&gt;\">"));
	assert_non_null(strstr(reply, "No result matches."));
	stop_serving();
}

/* 251 results are three pages of a hundred. */
static void
test_pages(void **state)
{
	const char *reply;

	(void)state;
	for (int i = 0; i < N_MORE; i++)
		put_labelled(document_of("m", 1), "main", 1e9);
	start_serving(NULL);
	reply = ask(served.port, "GET /?branch=main");
	assert_non_null(strstr(reply, ">run:251<"));
	assert_non_null(strstr(reply, ">run:152<"));
	assert_null(strstr(reply, ">run:151<"));
	assert_true(strstr(reply, ">run:251<") < strstr(reply, ">run:152<"));
	assert_non_null(strstr(
		reply, "<a href=\"/?offset=100&amp;branch=main\">Older"));
	assert_null(strstr(reply, ">Newer<"));
	reply = ask(served.port, "GET /?offset=200&branch=main");
	assert_non_null(strstr(reply, ">run:51<"));
	assert_non_null(strstr(reply, ">run:1<"));
	assert_null(strstr(reply, ">Older<"));
	assert_non_null(strstr(
		reply, "<a href=\"/?offset=100&amp;branch=main\">Newer"));
	reply = ask(served.port, "GET /?offset=151");
	assert_non_null(strstr(reply, "<a href=\"/?offset=51\">Newer"));
	assert_null(strstr(reply, ">Older<"));
	reply = ask(served.port, "GET /?offset=30");
	assert_non_null(strstr(reply, "<a href=\"/?offset=0\">Newer"));
	stop_serving();
}

/* A real result, through the program's own writer. */
static void
test_run_page(void **state)
{
	const struct sl_render_options how = {.struct_size = sizeof(how),
					      .format = SL_FORMAT_JSON};
	struct sl_inspection *inspection;
	struct sl_graph *graph;
	struct sl_buf json = {0};
	struct sl_error err;
	const char *reply;

	(void)state;
	assert_int_equal(sl_graph_open(&graph, "mlp:4-8-2", NULL, &err), SL_OK);
	assert_int_equal(sl_inspect(&inspection, graph, NULL, &err), SL_OK);
	assert_int_equal(
		sl_inspection_render(
			(const struct sl_inspection *const[]){inspection}, 1,
			NULL, &how, &json, &err),
		SL_OK);
	put_labelled(json.data, "<b>", 1e9);
	start_serving(NULL);
	reply = ask(served.port, "GET /runs/252");
	assert_int_equal(status_of(reply), 200);
	assert_non_null(strstr(reply, "<h1>mlp:4-8-2</h1>"));
	assert_non_null(strstr(reply, "run:252, saved 2001-09-09 01:46 UTC on "
				      "machine m of &lt;b&gt;"));
	assert_non_null(strstr(reply, "<link rel=\"stylesheet\" "
				      "href=\"/page.css\">"));
	assert_non_null(strstr(reply, "<script type=\"application/json\" "
				      "id=\"result\">"));
	assert_null(strstr(reply, "<style>"));
	assert_null(strstr(reply, "http-equiv"));
	assert_null(strstr(reply, "class=\"changes\""));
	stop_serving();
	start_serving(&(struct sl_serve_options){.token = "sixteen letters!"});
	reply = ask(served.port, "GET /runs/252");
	assert_non_null(strstr(reply, "<form class=\"changes\""));
	assert_non_null(strstr(reply, "data-run=\"252\""));
	assert_null(strstr(reply, "sixteen letters!"));
	stop_serving();
	sl_buf_release(&json);
	sl_inspection_free(inspection);
	sl_graph_free(graph);
}

static void
test_others(void **state)
{
	static const struct {
		const char *line;
		int status;
		const char *words;
	} cases[] = {
		{"GET /series?model=m", 200, "value=\"m\""},
		{"GET /series?model=m", 200, "History"},
		{"GET /compare", 200, "A, the baseline"},
		{"GET /compare?a=2&b=3", 200, "<h1>"},
		{"GET /compare?a=2&b=3", 200, "name=\"b\" value=\"3\""},
		{"GET /compare?a=2&b=%3Cb%3E", 400, "<h1>Error 400</h1>"},
		{"GET /runs/9999", 404, "run:9999 is not in the store"},
		{"GET /?x=%3Cb%3E", 400, "<h1>Error 400</h1>"},
		{"GET /?limit=%3Cb%3E", 400, "limit=&lt;b&gt;: must be"},
		{"GET /page.css", 200, "Cache-Control: max-age"},
		{"GET /page.css", 200, "Content-Type: text/css"},
		{"GET /page.js", 200, "Content-Type: text/javascript"},
		{"GET /site.js", 200, "function startRuns"},
		{"GET /icon.svg", 200, "Content-Type: image/svg+xml"},
	};

	(void)state;
	start_serving(NULL);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *reply = ask(served.port, cases[i].line);

		if (status_of(reply) != cases[i].status ||
		    !strstr(reply, cases[i].words))
			fail_msg("%s: %s", cases[i].line, reply);
	}
	stop_serving();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_list),
		cmocka_unit_test(test_filters_stay),
		cmocka_unit_test(test_pages),
		cmocka_unit_test(test_run_page),
		cmocka_unit_test(test_others),
	};

	return cmocka_run_group_tests(tests, make_store_folder,
				      remove_store_folder);
}
