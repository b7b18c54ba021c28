/* SPDX-License-Identifier: Apache-2.0 */
/* overhead_run.c - `sleuth profile --overhead`: what watching costs. */
#include "overhead_run.h"
#include "exit_code.h"
#include "tty.h"

RENDER_WITH(sl_overhead_study_render)

int
overhead_run(const char *command, const char *name,
	     const struct sl_profile_options *options,
	     const struct output *output)
{
	struct sl_profile_options how = *options;
	struct sl_overhead_study *study;
	struct sl_graph *graph = model_open(command, name, how.seed);
	struct sl_error err;
	int code;

	how.interrupt = tty_catch_interrupt();
	if (sl_study_overhead(&study, graph, &how, &err)) {
		code = exit_for_model(command, name, &err);
	} else {
		code = output_write(output, command, render, study);
		if (!code && study->stopped_by == SL_STOP_INTERRUPT)
			code = EXIT_INTERRUPTED;
		sl_overhead_study_free(study);
	}
	sl_graph_free(graph);
	return code;
}
