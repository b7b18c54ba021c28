/* SPDX-License-Identifier: Apache-2.0 */
/*
 * control_group.c - what the control groups of this process allow it.
 *
 * /proc/self/cgroup says in which group the process is, by hierarchy, and
 * /proc/self/mountinfo where hierarchies are mounted, and which part of them:
 * in a container the root of what is mounted is the container's own group.
 * Limits hold for everything below a group, so all groups up to the mounted
 * one are looked at.  A hierarchy of version 1 has one set of controllers,
 * that of version 2 has what is left; a file that is not there says which.
 */
#include "base/control_group.h"
#include "base/buf.h"
#include "base/file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/banned.h"

enum { PATH_BYTES = 4096, MAX_FILE_BYTES = 1 << 20 };

/* Returns 1 and fills 'buf' with text, or 0. */
static int
read_file(struct sl_buf *buf, const char *root, const char *path,
	  const char *name)
{
	char full[PATH_BYTES];
	int n = snprintf(full, sizeof(full), "%s%s%s", root, path, name);

	buf->n_bytes = 0;
	return n < (int)sizeof(full) &&
	       !sl__file_read(buf, full, MAX_FILE_BYTES, NULL) && buf->n_bytes;
}

/* The number in a file; 'otherwise' where there is none ("max", no file). */
static double
number_in(struct sl_buf *buf, const char *root, const char *folder,
	  const char *name, double otherwise)
{
	double value;
	char *end;

	if (!read_file(buf, root, folder, name))
		return otherwise;
	value = strtod(buf->data, &end);
	return end == buf->data ? otherwise : value;
}

/* The number after "key " at the beginning of a line; 0 without one. */
static double
number_after(const char *text, const char *key)
{
	size_t n = strlen(key);

	for (; text; text = strchr(text, '\n')) {
		text += *text == '\n';
		if (!strncmp(text, key, n) && text[n] == ' ')
			return strtod(text + n, NULL);
	}
	return 0;
}

static void
note_memory(struct sl__group_limits *out, double most, double used,
	    double reclaimable)
{
	/* Version 1 writes "no limit" as a number near 2^63. */
	if (!(most < 9e18) || most < 0)
		return;
	out->memory_bytes = fmin(out->memory_bytes, most);
	out->free_bytes = fmin(out->free_bytes,
			       fmax(most - fmax(used - reclaimable, 0), 0));
}

static void
note_cpus(struct sl__group_limits *out, double quota, double period)
{
	if (quota > 0 && period > 0 && isfinite(quota))
		out->cpus = fmin(out->cpus, quota / period);
}

/* The limits of one group; 'folder' ends with a slash. */
static void
read_group(struct sl__group_limits *out, struct sl_buf *buf, const char *root,
	   const char *folder)
{
	double most = number_in(buf, root, folder, "memory.max", (double)NAN);
	double used, reclaimable = 0;
	char *end;

	if (!isnan(most)) {
		used = number_in(buf, root, folder, "memory.current", 0);
		if (read_file(buf, root, folder, "memory.stat"))
			reclaimable = number_after(buf->data, "inactive_file");
		note_memory(out, most, used, reclaimable);
	}
	most = number_in(buf, root, folder, "memory.limit_in_bytes",
			 (double)NAN);
	if (!isnan(most)) {
		used = number_in(buf, root, folder, "memory.usage_in_bytes", 0);
		if (read_file(buf, root, folder, "memory.stat"))
			reclaimable =
				number_after(buf->data, "total_inactive_file");
		note_memory(out, most, used, reclaimable);
	}
	if (read_file(buf, root, folder, "cpu.max")) {
		double quota = strtod(buf->data, &end);

		if (end != buf->data)
			note_cpus(out, quota, strtod(end, NULL));
	}
	most = number_in(buf, root, folder, "cpu.cfs_quota_us", -1);
	note_cpus(out, most,
		  number_in(buf, root, folder, "cpu.cfs_period_us", 0));
}

/* The groups from 'path', which is cut, up to the first 'n_top' bytes. */
static void
read_upwards(struct sl__group_limits *out, const char *root, char *path,
	     size_t n_top)
{
	struct sl_buf buf = {0};
	size_t n = strlen(path);

	while (n > n_top && path[n - 1] == '/')
		n--;
	for (;;) {
		path[n] = '/';
		path[n + 1] = '\0';
		read_group(out, &buf, root, path);
		if (n <= n_top)
			break;
		while (n > n_top && path[n - 1] != '/')
			n--;
		while (n > n_top && path[n - 1] == '/')
			n--;
	}
	sl_buf_release(&buf);
}

/*
 * Of a line of mountinfo: what of the hierarchy is mounted, and where.  A
 * version 1 hierarchy is known by its controllers, which are the last field.
 * 1 where it is a hierarchy of either version.
 */
struct mount {
	char part[PATH_BYTES], place[PATH_BYTES], controllers[256];
	int is_v2;
};

static int
read_mount(struct mount *m, const char *line, size_t n)
{
	char text[3 * PATH_BYTES], kind[32];
	const char *rest;

	if (n >= sizeof(text))
		return 0;
	memcpy(text, line, n);
	text[n] = '\0';
	rest = strstr(text, " - ");
	if (!rest ||
	    sscanf(text, "%*s %*s %*s %4095s %4095s", m->part, m->place) != 2 ||
	    sscanf(rest, " - %31s %*s %255s", kind, m->controllers) != 2)
		return 0;
	m->is_v2 = !strcmp(kind, "cgroup2");
	return m->is_v2 || !strcmp(kind, "cgroup");
}

/* Whether 'word' is one of a list with commas of n bytes. */
static int
is_listed(const char *word, size_t n_word, const char *list)
{
	const char *end;

	for (;; list = end + 1) {
		end = list + strcspn(list, ",");
		if ((size_t)(end - list) == n_word &&
		    !memcmp(list, word, n_word))
			return 1;
		if (!*end)
			return 0;
	}
}

/*
 * The group of the process in the hierarchy of a mount, from the lines
 * "NUMBER:CONTROLLERS:PATH" of /proc/self/cgroup; 0: none.  Version 2 has no
 * controllers there.  One that both sides name identifies the others.
 */
static int
find_group(char *group, const char *groups, const struct mount *m)
{
	for (const char *at = groups; at && *at; at = strchr(at, '\n')) {
		const char *names, *path;

		at += *at == '\n';
		names = strchr(at, ':');
		path = names ? strchr(names + 1, ':') : NULL;
		if (!path)
			return 0;
		names++;
		if (m->is_v2 ? path == names
			     : path > names &&
				       is_listed(names, strcspn(names, ",:"),
						 m->controllers)) {
			size_t n = strcspn(path + 1, "\n");

			if (n >= PATH_BYTES)
				return 0;
			memcpy(group, path + 1, n);
			group[n] = '\0';
			return 1;
		}
	}
	return 0;
}

static void
read_hierarchy(struct sl__group_limits *out, const char *root,
	       const char *groups, const struct mount *m)
{
	char group[PATH_BYTES], path[2 * PATH_BYTES + 2];
	size_t n_part = strlen(m->part);
	const char *below = group;

	if (!find_group(group, groups, m))
		return;
	/* What is mounted may be a part that holds the group. */
	if (n_part > 1 && !strncmp(group, m->part, n_part) &&
	    (group[n_part] == '/' || !group[n_part]))
		below = group + n_part;
	else if (n_part > 1)
		below = "";
	snprintf(path, sizeof(path) - 1, "%s%s", m->place, below);
	read_upwards(out, root, path, strlen(m->place));
}

void
sl__control_group_limits(struct sl__group_limits *out, const char *root)
{
	struct sl_buf groups = {0}, mounts = {0};
	struct mount mount;

	*out = (struct sl__group_limits){(double)INFINITY, (double)INFINITY,
					 (double)INFINITY};
	if (read_file(&groups, root, "/proc/self/", "cgroup") &&
	    read_file(&mounts, root, "/proc/self/", "mountinfo")) {
		for (const char *at = mounts.data; *at;) {
			size_t n = strcspn(at, "\n");

			if (read_mount(&mount, at, n))
				read_hierarchy(out, root, groups.data, &mount);
			at += n + (at[n] == '\n');
		}
	}
	sl_buf_release(&groups);
	sl_buf_release(&mounts);
}
