/* SPDX-License-Identifier: Apache-2.0 */
/* window.c - windows that slide over an image: reading and counting them. */
#include "ops/window.h"
#include "ops/cost.h"

#include <string.h>

#include "base/banned.h"

/* Keeps every sum and product below within 64 bits. */
static const int64_t most = INT64_C(1) << 30;

/* An attribute of n integers from 'least'; left alone where there is none. */
static enum sl_status
read_list(int64_t *out, struct sl__rule_context *call, const char *name, int n,
	  int64_t least)
{
	const int64_t *values;
	size_t n_values = sl__attribute_ints(call->node, name, &values);

	if (n_values == 0)
		return SL_OK;
	if (n_values != (size_t)n)
		return sl__rule_reject(call, "%s has %zu number%s, not %d",
				       name, n_values, n_values == 1 ? "" : "s",
				       n);
	for (int i = 0; i < n; i++) {
		if (values[i] < least || values[i] > most)
			return sl__rule_reject(call, "%s holds %lld", name,
					       (long long)values[i]);
		out[i] = values[i];
	}
	return SL_OK;
}

static enum sl_status
read_kernel(struct sl__window *w, struct sl__rule_context *call,
	    const int64_t *weight)
{
	read_list(w->kernel, call, "kernel_shape", w->n, 1);
	for (int d = 0; !call->failure && d < w->n; d++) {
		int64_t size = weight ? weight[d] : w->kernel[d];

		if (w->kernel[d] && sl__sizes_differ(size, w->kernel[d]))
			return sl__rule_reject(
				call,
				"kernel_shape says %lld where the "
				"weight has %lld",
				(long long)w->kernel[d], (long long)size);
		if (!w->kernel[d])
			w->kernel[d] = size;
		if (!sl__is_symbol(w->kernel[d]) &&
		    (w->kernel[d] < 1 || w->kernel[d] > most))
			sl__rule_reject(
				call,
				"the kernel's size is not known, or none");
	}
	return call->failure;
}

static enum sl_status
read_padding(struct sl__window *w, struct sl__rule_context *call)
{
	const char *word =
		sl__attribute_string(call->node, "auto_pad", "NOTSET");
	int64_t pads[2 * SL__WINDOW_MOST] = {0};

	if (!strcmp(word, "SAME_UPPER") || !strcmp(word, "SAME_LOWER"))
		w->padding = SL__PADDING_SAME;
	else if (!strcmp(word, "VALID"))
		w->padding = SL__PADDING_VALID;
	else if (*word && strcmp(word, "NOTSET"))
		return sl__rule_reject(call, "auto_pad is '%.40s'", word);
	w->is_odd_after = !strcmp(word, "SAME_UPPER");
	if (w->padding != SL__PADDING_GIVEN)
		return SL_OK;
	read_list(pads, call, "pads", 2 * w->n, 0);
	for (int d = 0; d < w->n; d++) {
		w->pads_before[d] = pads[d];
		w->pads_after[d] = pads[w->n + d];
	}
	return call->failure;
}

enum sl_status
sl__window_read(struct sl__window *w, struct sl__rule_context *call, int n,
		const int64_t *weight)
{
	memset(w, 0, sizeof(*w));
	if (n < 1 || n > SL__WINDOW_MOST)
		return sl__rule_reject(call, "an image of %d dimensions", n);
	w->n = n;
	w->is_ceil = sl__attribute_int(call->node, "ceil_mode", 0) != 0;
	for (int d = 0; d < n; d++)
		w->strides[d] = w->dilations[d] = 1;
	if (read_kernel(w, call, weight) ||
	    read_list(w->strides, call, "strides", n, 1) ||
	    read_list(w->dilations, call, "dilations", n, 1))
		return call->failure;
	return read_padding(w, call);
}

enum sl_status
sl__window_read_from_node(struct sl__window *w, const struct sl__node *node,
			  int n, const int64_t *weight, struct sl_error *err)
{
	struct sl__rule_context call = {.node = node, .err = err};

	return sl__window_read(w, &call, n, weight);
}

int64_t
sl__window_extent(const struct sl__window *w, int d)
{
	return (w->kernel[d] - 1) * w->dilations[d] + 1;
}

void
sl__window_split_pads(struct sl__window *w, int d, int64_t total)
{
	int64_t half = total < 0 ? 0 : total / 2;
	int64_t rest = total < 0 ? 0 : total - half;

	w->pads_before[d] = w->is_odd_after ? half : rest;
	w->pads_after[d] = w->is_odd_after ? rest : half;
}

void
sl__window_fill_same_pads(struct sl__window *w, const int64_t *in,
			  const int64_t *out)
{
	if (w->padding != SL__PADDING_SAME)
		return;
	for (int d = 0; d < w->n; d++)
		sl__window_split_pads(w, d,
				      (out[d] - 1) * w->strides[d] +
					      sl__window_extent(w, d) - in[d]);
}

uint64_t
sl__window_taps(const struct sl__window *w)
{
	uint64_t taps = 1;

	for (int d = 0; d < w->n; d++)
		taps = sl__saturating_mul(taps, (uint64_t)w->kernel[d]);
	return taps;
}

/* The same as an expression. */
static int64_t
positions_of_symbol(struct sl__shapes *shapes, const struct sl__window *w,
		    int d, int64_t in)
{
	int64_t extent = sl__window_extent(w, d);
	int64_t more = w->pads_before[d] + w->pads_after[d] - extent;
	int64_t stride = w->strides[d];

	if (w->padding == SL__PADDING_SAME)
		more = -1; /* one position per stride, the last one cut */
	if (stride == 1)
		return more + 1 < 0 ? sl__size_sub(shapes, in, -(more + 1))
				    : sl__size_add(shapes, in, more + 1);
	if (w->is_ceil)
		return sl__size_new_unknown(shapes);
	in = more < 0 ? sl__size_sub(shapes, in, -more)
		      : sl__size_add(shapes, in, more);
	return sl__size_add(shapes, sl__size_div(shapes, in, stride), 1);
}

int64_t
sl__window_output_size(struct sl__rule_context *call,
		       const struct sl__window *w, int d, int64_t in)
{
	int64_t stride = w->strides[d], extent, room, n;

	if (sl__is_symbol(w->kernel[d]))
		return sl__size_new_unknown(call->shapes);
	extent = sl__window_extent(w, d);
	if (sl__is_symbol(in))
		return positions_of_symbol(call->shapes, w, d, in);
	if (in < 0 || in > INT64_MAX / 4)
		sl__rule_reject(call, "an image of %lld elements a side",
				(long long)in);
	if (call->failure || w->padding == SL__PADDING_SAME)
		return in / stride + (in % stride != 0);
	room = in + w->pads_before[d] + w->pads_after[d] - extent;
	if (room < 0 && in > 0) {
		/* Rounded towards zero: 1, then 0, then less than that. */
		n = room / stride + 1;
		if (n < (w->may_stick_out ? 0 : 1) ||
		    (!w->is_ceil && !w->may_stick_out))
			sl__rule_reject(
				call,
				"a window of %lld does not fit into %lld%s",
				(long long)extent, (long long)(room + extent),
				room + extent > in ? " with its padding" : "");
		return n;
	}
	n = room < 0 ? 0 : room / stride + 1;
	if (w->is_ceil && room > 0) {
		n += room % stride != 0;
		n -= (n - 1) * stride >= in + w->pads_before[d];
	}
	return n;
}
