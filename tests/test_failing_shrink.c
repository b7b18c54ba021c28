/* SPDX-License-Identifier: Apache-2.0 */
/* test_failing_shrink.c - models are made smaller with each request for memory
 * failing: nothing is left behind, and nothing half done is handed out. */
#include "fail_each.h"

struct change {
	struct sl_graph *graph;
	const char *changes;
};

static enum sl_status
apply(void *ctx, const struct sl_allocator *allocator, struct sl_error *err)
{
	const struct change *c = ctx;
	struct sl_variant_options how = {.struct_size = sizeof(how),
					 .allocator = allocator};
	struct sl_variant *v;
	enum sl_status rc = sl_variant_new(&v, c->graph, c->changes, &how, err);

	if (!rc != !!v)
		fail_msg("%s: status and result disagree", c->changes);
	sl_variant_free(v);
	return rc;
}

static void
changes_are_applied(void **state)
{
	static const struct {
		const char *model, *changes;
		long step; /* requests that fail are so far apart */
	} rows[] = {
		{"mlp:3-4-2", "prune-channels=0.5", 1},
		{"attention:4,8,2", "prune-heads=0.5", 1},
		{"conv:2,3,1,4", "prune-channels=0.5", 1},
		{"mlp:3-4-2", "prune=0.5", 1},
		{"mlp:3-4-2", "low-rank=0.2", 1},
		{"gpt:1,4,2,5,6", "kv-cache", 3},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct change c = {.changes = rows[i].changes};

		assert_int_equal(
			sl_graph_open(&c.graph, rows[i].model, NULL, NULL),
			SL_OK);
		assert_true(fail_from(apply, &c, rows[i].model, 1,
				      rows[i].step) > 0);
		sl_graph_free(c.graph);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(changes_are_applied),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
