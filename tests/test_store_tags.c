/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_store_tags.c - a tag is given, replaced and taken away, and others stay;
 * one that is unique moves; what no tag can be changes nothing; pinned results
 * survive a deletion that does not name them.
 */
#include "store_case.h"

static const struct sl_labels plain = SL_LABELS_INIT;

static void
tag(struct sl_store *store, uint64_t id, const char *name, const char *value)
{
	struct sl_error err;

	if (sl_store_tag(store, id, &(struct sl_parameter){name, value}, 0,
			 &err))
		fail_msg("%s", err.text);
}

/* Whether a result has exactly these tags: "a=b c=d". */
static void
has_tags(struct sl_store *store, uint64_t id, const char *expected)
{
	const struct sl_store_query query = {
		.struct_size = sizeof(query), .ids = &id, .n_ids = 1};
	struct sl_stored_runs *runs = find(store, &query);
	char text[256] = "";

	assert_int_equal(runs->n, 1);
	for (size_t i = 0; i < runs->list[0].n_tags; i++) {
		size_t n = strlen(text);

		snprintf(text + n, sizeof(text) - n, "%s%s=%s", i ? " " : "",
			 runs->list[0].tags[i].name,
			 runs->list[0].tags[i].value);
	}
	assert_string_equal(text, expected);
	sl_stored_runs_free(runs);
}

static void
test_one_result(void **state)
{
	struct sl_store *store = store_at(store_path);
	uint64_t first = put(store, document_of("a", 1), &plain);
	uint64_t second = put(store, document_of("a", 2), &plain);

	(void)state;
	tag(store, first, "k", "v");
	tag(store, first, "l", "é = w");
	has_tags(store, first, "k=v l=é = w");
	tag(store, first, "k", "u");
	has_tags(store, first, "l=é = w k=u");
	tag(store, first, "l", NULL);
	has_tags(store, first, "k=u");
	tag(store, first, "none", NULL);
	tag(store, first, "k", NULL);
	has_tags(store, first, "");
	has_tags(store, second, "");
	sl_store_close(store);
}

static void
test_refused(void **state)
{
	struct sl_store *store = store_at(store_path);
	uint64_t id = put(store, document_of("a", 1), &plain);
	struct sl_parameter bad[] = {{"a=b", "c"}, {"", "c"}, {"a", "b\nc=d"}};
	struct sl_error err;

	(void)state;
	tag(store, id, "k", "v");
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(sl_store_tag(store, id, &bad[i], 0, &err),
				 SL_E_USAGE);
	bad[0] = (struct sl_parameter){"k", "w"};
	assert_int_equal(sl_store_tag(store, id + 1000, bad, 1, &err),
			 SL_E_DATA);
	has_tags(store, id, "k=v");
	sl_store_close(store);
}

/* Where it cannot be given to one, the others keep it. */
static void
test_unique(void **state)
{
	struct sl_store *store = store_at(store_path);
	const struct sl_parameter main_tag = {SL_TAG_BASELINE, "main"};
	uint64_t ids[3];
	struct sl_error err;

	(void)state;
	for (size_t i = 0; i < 3; i++)
		ids[i] = put(store, document_of("a", 1), &plain);
	tag(store, ids[0], SL_TAG_BASELINE, "other");
	assert_int_equal(sl_store_tag(store, ids[1], &main_tag, 1, &err),
			 SL_OK);
	assert_int_equal(sl_store_tag(store, ids[2], &main_tag, 1, &err),
			 SL_OK);
	has_tags(store, ids[0], "baseline=other");
	has_tags(store, ids[1], "");
	has_tags(store, ids[2], "baseline=main");
	assert_int_equal(sl_store_tag(store, ids[2] + 1000, &main_tag, 1, &err),
			 SL_E_DATA);
	has_tags(store, ids[2], "baseline=main");
	sl_store_close(store);
}

static void
test_pinned(void **state)
{
	const struct sl_parameter mine = {"case", "pinned"};
	const struct sl_store_query query = {
		.struct_size = sizeof(query), .tags = &mine, .n_tags = 1};
	struct sl_store *store = store_at(store_path);
	uint64_t first = put(store, document_of("a", 1), &plain);
	uint64_t second = put(store, document_of("a", 1), &plain);
	const struct sl_store_query named = {
		.struct_size = sizeof(named), .ids = &first, .n_ids = 1};
	struct sl_error err;
	size_t n;

	(void)state;
	tag(store, first, "case", "pinned");
	tag(store, second, "case", "pinned");
	tag(store, first, SL_TAG_PINNED, "yes");
	assert_int_equal(sl_store_delete(store, &n, &query, &err), SL_OK);
	assert_int_equal(n, 1);
	has_tags(store, first, "case=pinned pinned=yes");
	assert_int_equal(sl_store_delete(store, &n, &named, &err), SL_OK);
	assert_int_equal(n, 1);
	sl_store_close(store);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_result),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_unique),
		cmocka_unit_test(test_pinned),
	};

	return cmocka_run_group_tests(tests, make_store_folder,
				      remove_store_folder);
}
