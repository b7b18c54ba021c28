/* SPDX-License-Identifier: Apache-2.0 */
/*
 * native_qpool.c - pools over images of small integers.
 *
 * Averages are sums of reals, each rounded to f32, in f64: as the reference
 * kernels have them, so that ties, which are common among means of a few
 * integers, are decided alike.  Channels are taken some at a time; where they
 * run fastest, the loops over them are loops over neighbours.
 */
#include "compute/vector.h"
#include "engine/strided_layout.h"
#include "engine/node_steps.h"
#include "engine/quantized.h"
#include "ops/window.h"

#include <string.h>

#include "base/banned.h"

/* Channels at once; of a line of them; taps at once. */
enum { AT_ONCE = 64, LANES = 8, TAPS_MOST = 64 };

typedef uint8_t bytes __attribute__((vector_size(LANES), aligned(1)));
typedef int32_t ints __attribute__((vector_size(4 * LANES)));
typedef float floats __attribute__((vector_size(4 * LANES)));
typedef int64_t longs __attribute__((vector_size(8 * LANES)));
typedef double doubles __attribute__((vector_size(8 * LANES), aligned(8)));

/* Taps that are in the image: where each begins. */
struct taps {
	int64_t offsets[TAPS_MOST];
	int n;
};

struct pool {
	struct sl__window window;
	void (*add)(const struct pool *p, const struct taps *taps,
		    const uint8_t *x, int64_t n, double *sums);
	void (*store)(const struct pool *p, const double *sums, double count,
		      int64_t n, uint8_t *y);
	uint64_t n_bytes; /* of the source */
	int is_maximum, counts_padding;
	struct sl__quantization_params from, to;
	int32_t least;
	int rank;
	const int64_t *in, *out; /* sizes */
	struct sl__strided_layout x, y;
	unsigned char **at; /* source, target */
};

/* A line of channels: as it lies, which may take some of the next pixel, or
 * gathered. */
SL__INLINE bytes
load_line(const struct pool *p, const uint8_t *x, int64_t n)
{
	int64_t left = p->at[0] + p->n_bytes - x, stride = p->x.strides[1];
	uint8_t line[LANES] = {0};

	if (stride == 1 && left >= LANES)
		return *(const bytes *)x;
	for (int64_t i = 0; i < LANES && i < n; i++)
		line[i] = x[i * stride];
	return *(const bytes *)line;
}

/* Adds all taps of n channels, of whole lines of them, to sums. */
SL__INLINE void
sum_taps(const struct pool *p, const struct taps *taps, const uint8_t *x,
	 int64_t n, double *sums)
{
	uint8_t flip = p->least ? 0x80 : 0;
	int32_t zero = p->from.at - p->least;
	float scale = p->from.by;

	for (int64_t i = 0; i < n; i += LANES) {
		const uint8_t *at = x + i * p->x.strides[1];
		doubles sum = *(const doubles *)(sums + i);

		for (int t = 0; t < taps->n; t++) {
			bytes line =
				load_line(p, at + taps->offsets[t], n - i) ^
				flip;
			ints steps = __builtin_convertvector(line, ints) - zero;
			floats reals =
				__builtin_convertvector(steps, floats) * scale;

			sum += __builtin_convertvector(reals, doubles);
		}
		*(doubles *)(sums + i) = sum;
	}
}

SL__VECTOR_TARGETS(sum, sum_taps,
		   (const struct pool *p, const struct taps *taps,
		    const uint8_t *x, int64_t n, double *sums),
		   (p, taps, x, n, sums))

static void
max_channels(const struct pool *p, const struct taps *taps, const uint8_t *x,
	     int64_t n, uint8_t *most)
{
	uint8_t flip = p->least ? 0x80 : 0;

	for (int t = 0; t < taps->n; t++) {
		for (int64_t i = 0; i < n; i++) {
			uint8_t code =
				x[taps->offsets[t] + i * p->x.strides[1]] ^
				flip;

			most[i] = code > most[i] ? code : most[i];
		}
	}
}

/* Where a tap of the window at position 'at' lies: its offset, and 1 inside
 * the image, 0 in its padding, -1 beyond. */
static int
find_tap(const struct pool *p, const int64_t *at, const int64_t *tap,
	 int64_t *offset)
{
	const struct sl__window *w = &p->window;
	int where = 1;

	*offset = 0;
	for (int d = w->n; d-- > 0;) {
		int64_t place = at[d] * w->strides[d] - w->pads_before[d] +
				tap[d] * w->dilations[d];

		if (place >= p->in[d + 2] + w->pads_after[d])
			return -1;
		if (place < 0 || place >= p->in[d + 2])
			where = 0;
		*offset += place * p->x.strides[d + 2];
	}
	return where;
}

/* Finds the next taps from 'tap' on, adds those that count to *count; 0 after
 * the last. */
static int
find_taps(const struct pool *p, const int64_t *at, int64_t *tap,
	  struct taps *taps, double *count)
{
	const struct sl__window *w = &p->window;
	int d = 0;

	for (taps->n = 0; d >= 0 && taps->n < TAPS_MOST;) {
		int where = find_tap(p, at, tap, &taps->offsets[taps->n]);

		*count += where == 1 || (where == 0 && p->counts_padding);
		taps->n += where == 1;
		for (d = w->n - 1; d >= 0 && ++tap[d] == w->kernel[d]; d--)
			tap[d] = 0;
	}
	return d >= 0;
}

#define SELECT(mask, a, b) \
	((doubles)(((mask) & (longs)(a)) | (~(mask) & (longs)(b))))

#define CLIP(x, low, high) \
	SELECT((x) < (low), low, SELECT((x) > (high), high, x))

/* Codes of a line of sums.  Numbers far out of range are brought near first, so
 * that adding 1.5 x 2^52 rounds to the nearest integer, ties to even. */
SL__INLINE bytes
code_line(const struct pool *p, const double *sums, double count)
{
	const double round = 0x1.8p52;
	doubles mean = *(const doubles *)sums / count;
	floats steps = __builtin_convertvector(mean / (double)p->to.by, floats);
	doubles q = __builtin_convertvector(steps, doubles);
	doubles far = 65536 - (doubles){0}, zeros = p->to.at - (doubles){0};
	doubles low = p->least - (doubles){0}, high = low + 255;

	q = CLIP(q, -far, far) + round - round + zeros;
	q = SELECT(q == q, q, zeros);
	q = CLIP(q, low, high);
	return __builtin_convertvector(__builtin_convertvector(q, ints), bytes);
}

SL__INLINE void
store_means(const struct pool *p, const double *sums, double count, int64_t n,
	    uint8_t *y)
{
	int64_t stride = p->y.strides[1];

	/* Sums of no taps are 0, and so is their mean. */
	count = count > 0 ? count : 1;
	for (int64_t i = 0; i < n; i += LANES) {
		bytes line = code_line(p, sums + i, count);

		if (stride == 1 && n - i >= LANES) {
			*(bytes *)(y + i) = line;
			continue;
		}
		for (int64_t k = 0; k < LANES && k < n - i; k++)
			y[(i + k) * stride] = line[k];
	}
}

SL__VECTOR_TARGETS(store, store_means,
		   (const struct pool *p, const double *sums, double count,
		    int64_t n, uint8_t *y),
		   (p, sums, count, n, y))

/* n channels of one position. */
static void
pool_channels(const struct pool *p, const int64_t *at, const uint8_t *x,
	      uint8_t *y, int64_t n)
{
	int64_t tap[SL__WINDOW_MOST] = {0};
	uint8_t flip = p->least ? 0x80 : 0, most[AT_ONCE];
	double sums[AT_ONCE], count = 0;
	struct taps taps;
	int is_more;

	for (int64_t i = 0; !p->is_maximum && i < n; i += LANES)
		*(doubles *)(sums + i) = (doubles){0};
	if (p->is_maximum)
		memset(most, 0, sizeof(most));
	do {
		is_more = find_taps(p, at, tap, &taps, &count);
		if (p->is_maximum)
			max_channels(p, &taps, x, n, most);
		else
			p->add(p, &taps, x, n, sums);
	} while (is_more);
	if (!p->is_maximum)
		p->store(p, sums, count, n, y);
	for (int64_t i = 0; p->is_maximum && i < n; i++)
		y[i * p->y.strides[1]] = most[i] ^ flip;
}

/* Position number 'index' of all images: all channels of it. */
static void
pool_position(const struct pool *p, int64_t index)
{
	int64_t at[SL__WINDOW_MOST] = {0}, y = 0, image, n;

	for (int d = p->window.n; d-- > 0;) {
		at[d] = index % p->out[d + 2];
		index /= p->out[d + 2];
		y += at[d] * p->y.strides[d + 2];
	}
	image = index;
	for (int64_t c = 0; c < p->in[1]; c += AT_ONCE) {
		n = p->in[1] - c < AT_ONCE ? p->in[1] - c : AT_ONCE;
		pool_channels(p, at,
			      p->at[0] + image * p->x.strides[0] +
				      c * p->x.strides[1],
			      p->at[1] + image * p->y.strides[0] + y +
				      c * p->y.strides[1],
			      n);
	}
}

static void
run_part(int rank, int n_ranks, void *ctx)
{
	const struct pool *p = ctx;
	int64_t total = p->out[0], first, end;

	for (int d = 2; d < p->rank; d++)
		total *= p->out[d];
	sl__parallel_range(total, rank, n_ranks, &first, &end);
	for (int64_t i = first; i < end; i++)
		pool_position(p, i);
}

static int
read_window(struct pool *p, const struct sl__node *node)
{
	if (sl__is_op(node, SL__OP_MS_QLinearGlobalAveragePool)) {
		p->window.n = p->rank - 2;
		for (int d = 0; d < p->window.n; d++) {
			p->window.kernel[d] = p->in[d + 2];
			p->window.strides[d] = p->window.dilations[d] = 1;
		}
		return 1;
	}
	if (sl__window_read_from_node(&p->window, node, p->rank - 2, NULL,
				      NULL))
		return 0;
	sl__window_fill_same_pads(&p->window, p->in + 2, p->out + 2);
	return 1;
}

static int
read_pool(struct pool *p, struct sl__planner *pl, const struct sl__node *node)
{
	const struct sl__type *x = sl__plan_node_input_type(pl, node, 0);
	const struct sl__type *y = sl__plan_node_output_type(pl, node, 0);

	p->add = sum_for();
	p->store = store_for();
	p->is_maximum = sl__is_op(node, SL__OP_ONNX_MaxPool);
	p->counts_padding = sl__attribute_int(node, "count_include_pad", 0) !=
			    0;
	p->rank = x->rank;
	p->in = x->dims;
	p->out = y->dims;
	p->least = x->dtype == SL_DTYPE_U8 ? 0 : -128;
	if (!sl__is_8bit_integer(x->dtype) || y->dtype != x->dtype ||
	    x->rank < 3 || x->rank > SL__WINDOW_MOST + 2 ||
	    y->rank != x->rank || node->n_outputs != 1 ||
	    sl__attribute_int(node, "channels_last", 0) ||
	    !sl__plan_value_n_elements(pl, node->inputs[0]) ||
	    !sl__plan_value_n_elements(pl, node->outputs[0]))
		return 0;
	if (!p->is_maximum &&
	    (!sl__quantization_params_read(&p->from, pl,
					   sl__plan_node_input(node, 1),
					   sl__plan_node_input(node, 2)) ||
	     !sl__quantization_params_read(&p->to, pl,
					   sl__plan_node_input(node, 3),
					   sl__plan_node_input(node, 4))))
		return 0;
	return read_window(p, node);
}

/* The input as it lies where strides can say how, and the result likewise. */
static void
find_layouts(struct pool *p, struct sl__planner *pl,
	     const struct sl__node *node, const struct sl__layout *layouts[2])
{
	uint32_t x = node->inputs[0], y = node->outputs[0];

	layouts[0] = sl__plan_find_unpadded_layout(pl, x);
	if (layouts[0] && (!sl__strided_layout_of(pl, x, layouts[0], &p->x) ||
			   p->x.axis >= 0))
		layouts[0] = NULL;
	layouts[1] = sl__layout_like(pl, y, layouts[0]);
	if (!sl__strided_layout_of(pl, x, layouts[0], &p->x) ||
	    !sl__strided_layout_of(pl, y, layouts[1], &p->y) || p->y.axis >= 0)
		sl__planner_fail_internal(pl, "an image has no strides");
}

/* QLinearAveragePool, QLinearGlobalAveragePool, MaxPool of bytes. */
int
sl__make_quantized_pool(struct sl__planner *pl, const struct sl__node *node)
{
	struct pool *p = sl__plan_alloc_state(pl, sizeof(*p));
	const struct sl__layout *layouts[2];
	struct sl__step *step;
	uint32_t at[2];

	if (!p || !read_pool(p, pl, node))
		return 0;
	find_layouts(p, pl, node, layouts);
	at[0] = sl__plan_input_buffer(pl, node->inputs[0], layouts[0]);
	at[1] = sl__plan_output_buffer(pl, node->outputs[0], layouts[1]);
	p->n_bytes = sl__plan_value_n_elements(pl, node->inputs[0]);
	step = sl__plan_add_parallel_step(
		pl, at, 2, p->is_maximum ? "largest code" : "mean of codes",
		run_part, p);
	step->n_threads = sl__threads_for_bytes(
		pl->program->n_threads,
		sl__plan_value_n_elements(pl, node->outputs[0]) *
			sl__window_taps(&p->window));
	p->at = step->at;
	return 1;
}
