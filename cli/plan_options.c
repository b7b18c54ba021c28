/* SPDX-License-Identifier: Apache-2.0 */
/* plan_options.c - how a model is run: threads, type, algorithms. */
#include "plan_options.h"
#include "exit_code.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS_MOST = 4096 };

#define AT(field) offsetof(struct plan_options, field)

static const struct option options[] = {
	{"threads", 't', OPTION_COUNT, AT(threads), "N",
	 "threads to run on (as many as CPUs)", 1, THREADS_MOST, 0},
	{"dtype", 0, OPTION_TEXT, AT(dtype), "TYPE",
	 "compute in f32 (default) or bf16", 0, 0, 0},
	{"algorithms", 0, OPTION_TEXT, AT(algorithms), "HOW",
	 "measured (default; train: fixed) or fixed", 0, 0, 0},
	{"no-fusion", 0, OPTION_FLAG, AT(no_fusion), NULL, "one step per node",
	 0, 0, 0},
	{"reference", 0, OPTION_FLAG, AT(reference), NULL,
	 "plain loops only: slow, for comparison", 0, 0, 0},
	{"isa", 0, OPTION_TEXT, AT(isa), "LEVEL", ISA_OPTION_HELP, 0, 0, 0},
	{"nan", 0, OPTION_TEXT, AT(nan), "HOW",
	 "NaN in inputs: keep (default) or refuse", 0, 0, 0},
	{"seed", 0, OPTION_COUNT, AT(seed), "N",
	 "of synthetic inputs and built-in weights (1)", 1, 1e15, 0},
};

struct option_group
plan_option_group(struct plan_options *values)
{
	return OPTION_GROUP(options, values);
}

static int
is_integer(const char *dtype)
{
	return !strcmp(dtype, "i8") || !strcmp(dtype, "int8") ||
	       !strcmp(dtype, "u8");
}

/* More threads than CPUs wait for each other. */
static void
check_threads(size_t n, const char *command)
{
	struct sl_sweep_values cpus;
	size_t most;

	if (!n || sl_sweep_read(&cpus, SL_AXIS_THREADS, "N", NULL))
		return;
	most = (size_t)cpus.values[0];
	if (n > most)
		refuse(command, "--threads %zu: this process may use %zu CPU%s",
		       n, most, most == 1 ? "" : "s");
}

void
isa_limit_resolve(const char *level, const char *command)
{
	struct sl_error err, of_option;

	if (!level || !sl_isa_limit(level, &err))
		return;
	of_option = err;
	snprintf(of_option.text, sizeof(of_option.text), "--isa %.*s",
		 (int)sizeof(err.text) - 8, err.text);
	exit(exit_for(command, &of_option));
}

void
plan_options_resolve(struct plan_options *o, const char *command)
{
	static const char *const dtypes[] = {"f32", "bf16", NULL};
	static const char *const algorithms[] = {"measured", "fixed", NULL};
	static const char *const nans[] = {"keep", "refuse", NULL};
	struct sl_plan_options plan = {.struct_size = sizeof(plan),
				       .n_threads = (int)o->threads,
				       .dtype = SL_DTYPE_F32};

	check_threads(o->threads, command);
	isa_limit_resolve(o->isa, command);
	if (o->dtype && is_integer(o->dtype))
		exit(complain(command, EXIT_ABSENT,
			      "--dtype %s: this version computes in f32 and "
			      "bf16 and quantises nothing; a model that is in "
			      "int8 already runs so by itself",
			      o->dtype));
	if (read_choice(command, "dtype", o->dtype, dtypes))
		plan.dtype = SL_DTYPE_BF16;
	if (read_choice(command, "algorithms", o->algorithms, algorithms))
		plan.algorithms = SL_ALGORITHMS_FIXED;
	if (read_choice(command, "nan", o->nan, nans))
		plan.nan_policy = SL_NAN_REFUSED;
	if (o->no_fusion)
		plan.flags |= SL_PLAN_NO_FUSION;
	if (o->reference)
		plan.flags |= SL_PLAN_REFERENCE | SL_PLAN_NO_FUSION;
	o->plan = plan;
}

const struct sl_input_file *
input_files_parse(const struct repeated_values *words, const char *command)
{
	struct sl_input_file *files = must_alloc(words->n, sizeof(*files));

	for (size_t i = 0; i < words->n; i++) {
		const char *word = words->words[i];
		const char *equals = strchr(word, '=');
		char *name;

		if (!equals || equals == word || !equals[1])
			refuse(command,
			       "--input %s: must be such as x=image.npy", word);
		name = must_alloc((size_t)(equals - word) + 1, 1);
		memcpy(name, word, (size_t)(equals - word));
		files[i].input = name;
		files[i].path = equals + 1;
	}
	return files;
}
