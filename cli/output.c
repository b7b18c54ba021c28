/* SPDX-License-Identifier: Apache-2.0 */
/*
 * output.c - where a result goes: the screen and files.
 *
 * Files are rendered first and written whole; the screen comes last.  A path
 * that cannot be written is found before an hour of measuring, not after.
 */
#include "output.h"
#include "commands.h"
#include "error_json.h"
#include "exit_code.h"
#include "model_options.h"
#include "tty.h"

#include <errno.h>
#include <fcntl.h>
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
	{"html", 0, OPTION_TEXT, AT(html), "FILE",
	 "one page for a browser to FILE", 0, 0, 0},
	{"figures", 0, OPTION_TEXT, AT(figures), "DIR",
	 "each figure as SVG into DIR; Markdown links to them", 0, 0, 0},
	{"md", 0, OPTION_TEXT, AT(markdown), "FILE", "Markdown to FILE", 0, 0,
	 0},
	{"color", 0, OPTION_TEXT, AT(color), "WHEN", "auto, always or never", 0,
	 0, 0},
	{"plain", 0, OPTION_FLAG, AT(plain), NULL,
	 "for logs: ASCII, no colours, 120 columns, progress as lines", 0, 0,
	 0},
	{"verbose", 'v', OPTION_FLAG, AT(verbose), NULL,
	 "everything, not one screen", 0, 0, 0},
	{"quiet", 'q', OPTION_FLAG, AT(quiet), NULL,
	 "nothing on the screen but errors", 0, 0, 0},
	{"save", 0, OPTION_FLAG, AT(store.save), NULL,
	 "keep the result in the store; prints its run:N", 0, 0, 0},
	{"db", 0, OPTION_TEXT, AT(store.db), "URL",
	 "the store: a file, or postgresql://HOST/NAME", 0, 0, 0},
	{"tag", 0, OPTION_WORDS, AT(store.tags), "NAME=VALUE",
	 "a label to find it by; may be repeated", 0, 0, 1},
};
enum { N_SAVING = 3 }; /* the last of them */

struct option_group
output_option_group(struct output *output)
{
	return OPTION_GROUP(options, output);
}

struct option_group
output_page_option_group(struct output *output)
{
	struct option_group all = output_option_group(output);

	all.n -= N_SAVING;
	return all;
}

/* The folder must be writable (files are written beside their place), and so
 * must a file that exists.  "-" is standard output. */
static void
check_path(const char *command, const char *path)
{
	const char *slash = strrchr(path, '/');
	size_t n_folder = slash == path ? 1
			  : slash       ? (size_t)(slash - path)
					: 0;
	char *folder = must_alloc(n_folder + 2, 1);
	struct stat known;

	if (!*path)
		refuse(command, "a file name for output is empty");
	if (strcmp(path, "-") == 0)
		return;
	memcpy(folder, slash ? path : ".", slash ? n_folder : 1);
	if (stat(path, &known) == 0) {
		if (S_ISDIR(known.st_mode))
			exit(complain(command, EXIT_IO, "%s: is a folder",
				      path));
		if (access(path, W_OK))
			exit(complain(command, EXIT_IO, "%s: %s", path,
				      strerror(errno)));
		if (!S_ISREG(known.st_mode))
			return;
	}
	if (access(folder, W_OK | X_OK))
		exit(complain(command, EXIT_IO, "%s: %s", path,
			      strerror(errno)));
}

/* Two outputs to one place would destroy each other. */
static void
check_distinct(const char *command, const char *const *paths, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		for (size_t k = i + 1; paths[i] && k < n; k++) {
			if (!paths[k] || strcmp(paths[i], paths[k]) != 0)
				continue;
			if (strcmp(paths[i], "-") == 0)
				refuse(command,
				       "two outputs to standard output; name a "
				       "file for one of them");
			refuse(command, "%s: named for two outputs", paths[i]);
		}
	}
}

enum { N_PATHS = 7 + N_HYPERFINE, FOLDER_MOST = 3900 };

/* Where results go: files, "-" for standard output, NULL where not asked. */
static void
list_paths(const char *out[N_PATHS], const struct output *output)
{
	const char *const json = output->json;

	out[0] = output->csv;
	out[1] = output->markdown;
	out[2] = output->svg;
	out[3] = output->own[0];
	out[4] = output->own[1];
	out[5] = json && !*json ? "-" : json;
	out[6] = output->html;
	memcpy(out + 7, output->hyperfine, sizeof(output->hyperfine));
}

int
output_takes_stdout(const struct output *output)
{
	const char *paths[N_PATHS];
	int is_taken = 0;

	list_paths(paths, output);
	for (size_t i = 0; i < N_PATHS; i++)
		is_taken |= paths[i] && strcmp(paths[i], "-") == 0;
	return is_taken;
}

static int document = -1; /* standard output, while it is set aside */

static int
is_asked(const char *variable)
{
	const char *value = getenv(variable);

	return value && *value && strcmp(value, "0") != 0;
}

/*
 * Where the environment asks oneDNN to say what it does, it does so on standard
 * output.  Until a document is written there, that leads to standard error.
 */
static void
set_stdout_aside(void)
{
	if (document >= 0 ||
	    (!is_asked("ONEDNN_VERBOSE") && !is_asked("DNNL_VERBOSE")))
		return;
	document = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	if (document >= 0)
		(void)dup2(STDERR_FILENO, STDOUT_FILENO);
}

void
output_restore_stdout(void)
{
	if (document < 0)
		return;
	(void)fflush(stdout);
	(void)dup2(document, STDOUT_FILENO);
	close(document);
	document = -1;
}

void
output_check(const struct output *output, const char *command)
{
	static const char *const colors[] = {"auto", "always", "never", NULL};
	enum { ALWAYS = 1 };
	static const char *const units[] = {"ns", "us", "ms", "s", NULL};
	static const char *const sorts[] = {"command", "mean-time", NULL};
	const char *paths[N_PATHS];

	list_paths(paths, output);
	if (read_choice(command, "color", output->color, colors) == ALWAYS &&
	    output->plain)
		refuse(command, "--plain has no colours; leave out one of "
				"--plain and --color always");
	if (output->plain)
		tty_be_plain();
	read_choice(command, "time-unit", output->unit, units);
	read_choice(command, "sort", output->sort, sorts);
	check_distinct(command, paths, N_PATHS);
	for (size_t i = 0; i < N_PATHS; i++) {
		if (paths[i])
			check_path(command, paths[i]);
	}
	save_check(&output->store, command);
	if (output->figures && strlen(output->figures) > FOLDER_MOST)
		refuse(command,
		       "--figures: the name of the folder is too long");
	if (output->figures && !*output->figures)
		refuse(command, "--figures: the name of the folder is empty");
	if (output_takes_stdout(output))
		set_stdout_aside();
}

static int
wants_color(const struct output *output)
{
	if (!output->color || strcmp(output->color, "auto") == 0)
		return tty_wants_color();
	return strcmp(output->color, "always") == 0;
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
	output_restore_stdout();
	if (fwrite(page->data, 1, page->n_bytes, stdout) == page->n_bytes &&
	    !fflush(stdout))
		return 0;
	return complain(command, EXIT_IO, "standard output: %s",
			strerror(errno));
}

/* What this machine is; NULL where that cannot be read. */
static const char *
host_name(void)
{
	static struct sl_buf name;
	struct sl_error err;

	if (!name.n_bytes && sl_machine_append_name(&name, &err))
		return NULL;
	return name.data;
}

static int
render_page(struct sl_buf *page, const struct job *job, enum sl_format format)
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
		.figures_folder = job->output->figures,
		.command_line = command_line_given(),
		.host = host_name(),
	};
	struct sl_error err;

	return job->render(job->result, &how, page, &err)
		       ? exit_for(job->command, &err)
		       : 0;
}

static enum sl_status
render_saved(const void *result, const struct sl_render_options *how,
	     struct sl_buf *out, struct sl_error *err)
{
	const struct sl_result *saved = result;

	return sl_result_render(saved, how, out, err);
}

/* A page shows what the document in it says, to the last digit: nanoseconds
 * that were written as milliseconds are others in the last bit. */
static int
render_document(struct sl_buf *page, const struct job *job)
{
	struct sl_buf json = {0};
	struct sl_result *saved = NULL;
	struct sl_error err;
	int code = render_page(&json, job, SL_FORMAT_JSON);

	if (!code &&
	    sl_result_read(&saved, json.data, json.n_bytes, NULL, &err))
		code = exit_for(job->command, &err);
	if (!code) {
		const struct job again = {job->output, job->command,
					  render_saved, saved};

		code = render_page(page, &again, SL_FORMAT_HTML);
	}
	sl_result_free(saved);
	sl_buf_release(&json);
	return code;
}

/* Renders in one format to a file, or to standard output for NULL. */
static int
write_format(const struct job *job, enum sl_format format, const char *path)
{
	struct sl_buf page = {0};
	int code = format == SL_FORMAT_HTML ? render_document(&page, job)
					    : render_page(&page, job, format);

	if (!code)
		code = output_write_own(&page, job->command, path ? path : "-");
	if (!code && format == SL_FORMAT_JSON)
		error_json_cancel();
	sl_buf_release(&page);
	return code;
}

static int
save(const struct job *job)
{
	const struct output *output = job->output;
	int is_bare = output->quiet && !output_takes_stdout(output);
	struct sl_buf json = {0};
	int code = render_page(&json, job, SL_FORMAT_JSON);

	if (!code)
		code = save_document(&output->store, job->command, &json,
				     is_bare);
	sl_buf_release(&json);
	return code;
}

/* The screen, or standard output of another program. */
static int
write_screen(const struct job *job)
{
	const struct output *output = job->output;

	if (output->json && !*output->json)
		return write_format(job, SL_FORMAT_JSON, NULL);
	if (output->quiet || output_takes_stdout(output))
		return 0;
	return write_format(job, SL_FORMAT_TEXT, NULL);
}

static enum sl_status
write_figure(void *folder, const char *name, const struct sl_buf *svg,
	     struct sl_error *err)
{
	char path[FOLDER_MOST + 128]; /* names of figures are short */

	snprintf(path, sizeof(path), "%s/%s.svg", (const char *)folder, name);
	return sl_buf_write(svg, path, err);
}

/* Every figure of the result as a file. */
static int
write_figures(const struct job *job, const char *folder)
{
	char name[FOLDER_MOST + 1];
	struct sl_render_options how = {.struct_size = sizeof(how),
					.format = SL_FORMAT_SVG,
					.command = job->command,
					.figure = write_figure,
					.figure_ctx = name};
	struct sl_buf none = {0};
	struct sl_error err = {0};
	int code = 0;

	snprintf(name, sizeof(name), "%s", folder);
	if (mkdir(folder, 0777) && errno != EEXIST)
		return complain(job->command, EXIT_IO, "%s: %s", folder,
				strerror(errno));
	if (job->render(job->result, &how, &none, &err))
		code = exit_for(job->command, &err);
	sl_buf_release(&none);
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
		{SL_FORMAT_HTML, output->html},
		{SL_FORMAT_HYPERFINE, output->hyperfine[OUTPUT_JSON]},
		{SL_FORMAT_HYPERFINE_CSV, output->hyperfine[OUTPUT_CSV]},
		{SL_FORMAT_HYPERFINE_MARKDOWN,
		 output->hyperfine[OUTPUT_MARKDOWN]},
		{SL_FORMAT_HYPERFINE_ASCIIDOC,
		 output->hyperfine[OUTPUT_ASCIIDOC]},
		{SL_FORMAT_HYPERFINE_ORGMODE,
		 output->hyperfine[OUTPUT_ORGMODE]},
		{SL_FORMAT_JSON,
		 output->json && *output->json ? output->json : NULL},
	};
	int code = 0;

	tty_clear_progress();
	if (!output->quiet)
		model_remarks(command);
	for (size_t i = 0; !code && i < sizeof(files) / sizeof(*files); i++) {
		if (!files[i].path)
			continue;
		code = write_format(&job, files[i].format, files[i].path);
	}
	if (!code)
		code = write_screen(&job);
	/* Last: a result without figures is shown and kept all the same. */
	if (output->store.save) {
		int saved = save(&job);

		code = code ? code : saved;
	}
	return !code && output->figures ? write_figures(&job, output->figures)
					: code;
}
