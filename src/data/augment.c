/* SPDX-License-Identifier: Apache-2.0 */
/*
 * augment.c - random changes to a sample.
 *
 * What is drawn does not depend on what is asked for: with the noise left out,
 * shifts stay the same.
 */
#include "data/augment.h"

#include <string.h>

#include "base/banned.h"

/* Moves each plane down and right, and mirrors it; what comes in is 0. */
static void
move(float *sample, const float *from, const struct sl_data_input *input,
     const int64_t by[2], int is_mirrored)
{
	int64_t n_rows = input->dims[input->rank - 2];
	int64_t n_columns = input->dims[input->rank - 1];
	int64_t n_planes = 1;

	for (size_t i = 0; i + 2 < input->rank; i++)
		n_planes *= input->dims[i];
	for (int64_t i = 0; i < n_planes * n_rows; i++) {
		int64_t row = i % n_rows - by[0];

		for (int64_t k = 0; k < n_columns; k++) {
			int64_t column = k - by[1];
			int is_inside = row >= 0 && row < n_rows &&
					column >= 0 && column < n_columns;

			if (is_mirrored)
				column = n_columns - 1 - column;
			sample[i * n_columns + k] =
				is_inside
					? from[(i - by[0]) * n_columns + column]
					: 0;
		}
	}
}

void
sl__augment(float *sample, float *scratch, const struct sl_data_input *input,
	    const struct sl_augmentation *how, struct sl__rng *rng)
{
	uint64_t span = 2 * (uint64_t)how->shift + 1;
	int64_t by[2];
	int is_mirrored;
	size_t n = 1;

	for (size_t i = 0; i < 2; i++)
		by[i] = (int64_t)sl__rng_below(rng, span) - how->shift;
	is_mirrored = sl__rng_coin(rng) && how->flip;
	for (size_t i = 0; i < input->rank; i++)
		n *= (size_t)input->dims[i];
	if (input->rank >= 2 && (by[0] || by[1] || is_mirrored)) {
		memcpy(scratch, sample, n * sizeof(*sample));
		move(sample, scratch, input, by, is_mirrored);
	}
	for (size_t i = 0; how->noise > 0 && i < n; i++)
		sample[i] += (float)(how->noise * sl__rng_normal(rng));
}
