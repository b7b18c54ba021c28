/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_file.c - a file holds exactly what was written or exactly what it
 * held before, and a failed write leaves nothing beside it.  Works as root,
 * whom permissions do not stop.
 */
#include "harness.h"
#include "base/file.h"
#include "base/buf.h"

#include <dirent.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { N_NAME = 64, N_PATH = 512 };

/* Everything happens in a fresh folder below the current one. */
static char folder[N_NAME];

static int
make_folder(void **state)
{
	(void)state;
	snprintf(folder, sizeof(folder), "test_file.XXXXXX");
	return mkdtemp(folder) ? 0 : -1;
}

static const char *
in_folder(char path[N_PATH], const char *name)
{
	snprintf(path, N_PATH, "%s/%s", folder, name);
	return path;
}

/* Counts the entries of the folder and removes them when asked to. */
static int
entries(int remove_them)
{
	char path[N_PATH];
	struct dirent *entry;
	DIR *dir = opendir(folder);
	int n = 0;

	assert_non_null(dir);
	while ((entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		n++;
		if (remove_them)
			remove(in_folder(path, entry->d_name));
	}
	closedir(dir);
	return n;
}

static int
remove_folder(void **state)
{
	(void)state;
	entries(1);
	return rmdir(folder);
}

static void
check_content(const char *path, const char *bytes, size_t n_bytes)
{
	struct sl_buf buf = {0};

	assert_int_equal(sl__file_read(&buf, path, SIZE_MAX, NULL), SL_OK);
	assert_int_equal(buf.n_bytes, n_bytes);
	if (n_bytes)
		assert_memory_equal(buf.data, bytes, n_bytes);
	sl_buf_release(&buf);
}

static void
what_was_written_is_read(void **state)
{
	enum { N = 100000 }; /* many reads and writes of one page */
	static char large[N];
	char path[N_PATH];

	(void)state;
	for (int i = 0; i < N; i++)
		large[i] = (char)(i * 31);
	in_folder(path, "a.json");
	assert_int_equal(sl__file_write(path, large, N, NULL), SL_OK);
	check_content(path, large, N);
	assert_int_equal(sl__file_write(path, "shorter", 7, NULL), SL_OK);
	check_content(path, "shorter", 7);
	assert_int_equal(sl__file_write(path, "", 0, NULL), SL_OK);
	check_content(path, "", 0);
	assert_int_equal(entries(0), 1);
}

static void
a_buffer_writes_itself(void **state)
{
	char path[N_PATH];
	struct sl_buf buf = {0};

	(void)state;
	in_folder(path, "b.csv");
	sl__buf_text(&buf, "name,median_ms\n");
	assert_int_equal(sl_buf_write(&buf, path, NULL), SL_OK);
	check_content(path, buf.data, buf.n_bytes);
	sl_buf_release(&buf);
}

static void
reading_stops_at_the_limit_and_appends(void **state)
{
	char path[N_PATH];
	struct sl_buf buf = {0};

	(void)state;
	in_folder(path, "c");
	assert_int_equal(sl__file_write(path, "0123456789", 10, NULL), SL_OK);
	assert_int_equal(sl__file_read(&buf, path, 4, NULL), SL_OK);
	assert_int_equal(sl__file_read(&buf, path, 10, NULL), SL_OK);
	assert_string_equal(buf.data, "01230123456789");
	sl_buf_release(&buf);
	/* A file without a size. */
	assert_int_equal(sl__file_read(&buf, "/proc/self/stat", 4096, NULL),
			 SL_OK);
	assert_true(buf.n_bytes > 10);
	sl_buf_release(&buf);
}

static void
what_cannot_be_read_says_why(void **state)
{
	struct sl_error err = {.status = SL_OK, .text = ""};
	struct sl_buf buf = {0};

	(void)state;
	assert_int_equal(sl__file_read(&buf, "no/such", 10, &err), SL_E_IO);
	assert_string_equal(err.text, "no/such: No such file or directory");
	assert_int_equal(sl__file_read(&buf, ".", 10, &err), SL_E_IO);
	assert_string_equal(err.text, ".: Is a directory");
	assert_null(buf.data);
}

/* A disk that fills up, played by a limit on the size of files. */
static void
a_full_disk_keeps_the_old_content(void **state)
{
	static char large[8192];
	struct rlimit old, small;
	struct sl_error err = {.status = SL_OK, .text = ""};
	char path[N_PATH], fresh[N_PATH];
	enum sl_status rc_old, rc_fresh;

	(void)state;
	in_folder(path, "kept.json");
	in_folder(fresh, "fresh.json");
	assert_int_equal(sl__file_write(path, "precious", 8, NULL), SL_OK);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	small = old;
	small.rlim_cur = 4096;
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	rc_old = sl__file_write(path, large, sizeof(large), &err);
	rc_fresh = sl__file_write(fresh, large, sizeof(large), NULL);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	signal(SIGXFSZ, SIG_DFL);

	assert_int_equal(rc_old, SL_E_IO);
	assert_int_equal(rc_fresh, SL_E_IO);
	assert_non_null(strstr(err.text, "kept.json: File too large"));
	check_content(path, "precious", 8);
	assert_int_equal(entries(0), 1);
}

static void
an_unwritable_place_leaves_nothing(void **state)
{
	static const char *const places[] = {"no/such/folder/x", "/proc/x",
					     "/dev/full"};
	struct sl_error err;
	char path[N_PATH];

	(void)state;
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		err.text[0] = '\0';
		assert_int_equal(sl__file_write(places[i], "x", 1, &err),
				 SL_E_IO);
		assert_memory_equal(err.text, places[i], strlen(places[i]));
	}
	assert_string_equal(err.text, "/dev/full: No space left on device");
	assert_int_equal(sl__file_write(folder, "x", 1, &err), SL_E_IO);
	assert_int_equal(entries(0), 0);

	if (geteuid() == 0)
		return; /* nothing is read-only to root */
	assert_int_equal(chmod(folder, 0555), 0);
	assert_int_equal(sl__file_write(in_folder(path, "x"), "x", 1, NULL),
			 SL_E_IO);
	assert_int_equal(chmod(folder, 0755), 0);
	assert_int_equal(entries(0), 0);
	/* What the user made read-only is not replaced either. */
	assert_int_equal(sl__file_write(path, "old", 3, NULL), SL_OK);
	assert_int_equal(chmod(path, 0444), 0);
	assert_int_equal(sl__file_write(path, "x", 1, NULL), SL_E_IO);
	check_content(path, "old", 3);
}

static void
a_device_is_written_in_place(void **state)
{
	struct stat before, after;

	(void)state;
	assert_int_equal(stat("/dev/null", &before), 0);
	assert_int_equal(sl__file_write("/dev/null", "x", 1, NULL), SL_OK);
	assert_int_equal(stat("/dev/null", &after), 0);
	assert_int_equal(before.st_ino, after.st_ino);
	assert_true(S_ISCHR(after.st_mode));
}

static void
names_too_long_are_refused(void **state)
{
	static char path[5000];

	(void)state;
	memset(path, 'a', sizeof(path) - 1);
	assert_int_equal(sl__file_write(path, "x", 1, NULL), SL_E_IO);
}

static void
the_mode_of_a_file_stays(void **state)
{
	char path[N_PATH];
	struct stat known;

	(void)state;
	in_folder(path, "secret");
	assert_int_equal(sl__file_write(path, "x", 1, NULL), SL_OK);
	assert_int_equal(chmod(path, 0600), 0);
	assert_int_equal(sl__file_write(path, "y", 1, NULL), SL_OK);
	assert_int_equal(stat(path, &known), 0);
	assert_int_equal(known.st_mode & 0777, 0600);
}

/* A mode that the umask would not give to a new file. */
static void
the_umask_does_not_narrow_a_file(void **state)
{
	mode_t mask = umask(0077);
	char path[N_PATH];
	struct stat known;

	(void)state;
	in_folder(path, "shared");
	assert_int_equal(sl__file_write(path, "x", 1, NULL), SL_OK);
	assert_int_equal(chmod(path, 0664), 0);
	assert_int_equal(sl__file_write(path, "y", 1, NULL), SL_OK);
	umask(mask);
	assert_int_equal(stat(path, &known), 0);
	assert_int_equal(known.st_mode & 0777, 0664);
}

/* One to a file and one to nothing; both stay links. */
static void
links_are_followed(void **state)
{
	char path[N_PATH], to_file[N_PATH], to_nothing[N_PATH];
	struct stat known;

	(void)state;
	in_folder(path, "real");
	assert_int_equal(sl__file_write(path, "old", 3, NULL), SL_OK);
	assert_int_equal(symlink("real", in_folder(to_file, "link")), 0);
	assert_int_equal(sl__file_write(to_file, "new", 3, NULL), SL_OK);
	check_content(path, "new", 3);
	assert_int_equal(symlink("later", in_folder(to_nothing, "empty")), 0);
	assert_int_equal(sl__file_write(to_nothing, "new", 3, NULL), SL_OK);
	check_content(in_folder(path, "later"), "new", 3);
	assert_int_equal(lstat(to_file, &known), 0);
	assert_true(S_ISLNK(known.st_mode));
	assert_int_equal(lstat(to_nothing, &known), 0);
	assert_true(S_ISLNK(known.st_mode));
	assert_int_equal(entries(0), 4);
}

/* What a process with this number left when it was killed, by any name. */
static void
stale_files_beside_are_no_obstacle(void **state)
{
	static const char *const endings[] = {".part", ".0.part", ".1.part"};
	char name[N_NAME], path[N_PATH];

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		snprintf(name, sizeof(name), "a.%ld%s", (long)getpid(),
			 endings[i]);
		in_folder(path, name);
		assert_int_equal(sl__file_write(path, "stale", 5, NULL), SL_OK);
	}
	assert_int_equal(sl__file_write(in_folder(path, "a"), "x", 1, NULL),
			 SL_OK);
	check_content(path, "x", 1);
	check_content(in_folder(path, name), "stale", 5);
	assert_int_equal(entries(0), 4);
}

#define in_a_folder(test) \
	cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		in_a_folder(what_was_written_is_read),
		in_a_folder(a_buffer_writes_itself),
		in_a_folder(reading_stops_at_the_limit_and_appends),
		in_a_folder(what_cannot_be_read_says_why),
		in_a_folder(a_full_disk_keeps_the_old_content),
		in_a_folder(an_unwritable_place_leaves_nothing),
		in_a_folder(a_device_is_written_in_place),
		in_a_folder(names_too_long_are_refused),
		in_a_folder(the_mode_of_a_file_stays),
		in_a_folder(the_umask_does_not_narrow_a_file),
		in_a_folder(links_are_followed),
		in_a_folder(stale_files_beside_are_no_obstacle),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
