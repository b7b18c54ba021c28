/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_document.c - the rows of results as tables of docs/schema.md.
 *
 * A record that several have gets a section of its own, and the others refer
 * to it; what only one has stands in that one's section, under its path.
 */
#include "base/buf.h"
#include "result/record.h"
#include "result/saved_result.h"

#include <stdio.h>
#include <string.h>

#include "base/banned.h"

enum { MOST_RECORDS = 512, MOST_PATH = 160, MOST_WORDS = 16 };

/* All records that results are made of, and how many rows refer to each. */
struct library {
	const struct sl__record *records[MOST_RECORDS];
	size_t n_uses[MOST_RECORDS];
	size_t n;
	int is_full; /* there are more */
};

static int
is_list(const struct sl__field *f)
{
	return f->kind == SL__FIELD_LIST || f->kind == SL__FIELD_TEXTS ||
	       f->kind == SL__FIELD_ARGV || f->kind == SL__FIELD_WHOLES ||
	       f->kind == SL__FIELD_SIGNEDS || f->kind == SL__FIELD_NUMBERS ||
	       f->kind == SL__FIELD_FACTS ||
	       (f->kind == SL__FIELD_TOLD && !f->made) ||
	       (f->kind == SL__FIELD_OWN && f->made == SL__FIELD_TEXTS);
}

static size_t
place_of(const struct library *l, const struct sl__record *r)
{
	size_t i = 0;

	while (i < l->n && l->records[i] != r)
		i++;
	return i;
}

/* A record and, the first time it is met, all below it. */
static void
collect(struct library *l, const struct sl__record *r)
{
	size_t i = place_of(l, r);

	if (i == MOST_RECORDS) {
		l->is_full = 1;
		return;
	}
	l->n_uses[i]++;
	if (i < l->n)
		return;
	l->records[l->n++] = r;
	for (size_t k = 0; k < r->n_fields; k++) {
		if (r->fields[k].of)
			collect(l, r->fields[k].of);
	}
}

static const char *
type_of(const struct sl__field *f)
{
	static const char *const words[SL__N_FIELD_KINDS] = {
		[SL__FIELD_TEXT] = "text",
		[SL__FIELD_LETTERS] = "text",
		[SL__FIELD_WHOLE] = "integer",
		[SL__FIELD_SIGNED] = "integer",
		[SL__FIELD_INDEX] = "integer",
		[SL__FIELD_NUMBER] = "number",
		[SL__FIELD_EXTENDED] = "number",
		[SL__FIELD_BOOLEAN] = "boolean",
		[SL__FIELD_WORD] = "text",
		[SL__FIELD_READING] = "number",
		[SL__FIELD_TRAIT] = "text",
		[SL__FIELD_DATE] = "text",
		[SL__FIELD_INTERVAL] = "interval",
		[SL__FIELD_BOUNDS] = "interval",
		[SL__FIELD_QUANTILE] = "number",
		[SL__FIELD_OBJECT] = "object",
		[SL__FIELD_POINTER] = "object",
		[SL__FIELD_LIST] = "object",
		[SL__FIELD_FIRST] = "object",
		[SL__FIELD_TEXTS] = "text",
		[SL__FIELD_ARGV] = "text",
		[SL__FIELD_WHOLES] = "integer",
		[SL__FIELD_SIGNEDS] = "integer",
		[SL__FIELD_NUMBERS] = "number",
		[SL__FIELD_BY_WORD] = "object",
		[SL__FIELD_NUMBER_BY_WORD] = "object",
		[SL__FIELD_PAIRS] = "object",
		[SL__FIELD_FACT] = "text",
		[SL__FIELD_FACT_AT] = "text",
		[SL__FIELD_FACTS] = "text",
		[SL__FIELD_SPOKEN] = "text",
		[SL__FIELD_TOLD] = "text",
		[SL__FIELD_SAYS] = "text",
		[SL__FIELD_NEVER] = "null",
	};

	if (f->kind == SL__FIELD_OWN || f->kind == SL__FIELD_MADE)
		return words[f->made];
	return words[f->kind];
}

/* A meaning, and the words that an enum has. */
static void
write_meaning(struct sl_buf *out, const struct sl__field *f)
{
	sl__buf_text(out, f->meaning ? f->meaning : "");
	if (f->kind != SL__FIELD_WORD || f->words->n > MOST_WORDS)
		return;
	sl__buf_text(out, ":");
	for (unsigned i = f->words->first; i < f->words->n; i++)
		sl__buf_format(out, "%s %s", i > f->words->first ? "," : "",
			       f->words->word(i));
}

/* A null with a reason, no name at all, or always there. */
static void
write_absence(struct sl_buf *out, const struct sl__field *f)
{
	int has_reason = f->why || f->reason || f->because || f->fact;
	int is_figure =
		f->kind == SL__FIELD_NUMBER || f->kind == SL__FIELD_EXTENDED ||
		f->kind == SL__FIELD_READING || f->kind == SL__FIELD_TRAIT ||
		f->kind == SL__FIELD_QUANTILE || f->kind == SL__FIELD_INTERVAL;

	if (f->is_left_out || f->kind == SL__FIELD_FACT ||
	    f->kind == SL__FIELD_FACT_AT)
		sl__buf_text(out, "left out");
	else if (f->kind == SL__FIELD_POINTER && !f->absent && !f->because)
		sl__buf_text(out, "left out");
	else if (f->absent && *f->absent && f->kind != SL__FIELD_SAYS)
		sl__buf_text(out, f->absent);
	else if (has_reason || is_figure)
		sl__buf_text(out, "with its reason");
	else
		sl__buf_text(out, "always there");
}

static void
write_row(struct sl_buf *out, const struct sl__field *f, const char *path)
{
	sl__buf_format(out, "| `%s%s` | %s | ", path, is_list(f) ? "[]" : "",
		       type_of(f));
	write_meaning(out, f);
	sl__buf_text(out, " | ");
	write_absence(out, f);
	sl__buf_text(out, " |\n");
	if (f->kind == SL__FIELD_INTERVAL)
		sl__buf_format(out,
			       "| `%s_needs_n` | integer | samples that it "
			       "takes | left out |\n",
			       path);
	if (f->kind == SL__FIELD_FACT || f->kind == SL__FIELD_FACT_AT)
		sl__buf_format(out,
			       "| `%s_fact` | fact | the same | left out "
			       "|\n",
			       path);
	if (f->kind == SL__FIELD_FACTS)
		sl__buf_format(out,
			       "| `%s_facts[]` | fact | the same | always "
			       "there |\n",
			       path);
}

/* Whether a row has a section to refer to. */
static int
refers(const struct library *l, const struct sl__field *f)
{
	return f->of && f->key && l->n_uses[place_of(l, f->of)] > 1;
}

/* An anchor has no dots. */
static void
write_link(struct sl_buf *out, const char *name)
{
	sl__buf_format(out, "[%s](#", name);
	for (; *name; name++) {
		if (*name != '.')
			sl__buf_add(out, name, 1);
	}
	sl__buf_text(out, ")");
}

static void write_rows(struct sl_buf *out, const struct library *l,
		       const struct sl__record *r, const char *prefix);

static void
write_field(struct sl_buf *out, const struct library *l,
	    const struct sl__field *f, const char *prefix)
{
	char path[MOST_PATH];

	snprintf(path, sizeof(path), "%s%s", prefix, f->key ? f->key : "");
	if (refers(l, f)) {
		sl__buf_format(out, "| `%s%s` | ", path,
			       is_list(f) ? "[]" : "");
		write_link(out, f->of->name);
		sl__buf_format(out, " | %s | ", f->meaning);
		write_absence(out, f);
		sl__buf_text(out, " |\n");
		return;
	}
	if (f->key && f->kind != SL__FIELD_REASON)
		write_row(out, f, path);
	if (!f->of)
		return;
	if (f->key)
		snprintf(path, sizeof(path), "%s%s%s.", prefix, f->key,
			 is_list(f) ? "[]" : "");
	write_rows(out, l, f->of, f->key ? path : prefix);
}

static void
write_rows(struct sl_buf *out, const struct library *l,
	   const struct sl__record *r, const char *prefix)
{
	for (size_t i = 0; i < r->n_fields; i++)
		write_field(out, l, &r->fields[i], prefix);
}

static void
write_section(struct sl_buf *out, const struct library *l,
	      const struct sl__record *r, const char *what)
{
	sl__buf_format(out,
		       "\n## %s\n\n%s\n\n| name | type | meaning | absent |\n"
		       "|---|---|---|---|\n",
		       r->name, what);
	write_rows(out, l, r, "");
}

static int
is_kind(const struct sl__record *r)
{
	for (size_t i = 0; sl__saved_result_kinds[i]; i++) {
		if (!strcmp(sl__saved_result_kinds[i]->name, r->name))
			return 1;
	}
	return 0;
}

void
sl__schema_doc_tables_write(struct sl_buf *out)
{
	struct library l = {.n = 0};

	for (size_t i = 0; sl__saved_result_kinds[i]; i++)
		collect(&l, sl__saved_result_kinds[i]);
	if (l.is_full) {
		sl__buf_mark_failed(out);
		return;
	}
	for (size_t i = 0; sl__saved_result_kinds[i]; i++)
		write_section(out, &l, sl__saved_result_kinds[i],
			      "A document of this kind.");
	for (size_t i = 0; i < l.n; i++) {
		if (l.n_uses[i] > 1 && !is_kind(l.records[i]))
			write_section(out, &l, l.records[i],
				      "What several of them have.");
	}
}
