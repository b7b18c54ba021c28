/* SPDX-License-Identifier: Apache-2.0 */
/* gate.c - limits that turn a result into an exit code. */
#include "gate.h"
#include "exit_code.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void
gate_read(struct gate *gate, const struct repeated_values *texts,
	  const char *command, size_t n_commands)
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

		if (!parse_share(limit, share))
			*limit = -1;
		if (*limit >= 1 && !strchr(share, '%'))
			*limit /= 100;
		if (*limit < 0 || *limit >= 1)
			refuse(command,
			       "--gate %s: must be such as 5%%, time=1%% or "
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

/* One line of the verdict, in a log or for the eye. */
static void __attribute__((format(printf, 3, 4)))
tell(int to_stdout, const char *command, const char *format, ...)
{
	char line[1024];
	va_list args;

	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	sl_text_sanitize(line);
	if (to_stdout)
		printf("%s\n", line);
	else
		complain(command, 0, "%s", line);
}

static int
judge_time(const struct sl_comparison *c, int to_stdout, const char *command)
{
	if (c->gate == SL_GATE_REGRESSED)
		tell(to_stdout, command,
		     "gate broken: '%s' is slower than '%s' by more than %g %%",
		     c->b, c->a, 100 * c->margin);
	if (c->gate == SL_GATE_UNDECIDED)
		tell(to_stdout, command,
		     "gate undecided: '%s' against '%s' needs more time", c->b,
		     c->a);
	return gate_verdict_exit_code(c->gate);
}

static int
judge_memory(const struct gate *gate, const struct sl_comparison *c,
	     int to_stdout, const char *command)
{
	double ratio = 1 / c->memory_ratio.value;

	if (c->memory_ratio.absent) {
		tell(to_stdout, command,
		     "gate invalid: memory was not measured for %s",
		     c->memory_ratio.absent);
		return EXIT_INVALID;
	}
	if (ratio <= 1 + gate->memory)
		return EXIT_FINE;
	tell(to_stdout, command,
	     "gate broken: '%s' needs %.3g times the memory of '%s'", c->b,
	     ratio, c->a);
	return EXIT_REGRESSED;
}

static int
judge_accuracy(const struct gate *gate, const struct sl_comparison *c,
	       int to_stdout, const char *command)
{
	double lost = -c->accuracy_delta.value;

	if (lost <= gate->accuracy + 1e-9)
		return EXIT_FINE;
	tell(to_stdout, command,
	     "gate broken: '%s' is %.3g points less accurate than '%s'", c->b,
	     100 * lost, c->a);
	return EXIT_REGRESSED;
}

/* "gate passed: 'b' against 'a', within time 5 %, memory 10 %". */
static void
tell_passed(const struct gate *gate, const struct sl_bench *bench,
	    const char *command)
{
	const struct sl_comparison *c = &bench->comparisons[0];
	char time[32] = "", memory[32] = "", accuracy[48] = "", others[32];

	if (gate->has_time)
		snprintf(time, sizeof(time), "time %g %%", 100 * c->margin);
	if (gate->has_memory)
		snprintf(memory, sizeof(memory), "%smemory %g %%",
			 *time ? ", " : "", 100 * gate->memory);
	if (gate->has_accuracy)
		snprintf(accuracy, sizeof(accuracy), "%saccuracy %g points",
			 *time || *memory ? ", " : "", 100 * gate->accuracy);
	snprintf(others, sizeof(others), "%zu others", bench->n_comparisons);
	tell(1, command, "gate passed: %s%s%s against '%s', within %s%s%s",
	     bench->n_comparisons == 1 ? "'" : "",
	     bench->n_comparisons == 1 ? c->b : others,
	     bench->n_comparisons == 1 ? "'" : "", c->a, time, memory,
	     accuracy);
}

int
gate_check_bench(const struct gate *gate, const struct sl_bench *bench,
		 const struct output *output, const char *command)
{
	int is_free = !output_takes_stdout(output);
	int to_stdout = output->quiet && is_free;
	int code = EXIT_FINE;

	for (size_t i = 0; i < bench->n_comparisons; i++) {
		const struct sl_comparison *c = &bench->comparisons[i];

		if (gate->has_time)
			code = worse(code, judge_time(c, to_stdout, command));
		if (gate->has_memory)
			code = worse(code,
				     judge_memory(gate, c, to_stdout, command));
		if (gate->has_accuracy)
			code = worse(code, judge_accuracy(gate, c, to_stdout,
							  command));
	}
	if (code == EXIT_FINE && is_free &&
	    (gate->has_time || gate->has_memory || gate->has_accuracy))
		tell_passed(gate, bench, command);
	return code;
}

int
gate_verdict_exit_code(enum sl_gate gate)
{
	static const int codes[] = {[SL_GATE_OK] = EXIT_FINE,
				    [SL_GATE_REGRESSED] = EXIT_REGRESSED,
				    [SL_GATE_UNDECIDED] = EXIT_UNDECIDED};

	return codes[gate];
}
