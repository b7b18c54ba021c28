/* SPDX-License-Identifier: Apache-2.0 */
/*
 * roof.c - what a rate is of the machine's ceilings.
 *
 * A rate is held against the ceiling that the reader knows, f32 and DRAM, and
 * called impossible only by the fastest that the machine has.
 */
#include "result/roof.h"
#include "base/reading.h"
#include "result/function_profile.h"

#include <math.h>

#include "base/banned.h"

/* Ceilings of one kind; one that was not measured has the value NaN. */
struct ceilings {
	struct sl_estimate one;     /* of one among n_threads threads */
	struct sl_estimate all;     /* the same kind with all threads */
	struct sl_estimate fastest; /* of any type or level, all threads */
	size_t n_threads;           /* those that 'one' is one of */
};

/* What they are called. */
struct names {
	const char *one, *part, *fastest;
	const char *because; /* how a rate can be above the first two */
};

static const struct sl_estimate UNMEASURED = {.value = (double)NAN,
					      .needs_n = 1};

static struct sl_estimate
part_of(struct sl_estimate e, size_t n_threads)
{
	e.value /= (double)n_threads;
	e.lo /= (double)n_threads;
	e.hi /= (double)n_threads;
	return e;
}

double
sl__estimate_upper_bound(const struct sl_estimate *e)
{
	return e->needs_n ? 2 * e->value : e->hi;
}

static enum sl__roof_relation
place_of(double rate, double lowest, const struct ceilings *c)
{
	if (lowest > sl__estimate_upper_bound(&c->fastest))
		return SL__ROOF_IMPOSSIBLE;
	if (lowest > sl__estimate_upper_bound(&c->one))
		return SL__ROOF_ABOVE;
	return rate > c->one.value ? SL__ROOF_UNCLEAR : SL__ROOF_WITHIN;
}

static struct sl__roof_share
share_of(double rate, double stretch, const struct ceilings *c,
	 const struct names *names)
{
	double lowest = rate / stretch;
	struct sl__roof_share s = {.ceiling = c->one.value,
				   .because = names->because};

	s.share = sl__absent("not measured by `sleuth machine`");
	if (!(c->one.value > 0))
		return s;
	s.place = place_of(rate, lowest, c);
	s.or_threads = !(lowest > sl__estimate_upper_bound(&c->all));
	s.or_wrong = !(rate <= c->fastest.value);
	if (s.place == SL__ROOF_IMPOSSIBLE) {
		s.share = sl__absent("impossible: above all ceilings");
		s.ceiling = c->fastest.value;
		s.of = names->fastest;
	} else {
		s.share = sl__present(rate / s.ceiling);
		s.of = c->n_threads > 1 ? names->part : names->one;
	}
	return s;
}

/* There is nothing to compare. */
static struct sl__roof_share
share_absent(const char *reason)
{
	struct sl__roof_share s = {.ceiling = (double)NAN};

	s.share = sl__absent(reason);
	return s;
}

/* Not known where the CPU has instructions that no kernel exercises. */
static struct sl_estimate
fastest_peak(const struct sl_machine *m)
{
	struct sl_estimate fastest = UNMEASURED;

	if (sl_machine_hides_peaks(m))
		return UNMEASURED;
	for (size_t i = 0; i < m->n_peaks; i++) {
		const struct sl_peak *p = &m->peaks[i];

		if (!p->absent && !(p->ops_per_s.value <= fastest.value))
			fastest = p->ops_per_s;
	}
	return fastest;
}

static struct sl_estimate
fastest_level(const struct sl_machine *m)
{
	struct sl_estimate fastest = UNMEASURED;

	for (size_t i = 0; i < m->n_levels; i++) {
		const struct sl_memory_level *l = &m->levels[i];

		if (l->access != SL_ACCESS_CHASE &&
		    !(l->value.value <= fastest.value))
			fastest = l->value;
	}
	return fastest;
}

struct sl__roof_share
sl__flops_share_of_roof(const struct sl_machine *machine,
			const struct sl__achieved_rates *rates)
{
	static const struct names names = {
		"one core's f32 peak", "a thread's part of the f32 peak",
		"the fastest arithmetic", "its numbers are narrower than f32"};
	struct ceilings c = {UNMEASURED, UNMEASURED, UNMEASURED, 1};
	const struct sl_peak *peak;

	if (rates->flops_per_s.absent)
		return share_absent(rates->flops_per_s.absent);
	if (!machine)
		return share_absent(SL__NO_ROOF);
	peak = sl_machine_find_peak(machine, SL_DTYPE_F32, rates->n_threads);
	if (peak) {
		c.n_threads = peak->n_threads;
		c.one = part_of(peak->ops_per_s, peak->n_threads);
	}
	peak = sl_machine_find_peak(machine, SL_DTYPE_F32,
				    machine->max_threads);
	if (peak)
		c.all = peak->ops_per_s;
	c.fastest = fastest_peak(machine);
	return share_of(rates->flops_per_s.value, rates->stretch, &c, &names);
}

struct sl__roof_share
sl__bytes_share_of_roof(const struct sl_machine *machine,
			const struct sl__achieved_rates *rates)
{
	static const struct names names = {
		"one core's memory bandwidth",
		"a thread's part of the memory bandwidth", "the fastest cache",
		"its data comes from caches"};
	struct ceilings c = {UNMEASURED, UNMEASURED, UNMEASURED, 1};
	const struct sl_memory_level *level;

	if (rates->bytes_per_s.absent)
		return share_absent(rates->bytes_per_s.absent);
	if (!machine)
		return share_absent(SL__NO_ROOF);
	level = sl_machine_find_bandwidth(machine, SL_LEVEL_DRAM,
					  rates->n_threads);
	if (level) {
		c.n_threads = level->n_threads;
		c.one = part_of(level->value, level->n_threads);
	}
	level = sl_machine_find_bandwidth(machine, SL_LEVEL_DRAM,
					  machine->max_threads);
	if (level)
		c.all = level->value;
	c.fastest = fastest_level(machine);
	return share_of(rates->bytes_per_s.value, rates->stretch, &c, &names);
}

struct sl__achieved_rates
sl__rates_of_scope(const struct sl_scopes *s, const struct sl_scope_row *row)
{
	int bare = row->cpu_ns.absent && row->n_minor_faults.absent &&
		   row->resident_change_bytes.absent;
	double taken_off_ns = bare ? s->pair_ns : s->resources_pair_ns;
	struct sl__achieved_rates rates = {
		row->flops_per_s, row->bytes_per_s,
		(sl__estimate_upper_bound(&row->mean) + taken_off_ns) /
			row->mean.value,
		row->n_threads};

	return rates;
}

struct sl__achieved_rates
sl__rates_of_function(const struct sl__function_profile *p)
{
	const struct sl_estimate *median = &p->time->wall.median;
	struct sl__achieved_rates rates = {
		p->flops_per_s, p->bytes_per_s,
		sl__estimate_upper_bound(median) / median->value, 1};

	return rates;
}
