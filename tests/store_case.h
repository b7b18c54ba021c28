/* SPDX-License-Identifier: Apache-2.0 */
/* store_case.h - a store in a folder of its own, and results to put there. */
#ifndef SL_TEST_STORE_CASE_H
#define SL_TEST_STORE_CASE_H

#include "harness.h"
#include "sleuth.h"
#include "store/store.h"

#include <unistd.h>

static char store_folder[64], store_path[256];

/* Whether it is on a server, whose URL is in $SL_TEST_DB. */
static inline int
store_is_on_server(void)
{
	return getenv("SL_TEST_DB") != NULL;
}

/* Takes away the tables that a test before this one left on the server. */
static inline void
clear_server(void)
{
	static const struct sl__statement drop = {
		.sql = "DROP TABLE IF EXISTS sleuth_document, sleuth_point, "
		       "sleuth_run, sleuth_live, sleuth_schema"};
	struct sl__database *db;
	struct sl_error err;

	snprintf(store_path, sizeof(store_path), "%s", getenv("SL_TEST_DB"));
	if (sl__postgres_database.open(&db, store_path, 0, &err) ||
	    sl__postgres_database.run(db, &drop, &err))
		fail_msg("%s", err.text);
	sl__postgres_database.close(db);
}

static inline int
make_store_folder(void **state)
{
	(void)state;
	snprintf(store_folder, sizeof(store_folder), "/tmp/sleuth-db-XXXXXX");
	if (!mkdtemp(store_folder))
		return -1;
	snprintf(store_path, sizeof(store_path), "%s/results.db", store_folder);
	if (store_is_on_server())
		clear_server();
	return 0;
}

static inline int
remove_store_folder(void **state)
{
	char command[96];

	(void)state;
	snprintf(command, sizeof(command), "rm -r %s", store_folder);
	return system(command);
}

static inline struct sl_store *
store_at(const char *path)
{
	const struct sl_store_options how = {.struct_size = sizeof(how),
					     .where = path};
	struct sl_store *store;
	struct sl_error err;

	if (sl_store_open(&store, &how, &err))
		fail_msg("%s", err.text);
	return store;
}

/* A document of one model, as far as a store looks at it. */
static inline const char *
document_of(const char *model, double median_ms)
{
	static char text[512];

	snprintf(text, sizeof(text),
		 "{\n  \"schema\": 1,\n  \"tool\": {\"name\": \"sleuth\", "
		 "\"version\": \"0.1.0\"},\n  \"command\": \"profile\",\n"
		 "  \"kind\": \"profile\",\n  \"model\": {\"name\": \"%s\", "
		 "\"source\": \"zoo\", \"sizes\": \"batch 1\"},\n"
		 "  \"plan\": {\"dtype\": \"f32\", \"threads\": 2},\n"
		 "  \"latency\": {\"n\": 9, \"median_ms\": %.17g, "
		 "\"ci95_ms\": {\"lo\": 1.5, \"hi\": 2.5}}\n}\n",
		 model, median_ms);
	return text;
}

static inline uint64_t
put(struct sl_store *store, const char *json, const struct sl_labels *labels)
{
	struct sl_error err;
	uint64_t id;

	if (sl_store_put(store, &id, json, strlen(json), labels, &err))
		fail_msg("%s", err.text);
	return id;
}

static inline struct sl_stored_runs *
find(struct sl_store *store, const struct sl_store_query *query)
{
	struct sl_stored_runs *runs;
	struct sl_error err;

	if (sl_store_find(&runs, store, query, &err))
		fail_msg("%s", err.text);
	return runs;
}

#endif
