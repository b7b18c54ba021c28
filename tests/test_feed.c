/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_feed.c - which shapes are another with its sizes in another order: told
 * for pairs written by hand, and by the definition (the sizes other than 1 are
 * the same when sorted, and not as they stand) for all shapes of up to four
 * sizes of 1 to 3.
 */
#include "harness.h"
#include "data/feed.h"

#include <stdlib.h>

enum { RANK_MOST = 4, SIZES = 3 };

struct shape {
	size_t rank;
	int64_t dims[RANK_MOST];
};

static void
images_with_their_channels_last_are_found(void **state)
{
	static const struct {
		struct shape a, b;
		int expected;
	} cases[] = {
		{{3, {3, 8, 8}}, {3, {8, 8, 3}}, 1},
		{{3, {3, 8, 8}}, {3, {3, 8, 8}}, 0},
		{{3, {1, 8, 8}}, {3, {8, 8, 1}}, 0},
		{{3, {1, 8, 8}}, {2, {8, 8}}, 0},
		{{2, {28, 14}}, {2, {14, 28}}, 1},
		{{3, {1, 28, 14}}, {2, {14, 28}}, 1},
		{{1, {192}}, {3, {8, 8, 3}}, 0},
		{{2, {24, 8}}, {3, {8, 8, 3}}, 0},
		{{2, {4, 4}}, {2, {2, 8}}, 0},
		{{0, {0}}, {1, {1}}, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(sl__feed_is_transposed(
					 cases[i].a.dims, cases[i].a.rank,
					 cases[i].b.dims, cases[i].b.rank),
				 cases[i].expected);
}

static struct shape
without_ones(const struct shape *from)
{
	struct shape out = {0, {0}};

	for (size_t i = 0; i < from->rank; i++) {
		if (from->dims[i] != 1)
			out.dims[out.rank++] = from->dims[i];
	}
	return out;
}

static int
compare(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static int
are_equal(const struct shape *a, const struct shape *b)
{
	for (size_t i = 0; a->rank == b->rank && i < a->rank; i++) {
		if (a->dims[i] != b->dims[i])
			return 0;
	}
	return a->rank == b->rank;
}

static int
is_expected(const struct shape *a, const struct shape *b)
{
	struct shape x = without_ones(a), y = without_ones(b);
	int is_same = are_equal(&x, &y);

	qsort(x.dims, x.rank, sizeof(*x.dims), compare);
	qsort(y.dims, y.rank, sizeof(*y.dims), compare);
	return !is_same && are_equal(&x, &y);
}

/* The number'th shape, of all of 0 to RANK_MOST sizes. */
static struct shape
shape_of(unsigned number)
{
	struct shape out = {0, {0}};
	unsigned n_of_rank = 1;

	while (number >= n_of_rank) {
		number -= n_of_rank;
		n_of_rank *= SIZES;
		out.rank++;
	}
	for (size_t i = 0; i < out.rank; i++, number /= SIZES)
		out.dims[i] = 1 + number % SIZES;
	return out;
}

static void
all_small_shapes_are_told_by_the_definition(void **state)
{
	const unsigned n = 1 + 3 + 9 + 27 + 81;
	unsigned n_transposed = 0;

	(void)state;
	for (unsigned i = 0; i < n; i++) {
		for (unsigned k = 0; k < n; k++) {
			struct shape a = shape_of(i), b = shape_of(k);
			int found = sl__feed_is_transposed(a.dims, a.rank,
							   b.dims, b.rank);

			assert_int_equal(found, is_expected(&a, &b));
			n_transposed += (unsigned)found;
		}
	}
	assert_true(n_transposed > 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(images_with_their_channels_last_are_found),
		cmocka_unit_test(all_small_shapes_are_told_by_the_definition),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
