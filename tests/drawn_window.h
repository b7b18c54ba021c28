/* SPDX-License-Identifier: Apache-2.0 */
/* drawn_window.h - seeded windows over images of one to three dimensions. */
#ifndef SL_TEST_DRAWN_WINDOW_H
#define SL_TEST_DRAWN_WINDOW_H

#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct source {
	uint64_t state;
};

/* A number from 'low' to 'high'. */
static inline int
draw(struct source *s, int low, int high)
{
	s->state = s->state * 6364136223846793005u + 1442695040888963407u;
	return low + (int)((s->state >> 33) % (uint64_t)(high - low + 1));
}

/* What is the same for each dimension of the image, as lists. */
struct window {
	char x[64], k[64], strides[64], dilations[64], before[64], after[64];
};

/* Sizes leave at least one position; the last dimension, along which kernels
 * run, is not dilated and has a stride of at most 2. */
static inline void
draw_window(struct source *s, struct window *w, int n)
{
	memset(w, 0, sizeof(*w));
	for (int d = 0; d < n; d++) {
		int kernel = draw(s, 1, n == 3 ? 3 : 7);
		int stride = draw(s, 1, d == n - 1 ? 2 : 3);
		int dilation = d == n - 1 ? 1 : draw(s, 1, 2);
		int extent = (kernel - 1) * dilation + 1;
		int b = draw(s, 0, extent - 1), a = draw(s, 0, extent - 1);
		int size = draw(s, 1, n == 3 ? 6 : 21);
		const char *comma = d ? "," : "";

		size = size + a + b < extent ? extent : size;
		sprintf(w->x + strlen(w->x), ",%d", size);
		sprintf(w->k + strlen(w->k), ",%d", kernel);
		sprintf(w->strides + strlen(w->strides), "%s%d", comma, stride);
		sprintf(w->dilations + strlen(w->dilations), "%s%d", comma,
			dilation);
		sprintf(w->before + strlen(w->before), "%s%d", comma, b);
		sprintf(w->after + strlen(w->after), ",%d", a);
	}
}

#endif
