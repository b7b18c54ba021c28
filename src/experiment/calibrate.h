/* SPDX-License-Identifier: Apache-2.0 */
/* calibrate.h - kernels whose bound is known, put through the experiments. */
#ifndef SL_CALIBRATE_H
#define SL_CALIBRATE_H

#include "machine/ceiling_probes.h"
#include "result/calibration.h"
#include "timing/runner.h"

struct sl__calibrate_options {
	struct sl__ceiling_probes *probes;
	int n_threads;
	const char *cache_folder; /* NULL: the user's */
	const struct sl_allocator *allocator;
	struct sl__runner_hooks control;
};

/*
 * What known kernels of this machine answer at so many threads: from the file
 * that belongs to the machine, or measured, which takes some seconds, and kept
 * there.  Kernels that others disturb are left out.  A later call measures
 * those alone, and only while the machine is calm.  Fails as an iteration
 * does; SL_E_INTERRUPTED.  The result is from 'arena'.
 */
enum sl_status sl__calibrate(struct sl__calibration *out,
			     const struct sl__calibrate_options *how,
			     struct sl__arena *arena,
			     struct sl_error *err) SL_CHECKED;

/* The file's text, for tests too: appends to 'out'; reads what was so written,
 * SL_E_ABSENT for anything else. */
void sl__calibration_write(struct sl_buf *out, const struct sl__calibration *c);
enum sl_status sl__calibration_read(struct sl__calibration *out,
				    const char *text, struct sl__arena *arena,
				    struct sl_error *err) SL_CHECKED;

#endif
