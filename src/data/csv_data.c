/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csv_data.c - samples as lines of numbers, the class last.
 *
 * A first line without any number names the columns and is passed over, and so
 * are empty lines and the byte order mark that spreadsheets write; a number may
 * stand in quotes.  Nothing is guessed beyond that: every line has as many
 * columns as the first, and each is a number.
 */
#include "base/file_mapping.h"
#include "base/number.h"
#include "base/status.h"
#include "data/dataset.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/banned.h"

enum { CLASSES_MOST = 1 << 20 };

/* One file, and where reading it has come. */
struct csv {
	const char *at, *end; /* from the next line on */
	size_t line;          /* of the file, from 1 */
	size_t n_columns;     /* 0: no line was read yet */
	size_t n, cap;        /* samples */
	float *values;        /* [n][n_columns - 1] */
	int64_t *labels;
	int64_t n_classes;
};

/* What both splits need to fill a sample. */
struct csv_samples {
	struct csv splits[SL_N_SPLITS];
	int64_t dims[1];
	struct sl_data_input input;
};

static size_t
skip_digits(const char *text)
{
	return strspn(text, "0123456789");
}

static int
is_number(const char *text)
{
	size_t n_whole, n_fraction = 0;

	text += *text == '-' || *text == '+';
	n_whole = skip_digits(text);
	text += n_whole;
	if (*text == '.') {
		n_fraction = skip_digits(++text);
		text += n_fraction;
	}
	if (!n_whole && !n_fraction)
		return 0;
	if (*text == 'e' || *text == 'E') {
		text++;
		text += *text == '-' || *text == '+';
		if (!skip_digits(text))
			return 0;
		text += skip_digits(text);
	}
	return !*text;
}

/* The next field up to 'end', without blanks and quotes around it; *at goes
 * behind its comma. */
static void
take_field(char *field, size_t n_bytes, const char **at, const char *end)
{
	const char *stop = memchr(*at, ',', (size_t)(end - *at));
	const char *from = *at, *to;
	size_t n;

	to = stop ? stop : end;
	*at = stop ? stop + 1 : end + 1;
	while (from < to && (*from == ' ' || *from == '\t'))
		from++;
	while (to > from && strchr(" \t\r", to[-1]) && to[-1])
		to--;
	if (to - from > 1 && *from == '"' && to[-1] == '"') {
		from++;
		to--;
	}
	n = (size_t)(to - from) < n_bytes - 1 ? (size_t)(to - from)
					      : n_bytes - 1;
	memcpy(field, from, n);
	field[n] = '\0';
}

static size_t
count_columns(const char *at, const char *end)
{
	size_t n = 1;

	for (; at < end; at++)
		n += *at == ',';
	return n;
}

/* Whether a line names the columns: where one field is a number, the others
 * are missing or malformed, and that is said rather than the line lost. */
static int
has_number(const char *at, const char *end)
{
	while (at <= end) {
		char field[64];

		take_field(field, sizeof(field), &at, end);
		if (is_number(field))
			return 1;
	}
	return 0;
}

static enum sl_status
read_label(struct csv *c, double x, struct sl_error *err)
{
	if (!(x >= 0 && x < CLASSES_MOST) || x > (double)(int64_t)x)
		return sl__fail(err, SL_E_DATA,
				"line %zu, column %zu: the class %g is no "
				"whole number from 0 to %d",
				c->line, c->n_columns, x, CLASSES_MOST - 1);
	c->labels[c->n] = (int64_t)x;
	if (c->labels[c->n] >= c->n_classes)
		c->n_classes = c->labels[c->n] + 1;
	return SL_OK;
}

static enum sl_status
read_line(struct csv *c, const char *at, const char *end, struct sl_error *err)
{
	size_t n_columns = count_columns(at, end);
	enum sl_status rc = SL_OK;

	if (n_columns != c->n_columns)
		return sl__fail(
			err, SL_E_DATA,
			"line %zu has %zu columns, %zu are expected: "
			"%s after column %zu",
			c->line, n_columns, c->n_columns,
			n_columns < c->n_columns ? "it ends" : "it goes on",
			n_columns < c->n_columns ? n_columns : c->n_columns);
	for (size_t i = 0; !rc && i < n_columns; i++) {
		char field[64];
		double x;

		take_field(field, sizeof(field), &at, end);
		if (!is_number(field))
			return sl__fail(err, SL_E_DATA,
					"line %zu, column %zu: '%s' is no "
					"number",
					c->line, i + 1, field);
		x = sl__number_read(field);
		if (!(fabs(x) <= (double)FLT_MAX))
			return sl__fail(err, SL_E_DATA,
					"line %zu, column %zu: '%s' is beyond "
					"all numbers of f32",
					c->line, i + 1, field);
		if (i + 1 == n_columns)
			rc = read_label(c, x, err);
		else
			c->values[c->n * (n_columns - 1) + i] = (float)x;
	}
	c->n++;
	return rc;
}

/* The next line that is not empty; 0: there is none. */
static int
next_line(struct csv *c, const char **at, const char **end)
{
	while (c->at < c->end) {
		const char *stop =
			memchr(c->at, '\n', (size_t)(c->end - c->at));

		*at = c->at;
		*end = stop ? stop : c->end;
		c->at = stop ? stop + 1 : c->end;
		c->line++;
		if (*end > *at && (*end)[-1] == '\r')
			--*end;
		if (*end > *at)
			return 1;
	}
	return 0;
}

/* What stands between numbers in place of commas, for a message. */
static enum sl_status
refuse_one_column(const struct csv *c, const char *at, const char *end,
		  struct sl_error *err)
{
	const char *found =
		memchr(at, ';', (size_t)(end - at))    ? ", not semicolons"
		: memchr(at, '\t', (size_t)(end - at)) ? ", not tabs"
						       : "";

	return sl__fail(err, SL_E_DATA,
			"line %zu has one column: numbers and a class are "
			"expected, with commas between%s",
			c->line, found);
}

static enum sl_status
read_lines(struct csv *c, struct sl__arena *arena, struct sl_error *err)
{
	const char *at, *end;
	enum sl_status rc = SL_OK;

	if (c->at < c->end && memchr(c->at, '\0', (size_t)(c->end - c->at)))
		return sl__fail(err, SL_E_DATA,
				"holds zero bytes: it is no text in UTF-8");
	for (const char *p = c->at; p < c->end; p++)
		c->cap += *p == '\n';
	c->cap++;
	while (!rc && next_line(c, &at, &end)) {
		if (!c->n_columns) {
			if (c->line == 1 && !has_number(at, end))
				continue;
			c->n_columns = count_columns(at, end);
			if (c->n_columns < 2)
				return refuse_one_column(c, at, end, err);
			c->values = sl__arena_array(arena, c->cap,
						    (c->n_columns - 1) *
							    sizeof(float));
			c->labels = sl__arena_array(arena, c->cap,
						    sizeof(*c->labels));
			if (!c->values || !c->labels)
				return sl__fail_nomem(err);
		}
		rc = read_line(c, at, end, err);
	}
	if (!rc && !c->n)
		rc = sl__fail(err, SL_E_DATA, "has no samples");
	return rc;
}

static enum sl_status
read_file(struct csv *c, const char *path, struct sl__arena *arena,
	  struct sl_error *err)
{
	struct sl__file_mapping file = {0};
	enum sl_status rc = sl__file_mapping_open(&file, path, err);

	if (rc)
		return rc;
	if (file.n_bytes) {
		c->at = (const char *)file.bytes;
		c->end = c->at + file.n_bytes;
		if (file.n_bytes >= 3 && !memcmp(c->at, "\xef\xbb\xbf", 3))
			c->at += 3;
	}
	rc = sl__error_prefix(err, read_lines(c, arena, err), path);
	sl__file_mapping_close(&file);
	return rc;
}

static enum sl_status
fill(void *ctx, enum sl_split split, size_t index, void *const *inputs,
     int64_t *labels, struct sl_error *err)
{
	const struct csv_samples *s = ctx;
	const struct csv *c = &s->splits[split];
	size_t n = (size_t)s->dims[0];

	(void)err;
	memcpy(inputs[0], c->values + index * n, n * sizeof(*c->values));
	labels[0] = c->labels[index];
	return SL_OK;
}

enum sl_status
sl__csv_open(struct sl_dataset *data, const char *path, const char *test,
	     struct sl_error *err)
{
	struct csv_samples *s = sl__arena_alloc(data->arena, sizeof(*s));
	const char *name = sl__arena_string(data->arena, path);
	struct csv *train, *held;
	enum sl_status rc;

	if (!s || !name)
		return sl__fail_nomem(err);
	train = &s->splits[SL_SPLIT_TRAIN];
	held = &s->splits[SL_SPLIT_TEST];
	rc = read_file(train, path, data->arena, err);
	if (!rc && test)
		rc = read_file(held, test, data->arena, err);
	if (rc)
		return rc;
	if (test && held->n_columns != train->n_columns)
		return sl__fail(err, SL_E_DATA,
				"%.150s has %zu columns, %.150s has %zu", path,
				train->n_columns, test, held->n_columns);
	s->dims[0] = (int64_t)train->n_columns - 1;
	s->input = (struct sl_data_input){"", SL_DTYPE_F32, 1, s->dims};
	data->origin = (struct sl_data_source){
		.struct_size = sizeof(data->origin),
		.name = name,
		.inputs = &s->input,
		.n_inputs = 1,
		.n_labels = 1,
		.n_classes = held->n_classes > train->n_classes
				     ? held->n_classes
				     : train->n_classes,
		.n_samples = {[SL_SPLIT_TRAIN] = train->n,
			      [SL_SPLIT_TEST] = held->n},
		.fill = fill,
		.ctx = s};
	return SL_OK;
}
