/* SPDX-License-Identifier: Apache-2.0 */
/* loading_options.h - which data steps of training take, and how. */
#ifndef SL_LOADING_OPTIONS_H
#define SL_LOADING_OPTIONS_H

#include "options.h"
#include "sleuth.h"

/* What the options of loading_option_group() say. */
struct loading_options {
	const char *data, *labels; /* NULL: not given */
	size_t context, prefetch, shift;
	double noise;
	int flip;
};

/* --data, --labels, --context, --shift, --flip, --noise, --prefetch. */
struct option_group loading_option_group(struct loading_options *options);

/* The option that was given although --data was not; NULL: none. */
const char *loading_option_alone(const struct loading_options *options);

struct sl_augmentation
loading_augmentation(const struct loading_options *options);

/* What --recompute says, as n_segments of struct sl_training_options: -1 for
 * "auto", a number from 2 to 64, 0 for NULL.  Ends the program for another. */
int64_t read_segments(const char *word, const char *command);

#endif
