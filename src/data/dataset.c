/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dataset.c - a data set of any origin.
 *
 * Every kind of data fills in one struct, sl_data_source; what is the same for
 * all of them is here: the validation split, and that labels are in range.
 */
#include "data/dataset.h"
#include "base/option_struct.h"
#include "base/status.h"
#include "data/idx.h"
#include "data/permutation.h"

#include <string.h>
#include <strings.h>

#include "base/banned.h"

const char *
sl_split_text(enum sl_split split)
{
	static const char *const names[SL_N_SPLITS] = {
		[SL_SPLIT_TRAIN] = "train",
		[SL_SPLIT_VALIDATION] = "validation",
		[SL_SPLIT_TEST] = "test"};

	return (unsigned)split < SL_N_SPLITS ? names[split] : "unknown";
}

/* The validation split is the beginning of a random order of the origin's
 * training samples, the training split the rest. */
static enum sl_status
fill_split(void *ctx, enum sl_split split, size_t index, void *const *inputs,
	   int64_t *labels, struct sl_error *err)
{
	const struct sl_dataset *data = ctx;
	const struct sl_data_source *origin = &data->origin;
	size_t n_held = data->source.n_samples[SL_SPLIT_VALIDATION];
	enum sl_status rc;

	if (split != SL_SPLIT_TEST && !origin->n_samples[SL_SPLIT_VALIDATION] &&
	    n_held) {
		index = sl__permuted(
			split == SL_SPLIT_TRAIN ? n_held + index : index,
			origin->n_samples[SL_SPLIT_TRAIN], data->seed);
		split = SL_SPLIT_TRAIN;
	}
	rc = origin->fill(origin->ctx, split, index, inputs, labels, err);
	for (size_t i = 0; !rc && i < origin->n_labels; i++) {
		if (labels[i] != SL_LABEL_IGNORED &&
		    (labels[i] < 0 || labels[i] >= origin->n_classes))
			rc = sl__fail(err, SL_E_DATA,
				      "%.200s, %s sample %zu: the label %lld "
				      "is out of range, 0 to %lld",
				      origin->name, sl_split_text(split), index,
				      (long long)labels[i],
				      (long long)origin->n_classes - 1);
	}
	return rc;
}

static enum sl_status
check_source(const struct sl_data_source *s, struct sl_error *err)
{
	size_t n_samples = 0;

	if (!s->fill || !s->inputs || !s->n_inputs || !s->n_labels ||
	    s->n_classes < 1)
		return sl__fail(err, SL_E_USAGE,
				"a data source needs a function that fills "
				"samples, inputs, labels and classes");
	for (size_t i = 0; i < s->n_inputs; i++) {
		if (s->inputs[i].dtype != SL_DTYPE_F32 &&
		    s->inputs[i].dtype != SL_DTYPE_I64)
			return sl__fail(err, SL_E_USAGE,
					"input %zu of the data source has the "
					"type %s; f32 and int64 are taken",
					i, sl_dtype_text(s->inputs[i].dtype));
	}
	for (size_t i = 0; i < SL_N_SPLITS; i++)
		n_samples += s->n_samples[i];
	return n_samples ? SL_OK
			 : sl__fail(err, SL_E_DATA, "%.200s has no samples",
				    s->name);
}

/* Makes 'source' of the origin. */
static enum sl_status
finish(struct sl_dataset *data, const struct sl_dataset_options *o,
       struct sl_error *err)
{
	struct sl_data_source *s = &data->source;
	size_t n_train = data->origin.n_samples[SL_SPLIT_TRAIN];
	size_t n_held = (size_t)(o->validation * (double)n_train);
	enum sl_status rc;

	if (!data->origin.name)
		data->origin.name = "data";
	rc = check_source(&data->origin, err);
	if (rc)
		return rc;
	data->seed = sl__mixed_key(o->seed ? o->seed : 1, SL_SPLIT_VALIDATION);
	*s = data->origin;
	s->fill = fill_split;
	s->ctx = data;
	if (o->validation == 0)
		return SL_OK;
	if (s->n_samples[SL_SPLIT_VALIDATION])
		return sl__fail(err, SL_E_USAGE,
				"%.200s has a validation split of its own",
				s->name);
	if (!n_held || n_held == n_train)
		return sl__fail(err, SL_E_DATA,
				"%g of the %zu training samples of %.200s is "
				"%s: the %s split would be empty",
				o->validation, n_train, s->name,
				n_held ? "all of them" : "none",
				n_held ? "training" : "validation");
	s->n_samples[SL_SPLIT_TRAIN] -= n_held;
	s->n_samples[SL_SPLIT_VALIDATION] = n_held;
	return SL_OK;
}

/* An empty data set with an arena, and a copy of the options. */
static enum sl_status
begin(struct sl_dataset **out, struct sl_dataset_options *copy,
      const struct sl_dataset_options *options, struct sl_error *err)
{
	struct sl__arena *arena;
	enum sl_status rc = sl__options_copy(copy, sizeof(*copy), options,
					     "sl_dataset_options", err);

	*out = NULL;
	if (rc)
		return rc;
	if (!(copy->validation >= 0 && copy->validation < 1))
		return sl__fail(err, SL_E_USAGE,
				"a validation share of %g: from 0 to below 1",
				copy->validation);
	*out = sl__arena_object_new(&arena, copy->allocator, sizeof(**out));
	if (!*out)
		return sl__fail_nomem(err);
	(*out)->arena = arena;
	return SL_OK;
}

int
sl__name_ends_in(const char *name, const char *end)
{
	size_t n = strlen(name), n_end = strlen(end);

	return n > n_end && !strcasecmp(name + n - n_end, end);
}

enum format { NO_FILE, ARRAYS, CSV, TEXT };

static enum format
format_of(const char *name)
{
	if (sl__name_ends_in(name, ".npy") || sl__name_ends_in(name, ".npz") ||
	    sl__idx_is_named(name))
		return ARRAYS;
	if (sl__name_ends_in(name, ".csv"))
		return CSV;
	return sl__name_ends_in(name, ".txt") ? TEXT : NO_FILE;
}

static enum sl_status
open_named(struct sl_dataset *data, const char *name,
	   const struct sl_dataset_options *o, struct sl_error *err)
{
	enum format format = format_of(name);
	int has_arrays = format == ARRAYS, is_text = format == TEXT, is_task;
	enum sl_status rc;

	if ((o->labels && !has_arrays) || (o->context && !is_text))
		return sl__fail(err, SL_E_USAGE, "'%.200s' takes no %s", name,
				o->labels && !has_arrays ? "file of labels"
							 : "context");
	if (o->test && format != NO_FILE && format_of(o->test) != format)
		return sl__fail(err, SL_E_USAGE,
				"the test file '%.200s' must be of the format "
				"of '%.200s': CSV, arrays or text",
				o->test, name);
	if (is_text)
		return sl__text_open(data, name, o, err);
	if (has_arrays)
		return sl__arrays_open(data, name, o, err);
	if (format == CSV)
		return sl__csv_open(data, name, o->test, err);
	if (o->test)
		return sl__fail(err, SL_E_USAGE,
				"'%.200s' has a test split of its own", name);
	if (!strcmp(name, "digits")) {
		sl__digits_open(data);
		return SL_OK;
	}
	rc = sl__sequence_task_open(data, name, o->seed ? o->seed : 1, &is_task,
				    err);
	if (rc || is_task)
		return rc;
	return sl__fail(err, SL_E_USAGE,
			"no data set is called '%.200s': digits, copy:N, "
			"reverse:N, sort:N and addition:N are, or a file that "
			"ends in .csv, .npy, .npz, .idx, -ubyte or .txt",
			name);
}

enum sl_status
sl_dataset_open(struct sl_dataset **out, const char *name,
		const struct sl_dataset_options *options, struct sl_error *err)
{
	struct sl_dataset_options copy;
	enum sl_status rc = begin(out, &copy, options, err);

	if (!rc)
		rc = open_named(*out, name, &copy, err);
	if (!rc)
		rc = finish(*out, &copy, err);
	*out = sl__arena_object_free_on_error(*out, rc);
	return rc;
}

enum sl_status
sl_dataset_new(struct sl_dataset **out, const struct sl_data_source *source,
	       const struct sl_dataset_options *options, struct sl_error *err)
{
	struct sl_dataset_options copy;
	enum sl_status rc = begin(out, &copy, options, err);

	if (!rc)
		rc = sl__options_copy(&(*out)->origin, sizeof((*out)->origin),
				      source, "sl_data_source", err);
	if (!rc)
		rc = finish(*out, &copy, err);
	*out = sl__arena_object_free_on_error(*out, rc);
	return rc;
}

void
sl_dataset_close(struct sl_dataset *data)
{
	sl__arena_object_free(data);
}

const struct sl_data_source *
sl_dataset_source(const struct sl_dataset *data)
{
	return &data->source;
}
