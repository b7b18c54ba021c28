/* SPDX-License-Identifier: Apache-2.0 */
/* request_json.c - what was asked for, in documents. */
#include "report/request_json.h"

#include "base/banned.h"

static const char not_said[] = "not said";

static void
add_size(struct sl__json *json, const char *key, int64_t size, int is_said)
{
	if (is_said)
		sl__json_integer(json, key, (uint64_t)size);
	else
		sl__json_absent(json, key, not_said);
}

static void
add_sizes(struct sl__json *json, const struct sl_sizes *s)
{
	add_size(json, "batch", s->batch, s->batch != 0);
	add_size(json, "seq", s->seq, s->seq != 0);
	add_size(json, "past", s->past, s->past || s->has_past);
	sl__json_object(json, "dims");
	for (size_t i = 0; i < s->n_dims; i++)
		sl__json_integer(json, s->dims[i].name,
				 (uint64_t)s->dims[i].size);
	sl__json_end_object(json);
	sl__json_object(json, "shapes");
	for (size_t i = 0; i < s->n_shapes; i++) {
		sl__json_array(json, s->shapes[i].input);
		for (size_t k = 0; k < s->shapes[i].rank; k++)
			sl__json_integer(json, NULL,
					 (uint64_t)s->shapes[i].dims[k]);
		sl__json_end_array(json);
	}
	sl__json_end_object(json);
	if (s->inputs_folder)
		sl__json_text(json, "inputs", s->inputs_folder);
	else
		sl__json_absent(json, "inputs", not_said);
}

void
sl__json_request(struct sl__json *json, const struct sl_request *r)
{
	sl__json_object(json, "request");
	sl__json_text(json, "model", r->model ? r->model : "");
	if (r->layer)
		sl__json_text(json, "layer", r->layer);
	else
		sl__json_absent(json, "layer", not_said);
	add_sizes(json, &r->sizes);
	add_size(json, "threads", r->n_threads, r->n_threads != 0);
	if (r->dtype)
		sl__json_text(json, "dtype", sl_dtype_text(r->dtype));
	else
		sl__json_absent(json, "dtype", not_said);
	sl__json_text(json, "algorithms",
		      r->algorithms == SL_ALGORITHMS_FIXED ? "fixed"
							   : "measured");
	sl__json_text(json, "nan",
		      r->nan_policy == SL_NAN_REFUSED ? "refuse" : "keep");
	sl__json_boolean(json, "fusion", !(r->flags & SL_PLAN_NO_FUSION));
	sl__json_boolean(json, "reference",
			 (r->flags & SL_PLAN_REFERENCE) != 0);
	sl__json_boolean(json, "winograd", !(r->flags & SL_PLAN_NO_WINOGRAD));
	sl__json_boolean(json, "cache", !(r->flags & SL_PLAN_NO_CACHE));
	sl__json_end_object(json);
}
