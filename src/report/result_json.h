/* SPDX-License-Identifier: Apache-2.0 */
/* result_json.h - the sections of JSON that several results share. */
#ifndef SL_RESULT_JSON_H
#define SL_RESULT_JSON_H

#include "base/json.h"

/* Names, units and absences are docs/schema.md's. */
void sl__json_latency(struct sl__json *json, const struct sl_latency *l);
void sl__json_noise(struct sl__json *json, const struct sl_noise *noise);

/* "key": value and "key_ci95": {lo, hi}, each or its absence. */
void sl__json_estimate(struct sl__json *json, const char *key,
		       const struct sl_estimate *e);

/* "STEM_ms": value and "STEM_ci95_ms": {lo, hi}, each or its absence. */
void sl__json_time(struct sl__json *json, const char *stem,
		   const struct sl_estimate *e);

/* A value that may have nothing to divide by, or its absence. */
void sl__json_finite(struct sl__json *json, const char *key, double value,
		     const char *absent);

/* elapsed_ms, stopped_by, seed. */
void sl__json_ending(struct sl__json *json, double elapsed_s,
		     enum sl_stop stopped_by, uint64_t seed);

#endif
