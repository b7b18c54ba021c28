/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_reader.c - what every part of the ONNX reader needs: text, memory and
 * the small messages that several have. */
#include "base/status.h"
#include "model/onnx_reader.h"

#include <limits.h>
#include <stddef.h>
#include <string.h>

#include "base/banned.h"

int
sl__onnx_charge(struct sl__onnx_reader *r, uint64_t n_bytes)
{
	if (n_bytes > r->budget_bytes)
		sl__wire_fail(&r->file,
			      "would take far more memory than a model of %zu "
			      "bytes should",
			      r->file.n_bytes);
	if (r->file.status)
		return 0;
	r->budget_bytes -= n_bytes;
	return 1;
}

/* What an arena gave; NULL after a failure, this one included. */
static void *
given(struct sl__onnx_reader *r, void *block)
{
	if (!block)
		sl__wire_keep_status(&r->file, sl__fail_nomem(r->file.err));
	return r->file.status ? NULL : block;
}

void *
sl__onnx_alloc_in_graph(struct sl__onnx_reader *r, size_t n, size_t n_bytes)
{
	size_t total;

	if (__builtin_mul_overflow(n, n_bytes, &total))
		total = SIZE_MAX;
	if (!sl__onnx_charge(r, total))
		return NULL;
	return given(r, sl__arena_alloc(r->arena, total));
}

void *
sl__onnx_alloc_scratch(struct sl__onnx_reader *r, size_t n, size_t n_bytes)
{
	return given(r, sl__arena_array(&r->scratch, n, n_bytes));
}

const char *
sl__onnx_text_or_nomem(struct sl__onnx_reader *r, const char *text)
{
	if (!text)
		sl__wire_keep_status(&r->file, sl__fail_nomem(r->file.err));
	return text ? text : "";
}

const char *
sl__onnx_text(struct sl__onnx_reader *r, const struct sl__field *field,
	      const char *prefix)
{
	size_t n_prefix = strlen(prefix);
	char *text;

	if (n_prefix + field->n_bytes == 0)
		return "";
	text = sl__onnx_alloc_in_graph(r, n_prefix + field->n_bytes + 1, 1);
	if (!text)
		return "";
	memcpy(text, prefix, n_prefix + 1);
	if (field->n_bytes)
		memcpy(text + n_prefix, field->bytes, field->n_bytes);
	return text;
}

int
sl__onnx_reserve_text_scratch(struct sl__onnx_reader *r, size_t n)
{
	size_t cap = 2 * n + 64;

	if (n >= r->cap_text) {
		r->text = sl__onnx_alloc_scratch(r, cap, 1);
		r->cap_text = r->text ? cap : 0;
	}
	return !r->file.status;
}

void
sl__onnx_check_name(struct sl__onnx_reader *r, const struct sl__field *field)
{
	if (field->n_bytes && memchr(field->bytes, 0, field->n_bytes))
		sl__wire_fail(&r->file, "byte %zu: a name with a NUL in it",
			      field->at);
}

const char *
sl__onnx_name_scratch(struct sl__onnx_reader *r, const struct sl__field *field)
{
	sl__onnx_check_name(r, field);
	if (!sl__onnx_reserve_text_scratch(r, field->n_bytes))
		return "";
	if (field->n_bytes)
		memcpy(r->text, field->bytes, field->n_bytes);
	r->text[field->n_bytes] = '\0';
	return r->text;
}

int
sl__onnx_reserve_id_scratch(struct sl__onnx_reader *r, size_t n)
{
	size_t cap = 2 * n + 16; /* never none: there is an array to point to */

	if (n > r->cap_ids || !r->ids) {
		r->ids = sl__onnx_alloc_scratch(r, cap, sizeof(*r->ids));
		r->cap_ids = r->ids ? cap : 0;
	}
	return !r->file.status;
}

void
sl__onnx_map_put(struct sl__onnx_reader *r, struct sl__map *map,
		 const char *key, size_t value)
{
	if (!r->file.status)
		sl__wire_keep_status(&r->file,
				     sl__map_put(map, key, value, r->file.err));
}

int
sl__onnx_descend(struct sl__onnx_reader *r, size_t at)
{
	if (r->depth >= SL__ONNX_NESTING_MOST)
		sl__wire_fail(&r->file,
			      "byte %zu: nested more than %d levels deep", at,
			      SL__ONNX_NESTING_MOST);
	if (r->file.status)
		return 0;
	r->depth++;
	return 1;
}

struct opset_fields {
	struct sl__field domain;
	int64_t version;
};

struct sl__opset
sl__onnx_parse_opset(struct sl__onnx_reader *r, struct sl__wire_reader entry,
		     struct sl__map *opsets)
{
	static const struct sl__wire_store_rule rows[] = {
		{SL__OPSET_DOMAIN, SL__WIRE_BYTES, SL__WIRE_STORE_FIELD,
		 offsetof(struct opset_fields, domain)},
		{SL__OPSET_VERSION, SL__WIRE_VARINT, SL__WIRE_STORE_INTEGER,
		 offsetof(struct opset_fields, version)},
		{0},
	};
	struct opset_fields said = {0};
	struct sl__opset out;
	const size_t *known;

	sl__wire_store_fields(entry, rows, &said);
	out.domain = sl__onnx_text(r, &said.domain, "");
	if (!strcmp(out.domain, "ai.onnx"))
		out.domain = "";
	if (said.version < 0 || said.version > INT_MAX)
		sl__wire_fail(&r->file,
			      "byte %zu: %lld is no version of an operator "
			      "set",
			      entry.at, (long long)said.version);
	out.version = (int)said.version;
	/* A slot, a key, and the entry of the graph's list. */
	sl__onnx_charge(r, 4 * sizeof(struct sl__map_slot) +
				   strlen(out.domain) + sizeof(out));
	known = sl__map_find(opsets, out.domain);
	if (known && *known != (size_t)said.version)
		r->n_opsets_again++;
	if (known && *known > (size_t)said.version)
		out.version = (int)*known;
	sl__onnx_map_put(r, opsets, out.domain, (size_t)out.version);
	return out;
}

struct sl__metadata
sl__onnx_parse_string_pair(struct sl__onnx_reader *r,
			   struct sl__wire_reader pair)
{
	static const struct sl__wire_store_rule rows[] = {
		{SL__PAIR_KEY, SL__WIRE_BYTES, SL__WIRE_STORE_FIELD, 0},
		{SL__PAIR_VALUE, SL__WIRE_BYTES, SL__WIRE_STORE_FIELD,
		 sizeof(struct sl__field)},
		{0},
	};
	struct sl__field said[2] = {{0}};
	struct sl__metadata out;

	sl__wire_store_fields(pair, rows, said);
	out.key = sl__onnx_text(r, &said[0], "");
	out.value = sl__onnx_text(r, &said[1], "");
	return out;
}
