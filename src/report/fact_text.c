/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fact_text.c - facts in words, and in documents.
 *
 * Every kind of fact has a template in fact_sentences.def.  They are checked as
 * a whole by tests/test_fact_text.c; what is wrong with one here is a defect.
 */
#include "report/fact_text.h"
#include "base/buf.h"
#include "report/phrase.h"
#include "sleuth/profiling.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/banned.h"

static const char *const templates[SL_N_FACT_KINDS] = {
	[SL_FACT_NONE] = "",
#define FACT(kind, words) [SL_FACT_##kind] = words,
#include "report/fact_sentences.def"
#undef FACT
};

const char *
sl__fact_template(enum sl_fact_kind kind)
{
	return templates[kind];
}

struct writer {
	struct sl_buf *out;
	const struct sl_fact *fact;
	size_t start;  /* where the text of this fact begins */
	int is_silent; /* within a part that is not said */
};

static const char *
spent_text(enum sl_bound bound)
{
	static const char *const words[SL_N_BOUNDS] = {
		[SL_BOUND_UNKNOWN] = "is not decided",
		[SL_BOUND_COMPUTE] = "is bound by arithmetic",
		[SL_BOUND_L2] = "waits for the L2 cache",
		[SL_BOUND_L3] = "waits for the L3 cache",
		[SL_BOUND_DRAM] = "waits for memory (DRAM)",
		[SL_BOUND_OVERHEAD] =
			"is spent in operations too small for the machine",
		[SL_BOUND_IMBALANCE] =
			"is spent while threads wait for one of them",
		[SL_BOUND_REFERENCE] = "is spent in reference kernels",
		[SL_BOUND_INSTRUCTIONS] =
			"is bound by instructions other than multiply-adds",
		[SL_BOUND_LATENCY] =
			"is spent in steps that wait for each other",
		[SL_BOUND_LAYOUT] = "is spent on strided or scattered access",
	};

	return words[(unsigned)bound < SL_N_BOUNDS ? bound : SL_BOUND_UNKNOWN];
}

static int
id_of(double x)
{
	return x >= 0 && x < 1000 ? (int)x : 0;
}

static const char *
dtype_words(struct sl__phrase *w, double x)
{
	(void)w;
	return sl_dtype_text((enum sl_dtype)id_of(x));
}

static const char *
anytype_words(struct sl__phrase *w, double x)
{
	return id_of(x) ? dtype_words(w, x) : "any type";
}

static const char *
bound_words(struct sl__phrase *w, double x)
{
	(void)w;
	return sl_bound_text((enum sl_bound)id_of(x));
}

static const char *
spent_words(struct sl__phrase *w, double x)
{
	(void)w;
	return spent_text((enum sl_bound)id_of(x));
}

/* "208 parameters", "38.6 M parameters". */
static const char *
parameter_words(struct sl__phrase *w, double n)
{
	static const struct {
		double unit, from;
		const char *name;
		int n_digits;
	} units[] = {{1e9, 999500000, "G ", 4},
		     {1e6, 999500, "M ", 3},
		     {1e3, 1000, "k ", 3}};

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (n < units[i].from)
			continue;
		snprintf(w->s, sizeof(w->s), "%.*g %sparameters",
			 units[i].n_digits, n / units[i].unit, units[i].name);
		return w->s;
	}
	snprintf(w->s, sizeof(w->s), "%.0f parameter%s", n,
		 n > 0.5 && n < 1.5 ? "" : "s");
	return w->s;
}

static const char *
level_words(struct sl__phrase *w, double x)
{
	(void)w;
	return sl_level_text((enum sl_level)id_of(x));
}

static const char *
phase_words(struct sl__phrase *w, double x)
{
	(void)w;
	return sl_phase_text((enum sl_phase)id_of(x));
}

/* A share as a number: a digit more where it is below 1 %. */
static const char *
percent_words(struct sl__phrase *w, double x)
{
	snprintf(w->s, sizeof(w->s), "%.*f", 100 * x < 1, 100 * x);
	return w->s;
}

/* Values that stand for a word or have a unit that fits. */
static const struct {
	const char *spec;
	const char *(*words)(struct sl__phrase *w, double x);
} specs[] = {
	{"time", sl__phrase_time},       {"bytes", sl__phrase_bytes},
	{"percent", percent_words},      {"dtype", dtype_words},
	{"anytype", anytype_words},      {"bound", bound_words},
	{"parameters", parameter_words}, {"spent", spent_words},
	{"level", level_words},          {"phase", phase_words},
};

static const char *
special_text(struct sl__phrase *w, const char *spec, size_t n, double x)
{
	size_t i = 0;

	while (strlen(specs[i].spec) != n || memcmp(specs[i].spec, spec, n)) {
		i++;
		assert(i < sizeof(specs) / sizeof(specs[0]));
	}
	return specs[i].words(w, x);
}

/* ".3g/1e9": digits, form, and a factor; "100", never "1e+02". */
static const char *
number_text(struct sl__phrase *w, const char *spec, double x)
{
	int n_digits = spec[1] - '0';
	double factor =
		spec[3] == '*' || spec[3] == '/' ? strtod(spec + 4, NULL) : 1;

	x = spec[3] == '/' ? x / factor : x * factor;
	if (spec[2] == 'g' && fabs(x) < pow(10, n_digits) - 0.5)
		snprintf(w->s, sizeof(w->s), "%.*g", n_digits, x);
	else
		snprintf(w->s, sizeof(w->s), "%.*f",
			 spec[2] == 'g' ? 0 : n_digits, x);
	return w->s;
}

static double
value_of(const struct writer *w, char digit)
{
	assert(digit >= '0' && digit < '0' + SL_FACT_VALUES);
	return w->fact->values[digit - '0'];
}

static void
say(struct writer *w, const char *text, size_t n)
{
	if (!w->is_silent)
		sl__buf_add(w->out, text, n);
}

static const char *
write_value(struct writer *w, const char *t)
{
	size_t n = strcspn(t + 2, "}");
	struct sl__phrase words;
	const char *text =
		t[2] == '.' ? number_text(&words, t + 2, value_of(w, *t))
			    : special_text(&words, t + 2, n, value_of(w, *t));

	assert(t[1] == ':' && text);
	say(w, text, strlen(text));
	return t + 2 + n;
}

static const char *
write_name(struct writer *w, const char *t)
{
	const char *name = w->fact->names[*t - 'a'];

	say(w, name ? name : "", name ? strlen(name) : 0);
	return t + 1;
}

static void
write_comma(struct writer *w)
{
	size_t n = w->out->n_bytes;

	if (n > w->start && w->out->data[n - 1] != ' ')
		say(w, ", ", 2);
}

static const char *write_until(struct writer *w, const char *t,
			       const char *ends);

/* {?0:text}: returns where it ends. */
static const char *
write_known(struct writer *w, const char *t)
{
	int is_silent = w->is_silent;

	w->is_silent |= isnan(value_of(w, t[1]));
	t = write_until(w, t + 3, "}");
	w->is_silent = is_silent;
	return t;
}

/* {=0:one|many} and {<0:minus|plus}: likewise. */
static const char *
write_choice(struct writer *w, const char *t)
{
	int is_silent = w->is_silent;
	double value = value_of(w, t[1]);
	int is_first = *t == '<' ? value < 0 : fabs(value - 1) < 0.5;

	w->is_silent = is_silent || !is_first;
	t = write_until(w, t + 3, "|");
	w->is_silent = is_silent || is_first;
	t = write_until(w, t + 1, "}");
	w->is_silent = is_silent;
	return t;
}

/* What stands between braces; returns what follows them. */
static const char *
write_group(struct writer *w, const char *t)
{
	switch (*t) {
	case ',':
		write_comma(w);
		t++;
		break;
	case '?':
		t = write_known(w, t);
		break;
	case '=':
	case '<':
		t = write_choice(w, t);
		break;
	case 'a':
	case 'b':
	case 'c':
	case 'd':
		t = write_name(w, t);
		break;
	default:
		t = write_value(w, t);
		break;
	}
	assert(*t == '}');
	return t + 1;
}

static const char *
write_until(struct writer *w, const char *t, const char *ends)
{
	for (;;) {
		size_t n = strcspn(t, "{|}");

		say(w, t, n);
		t += n;
		if (!*t || strchr(ends, *t))
			return t;
		assert(*t == '{');
		t = write_group(w, t + 1);
	}
}

void
sl__fact_append_sentence(struct sl_buf *out, const struct sl_fact *fact)
{
	struct writer w = {.out = out, .fact = fact, .start = out->n_bytes};

	assert((unsigned)fact->kind < SL_N_FACT_KINDS);
	(void)write_until(&w, templates[fact->kind], "");
}

enum sl_status
sl_fact_text(const struct sl_fact *fact, struct sl_buf *out,
	     struct sl_error *err)
{
	sl__fact_append_sentence(out, fact);
	return sl__buf_status(out, err);
}

const char *
sl__fact_sentence(struct sl__arena *arena, const struct sl_fact *fact)
{
	struct sl_buf text = {0};
	const char *words = NULL;

	sl__fact_append_sentence(&text, fact);
	if (!sl__buf_status(&text, NULL))
		words = sl__arena_string(arena, text.data ? text.data : "");
	sl_buf_release(&text);
	return words;
}

const char *
sl__doc_fact_sentence(struct sl__doc *doc, const struct sl_fact *fact)
{
	const char *words = sl__fact_sentence(&doc->arena, fact);

	doc->failed |= !words;
	return words ? words : "";
}
