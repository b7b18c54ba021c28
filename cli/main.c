/* SPDX-License-Identifier: Apache-2.0 */
/* main.c - the program: finds the command and runs it. */
#include "commands.h"
#include "cut_file.h"
#include "error_json.h"
#include "exit_code.h"
#include "model_folder.h"
#include "options.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { NAME_MOST = 64 };

/* The command line as it was given, to be shown with what it lacks. */
static char **given;

const struct command *
all_commands(void)
{
	static const struct command commands[] = {
		{"inspect", cmd_inspect,
		 "what a model holds, computes and needs; runs nothing"},
		{"run", cmd_run, "run a model once, check what comes out"},
		{"profile", cmd_profile,
		 "how long, where, why, and what would help; runs a model"},
		{"watch", cmd_watch,
		 "a short profile over and over, and what moves"},
		{"eval", cmd_eval, "accuracy on a data set, with its interval"},
		{"sweep", cmd_sweep,
		 "over batch, sequence, threads or width: what grows how"},
		{"generate", cmd_generate,
		 "a decoder's token loop, with and without cache"},
		{"load", cmd_load,
		 "a model under load: does a latency limit hold?"},
		{"microbench", cmd_microbench,
		 "one operation over sizes, and what bounds it"},
		{"overhead", cmd_overhead, "what observing a model costs"},
		{"train", cmd_train, "train a model on data and save it"},
		{"fit", cmd_fit, "the largest batch or sequence that fits"},
		{"optimize", cmd_optimize,
		 "what changes of a model are worth; writes the model"},
		{"extract", cmd_extract, "one layer as a model of its own"},
		{"zoo", cmd_zoo, "the built-in models; writes them as ONNX"},
		{"bench", cmd_bench, "time commands, and say which is faster"},
		{"compare", cmd_compare, "is B slower than A, or is it noise?"},
		{"report", cmd_report, "render a saved result again"},
		{"show", cmd_show, "results kept with --save: all, or one"},
		{"history", cmd_history,
		 "times of a model over the results kept, and their changes"},
		{"gate", cmd_gate,
		 "a result against a baseline, within limits: for CI"},
		{"suite", cmd_suite,
		 "a described set of benchmarks, one interleaved run"},
		{"serve", cmd_serve,
		 "results kept with --save as a site on this machine"},
		{"store", cmd_store,
		 "export, import and delete results kept with --save"},
		{"machine", cmd_machine, "what this computer can do, measured"},
		{"selfcheck", cmd_selfcheck,
		 "Sleuth's own error rates on this machine"},
		{"help", cmd_help, "this page, or a command's"},
		{NULL, NULL, NULL},
	};

	return commands;
}

/* A word that may be shown: a URL with a user, and perhaps a password, is its
 * scheme alone. */
static const char *
shown_word(const char *word)
{
	const char *user = strstr(word, "://");

	if (!user || !strchr(user, '@'))
		return word;
	return strncmp(word, "--db=", 5) == 0 ? "--db=URL" : "URL";
}

/* The words given, with 'more' after the first 'n_before' or, where that is
 * SIZE_MAX, at the end of the options.  "" for want of memory. */
static const char *
command_with(const char *const *more, size_t n_more, size_t n_before)
{
	static struct sl_buf line;
	enum sl_status rc;
	size_t n = 0;

	sl_buf_release(&line);
	while (given[n] && n < n_before && strcmp(given[n], "--"))
		n++;
	rc = sl_buf_add_word(&line, "sleuth", NULL);
	for (size_t i = 1; !rc && i < n; i++)
		rc = sl_buf_add_word(&line, shown_word(given[i]), NULL);
	for (size_t i = 0; !rc && i < n_more; i++)
		rc = sl_buf_add_word(&line, more[i], NULL);
	for (size_t i = n; !rc && given[i]; i++)
		rc = sl_buf_add_word(&line, shown_word(given[i]), NULL);
	if (rc)
		return "";
	sl_text_sanitize(line.data);
	return line.data;
}

const char *
command_line_given(void)
{
	return command_with(NULL, 0, SIZE_MAX);
}

/* The user's command line with lines for a shell in the place of commands of
 * one word each after '--'; NULL where a command has several. */
static const char *
command_of_lines(void)
{
	static struct sl_buf line;
	int is_after = 0;

	for (size_t i = 1; given[i]; i++) {
		int is_dashes = !strcmp(given[i], "--");

		if (is_after && !is_dashes && given[i + 1] &&
		    strcmp(given[i + 1], "--"))
			return NULL;
		is_after |= is_dashes;
	}
	if (sl_buf_add_word(&line, "sleuth", NULL))
		return NULL;
	for (size_t i = 1; given[i]; i++) {
		if (strcmp(given[i], "--") != 0 &&
		    sl_buf_add_word(&line, shown_word(given[i]), NULL))
			return NULL;
	}
	sl_text_sanitize(line.data);
	return line.data;
}

/* Whether a word that is no command is a model that there is. */
static int
is_model(const char *word)
{
	const struct sl_zoo_entry *e = sl_zoo();
	size_t n = strcspn(word, ":");

	while (e->name &&
	       (strncmp(e->name, word, n) || (e->name[n] && e->name[n] != ':')))
		e++;
	return e->name || strstr(word, ".onnx") || model_in_folder(word);
}

const struct command *
find_command(const char *name)
{
	static const char *const profile[] = {"profile"};
	const struct command *all = all_commands();
	const char *near = NULL;

	for (; all->name; all++) {
		if (strcmp(all->name, name) == 0)
			return all;
		near = sl_text_nearer(name, near, all->name);
	}
	if (is_model(name))
		complain(NULL, EXIT_USAGE,
			 "'%s' is a model, not a command; try: %s", name,
			 command_with(profile, 1, 1));
	else if (near)
		complain(NULL, EXIT_USAGE,
			 "unknown command '%s'; did you mean '%s'?", name,
			 near);
	else
		complain(NULL, EXIT_USAGE,
			 "unknown command '%s'; see 'sleuth help'", name);
	return NULL;
}

int
exit_for(const char *command, const struct sl_error *err)
{
	return exit_for_model(command, NULL, err);
}

/* What follows the text of an error; of sizes see suggest_sizes(). */
static const char *
hint_text(const struct sl_error *err)
{
	switch (err->hint) {
	case SL_HINT_SIZE_OR_DIM:
		return " for --dim";
	case SL_HINT_BATCH:
		return ": --batch cannot change it";
	case SL_HINT_MODELS:
		return "; see 'sleuth zoo'";
	case SL_HINT_LAYERS:
		return "; 'sleuth inspect -v' lists them";
	case SL_HINT_FAILURE:
		return "; ignore failures with -i";
	case SL_HINT_WORDS:
		return "; a command with arguments goes in quotes, or after --";
	case SL_HINT_LINE:
		return "; a whole line goes to a shell without '--'";
	case SL_HINT_MISSING:
	case SL_HINT_NONE:
	case SL_HINT_SIZE:
		break;
	}
	return "";
}

/* The command line with what it lacks: the data that lie beside the model, or
 * an option for each size. */
static const char *
suggest_sizes(const char *command, const char *model,
	      const struct sl_error *err)
{
	const char *words[2 * SL_MISSING_MOST] = {"--inputs"};
	char texts[SL_MISSING_MOST][NAME_MOST + 8];
	const char *folder = model_test_data(model);

	/* Data have one batch: fit would find that. */
	if (folder && strcmp(command, "fit") != 0) {
		words[1] = folder;
		return command_with(words, 2, SIZE_MAX);
	}
	for (size_t i = 0; i < err->n_missing; i++) {
		const struct sl_missing_size *m = &err->missing[i];

		words[2 * i] = *m->dim ? "--dim" : "--shape";
		snprintf(texts[i], sizeof(texts[i]),
			 *m->dim ? "%s=N" : "%s=N,...",
			 *m->dim ? m->dim : m->input);
		words[2 * i + 1] = texts[i];
	}
	return command_with(words, 2 * err->n_missing, SIZE_MAX);
}

static const struct {
	enum sl_status status;
	int code;
} codes[] = {
	{SL_E_NOMEM, EXIT_NOMEM},
	{SL_E_USAGE, EXIT_USAGE},
	{SL_E_DATA, EXIT_DATA},
	{SL_E_ABSENT, EXIT_ABSENT},
	{SL_E_IO, EXIT_IO},
	{SL_E_MEASURE, EXIT_INVALID},
	{SL_E_INTERRUPTED, EXIT_INTERRUPTED},
};

enum sl_status
status_of_exit_code(int code)
{
	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
		if (codes[i].code == code)
			return codes[i].status;
	}
	return SL_E_BUG;
}

int
exit_for_model(const char *command, const char *model,
	       const struct sl_error *err)
{
	/* What was said of sizes was said as an option. */
	int is_option = err->hint == SL_HINT_SIZE ||
			err->hint == SL_HINT_SIZE_OR_DIM;
	const char *dashes = is_option ? "--" : "";
	const char *hint = NULL;
	int code = EXIT_BUG;

	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
		if (codes[i].status == err->status)
			code = codes[i].code;
	}
	if (!model || err->status == SL_E_NOMEM)
		model = "";
	if (err->hint == SL_HINT_MISSING)
		hint = suggest_sizes(command, model, err);
	if (err->hint == SL_HINT_LINE)
		hint = command_of_lines();
	error_json_set_hint(hint);
	complain(command, code, "%s%s%s%s%s", model, *model ? ": " : "", dashes,
		 err->text, hint_text(err));
	if (hint)
		fprintf(stderr, "  try: %s\n", hint);
	for (const char *line = err->stderr_tail; *line;) {
		size_t n = strcspn(line, "\n");

		fprintf(stderr, "  %.*s\n", (int)n, line);
		line += n + (line[n] == '\n');
	}
	return code;
}

static int
print_version(void)
{
	struct sl_buf build = {0};
	struct sl_error err;

	if (sl_build_text(&build, &err))
		return exit_for(NULL, &err);
	printf("sleuth %s\n%s", sl_version(), build.data);
	sl_buf_release(&build);
	return fflush(stdout) ? EXIT_IO : EXIT_FINE;
}

int
exit_unless_stopped(int code, enum sl_stop stopped_by)
{
	return !code && stopped_by == SL_STOP_INTERRUPT ? EXIT_INTERRUPTED
							: code;
}

int
main(int argc, char **argv)
{
	const struct command *command;
	int code;

	/* A file over the size limit is an error of write(), not a death. */
	signal(SIGXFSZ, SIG_IGN);
	cut_file_catch();
	if (argc < 2) {
		char *help[] = {(char[]){"help"}, NULL};

		cmd_help(help);
		return EXIT_USAGE;
	}
	given = argv;
	error_json_if_asked(argv);
	if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0)
		return print_version();
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
		command = find_command("help");
	else if (argv[1][0] == '-')
		return complain(NULL, EXIT_USAGE,
				"options come after a command; see 'sleuth "
				"help'");
	else
		command = find_command(argv[1]);
	if (!command)
		return EXIT_USAGE;
	code = command->run(argv + 1);
	if (code == EXIT_DONE)
		code = EXIT_FINE;
	if (fflush(stdout) && code == EXIT_FINE)
		code = complain(NULL, EXIT_IO, "standard output: %s",
				strerror(errno));
	return code;
}
