/* SPDX-License-Identifier: Apache-2.0 */
/*
 * signal_stack.c - the stack on which signal handlers run.
 *
 * Code that oneDNN generates uses the stack pointer for data of its own: a
 * handler that ran where it points would write over the heap.  The largest
 * frame, with AMX's tiles, takes some 12 KiB of the stack.
 */
#define _GNU_SOURCE
#include "signal_stack.h"

#include <signal.h>
#include <string.h>

int
signal_stack_give(void)
{
	static _Alignas(64) char bytes[64 * 1024];
	stack_t stack;

	memset(&stack, 0, sizeof(stack));
	stack.ss_sp = bytes;
	stack.ss_size = sizeof(bytes);
	return sigaltstack(&stack, NULL);
}
