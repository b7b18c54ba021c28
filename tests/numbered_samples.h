/* SPDX-License-Identifier: Apache-2.0 */
/* numbered_samples.h - a data source whose samples say which they are. */
#ifndef SL_TEST_NUMBERED_SAMPLES_H
#define SL_TEST_NUMBERED_SAMPLES_H

#include "sleuth.h"

#include <stdio.h>

struct numbered_samples {
	struct sl_data_source source;
	size_t fail_at;     /* this training sample cannot be had; 0: none */
	size_t mislabel_at; /* this one has a label that is none; 0: none */
};

/* Two inputs: 1000 x split + index, and its negative; the class is the index
 * modulo 7. */
static inline enum sl_status
numbered_fill(void *ctx, enum sl_split split, size_t index, void *const *inputs,
	      int64_t *labels, struct sl_error *err)
{
	const struct numbered_samples *n = ctx;
	float *number = inputs[0];
	int64_t *negative = inputs[1];

	if (n->fail_at && index == n->fail_at) {
		err->status = SL_E_IO;
		(void)snprintf(err->text, sizeof(err->text),
			       "sample %zu is "
			       "gone",
			       index);
		return SL_E_IO;
	}
	for (size_t i = 0; i < 6; i++)
		number[i] = (float)(1000 * (size_t)split + index);
	negative[0] = -(int64_t)(1000 * (size_t)split + index);
	labels[0] = n->mislabel_at && index == n->mislabel_at
			    ? 7
			    : (int64_t)index % 7;
	return SL_OK;
}

static inline void
numbered_init(struct numbered_samples *n, size_t n_train, size_t n_test)
{
	static const int64_t dims[] = {2, 3};
	static const struct sl_data_input inputs[] = {
		{"number", SL_DTYPE_F32, 2, dims},
		{"negative", SL_DTYPE_I64, 0, dims},
	};
	const struct sl_data_source source = {
		.struct_size = sizeof(source),
		.name = "numbered",
		.inputs = inputs,
		.n_inputs = 2,
		.n_labels = 1,
		.n_classes = 7,
		.n_samples = {n_train, 0, n_test},
		.fill = numbered_fill,
		.ctx = n,
	};

	n->source = source;
	n->fail_at = n->mislabel_at = 0;
}

#endif
