/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_store_writers.c - eight processes write results into one store and are
 * killed at random moments: every result that was acknowledged is there as it
 * was written, and nothing is there in part.  In SQLite, or on the server whose
 * URL is in $SL_TEST_DB.
 */
#include "store_case.h"
#include "base/rng.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

enum {
	N_WRITERS = 8,
	N_EACH = 1000, /* results of a writer that are acknowledged */
	N_KILLS = 40
};

/* What a writer says once a result is saved; small enough for one write(). */
struct acknowledged {
	uint64_t id;
	int writer, nth;
};

static int acknowledgements;

/* A document of its own, with samples that make it as long as real ones. */
static const char *
document(int writer, int nth)
{
	static char text[16384];
	int n = snprintf(text, sizeof(text),
			 "{\"schema\": 1, \"tool\": {\"version\": \"1\"}, "
			 "\"command\": \"bench\", \"kind\": \"bench\", "
			 "\"results\": [{\"command\": \"w%d\", \"latency\": "
			 "{\"n\": 500, \"median_ms\": %d}}], \"samples\": [0",
			 writer, nth);

	for (int i = 0; i < 1000; i++)
		n += snprintf(text + n, sizeof(text) - (size_t)n, ", %d",
			      (writer * 7919 + nth * 104729 + i * i) % 99991);
	snprintf(text + n, sizeof(text) - (size_t)n, "]}");
	return text;
}

/* A writer begins anew where it was killed; it may write one result twice. */
static void
write_results(int writer, int first)
{
	const struct sl_labels labels = {.struct_size = sizeof(labels),
					 .machine = "m"};
	const struct sl_store_options how = {.struct_size = sizeof(how),
					     .where = store_path};
	struct sl_store *store;
	struct sl_error err;

	if (sl_store_open(&store, &how, &err)) {
		fprintf(stderr, "writer %d: %s\n", writer, err.text);
		_exit(1);
	}
	for (int i = first; i < N_EACH; i++) {
		struct acknowledged done = {.writer = writer, .nth = i};
		const char *json = document(writer, i);

		if (sl_store_put(store, &done.id, json, strlen(json), &labels,
				 &err)) {
			fprintf(stderr, "writer %d: %s\n", writer, err.text);
			_exit(1);
		}
		if (write(acknowledgements, &done, sizeof(done)) !=
		    sizeof(done))
			_exit(1);
	}
	sl_store_close(store);
	_exit(0);
}

static pid_t
start(int writer, int first)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (!pid)
		write_results(writer, first);
	return pid;
}

/* All that was acknowledged so far. */
static struct acknowledged *
read_acknowledged(const char *path, size_t *n)
{
	FILE *file = fopen(path, "r");
	struct acknowledged *all =
		malloc((N_WRITERS * N_EACH + 1) * sizeof(*all));

	assert_non_null(file);
	assert_non_null(all);
	*n = fread(all, sizeof(*all), N_WRITERS * N_EACH + 1, file);
	fclose(file);
	return all;
}

static int
next_of(int writer, const char *path)
{
	int next = 0;
	size_t n;
	struct acknowledged *all = read_acknowledged(path, &n);

	for (size_t i = 0; i < n; i++)
		next += all[i].writer == writer;
	free(all);
	return next;
}

/* Kills writers, who are started again, until all have written all. */
static void
drive(const char *path)
{
	struct sl__rng rng;
	pid_t pids[N_WRITERS];
	int n_left = N_WRITERS;

	sl__rng_init(&rng, 19);
	for (int i = 0; i < N_WRITERS; i++)
		pids[i] = start(i, 0);
	for (int i = 0; i < N_KILLS; i++) {
		int who = (int)sl__rng_below(&rng, N_WRITERS);
		struct timespec pause = {
			0, 1000000 * (long)(1 + sl__rng_below(&rng, 60))};

		nanosleep(&pause, NULL);
		if (kill(pids[who], SIGKILL))
			fail_msg("writer %d is gone", who);
		assert_int_equal(waitpid(pids[who], NULL, 0), pids[who]);
		pids[who] = start(who, next_of(who, path));
	}
	while (n_left--) {
		int status;

		assert_true(wait(&status) > 0);
		assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	}
}

static enum sl_status
take(const struct sl__sql_value *row, size_t n, void *ctx, struct sl_error *err)
{
	(void)n;
	(void)err;
	*(int64_t *)ctx = row[0].whole;
	return SL_OK;
}

static int64_t
ask(struct sl_store *store, const char *sql)
{
	int64_t answer = -1;
	const struct sl__statement question = {
		.sql = sql, .row = take, .ctx = &answer};

	assert_int_equal(store->kind->run(store->db, &question, NULL), SL_OK);
	return answer;
}

static void
test_killed_writers(void **state)
{
	struct acknowledged *all;
	struct sl_store *store;
	char path[128];
	size_t n;

	(void)state;
	snprintf(path, sizeof(path), "%s/acknowledged", store_folder);
	acknowledgements =
		open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	assert_true(acknowledgements >= 0);
	drive(path);
	all = read_acknowledged(path, &n);
	assert_int_equal(n, N_WRITERS * N_EACH);
	store = store_at(store_path);
	for (size_t i = 0; i < n; i++) {
		struct sl_buf json = {0};

		assert_int_equal(sl_store_get(store, all[i].id, &json, NULL),
				 SL_OK);
		assert_string_equal(json.data,
				    document(all[i].writer, all[i].nth));
		sl_buf_release(&json);
	}
	/* At most one more for each that was killed, and none in part. */
	assert_in_range(ask(store, "SELECT count(*) FROM sleuth_run"), n,
			n + N_KILLS);
	assert_int_equal(ask(store, "SELECT count(*) FROM sleuth_run WHERE id"
				    " NOT IN (SELECT run FROM sleuth_document)"
				    " OR id NOT IN (SELECT run FROM"
				    " sleuth_point)"),
			 0);
	free(all);
	close(acknowledgements);
	sl_store_close(store);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_killed_writers,
						make_store_folder,
						remove_store_folder),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
