/* SPDX-License-Identifier: Apache-2.0 */
/*
 * study.c - what every question about a model starts with.
 *
 * This is the one place of the analysis that reads files: those of the inputs,
 * where the sizes name a folder.  Everything after it is arithmetic.
 */
#include "driver/study.h"
#include "base/status.h"

#include <string.h>

#include "base/banned.h"

enum sl_status
sl__study_options(struct sl__shapes_options *out, struct sl__inputs **inputs,
		  const struct sl_graph *graph, const struct sl_sizes *sizes,
		  const struct sl_allocator *allocator, struct sl_error *err)
{
	enum sl_status rc;

	memset(out, 0, sizeof(*out));
	*inputs = NULL;
	out->sizes = sizes;
	out->allocator = allocator;
	if (sizes && sizes->struct_size != sizeof(*sizes))
		return sl__fail(err, SL_E_USAGE,
				"sl_sizes: struct_size is wrong");
	if (!sizes || !sizes->inputs_folder)
		return SL_OK;
	rc = sl__inputs_open(inputs, graph, sizes->inputs_folder, allocator,
			     err);
	if (!rc)
		out->contents = (*inputs)->contents;
	return rc;
}

enum sl_status
sl__study_begin(struct sl__study *out, const struct sl_graph *graph,
		const struct sl_allocator *allocator, struct sl_error *err)
{
	enum sl_status rc;

	memset(out, 0, sizeof(*out));
	sl__arena_init(&out->arena, allocator);
	rc = sl__steps_of(&out->steps, graph, &out->arena, err);
	return rc ? rc
		  : sl__roles_of(&out->roles, &out->steps, &out->arena, err);
}

enum sl_status
sl__study_open(struct sl__study *out, const struct sl_graph *graph,
	       const struct sl_sizes *sizes,
	       const struct sl_allocator *allocator, struct sl_error *err)
{
	enum sl_status rc = sl__study_begin(out, graph, allocator, err);

	if (!rc)
		rc = sl__study_options(&out->how, &out->inputs, graph, sizes,
				       allocator, err);
	return rc ? rc
		  : sl__survey_new(&out->survey, &out->steps, &out->roles,
				   &out->how, err);
}

void
sl__study_close(struct sl__study *study)
{
	sl__survey_free(study->survey);
	sl__inputs_close(study->inputs);
	sl__arena_release(&study->arena);
}
