/* SPDX-License-Identifier: Apache-2.0 */
/*
 * same_choices.c - plans that share the algorithms they measured.
 *
 * A plan reads the file of choices when it is made and adds what it measured:
 * the next one finds that there.
 */
#include "experiment/same_choices.h"
#include "base/cache_file.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/banned.h"

void
sl__same_choices_open(struct sl__same_choices *out)
{
	const char *base = getenv("TMPDIR");
	int n;

	*out = (struct sl__same_choices){{0}};
	if (!base || base[0] != '/')
		base = "/tmp";
	n = snprintf(out->folder, sizeof(out->folder), "%s/sleuth-XXXXXX",
		     base);
	/* Without a folder each plan measures for itself; where that makes a
	 * difference the result says so. */
	if (n <= 0 || n >= (int)sizeof(out->folder) || !mkdtemp(out->folder))
		out->folder[0] = '\0';
}

void
sl__same_choices_close(struct sl__same_choices *choices)
{
	DIR *dir = choices->folder[0] ? opendir(choices->folder) : NULL;
	const struct dirent *entry;
	char path[sizeof(choices->folder) + sizeof(entry->d_name) + 1];

	while (dir && (entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", choices->folder,
			 entry->d_name);
		unlink(path);
	}
	if (dir)
		closedir(dir);
	if (choices->folder[0])
		rmdir(choices->folder);
	choices->folder[0] = '\0';
}

/* Whether choices of a plan outlive it. */
static int
is_kept(const struct sl_plan_options *how)
{
	char folder[SL__CACHE_PATH];

	return !(how->flags & SL_PLAN_NO_CACHE) &&
	       !sl__cache_folder(folder, how->cache_folder, NULL);
}

void
sl__same_choices_set(struct sl__same_choices *choices,
		     struct sl_plan_options *how)
{
	if (is_kept(how) || !choices->folder[0])
		return;
	how->cache_folder = choices->folder;
	how->flags &= ~(unsigned)SL_PLAN_NO_CACHE;
}

int
sl__same_settings(const struct sl_plan *a, const struct sl_plan *b)
{
	const struct sl_plan_options *x = &a->options, *y = &b->options;
	unsigned mattering = ~(unsigned)SL_PLAN_NO_CACHE;

	return x->n_threads == y->n_threads && x->dtype == y->dtype &&
	       x->algorithms == y->algorithms &&
	       (x->flags & mattering) == (y->flags & mattering);
}
