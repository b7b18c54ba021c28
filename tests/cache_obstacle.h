/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cache_obstacle.h - what may lie where a kept file belongs and must be
 * neither read nor replaced, and a check that it was not.
 */
#ifndef SL_TEST_CACHE_OBSTACLE_H
#define SL_TEST_CACHE_OBSTACLE_H

#include "harness.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum obstacle_kind {
	OBSTACLE_LINK,     /* to a file of the user's own */
	OBSTACLE_DANGLING, /* a link to nothing */
	OBSTACLE_PIPE,
	OBSTACLE_FOLDER,
	OBSTACLE_FOREIGN, /* a file of another user: made by root alone */
	N_OBSTACLES
};

/* What the reason says. */
static const char *const obstacle_reasons[N_OBSTACLES] = {
	"symbolic link", "symbolic link", "not a regular file",
	"not a regular file", "belongs to another user (65534)"};

static const char precious[] = "precious\n";

struct obstacle {
	enum obstacle_kind kind;
	char path[512], target[520];
	struct stat made;
};

static inline void
write_precious(const char *path)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs(precious, file);
	assert_int_equal(fclose(file), 0);
}

/* Whether it was made; says so where it could not be. */
static inline int
obstacle_new(struct obstacle *o, enum obstacle_kind kind, const char *path)
{
	o->kind = kind;
	snprintf(o->path, sizeof(o->path), "%s", path);
	snprintf(o->target, sizeof(o->target), "%s.target", path);
	if (kind == OBSTACLE_FOREIGN && geteuid() != 0) {
		print_message("skipped: only root can make a file of another "
			      "user\n");
		return 0;
	}
	if (kind == OBSTACLE_LINK)
		write_precious(o->target);
	if (kind == OBSTACLE_LINK || kind == OBSTACLE_DANGLING)
		assert_int_equal(symlink(o->target, path), 0);
	else if (kind == OBSTACLE_PIPE)
		assert_int_equal(mkfifo(path, 0600), 0);
	else if (kind == OBSTACLE_FOLDER)
		assert_int_equal(mkdir(path, 0700), 0);
	else
		write_precious(path);
	if (kind == OBSTACLE_FOREIGN)
		assert_int_equal(chown(path, 65534, 65534), 0);
	assert_int_equal(lstat(path, &o->made), 0);
	return 1;
}

static inline void
assert_precious(const char *path)
{
	char text[64] = "";
	FILE *file = fopen(path, "r");

	assert_non_null(file);
	assert_non_null(fgets(text, sizeof(text), file));
	fclose(file);
	assert_string_equal(text, precious);
}

/* It lies there as it was made, and so does what it leads to. */
static inline void
assert_untouched(const struct obstacle *o)
{
	struct stat now;

	assert_int_equal(lstat(o->path, &now), 0);
	assert_int_equal(now.st_ino, o->made.st_ino);
	assert_int_equal(now.st_mode, o->made.st_mode);
	assert_int_equal(now.st_uid, o->made.st_uid);
	if (o->kind == OBSTACLE_LINK)
		assert_precious(o->target);
	else
		assert_int_equal(access(o->target, F_OK), -1);
	if (o->kind == OBSTACLE_FOREIGN)
		assert_precious(o->path);
}

static inline void
obstacle_free(const struct obstacle *o)
{
	assert_int_equal(remove(o->path), 0);
	if (o->kind == OBSTACLE_LINK)
		assert_int_equal(unlink(o->target), 0);
}

#endif
