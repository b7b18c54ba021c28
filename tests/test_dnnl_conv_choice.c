/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_dnnl_conv_choice.c - proves that a program measures each convolution
 * once in each order of elements, however often it comes, with nothing kept in
 * files; and that what is measured is what is then run.
 */
#include "planned_graph.h"
#include "needs_dnnl.h"

/* The stem, twice the same block of which the sum is written over what came
 * before it, and one whose operand is needed later. */
static const char layers[] = "opset 13\n"
			     "in x f32 1,3,20,20\n"
			     "const first f32 16,3,3,3 = random\n"
			     "const w f32 16,16,3,3 = random\n"
			     "stem = Conv x first pads=[1,1,1,1]\n"
			     "a = Relu stem\n"
			     "b = Conv a w pads=[1,1,1,1]\n"
			     "c = Relu b\n"
			     "d = Conv c w pads=[1,1,1,1]\n"
			     "e = Add d a\n"
			     "f = Relu e\n"
			     "g = Conv f w pads=[1,1,1,1]\n"
			     "h = Relu g\n"
			     "i = Conv h w pads=[1,1,1,1]\n"
			     "j = Add i f\n"
			     "k = Relu j\n"
			     "l = Conv k w pads=[1,1,1,1]\n"
			     "m = Add l k\n"
			     "n = Relu m\n"
			     "o = Conv n w pads=[1,1,1,1]\n"
			     "p = Add o k\n"
			     "out p\n";

enum { LINES_MOST = 100, LINE_MOST = 512 };

struct lines {
	char texts[LINES_MOST][LINE_MOST];
	int n, interrupt_at;
	volatile sig_atomic_t interrupted;
};

static void
take_line(const char *text, void *ctx)
{
	struct lines *lines = ctx;

	assert_true(lines->n < LINES_MOST);
	snprintf(lines->texts[lines->n++], LINE_MOST, "%s", text);
	if (lines->n == lines->interrupt_at)
		lines->interrupted = 1;
}

static int
count_with(const struct lines *lines, const char *words)
{
	int n = 0;

	for (int i = 0; i < lines->n; i++)
		n += strstr(lines->texts[i], words) != NULL;
	return n;
}

/* Without the name of the kernel that was found.  Where there is none, nothing
 * was measured, and the convolution is tried without what follows it: narrow
 * CPUs have none for blocks of 16. */
static void
keep_questions(struct lines *lines)
{
	int n = 0;

	for (int i = 0; i < lines->n; i++) {
		char *at = strstr(lines->texts[i], ": ");

		if (at && !strcmp(at, ": none"))
			continue;
		if (at)
			*at = '\0';
		memmove(lines->texts[n++], lines->texts[i], LINE_MOST);
	}
	lines->n = n;
}

static void
each_is_measured_once(void **state)
{
	static struct lines lines;
	struct sl_log log = {take_line, &lines};
	struct sl_plan_options how = {.struct_size = sizeof(how),
				      .n_threads = 1,
				      .flags = SL_PLAN_NO_CACHE,
				      .log = &log};
	struct graph_text *g;
	struct sl_plan *plan;
	struct sl_error err;

	(void)state;
	needs_dnnl();
	g = graph_text_with(layers, NULL);
	if (sl_plan_new(&plan, g->graph, &how, &err))
		fail_msg("%s", err.text);
	keep_questions(&lines);
	for (int i = 0; i < lines.n; i++) {
		for (int k = 0; k < i; k++)
			assert_string_not_equal(lines.texts[i], lines.texts[k]);
	}
	/* The stem, one that ends in a relu, one that adds before it in
	 * place, one that adds what stays, and the last. */
	assert_true(count_with(&lines, "convolution ") > 0);
	assert_true(count_with(&lines, " blocks16 ") <= 5);
	assert_true(count_with(&lines, " blocks8 ") <= 5);
	assert_true(count_with(&lines, " last ") <= 5);
	sl_plan_free(plan);
	graph_text_free(g);
}

/* A line is told when a convolution was measured: no other is then. */
static void
an_interrupt_ends_measuring(void **state)
{
	static struct lines lines;
	struct sl_log log = {take_line, &lines};
	struct sl_plan_options how = {.struct_size = sizeof(how),
				      .n_threads = 1,
				      .flags = SL_PLAN_NO_CACHE,
				      .log = &log,
				      .interrupt = &lines.interrupted};
	struct graph_text *g;
	struct sl_plan *plan;
	struct sl_error err;

	(void)state;
	needs_dnnl();
	g = graph_text_with(layers, NULL);
	for (int at = 0; at < 4; at++) {
		lines.n = 0;
		lines.interrupt_at = at;
		lines.interrupted = !at;
		assert_int_equal(sl_plan_new(&plan, g->graph, &how, &err),
				 SL_E_INTERRUPTED);
		assert_null(plan);
		assert_int_equal(count_with(&lines, "convolution "), at);
	}
	graph_text_free(g);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_is_measured_once),
		cmocka_unit_test(an_interrupt_ends_measuring),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
