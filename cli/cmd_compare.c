/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_compare.c - `sleuth compare`: is B slower than A, or is it noise? */
#include "bench_run.h"
#include "commands.h"
#include "exit_code.h"
#include "gate.h"
#include "model_compare.h"
#include "save.h"

#include <stdio.h>
#include <string.h>

static const struct command_help help = {
	"compare", "[options] -- CMD A... -- CMD B...",
	"Runs A and B in pairs, in an order decided by a coin, until B is "
	"proved faster\nthan A, slower, or the same within the margin. "
	"Looking after every pair does not\nspoil the error rate (5 %).\n\n"
	"Exits 0 when B is proved not to be slower by more than the margin, 1 "
	"when it is\nproved to be, 2 when the time ran out before either, 3 "
	"when a command failed.",
	"  sleuth compare -- ./old -- ./new\n"
	"  sleuth compare --margin 0 --time 30 -- gzip -c f -- zstd -c f",
	NULL};

static void
check(struct bench_arguments *a, size_t n_commands)
{
	(void)a;
	if (n_commands != 2)
		refuse(help.name,
		       "%zu command%s given, two needed: 'sleuth compare -- A "
		       "-- B'",
		       n_commands, n_commands == 1 ? "" : "s");
}

/* Whether what is compared are commands: these come after '--', or as lines
 * for a shell. */
static int
names_commands(char **argv)
{
	static const char *const marks[] = {"--shell", "--with-shell", "-S",
					    "--separator"};

	for (char **word = argv + 1; *word; word++) {
		if (strcmp(*word, "--") == 0)
			return 1;
		for (size_t i = 0; i < sizeof(marks) / sizeof(*marks); i++) {
			if (strncmp(*word, marks[i], strlen(marks[i])) == 0)
				return 1;
		}
	}
	return 0;
}

static int
compare_commands(char **argv)
{
	struct bench_arguments a = {
		.margin = 0.01,
		.bench = {.until = SL_UNTIL_VERDICT, .time_s = 10}};
	struct option_group none = {NULL, 0, NULL};
	struct sl_bench *bench;
	int code;

	code = bench_run(&help, &a, &none, argv, check, &bench);
	if (!code)
		code = gate_verdict_exit_code(bench->comparisons[0].gate);
	sl_bench_free(bench);
	return code;
}

/* What names a result that is there: run:N, baseline:NAME or a file of JSON. */
static int
is_result(const char *word)
{
	size_t n = strlen(word);

	return is_saved_word(word) ||
	       (n > 5 && *word != '-' && !strchr(word, ' ') &&
		strcmp(word + n - 5, ".json") == 0);
}

/* Two results, which are judged and not run: as a gate, whose baseline is A.
 * Options that follow are the gate's. */
static int
compare_saved(char **argv)
{
	char limit[] = "--limit=time=1%", baseline[] = "--baseline";
	char name[] = "gate";
	size_t n = 3;
	char **words;

	while (argv[n])
		n++;
	words = must_alloc(n + 3, sizeof(*words));
	words[0] = name;
	words[1] = argv[2];
	words[2] = baseline;
	words[3] = argv[1];
	memcpy(words + 4, argv + 3, (n - 3) * sizeof(*words));
	if (n == 3)
		words[4] = limit;
	return cmd_gate(words);
}

int
cmd_compare(char **argv)
{
	char *both[] = {argv[0], (char[]){"--help"}, NULL};
	int code;

	if (argv[1] && argv[2] && is_result(argv[1]) && is_result(argv[2]))
		return compare_saved(argv);

	if (names_commands(argv))
		return compare_commands(argv);
	code = model_compare(argv);
	if (code != EXIT_DONE)
		return code;
	printf("\nCommands:\n\n");
	return compare_commands(both);
}
