/* SPDX-License-Identifier: Apache-2.0 */
/* result_json.c - the sections of JSON that several results share. */
#include "report/result_json.h"
#include "report/section.h"
#include "result/record.h"
#include "result/tables.h"
#include "result/words.h"

#include <math.h>
#include <stdio.h>

#include "base/banned.h"

static void
add_spread(struct sl__json *json, const struct sl_latency *l)
{
	if (l->n < 2)
		sl__json_absent(json, "std_ms", "needs n >= 2");
	else
		sl__json_number(json, "std_ms", l->std_ns / SL__NS_PER_MS);
	sl__json_number(json, "min_ms", l->min_ns / SL__NS_PER_MS);
	sl__json_number(json, "max_ms", l->max_ns / SL__NS_PER_MS);
	sl__json_number(json, "mad_ms", l->mad_ns / SL__NS_PER_MS);
	if (isnan(l->skewness))
		sl__json_absent(json, "skewness",
				"needs n >= 3 and values that differ");
	else
		sl__json_number(json, "skewness", l->skewness);
}

void
sl__json_latency(struct sl__json *json, const struct sl_latency *l)
{
	sl__json_object(json, "latency");
	sl__json_integer(json, "n", l->n);
	sl__json_number(json, "median_ms", l->median.value / SL__NS_PER_MS);
	sl__section_interval(json, &l->median);
	sl__json_text(json, "method", sl_method_text(l->median.method));
	sl__json_number(json, "mean_ms", l->mean.value / SL__NS_PER_MS);
	sl__section_bounds(json, "mean_ci95_ms", &l->mean, SL__NS_PER_MS);
	add_spread(json, l);
	sl__json_number(json, "p50_ms", l->median.value / SL__NS_PER_MS);
	sl__section_percentile(json, "p90", &l->p90);
	sl__section_percentile(json, "p95", &l->p95);
	sl__section_percentile(json, "p99", &l->p99);
	sl__json_number(json, "first_ms", l->first_ns / SL__NS_PER_MS);
	sl__json_object(json, "warmup");
	sl__json_text(json, "class", sl_warmup_text(l->warmup));
	sl__json_integer(json, "n", l->n_warmup);
	sl__json_end_object(json);
	sl__json_object(json, "outliers");
	sl__json_integer(json, "low", l->n_outliers_low);
	sl__json_integer(json, "high", l->n_outliers_high);
	sl__json_end_object(json);
	if (l->n < 3)
		sl__json_absent(json, "autocorrelation", "needs n >= 3");
	else
		sl__json_number(json, "autocorrelation", l->autocorrelation);
	if (isnan(l->minimum_detectable))
		sl__json_absent(json, "minimum_detectable",
				"the median has no interval");
	else
		sl__json_number(json, "minimum_detectable",
				l->minimum_detectable);
	sl__json_end_object(json);
}

void
sl__json_noise(struct sl__json *json, const struct sl_noise *noise)
{
	sl__json_object(json, "noise");
	sl__record_write(json, &sl__table_noise, noise, NULL);
	sl__json_end_object(json);
}

void
sl__json_estimate(struct sl__json *json, const char *key,
		  const struct sl_estimate *e)
{
	char bounds[64];

	snprintf(bounds, sizeof(bounds), "%s_ci95", key);
	sl__json_number(json, key, e->value);
	sl__section_bounds(json, bounds, e, 1);
}

void
sl__json_time(struct sl__json *json, const char *stem,
	      const struct sl_estimate *e)
{
	char key[32];

	snprintf(key, sizeof(key), "%s_ms", stem);
	sl__json_number(json, key, e->value / SL__NS_PER_MS);
	snprintf(key, sizeof(key), "%s_ci95_ms", stem);
	sl__section_bounds(json, key, e, SL__NS_PER_MS);
}

void
sl__json_finite(struct sl__json *json, const char *key, double value,
		const char *absent)
{
	if (isfinite(value))
		sl__json_number(json, key, value);
	else
		sl__json_absent(json, key, absent);
}

void
sl__json_ending(struct sl__json *json, double elapsed_s,
		enum sl_stop stopped_by, uint64_t seed)
{
	sl__json_number(json, "elapsed_ms", 1e3 * elapsed_s);
	sl__json_text(json, "stopped_by", sl__words_stop.word(stopped_by));
	sl__json_integer(json, "seed", seed);
}
