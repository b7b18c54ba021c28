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

void
sl__external_data_read_entry(struct sl__onnx_reader *r,
			     struct sl__wire_reader pair,
			     struct sl__external_data *out)
{
	struct sl__metadata said = sl__onnx_parse_string_pair(r, pair);

	if (!strcmp(said.key, "location"))
		out->location = said.value;
	else if ((!strcmp(said.key, "offset") &&
		  !parse_number(said.value, &out->offset_bytes)) ||
		 (!strcmp(said.key, "length") &&
		  !parse_number(said.value, &out->n_bytes)))
		sl__wire_fail(&r->file,
			      "byte %zu: '%.40s' is no %s of external data",
			      pair.at, said.value, said.key);
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
sl__external_data_link_folder(struct sl__arena *arena, const char *path,
			      const char *folder, const char **out,
			      struct sl_error *err)
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
	return sl__arena_copy_text(arena, out, target, err);
}

static int
is_background_target(const struct sl__onnx_reader *r, const char *path)
{
	size_t n = r->target ? strlen(r->target) : 0;

	return r->target && !strncmp(path, r->target, n) && path[n] == '/' &&
	       !strchr(path + n + 1, '/');
}

/*
 * The file's path with links followed, in 'path'.  *absent says why there is
 * none; SL_E_DATA when it is not below the folder.
 */
static void
resolve(struct sl__onnx_reader *r, const char *location, char path[PATH_MAX],
	const char **absent)
{
	char folder[PATH_MAX], reason[128] = "";
	const char *joined = sl__onnx_text_or_nomem(
		r, sl__arena_format(&r->scratch, "%s/%s", r->folder, location));
	size_t n;

	if (!realpath(r->folder, folder) || !realpath(joined, path)) {
		strerror_r(errno, reason, sizeof(reason));
		*absent = sl__onnx_text_or_nomem(
			r, sl__arena_format(r->arena,
					    "the file '%s' cannot be read: %s",
					    location, reason));
		return;
	}
	n = strlen(folder);
	while (n && folder[n - 1] == '/')
		n--;
	if ((strncmp(path, folder, n) || path[n] != '/') &&
	    !is_background_target(r, path))
		sl__wire_fail(&r->file,
			      "external data '%.200s' leads out of the model's "
			      "folder",
			      location);
}

/* Maps the file, unless it is mapped already. */
static struct sl__file_mapping
open_file(struct sl__onnx_reader *r, const char *location, const char **absent)
{
	const size_t *known = sl__map_find(&r->externals, location);
	struct sl__file_mapping file = {NULL, 0};
	struct sl_error why = {.status = SL_OK};
	char path[PATH_MAX] = "";
	size_t index = r->graph->n_mappings;

	if (known)
		return r->graph->mappings[*known];
	resolve(r, location, path, absent);
	if (*absent || r->file.status)
		return file;
	known = sl__map_find(&r->externals, path);
	if (known) {
		index = *known;
		file = r->graph->mappings[index];
	} else if (sl__file_mapping_open(&file, path, &why)) {
		*absent = sl__onnx_text_or_nomem(
			r, sl__arena_format(r->arena, "%s", why.text));
		return file;
	}
	sl__onnx_map_put(r, &r->externals, path, index);
	sl__onnx_map_put(r, &r->externals, location, index);
	if (known)
		return file;
	if (r->file.status ||
	    !sl__wire_keep_status(
		    &r->file,
		    sl__graph_add_mapping(r->graph, &file, r->file.err)))
		sl__file_mapping_close(&file);
	return file;
}

void
sl__external_data_attach(struct sl__onnx_reader *r,
			 const struct sl__external_data *external,
			 const char *name, struct sl__tensor *tensor)
{
	struct sl_error *err = r->file.err;
	struct sl__file_mapping file;

	if (!is_below(external->location))
		sl__wire_fail(&r->file,
			      "tensor '%.100s': its external data '%.200s' is "
			      "not below the model's folder",
			      name, external->location);
	if (external->n_bytes != UINT64_MAX &&
	    external->n_bytes != tensor->n_bytes)
		sl__wire_fail(&r->file,
			      "tensor '%.200s': %llu bytes of external data "
			      "where its shape takes %llu",
			      name, (unsigned long long)external->n_bytes,
			      (unsigned long long)tensor->n_bytes);
	tensor->storage = external->location;
	if (!r->folder || !r->graph || r->file.status) {
		tensor->absent = "external data is not looked for";
		return;
	}
	file = open_file(r, external->location, &tensor->absent);
	if (r->file.status) {
		(void)sl__error_prefix(err, r->file.status, name);
		return;
	}
	if (tensor->absent) {
		if (!r->n_missing++)
			r->missing = tensor->absent;
		return;
	}
	if (external->offset_bytes > file.n_bytes ||
	    tensor->n_bytes > file.n_bytes - external->offset_bytes)
		sl__wire_fail(&r->file,
			      "tensor '%.100s': %llu bytes at byte %llu of "
			      "'%.100s', which has %zu",
			      name, (unsigned long long)tensor->n_bytes,
			      (unsigned long long)external->offset_bytes,
			      external->location, file.n_bytes);
	else
		tensor->bytes = file.bytes + external->offset_bytes;
	tensor->is_mapped = 1;
}
