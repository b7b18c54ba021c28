/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_fact_json.c - documents carry what facts say and what they are, and both
 * come back: every kind, parts that are not known, and what is no fact.
 */
#include "base/buf.h"
#include "harness.h"
#include "json_check.h"
#include "report/fact_text.h"
#include "result/fact_json.h"
#include "result/fact_list.h"
#include "result/record.h"
#include "result/rows.h"

static void
documents_have_both(void **state)
{
	const struct sl_fact facts[] = {
		{SL_FACT_DOUBLED, {1.5, (double)NAN, 1.25}, {NULL}},
		{SL_FACT_NOT_COLD, {0}, {"not permitted"}}};
	struct sl_buf out = {0};
	struct sl__json json;

	(void)state;
	sl__json_init(&json, &out);
	json.say = sl__fact_append_sentence;
	sl__json_object(&json, NULL);
	sl__json_facts(&json, "remarks", facts, 2);
	sl__json_fact(&json, "why", &facts[1]);
	sl__json_absent_because(&json, "figure", &facts[1]);
	sl__json_end_object(&json);
	assert_true(json_valid(out.data));
	assert_true(json_is(out.data, "remarks[1]",
			    "\"no operation was timed from empty caches: not "
			    "permitted\""));
	assert_true(json_is(out.data, "remarks_facts[0].kind", "\"doubled\""));
	assert_true(json_is(out.data, "remarks_facts[0].values[0]", "1.5"));
	assert_true(json_is(out.data, "remarks_facts[0].values[1]", "null"));
	assert_true(json_is(out.data, "remarks_facts[0].values[2]", "1.25"));
	assert_true(json_is(out.data, "remarks_facts[1].names[0]",
			    "\"not permitted\""));
	assert_true(json_is(out.data, "why_fact.kind", "\"not-cold\""));
	assert_true(json_is(out.data, "figure", "null"));
	assert_true(json_is(out.data, "figure_absent",
			    "\"no operation was timed from empty caches: not "
			    "permitted\""));
	sl_buf_release(&out);
}

struct story {
	struct sl_fact first;
	const struct sl_fact *odd;
	const struct sl_fact *facts;
	size_t n_facts;
};

static const struct sl__field story_fields[] = {
	SL__F(FACT, story, first, "first", "x"),
	SL__F(FACT_AT, story, odd, "odd", "x"),
	SL__F_LIST(FACTS, story, facts, n_facts, "facts", "x"),
};
static SL__RECORD(story_table, "story", story, story_fields, 0);

static void
write_story(struct sl_buf *out, const struct story *story)
{
	struct sl__json json;

	memset(out, 0, sizeof(*out));
	sl__json_init(&json, out);
	json.say = sl__fact_append_sentence;
	sl__record_write_object(&json, NULL, &story_table, story, NULL);
}

static enum sl_status
read_story(struct story *out, const char *text, struct sl__arena *arena,
	   struct sl_error *err)
{
	const struct sl__json_value *root;

	memset(out, 0, sizeof(*out));
	assert_int_equal(sl__json_read(&root, text, strlen(text), arena, err),
			 SL_OK);
	return sl__record_read(out, &story_table, root, arena, err);
}

/* What is read writes the same bytes again. */
static void
every_kind_comes_back(void **state)
{
	struct sl_fact facts[SL_N_FACT_KINDS - 1];
	struct story story = {.first = {SL_FACT_WARM, {1.5}, {NULL}},
			      .facts = facts,
			      .n_facts = SL_N_FACT_KINDS - 1},
		     back;
	struct sl_buf first, second;
	struct sl__arena arena;
	struct sl_error err;

	(void)state;
	for (int k = 1; k < SL_N_FACT_KINDS; k++) {
		facts[k - 1] =
			(struct sl_fact){(enum sl_fact_kind)k,
					 {k / 7.0, 1, 2.5, (double)NAN, 4e9, 1},
					 {"one", "two", "three", "four"}};
	}
	sl__arena_init(&arena, NULL);
	for (int with_odd = 0; with_odd < 2; with_odd++) {
		story.odd = with_odd ? &facts[3] : NULL;
		write_story(&first, &story);
		assert_int_equal(read_story(&back, first.data, &arena, &err),
				 SL_OK);
		assert_int_equal(back.n_facts, story.n_facts);
		assert_int_equal(back.odd != NULL, with_odd);
		assert_near(back.first.values[0], 1.5, 0);
		write_story(&second, &back);
		assert_string_equal(first.data, second.data);
		sl_buf_release(&first);
		sl_buf_release(&second);
	}
	sl__arena_release(&arena);
}

static void
what_is_no_fact_is_refused(void **state)
{
	static const char *const texts[] = {
		"{\"first\": \"x\"}",
		"{\"first\": \"x\", \"first_fact\": {\"kind\": \"unheard\", "
		"\"values\": [], \"names\": []}}",
		"{\"first\": \"x\", \"first_fact\": {\"kind\": \"warm\", "
		"\"values\": [], \"names\": []}}",
		"{\"first\": \"x\", \"first_fact\": {\"kind\": \"not-cold\", "
		"\"values\": [], \"names\": [1]}}",
		"{\"facts\": [\"x\"]}",
	};
	struct sl__arena arena;
	struct sl_error err;
	struct story back;

	(void)state;
	sl__arena_init(&arena, NULL);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		assert_int_equal(read_story(&back, texts[i], &arena, &err),
				 SL_E_DATA);
	sl__arena_release(&arena);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(documents_have_both),
		cmocka_unit_test(every_kind_comes_back),
		cmocka_unit_test(what_is_no_fact_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
