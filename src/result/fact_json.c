/* SPDX-License-Identifier: Apache-2.0 */
/* fact_json.c - facts in documents: what they say, and what they are. */
#include "result/fact_json.h"
#include "base/buf.h"
#include "base/status.h"
#include "result/fact_list.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/banned.h"

/* What it says, or its absence, under 'key'. */
static void
write_words(struct sl__json *json, const char *key, const struct sl_fact *fact,
	    int is_absence)
{
	struct sl_buf text = {0};

	json->say(&text, fact);
	if (sl__buf_status(&text, NULL))
		sl__buf_mark_failed(json->out);
	else if (is_absence)
		sl__json_absent(json, key, text.data ? text.data : "");
	else
		sl__json_text(json, key, text.data ? text.data : "");
	sl_buf_release(&text);
}

static void
write_members(struct sl__json *json, const char *key,
	      const struct sl_fact *fact)
{
	sl__json_object(json, key);
	sl__json_text(json, "kind", sl_fact_kind_text(fact->kind));
	sl__json_array(json, "values");
	for (size_t i = 0; i < sl__fact_kind_n_values(fact->kind); i++)
		sl__json_number(json, NULL, fact->values[i]);
	sl__json_end_array(json);
	sl__json_array(json, "names");
	for (size_t i = 0; i < sl__fact_kind_n_names(fact->kind); i++)
		sl__json_text(json, NULL, fact->names[i] ? fact->names[i] : "");
	sl__json_end_array(json);
	sl__json_end_object(json);
}

void
sl__json_fact(struct sl__json *json, const char *key,
	      const struct sl_fact *fact)
{
	char sibling[64];

	write_words(json, key, fact, 0);
	snprintf(sibling, sizeof(sibling), "%s_fact", key);
	write_members(json, sibling, fact);
}

void
sl__json_facts(struct sl__json *json, const char *key,
	       const struct sl_fact *facts, size_t n)
{
	char sibling[64];

	sl__json_array(json, key);
	for (size_t i = 0; i < n; i++)
		write_words(json, NULL, &facts[i], 0);
	sl__json_end_array(json);
	snprintf(sibling, sizeof(sibling), "%s_facts", key);
	sl__json_array(json, sibling);
	for (size_t i = 0; i < n; i++)
		write_members(json, NULL, &facts[i]);
	sl__json_end_array(json);
}

void
sl__json_absent_because(struct sl__json *json, const char *key,
			const struct sl_fact *fact)
{
	write_words(json, key, fact, 1);
}

/* The kind of that word; SL_N_FACT_KINDS: none. */
static int
kind_of(const struct sl__json_value *word)
{
	int kind = 0;

	if (!word || word->kind != SL__JSON_TEXT)
		return SL_N_FACT_KINDS;
	while (kind < SL_N_FACT_KINDS &&
	       strcmp(sl_fact_kind_text((enum sl_fact_kind)kind), word->text) !=
		       0)
		kind++;
	return kind;
}

enum sl_status
sl__fact_read(struct sl_fact *out, const struct sl__json_value *value,
	      struct sl_error *err)
{
	const struct sl__json_value *values = sl__json_member(value, "values");
	const struct sl__json_value *names = sl__json_member(value, "names");
	const struct sl__json_value *e;
	int kind = kind_of(sl__json_member(value, "kind"));
	size_t i = 0;

	*out = (struct sl_fact){.kind = SL_FACT_NONE};
	if (kind == SL_N_FACT_KINDS || !values || !names ||
	    values->n != sl__fact_kind_n_values((enum sl_fact_kind)kind) ||
	    names->n != sl__fact_kind_n_names((enum sl_fact_kind)kind))
		return sl__fail(err, SL_E_DATA, "no fact that is known");
	out->kind = (enum sl_fact_kind)kind;
	for (e = values->first; e; e = e->next)
		out->values[i++] = e->kind == SL__JSON_NUMBER ? e->number
							      : (double)NAN;
	for (i = 0, e = names->first; e; e = e->next) {
		if (e->kind != SL__JSON_TEXT)
			return sl__fail(err, SL_E_DATA, "no name of a fact");
		out->names[i++] = e->text;
	}
	return SL_OK;
}
