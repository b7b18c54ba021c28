/* SPDX-License-Identifier: Apache-2.0 */
/*
 * atomic_file.c - a file that gets its name when it is whole.
 *
 * Linux has files without a name (O_TMPFILE), which a link through /proc
 * names at the end.  Where that does not work the file is written under a
 * name beside its destination and renamed.
 */
#define _GNU_SOURCE
#include "base/atomic_file.h"
#include "base/arena.h"
#include "base/file.h"
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
	BUFFER_BYTES = 64 << 10,
	MAX_NAMES = 16 /* tried for a file beside; one is the rule */
};

/*
 * Invariants: fd is open until the draft is finished.  'beside' is empty
 * while the file has no name of its own, or never gets one (in_place).
 */
struct sl__atomic_file {
	struct sl_allocator allocator;
	int fd;
	int error; /* errno value of the first failure */
	int in_place, is_nameless;
	char asked[PATH_MAX];  /* for messages */
	char target[PATH_MAX]; /* asked, links followed */
	char beside[PATH_MAX];
	size_t n_held;
	unsigned char held[BUFFER_BYTES];
};

static void
write_out(struct sl__atomic_file *draft, const unsigned char *bytes,
	  size_t n_bytes)
{
	if (!draft->error)
		draft->error = sl__file_send(draft->fd, bytes, n_bytes);
}

void
sl__atomic_file_add(struct sl__atomic_file *draft, const void *bytes,
		    size_t n_bytes)
{
	if (draft->n_held + n_bytes > BUFFER_BYTES) {
		write_out(draft, draft->held, draft->n_held);
		draft->n_held = 0;
	}
	if (n_bytes > BUFFER_BYTES) {
		write_out(draft, bytes, n_bytes);
	} else if (n_bytes) {
		memcpy(draft->held + draft->n_held, bytes, n_bytes);
		draft->n_held += n_bytes;
	}
}

int
sl__atomic_file_has_failed(const struct sl__atomic_file *draft)
{
	return draft->error != 0;
}

/* The name number i to be tried beside the target; 0: too long. */
static int
name_beside(struct sl__atomic_file *draft, int i)
{
	if (snprintf(draft->beside, sizeof(draft->beside), "%s.%ld.%d.part",
		     draft->target, (long)getpid(),
		     i) < (int)sizeof(draft->beside))
		return 1;
	draft->beside[0] = '\0';
	errno = ENAMETOOLONG;
	return 0;
}

static int
open_background(struct sl__atomic_file *draft, mode_t mode)
{
	int fd = -1;

	errno = EEXIST;
	for (int i = 0; i < MAX_NAMES && fd < 0 && errno == EEXIST; i++) {
		if (!name_beside(draft, i))
			return -1;
		fd = open(draft->beside,
			  O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
			  mode);
	}
	if (fd < 0)
		draft->beside[0] = '\0';
	return fd;
}

/* A file without a name in the target's folder; -1 where there is no such
 * thing, or no way to name it later. */
static int
open_nameless(struct sl__atomic_file *draft, mode_t mode)
{
	const char *slash = strrchr(draft->target, '/');
	char folder[PATH_MAX] = ".";
	size_t n = slash ? (size_t)(slash - draft->target) : 0;

	if (access("/proc/self/fd", X_OK))
		return -1;
	if (slash) {
		memcpy(folder, draft->target, n + 1);
		folder[n + 1] = '\0';
	}
	return open(folder, O_WRONLY | O_TMPFILE | O_CLOEXEC, mode);
}

/* Opens what will be renamed or linked to the target. */
static int
open_new(struct sl__atomic_file *draft, mode_t mode)
{
	int fd = open_nameless(draft, mode);

	draft->is_nameless = fd >= 0;
	if (fd < 0)
		fd = open_background(draft, mode);
	return fd;
}

/* Takes the names over; returns an errno value. */
static int
set_names(struct sl__atomic_file *draft, const char *path)
{
	if (!*path)
		return ENOENT;
	if (strlen(path) >= sizeof(draft->asked))
		return ENAMETOOLONG;
	memcpy(draft->asked, path, strlen(path) + 1);
	memcpy(draft->target, path, strlen(path) + 1);
	return 0;
}

static int
open_private(struct sl__atomic_file *draft)
{
	draft->fd = open_new(draft, 0600);
	return draft->fd < 0 ? errno : 0;
}

/* Tells the cases of sl__atomic_file_open() apart; returns an errno value. */
static int
open_path(struct sl__atomic_file *draft)
{
	const char *path = draft->asked;
	struct stat known, itself;
	int exists = stat(path, &known) == 0;
	int is_odd = exists ? !S_ISREG(known.st_mode)
			    : lstat(path, &itself) == 0;

	if (is_odd) {
		draft->in_place = 1;
		draft->fd = open(path,
				 O_WRONLY | O_CLOEXEC | (exists ? 0 : O_CREAT),
				 0666);
	} else if (exists &&
		   (access(path, W_OK) || !realpath(path, draft->target))) {
		return errno;
	} else {
		draft->fd =
			open_new(draft, exists ? known.st_mode & 0777 : 0666);
		/* open() took the umask off the mode. */
		if (draft->fd >= 0 && exists &&
		    fchmod(draft->fd, known.st_mode & 0777))
			return errno;
	}
	return draft->fd < 0 ? errno : 0;
}

static enum sl_status
open_draft(struct sl__atomic_file **out, const char *path,
	   int (*open_file)(struct sl__atomic_file *),
	   const struct sl_allocator *allocator, struct sl_error *err)
{
	struct sl__atomic_file *draft =
		sl__allocator_alloc(allocator, sizeof(*draft));
	int error;

	*out = NULL;
	if (!draft)
		return sl__fail_nomem(err);
	memset(draft, 0, offsetof(struct sl__atomic_file, held));
	if (allocator)
		draft->allocator = *allocator;
	draft->fd = -1;
	error = set_names(draft, path);
	if (!error)
		error = open_file(draft);
	if (error) {
		sl__atomic_file_free(draft);
		return sl__fail_errno(err, SL_E_IO, error, "%s", path);
	}
	*out = draft;
	return SL_OK;
}

enum sl_status
sl__atomic_file_open(struct sl__atomic_file **out, const char *path,
		     const struct sl_allocator *allocator, struct sl_error *err)
{
	return open_draft(out, path, open_path, allocator, err);
}

enum sl_status
sl__atomic_file_open_private(struct sl__atomic_file **out, const char *path,
			     const struct sl_allocator *allocator,
			     struct sl_error *err)
{
	return open_draft(out, path, open_private, allocator, err);
}

enum sl_status
sl__atomic_file_flush(struct sl__atomic_file *draft, struct sl_error *err)
{
	write_out(draft, draft->held, draft->n_held);
	draft->n_held = 0;
	if (draft->error)
		return sl__fail_errno(err, SL_E_IO, draft->error, "%s",
				      draft->asked);
	return SL_OK;
}

/* Names a nameless file: the target where that is free, else something
 * beside it, to be renamed. */
static int
link_file(struct sl__atomic_file *draft)
{
	char from[64];

	snprintf(from, sizeof(from), "/proc/self/fd/%d", draft->fd);
	if (!linkat(AT_FDCWD, from, AT_FDCWD, draft->target, AT_SYMLINK_FOLLOW))
		return 0;
	for (int i = 0; i < MAX_NAMES && errno == EEXIST; i++) {
		if (!name_beside(draft, i))
			return errno;
		if (!linkat(AT_FDCWD, from, AT_FDCWD, draft->beside,
			    AT_SYMLINK_FOLLOW))
			return 0;
		draft->beside[0] = '\0'; /* another's: not ours to remove */
	}
	return errno;
}

enum sl_status
sl__atomic_file_commit(struct sl__atomic_file *draft, struct sl_error *err)
{
	enum sl_status rc = sl__atomic_file_flush(draft, err);

	if (rc)
		return rc;
	if (draft->is_nameless)
		draft->error = link_file(draft);
	if (close(draft->fd) && !draft->error)
		draft->error = errno;
	draft->fd = -1;
	if (!draft->error && draft->beside[0] &&
	    rename(draft->beside, draft->target))
		draft->error = errno;
	if (draft->error)
		return sl__fail_errno(err, SL_E_IO, draft->error, "%s",
				      draft->asked);
	draft->beside[0] = '\0';
	return SL_OK;
}

void
sl__atomic_file_free(struct sl__atomic_file *draft)
{
	struct sl_allocator allocator;

	if (!draft)
		return;
	if (draft->fd >= 0)
		close(draft->fd);
	if (draft->beside[0])
		unlink(draft->beside);
	allocator = draft->allocator;
	sl__allocator_free(&allocator, draft);
}
