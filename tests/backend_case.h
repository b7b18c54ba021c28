/* SPDX-License-Identifier: Apache-2.0 */
/* backend_case.h - a model of ONNX's backend tests, its data, and whether what
 * a run gives is what it should give. */
#ifndef SL_TEST_BACKEND_CASE_H
#define SL_TEST_BACKEND_CASE_H

#include "harness.h"
#include "base/dtype.h"
#include "base/file_mapping.h"
#include "model/onnx_read.h"

#include <unistd.h>

enum { PATH_MOST = 512, VALUES_MOST = 64 };

/* What input_N.pb or output_N.pb of a data set hold. */
struct files {
	struct sl__arena arena;
	struct sl__file_mapping mapped[VALUES_MOST];
	struct sl__runtime_value data[VALUES_MOST];
	size_t n;
};

/* One model with its data. */
struct backend_case {
	const char *root, *corrected; /* folders: see case_file() */
	struct sl_graph *graph;
	struct files in, want;
	int is_corrected;    /* a file is from the second */
	char why[PATH_MOST]; /* it fails */
};

/*
 * The file of a case: the one below 'corrected', where ONNX has corrected the
 * case since the release at hand, else the one below 'root'.
 */
static inline const char *
case_file(struct backend_case *c, char *file, const char *folder,
	  const char *name)
{
	snprintf(file, 2 * PATH_MOST, "%.400s/%.300s/%.200s", c->corrected,
		 folder, name);
	if (!access(file, F_OK))
		c->is_corrected = 1;
	else
		snprintf(file, 2 * PATH_MOST, "%.400s/%.300s/%.200s", c->root,
			 folder, name);
	return file;
}

/* 'values' are the graph's inputs or outputs, whose types tell what to read.
 * 0 with the reason where a file cannot be read. */
static inline int
files_open(struct files *f, struct backend_case *c, const char *folder,
	   const uint32_t *values, size_t n_values)
{
	const char *kind = f == &c->in ? "input" : "output";
	char path[2 * PATH_MOST], name[64];
	struct sl_error err = {0};

	for (f->n = 0; f->n < VALUES_MOST; f->n++) {
		const struct sl__type *type = NULL;

		snprintf(name, sizeof(name), "test_data_set_0/%s_%zu.pb", kind,
			 f->n);
		if (sl__file_mapping_open(&f->mapped[f->n],
					  case_file(c, path, folder, name),
					  NULL))
			return 1;
		if (f->n < n_values)
			type = &c->graph->values[values[f->n]].declared;
		if (sl__onnx_read_runtime_value(&f->data[f->n], type, &f->arena,
						f->mapped[f->n].bytes,
						f->mapped[f->n].n_bytes,
						&err)) {
			snprintf(c->why, PATH_MOST, "%s_%zu: %.300s", kind,
				 f->n, err.text);
			return 0;
		}
		/* numpy has no bf16, and the files have its bits. */
		if (type && type->dtype == SL_DTYPE_BF16 &&
		    f->data[f->n].tensor.dtype == SL_DTYPE_U16)
			f->data[f->n].tensor.dtype = SL_DTYPE_BF16;
	}
	return 1;
}

static inline void
files_close(struct files *f)
{
	for (size_t i = 0; i < VALUES_MOST; i++)
		sl__file_mapping_close(&f->mapped[i]);
	sl__arena_release(&f->arena);
}

/* The test 'path' below the folders.  0 with the reason; closed either way with
 * case_close(). */
static inline int
case_open(struct backend_case *c, const char *root, const char *corrected,
	  const char *path)
{
	const struct sl__block *block;
	struct sl_error err = {0};
	char file[2 * PATH_MOST];

	memset(c, 0, sizeof(*c));
	c->root = root;
	c->corrected = corrected;
	if (sl__onnx_open(&c->graph, case_file(c, file, path, "model.onnx"),
			  NULL, &err)) {
		snprintf(c->why, PATH_MOST, "%s", err.text);
		return 0;
	}
	block = &c->graph->blocks[0];
	if (!files_open(&c->in, c, path, block->inputs, block->n_inputs) ||
	    !files_open(&c->want, c, path, block->outputs, block->n_outputs))
		return 0;
	/* Else there would be nothing that could be wrong. */
	snprintf(c->why, PATH_MOST, "no output_0.pb");
	return c->want.n > 0;
}

static inline void
case_close(struct backend_case *c)
{
	files_close(&c->in);
	files_close(&c->want);
	sl_graph_free(c->graph);
}

/* ONNX's own tolerances: 1e-3 relative and 1e-7 absolute. */
static inline int
is_close(double a, double b)
{
	if (isnan(b) || isnan(a))
		return isnan(a) && isnan(b);
	if (isinf(b) || isinf(a))
		return a == b;
	return fabs(a - b) <= 1e-7 + 1e-3 * fabs(b);
}

/* Element i; 0 with the reason. */
static inline int
compare_element(const struct sl__tensor *got, const struct sl__tensor *want,
		uint64_t i, char *why)
{
	unsigned long long at = i;
	int64_t p = 0, q = 0;
	double a, b;

	if (want->dtype == SL_DTYPE_STRING) {
		snprintf(why, PATH_MOST, "string %llu: '%.200s', not '%.200s'",
			 at, got->strings[i], want->strings[i]);
		return !strcmp(got->strings[i], want->strings[i]);
	}
	if (!sl__tensor_doubles(got, i, 1, &a) ||
	    !sl__tensor_doubles(want, i, 1, &b) ||
	    !sl__tensor_integer_bits(got, i, 1, &p) ||
	    !sl__tensor_integer_bits(want, i, 1, &q)) {
		snprintf(why, PATH_MOST, "cannot be compared");
		return 0;
	}
	snprintf(why, PATH_MOST, "element %llu: %.9g, not %.9g", at, a, b);
	return sl__dtype_family(want->dtype) == SL__DTYPE_INTEGER
		       ? p == q
		       : is_close(a, b);
}

static inline int
compare_tensors(const struct sl__tensor *got, const struct sl__tensor *want,
		char *why)
{
	if (got->dtype != want->dtype || got->rank != want->rank) {
		snprintf(why, PATH_MOST, "type or rank: %s %zu, not %s %zu",
			 sl_dtype_text(got->dtype), got->rank,
			 sl_dtype_text(want->dtype), want->rank);
		return 0;
	}
	for (size_t d = 0; d < want->rank; d++) {
		snprintf(why, PATH_MOST, "dim %zu: %lld, not %lld", d,
			 (long long)got->dims[d], (long long)want->dims[d]);
		if (got->dims[d] != want->dims[d])
			return 0;
	}
	for (uint64_t i = 0; i < want->n_elements; i++) {
		if (!compare_element(got, want, i, why))
			return 0;
	}
	return 1;
}

static inline int
compare(const struct sl__runtime_value *got,
	const struct sl__runtime_value *want, char *why)
{
	if (got->kind != want->kind || got->n_items != want->n_items) {
		snprintf(why, PATH_MOST, "kind %d of %zu items, not %d of %zu",
			 (int)got->kind, got->n_items, (int)want->kind,
			 want->n_items);
		return 0;
	}
	if (want->kind == SL__TYPE_TENSOR)
		return compare_tensors(&got->tensor, &want->tensor, why);
	for (size_t i = 0; i < want->n_items; i++) {
		if (!compare(&got->items[i], &want->items[i], why))
			return 0;
	}
	return 1;
}

#endif
