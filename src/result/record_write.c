/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_write.c - results written as JSON by their tables.
 *
 * One function for each kind of field; what is absent is a null with its
 * reason beside it, or, where the row says so, left out.
 */
#include "base/buf.h"
#include "result/fact_json.h"
#include "result/record.h"
#include "sleuth/machines.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/banned.h"

/* A field that is being written, of a record that is part of 'parent'. */
struct writer {
	struct sl__json *json;
	const struct sl__field *f;
	const void *record, *parent;
};

static const void *
at(const struct writer *w)
{
	return (const char *)w->record + w->f->offset;
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
count_of(const struct writer *w)
{
	size_t n;

	if (!w->f->count)
		return w->f->most;
	memcpy(&n, (const char *)w->record + w->f->count - 1, sizeof(n));
	return n;
}

/* The first element of a list, which is in the record or elsewhere. */
static const char *
elements(const struct writer *w)
{
	return w->f->most ? at(w) : pointer_at(at(w));
}

/* A null that has this reason, or that of its row. */
static void
put_absent(const struct writer *w, const char *reason)
{
	const struct sl__field *f = w->f;
	const struct sl_fact *fact = f->fact ? f->fact(w->record) : NULL;

	if (f->is_left_out && !f->why && !f->reason)
		return;
	if (!reason && fact) {
		sl__json_absent_because(w->json, f->key, fact);
		return;
	}
	if (!reason && f->because)
		reason = f->because(w->record, w->parent);
	if (!reason)
		reason = f->absent ? f->absent : "not measured";
	sl__json_absent(w->json, f->key, reason);
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
put_text(const struct writer *w, const char *text)
{
	if (text)
		sl__json_text(w->json, w->f->key, text);
	else
		put_absent(w, NULL);
}

static void
put_number(const struct writer *w, double value)
{
	if (isfinite(value))
		sl__json_number(w->json, w->f->key, value);
	else
		put_absent(w, NULL);
}

/* Whether 0 stands for an absence, which it then writes. */
static int
is_zero_absent(const struct writer *w)
{
	int is_absent = w->f->absent && !whole_at(at(w), w->f->n_bytes);

	if (is_absent)
		put_absent(w, NULL);
	return is_absent;
}

/* Each of the following writes the field of one kind. */
typedef void write_function(const struct writer *w);

static void
write_text(const struct writer *w)
{
	put_text(w, pointer_at(at(w)));
}

static void
write_letters(const struct writer *w)
{
	const char *text = at(w);

	put_text(w, *text ? text : NULL);
}

static void
write_whole(const struct writer *w)
{
	if (!is_zero_absent(w))
		sl__json_integer(w->json, w->f->key,
				 whole_at(at(w), w->f->n_bytes));
}

static void
write_index(const struct writer *w)
{
	uint64_t index = whole_at(at(w), w->f->n_bytes);

	if (index == SIZE_MAX)
		put_absent(w, NULL);
	else
		sl__json_integer(w->json, w->f->key, index);
}

static void
write_signed(const struct writer *w)
{
	if (!is_zero_absent(w))
		put_signed(w->json, w->f->key, signed_at(at(w), w->f->n_bytes));
}

static void
write_number(const struct writer *w)
{
	put_number(w, number_at(w->f, at(w)));
}

/* JSON has no infinities. */
static void
write_extended(const struct writer *w)
{
	double value = number_at(w->f, at(w));

	if (isinf(value))
		put_absent(w, value > 0 ? SL__INFINITE : SL__MINUS_INFINITE);
	else
		put_number(w, value);
}

static void
write_boolean(const struct writer *w)
{
	sl__json_boolean(w->json, w->f->key,
			 whole_at(at(w), w->f->n_bytes) != 0);
}

static void
write_word(const struct writer *w)
{
	uint64_t value = whole_at(at(w), w->f->n_bytes);

	if (!is_zero_absent(w))
		sl__json_text(w->json, w->f->key,
			      w->f->words->word((unsigned)value));
}

static void
write_reading(const struct writer *w)
{
	const struct sl_reading *reading = at(w);

	if (reading->absent)
		put_absent(w, reading->absent);
	else
		put_number(w, number_at(w->f, &reading->value));
}

static void
write_trait(const struct writer *w)
{
	const struct sl_text_reading *trait = at(w);

	if (trait->value)
		sl__json_text(w->json, w->f->key, trait->value);
	else
		put_absent(w, trait->absent);
}

/* ISO 8601 in UTC. */
static void
write_date(const struct writer *w)
{
	double since_1970_s = number_at(w->f, at(w));
	/* To the year 5138; NaN has no conversion. */
	int is_date = since_1970_s > 0 && since_1970_s < 1e11;
	time_t when = is_date ? (time_t)since_1970_s : 0;
	char text[32];
	struct tm tm;

	if (is_date && gmtime_r(&when, &tm) &&
	    strftime(text, sizeof(text), SL__DATE_FORMAT, &tm))
		sl__json_text(w->json, w->f->key, text);
	else
		put_absent(w, NULL);
}

static void
write_nothing(const struct writer *w)
{
	(void)w;
}

/* Whether n is too small for an interval; then it says so. */
static int
is_refused(const struct writer *w, const struct sl_estimate *e)
{
	char text[64];

	if (!e->needs_n)
		return 0;
	snprintf(text, sizeof(text), "needs n >= %zu", e->needs_n);
	put_absent(w, text);
	return 1;
}

static void
write_quantile(const struct writer *w)
{
	const struct sl_estimate *e = at(w);

	if (!is_refused(w, e))
		put_number(w, number_at(w->f, &e->value));
}

/* Whether there are none; then it says so. */
static int
is_unbounded(const struct writer *w, const struct sl_estimate *e)
{
	int is_counted = w->f->kind == SL__FIELD_BOUNDS &&
			 e->method == SL_METHOD_NONE;

	if (!w->f->absent || (isfinite(e->lo) && isfinite(e->hi)))
		return 0;
	put_absent(w, is_counted ? "counted, not measured" : NULL);
	return 1;
}

/* How many samples an interval needs stands beside its absence, for those who
 * read it back. */
static void
write_interval(const struct writer *w)
{
	const struct sl_estimate *e = at(w);
	double unit = w->f->unit > 0 ? w->f->unit : 1;
	char text[64];

	if ((w->f->kind == SL__FIELD_INTERVAL && is_refused(w, e)) ||
	    is_unbounded(w, e)) {
		snprintf(text, sizeof(text), "%s_needs_n", w->f->key);
		if (e->needs_n)
			sl__json_integer(w->json, text, e->needs_n);
		return;
	}
	sl__json_object(w->json, w->f->key);
	sl__json_number(w->json, "lo", e->lo / unit);
	sl__json_number(w->json, "hi", e->hi / unit);
	sl__json_end_object(w->json);
}

/* A group of a struct's own fields has that struct's parent. */
static void
write_object(const struct writer *w)
{
	const void *outer = w->f->n_bytes ? w->record : w->parent;

	if (w->f->key)
		sl__record_write_object(w->json, w->f->key, w->f->of, at(w),
					outer);
	else
		sl__record_write_members(w->json, w->f->of, at(w), outer);
}

/* Without a key, the members stand here. */
static void
put_record(const struct writer *w, const void *record)
{
	if (w->f->key)
		sl__record_write_object(w->json, w->f->key, w->f->of, record,
					w->record);
	else
		sl__record_write_members(w->json, w->f->of, record, w->record);
}

static void
write_pointer(const struct writer *w)
{
	const void *pointer = pointer_at(at(w));

	if (pointer)
		put_record(w, pointer);
	else if (w->f->absent || w->f->because)
		put_absent(w, NULL);
}

static const void *
element(const struct writer *w, size_t i)
{
	if (w->f->is_of_pointers)
		return pointer_at(elements(w) + i * sizeof(void *));
	return elements(w) + i * w->f->of->n_bytes;
}

static void
write_list(const struct writer *w)
{
	int was_flat = w->json->is_flat;
	size_t n = count_of(w);

	if (!n && w->f->is_left_out)
		return;
	sl__json_array(w->json, w->f->key);
	for (size_t i = 0; i < n; i++) {
		sl__json_object(w->json, NULL);
		w->json->is_flat |= w->f->is_flat;
		sl__record_write_members(w->json, w->f->of, element(w, i),
					 w->record);
		sl__json_end_object(w->json);
		w->json->is_flat = was_flat;
	}
	sl__json_end_array(w->json);
}

static void
write_first(const struct writer *w)
{
	if (count_of(w))
		put_record(w, element(w, 0));
}

static void
put_element(const struct writer *w, const void *place)
{
	const struct sl__field *f = w->f;

	if (f->kind == SL__FIELD_TEXTS)
		sl__json_text(w->json, NULL, pointer_at(place));
	else if (f->kind == SL__FIELD_SIGNEDS)
		put_signed(w->json, NULL, signed_at(place, f->n_bytes));
	else if (f->kind == SL__FIELD_NUMBERS)
		sl__json_number(w->json, NULL, number_at(f, place));
	else
		sl__json_integer(w->json, NULL, whole_at(place, f->n_bytes));
}

static void
write_scalars(const struct writer *w)
{
	size_t n = count_of(w);

	if (!n && w->f->is_left_out)
		return;
	sl__json_array(w->json, w->f->key);
	for (size_t i = 0; i < n; i++)
		put_element(w, elements(w) + i * w->f->n_bytes);
	sl__json_end_array(w->json);
}

static void
write_argv(const struct writer *w)
{
	const char *const *word = pointer_at(at(w));

	sl__json_array(w->json, w->f->key);
	while (word && *word)
		sl__json_text(w->json, NULL, *word++);
	sl__json_end_array(w->json);
}

/* The places of an array, each under the word of its index. */
static void
write_by_word(const struct writer *w)
{
	const struct sl__vocabulary *words = w->f->words;
	struct sl__field each = *w->f;
	struct writer place = *w;

	place.f = &each;
	sl__json_object(w->json, w->f->key);
	for (unsigned i = words->first; i < words->n; i++) {
		each.key = words->word(i);
		each.offset = w->f->offset + i * sizeof(uint64_t);
		if (w->f->kind == SL__FIELD_BY_WORD)
			sl__json_integer(
				w->json, each.key,
				whole_at(at(&place), sizeof(uint64_t)));
		else
			write_number(&place);
	}
	sl__json_end_object(w->json);
}

static void
write_pairs(const struct writer *w)
{
	const struct sl_parameter *pairs = pointer_at(at(w));

	sl__json_object(w->json, w->f->key);
	for (size_t i = 0; i < count_of(w); i++)
		sl__json_text(w->json, pairs[i].name, pairs[i].value);
	sl__json_end_object(w->json);
}

static void
write_fact(const struct writer *w)
{
	const struct sl_fact *fact =
		w->f->kind == SL__FIELD_FACT_AT ? pointer_at(at(w)) : at(w);

	if (fact && fact->kind)
		sl__json_fact(w->json, w->f->key, fact);
}

static void
write_facts(const struct writer *w)
{
	sl__json_facts(w->json, w->f->key, pointer_at(at(w)), count_of(w));
}

/* src/report/ knows how it is said. */
static void
write_spoken(const struct writer *w)
{
	struct sl_buf text = {0};

	w->json->speak(&text, w->f->speech, w->record, w->parent);
	if (sl__buf_status(&text, NULL))
		sl__buf_mark_failed(w->json->out);
	else
		put_text(w, text.data);
	sl_buf_release(&text);
}

static void
write_told(const struct writer *w)
{
	w->json->tell(w->json, w->f->key, w->record, w->parent);
}

static void
write_says(const struct writer *w)
{
	sl__json_text(w->json, w->f->key, w->f->absent);
}

static void
write_never(const struct writer *w)
{
	put_absent(w, NULL);
}

static void
write_made(const struct writer *w)
{
	struct sl__computed_value made = {.text = NULL};

	w->f->make(&made, w->record, w->parent);
	if (w->f->made == SL__FIELD_TEXT)
		put_text(w, made.text);
	else if (w->f->made == SL__FIELD_WHOLE)
		sl__json_integer(w->json, w->f->key, made.whole);
	else if (w->f->made == SL__FIELD_BOOLEAN)
		sl__json_boolean(w->json, w->f->key, made.whole != 0);
	else
		put_number(w, made.number);
}

static void
write_own(const struct writer *w)
{
	w->f->write(w->json, w->f, w->record);
}

static write_function *const writers[SL__N_FIELD_KINDS] = {
	[SL__FIELD_TEXT] = write_text,
	[SL__FIELD_LETTERS] = write_letters,
	[SL__FIELD_WHOLE] = write_whole,
	[SL__FIELD_SIGNED] = write_signed,
	[SL__FIELD_INDEX] = write_index,
	[SL__FIELD_NUMBER] = write_number,
	[SL__FIELD_EXTENDED] = write_extended,
	[SL__FIELD_BOOLEAN] = write_boolean,
	[SL__FIELD_WORD] = write_word,
	[SL__FIELD_READING] = write_reading,
	[SL__FIELD_TRAIT] = write_trait,
	[SL__FIELD_DATE] = write_date,
	[SL__FIELD_REASON] = write_nothing,
	[SL__FIELD_INTERVAL] = write_interval,
	[SL__FIELD_BOUNDS] = write_interval,
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
	[SL__FIELD_NUMBER_BY_WORD] = write_by_word,
	[SL__FIELD_PAIRS] = write_pairs,
	[SL__FIELD_FACT] = write_fact,
	[SL__FIELD_FACT_AT] = write_fact,
	[SL__FIELD_FACTS] = write_facts,
	[SL__FIELD_SPOKEN] = write_spoken,
	[SL__FIELD_TOLD] = write_told,
	[SL__FIELD_SAYS] = write_says,
	[SL__FIELD_NEVER] = write_never,
	[SL__FIELD_OWN] = write_own,
	[SL__FIELD_MADE] = write_made,
};

/* Why other fields rule this one out; NULL: they do not. */
static const char *
why_not(const struct writer *w)
{
	const char *why = w->f->why ? w->f->why(w->record, w->parent) : NULL;

	if (!why && w->f->reason)
		why = pointer_at((const char *)w->record + w->f->reason - 1);
	return why;
}

void
sl__record_write_members(struct sl__json *json, const struct sl__record *table,
			 const void *record, const void *parent)
{
	for (size_t i = 0; i < table->n_fields; i++) {
		const struct sl__field *f = &table->fields[i];
		struct writer w = {json, f, f->is_outer ? parent : record,
				   parent};
		const char *why = why_not(&w);

		if (why && f->key && !f->is_left_out)
			sl__json_absent(json, f->key, why);
		else if (!why)
			writers[f->kind](&w);
	}
}

void
sl__record_write_object(struct sl__json *json, const char *key,
			const struct sl__record *table, const void *record,
			const void *parent)
{
	sl__json_object(json, key);
	sl__record_write_members(json, table, record, parent);
	sl__json_end_object(json);
}
