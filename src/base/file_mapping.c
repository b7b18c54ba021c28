/* SPDX-License-Identifier: Apache-2.0 */
/* file_mapping.c - files seen as memory, read when touched. */
#define _DEFAULT_SOURCE /* madvise() */
#include "base/file_mapping.h"
#include "base/status.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/banned.h"

static enum sl_status
map_file(struct sl__file_mapping *out, int fd, const char *path,
	 struct sl_error *err)
{
	struct stat info;
	void *bytes;

	if (fstat(fd, &info))
		return sl__fail_errno(err, SL_E_IO, errno, "%s", path);
	if (S_ISDIR(info.st_mode))
		return sl__fail(err, SL_E_IO, "%s: is a folder", path);
	if (!S_ISREG(info.st_mode))
		return sl__fail(err, SL_E_IO, "%s: not a regular file", path);
	if (info.st_size == 0)
		return SL_OK;
	bytes = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (bytes == MAP_FAILED)
		return sl__fail_errno(err, SL_E_IO, errno, "%s", path);
	out->bytes = bytes;
	out->n_bytes = (size_t)info.st_size;
	return SL_OK;
}

enum sl_status
sl__file_mapping_open(struct sl__file_mapping *out, const char *path,
		      struct sl_error *err)
{
	enum sl_status rc;
	/* Not blocked for ever by a pipe that nobody writes. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	out->bytes = NULL;
	out->n_bytes = 0;
	if (fd < 0)
		return sl__fail_errno(err, SL_E_IO, errno, "%s", path);
	rc = map_file(out, fd, path, err);
	close(fd);
	return rc;
}

void
sl__file_mapping_close(struct sl__file_mapping *mapping)
{
	union {
		const void *in;
		void *out;
	} bytes = {mapping->bytes}; /* munmap() takes no const */

	if (mapping->bytes)
		munmap(bytes.out, mapping->n_bytes);
	mapping->bytes = NULL;
	mapping->n_bytes = 0;
}

void
sl__file_mapping_drop_pages(const void *bytes, size_t n_bytes)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	uintptr_t from = ((uintptr_t)bytes + page - 1) / page * page;
	uintptr_t to = ((uintptr_t)bytes + n_bytes) / page * page;

	if (from < to)
		madvise((void *)from, to - from, MADV_DONTNEED);
}
