/* SPDX-License-Identifier: Apache-2.0 */
/* gate.c - limits that turn a result into an exit code. */
#include "gate.h"
#include "exit_code.h"

#include <string.h>

void
gate_read(struct gate *gate, const struct word_list *texts, const char *command,
	  size_t n_commands)
{
	memset(gate, 0, sizeof(*gate));
	if (texts->n && n_commands < 2)
		refuse(command,
		       "--gate needs two commands: a baseline and another");
	for (size_t i = 0; i < texts->n; i++) {
		const char *text = texts->words[i];
		int is_memory = strncmp(text, "memory=", 7) == 0;
		const char *share = is_memory                        ? text + 7
				    : strncmp(text, "time=", 5) == 0 ? text + 5
								     : text;
		int *has = is_memory ? &gate->has_memory : &gate->has_time;
		double *limit = is_memory ? &gate->memory : &gate->time;

		if (!parse_share(limit, share) || *limit < 0 || *limit >= 1)
			refuse(command,
			       "--gate %s: must be such as 1%%, time=1%% or "
			       "memory=5%%, below 100%%",
			       text);
		if (*has)
			refuse(command, "--gate %s: given twice", text);
		*has = 1;
	}
}

/* 1 before 3 before 2 before 0. */
static int
worse(int a, int b)
{
	static const int badness[] = {[EXIT_FINE] = 0,
				      [EXIT_UNDECIDED] = 1,
				      [EXIT_INVALID] = 2,
				      [EXIT_REGRESSED] = 3};

	return badness[a] > badness[b] ? a : b;
}

static int
judge_time(const struct sl_comparison *c, const char *command)
{
	if (c->gate == SL_GATE_REGRESSED)
		complain(command, 0,
			 "gate broken: '%s' is slower than '%s' by more than "
			 "%g %%",
			 c->b, c->a, 100 * c->margin);
	if (c->gate == SL_GATE_UNDECIDED)
		complain(command, 0,
			 "gate undecided: '%s' against '%s' needs more time",
			 c->b, c->a);
	return gate_code(c->gate);
}

static int
judge_memory(const struct gate *gate, const struct sl_comparison *c,
	     const char *command)
{
	if (c->memory_ratio.absent)
		return complain(command, EXIT_INVALID,
				"gate invalid: memory was not measured for %s",
				c->memory_ratio.absent);
	if (1 / c->memory_ratio.value > 1 + gate->memory)
		return complain(command, EXIT_REGRESSED,
				"gate broken: '%s' needs %.3g times the "
				"memory of '%s'",
				c->b, 1 / c->memory_ratio.value, c->a);
	return EXIT_FINE;
}

int
gate_judge(const struct gate *gate, const struct sl_bench *bench,
	   const char *command)
{
	int code = EXIT_FINE;

	for (size_t i = 0; i < bench->n_comparisons; i++) {
		const struct sl_comparison *c = &bench->comparisons[i];

		if (gate->has_time)
			code = worse(code, judge_time(c, command));
		if (gate->has_memory)
			code = worse(code, judge_memory(gate, c, command));
	}
	return code;
}

int
gate_code(enum sl_gate gate)
{
	static const int codes[] = {[SL_GATE_OK] = EXIT_FINE,
				    [SL_GATE_REGRESSED] = EXIT_REGRESSED,
				    [SL_GATE_UNDECIDED] = EXIT_UNDECIDED};

	return codes[gate];
}
