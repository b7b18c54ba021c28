/* SPDX-License-Identifier: Apache-2.0 */
/*
 * suite_file.c - the text that describes a suite.
 *
 * Lines of "key = value" in sections of one model each; '#' begins a remark.
 * Keys above the first section hold for all sections that do not say otherwise.
 * One table has the keys; a word that is wrong is told with its line, its
 * column and the nearest one.
 */
#include "driver/suite_file.h"
#include "base/number.h"
#include "base/status.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/banned.h"

enum {
	REPETITIONS = 40, /* beyond the 39 that an interval by ranks needs */
	SECONDS = 30, /* clocks and places of virtual CPUs last for seconds */
	REPETITIONS_MOST = 1000,
	ROUNDS = 5,
	ROUNDS_MOST = 1000
};

enum value_kind { WORD, COUNT, TIME, BYTES, SHARE };

struct key {
	const char *name;
	enum value_kind kind;
	size_t offset;
	double most;     /* of a count */
	int is_of_suite; /* stands above the sections alone */
	int is_of_model; /* stands in a section alone */
};

/* Keys of the suite as a whole. */
struct whole {
	double repetitions, time_ns, rounds, seed;
};

#define IN_SUITE(m)   offsetof(struct whole, m)
#define IN_SECTION(m) offsetof(struct sl__suite_section, m)
#define LIMIT(metric) \
	(IN_SECTION(limits) + sizeof(double) * (size_t)SL_GATE_##metric)

static const struct key keys[] = {
	{"repetitions", COUNT, IN_SUITE(repetitions), REPETITIONS_MOST, 1, 0},
	{"time", TIME, IN_SUITE(time_ns), 0, 1, 0},
	{"rounds", COUNT, IN_SUITE(rounds), ROUNDS_MOST, 1, 0},
	{"seed", COUNT, IN_SUITE(seed), 9007199254740992.0, 1, 0},
	{"model", WORD, IN_SECTION(model), 0, 0, 1},
	{"variants", WORD, IN_SECTION(variant_words), 0, 0, 0},
	{"scenarios", WORD, IN_SECTION(scenario_words), 0, 0, 0},
	{"data", WORD, IN_SECTION(data), 0, 0, 0},
	{"labels", WORD, IN_SECTION(labels), 0, 0, 0},
	{"inputs", WORD, IN_SECTION(inputs), 0, 0, 0},
	{"batch", COUNT, IN_SECTION(batch), 1e6, 0, 0},
	{"seq", COUNT, IN_SECTION(seq), 1e9, 0, 0},
	{"threads", COUNT, IN_SECTION(threads), 4096, 0, 0},
	{"max-time", TIME, LIMIT(TIME), 0, 0, 0},
	{"max-memory", BYTES, LIMIT(MEMORY), 0, 0, 0},
	{"max-size", BYTES, LIMIT(SIZE), 0, 0, 0},
	{"min-accuracy", SHARE, LIMIT(ACCURACY), 0, 0, 0},
};
enum { N_KEYS = sizeof(keys) / sizeof(keys[0]) };

struct reader {
	struct sl__suite_file *out;
	struct sl__arena *arena;
	struct sl_error *err;
	struct whole whole;
	struct sl__suite_section defaults;
	struct sl__suite_section *section; /* that lines go to */
	size_t cap;
	size_t line, column; /* of what is read */
};

static enum sl_status
refuse_at(const struct reader *r, size_t line, size_t column, const char *text)
{
	return sl__fail(r->err, SL_E_DATA, "line %zu, column %zu: %s", line,
			column, text);
}

/* "'varients' is no key; did you mean 'variants'?" */
static enum sl_status
refuse_word(const struct reader *r, size_t line, size_t column,
	    const char *word, const char *what, const char *near)
{
	char text[400];

	snprintf(text, sizeof(text), "'%.100s' is no %s%s%.100s%s", word, what,
		 near ? "; did you mean '" : "", near ? near : "",
		 near ? "'?" : "");
	return refuse_at(r, line, column, text);
}

static const struct key *
find_key(const char *word, const char **near)
{
	for (size_t i = 0; i < N_KEYS; i++) {
		if (strcmp(keys[i].name, word) == 0)
			return &keys[i];
		*near = sl_text_nearer(word, *near, keys[i].name);
	}
	return NULL;
}

/* A number with one of some units. */
static int
read_in_units(double *out, const char *text, const char *const *units,
	      const double *factors)
{
	size_t n = strspn(text, "0123456789.");
	char digits[SL__NUMBER_BYTES];

	if (!n || n >= sizeof(digits))
		return 0;
	memcpy(digits, text, n);
	digits[n] = '\0';
	text += n + strspn(text + n, " ");
	for (size_t i = 0; units[i]; i++) {
		if (strcmp(text, units[i]) == 0) {
			*out = sl__number_read(digits) * factors[i];
			return *out > 0;
		}
	}
	return 0;
}

static const char *
read_number(double *out, const struct key *key, const char *value)
{
	static const char *const times[] = {"ns", "us", "ms", "s", NULL};
	static const double ns[] = {1, 1e3, 1e6, 1e9};
	static const char *const shares[] = {"%", "", NULL};
	static const double parts[] = {0.01, 1};

	switch (key->kind) {
	case COUNT:
		return sl_quantity_read(out, value) && *out >= 1 &&
				       *out <= key->most &&
				       *out - floor(*out) <= 0
			       ? NULL
			       : "must be a whole number, at least 1 and not "
				 "beyond what makes sense";
	case TIME:
		return read_in_units(out, value, times, ns)
			       ? NULL
			       : "must be a time such as 5ms";
	case BYTES:
		return sl_quantity_read(out, value) && *out > 0
			       ? NULL
			       : "must be an amount such as 64kB or 2Mi";
	case SHARE:
		return read_in_units(out, value, shares, parts) && *out <= 1
			       ? NULL
			       : "must be a share such as 0.9 or 90%";
	case WORD:
		break;
	}
	return NULL;
}

static enum sl_status
set_value(struct reader *r, const struct key *key, const char *value,
	  size_t column)
{
	char *base = key->is_of_suite ? (char *)&r->whole : (char *)r->section;
	const char *wrong;
	double number;

	if (!*value)
		return refuse_at(r, r->line, column, "a value is missing");
	if (key->offset == IN_SECTION(variant_words) && !key->is_of_suite) {
		r->section->variants_line = r->line;
		r->section->variants_column = column;
	}
	if (key->offset == IN_SECTION(scenario_words) && !key->is_of_suite) {
		r->section->scenarios_line = r->line;
		r->section->scenarios_column = column;
	}
	if (key->kind == WORD) {
		const char **to = (const char **)(void *)(base + key->offset);

		if (*to)
			return refuse_at(r, r->line, r->column,
					 "this key stands twice");
		return sl__arena_copy_text(r->arena, to, value, r->err);
	}
	wrong = read_number(&number, key, value);
	if (wrong)
		return refuse_at(r, r->line, column, wrong);
	if (*(double *)(void *)(base + key->offset) > 0)
		return refuse_at(r, r->line, r->column,
				 "this key stands twice");
	*(double *)(void *)(base + key->offset) = number;
	return SL_OK;
}

static enum sl_status
read_key(struct reader *r, char *line, const char *start)
{
	char *equals = strchr(line, '='), *end, *value;
	const struct key *key;
	const char *near = NULL;
	size_t column;

	if (!equals)
		return refuse_at(r, r->line, r->column,
				 "must be 'key = value' or '[name]'");
	for (end = equals; end > line && strchr(" \t", end[-1]);)
		end--;
	value = equals + 1 + strspn(equals + 1, " \t");
	column = (size_t)(value - start) + 1;
	*end = '\0';
	key = find_key(line, &near);
	if (!key)
		return refuse_word(r, r->line, r->column, line, "key", near);
	if (key->is_of_suite && r->section != &r->defaults)
		return refuse_at(r, r->line, r->column,
				 "this key stands above the first section");
	if (key->is_of_model && r->section == &r->defaults)
		return refuse_at(r, r->line, r->column,
				 "this key stands in a section: begin one with "
				 "[name]");
	return set_value(r, key, value, column);
}

/* "[name]" */
static enum sl_status
begin_section(struct reader *r, char *line)
{
	struct sl__suite_file *out = r->out;
	size_t n = strlen(line);

	if (line[n - 1] != ']' || n < 3)
		return refuse_at(r, r->line, r->column,
				 "must be [name], on a line of its own");
	line[n - 1] = '\0';
	for (size_t i = 0; i < out->n_sections; i++) {
		if (strcmp(out->sections[i].name, line + 1) == 0)
			return refuse_at(r, r->line, r->column,
					 "this section stands twice");
	}
	if (!sl__arena_grow(r->arena, &out->sections, out->n_sections, &r->cap,
			    sizeof(*out->sections)))
		return sl__fail_nomem(r->err);
	r->section = &out->sections[out->n_sections++];
	memset(r->section, 0, sizeof(*r->section));
	r->section->line = r->line;
	return sl__arena_copy_text(r->arena, &r->section->name, line + 1,
				   r->err);
}

static enum sl_status
read_line(struct reader *r, char *line)
{
	const char *start = line;
	size_t n;

	line[strcspn(line, "#")] = '\0';
	for (n = strlen(line); n && strchr(" \t\r", line[n - 1]);)
		line[--n] = '\0';
	line += strspn(line, " \t");
	r->column = (size_t)(line - start) + 1;
	if (!*line)
		return SL_OK;
	return *line == '[' ? begin_section(r, line) : read_key(r, line, start);
}

/* Where a section says nothing, the defaults do. */
static void
inherit(struct sl__suite_section *s, const struct sl__suite_section *from)
{
	for (size_t i = 0; i < N_KEYS; i++) {
		const struct key *key = &keys[i];
		char *to = (char *)s + key->offset;
		const char *other = (const char *)from + key->offset;

		if (key->is_of_suite)
			continue;
		if (key->kind == WORD && !*(const char **)(void *)to)
			*(const char **)(void *)to =
				*(const char *const *)(const void *)other;
		if (key->kind != WORD && !(*(double *)(void *)to > 0))
			memcpy(to, other, sizeof(double));
	}
	if (s->variant_words == from->variant_words) {
		s->variants_line = from->variants_line;
		s->variants_column = from->variants_column;
	}
	if (s->scenario_words == from->scenario_words) {
		s->scenarios_line = from->scenarios_line;
		s->scenarios_column = from->scenarios_column;
	}
}

/* The next word between commas, copied; NULL: the last was there. */
static enum sl_status
next_word(struct reader *r, const char **at, const char **word, size_t *column)
{
	const char *from;
	size_t n, n_all;

	*word = NULL;
	if (!*at)
		return SL_OK;
	from = *at + strspn(*at, " \t");
	n_all = strcspn(from, ",");
	for (n = n_all; n && strchr(" \t", from[n - 1]);)
		n--;
	*column += (size_t)(from - *at);
	*word = sl__arena_format(r->arena, "%.*s", (int)n, from);
	*at = from[n_all] ? from + n_all + 1 : NULL;
	return *word ? SL_OK : sl__fail_nomem(r->err);
}

/* Whether a part of a variant names a change, such as "threads" or
 * "threads=1". */
static int
is_change(const char *word, size_t n, const char **near)
{
	char name[64];
	const struct sl_variant_rule *rule;

	snprintf(name, sizeof(name), "%.*s", (int)n, word);
	name[strcspn(name, "=")] = '\0';
	for (size_t i = 0; (rule = sl_variant_rule_at(i)); i++) {
		if (strcmp(rule->name, name) == 0)
			return 1;
		*near = sl_text_nearer(name, *near, rule->name);
	}
	return 0;
}

/* "bf16+threads=1" is changes with commas in their place. */
static int
read_changes(struct sl__suite_variant *v, char *changes, const char **near)
{
	v->changes = changes;
	for (char *at = changes;; at++) {
		size_t n = strcspn(at, "+");

		if (!is_change(at, n, near))
			return 0;
		at += n;
		if (!*at)
			return 1;
		*at = ',';
	}
}

/* What a variant's name says: which model takes the place of the section's, or
 * how it is changed. */
static int
resolve_variant(struct reader *r, struct sl__suite_variant *v,
		const struct sl__suite_section *s, const char **near)
{
	size_t n = strlen(v->name);
	char *changes;

	v->model = s->model;
	if (strcmp(v->name, "baseline") == 0)
		return 1;
	if (n > 5 && strcmp(v->name + n - 5, ".onnx") == 0) {
		v->model = v->name;
		return 1;
	}
	if (strcmp(v->name, "kv") == 0) {
		v->model = sl__arena_format(r->arena, "%s@kv", s->model);
		return 1;
	}
	*near = sl_text_nearer(v->name, NULL, "baseline");
	changes = sl__arena_string(r->arena, v->name);
	if (!changes) {
		v->model = NULL;
		return 1;
	}
	return read_changes(v, changes, near);
}

static enum sl_status
read_variants(struct reader *r, struct sl__suite_section *s)
{
	const char *at = s->variant_words ? s->variant_words : "baseline";
	size_t cap = 0, column = s->variants_column;
	const char *word;

	for (;;) {
		const char *before = at, *near = NULL;
		struct sl__suite_variant *v;
		enum sl_status rc = next_word(r, &at, &word, &column);

		if (rc || !word)
			return rc;
		if (!sl__arena_grow(r->arena, &s->variants, s->n_variants, &cap,
				    sizeof(*s->variants)))
			return sl__fail_nomem(r->err);
		v = &s->variants[s->n_variants++];
		*v = (struct sl__suite_variant){.name = word};
		if (!resolve_variant(r, v, s, &near))
			return refuse_word(r, s->variants_line, column, word,
					   "variant", near);
		if (!v->model)
			return sl__fail_nomem(r->err);
		for (size_t i = 0; i + 1 < s->n_variants; i++) {
			if (strcmp(s->variants[i].name, word) == 0)
				return refuse_at(r, s->variants_line, column,
						 "this variant stands twice");
		}
		column += at ? (size_t)(at - before) - strspn(before, " \t")
			     : 0;
	}
}

static enum sl_status
read_scenarios(struct reader *r, struct sl__suite_section *s)
{
	const char *at = s->scenario_words ? s->scenario_words : "single";
	size_t column = s->scenarios_column;
	const char *word;

	for (;;) {
		const char *before = at, *near = NULL;
		enum sl_status rc = next_word(r, &at, &word, &column);
		unsigned which = 0;

		if (rc || !word)
			return rc;
		for (; which < SL_N_SCENARIOS; which++) {
			const char *name = sl_scenario_text(which);

			if (strcmp(name, word) == 0)
				break;
			near = sl_text_nearer(word, near, name);
		}
		if (which == SL_N_SCENARIOS)
			return refuse_word(r, s->scenarios_line, column, word,
					   "scenario", near);
		if (which == SL_SCENARIO_SERVER)
			return refuse_at(r, s->scenarios_line, column,
					 "queries of a suite come one after "
					 "another: single, multi or offline");
		for (size_t i = 0; i < s->n_scenarios; i++) {
			if (s->scenarios[i] == which)
				return refuse_at(r, s->scenarios_line, column,
						 "this scenario stands twice");
		}
		s->scenarios[s->n_scenarios++] = (enum sl_scenario)which;
		column += at ? (size_t)(at - before) - strspn(before, " \t")
			     : 0;
	}
}

static enum sl_status
finish(struct reader *r)
{
	struct sl__suite_file *out = r->out;
	enum sl_status rc = SL_OK;

	if (!out->n_sections)
		return refuse_at(r, r->line ? r->line : 1, 1,
				 "no model: begin a section with [name] and "
				 "add 'model = resnet50'");
	out->n_repetitions = r->whole.repetitions > 0
				     ? (size_t)r->whole.repetitions
				     : REPETITIONS;
	out->n_most = r->whole.repetitions > 0 && !(r->whole.time_ns > 0)
			      ? out->n_repetitions
			      : REPETITIONS_MOST;
	out->time_s = r->whole.time_ns > 0       ? r->whole.time_ns / 1e9
		      : r->whole.repetitions > 0 ? 0
						 : SECONDS;
	out->n_rounds = r->whole.rounds > 0 ? (size_t)r->whole.rounds : ROUNDS;
	out->seed = r->whole.seed > 0 ? (uint64_t)r->whole.seed : 1;
	for (size_t i = 0; !rc && i < out->n_sections; i++) {
		struct sl__suite_section *s = &out->sections[i];

		if (!s->model)
			return refuse_at(r, s->line, 1,
					 "the section has no model");
		inherit(s, &r->defaults);
		rc = read_variants(r, s);
		if (!rc)
			rc = read_scenarios(r, s);
	}
	return rc;
}

enum sl_status
sl__suite_file_read(struct sl__suite_file *out, const char *text,
		    size_t n_bytes, struct sl__arena *arena,
		    struct sl_error *err)
{
	struct reader r = {.out = out, .arena = arena, .err = err};
	enum sl_status rc = SL_OK;

	memset(out, 0, sizeof(*out));
	r.section = &r.defaults;
	while (!rc && n_bytes) {
		const char *end = memchr(text, '\n', n_bytes);
		size_t n = end ? (size_t)(end - text) : n_bytes;
		char *line = sl__arena_realloc_array(arena, text, n, n + 1, 1);

		r.line++;
		if (!line)
			return sl__fail_nomem(err);
		line[n] = '\0';
		rc = strlen(line) == n ? read_line(&r, line)
				       : refuse_at(&r, r.line, strlen(line) + 1,
						   "this is no text");
		n += end != NULL;
		text += n;
		n_bytes -= n;
	}
	return rc ? rc : finish(&r);
}
