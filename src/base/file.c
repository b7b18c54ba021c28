/* SPDX-License-Identifier: Apache-2.0 */
/* file.c - whole files in and out. */
#include "base/file.h"
#include "base/buf.h"
#include "base/atomic_file.h"
#include "base/status.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/banned.h"

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

enum sl_status
sl__file_write(const char *path, const char *bytes, size_t n_bytes,
	       struct sl_error *err)
{
	struct sl__atomic_file *draft;
	enum sl_status rc = sl__atomic_file_open(&draft, path, NULL, err);

	if (rc)
		return rc;
	sl__atomic_file_add(draft, bytes, n_bytes);
	rc = sl__atomic_file_commit(draft, err);
	sl__atomic_file_free(draft);
	return rc;
}

enum sl_status
sl_buf_write(const struct sl_buf *buf, const char *path, struct sl_error *err)
{
	enum sl_status rc = sl__buf_status(buf, err);

	return rc ? rc : sl__file_write(path, buf->data, buf->n_bytes, err);
}

int
sl__file_send(int fd, const void *bytes, size_t n_bytes)
{
	const unsigned char *at = bytes;

	while (n_bytes) {
		ssize_t n = write(fd, at, n_bytes);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno;
		at += n;
		n_bytes -= (size_t)n;
	}
	return 0;
}
