/* SPDX-License-Identifier: Apache-2.0 */
/* ledger_open.h - why the books of a profile do not close. */
#ifndef SL_LEDGER_OPEN_H
#define SL_LEDGER_OPEN_H

#include "sleuth.h"

/*
 * Which entry is uncertain, and by how much: one of SL_FACT_OPEN_FEW,
 * OPEN_WIDE and OPEN_SHORT, whose first value is NaN.  SL_FACT_NONE where the
 * books close, or where nothing was recorded.
 *
 * The residual is what readings of the clock cost by calibration less what
 * recording costs by experiment.  Either the experiment is uncertain, which
 * its interval shows, or the calibration does not hold for operations that
 * are as short as a reading.
 */
struct sl_fact sl__ledger_open(const struct sl_profile *profile);

#endif
