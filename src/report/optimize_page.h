/* SPDX-License-Identifier: Apache-2.0 */
/* optimize_page.h - what text and views of an optimization share. */
#ifndef SL_OPTIMIZE_PAGE_H
#define SL_OPTIMIZE_PAGE_H

#include "sleuth/optimizing.h"

/* The command that makes the recommended variant, which is not the first. */
void sl__optimize_command(struct sl_buf *out, const struct sl_optimization *o);

#endif
