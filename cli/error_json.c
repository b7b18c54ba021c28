/* SPDX-License-Identifier: Apache-2.0 */
/*
 * error_json.c - what goes wrong under --json, as JSON.
 *
 * A program that reads JSON gets JSON, whatever happened.  Errors end the
 * program from many places, some of them before the options are read, so the
 * words are searched first and the document is written last.
 */
#include "error_json.h"
#include "exit_code.h"
#include "options.h"
#include "output.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_MOST = 4096 };

static struct {
	const char *path; /* "": standard output; NULL: not asked for */
	const char *word; /* first of the command line */
	int code;         /* 0: nothing to write */
	char command[32], message[TEXT_MOST], hint[TEXT_MOST];
} noted;

/* A string, or null for an empty one.  There are no control characters. */
static void
put_text(struct sl_buf *out, const char *text)
{
	char *at = out->data + out->n_bytes;

	if (!*text) {
		out->n_bytes += (size_t)sprintf(at, "null");
		return;
	}
	*at++ = '"';
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			*at++ = '\\';
		*at++ = *text;
	}
	*at++ = '"';
	*at = '\0';
	out->n_bytes = (size_t)(at - out->data);
}

static void
put_key(struct sl_buf *out, const char *before, const char *text)
{
	out->n_bytes += (size_t)sprintf(out->data + out->n_bytes, "%s", before);
	put_text(out, text);
}

static void
write_error(void)
{
	/* Escaped, a text is at most twice as long. */
	static char page[4 * TEXT_MOST + 1024];
	struct sl_buf out = {page, 0, sizeof(page)};
	struct sl_error err;

	if (!noted.path || !noted.code)
		return;
	put_key(&out,
		"{\n  \"schema\": 1,\n  \"tool\": {\n    \"name\": ", "sleuth");
	put_key(&out, ",\n    \"version\": ", sl_version());
	put_key(&out, "\n  },\n  \"command\": ", noted.command);
	out.n_bytes += (size_t)sprintf(
		page + out.n_bytes, ",\n  \"error\": {\n    \"exit_code\": %d",
		noted.code);
	put_key(&out, ",\n    \"status\": ",
		sl_status_text(status_of_exit_code(noted.code)));
	put_key(&out, ",\n    \"message\": ", noted.message);
	put_key(&out, ",\n    \"hint\": ", noted.hint);
	out.n_bytes += (size_t)sprintf(page + out.n_bytes, "\n  }\n}\n");
	output_restore_stdout();
	if (!*noted.path || !strcmp(noted.path, "-"))
		fwrite(page, 1, out.n_bytes, stdout);
	else if (sl_buf_write(&out, noted.path, &err) && noted.code != EXIT_IO)
		fprintf(stderr, "sleuth: %s\n", err.text);
}

void
error_json_if_asked(char **argv)
{
	noted.word = argv[1];
	for (char **word = argv + 1; *word && strcmp(*word, "--"); word++) {
		if (!strcmp(*word, "--json"))
			noted.path = "";
		else if (!strncmp(*word, "--json=", 7))
			noted.path = (*word)[7] ? *word + 7 : NULL;
	}
	if (noted.path && atexit(write_error))
		noted.path = NULL; /* no more functions fit: stderr remains */
}

void
error_json_set_hint(const char *hint)
{
	if (noted.code)
		return;
	snprintf(noted.hint, sizeof(noted.hint), "%s", hint ? hint : "");
	sl_text_sanitize(noted.hint);
}

void
error_json_note(const char *command, int code, const char *message)
{
	if (!noted.path || noted.code || !code)
		return;
	noted.code = code;
	snprintf(noted.command, sizeof(noted.command), "%s",
		 command ? command : noted.word);
	snprintf(noted.message, sizeof(noted.message), "%s", message);
	sl_text_sanitize(noted.command);
}

void
error_json_cancel(void)
{
	noted.path = NULL;
}
