/* SPDX-License-Identifier: Apache-2.0 */
/* record.h - results written as JSON, and read back, by their tables. */
#ifndef SL_RECORD_H
#define SL_RECORD_H

#include "base/json.h"
#include "base/json_read.h"
#include "result/field.h"

/* Why an infinite number is absent. */
#define SL__INFINITE       "infinite"
#define SL__MINUS_INFINITE "-infinite"

/* A date as ISO 8601 has it, in UTC. */
#define SL__DATE_FORMAT "%Y-%m-%dT%H:%M:%SZ"

/* Seconds since 1970 of such a date, whose time may be missing; 0: it is none. */
int sl__date_read(double *since_1970_s, const char *text);

/*
 * Writes the members of 'record', which is part of 'parent' (NULL at the top),
 * into the object that is open.
 */
void sl__record_write_members(struct sl__json *json,
			      const struct sl__record *table,
			      const void *record, const void *parent);

/* The same as an object of its own under 'key' (NULL in an array). */
void sl__record_write_object(struct sl__json *json, const char *key,
			     const struct sl__record *table, const void *record,
			     const void *parent);

/*
 * Fills 'record', which is all zero, from an object: written again it gives
 * the same bytes.  Names that no row has are passed over, rows whose name is
 * missing stay zero, numbers NaN, texts that are always there "".  SL_E_DATA
 * names the field of another kind than its row says, or what makes no sense.
 * What it points to is from 'arena'.
 */
enum sl_status sl__record_read(void *record, const struct sl__record *table,
			       const struct sl__json_value *object,
			       struct sl__arena *arena,
			       struct sl_error *err) SL_CHECKED;

#endif
