/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_gemm_small.c - small products against sums in double.  Elements are
 * whole numbers up to 8, so that sums below 2^24 are exact in f32 and must be
 * equal.
 */
#include "compute/gemm_small.h"
#include "harness.h"

enum { SIZE = 400, MARK = 12345 };

struct arrays {
	float a[SIZE * SIZE], b[SIZE * SIZE], c[SIZE * SIZE];
	float packed[(SIZE + SL__PANEL) * SIZE];
};

static void
fill(float *x, unsigned seed)
{
	for (int i = 0; i < SIZE * SIZE; i++) {
		seed = seed * 1664525u + 1013904223u;
		x[i] = (float)(seed >> 28) - 8;
	}
}

static float
expect(const struct sl__gemm_small *g, const struct arrays *s, int64_t i,
       int64_t j, int is_transposed)
{
	double sum = 0;

	for (int64_t p = 0; p < g->k; p++)
		sum += (double)g->a[i * g->a_row + p * g->a_column] *
		       (double)s
			       ->b[is_transposed ? j * SIZE + p : p * SIZE + j];
	return (float)((double)g->alpha * sum + (g->is_added ? 3 : 0));
}

/* Rows of c are one longer than need be; what lies between stays. */
static void
check(struct arrays *s, struct sl__gemm_small g, int is_transposed)
{
	g.b = s->b;
	g.b_row = SIZE;
	g.c = s->c;
	g.c_row = g.n + 1;
	if (g.is_packed) {
		sl__gemm_small_pack(s->packed, s->b, is_transposed ? 1 : SIZE,
				    is_transposed ? SIZE : 1, g.k, g.n);
		g.b = s->packed;
	}
	for (int64_t i = 0; i < g.m * g.c_row; i++)
		s->c[i] = (i + 1) % g.c_row ? 3 : MARK;
	sl__gemm_small(&g);
	for (int64_t i = 0; i < g.m; i++) {
		for (int64_t j = 0; j < g.n; j++)
			assert_near((double)s->c[i * g.c_row + j],
				    (double)expect(&g, s, i, j, is_transposed),
				    0);
		assert_near((double)s->c[i * g.c_row + g.n], MARK, 0);
	}
}

static void
sizes_around_tiles(void **state)
{
	static const int64_t ms[] = {0, 1, 2, 3, 4, 5, 6, 7, 13, 64};
	static const int64_t ns[] = {0, 1, 15, 16, 17, 47, 63, 64, 65, 130};
	static const int64_t ks[] = {0, 1, 17, 64, 257};
	static struct arrays s;

	(void)state;
	fill(s.a, 1);
	fill(s.b, 2);
	for (int i = 0; i < 10 * 10 * 5; i++) {
		struct sl__gemm_small g = {.m = ms[i % 10],
					   .n = ns[i / 10 % 10],
					   .k = ks[i / 100],
					   .a = s.a,
					   .a_row = SIZE,
					   .a_column = 1,
					   .alpha = i % 3 ? 1 : 0.5F,
					   .is_added = i % 2};

		check(&s, g, 0);
		g.a_row = 1; /* a transposed */
		g.a_column = SIZE;
		g.is_packed = 1;
		g.is_added = !g.is_added;
		check(&s, g, 0);
		check(&s, g, 1);
	}
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(sizes_around_tiles),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
