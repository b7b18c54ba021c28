/* SPDX-License-Identifier: Apache-2.0 */
/*
 * symbolic_size.c - sizes that are no numbers: symbols, and expressions of
 * them.
 *
 * A model computes shapes with its own operators, so sizes are added and
 * multiplied before they are known.  Each result is an expression of two
 * operands in a table, and the same operands give the same entry: whether two
 * sizes are equal is a comparison of two integers.  What is cancelled is found
 * by walking expressions.  Text is made for people and never read back: a
 * dimension may be called "a*(b)".
 */
#include "graph/symbolic_size.h"
#include "base/buf.h"
#include "base/status.h"
#include "graph/graph_construction.h"
#include "graph/shapes.h"

#include <string.h>

#include "base/banned.h"

enum { FIRST_SLOTS = 64, LABEL_MOST_BYTES = 400 };

static size_t
index_of(int64_t size)
{
	return (size_t)(size - SL__SYMBOL_BASE);
}

enum sl_status
sl__size_table_init(struct sl__shapes *s, struct sl_error *err)
{
	const struct sl_graph *graph = s->graph;
	struct sl__size_table *table = &s->sizes;

	table->n_symbols = graph->n_symbols;
	table->cap = graph->n_symbols + 16;
	table->sizes =
		sl__arena_array(&s->arena, table->cap, sizeof(*table->sizes));
	if (!table->sizes)
		return sl__fail_nomem(err);
	for (size_t i = 0; i < graph->n_symbols; i++)
		table->sizes[table->n++] = (struct sl__symbolic_size){
			.kind = SL__SIZE_SYMBOL,
			.is_natural = 1,
			.n_leaves = 1,
			.name = graph->symbols[i].name};
	return SL_OK;
}

enum sl_status
sl__size_table_copy(struct sl__shapes *s, struct sl_error *err)
{
	struct sl__size_table *table = &s->sizes;
	struct sl__symbolic_size *sizes =
		sl__arena_array(&s->arena, table->cap, sizeof(*sizes));
	size_t *slots =
		sl__arena_array(&s->arena, table->n_slots, sizeof(*slots));

	if (!sizes || !slots)
		return sl__fail_nomem(err);
	memcpy(sizes, table->sizes, table->n * sizeof(*sizes));
	if (table->n_slots)
		memcpy(slots, table->slots, table->n_slots * sizeof(*slots));
	table->sizes = sizes;
	table->slots = slots;
	return SL_OK;
}

const struct sl__symbolic_size *
sl__size_expression(const struct sl__shapes *s, int64_t size)
{
	return sl__is_symbol(size) && index_of(size) < s->sizes.n
		       ? &s->sizes.sizes[index_of(size)]
		       : NULL;
}

int
sl__size_is_unknown(const struct sl__shapes *s, int64_t size)
{
	const struct sl__symbolic_size *parts = sl__size_expression(s, size);

	return parts && parts->kind == SL__SIZE_UNKNOWN;
}

int
sl__size_is_nonnegative(const struct sl__shapes *s, int64_t size)
{
	const struct sl__symbolic_size *parts = sl__size_expression(s, size);

	return parts ? parts->is_natural : size >= 0;
}

/* A size is an answer, not a status: sl__infer_node() tells. */
static int64_t
run_short(struct sl__shapes *s)
{
	s->is_short = 1;
	return -1;
}

static int64_t
append(struct sl__shapes *s, const struct sl__symbolic_size *size)
{
	struct sl__size_table *table = &s->sizes;

	if (!sl__arena_grow(&s->arena, &table->sizes, table->n, &table->cap,
			    sizeof(*table->sizes)))
		return run_short(s);
	table->sizes[table->n] = *size;
	return SL__SYMBOL_BASE + (int64_t)table->n++;
}

int64_t
sl__size_new_unknown(struct sl__shapes *s)
{
	return append(s, &(struct sl__symbolic_size){.kind = SL__SIZE_UNKNOWN,
						     .n_leaves = 1});
}

int64_t
sl__size_new_named(struct sl__shapes *s, const char *name)
{
	struct sl__symbolic_size size = {
		.kind = SL__SIZE_NAMED,
		.is_natural = 1,
		.n_leaves = 1,
		.name = sl__arena_string(&s->arena, name)};

	return size.name ? append(s, &size) : run_short(s);
}

static int
is_commutative(enum sl__size_kind kind)
{
	return kind == SL__SIZE_SUM || kind == SL__SIZE_PRODUCT;
}

static int
is_same(const struct sl__symbolic_size *x, const struct sl__symbolic_size *y)
{
	if (x->kind != y->kind)
		return 0;
	return (x->a == y->a && x->b == y->b) ||
	       (is_commutative(x->kind) && x->a == y->b && x->b == y->a);
}

/* splitmix64's finisher (Vigna 2015). */
static uint64_t
mix(uint64_t x)
{
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return x ^ x >> 31;
}

/* The slot of an expression, or the free one where it belongs.  The address
 * of the table keeps files from being written whose sizes all collide. */
static size_t *
find_slot(const struct sl__size_table *table, size_t *slots, size_t n_slots,
	  const struct sl__symbolic_size *e)
{
	int is_turned = is_commutative(e->kind) && e->a > e->b;
	uint64_t hash = (uintptr_t)table ^ (uint64_t)e->kind;
	size_t at;

	hash = mix(hash + (uint64_t)(is_turned ? e->b : e->a));
	hash = mix(hash + (uint64_t)(is_turned ? e->a : e->b));
	at = (size_t)hash & (n_slots - 1);
	while (slots[at] && !is_same(&table->sizes[slots[at] - 1], e))
		at = (at + 1) & (n_slots - 1);
	return &slots[at];
}

/* Keeps a quarter of the slots free; 0: out of memory. */
static int
grow_slots(struct sl__shapes *s)
{
	struct sl__size_table *table = &s->sizes;
	size_t n = table->n_slots ? 2 * table->n_slots : FIRST_SLOTS;
	size_t *slots;

	if (table->n_expressions < table->n_slots / 4 * 3)
		return 1;
	slots = sl__arena_array(&s->arena, n, sizeof(*slots));
	if (!slots)
		return 0;
	for (size_t i = 0; i < table->n_slots; i++) {
		if (table->slots[i])
			*find_slot(table, slots, n,
				   &table->sizes[table->slots[i] - 1]) =
				table->slots[i];
	}
	table->slots = slots;
	table->n_slots = n;
	return 1;
}

static size_t
leaves_of(const struct sl__shapes *s, int64_t size)
{
	const struct sl__symbolic_size *parts = sl__size_expression(s, size);

	return parts ? parts->n_leaves : 1;
}

/* The expression, made where there is none. */
static int64_t
combine(struct sl__shapes *s, enum sl__size_kind kind, int64_t a, int64_t b)
{
	struct sl__symbolic_size e = {
		.kind = kind,
		.is_natural = kind != SL__SIZE_DIFFERENCE &&
			      sl__size_is_nonnegative(s, a) &&
			      sl__size_is_nonnegative(s, b),
		.n_leaves = leaves_of(s, a) + leaves_of(s, b),
		.a = a,
		.b = b};
	int64_t size;
	size_t *slot;

	if (e.n_leaves > SL__SIZE_LEAVES_MOST)
		return sl__size_new_unknown(s);
	if (!grow_slots(s))
		return run_short(s);
	slot = find_slot(&s->sizes, s->sizes.slots, s->sizes.n_slots, &e);
	if (*slot)
		return SL__SYMBOL_BASE + (int64_t)(*slot - 1);
	size = append(s, &e);
	if (sl__is_symbol(size)) {
		*slot = index_of(size) + 1;
		s->sizes.n_expressions++;
	}
	return size;
}

static int
any_symbol(int64_t a, int64_t b)
{
	return sl__is_symbol(a) || sl__is_symbol(b);
}

int64_t
sl__size_add(struct sl__shapes *s, int64_t a, int64_t b)
{
	int64_t sum;

	if (any_symbol(a, b)) {
		if (a == 0 || b == 0)
			return a == 0 ? b : a;
		return combine(s, SL__SIZE_SUM, a, b);
	}
	return __builtin_add_overflow(a, b, &sum) || sl__is_symbol(sum) ? -1
									: sum;
}

int64_t
sl__size_sub(struct sl__shapes *s, int64_t a, int64_t b)
{
	int64_t rest;

	if (any_symbol(a, b)) {
		if (a == b || b == 0)
			return a == b ? 0 : a;
		return combine(s, SL__SIZE_DIFFERENCE, a, b);
	}
	return __builtin_sub_overflow(a, b, &rest) || sl__is_symbol(rest)
		       ? -1
		       : rest;
}

int64_t
sl__size_mul(struct sl__shapes *s, int64_t a, int64_t b)
{
	int64_t product;

	if (any_symbol(a, b)) {
		if (a == 1 || b == 1)
			return a == 1 ? b : a;
		if (a == 0 || b == 0)
			return 0;
		return combine(s, SL__SIZE_PRODUCT, a, b);
	}
	return __builtin_mul_overflow(a, b, &product) || sl__is_symbol(product)
		       ? -1
		       : product;
}

int64_t
sl__size_div(struct sl__shapes *s, int64_t a, int64_t b)
{
	if (any_symbol(a, b)) {
		if (a == b || b == 1)
			return a == b ? 1 : a;
		return combine(s, SL__SIZE_QUOTIENT, a, b);
	}
	if (b == 0)
		return -1;
	return a / b - (a % b != 0 && (a < 0) != (b < 0)); /* floor */
}

int64_t
sl__size_product(struct sl__shapes *s, const int64_t *sizes, int n)
{
	int64_t product = 1;

	for (int i = 0; i < n; i++) {
		product = sl__size_mul(s, product, sizes[i]);
		if (product == -1)
			return -1;
	}
	return product;
}

int64_t
sl__size_sub_cancelling(struct sl__shapes *s, int64_t a, int64_t b)
{
	const struct sl__symbolic_size *sum = sl__size_expression(s, a);

	if (sum && sum->kind == SL__SIZE_SUM && sl__is_symbol(b)) {
		if (sum->a == b)
			return sum->b;
		if (sum->b == b)
			return sum->a;
	}
	return sl__size_sub(s, a, b);
}

int64_t
sl__size_unify(int64_t a, int64_t b)
{
	if (a == b || sl__is_symbol(b))
		return a;
	return sl__is_symbol(a) ? b : -1;
}

enum { FACTORS_MOST = 48 };

/* A product taken apart: one number and symbols. */
struct factors {
	int64_t number;
	int64_t symbols[FACTORS_MOST];
	int n;
	int is_cut; /* more than there is room for, or beyond 64 bits */
};

/* Recurs no deeper than an expression has leaves. */
static void
take_apart(const struct sl__shapes *s, struct factors *f, int64_t size)
{
	const struct sl__symbolic_size *parts = sl__size_expression(s, size);

	if (parts && parts->kind == SL__SIZE_PRODUCT) {
		take_apart(s, f, parts->a);
		take_apart(s, f, parts->b);
	} else if (!sl__is_symbol(size)) {
		f->is_cut |=
			__builtin_mul_overflow(f->number, size, &f->number);
	} else if (f->n < FACTORS_MOST) {
		f->symbols[f->n++] = size;
	} else {
		f->is_cut = 1;
	}
}

static void
cancel(struct factors *a, struct factors *b)
{
	for (int i = 0; i < a->n; i++) {
		for (int k = 0; k < b->n; k++) {
			if (a->symbols[i] != b->symbols[k])
				continue;
			memmove(&a->symbols[i], &a->symbols[i + 1],
				(size_t)(a->n - i - 1) * sizeof(int64_t));
			memmove(&b->symbols[k], &b->symbols[k + 1],
				(size_t)(b->n - k - 1) * sizeof(int64_t));
			a->n--;
			b->n--;
			i--;
			break;
		}
	}
}

static int64_t
greatest_divisor(int64_t a, int64_t b)
{
	while (b) {
		int64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

int64_t
sl__size_div_cancelling(struct sl__shapes *s, const int64_t *a, int n_a,
			const int64_t *b, int n_b)
{
	struct factors above = {.number = 1}, below = {.number = 1};
	int64_t common, top;

	for (int i = 0; i < n_a; i++)
		take_apart(s, &above, a[i]);
	for (int i = 0; i < n_b; i++)
		take_apart(s, &below, b[i]);
	if (above.is_cut || below.is_cut)
		return sl__size_new_unknown(s);
	cancel(&above, &below);
	if (above.number < 0 || below.number <= 0)
		return -1;
	common = greatest_divisor(above.number, below.number);
	if (common > 1) {
		above.number /= common;
		below.number /= common;
	}
	if (!above.n && !below.n)
		return below.number == 1 ? above.number : -1;
	top = sl__size_mul(s, above.number,
			   sl__size_product(s, above.symbols, above.n));
	return sl__size_div(
		s, top,
		sl__size_mul(s, below.number,
			     sl__size_product(s, below.symbols, below.n)));
}

/* Inside an expression: a name that could be taken for a part of it, or for a
 * number, is quoted, and a quote in it doubled. */
static void
print_name(struct sl_buf *text, const char *name)
{
	if (*name && !strpbrk(name, "()+-*/?' ") &&
	    !strchr("0123456789", *name)) {
		sl__buf_text(text, name);
		return;
	}
	sl__buf_text(text, "'");
	for (; *name; name++) {
		sl__buf_add(text, name, 1);
		if (*name == '\'')
			sl__buf_text(text, "'");
	}
	sl__buf_text(text, "'");
}

static void
print_within(struct sl_buf *text, const struct sl__shapes *s, int64_t size)
{
	const struct sl__symbolic_size *parts = sl__size_expression(s, size);

	if (parts && parts->name)
		print_name(text, parts->name);
	else
		sl__size_print(text, s, size);
}

/* Recurs no deeper than an expression has leaves. */
void
sl__size_print(struct sl_buf *text, const struct sl__shapes *s, int64_t size)
{
	static const char *const signs[] = {[SL__SIZE_SUM] = "+",
					    [SL__SIZE_DIFFERENCE] = "-",
					    [SL__SIZE_PRODUCT] = "*",
					    [SL__SIZE_QUOTIENT] = "/"};
	const struct sl__symbolic_size *parts = sl__size_expression(s, size);

	if (!sl__is_symbol(size)) {
		sl__buf_format(text, "%lld", (long long)size);
	} else if (!parts || parts->kind == SL__SIZE_UNKNOWN) {
		sl__buf_text(text, "?");
	} else if (parts->name) {
		sl__buf_text(text, parts->name);
	} else {
		sl__buf_text(text, "(");
		print_within(text, s, parts->a);
		sl__buf_text(text, signs[parts->kind]);
		print_within(text, s, parts->b);
		sl__buf_text(text, ")");
	}
}

/* Whether it consists of numbers and of symbols that their names tell. */
static int
is_told_by_names(const struct sl__shapes *s, int64_t size)
{
	const struct sl__symbolic_size *parts = sl__size_expression(s, size);

	if (!parts)
		return !sl__is_symbol(size);
	if (parts->kind == SL__SIZE_SYMBOL)
		return *parts->name &&
		       sl__graph_symbol_owns_name(s->graph, index_of(size));
	if (parts->kind == SL__SIZE_NAMED || parts->kind == SL__SIZE_UNKNOWN)
		return 0;
	return is_told_by_names(s, parts->a) && is_told_by_names(s, parts->b);
}

int
sl__size_print_unique_name(struct sl_buf *text, const struct sl__shapes *s,
			   int64_t size)
{
	const struct sl__symbolic_size *parts = sl__size_expression(s, size);
	size_t first = text->n_bytes;

	if (!is_told_by_names(s, size))
		return 0;
	sl__size_print(text, s, size);
	if (!parts || parts->kind == SL__SIZE_SYMBOL ||
	    sl__buf_status(text, NULL))
		return 1;
	if (text->n_bytes - first <= LABEL_MOST_BYTES &&
	    sl__graph_find_symbol(s->graph, text->data + first) >=
		    s->sizes.n_symbols)
		return 1;
	text->n_bytes = first;
	text->data[first] = '\0';
	return 0;
}
