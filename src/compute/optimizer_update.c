/* SPDX-License-Identifier: Apache-2.0 */
/* optimizer_update.c - one step of an optimizer over a stretch of f32: every
 * number is read and written once. */
#include "compute/optimizer_update.h"
#include "compute/vector.h"

#include <math.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "base/banned.h"

SL__INLINE void
sgd_body(const struct sl__update_factors *f, const struct sl__update_tensors *t,
	 int64_t first, int64_t end)
{
	SL__EACH_ALONE
	for (int64_t i = first; i < end; i++)
		t->to_x[i] = t->x[i] - f->rate * (t->g[i] * f->scale +
						  f->decay * t->x[i]);
}
SL__VECTOR_TARGETS(sgd, sgd_body,
		   (const struct sl__update_factors *f,
		    const struct sl__update_tensors *t, int64_t first,
		    int64_t end),
		   (f, t, first, end))

SL__INLINE void
momentum_body(const struct sl__update_factors *f,
	      const struct sl__update_tensors *t, int64_t first, int64_t end)
{
	SL__EACH_ALONE
	for (int64_t i = first; i < end; i++) {
		float g = t->g[i] * f->scale + f->decay * t->x[i];
		float v = f->momentum * t->v[i] + g;

		t->to_v[i] = v;
		t->to_x[i] =
			t->x[i] -
			f->rate * (f->is_nesterov ? g + f->momentum * v : v);
	}
}
SL__VECTOR_TARGETS(momentum, momentum_body,
		   (const struct sl__update_factors *f,
		    const struct sl__update_tensors *t, int64_t first,
		    int64_t end),
		   (f, t, first, end))

SL__INLINE void
adam_body(const struct sl__update_factors *f,
	  const struct sl__update_tensors *t, int64_t first, int64_t end)
{
	SL__EACH_ALONE
	for (int64_t i = first; i < end; i++) {
		float g = t->g[i] * f->scale + f->decay * t->x[i];
		float v = f->beta1 * t->v[i] + (1 - f->beta1) * g;
		float h = f->beta2 * t->h[i] + (1 - f->beta2) * g * g;

		t->to_v[i] = v;
		t->to_h[i] = h;
		t->to_x[i] = f->keep * t->x[i] -
			     f->rate * v / (sqrtf(h) * f->root + f->epsilon);
	}
}
SL__VECTOR_TARGETS(adam, adam_body,
		   (const struct sl__update_factors *f,
		    const struct sl__update_tensors *t, int64_t first,
		    int64_t end),
		   (f, t, first, end))

#if defined(__x86_64__)
/*
 * The same with a reciprocal in place of the quotient: division and root share
 * one slow unit, which is what takes the time.  14 bits and one step of Newton
 * leave an error of two units in the last place.  A denominator that is beyond
 * 1e30, where that step overflows, counts as 1e30.
 */
__attribute__((target("avx512f,fma"))) static void
adam_by_reciprocal(const struct sl__update_factors *f,
		   const struct sl__update_tensors *t, int64_t first,
		   int64_t end)
{
	const __m512 scale = _mm512_set1_ps(f->scale);
	const __m512 decay = _mm512_set1_ps(f->decay);
	const __m512 beta1 = _mm512_set1_ps(f->beta1);
	const __m512 beta2 = _mm512_set1_ps(f->beta2);
	const __m512 rest1 = _mm512_set1_ps(1 - f->beta1);
	const __m512 rest2 = _mm512_set1_ps(1 - f->beta2);
	const __m512 root = _mm512_set1_ps(f->root);
	const __m512 epsilon = _mm512_set1_ps(f->epsilon);
	const __m512 keep = _mm512_set1_ps(f->keep);
	const __m512 rate = _mm512_set1_ps(f->rate);

	for (int64_t i = first; i < end; i += 16) {
		/* Without -O, gcc 12 widens what is chosen to an int. */
		__mmask16 has = (__mmask16)(end - i < 16 ? (1u << (end - i)) - 1
							 : 0xffff);
		__m512 x = _mm512_maskz_loadu_ps(has, t->x + i);
		__m512 g = _mm512_maskz_loadu_ps(has, t->g + i);
		__m512 v = _mm512_maskz_loadu_ps(has, t->v + i);
		__m512 h = _mm512_maskz_loadu_ps(has, t->h + i), d, r;

		g = _mm512_fmadd_ps(g, scale, _mm512_mul_ps(decay, x));
		v = _mm512_fmadd_ps(beta1, v, _mm512_mul_ps(rest1, g));
		h = _mm512_fmadd_ps(beta2, h,
				    _mm512_mul_ps(_mm512_mul_ps(rest2, g), g));
		d = _mm512_fmadd_ps(_mm512_sqrt_ps(h), root, epsilon);
		d = _mm512_min_ps(_mm512_set1_ps(1e30F), d); /* NaN: d */
		r = _mm512_rcp14_ps(d);
		r = _mm512_mul_ps(r, _mm512_fnmadd_ps(d, r, _mm512_set1_ps(2)));
		x = _mm512_fnmadd_ps(_mm512_mul_ps(rate, v), r,
				     _mm512_mul_ps(keep, x));
		_mm512_mask_storeu_ps(t->to_v + i, has, v);
		_mm512_mask_storeu_ps(t->to_h + i, has, h);
		_mm512_mask_storeu_ps(t->to_x + i, has, x);
	}
}
#endif

sl__update_function *
sl__adam_for(void)
{
#if defined(__x86_64__)
	if (sl__isa_has(SL__ISA_AVX512))
		return adam_by_reciprocal;
#endif
	return adam_for();
}

sl__update_function *
sl__sgd_for(void)
{
	return sgd_for();
}

sl__update_function *
sl__momentum_for(void)
{
	return momentum_for();
}
