/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stored_points.c - what is searched of a result, taken from its document.
 *
 * A document has one model, a list of models or commands, or the limits of a
 * gate, which are all of one.  Each is a point: a name, the settings that it was
 * run with, and the median time where one was measured.  Results of other
 * settings are another series of points.
 */
#include "store/stored_points.h"
#include "base/buf.h"
#include "base/file_mapping.h"
#include "base/hash.h"
#include "base/status.h"
#include "result/field.h"

#include <inttypes.h>
#include <math.h>

#include "base/banned.h"

enum { SCHEMA = 1 };

const char *
sl__json_member_text(const struct sl__json_value *object, const char *key)
{
	const struct sl__json_value *v = sl__json_member(object, key);

	return v && v->kind == SL__JSON_TEXT ? v->text : NULL;
}

static double
number_of(const struct sl__json_value *object, const char *key)
{
	const struct sl__json_value *v = object ? sl__json_member(object, key)
						: NULL;

	return v && v->kind == SL__JSON_NUMBER ? v->number : (double)NAN;
}

/* What a gate judged: all its limits are of the same thing.  NULL: no gate. */
static const struct sl__json_value *
first_limit(const struct sl__json_value *root)
{
	const struct sl__json_value *gate = sl__json_member(root, "gate");
	const struct sl__json_value *limits =
		gate ? sl__json_member(gate, "limits") : NULL;

	return limits && limits->kind == SL__JSON_ARRAY && limits->first &&
			       limits->first->kind == SL__JSON_OBJECT
		       ? limits->first
		       : NULL;
}

/* Elements of a list, or the document itself. */
const struct sl__json_value *
sl__stored_subject(const struct sl__json_value *root, size_t nth)
{
	static const char *const lists[] = {"results", "models"};

	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		const struct sl__json_value *list =
			sl__json_member(root, lists[i]);
		const struct sl__json_value *at;

		if (!list || list->kind != SL__JSON_ARRAY || !list->n)
			continue;
		for (at = list->first; at && nth; at = at->next)
			nth--;
		return at && at->kind == SL__JSON_OBJECT ? at : NULL;
	}
	if (nth)
		return NULL;
	return sl__json_member(root, "model") ? root : first_limit(root);
}

static const char *
name_of(const struct sl__json_value *s)
{
	const struct sl__json_value *model = sl__json_member(s, "model");
	const char *name = model ? sl__json_member_text(model, "name") : NULL;

	if (!name)
		name = sl__json_member_text(s, "name");
	return name ? name : sl__json_member_text(s, "command");
}

/* "batch 1, f32, 2 threads, training"; NULL where nothing is said. */
static enum sl_status
read_settings(const char **out, const struct sl__json_value *s,
	      struct sl__arena *arena, struct sl_error *err)
{
	const struct sl__json_value *model = sl__json_member(s, "model");
	const struct sl__json_value *plan = sl__json_member(s, "plan");
	const struct sl__json_value *request = sl__json_member(s, "request");
	const char *words[] = {
		model ? sl__json_member_text(model, "sizes") : NULL,
		plan ? sl__json_member_text(plan, "dtype") : NULL,
		request ? sl__json_member_text(request, "layer") : NULL,
		sl__json_member(s, "training") ? "training" : NULL,
	};
	double threads = number_of(plan, "threads");
	struct sl_buf text = {0};
	enum sl_status rc;

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (words[i])
			sl__buf_format(&text, "%s%s", text.n_bytes ? ", " : "",
				       words[i]);
	}
	if (threads > 0)
		sl__buf_format(&text, "%s%.0f thread%s",
			       text.n_bytes ? ", " : "", threads,
			       threads > 1 ? "s" : "");
	rc = sl__buf_status(&text, err);
	if (!rc && text.data)
		rc = sl__arena_copy_text(arena, out, text.data, err);
	sl_buf_release(&text);
	return rc;
}

static struct sl_estimate
time_of(const struct sl__json_value *s)
{
	const struct sl__json_value *latency = sl__json_member(s, "latency");
	const struct sl__json_value *interval =
		latency ? sl__json_member(latency, "ci95_ms") : NULL;
	double n = number_of(latency, "n");

	return (struct sl_estimate){
		.value = SL__NS_PER_MS * number_of(latency, "median_ms"),
		.lo = SL__NS_PER_MS * number_of(interval, "lo"),
		.hi = SL__NS_PER_MS * number_of(interval, "hi"),
		.n = n > 0 ? (size_t)n : 0};
}

static enum sl_status
read_points(struct sl_stored_run *run, const struct sl__json_value *root,
	    struct sl__arena *arena, struct sl_error *err)
{
	struct sl_stored_point *points = NULL;
	size_t n = 0, cap = 0;
	enum sl_status rc;

	for (const struct sl__json_value *s; (s = sl__stored_subject(root, n));
	     n++) {
		if (!sl__arena_grow(arena, &points, n, &cap, sizeof(*points)))
			return sl__fail_nomem(err);
		points[n] = (struct sl_stored_point){.name = name_of(s),
						     .time_ns = time_of(s)};
		rc = read_settings(&points[n].settings, s, arena, err);
		if (rc)
			return rc;
		if (!points[n].name)
			points[n].name = "";
	}
	run->points = points;
	run->n_points = n;
	return SL_OK;
}

enum sl_status
sl__stored_run_read(struct sl_stored_run *run,
		    const struct sl__json_value *root, struct sl__arena *arena,
		    struct sl_error *err)
{
	const struct sl__json_value *tool = sl__json_member(root, "tool");

	if (!(fabs(number_of(root, "schema") - SCHEMA) < 0.5))
		return sl__fail(err, SL_E_DATA, "no result of schema %d",
				SCHEMA);
	run->command = sl__json_member_text(root, "command");
	run->kind = sl__json_member_text(root, "kind");
	run->version = tool ? sl__json_member_text(tool, "version") : NULL;
	if (!run->command || !run->kind || !run->version)
		return sl__fail(err, SL_E_DATA,
				"no result: command, kind or version of the "
				"tool is not there");
	return read_points(run, root, arena, err);
}

const char *
sl__stored_model_hash(const struct sl__json_value *root, size_t nth,
		      struct sl__arena *arena)
{
	const struct sl__json_value *s = sl__stored_subject(root, nth);
	const struct sl__json_value *model = s ? sl__json_member(s, "model")
					       : NULL;
	const char *path = model ? sl__json_member_text(model, "source") : NULL;
	struct sl__file_mapping file;
	struct sl__digest digest;

	if (!path || sl__file_mapping_open(&file, path, NULL))
		return NULL;
	digest = sl__digest_of(file.bytes, file.n_bytes);
	sl__file_mapping_close(&file);
	return sl__arena_format(arena, "%016" PRIx64 "%016" PRIx64,
				digest.words[0], digest.words[1]);
}
