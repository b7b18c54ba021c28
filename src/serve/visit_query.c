/* SPDX-License-Identifier: Apache-2.0 */
/* visit_query.c - which results the arguments of a request mean. */
#include "base/status.h"
#include "result/record.h"
#include "serve/site.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/banned.h"

enum { LIMIT_DEFAULT = 100, LIMIT_MOST = 10000 };

#define AT(member) offsetof(struct sl_store_query, member)

static const struct {
	const char *name;
	size_t offset; /* of a text in the query */
} texts[] = {{"model", AT(model)},
	     {"command", AT(command)},
	     {"branch", AT(branch)},
	     {"commit", AT(commit)},
	     {"machine", AT(machine)}};
enum { N_TEXTS = sizeof(texts) / sizeof(texts[0]) };

const char *
sl__visit_argument(const struct sl__visit *visit, const char *name)
{
	for (size_t i = 0; i < visit->request->n_args; i++) {
		const struct sl_parameter *arg = &visit->request->args[i];

		if (*arg->value && strcmp(arg->name, name) == 0)
			return arg->value;
	}
	return NULL;
}

int
sl__run_read(uint64_t *run, const char **text)
{
	size_t n = strspn(*text, "0123456789");

	/* 18 digits are below 2^63, and none begins with a zero. */
	if (!n || n > 18 || **text == '0')
		return 0;
	*run = strtoull(*text, NULL, 10);
	*text += n;
	return 1;
}

static enum sl_status
read_count(size_t *out, const struct sl_parameter *arg, size_t most,
	   struct sl_error *err)
{
	char *end;
	unsigned long long value;

	errno = 0;
	value = strtoull(arg->value, &end, 10);
	if (errno || *end || arg->value[0] < '0' || arg->value[0] > '9' ||
	    value > most)
		return sl__fail(err, SL_E_USAGE,
				"%s=%s: must be a number up to %zu", arg->name,
				arg->value, most);
	*out = (size_t)value;
	return SL_OK;
}

static enum sl_status
read_tag(struct sl_store_query *query, const struct sl_parameter *arg,
	 struct sl_parameter *tags, struct sl__arena *arena,
	 struct sl_error *err)
{
	char *name = sl__arena_string(arena, arg->value);
	char *equals = name ? strchr(name, '=') : NULL;

	if (!name)
		return sl__fail_nomem(err);
	if (!equals || equals == name)
		return sl__fail(err, SL_E_USAGE, "tag=%s: must be NAME=VALUE",
				arg->value);
	*equals = '\0';
	tags[query->n_tags++] = (struct sl_parameter){name, equals + 1};
	return SL_OK;
}

static enum sl_status
refuse(const struct sl_parameter *arg, const char *const *also,
       struct sl_error *err)
{
	const char *near = NULL;

	for (size_t i = 0; also[i]; i++) {
		if (strcmp(arg->name, also[i]) == 0)
			return SL_OK;
		near = sl_text_nearer(arg->name, near, also[i]);
	}
	for (size_t i = 0; i < N_TEXTS; i++)
		near = sl_text_nearer(arg->name, near, texts[i].name);
	return sl__fail(err, SL_E_USAGE, "'%s' means nothing here%s%s%s",
			arg->name, near ? "; did you mean '" : "",
			near ? near : "", near ? "'?" : "");
}

static enum sl_status
read_argument(struct sl_store_query *query, const struct sl_parameter *arg,
	      const char *const *also, struct sl_error *err)
{
	for (size_t i = 0; i < N_TEXTS; i++) {
		if (strcmp(arg->name, texts[i].name) == 0) {
			memcpy((char *)query + texts[i].offset, &arg->value,
			       sizeof(arg->value));
			return SL_OK;
		}
	}
	if (strcmp(arg->name, "limit") == 0)
		return read_count(&query->n_most, arg, LIMIT_MOST, err);
	if (strcmp(arg->name, "offset") == 0)
		return read_count(&query->n_skipped, arg, SIZE_MAX / 2, err);
	if (strcmp(arg->name, "since") == 0)
		return sl__date_read(&query->since_s, arg->value)
			       ? SL_OK
			       : sl__fail(err, SL_E_USAGE,
					  "since=%s: must be a date such as "
					  "2026-01-31 or 2026-01-31T12:00:00Z",
					  arg->value);
	return refuse(arg, also, err);
}

enum sl_status
sl__visit_query(struct sl_store_query *query, const struct sl__visit *visit,
		const char *const *also, struct sl_error *err)
{
	const struct sl__http_request *request = visit->request;
	struct sl_parameter *tags =
		sl__arena_array(visit->arena, request->n_args, sizeof(*tags));
	enum sl_status rc = tags ? SL_OK : sl__fail_nomem(err);

	*query = (struct sl_store_query){.struct_size = sizeof(*query),
					 .n_most = LIMIT_DEFAULT,
					 .tags = tags};
	for (size_t i = 0; !rc && i < request->n_args; i++) {
		const struct sl_parameter *arg = &request->args[i];

		if (*arg->value && strcmp(arg->name, "tag") == 0)
			rc = read_tag(query, arg, tags, visit->arena, err);
		else if (*arg->value)
			rc = read_argument(query, arg, also, err);
	}
	if (!rc && !query->n_most)
		rc = sl__fail(err, SL_E_USAGE, "limit=0 asks for nothing");
	return rc;
}
