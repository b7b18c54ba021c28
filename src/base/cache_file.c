/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cache_file.c - small files kept in the user's cache folder.
 *
 * Others may be able to put things into that folder: it can be named by an
 * environment variable, and root may run with another user's home.  So nothing
 * there is trusted by its name: links are not followed, what is opened is
 * looked at before it is read, and a new file takes the old one's name by
 * rename, which replaces a link and never its target.
 */
#include "base/cache_file.h"
#include "base/atomic_file.h"
#include "base/file.h"
#include "base/status.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/banned.h"

/* Shortens 'path' to the folder that holds what it names. */
static void
cut(char *path)
{
	size_t n = strlen(path);

	while (n > 1 && path[n - 1] == '/')
		n--;
	while (n && path[n - 1] != '/')
		n--;
	while (n > 1 && path[n - 1] == '/')
		n--;
	if (n)
		path[n] = '\0';
	else
		memcpy(path, ".", sizeof("."));
}

/* The folder and the one above it may be made; the next, mostly the home, must
 * be there. */
static enum sl_status
check_place(const char *folder, struct sl_error *err)
{
	char place[SL__CACHE_PATH];
	struct stat known;

	snprintf(place, sizeof(place), "%s", folder);
	cut(place);
	cut(place);
	if (stat(place, &known))
		return sl__fail_errno(err, SL_E_ABSENT, errno, "%s", place);
	if (!S_ISDIR(known.st_mode))
		return sl__fail_errno(err, SL_E_ABSENT, ENOTDIR, "%s", place);
	return SL_OK;
}

enum sl_status
sl__cache_folder(char folder[SL__CACHE_PATH], const char *given,
		 struct sl_error *err)
{
	const char *base = getenv("XDG_CACHE_HOME");
	const char *home = getenv("HOME");
	int n;

	if (given && !*given)
		return sl__fail(err, SL_E_ABSENT, "no cache is wanted");
	/* A relative XDG_CACHE_HOME is to be ignored, as its standard says. */
	if (given)
		n = snprintf(folder, SL__CACHE_PATH, "%s", given);
	else if (base && base[0] == '/')
		n = snprintf(folder, SL__CACHE_PATH, "%s/sleuth", base);
	else if (home && home[0] == '/')
		n = snprintf(folder, SL__CACHE_PATH, "%s/.cache/sleuth", home);
	else
		return sl__fail(err, SL_E_ABSENT,
				"neither XDG_CACHE_HOME nor HOME names a "
				"folder");
	if (n < 0 || n >= SL__CACHE_PATH)
		return sl__fail(err, SL_E_ABSENT,
				"the name of the cache folder is too long");
	return check_place(folder, err);
}

/* Refuses what is not a regular file of this user. */
static enum sl_status
check_kind(const struct stat *known, const char *path, struct sl_error *err)
{
	if (S_ISLNK(known->st_mode))
		return sl__fail(err, SL_E_IO,
				"%s: a symbolic link, which is not followed",
				path);
	if (!S_ISREG(known->st_mode))
		return sl__fail(err, SL_E_IO, "%s: not a regular file", path);
	if (known->st_uid != geteuid())
		return sl__fail(err, SL_E_IO,
				"%s: belongs to another user (%lu)", path,
				(unsigned long)known->st_uid);
	return SL_OK;
}

/* Looked at by name first, since opening a device can already do something. */
static enum sl_status
check_path(const char *path, struct sl_error *err)
{
	struct stat known;

	if (lstat(path, &known) == 0)
		return check_kind(&known, path, err);
	if (errno == ENOENT)
		return sl__fail(err, SL_E_ABSENT, "%s: no such file", path);
	return sl__fail_errno(err, SL_E_IO, errno, "%s", path);
}

enum sl_status
sl__cache_read(struct sl_buf *out, const char *path, struct sl_error *err)
{
	enum sl_status rc = check_path(path, err);
	struct stat known;
	int fd;

	if (rc)
		return rc;
	/* Something else may have the name by now: what is open counts. */
	fd = open(path,
		  O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return sl__fail_errno(err, SL_E_IO, errno, "%s", path);
	if (fstat(fd, &known))
		rc = sl__fail_errno(err, SL_E_IO, errno, "%s", path);
	else
		rc = check_kind(&known, path, err);
	if (!rc && known.st_size > SL__CACHE_MOST_BYTES)
		rc = sl__fail(err, SL_E_IO, "%s: larger than %d bytes", path,
			      SL__CACHE_MOST_BYTES);
	if (!rc)
		rc = sl__file_read_open(out, fd, path, SL__CACHE_MOST_BYTES,
					err);
	close(fd);
	return rc;
}

static int
make_one(const char *folder)
{
	return mkdir(folder, 0700) && errno != EEXIST ? errno : 0;
}

/* A folder for the user alone, and the one above it: $HOME/.cache/sleuth in
 * a new home, and not the home. */
static enum sl_status
make_folder(const char *folder, struct sl_error *err)
{
	char above[SL__CACHE_PATH];
	int error = make_one(folder);

	if (error == ENOENT) {
		snprintf(above, sizeof(above), "%s", folder);
		cut(above);
		error = make_one(above);
		if (!error)
			error = make_one(folder);
	}
	if (error)
		return sl__fail_errno(err, SL_E_IO, error, "%s", folder);
	return SL_OK;
}

enum sl_status
sl__cache_write(const char *path, const char *bytes, size_t n_bytes,
		struct sl_error *err)
{
	struct sl__atomic_file *draft = NULL;
	char folder[SL__CACHE_PATH];
	enum sl_status rc;

	if (snprintf(folder, sizeof(folder), "%s", path) >= SL__CACHE_PATH)
		return sl__fail_errno(err, SL_E_IO, ENAMETOOLONG, "%s", path);
	if (n_bytes > SL__CACHE_MOST_BYTES)
		return sl__fail(err, SL_E_IO, "%s: more than %d bytes", path,
				SL__CACHE_MOST_BYTES);
	cut(folder);
	rc = make_folder(folder, err);
	if (rc)
		return rc;
	rc = check_path(path, err);
	if (rc && rc != SL_E_ABSENT)
		return rc;
	rc = sl__atomic_file_open_private(&draft, path, NULL, err);
	if (rc)
		return rc;
	sl__atomic_file_add(draft, bytes, n_bytes);
	rc = sl__atomic_file_commit(draft, err);
	sl__atomic_file_free(draft);
	return rc;
}
