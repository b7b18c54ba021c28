/* SPDX-License-Identifier: Apache-2.0 */
/*
 * truncating_mmap.c - preloaded into the program: cuts a file short as soon as it is
 * mapped, to its first page.
 *
 * SLEUTH_TEST_CUT is the end of the file's path.  Where that of
 * SLEUTH_TEST_RAISE is mapped, SIGBUS is raised.  The bug it guards: a model
 * that was written anew while it ran ended the program without a word.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096 };

typedef void *mmap_function(void *at, size_t n_bytes, int protection, int flags,
			    int fd, off_t offset);

/* Whether the open file's path ends so. */
static int
ends_with(int fd, const char *end, char *path, size_t cap_path)
{
	char link[64];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = fd >= 0 ? readlink(link, path, cap_path - 1) : -1;
	if (n < 0 || (size_t)n < strlen(end))
		return 0;
	path[n] = '\0';
	return strcmp(path + n - strlen(end), end) == 0;
}

void *
mmap(void *at, size_t n_bytes, int protection, int flags, int fd, off_t offset)
{
	union {
		void *symbol;
		mmap_function *call;
	} next = {dlsym(RTLD_NEXT, "mmap")};
	void *bytes = next.call(at, n_bytes, protection, flags, fd, offset);
	const char *end = getenv("SLEUTH_TEST_CUT");
	const char *raised = getenv("SLEUTH_TEST_RAISE");
	char path[4096];

	if (raised && ends_with(fd, raised, path, sizeof(path)))
		raise(SIGBUS);
	if (end && ends_with(fd, end, path, sizeof(path)) &&
	    truncate(path, PAGE))
		_exit(99);
	return bytes;
}
