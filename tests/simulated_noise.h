/* SPDX-License-Identifier: Apache-2.0 */
/* simulated_noise.h - a machine that disturbs what it runs, as data. */
#ifndef SL_TEST_SIMULATED_NOISE_H
#define SL_TEST_SIMULATED_NOISE_H

#include "base/rng.h"

#include <math.h>

/* What the machine does to a slot, as the logarithm of a factor. */
enum noise_kind { LINEAR_DRIFT, RANDOM_WALK, BURSTS, AUTOREGRESSIVE };

struct machine {
	enum noise_kind noise_kind;
	struct sl__rng rng;
	size_t n_slots;
	double level;
};

static inline void
machine_init(struct machine *m, enum noise_kind noise_kind, uint64_t seed)
{
	*m = (struct machine){.noise_kind = noise_kind};
	sl__rng_init(&m->rng, seed);
}

/* Heavy-tailed noise of its own above what lasts from slot to slot. */
static inline double
next_slot(struct machine *m)
{
	double z = sl__rng_normal(&m->rng), spike = 0;

	if (sl__rng_uniform(&m->rng) < 0.05)
		spike = 0.2 * sl__rng_exponential(&m->rng);
	switch (m->noise_kind) {
	case LINEAR_DRIFT:
		m->level = 1e-3 * (double)m->n_slots;
		break;
	case RANDOM_WALK:
		m->level += 0.02 * z;
		break;
	case BURSTS: /* 10 slots on, 30 off, on average */
		if (sl__rng_uniform(&m->rng) < (m->level > 0 ? 0.1 : 0.033))
			m->level = m->level > 0 ? 0 : 0.3;
		break;
	case AUTOREGRESSIVE:
		m->level = 0.8 * m->level + 0.03 * z;
		break;
	}
	m->n_slots++;
	return m->level + spike + 0.01 * sl__rng_normal(&m->rng);
}

#endif
