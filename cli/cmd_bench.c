/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_bench.c - `sleuth bench`: times commands, and says which is faster. */
#include "bench_run.h"
#include "commands.h"
#include "gate.h"

static const struct command_help help = {
	"bench", "[options] LINE... or -- CMD [ARG...] [-- CMD...]",
	"Runs commands over and over, all of them once per round in random "
	"order, until\ntheir medians are known to 1 % (or the time is up), and "
	"says which is faster and\nhow sure that is. The first command is the "
	"baseline.\n\nA LINE is run by a shell, as hyperfine does; its options "
	"work here too. After\n'--' come a program and its arguments, and no "
	"shell.",
	"  sleuth bench 'sleep 0.1'\n"
	"  sleuth bench -- sleep 0.1\n"
	"  sleuth bench -w 2 -r 50 'grep -c x a.txt' 'grep -c x b.txt'\n"
	"  sleuth bench -L n 10,100,1000 -N 'seq {n}'\n"
	"  sleuth bench --shell bash 'sort a | uniq' 'sort -u a'\n"
	"  sleuth bench --gate 2% -- ./old -- ./new",
	NULL};

static const struct option options[] = {
	{"gate", 0, OPTION_WORDS, offsetof(struct bench_arguments, gates),
	 "[time=|memory=]P", "exit 1 when a later command is worse by more", 0,
	 0, 1},
};

/* The limit on time is the margin that verdicts are about. */
static void
check(struct bench_arguments *a, size_t n_commands)
{
	struct gate gate;

	gate_read(&gate, &a->gates, help.name, n_commands);
	if (gate.has_time)
		a->bench.margin = gate.time > 0 ? gate.time : -1;
}

int
cmd_bench(char **argv)
{
	struct bench_arguments a = {.margin = 0.01,
				    .commands = {.takes_lines = 1}};
	struct option_group extra = OPTION_GROUP(options, &a);
	struct sl_bench *bench;
	struct gate gate;
	int code;

	code = bench_run(&help, &a, &extra, argv, check, &bench);
	if (!code) {
		gate_read(&gate, &a.gates, help.name, bench->n_results);
		code = gate_check_bench(&gate, bench, &a.output, help.name);
	}
	sl_bench_free(bench);
	return code;
}
