/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_bytes.h - protocol buffers by hand, so that tests can write any. */
#ifndef SL_TEST_ONNX_BYTES_H
#define SL_TEST_ONNX_BYTES_H

#include "harness.h"

struct bytes {
	unsigned char *data;
	size_t n, cap;
};

static inline void
bytes_release(struct bytes *b)
{
	free(b->data);
	memset(b, 0, sizeof(*b));
}

static inline void
put(struct bytes *b, const void *data, size_t n)
{
	if (b->n + n > b->cap) {
		b->cap = 2 * (b->n + n) + 64;
		b->data = realloc(b->data, b->cap);
		assert_non_null(b->data);
	}
	if (n)
		memcpy(b->data + b->n, data, n);
	b->n += n;
}

static inline void
put_varint(struct bytes *b, uint64_t value)
{
	do {
		unsigned char byte = (unsigned char)(value & 0x7f);

		value >>= 7;
		if (value)
			byte |= 0x80;
		put(b, &byte, 1);
	} while (value);
}

static inline void
put_tag(struct bytes *b, unsigned field, unsigned type)
{
	put_varint(b, (uint64_t)field << 3 | type);
}

static inline void
put_int(struct bytes *b, unsigned field, int64_t value)
{
	put_tag(b, field, 0);
	put_varint(b, (uint64_t)value);
}

static inline void
put_float(struct bytes *b, unsigned field, float value)
{
	put_tag(b, field, 5);
	put(b, &value, sizeof(value));
}

static inline void
put_field(struct bytes *b, unsigned field, const void *data, size_t n)
{
	put_tag(b, field, 2);
	put_varint(b, n);
	put(b, data, n);
}

static inline void
put_text(struct bytes *b, unsigned field, const char *text)
{
	put_field(b, field, text, strlen(text));
}

/* The inner message, which is then empty. */
static inline void
put_message(struct bytes *b, unsigned field, struct bytes *inner)
{
	put_field(b, field, inner->data, inner->n);
	bytes_release(inner);
}

/* "x -> y": op with space-separated inputs and outputs; "-" is left out. */
static inline struct bytes
node_of(const char *op, const char *name, const char *in, const char *out)
{
	const char *lists[] = {in, out};
	struct bytes b = {0};

	for (unsigned k = 0; k < 2; k++) {
		const char *at = lists[k];

		while (*at) {
			size_t n = strcspn(at, " ");

			put_field(&b, k + 1, at, n == 1 && *at == '-' ? 0 : n);
			at += n;
			at += strspn(at, " ");
		}
	}
	if (*name)
		put_text(&b, 3, name);
	put_text(&b, 4, op);
	return b;
}

static inline void
put_node(struct bytes *graph, const char *op, const char *name, const char *in,
	 const char *out)
{
	struct bytes node = node_of(op, name, in, out);

	put_message(graph, 1, &node);
}

/* A value with a type: f32, dims in text ("batch 3 ?"); NULL: no type. */
static inline void
put_info(struct bytes *graph, unsigned field, const char *name,
	 const char *dims)
{
	struct bytes info = {0}, type = {0}, tensor = {0}, shape = {0};

	put_text(&info, 1, name);
	while (dims && *dims) {
		struct bytes dim = {0};
		size_t n = strcspn(dims, " ");

		if (*dims == '-' || (*dims >= '0' && *dims <= '9'))
			put_int(&dim, 1, strtoll(dims, NULL, 10));
		else if (*dims != '?')
			put_field(&dim, 2, dims, n);
		put_message(&shape, 1, &dim);
		dims += n;
		dims += strspn(dims, " ");
	}
	if (dims) {
		put_int(&tensor, 1, 1);
		put_message(&tensor, 2, &shape);
		put_message(&type, 1, &tensor);
		put_message(&info, 2, &type);
	}
	put_message(graph, field, &info);
}

/* A tensor with raw data of n bytes. */
static inline struct bytes
tensor_of(const char *name, int64_t dtype, int64_t dim, const void *raw,
	  size_t n)
{
	struct bytes b = {0};

	if (dim >= 0)
		put_int(&b, 1, dim);
	put_int(&b, 2, dtype);
	put_text(&b, 8, name);
	if (raw)
		put_field(&b, 9, raw, n);
	return b;
}

/* A model around a graph: IR 8, operator set 'opset'.  The graph is empty
 * after. */
static inline struct bytes
model_of(struct bytes *graph, int64_t opset)
{
	struct bytes b = {0}, set = {0};

	put_int(&b, 1, 8);
	put_text(&b, 2, "test");
	put_message(&b, 7, graph);
	put_text(&set, 1, "");
	put_int(&set, 2, opset);
	put_message(&b, 8, &set);
	return b;
}

#endif
