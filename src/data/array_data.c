/* SPDX-License-Identifier: Apache-2.0 */
/*
 * array_data.c - samples and labels as two arrays: files of NumPy
 * and IDX.
 *
 * The first dimension counts samples.  Integers of 32 and 64 bits stay
 * integers, as tokens are; all other numbers become f32, as they are, and must
 * be finite; bytes of IDX are pixels and become 0 to 1.
 */
#include "base/file_mapping.h"
#include "base/status.h"
#include "data/dataset.h"
#include "data/idx.h"
#include "data/zip_member.h"
#include "model/npy.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/banned.h"

enum { CLASSES_MOST = 1 << 20 };

/* The samples of one split. */
struct arrays {
	struct sl__tensor x, y; /* as read; numbers live as long as the file */
	unsigned char *values;  /* [n], each of n_bytes */
	int64_t *labels;        /* [n][n_labels] */
	size_t n, n_bytes, n_labels;
	int is_pixels; /* 255 becomes 1 */
	int64_t n_classes;
};

struct array_samples {
	struct arrays splits[SL_N_SPLITS];
	struct sl_data_input input;
};

/* What the arrays of samples and of labels are called; files are by the words
 * of one array, with others before and after. */
typedef const char *const pair[2];
static pair pairs[] = {{"x", "y"},
		       {"X", "y"},
		       {"images", "labels"},
		       {"data", "target"},
		       {"x_train", "y_train"},
		       {"X_train", "y_train"},
		       {NULL, NULL}};
static pair test_pairs[] = {
	{"x_test", "y_test"}, {"X_test", "y_test"}, {NULL, NULL}};
enum { N_WORDS = 4 };

static enum sl_status
copy_labels(struct arrays *a, struct sl__arena *arena, struct sl_error *err)
{
	size_t n = (size_t)a->y.n_elements;

	a->labels = sl__arena_array(arena, n, sizeof(*a->labels));
	if (!a->labels)
		return sl__fail_nomem(err);
	for (size_t i = 0; i < n; i++) {
		double x;

		if (!sl__tensor_doubles(&a->y, i, 1, &x))
			return sl__fail(err, SL_E_DATA,
					"labels are %s, whole "
					"numbers are expected",
					sl_dtype_text(a->y.dtype));
		if (!(x >= (a->n_labels > 1 ? -1 : 0) && x < CLASSES_MOST) ||
		    x > (double)(int64_t)x)
			return sl__fail(err, SL_E_DATA,
					"label %zu is %g, no whole number from "
					"0 to %d",
					i, x, CLASSES_MOST - 1);
		a->labels[i] = (int64_t)x;
		if (a->labels[i] >= a->n_classes)
			a->n_classes = a->labels[i] + 1;
	}
	return SL_OK;
}

static enum sl_status
copy_values(struct arrays *a, struct sl__arena *arena, struct sl_error *err)
{
	int is_integer = a->x.dtype == SL_DTYPE_I64 ||
			 a->x.dtype == SL_DTYPE_I32;
	size_t n = (size_t)a->x.n_elements, size = is_integer ? 8 : 4;

	a->values = sl__arena_array(arena, n, size);
	if (!a->values)
		return sl__fail_nomem(err);
	for (size_t i = 0; i < n; i++) {
		int64_t whole;
		double x;

		if (is_integer && sl__tensor_integers(&a->x, i, 1, &whole)) {
			sl__store_integers(a->values, SL_DTYPE_I64, i, 1,
					   &whole);
			continue;
		}
		if (!sl__tensor_doubles(&a->x, i, 1, &x))
			return sl__fail(err, SL_E_DATA,
					"samples are %s, numbers are expected",
					sl_dtype_text(a->x.dtype));
		if (!(fabs(x) <= (double)FLT_MAX))
			return sl__fail(err, SL_E_DATA,
					"sample %zu holds %g, finite numbers "
					"of f32 are expected",
					i / (n / a->n), x);
		if (a->is_pixels)
			x /= 255;
		sl__store_doubles(a->values, SL_DTYPE_F32, i, 1, &x);
	}
	a->x.dtype = is_integer ? SL_DTYPE_I64 : SL_DTYPE_F32;
	a->n_bytes = n / a->n * size;
	return SL_OK;
}

/* Takes the numbers out of the files, once both arrays are read. */
static enum sl_status
copy_arrays(struct arrays *a, struct sl__arena *arena, struct sl_error *err)
{
	enum sl_status rc;

	if (a->x.rank < 2 || a->y.rank < 1)
		return sl__fail(err, SL_E_DATA,
				"samples have %zu dimensions and labels %zu; 2 "
				"and 1 are the least",
				a->x.rank, a->y.rank);
	if (a->x.dims[0] != a->y.dims[0])
		return sl__fail(err, SL_E_DATA,
				"there are %lld samples and %lld labels",
				(long long)a->x.dims[0],
				(long long)a->y.dims[0]);
	if (!a->x.n_elements || !a->y.n_elements)
		return sl__fail(err, SL_E_DATA, "has no samples");
	a->n = (size_t)a->x.dims[0];
	a->n_labels = (size_t)a->y.n_elements / a->n;
	rc = copy_labels(a, arena, err);
	return rc ? rc : copy_values(a, arena, err);
}

/* An array of an archive; *found is 0 where that has none of this name. */
static enum sl_status
read_member(struct sl__tensor *out, int *found,
	    const struct sl__file_mapping *zip, const char *name,
	    struct sl__arena *arena, struct sl_error *err)
{
	const char *member = sl__arena_format(arena, "%s.npy", name);
	const unsigned char *bytes;
	enum sl_status rc;
	size_t n;

	if (!member)
		return sl__fail_nomem(err);
	rc = sl__zip_member(&bytes, &n, zip, member, arena, err);
	*found = bytes != NULL;
	if (!rc && bytes)
		rc = sl__error_prefix(
			err, sl__npy_read(out, arena, bytes, n, err), name);
	return rc;
}

static enum sl_status
read_pair(struct arrays *a, int *found, const struct sl__file_mapping *zip,
	  pair names, struct sl__arena *arena, struct sl_error *err)
{
	enum sl_status rc =
		read_member(&a->x, found, zip, names[0], arena, err);
	int has_labels = 0;

	if (rc || !*found)
		return rc;
	rc = read_member(&a->y, &has_labels, zip, names[1], arena, err);
	if (!rc && !has_labels)
		rc = sl__fail(err, SL_E_DATA, "has an array '%s', but no '%s'",
			      names[0], names[1]);
	return rc ? rc : copy_arrays(a, arena, err);
}

/* The first of the pairs that the archive has. */
static enum sl_status
read_first(struct arrays *a, int *found, const struct sl__file_mapping *zip,
	   pair *names, struct sl__arena *arena, struct sl_error *err)
{
	enum sl_status rc = SL_OK;

	*found = 0;
	for (; !rc && !*found && **names; names++)
		rc = read_pair(a, found, zip, *names, arena, err);
	return rc;
}

/* Both arrays of an archive, and where 'test' is given those of its test
 * split. */
static enum sl_status
read_archive(struct arrays *a, struct arrays *test, const char *path,
	     struct sl__arena *arena, struct sl_error *err)
{
	struct sl__file_mapping zip = {0};
	enum sl_status rc = sl__file_mapping_open(&zip, path, err);
	int found;

	if (rc)
		return rc;
	rc = read_first(a, &found, &zip, pairs, arena, err);
	if (!rc && !found && !test)
		rc = read_first(a, &found, &zip, test_pairs, arena, err);
	if (!rc && !found)
		rc = sl__fail(err, SL_E_DATA,
			      "has no arrays x and y, images and labels, or "
			      "data and target");
	if (!rc && test)
		rc = read_first(test, &found, &zip, test_pairs, arena, err);
	sl__file_mapping_close(&zip);
	return sl__error_prefix(err, rc, path);
}

/* Where 'word' stands in the name of a file, alone or between separators;
 * NULL: nowhere. */
static const char *
find_word(const char *path, const char *word)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path, *at = name;
	size_t n = strlen(word);

	for (; (at = strstr(at, word)) != NULL; at++) {
		if ((at == name || strchr("_-.", at[-1])) &&
		    strchr("_-.", at[n]))
			return at;
	}
	return NULL;
}

/* Where labels are that were not named: y.npy beside x.npy, y_test.npy beside
 * X_test.npy, and likewise. */
static enum sl_status
find_labels(const char **out, const char *path, struct sl__arena *arena,
	    struct sl_error *err)
{
	for (size_t i = 0; i < N_WORDS; i++) {
		const char *word = find_word(path, pairs[i][0]);

		if (!word)
			continue;
		*out = sl__arena_format(arena, "%.*s%s%s", (int)(word - path),
					path, pairs[i][1],
					word + strlen(pairs[i][0]));
		return *out ? SL_OK : sl__fail_nomem(err);
	}
	return sl__fail(err, SL_E_USAGE,
			"%.200s needs a file of labels; only those of names "
			"with the word x, images or data are found, such as "
			"y_test.npy of x_test.npy",
			path);
}

/* Likewise of IDX: train-labels-idx1-ubyte for train-images-idx3-ubyte. */
static enum sl_status
find_idx_labels(const char **out, const char *path, struct sl__arena *arena,
		struct sl_error *err)
{
	const char *slash = strrchr(path, '/');
	const char *word = strstr(slash ? slash : path, "images");
	char *name, *rank;

	if (!word)
		return sl__fail(err, SL_E_USAGE,
				"%.200s needs a file of labels; only a name "
				"with 'images' tells theirs",
				path);
	name = sl__arena_format(arena, "%.*slabels%s", (int)(word - path), path,
				word + strlen("images"));
	if (!name)
		return sl__fail_nomem(err);
	rank = strstr(name + (word - path), "idx3");
	if (rank)
		rank[3] = '1';
	*out = name;
	return SL_OK;
}

static enum sl_status
read_array(struct sl__tensor *out, struct sl__file_mapping *file,
	   const char *path, struct sl__arena *arena, struct sl_error *err)
{
	enum sl_status rc = sl__file_mapping_open(file, path, err);

	if (rc)
		return rc;
	rc = sl__idx_is_named(path) ? sl__idx_read(out, file, arena, err)
				    : sl__npy_read(out, arena, file->bytes,
						   file->n_bytes, err);
	return sl__error_prefix(err, rc, path);
}

static enum sl_status
read_files(struct arrays *a, const char *path, const char *labels,
	   struct sl__arena *arena, struct sl_error *err)
{
	struct sl__file_mapping x = {0}, y = {0};
	enum sl_status rc = SL_OK;

	a->is_pixels = sl__idx_is_named(path);
	if (!labels)
		rc = a->is_pixels ? find_idx_labels(&labels, path, arena, err)
				  : find_labels(&labels, path, arena, err);
	if (!rc)
		rc = read_array(&a->x, &x, path, arena, err);
	if (!rc)
		rc = read_array(&a->y, &y, labels, arena, err);
	if (!rc)
		rc = sl__error_prefix(err, copy_arrays(a, arena, err), path);
	sl__file_mapping_close(&x);
	sl__file_mapping_close(&y);
	return rc;
}

static enum sl_status
read_any(struct arrays *a, struct arrays *test, const char *path,
	 const char *labels, struct sl__arena *arena, struct sl_error *err)
{
	if (!sl__name_ends_in(path, ".npz"))
		return read_files(a, path, labels, arena, err);
	if (labels)
		return sl__fail(err, SL_E_USAGE,
				"'%.200s' takes no file of labels", path);
	return read_archive(a, test, path, arena, err);
}

static enum sl_status
fill(void *ctx, enum sl_split split, size_t index, void *const *inputs,
     int64_t *labels, struct sl_error *err)
{
	const struct array_samples *s = ctx;
	const struct arrays *a = &s->splits[split];

	(void)err;
	memcpy(inputs[0], a->values + index * a->n_bytes, a->n_bytes);
	memcpy(labels, a->labels + index * a->n_labels,
	       a->n_labels * sizeof(*labels));
	return SL_OK;
}

static int
is_alike(const struct arrays *a, const struct arrays *b)
{
	return a->x.dtype == b->x.dtype && a->x.rank == b->x.rank &&
	       a->n_labels == b->n_labels &&
	       !memcmp(a->x.dims + 1, b->x.dims + 1,
		       (a->x.rank - 1) * sizeof(*a->x.dims));
}

enum sl_status
sl__arrays_open(struct sl_dataset *data, const char *path,
		const struct sl_dataset_options *o, struct sl_error *err)
{
	struct array_samples *s = sl__arena_alloc(data->arena, sizeof(*s));
	const char *name = sl__arena_string(data->arena, path);
	struct arrays *train, *test;
	enum sl_status rc;

	if (!s || !name)
		return sl__fail_nomem(err);
	train = &s->splits[SL_SPLIT_TRAIN];
	test = &s->splits[SL_SPLIT_TEST];
	rc = read_any(train, o->test ? NULL : test, path, o->labels,
		      data->arena, err);
	if (!rc && o->test)
		rc = read_any(test, NULL, o->test, NULL, data->arena, err);
	if (rc)
		return rc;
	if (test->n && !is_alike(train, test))
		return sl__fail(err, SL_E_DATA,
				"samples of the test split of %.200s have "
				"other sizes or another type",
				path);
	s->input = (struct sl_data_input){"", train->x.dtype, train->x.rank - 1,
					  train->x.dims + 1};
	data->origin = (struct sl_data_source){
		.struct_size = sizeof(data->origin),
		.name = name,
		.inputs = &s->input,
		.n_inputs = 1,
		.n_labels = train->n_labels,
		.n_classes = test->n_classes > train->n_classes
				     ? test->n_classes
				     : train->n_classes,
		.n_samples = {[SL_SPLIT_TRAIN] = train->n,
			      [SL_SPLIT_TEST] = test->n},
		.fill = fill,
		.ctx = s};
	return SL_OK;
}
