/* SPDX-License-Identifier: Apache-2.0 */
/*
 * printable.c - names of unknown origin, made fit to print.
 *
 * A command line may hold any bytes.  Each copy is one iteration that replaces
 * a code point by a few bytes.
 */
#include "report/printable.h"

#include <stdio.h>
#include <string.h>

#include "base/banned.h"

struct sign {
	uint32_t code;
	const char *ascii;
};

/* The characters that reports use, and how they are spelled in ASCII. */
static const struct sign signs[] = {
	{0x00a0, " "},  {0x00b1, "+/-"}, {0x00b2, "^2"}, {0x00b5, "u"},
	{0x00b7, "*"},  {0x00d7, "x"},   {0x03bc, "u"},  {0x2013, "-"},
	{0x03c3, "sd"}, {0x2014, "-"},   {0x2018, "'"},  {0x2019, "'"},
	{0x2022, "*"},  {0x2026, "..."}, {0x2192, "->"}, {0x2212, "-"},
	{0x2248, "~"},  {0x2260, "!="},  {0x2264, "<="}, {0x2265, ">="},
	{0x2500, "-"},  {0x2502, "|"},   {0x2514, "+"},  {0x251c, "+"},
	{0x2570, "+"},  {0x2571, "/"},   {0x2581, "."},  {0x2582, "."},
	{0x2583, "."},  {0x2584, ":"},   {0x2585, ":"},  {0x2586, ":"},
	{0x2587, "#"},  {0x2588, "#"},   {0x2589, "#"},  {0x258a, "#"},
	{0x258b, ":"},  {0x258c, ":"},   {0x258d, ":"},  {0x258e, "."},
	{0x258f, "."},  {0x2591, "."},   {0x2592, ":"},  {0x2593, "#"},
	{0x25cf, "o"},  {0x2713, "ok"},  {0x2717, "no"},
};

/*
 * Code points of two columns: those of East Asian Width W and F (Unicode
 * Standard Annex #11), by block.  Blocks of emoji count as a whole, which leaves
 * a line shorter by a column where one of them is narrow.
 */
static const struct {
	uint32_t from, to;
} wide[] = {
	{0x1100, 0x115f},   {0x2e80, 0x303e},   {0x3041, 0xa4cf},
	{0xa960, 0xa97f},   {0xac00, 0xd7a3},   {0xf900, 0xfaff},
	{0xfe10, 0xfe19},   {0xfe30, 0xfe6f},   {0xff01, 0xff60},
	{0xffe0, 0xffe6},   {0x16fe0, 0x18aff}, {0x1b000, 0x1b2ff},
	{0x1f300, 0x1f64f}, {0x1f680, 0x1f6ff}, {0x1f900, 0x1f9ff},
	{0x1fa70, 0x1faff}, {0x20000, 0x3fffd},
};

size_t
sl__utf8_columns(const char *text)
{
	uint32_t code = 0xfffd;

	if ((unsigned char)*text < 0x20)
		return 0;
	if ((unsigned char)*text < 0x80 || !sl__utf8_decode(text, &code))
		return 1;
	/* Marks that combine with the letter before them, of the blocks that
	 * hold nothing else. */
	if ((code >= 0x300 && code <= 0x36f) ||
	    (code >= 0x1ab0 && code <= 0x1aff) ||
	    (code >= 0x1dc0 && code <= 0x1dff) ||
	    (code >= 0x20d0 && code <= 0x20ff))
		return 0;
	for (size_t i = 0; i < sizeof(wide) / sizeof(wide[0]); i++) {
		if (code >= wide[i].from && code <= wide[i].to)
			return 2;
	}
	return 1;
}

size_t
sl__utf8_width(const char *text)
{
	size_t width = 0;

	for (; *text; text += sl__utf8_step(text))
		width += sl__utf8_columns(text);
	return width;
}

/* Writes what stands for a code point; false keeps it as it is. */
typedef int replacement(char *to, uint32_t code, size_t n_bytes);

static char *
copy_with(struct sl__arena *arena, const char *text, replacement *replace)
{
	const char *p = text ? text : "";
	char word[SL__UTF8_PRINTABLE_CHAR_BYTES], *copy;
	size_t cap = strlen(p), n = 0, at = 0;
	uint32_t code = 0;

	if (cap > (SIZE_MAX - 1) / SL__UTF8_PRINTABLE_CHAR_BYTES)
		return NULL;
	copy = sl__arena_alloc(arena, SL__UTF8_PRINTABLE_CHAR_BYTES * cap + 1);
	if (!copy)
		return NULL;
	for (; *p; p += n ? n : 1) {
		size_t n_word;

		n = sl__utf8_decode(p, &code);
		if (replace(word, code, n)) {
			n_word = strlen(word);
			memcpy(copy + at, word, n_word);
		} else {
			n_word = n;
			memcpy(copy + at, p, n_word);
		}
		at += n_word;
	}
	copy[at] = '\0';
	return copy;
}

static int
replace_unprintable(char *to, uint32_t code, size_t n_bytes)
{
	if (n_bytes && !sl__utf8_is_unprintable(code))
		return 0;
	if (!n_bytes)
		snprintf(to, SL__UTF8_PRINTABLE_CHAR_BYTES,
			 "\xef\xbf\xbd"); /* U+FFFD */
	else if (code == '\n')
		snprintf(to, SL__UTF8_PRINTABLE_CHAR_BYTES, "\\n");
	else if (code == '\t')
		snprintf(to, SL__UTF8_PRINTABLE_CHAR_BYTES, "\\t");
	else if (code < 0x100)
		snprintf(to, SL__UTF8_PRINTABLE_CHAR_BYTES, "\\x%02x",
			 (unsigned)code);
	else
		snprintf(to, SL__UTF8_PRINTABLE_CHAR_BYTES, "\\u%04x",
			 (unsigned)code);
	return 1;
}

static int
replace_foreign(char *to, uint32_t code, size_t n_bytes)
{
	const char *ascii = "?";

	if (n_bytes == 1)
		return 0;
	for (size_t i = 0; n_bytes && i < sizeof(signs) / sizeof(signs[0]);
	     i++) {
		if (signs[i].code == code)
			ascii = signs[i].ascii;
	}
	snprintf(to, SL__UTF8_PRINTABLE_CHAR_BYTES, "%s", ascii);
	return 1;
}

size_t
sl__utf8_printable_char(char to[SL__UTF8_PRINTABLE_CHAR_BYTES],
			const char *text)
{
	uint32_t code = 0;
	size_t n = sl__utf8_decode(text, &code);

	if (!replace_unprintable(to, code, n))
		snprintf(to, SL__UTF8_PRINTABLE_CHAR_BYTES, "%.*s", (int)n,
			 text);
	return n ? n : 1;
}

char *
sl__utf8_printable(struct sl__arena *arena, const char *text)
{
	return copy_with(arena, text, replace_unprintable);
}

char *
sl__utf8_ascii(struct sl__arena *arena, const char *text)
{
	return copy_with(arena, text, replace_foreign);
}

/* Bytes of the first n columns, control bytes among them included. */
static size_t
bytes_of(const char *text, size_t n)
{
	const char *p = text;
	size_t at = 0;

	for (; *p; p += sl__utf8_step(p)) {
		at += sl__utf8_columns(p);
		if (at > n)
			break;
	}
	return (size_t)(p - text);
}

char *
sl__utf8_shortened(struct sl__arena *arena, const char *text, size_t width,
		   const char *mark)
{
	size_t n = sl__utf8_width(text), n_mark = sl__utf8_width(mark);
	size_t kept, head, n_head;
	const char *tail;

	if (n <= width)
		return sl__arena_string(arena, text);
	if (width <= n_mark)
		return sl__arena_format(arena, "%.*s",
					(int)bytes_of(mark, width), mark);
	kept = width - n_mark;
	head = kept - kept / 2;
	n_head = bytes_of(text, head);
	/* A letter of two columns may leave one of the last free. */
	for (tail = text + n_head; sl__utf8_width(tail) > kept / 2;)
		tail += sl__utf8_step(tail);
	return sl__arena_format(arena, "%.*s%s%s", (int)n_head, text, mark,
				tail);
}
