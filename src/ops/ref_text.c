/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ref_text.c - reference kernels of operators on strings.
 *
 * Letters change case within ASCII only, whatever 'locale' asks for.
 */
#include "ops/ref_text.h"
#include "base/map.h"
#include "base/status.h"
#include "ops/ref.h"

#include <regex.h>
#include <stdio.h>
#include <string.h>

#include "base/banned.h"

static enum sl_status
need_strings(const struct sl__eval *ev, size_t i, const struct sl__tensor **out,
	     struct sl_error *err)
{
	*out = sl__ref_tensor(ev, i);
	if (!*out || (*out)->dtype != SL_DTYPE_STRING)
		return sl__fail(err, SL_E_DATA,
				"input %zu is no tensor of strings", i);
	return SL_OK;
}

static enum sl_status
give_strings(struct sl__eval *ev, size_t rank, const int64_t *dims,
	     const char *const *strings, struct sl_error *err)
{
	struct sl__datum *out = sl__ref_result(ev, 0);

	if (!out)
		return SL_OK;
	return sl__datum_strings(out, rank, dims, strings, ev->allocator, err);
}

/* n bytes of a text, in the scratch arena. */
static char *
piece_of(struct sl__eval *ev, const char *text, size_t n)
{
	char *piece = sl__ref_new(ev, n + 1, 1);

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
read_stop_words(struct stop_words *s, struct sl__eval *ev, struct sl_error *err)
{
	const struct sl__attribute *stop = sl__attribute(ev->node, "stopwords");
	enum sl_status rc = SL_OK;

	sl__map_init(&s->words, ev->scratch);
	s->by = sl__int(ev->node, "is_case_sensitive", 0) ? CASE_KEPT
							  : CASE_LOWER;
	for (size_t i = 0; !rc && stop && stop->strings && i < stop->n; i++) {
		char *word = piece_of(ev, stop->strings[i],
				      strlen(stop->strings[i]));

		if (!word)
			return sl__fail_nomem(err);
		change_case(word, s->by);
		rc = sl__map_put(&s->words, word, 1, err);
	}
	return rc;
}

static enum letter_case
case_of(const struct sl__node *node)
{
	const char *word = sl__word(node, "case_change_action", "NONE");

	return !strcmp(word, "LOWER")   ? CASE_LOWER
	       : !strcmp(word, "UPPER") ? CASE_UPPER
					: CASE_KEPT;
}

/* Where every word goes out, one empty one is left. */
enum sl_status
sl__ref_string_normalizer(struct sl__eval *ev, struct sl_error *err)
{
	enum letter_case to = case_of(ev->node);
	const struct sl__tensor *in;
	const char **words;
	struct stop_words stop;
	int64_t dims[2] = {1, 1}, n = 0;
	enum sl_status rc = need_strings(ev, 0, &in, err);

	if (!rc)
		rc = read_stop_words(&stop, ev, err);
	if (rc)
		return rc;
	if (in->rank < 1 || in->rank > 2 || (in->rank == 2 && in->dims[0] != 1))
		return sl__fail(err, SL_E_DATA,
				"its input is no list of strings");
	words = sl__ref_new(ev, (size_t)in->n_elements + 1, sizeof(*words));
	if (!words)
		return sl__fail_nomem(err);
	for (uint64_t i = 0; i < in->n_elements; i++) {
		size_t length = strlen(in->strings[i]);
		char *word = piece_of(ev, in->strings[i], length);

		if (!word)
			return sl__fail_nomem(err);
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
	return give_strings(ev, in->rank, dims, words, err);
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
add_item(struct sl__eval *ev, struct grams *g, const char *text, int64_t word,
	 struct sl_error *err)
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
		key = sl__ref_new(ev, cap, 1);
		if (!key)
			return sl__fail_nomem(err);
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
add_grams(struct sl__eval *ev, struct grams *g, int64_t first, int64_t end,
	  int64_t size, struct sl_error *err)
{
	enum sl_status rc = SL_OK;

	for (int64_t at = first; !rc && end - at >= size; at += size) {
		g->n_key = 0;
		for (int64_t i = at; !rc && i < at + size; i++)
			rc = add_item(
				ev, g,
				g->pool->strings ? g->pool->strings[i] : NULL,
				g->pool->ints ? g->pool->ints[i] : 0, err);
		if (!rc && size >= g->least && size <= g->most &&
		    !sl__map_find(&g->ids, g->key))
			rc = sl__map_put(&g->ids, g->key, g->n_grams, err);
		g->n_grams++;
	}
	return rc;
}

static enum sl_status
read_pool(struct sl__eval *ev, struct grams *g, struct sl_error *err)
{
	const int64_t *starts;
	size_t n = sl__ints(ev->node, "ngram_counts", &starts);
	enum sl_status rc = SL_OK;

	g->pool = sl__attribute(ev->node, "pool_strings");
	if (!g->pool)
		g->pool = sl__attribute(ev->node, "pool_int64s");
	if (!g->pool || (!g->pool->strings && !g->pool->ints))
		return sl__fail(err, SL_E_DATA, "it has no pool of n-grams");
	sl__map_init(&g->ids, ev->scratch);
	for (size_t i = 0; !rc && i < n; i++) {
		int64_t end = i + 1 < n ? starts[i + 1] : (int64_t)g->pool->n;

		if (starts[i] < 0 || end < starts[i] ||
		    end > (int64_t)g->pool->n)
			return sl__fail(err, SL_E_DATA,
					"n-grams of size %zu lie outside of "
					"the pool",
					i + 1);
		rc = add_grams(ev, g, starts[i], end, (int64_t)i + 1, err);
	}
	if (!rc && g->n_columns < g->n_grams)
		rc = sl__fail(err, SL_E_DATA, "%zu places for %zu n-grams",
			      g->n_columns, g->n_grams);
	return rc;
}

/* Counts the n-grams that begin at 'start', their items 'distance' apart. */
static enum sl_status
count_from(struct sl__eval *ev, struct grams *g, int64_t start, int64_t end,
	   int64_t distance, struct sl_error *err)
{
	enum sl_status rc = SL_OK;

	g->n_key = 0;
	for (int64_t size = 1, at = start; !rc && size <= g->most && at < end;
	     size++) {
		const size_t *id;

		rc = add_item(ev, g, g->texts ? g->texts[at] : NULL,
			      g->words ? g->words[at] : 0, err);
		id = rc || size < g->least ? NULL
					   : sl__map_find(&g->ids, g->key);
		if (id)
			g->counts[g->columns[*id]]++;
		if (end - at <= distance)
			break;
		at += distance;
	}
	return rc;
}

/* Single items are counted once: skipping does not change them. */
static enum sl_status
count_row(struct sl__eval *ev, struct grams *g, int64_t first, int64_t end,
	  struct sl_error *err)
{
	int64_t least = g->least;
	enum sl_status rc = SL_OK;

	for (int64_t d = 1; !rc && d - 1 <= g->n_skips && d <= end - first;
	     d++) {
		for (int64_t i = first; !rc && i < end; i++)
			rc = count_from(ev, g, i, end, d, err);
		if (g->least == 1)
			g->least = 2;
	}
	g->least = least;
	return rc;
}

/* The weights belong to the places of the output, as runtimes have it. */
static void
weigh(const struct sl__node *node, float *counts, size_t n)
{
	const struct sl__attribute *weights = sl__attribute(node, "weights");
	const char *mode = sl__word(node, "mode", "TF");

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
grams_of(struct sl__eval *ev, struct grams *g, struct sl_error *err)
{
	const struct sl__tensor *in = sl__ref_tensor(ev, 0);
	const struct sl__node *node = ev->node;
	enum sl_status rc;

	g->least = sl__int(node, "min_gram_length", 1);
	g->most = sl__int(node, "max_gram_length", 1);
	g->n_skips = sl__int(node, "max_skip_count", 0);
	g->n_columns = sl__ints(node, "ngram_indexes", &g->columns);
	if (!in || in->rank < 1 || in->rank > 2)
		return sl__fail(err, SL_E_DATA,
				"its input has neither one nor two dimensions");
	if (g->least < 1 || g->most < g->least || g->n_skips < 0)
		return sl__fail(err, SL_E_DATA,
				"n-grams of %lld to %lld items, %lld apart",
				(long long)g->least, (long long)g->most,
				(long long)g->n_skips);
	for (size_t i = 0; i < g->n_columns; i++) {
		if (g->columns[i] < 0)
			return sl__fail(err, SL_E_DATA, "an index below 0");
	}
	rc = read_pool(ev, g, err);
	if (rc)
		return rc;
	g->texts = in->strings;
	if (in->dtype == SL_DTYPE_STRING)
		return SL_OK;
	g->words = sl__ref_integers(ev, 0, err);
	return g->words ? SL_OK : sl__ref_failure(ev);
}

enum sl_status
sl__ref_tf_idf(struct sl__eval *ev, struct sl_error *err)
{
	const struct sl__tensor *in = sl__ref_tensor(ev, 0);
	struct sl__datum *out = sl__ref_result(ev, 0);
	int64_t n_rows, width, n_columns;
	struct grams g = {0};
	enum sl_status rc = grams_of(ev, &g, err);

	if (rc || !out || out->tensor.n_elements == 0)
		return rc;
	if (out->tensor.dtype != SL_DTYPE_F32 || !out->bytes)
		return sl__fail(err, SL_E_DATA, "its output is not f32");
	memset(out->bytes, 0, (size_t)out->tensor.n_bytes);
	n_rows = in->rank == 2 ? in->dims[0] : 1;
	width = in->dims[in->rank - 1];
	n_columns = out->tensor.dims[out->tensor.rank - 1];
	for (int64_t row = 0; !rc && row < n_rows; row++) {
		g.counts = (float *)(void *)out->bytes + row * n_columns;
		rc = count_row(ev, &g, row * width, (row + 1) * width, err);
		if (!rc)
			weigh(ev->node, g.counts, (size_t)n_columns);
	}
	return rc;
}

enum sl_status
sl__ref_string_concat(struct sl__eval *ev, struct sl_error *err)
{
	int64_t at[SL__RANK_MOST] = {0}, offsets[2] = {0, 0};
	int64_t a_strides[SL__RANK_MOST], b_strides[SL__RANK_MOST];
	const int64_t *const strides[2] = {a_strides, b_strides};
	const struct sl__datum *out = sl__ref_result(ev, 0);
	const struct sl__tensor *a, *b;
	const char **made;
	size_t k = 0;
	enum sl_status rc = need_strings(ev, 0, &a, err);

	if (!rc)
		rc = need_strings(ev, 1, &b, err);
	if (rc || !out || out->tensor.n_elements == 0)
		return rc;
	made = sl__ref_new(ev, (size_t)out->tensor.n_elements, sizeof(*made));
	if (!made)
		return sl__fail_nomem(err);
	sl__ref_broadcast(a_strides, out->tensor.rank, a->rank, a->dims);
	sl__ref_broadcast(b_strides, out->tensor.rank, b->rank, b->dims);
	do {
		const char *x = a->strings[offsets[0]];
		const char *y = b->strings[offsets[1]];
		size_t n = strlen(x);
		char *both = sl__ref_new(ev, n + strlen(y) + 1, 1);

		if (!both)
			return sl__fail_nomem(err);
		memcpy(both, x, n);
		memcpy(both + n, y, strlen(y));
		made[k++] = both;
	} while (sl__ref_next(at, out->tensor.rank, out->tensor.dims, offsets,
			      strides, 2));
	return give_strings(ev, out->tensor.rank, out->tensor.dims, made, err);
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

static enum sl_status
split_one(struct sl__eval *ev, const struct splitter *s, const char *text,
	  const char **made, int64_t n_most, struct sl_error *err)
{
	const char *piece;
	int64_t n = 0;
	size_t n_bytes;

	while (next_piece(s, &text, n, &piece, &n_bytes)) {
		made[n] = piece_of(ev, piece, n_bytes);
		if (!made[n++])
			return sl__fail_nomem(err);
	}
	while (n < n_most)
		made[n++] = "";
	return SL_OK;
}

enum sl_status
sl__ref_string_split(struct sl__eval *ev, struct sl_error *err)
{
	struct splitter s = {sl__word(ev->node, "delimiter", ""),
			     sl__int(ev->node, "maxsplit", -1)};
	int64_t dims[SL__RANK_MOST + 1], *counts, most = 0;
	const struct sl__tensor *in;
	const char **made;
	enum sl_status rc = need_strings(ev, 0, &in, err);

	if (rc)
		return rc;
	if (in->rank >= SL__RANK_MOST)
		return sl__fail(err, SL_E_DATA, "too many dimensions");
	counts = sl__ref_new(ev, (size_t)in->n_elements, sizeof(*counts));
	if (!counts)
		return sl__fail_nomem(err);
	for (uint64_t i = 0; i < in->n_elements; i++) {
		counts[i] = count_pieces(&s, in->strings[i]);
		most = counts[i] > most ? counts[i] : most;
	}
	made = sl__ref_new(ev, (size_t)in->n_elements * (size_t)most,
			   sizeof(*made));
	if (!made)
		return sl__fail_nomem(err);
	for (uint64_t i = 0; !rc && i < in->n_elements; i++)
		rc = split_one(ev, &s, in->strings[i],
			       made + i * (uint64_t)most, most, err);
	if (in->rank)
		memcpy(dims, in->dims, in->rank * sizeof(*dims));
	dims[in->rank] = most;
	if (!rc)
		rc = give_strings(ev, in->rank + 1, dims, made, err);
	if (!rc)
		rc = sl__ref_out(ev, 1, SL_DTYPE_I64, in->rank, in->dims, err);
	if (!rc)
		sl__ref_store_integers(ev, 1, counts);
	return rc;
}

enum sl_status
sl__ref_regex(struct sl__eval *ev, struct sl_error *err)
{
	const char *pattern = sl__word(ev->node, "pattern", "");
	const struct sl__tensor *in;
	const char *posix;
	int64_t *matches;
	regex_t regex;
	int failed;
	enum sl_status rc = need_strings(ev, 0, &in, err);

	if (rc)
		return rc;
	rc = sl__regex_posix(&posix, pattern, ev->scratch, err);
	if (rc)
		return rc;
	matches = sl__ref_new(ev, (size_t)in->n_elements, sizeof(*matches));
	if (!matches)
		return sl__fail_nomem(err);
	rc = sl__ref_out(ev, 0, SL_DTYPE_BOOL, in->rank, in->dims, err);
	if (rc)
		return rc;
	failed = regcomp(&regex, posix, REG_EXTENDED | REG_NOSUB);
	if (failed == REG_ESPACE)
		return sl__fail_nomem(err);
	if (failed)
		return sl__fail(err, SL_E_DATA,
				"'%.200s' is no regular expression", pattern);
	for (uint64_t i = 0; i < in->n_elements; i++)
		matches[i] = !regexec(&regex, in->strings[i], 0, NULL, 0);
	regfree(&regex);
	sl__ref_store_integers(ev, 0, matches);
	return SL_OK;
}
