/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bottleneck.h - what bounds an operation, from how it answers experiments.
 *
 * A judgement is the bound whose class (bound_classes.h) the responses
 * resemble, with what speaks for it and against it; below a margin nothing is
 * said.
 */
#ifndef SL_BOTTLENECK_H
#define SL_BOTTLENECK_H

#include "analysis/bound_classes.h"

/* A judgement with its evidence, from 'arena'. */
enum sl_status sl__bottleneck_judge(struct sl_judgement *out,
				    const struct sl__step_evidence *c,
				    const struct sl__bound_classes *classes,
				    struct sl__arena *arena,
				    struct sl_error *err) SL_CHECKED;

/*
 * Judges every operation of a profile whose roofs are placed, and the model.
 * 'diagnosis' may be NULL; its responses must last as long as the profile.
 * 'known' are this machine's kernels; NULL: classes are those of any machine.
 * step_ns of the ceilings may grow.  Of a disturbed profile nothing is judged.
 */
enum sl_status sl__profile_judge_bottlenecks(
	struct sl_profile *profile, const struct sl__step_responses *diagnosis,
	const struct sl__calibration *known, struct sl__arena *arena,
	struct sl_error *err) SL_CHECKED;

/* The model's verdict from its operations' judgements and time accounting. */
enum sl_status sl__judge_model(struct sl_finding *out,
			       const struct sl_profile *profile,
			       struct sl__arena *arena,
			       struct sl_error *err) SL_CHECKED;

/* training_advice.c: steps fed in that way against those fed as they are;
 * NULL: not compared.  And what the comparison with MEMORY says. */
const struct sl_feed_comparison *
sl__feed_comparison_of(const struct sl_profile *profile, enum sl_feed feed);
struct sl_fact sl__feed_fact(const struct sl_feed_comparison *comparison);

#endif
