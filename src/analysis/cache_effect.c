/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cache_effect.c - what a cache of keys and values does for a decoder, or
 * would do.
 *
 * A gain is bounded, never promised.  Arithmetic alone allows what the FLOPs
 * say.  But a pass of one token still reads every weight and all keys and
 * values once, which takes this machine at least so long; and what the loop
 * takes without a cache was measured.
 */
#include "analysis/generation.h"
#include "analysis/roofline_place.h"
#include "base/reading.h"

#include <math.h>
#include <stddef.h>

#include "base/banned.h"

/* Passes of first to last tokens with a cache, one new token each. */
static double
newest_flops(const struct sl__cache_sources *s, int64_t first, int64_t last)
{
	if (s->work_with && !s->work_with->absent)
		return sl__work_passes(&s->work_with->law, first, last);
	return sl__work_newests(&s->work_without->law, first, last);
}

static void
count(struct sl_cache_effect *out, const struct sl__cache_sources *s)
{
	const struct sl__work_law *law = &s->work_without->law;
	int64_t last = s->prompt + s->n_tokens - 1;
	double prompt = sl__work_pass(law, s->prompt);
	double further = sl__work_passes(law, s->prompt + 1, last);
	double newest = newest_flops(s, s->prompt + 1, last);

	out->is_counted = s->work_with && !s->work_with->absent;
	out->flops_without = prompt + further;
	out->flops_with = prompt + newest;
	if (out->is_counted && s->with && !s->with->flops.absent)
		out->flops_with = s->with->flops.value;
	out->repeated_share = (further - newest) / out->flops_without;
	if (s->n_tokens > 1)
		out->most_arithmetic = further / newest;
}

/* The pass in the middle of the loop stands for all further ones: bytes and
 * FLOPs of a pass with cache are linear in the context. */
static void
bound(struct sl_cache_effect *out, const struct sl__cache_sources *s)
{
	int64_t last = s->prompt + s->n_tokens - 1;
	double n = (double)(s->n_tokens - 1);
	double context = (double)s->prompt + (double)s->n_tokens / 2;
	double peak =
		sl__roofline_upper(sl__roofline_peak(s->ceilings, s->dtype));
	double flops = newest_flops(s, s->prompt + 1, last) / n;
	double least_s;

	out->step_bytes = s->once_bytes.value +
			  context * s->bytes_per_token.value * (double)s->batch;
	out->bytes_per_s = sl__roofline_bandwidth(s->ceilings, out->step_bytes);
	least_s = fmax(flops / peak, out->step_bytes / out->bytes_per_s);
	out->most_roofline = s->without->further_ns.value / 1e9 / least_s;
}

static const char *
no_roofline(const struct sl__cache_sources *s)
{
	if (s->n_tokens < 2)
		return "no further token was asked for";
	if (!s->without->further_ns.n)
		return "the time of further tokens is not known";
	if (s->once_bytes.absent)
		return s->once_bytes.absent;
	if (s->bytes_per_token.absent)
		return s->bytes_per_token.absent;
	if (!s->ceilings->n_levels || !sl__roofline_peak(s->ceilings, s->dtype))
		return s->ceilings->absent ? s->ceilings->absent
					   : "no ceilings were measured";
	return NULL;
}

/* Without / with; bounds of both at their worst. */
static struct sl_estimate
ratio_of(const struct sl_estimate *without, const struct sl_estimate *with)
{
	struct sl_estimate e = {
		.value = (double)NAN, .lo = (double)NAN, .hi = (double)NAN};

	if (!without->n || !with->n)
		return e;
	e.n = without->n < with->n ? without->n : with->n;
	e.needs_n = without->needs_n > with->needs_n ? without->needs_n
						     : with->needs_n;
	e.method = with->method;
	e.value = without->value / with->value;
	if (e.needs_n)
		return e;
	e.lo = without->lo / with->hi;
	e.hi = without->hi / fmax(with->lo, 0);
	return e;
}

static void
measure(struct sl_cache_effect *out, const struct sl__cache_sources *s)
{
	out->measured_absent = "the model was not run with a cache";
	if (!s->with)
		return;
	out->measured = ratio_of(&s->without->further_ns, &s->with->further_ns);
	out->measured_total =
		ratio_of(&s->without->total_ns, &s->with->total_ns);
	out->measured_absent =
		out->measured.n   ? NULL
		: s->n_tokens < 2 ? "no further token was asked for"
				  : "the time of further tokens is not known";
}

void
sl__cache_effect_of(struct sl_cache_effect *out,
		    const struct sl__cache_sources *s)
{
	const double none = (double)NAN;

	*out = (struct sl_cache_effect){
		.repeated_share = none,
		.flops_without = none,
		.flops_with = none,
		.most_arithmetic = none,
		.most_roofline = none,
		.most = none,
		.step_bytes = none,
		.bytes_per_s = none,
		.measured = {none, none, none, 0, 0, SL_METHOD_NONE},
		.measured_total = {none, none, none, 0, 0, SL_METHOD_NONE},
		.measured_absent = "nothing was run without a cache",
		.roofline_absent = "nothing was run without a cache",
		.bytes_per_token = s->bytes_per_token,
	};
	if (!s->without) {
		out->absent = "nothing was run without a cache";
		return;
	}
	measure(out, s);
	out->absent = s->work_without->absent;
	out->roofline_absent = out->absent ? out->absent : no_roofline(s);
	if (out->absent)
		return;
	count(out, s);
	if (!out->roofline_absent)
		bound(out, s);
	out->most = fmin(out->most_arithmetic, out->most_roofline);
}
