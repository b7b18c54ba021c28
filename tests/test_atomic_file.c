/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files that get their name when they are whole: before, the name shows what
 * it showed; after a failure nothing new is there; links and modes stay, but
 * for a private file, which takes the place of a link.
 */
#include "harness.h"

#include "counting.h"
#include "base/atomic_file.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64], path[128];

static int
make_folder(void **state)
{
	(void)state;
	snprintf(folder, sizeof(folder), "/tmp/sleuth-draft-XXXXXX");
	snprintf(path, sizeof(path), "%s/file", mkdtemp(folder));
	return 0;
}

static int
remove_folder(void **state)
{
	(void)state;
	unlink(path);
	return rmdir(folder);
}

static int
n_files(void)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;
	int n = 0;

	assert_non_null(dir);
	while ((entry = readdir(dir)))
		n += entry->d_name[0] != '.';
	closedir(dir);
	return n;
}

/* Whether the file holds 'n' times 'byte'. */
static int
holds(const char *name, int byte, size_t n)
{
	FILE *file = fopen(name, "rb");
	size_t n_read = 0;
	int c, is_same = 1;

	if (!file)
		return 0;
	while ((c = getc(file)) != EOF) {
		is_same &= c == byte;
		n_read++;
	}
	fclose(file);
	return is_same && n_read == n;
}

static struct sl__atomic_file *
begin(const char *name, int byte, size_t n)
{
	struct sl__atomic_file *draft;
	struct sl_error err = {.status = SL_OK, .text = ""};
	char *bytes = malloc(n + 1);

	assert_non_null(bytes);
	memset(bytes, byte, n);
	assert_int_equal(sl__atomic_file_open(&draft, name, NULL, &err), SL_OK);
	/* In pieces around the size of what is held back. */
	for (size_t at = 0, step = 1; at < n; at += step, step = step * 3 + 1)
		sl__atomic_file_add(draft, bytes + at,
				    step < n - at ? step : n - at);
	free(bytes);
	return draft;
}

static void
appears_at_once(void **state)
{
	const size_t n = 300000;
	struct sl__atomic_file *draft;

	(void)state;
	draft = begin(path, 'a', n);
	assert_int_equal(access(path, F_OK), -1);
	assert_int_equal(sl__atomic_file_flush(draft, NULL), SL_OK);
	assert_int_equal(access(path, F_OK), -1);
	assert_int_equal(sl__atomic_file_commit(draft, NULL), SL_OK);
	sl__atomic_file_free(draft);
	assert_true(holds(path, 'a', n));
	assert_int_equal(n_files(), 1);

	draft = begin(path, 'b', 10);
	assert_true(holds(path, 'a', n));
	sl__atomic_file_free(draft); /* given up */
	assert_true(holds(path, 'a', n));
	draft = begin(path, 'b', 0);
	assert_int_equal(sl__atomic_file_commit(draft, NULL), SL_OK);
	sl__atomic_file_free(draft);
	assert_true(holds(path, 0, 0));
	assert_int_equal(n_files(), 1);
}

static void
links_and_modes_stay(void **state)
{
	struct sl__atomic_file *draft;
	struct stat known;
	char name[160];

	(void)state;
	snprintf(name, sizeof(name), "%s/link", folder);
	assert_int_equal(symlink("file", name), 0);
	draft = begin(name, 'c', 5); /* to nothing yet */
	assert_int_equal(sl__atomic_file_commit(draft, NULL), SL_OK);
	sl__atomic_file_free(draft);
	assert_true(holds(path, 'c', 5));
	assert_int_equal(chmod(path, 0640), 0);
	draft = begin(name, 'd', 6);
	assert_int_equal(sl__atomic_file_commit(draft, NULL), SL_OK);
	sl__atomic_file_free(draft);
	assert_int_equal(lstat(name, &known), 0);
	assert_true(S_ISLNK(known.st_mode));
	assert_int_equal(stat(path, &known), 0);
	assert_int_equal(known.st_mode & 0777, 0640);
	assert_true(holds(path, 'd', 6));
	assert_int_equal(unlink(name), 0);
}

static void
a_private_file_follows_no_link(void **state)
{
	struct sl__atomic_file *draft;
	struct stat known;
	char name[160];

	(void)state;
	snprintf(name, sizeof(name), "%s/link", folder);
	draft = begin(path, 'c', 5);
	assert_int_equal(sl__atomic_file_commit(draft, NULL), SL_OK);
	sl__atomic_file_free(draft);
	assert_int_equal(symlink("file", name), 0);
	assert_int_equal(sl__atomic_file_open_private(&draft, name, NULL, NULL),
			 SL_OK);
	sl__atomic_file_add(draft, "dd", 2);
	assert_int_equal(sl__atomic_file_commit(draft, NULL), SL_OK);
	sl__atomic_file_free(draft);
	assert_true(holds(path, 'c', 5));
	assert_true(holds(name, 'd', 2));
	assert_int_equal(lstat(name, &known), 0);
	assert_true(S_ISREG(known.st_mode));
	assert_int_equal(known.st_mode & 0777, 0600);
	assert_int_equal(n_files(), 2);
	assert_int_equal(unlink(name), 0);
}

static void
failures_are_told(void **state)
{
	static const char *const places[] = {"/nowhere/at/all", "/tmp", ""};
	struct counting counting = {0, 0, 1};
	const struct sl_allocator allocator = counting_allocator(&counting);
	struct sl__atomic_file *draft;
	struct sl_error err;
	char long_name[6000];

	(void)state;
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		assert_int_equal(
			sl__atomic_file_open(&draft, places[i], NULL, &err),
			SL_E_IO);
	memset(long_name, 'x', sizeof(long_name));
	long_name[sizeof(long_name) - 1] = '\0';
	assert_int_equal(sl__atomic_file_open(&draft, long_name, NULL, &err),
			 SL_E_IO);
	assert_int_equal(sl__atomic_file_open(&draft, path, &allocator, &err),
			 SL_E_NOMEM);
	assert_null(draft);
	sl__atomic_file_free(NULL);

	draft = begin("/dev/full", 'e', 1000000);
	assert_true(sl__atomic_file_has_failed(draft));
	assert_int_equal(sl__atomic_file_commit(draft, &err), SL_E_IO);
	assert_non_null(strstr(err.text, "/dev/full"));
	sl__atomic_file_free(draft);
	/* The folder goes away before the end. */
	unlink(path);
	draft = begin(path, 'f', 10);
	if (rmdir(folder) == 0) {
		assert_int_equal(sl__atomic_file_commit(draft, &err), SL_E_IO);
		assert_int_equal(mkdir(folder, 0700), 0);
	}
	sl__atomic_file_free(draft);
	assert_int_equal(n_files(), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(appears_at_once),
		cmocka_unit_test(links_and_modes_stay),
		cmocka_unit_test(a_private_file_follows_no_link),
		cmocka_unit_test(failures_are_told),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
