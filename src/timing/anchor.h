/* SPDX-License-Identifier: Apache-2.0 */
/* anchor.h - fixed work whose time says how fast the machine is just now. */
#ifndef SL_ANCHOR_H
#define SL_ANCHOR_H

#include "sleuth/measuring.h"

/* What the last run of the mix computed: the same for ever, for a version. */
uint64_t sl__anchor_checksum(const struct sl_anchor *anchor);

#endif
