/* SPDX-License-Identifier: Apache-2.0 */
/* replay.h - a fuzz target as a program: files and folders through it. */
#ifndef SL_REPLAY_H
#define SL_REPLAY_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef SL_FUZZ

#include <dirent.h>
#include <sys/stat.h>

/* In a block of exactly its size, so that a sanitizer sees its end. */
static int
run_file(const char *path)
{
	FILE *file = fopen(path, "rb");
	uint8_t *data;
	long n;

	if (!file || fseek(file, 0, SEEK_END) || (n = ftell(file)) < 0 ||
	    fseek(file, 0, SEEK_SET) || !(data = malloc((size_t)n + !n))) {
		perror(path);
		return 1;
	}
	if (fread(data, 1, (size_t)n, file) != (size_t)n) {
		perror(path);
		return 1;
	}
	fclose(file);
	LLVMFuzzerTestOneInput(data, (size_t)n);
	free(data);
	return 0;
}

static int
run_path(const char *path, int *n_files)
{
	char inner[4096];
	struct dirent *entry;
	struct stat known;
	DIR *folder;
	int rc = 0;

	if (stat(path, &known) || !S_ISDIR(known.st_mode)) {
		++*n_files;
		return run_file(path);
	}
	folder = opendir(path);
	while (folder && (entry = readdir(folder))) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(inner, sizeof(inner), "%s/%s", path, entry->d_name);
		rc |= run_path(inner, n_files);
	}
	if (folder)
		closedir(folder);
	return rc;
}

int
main(int argc, char **argv)
{
	int rc = 0, n_files = 0;

	for (int i = 1; i < argc; i++)
		rc |= run_path(argv[i], &n_files);
	printf("%d files\n", n_files);
	return rc || !n_files;
}

#endif

#endif
