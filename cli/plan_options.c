/* SPDX-License-Identifier: Apache-2.0 */
/* plan_options.c - how a model is run: threads, type, algorithms. */
#include "plan_options.h"
#include "exit_code.h"

#include <string.h>

enum { THREADS_MOST = 4096 };

#define AT(field) offsetof(struct plan_options, field)

static const struct option options[] = {
	{"threads", 't', OPTION_COUNT, AT(threads), "N",
	 "threads to run on (as many as CPUs)", 1, THREADS_MOST, 0},
	{"dtype", 0, OPTION_TEXT, AT(dtype), "TYPE",
	 "compute in f32 (default) or bf16", 0, 0, 0},
	{"algorithms", 0, OPTION_TEXT, AT(algorithms), "HOW",
	 "measured (default) or fixed", 0, 0, 0},
	{"no-fusion", 0, OPTION_FLAG, AT(no_fusion), NULL, "one step per node",
	 0, 0, 0},
	{"reference", 0, OPTION_FLAG, AT(reference), NULL,
	 "plain loops only: slow, for comparison", 0, 0, 0},
	{"nan", 0, OPTION_TEXT, AT(nan), "HOW",
	 "NaN in inputs: keep (default) or refuse", 0, 0, 0},
	{"seed", 0, OPTION_COUNT, AT(seed), "N",
	 "of made-up inputs and built-in weights (1)", 1, 1e15, 0},
};

struct option_group
plan_group(struct plan_options *values)
{
	struct option_group group = {
		options, sizeof(options) / sizeof(options[0]), values};

	return group;
}

/* Which of two words was given, 0 or 1; -1 after one line on stderr. */
static int
choose(const char *option, const char *word, const char *first,
       const char *second, const char *command)
{
	if (!word || !strcmp(word, first))
		return 0;
	if (!strcmp(word, second))
		return 1;
	complain(command, EXIT_USAGE, "--%s %s: must be one of %s, %s", option,
		 word, first, second);
	return -1;
}

static int
is_integer(const char *dtype)
{
	return !strcmp(dtype, "i8") || !strcmp(dtype, "int8") ||
	       !strcmp(dtype, "u8");
}

/* More threads than CPUs wait for each other. */
static int
check_threads(size_t n, const char *command)
{
	struct sl_sweep_values cpus;
	size_t most;

	if (!n || sl_sweep_read(&cpus, SL_AXIS_THREADS, "N", NULL))
		return 0;
	most = (size_t)cpus.values[0];
	if (n <= most)
		return 0;
	return complain(command, EXIT_USAGE,
			"--threads %zu: this process may use %zu CPU%s", n,
			most, most == 1 ? "" : "s");
}

int
plan_options_check(struct plan_options *o, const char *command)
{
	int is_bf16, is_fixed, is_refused;

	if (check_threads(o->threads, command))
		return EXIT_USAGE;
	if (o->dtype && is_integer(o->dtype))
		return complain(command, EXIT_ABSENT,
				"--dtype %s: this version computes in f32 and "
				"bf16 and quantises nothing; a model that is "
				"in int8 already runs so by itself",
				o->dtype);
	is_bf16 = choose("dtype", o->dtype, "f32", "bf16", command);
	if (is_bf16 < 0)
		return EXIT_USAGE;
	is_fixed = choose("algorithms", o->algorithms, "measured", "fixed",
			  command);
	if (is_fixed < 0)
		return EXIT_USAGE;
	is_refused = choose("nan", o->nan, "keep", "refuse", command);
	if (is_refused < 0)
		return EXIT_USAGE;
	o->plan = (struct sl_plan_options){
		.struct_size = sizeof(o->plan),
		.n_threads = (int)o->threads,
		.dtype = is_bf16 ? SL_DTYPE_BF16 : SL_DTYPE_F32,
		.algorithms = is_fixed ? SL_ALGORITHMS_FIXED
				       : SL_ALGORITHMS_MEASURED,
		.nan_policy = is_refused ? SL_NAN_REFUSED : SL_NAN_KEPT,
	};
	if (o->no_fusion)
		o->plan.flags |= SL_PLAN_NO_FUSION;
	if (o->reference)
		o->plan.flags |= SL_PLAN_REFERENCE | SL_PLAN_NO_FUSION;
	return 0;
}

int
input_files_read(const struct sl_input_file **out,
		 const struct word_list *words, const char *command)
{
	struct sl_input_file *files = must_alloc(words->n, sizeof(*files));

	for (size_t i = 0; i < words->n; i++) {
		const char *word = words->words[i];
		const char *equals = strchr(word, '=');
		char *name;

		if (!equals || equals == word || !equals[1])
			return complain(command, EXIT_USAGE,
					"--input %s: must be such as "
					"x=image.npy",
					word);
		name = must_alloc((size_t)(equals - word) + 1, 1);
		memcpy(name, word, (size_t)(equals - word));
		files[i].input = name;
		files[i].path = equals + 1;
	}
	*out = files;
	return 0;
}
