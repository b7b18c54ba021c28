/* SPDX-License-Identifier: Apache-2.0 */
/* save.c - results put into the store, and taken from it. */
#include "save.h"
#include "exit_code.h"
#include "live.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* What git says of this folder, asked once and before measuring: the files may
 * be edited meanwhile. */
static struct sl_labels labels;

/* Timed beside what is measured; NULL: nothing is to be saved. */
static struct sl_anchor *anchor;

/* As few as give the median an interval of 95 %. */
enum { ANCHOR_FIRST = 3, ANCHOR_LAST = 3 };

const struct sl_parameter *
tags_parse(const struct repeated_values *tags, const char *command)
{
	struct sl_parameter *list = must_alloc(tags->n + 1, sizeof(*list));

	for (size_t i = 0; i < tags->n; i++) {
		const char *word = tags->words[i];
		size_t n_name = strcspn(word, "=");
		char *name = must_alloc(n_name + 1, 1);

		if (!n_name || !word[n_name] || strchr(word, '\n'))
			refuse(command, "--tag %s: must be NAME=VALUE", word);
		memcpy(name, word, n_name);
		for (size_t k = 0; k < i; k++) {
			if (strcmp(list[k].name, name) == 0)
				refuse(command, "--tag %s: given twice", name);
		}
		list[i] = (struct sl_parameter){name, word + n_name + 1};
	}
	return list;
}

/* The rest of a line that begins with 'start', copied; NULL: it does not. */
static const char *
rest_of(const char *line, const char *start)
{
	size_t n = strlen(start);
	char *copy;

	if (strncmp(line, start, n) != 0 || line[n] == '(')
		return NULL; /* "(initial)", "(detached)" */
	copy = must_alloc(strlen(line) + 1, 1);
	memcpy(copy, line + n, strcspn(line + n, "\n"));
	return copy;
}

/* The branch of a checkout that has none, as services of CI name it. */
static const char *
branch_of_ci(void)
{
	static const char *const names[] = {
		"GITHUB_HEAD_REF", "GITHUB_REF_NAME", "CI_COMMIT_REF_NAME"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *value = getenv(names[i]);

		if (value && *value)
			return value;
	}
	return NULL;
}

static void
read_git(void)
{
	FILE *git = popen("GIT_OPTIONAL_LOCKS=0 git status --porcelain=v2"
			  " --branch --untracked-files=no 2>/dev/null",
			  "r");
	char line[1024];

	if (!git)
		return;
	while (fgets(line, sizeof(line), git)) {
		const char *commit = rest_of(line, "# branch.oid ");
		const char *branch = rest_of(line, "# branch.head ");

		if (commit)
			labels.commit = commit;
		if (branch)
			labels.branch = branch;
		labels.is_dirty |= line[0] != '#';
	}
	pclose(git);
	if (labels.commit && !labels.branch)
		labels.branch = branch_of_ci();
}

struct sl_store *
store_open(const char *db, int must_exist, const char *command)
{
	const struct sl_store_options how = {.struct_size = sizeof(how),
					     .where = db,
					     .must_exist = must_exist};
	struct sl_store *store;
	struct sl_error err;

	if (db && !*db)
		refuse(command, "--db is empty");
	if (sl_store_open(&store, &how, &err))
		exit(exit_for(command, &err));
	return store;
}

/* A store that does not take results is told before any time is spent. */
static void
check_store(const char *db, const char *command)
{
	const struct sl_store_options how = {
		.struct_size = sizeof(how), .where = db, .must_write = 1};
	struct sl_store *store;
	struct sl_error err;

	if (db && !*db)
		refuse(command, "--db is empty");
	if (sl_store_open(&store, &how, &err))
		exit(exit_for(command, &err));
	sl_store_close(store);
}

void
save_check(const struct save_options *options, const char *command)
{
	struct sl_error err;

	if (!options->save && (options->db || options->tags.n))
		refuse(command, "--%s goes with --save",
		       options->db ? "db" : "tag");
	if (!options->save)
		return;
	labels = (struct sl_labels){.struct_size = sizeof(labels)};
	labels.tags = tags_parse(&options->tags, command);
	labels.n_tags = options->tags.n;
	check_store(options->db, command);
	read_git();
	live_begin(options->db, command);
	if (sl_anchor_new(&anchor, NULL, &err))
		exit(exit_for(command, &err));
	for (int i = 0; i < ANCHOR_FIRST; i++)
		sl_anchor_take(anchor);
}

void
save_visit(void)
{
	if (anchor)
		sl_anchor_take_if_due(anchor);
}

/* Keeps what was measured where the store does not take it. */
static int
rescue(const struct sl_buf *json, const char *command,
       const struct sl_error *why)
{
	struct sl_error err;
	char path[64];
	int code = exit_for(command, why);

	/* Several may fail in the same second. */
	snprintf(path, sizeof(path), "sleuth-unsaved-%" PRIu64 "-%ld.json",
		 (uint64_t)time(NULL), (long)getpid());
	if (sl_buf_write(json, path, &err))
		complain(command, code, "the result is lost, too: %s",
			 err.text);
	else
		complain(command, code,
			 "the result is in %s; 'sleuth store import %s' saves "
			 "it",
			 path, path);
	return code;
}

int
save_document(const struct save_options *options, const char *command,
	      const struct sl_buf *json, int is_bare)
{
	const struct sl_store_options how = {.struct_size = sizeof(how),
					     .where = options->db};
	struct sl_store *store;
	struct sl_error err;
	enum sl_status rc;
	uint64_t id = 0;

	for (int i = 0; anchor && i < ANCHOR_LAST; i++)
		sl_anchor_take(anchor);
	if (anchor)
		sl_anchor_read(anchor, &labels.anchor);
	rc = sl_store_open(&store, &how, &err);
	if (!rc)
		rc = sl_store_put(store, &id, json->data, json->n_bytes,
				  &labels, &err);
	sl_store_close(store);
	if (rc)
		return rescue(json, command, &err);
	fprintf(is_bare ? stdout : stderr, "%srun:%" PRIu64 "\n",
		is_bare ? "" : "saved as ", id);
	return 0;
}

uint64_t
run_number(const char *word)
{
	size_t number;

	return strncmp(word, "run:", 4) == 0 && parse_count(&number, word + 4)
		       ? number
		       : 0;
}

int
is_saved_word(const char *word)
{
	return run_number(word) ||
	       strncmp(word, SL_TAG_BASELINE ":", sizeof(SL_TAG_BASELINE)) == 0;
}

/* The result that is the baseline of that name; ends the program where there
 * is none. */
static uint64_t
find_baseline(struct sl_store *store, const char *name, const char *command)
{
	const struct sl_parameter tag = {SL_TAG_BASELINE, name};
	const struct sl_store_query query = {.struct_size = sizeof(query),
					     .tags = &tag,
					     .n_tags = 1,
					     .n_most = 1};
	struct sl_stored_runs *runs;
	struct sl_error err;
	uint64_t id;

	if (sl_store_find(&runs, store, &query, &err))
		exit(exit_for(command, &err));
	if (!runs->n)
		exit(complain(
			command, EXIT_DATA,
			"no result is the baseline '%s'; --tag " SL_TAG_BASELINE
			"=%s at --save makes one",
			name, name));
	id = runs->list[0].id;
	sl_stored_runs_free(runs);
	return id;
}

enum sl_status
saved_open(struct sl_result **out, const char *word, const char *db,
	   const char *command, struct sl_error *err)
{
	uint64_t id = run_number(word);
	struct sl_store *store;
	struct sl_buf json = {0};
	enum sl_status rc;

	if (!is_saved_word(word))
		return sl_result_open(out, word, err);
	*out = NULL;
	store = store_open(db, 1, command);
	if (!id)
		id = find_baseline(store, word + sizeof(SL_TAG_BASELINE),
				   command);
	rc = sl_store_get(store, id, &json, err);
	if (!rc)
		rc = sl_result_read(out, json.data, json.n_bytes, NULL, err);
	sl_buf_release(&json);
	sl_store_close(store);
	return rc;
}
