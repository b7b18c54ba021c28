/* SPDX-License-Identifier: Apache-2.0 */
/* op_profile.c - `sleuth profile op:NAME`: operations over sizes. */
#include "op_profile.h"
#include "exit_code.h"
#include "options.h"
#include "tty.h"

#include <stdio.h>
#include <string.h>

enum { NAME_MOST = 24, OPS_MOST = 32 };

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

int
is_op_word(const char *word)
{
	return !strncmp(word, "op:", 3);
}

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
refuse_op(const char *command, const char *name)
{
	const char *names[OPS_MOST] = {"all"}, *known;
	char list[256] = "", meant[64] = "";
	const char *near;
	size_t n = 1;

	for (size_t i = 0; n < OPS_MOST && (known = sl_microbench_op(i)); i++) {
		size_t at = strlen(list);

		snprintf(list + at, sizeof(list) - at, "%s, ", known);
		names[n++] = known;
	}
	near = nearest_name(name, names, n);
	if (near)
		snprintf(meant, sizeof(meant), "did you mean '%s'? ", near);
	refuse(command, "there is no operation '%s'; %sthese are: %sall", name,
	       meant, list);
}

static void
read_word(struct op *op, const char *word, const char *command)
{
	const char *name = word + 3, *sizes = strchr(name, ':');
	size_t n_bytes = sizes ? (size_t)(sizes - name) : strlen(name);
	struct sl_error err;

	op->word = word;
	if (n_bytes >= NAME_MOST)
		refuse_op(command, name);
	memcpy(op->name, name, n_bytes);
	op->name[n_bytes] = '\0';
	if (!is_known(op->name))
		refuse_op(command, op->name);
	if (sizes && !strcmp(op->name, "all"))
		refuse(command, "%s: sizes are for one operation, not for all",
		       word);
	if (sizes && sl_sweep_read(&op->values, SL_AXIS_BATCH, sizes + 1, &err))
		refuse(command, "%s: %s", word, err.text);
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
look_at(struct findings *found, const char *command, const struct op *op,
	struct sl_microbench_options how)
{
	char label[NAME_MOST + 4];
	struct sl_microbench *seen;
	struct sl_error err;
	enum sl_status rc;

	snprintf(label, sizeof(label), "op:%s", op->name);
	how.values = op->values.values;
	how.n_values = op->values.n;
	how.progress_ctx = label;
	rc = sl_microbench(&seen, op->name, &how, &err);
	if (rc == SL_E_INTERRUPTED && found->n)
		return EXIT_INTERRUPTED;
	if (rc)
		return exit_for_model(command, op->word, &err);
	found->list[found->n++] = seen;
	return exit_unless_stopped(0, seen->stopped_by);
}

int
op_profile(const char *command, const char *const *words, size_t n,
	   const struct sl_microbench_options *options,
	   const struct output *output)
{
	struct sl_microbench_options how = *options;
	struct op *ops = must_alloc(n, sizeof(*ops));
	struct findings found = {must_alloc(n, sizeof(*found.list)), 0};
	int code = 0, written;

	how.interrupt = tty_catch_interrupt();
	how.progress = tty_progress(output->quiet);
	for (size_t i = 0; i < n; i++)
		read_word(&ops[i], words[i], command);
	for (size_t i = 0; i < n && !code; i++)
		code = look_at(&found, command, &ops[i], how);
	if (found.n && (!code || code == EXIT_INTERRUPTED)) {
		written = output_write(output, command, render, &found);
		code = written ? written : code;
	}
	for (size_t i = 0; i < found.n; i++)
		sl_microbench_free(
			(struct sl_microbench *)(uintptr_t)found.list[i]);
	return code;
}
