/* SPDX-License-Identifier: Apache-2.0 */
/*
 * advice_text.c - what advice promises, and the command that puts it to the
 * test.
 *
 * A command repeats all that the user said of sizes and of how the model is
 * run, but for what the trial changes.
 */
#include "base/buf.h"
#include "report/phrase.h"
#include "sleuth/profiling.h"

#include <math.h>
#include <string.h>

#include "base/banned.h"

/* A bound above this is no figure to hope for. */
#define FAR 20.0

/* A bound so much above what was tried is worth saying. */
#define CLEARLY 1.01

const char *
sl_gain_text(enum sl_gain gain)
{
	static const char *const words[SL_N_GAINS] = {"time", "samples",
						      "tokens"};

	return words[(unsigned)gain < SL_N_GAINS ? gain : SL_GAIN_TIME];
}

const char *
sl_trial_action_text(enum sl_trial_action action)
{
	static const char *const words[SL_N_TRIAL_ACTIONS] = {
		"none",     "layer",    "kernels", "fusion",   "algorithms",
		"by-part",  "by-type",  "threads", "batch",    "dtype",
		"generate", "prefetch", "variant", "recompute"};

	return words[(unsigned)action < SL_N_TRIAL_ACTIONS ? action
							   : SL_TRIAL_NONE];
}

enum sl_status
sl_advice_expected(const struct sl_advice *advice, struct sl_buf *out,
		   struct sl_error *err)
{
	static const char *const units[SL_N_GAINS] = {
		"", " samples per second", " for each further token"};
	const char *unit = units[advice->gain];
	struct sl__phrase least, now;

	if (advice->measured.n) {
		sl__buf_format(out, "%.2f × [%.2f, %.2f]%s when tried",
			       advice->measured.value, advice->measured.lo,
			       advice->measured.hi, unit);
		if (advice->most > CLEARLY * advice->measured.hi)
			sl__buf_format(out, ", at most %.2f ×", advice->most);
	} else if (isnan(advice->most))
		sl__buf_text(out, "not bounded");
	else if (advice->most <= FAR)
		sl__buf_format(out, "at most %.2f ×%s", advice->most, unit);
	else
		sl__buf_format(
			out, "no faster than %s%s; %s now",
			sl__phrase_time(&least, advice->now_ns / advice->most),
			unit, sl__phrase_time(&now, advice->now_ns));
	return sl__buf_status(out, err);
}

static void
write_number(struct sl_buf *out, const char *option, int64_t n)
{
	sl__buf_format(out, " --%s %lld", option, (long long)n);
}

/* An option whose value was put together in 'word', which is released. */
static void
write_made(struct sl_buf *out, const char *option, struct sl_buf *word)
{
	sl__buf_format(out, " --%s ", option);
	if (sl__buf_status(word, NULL))
		sl__buf_mark_failed(out);
	else
		sl__buf_shell_word(out, word->data);
	sl_buf_release(word);
}

static void
write_shape(struct sl_buf *out, const struct sl_input_shape *shape)
{
	struct sl_buf word = {0};

	sl__buf_format(&word, "%s=", shape->input);
	for (size_t k = 0; k < shape->rank; k++)
		sl__buf_format(&word, "%s%lld", k ? "," : "",
			       (long long)shape->dims[k]);
	write_made(out, "shape", &word);
}

static void
write_sizes(struct sl_buf *out, const struct sl_sizes *sizes,
	    enum sl_trial_action action)
{
	int has_past = sizes->past || sizes->has_past;

	if (sizes->batch && action != SL_TRIAL_BATCH)
		write_number(out, "batch", sizes->batch);
	if (sizes->seq && action != SL_TRIAL_GENERATE)
		write_number(out, "seq", sizes->seq);
	if (has_past && action != SL_TRIAL_GENERATE)
		write_number(out, "past", sizes->past);
	for (size_t i = 0; i < sizes->n_dims; i++) {
		struct sl_buf word = {0};

		sl__buf_format(&word, "%s=%lld", sizes->dims[i].name,
			       (long long)sizes->dims[i].size);
		write_made(out, "dim", &word);
	}
	for (size_t i = 0; i < sizes->n_shapes; i++)
		write_shape(out, &sizes->shapes[i]);
	if (sizes->inputs_folder) {
		sl__buf_text(out, " --inputs ");
		sl__buf_shell_word(out, sizes->inputs_folder);
	}
}

/* How the model is run; plain loops are one step per node by themselves. */
static void
write_plan(struct sl_buf *out, const struct sl_request *r,
	   enum sl_trial_action action)
{
	int is_reference = (r->flags & SL_PLAN_REFERENCE) != 0;

	if (r->n_threads && action != SL_TRIAL_THREADS)
		write_number(out, "threads", r->n_threads);
	if (r->dtype == SL_DTYPE_BF16 && action != SL_TRIAL_DTYPE)
		sl__buf_text(out, " --dtype bf16");
	if (r->algorithms == SL_ALGORITHMS_FIXED &&
	    action != SL_TRIAL_ALGORITHMS)
		sl__buf_text(out, " --algorithms fixed");
	if (is_reference && action != SL_TRIAL_KERNELS)
		sl__buf_text(out, " --reference");
	if (!is_reference && r->flags & SL_PLAN_NO_FUSION &&
	    action != SL_TRIAL_FUSION)
		sl__buf_text(out, " --no-fusion");
	if (r->nan_policy == SL_NAN_REFUSED)
		sl__buf_text(out, " --nan refuse");
}

/* A step as it is trained and fed. */
static void
write_training(struct sl_buf *out, const struct sl_training_profile *t,
	       enum sl_trial_action action)
{
	sl__buf_format(out, " --train --optimizer %s",
		       sl_optimizer_text(t->optimizer));
	if (t->loss)
		sl__buf_format(out, " --loss %s", sl_loss_text(t->loss));
	if (!t->data)
		return;
	sl__buf_text(out, " --data ");
	sl__buf_shell_word(out, t->data);
	if (t->augmentation.shift)
		write_number(out, "shift", t->augmentation.shift);
	if (t->augmentation.flip)
		sl__buf_text(out, " --flip");
	if (t->augmentation.noise > 0)
		sl__buf_format(out, " --noise %g", t->augmentation.noise);
	if (t->n_prefetch && action != SL_TRIAL_PREFETCH)
		write_number(out, "prefetch", (int64_t)t->n_prefetch);
}

/* A range of a sweep; of a layer, which no sweep takes, one value. */
static void
write_range(struct sl_buf *out, const struct sl_request *r,
	    const struct sl_trial *trial, const char *option)
{
	if (r->layer)
		write_number(out, option, trial->value);
	else
		sl__buf_format(out, " --%s %lld..%lld", option,
			       (long long)trial->from, (long long)trial->to);
}

/* What the trial changes or asks for. */
static void
write_change(struct sl_buf *out, const struct sl_request *r,
	     const struct sl_trial *trial)
{
	switch (trial->action) {
	case SL_TRIAL_LAYER:
		sl__buf_text(out, " --layer ");
		sl__buf_shell_word(out, trial->layer);
		break;
	case SL_TRIAL_ALGORITHMS:
		if (r->algorithms != SL_ALGORITHMS_FIXED)
			sl__buf_text(out, " --algorithms fixed");
		break;
	case SL_TRIAL_BY_PART:
		sl__buf_text(out, " --by part");
		break;
	case SL_TRIAL_BY_TYPE:
		sl__buf_text(out, " --by type");
		break;
	case SL_TRIAL_THREADS:
		write_range(out, r, trial, "threads");
		break;
	case SL_TRIAL_BATCH:
		write_range(out, r, trial, "batch");
		break;
	case SL_TRIAL_DTYPE:
		sl__buf_format(out, " --dtype %s", sl_dtype_text(trial->dtype));
		break;
	case SL_TRIAL_GENERATE:
		write_number(out, "tokens", trial->value);
		break;
	case SL_TRIAL_PREFETCH:
		write_number(out, "prefetch", trial->value);
		break;
	case SL_TRIAL_VARIANT:
		sl__buf_format(out, " --try %s", trial->changes);
		break;
	case SL_TRIAL_RECOMPUTE:
		sl__buf_text(out, " --recompute auto");
		break;
	case SL_TRIAL_KERNELS: /* left out above */
	case SL_TRIAL_FUSION:
	case SL_TRIAL_NONE:
		break;
	}
}

enum sl_status
sl_advice_command(const struct sl_profile *profile,
		  const struct sl_advice *advice, struct sl_buf *out,
		  struct sl_error *err)
{
	const struct sl_request *r = &profile->request;
	enum sl_trial_action action = advice->trial.action;
	int is_sweep = !r->layer &&
		       (action == SL_TRIAL_THREADS || action == SL_TRIAL_BATCH);

	if (action == SL_TRIAL_NONE)
		return sl__buf_status(out, err);
	sl__buf_format(out, "sleuth %s ",
		       is_sweep                      ? "sweep"
		       : action == SL_TRIAL_GENERATE ? "generate"
		       : action == SL_TRIAL_VARIANT  ? "optimize"
						     : "profile");
	sl__buf_shell_word(out, r->model);
	write_sizes(out, &r->sizes, action);
	write_plan(out, r, action);
	if (profile->training)
		write_training(out, profile->training, action);
	if (r->layer && action != SL_TRIAL_LAYER) {
		sl__buf_text(out, " --layer ");
		sl__buf_shell_word(out, r->layer);
	}
	write_change(out, r, &advice->trial);
	return sl__buf_status(out, err);
}
