/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_cache_file.c - what is kept for the user comes back, for the user
 * alone.  A link, a pipe, a folder or another user's file in its place is
 * refused with a reason, not waited for, and left as it is, with what it leads
 * to; no home is made.  Works as root, whom permissions do not stop.
 */
#include "harness.h"
#include "base/cache_file.h"
#include "base/buf.h"
#include "cache_obstacle.h"

#include <dirent.h>

static char folder[64], path[128];

static int
make_folder(void **state)
{
	(void)state;
	snprintf(folder, sizeof(folder), "/tmp/sleuth-kept-XXXXXX");
	if (!mkdtemp(folder))
		return -1;
	snprintf(path, sizeof(path), "%s/a.txt", folder);
	return 0;
}

static int
remove_folder(void **state)
{
	char command[96];

	(void)state;
	snprintf(command, sizeof(command), "rm -r %s", folder);
	return system(command);
}

static int
n_entries(void)
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

static void
assert_holds(const char *name, const char *text)
{
	struct sl_buf buf = {0};

	assert_int_equal(sl__cache_read(&buf, name, NULL), SL_OK);
	assert_int_equal(buf.n_bytes, strlen(text));
	if (buf.n_bytes)
		assert_memory_equal(buf.data, text, buf.n_bytes);
	sl_buf_release(&buf);
}

static void
assert_mode(const char *name, mode_t mode)
{
	struct stat known;

	assert_int_equal(stat(name, &known), 0);
	assert_int_equal(known.st_mode & 0777, mode);
}

static void
what_was_kept_comes_back_for_the_user_alone(void **state)
{
	mode_t mask = umask(0);

	(void)state;
	assert_int_equal(sl__cache_write(path, "one", 3, NULL), SL_OK);
	assert_holds(path, "one");
	assert_mode(path, 0600);
	assert_int_equal(sl__cache_write(path, "other", 5, NULL), SL_OK);
	assert_holds(path, "other");
	assert_int_equal(sl__cache_write(path, "", 0, NULL), SL_OK);
	assert_holds(path, "");
	assert_int_equal(n_entries(), 1);
	umask(mask);
}

static void
no_file_is_absence(void **state)
{
	struct sl_buf buf = {0};
	struct sl_error err;
	char below[160];

	(void)state;
	assert_int_equal(sl__cache_read(&buf, path, &err), SL_E_ABSENT);
	snprintf(below, sizeof(below), "%s/no/such/folder", folder);
	assert_int_equal(sl__cache_read(&buf, below, &err), SL_E_ABSENT);
	assert_null(buf.data);
}

static void
what_is_no_file_of_the_users_own_is_refused(void **state)
{
	(void)state;
	for (int kind = 0; kind < N_OBSTACLES; kind++) {
		struct sl_buf buf = {0};
		struct sl_error err;
		struct obstacle o;

		if (!obstacle_new(&o, (enum obstacle_kind)kind, path))
			continue;
		assert_int_equal(sl__cache_read(&buf, path, &err), SL_E_IO);
		assert_non_null(strstr(err.text, path));
		assert_non_null(strstr(err.text, obstacle_reasons[kind]));
		assert_null(buf.data);
		err.text[0] = '\0';
		assert_int_equal(sl__cache_write(path, "x", 1, &err), SL_E_IO);
		assert_non_null(strstr(err.text, obstacle_reasons[kind]));
		assert_untouched(&o);
		obstacle_free(&o);
		assert_int_equal(n_entries(), 0);
	}
}

static void
too_large_a_file_is_not_read_but_replaced(void **state)
{
	struct sl_buf buf = {0};
	struct sl_error err;

	(void)state;
	assert_int_equal(sl__cache_write(path, "x", 1, NULL), SL_OK);
	assert_int_equal(truncate(path, SL__CACHE_MOST_BYTES), 0);
	assert_int_equal(sl__cache_read(&buf, path, &err), SL_OK);
	assert_int_equal(buf.n_bytes, SL__CACHE_MOST_BYTES);
	sl_buf_release(&buf);
	assert_int_equal(truncate(path, SL__CACHE_MOST_BYTES + 1), 0);
	assert_int_equal(sl__cache_read(&buf, path, &err), SL_E_IO);
	assert_non_null(strstr(err.text, "larger than"));
	assert_null(buf.data);
	/* Nor is so much written: "x" stands for bytes that are not looked
	 * at. */
	assert_int_equal(
		sl__cache_write(path, "x", SL__CACHE_MOST_BYTES + 1, &err),
		SL_E_IO);
	assert_int_equal(sl__cache_write(path, "y", 1, NULL), SL_OK);
	assert_holds(path, "y");
}

/* $HOME/.cache/sleuth is made, and $XDG_CACHE_HOME with what is below. */
static void
folders_are_made_for_the_user_alone(void **state)
{
	char found[SL__CACHE_PATH], file[SL__CACHE_PATH + 8], made[96];
	mode_t mask = umask(0);

	(void)state;
	unsetenv("XDG_CACHE_HOME");
	setenv("HOME", folder, 1);
	assert_int_equal(sl__cache_folder(found, NULL, NULL), SL_OK);
	assert_int_equal(access(found, F_OK), -1);
	snprintf(file, sizeof(file), "%s/a.txt", found);
	assert_int_equal(sl__cache_write(file, "x", 1, NULL), SL_OK);
	snprintf(made, sizeof(made), "%s/.cache/sleuth", folder);
	assert_string_equal(found, made);
	assert_mode(made, 0700);
	snprintf(made, sizeof(made), "%s/.cache", folder);
	assert_mode(made, 0700);

	snprintf(made, sizeof(made), "%s/cache", folder);
	setenv("XDG_CACHE_HOME", made, 1);
	assert_int_equal(sl__cache_folder(found, NULL, NULL), SL_OK);
	snprintf(file, sizeof(file), "%s/a.txt", found);
	assert_int_equal(sl__cache_write(file, "x", 1, NULL), SL_OK);
	assert_mode(made, 0700);
	snprintf(made, sizeof(made), "%s/cache/sleuth", folder);
	assert_string_equal(found, made);
	assert_mode(made, 0700);
	umask(mask);
}

static void
no_home_is_made(void **state)
{
	char found[SL__CACHE_PATH], home[96], cache[104], file[160];
	struct sl_error err;

	(void)state;
	snprintf(home, sizeof(home), "%s/nobody", folder);
	snprintf(cache, sizeof(cache), "%s/.cache", home);
	unsetenv("XDG_CACHE_HOME");
	setenv("HOME", home, 1);
	assert_int_equal(sl__cache_folder(found, NULL, &err), SL_E_ABSENT);
	assert_non_null(strstr(err.text, home));
	setenv("XDG_CACHE_HOME", cache, 1);
	assert_int_equal(sl__cache_folder(found, NULL, &err), SL_E_ABSENT);
	assert_non_null(strstr(err.text, home));
	snprintf(file, sizeof(file), "%s/sleuth/a.txt", cache);
	assert_int_equal(sl__cache_write(file, "x", 1, &err), SL_E_IO);
	assert_int_equal(n_entries(), 0);
	/* A home that is a file. */
	write_precious(home);
	unsetenv("XDG_CACHE_HOME");
	assert_int_equal(sl__cache_folder(found, NULL, &err), SL_E_ABSENT);
	assert_non_null(strstr(err.text, "Not a directory"));
	assert_precious(home);
}

static void
paths_that_are_not_absolute_do_not_count(void **state)
{
	char found[SL__CACHE_PATH], expected[96];
	struct sl_error err;

	(void)state;
	setenv("XDG_CACHE_HOME", "cache", 1);
	setenv("HOME", folder, 1);
	assert_int_equal(sl__cache_folder(found, NULL, NULL), SL_OK);
	snprintf(expected, sizeof(expected), "%s/.cache/sleuth", folder);
	assert_string_equal(found, expected);
	setenv("HOME", "home", 1);
	assert_int_equal(sl__cache_folder(found, NULL, &err), SL_E_ABSENT);
	unsetenv("HOME");
	assert_int_equal(sl__cache_folder(found, NULL, &err), SL_E_ABSENT);
	assert_non_null(strstr(err.text, "neither XDG_CACHE_HOME nor HOME"));
	/* What the caller names counts as it is; nothing is a wish too. */
	assert_int_equal(sl__cache_folder(found, "here", NULL), SL_OK);
	assert_string_equal(found, "here");
	assert_int_equal(sl__cache_folder(found, "", &err), SL_E_ABSENT);
}

static void
an_unwritable_folder_is_told(void **state)
{
	static char long_path[SL__CACHE_PATH + 8];
	char below[160];
	struct sl_error err;

	(void)state;
	assert_int_equal(sl__cache_write("/proc/sleuth/a.txt", "x", 1, &err),
			 SL_E_IO);
	assert_non_null(strstr(err.text, "/proc/sleuth"));
	write_precious(path);
	snprintf(below, sizeof(below), "%s/below/a.txt", path);
	assert_int_equal(sl__cache_write(below, "x", 1, &err), SL_E_IO);
	assert_precious(path);
	assert_int_equal(unlink(path), 0);
	memset(long_path, 'a', sizeof(long_path) - 1);
	assert_int_equal(sl__cache_write(long_path, "x", 1, &err), SL_E_IO);

	if (geteuid() == 0)
		return; /* nothing is read-only to root */
	assert_int_equal(chmod(folder, 0555), 0);
	assert_int_equal(sl__cache_write(path, "x", 1, &err), SL_E_IO);
	assert_int_equal(chmod(folder, 0755), 0);
	assert_int_equal(n_entries(), 0);
}

#define in_a_folder(test) \
	cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		in_a_folder(what_was_kept_comes_back_for_the_user_alone),
		in_a_folder(no_file_is_absence),
		in_a_folder(what_is_no_file_of_the_users_own_is_refused),
		in_a_folder(too_large_a_file_is_not_read_but_replaced),
		in_a_folder(folders_are_made_for_the_user_alone),
		in_a_folder(no_home_is_made),
		in_a_folder(paths_that_are_not_absolute_do_not_count),
		in_a_folder(an_unwritable_folder_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
