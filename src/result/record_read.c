/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_read.c - results read back from JSON by their tables.
 *
 * The file may come from anybody: each value must be of the kind that its row
 * says, a name that is missing leaves its field zero, and one that no row has
 * is passed over, so that files of later versions can be read.
 */
#include "base/status.h"
#include "result/fact_json.h"
#include "result/record.h"
#include "sleuth/machines.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/banned.h"

struct reader {
	const struct sl__json_value *object; /* whose members are read */
	void *parent;                        /* of the record; NULL */
	struct sl__arena *arena;
	struct sl_error *err;
};

static enum sl_status
refuse(struct reader *r, const struct sl__field *f, const char *expected)
{
	(void)f;
	return sl__fail(r->err, SL_E_DATA, "no %s", expected);
}

static enum sl_status
expect(struct reader *r, const struct sl__field *f,
       const struct sl__json_value *v, enum sl__json_kind kind)
{
	static const char *const words[] = {"null", "boolean", "number",
					    "text", "list",    "object"};

	return v->kind == kind ? SL_OK : refuse(r, f, words[kind]);
}

/* "KEYSUFFIX" of the same object; NULL: none. */
static const struct sl__json_value *
sibling(const struct reader *r, const struct sl__field *f, const char *suffix)
{
	char key[96];

	snprintf(key, sizeof(key), "%s%s", f->key, suffix);
	return sl__json_member(r->object, key);
}

/* Why it is null, beside it. */
static const char *
reason(const struct reader *r, const struct sl__field *f)
{
	const struct sl__json_value *v = sibling(r, f, "_absent");

	return v && v->kind == SL__JSON_TEXT ? v->text : NULL;
}

static enum sl_status read_part(struct reader r, void *record,
				const struct sl__record *table);

/* A struct within another, from its object. */
static enum sl_status
read_within(struct reader *r, void *record, const struct sl__field *f,
	    const struct sl__json_value *v, void *parent)
{
	return read_part((struct reader){v, parent, r->arena, r->err}, record,
			 f->of);
}

static double
rescaled(const struct sl__field *f, double value)
{
	return f->unit > 0     ? value / f->unit
	       : f->factor > 0 ? value * f->factor
			       : value;
}

static int
gives(const struct sl__field *f, double value, double written)
{
	double again = rescaled(f, value);

	return !(again < written) && !(again > written);
}

/*
 * The double that gives what was written; a unit in the last place or two may
 * be lost on the way back.  Several may give it: a clock counts whole
 * nanoseconds, and a median of them halves, so such a one is taken first.
 */
static double
unscaled(const struct sl__field *f, double written)
{
	double value = f->unit > 0     ? written * f->unit
		       : f->factor > 0 ? written / f->factor
				       : written;
	double above = value, below = value, counted = round(2 * value) / 2;

	if (gives(f, counted, written))
		return counted;
	for (int k = 0; k < 4; k++) {
		if (gives(f, above, written))
			return above;
		if (gives(f, below, written))
			return below;
		above = nextafter(above, (double)INFINITY);
		below = nextafter(below, (double)-INFINITY);
	}
	return value;
}

static double
number_of(const struct sl__field *f, const struct sl__json_value *v)
{
	return v->kind == SL__JSON_NUMBER ? unscaled(f, v->number)
					  : (double)NAN;
}

/* An integer in full, which a double cannot hold. */
static enum sl_status
take_integer(struct reader *r, void *to, const struct sl__field *f,
	     const struct sl__json_value *v)
{
	uint64_t wide;
	uint32_t narrow;
	char *end;

	if (v->kind != SL__JSON_NUMBER)
		return refuse(r, f, "integer");
	errno = 0;
	wide = v->text[0] == '-' ? (uint64_t)strtoll(v->text, &end, 10)
				 : strtoull(v->text, &end, 10);
	if (*end || errno)
		return refuse(r, f, "integer of 64 bits");
	narrow = (uint32_t)wide;
	if (f->n_bytes == sizeof(wide))
		memcpy(to, &wide, sizeof(wide));
	else
		memcpy(to, &narrow, sizeof(narrow));
	return SL_OK;
}

static void
set_pointer(void *to, const void *pointer)
{
	memcpy(to, &pointer, sizeof(pointer));
}

static void
set_count(void *record, const struct sl__field *f, size_t n)
{
	memcpy((char *)record + f->count - 1, &n, sizeof(n));
}

/* Each of the following reads the field of one kind from a value that is not
 * null, or is where the kind says what that means. */
typedef enum sl_status read_function(struct reader *r, void *record,
				     const struct sl__field *f,
				     const struct sl__json_value *v);

static enum sl_status
read_text(struct reader *r, void *record, const struct sl__field *f,
	  const struct sl__json_value *v)
{
	set_pointer((char *)record + f->offset, v->text);
	return expect(r, f, v, SL__JSON_TEXT);
}

static enum sl_status
read_letters(struct reader *r, void *record, const struct sl__field *f,
	     const struct sl__json_value *v)
{
	enum sl_status rc = expect(r, f, v, SL__JSON_TEXT);

	if (!rc)
		snprintf((char *)record + f->offset, f->n_bytes, "%s", v->text);
	return rc;
}

static enum sl_status
read_integer(struct reader *r, void *record, const struct sl__field *f,
	     const struct sl__json_value *v)
{
	return take_integer(r, (char *)record + f->offset, f, v);
}

static enum sl_status
read_index(struct reader *r, void *record, const struct sl__field *f,
	   const struct sl__json_value *v)
{
	static const size_t none = SIZE_MAX;

	memcpy((char *)record + f->offset, &none, sizeof(none));
	return v->kind == SL__JSON_NULL ? SL_OK : read_integer(r, record, f, v);
}

static enum sl_status
read_number(struct reader *r, void *record, const struct sl__field *f,
	    const struct sl__json_value *v)
{
	const char *why = reason(r, f);
	double value = number_of(f, v);

	if (v->kind != SL__JSON_NUMBER && v->kind != SL__JSON_NULL)
		return refuse(r, f, "number");
	if (f->kind == SL__FIELD_EXTENDED && why) {
		if (strcmp(why, SL__INFINITE) == 0)
			value = (double)INFINITY;
		else if (strcmp(why, SL__MINUS_INFINITE) == 0)
			value = (double)-INFINITY;
	}
	memcpy((char *)record + f->offset, &value, sizeof(value));
	return SL_OK;
}

static enum sl_status
read_boolean(struct reader *r, void *record, const struct sl__field *f,
	     const struct sl__json_value *v)
{
	int is_true = v->number > 0;

	memcpy((char *)record + f->offset, &is_true, sizeof(is_true));
	return expect(r, f, v, SL__JSON_BOOLEAN);
}

static enum sl_status
read_word(struct reader *r, void *record, const struct sl__field *f,
	  const struct sl__json_value *v)
{
	enum sl_status rc = expect(r, f, v, SL__JSON_TEXT);

	for (unsigned i = 0; !rc && i < f->words->n; i++) {
		if (strcmp(f->words->word(i), v->text) == 0) {
			memcpy((char *)record + f->offset, &i, sizeof(i));
			return SL_OK;
		}
	}
	return rc ? rc : refuse(r, f, "word that is known");
}

static enum sl_status
read_reading(struct reader *r, void *record, const struct sl__field *f,
	     const struct sl__json_value *v)
{
	struct sl_reading *to = (void *)((char *)record + f->offset);

	if (v->kind != SL__JSON_NULL && v->kind != SL__JSON_NUMBER)
		return refuse(r, f, "number");
	to->value = number_of(f, v);
	if (v->kind == SL__JSON_NULL)
		to->absent = reason(r, f);
	return v->kind == SL__JSON_NULL && !to->absent
		       ? refuse(r, f, "absence with a reason")
		       : SL_OK;
}

static enum sl_status
read_trait(struct reader *r, void *record, const struct sl__field *f,
	   const struct sl__json_value *v)
{
	struct sl_text_reading *to = (void *)((char *)record + f->offset);

	if (v->kind == SL__JSON_NULL) {
		to->absent = reason(r, f);
		return SL_OK;
	}
	to->value = v->text;
	return expect(r, f, v, SL__JSON_TEXT);
}

/* Days from 1970-01-01, by years that begin in March, so that the leap day is
 * the last of its year. */
static int64_t
days_of(int64_t year, int month, int day)
{
	int64_t y = month < 3 ? year - 1 : year;
	int64_t day_of_year =
		(153 * (month + (month < 3 ? 9 : -3)) + 2) / 5 + day - 1;

	return 365 * y + y / 4 - y / 100 + y / 400 + day_of_year - 719468;
}

int
sl__date_read(double *since_1970_s, const char *text)
{
	int year, month, day, hour = 0, minute = 0, second = 0, n = 0;

	if (sscanf(text, "%4d-%2d-%2d%n", &year, &month, &day, &n) != 3)
		return 0;
	text += n;
	n = 0;
	if (*text &&
	    sscanf(text, "T%2d:%2d:%2dZ%n", &hour, &minute, &second, &n) != 3)
		return 0;
	if (text[n] || month < 1 || month > 12 || day < 1 || day > 31 ||
	    year < 1970)
		return 0;
	*since_1970_s = (double)(days_of(year, month, day) * 86400 +
				 hour * 3600 + minute * 60 + second);
	return 1;
}

static enum sl_status
read_date(struct reader *r, void *record, const struct sl__field *f,
	  const struct sl__json_value *v)
{
	enum sl_status rc = expect(r, f, v, SL__JSON_TEXT);
	double since_1970_s;

	if (rc)
		return rc;
	if (!sl__date_read(&since_1970_s, v->text))
		return refuse(r, f, "date");
	memcpy((char *)record + f->offset, &since_1970_s, sizeof(since_1970_s));
	return SL_OK;
}

static double
end_of(const struct sl__field *f, const struct sl__json_value *interval,
       const char *key)
{
	const struct sl__json_value *v = sl__json_member(interval, key);

	return v ? number_of(f, v) : (double)NAN;
}

static enum sl_status
read_interval(struct reader *r, void *record, const struct sl__field *f,
	      const struct sl__json_value *v)
{
	const struct sl__json_value *needs = sibling(r, f, "_needs_n");
	const char *why = reason(r, f);
	struct sl_estimate *to = (void *)((char *)record + f->offset);

	to->lo = end_of(f, v, "lo");
	to->hi = end_of(f, v, "hi");
	if (v->kind != SL__JSON_NULL)
		return expect(r, f, v, SL__JSON_OBJECT);
	if (needs && needs->kind == SL__JSON_NUMBER) {
		to->needs_n = (size_t)strtoull(needs->text, NULL, 10);
	} else if (why && f->absent && strcmp(why, f->absent) == 0) {
		to->lo = (double)-INFINITY;
		to->hi = (double)INFINITY;
	}
	return SL_OK;
}

static enum sl_status
read_quantile(struct reader *r, void *record, const struct sl__field *f,
	      const struct sl__json_value *v)
{
	struct sl_estimate *to = (void *)((char *)record + f->offset);

	to->value = number_of(f, v);
	return v->kind == SL__JSON_NULL ? SL_OK
					: expect(r, f, v, SL__JSON_NUMBER);
}

static enum sl_status
read_object(struct reader *r, void *record, const struct sl__field *f,
	    const struct sl__json_value *v)
{
	return read_within(r, (char *)record + f->offset, f, v,
			   f->n_bytes ? record : r->parent);
}

static enum sl_status
read_pointer(struct reader *r, void *record, const struct sl__field *f,
	     const struct sl__json_value *v)
{
	void *to;

	memcpy(&to, (char *)record + f->offset, sizeof(to));
	if (!to)
		to = sl__arena_alloc(r->arena, f->of->n_bytes);
	if (!to)
		return sl__fail_nomem(r->err);
	set_pointer((char *)record + f->offset, to);
	return read_within(r, to, f, v, record);
}

/* Where elements go: into the record, to where an earlier row has put as many,
 * or to new storage. */
static char *
make_room(struct reader *r, void *record, const struct sl__field *f,
	  const struct sl__json_value *v, size_t n_bytes)
{
	size_t n;
	char *to;

	if (f->most && f->count)
		set_count(record, f, v->n);
	if (f->most)
		return (char *)record + f->offset;
	memcpy(&n, (char *)record + f->count - 1, sizeof(n));
	memcpy(&to, (char *)record + f->offset, sizeof(to));
	if (to && n == v->n)
		return to;
	to = sl__arena_array(r->arena, v->n, n_bytes);
	set_pointer((char *)record + f->offset, to);
	set_count(record, f, v->n);
	return to;
}

/* As many as there is room for, and as lists with the same number have. */
static enum sl_status
expect_list(struct reader *r, const void *record, const struct sl__field *f,
	    const struct sl__json_value *v)
{
	enum sl_status rc = expect(r, f, v, SL__JSON_ARRAY);
	const void *elements;
	size_t n = v->n;

	if (!rc && f->most && (f->count ? v->n > f->most : v->n != f->most))
		rc = refuse(r, f, "list of that length");
	if (rc || f->most || !f->count)
		return rc;
	memcpy(&elements, (const char *)record + f->offset, sizeof(elements));
	if (!elements)
		memcpy(&n, (const char *)record + f->count - 1, sizeof(n));
	return !n || n == v->n ? SL_OK : refuse(r, f, "list of that length");
}

/* A new part of 'record', to which a pointer at 'place' then points. */
static enum sl_status
read_at(struct reader *r, void *place, const struct sl__field *f,
	const struct sl__json_value *v, void *record)
{
	void *to = sl__arena_alloc(r->arena, f->of->n_bytes);

	if (!to)
		return sl__fail_nomem(r->err);
	set_pointer(place, to);
	return read_within(r, to, f, v, record);
}

static enum sl_status
read_list(struct reader *r, void *record, const struct sl__field *f,
	  const struct sl__json_value *v)
{
	enum sl_status rc = expect_list(r, record, f, v);
	size_t n_bytes;
	char *to;

	if (rc || !f->of)
		return rc;
	n_bytes = f->is_of_pointers ? sizeof(void *) : f->of->n_bytes;
	to = make_room(r, record, f, v, n_bytes);
	if (!to)
		return sl__fail_nomem(r->err);
	for (const struct sl__json_value *e = v->first; !rc && e; e = e->next) {
		rc = f->is_of_pointers ? read_at(r, to, f, e, record)
				       : read_within(r, to, f, e, record);
		to += n_bytes;
	}
	return rc;
}

static enum sl_status
read_first(struct reader *r, void *record, const struct sl__field *f,
	   const struct sl__json_value *v)
{
	void **list;

	set_count(record, f, 1);
	if (!f->is_of_pointers)
		return read_at(r, (char *)record + f->offset, f, v, record);
	list = sl__arena_alloc(r->arena, sizeof(*list));
	if (!list)
		return sl__fail_nomem(r->err);
	set_pointer((char *)record + f->offset, list);
	return read_at(r, list, f, v, record);
}

static enum sl_status
take_element(struct reader *r, void *to, const struct sl__field *f,
	     const struct sl__json_value *v)
{
	double value;

	if (f->kind == SL__FIELD_TEXTS) {
		set_pointer(to, v->text);
		return expect(r, f, v, SL__JSON_TEXT);
	}
	if (f->kind != SL__FIELD_NUMBERS)
		return take_integer(r, to, f, v);
	value = number_of(f, v);
	memcpy(to, &value, sizeof(value));
	return SL_OK;
}

static enum sl_status
read_scalars(struct reader *r, void *record, const struct sl__field *f,
	     const struct sl__json_value *v)
{
	enum sl_status rc = expect_list(r, record, f, v);
	char *to;

	if (rc)
		return rc;
	to = make_room(r, record, f, v, f->n_bytes);
	if (!to)
		return sl__fail_nomem(r->err);
	for (const struct sl__json_value *e = v->first; !rc && e; e = e->next) {
		rc = take_element(r, to, f, e);
		to += f->n_bytes;
	}
	return rc;
}

static enum sl_status
read_argv(struct reader *r, void *record, const struct sl__field *f,
	  const struct sl__json_value *v)
{
	const char **word = sl__arena_array(r->arena, v->n + 1, sizeof(*word));
	enum sl_status rc = expect(r, f, v, SL__JSON_ARRAY);

	if (!rc && !word)
		rc = sl__fail_nomem(r->err);
	if (rc)
		return rc;
	set_pointer((char *)record + f->offset, word);
	for (const struct sl__json_value *e = v->first; !rc && e; e = e->next) {
		*word++ = e->text;
		rc = expect(r, f, e, SL__JSON_TEXT);
	}
	return rc;
}

static enum sl_status
read_by_word(struct reader *r, void *record, const struct sl__field *f,
	     const struct sl__json_value *v)
{
	int is_whole = f->kind == SL__FIELD_BY_WORD;
	struct reader inner = {v, record, r->arena, r->err};
	struct sl__field each = *f;
	enum sl_status rc = expect(r, f, v, SL__JSON_OBJECT);

	each.n_bytes = sizeof(uint64_t);
	for (unsigned i = f->words->first; !rc && i < f->words->n; i++) {
		const struct sl__json_value *m;

		each.key = f->words->word(i);
		each.offset = f->offset + i * sizeof(uint64_t);
		m = sl__json_member(v, each.key);
		if (m)
			rc = is_whole ? read_integer(&inner, record, &each, m)
				      : read_number(&inner, record, &each, m);
	}
	return rc;
}

static enum sl_status
read_pairs(struct reader *r, void *record, const struct sl__field *f,
	   const struct sl__json_value *v)
{
	enum sl_status rc = expect(r, f, v, SL__JSON_OBJECT);
	struct sl_parameter *pair;

	if (rc)
		return rc;
	pair = (void *)make_room(r, record, f, v, sizeof(*pair));
	if (!pair)
		return sl__fail_nomem(r->err);
	for (const struct sl__json_value *m = v->first; !rc && m; m = m->next) {
		pair->name = m->key;
		pair++->value = m->text;
		rc = expect(r, f, m, SL__JSON_TEXT);
	}
	return rc;
}

/* What it says follows from what it is, which stands beside it. */
static enum sl_status
read_fact(struct reader *r, void *record, const struct sl__field *f,
	  const struct sl__json_value *v)
{
	const struct sl__json_value *fact = sibling(r, f, "_fact");
	struct sl_fact *to = (void *)((char *)record + f->offset);

	(void)v;
	if (!fact)
		return refuse(r, f, "fact beside it");
	if (f->kind == SL__FIELD_FACT_AT) {
		to = sl__arena_alloc(r->arena, sizeof(*to));
		if (!to)
			return sl__fail_nomem(r->err);
		set_pointer((char *)record + f->offset, to);
	}
	return sl__fact_read(to, fact, r->err);
}

static enum sl_status
read_facts(struct reader *r, void *record, const struct sl__field *f,
	   const struct sl__json_value *v)
{
	const struct sl__json_value *facts = sibling(r, f, "_facts");
	enum sl_status rc = SL_OK;
	struct sl_fact *to;

	(void)v;
	if (!facts || facts->kind != SL__JSON_ARRAY)
		return refuse(r, f, "list of facts beside it");
	to = (void *)make_room(r, record, f, facts, sizeof(*to));
	if (!to)
		return sl__fail_nomem(r->err);
	for (const struct sl__json_value *e = facts->first; !rc && e;
	     e = e->next)
		rc = sl__fact_read(to++, e, r->err);
	return rc;
}

static enum sl_status
read_own(struct reader *r, void *record, const struct sl__field *f,
	 const struct sl__json_value *v)
{
	return f->read ? f->read(record, v, r->arena, r->err) : SL_OK;
}

/* Kinds without a reader say the same in every result, or follow from the
 * rest. */
static read_function *const readers[SL__N_FIELD_KINDS] = {
	[SL__FIELD_TEXT] = read_text,
	[SL__FIELD_LETTERS] = read_letters,
	[SL__FIELD_WHOLE] = read_integer,
	[SL__FIELD_SIGNED] = read_integer,
	[SL__FIELD_INDEX] = read_index,
	[SL__FIELD_NUMBER] = read_number,
	[SL__FIELD_EXTENDED] = read_number,
	[SL__FIELD_BOOLEAN] = read_boolean,
	[SL__FIELD_WORD] = read_word,
	[SL__FIELD_READING] = read_reading,
	[SL__FIELD_TRAIT] = read_trait,
	[SL__FIELD_DATE] = read_date,
	[SL__FIELD_REASON] = read_text,
	[SL__FIELD_INTERVAL] = read_interval,
	[SL__FIELD_BOUNDS] = read_interval,
	[SL__FIELD_QUANTILE] = read_quantile,
	[SL__FIELD_OBJECT] = read_object,
	[SL__FIELD_POINTER] = read_pointer,
	[SL__FIELD_LIST] = read_list,
	[SL__FIELD_FIRST] = read_first,
	[SL__FIELD_TEXTS] = read_scalars,
	[SL__FIELD_ARGV] = read_argv,
	[SL__FIELD_WHOLES] = read_scalars,
	[SL__FIELD_SIGNEDS] = read_scalars,
	[SL__FIELD_NUMBERS] = read_scalars,
	[SL__FIELD_BY_WORD] = read_by_word,
	[SL__FIELD_NUMBER_BY_WORD] = read_by_word,
	[SL__FIELD_PAIRS] = read_pairs,
	[SL__FIELD_FACT] = read_fact,
	[SL__FIELD_FACT_AT] = read_fact,
	[SL__FIELD_FACTS] = read_facts,
	[SL__FIELD_TOLD] = read_own,
	[SL__FIELD_OWN] = read_own,
};

/* Kinds to which a null says something. */
static int
reads_null(enum sl__field_kind kind)
{
	return kind == SL__FIELD_INDEX || kind == SL__FIELD_NUMBER ||
	       kind == SL__FIELD_EXTENDED || kind == SL__FIELD_READING ||
	       kind == SL__FIELD_TRAIT || kind == SL__FIELD_INTERVAL ||
	       kind == SL__FIELD_BOUNDS || kind == SL__FIELD_QUANTILE;
}

/* It may be absent for reasons of its own; those of its figure stand there. */
static int
is_interval(const struct sl__field *f)
{
	return f->kind == SL__FIELD_INTERVAL || f->kind == SL__FIELD_BOUNDS;
}

/* Whether a result has the text in any case: then it is read as "" where a
 * file does not have it. */
static int
is_always_there(const struct sl__field *f)
{
	return f->kind == SL__FIELD_TEXT && !f->is_left_out && !f->absent &&
	       !f->why && !f->reason && !f->because;
}

/* A number that is not there is not 0, a text no NULL where every result has
 * it.  Several rows may have it, so that it is set before any is read. */
static void
set_defaults(void *record, const struct sl__record *table)
{
	for (size_t i = 0; i < table->n_fields; i++) {
		const struct sl__field *f = &table->fields[i];
		void *to = (char *)record + f->offset;
		struct sl_estimate *e = to;
		struct sl_reading *r = to;
		double *number = to;

		if (f->is_outer)
			continue;
		if (f->kind == SL__FIELD_OBJECT)
			set_defaults(to, f->of);
		else if (is_always_there(f))
			set_pointer(to, "");
		else if (f->kind == SL__FIELD_NUMBER)
			*number = (double)NAN;
		else if (f->kind == SL__FIELD_READING)
			r->value = (double)NAN;
		else if (is_interval(f))
			e->lo = e->hi = (double)NAN;
	}
}

/* Whether elements are counted that are not there: several lists may have one
 * number. */
static int
is_list_missing(const struct sl__field *f, const void *record)
{
	const void *elements;
	size_t n;

	if (!f->count || f->most || f->why || f->is_outer)
		return 0;
	memcpy(&n, (const char *)record + f->count - 1, sizeof(n));
	memcpy(&elements, (const char *)record + f->offset, sizeof(elements));
	return n && !elements;
}

static enum sl_status
check_lists(struct reader *r, const void *record,
	    const struct sl__record *table)
{
	for (size_t i = 0; i < table->n_fields; i++) {
		const struct sl__field *f = &table->fields[i];

		if (is_list_missing(f, record))
			return sl__fail(r->err, SL_E_DATA, "%s is not there",
					f->key ? f->key : "a list");
	}
	return SL_OK;
}

static enum sl_status
read_part(struct reader r, void *record, const struct sl__record *table)
{
	enum sl_status rc = SL_OK;
	const char *wrong;

	if (r.object->kind != SL__JSON_OBJECT)
		return sl__fail(r.err, SL_E_DATA, "no object");
	set_defaults(record, table);
	for (size_t i = 0; !rc && i < table->n_fields; i++) {
		const struct sl__field *f = &table->fields[i];
		void *of = f->is_outer ? r.parent : record;
		const struct sl__json_value *v =
			f->key ? sl__json_member(r.object, f->key) : r.object;

		if (!v || !readers[f->kind] ||
		    (f->is_either && f->why(record, NULL)))
			continue;
		if (v->kind == SL__JSON_NULL && f->reason && !is_interval(f))
			set_pointer((char *)of + f->reason - 1, reason(&r, f));
		if (v->kind == SL__JSON_NULL && !reads_null(f->kind))
			continue;
		rc = readers[f->kind](&r, of, f, v);
		if (f->key)
			rc = sl__error_prefix(r.err, rc, f->key);
	}
	if (!rc)
		rc = check_lists(&r, record, table);
	if (!rc && table->settle)
		table->settle(record);
	wrong = !rc && table->check ? table->check(record) : NULL;
	return wrong ? sl__fail(r.err, SL_E_DATA, "%s", wrong) : rc;
}

enum sl_status
sl__record_read(void *record, const struct sl__record *table,
		const struct sl__json_value *object, struct sl__arena *arena,
		struct sl_error *err)
{
	return read_part((struct reader){object, NULL, arena, err}, record,
			 table);
}
