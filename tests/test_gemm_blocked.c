/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_gemm_blocked.c - blocked matmuls against sums in double.  Elements are
 * whole numbers up to 8, so that sums below 2^24 are exact in f32 and must be
 * equal, whatever the tiles are and whoever does them.
 */
#include "compute/gemm_blocked.h"
#include "harness.h"

enum { MOST = 600, MARK = 12345 };

struct arrays {
	float a[MOST * MOST], b[MOST * MOST], c[MOST * MOST];
	float bias[MOST], addend[MOST * MOST];
	_Alignas(64) float packed[(MOST + 32) * (MOST + 16)];
	_Alignas(64) float scratch[MOST * MOST];
};

static void
fill(float *x, int n, unsigned seed)
{
	for (int i = 0; i < n; i++) {
		seed = seed * 1664525u + 1013904223u;
		x[i] = (float)(seed >> 28) - 8;
	}
}

struct sizes {
	int64_t m, n, k;
	int n_threads;
	int is_transposed;        /* both matrices */
	int has_bias, has_addend; /* the addend lies where the result goes */
	int is_clipped;
};

static double
expect(const struct arrays *s, const struct sizes *z, int64_t i, int64_t j)
{
	double sum = z->has_bias ? (double)s->bias[j] : 0;

	if (z->has_addend)
		sum += (double)s->addend[i * (z->n + 1) + j];
	for (int64_t p = 0; p < z->k; p++)
		sum += (double)s->a[z->is_transposed ? p * MOST + i
						     : i * MOST + p] *
		       (double)s->b[z->is_transposed ? j * MOST + p
						     : p * MOST + j];
	if (z->is_clipped)
		sum = sum < -20 ? -20 : sum > 30 ? 30 : sum;
	return sum;
}

/* Rows of c are one longer than need be; what lies between stays. */
static void
check(struct arrays *s, const struct sizes *z)
{
	struct sl__gemm_matrix b = {s->b, z->is_transposed ? 1 : MOST,
				    z->is_transposed ? MOST : 1};
	struct sl__gemm_strided_rows rows = {{s->a, z->is_transposed ? 1 : MOST,
					      z->is_transposed ? MOST : 1},
					     z->k};
	struct sl__gemm_blocked g = {.m = z->m,
				     .n = z->n,
				     .k = z->k,
				     .rows = sl__gemm_strided_rows,
				     .ctx = &rows,
				     .b = s->packed,
				     .bias = z->has_bias ? s->bias : NULL,
				     .addend = z->has_addend ? s->c : NULL,
				     .c = s->c,
				     .c_row = z->n + 1,
				     .is_clipped = z->is_clipped,
				     .low = -20,
				     .high = 30};
	struct sl__gemm_cut cut;

	for (int64_t i = 0; i < z->m * g.c_row; i++)
		s->c[i] = s->addend[i] = (i + 1) % g.c_row ? (float)(i % 17)
							   : MARK;
	assert_true(sl__gemm_blocked_packed_floats(z->k, z->n) <=
		    (int64_t)(sizeof(s->packed) / sizeof(float)));
	sl__gemm_blocked_pack(s->packed, &b, z->k, z->n);
	sl__gemm_blocked_cut(&cut, z->m, z->n, z->k, z->n_threads);
	assert_true(cut.scratch_bytes <= sizeof(s->scratch));
	for (int64_t t = cut.n_tiles; t-- > 0;) {
		struct sl__gemm_range range = sl__gemm_tile_range(&g, &cut, t);

		sl__gemm_blocked_tile(&g, &range, s->scratch);
	}
	for (int64_t i = 0; i < z->m; i++) {
		for (int64_t j = 0; j < z->n; j++)
			assert_near((double)s->c[i * g.c_row + j],
				    expect(s, z, i, j), 0);
		assert_near((double)s->c[i * g.c_row + z->n], MARK, 0);
	}
}

static struct arrays s;

static void
start(void)
{
	fill(s.a, MOST * MOST, 1);
	fill(s.b, MOST * MOST, 2);
	fill(s.bias, MOST, 3);
}

static void
sizes_around_tiles(void **state)
{
	static const int64_t ms[] = {1, 2, 5, 6, 7, 13, 14, 15, 29, 115};
	static const int64_t ns[] = {1, 3, 8, 9, 16, 17, 31, 32, 33, 131};
	static const int64_t ks[] = {1, 15, 16, 17, 70};

	(void)state;
	start();
	for (int i = 0; i < 10 * 10 * 5; i++) {
		struct sizes z = {.m = ms[i % 10],
				  .n = ns[i / 10 % 10],
				  .k = ks[i / 100],
				  .n_threads = 1 + i % 3,
				  .is_transposed = i / 3 % 2,
				  .has_bias = i / 2 % 2,
				  .has_addend = i / 5 % 2,
				  .is_clipped = i / 7 % 2};

		check(&s, &z);
	}
}

/* Sums over k in several parts; tiles that threads would share. */
static void
sizes_above_blocks(void **state)
{
	static const struct sizes sizes[] = {
		{15, 35, 513, 1, 0, 1, 1, 1},  {3, 5, 600, 2, 1, 1, 1, 1},
		{300, 30, 520, 1, 0, 0, 1, 0}, {120, 300, 40, 8, 1, 1, 0, 1},
		{30, 590, 530, 4, 0, 0, 0, 0},
	};

	(void)state;
	start();
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		check(&s, &sizes[i]);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(sizes_around_tiles),
		cmocka_unit_test(sizes_above_blocks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
