/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file.c - whole files in and out.
 *
 * Output is written beside its destination and renamed, so that a full disk
 * or an interrupt never leaves half a report under the name asked for.
 */
#define _GNU_SOURCE
#include "base/file.h"
#include "base/buf.h"
#include "base/status.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/banned.h"

enum {
	PATH_BYTES = PATH_MAX,
	MAX_NAMES = 16 /* tried for the file beside; one is the rule */
};

enum sl_status
sl__file_read_open(struct sl_buf *out, int fd, const char *path,
		   size_t max_bytes, struct sl_error *err)
{
	char piece[4096];
	size_t total = 0;
	ssize_t n;

	for (;;) {
		n = read(fd, piece, sizeof(piece));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		if (total + (size_t)n > max_bytes)
			n = (ssize_t)(max_bytes - total);
		sl__buf_add(out, piece, (size_t)n);
		total += (size_t)n;
		if (total == max_bytes)
			break;
	}
	if (n < 0)
		return sl__fail_errno(err, SL_E_IO, errno, "%s", path);
	return sl__buf_status(out, err);
}

enum sl_status
sl__file_read(struct sl_buf *out, const char *path, size_t max_bytes,
	      struct sl_error *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	enum sl_status rc;

	if (fd < 0)
		return sl__fail_errno(err, SL_E_IO, errno, "%s", path);
	rc = sl__file_read_open(out, fd, path, max_bytes, err);
	close(fd);
	return rc;
}

static int
write_all(int fd, const char *bytes, size_t n_bytes)
{
	while (n_bytes) {
		ssize_t n = write(fd, bytes, n_bytes);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno;
		bytes += n;
		n_bytes -= (size_t)n;
	}
	return 0;
}

static enum sl_status
write_in_place(const char *path, const char *bytes, size_t n_bytes, int flags,
	       struct sl_error *err)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC | flags, 0666);
	int error;

	if (fd < 0)
		return sl__fail_errno(err, SL_E_IO, errno, "%s", path);
	error = write_all(fd, bytes, n_bytes);
	if (close(fd) && !error)
		error = errno;
	if (error)
		return sl__fail_errno(err, SL_E_IO, error, "%s", path);
	return SL_OK;
}

/*
 * Opens a new file beside 'path' and leaves its name in 'beside'; -1 with
 * errno.  A name may be taken by what an earlier process with the same
 * number left behind when it was killed.
 */
static int
open_beside(char beside[PATH_BYTES], const char *path, mode_t mode)
{
	int fd = -1;

	errno = EEXIST;
	for (int i = 0; i < MAX_NAMES && fd < 0 && errno == EEXIST; i++) {
		if (snprintf(beside, PATH_BYTES, "%s.%ld.%d.part", path,
			     (long)getpid(), i) >= PATH_BYTES) {
			errno = ENAMETOOLONG;
			return -1;
		}
		fd = open(beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
			  mode);
	}
	return fd;
}

/*
 * Writes beside the regular or missing file 'path' and renames.  'known' is
 * the file as it was, or NULL.  Returns an errno value.
 */
static int
replace(const char *path, const char *bytes, size_t n_bytes,
	const struct stat *known)
{
	char beside[PATH_BYTES];
	mode_t mode = known ? known->st_mode & 0777 : 0666;
	int error, fd = open_beside(beside, path, mode);

	if (fd < 0)
		return errno;
	error = write_all(fd, bytes, n_bytes);
	/* open() took the umask off the mode. */
	if (!error && known && fchmod(fd, mode))
		error = errno;
	if (close(fd) && !error)
		error = errno;
	if (!error && rename(beside, path))
		error = errno;
	if (error)
		unlink(beside);
	return error;
}

enum sl_status
sl__file_write(const char *path, const char *bytes, size_t n_bytes,
	       struct sl_error *err)
{
	char target[PATH_MAX];
	struct stat known, itself;
	int error, exists = stat(path, &known) == 0;

	if (exists && !S_ISREG(known.st_mode))
		return write_in_place(path, bytes, n_bytes, 0, err);
	if (!exists && lstat(path, &itself) == 0)
		return write_in_place(path, bytes, n_bytes, O_CREAT, err);
	if (exists && !realpath(path, target))
		return sl__fail_errno(err, SL_E_IO, errno, "%s", path);
	error = replace(exists ? target : path, bytes, n_bytes,
			exists ? &known : NULL);
	if (error)
		return sl__fail_errno(err, SL_E_IO, error, "%s", path);
	return SL_OK;
}

enum sl_status
sl_buf_write(const struct sl_buf *buf, const char *path, struct sl_error *err)
{
	enum sl_status rc = sl__buf_status(buf, err);

	return rc ? rc : sl__file_write(path, buf->data, buf->n_bytes, err);
}
