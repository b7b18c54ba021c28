/* SPDX-License-Identifier: Apache-2.0 */
/* hardware_options.c - where a model could run: machines on paper. */
#include "hardware_options.h"
#include "data_folder.h"
#include "exit_code.h"

#include <stdlib.h>
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
hardware_option_group(struct hardware_options *o)
{
	return OPTION_GROUP(options, o);
}

enum sl_optimizer
optimizer_named(const char *name, const char *command)
{
	static const char *const names[] = {"sgd", "momentum", "adam", "adamw",
					    NULL};
	static const enum sl_optimizer values[] = {
		SL_OPTIMIZER_SGD, SL_OPTIMIZER_MOMENTUM, SL_OPTIMIZER_ADAM,
		SL_OPTIMIZER_ADAMW};

	return values[read_choice(command, "train", *name ? name : "adam",
				  names)];
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

static void
refuse_machine(const char *command, const char *folder, const char *name)
{
	struct sl_hardware_list *list;
	const char *near = NULL;

	if (folder && !sl_hardware_list(&list, folder, NULL))
		near = nearest_name(name, list->ids, list->n);
	if (near)
		refuse(command, "--on %s: no such machine; did you mean '%s'?",
		       name, near);
	refuse(command,
	       "--on %s: no such machine; '--on all' has them all, "
	       "peak=100G,bandwidth=50G describes one",
	       name);
}

static void
open_machine(struct hardware_options *o, const char *command,
	     const char *folder, const char *name)
{
	int is_id = !strpbrk(name, "=/") && !strstr(name, ".hw");
	struct sl_hardware *machine;
	struct sl_error err;

	for (size_t i = 0; i < o->n_machines; i++) {
		if (!strcmp(o->machines[i]->id, name))
			return; /* named twice, listed once */
	}
	if (!sl_hardware_open(&machine, folder, name, &err))
		add_machine(o, machine);
	else if (is_id && err.status == SL_E_USAGE)
		refuse_machine(command, folder, name);
	else
		exit(exit_for(command, &err));
}

static void
open_all(struct hardware_options *o, const char *command, const char *folder)
{
	struct sl_hardware_list *list;
	struct sl_error err;

	if (!folder)
		exit(complain(command, EXIT_ABSENT,
			      "--on all: the descriptions of machines are not "
			      "installed; SLEUTH_DATA may name their folder"));
	if (sl_hardware_list(&list, folder, &err))
		exit(exit_for(command, &err));
	for (size_t i = 0; i < list->n; i++)
		open_machine(o, command, folder, list->ids[i]);
	sl_hardware_list_free(list);
}

/* "h100,t4", or one description with its own commas. */
static void
open_list(struct hardware_options *o, const char *command, const char *folder,
	  const char *words)
{
	const char *next = words;

	while (next) {
		size_t n = strcspn(next, ",");
		char *name = must_alloc(n + 1, 1);

		memcpy(name, next, n);
		next = next[n] ? next + n + 1 : NULL;
		if (!n)
			refuse(command,
			       "--on '%s': a name is empty; 'all' or h100,t4 "
			       "would do",
			       words);
		if (!strcmp(name, "all"))
			open_all(o, command, folder);
		else if (!strchr(words, '='))
			open_machine(o, command, folder, name);
		else if (!strchr(name, '='))
			refuse(command,
			       "--on %s: '%s' is no figure; to name a machine "
			       "and describe another, give --on twice",
			       words, name);
	}
	if (strchr(words, '='))
		open_machine(o, command, folder, words);
}

static void
read_rate(struct hardware_options *o, const char *command)
{
	size_t n = strlen(o->rate);
	char *number = must_alloc(n + 1, 1);

	memcpy(number, o->rate, n);
	if (n > 2 && !strcmp(number + n - 2, "/s"))
		number[n - 2] = '\0';
	if (!sl_quantity_read(&o->how.rate_per_s, number) ||
	    !(o->how.rate_per_s > 0))
		refuse(command, "--rate %s: not a rate such as 50/s", o->rate);
	if (o->how.rate_per_s > 1e12)
		refuse(command, "--rate %s: too large; the most is 1T/s",
		       o->rate);
}

static void
read_number(const char *command, const char *option, const char *text,
	    double *out)
{
	if (text && (!sl_quantity_read(out, text) || !(*out > 0)))
		refuse(command, "--%s %s: not a number such as 90 or 1.2M",
		       option, text);
}

void
hardware_options_resolve(struct hardware_options *o, const char *command)
{
	const char *folder = data_folder("hardware");

	o->how.struct_size = sizeof(o->how);
	o->how.latency_s = o->latency_s;
	for (size_t i = 0; i < o->on.n; i++)
		open_list(o, command, folder, o->on.words[i]);
	if (!o->n_machines && (o->rate || o->latency_s > 0 || o->train))
		refuse(command, "--rate, --latency and --train go with --on");
	if (o->rate)
		read_rate(o, command);
	if (o->train)
		o->how.optimizer = optimizer_named(o->train, command);
	read_number(command, "samples", o->samples, &o->how.n_samples);
	read_number(command, "epochs", o->epochs, &o->how.n_epochs);
	if (o->train && !o->samples)
		refuse(command, "--train needs --samples N: of one epoch");
	if ((o->samples || o->epochs) && !o->train)
		refuse(command, "--samples and --epochs go with --train");
}

void
hardware_options_release(struct hardware_options *o)
{
	for (size_t i = 0; i < o->n_machines; i++)
		sl_hardware_free(o->machines[i]);
	o->n_machines = 0;
}
