/* SPDX-License-Identifier: Apache-2.0 */
/* dependency_chain.h - work of an exactly known length. */
#ifndef SL_DEPENDENCY_CHAIN_H
#define SL_DEPENDENCY_CHAIN_H

#include <stdint.h>

/*
 * n_steps multiplications that each wait for the one before: about 4 cycles
 * a step with the addition, whatever else the core could do at once.  No
 * compiler may shorten it.  The result depends on every step.
 */
uint64_t sl__dependency_chain(uint64_t x, uint64_t n_steps);

#endif
