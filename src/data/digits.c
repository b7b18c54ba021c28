/* SPDX-License-Identifier: Apache-2.0 */
/*
 * digits.c - the images of handwritten digits that the program brings along.
 *
 * The split is fixed: every fifth image (index mod 5 = 4) is in the test.
 */
#include "data/dataset.h"

#include "base/banned.h"

enum { N_PIXELS = 64, N_IMAGES = 1797, INK_MOST = 16, FOLD = 5 };

static const unsigned char images[] = {
#include "../../data/digit_images.def"
};

_Static_assert(sizeof(images) == (size_t)N_IMAGES * (N_PIXELS + 1),
	       "every image is there");

static enum sl_status
fill(void *ctx, enum sl_split split, size_t index, void *const *inputs,
     int64_t *labels, struct sl_error *err)
{
	const size_t n_kept = FOLD - 1;
	size_t nth = split == SL_SPLIT_TEST
			     ? index * FOLD + n_kept
			     : index / n_kept * FOLD + index % n_kept;
	const unsigned char *image = images + nth * (N_PIXELS + 1);
	float *pixels = inputs[0];

	(void)ctx;
	(void)err;
	for (size_t i = 0; i < N_PIXELS; i++)
		pixels[i] = (float)image[i] / INK_MOST;
	labels[0] = image[N_PIXELS];
	return SL_OK;
}

void
sl__digits_open(struct sl_dataset *data)
{
	static const int64_t dims[] = {1, 8, 8};
	static const struct sl_data_input input = {
		.name = "", .dtype = SL_DTYPE_F32, .rank = 3, .dims = dims};

	data->origin = (struct sl_data_source){
		.struct_size = sizeof(data->origin),
		.name = "digits",
		.attribution =
			"Optical Recognition of Handwritten Digits, E. "
			"Alpaydin and C. Kaynak, UCI Machine Learning "
			"Repository, 1998, doi 10.24432/C50P49, CC BY 4.0",
		.inputs = &input,
		.n_inputs = 1,
		.n_labels = 1,
		.n_classes = 10,
		.n_samples = {[SL_SPLIT_TRAIN] = N_IMAGES - N_IMAGES / FOLD,
			      [SL_SPLIT_TEST] = N_IMAGES / FOLD},
		.fill = fill};
}
