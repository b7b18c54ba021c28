/* SPDX-License-Identifier: Apache-2.0 */
/* trainer.c - a model that is trained: options, targets, what can be read. */
#include "driver/trainer.h"
#include "base/option_struct.h"
#include "base/rng.h"
#include "base/status.h"
#include "transform/trained_model.h"

#include <regex.h>
#include <string.h>

#include "base/banned.h"

static const char target_name[] = "target";

/* Each has nodes of its own. */
enum { MICRO_BATCHES_MOST = 4096, SEGMENTS_MOST = 64 };

const char *
sl_loss_text(enum sl_loss loss)
{
	static const char *const words[SL_N_LOSSES] = {"cross-entropy", "nll",
						       "mse", "bce"};

	return words[(unsigned)loss < SL_N_LOSSES ? loss : 0];
}

static enum sl_status
take_options(struct sl_training_options *out,
	     const struct sl_training_options *options, struct sl_error *err)
{
	enum sl_status rc = sl__options_copy(out, sizeof(*out), options,
					     "sl_training_options", err);

	if (rc)
		return rc;
	if ((unsigned)out->loss >= SL_N_LOSSES ||
	    (unsigned)out->optimizer >= SL_N_OPTIMIZERS)
		return sl__fail(err, SL_E_USAGE, "no such loss or optimizer");
	if (!(out->smoothing >= 0) || out->smoothing > 1 ||
	    !(out->learning_rate >= 0) || !(out->max_norm >= 0))
		return sl__fail(err, SL_E_USAGE,
				"label smoothing lies between 0 and 1, "
				"learning rate and norm are not below 0");
	if (out->n_micro_batches > MICRO_BATCHES_MOST)
		return sl__fail(err, SL_E_USAGE,
				"a step has at most %d micro-batches",
				MICRO_BATCHES_MOST);
	if (out->n_segments > SEGMENTS_MOST)
		return sl__fail(err, SL_E_USAGE,
				"the forward pass has at most %d segments",
				SEGMENTS_MOST);
	if (!out->n_micro_batches)
		out->n_micro_batches = 1;
	if (!out->optimizer)
		out->optimizer = SL_OPTIMIZER_ADAM;
	if (out->flags & SL_TRAINING_NO_UPDATE)
		out->optimizer = SL_OPTIMIZER_NONE;
	if (out->learning_rate == 0)
		out->learning_rate = 0.001;
	out->seed = out->seed ? out->seed : 1;
	return SL_OK;
}

/* Which stored values match the pattern; one that matches none is a mistake. */
static enum sl_status
match_names(unsigned char *is_frozen, const struct sl_graph *graph,
	    const char *pattern, struct sl_error *err)
{
	size_t n_matches = 0;
	regex_t regex;
	int failed = regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB);

	if (failed == REG_ESPACE)
		return sl__fail_nomem(err);
	if (failed)
		return sl__fail(err, SL_E_DATA,
				"'%.200s' is no regular expression", pattern);
	for (size_t v = 0; v < graph->n_values; v++) {
		if (!graph->values[v].tensor)
			continue;
		is_frozen[v] =
			!regexec(&regex, graph->values[v].name, 0, NULL, 0);
		n_matches += is_frozen[v];
	}
	regfree(&regex);
	if (!n_matches)
		return sl__fail(err, SL_E_DATA,
				"no parameter's name matches '%.200s'",
				pattern);
	return SL_OK;
}

static enum sl_status
make_plan(struct sl_trainer *t, const struct sl_graph *graph,
	  const struct sl_plan_options *plan, struct sl__arena *scratch,
	  struct sl_error *err)
{
	const struct sl_training_options *o = &t->options;
	struct sl_plan_options how = {.struct_size = sizeof(how)};
	const struct sl_sizes *sizes = plan ? plan->sizes : NULL;
	unsigned char *is_frozen = NULL;
	struct sl__training_options training = {
		.loss = o->loss,
		.output = o->output,
		.has_ignored = o->has_ignored,
		.ignored = o->ignored,
		.smoothing = o->smoothing,
		.optimizer = o->optimizer,
		.momentum = o->momentum,
		.is_nesterov = o->is_nesterov,
		.beta1 = o->beta1,
		.beta2 = o->beta2,
		.epsilon = o->epsilon,
		.weight_decay = o->weight_decay,
		.max_norm = o->max_norm,
		.n_micro = o->n_micro_batches,
		.n_segments = o->n_segments,
		.keeps_gradients = !!(o->flags & SL_TRAINING_KEEP_GRADIENTS),
		.keeps_outputs = !!(o->flags & SL__TRAINING_KEEP_OUTPUTS),
	};
	enum sl_status rc = SL_OK;

	if (o->freeze) {
		is_frozen = sl__arena_alloc(scratch, graph->n_values + 1);
		rc = is_frozen ? match_names(is_frozen, graph, o->freeze, err)
			       : sl__fail_nomem(err);
	}
	if (rc)
		return rc;
	training.is_frozen = is_frozen;
	/* The graph of a step has these sizes already. */
	if (plan)
		how = *plan;
	how.sizes = NULL;
	return sl__training_plan_new(&t->plan, graph, sizes, &training, &how,
				     err);
}

enum sl_status
sl_trainer_open(struct sl_trainer **out, const struct sl_graph *graph,
		const struct sl_training_options *options,
		const struct sl_plan_options *plan, struct sl_error *err)
{
	struct sl__plan_options_storage storage;
	struct sl_trainer *t;
	struct sl__arena scratch;
	enum sl_status rc = sl__plan_options_copy(&storage, &plan, err);

	*out = NULL;
	if (rc)
		return rc;
	t = sl__allocator_alloc(NULL, sizeof(*t));
	if (!t)
		return sl__fail_nomem(err);
	memset(t, 0, sizeof(*t));
	sl__arena_init(&scratch, NULL);
	rc = take_options(&t->options, options, err);
	if (!rc)
		rc = make_plan(t, graph, plan, &scratch, err);
	sl__arena_release(&scratch);
	if (rc) {
		sl_trainer_close(t);
		return rc;
	}
	*out = t;
	return SL_OK;
}

void
sl_trainer_close(struct sl_trainer *trainer)
{
	if (!trainer)
		return;
	sl__training_plan_free(trainer->plan);
	sl__allocator_free(NULL, trainer);
}

/* Whether the name is one of those that a caller may set: states are not. */
static enum sl_status
check_name(const struct sl_trainer *t, const char *name, struct sl_error *err)
{
	const struct sl_graph *graph = t->plan->training->graph;
	size_t input = sl__plan_find_input(t->plan->plan, name, err);

	if (input == SIZE_MAX)
		return SL_E_DATA;
	if (graph->values[graph->blocks[0].inputs[input]].kind ==
	    SL_VALUE_STATE)
		return sl__fail(err, SL_E_DATA,
				"'%.200s' is part of what is trained: it "
				"cannot be set",
				name);
	return SL_OK;
}

/* Classes that the output does not have would read what is not there: the
 * target counts as not set then. */
static enum sl_status
check_target(struct sl_trainer *t, const char *name, struct sl_error *err)
{
	const struct sl_training_options *o = &t->options;
	int64_t n_classes = t->plan->training->n_classes;
	struct sl_array array;
	const int64_t *classes;
	void *data;
	enum sl_status rc;

	if (strcmp(name, target_name) != 0)
		return SL_OK;
	t->has_synthetic_target = 0;
	if (!n_classes)
		return SL_OK;
	rc = sl_plan_input(t->plan->plan, name, &array, &data, err);
	if (rc)
		return rc;
	classes = data;
	for (uint64_t i = 0; i < array.n_elements; i++) {
		if ((classes[i] >= 0 && classes[i] < n_classes) ||
		    (o->has_ignored && classes[i] == o->ignored))
			continue;
		t->plan->plan
			->given[sl__plan_find_input(t->plan->plan, name, NULL)]
			.is_set = 0;
		return sl__fail(err, SL_E_DATA,
				"target %llu is class %lld: the output has "
				"%lld classes",
				(unsigned long long)i, (long long)classes[i],
				(long long)n_classes);
	}
	return SL_OK;
}

enum sl_status
sl_trainer_set_input(struct sl_trainer *trainer, const char *name,
		     const struct sl_array *value, struct sl_error *err)
{
	enum sl_status rc = check_name(trainer, name, err);

	if (!rc)
		rc = sl_plan_set_input(trainer->plan->plan, name, value, err);
	return rc ? rc : check_target(trainer, name, err);
}

enum sl_status
sl_trainer_load_input(struct sl_trainer *trainer, const char *name,
		      const char *path, struct sl_error *err)
{
	enum sl_status rc = check_name(trainer, name, err);

	if (!rc)
		rc = sl_plan_load_input(trainer->plan->plan, name, path, err);
	return rc ? rc
		  : sl__error_prefix(err, check_target(trainer, name, err),
				     path);
}

static enum sl_status
draw_target(struct sl_trainer *t, struct sl_error *err)
{
	uint64_t n_classes = (uint64_t)t->plan->training->n_classes;
	struct sl_array array;
	struct sl__rng rng;
	void *data;
	enum sl_status rc =
		sl_plan_input(t->plan->plan, target_name, &array, &data, err);

	if (rc)
		return rc;
	sl__rng_init(&rng, t->options.seed);
	for (uint64_t i = 0; i < array.n_elements; i++) {
		double x = n_classes ? (double)sl__rng_below(&rng, n_classes)
			   : t->options.loss == SL_LOSS_BCE
				   ? (double)sl__rng_below(&rng, 2)
				   : sl__rng_normal(&rng);

		sl__store_doubles(data, array.dtype, i, 1, &x);
	}
	t->has_synthetic_target = 1;
	return SL_OK;
}

enum sl_status
sl__trainer_fill_inputs(struct sl_trainer *t, struct sl_error *err)
{
	struct sl_plan *plan = t->plan->plan;
	size_t target = sl__plan_find_input(plan, target_name, err);
	enum sl_status rc = SL_OK;

	if (target == SIZE_MAX)
		return SL_E_DATA;
	if (!plan->given[target].is_set)
		rc = draw_target(t, err);
	if (!rc)
		rc = sl__training_plan_set_rate(t->plan,
						t->options.learning_rate, err);
	return rc ? rc : sl_plan_fill_inputs(plan, t->options.seed, err);
}

enum sl_status
sl_train_step(struct sl_trainer *trainer, double *loss, struct sl_error *err)
{
	enum sl_status rc = sl__trainer_fill_inputs(trainer, err);

	return rc ? rc
		  : sl__training_plan_step(trainer->plan,
					   trainer->options.learning_rate, loss,
					   NULL, err);
}

int
sl_trainer_has_synthetic_target(const struct sl_trainer *trainer)
{
	return trainer->has_synthetic_target;
}

void
sl_trainer_set_rate(struct sl_trainer *trainer, double learning_rate)
{
	trainer->options.learning_rate = learning_rate;
}

size_t
sl_trainer_n_parameters(const struct sl_trainer *trainer)
{
	return trainer->plan->training->n_parameters;
}

const char *
sl_trainer_parameter_name(const struct sl_trainer *trainer, size_t i)
{
	const struct sl__training_graph *t = trainer->plan->training;

	return i < t->n_parameters ? t->parameters[i].name : NULL;
}

/* NULL and *err where none has the name. */
static const struct sl__trained_parameter *
find_parameter(const struct sl_trainer *trainer, const char *name,
	       struct sl_error *err)
{
	const struct sl__training_graph *t = trainer->plan->training;

	for (size_t i = 0; i < t->n_parameters; i++) {
		if (!strcmp(t->parameters[i].name, name))
			return &t->parameters[i];
	}
	(void)sl__fail(err, SL_E_DATA,
		       "'%.200s' is no parameter that is trained", name);
	return NULL;
}

enum sl_status
sl_trainer_parameter(struct sl_trainer *trainer, const char *name,
		     struct sl_array *out, struct sl_error *err)
{
	const struct sl__trained_parameter *p =
		find_parameter(trainer, name, err);
	const struct sl_graph *graph = trainer->plan->training->graph;
	void *data;
	enum sl_status rc;

	memset(out, 0, sizeof(*out));
	if (!p)
		return SL_E_DATA;
	rc = sl_plan_input(trainer->plan->plan, graph->values[p->value].name,
			   out, &data, err);
	out->data = rc ? NULL : data;
	return rc;
}

enum sl_status
sl_trainer_gradient(struct sl_trainer *trainer, const char *name,
		    struct sl_array *out, struct sl_error *err)
{
	const struct sl__trained_parameter *p =
		find_parameter(trainer, name, err);
	const struct sl_graph *graph = trainer->plan->training->graph;
	const struct sl_training_options *o = &trainer->options;

	memset(out, 0, sizeof(*out));
	if (!p)
		return SL_E_DATA;
	if (!(o->flags & (SL_TRAINING_KEEP_GRADIENTS | SL_TRAINING_NO_UPDATE)))
		return sl__fail(err, SL_E_USAGE,
				"gradients are not kept: set "
				"SL_TRAINING_KEEP_GRADIENTS");
	return sl_plan_output(trainer->plan->plan,
			      graph->values[p->gradient].name, out, err);
}

enum sl_status
sl__trainer_model(struct sl_trainer *t, struct sl_graph **out,
		  const struct sl_graph *model,
		  const struct sl_allocator *allocator, struct sl_error *err)
{
	const struct sl__training_graph *training = t->plan->training;
	const void **states;
	struct sl__arena scratch;
	struct sl_array a;
	void *data;
	enum sl_status rc = SL_OK;

	*out = NULL;
	sl__arena_init(&scratch, allocator);
	states = sl__arena_array(&scratch, training->n_states, sizeof(*states));
	if (!states)
		rc = sl__fail_nomem(err);
	for (size_t i = 0; !rc && i < training->n_states; i++) {
		rc = sl__training_plan_state(t->plan, i, &a, &data, err);
		states[i] = data;
	}
	if (!rc)
		rc = sl__trained_model_new(out, model, training, states, err);
	sl__arena_release(&scratch);
	return rc;
}
