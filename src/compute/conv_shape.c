/* SPDX-License-Identifier: Apache-2.0 */
/* conv_shape.c - windows over images whose channels run fastest. */
#include "compute/conv_shape.h"

#include "base/banned.h"

void
sl__conv_shape_set(struct sl__conv_shape *s, int rank, const int64_t *image,
		   const int64_t *result, const struct sl__image_window *window)
{
	int first = 3 - (rank - 2);

	*s = (struct sl__conv_shape){.batch = image[0], .channels = image[1]};
	for (int d = 0; d < 3; d++) {
		int own = d - first;

		s->in[d] = own < 0 ? 1 : image[2 + own];
		s->out[d] = own < 0 ? 1 : result[2 + own];
		s->kernel[d] = own < 0 ? 1 : window->kernel[own];
		s->strides[d] = own < 0 ? 1 : window->strides[own];
		s->dilations[d] = own < 0 ? 1 : window->dilates[own] + 1;
		s->before[d] = own < 0 ? 0 : window->before[own];
	}
}

static int64_t
start_of(const struct sl__conv_shape *s, int d, int64_t out)
{
	return s->is_transposed ? out + s->before[d]
				: out * s->strides[d] - s->before[d];
}

struct sl__conv_position
sl__conv_position(const struct sl__conv_shape *s, int64_t index)
{
	struct sl__conv_position p;

	for (int d = 3; d-- > 0; index /= s->out[d]) {
		p.out[d] = index % s->out[d];
		p.at[d] = start_of(s, d, p.out[d]);
	}
	p.image = index;
	return p;
}

void
sl__conv_position_advance(const struct sl__conv_shape *s,
			  struct sl__conv_position *p)
{
	for (int d = 3; d-- > 0;) {
		p->out[d] = p->out[d] + 1 < s->out[d] ? p->out[d] + 1 : 0;
		p->at[d] = start_of(s, d, p->out[d]);
		if (p->out[d])
			return;
	}
	p->image++;
}
