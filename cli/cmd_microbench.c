/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_microbench.c - `sleuth microbench`: single operations over sizes. */
#include "commands.h"
#include "exit_code.h"
#include "options.h"
#include "output.h"
#include "plan_options.h"
#include "tty.h"

#include <stdio.h>
#include <string.h>

enum { NAME_MOST = 24, OPS_MOST = 32 };

static const struct command_help help = {
	"microbench", "[OPERATION[:SIZES]...] [options]",
	"Runs one operation at growing sizes and says what bounds it at each: "
	"arithmetic,\na cache, memory, or overhead, and where that changes. "
	"SIZES are as in sweep:\n64..1024 doubles, 64..512:64 goes in steps, "
	"1024,65536 is a list. 'all' puts one\noperation of each kind side by "
	"side. Without an operation, lists them.",
	"  sleuth microbench\n"
	"  sleuth microbench matmul\n"
	"  sleuth microbench matmul:64..1024 add:1024,65536 --threads 1\n"
	"  sleuth microbench all",
	NULL};

struct arguments {
	struct plan_options plan;
	struct output output;
	struct sl_microbench_options how;
};

#define AT(field) offsetof(struct arguments, field)

static const struct option options[] = {
	{"time", 0, OPTION_SECONDS, AT(how.time_s), "SECONDS",
	 "for one operation (6); 10 for 'all'", 0.001, 1e6, 0},
	{"runs", 0, OPTION_COUNT, AT(how.n_runs), "N",
	 "rounds at each size, instead of by time", 1, 1e9, 0},
};

/* One word, taken apart. */
struct op {
	char name[NAME_MOST];
	const char *word;
	struct sl_sweep_values values; /* n 0: its own */
};

/* What was found, in the order of the words. */
struct findings {
	const struct sl_microbench **list;
	size_t n;
};

static int
is_known(const char *name)
{
	const char *known;

	for (size_t i = 0; (known = sl_microbench_op(i)); i++) {
		if (!strcmp(known, name))
			return 1;
	}
	return !strcmp(name, "all");
}

static void
refuse_op(const char *name)
{
	const char *names[OPS_MOST] = {"all"}, *known, *near;
	size_t n = 1;

	for (size_t i = 0; n < OPS_MOST && (known = sl_microbench_op(i)); i++)
		names[n++] = known;
	near = nearest_name(name, names, n);
	if (near)
		refuse(help.name,
		       "there is no operation '%s'; did you mean '%s'?", name,
		       near);
	refuse(help.name,
	       "there is no operation '%s'; 'sleuth microbench' lists them",
	       name);
}

/* "op:" may stand before the name, as in `sleuth profile op:matmul`. */
static void
read_word(struct op *op, const char *word)
{
	const char *name = word + (strncmp(word, "op:", 3) ? 0 : 3);
	const char *sizes = strchr(name, ':');
	size_t n_bytes = sizes ? (size_t)(sizes - name) : strlen(name);
	struct sl_error err;

	op->word = word;
	if (n_bytes >= NAME_MOST)
		refuse_op(name);
	memcpy(op->name, name, n_bytes);
	op->name[n_bytes] = '\0';
	if (!is_known(op->name))
		refuse_op(op->name);
	if (sizes && !strcmp(op->name, "all"))
		refuse(help.name,
		       "%s: sizes are for one operation, not for all", word);
	if (sizes && sl_sweep_read(&op->values, SL_AXIS_BATCH, sizes + 1, &err))
		refuse(help.name, "%s: %s", word, err.text);
}

static enum sl_status
render(const void *result, const struct sl_render_options *how,
       struct sl_buf *out, struct sl_error *err)
{
	const struct findings *found = result;

	return sl_microbench_render(found->list, found->n, how, out, err);
}

/* Returns 0, EXIT_INTERRUPTED with or without a result, or another code. */
static int
measure(struct findings *found, const struct op *op,
	struct sl_microbench_options how)
{
	struct sl_microbench *seen;
	struct sl_error err;
	enum sl_status rc;

	how.values = op->values.values;
	how.n_values = op->values.n;
	how.progress_ctx = (void *)(uintptr_t)op->name;
	rc = sl_microbench(&seen, op->name, &how, &err);
	if (rc == SL_E_INTERRUPTED && found->n)
		return EXIT_INTERRUPTED;
	if (rc)
		return exit_for_model(help.name, op->word, &err);
	found->list[found->n++] = seen;
	return exit_unless_stopped(0, seen->stopped_by);
}

static int
run(const struct arguments *a, const char *const *words, size_t n)
{
	struct op *ops = must_alloc(n, sizeof(*ops));
	struct findings found = {must_alloc(n, sizeof(*found.list)), 0};
	int code = 0, written;

	for (size_t i = 0; i < n; i++)
		read_word(&ops[i], words[i]);
	for (size_t i = 0; i < n && !code; i++)
		code = measure(&found, &ops[i], a->how);
	if (found.n && (!code || code == EXIT_INTERRUPTED)) {
		written = output_write(&a->output, help.name, render, &found);
		code = written ? written : code;
	}
	for (size_t i = 0; i < found.n; i++)
		sl_microbench_free(
			(struct sl_microbench *)(uintptr_t)found.list[i]);
	return code;
}

static int
list_operations(void)
{
	const char *name;

	for (size_t i = 0; (name = sl_microbench_op(i)); i++)
		puts(name);
	puts("all");
	return EXIT_FINE;
}

int
cmd_microbench(char **argv)
{
	struct arguments a = {.how = {.struct_size = sizeof(a.how)}};
	const struct option_group groups[] = {
		OPTION_GROUP(options, &a),
		plan_option_group(&a.plan),
		output_option_group(&a.output),
	};
	const char **words;
	size_t n;

	if (options_read_positional_names(&help, groups, 3, argv, &words, &n))
		return EXIT_DONE;
	plan_options_resolve(&a.plan, help.name);
	output_check(&a.output, help.name);
	if (!n)
		return list_operations();
	a.how.plan = &a.plan.plan;
	a.how.seed = a.plan.seed;
	a.how.interrupt = tty_catch_interrupt();
	a.how.progress = tty_progress(a.output.quiet);
	return run(&a, words, n);
}
