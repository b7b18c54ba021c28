/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file.c - whole files in and out.
 *
 * Output is written beside its destination and renamed, so that a full disk
 * or an interrupt never leaves half a report under the name asked for.
 */
#define _GNU_SOURCE
#include "file.h"
#include "buf.h"
#include "status.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "banned.h"

enum { PATH_BYTES = 4096 };

enum sl_status
sl__file_read(struct sl_buf *out, const char *path, size_t max_bytes,
	      struct sl_error *err)
{
	enum sl_status rc;
	char piece[4096];
	size_t total = 0;
	ssize_t n;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return sl__fail_errno(err, SL_E_IO, errno, "%s", path);
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
		rc = sl__fail_errno(err, SL_E_IO, errno, "%s", path);
	else
		rc = sl__buf_status(out, err);
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
write_in_place(const char *path, const char *bytes, size_t n_bytes,
	       struct sl_error *err)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
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

enum sl_status
sl__file_write(const char *path, const char *bytes, size_t n_bytes,
	       struct sl_error *err)
{
	char beside[PATH_BYTES];
	struct stat known;
	mode_t mode = 0666;
	int error, fd;

	if (stat(path, &known) == 0) {
		if (!S_ISREG(known.st_mode))
			return write_in_place(path, bytes, n_bytes, err);
		mode = known.st_mode & 0777;
	}
	if (snprintf(beside, sizeof(beside), "%s.%ld.part", path,
		     (long)getpid()) >= (int)sizeof(beside))
		return sl__fail(err, SL_E_IO, "%s: name too long", path);
	fd = open(beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
	if (fd < 0)
		return sl__fail_errno(err, SL_E_IO, errno, "%s", path);
	error = write_all(fd, bytes, n_bytes);
	if (close(fd) && !error)
		error = errno;
	if (!error && rename(beside, path))
		error = errno;
	if (error) {
		unlink(beside);
		return sl__fail_errno(err, SL_E_IO, error, "%s", path);
	}
	return SL_OK;
}

enum sl_status
sl_buf_write(const struct sl_buf *buf, const char *path, struct sl_error *err)
{
	enum sl_status rc = sl__buf_status(buf, err);

	return rc ? rc : sl__file_write(path, buf->data, buf->n_bytes, err);
}

enum sl_status
sl__file_make_folder(const char *path, struct sl_error *err)
{
	char prefix[PATH_BYTES];
	size_t n = strlen(path);

	if (n >= sizeof(prefix))
		return sl__fail(err, SL_E_IO, "%s: name too long", path);
	memcpy(prefix, path, n + 1);
	for (size_t i = 1; i <= n; i++) {
		if (path[i] != '/' && path[i] != '\0')
			continue;
		prefix[i] = '\0';
		if (mkdir(prefix, 0777) && errno != EEXIST)
			return sl__fail_errno(err, SL_E_IO, errno, "%s",
					      prefix);
		prefix[i] = path[i];
	}
	return SL_OK;
}
