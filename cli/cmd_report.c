/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_report.c - `sleuth report`: a saved result, rendered again. */
#include "commands.h"
#include "exit_code.h"
#include "options.h"
#include "output.h"

static const struct command_help help = {
	"report", "FILE | run:N [options]",
	"Renders a result that another command wrote with --json or --html, or "
	"kept with\n--save: on the screen, as a page for a browser, as CSV, as "
	"Markdown, or as the same\nJSON again. Nothing is run or measured, and "
	"the page is the same on every "
	"machine.",
	"  sleuth bench --json=sleep.json -- sleep 0.1\n"
	"  sleuth report sleep.json\n"
	"  sleuth report sleep.json --md sleep.md\n"
	"  sleuth report sleep.json --html sleep.html",
	NULL};

static const struct option options[] = {
	{"db", 0, OPTION_TEXT, 0, "URL",
	 "the store of run:N: a file, or postgresql://HOST/NAME", 0, 0, 0},
};

RENDER_WITH(sl_result_render)

int
cmd_report(char **argv)
{
	struct output output = {0};
	const char *db = NULL;
	const struct option_group groups[] = {
		OPTION_GROUP(options, &db),
		output_page_option_group(&output),
	};
	struct sl_result *result;
	struct sl_error err;
	const char **words;
	size_t n_words;
	int code;

	if (options_read(&help, groups, 2, argv, &words, &n_words))
		return EXIT_DONE;
	if (n_words > 1)
		refuse(help.name, "one file at a time; a second is '%s'",
		       words[1]);
	if (!n_words)
		refuse(help.name,
		       "name a file that a command wrote with --json=FILE or "
		       "--html=FILE, or run:N");
	output_check(&output, help.name);
	if (saved_open(&result, words[0], db, help.name, &err))
		return exit_for(help.name, &err);
	code = output_write(&output, help.name, render, result);
	sl_result_free(result);
	return code;
}
