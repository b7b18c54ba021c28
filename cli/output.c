/* SPDX-License-Identifier: Apache-2.0 */
/*
 * output.c - where a result goes: the screen and files.
 *
 * Files are rendered first and written whole; the screen comes last.  A path
 * that cannot be written is found before an hour of measuring, not after.
 */
#include "output.h"
#include "exit_code.h"
#include "tty.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define AT(field) offsetof(struct output, field)

static const struct option options[] = {
	{"json", 0, OPTION_MAYBE, AT(json), "FILE",
	 "JSON to FILE, or alone to standard output", 0, 0, 0},
	{"csv", 0, OPTION_TEXT, AT(csv), "FILE", "CSV to FILE", 0, 0, 0},
	{"md", 0, OPTION_TEXT, AT(markdown), "FILE", "Markdown to FILE", 0, 0,
	 0},
	{"color", 0, OPTION_TEXT, AT(color), "WHEN", "auto, always or never", 0,
	 0, 0},
	{"verbose", 'v', OPTION_FLAG, AT(verbose), NULL,
	 "everything, not one screen", 0, 0, 0},
	{"quiet", 'q', OPTION_FLAG, AT(quiet), NULL,
	 "nothing on the screen but errors", 0, 0, 0},
};

struct option_group
output_group(struct output *output)
{
	struct option_group group = {
		options, sizeof(options) / sizeof(options[0]), output};

	return group;
}

/* The folder must be writable (files are written beside their place), and so
 * must a file that exists.  "-" is standard output. */
static int
check_path(const char *command, const char *path)
{
	const char *slash = strrchr(path, '/');
	char *folder;
	struct stat known;
	int failed;

	if (!*path)
		return complain(command, EXIT_USAGE,
				"a file name for output is empty");
	if (strcmp(path, "-") == 0)
		return 0;
	if (stat(path, &known) == 0) {
		if (S_ISDIR(known.st_mode))
			return complain(command, EXIT_IO, "%s: is a folder",
					path);
		if (access(path, W_OK))
			return complain(command, EXIT_IO, "%s: %s", path,
					strerror(errno));
		if (!S_ISREG(known.st_mode))
			return 0;
	}
	if (!slash)
		folder = strdup(".");
	else
		folder = strndup(path,
				 slash == path ? 1 : (size_t)(slash - path));
	if (!folder)
		return complain(command, EXIT_NOMEM, "out of memory");
	failed = access(folder, W_OK | X_OK);
	if (failed)
		complain(command, EXIT_IO, "%s: %s", path, strerror(errno));
	free(folder);
	return failed ? EXIT_IO : 0;
}

/* Two outputs to one place would destroy each other. */
static int
check_distinct(const char *command, const char *const *paths, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		for (size_t k = i + 1; paths[i] && k < n; k++) {
			if (!paths[k] || strcmp(paths[i], paths[k]) != 0)
				continue;
			if (strcmp(paths[i], "-") == 0)
				return complain(command, EXIT_USAGE,
						"two outputs to standard "
						"output; name a file for one "
						"of them");
			return complain(command, EXIT_USAGE,
					"%s: named for two outputs", paths[i]);
		}
	}
	return 0;
}

static int
check_word(const char *command, const char *option, const char *word,
	   const char *const *allowed)
{
	char list[128] = "";

	if (!word)
		return 0;
	for (size_t i = 0; allowed[i]; i++) {
		if (strcmp(word, allowed[i]) == 0)
			return 0;
	}
	for (size_t i = 0; allowed[i]; i++) {
		size_t used = strlen(list);

		snprintf(list + used, sizeof(list) - used, "%s%s",
			 i ? ", " : "", allowed[i]);
	}
	return complain(command, EXIT_USAGE, "--%s %s: must be one of %s",
			option, word, list);
}

int
output_check(const struct output *output, const char *command)
{
	static const char *const colors[] = {"auto", "always", "never", NULL};
	static const char *const units[] = {"ns", "us", "ms", "s", NULL};
	static const char *const sorts[] = {"command", "mean-time", NULL};
	const char *paths[] = {output->csv,
			       output->markdown,
			       output->svg,
			       output->hyperfine,
			       output->own[0],
			       output->own[1],
			       output->json && !*output->json ? "-"
							      : output->json};
	int code;

	code = check_word(command, "color", output->color, colors);
	if (!code)
		code = check_word(command, "time-unit", output->unit, units);
	if (!code)
		code = check_word(command, "sort", output->sort, sorts);
	if (!code)
		code = check_distinct(command, paths,
				      sizeof(paths) / sizeof(*paths));
	for (size_t i = 0; !code && i < sizeof(paths) / sizeof(*paths); i++) {
		if (paths[i])
			code = check_path(command, paths[i]);
	}
	return code;
}

static int
wants_color(const struct output *output)
{
	if (output->color && strcmp(output->color, "always") == 0)
		return 1;
	if (output->color && strcmp(output->color, "never") == 0)
		return 0;
	return tty_wants_color();
}

struct job {
	const struct output *output;
	const char *command;
	render_function *render;
	const void *result;
};

int
output_write_own(const struct sl_buf *page, const char *command,
		 const char *path)
{
	struct sl_error err;

	if (strcmp(path, "-") != 0)
		return sl_buf_write(page, path, &err) ? exit_for(command, &err)
						      : 0;
	if (fwrite(page->data, 1, page->n_bytes, stdout) == page->n_bytes &&
	    !fflush(stdout))
		return 0;
	return complain(command, EXIT_IO, "standard output: %s",
			strerror(errno));
}

/* Renders in one format to a file, or to standard output for NULL. */
static int
write_format(const struct job *job, enum sl_format format, const char *path)
{
	struct sl_render_options how = {
		.struct_size = sizeof(how),
		.format = format,
		.n_columns = tty_columns(),
		.color = wants_color(job->output),
		.ascii = !tty_is_utf8(),
		.verbose = job->output->verbose,
		.command = job->command,
		.unit = job->output->unit,
		.sort = job->output->sort,
	};
	struct sl_buf page = {0};
	struct sl_error err;
	int code = 0;

	if (job->render(job->result, &how, &page, &err))
		code = exit_for(job->command, &err);
	else
		code = output_write_own(&page, job->command, path ? path : "-");
	sl_buf_release(&page);
	return code;
}

int
output_write(const struct output *output, const char *command,
	     render_function *render, const void *result)
{
	struct job job = {output, command, render, result};
	const struct {
		enum sl_format format;
		const char *path;
	} files[] = {
		{SL_FORMAT_CSV, output->csv},
		{SL_FORMAT_MARKDOWN, output->markdown},
		{SL_FORMAT_SVG, output->svg},
		{SL_FORMAT_HYPERFINE, output->hyperfine},
		{SL_FORMAT_JSON,
		 output->json && *output->json ? output->json : NULL},
	};
	int code = 0, is_taken = 0;

	for (size_t i = 0; i < sizeof(output->own) / sizeof(*output->own); i++)
		is_taken |= output->own[i] && !strcmp(output->own[i], "-");
	for (size_t i = 0; !code && i < sizeof(files) / sizeof(*files); i++) {
		if (!files[i].path)
			continue;
		is_taken |= strcmp(files[i].path, "-") == 0;
		code = write_format(&job, files[i].format, files[i].path);
	}
	if (code)
		return code;
	if (output->json && !*output->json)
		return write_format(&job, SL_FORMAT_JSON, NULL);
	if (output->quiet || is_taken)
		return 0;
	return write_format(&job, SL_FORMAT_TEXT, NULL);
}
