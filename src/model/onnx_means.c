/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_means.c - what every part of the ONNX reader needs: text and memory. */
#include "base/status.h"
#include "model/onnx_reader.h"

#include <limits.h>
#include <string.h>

#include "base/banned.h"

enum sl_status
sl__onnx_charge(struct sl__onnx_reader *r, uint64_t n_bytes)
{
	if (n_bytes > r->budget_bytes)
		return sl__fail(r->err, SL_E_DATA,
				"would take far more memory than a model of "
				"%zu bytes should",
				r->file.n_bytes);
	r->budget_bytes -= n_bytes;
	return SL_OK;
}

void *
sl__onnx_array(struct sl__onnx_reader *r, size_t n, size_t n_bytes)
{
	size_t total;
	void *array;

	if (__builtin_mul_overflow(n, n_bytes, &total))
		total = SIZE_MAX;
	if (sl__onnx_charge(r, total))
		return NULL;
	array = sl__arena_alloc(r->arena, total);
	if (!array)
		(void)sl__fail_nomem(r->err);
	return array;
}

const char *
sl__onnx_text(struct sl__onnx_reader *r, const struct sl__wire *wire,
	      const struct sl__field *field, const char *prefix)
{
	size_t n_prefix = strlen(prefix);
	char *text;

	if (sl__wire_expect(wire, field, SL__WIRE_BYTES, r->err))
		return NULL;
	if (n_prefix + field->n_bytes == 0)
		return "";
	text = sl__onnx_array(r, n_prefix + field->n_bytes + 1, 1);
	if (!text)
		return NULL;
	memcpy(text, prefix, n_prefix + 1);
	memcpy(text + n_prefix, field->bytes, field->n_bytes);
	return text;
}

enum sl_status
sl__onnx_reserve_text(struct sl__onnx_reader *r, size_t n)
{
	size_t cap = 2 * n + 64;

	if (n < r->cap_text)
		return SL_OK;
	r->cap_text = 0;
	r->text = sl__arena_alloc(&r->scratch, cap);
	if (!r->text)
		return sl__fail_nomem(r->err);
	r->cap_text = cap;
	return SL_OK;
}

enum sl_status
sl__onnx_check_name(struct sl__onnx_reader *r, const struct sl__field *field)
{
	if (!field->n_bytes || !memchr(field->bytes, 0, field->n_bytes))
		return SL_OK;
	return sl__fail(r->err, SL_E_DATA, "byte %zu: a name with a NUL in it",
			field->at);
}

const char *
sl__onnx_key(struct sl__onnx_reader *r, const struct sl__wire *wire,
	     const struct sl__field *field)
{
	if (sl__wire_expect(wire, field, SL__WIRE_BYTES, r->err))
		return NULL;
	if (sl__onnx_check_name(r, field) ||
	    sl__onnx_reserve_text(r, field->n_bytes))
		return NULL;
	memcpy(r->text, field->bytes, field->n_bytes);
	r->text[field->n_bytes] = '\0';
	return r->text;
}

enum sl_status
sl__onnx_reserve_ids(struct sl__onnx_reader *r, size_t n)
{
	size_t cap = 2 * n + 16; /* never none: there is an array to point to */

	if (n <= r->cap_ids && r->ids)
		return SL_OK;
	r->cap_ids = 0;
	r->ids = sl__arena_array(&r->scratch, cap, sizeof(*r->ids));
	if (!r->ids)
		return sl__fail_nomem(r->err);
	r->cap_ids = cap;
	return SL_OK;
}

enum sl_status
sl__onnx_descend(struct sl__onnx_reader *r, size_t at)
{
	if (r->depth >= SL__ONNX_NESTING_MOST)
		return sl__fail(r->err, SL_E_DATA,
				"byte %zu: nested more than %d levels deep", at,
				SL__ONNX_NESTING_MOST);
	r->depth++;
	return SL_OK;
}

enum sl_status
sl__onnx_opset(struct sl__onnx_reader *r, struct sl__wire entry,
	       struct sl__map *opsets, struct sl__opset *out)
{
	struct sl__field f;
	enum sl_status rc;
	int64_t version = 0;
	size_t at = entry.at;
	const size_t *known;

	out->domain = "";
	for (;;) {
		rc = sl__wire_next(&entry, &f, r->err);
		if (rc)
			return rc;
		if (!f.number)
			break;
		if (f.number == SL__OPSET_DOMAIN) {
			out->domain = sl__onnx_text(r, &entry, &f, "");
			if (!out->domain)
				return r->err->status;
		} else if (f.number == SL__OPSET_VERSION) {
			rc = sl__wire_integer(&entry, &f, &version, r->err);
			if (rc)
				return rc;
		}
	}
	if (!strcmp(out->domain, "ai.onnx"))
		out->domain = "";
	if (version < 0 || version > INT_MAX)
		return sl__fail(r->err, SL_E_DATA,
				"byte %zu: %lld is no version of an operator "
				"set",
				at, (long long)version);
	out->version = (int)version;
	/* A slot, a key, and the entry of the graph's list. */
	rc = sl__onnx_charge(r, 4 * sizeof(struct sl__map_slot) +
					strlen(out->domain) + sizeof(*out));
	if (rc)
		return rc;
	known = sl__map_find(opsets, out->domain);
	if (known && *known != (size_t)version)
		r->n_opsets_again++;
	if (known && *known > (size_t)version)
		out->version = (int)*known;
	return sl__map_put(opsets, out->domain, (size_t)out->version, r->err);
}
