/* SPDX-License-Identifier: Apache-2.0 */
/* optimize.c - all passes, one after the other. */
#include "transform/optimize.h"

#include "base/banned.h"

struct pass {
	sl__pass_function *run;
	unsigned unless; /* flags that switch it off */
};

static const struct pass passes[] = {
#define PASS(name, unless) {sl__pass_##name, unless},
#include "transform/passes.def"
#undef PASS
};

enum sl_status
sl__optimize(struct sl_graph **out, const struct sl__covered_nodes **covers,
	     const struct sl_graph *graph, const struct sl__shapes *shapes,
	     unsigned flags, struct sl_error *err)
{
	struct sl__rewrite *rw;
	enum sl_status rc;

	rc = sl__rewrite_new(&rw, graph, shapes, &shapes->arena.allocator, err);
	if (rc)
		return rc;
	for (size_t i = 0; !rw->rc && i < sizeof(passes) / sizeof(*passes);
	     i++) {
		if (!(flags & passes[i].unless))
			passes[i].run(rw);
	}
	rc = sl__rewrite_finish(rw, out, covers);
	sl__rewrite_free(rw);
	return rc;
}
