/* SPDX-License-Identifier: Apache-2.0 */
/*
 * native_qlinear.c - element-wise operators on quantized numbers.
 *
 * What depends on one code is a table of 256 results, made beforehand as the
 * reference kernels compute them.  Sums and products of two codes are brought
 * to the result's scale by one factor each, in f32.  Where the result comes
 * so near to half-way between two codes that an error of rounding may decide,
 * the piece is computed again as the definition has it.
 */
#include "compute/targets.h"
#include "compute/vector.h"
#include "engine/node_steps.h"
#include "engine/quantized.h"

#include <math.h>
#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "base/banned.h"

/* A code of either type from 0 on, and what the least stands for. */
static int32_t
least_of(enum sl_dtype dtype)
{
	return dtype == SL_DTYPE_U8 ? 0 : -128;
}

/* The code of a real number, as the definition has it. */
static int32_t
code_of(double real, const struct sl__quantization_params *to, int32_t least)
{
	double q = nearbyint((double)(float)(real / (double)to->by)) + to->at;

	if (isnan(q))
		return to->at;
	return (int32_t)(q < least ? least : q > least + 255 ? least + 255 : q);
}

struct lookup {
	uint8_t table[256];
	int64_t n;
	unsigned char **at; /* x, y */
};

static void
run_lookup_part(int rank, int n_ranks, void *ctx)
{
	const struct lookup *l = ctx;
	int64_t first, end;

	sl__parallel_range(l->n, rank, n_ranks, &first, &end);
	for (int64_t i = first; i < end; i++)
		l->at[1][i] = l->table[l->at[0][i]];
}

static double
function_of(const struct sl__node *node, double x)
{
	if (sl__is_op(node, SL__OP_MS_QLinearSigmoid))
		return 1 / (1 + exp(-x));
	return x < 0 ? sl__attribute_float(node, "alpha", (double)0.01F) * x
		     : x;
}

static void
fill_table(struct lookup *l, const struct sl__node *node, int32_t least,
	   const struct sl__quantization_params *from,
	   const struct sl__quantization_params *to)
{
	for (int32_t i = 0; i < 256; i++) {
		double x = (double)((float)(i + least - from->at) * from->by);
		int32_t code = code_of(function_of(node, x), to, least);

		l->table[(uint8_t)(i + least)] = (uint8_t)code;
	}
}

/* Input 0 and output 0, in the order in which the input lies. */
static void
read_operands(struct sl__planner *pl, const struct sl__node *node,
	      const struct sl__layout *layout, uint32_t *at)
{
	at[0] = sl__plan_input_buffer(pl, node->inputs[0], layout);
	at[1] = sl__plan_output_in_place(pl, node->outputs[0], layout, at[0]);
}

/* Whether input 0 and output 0 are bytes of one type with scales that are
 * inputs 1 and 2, 3 and 4. */
static int
read_unary(struct sl__planner *pl, const struct sl__node *node,
	   struct sl__quantization_params *from,
	   struct sl__quantization_params *to)
{
	enum sl_dtype dtype = sl__plan_node_input_type(pl, node, 0)->dtype;

	return sl__is_8bit_integer(dtype) &&
	       sl__plan_node_output_type(pl, node, 0)->dtype == dtype &&
	       sl__plan_value_n_elements(pl, node->inputs[0]) &&
	       sl__quantization_params_read(from, pl,
					    sl__plan_node_input(node, 1),
					    sl__plan_node_input(node, 2)) &&
	       sl__quantization_params_read(to, pl,
					    sl__plan_node_input(node, 3),
					    sl__plan_node_input(node, 4));
}

/* QLinearSigmoid, QLinearLeakyRelu. */
int
sl__make_quantized_unary(struct sl__planner *pl, const struct sl__node *node)
{
	struct lookup *l = sl__plan_alloc_state(pl, sizeof(*l));
	struct sl__quantization_params from, to;
	struct sl__step *step;
	uint32_t at[2];

	if (!l || !read_unary(pl, node, &from, &to))
		return 0;
	l->n = (int64_t)sl__plan_value_n_elements(pl, node->inputs[0]);
	fill_table(l, node,
		   least_of(sl__plan_node_input_type(pl, node, 0)->dtype),
		   &from, &to);
	read_operands(pl, node,
		      sl__plan_find_unpadded_layout(pl, node->inputs[0]), at);
	step = sl__plan_add_parallel_step(pl, at, 2, "table of codes",
					  run_lookup_part, l);
	step->n_threads = sl__threads_for_bytes(pl->program->n_threads,
						4 * (uint64_t)l->n);
	l->at = step->at;
	return 1;
}

enum { PIECE = 64, HALF_BITS = 15, SHIFT_MOST = 22 };

/* A sum of codes as a fixed-point number: 2^shift is one code of the result,
 * and 'doubt' on both sides of half-way may be wrong.  Factors have an upper
 * part and HALF_BITS bits, left and right in turn. */
struct fixed_sum {
	int shift; /* 0: does not fit */
	int32_t upper, lower, offset, doubt;
};

struct pair {
	struct sl__quantization_params
		scales[3]; /* of both operands and the result */
	float factors[2];  /* of a sum; of a product the first */
	float doubt;       /* nearer to half-way than this may be wrong */
	struct fixed_sum fixed;
	int32_t least;
	int64_t n, n_right; /* elements; the right operand is repeated */
	int is_matmul;
	/* Fast, saying whether there is doubt, and as it is defined. */
	void (*run)(const struct pair *p, const uint8_t *a, const uint8_t *b,
		    uint8_t *y, int64_t n, int *in_doubt);
	void (*define)(const struct pair *p, const uint8_t *a, const uint8_t *b,
		       uint8_t *y, int64_t n);
	unsigned char *const *at;
};

/* The code that v rounds to; *in_doubt becomes 1 where that is further away
 * than 'far'. */
SL__INLINE uint8_t
to_code(float v, int32_t zero, int32_t least, float far, int32_t *in_doubt)
{
	float rounded, away;
	int32_t code;

	v = sl__min(sl__max(v, -1024), 1024);
	rounded = (v + 0x1.8p23F) - 0x1.8p23F;
	away = v - rounded;
	*in_doubt |= (away < 0 ? -away : away) > far;
	code = (int32_t)rounded + zero;
	code = code < least ? least : code;
	return (uint8_t)(code > least + 255 ? least + 255 : code);
}

/* Codes of the sums; bits of an f32 of one sign are in the order of their
 * numbers, and those of 1.5 * 2^23 + v end in the whole number v. */
SL__INLINE void
sum_line(const struct pair *p, const uint8_t *a, const uint8_t *b,
	 uint8_t *restrict y, int64_t n, int *in_doubt)
{
	uint8_t flip = p->least ? 0x80 : 0;
	int32_t least = p->least, zero = p->scales[2].at, furthest = 0;
	float left = p->factors[0], right = p->factors[1];
	float low = (float)(least - zero), high = (float)(least + 255 - zero);
	float offset =
		(float)(-(double)(p->scales[0].at - least) * (double)left -
			(double)(p->scales[1].at - least) * (double)right);

	for (int64_t i = 0; i < n; i++) {
		float v = (float)(a[i] ^ flip) * left +
			  ((float)(b[i] ^ flip) * right + offset);
		float moved;
		int32_t away;

		v = sl__min(sl__max(v, low), high);
		moved = v + 0x1.8p23F;
		away = (int32_t)(sl__bits(v - (moved - 0x1.8p23F)) &
				 0x7fffffff);
		furthest = away > furthest ? away : furthest;
		y[i] = (uint8_t)(sl__bits(moved) + (uint32_t)zero);
	}
	*in_doubt = sl__from_bits((uint32_t)furthest) > 0.5F - p->doubt;
}

SL__INLINE void
pair_line(const struct pair *p, const uint8_t *a, const uint8_t *b,
	  uint8_t *restrict y, int64_t n, int *in_doubt)
{
	uint8_t flip = p->least ? 0x80 : 0;
	float by = p->factors[0], far = 0.5F - p->doubt;
	int32_t least = p->least, zero = p->scales[2].at;
	int32_t a_zero = p->scales[0].at - least;
	int32_t b_zero = p->scales[1].at - least, doubt = 0;

	if (!p->is_matmul) {
		sum_line(p, a, b, y, n, in_doubt);
		return;
	}
	for (int64_t i = 0; i < n; i++) {
		int32_t u = (a[i] ^ flip) - a_zero, v = (b[i] ^ flip) - b_zero;

		y[i] = to_code((float)(u * v) * by, zero, least, far, &doubt);
	}
	*in_doubt = doubt;
}

SL__VECTOR_TARGETS(pair, pair_line,
		   (const struct pair *p, const uint8_t *a, const uint8_t *b,
		    uint8_t *y, int64_t n, int *in_doubt),
		   (p, a, b, y, n, in_doubt))

SL__INLINE void
define_line(const struct pair *p, const uint8_t *a, const uint8_t *b,
	    uint8_t *restrict y, int64_t n)
{
	uint8_t flip = p->least ? 0x80 : 0;
	int32_t least = p->least, zero = p->scales[2].at, sure = 0;
	int32_t a_zero = p->scales[0].at - least;
	int32_t b_zero = p->scales[1].at - least;
	float left = p->scales[0].by, right = p->scales[1].by;
	double to = (double)p->scales[2].by;
	int is_matmul = p->is_matmul;

	for (int64_t i = 0; i < n; i++) {
		double u = (double)((float)((a[i] ^ flip) - a_zero) * left);
		double v = (double)((float)((b[i] ^ flip) - b_zero) * right);
		double real = is_matmul ? u * v : u + v;

		y[i] = to_code((float)(real / to), zero, least, 1, &sure);
	}
}

SL__VECTOR_TARGETS(define, define_line,
		   (const struct pair *p, const uint8_t *a, const uint8_t *b,
		    uint8_t *y, int64_t n),
		   (p, a, b, y, n))

#if defined(__x86_64__)
#define VNNI_TARGET "avx512f,avx512bw,avx512vl,avx512vnni"
#define VNNI_INLINE \
	static inline __attribute__((always_inline, target(VNNI_TARGET)))

struct sum_constants {
	__m512i upper, lower, offset, fraction;
	unsigned shift;
};

/* Sixteen sums of left and right codes, which are bytes in turn. */
VNNI_INLINE __m512i
add_codes(__m512i both, const struct sum_constants *c, __m512i *nearest)
{
	__m512i upper = _mm512_madd_epi16(both, c->upper);
	__m512i sum = _mm512_dpwssd_epi32(c->offset, both, c->lower);

	sum = _mm512_add_epi32(sum, _mm512_slli_epi32(upper, HALF_BITS));
	*nearest =
		_mm512_min_epu32(*nearest, _mm512_and_si512(sum, c->fraction));
	return _mm512_srai_epi32(sum, c->shift);
}

VNNI_INLINE __m512i
add_piece(__m512i a, __m512i b, const struct sum_constants *c, int is_signed,
	  __m512i *nearest)
{
	__m512i zero = _mm512_setzero_si512();
	__m512i low = _mm512_unpacklo_epi8(a, b);
	__m512i high = _mm512_unpackhi_epi8(a, b);
	__m512i first, second;

	first = _mm512_packs_epi32(
		add_codes(_mm512_unpacklo_epi8(low, zero), c, nearest),
		add_codes(_mm512_unpackhi_epi8(low, zero), c, nearest));
	second = _mm512_packs_epi32(
		add_codes(_mm512_unpacklo_epi8(high, zero), c, nearest),
		add_codes(_mm512_unpackhi_epi8(high, zero), c, nearest));
	return is_signed ? _mm512_packs_epi16(first, second)
			 : _mm512_packus_epi16(first, second);
}

/* Any number of elements, which may be written where the left ones are. */
__attribute__((target(VNNI_TARGET))) static void
sum_vnni(const struct pair *p, const uint8_t *a, const uint8_t *b, uint8_t *y,
	 int64_t n)
{
	const struct fixed_sum *f = &p->fixed;
	__m512i flip = _mm512_set1_epi8((char)(p->least ? 0x80 : 0));
	__m512i sure = _mm512_set1_epi32(2 * f->doubt);
	const struct sum_constants c = {
		_mm512_set1_epi32(f->upper), _mm512_set1_epi32(f->lower),
		_mm512_set1_epi32(f->offset),
		_mm512_set1_epi32((1 << f->shift) - 1), (unsigned)f->shift};

	for (int64_t i = 0; i < n; i += PIECE) {
		int64_t left = n - i;
		__mmask64 all = left < PIECE ? (1ULL << left) - 1 : UINT64_MAX;
		__m512i nearest = c.fraction;
		__m512i u = _mm512_maskz_loadu_epi8(all, a + i);
		__m512i v = _mm512_maskz_loadu_epi8(all, b + i);
		__m512i codes = add_piece(_mm512_xor_si512(u, flip),
					  _mm512_xor_si512(v, flip), &c,
					  p->least != 0, &nearest);

		if (_mm512_cmplt_epu32_mask(nearest, sure)) {
			uint8_t defined[PIECE];

			p->define(p, a + i, b + i, defined,
				  left < PIECE ? left : PIECE);
			codes = _mm512_maskz_loadu_epi8(all, defined);
		}
		_mm512_mask_storeu_epi8(y + i, all, codes);
	}
}
#endif

/* Two numbers of 16 bits, the first one below. */
static int32_t
join_halves(long low, long high)
{
	return (int32_t)((uint32_t)low | (uint32_t)high << 16);
}

/* Finds a faster way for sums where there is one. */
static void
find_fixed_sum(struct pair *p)
{
	struct fixed_sum *f = &p->fixed;
	double left = (double)p->scales[0].by / (double)p->scales[2].by;
	double right = (double)p->scales[1].by / (double)p->scales[2].by;
	double offset = p->scales[2].at -
			(double)(p->scales[0].at - p->least) * left -
			(double)(p->scales[1].at - p->least) * right;
	double most = fabs(offset) + 255 * (left + right) + 2, one;
	double mistake = (255 * (left + right) + 256) * 0x1p-23;

	if (!sl__isa_has(SL__ISA_AVX512 | SL__ISA_AVX512_VNNI) ||
	    p->is_matmul || !(left > 0) || !(right > 0) || !(most < 0x1p14))
		return;
	f->shift = SHIFT_MOST;
	while (most * (double)(1 << f->shift) >= 0x1p31)
		f->shift--;
	one = (double)(1 << f->shift);
	f->doubt = 258 + (int32_t)(mistake * one);
	f->offset = (int32_t)(nearbyint(offset * one) + one / 2) + f->doubt;
	f->upper = join_halves(lrint(left * one) >> HALF_BITS,
			       lrint(right * one) >> HALF_BITS);
	f->lower = join_halves(lrint(left * one) & ((1 << HALF_BITS) - 1),
			       lrint(right * one) & ((1 << HALF_BITS) - 1));
}

/* Up to PIECE elements, or any number where there is a faster way; they may be
 * written where the left ones are. */
static void
run_piece(const struct pair *p, const uint8_t *a, const uint8_t *b, uint8_t *y,
	  int64_t n)
{
	uint8_t codes[PIECE];
	int in_doubt;

#if defined(__x86_64__)
	if (p->fixed.shift) {
		sum_vnni(p, a, b, y, n);
		return;
	}
#endif
	p->run(p, a, b, codes, n, &in_doubt);
	if (in_doubt)
		p->define(p, a, b, codes, n);
	memcpy(y, codes, (size_t)n);
}

static void
run_pair_part(int rank, int n_ranks, void *ctx)
{
	const struct pair *p = ctx;
	int64_t at, end;

	sl__parallel_range(p->n, rank, n_ranks, &at, &end);
	while (at < end) {
		int64_t n = p->n_right - at % p->n_right;

		n = n < end - at ? n : end - at;
		n = p->fixed.shift || n < PIECE ? n : PIECE;
		run_piece(p, p->at[0] + at, p->at[1] + at % p->n_right,
			  p->at[2] + at, n);
		at += n;
	}
}

/* Whether b's dimensions are the last of a's, but for ones before them. */
static int
is_suffix(const struct sl__type *a, const struct sl__type *b)
{
	int skipped = 0;

	while (skipped < b->rank && b->dims[skipped] == 1)
		skipped++;
	if (b->rank - skipped > a->rank)
		return 0;
	for (int d = skipped; d < b->rank; d++) {
		if (b->dims[d] != a->dims[a->rank - b->rank + d])
			return 0;
	}
	return 1;
}

static int
read_pair(struct pair *p, struct sl__planner *pl, const struct sl__node *node)
{
	const struct sl__type *a = sl__plan_node_input_type(pl, node, 0);
	const struct sl__type *b = sl__plan_node_input_type(pl, node, 3);
	const struct sl__type *y = sl__plan_node_output_type(pl, node, 0);
	struct sl__quantization_params *s = p->scales;
	double reach;

	if (!sl__is_8bit_integer(a->dtype) || b->dtype != a->dtype ||
	    y->dtype != a->dtype || !is_suffix(a, b))
		return 0;
	for (size_t i = 0; i < 3; i++) {
		if (!sl__quantization_params_read(
			    &s[i], pl,
			    sl__plan_node_input(node, i < 2 ? 3 * i + 1 : 6),
			    sl__plan_node_input(node, i < 2 ? 3 * i + 2 : 7)))
			return 0;
	}
	p->least = least_of(a->dtype);
	p->n = (int64_t)sl__plan_value_n_elements(pl, node->outputs[0]);
	p->n_right = (int64_t)sl__plan_value_n_elements(pl, node->inputs[3]);
	p->is_matmul = sl__is_op(node, SL__OP_MS_QLinearMul);
	p->factors[0] = s[0].by / s[2].by;
	p->factors[1] = s[1].by / s[2].by;
	reach = 256 * (double)(p->factors[0] + p->factors[1]);
	if (p->is_matmul) {
		p->factors[0] = (float)((double)s[0].by * (double)s[1].by /
					(double)s[2].by);
		reach = 65536 * (double)p->factors[0];
	}
	/* Some five roundings, here and in the definition. */
	p->doubt = (float)(reach * 0x1p-21);
	p->run = pair_for();
	p->define = define_for();
	find_fixed_sum(p);
	return p->n &&
	       (uint64_t)p->n == sl__plan_value_n_elements(pl, node->inputs[0]);
}

/* QLinearAdd, QLinearMul. */
int
sl__make_quantized_binary(struct sl__planner *pl, const struct sl__node *node)
{
	struct pair *p = sl__plan_alloc_state(pl, sizeof(*p));
	const struct sl__layout *layout = NULL;
	struct sl__step *step;
	uint32_t at[3];

	if (!p || !read_pair(p, pl, node))
		return 0;
	/* Both in the order of the first, where nothing is repeated. */
	if (p->n == p->n_right &&
	    sl__plan_node_input_type(pl, node, 0)->rank ==
		    sl__plan_node_input_type(pl, node, 3)->rank)
		layout = sl__plan_find_unpadded_layout(pl, node->inputs[0]);
	at[0] = sl__plan_input_buffer(pl, node->inputs[0], layout);
	at[1] = sl__plan_input_buffer(pl, node->inputs[3], layout);
	at[2] = sl__plan_output_in_place(pl, node->outputs[0], layout, at[0]);
	step = sl__plan_add_parallel_step(pl, at, 3, "codes", run_pair_part, p);
	step->n_threads = sl__threads_for_bytes(pl->program->n_threads,
						3 * (uint64_t)p->n);
	p->at = step->at;
	return 1;
}

/* A line is n elements that lie 'step' apart; there are n_lines of them. */
struct softmax {
	double powers[256]; /* exp of that many codes below the largest */
	struct sl__quantization_params to;
	int32_t least;
	int64_t n, step, n_lines;
};

static void
softmax_line(const struct softmax *s, const uint8_t *x, uint8_t *y)
{
	uint8_t flip = s->least ? 0x80 : 0;
	int32_t largest = 0;
	double sum = 0;

	for (int64_t i = 0; i < s->n; i++) {
		int32_t code = x[i * s->step] ^ flip;

		largest = code > largest ? code : largest;
	}
	for (int64_t i = 0; i < s->n; i++)
		sum += s->powers[largest - (x[i * s->step] ^ flip)];
	for (int64_t i = 0; i < s->n; i++) {
		double power = s->powers[largest - (x[i * s->step] ^ flip)];

		y[i * s->step] =
			(uint8_t)code_of(power / sum, &s->to, s->least);
	}
}

static enum sl_status
run_softmax(struct sl__step *step, struct sl_error *err)
{
	const struct softmax *s = step->state;

	(void)err;
	for (int64_t i = 0; i < s->n_lines; i++) {
		int64_t start = i / s->step * s->step * s->n + i % s->step;

		softmax_line(s, step->at[0] + start, step->at[1] + start);
	}
	return SL_OK;
}

/* Before version 13 a line spans all axes from the one that is named. */
static int
measure_softmax(struct softmax *s, struct sl__planner *pl,
		const struct sl__node *node)
{
	const struct sl__type *x = sl__plan_node_input_type(pl, node, 0);
	int is_old = sl__attribute_int(node, "opset", 13) < 13;
	int axis = sl__axis_normalize(
		sl__attribute_int(node, "axis", is_old ? 1 : -1), x->rank);

	if (axis < 0)
		return 0;
	s->n = s->step = 1;
	for (int d = axis; d < x->rank; d++) {
		if (is_old || d == axis)
			s->n *= x->dims[d];
		else
			s->step *= x->dims[d];
	}
	s->n_lines =
		(int64_t)sl__plan_value_n_elements(pl, node->inputs[0]) / s->n;
	s->least = least_of(x->dtype);
	return 1;
}

/* QLinearSoftmax. */
int
sl__make_quantized_softmax(struct sl__planner *pl, const struct sl__node *node)
{
	struct softmax *s = sl__plan_alloc_state(pl, sizeof(*s));
	struct sl__quantization_params from;
	uint32_t at[2];

	if (!s || !read_unary(pl, node, &from, &s->to) ||
	    !measure_softmax(s, pl, node))
		return 0;
	for (int i = 0; i < 256; i++)
		s->powers[i] = exp(-i * (double)from.by);
	read_operands(pl, node, NULL, at);
	sl__plan_add_step(pl, at, 2, "softmax of codes", run_softmax, s);
	return 1;
}
