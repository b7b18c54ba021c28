/* SPDX-License-Identifier: Apache-2.0 */
/* save.h - results put into the store, and taken from it. */
#ifndef SL_SAVE_H
#define SL_SAVE_H

#include "options.h"
#include "sleuth.h"

/* What --save, --db and --tag say. */
struct save_options {
	int save;
	const char *db;
	struct repeated_values tags; /* NAME=VALUE */
};

/* The words of --tag, which are refused where they are none; lives as long as
 * the program. */
const struct sl_parameter *tags_parse(const struct repeated_values *tags,
				      const char *command);

/* Looks, before anything is measured, whether the store can be written, and
 * takes the labels from git; ends the program where it cannot be. */
void save_check(const struct save_options *options, const char *command);

/* Times the anchor where that is due; to be called between what is measured. */
void save_visit(void);

/*
 * Puts a JSON document into the store and says its number: on standard output
 * alone where 'is_bare', else on stderr.  A result that cannot be saved is
 * written to a file in this folder, and the line says which.  Returns 0 or an
 * exit code.
 */
int save_document(const struct save_options *options, const char *command,
		  const struct sl_buf *json, int is_bare);

/* Opens the store at 'db', NULL: the default, for reading what is there; ends
 * the program with a line where there is none. */
struct sl_store *store_open(const char *db, int must_exist,
			    const char *command);

/* The number of "run:17"; 0 where the word is not of that form. */
uint64_t run_number(const char *word);

/* Whether a word names a result of the store: "run:17", "baseline:main". */
int is_saved_word(const char *word);

/* Opens the result that a word names: one in the store, or a file. */
enum sl_status saved_open(struct sl_result **out, const char *word,
			  const char *db, const char *command,
			  struct sl_error *err);

#endif
