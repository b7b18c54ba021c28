/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_machine.c - `sleuth machine`: what this computer can do, measured. */
#include "commands.h"
#include "exit_code.h"
#include "options.h"
#include "output.h"
#include "plan_options.h"
#include "tty.h"

static const struct command_help help = {
	"machine", "[options]",
	"Says what this computer is and measures what it can do: arithmetic "
	"per type and\nvector width, bandwidth and latency per cache level and "
	"memory, for 1, 2, 4 ...\nthreads. Takes about 15 seconds the first "
	"time; the result is kept in the user's\ncache folder for this very "
	"machine.",
	"  sleuth machine\n"
	"  sleuth machine --fresh --svg=roofline.svg",
	NULL};

struct arguments {
	struct sl_machine_options machine;
	const char *isa;
	struct output output;
};

#define AT(field) offsetof(struct arguments, field)

static const struct option options[] = {
	{"fresh", 0, OPTION_FLAG, AT(machine.fresh), NULL,
	 "measure again, whatever was kept", 0, 0, 0},
	{"threads", 0, OPTION_COUNT, AT(machine.n_threads), "N",
	 "use at most N threads (all allowed)", 1, 4096, 0},
	{"time", 0, OPTION_SECONDS, AT(machine.time_s), "SECONDS",
	 "for measuring (9)", 0.1, 600, 0},
	{"isa", 0, OPTION_TEXT, AT(isa), "LEVEL", ISA_OPTION_HELP, 0, 0, 0},
	{"svg", 0, OPTION_TEXT, AT(output.svg), "FILE",
	 "the roofline as a drawing", 0, 0, 0},
};

RENDER_WITH(sl_machine_render)

static void
print_remark(const char *text, void *ctx)
{
	(void)ctx;
	complain(help.name, 0, "%s", text);
}

static int
run(struct sl_machine_options *how, const struct output *output)
{
	struct sl_log log = {print_remark, NULL};
	struct sl_machine *machine;
	struct sl_error err;
	int code;

	how->struct_size = sizeof(*how);
	how->interrupt = tty_catch_interrupt();
	if (!output->quiet)
		how->log = &log;
	how->progress = tty_progress(output->quiet);
	how->progress_ctx = (void *)(uintptr_t)help.name;
	if (sl_machine_probe(&machine, how, &err))
		return exit_for(help.name, &err);
	code = exit_unless_stopped(
		output_write(output, help.name, render, machine),
		machine->stopped_by);
	sl_machine_free(machine);
	return code;
}

int
cmd_machine(char **argv)
{
	struct arguments a = {0};
	const struct option_group groups[] = {
		OPTION_GROUP(options, &a),
		output_option_group(&a.output),
	};

	if (options_read_only(&help, groups, 2, argv))
		return EXIT_DONE;
	output_check(&a.output, help.name);
	isa_limit_resolve(a.isa, help.name);
	return run(&a.machine, &a.output);
}
