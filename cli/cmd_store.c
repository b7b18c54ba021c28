/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_store.c - `sleuth store`: results out of the store, into it, and away. */
#include "commands.h"
#include "exit_code.h"
#include "save.h"
#include "store_filter.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const struct command_help help = {
	"store", "export FILE | import FILE | delete [run:N ...] [options]",
	"Writes results with their labels as lines of JSON, adds such lines to "
	"a store\nunder new numbers, or deletes results. FILE may be - for "
	"standard output or input;\nimport takes a result that a command wrote "
	"with --json too. Options choose which\nresults are exported (all "
	"without any) or deleted (one at least must be given).",
	"  sleuth store export all.jsonl\n"
	"  sleuth store import all.jsonl --db copy.db\n"
	"  sleuth store delete run:1 --db copy.db\n"
	"  sleuth store delete --older-than 90d --db copy.db",
	"export, import or delete? see 'sleuth store --help'"};

struct arguments {
	struct store_filter filter;
	const char *older_than;
	size_t keep;
	/* Made from the words. */
	uint64_t *ids;
	size_t n_ids;
};

#define AT(field) offsetof(struct arguments, field)

static const struct option options[] = {
	{"older-than", 0, OPTION_TEXT, AT(older_than), "AGE",
	 "saved longer ago: 12h, 90d, 4w", 0, 0, 0},
	{"keep", 0, OPTION_COUNT, AT(keep), "N",
	 "but for the newest N of these", 1, 1e9, 0},
};

/* Seconds of "12h", "90d" or "4w". */
static double
parse_age(const char *text)
{
	static const struct {
		const char *unit;
		double seconds;
	} units[] = {{"h", 3600}, {"d", 86400}, {"w", 7 * 86400.0}};
	char *end;
	double value = strtod(text, &end);

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (end != text && value >= 0 &&
		    strcmp(end, units[i].unit) == 0)
			return value * units[i].seconds;
	}
	refuse(help.name, "--older-than %s: must be such as 12h, 90d or 4w",
	       text);
}

static void
make_query(struct sl_store_query *query, const struct arguments *a)
{
	store_filter_resolve(query, &a->filter, help.name);
	query->ids = a->ids;
	query->n_ids = a->n_ids;
	query->n_skipped = a->keep;
	if (a->older_than)
		query->before_s = (double)time(NULL) - parse_age(a->older_than);
}

static void
read_ids(struct arguments *a, const char **words, size_t n)
{
	a->ids = must_alloc(n + 1, sizeof(*a->ids));
	for (a->n_ids = 0; a->n_ids < n; a->n_ids++) {
		a->ids[a->n_ids] = run_number(words[a->n_ids]);
		if (!a->ids[a->n_ids])
			refuse(help.name,
			       "'%s' is no result; they are called "
			       "run:1, run:2, ...",
			       words[a->n_ids]);
	}
}

static int delete (struct arguments *a, const char **words, size_t n)
{
	const struct store_filter *f = &a->filter;
	struct sl_store_query query;
	struct sl_store *store;
	struct sl_error err;
	size_t n_deleted;
	int code = EXIT_FINE;

	read_ids(a, words, n);
	make_query(&query, a);
	if (!n && !a->older_than && !a->keep && !f->command && !f->branch &&
	    !f->commit && !f->machine && !f->tags.n)
		refuse(help.name, "which results? name them, or say "
				  "--older-than, --keep or another option");
	store = store_open(f->db, 1, help.name);
	if (sl_store_delete(store, &n_deleted, &query, &err))
		code = exit_for(help.name, &err);
	else
		printf("%zu result%s deleted\n", n_deleted,
		       n_deleted == 1 ? "" : "s");
	sl_store_close(store);
	return code;
}

/* Line by line, so that a large store needs no large memory. */
static int
export_lines(struct sl_store *store, const struct sl_stored_runs *runs,
	     FILE *file, const char *path)
{
	struct sl_error err;

	for (size_t i = 0; i < runs->n; i++) {
		struct sl_buf line = {0};
		int failed = 0;

		if (sl_store_export(store, runs->list[i].id, &line, &err))
			return exit_for(help.name, &err);
		failed = fwrite(line.data, 1, line.n_bytes, file) !=
			 line.n_bytes;
		sl_buf_release(&line);
		if (failed)
			return complain(help.name, EXIT_IO, "%s: %s", path,
					strerror(errno));
	}
	return EXIT_FINE;
}

static int export(struct arguments *a, const char *path)
{
	int is_stdout = strcmp(path, "-") == 0;
	struct sl_store *store = store_open(a->filter.db, 1, help.name);
	FILE *file = is_stdout ? stdout : fopen(path, "w");
	struct sl_stored_runs *runs = NULL;
	struct sl_store_query query;
	struct sl_error err;
	int code;

	make_query(&query, a);
	if (!file)
		code = complain(help.name, EXIT_IO, "%s: %s", path,
				strerror(errno));
	else if (sl_store_find(&runs, store, &query, &err))
		code = exit_for(help.name, &err);
	else
		code = export_lines(store, runs, file, path);
	if (file && !is_stdout && fclose(file) && !code)
		code = complain(help.name, EXIT_IO, "%s: %s", path,
				strerror(errno));
	sl_stored_runs_free(runs);
	sl_store_close(store);
	return code;
}

/* A document that fills the file is one result. */
static int
import_document(struct sl_store *store, const char *path)
{
	struct sl_labels labels = SL_LABELS_INIT;
	struct sl_buf json = {0};
	struct sl_result *result;
	struct sl_error err;
	uint64_t id;
	int code = EXIT_FINE;

	if (sl_result_open(&result, path, &err))
		return exit_for(help.name, &err);
	if (sl_result_render(
		    result,
		    &(struct sl_render_options){
			    .struct_size = sizeof(struct sl_render_options),
			    .format = SL_FORMAT_JSON},
		    &json, &err) ||
	    sl_store_put(store, &id, json.data, json.n_bytes, &labels, &err))
		code = exit_for(help.name, &err);
	sl_buf_release(&json);
	sl_result_free(result);
	return code;
}

static int
import_lines(struct sl_store *store, FILE *file, const char *path, size_t *n)
{
	char *line = NULL;
	size_t cap = 0;
	ssize_t n_bytes;
	struct sl_error err;
	uint64_t id;
	int code = EXIT_FINE;

	for (size_t i = 1; !code && (n_bytes = getline(&line, &cap, file)) > 0;
	     i++) {
		if (line[strspn(line, " \t\r\n")] == '\0')
			continue;
		if (i == 1 && strcmp(line, "{\n") == 0) {
			code = import_document(store, path);
			*n += !code;
			break;
		}
		if (sl_store_import(store, &id, line, (size_t)n_bytes, &err)) {
			complain(help.name, 0, "%s: line %zu:", path, i);
			code = exit_for(help.name, &err);
		}
		*n += !code;
	}
	if (!code && ferror(file))
		code = complain(help.name, EXIT_IO, "%s: %s", path,
				strerror(errno));
	free(line);
	return code;
}

static int
import(struct arguments *a, const char *path)
{
	int is_stdin = strcmp(path, "-") == 0;
	FILE *file = is_stdin ? stdin : fopen(path, "r");
	struct sl_store *store;
	size_t n = 0;
	int code;

	if (!file)
		return complain(help.name, EXIT_IO, "%s: %s", path,
				strerror(errno));
	store = store_open(a->filter.db, 0, help.name);
	code = import_lines(store, file, path, &n);
	printf("%zu result%s imported\n", n, n == 1 ? "" : "s");
	if (!is_stdin)
		fclose(file);
	sl_store_close(store);
	return code;
}

int
cmd_store(char **argv)
{
	static const char *const verbs[] = {"export", "import", "delete", NULL};
	struct arguments a = {.keep = 0};
	const struct option_group groups[] = {
		OPTION_GROUP(options, &a),
		store_filter_option_group(&a.filter),
	};
	const char **words;
	size_t n, verb;

	if (options_read_positional_names(&help, groups, 2, argv, &words, &n))
		return EXIT_DONE;
	verb = read_choice(help.name, "store", words[0], verbs);
	if (verb == 2)
		return delete (&a, words + 1, n - 1);
	if (n != 2)
		refuse(help.name, "%s takes one FILE, or - for standard %s",
		       verbs[verb], verb ? "input" : "output");
	return verb ? import(&a, words[1]) : export(&a, words[1]);
}
