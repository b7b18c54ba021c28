/* SPDX-License-Identifier: Apache-2.0 */
/* hardware_options.h - where a model could run: machines on paper. */
#ifndef SL_HARDWARE_OPTIONS_H
#define SL_HARDWARE_OPTIONS_H

#include "options.h"
#include "sleuth.h"

/* What the options of hardware_option_group() say. */
struct hardware_options {
	struct repeated_values on;
	const char *rate;
	double latency_s;
	const char *train; /* NULL: not asked; "": adam */
	const char *samples, *epochs;
	/* Made by hardware_options_resolve(). */
	struct sl_hardware **machines;
	size_t n_machines;
	struct sl_hardware_options how;
};

/* --on, --rate, --latency, --train, --samples, --epochs. */
struct option_group hardware_option_group(struct hardware_options *options);

/*
 * Opens the machines that --on names and reads the other words; ends
 * the program after one line on stderr where that fails.
 */
void hardware_options_resolve(struct hardware_options *options,
			      const char *command);

/* Frees what hardware_options_resolve() opened. */
void hardware_options_release(struct hardware_options *options);

/* The optimizer of that name; "" is adam.  Others are refused. */
enum sl_optimizer optimizer_named(const char *name, const char *command);

#endif
