/* SPDX-License-Identifier: Apache-2.0 */
/* bottleneck_evidence.h - what speaks for a judgement, and what against it. */
#ifndef SL_BOTTLENECK_EVIDENCE_H
#define SL_BOTTLENECK_EVIDENCE_H

#include "analysis/bottleneck.h"

/* Fills evidence and against of a judgement whose bound is decided. */
enum sl_status sl__bottleneck_evidence(struct sl_judgement *out,
				       const struct sl__case *c,
				       const struct sl__scores *scores,
				       struct sl__arena *arena,
				       struct sl_error *err) SL_CHECKED;

/* Likewise of a model's verdict. */
enum sl_status sl__finding_evidence(struct sl_finding *out,
				    const struct sl_profile *profile,
				    struct sl__arena *arena,
				    struct sl_error *err) SL_CHECKED;

#endif
