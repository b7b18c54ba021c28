/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bottleneck_words.c - judgements put into words.
 *
 * What an experiment showed is evidence where it fits the bound and would not
 * fit some other one as well; it speaks against the bound where it does not
 * fit.  Where nothing is decided, all that was seen is listed.
 */
#include "analysis/bottleneck_words.h"
#include "analysis/ledger_words.h"
#include "analysis/sentences.h"
#include "base/status.h"

#include <math.h>

#include "base/banned.h"

/* Costs (bottleneck_score.c) from which on an experiment tells candidates
 * apart, and from which on it speaks against the one chosen. */
static const double TELLS = 0.7, OBJECTS = 0.7;

struct writer {
	struct sl__arena *arena;
	const char **lines;
	size_t n;
	int is_broken; /* out of memory */
};

static void
add(struct writer *w, char *line)
{
	if (line)
		w->lines[w->n++] = line;
	else
		w->is_broken = 1;
}

static int
open_writer(struct writer *w, struct sl__arena *arena, size_t cap)
{
	*w = (struct writer){.arena = arena};
	w->lines = sl__arena_array(arena, cap, sizeof(*w->lines));
	return !w->lines;
}

static double
in_place_ns(const struct sl__case *c)
{
	return isnan(c->at_ns[SL_CONDITION_IN_PLACE])
		       ? c->time_ns
		       : c->at_ns[SL_CONDITION_IN_PLACE];
}

/* The memory of which a sentence about bytes speaks: the bound, or the
 * nearest that holds the operands. */
static int
memory_named(const struct sl__case *c, enum sl_bound bound)
{
	double share = c->n_bytes / fmax(c->n_threads, 1);

	if (bound == SL_BOUND_L2)
		return SL__MEMORY_L2;
	if (bound == SL_BOUND_L3)
		return SL__MEMORY_L3;
	if (bound == SL_BOUND_DRAM)
		return SL__MEMORY_DRAM;
	for (int k = 0; k < SL__N_MEMORIES; k++) {
		if (share <= 1.1 * c->size_bytes[k] &&
		    !isnan(c->bytes_per_s[k]))
			return k;
	}
	return SL__MEMORY_DRAM;
}

static int
decimals(double percent)
{
	return percent < 1;
}

static char *
say_bytes(struct writer *w, const struct sl__case *c, enum sl_bound bound)
{
	int k = memory_named(c, bound);
	double rate = c->n_bytes / in_place_ns(c); /* GB/s */

	double percent = 100 * rate / (c->bytes_per_s[k] / 1e9);

	return sl__arena_format(w->arena,
				"moves %.3g GB/s, %.*f %% of what %s gives",
				rate, decimals(percent), percent,
				sl_level_text(sl__memory_levels[k]));
}

static char *
say_size(struct writer *w, const struct sl__case *c)
{
	struct sl__words now, least;

	return sl__arena_format(w->arena,
				"takes %s; the least a step takes is %s",
				sl__words_time(&now, in_place_ns(c)),
				sl__words_time(&least, c->step_ns));
}

static char *
say_hog(struct writer *w, const struct sl__case *c)
{
	return sl__arena_format(
		w->arena,
		"%.2f x as long beside a memory hog (on one thread; a pure "
		"stream %.2f x, pure arithmetic %.2f x)",
		c->at_ns[SL_CONDITION_HOGGED] / c->at_ns[SL_CONDITION_ALONE],
		c->hog.dram, c->hog.compute);
}

static char *
say_batch(struct writer *w, const struct sl__case *c)
{
	double ratio = c->at_ns[SL_CONDITION_DOUBLED] / in_place_ns(c);
	double bytes = c->doubled_bytes / c->n_bytes;

	if (!(c->flops > 0))
		return sl__arena_format(w->arena,
					"at twice the batch it takes %.2f x as "
					"long, for %.2f x the bytes",
					ratio, bytes);
	return sl__arena_format(w->arena,
				"at twice the batch it takes %.2f x as long, "
				"for %.2f x the arithmetic and %.2f x the "
				"bytes",
				ratio, c->doubled_flops / c->flops, bytes);
}

static char *
say(struct writer *w, const struct sl__case *c, enum sl_bound bound,
    enum sl__trait trait)
{
	double t = in_place_ns(c);
	double rate = 100 * c->flops / t * 1e9 / c->flops_per_s;

	switch (trait) {
	case SL__TRAIT_ARITHMETIC:
		return sl__arena_format(
			w->arena, "runs at %.*f %% of the %s ceiling",
			decimals(rate), rate, sl_dtype_text(c->dtype));
	case SL__TRAIT_BYTES:
		return say_bytes(w, c, bound);
	case SL__TRAIT_SIZE:
		return say_size(w, c);
	case SL__TRAIT_WARM:
		return sl__arena_format(
			w->arena,
			"with operands just touched it is %.2f x as fast",
			t / c->at_ns[SL_CONDITION_WARM]);
	case SL__TRAIT_COLD:
		return sl__arena_format(
			w->arena, "from empty caches it takes %.2f x as long",
			c->at_ns[SL_CONDITION_COLD] / t);
	case SL__TRAIT_HOG:
		return say_hog(w, c);
	case SL__TRAIT_THREADS:
		return sl__arena_format(
			w->arena,
			"on %.0f threads it is %.2f x as fast as on one",
			c->n_threads, c->at_ns[SL_CONDITION_ALONE] / t);
	case SL__TRAIT_BATCH:
		return say_batch(w, c);
	}
	return NULL;
}

static int
was_seen(const struct sl__case *c, enum sl__trait trait)
{
	switch (trait) {
	case SL__TRAIT_ARITHMETIC:
		return c->flops > 0 && !isnan(c->flops_per_s);
	case SL__TRAIT_BYTES:
		return c->n_bytes > 0 &&
		       !isnan(c->bytes_per_s[SL__MEMORY_DRAM]);
	case SL__TRAIT_SIZE: /* nothing new about what is large */
		return in_place_ns(c) < 20 * c->step_ns;
	case SL__TRAIT_WARM:
		return !isnan(c->at_ns[SL_CONDITION_WARM]);
	case SL__TRAIT_COLD:
		return !isnan(c->at_ns[SL_CONDITION_COLD]);
	case SL__TRAIT_HOG:
		return !isnan(c->at_ns[SL_CONDITION_HOGGED]) &&
		       !isnan(c->hog.dram);
	case SL__TRAIT_THREADS:
		return !isnan(c->at_ns[SL_CONDITION_ALONE]) &&
		       c->is_same_alone && c->n_threads > 1;
	case SL__TRAIT_BATCH:
		return !isnan(c->at_ns[SL_CONDITION_DOUBLED]) && c->n_bytes > 0;
	}
	return 0;
}

/* Whether some candidate that is not hopeless costs more than the one
 * chosen. */
static int
tells_apart(const struct sl__scores *s, int trait)
{
	for (int b = 0; b < SL_N_BOUNDS; b++) {
		if (s->costs[b][trait] < s->costs[s->bound][trait] - TELLS)
			return 1;
	}
	return 0;
}

/* The two likeliest, where neither is clear. */
static char *
say_undecided(struct writer *w, const struct sl__scores *s)
{
	int first = 0, second = 0;

	for (int b = 1; b < SL_N_BOUNDS; b++) {
		if (s->probability[b] > s->probability[first]) {
			second = first;
			first = b;
		} else if (s->probability[b] > s->probability[second]) {
			second = b;
		}
	}
	if (s->probability[first] >= SL__PROBABILITY_LEAST)
		return sl__arena_format(w->arena,
					"nothing explains all that was seen; "
					"nearest is %s",
					sl_bound_text((enum sl_bound)first));
	return sl__arena_format(w->arena,
				"undecided between %s (%.0f %%) and %s "
				"(%.0f %%)",
				sl_bound_text((enum sl_bound)first),
				100 * s->probability[first],
				sl_bound_text((enum sl_bound)second),
				100 * s->probability[second]);
}

/* What all is listed of an operation that is not decided by traits. */
static void
say_special(struct writer *w, const struct sl__case *c,
	    const struct sl__scores *s)
{
	double sum = 0;

	for (int b = 0; b < SL_N_BOUNDS; b++)
		sum += s->probability[b];
	if (c->is_reference)
		add(w, sl__arena_format(w->arena, "runs on plain loops"));
	else if (s->bound == SL_BOUND_UNKNOWN && sum > 0)
		add(w, say_undecided(w, s));
	else if (s->bound == SL_BOUND_UNKNOWN)
		add(w,
		    sl__arena_format(w->arena, "without the machine's ceilings "
					       "nothing can be said"));
}

enum sl_status
sl__bottleneck_words(struct sl_judgement *out, const struct sl__case *c,
		     const struct sl__scores *s, struct sl__arena *arena,
		     struct sl_error *err)
{
	struct writer for_it, against;

	if (open_writer(&for_it, arena, SL__N_TRAITS + 1) ||
	    open_writer(&against, arena, SL__N_TRAITS))
		return sl__fail_nomem(err);
	say_special(&for_it, c, s);
	for (int k = 0; k < SL__N_TRAITS && !c->is_reference; k++) {
		enum sl__trait trait = (enum sl__trait)k;

		if (!was_seen(c, trait))
			continue;
		if (s->bound == SL_BOUND_UNKNOWN || tells_apart(s, k))
			add(&for_it, say(&for_it, c, s->bound, trait));
		else if (s->costs[s->bound][k] < -OBJECTS)
			add(&against, say(&against, c, s->bound, trait));
	}
	out->evidence = for_it.lines;
	out->n_evidence = for_it.n;
	out->against = against.lines;
	out->n_against = against.n;
	return for_it.is_broken || against.is_broken ? sl__fail_nomem(err)
						     : SL_OK;
}

static void
say_share(struct writer *w, const struct sl_finding *f, enum sl_bound bound)
{
	static const char *const words[SL_N_BOUNDS] = {
		"is not decided",
		"is bound by arithmetic or instructions",
		"waits for the L2 cache",
		"waits for the L3 cache",
		"waits for memory (DRAM)",
		"is spent in operations too small for the machine",
		"is spent while threads wait for one of them",
		"is spent on plain loops"};

	add(w, sl__arena_format(w->arena, "%.0f %% of the time %s",
				100 * f->shares[bound], words[bound]));
}

static int
supports(enum sl_bottleneck verdict, enum sl_bound bound)
{
	int is_memory = bound == SL_BOUND_L2 || bound == SL_BOUND_L3 ||
			bound == SL_BOUND_DRAM;

	switch (verdict) {
	case SL_BOTTLENECK_COMPUTE:
		return bound == SL_BOUND_COMPUTE ||
		       bound == SL_BOUND_IMBALANCE ||
		       bound == SL_BOUND_REFERENCE;
	case SL_BOTTLENECK_MEMORY:
		return is_memory;
	case SL_BOTTLENECK_OVERHEAD:
		return bound == SL_BOUND_OVERHEAD;
	case SL_BOTTLENECK_MIXED:
	case SL_BOTTLENECK_INCONCLUSIVE:
	case SL_BOTTLENECK_DATA:
		break;
	}
	return verdict == SL_BOTTLENECK_MIXED && bound != SL_BOUND_UNKNOWN;
}

static void
say_books(struct writer *w, const struct sl_profile *profile)
{
	char why[SL__LEDGER_WHY];

	sl__ledger_why(why, sizeof(why), profile);
	if (!profile->ledger.is_closed)
		add(w, sl__arena_format(w->arena,
					"the books do not close: %.1f %% of "
					"the time is not accounted for%s%s",
					100 * profile->ledger.residual_share,
					why[0] ? "; " : "", why));
	if (profile->ceilings.absent)
		add(w, sl__arena_format(w->arena, "no ceilings: %s",
					profile->ceilings.absent));
}

enum sl_status
sl__finding_words(struct sl_finding *out, const struct sl_profile *profile,
		  struct sl__arena *arena, struct sl_error *err)
{
	struct writer for_it, against;

	if (open_writer(&for_it, arena, SL_N_BOUNDS + 2) ||
	    open_writer(&against, arena, SL_N_BOUNDS + 2))
		return sl__fail_nomem(err);
	say_books(out->bottleneck == SL_BOTTLENECK_INCONCLUSIVE ? &for_it
								: &against,
		  profile);
	for (int b = 0; b < SL_N_BOUNDS; b++) {
		/* Shares below one in twenty change nothing. */
		if (out->shares[b] < 0.05)
			continue;
		say_share(supports(out->bottleneck, (enum sl_bound)b) ||
					  out->bottleneck ==
						  SL_BOTTLENECK_INCONCLUSIVE
				  ? &for_it
				  : &against,
			  out, (enum sl_bound)b);
	}
	out->evidence = for_it.lines;
	out->n_evidence = for_it.n;
	out->against = against.lines;
	out->n_against = against.n;
	return for_it.is_broken || against.is_broken ? sl__fail_nomem(err)
						     : SL_OK;
}
