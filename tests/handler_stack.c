/* SPDX-License-Identifier: Apache-2.0 */
/*
 * handler_stack.c - preloaded into the program: ends it where it installs a
 * signal handler that has no stack of its own.
 *
 * The bug it guards: oneDNN's generated code keeps data in the stack pointer,
 * so a Ctrl-C while a convolution was timed wrote a signal frame over the heap.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <unistd.h>

enum { EXIT_NO_STACK = 99 };

typedef int sigaction_function(int number, const struct sigaction *action,
			       struct sigaction *before);

int
sigaction(int number, const struct sigaction *action, struct sigaction *before)
{
	union {
		void *symbol;
		sigaction_function *call;
	} next = {dlsym(RTLD_NEXT, "sigaction")};
	stack_t stack;

	if (action && action->sa_handler != SIG_DFL &&
	    action->sa_handler != SIG_IGN &&
	    (!(action->sa_flags & SA_ONSTACK) || sigaltstack(NULL, &stack) ||
	     stack.ss_flags & SS_DISABLE))
		_exit(EXIT_NO_STACK);
	return next.call(number, action, before);
}
