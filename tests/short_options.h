/* SPDX-License-Identifier: Apache-2.0 */
/* short_options.h - options of a caller that knows a shorter struct. */
#ifndef SL_TEST_SHORT_OPTIONS_H
#define SL_TEST_SHORT_OPTIONS_H

#include "harness.h"

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
	void *pages = NULL;
	size_t *options;
	char *end;

	assert_int_equal(posix_memalign(&pages, page, 2 * page), 0);
	end = (char *)pages + page;
	assert_int_equal(mprotect(end, page, PROT_NONE), 0);
	options = (size_t *)(void *)end - 1;
	*options = sizeof(*options);
	return options;
}

#endif
