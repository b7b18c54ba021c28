/* SPDX-License-Identifier: Apache-2.0 */
/* json.h - writing JSON. */
#ifndef SL_JSON_H
#define SL_JSON_H

#include "sleuth/facts.h"

/*
 * Writes into a buffer, indented by two spaces.  'key' names a member and is
 * NULL inside an array and at the top.  Failures stick to the buffer.
 * Numbers are written so that reading them gives the same double; a NaN or
 * an infinity is a null with the reason "not measured": say better with
 * sl__json_absent().
 */
enum sl__sentence_kind {
	SL__SENTENCE_EXPECTED = 0, /* what advice promises */
	SL__SENTENCE_COMMAND,      /* that tests it */
	SL__SENTENCE_PART          /* of the model, that could be faster */
};

struct sl__json {
	struct sl_buf *out;
	int depth;
	int n_in_level; /* members written at this depth so far */
	int is_flat;    /* set by callers: no line breaks while it is */
	/* What facts say, set by src/report/ where there are any. */
	void (*say)(struct sl_buf *out, const struct sl_fact *fact);
	/* Likewise, sentences about a record that is part of another. */
	void (*speak)(struct sl_buf *out, enum sl__sentence_kind speech,
		      const void *record, const void *parent);
	/* Writes a member that holds all that is said of a record, likewise. */
	void (*tell)(struct sl__json *json, const char *key, const void *record,
		     const void *parent);
};

void sl__json_init(struct sl__json *json, struct sl_buf *out);
void sl__json_object(struct sl__json *json, const char *key); /* opens */
void sl__json_array(struct sl__json *json, const char *key);  /* opens */
void sl__json_end_object(struct sl__json *json);
void sl__json_end_array(struct sl__json *json);
void sl__json_text(struct sl__json *json, const char *key, const char *text);
void sl__json_number(struct sl__json *json, const char *key, double value);
void sl__json_integer(struct sl__json *json, const char *key, uint64_t value);
void sl__json_boolean(struct sl__json *json, const char *key, int value);

/* "key": null and, beside it, "key_absent": "reason". */
void sl__json_absent(struct sl__json *json, const char *key,
		     const char *reason);

#endif
