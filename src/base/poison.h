/* SPDX-License-Identifier: Apache-2.0 */
/* poison.h - memory that may not be touched, where AddressSanitizer looks. */
#ifndef SL_POISON_H
#define SL_POISON_H

/*
 * Blocks that are cut from one piece of storage lie side by side: running past
 * one is an error that AddressSanitizer cannot see unless it is told.  Code
 * that is not instrumented, as what oneDNN generates, is not checked.  In
 * other builds SL_ASAN is not defined, the macros do nothing, and red zones
 * are empty.
 */
#if defined(__SANITIZE_ADDRESS__)
#define SL_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SL_ASAN 1
#endif
#endif

#ifdef SL_ASAN
#include <sanitizer/asan_interface.h>
#define SL__POISON(at, n)     ASAN_POISON_MEMORY_REGION(at, n)
#define SL__UNPOISON(at, n)   ASAN_UNPOISON_MEMORY_REGION(at, n)
#define SL__RED_ZONE(n_bytes) (n_bytes) /* left poisoned between two blocks */
#else
#define SL__POISON(at, n)     ((void)(at), (void)(n))
#define SL__UNPOISON(at, n)   ((void)(at), (void)(n))
#define SL__RED_ZONE(n_bytes) 0
#endif

#endif
