/* SPDX-License-Identifier: Apache-2.0 */
/*
 * folded.c - operations as folded stacks, for flame graphs.
 *
 * Nanoseconds, since there are models whose operations all take less than one
 * microsecond.
 */
#include "base/buf.h"
#include "base/status.h"
#include "sleuth/profiling.h"

#include <inttypes.h>
#include <string.h>
#include <strings.h>

#include "base/banned.h"

/* A frame: what would end it, or the line, is replaced. */
static void
add_frame(struct sl_buf *out, const char *text, size_t n_bytes)
{
	if (!n_bytes)
		sl__buf_text(out, "_");
	for (size_t i = 0; i < n_bytes; i++) {
		unsigned char c = (unsigned char)text[i];

		sl__buf_add(out,
			    c == ';' || c <= ' ' || c == 0x7f ? "_" : text + i,
			    1);
	}
}

/* The parts of a path, each a frame with ';' behind it; returns the last. */
static const char *
add_modules(struct sl_buf *out, const char *path)
{
	const char *last = path;

	while (*path) {
		size_t n = strcspn(path, "/");

		if (n) {
			add_frame(out, path, n);
			sl__buf_text(out, ";");
			last = path;
		}
		path += n + (path[n] == '/');
	}
	return last;
}

/* The operator: the last part of the name where that begins with its type and
 * is not a module already (MatMul_1), else the type.  Exporters name nodes
 * after what they took in: a convolution may be called ReadVariableOp. */
static void
add_leaf(struct sl_buf *out, const struct sl_operation *op,
	 const char *last_module)
{
	const char *leaf = op->name;
	const char *slash = strrchr(leaf, '/');
	const char *dot = slash ? NULL : strrchr(leaf, '.');

	if (*op->module && (slash || dot))
		leaf = (slash ? slash : dot) + 1;
	if (strncasecmp(leaf, op->type, strlen(op->type)) ||
	    (*op->module && !strcmp(leaf, last_module)))
		leaf = op->type;
	add_frame(out, leaf, strlen(leaf));
}

enum sl_status
sl_profile_folded(const struct sl_profile *profile, struct sl_buf *out,
		  struct sl_error *err)
{
	for (size_t i = 0; i < profile->n_operations; i++) {
		const struct sl_operation *op = &profile->operations[i];
		uint64_t ns = op->self_ns > 0 ? (uint64_t)(op->self_ns + 0.5)
					      : 0;

		add_frame(out, profile->name, strlen(profile->name));
		sl__buf_text(out, ";");
		add_leaf(out, op, add_modules(out, op->module));
		sl__buf_format(out, " %" PRIu64 "\n", ns);
	}
	return sl__buf_status(out, err);
}
