/* SPDX-License-Identifier: Apache-2.0 */
/* choice_folder.h - a cache folder with a file of choices, for a test. */
#ifndef SL_TEST_CHOICE_FOLDER_H
#define SL_TEST_CHOICE_FOLDER_H

#include "harness.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct folder {
	char path[64];
	char file[384]; /* of the choices; "" for none */
};

static inline void
folder_new(struct folder *f)
{
	snprintf(f->path, sizeof(f->path), "/tmp/sleuth-choice-XXXXXX");
	assert_non_null(mkdtemp(f->path));
}

static inline void
folder_look(struct folder *f)
{
	DIR *dir = opendir(f->path);
	struct dirent *entry;

	assert_non_null(dir);
	f->file[0] = '\0';
	while ((entry = readdir(dir)) != NULL) {
		if (!strncmp(entry->d_name, "algorithms-", 11))
			snprintf(f->file, sizeof(f->file), "%s/%s", f->path,
				 entry->d_name);
	}
	closedir(dir);
}

static inline void
folder_free(struct folder *f)
{
	DIR *dir = opendir(f->path);
	struct dirent *entry;

	assert_non_null(dir);
	while ((entry = readdir(dir)) != NULL)
		unlinkat(dirfd(dir), entry->d_name, 0);
	closedir(dir);
	assert_int_equal(rmdir(f->path), 0);
}

#endif
