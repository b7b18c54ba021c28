/* SPDX-License-Identifier: Apache-2.0 */
/* step_evidence.h - what experiments found out about a step, in numbers. */
#ifndef SL_STEP_EVIDENCE_H
#define SL_STEP_EVIDENCE_H

#include "result/step_responses.h"

enum sl__memory_kind { SL__MEMORY_L2 = 0, SL__MEMORY_L3, SL__MEMORY_DRAM };
enum { SL__N_MEMORIES = SL__MEMORY_DRAM + 1 };
extern const enum sl_level sl__memory_levels[SL__N_MEMORIES];

/*
 * All that is known of an operation; NaN for what is not.  A reference path is
 * given away by itself.
 */
struct sl__step_evidence {
	int is_reference;
	enum sl_dtype dtype; /* of its arithmetic */
	double n_threads;
	double time_ns;        /* of a call, in place */
	double least_ns;       /* of all calls */
	double flops, n_bytes; /* executed; of operands, each once */
	double core_flops;     /* of convolutions and matmuls */
	double n_dependent;    /* as in struct sl_response */
	double flops_per_s;    /* ceiling, of all threads; as all rates */
	double bytes_per_s[SL__N_MEMORIES];
	double size_bytes[SL__N_MEMORIES]; /* what they hold for a thread */
	double step_ns;                    /* the least that a step takes */
	double at_ns[SL_N_CONDITIONS], spread[SL_N_CONDITIONS];
	int is_same_alone; /* as in struct sl_response; as are these two */
	double doubled_flops, doubled_bytes;
	struct sl_hog_effect hog;
	double others_share; /* of all CPUs, meanwhile */
};

/* Fills in the machine's half: rates, sizes, step_ns, threads; dtype is set. */
void sl__step_evidence_take_ceilings(struct sl__step_evidence *c,
				     const struct sl_ceilings *ceilings);

/* And what experiments say; 'r' may be NULL. */
void sl__step_evidence_take_response(struct sl__step_evidence *c,
				     const struct sl_response *r);

/* The CPUs' share that others had, stolen time included; NaN: not known. */
double sl__others_share(const struct sl_noise *noise);

/*
 * Whether times are the model's only in part: others had more than 15 % of all
 * CPUs by the iterations or by the experiments, or iterations waited that long
 * for a CPU, and not for a loader of the program's own.  (Where the process may
 * use few of a machine's CPUs, others may have all of these, and next to nothing
 * of the machine's.)  Then nothing is concluded.
 */
int sl__profile_is_disturbed(const struct sl_profile *profile);

/* The ceiling of a type; NULL: not measured. */
const struct sl_estimate *sl__ceiling_peak(const struct sl_ceilings *ceilings,
					   enum sl_dtype dtype);

#endif
