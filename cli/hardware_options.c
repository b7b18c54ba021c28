/* SPDX-License-Identifier: Apache-2.0 */
/* hardware_options.c - where a model could run: machines on paper. */
#include "hardware_options.h"
#include "data_folder.h"
#include "exit_code.h"

#include <stdio.h>
#include <string.h>

#define AT(field) offsetof(struct hardware_options, field)

static const struct option options[] = {
	{"on", 0, OPTION_WORDS, AT(on), "LIST",
	 "bounds on machines: all, h100,t4, FILE.hw, ...", 0, 0, 1},
	{"rate", 0, OPTION_TEXT, AT(rate), "N/s",
	 "machines needed for so many samples (with --on)", 0, 0, 0},
	{"latency", 0, OPTION_SECONDS, AT(latency_s), "TIME",
	 "limit on one batch and its waiting (with --on)", 1e-9, 1e6, 0},
	{"train", 0, OPTION_MAYBE, AT(train), "OPTIMIZER",
	 "hours and cost of training (with --samples)", 0, 0, 0},
	{"samples", 0, OPTION_TEXT, AT(samples), "N",
	 "samples of one epoch, such as 1.2M", 0, 0, 0},
	{"epochs", 0, OPTION_TEXT, AT(epochs), "N", "epochs (1)", 0, 0, 0},
};

struct option_group
hardware_group(struct hardware_options *o)
{
	struct option_group group = {options,
				     sizeof(options) / sizeof(options[0]), o};

	return group;
}

int
optimizer_named(enum sl_optimizer *out, const char *name, const char *command)
{
	if (!*name)
		name = "adam";
	for (int i = SL_OPTIMIZER_SGD; i < SL_N_OPTIMIZERS; i++) {
		if (!strcmp(name, sl_optimizer_text((enum sl_optimizer)i))) {
			*out = (enum sl_optimizer)i;
			return 0;
		}
	}
	return complain(command, EXIT_USAGE,
			"--train %s: must be one of sgd, momentum, adam, adamw",
			name);
}

static void
add_machine(struct hardware_options *o, struct sl_hardware *machine)
{
	struct sl_hardware **more =
		must_alloc(o->n_machines + 1, sizeof(*more));

	if (o->n_machines)
		memcpy(more, o->machines, o->n_machines * sizeof(*more));
	more[o->n_machines++] = machine;
	o->machines = more;
}

static int
refuse_machine(const char *command, const char *folder, const char *name)
{
	struct sl_hardware_list *list;
	const char *near = NULL;

	if (folder && !sl_hardware_list(&list, folder, NULL)) {
		near = nearest_name(name, list->ids, list->n);
		if (near)
			complain(command, EXIT_USAGE,
				 "--on %s: no such machine; did you mean '%s'?",
				 name, near);
		sl_hardware_list_free(list);
	}
	if (near)
		return EXIT_USAGE;
	return complain(command, EXIT_USAGE,
			"--on %s: no such machine; '--on all' has them all, "
			"peak=100G,bandwidth=50G describes one",
			name);
}

static int
open_machine(struct hardware_options *o, const char *command,
	     const char *folder, const char *name)
{
	int is_id = !strpbrk(name, "=/") && !strstr(name, ".hw");
	struct sl_hardware *machine;
	struct sl_error err;

	for (size_t i = 0; i < o->n_machines; i++) {
		if (!strcmp(o->machines[i]->id, name))
			return 0; /* named twice, listed once */
	}
	if (sl_hardware_open(&machine, folder, name, &err))
		return is_id && err.status == SL_E_USAGE
			       ? refuse_machine(command, folder, name)
			       : exit_for(command, &err);
	add_machine(o, machine);
	return 0;
}

static int
open_all(struct hardware_options *o, const char *command, const char *folder)
{
	struct sl_hardware_list *list;
	struct sl_error err;
	int code = 0;

	if (!folder)
		return complain(
			command, EXIT_ABSENT,
			"--on all: the descriptions of machines are not "
			"installed; SLEUTH_DATA may name their folder");
	if (sl_hardware_list(&list, folder, &err))
		return exit_for(command, &err);
	for (size_t i = 0; !code && i < list->n; i++)
		code = open_machine(o, command, folder, list->ids[i]);
	sl_hardware_list_free(list);
	return code;
}

/* "h100,t4", or one description with its own commas. */
static int
open_list(struct hardware_options *o, const char *command, const char *folder,
	  const char *words)
{
	const char *next = words;
	int code = 0;

	while (!code && next) {
		size_t n = strcspn(next, ",");
		char *name = must_alloc(n + 1, 1);

		memcpy(name, next, n);
		next = next[n] ? next + n + 1 : NULL;
		if (!n)
			code = complain(command, EXIT_USAGE,
					"--on '%s': a name is empty; 'all' or "
					"h100,t4 would do",
					words);
		else if (!strcmp(name, "all"))
			code = open_all(o, command, folder);
		else if (!strchr(words, '='))
			code = open_machine(o, command, folder, name);
		else if (!strchr(name, '='))
			code = complain(command, EXIT_USAGE,
					"--on %s: '%s' is no figure; to name a "
					"machine and describe another, give "
					"--on twice",
					words, name);
	}
	if (!code && words && strchr(words, '='))
		code = open_machine(o, command, folder, words);
	return code;
}

static int
read_rate(struct hardware_options *o, const char *command)
{
	char *number;
	size_t n;

	if (!o->rate)
		return 0;
	n = strlen(o->rate);
	number = must_alloc(n + 1, 1);
	memcpy(number, o->rate, n);
	if (n > 2 && !strcmp(number + n - 2, "/s"))
		number[n - 2] = '\0';
	if (!sl_quantity_read(&o->how.rate_per_s, number) ||
	    !(o->how.rate_per_s > 0))
		return complain(command, EXIT_USAGE,
				"--rate %s: not a rate such as 50/s", o->rate);
	if (o->how.rate_per_s > 1e12)
		return complain(command, EXIT_USAGE,
				"--rate %s: too large; the most is 1T/s",
				o->rate);
	return 0;
}

static int
read_number(const char *command, const char *option, const char *text,
	    double *out)
{
	if (text && (!sl_quantity_read(out, text) || !(*out > 0)))
		return complain(command, EXIT_USAGE,
				"--%s %s: not a number such as 90 or 1.2M",
				option, text);
	return 0;
}

static int
read_training(struct hardware_options *o, const char *command)
{
	int code = 0;

	if (o->train)
		code = optimizer_named(&o->how.optimizer, o->train, command);
	if (!code)
		code = read_number(command, "samples", o->samples,
				   &o->how.n_samples);
	if (!code)
		code = read_number(command, "epochs", o->epochs,
				   &o->how.n_epochs);
	if (!code && o->train && !o->samples)
		code = complain(command, EXIT_USAGE,
				"--train needs --samples N: of one epoch");
	if (!code && (o->samples || o->epochs) && !o->train)
		code = complain(command, EXIT_USAGE,
				"--samples and --epochs go with --train");
	return code;
}

int
hardware_options_check(struct hardware_options *o, const char *command)
{
	const char *folder = data_folder("hardware");
	int code = 0;

	o->how.struct_size = sizeof(o->how);
	o->how.latency_s = o->latency_s;
	for (size_t i = 0; !code && i < o->on.n; i++)
		code = open_list(o, command, folder, o->on.words[i]);
	if (!code && !o->n_machines &&
	    (o->rate || o->latency_s > 0 || o->train))
		code = complain(command, EXIT_USAGE,
				"--rate, --latency and --train go with --on");
	if (!code)
		code = read_rate(o, command);
	return code ? code : read_training(o, command);
}

void
hardware_options_release(struct hardware_options *o)
{
	for (size_t i = 0; i < o->n_machines; i++)
		sl_hardware_free(o->machines[i]);
	o->n_machines = 0;
}
