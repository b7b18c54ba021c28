/* SPDX-License-Identifier: Apache-2.0 */
/* roof.h - the machine's ceilings, as reports quote them. */
#ifndef SL_ROOF_H
#define SL_ROOF_H

#include "sleuth.h"

/* Rates per second of one core and of all; NaN where not measured. */
struct sl__roof {
	const char *absent; /* why there are none; NULL when there are */
	double core_flops, all_flops; /* f32 */
	double core_bytes, all_bytes; /* from and to DRAM */
};

/* From the cached description of this machine; never measures. */
void sl__roof_read(struct sl__roof *out);

/*
 * Which ceiling a rate is held against: one core's, or the machine's when
 * the rate is above that, since a scope may hide a team of threads.
 */
struct sl__roof_share {
	struct sl_reading share; /* of the ceiling; above 1 is impossible */
	double ceiling;          /* per second */
	const char *of;          /* "one core's f32 peak" */
};

struct sl__roof_share sl__roof_flops_share(const struct sl__roof *roof,
					   struct sl_reading flops_per_s);
struct sl__roof_share sl__roof_bytes_share(const struct sl__roof *roof,
					   struct sl_reading bytes_per_s);

#endif
