/* SPDX-License-Identifier: Apache-2.0 */
/* data_folder.c - where the files are that the program comes with. */
#include "data_folder.h"
#include "options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_MOST = 4096 };

/* The path where it is readable, else NULL. */
static const char *
try_path(const char *folder, const char *below, const char *name)
{
	char *path = must_alloc(PATH_MOST, 1);
	int n = snprintf(path, PATH_MOST, "%s%s/%s", folder, below, name);

	return n < PATH_MOST && access(path, R_OK | X_OK) == 0 ? path : NULL;
}

const char *
data_folder(const char *name)
{
	const char *chosen = getenv("SLEUTH_DATA");
	const char *found;
	char program[PATH_MOST];
	ssize_t n;

	if (chosen && *chosen)
		return try_path(chosen, "", name);
	n = readlink("/proc/self/exe", program, sizeof(program) - 1);
	if (n <= 0)
		return NULL;
	program[n] = '\0';
	*strrchr(program, '/') = '\0';
	found = try_path(program, "/../share/sleuth", name);
#ifdef SL_SOURCE_DATA
	if (!found)
		found = try_path(SL_SOURCE_DATA, "", name);
#endif
	return found;
}
