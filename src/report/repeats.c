/* SPDX-License-Identifier: Apache-2.0 */
/*
 * repeats.c - layers that are alike, as one row of a table.
 *
 * A network is a few kinds of block many times over; a list of its largest
 * layers would show one of them again and again.  So rows are sorted by
 * kind, where every number in a name equals every other, and neighbours of
 * one kind become one row.
 */
#include "report/repeats.h"
#include "base/buf.h"
#include "report/printable.h"

#include <ctype.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/banned.h"

static const char DIGITS[] = "0123456789";

static int
is_digit(char c)
{
	return isdigit((unsigned char)c) != 0;
}

/* Like strcmp(), but any number equals any other. */
static int
compare_patterns(const char *a, const char *b)
{
	for (;; a++, b++) {
		if (is_digit(*a) && is_digit(*b)) {
			a += strspn(a, DIGITS) - 1;
			b += strspn(b, DIGITS) - 1;
		} else if (*a != *b) {
			return (unsigned char)*a < (unsigned char)*b ? -1 : 1;
		} else if (!*a) {
			return 0;
		}
	}
}

static int
compare_numbers(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int
compare_costs(const struct sl_layer *a, const struct sl_layer *b)
{
	const uint64_t figures[][2] = {
		{a->cost.macs, b->cost.macs},
		{sl_cost_operations(&a->cost), sl_cost_operations(&b->cost)},
		{sl_cost_bytes(&a->cost), sl_cost_bytes(&b->cost)},
		{a->parameters, b->parameters},
		{a->n_calls, b->n_calls},
		{(uint64_t)a->cost.basis, (uint64_t)b->cost.basis},
	};
	int order = 0;

	for (size_t k = 0; !order && k < sizeof(figures) / sizeof(*figures);
	     k++)
		order = compare_numbers(figures[k][0], figures[k][1]);
	return order;
}

/* 0 for layers that are alike. */
static int
compare_kinds(const struct sl_layer *a, const struct sl_layer *b)
{
	int order = compare_patterns(a->name, b->name);

	if (!order)
		order = strcmp(a->type, b->type);
	if (!order)
		order = strcmp(a->output_shape ? a->output_shape : "",
			       b->output_shape ? b->output_shape : "");
	return order ? order : compare_costs(a, b);
}

/* By kind, and within it in the order they run. */
static int
compare_rows(const void *a, const void *b)
{
	const struct sl_layer *x = *(const struct sl_layer *const *)a;
	const struct sl_layer *y = *(const struct sl_layer *const *)b;
	int order = compare_kinds(x, y);

	return order ? order : x < y ? -1 : x > y;
}

/* Most work first. */
static int
compare_repeats(const void *a, const void *b)
{
	const struct sl__repeated_layers *x = a, *y = b;
	int order = compare_numbers(y->macs, x->macs);

	if (!order)
		order = compare_numbers(y->operations, x->operations);
	if (!order)
		order = compare_numbers(y->n_bytes, x->n_bytes);
	if (order)
		return order;
	return x->rows[0] < y->rows[0] ? -1 : x->rows[0] > y->rows[0];
}

void
sl__repeated_layers_merge(struct sl__repeated_layers *into,
			  const struct sl__repeated_layers *b)
{
	into->n += b->n;
	into->parameters += b->parameters;
	into->macs += b->macs;
	into->operations += b->operations;
	into->n_bytes += b->n_bytes;
	into->share += b->share;
}

static struct sl__repeated_layers
repeat_of_one(const struct sl_layer *const *row)
{
	const struct sl_layer *l = *row;
	struct sl__repeated_layers b = {
		.rows = row,
		.n = 1,
		.parameters = l->parameters,
		.macs = l->cost.macs,
		.operations = sl_cost_operations(&l->cost),
		.n_bytes = sl_cost_bytes(&l->cost),
		.share = isnan(l->share) ? 0 : l->share,
	};

	return b;
}

struct sl__repeated_layers *
sl__repeated_layers_group(struct sl__arena *arena,
			  const struct sl_inspection *i, int is_whole,
			  size_t *n)
{
	const struct sl_layer **rows =
		sl__arena_array(arena, i->n_layers, sizeof(*rows));
	struct sl__repeated_layers *repeats =
		sl__arena_array(arena, i->n_layers, sizeof(*repeats));

	*n = 0;
	if (!rows || !repeats)
		return NULL;
	for (size_t k = 0; k < i->n_layers; k++)
		rows[k] = &i->layers[k];
	if (!is_whole && i->n_layers)
		qsort(rows, i->n_layers, sizeof(struct sl_layer *),
		      compare_rows);
	for (size_t k = 0; k < i->n_layers; k++) {
		struct sl__repeated_layers one = repeat_of_one(&rows[k]);

		if (!is_whole && k && !compare_kinds(rows[k - 1], rows[k]))
			sl__repeated_layers_merge(&repeats[*n - 1], &one);
		else
			repeats[(*n)++] = one;
	}
	if (!is_whole && *n)
		qsort(repeats, *n, sizeof(*repeats), compare_repeats);
	return repeats;
}

/* The k-th number in a name that has so many. */
static const char *
number_in(const char *name, size_t k)
{
	for (;; k--) {
		name += strcspn(name, DIGITS);
		if (!k)
			return name;
		name += strspn(name, DIGITS);
	}
}

/* The k-th number of the names: as it is, or from the least to the most. */
static void
add_number(struct sl_buf *label, const struct sl__repeated_layers *b, size_t k)
{
	const char *first = number_in(b->rows[0]->name, k);
	size_t n_digits = strspn(first, DIGITS);
	unsigned long lo = ULONG_MAX, hi = 0;
	int is_same = 1;

	for (size_t r = 0; r < b->n; r++) {
		const char *at = number_in(b->rows[r]->name, k);
		unsigned long value = strtoul(at, NULL, 10);

		is_same &= strspn(at, DIGITS) == n_digits &&
			   strncmp(at, first, n_digits) == 0;
		lo = value < lo ? value : lo;
		hi = value > hi ? value : hi;
	}
	if (is_same)
		sl__buf_add(label, first, n_digits);
	else
		sl__buf_format(label, "[%lu-%lu]", lo, hi);
}

static void
add_label(struct sl_buf *label, const struct sl__repeated_layers *b)
{
	const char *at = b->rows[0]->name;
	size_t n_numbers = 0;

	while (*at) {
		size_t n = strcspn(at, DIGITS);

		sl__buf_add(label, at, n);
		at += n;
		if (*at)
			add_number(label, b, n_numbers++);
		at += strspn(at, DIGITS);
	}
}

/* Bytes of the word at 'part' up to a number in it; 0 where none begins. */
static size_t
word_bytes(const char *part)
{
	return isalpha((unsigned char)*part) ? strcspn(part, "./[0123456789")
					     : 0;
}

/* Cuts words of 'label' to n_letters, but for the last one. */
static void
cut_words(char *label, size_t n_letters, size_t n_columns)
{
	char *part = label;

	while (sl__utf8_width(label) > n_columns) {
		size_t n = word_bytes(part);

		if (!part[strcspn(part, "./")])
			return;
		if (n > n_letters)
			memmove(part + n_letters, part + n,
				strlen(part + n) + 1);
		part += strcspn(part, "./") + 1;
	}
}

const char *
sl__layer_name_shorten(struct sl__arena *arena, const char *name,
		       size_t n_columns)
{
	char *label = sl__arena_string(arena, name);

	if (label) {
		cut_words(label, 3, n_columns);
		cut_words(label, 1, n_columns);
	}
	return label;
}

/* A range takes more room than it is worth where names are cut. */
static void
star_ranges(char *label)
{
	char *to = label;

	for (const char *at = label; *at;) {
		size_t n = strspn(at + 1, "0123456789-");

		if (*at == '[' && n && at[n + 1] == ']') {
			*to++ = '*';
			at += n + 2;
		} else {
			*to++ = *at++;
		}
	}
	*to = '\0';
}

const char *
sl__repeated_layers_label(struct sl__arena *arena,
			  const struct sl__repeated_layers *b, int has_ranges)
{
	struct sl_buf label = {0};
	char *whole = NULL;

	if (b->n == 1)
		return b->rows[0]->name;
	add_label(&label, b);
	if (!sl__buf_status(&label, NULL))
		whole = sl__arena_string(arena, label.data ? label.data : "");
	sl_buf_release(&label);
	if (whole && !has_ranges)
		star_ranges(whole);
	return whole;
}

const char *
sl__op_type_shorten(struct sl__arena *arena, const char *type, size_t n_columns)
{
	static const char *const words[][2] = {
		{"Normalization", "Norm"}, {"Average", "Avg"},
		{"Quantize", "Quant"},     {"quantize", "quant"},
		{"Attention", "Attn"},     {"Transpose", "T"},
		{"Embedding", "Embed"},    {"Linear", "Lin"},
		{"Integer", "Int"},
	};
	char *text = sl__arena_string(arena, type);

	for (size_t k = 0; text && k < sizeof(words) / sizeof(*words); k++) {
		size_t n = strlen(words[k][0]), m = strlen(words[k][1]);
		char *at = strstr(text, words[k][0]);

		/* A word that is all of the name stays: Transpose. */
		if (!at || n == strlen(text) ||
		    (k && sl__utf8_width(text) <= n_columns))
			continue;
		memcpy(at, words[k][1], m);
		memmove(at + m, at + n, strlen(at + n) + 1);
	}
	return text ? sl__utf8_shortened(arena, text, n_columns, "…") : NULL;
}
