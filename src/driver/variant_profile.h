/* SPDX-License-Identifier: Apache-2.0 */
/* variant_profile.h - the profile of a model that says what to try on it. */
#ifndef SL_VARIANT_PROFILE_H
#define SL_VARIANT_PROFILE_H

#include "analysis/variant_candidates.h"
#include "base/arena.h"

/* The model as it is, and what was asked of its variants. */
struct sl__variant_profile {
	const struct sl_graph *graph;
	const struct sl_optimize_options *how;
	const struct sl_variant_options *making;
	const struct sl_plan_options *plan; /* of the model as it is */
	struct sl_profile *profile; /* NULL before it; sl_profile_free() */
};

/*
 * Profiles the model, chooses the candidates, which live as long as the
 * profile, and says in 'out' what bounds the model and what was left out, in
 * storage of 'arena'.  Fails as sl_profile_forward() does.
 */
enum sl_status sl__variant_profile_run(struct sl__variant_profile *v,
				       struct sl__variant_candidates *found,
				       struct sl_optimization *out,
				       struct sl__arena *arena,
				       struct sl_error *err) SL_CHECKED;

#endif
