/* SPDX-License-Identifier: Apache-2.0 */
/* banned.h - functions this library does not call, turned into errors. */
#ifndef SL_BANNED_H
#define SL_BANNED_H

/*
 * Include this last in a .c file.  Storage comes from an arena or from
 * sl__allocator_alloc(), whose failures tests can provoke; strings are built
 * with bounded functions; a library neither prints nor ends the program.
 */
#ifdef __GNUC__
#pragma GCC poison malloc calloc realloc free strdup strndup
#pragma GCC poison strcpy strcat sprintf vsprintf gets strtok
#pragma GCC poison printf puts exit abort
#endif

#endif
