/* SPDX-License-Identifier: Apache-2.0 */
/* step_evidence.c - evidence about a step, from ceilings and responses. */
#include "result/step_evidence.h"
#include "result/sweep_laws.h"

#include <math.h>

#include "base/banned.h"

const enum sl_level sl__memory_levels[SL__N_MEMORIES] = {
	SL_LEVEL_L2, SL_LEVEL_L3, SL_LEVEL_DRAM};

const struct sl_estimate *
sl__ceiling_peak(const struct sl_ceilings *ceilings, enum sl_dtype dtype)
{
	for (size_t i = 0; i < ceilings->n_peaks; i++) {
		const struct sl_ceiling_peak *peak = &ceilings->peaks[i];

		if (peak->dtype == dtype && peak->flops_per_s.n)
			return &peak->flops_per_s;
	}
	return NULL;
}

void
sl__step_evidence_take_ceilings(struct sl__step_evidence *c,
				const struct sl_ceilings *ceilings)
{
	const struct sl_estimate *peak = sl__ceiling_peak(ceilings, c->dtype);

	c->n_threads = (double)ceilings->n_threads;
	c->flops_per_s = peak ? peak->value : (double)NAN;
	c->step_ns = ceilings->step_ns.n ? ceilings->step_ns.value
					 : (double)NAN;
	for (int k = 0; k < SL__N_MEMORIES; k++)
		c->bytes_per_s[k] = c->size_bytes[k] = (double)NAN;
	for (size_t i = 0; i < ceilings->n_levels; i++) {
		const struct sl_ceiling_level *level = &ceilings->levels[i];

		for (int k = 0; k < SL__N_MEMORIES; k++) {
			if (level->level != sl__memory_levels[k])
				continue;
			c->bytes_per_s[k] = level->bytes_per_s.value;
			c->size_bytes[k] = (double)level->size_bytes;
		}
	}
	c->size_bytes[SL__MEMORY_DRAM] = (double)INFINITY;
}

/* What n calls show of their spread is less than there is, as Student's t of
 * n - 1 degrees of freedom is wider than a normal density; that of one call is
 * not known: half as long again is usual on a shared machine. */
static double
spread_of(const struct sl_timed *t)
{
	return t->n > 1 ? t->spread *
				  sqrt((double)(t->n + 2) / (double)(t->n - 1))
	       : t->n ? 0.5
		      : (double)NAN;
}

void
sl__step_evidence_take_response(struct sl__step_evidence *c,
				const struct sl_response *r)
{
	c->is_same_alone = r && r->is_same_alone;
	c->n_dependent = r ? r->n_dependent : 1;
	c->doubled_flops = r ? r->doubled_flops : (double)NAN;
	c->doubled_bytes = r ? r->doubled_bytes : (double)NAN;
	for (int k = 0; k < SL_N_CONDITIONS; k++) {
		c->at_ns[k] = r ? r->at[k].ns : (double)NAN;
		c->spread[k] = r ? spread_of(&r->at[k]) : (double)NAN;
	}
}

double
sl__others_share(const struct sl_noise *noise)
{
	double stolen = noise->steal_share.absent ? 0
						  : noise->steal_share.value;

	return noise->neighbour_share.absent
		       ? (double)NAN
		       : noise->neighbour_share.value + stolen;
}

/* Of the time, that iterations waited for a CPU. */
static double
waited_share(const struct sl_noise *noise)
{
	return noise->run_delay_share.absent ? 0 : noise->run_delay_share.value;
}

/* Threads that prepare batches are the program's own, and the iterations wait
 * for them. */
static int
is_fed(const struct sl_profile *profile)
{
	return profile->training && profile->training->data;
}

/* fmax() of a number and NaN is the number. */
int
sl__profile_is_disturbed(const struct sl_profile *profile)
{
	double others =
		fmax(profile->others_share, sl__others_share(&profile->noise));

	return others > SL__SWEEP_DISTURBED ||
	       (!is_fed(profile) &&
		waited_share(&profile->noise) > SL__SWEEP_DISTURBED);
}
