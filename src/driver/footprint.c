/* SPDX-License-Identifier: Apache-2.0 */
/* footprint.c - what memory a model takes, without timing it. */
#include "analysis/memory_use.h"
#include "base/option_struct.h"
#include "base/status.h"
#include "experiment/subject.h"
#include "experiment/live_tensors.h"

#include "base/banned.h"

enum { RUNS = 2 }; /* the second touches nothing new */

struct footprint {
	const struct sl_graph *graph;
	struct sl_memory_use *out;
	struct sl__arena *arena; /* of the result */
	struct sl__arena scratch;
	struct sl__residence residence;
	struct sl__subject_model subject;
	uint64_t parameters_bytes;
};

static enum sl_status
count_parameters(struct footprint *f, const struct sl_plan_options *plan,
		 struct sl_error *err)
{
	struct sl_inspect_options how = {
		.struct_size = sizeof(how),
		.brief = 1,
		.sizes = plan ? plan->sizes : NULL,
		.allocator = plan ? plan->allocator : NULL,
	};
	struct sl_inspection *model;
	enum sl_status rc = sl_inspect(&model, f->graph, &how, err);

	if (rc)
		return rc;
	f->parameters_bytes = model->memory.parameter_bytes;
	sl_inspection_free(model);
	return SL_OK;
}

static enum sl_status
run(struct footprint *f, const struct sl_plan_options *plan,
    struct sl_error *err)
{
	struct sl__subject_model_options how = {.plan = plan};
	enum sl_status rc;

	if (plan && plan->sizes)
		how.folder = plan->sizes->inputs_folder;
	sl__residence_begin(&f->residence);
	rc = sl__subject_model_open(&f->subject, f->graph, &how, err);
	if (!rc) {
		sl__residence_pause(&f->residence);
		sl__residence_resume(&f->residence);
	}
	for (int i = 0; !rc && i < RUNS; i++)
		rc = sl_plan_run(f->subject.plan, err);
	if (!rc)
		sl__residence_end(&f->residence);
	return rc;
}

static enum sl_status
measure(struct footprint *f, const struct sl_plan_options *plan,
	struct sl_error *err)
{
	const struct sl__live_tensors_options unhurried = {0};
	struct sl__tensor_lifetimes tracking;
	struct sl__memory_sources sources = {.tracking = &tracking,
					     .residence = &f->residence};
	enum sl_status rc = count_parameters(f, plan, err);

	if (!rc)
		rc = run(f, plan, err);
	if (!rc)
		rc = sl__live_tensors_track_or_absent(
			&tracking, f->subject.plan, &unhurried, &f->scratch,
			err);
	if (rc)
		return rc;
	sources.plan = f->subject.plan;
	sources.parameters_bytes = f->parameters_bytes;
	return sl__memory_use_of(f->out, &sources, f->arena, err);
}

enum sl_status
sl_measure_memory(struct sl_memory_use **out, const struct sl_graph *graph,
		  const struct sl_plan_options *plan, struct sl_error *err)
{
	struct footprint f = {.graph = graph};
	struct sl__plan_options_storage copy;
	enum sl_status rc = sl__plan_options_copy(&copy, &plan, err);

	*out = NULL;
	if (rc)
		return rc;
	f.out = sl__arena_object_new(&f.arena, copy.plan.allocator,
				     sizeof(*f.out));
	if (!f.out)
		return sl__fail_nomem(err);
	sl__arena_init(&f.scratch, copy.plan.allocator);
	rc = measure(&f, plan, err);
	sl__subject_model_close(&f.subject);
	sl__arena_release(&f.scratch);
	*out = sl__arena_object_free_on_error(f.out, rc);
	return rc;
}

void
sl_memory_use_free(struct sl_memory_use *use)
{
	sl__arena_object_free(use);
}
