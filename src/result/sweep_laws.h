/* SPDX-License-Identifier: Apache-2.0 */
/* sweep_laws.h - what the laws of a sweep are of, and which points show one. */
#ifndef SL_SWEEP_LAWS_H
#define SL_SWEEP_LAWS_H

#include "sleuth/sweeping.h"

/* What a law is of: "time", "memory", "flops", "attention matmuls",
 * "others", or a type of operation. */
const char *sl__sweep_law_quantity_text(const struct sl_sweep_exponent *law);

/* From where on a visit or a size counts as disturbed by others. */
#define SL__SWEEP_DISTURBED 0.15

/* Whether others disturbed every visit to the point: its time is then theirs
 * as well, and shows no law. */
int sl__sweep_point_is_disturbed(const struct sl_sweep_point *point);

#endif
