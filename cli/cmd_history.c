/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_history.c - `sleuth history`: a model over the results that are kept. */
#include "bisect.h"
#include "commands.h"
#include "exit_code.h"
#include "output.h"
#include "save.h"
#include "store_filter.h"

#include <stdlib.h>

static const struct command_help help = {
	"history", "[MODEL] [options]",
	"Draws the times of a model, or of a command that bench timed, over "
	"the results\nthat --save has kept, and names the first commit after "
	"each lasting change. Each\nmachine, and each batch, type and number "
	"of threads, is a series of its own.\nWithout MODEL, of all results "
	"that match the options.\n\n--confirm measures a command at the two "
	"commits of the newest change, each in a\nworktree of its own; "
	"--bisect looks for the commit that made it slower.",
	"  sleuth profile mlp:784-256-10 --brief --save\n"
	"  sleuth history mlp:784-256-10\n"
	"  sleuth history --branch main --json",
	NULL};

struct arguments {
	struct store_filter filter;
	struct output output;
	size_t last;
	const char *bisect, *confirm, *build, *good, *bad;
	double time_s;
};

#define AT(field) offsetof(struct arguments, field)

static const struct option options[] = {
	{"last", 0, OPTION_COUNT, AT(last), "N", "the newest N results (1000)",
	 1, 1e9, 0},
	{"bisect", 0, OPTION_TEXT, AT(bisect), "CMD",
	 "find the commit that made this shell line slower", 0, 0, 0},
	{"confirm", 0, OPTION_TEXT, AT(confirm), "CMD",
	 "measure this shell line before and after the change", 0, 0, 0},
	{"build", 0, OPTION_TEXT, AT(build), "CMD",
	 "builds a checkout, before CMD is measured there", 0, 0, 0},
	{"good", 0, OPTION_TEXT, AT(good), "COMMIT",
	 "the commit before (that of the newest change)", 0, 0, 0},
	{"bad", 0, OPTION_TEXT, AT(bad), "COMMIT", "the commit after, likewise",
	 0, 0, 0},
	{"time", 0, OPTION_SECONDS, AT(time_s), "SECONDS",
	 "of measuring two commits (30)", 0.001, 1e6, 0},
};

RENDER_WITH(sl_history_render)

/* The commits of the newest change, where they are not said. */
static void
find_commits(struct arguments *a, const struct sl_history *history)
{
	const struct sl_history_change *newest = NULL;

	for (size_t i = 0; i < history->n_changes; i++) {
		const struct sl_history_change *c = &history->changes[i];

		if (c->commit && c->commit_before &&
		    (!newest || c->run > newest->run))
			newest = c;
	}
	if (!newest)
		exit(complain(help.name, EXIT_UNDECIDED,
			      "no change between two commits was found; --good "
			      "and --bad name them"));
	if (!a->good)
		a->good = newest->commit_before;
	if (!a->bad)
		a->bad = newest->commit;
}

static int
measure_commits(const struct arguments *a)
{
	const struct bisect how = {.command = help.name,
				   .line = a->bisect ? a->bisect : a->confirm,
				   .build = a->build,
				   .good = a->good,
				   .bad = a->bad,
				   .time_s = a->time_s > 0 ? a->time_s : 30,
				   .is_quiet = a->output.quiet};

	return a->bisect ? bisect_find(&how) : bisect_confirm(&how);
}

static void
check(const struct arguments *a)
{
	if (a->bisect && a->confirm)
		refuse(help.name, "--bisect or --confirm, not both");
	if (!a->bisect && !a->confirm &&
	    (a->build || a->good || a->bad || a->time_s > 0))
		refuse(help.name, "--%s goes with --bisect or --confirm",
		       a->build  ? "build"
		       : a->good ? "good"
		       : a->bad  ? "bad"
				 : "time");
	if ((a->bisect || a->confirm) &&
	    (a->output.json || a->output.csv || a->output.markdown ||
	     a->output.html || a->output.figures))
		refuse(help.name, "commits that are measured are shown on the "
				  "screen alone");
}

int
cmd_history(char **argv)
{
	struct arguments a = {.last = 1000};
	const struct option_group groups[] = {
		OPTION_GROUP(options, &a),
		store_filter_option_group(&a.filter),
		output_page_option_group(&a.output),
	};
	struct sl_store_query query;
	struct sl_history *history;
	struct sl_store *store;
	const char **words;
	struct sl_error err;
	size_t n;
	int code;

	if (options_read_positional_names(&help, groups, 3, argv, &words, &n))
		return EXIT_DONE;
	if (n > 1)
		refuse(help.name, "one model at a time; a second is '%s'",
		       words[1]);
	check(&a);
	if (a.good && a.bad)
		return measure_commits(&a);
	output_check(&a.output, help.name);
	store_filter_resolve(&query, &a.filter, help.name);
	query.model = n ? words[0] : NULL;
	query.n_most = a.last;
	store = store_open(a.filter.db, 1, help.name);
	if (sl_history_of(&history, store, &query, &err)) {
		code = exit_for(help.name, &err);
	} else if (a.bisect || a.confirm) {
		find_commits(&a, history);
		code = measure_commits(&a);
		sl_history_free(history);
	} else {
		code = output_write(&a.output, help.name, render, history);
		sl_history_free(history);
	}
	sl_store_close(store);
	return code;
}
