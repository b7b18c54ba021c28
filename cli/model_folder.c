/* SPDX-License-Identifier: Apache-2.0 */
/* model_folder.c - folders that hold a model and its data. */
#include "model_folder.h"
#include "options.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* "FOLDER/NAME"; an empty folder is the current one. */
static char *
join(const char *folder, size_t n_folder, const char *name)
{
	size_t n = n_folder + strlen(name) + 2;
	char *path = must_alloc(n, 1);
	int has_slash = !n_folder || folder[n_folder - 1] == '/';

	snprintf(path, n, "%.*s%s%s", (int)n_folder, folder,
		 has_slash ? "" : "/", name);
	return path;
}

static int
is_folder(const char *path)
{
	struct stat known;

	return !stat(path, &known) && S_ISDIR(known.st_mode);
}

static int
is_model_name(const char *name)
{
	size_t n = strlen(name);

	return n > 5 && name[0] != '.' && !strcmp(name + n - 5, ".onnx");
}

const char *
model_in_folder(const char *path)
{
	const char *found = join(path, strlen(path), "model.onnx");
	DIR *folder = is_folder(path) ? opendir(path) : NULL;
	const struct dirent *entry;
	size_t n = 0;

	if (!folder)
		return NULL;
	if (access(found, F_OK)) {
		while ((entry = readdir(folder))) {
			if (is_model_name(entry->d_name) && !n++)
				found = join(path, strlen(path), entry->d_name);
		}
		found = n == 1 ? found : NULL;
	}
	closedir(folder);
	return found;
}

const char *
model_test_data(const char *name)
{
	const char *slash = strrchr(name, '/');
	size_t n_folder = is_folder(name) ? strlen(name)
			  : slash         ? (size_t)(slash - name) + 1
					  : 0;
	const char *data = join(name, n_folder, "test_data_set_0");

	if (!is_folder(name) && access(name, F_OK))
		return NULL; /* a name of the zoo */
	return access(join(data, strlen(data), "input_0.pb"), R_OK) ? NULL
								    : data;
}
