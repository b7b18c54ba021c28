/* SPDX-License-Identifier: Apache-2.0 */
/*
 * op_text.c - operators on strings.
 *
 * Shapes follow as for numbers; what the work is depends on how long the
 * strings are, which no shape says.
 *
 * Letters change case within ASCII only, whatever 'locale' asks for.
 */
#include "base/map.h"
#include "ops/cost.h"
#include "ops/list_input.h"
#include "ops/ref_move.h"
#include "ops/ref_regex.h"

#include <regex.h>
#include <stdio.h>
#include <string.h>

#include "base/banned.h"

void
sl__cost_text(struct sl__rule_context *call, struct sl_cost *cost)
{
	(void)call;
	cost->basis = SL_BASIS_UNKNOWN;
	cost->why = "depends on how long the strings are";
}

/* Stop words go out, so that the last dimension may shrink. */
enum sl_status
sl__infer_string_normalizer(struct sl__rule_context *call)
{
	const struct sl__attribute *stop =
		sl__attribute_find(call->node, "stopwords");
	const struct sl__type *in = sl__in_type(call, 0);
	int rank = sl__in_rank(call, 0);
	int64_t dims[2];

	if (rank != 1 && rank != 2)
		return sl__out_set_dtype_only(call, 0, SL_DTYPE_STRING);
	if (!stop || !stop->n)
		return sl__out_set_like_input(call, 0, 0, SL_DTYPE_STRING);
	memcpy(dims, in->dims, (size_t)rank * sizeof(*dims));
	dims[rank - 1] = sl__size_new_unknown(call->shapes);
	return sl__out_set_shape(call, 0, SL_DTYPE_STRING, rank, dims);
}

/* One place for each n-gram of the pool. */
enum sl_status
sl__infer_tf_idf(struct sl__rule_context *call)
{
	const struct sl__type *in = sl__in_type(call, 0);
	int rank = sl__in_rank(call, 0);
	const int64_t *indexes;
	size_t n = sl__attribute_ints(call->node, "ngram_indexes", &indexes);
	int64_t most = -1, dims[2];

	for (size_t i = 0; i < n; i++) {
		if (indexes[i] > most)
			most = indexes[i];
	}
	if (rank != 1 && rank != 2)
		return sl__out_set_dtype_only(call, 0, SL_DTYPE_F32);
	if (most == INT64_MAX)
		return sl__rule_reject(call,
				       "an n-gram index beyond all sizes");
	if (rank == 2)
		dims[0] = in->dims[0];
	dims[rank - 1] = most + 1;
	return sl__out_set_shape(call, 0, SL_DTYPE_F32, rank, dims);
}

enum sl_status
sl__infer_string_concat(struct sl__rule_context *call)
{
	static const size_t both[] = {0, 1};
	int64_t *dims;
	int rank;

	sl__broadcast_inputs(call, both, 2, &rank, &dims);
	return sl__out_set_shape(call, 0, SL_DTYPE_STRING, rank, dims);
}

/* As many pieces as the longest string has; and how many each has. */
enum sl_status
sl__infer_string_split(struct sl__rule_context *call)
{
	sl__out_set_input_dims_plus(call, SL_DTYPE_STRING,
				    sl__size_new_unknown(call->shapes));
	return sl__out_set_like_input(call, 1, 0, SL_DTYPE_I64);
}

enum sl_status
sl__infer_regex(struct sl__rule_context *call)
{
	return sl__out_set_like_input(call, 0, 0, SL_DTYPE_BOOL);
}

static const struct sl__tensor *
need_strings(struct sl__kernel_call *ev, size_t i)
{
	const struct sl__tensor *t = sl__ref_input_tensor(ev, i);

	if (t && t->dtype == SL_DTYPE_STRING)
		return t;
	sl__ref_reject(ev, "input %zu is no tensor of strings", i);
	return NULL;
}

/* n bytes of a text, in the scratch arena. */
static char *
piece_of(struct sl__kernel_call *ev, const char *text, size_t n)
{
	char *piece = sl__ref_scratch(ev, n + 1, 1);

	if (piece)
		memcpy(piece, text, n);
	return piece;
}

enum letter_case { CASE_KEPT, CASE_LOWER, CASE_UPPER };

static char
letter(char c, enum letter_case to)
{
	if (to == CASE_LOWER && c >= 'A' && c <= 'Z')
		return (char)(c - 'A' + 'a');
	if (to == CASE_UPPER && c >= 'a' && c <= 'z')
		return (char)(c - 'a' + 'A');
	return c;
}

static void
change_case(char *word, enum letter_case to)
{
	for (; *word; word++)
		*word = letter(*word, to);
}

/* The words that are left out, in lower case where case does not count. */
struct stop_words {
	struct sl__map words;
	enum letter_case by;
};

static enum sl_status
read_stop_words(struct stop_words *s, struct sl__kernel_call *ev)
{
	const struct sl__attribute *stop =
		sl__attribute_find(ev->node, "stopwords");

	sl__map_init(&s->words, ev->scratch);
	s->by = sl__attribute_int(ev->node, "is_case_sensitive", 0)
			? CASE_KEPT
			: CASE_LOWER;
	for (size_t i = 0; !ev->failure && stop && stop->strings && i < stop->n;
	     i++) {
		char *word = piece_of(ev, stop->strings[i],
				      strlen(stop->strings[i]));

		if (!word)
			return ev->failure;
		change_case(word, s->by);
		sl__ref_keep_status(ev,
				    sl__map_put(&s->words, word, 1, ev->err));
	}
	return ev->failure;
}

static enum letter_case
case_of(const struct sl__node *node)
{
	const char *word =
		sl__attribute_string(node, "case_change_action", "NONE");

	return !strcmp(word, "LOWER")   ? CASE_LOWER
	       : !strcmp(word, "UPPER") ? CASE_UPPER
					: CASE_KEPT;
}

/* Where every word goes out, one empty one is left. */
enum sl_status
sl__ref_string_normalizer(struct sl__kernel_call *ev)
{
	enum letter_case to = case_of(ev->node);
	const struct sl__tensor *in = need_strings(ev, 0);
	const char **words;
	struct stop_words stop;
	int64_t dims[2] = {1, 1}, n = 0;

	if (!in || read_stop_words(&stop, ev))
		return ev->failure;
	if (in->rank < 1 || in->rank > 2 || (in->rank == 2 && in->dims[0] != 1))
		return sl__ref_reject(ev, "its input is no list of strings");
	words = sl__ref_scratch(ev, (size_t)in->n_elements + 1, sizeof(*words));
	if (!words)
		return ev->failure;
	for (uint64_t i = 0; i < in->n_elements; i++) {
		size_t length = strlen(in->strings[i]);
		char *word = piece_of(ev, in->strings[i], length);

		if (!word)
			return ev->failure;
		change_case(word, stop.by);
		if (sl__map_find(&stop.words, word))
			continue;
		memcpy(word, in->strings[i], length);
		change_case(word, to);
		words[n++] = word;
	}
	if (n == 0)
		words[n++] = "";
	dims[in->rank - 1] = n;
	return sl__ref_value_set_strings(ev, sl__ref_output(ev, 0), in->rank,
					 dims, words);
}

/*
 * An n-gram is known by its items written one after the other, each with its
 * length before it, so that no two are the same text.
 */
struct grams {
	struct sl__map ids; /* text -> number of the n-gram in the pool */
	size_t n_grams;
	const struct sl__attribute *pool;
	const int64_t *words; /* of the input, where it holds integers */
	const char *const *texts;
	char *key;
	size_t n_key, cap_key;
	int64_t least, most, n_skips;
	const int64_t *columns; /* of the output, by number */
	size_t n_columns;
	float *counts; /* of a row */
};

/* Adds an item to the key. */
static enum sl_status
add_item(struct sl__kernel_call *ev, struct grams *g, const char *text,
	 int64_t word)
{
	char number[32];
	size_t n, cap;
	char *key;

	if (!text)
		snprintf(number, sizeof(number), "%lld", (long long)word);
	text = text ? text : number;
	n = strlen(text);
	if (n + 32 > g->cap_key - g->n_key) {
		cap = 2 * (g->cap_key + n + 32);
		key = sl__ref_scratch(ev, cap, 1);
		if (!key)
			return ev->failure;
		if (g->n_key)
			memcpy(key, g->key, g->n_key);
		g->key = key;
		g->cap_key = cap;
	}
	g->n_key += (size_t)snprintf(g->key + g->n_key, g->cap_key - g->n_key,
				     "%zu:%s,", n, text);
	return SL_OK;
}

/* The n-grams of one size: the items from 'first' to 'end' of the pool. */
static enum sl_status
add_grams(struct sl__kernel_call *ev, struct grams *g, int64_t first,
	  int64_t end, int64_t size)
{
	for (int64_t at = first; !ev->failure && end - at >= size; at += size) {
		g->n_key = 0;
		for (int64_t i = at; !ev->failure && i < at + size; i++)
			add_item(ev, g,
				 g->pool->strings ? g->pool->strings[i] : NULL,
				 g->pool->ints ? g->pool->ints[i] : 0);
		if (!ev->failure && size >= g->least && size <= g->most &&
		    !sl__map_find(&g->ids, g->key))
			sl__ref_keep_status(ev,
					    sl__map_put(&g->ids, g->key,
							g->n_grams, ev->err));
		g->n_grams++;
	}
	return ev->failure;
}

static enum sl_status
read_pool(struct sl__kernel_call *ev, struct grams *g)
{
	const int64_t *starts;
	size_t n = sl__attribute_ints(ev->node, "ngram_counts", &starts);

	g->pool = sl__attribute_find(ev->node, "pool_strings");
	if (!g->pool)
		g->pool = sl__attribute_find(ev->node, "pool_int64s");
	if (!g->pool || (!g->pool->strings && !g->pool->ints))
		return sl__ref_reject(ev, "it has no pool of n-grams");
	sl__map_init(&g->ids, ev->scratch);
	for (size_t i = 0; !ev->failure && i < n; i++) {
		int64_t end = i + 1 < n ? starts[i + 1] : (int64_t)g->pool->n;

		if (starts[i] < 0 || end < starts[i] ||
		    end > (int64_t)g->pool->n)
			return sl__ref_reject(
				ev,
				"n-grams of size %zu lie outside of "
				"the pool",
				i + 1);
		add_grams(ev, g, starts[i], end, (int64_t)i + 1);
	}
	if (!ev->failure && g->n_columns < g->n_grams)
		sl__ref_reject(ev, "%zu places for %zu n-grams", g->n_columns,
			       g->n_grams);
	return ev->failure;
}

/* Counts the n-grams that begin at 'start', their items 'distance' apart. */
static enum sl_status
count_from(struct sl__kernel_call *ev, struct grams *g, int64_t start,
	   int64_t end, int64_t distance)
{
	g->n_key = 0;
	for (int64_t size = 1, at = start;
	     !ev->failure && size <= g->most && at < end; size++) {
		const size_t *id;

		add_item(ev, g, g->texts ? g->texts[at] : NULL,
			 g->words ? g->words[at] : 0);
		id = ev->failure || size < g->least
			     ? NULL
			     : sl__map_find(&g->ids, g->key);
		if (id)
			g->counts[g->columns[*id]]++;
		if (end - at <= distance)
			break;
		at += distance;
	}
	return ev->failure;
}

/* Single items are counted once: skipping does not change them. */
static enum sl_status
count_row(struct sl__kernel_call *ev, struct grams *g, int64_t first,
	  int64_t end)
{
	int64_t least = g->least;

	for (int64_t d = 1;
	     !ev->failure && d - 1 <= g->n_skips && d <= end - first; d++) {
		for (int64_t i = first; !ev->failure && i < end; i++)
			count_from(ev, g, i, end, d);
		if (g->least == 1)
			g->least = 2;
	}
	g->least = least;
	return ev->failure;
}

/* The weights belong to the places of the output, as runtimes have it. */
static void
weigh(const struct sl__node *node, float *counts, size_t n)
{
	const struct sl__attribute *weights =
		sl__attribute_find(node, "weights");
	const char *mode = sl__attribute_string(node, "mode", "TF");

	for (size_t i = 0; strcmp(mode, "TF") != 0 && i < n; i++) {
		float weight = 1;

		if (weights && weights->floats && i < weights->n)
			weight = weights->floats[i];
		if (!strcmp(mode, "IDF"))
			counts[i] = counts[i] > 0 ? weight : 0;
		else
			counts[i] *= weight;
	}
}

static enum sl_status
grams_of(struct sl__kernel_call *ev, struct grams *g)
{
	const struct sl__tensor *in = sl__ref_input_tensor(ev, 0);
	const struct sl__node *node = ev->node;

	g->least = sl__attribute_int(node, "min_gram_length", 1);
	g->most = sl__attribute_int(node, "max_gram_length", 1);
	g->n_skips = sl__attribute_int(node, "max_skip_count", 0);
	g->n_columns = sl__attribute_ints(node, "ngram_indexes", &g->columns);
	if (!in || in->rank < 1 || in->rank > 2)
		return sl__ref_reject(
			ev, "its input has neither one nor two dimensions");
	if (g->least < 1 || g->most < g->least || g->n_skips < 0)
		return sl__ref_reject(
			ev, "n-grams of %lld to %lld items, %lld apart",
			(long long)g->least, (long long)g->most,
			(long long)g->n_skips);
	for (size_t i = 0; i < g->n_columns; i++) {
		if (g->columns[i] < 0)
			return sl__ref_reject(ev, "an index below 0");
	}
	if (read_pool(ev, g))
		return ev->failure;
	g->texts = in->strings;
	if (in->dtype == SL_DTYPE_STRING)
		return SL_OK;
	g->words = sl__ref_input_integers(ev, 0);
	return ev->failure;
}

enum sl_status
sl__ref_tf_idf(struct sl__kernel_call *ev)
{
	const struct sl__tensor *in = sl__ref_input_tensor(ev, 0);
	struct sl__runtime_value *out = sl__ref_output(ev, 0);
	int64_t n_rows, width, n_columns;
	struct grams g = {0};

	if (grams_of(ev, &g))
		return ev->failure;
	if (out->tensor.dtype != SL_DTYPE_F32 || !out->bytes)
		return sl__ref_reject(ev, "its output is not f32");
	memset(out->bytes, 0, (size_t)out->tensor.n_bytes);
	n_rows = in->rank == 2 ? in->dims[0] : 1;
	width = in->dims[in->rank - 1];
	n_columns = out->tensor.dims[out->tensor.rank - 1];
	for (int64_t row = 0; !ev->failure && row < n_rows; row++) {
		g.counts = (float *)(void *)out->bytes + row * n_columns;
		count_row(ev, &g, row * width, (row + 1) * width);
		if (!ev->failure)
			weigh(ev->node, g.counts, (size_t)n_columns);
	}
	return ev->failure;
}

enum sl_status
sl__ref_string_concat(struct sl__kernel_call *ev)
{
	const struct sl__tensor *a = need_strings(ev, 0);
	const struct sl__tensor *b = need_strings(ev, 1);
	struct sl__runtime_value *out = sl__ref_output(ev, 0);
	const char **made = sl__ref_scratch(ev, (size_t)out->tensor.n_elements,
					    sizeof(*made));
	struct sl__strided_iterator w;
	size_t k = 0;

	if (ev->failure || sl__strided_iterator_over_output(ev, &w) ||
	    sl__strided_iterator_add_input(ev, &w, 0, SIZE_MAX) ||
	    sl__strided_iterator_add_input(ev, &w, 1, SIZE_MAX))
		return ev->failure;
	do {
		const char *x = a->strings[w.offsets[0]];
		const char *y = b->strings[w.offsets[1]];
		size_t n = strlen(x);
		char *both = sl__ref_scratch(ev, n + strlen(y) + 1, 1);

		if (!both)
			return ev->failure;
		memcpy(both, x, n);
		memcpy(both + n, y, strlen(y));
		made[k++] = both;
	} while (sl__strided_iterator_next(&w));
	return sl__ref_value_set_strings(ev, out, out->tensor.rank,
					 out->tensor.dims, made);
}

/* What is between the separators: without one, between stretches of blanks,
 * and those at either end count for nothing. */
struct splitter {
	const char *separator; /* "": blanks */
	int64_t most;          /* separators; below 0: all */
};

static const char blanks[] = " \t\n\v\f\r";

/* The next piece of *at, which moves behind it and is NULL after the last;
 * 0: there is none.  'n_before' pieces came before. */
static int
next_piece(const struct splitter *s, const char **at, int64_t n_before,
	   const char **piece, size_t *n)
{
	int is_last = s->most >= 0 && n_before >= s->most;
	const char *end;

	if (!*at)
		return 0;
	if (!s->separator[0]) {
		*at += strspn(*at, blanks);
		if (!**at)
			return 0;
		*piece = *at;
		*n = is_last ? strlen(*at) : strcspn(*at, blanks);
		*at += *n;
		return 1;
	}
	*piece = *at;
	end = is_last ? NULL : strstr(*at, s->separator);
	*n = end ? (size_t)(end - *at) : strlen(*at);
	*at = end ? end + strlen(s->separator) : NULL;
	return 1;
}

static int64_t
count_pieces(const struct splitter *s, const char *text)
{
	const char *piece;
	int64_t n = 0;
	size_t n_bytes;

	while (next_piece(s, &text, n, &piece, &n_bytes))
		n++;
	return n;
}

static void
split_one(struct sl__kernel_call *ev, const struct splitter *s,
	  const char *text, const char **made, int64_t n_most)
{
	const char *piece;
	int64_t n = 0;
	size_t n_bytes;

	while (next_piece(s, &text, n, &piece, &n_bytes))
		made[n++] = piece_of(ev, piece, n_bytes);
	while (n < n_most)
		made[n++] = "";
}

enum sl_status
sl__ref_string_split(struct sl__kernel_call *ev)
{
	struct splitter s = {sl__attribute_string(ev->node, "delimiter", ""),
			     sl__attribute_int(ev->node, "maxsplit", -1)};
	int64_t dims[SL__RANK_MOST + 1], *counts, most = 0;
	const struct sl__tensor *in = need_strings(ev, 0);
	const char **made;

	if (!in)
		return ev->failure;
	if (in->rank >= SL__RANK_MOST)
		return sl__ref_reject(ev, "too many dimensions");
	counts = sl__ref_scratch_integers(ev, (int64_t)in->n_elements);
	for (uint64_t i = 0; counts && i < in->n_elements; i++) {
		counts[i] = count_pieces(&s, in->strings[i]);
		most = counts[i] > most ? counts[i] : most;
	}
	made = sl__ref_scratch(ev, (size_t)in->n_elements * (size_t)most,
			       sizeof(*made));
	for (uint64_t i = 0; !ev->failure && i < in->n_elements; i++)
		split_one(ev, &s, in->strings[i], made + i * (uint64_t)most,
			  most);
	if (in->rank)
		memcpy(dims, in->dims, in->rank * sizeof(*dims));
	dims[in->rank] = most;
	if (!ev->failure && sl__ref_output(ev, 0))
		sl__ref_value_set_strings(ev, sl__ref_output(ev, 0),
					  in->rank + 1, dims, made);
	if (ev->failure ||
	    sl__ref_output_alloc(ev, 1, SL_DTYPE_I64, in->rank, in->dims))
		return ev->failure;
	return sl__ref_output_store_integers(ev, 1, counts);
}

enum sl_status
sl__ref_regex(struct sl__kernel_call *ev)
{
	const char *pattern = sl__attribute_string(ev->node, "pattern", "");
	const struct sl__tensor *in = need_strings(ev, 0);
	const char *posix;
	int64_t *matches;
	regex_t regex;
	int failed;

	if (!in || sl__ref_keep_status(
			   ev, sl__regex_re2_to_posix(&posix, pattern,
						      ev->scratch, ev->err)))
		return ev->failure;
	matches = sl__ref_scratch_integers(ev, (int64_t)in->n_elements);
	if (!matches ||
	    sl__ref_output_alloc(ev, 0, SL_DTYPE_BOOL, in->rank, in->dims))
		return ev->failure;
	failed = regcomp(&regex, posix, REG_EXTENDED | REG_NOSUB);
	if (failed == REG_ESPACE)
		return sl__ref_nomem(ev);
	if (failed)
		return sl__ref_reject(ev, "'%.200s' is no regular expression",
				      pattern);
	for (uint64_t i = 0; i < in->n_elements; i++)
		matches[i] = !regexec(&regex, in->strings[i], 0, NULL, 0);
	regfree(&regex);
	return sl__ref_output_store_integers(ev, 0, matches);
}
