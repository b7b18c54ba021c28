/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_report.c - `sleuth report`: a saved result, rendered again. */
#include "commands.h"
#include "exit_code.h"
#include "options.h"
#include "output.h"

static const struct command_help help = {
	"report", "FILE.json [options]",
	"Renders a result that another command wrote with --json: as a page, "
	"as CSV, as\nMarkdown, or as the same JSON again. Nothing is run or "
	"measured, and the page is\nthe same on every machine.",
	"  sleuth bench --json=sleep.json -- sleep 0.1\n"
	"  sleuth report sleep.json\n"
	"  sleuth report sleep.json --md sleep.md"};

static enum sl_status
render(const void *result, const struct sl_render_options *how,
       struct sl_buf *out, struct sl_error *err)
{
	return sl_result_render(result, how, out, err);
}

int
cmd_report(char **argv)
{
	struct output output = {0};
	const struct option_group groups[] = {output_group(&output)};
	struct sl_result *result;
	struct sl_error err;
	const char **words;
	size_t n_words;
	int code = options_read(&help, groups, 1, argv, &words, &n_words);

	if (code)
		return code;
	if (n_words != 1)
		return complain(help.name, EXIT_USAGE,
				n_words ? "one file at a time; a second is "
					  "'%s'"
					: "name a file that a command wrote "
					  "with --json=FILE",
				n_words ? words[1] : "");
	code = output_check(&output, help.name);
	if (code)
		return code;
	if (sl_result_open(&result, words[0], &err))
		return exit_for(help.name, &err);
	code = output_write(&output, help.name, render, result);
	sl_result_free(result);
	return code;
}
