/* SPDX-License-Identifier: Apache-2.0 */
/* signal_stack.h - the stack on which signal handlers run. */
#ifndef SL_SIGNAL_STACK_H
#define SL_SIGNAL_STACK_H

/*
 * Gives handlers of the calling thread, installed with SA_ONSTACK, a stack to
 * themselves.  More than one call does no harm; 0, or -1 where there is none.
 */
int signal_stack_give(void);

#endif
