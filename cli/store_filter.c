/* SPDX-License-Identifier: Apache-2.0 */
/* store_filter.c - options that say which results of the store are meant. */
#include "store_filter.h"
#include "save.h"

#define AT(field) offsetof(struct store_filter, field)

static const struct option options[] = {
	{"db", 0, OPTION_TEXT, AT(db), "URL",
	 "the store: a file, or postgresql://HOST/NAME", 0, 0, 0},
	{"command", 0, OPTION_TEXT, AT(command), "NAME",
	 "results of this command alone", 0, 0, 0},
	{"branch", 0, OPTION_TEXT, AT(branch), "NAME", "of this branch alone",
	 0, 0, 0},
	{"commit", 0, OPTION_TEXT, AT(commit), "ID", "of this commit alone", 0,
	 0, 0},
	{"machine", 0, OPTION_TEXT, AT(machine), "ID",
	 "of this machine alone, by its fingerprint", 0, 0, 0},
	{"tag", 0, OPTION_WORDS, AT(tags), "NAME=VALUE",
	 "with this tag alone; may be repeated", 0, 0, 1},
};

struct option_group
store_filter_option_group(struct store_filter *filter)
{
	return OPTION_GROUP(options, filter);
}

void
store_filter_resolve(struct sl_store_query *query,
		     const struct store_filter *filter, const char *command)
{
	*query = (struct sl_store_query){
		.struct_size = sizeof(*query),
		.command = filter->command,
		.machine = filter->machine,
		.commit = filter->commit,
		.branch = filter->branch,
		.tags = tags_parse(&filter->tags, command),
		.n_tags = filter->tags.n,
	};
}
