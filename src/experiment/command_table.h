/* SPDX-License-Identifier: Apache-2.0 */
/* command_table.h - the commands of a benchmark, ready for the launcher. */
#ifndef SL_COMMAND_TABLE_H
#define SL_COMMAND_TABLE_H

#include "base/arena.h"
#include "timing/launcher.h"

/* What a command may bring along; each is a program of its own. */
enum sl__part {
	SL__PART_MAIN = 0,
	SL__PART_SETUP,
	SL__PART_PREPARE,
	SL__PART_CONCLUDE,
	SL__PART_CLEANUP,
	SL__N_PARTS
};

/*
 * Invariants: programs[i * SL__N_PARTS + part] runs that part of command i;
 * its file is NULL where the command has no such part.  The last program is
 * the shell with nothing to do.  Everything lives in the arena.
 */
struct sl__command_table {
	struct sl_command *commands; /* [n] deep copies, names filled in */
	size_t n;
	struct sl__executable *programs; /* [n * SL__N_PARTS + 1] */
	int uses_shell;
};

/*
 * Copies the commands and finds their programs.  SL_E_MEASURE when one does
 * not exist, SL_E_USAGE when a command is empty or has both forms.
 */
enum sl_status sl__command_table_init(struct sl__command_table *table,
				      const struct sl_command *commands,
				      size_t n, const char *shell,
				      struct sl__arena *arena,
				      struct sl_error *err) SL_CHECKED;

/* The index of a part for sl__launcher_run(), and of the idle shell. */
size_t sl__command_table_index(size_t command, enum sl__part part);
size_t sl__command_table_idle_shell(const struct sl__command_table *table);

#endif
