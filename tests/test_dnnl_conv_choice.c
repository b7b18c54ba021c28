/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_dnnl_conv_choice.c - proves that a program measures each convolution
 * once in each order of elements, however often it comes, with nothing kept in
 * files; that what is measured is what is then run; and that an order in which
 * images are reordered is taken only where it gains more than an eighth.
 */
#include "choice_folder.h"
#include "planned_graph.h"
#include "needs_dnnl.h"
#include "engine/dnnl_choice.h"

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

/* The second reads what the first wrote. */
static const char pair[] = "opset 13\n"
			   "in x f32 1,16,20,20\n"
			   "const v f32 16,16,3,3 = random\n"
			   "const w f32 8,16,3,3 = random\n"
			   "a = Conv x v pads=[1,1,1,1]\n"
			   "b = Conv a w pads=[1,1,1,1]\n"
			   "out b\n";

static void
plan_pair(const struct folder *f, struct lines *lines)
{
	struct sl_log log = {take_line, lines};
	struct sl_plan_options how = {.struct_size = sizeof(how),
				      .n_threads = 1,
				      .cache_folder = f->path,
				      .log = &log};
	struct graph_text *g = graph_text_with(pair, NULL);
	struct sl_plan *plan;
	struct sl_error err;

	lines->n = 0;
	if (sl_plan_new(&plan, g->graph, &how, &err))
		fail_msg("%s", err.text);
	sl_plan_free(plan);
	graph_text_free(g);
}

/* The choice of a key in blocks of 16 as one for that order, of an own kernel
 * that took as long. */
static void
remember(struct sl__choices *c, const char *key, const char *order, uint64_t ns)
{
	static const char from[] = " blocks16";
	const struct sl__choice choice = {
		.is_own = 1, .elapsed_ns = ns, .kernel = "own_conv"};
	const char *at = strstr(key, from);
	char own[LINE_MOST];
	struct sl_error err;

	snprintf(own, sizeof(own), "%.*s %s%s", (int)(at - key), key, order,
		 at + strlen(from));
	assert_int_equal(sl__choices_put(c, own, &choice, &err), SL_OK);
}

static void
remember_all(const struct folder *f, uint64_t blocks_ns, uint64_t last_ns)
{
	struct sl_plan_options how = {.struct_size = sizeof(how),
				      .n_threads = 1,
				      .cache_folder = f->path};
	struct sl__choices *c;
	struct sl_error err;
	size_t n;

	assert_int_equal(sl__choices_new(&c, &how, &err), SL_OK);
	n = c->n;
	for (size_t i = 0; i < n; i++) {
		if (!strstr(c->keys[i], " blocks16"))
			continue;
		remember(c, c->keys[i], "blocks16", blocks_ns);
		remember(c, c->keys[i], "blocks8", 2 * blocks_ns);
		remember(c, c->keys[i], "last", last_ns);
	}
	for (size_t i = 0; i < c->n; i++)
		c->rows[i].n_loaded = 0; /* undisturbed */
	sl__choices_save(c);
	assert_false(c->is_changed);
	sl__choices_free(c);
}

/* The first convolution's source is reordered in any order. */
static void
near_ties_go_to_what_reorders_nothing(void **state)
{
	static const struct {
		uint64_t blocks_ns, last_ns;
		const char *order;
	} rows[] = {
		{1000000, 990000, "images lie as last;"},
		{1000000, 1050000, "images lie as last;"},
		{1000000, 1070000, "images lie as blocks16;"},
	};
	static struct lines lines;
	struct folder f;

	(void)state;
	needs_dnnl();
	folder_new(&f);
	plan_pair(&f, &lines);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		remember_all(&f, rows[i].blocks_ns, rows[i].last_ns);
		plan_pair(&f, &lines);
		if (count_with(&lines, rows[i].order) != 1)
			fail_msg("%zu: %s", i, lines.texts[0]);
	}
	folder_free(&f);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(near_ties_go_to_what_reorders_nothing),
		cmocka_unit_test(each_is_measured_once),
		cmocka_unit_test(an_interrupt_ends_measuring),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
