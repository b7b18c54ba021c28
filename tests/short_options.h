/* SPDX-License-Identifier: Apache-2.0 */
/* short_options.h - options of a caller that knows a shorter struct. */
#ifndef SL_TEST_SHORT_OPTIONS_H
#define SL_TEST_SHORT_OPTIONS_H

#include "harness.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

/*
 * A struct that has nothing but its struct_size and ends where memory ends:
 * whoever reads on is killed.  Never given back.
 */
static inline const void *
short_options(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	int fd = open("/dev/zero", O_RDWR);
	char *pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE,
			   fd, 0);
	size_t *options;

	assert_true(pages != MAP_FAILED);
	close(fd);
	assert_int_equal(mprotect(pages + page, page, PROT_NONE), 0);
	options = (size_t *)(void *)(pages + page) - 1;
	*options = sizeof(*options);
	return options;
}

#endif
