/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_write.c - results written as JSON by their tables.
 *
 * One function for each kind of field; what is absent is a null with its
 * reason beside it, or, where the row says so, left out.
 */
#include "result/fact_json.h"
#include "result/record.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/banned.h"

static const char NOT_MEASURED[] = "not measured";

static const void *
at(const struct sl__field *f, const void *record)
{
	return (const char *)record + f->offset;
}

/* An integer of the width of its field. */
static uint64_t
whole_at(const void *place, size_t n_bytes)
{
	uint64_t wide;
	uint32_t narrow;

	if (n_bytes == sizeof(wide)) {
		memcpy(&wide, place, sizeof(wide));
		return wide;
	}
	memcpy(&narrow, place, sizeof(narrow));
	return narrow;
}

static int64_t
signed_at(const void *place, size_t n_bytes)
{
	uint64_t bits = whole_at(place, n_bytes);

	return n_bytes == sizeof(bits) ? (int64_t)bits
				       : (int64_t)(int32_t)(uint32_t)bits;
}

static double
number_at(const struct sl__field *f, const void *place)
{
	double value;

	memcpy(&value, place, sizeof(value));
	return f->unit > 0     ? value / f->unit
	       : f->factor > 0 ? value * f->factor
			       : value;
}

static const void *
pointer_at(const void *place)
{
	const void *pointer;

	memcpy(&pointer, place, sizeof(pointer));
	return pointer;
}

static size_t
count_of(const struct sl__field *f, const void *record)
{
	size_t n;

	if (!f->count)
		return f->most;
	memcpy(&n, (const char *)record + f->count - 1, sizeof(n));
	return n;
}

/* A value that is absent in itself; one that other fields rule out never comes
 * here, and is left out by them. */
static void
write_absent(struct sl__json *json, const struct sl__field *f,
	     const char *reason)
{
	if (f->why || !f->is_left_out)
		sl__json_absent(json, f->key, reason ? reason : NOT_MEASURED);
}

static void
put_signed(struct sl__json *json, const char *key, int64_t value)
{
	if (value < 0)
		sl__json_number(json, key, (double)value);
	else
		sl__json_integer(json, key, (uint64_t)value);
}

static void
put_text(struct sl__json *json, const struct sl__field *f, const char *text)
{
	if (text)
		sl__json_text(json, f->key, text);
	else
		write_absent(json, f, f->absent);
}

static void
put_number(struct sl__json *json, const struct sl__field *f, double value)
{
	if (isfinite(value))
		sl__json_number(json, f->key, value);
	else
		write_absent(json, f, f->absent);
}

/* Each of the following writes the field of one kind. */
typedef void write_function(struct sl__json *json, const struct sl__field *f,
			    const void *record, const void *parent);

static void
write_text(struct sl__json *json, const struct sl__field *f, const void *record,
	   const void *parent)
{
	(void)parent;
	put_text(json, f, pointer_at(at(f, record)));
}

static void
write_whole(struct sl__json *json, const struct sl__field *f,
	    const void *record, const void *parent)
{
	(void)parent;
	sl__json_integer(json, f->key, whole_at(at(f, record), f->n_bytes));
}

static void
write_signed(struct sl__json *json, const struct sl__field *f,
	     const void *record, const void *parent)
{
	(void)parent;
	put_signed(json, f->key, signed_at(at(f, record), f->n_bytes));
}

static void
write_number(struct sl__json *json, const struct sl__field *f,
	     const void *record, const void *parent)
{
	(void)parent;
	put_number(json, f, number_at(f, at(f, record)));
}

/* JSON has no infinities. */
static void
write_extended(struct sl__json *json, const struct sl__field *f,
	       const void *record, const void *parent)
{
	double value = number_at(f, at(f, record));

	(void)parent;
	if (isinf(value))
		write_absent(json, f,
			     value > 0 ? SL__INFINITE : SL__MINUS_INFINITE);
	else
		put_number(json, f, value);
}

static void
write_boolean(struct sl__json *json, const struct sl__field *f,
	      const void *record, const void *parent)
{
	(void)parent;
	sl__json_boolean(json, f->key,
			 whole_at(at(f, record), f->n_bytes) != 0);
}

static void
write_word(struct sl__json *json, const struct sl__field *f, const void *record,
	   const void *parent)
{
	uint64_t value = whole_at(at(f, record), f->n_bytes);

	(void)parent;
	sl__json_text(json, f->key, f->words->word((unsigned)value));
}

static void
write_reading(struct sl__json *json, const struct sl__field *f,
	      const void *record, const void *parent)
{
	const struct sl_reading *reading = at(f, record);

	(void)parent;
	if (reading->absent)
		write_absent(json, f, reading->absent);
	else
		put_number(json, f, number_at(f, &reading->value));
}

static void
write_trait(struct sl__json *json, const struct sl__field *f,
	    const void *record, const void *parent)
{
	const struct sl_text_reading *trait = at(f, record);

	(void)parent;
	if (trait->value)
		sl__json_text(json, f->key, trait->value);
	else
		write_absent(json, f,
			     trait->absent ? trait->absent : f->absent);
}

/* ISO 8601 in UTC. */
static void
write_date(struct sl__json *json, const struct sl__field *f, const void *record,
	   const void *parent)
{
	double since_1970_s = number_at(f, at(f, record));
	/* To the year 5138; NaN has no conversion. */
	int is_date = since_1970_s > 0 && since_1970_s < 1e11;
	time_t when = is_date ? (time_t)since_1970_s : 0;
	char text[32];
	struct tm tm;

	(void)parent;
	if (is_date && gmtime_r(&when, &tm) &&
	    strftime(text, sizeof(text), SL__DATE_FORMAT, &tm))
		sl__json_text(json, f->key, text);
	else
		write_absent(json, f, f->absent);
}

static void
write_nothing(struct sl__json *json, const struct sl__field *f,
	      const void *record, const void *parent)
{
	(void)json;
	(void)f;
	(void)record;
	(void)parent;
}

/* Whether n is too small for an interval; then it says so. */
static int
write_refused(struct sl__json *json, const struct sl__field *f,
	      const struct sl_estimate *e)
{
	char text[64];

	if (!e->needs_n)
		return 0;
	snprintf(text, sizeof(text), "needs n >= %zu", e->needs_n);
	write_absent(json, f, text);
	return 1;
}

static void
write_quantile(struct sl__json *json, const struct sl__field *f,
	       const void *record, const void *parent)
{
	const struct sl_estimate *e = at(f, record);

	(void)parent;
	if (!write_refused(json, f, e))
		put_number(json, f, number_at(f, &e->value));
}

/* How many samples an interval needs stands beside its absence, for those who
 * read it back. */
static void
write_interval(struct sl__json *json, const struct sl__field *f,
	       const void *record, const void *parent)
{
	const struct sl_estimate *e = at(f, record);
	double unit = f->unit > 0 ? f->unit : 1;
	char text[64];

	(void)parent;
	if (write_refused(json, f, e)) {
		snprintf(text, sizeof(text), "%s_needs_n", f->key);
		sl__json_integer(json, text, e->needs_n);
		return;
	}
	sl__json_object(json, f->key);
	sl__json_number(json, "lo", e->lo / unit);
	sl__json_number(json, "hi", e->hi / unit);
	sl__json_end_object(json);
}

/* A group of a struct's own fields has that struct's parent. */
static void
write_object(struct sl__json *json, const struct sl__field *f,
	     const void *record, const void *parent)
{
	sl__record_object(json, f->key, f->of, at(f, record),
			  f->n_bytes ? record : parent);
}

static void
write_pointer(struct sl__json *json, const struct sl__field *f,
	      const void *record, const void *parent)
{
	const void *pointer = pointer_at(at(f, record));

	(void)parent;
	if (pointer && f->key)
		sl__record_object(json, f->key, f->of, pointer, record);
	else if (pointer)
		sl__record_write(json, f->of, pointer, record);
}

static void
write_list(struct sl__json *json, const struct sl__field *f, const void *record,
	   const void *parent)
{
	const char *element = f->count ? pointer_at(at(f, record))
				       : at(f, record);
	size_t n = count_of(f, record);

	(void)parent;
	if (!n && f->is_left_out)
		return;
	sl__json_array(json, f->key);
	for (size_t i = 0; i < n; i++)
		sl__record_object(json, NULL, f->of,
				  element + i * f->of->n_bytes, record);
	sl__json_end_array(json);
}

static void
write_first(struct sl__json *json, const struct sl__field *f,
	    const void *record, const void *parent)
{
	const void *first = pointer_at(at(f, record));

	(void)parent;
	if (!count_of(f, record))
		return;
	if (f->key)
		sl__record_object(json, f->key, f->of, first, record);
	else
		sl__record_write(json, f->of, first, record);
}

static void
put_element(struct sl__json *json, const struct sl__field *f, const void *place)
{
	if (f->kind == SL__FIELD_TEXTS)
		sl__json_text(json, NULL, pointer_at(place));
	else if (f->kind == SL__FIELD_SIGNEDS)
		put_signed(json, NULL, signed_at(place, f->n_bytes));
	else if (f->kind == SL__FIELD_NUMBERS)
		sl__json_number(json, NULL, number_at(f, place));
	else
		sl__json_integer(json, NULL, whole_at(place, f->n_bytes));
}

static void
write_scalars(struct sl__json *json, const struct sl__field *f,
	      const void *record, const void *parent)
{
	const char *element = f->count ? pointer_at(at(f, record))
				       : at(f, record);
	size_t n = count_of(f, record);

	(void)parent;
	if (!n && f->is_left_out)
		return;
	sl__json_array(json, f->key);
	for (size_t i = 0; i < n; i++)
		put_element(json, f, element + i * f->n_bytes);
	sl__json_end_array(json);
}

static void
write_argv(struct sl__json *json, const struct sl__field *f, const void *record,
	   const void *parent)
{
	const char *const *word = pointer_at(at(f, record));

	(void)parent;
	sl__json_array(json, f->key);
	while (*word)
		sl__json_text(json, NULL, *word++);
	sl__json_end_array(json);
}

static void
write_by_word(struct sl__json *json, const struct sl__field *f,
	      const void *record, const void *parent)
{
	const uint64_t *values = at(f, record);

	(void)parent;
	sl__json_object(json, f->key);
	for (unsigned i = f->words->first; i < f->words->n; i++)
		sl__json_integer(json, f->words->word(i), values[i]);
	sl__json_end_object(json);
}

static void
write_pairs(struct sl__json *json, const struct sl__field *f,
	    const void *record, const void *parent)
{
	const struct sl_parameter *pairs = pointer_at(at(f, record));

	(void)parent;
	sl__json_object(json, f->key);
	for (size_t i = 0; i < count_of(f, record); i++)
		sl__json_text(json, pairs[i].name, pairs[i].value);
	sl__json_end_object(json);
}

static void
write_fact(struct sl__json *json, const struct sl__field *f, const void *record,
	   const void *parent)
{
	const struct sl_fact *fact = f->kind == SL__FIELD_FACT_AT
					     ? pointer_at(at(f, record))
					     : at(f, record);

	(void)parent;
	if (fact && fact->kind)
		sl__json_fact(json, f->key, fact);
}

static void
write_facts(struct sl__json *json, const struct sl__field *f,
	    const void *record, const void *parent)
{
	(void)parent;
	sl__json_facts(json, f->key, pointer_at(at(f, record)),
		       count_of(f, record));
}

static void
write_says(struct sl__json *json, const struct sl__field *f, const void *record,
	   const void *parent)
{
	(void)record;
	(void)parent;
	sl__json_text(json, f->key, f->absent);
}

static void
write_never(struct sl__json *json, const struct sl__field *f,
	    const void *record, const void *parent)
{
	(void)record;
	(void)parent;
	write_absent(json, f, f->absent);
}

static void
write_made(struct sl__json *json, const struct sl__field *f, const void *record,
	   const void *parent)
{
	struct sl__made made = {.kind = SL__FIELD_NUMBER};

	f->make(&made, record, parent);
	if (made.kind == SL__FIELD_TEXT)
		put_text(json, f, made.text);
	else if (made.kind == SL__FIELD_WHOLE)
		sl__json_integer(json, f->key, made.whole);
	else if (made.kind == SL__FIELD_BOOLEAN)
		sl__json_boolean(json, f->key, made.whole != 0);
	else
		put_number(json, f, made.number);
}

static void
write_own(struct sl__json *json, const struct sl__field *f, const void *record,
	  const void *parent)
{
	(void)parent;
	f->write(json, f, record);
}

static write_function *const writers[SL__N_FIELD_KINDS] = {
	[SL__FIELD_TEXT] = write_text,
	[SL__FIELD_WHOLE] = write_whole,
	[SL__FIELD_SIGNED] = write_signed,
	[SL__FIELD_NUMBER] = write_number,
	[SL__FIELD_EXTENDED] = write_extended,
	[SL__FIELD_BOOLEAN] = write_boolean,
	[SL__FIELD_WORD] = write_word,
	[SL__FIELD_READING] = write_reading,
	[SL__FIELD_TRAIT] = write_trait,
	[SL__FIELD_DATE] = write_date,
	[SL__FIELD_REASON] = write_nothing,
	[SL__FIELD_INTERVAL] = write_interval,
	[SL__FIELD_QUANTILE] = write_quantile,
	[SL__FIELD_OBJECT] = write_object,
	[SL__FIELD_POINTER] = write_pointer,
	[SL__FIELD_LIST] = write_list,
	[SL__FIELD_FIRST] = write_first,
	[SL__FIELD_TEXTS] = write_scalars,
	[SL__FIELD_ARGV] = write_argv,
	[SL__FIELD_WHOLES] = write_scalars,
	[SL__FIELD_SIGNEDS] = write_scalars,
	[SL__FIELD_NUMBERS] = write_scalars,
	[SL__FIELD_BY_WORD] = write_by_word,
	[SL__FIELD_PAIRS] = write_pairs,
	[SL__FIELD_FACT] = write_fact,
	[SL__FIELD_FACT_AT] = write_fact,
	[SL__FIELD_FACTS] = write_facts,
	[SL__FIELD_SAYS] = write_says,
	[SL__FIELD_NEVER] = write_never,
	[SL__FIELD_OWN] = write_own,
	[SL__FIELD_MADE] = write_made,
};

void
sl__record_write(struct sl__json *json, const struct sl__record *table,
		 const void *record, const void *parent)
{
	for (size_t i = 0; i < table->n_fields; i++) {
		const struct sl__field *f = &table->fields[i];
		const char *why = f->why ? f->why(record, parent) : NULL;

		if (why && f->key && !f->is_left_out)
			sl__json_absent(json, f->key, why);
		else if (!why)
			writers[f->kind](json, f, record, parent);
	}
}

void
sl__record_object(struct sl__json *json, const char *key,
		  const struct sl__record *table, const void *record,
		  const void *parent)
{
	sl__json_object(json, key);
	sl__record_write(json, table, record, parent);
	sl__json_end_object(json);
}
