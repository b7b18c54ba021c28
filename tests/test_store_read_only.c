/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_store_read_only.c - a store in a folder that may only be read is read,
 * what others add to it meanwhile is seen, and whoever wants to write is told
 * at once.  Root may write everything, so that as root the reader becomes the
 * user nobody.
 */
#include "store_case.h"

#include <sys/stat.h>
#include <sys/wait.h>

enum { NOBODY = 65534 };

/* Adds a result where the folder is open to that. */
static void
add_result(void)
{
	struct sl_store *store;

	assert_int_equal(chmod(store_folder, 0755), 0);
	store = store_at(store_path);
	put(store, document_of("a", 1), NULL);
	sl_store_close(store);
	assert_int_equal(chmod(store_folder, 0555), 0);
}

static int
count_results(struct sl_store *store)
{
	struct sl_stored_runs *runs;
	int n;

	if (sl_store_find(&runs, store, NULL, NULL))
		return -1;
	n = (int)runs->n;
	sl_stored_runs_free(runs);
	return n;
}

/* Says how many results there are, whenever it is asked. */
static void
read_along(int from, int to)
{
	struct sl_store_options how = {.struct_size = sizeof(how),
				       .where = store_path,
				       .must_exist = 1};
	struct sl_store *store;
	struct sl_error err;
	int n = -2;

	if (!getuid() && (setgid(NOBODY) || setuid(NOBODY)))
		_exit(1);
	if (sl_store_open(&store, &how, &err))
		_exit(2);
	while (read(from, &n, sizeof(n)) == sizeof(n)) {
		n = count_results(store);
		if (write(to, &n, sizeof(n)) != sizeof(n))
			_exit(3);
	}
	sl_store_close(store);
	how.must_write = 1;
	if (sl_store_open(&store, &how, &err) != SL_E_IO ||
	    !strstr(err.text, "may only be read"))
		_exit(4);
	_exit(0);
}

static int
ask(int to, int from)
{
	int n = 0;

	assert_int_equal(write(to, &n, sizeof(n)), sizeof(n));
	assert_int_equal(read(from, &n, sizeof(n)), sizeof(n));
	return n;
}

static void
test_read_along(void **state)
{
	int questions[2], answers[2], status;
	pid_t reader;

	(void)state;
	add_result();
	assert_int_equal(pipe(questions) || pipe(answers), 0);
	reader = fork();
	assert_true(reader >= 0);
	if (reader == 0) {
		close(questions[1]);
		read_along(questions[0], answers[1]);
	}
	close(questions[0]);
	close(answers[1]);
	assert_int_equal(ask(questions[1], answers[0]), 1);
	assert_int_equal(ask(questions[1], answers[0]), 1);
	for (int n = 2; n < 6; n++) {
		add_result();
		assert_int_equal(ask(questions[1], answers[0]), n);
	}
	close(questions[1]);
	assert_int_equal(waitpid(reader, &status, 0), reader);
	assert_int_equal(status, 0);
	assert_int_equal(chmod(store_folder, 0755), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_read_along,
						make_store_folder,
						remove_store_folder),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
