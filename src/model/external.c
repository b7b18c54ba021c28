/* SPDX-License-Identifier: Apache-2.0 */
/*
 * external.c - numbers that a model keeps in files beside it.
 *
 * A model from a stranger must not make Sleuth read other files of the user:
 * the location has to be a relative path without "..", and what it leads to,
 * links followed, has to lie below the model's folder.  Where the model itself
 * is a link, as in folders that share their files (blobs/), the file may lie
 * beside the one that the link leads to.
 */
#define _DEFAULT_SOURCE /* realpath() */
#include "model/external.h"
#include "base/status.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/banned.h"

/* Digits only, below 2^64. */
static int
parse_number(const char *text, uint64_t *out)
{
	uint64_t value = 0;

	if (!*text)
		return 0;
	for (; *text; text++) {
		if (*text < '0' || *text > '9' ||
		    __builtin_mul_overflow(value, (uint64_t)10, &value) ||
		    __builtin_add_overflow(value, (uint64_t)(*text - '0'),
					   &value))
			return 0;
	}
	*out = value;
	return 1;
}

enum sl_status
sl__external_entry(struct sl__onnx_reader *r, struct sl__wire pair,
		   struct sl__external *out)
{
	const char *key = "", *value = "";
	size_t at = pair.at;
	struct sl__field f;
	enum sl_status rc;

	for (;;) {
		const char **text;

		rc = sl__wire_next(&pair, &f, r->err);
		if (rc)
			return rc;
		if (!f.number)
			break;
		if (f.number != SL__PAIR_KEY && f.number != SL__PAIR_VALUE)
			continue;
		text = f.number == SL__PAIR_KEY ? &key : &value;
		*text = sl__onnx_text(r, &pair, &f, "");
		if (!*text)
			return r->err->status;
	}
	if (!strcmp(key, "location"))
		out->location = value;
	else if ((!strcmp(key, "offset") &&
		  !parse_number(value, &out->offset_bytes)) ||
		 (!strcmp(key, "length") &&
		  !parse_number(value, &out->n_bytes)))
		return sl__fail(r->err, SL_E_DATA,
				"byte %zu: '%.40s' is no %s of external data",
				at, value, key);
	return SL_OK;
}

/* Whether a path stays below where it starts, by its text. */
static int
is_below(const char *path)
{
	if (!*path || *path == '/')
		return 0;
	while (*path) {
		size_t n = strcspn(path, "/");

		if (n == 2 && path[0] == '.' && path[1] == '.')
			return 0;
		path += n;
		path += strspn(path, "/");
	}
	return 1;
}

enum sl_status
sl__external_target(struct sl__arena *arena, const char *path,
		    const char *folder, const char **out, struct sl_error *err)
{
	char target[PATH_MAX], around[PATH_MAX];
	char *slash;

	*out = NULL;
	if (!realpath(path, target) || !realpath(folder, around))
		return SL_OK; /* opening it says why */
	slash = strrchr(target, '/');
	if (!slash)
		return SL_OK;
	*slash = '\0';
	if (!strcmp(target, around))
		return SL_OK;
	*out = sl__arena_string(arena, target);
	return *out ? SL_OK : sl__fail_nomem(err);
}

static int
is_beside_target(const struct sl__onnx_reader *r, const char *path)
{
	size_t n = r->target ? strlen(r->target) : 0;

	return r->target && !strncmp(path, r->target, n) && path[n] == '/' &&
	       !strchr(path + n + 1, '/');
}

/*
 * The file's path with links followed, in 'path'.  *absent says why there is
 * none; SL_E_DATA when it is not below the folder.
 */
static enum sl_status
resolve(struct sl__onnx_reader *r, const char *location, char path[PATH_MAX],
	const char **absent)
{
	char folder[PATH_MAX];
	char *joined;
	size_t n;

	joined = sl__arena_format(&r->scratch, "%s/%s", r->folder, location);
	if (!joined)
		return sl__fail_nomem(r->err);
	if (!realpath(r->folder, folder) || !realpath(joined, path)) {
		char reason[128] = "";

		strerror_r(errno, reason, sizeof(reason));
		*absent = sl__arena_format(r->arena,
					   "the file '%s' cannot be read: %s",
					   location, reason);
		return *absent ? SL_OK : sl__fail_nomem(r->err);
	}
	n = strlen(folder);
	while (n && folder[n - 1] == '/')
		n--;
	if ((strncmp(path, folder, n) || path[n] != '/') &&
	    !is_beside_target(r, path))
		return sl__fail(r->err, SL_E_DATA,
				"external data '%.200s' leads out of the "
				"model's folder",
				location);
	return SL_OK;
}

/* Maps the file, unless it is mapped already. */
static enum sl_status
open_file(struct sl__onnx_reader *r, const char *location,
	  struct sl__mapping *out, const char **absent)
{
	struct sl_error why = {.status = SL_OK, .text = ""};
	char path[PATH_MAX];
	const size_t *known = sl__map_find(&r->externals, location);
	enum sl_status rc;

	if (known) {
		*out = r->graph->mappings[*known];
		return SL_OK;
	}
	rc = resolve(r, location, path, absent);
	if (rc || *absent)
		return rc;
	known = sl__map_find(&r->externals, path);
	if (known) {
		*out = r->graph->mappings[*known];
		return sl__map_put(&r->externals, location, *known, r->err);
	}
	if (sl__mapping_open(out, path, &why)) {
		*absent = sl__arena_format(r->arena, "%s", why.text);
		return *absent ? SL_OK : sl__fail_nomem(r->err);
	}
	rc = sl__map_put(&r->externals, path, r->graph->n_mappings, r->err);
	if (!rc)
		rc = sl__map_put(&r->externals, location, r->graph->n_mappings,
				 r->err);
	if (!rc)
		rc = sl__graph_add_mapping(r->graph, out, r->err);
	if (rc)
		sl__mapping_close(out);
	return rc;
}

enum sl_status
sl__external_find(struct sl__onnx_reader *r,
		  const struct sl__external *external, const char *name,
		  struct sl__tensor *tensor)
{
	struct sl__mapping file = {NULL, 0};
	uint64_t n_bytes = external->n_bytes;
	enum sl_status rc;

	if (!is_below(external->location))
		return sl__fail(r->err, SL_E_DATA,
				"tensor '%.100s': its external data '%.200s' "
				"is not below the model's folder",
				name, external->location);
	if (n_bytes != UINT64_MAX && n_bytes != tensor->n_bytes)
		return sl__fail(r->err, SL_E_DATA,
				"tensor '%.200s': %llu bytes of external data "
				"where its shape takes %llu",
				name, (unsigned long long)n_bytes,
				(unsigned long long)tensor->n_bytes);
	tensor->storage = external->location;
	if (!r->folder || !r->graph) {
		tensor->absent = "external data is not looked for";
		return SL_OK;
	}
	rc = open_file(r, external->location, &file, &tensor->absent);
	if (rc)
		return sl__within(r->err, rc, name);
	if (tensor->absent) {
		if (!r->n_missing++)
			r->missing = tensor->absent;
		return SL_OK;
	}
	if (external->offset_bytes > file.n_bytes ||
	    tensor->n_bytes > file.n_bytes - external->offset_bytes)
		return sl__fail(r->err, SL_E_DATA,
				"tensor '%.100s': %llu bytes at byte %llu of "
				"'%.100s', which has %zu",
				name, (unsigned long long)tensor->n_bytes,
				(unsigned long long)external->offset_bytes,
				external->location, file.n_bytes);
	tensor->bytes = file.bytes + external->offset_bytes;
	tensor->is_mapped = 1;
	return SL_OK;
}
