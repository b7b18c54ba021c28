/* SPDX-License-Identifier: Apache-2.0 */
/* gate_against.c - two models, or commands, measured together for a gate. */
#include "gate_against.h"
#include "exit_code.h"
#include "model_options.h"
#include "tty.h"
#include "word_split.h"

#include <stdlib.h>

/* What a change of the time may be at most, 2 % unless it is limited; the
 * library takes 0 as its default, so that a limit of 0 is negative. */
static double
margin_of(const struct gate_against *how)
{
	for (size_t i = 0; i < how->n_limits; i++) {
		if (how->limits[i].metric == SL_GATE_TIME &&
		    !how->limits[i].layer)
			return how->limits[i].share > 0 ? how->limits[i].share
							: -1;
	}
	return 0.02;
}

static struct sl_gate_check *
measure_models(const struct gate_against *how)
{
	const char *names[] = {how->against, how->now};
	struct models models = {.names = names, .n = 2, .is_shared = 1};
	struct model_options sizes = {0};
	struct sl_plan_options plans[2] = {SL_PLAN_OPTIONS_INIT,
					   SL_PLAN_OPTIONS_INIT};
	struct sl_model_arm arms[2] = {{0}};
	struct sl_model_comparison_options options = {
		.struct_size = sizeof(options),
		.time_s = how->time_s,
		.margin = margin_of(how),
		.interrupt = tty_catch_interrupt(),
		.progress = tty_progress(how->is_quiet),
		.progress_ctx = (void *)(uintptr_t)how->command};
	struct sl_model_comparison *comparison;
	struct sl_gate_check *check;
	struct sl_error err;

	(void)model_option_group(&sizes); /* marks what is not given */
	model_options_resolve(&sizes, how->command);
	models_open(&models, &sizes, how->command, 0);
	for (size_t i = 0; i < 2; i++) {
		plans[i].sizes = &models.sizes[i];
		arms[i] = (struct sl_model_arm){
			.name = names[i],
			.graph = models.graphs[i],
			.plan = &plans[i],
			.inputs_folder = models.sizes[i].inputs_folder};
	}
	if (sl_compare_models(&comparison, arms, 2, &options, &err) ||
	    sl_gate_models(&check, comparison, how->limits, how->n_limits,
			   &err))
		exit(exit_for(how->command, &err));
	sl_model_comparison_free(comparison);
	models_close(&models);
	return check;
}

static struct sl_gate_check *
measure_commands(const struct gate_against *how)
{
	const struct sl_command commands[2] = {
		{.name = how->against,
		 .argv = split_words(how->command, how->against)},
		{.name = how->now,
		 .argv = split_words(how->command, how->now)}};
	struct sl_bench_options options = {
		.struct_size = sizeof(options),
		.until = SL_UNTIL_GATE,
		.time_s = how->time_s,
		.margin = margin_of(how),
		.interrupt = tty_catch_interrupt(),
		.progress = tty_progress(how->is_quiet),
		.progress_ctx = (void *)(uintptr_t)how->command};
	struct sl_gate_check *check;
	struct sl_bench *bench;
	struct sl_error err;

	if (sl_bench(&bench, commands, 2, &options, &err) ||
	    sl_gate_commands(&check, bench, how->limits, how->n_limits, &err))
		exit(exit_for(how->command, &err));
	sl_bench_free(bench);
	return check;
}

struct sl_gate_check *
gate_measure(const struct gate_against *how)
{
	return how->are_commands ? measure_commands(how) : measure_models(how);
}
