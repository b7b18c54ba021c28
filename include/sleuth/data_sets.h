/* SPDX-License-Identifier: Apache-2.0 */
/* data_sets.h - samples with labels, and batches of them. */
#ifndef SLEUTH_DATA_SETS_H
#define SLEUTH_DATA_SETS_H

#include "sleuth/measuring.h"
#include "sleuth/running.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Samples to train on, to choose settings by, and to report accuracy on.  No
 * sample is in two of them. */
enum sl_split { SL_SPLIT_TRAIN = 0, SL_SPLIT_VALIDATION, SL_SPLIT_TEST };
enum { SL_N_SPLITS = SL_SPLIT_TEST + 1 };

/* "train", "validation", "test"; never NULL. */
SL_API const char *sl_split_text(enum sl_split split);

/* The label of a position that counts nothing: the part of a sequence that is
 * given, not predicted. */
#define SL_LABEL_IGNORED ((int64_t)-1)

/* One array of a sample. */
struct sl_data_input {
	const char *name;    /* an input of the model has it too; "": any */
	enum sl_dtype dtype; /* F32 or I64 */
	size_t rank;
	const int64_t *dims; /* of one sample, without the batch */
};

/*
 * What a data set holds, and how a sample is had.  A program that has samples
 * of its own fills one in; SL_DATA_SOURCE_INIT comes first.
 */
struct sl_data_source {
	size_t struct_size;
	const char *name;        /* such as "digits" */
	const char *attribution; /* whose data it is; NULL: not known */
	const struct sl_data_input *inputs;
	size_t n_inputs;   /* 1 or more */
	size_t n_labels;   /* of a sample: 1, its class; else a token for each
			      position */
	int64_t n_classes; /* labels are 0 to n_classes - 1, or ignored */
	size_t n_samples[SL_N_SPLITS];

	/*
	 * Writes sample 'index' of a split: inputs[i] has room for input i,
	 * 'labels' for n_labels.  The same index gives the same sample every
	 * time.  Called by several threads at once where a loader has them.
	 * On failure fills *err and returns its status.
	 */
	enum sl_status (*fill)(void *ctx, enum sl_split split, size_t index,
			       void *const *inputs, int64_t *labels,
			       struct sl_error *err);
	void *ctx;
};
#define SL_DATA_SOURCE_INIT SL_OPTIONS_INIT(struct sl_data_source)

/* Samples with labels.  Nothing changes once it is made; any number of threads
 * may read it. */
struct sl_dataset;

struct sl_dataset_options {
	size_t struct_size;
	const char *labels; /* file of labels where 'name' holds none; NULL:
				 found by its name, or in the same file */
	const char *test;   /* file of the test split, of the same format;
				 NULL: what the data set itself sets apart */
	double validation;  /* share of the training samples that is the
				 validation split, 0 to below 1; default 0 */
	int64_t context;    /* tokens of a sample of text; default 64 */
	uint64_t seed;      /* of the validation split, and of sequences that
				 are drawn; 0: 1 */
	const struct sl_allocator *allocator; /* NULL: malloc and free */
};
#define SL_DATASET_OPTIONS_INIT SL_OPTIONS_INIT(struct sl_dataset_options)

/*
 * Opens a data set by name, or reads it from files:
 *
 *	digits      1,797 images of 8x8 pixels, 0 to 1; every fifth is in the
 *	            test split
 *	copy:8      8 digits, then the same again: tokens, of which the last
 *	            8 are predicted.  Likewise reverse:8, sort:8, and addition:3
 *	            of two numbers of 3 digits, whose sum has its ones first.
 *	            There are 12 tokens: 0 to 9, + and =.  20,000 sequences to
 *	            train on and 1,000 to test, all different
 *
 *	FILE.csv    a sample a line, its class (from 0) last, commas between;
 *	            a first line of names is passed over
 *	FILE.npz    arrays x (or X) and y, images and labels, or data and
 *	            target, and where it has them x_test and y_test, the test
 *	            split
 *	FILE.npy    the samples alone; labels are in another such file, found by
 *	            its name: y.npy beside x.npy, y_test.npy beside x_test.npy
 *	FILE.idx    likewise, as MNIST has them: FILE-ubyte too, and either with
 *	            .gz.  Images become 0 to 1
 *	FILE.txt    tokens are bytes, labels the byte after each; the last tenth
 *	            of the samples is the test split
 *
 * SL_E_USAGE for a name that is none, and for an option that is of no use to
 * it, SL_E_IO for a file that cannot be read,
 * SL_E_DATA for one that is malformed, with the place, and for an empty split.
 */
SL_API enum sl_status sl_dataset_open(struct sl_dataset **out, const char *name,
				      const struct sl_dataset_options *options,
				      struct sl_error *err) SL_CHECKED;

/* Makes a data set of a program's own samples; 'source' is copied, what it
 * points to must outlive the data set.  Of the options, validation, seed and
 * allocator count. */
SL_API enum sl_status sl_dataset_new(struct sl_dataset **out,
				     const struct sl_data_source *source,
				     const struct sl_dataset_options *options,
				     struct sl_error *err) SL_CHECKED;
SL_API void sl_dataset_close(struct sl_dataset *data); /* NULL is fine */

/* What it holds; fill() takes 'ctx' of the same struct.  Lives as long as the
 * data set. */
SL_API const struct sl_data_source *
sl_dataset_source(const struct sl_dataset *data);

/* Random changes to the training samples of F32, each drawn from seed, epoch
 * and sample: the same whoever makes it.  All zero: none. */
struct sl_augmentation {
	int64_t shift; /* rows and columns, by up to so many each way; what
			  comes in is 0.  Of samples of rank 2 or more */
	int flip;      /* left and right, for half of them; likewise */
	double noise;  /* standard deviation of normal noise that is added */
};

struct sl_loader_options {
	size_t struct_size;
	enum sl_split split;
	int64_t batch;    /* samples in each; default 32 */
	int is_in_order;  /* not shuffled */
	uint64_t seed;    /* of the order and of augmentation; 0: 1 */
	size_t n_threads; /* that make batches ahead; 0: the caller makes each
			     when it asks */
	size_t n_ahead;   /* batches that may be ready at a time; default 2, and
			     one for each further thread */
	struct sl_augmentation augmentation;
	uint64_t epoch;    /* of the first batch; default 0 */
	uint64_t position; /* and which of the epoch it is; default 0 */
	const struct sl_clock *clock;         /* NULL: the monotonic one */
	const struct sl_allocator *allocator; /* NULL: malloc and free */
};
#define SL_LOADER_OPTIONS_INIT SL_OPTIONS_INIT(struct sl_loader_options)

/* One batch; what it points to is the loader's, until the next call. */
struct sl_batch {
	uint64_t epoch, position;      /* a loader that begins here gives the
					  same batches from this one on */
	const struct sl_array *inputs; /* [batch][dims of a sample] */
	size_t n_inputs;
	struct sl_array labels; /* I64: [batch], or [batch][n_labels] */
	double wait_ns;         /* that the caller waited for it */
};

/*
 * Makes batches of a data set, epoch after epoch without end.  Each epoch goes
 * through the split in an order of its own, which follows from seed and epoch
 * alone; what is left of it at the end, less than a batch, is dropped.  The
 * number of threads changes nothing but the wait.  The data set must outlive
 * it.  Used by one thread at a time.
 */
struct sl_loader;

/* SL_E_DATA for a split with fewer samples than a batch, SL_E_USAGE for
 * options that make no sense, and augmentation that changes no input. */
SL_API enum sl_status sl_loader_open(struct sl_loader **out,
				     const struct sl_dataset *data,
				     const struct sl_loader_options *options,
				     struct sl_error *err) SL_CHECKED;

/* Ends its threads, when each is through with its sample.  NULL is fine. */
SL_API void sl_loader_close(struct sl_loader *loader);

/* The next batch.  Fails as the function of the data source that fills samples
 * does, and then does so every time. */
SL_API enum sl_status sl_loader_next(struct sl_loader *loader,
				     struct sl_batch *out,
				     struct sl_error *err) SL_CHECKED;

/* How many batches an epoch has. */
SL_API uint64_t sl_loader_n_batches(const struct sl_loader *loader);

#ifdef __cplusplus
}
#endif

#endif
