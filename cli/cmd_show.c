/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_show.c - `sleuth show`: results in the store, listed or one of them. */
#include "commands.h"
#include "exit_code.h"
#include "output.h"
#include "save.h"
#include "store_filter.h"

static const struct command_help help = {
	"show", "[run:N | MODEL] [options]",
	"Lists the results that --save has kept, the newest last, or shows one "
	"of them as\nthe page of the command that made it.",
	"  sleuth bench --save -- true\n"
	"  sleuth show\n"
	"  sleuth show run:1\n"
	"  sleuth show resnet50 --branch main --last 5",
	NULL};

struct arguments {
	struct store_filter filter;
	struct output output;
	size_t last;
};

#define AT(field) offsetof(struct arguments, field)

static const struct option options[] = {
	{"last", 0, OPTION_COUNT, AT(last), "N", "the newest N (20)", 1, 1e9,
	 0},
};

static enum sl_status
render_list(const void *result, const struct sl_render_options *how,
	    struct sl_buf *out, struct sl_error *err)
{
	return sl_stored_runs_render(result, how, out, err);
}

RENDER_WITH(sl_result_render)

static int
show_one(const struct arguments *a, const char *word)
{
	struct sl_result *result;
	struct sl_error err;
	int code;

	if (saved_open(&result, word, a->filter.db, help.name, &err))
		return exit_for(help.name, &err);
	code = output_write(&a->output, help.name, render, result);
	sl_result_free(result);
	return code;
}

static int
list(struct arguments *a, const char *model)
{
	struct sl_store *store = store_open(a->filter.db, 1, help.name);
	struct sl_stored_runs *runs;
	struct sl_store_query query;
	struct sl_error err;
	int code;

	store_filter_resolve(&query, &a->filter, help.name);
	query.model = model;
	query.n_most = a->last;
	if (sl_store_find(&runs, store, &query, &err)) {
		code = exit_for(help.name, &err);
	} else {
		code = output_write(&a->output, help.name, render_list, runs);
		sl_stored_runs_free(runs);
	}
	sl_store_close(store);
	return code;
}

int
cmd_show(char **argv)
{
	struct arguments a = {.last = 20};
	const struct option_group groups[] = {
		OPTION_GROUP(options, &a),
		store_filter_option_group(&a.filter),
		output_page_option_group(&a.output),
	};
	const char **words;
	size_t n;

	if (options_read_positional_names(&help, groups, 3, argv, &words, &n))
		return EXIT_DONE;
	if (n > 1)
		refuse(help.name,
		       "one result or model at a time; a second is "
		       "'%s'",
		       words[1]);
	output_check(&a.output, help.name);
	if (n && is_saved_word(words[0]))
		return show_one(&a, words[0]);
	return list(&a, n ? words[0] : NULL);
}
