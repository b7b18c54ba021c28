/* SPDX-License-Identifier: Apache-2.0 */
/* error_json.h - what goes wrong under --json, as JSON. */
#ifndef SL_ERROR_JSON_H
#define SL_ERROR_JSON_H

/*
 * Looks for --json among the words of the command line.  Where it is, the
 * first error that is noted is written there when the program ends, unless a
 * result was.
 */
void error_json_if_asked(char **argv);

/* 'command' may be NULL: the first word. */
void error_json_note(const char *command, int code, const char *message);

/* A command that could follow the next error; NULL: none. */
void error_json_set_hint(const char *hint);

/* JSON was written: a result, and perhaps an error after it. */
void error_json_cancel(void);

#endif
