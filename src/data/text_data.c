/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text_data.c - text for language models: a token is a byte, its label the
 * byte after it.  Samples follow one another without overlap.
 */
#include "base/file_mapping.h"
#include "base/status.h"
#include "data/dataset.h"

#include <string.h>

#include "base/banned.h"

enum { CONTEXT_DEFAULT = 64, N_BYTE_VALUES = 256, TEST_SHARE = 10 };

struct text {
	const unsigned char *splits[SL_N_SPLITS]; /* where each begins */
	int64_t dims[1];
	struct sl_data_input input;
};

/* Copies the text into the arena; *n becomes its number of samples. */
static enum sl_status
read_text(const unsigned char **out, size_t *n, const char *path,
	  size_t context, struct sl__arena *arena, struct sl_error *err)
{
	struct sl__file_mapping file = {0};
	enum sl_status rc = sl__file_mapping_open(&file, path, err);
	unsigned char *bytes;

	if (rc)
		return rc;
	if (file.n_bytes <= context) {
		rc = sl__fail(err, SL_E_DATA,
			      "%.200s has %zu bytes; a context of %zu takes "
			      "%zu or more",
			      path, file.n_bytes, context, context + 1);
	} else {
		bytes = sl__arena_alloc(arena, file.n_bytes);
		if (bytes)
			memcpy(bytes, file.bytes, file.n_bytes);
		else
			rc = sl__fail_nomem(err);
		*out = bytes;
		*n = (file.n_bytes - 1) / context;
	}
	sl__file_mapping_close(&file);
	return rc;
}

static enum sl_status
fill(void *ctx, enum sl_split split, size_t index, void *const *inputs,
     int64_t *labels, struct sl_error *err)
{
	const struct text *t = ctx;
	size_t n = (size_t)t->dims[0];
	const unsigned char *at = t->splits[split] + index * n;
	int64_t *tokens = inputs[0];

	(void)err;
	for (size_t i = 0; i < n; i++) {
		tokens[i] = at[i];
		labels[i] = at[i + 1];
	}
	return SL_OK;
}

enum sl_status
sl__text_open(struct sl_dataset *data, const char *path,
	      const struct sl_dataset_options *o, struct sl_error *err)
{
	struct text *t = sl__arena_alloc(data->arena, sizeof(*t));
	const char *name = sl__arena_string(data->arena, path);
	size_t context = o->context ? (size_t)o->context : CONTEXT_DEFAULT;
	size_t n = 0, n_test = 0;
	enum sl_status rc;

	if (!t || !name)
		return sl__fail_nomem(err);
	if (o->context < 0)
		return sl__fail(err, SL_E_USAGE, "a context of %lld tokens",
				(long long)o->context);
	rc = read_text(&t->splits[SL_SPLIT_TRAIN], &n, path, context,
		       data->arena, err);
	if (!rc && o->test)
		rc = read_text(&t->splits[SL_SPLIT_TEST], &n_test, o->test,
			       context, data->arena, err);
	if (rc)
		return rc;
	if (!o->test && n > 1) {
		n_test = (n + TEST_SHARE - 1) / TEST_SHARE;
		n -= n_test;
		t->splits[SL_SPLIT_TEST] =
			t->splits[SL_SPLIT_TRAIN] + n * context;
	}
	t->dims[0] = (int64_t)context;
	t->input = (struct sl_data_input){"", SL_DTYPE_I64, 1, t->dims};
	data->origin = (struct sl_data_source){
		.struct_size = sizeof(data->origin),
		.name = name,
		.inputs = &t->input,
		.n_inputs = 1,
		.n_labels = context,
		.n_classes = N_BYTE_VALUES,
		.n_samples = {[SL_SPLIT_TRAIN] = n, [SL_SPLIT_TEST] = n_test},
		.fill = fill,
		.ctx = t};
	return SL_OK;
}
