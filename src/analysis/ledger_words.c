/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ledger_words.c - why the books of a profile do not close.
 *
 * The residual is what readings of the clock cost by calibration less what
 * recording costs by experiment.  Either the experiment is uncertain, which
 * its interval shows, or the calibration does not hold for operations that
 * are as short as a reading.
 */
#include "analysis/ledger_words.h"

#include <stdio.h>

#include "base/banned.h"

/* An overhead that is known worse than this may be all of the residual. */
#define UNCERTAIN_SHARE 0.01
/* Slots beyond which disturbances are worth a word. */
#define DISTURBED_SHARE 0.1

static int
is_disturbed(const struct sl_noise *noise)
{
	return noise->n_slots &&
	       (double)noise->n_disturbed >
		       DISTURBED_SHARE * (double)noise->n_slots;
}

static void
say_disturbed(char *text, size_t n, const struct sl_noise *noise)
{
	text[0] = 0;
	if (is_disturbed(noise))
		snprintf(text, n, ", %.0f %% of all passes disturbed",
			 100 * (double)noise->n_disturbed /
				 (double)noise->n_slots);
}

void
sl__ledger_why(char *text, size_t n, const struct sl_profile *profile)
{
	const struct sl_ledger *l = &profile->ledger;
	const struct sl_estimate *o = &l->overhead_ns;
	double half_width = (o->hi - o->lo) / 2 / l->wall_ns;
	double step_ns = l->operations_ns / (double)profile->n_operations;
	char disturbed[64];

	text[0] = 0;
	if (l->is_closed || l->absent || !l->n_iterations)
		return;
	say_disturbed(disturbed, sizeof(disturbed), &profile->noise);
	if (o->needs_n)
		snprintf(text, n,
			 "what recording costs is uncertain: %zu pair%s of "
			 "passes with and without, %zu at least would bound "
			 "it%s; more --time or --runs helps",
			 o->n, o->n == 1 ? "" : "s", o->needs_n, disturbed);
	else if (half_width > UNCERTAIN_SHARE)
		snprintf(text, n,
			 "what recording costs is uncertain: %.1f to %.1f %% "
			 "of a pass by %zu pairs of passes with and without%s; "
			 "more --time or a quieter machine helps",
			 100 * o->lo / l->wall_ns, 100 * o->hi / l->wall_ns,
			 o->n, disturbed);
	else
		snprintf(text, n,
			 "recording costs %.1f %% of a pass, but its readings "
			 "of the clock were calibrated to %.1f %%: operations "
			 "of %.3g ns on average are too short to be timed one "
			 "by one%s",
			 100 * l->overhead_share,
			 100 * (l->overhead_share + l->residual_share), step_ns,
			 disturbed);
}
