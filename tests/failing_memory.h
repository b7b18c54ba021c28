/* SPDX-License-Identifier: Apache-2.0 */
/* failing_memory.h - the library's own requests for memory, to be failed. */
#ifndef SL_TEST_FAILING_MEMORY_H
#define SL_TEST_FAILING_MEMORY_H

#include <stddef.h>
#include <stdlib.h>

/*
 * Programs that link the library of tests/CMakeLists.txt called
 * sleuth_failing: in it, arena.c and buf.c, the only files that ask for
 * memory, ask here, and every request to an arena is one of its own.  So each
 * place in the library that takes memory can be failed, one by one.
 */
void *failing_malloc(size_t n_bytes);
void *failing_realloc(void *block, size_t n_bytes);
void failing_free(void *block);

/* From now on the request of that number, counted from 1, fails; 0: none. */
void failing_start(long fail_at);
void failing_stop(void);     /* none fails, none is counted */
long failing_requests(void); /* until then */
long failing_out(void);      /* blocks not yet released */

#ifdef SL_FAILING_MEMORY
#define malloc  failing_malloc
#define realloc failing_realloc
#define free    failing_free
#endif

#endif
