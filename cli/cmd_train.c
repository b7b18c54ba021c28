/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_train.c - `sleuth train`: a model trained on data, and saved. */
#include "commands.h"
#include "exit_code.h"
#include "live.h"
#include "hardware_options.h"
#include "loading_options.h"
#include "model_options.h"
#include "options.h"
#include "output.h"
#include "save.h"
#include "plan_options.h"
#include "tty.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const struct command_help help = {
	"train", "MODEL --data NAME [options]",
	"Trains a model on a data set, shows loss and accuracy on the way, "
	"and evaluates it\non the test split at the end. --onnx saves the "
	"trained model, for any engine. The\nsame seed gives the same model, "
	"to the bit; so does --resume, from a checkpoint.\nCtrl-C ends the "
	"training; the model is saved as it is then.",
	"  sleuth train digits-mlp --data digits\n"
	"  sleuth train digits-cnn --data digits --onnx=trained.onnx\n"
	"  sleuth train digits-transformer --data digits --epochs 5 --lr "
	"0.001 --validation 10%",
	"no model given; try 'sleuth train digits-mlp --data digits'"};

struct arguments {
	struct plan_options plan;
	struct output output;
	struct loading_options loading;
	const char *test, *onnx, *checkpoint;
	size_t epochs, batch, accumulate, patience, every;
	double validation, rate, decay, warmup, smoothing, norm;
	const char *optimizer, *schedule, *loss, *output_name, *freeze;
	const char *recompute;
	int resume;
	const char *profile;      /* a file; "": on the screen; NULL: no */
	struct sl_profile *found; /* of the run, where that was asked for */
};

#define AT(field) offsetof(struct arguments, field)

static const struct option options[] = {
	{"test", 0, OPTION_TEXT, AT(test), "FILE", "the test split", 0, 0, 0},
	{"validation", 0, OPTION_SHARE, AT(validation), "SHARE",
	 "of the training samples, evaluated after each epoch", 0, 0.99, 0},
	{"epochs", 'e', OPTION_COUNT, AT(epochs), "N",
	 "passes over the data (as many as make 2,000 steps)", 1, 1e9, 0},
	{"batch", 'b', OPTION_COUNT, AT(batch), "N", "samples of a step (32)",
	 1, 1e9, 0},
	{"accumulate", 0, OPTION_COUNT, AT(accumulate), "K",
	 "batches whose gradients make one step (1)", 1, 4096, 0},
	{"recompute", 0, OPTION_TEXT, AT(recompute), "K",
	 "activations again, of auto or K segments: less memory", 0, 0, 0},
	{"optimizer", 0, OPTION_TEXT, AT(optimizer), "NAME",
	 "sgd, momentum, adam or adamw (default)", 0, 0, 0},
	{"lr", 0, OPTION_NUMBER, AT(rate), "RATE",
	 "learning rate after the warm-up (0.004)", 1e-12, 1e6, 0},
	{"weight-decay", 0, OPTION_NUMBER, AT(decay), "X",
	 "of the optimizer (0.1 where none is named)", 0, 1e6, 0},
	{"schedule", 0, OPTION_TEXT, AT(schedule), "NAME",
	 "of the rate: cosine (default), constant or step", 0, 0, 0},
	{"warmup", 0, OPTION_SHARE, AT(warmup), "SHARE",
	 "of the steps over which the rate rises (5%)", 0, 1, 0},
	{"loss", 0, OPTION_TEXT, AT(loss), "NAME",
	 "cross-entropy (default) or nll", 0, 0, 0},
	{"smoothing", 0, OPTION_SHARE, AT(smoothing), "SHARE",
	 "of labels (0.1)", 0, 1, 0},
	{"clip", 0, OPTION_NUMBER, AT(norm), "NORM",
	 "that gradients are clipped to (not at all)", 0, 1e9, 0},
	{"output", 0, OPTION_TEXT, AT(output_name), "NAME",
	 "that the loss is of (the first)", 0, 0, 0},
	{"freeze", 0, OPTION_TEXT, AT(freeze), "REGEX",
	 "parameters that are not trained", 0, 0, 0},
	{"patience", 0, OPTION_COUNT, AT(patience), "N",
	 "end after N epochs without a lower validation loss", 1, 1e9, 0},
	{"checkpoint", 0, OPTION_TEXT, AT(checkpoint), "FILE",
	 "keep the run there as it goes on", 0, 0, 0},
	{"checkpoint-every", 0, OPTION_COUNT, AT(every), "N",
	 "steps between checkpoints (an epoch)", 1, 1e12, 0},
	{"resume", 0, OPTION_FLAG, AT(resume), NULL,
	 "go on from the checkpoint, to the same bits", 0, 0, 0},
	{"profile", 0, OPTION_MAYBE, AT(profile), "FILE",
	 "where the time of steps goes; FILE: as JSON", 0, 0, 0},
	{"onnx", 0, OPTION_TEXT, AT(onnx), "FILE", "save the trained model", 0,
	 0, 0},
};

static double
seconds_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

struct progress {
	const char *name;
	double last_s; /* when a line was written */
	int is_quiet;
};

/* A line that is drawn over on a terminal; elsewhere one now and then. */
static void
show(const struct sl_train_progress *now, void *ctx)
{
	struct progress *p = ctx;
	char line[200];
	int n;

	live_note(p->name, "training", (double)now->step / (double)now->n_steps,
		  now->remaining_s);
	save_visit();
	if (p->is_quiet)
		return;
	n = snprintf(line, sizeof(line),
		     "%.24s: epoch %llu of %llu, loss %.4g, accuracy "
		     "%.1f %%",
		     p->name, (unsigned long long)now->epoch,
		     (unsigned long long)now->n_epochs, now->loss,
		     100 * now->accuracy);

	if (!isnan(now->validation_loss))
		n += snprintf(line + n, sizeof(line) - (size_t)n,
			      ", validation %.4g", now->validation_loss);
	snprintf(line + n, sizeof(line) - (size_t)n,
		 ", %.0f samples/s, %.0f s left", now->samples_per_s,
		 ceil(now->remaining_s));
	if (tty_draws_progress()) {
		tty_draw_line(line);
	} else if (now->is_epoch_end && seconds_now() - p->last_s >= 5) {
		p->last_s = seconds_now();
		complain(help.name, 0, "%s", line);
	}
}

RENDER_WITH(sl_train_render)

static struct sl_training_options
read_training(const struct arguments *a)
{
	static const char *const losses[] = {"cross-entropy", "nll", NULL};

	return (struct sl_training_options){
		.struct_size = sizeof(struct sl_training_options),
		.loss = (enum sl_loss)read_choice(help.name, "loss", a->loss,
						  losses),
		.output = a->output_name,
		.smoothing = a->smoothing < 0 ? 0.1 : a->smoothing,
		.optimizer = a->optimizer
				     ? optimizer_named(a->optimizer, help.name)
				     : SL_OPTIMIZER_ADAMW,
		.learning_rate = a->rate,
		.weight_decay = a->decay >= 0  ? a->decay
				: a->optimizer ? 0
					       : 0.1,
		.max_norm = a->norm,
		.freeze = a->freeze,
		.n_micro_batches = a->accumulate,
		.n_segments = read_segments(a->recompute, help.name)};
}

static enum sl_status
render_profile(const void *result, const struct sl_render_options *how,
	       struct sl_buf *out, struct sl_error *err)
{
	const struct sl_profile *found = result;
	const struct sl_profile_view view = {.struct_size = sizeof(view)};

	return sl_profile_render(&found, 1, &view, how, out, err);
}

/* On the screen after the run's own page, or as a document of its own. */
static int
show_profile(const struct arguments *a)
{
	struct output output = {.quiet = a->output.quiet,
				.verbose = a->output.verbose};

	if (!a->found)
		return complain(help.name, 0,
				"too few steps were made for a profile");
	if (*a->profile) {
		output.quiet = 1;
		output.json = a->profile;
	}
	return output_write(&output, help.name, render_profile, a->found);
}

/* The model before the page, so that it is there whatever comes after. */
static int
finish(const struct arguments *a, const struct sl_train_result *found)
{
	struct sl_error err;
	int code = 0;

	tty_clear_progress();
	if (a->onnx &&
	    sl_graph_write(found->trained,
			   strcmp(a->onnx, "-") ? a->onnx : "/dev/stdout",
			   &err))
		return exit_for(help.name, &err);
	code = output_write(&a->output, help.name, render, found);
	if (!code && a->profile)
		code = show_profile(a);
	return !code && found->end == SL_TRAIN_INTERRUPTED ? EXIT_INTERRUPTED
							   : code;
}

static int
run(struct arguments *a, const char *name)
{
	static const char *const schedules[] = {"cosine", "constant", "step",
						NULL};
	const struct sl_dataset_options source = {
		.struct_size = sizeof(source),
		.labels = a->loading.labels,
		.test = a->test,
		.validation = a->validation,
		.context = (int64_t)a->loading.context,
		.seed = a->plan.seed};
	const struct sl_training_options training = read_training(a);
	struct progress progress = {name, seconds_now(), a->output.quiet};
	struct sl_train_options how = {
		.struct_size = sizeof(how),
		.training = &training,
		.plan = &a->plan.plan,
		.batch = (int64_t)a->batch,
		.n_epochs = a->epochs,
		.schedule = (enum sl_schedule)read_choice(
			help.name, "schedule", a->schedule, schedules),
		/* Zero would mean the default to the library. */
		.warmup = a->warmup > 0   ? a->warmup
			  : a->warmup < 0 ? 0
					  : -1,
		.patience = a->patience,
		.checkpoint = a->checkpoint,
		.steps_between = a->every,
		.is_resumed = a->resume,
		.augmentation = loading_augmentation(&a->loading),
		.n_prefetch = a->loading.prefetch,
		.seed = a->plan.seed,
		.progress = a->output.quiet && !live_is_on() ? NULL : show,
		.progress_ctx = &progress,
		.interrupt = tty_catch_interrupt(),
		.profile = a->profile ? &a->found : NULL};
	struct sl_graph *graph = model_open(help.name, name, a->plan.seed);
	struct sl_dataset *data;
	struct sl_train_result *found;
	struct sl_error err;
	int code;

	if (sl_dataset_open(&data, a->loading.data, &source, &err)) {
		code = exit_for(help.name, &err);
	} else if (sl_train(&found, graph, data, &how, &err)) {
		code = exit_for_model(help.name, name, &err);
	} else {
		code = finish(a, found);
		sl_train_free(found);
	}
	sl_profile_free(a->found);
	sl_dataset_close(data);
	sl_graph_free(graph);
	return code;
}

/* What would fail after hours is refused before the first step. */
static void
check(struct arguments *a)
{
	if (!a->loading.data)
		refuse(help.name,
		       "no data given; try 'sleuth train digits-mlp --data "
		       "digits'");
	if (a->resume && !a->checkpoint)
		refuse(help.name, "--resume goes with --checkpoint FILE");
	if (a->every && !a->checkpoint)
		refuse(help.name,
		       "--checkpoint-every goes with --checkpoint FILE");
	if (a->patience && !(a->validation > 0))
		refuse(help.name, "--patience goes with --validation SHARE");
	if (a->profile && !*a->profile && a->output.json && !*a->output.json)
		refuse(help.name, "--json takes the screen: --profile=FILE "
				  "writes the profile to a file");
	a->output.own[0] = a->onnx;
	a->output.own[1] = a->checkpoint;
	plan_options_resolve(&a->plan, help.name);
	output_check(&a->output, help.name);
	if (!a->plan.algorithms)
		a->plan.plan.algorithms = SL_ALGORITHMS_FIXED;
}

int
cmd_train(char **argv)
{
	struct arguments a = {.smoothing = -1, .decay = -1, .warmup = -1};
	const struct option_group groups[] = {
		loading_option_group(&a.loading),
		OPTION_GROUP(options, &a),
		plan_option_group(&a.plan),
		output_option_group(&a.output),
	};
	const char *name;

	if (options_read_name(&help, groups, 4, argv, &name))
		return EXIT_DONE;
	check(&a);
	return run(&a, name);
}
