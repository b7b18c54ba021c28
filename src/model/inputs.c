/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inputs.c - what a folder holds for the inputs of a model.
 *
 * The same folders serve test data as ONNX comes with (input_0.pb) and what
 * people save from NumPy (NAME.npy).
 */
#include "model/inputs.h"
#include "base/status.h"
#include "model/npy.h"
#include "model/onnx_read.h"

#include <string.h>
#include <unistd.h>

#include "base/banned.h"

/* The public part comes first: a pointer to it is one to the whole. */
struct folder {
	struct sl__input_files inputs;
	struct sl__arena *arena;
	const char *path;
	struct sl__file_mapping *mappings;
	size_t n_mappings;
	const struct sl__tensor **contents;
	struct sl__runtime_value *values;
};

/* "FOLDER/NAME.npy"; NULL: out of memory. */
static const char *
npy_path(struct folder *f, const char *name)
{
	char *path = sl__arena_format(f->arena, "%s/%s.npy", f->path, name);

	if (path) {
		for (char *c = path + strlen(f->path) + 1; *c; c++) {
			if (*c == '/')
				*c = '_';
		}
	}
	return path;
}

/* The first of the two that is there; NULL, with *err filled, for none. */
static const char *
find_file(struct folder *f, const struct sl__value *input, size_t i,
	  struct sl_error *err)
{
	const char *pb =
		sl__arena_format(f->arena, "%s/input_%zu.pb", f->path, i);
	const char *npy = npy_path(f, input->name);

	if (!pb || !npy) {
		(void)sl__fail_nomem(err);
		return NULL;
	}
	if (access(pb, F_OK) == 0)
		return pb;
	if (access(npy, F_OK) == 0)
		return npy;
	(void)sl__fail(err, SL_E_IO,
		       "%.100s: has neither input_%zu.pb nor %.100s for the "
		       "input '%.100s'",
		       f->path, i, npy + strlen(f->path) + 1, input->name);
	return NULL;
}

static enum sl_status
read_file(struct folder *f, struct sl__tensor *out, const char *path,
	  struct sl_error *err)
{
	struct sl__file_mapping *mapping = &f->mappings[f->n_mappings];
	size_t n = strlen(path);
	enum sl_status rc = sl__file_mapping_open(mapping, path, err);

	if (rc)
		return rc; /* names the path itself */
	f->n_mappings++;
	if (!strcmp(path + n - 4, ".npy"))
		rc = sl__npy_read(out, f->arena, mapping->bytes,
				  mapping->n_bytes, err);
	else
		rc = sl__onnx_read_tensor(out, f->arena, mapping->bytes,
					  mapping->n_bytes, err);
	return sl__error_prefix(err, rc, path);
}

/* A sequence or an optional; without a file it is left as it is. */
static enum sl_status
read_value(struct folder *f, const struct sl__value *input, size_t i,
	   struct sl_error *err)
{
	struct sl__file_mapping *mapping = &f->mappings[f->n_mappings];
	const char *path =
		sl__arena_format(f->arena, "%s/input_%zu.pb", f->path, i);
	enum sl_status rc;

	if (!path)
		return sl__fail_nomem(err);
	if (access(path, F_OK))
		return SL_OK;
	rc = sl__file_mapping_open(mapping, path, err);
	if (rc)
		return rc; /* names the path itself */
	f->n_mappings++;
	rc = sl__onnx_read_runtime_value(&f->values[i], &input->declared,
					 f->arena, mapping->bytes,
					 mapping->n_bytes, err);
	return sl__error_prefix(err, rc, path);
}

static enum sl_status
read_input(struct folder *f, const struct sl__value *input, size_t i,
	   struct sl_error *err)
{
	enum sl_dtype wanted = input->declared.dtype;
	struct sl__tensor *tensor;
	const char *path;
	enum sl_status rc;

	if (input->declared.kind == SL__TYPE_SEQUENCE ||
	    input->declared.kind == SL__TYPE_OPTIONAL)
		return read_value(f, input, i, err);
	if (input->declared.kind != SL__TYPE_TENSOR &&
	    input->declared.kind != SL__TYPE_UNKNOWN)
		return SL_OK;
	tensor = sl__arena_alloc(f->arena, sizeof(*tensor));
	if (!tensor)
		return sl__fail_nomem(err);
	path = find_file(f, input, i, err);
	if (!path)
		return err->status;
	rc = read_file(f, tensor, path, err);
	if (rc)
		return rc;
	if (wanted != SL_DTYPE_NONE && tensor->dtype != wanted)
		return sl__fail(err, SL_E_DATA,
				"%.300s: holds %s, but the input '%.100s' is "
				"%s",
				path, sl_dtype_text(tensor->dtype), input->name,
				sl_dtype_text(wanted));
	f->contents[i] = tensor;
	return SL_OK;
}

/* A file for an input that the model has not is for another model. */
static enum sl_status
refuse_more(struct folder *f, size_t n_inputs, struct sl_error *err)
{
	const char *path = sl__arena_format(f->arena, "%s/input_%zu.pb",
					    f->path, n_inputs);

	if (!path)
		return sl__fail_nomem(err);
	if (access(path, F_OK))
		return SL_OK;
	return sl__fail(err, SL_E_DATA,
			"%.300s: there is no input %zu; the model has %zu "
			"input%s, counted from 0",
			path, n_inputs, n_inputs, n_inputs == 1 ? "" : "s");
}

enum sl_status
sl__input_files_open(struct sl__input_files **out, const struct sl_graph *graph,
		     const char *folder, const struct sl_allocator *allocator,
		     struct sl_error *err)
{
	return sl__input_files_open_except(out, graph, folder, NULL, allocator,
					   err);
}

enum sl_status
sl__input_files_open_except(struct sl__input_files **out,
			    const struct sl_graph *graph, const char *folder,
			    const unsigned char *is_left_out,
			    const struct sl_allocator *allocator,
			    struct sl_error *err)
{
	const struct sl__block *main = &graph->blocks[0];
	struct sl_error ignored = {.status = SL_OK, .text = ""};
	struct sl__arena *arena;
	struct folder *f = sl__arena_object_new(&arena, allocator, sizeof(*f));
	enum sl_status rc = SL_OK;

	*out = NULL;
	if (!err)
		err = &ignored;
	if (!f)
		return sl__fail_nomem(err);
	f->arena = arena;
	f->path = folder;
	f->mappings =
		sl__arena_array(arena, main->n_inputs, sizeof(*f->mappings));
	f->contents = sl__arena_array(arena, main->n_inputs,
				      sizeof(const struct sl__tensor *));
	f->values = sl__arena_array(arena, main->n_inputs, sizeof(*f->values));
	if (!f->mappings || !f->contents || !f->values)
		rc = sl__fail_nomem(err);
	else if (access(folder, F_OK))
		rc = sl__fail(err, SL_E_IO, "%s: no such folder", folder);
	for (size_t i = 0; !rc && i < main->n_inputs; i++) {
		if (!is_left_out || !is_left_out[i])
			rc = read_input(f, &graph->values[main->inputs[i]], i,
					err);
	}
	if (!rc)
		rc = refuse_more(f, main->n_inputs, err);
	f->inputs.contents = f->contents;
	f->inputs.values = f->values;
	f->inputs.n = main->n_inputs;
	if (rc)
		sl__input_files_close(&f->inputs);
	else
		*out = &f->inputs;
	return rc;
}

void
sl__input_files_close(struct sl__input_files *inputs)
{
	struct folder *f = (struct folder *)inputs;

	if (!f)
		return;
	for (size_t i = 0; i < f->n_mappings; i++)
		sl__file_mapping_close(&f->mappings[i]);
	sl__arena_object_free(f);
}
