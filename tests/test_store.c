/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_store.c - what is put into a store comes back, byte for byte and with
 * its labels; a query finds what matches all it says; what is deleted is gone,
 * and its number is not given again; tables of a newer version, other databases
 * and other files are refused and left as they are.  The same on a server whose URL is in $SL_TEST_DB.
 */
#include "store_case.h"

#include <math.h>

static void
test_round_trip(void **state)
{
	const struct sl_parameter tags[] = {{"suite", "edge"}, {"x", "a=b"}};
	const struct sl_labels labels = {.struct_size = sizeof(labels),
					 .saved_at_s = 1e9,
					 .machine = "0123456789abcdef",
					 .commit = "c0ffee",
					 .branch = "main",
					 .is_dirty = 1,
					 .tags = tags,
					 .n_tags = 2};
	const char *json = document_of("resnet50", 2);
	struct sl_store *store = store_at(store_path);
	uint64_t id = put(store, json, &labels);
	struct sl_buf back = {0};
	struct sl_stored_runs *runs;
	const struct sl_stored_run *run;

	(void)state;
	assert_int_equal(sl_store_get(store, id, &back, NULL), SL_OK);
	assert_string_equal(back.data, json);
	sl_buf_release(&back);
	runs = find(store, NULL);
	assert_int_equal(runs->n, 1);
	run = &runs->list[0];
	assert_int_equal(run->id, id);
	assert_true(run->saved_at_s == 1e9 && run->is_dirty);
	assert_string_equal(run->command, "profile");
	assert_string_equal(run->machine, labels.machine);
	assert_string_equal(run->commit, "c0ffee");
	assert_string_equal(run->branch, "main");
	assert_int_equal(run->n_tags, 2);
	assert_string_equal(run->tags[0].name, "suite");
	assert_string_equal(run->tags[0].value, "edge");
	assert_string_equal(run->tags[1].name, "x");
	assert_string_equal(run->tags[1].value, "a=b");
	assert_int_equal(run->n_points, 1);
	assert_string_equal(run->points[0].name, "resnet50");
	assert_string_equal(run->points[0].settings, "batch 1, f32, 2 threads");
	assert_null(run->points[0].hash);
	assert_true(run->points[0].time_ns.value == 2e6);
	assert_true(run->points[0].time_ns.lo == 1.5e6);
	assert_true(run->points[0].time_ns.hi == 2.5e6);
	assert_int_equal(run->points[0].time_ns.n, 9);
	sl_stored_runs_free(runs);
	sl_store_close(store);
}

/* A list of commands is as many points; the time of the machine and now are
 * filled in. */
static void
test_several(void **state)
{
	static const char json[] =
		"{\"schema\": 1, \"tool\": {\"version\": \"1\"}, \"command\": "
		"\"bench\", \"kind\": \"bench\", \"results\": [{\"command\": "
		"\"a b\", \"latency\": {\"median_ms\": 1}}, {\"command\": "
		"\"c\"}]}";
	struct sl_store *store = store_at(store_path);
	struct sl_stored_runs *runs;

	(void)state;
	put(store, json, NULL);
	runs = find(store, NULL);
	assert_int_equal(runs->list[0].n_points, 2);
	assert_string_equal(runs->list[0].points[0].name, "a b");
	assert_true(runs->list[0].points[0].time_ns.value == 1e6);
	assert_string_equal(runs->list[0].points[1].name, "c");
	assert_true(isnan(runs->list[0].points[1].time_ns.value));
	assert_null(runs->list[0].points[1].settings);
	assert_int_equal(strlen(runs->list[0].machine), 16);
	assert_true(runs->list[0].saved_at_s > 1.6e9);
	assert_int_equal(runs->list[0].n_tags, 0);
	assert_null(runs->list[0].commit);
	sl_stored_runs_free(runs);
	sl_store_close(store);
}

static void
assert_finds(struct sl_store *store, struct sl_store_query query,
	     const char *expected)
{
	struct sl_stored_runs *runs;
	char found[64] = "";

	query.struct_size = sizeof(query);
	runs = find(store, &query);
	for (size_t i = 0; i < runs->n; i++)
		snprintf(found + strlen(found), sizeof(found) - strlen(found),
			 "%s%d", i ? " " : "", (int)runs->list[i].id);
	assert_string_equal(found, expected);
	sl_stored_runs_free(runs);
}

static void
test_query(void **state)
{
	const struct sl_parameter tags[] = {{"k", "v"}, {"k2", "v2"}};
	struct sl_labels labels = {.struct_size = sizeof(labels),
				   .saved_at_s = 100,
				   .machine = "aa00",
				   .commit = "abc1",
				   .branch = "main"};
	const uint64_t ids[] = {4, 1, 77};
	struct sl_store *store = store_at(store_path);

	(void)state;
	put(store, document_of("a", 1), &labels);
	labels.branch = "side";
	labels.machine = "bb00";
	labels.saved_at_s = 200;
	put(store, document_of("b", 1), &labels);
	labels.tags = tags;
	labels.n_tags = 2;
	labels.commit = "abd2";
	put(store, document_of("a", 1), &labels);
	labels.commit = NULL;
	labels.n_tags = 1;
	put(store, document_of("a' OR 1 = 1 --", 1), &labels);
	assert_finds(store, (struct sl_store_query){.n_most = 0}, "1 2 3 4");
	assert_finds(store, (struct sl_store_query){.n_most = 2}, "3 4");
	assert_finds(store, (struct sl_store_query){.n_skipped = 1}, "1 2 3");
	assert_finds(store, (struct sl_store_query){.model = "a"}, "1 3");
	assert_finds(store, (struct sl_store_query){.model = "a' OR 1 = 1 --"},
		     "4");
	assert_finds(store, (struct sl_store_query){.branch = "side"}, "2 3 4");
	assert_finds(store, (struct sl_store_query){.commit = "ab"}, "1 2 3");
	assert_finds(store, (struct sl_store_query){.commit = "b"}, "");
	assert_finds(store, (struct sl_store_query){.machine = "aa"}, "1");
	assert_finds(store, (struct sl_store_query){.before_s = 150}, "1");
	assert_finds(store, (struct sl_store_query){.command = "run"}, "");
	assert_finds(store, (struct sl_store_query){.tags = tags, .n_tags = 1},
		     "3 4");
	assert_finds(store, (struct sl_store_query){.tags = tags, .n_tags = 2},
		     "3");
	assert_finds(store, (struct sl_store_query){.ids = ids, .n_ids = 3},
		     "1 4");
	assert_finds(store,
		     (struct sl_store_query){.model = "a",
					     .branch = "side",
					     .tags = tags,
					     .n_tags = 2,
					     .n_most = 5},
		     "3");
	sl_store_close(store);
}

static void
test_delete(void **state)
{
	struct sl_labels labels = {.struct_size = sizeof(labels),
				   .machine = "m"};
	struct sl_store *store = store_at(store_path);
	struct sl_store_query newest = {.struct_size = sizeof(newest),
					.n_most = 1};
	struct sl_buf json = {0};
	struct sl_error err;
	size_t n;

	(void)state;
	for (int i = 0; i < 3; i++)
		put(store, document_of("a", i), &labels);
	assert_int_equal(sl_store_delete(store, &n, &newest, NULL), SL_OK);
	assert_int_equal(n, 1);
	assert_finds(store, (struct sl_store_query){.n_most = 0}, "1 2");
	assert_int_equal(sl_store_get(store, 3, &json, &err), SL_E_DATA);
	assert_string_equal(err.text, "run:3 is not in the store");
	assert_int_equal(put(store, document_of("a", 1), &labels), 4);
	sl_store_close(store);
}

/* Lines carry everything: a copy of a store is the same but for its numbers. */
static void
test_lines(void **state)
{
	const struct sl_parameter tags[] = {{"result", "{}"}};
	const struct sl_labels labels = {
		.struct_size = sizeof(labels),
		.saved_at_s = 5.5,
		.machine = "m",
		.commit = "c",
		.tags = tags,
		.n_tags = 1,
		.anchor = {
			.version = 7,
			.time_ns = {.value = 2.5, .lo = 2, .hi = 3, .n = 9}}};
	static const char bad[] = "{\"saved_at_s\": 1, \"machine\": \"m\", "
				  "\"result\": {\"schema\": 2}}";
	struct sl_store *store = store_at(store_path);
	struct sl_bench *bench;
	const struct sl_command command = {
		.argv = (const char *const[]){"true", NULL}};
	struct sl_buf json = {0}, line = {0}, again = {0};
	struct sl_error err;
	uint64_t id;

	(void)state;
	assert_int_equal(
		sl_bench(&bench, &command, 1,
			 &(struct sl_bench_options){
				 .struct_size = sizeof(struct sl_bench_options),
				 .n_runs = 2},
			 &err),
		SL_OK);
	assert_int_equal(
		sl_bench_render(
			bench,
			&(struct sl_render_options){
				.struct_size = sizeof(struct sl_render_options),
				.format = SL_FORMAT_JSON},
			&json, NULL),
		SL_OK);
	sl_bench_free(bench);
	put(store, json.data, &labels);
	assert_int_equal(sl_store_export(store, 1, &line, NULL), SL_OK);
	assert_ptr_equal(strchr(line.data, '\n'), line.data + line.n_bytes - 1);
	assert_non_null(strstr(line.data,
			       "\"anchor\": 7,\"anchor_ns\": 2.5,"
			       "\"anchor_lo_ns\": 2,\"anchor_hi_ns\": 3,"
			       "\"anchor_n\": 9,"));
	if (sl_store_import(store, &id, line.data, line.n_bytes, &err))
		fail_msg("%s", err.text);
	assert_int_equal(id, 2);
	assert_int_equal(sl_store_export(store, 2, &again, NULL), SL_OK);
	/* But for {"run": 1 and {"run": 2. */
	assert_string_equal(strchr(again.data, ','), strchr(line.data, ','));
	assert_int_equal(
		sl_store_import(store, &id, bad, sizeof(bad) - 1, &err),
		SL_E_DATA);
	assert_string_equal(err.text, "no result of schema 1");
	assert_int_equal(sl_store_import(store, &id, "{}", 2, &err), SL_E_DATA);
	assert_finds(store, (struct sl_store_query){.n_most = 0}, "1 2");
	sl_buf_release(&json);
	sl_buf_release(&line);
	sl_buf_release(&again);
	sl_store_close(store);
}

static void
assert_refused(const char *path, enum sl_status status, const char *why)
{
	const struct sl_store_options how = {
		.struct_size = sizeof(how), .where = path, .must_exist = 1};
	struct sl_store *store;
	struct sl_error err;

	assert_int_equal(sl_store_open(&store, &how, &err), status);
	assert_null(store);
	if (!strstr(err.text, why))
		fail_msg("'%s' does not say '%s'", err.text, why);
}

static void
test_refused(void **state)
{
	struct sl_store *store = store_at(store_path);

	(void)state;
	assert_int_equal(
		sl__store_run(store, "UPDATE sleuth_schema SET version = 1000",
			      NULL, 0, NULL),
		SL_OK);
	sl_store_close(store);
	assert_refused(store_path, SL_E_DATA,
		       "of version 1000, made by a newer Sleuth");
}

static void
test_refused_files(void **state)
{
	struct sl_store *store;
	char other[160];
	FILE *file;

	(void)state;
	snprintf(other, sizeof(other), "%s/other", store_folder);
	assert_refused(other, SL_E_ABSENT, "nothing is saved there yet");
	file = fopen(other, "w");
	fputs("not a database, but long enough to be looked at as one: "
	      "0123456789012345678901234567890123456789012345678901234567890",
	      file);
	fclose(file);
	assert_refused(other, SL_E_DATA, "not a database");
	remove(other);
	store = store_at(other);
	for (int i = 0; i < 4; i++) {
		static const char *const drops[] = {
			"DROP TABLE sleuth_document", "DROP TABLE sleuth_point",
			"DROP TABLE sleuth_run", "DROP TABLE sleuth_schema"};

		assert_int_equal(sl__store_run(store, drops[i], NULL, 0, NULL),
				 SL_OK);
	}
	assert_int_equal(
		sl__store_run(store, "CREATE TABLE t (x TEXT)", NULL, 0, NULL),
		SL_OK);
	sl_store_close(store);
	assert_refused(other, SL_E_DATA, "not a store of results");
	assert_refused(store_folder, SL_E_IO, "Is a directory");
	assert_refused("postgresql:/u:secret@h/d", SL_E_DATA,
		       "this URL begins with postgresql:");
	assert_refused("mysql://u:secret@h/d", SL_E_DATA,
		       "this URL begins with mysql:");
	assert_refused("C:/secret", SL_E_ABSENT, "C:/secret");
}

/* Tags and documents that cannot be kept leave nothing behind. */
static void
test_nothing_half(void **state)
{
	const struct sl_parameter tags[] = {{"a=b", "c"}};
	const struct sl_labels labels = {.struct_size = sizeof(labels),
					 .machine = "m",
					 .tags = tags,
					 .n_tags = 1};
	const char *json = document_of("a", 1);
	struct sl_store *store = store_at(store_path);
	struct sl_error err;
	uint64_t id;

	(void)state;
	assert_int_equal(
		sl_store_put(store, &id, json, strlen(json), &labels, &err),
		SL_E_USAGE);
	assert_int_equal(id, 0);
	assert_int_equal(sl_store_put(store, &id, "{}", 2, NULL, &err),
			 SL_E_DATA);
	/* The document fails last: its row and its points go with it. */
	assert_int_equal(sl__store_run(store, "DROP TABLE sleuth_document",
				       NULL, 0, NULL),
			 SL_OK);
	assert_int_equal(
		sl_store_put(store, &id, json, strlen(json), NULL, &err),
		store_is_on_server() ? SL_E_IO : SL_E_BUG);
	assert_finds(store, (struct sl_store_query){.n_most = 0}, "");
	sl_store_close(store);
}

#define CASE(test)                                               \
	cmocka_unit_test_setup_teardown(test, make_store_folder, \
					remove_store_folder)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_round_trip),    CASE(test_several),
		CASE(test_query),         CASE(test_delete),
		CASE(test_lines),         CASE(test_refused),
		CASE(test_refused_files), CASE(test_nothing_half),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
