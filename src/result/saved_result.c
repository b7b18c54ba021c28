/* SPDX-License-Identifier: Apache-2.0 */
/*
 * saved_result.c - a result of any kind, read back from JSON.
 *
 * A document says what kind of result it holds; the table of that kind does
 * the rest.
 */
#include "result/saved_result.h"
#include "base/status.h"
#include "result/embedded_result.h"
#include "result/record.h"
#include "result/tables.h"
#include "sleuth.h"

#include <string.h>

#include "base/banned.h"

enum { SCHEMA = 1 };

const struct sl__record *const sl__saved_result_kinds[] = {
	&sl__table_bench,
	&sl__table_comparisons,
	&sl__table_evaluation,
	&sl__table_fit,
	&sl__table_function,
	&sl__table_generation,
	&sl__table_inspections,
	&sl__table_load,
	&sl__table_machine_document,
	&sl__table_measurement,
	&sl__table_memory,
	&sl__table_microbench,
	&sl__table_optimization,
	&sl__table_overhead,
	&sl__table_profiles,
	&sl__table_run,
	&sl__table_scopes,
	&sl__table_selfcheck,
	&sl__table_sweep,
	&sl__table_model_comparison,
	&sl__table_gate,
	&sl__table_history,
	&sl__table_stored_runs,
	&sl__table_suite,
	&sl__table_train,
	&sl__table_zoo,
	NULL,
};

void
sl__result_document_begin(struct sl__json *json, struct sl_buf *out,
			  const struct sl__result_head *head,
			  const struct sl__record *table)
{
	sl__json_init(json, out);
	sl__json_object(json, NULL);
	sl__json_integer(json, "schema", SCHEMA);
	sl__json_object(json, "tool");
	sl__json_text(json, "name", "sleuth");
	sl__json_text(json, "version",
		      head->version ? head->version : sl_version());
	sl__json_end_object(json);
	sl__json_text(json, "command", head->command);
	if (head->command_line)
		sl__json_text(json, "command_line", head->command_line);
	if (head->host)
		sl__json_text(json, "host", head->host);
	if (table)
		sl__json_text(json, "kind", table->name);
}

/* A text of the document; NULL: none. */
static const char *
text_of(const struct sl__json_value *object, const char *key)
{
	const struct sl__json_value *v = sl__json_member(object, key);

	return v && v->kind == SL__JSON_TEXT ? v->text : NULL;
}

static enum sl_status
check_schema(const struct sl__json_value *root, struct sl_error *err)
{
	const struct sl__json_value *schema = sl__json_member(root, "schema");

	if (!schema || schema->kind != SL__JSON_NUMBER)
		return sl__fail(err, SL_E_DATA,
				"no result: \"schema\" is not "
				"there");
	if (schema->number < SCHEMA || schema->number > SCHEMA)
		return sl__fail(err, SL_E_DATA,
				"schema %s is not known, only %d is",
				schema->text, SCHEMA);
	return SL_OK;
}

static enum sl_status
find_kind(const struct sl__record **out, const struct sl__json_value *root,
	  struct sl_error *err)
{
	const char *kind = text_of(root, "kind");

	if (!kind)
		return sl__fail(err, SL_E_DATA,
				"\"kind\" is not there: this "
				"result cannot be read back");
	for (size_t i = 0; sl__saved_result_kinds[i]; i++) {
		*out = sl__saved_result_kinds[i];
		if (strcmp((*out)->name, kind) == 0)
			return SL_OK;
	}
	return sl__fail(err, SL_E_DATA, "a result of kind '%s' is not known",
			kind);
}

static enum sl_status
fill(struct sl_result *out, const struct sl__json_value *root,
     struct sl__arena *arena, struct sl_error *err)
{
	const struct sl__json_value *tool = sl__json_member(root, "tool");
	enum sl_status rc = check_schema(root, err);

	if (!rc)
		rc = find_kind(&out->table, root, err);
	if (rc)
		return rc;
	out->head = (struct sl__result_head){
		.command = text_of(root, "command"),
		.version = tool ? text_of(tool, "version") : NULL,
		.command_line = text_of(root, "command_line"),
		.host = text_of(root, "host")};
	if (!out->head.command || !out->head.version)
		return sl__fail(err, SL_E_DATA,
				"\"command\" or the version of its tool is "
				"not there");
	out->record = sl__arena_alloc(arena, out->table->n_bytes);
	if (!out->record)
		return sl__fail_nomem(err);
	return sl__record_read(out->record, out->table, root, arena, err);
}

enum sl_status
sl_result_read(struct sl_result **out, const char *text, size_t n_bytes,
	       const struct sl_allocator *allocator, struct sl_error *err)
{
	const struct sl__json_value *root;
	struct sl_buf inflated = {0};
	struct sl__arena *arena;
	struct sl_result *result;
	enum sl_status rc;

	*out = NULL;
	result = sl__arena_object_new(&arena, allocator, sizeof(*result));
	if (!result)
		return sl__fail_nomem(err);
	rc = sl__embedded_result_find(&text, &n_bytes, &inflated, err);
	if (!rc)
		rc = sl__json_read(&root, text, n_bytes, arena, err);
	if (!rc)
		rc = fill(result, root, arena, err);
	sl_buf_release(&inflated);
	if (rc) {
		sl_result_free(result);
		return rc;
	}
	*out = result;
	return SL_OK;
}

void
sl_result_free(struct sl_result *result)
{
	sl__arena_object_free(result);
}

const char *
sl_result_kind(const struct sl_result *result)
{
	return result->table->name;
}

const char *
sl_result_command(const struct sl_result *result)
{
	return result->head.command;
}
