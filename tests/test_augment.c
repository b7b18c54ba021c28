/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_augment.c - every shift and flip that is drawn is one of the pictures
 * that can be drawn by hand, all of them come equally often, and noise has the
 * deviation that was asked for.
 */
#include "harness.h"
#include "data/augment.h"

enum { N_ROWS = 2, N_COLUMNS = 3, N = 2 * N_ROWS * N_COLUMNS };

static const int64_t dims[] = {2, N_ROWS, N_COLUMNS};
static const struct sl_data_input input = {"", SL_DTYPE_F32, 3, dims};

/* Pixel by pixel: what was at (row, column), mirrored or not, is now 'by'
 * further. */
static void
draw(float *out, const int64_t by[2], int is_mirrored)
{
	memset(out, 0, N * sizeof(*out));
	for (int64_t p = 0; p < 2; p++) {
		for (int64_t r = 0; r < N_ROWS; r++) {
			for (int64_t c = 0; c < N_COLUMNS; c++) {
				int64_t to_r = r + by[0], to_c = c + by[1];
				int64_t from = is_mirrored ? N_COLUMNS - 1 - c
							   : c;

				if (to_r < 0 || to_r >= N_ROWS || to_c < 0 ||
				    to_c >= N_COLUMNS)
					continue;
				out[(p * N_ROWS + to_r) * N_COLUMNS + to_c] =
					(float)(1 +
						(p * N_ROWS + r) * N_COLUMNS +
						from);
			}
		}
	}
}

/* Which of the 18 pictures it is; fails where it is none. */
static size_t
find(const float *sample)
{
	float picture[N];

	for (int64_t i = 0; i < 18; i++) {
		const int64_t by[] = {i % 3 - 1, i / 3 % 3 - 1};

		draw(picture, by, i >= 9);
		if (!memcmp(picture, sample, sizeof(picture)))
			return (size_t)i;
	}
	fail_msg("no shift by one pixel and no mirror image gives it");
	return 0;
}

static void
shifts_and_flips_come_equally_often(void **state)
{
	const struct sl_augmentation how = {.shift = 1, .flip = 1};
	const int64_t nowhere[2] = {0, 0};
	size_t counts[18] = {0};
	struct sl__rng rng;
	double chi = 0;

	(void)state;
	sl__rng_init(&rng, 3);
	for (int i = 0; i < 18000; i++) {
		float sample[N], scratch[N];

		draw(sample, nowhere, 0);
		sl__augment(sample, scratch, &input, &how, &rng);
		counts[find(sample)]++;
	}
	for (size_t i = 0; i < 18; i++)
		chi += pow((double)counts[i] - 1000, 2) / 1000;
	/* The 99.99 % point of 17 degrees of freedom. */
	assert_true(chi < 48);
}

/* 100,000 normal numbers: their deviation has an error of 0.22 %, their mean
 * one of 0.0016. */
static void
noise_has_its_deviation(void **state)
{
	enum { N_PIXELS = 100000 };
	static float sample[N_PIXELS], scratch[N_PIXELS];
	const int64_t n_pixels[] = {N_PIXELS};
	const struct sl_data_input row = {"", SL_DTYPE_F32, 1, n_pixels};
	const struct sl_augmentation how = {.shift = 2, .noise = 0.5};
	double sum = 0, squares = 0;
	struct sl__rng rng;

	(void)state;
	sl__rng_init(&rng, 5);
	sl__augment(sample, scratch, &row, &how, &rng);
	for (size_t i = 0; i < N_PIXELS; i++) {
		sum += (double)sample[i];
		squares += (double)sample[i] * (double)sample[i];
	}
	assert_near(sum / N_PIXELS, 0, 0.0065);
	assert_near(sqrt(squares / N_PIXELS), 0.5, 0.0045);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shifts_and_flips_come_equally_often),
		cmocka_unit_test(noise_has_its_deviation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
