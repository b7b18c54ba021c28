/* SPDX-License-Identifier: Apache-2.0 */
/* loading_options.c - which data steps of training take, and how. */
#include "loading_options.h"

#include <stdlib.h>
#include <string.h>

#define AT(field) offsetof(struct loading_options, field)

static const struct option options[] = {
	{"data", 'd', OPTION_TEXT, AT(data), "NAME",
	 "the data set: digits, a task or files", 0, 0, 0},
	{"labels", 0, OPTION_TEXT, AT(labels), "FILE",
	 "labels, where the data has none", 0, 0, 0},
	{"context", 0, OPTION_COUNT, AT(context), "N",
	 "tokens of a sample of text (64)", 1, 1e6, 0},
	{"shift", 0, OPTION_COUNT, AT(shift), "N",
	 "shift images by up to N pixels", 0, 1e6, 0},
	{"flip", 0, OPTION_FLAG, AT(flip), NULL, "mirror half of the images", 0,
	 0, 0},
	{"noise", 0, OPTION_NUMBER, AT(noise), "X",
	 "add normal noise of this deviation", 0, 1e6, 0},
	{"prefetch", 0, OPTION_COUNT, AT(prefetch), "N",
	 "threads that make batches ahead (0)", 0, 256, 0},
};

struct option_group
loading_option_group(struct loading_options *values)
{
	return OPTION_GROUP(options, values);
}

const char *
loading_option_alone(const struct loading_options *o)
{
	if (o->data)
		return NULL;
	return o->labels      ? "labels"
	       : o->context   ? "context"
	       : o->shift     ? "shift"
	       : o->flip      ? "flip"
	       : o->noise > 0 ? "noise"
	       : o->prefetch  ? "prefetch"
			      : NULL;
}

struct sl_augmentation
loading_augmentation(const struct loading_options *o)
{
	return (struct sl_augmentation){(int64_t)o->shift, o->flip, o->noise};
}

int64_t
read_segments(const char *word, const char *command)
{
	char *end;
	long n;

	if (!word)
		return 0;
	if (!strcmp(word, "auto"))
		return -1;
	n = strtol(word, &end, 10);
	if (end == word || *end || n < 2 || n > 64)
		refuse(command,
		       "--recompute %.40s: must be auto or a number from 2 to "
		       "64",
		       word);
	return n;
}
