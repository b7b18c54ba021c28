/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_serve.c - `sleuth serve`: the store as a site on this machine. */
#include "commands.h"
#include "exit_code.h"
#include "options.h"
#include "tty.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct command_help help = {
	"serve", "[options]",
	"Serves the results that --save has kept, until Ctrl-C, to browsers "
	"and "
	"programs\nof this machine: pages, JSON under /api/, figures for "
	"Prometheus at /metrics.\nNobody can change anything without the "
	"--token, whose holder may tag, pin and\ndelete results and move the "
	"baseline.",
	"  sleuth serve --port 8080\n"
	"  sleuth serve --db copy.db",
	NULL};

struct arguments {
	const char *db, *address, *token, *token_file;
	size_t port;
	int quiet;
};

#define AT(field) offsetof(struct arguments, field)

static const struct option options[] = {
	{"port", 0, OPTION_COUNT, AT(port), "N",
	 "where to listen (8321); 0: a free port", 0, 65535, 0},
	{"bind", 0, OPTION_TEXT, AT(address), "ADDRESS",
	 "address to listen on (127.0.0.1); 0.0.0.0: all", 0, 0, 0},
	{"db", 0, OPTION_TEXT, AT(db), "URL",
	 "the store: a file, or postgresql://HOST/NAME", 0, 0, 0},
	{"token", 0, OPTION_TEXT, AT(token), "TOKEN",
	 "who sends it may change things ($SLEUTH_TOKEN)", 0, 0, 0},
	{"token-file", 0, OPTION_TEXT, AT(token_file), "FILE",
	 "the token is the first line of FILE", 0, 0, 0},
	{"quiet", 'q', OPTION_FLAG, AT(quiet), NULL,
	 "nothing on the screen but errors", 0, 0, 0},
};

/* A line of a file, so that no list of processes shows it. */
static const char *
read_token(const char *path)
{
	static char line[4096];
	FILE *file = fopen(path, "r");
	int is_read = file && fgets(line, sizeof(line), file);

	if (!is_read)
		exit(complain(help.name, EXIT_IO, "%s: %s", path,
			      file ? "no token in it" : strerror(errno)));
	fclose(file);
	line[strcspn(line, "\r\n")] = '\0';
	return line;
}

static const char *
find_token(const struct arguments *a)
{
	const char *token = getenv("SLEUTH_TOKEN");

	if (a->token && a->token_file)
		refuse(help.name, "--token or --token-file, not both");
	if (a->token_file)
		return read_token(a->token_file);
	if (a->token)
		return a->token;
	return token && *token ? token : NULL;
}

static void
say_ready(const char *url, void *ctx)
{
	const struct arguments *a = ctx;

	if (a->quiet)
		return;
	printf("%s  (Ctrl-C ends)\n", url);
	fflush(stdout);
}

int
cmd_serve(char **argv)
{
	struct arguments a = {.port = 8321};
	const struct option_group groups[] = {OPTION_GROUP(options, &a)};
	struct sl_error err;

	if (options_read_only(&help, groups, 1, argv))
		return EXIT_DONE;
	if (a.db && !*a.db)
		refuse(help.name, "--db is empty");
	if (sl_serve(
		    &(struct sl_serve_options){
			    .struct_size = sizeof(struct sl_serve_options),
			    .where = a.db,
			    .address = a.address,
			    .port = (unsigned)a.port,
			    .token = find_token(&a),
			    .ready = say_ready,
			    .ready_ctx = &a,
			    .interrupt = tty_catch_interrupt()},
		    &err))
		return exit_for(help.name, &err);
	return EXIT_FINE;
}
