/* SPDX-License-Identifier: Apache-2.0 */
/* word_split.c - a line as the words that a shell would make of it. */
#include "word_split.h"
#include "options.h"

#include <string.h>

/*
 * Copies one word to *to and returns what follows it, or NULL where a quote
 * stays open.
 */
static const char *
copy_word(char **to, const char *at)
{
	char quote = '\0';

	for (; *at && (quote || !strchr(" \t\n", *at)); at++) {
		/* In double quotes, some characters can be escaped. */
		int is_escape = *at == '\\' && at[1] && quote != '\'' &&
				(!quote || strchr("$`\"\\\n", at[1]));

		if (is_escape && *++at != '\n')
			*(*to)++ = *at;
		else if (is_escape)
			continue; /* a line goes on */
		else if (quote ? *at == quote : *at == '\'' || *at == '"')
			quote = quote ? '\0' : *at;
		else
			*(*to)++ = *at;
	}
	*(*to)++ = '\0';
	return quote ? NULL : at;
}

const char **
split_words(const char *command, const char *line)
{
	size_t n = strlen(line), n_words = 0;
	const char **words = must_alloc(n / 2 + 2, sizeof(*words));
	char *to = must_alloc(n + 1, 1);
	const char *at = line + strspn(line, " \t\n");

	while (*at) {
		words[n_words++] = to;
		at = copy_word(&to, at);
		if (!at)
			refuse(command, "%s: a quote is not closed", line);
		at += strspn(at, " \t\n");
	}
	if (!n_words)
		refuse(command, "'%s': an empty command", line);
	return words;
}
