/* SPDX-License-Identifier: Apache-2.0 */
/*
 * command_table.c - the commands of a benchmark, ready for the launcher.
 *
 * All looking up happens here, before anything is timed: a command that does
 * not exist is told at once, not in the middle of a run.
 */
#include "experiment/command_table.h"
#include "base/status.h"

#include <string.h>

#include "base/banned.h"

size_t
sl__command_table_index(size_t command, enum sl__part part)
{
	return command * SL__N_PARTS + (size_t)part;
}

size_t
sl__command_table_idle_shell(const struct sl__command_table *table)
{
	return table->n * SL__N_PARTS;
}

static size_t
count_words(const char *const *argv)
{
	size_t n = 0;

	while (argv[n])
		n++;
	return n;
}

static const char *const *
copy_words(const char *const *argv, struct sl__arena *arena)
{
	size_t n = count_words(argv);
	const char **copy = sl__arena_array(arena, n + 1, sizeof(*copy));

	for (size_t i = 0; copy && i < n; i++) {
		copy[i] = sl__arena_string(arena, argv[i]);
		if (!copy[i])
			return NULL;
	}
	return copy;
}

/* The words as a person would type them, without quoting. */
static const char *
join_words(const char *const *argv, struct sl__arena *arena)
{
	const char *line = argv[0];

	for (size_t i = 1; line && argv[i]; i++)
		line = sl__arena_format(arena, "%s %s", line, argv[i]);
	return line;
}

static enum sl_status
shell_program(struct sl__executable *out, const char *shell, const char *line,
	      struct sl__arena *arena, struct sl_error *err)
{
	const char **argv = sl__arena_array(arena, 4, sizeof(*argv));

	if (!argv)
		return sl__fail_nomem(err);
	out->file = sl__launcher_find(shell, arena, err);
	if (!out->file)
		return SL_E_MEASURE;
	argv[0] = shell;
	argv[1] = "-c";
	argv[2] = line;
	out->argv = argv;
	return SL_OK;
}

static enum sl_status
copy_command(struct sl_command *out, const struct sl_command *in,
	     struct sl__arena *arena, struct sl_error *err)
{
	const char *const *lines[] = {&in->setup, &in->prepare, &in->conclude,
				      &in->cleanup};
	const char **copies[] = {&out->setup, &out->prepare, &out->conclude,
				 &out->cleanup};

	if (!in->argv == !in->shell_line || (in->argv && !in->argv[0]))
		return sl__fail(err, SL_E_USAGE, "a command is empty");
	for (size_t i = 0; i < 4; i++) {
		*copies[i] = sl__arena_string(arena, *lines[i]);
		if (*lines[i] && !*copies[i])
			return sl__fail_nomem(err);
	}
	out->argv = in->argv ? copy_words(in->argv, arena) : NULL;
	out->shell_line = sl__arena_string(arena, in->shell_line);
	out->name = in->name   ? sl__arena_string(arena, in->name)
		    : in->argv ? join_words(in->argv, arena)
			       : out->shell_line;
	if (!out->name || (!out->argv && !out->shell_line))
		return sl__fail_nomem(err);
	return SL_OK;
}

static enum sl_status
copy_parameters(struct sl_command *out, const struct sl_command *in,
		struct sl__arena *arena, struct sl_error *err)
{
	struct sl_parameter *copies =
		sl__arena_array(arena, in->n_parameters, sizeof(*copies));

	if (!copies)
		return sl__fail_nomem(err);
	for (size_t i = 0; i < in->n_parameters; i++) {
		copies[i].name =
			sl__arena_string(arena, in->parameters[i].name);
		copies[i].value =
			sl__arena_string(arena, in->parameters[i].value);
		if (!copies[i].name || !copies[i].value)
			return sl__fail_nomem(err);
	}
	out->parameters = copies;
	out->n_parameters = in->n_parameters;
	return SL_OK;
}

/* The programs of one command: itself and what it brings along. */
static enum sl_status
find_programs(struct sl__executable *out, const struct sl_command *command,
	      const char *shell, struct sl__arena *arena, struct sl_error *err)
{
	const char *lines[SL__N_PARTS] = {
		[SL__PART_SETUP] = command->setup,
		[SL__PART_PREPARE] = command->prepare,
		[SL__PART_CONCLUDE] = command->conclude,
		[SL__PART_CLEANUP] = command->cleanup,
	};
	enum sl_status rc;

	for (size_t part = SL__PART_SETUP; part < SL__N_PARTS; part++) {
		if (!lines[part])
			continue;
		rc = shell_program(&out[part], "/bin/sh", lines[part], arena,
				   err);
		if (rc)
			return rc;
	}
	if (command->shell_line)
		return shell_program(&out[SL__PART_MAIN], shell,
				     command->shell_line, arena, err);
	out[SL__PART_MAIN].argv = command->argv;
	out[SL__PART_MAIN].file =
		sl__launcher_find(command->argv[0], arena, err);
	return out[SL__PART_MAIN].file ? SL_OK : SL_E_MEASURE;
}

enum sl_status
sl__command_table_init(struct sl__command_table *table,
		       const struct sl_command *commands, size_t n,
		       const char *shell, struct sl__arena *arena,
		       struct sl_error *err)
{
	enum sl_status rc;

	memset(table, 0, sizeof(*table));
	table->n = n;
	table->commands = sl__arena_array(arena, n, sizeof(*table->commands));
	table->programs = sl__arena_array(arena, n * SL__N_PARTS + 1,
					  sizeof(*table->programs));
	shell = sl__arena_string(arena, shell);
	if (!table->commands || !table->programs || !shell)
		return sl__fail_nomem(err);
	for (size_t i = 0; i < n; i++) {
		struct sl_command *copy = &table->commands[i];

		rc = copy_command(copy, &commands[i], arena, err);
		if (!rc)
			rc = copy_parameters(copy, &commands[i], arena, err);
		if (!rc)
			rc = find_programs(&table->programs[i * SL__N_PARTS],
					   copy, shell, arena, err);
		if (rc)
			return rc;
		table->uses_shell |= copy->shell_line != NULL;
	}
	if (!table->uses_shell)
		return SL_OK;
	return shell_program(
		&table->programs[sl__command_table_idle_shell(table)], shell,
		"", arena, err);
}
