/* SPDX-License-Identifier: Apache-2.0 */
/*
 * variant.c - a model changed, or run in another way.
 *
 * Changes are applied in the order of their list; variant.def names them.  Those
 * to how the model is run are here, those to the model itself beside it.
 */
#include "base/option_struct.h"
#include "base/status.h"
#include "driver/variant_rules.h"
#include "graph/graph.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/banned.h"

static const struct {
	struct sl_variant_rule rule;
	sl__variant_function *apply;
} rules[] = {
#define SL__VARIANT(name, value, text, function) \
	{{name, value, text}, function},
#include "driver/variant.def"
#undef SL__VARIANT
};
enum { N_RULES = sizeof(rules) / sizeof(rules[0]) };

/* Begins with the public part. */
struct variant {
	struct sl_variant public;
	struct sl__variant_build build;
};

const char *
sl_calibration_text(enum sl_calibration calibration)
{
	static const char *const texts[SL_N_CALIBRATIONS] = {
		"min-max", "percentile", "mse"};

	return (unsigned)calibration < SL_N_CALIBRATIONS ? texts[calibration]
							 : "?";
}

const struct sl_variant_rule *
sl_variant_rule_at(size_t i)
{
	return i < N_RULES ? &rules[i].rule : NULL;
}

void
sl__variant_take_graph(struct sl__variant_build *b, struct sl_graph *graph)
{
	b->graphs[b->n_graphs++] = graph;
	b->graph = graph;
}

enum sl_status
sl__variant_read_count(const struct sl__variant_build *b, const char *value,
		       int64_t *out, struct sl_error *err)
{
	char *end;

	errno = 0;
	*out = strtoll(value, &end, 10);
	if (*value < '0' || *value > '9' || *end || errno || *out < 1)
		return sl__fail(err, SL_E_USAGE,
				"'%.100s' needs a whole number from 1",
				b->change->name);
	return SL_OK;
}

enum sl_status
sl__variant_read_share(const struct sl__variant_build *b, const char *value,
		       double *out, struct sl_error *err)
{
	char *end;

	*out = strtod(value, &end);
	if (!*value || *end || !(*out > 0 && *out < 1))
		return sl__fail(err, SL_E_USAGE,
				"'%.100s' needs a share above 0 and below 1, "
				"such as 0.5",
				b->change->name);
	return SL_OK;
}

static enum sl_status
expect_word(const struct sl__variant_build *b, const char *value,
	    const char *word, struct sl_error *err)
{
	if (!strcmp(value, word))
		return SL_OK;
	return sl__fail(err, SL_E_USAGE, "'%.100s' is not known; '%s' is",
			b->change->name, word);
}

enum sl_status
sl__variant_bf16(struct sl__variant_build *b, const char *value,
		 struct sl_error *err)
{
	(void)value;
	(void)err;
	b->out->plan.dtype = SL_DTYPE_BF16;
	b->change->text = "convolutions and matrix products compute in bf16";
	return SL_OK;
}

enum sl_status
sl__variant_threads(struct sl__variant_build *b, const char *value,
		    struct sl_error *err)
{
	int64_t n;
	enum sl_status rc = sl__variant_read_count(b, value, &n, err);

	if (!rc && n > 4096)
		rc = sl__fail(err, SL_E_USAGE, "'%.100s' is too many",
			      b->change->name);
	if (rc)
		return rc;
	b->out->plan.n_threads = (int)n;
	b->change->text = "runs with another number of threads";
	return SL_OK;
}

enum sl_status
sl__variant_batch(struct sl__variant_build *b, const char *value,
		  struct sl_error *err)
{
	enum sl_status rc =
		sl__variant_read_count(b, value, &b->out->sizes.batch, err);

	b->change->text = "runs another number of samples at once";
	return rc;
}

enum sl_status
sl__variant_fuse(struct sl__variant_build *b, const char *value,
		 struct sl_error *err)
{
	enum sl_status rc = expect_word(b, value, "off", err);

	b->out->plan.flags |= SL_PLAN_NO_FUSION;
	b->change->text = "each node is a step of its own";
	return rc;
}

enum sl_status
sl__variant_algorithms(struct sl__variant_build *b, const char *value,
		       struct sl_error *err)
{
	enum sl_status rc = expect_word(b, value, "fixed", err);

	b->out->plan.algorithms = SL_ALGORITHMS_FIXED;
	b->change->text = "algorithms are chosen by rule";
	return rc;
}

static enum sl_status
refuse(const char *name, struct sl_error *err)
{
	const char *near = NULL;

	for (size_t i = 0; i < N_RULES; i++)
		near = sl_text_nearer(name, near, rules[i].rule.name);
	if (near)
		return sl__fail(err, SL_E_USAGE,
				"no change is called '%.100s'; did you mean "
				"'%s'?",
				name, near);
	return sl__fail(err, SL_E_USAGE,
			"no change is called '%.100s'; 'sleuth optimize "
			"--changes' lists them",
			name);
}

/* Bytes of the model's weights; those that several values share count once. */
static uint64_t
weight_bytes(const struct sl_graph *graph)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < graph->n_values; i++) {
		if (graph->values[i].tensor)
			sum += graph->values[i].tensor->n_bytes;
	}
	return sum;
}

static enum sl_status
apply(struct sl__variant_build *b, const char *text, size_t n,
      struct sl_error *err)
{
	char *name = sl__arena_format(b->arena, "%.*s", (int)n, text);
	char *word = sl__arena_format(b->arena, "%.*s", (int)n, text);
	char *value = word ? strchr(word, '=') : NULL;
	enum sl_status rc;

	if (!name || !word)
		return sl__fail_nomem(err);
	b->change->name = name;
	if (value)
		*value++ = '\0';
	for (size_t i = 0; i < N_RULES; i++) {
		const struct sl_variant_rule *r = &rules[i].rule;

		if (strcmp(r->name, word))
			continue;
		if (!r->value != !value)
			return sl__fail(err, SL_E_USAGE, "write '%s%s%s'",
					r->name, r->value ? "=" : "",
					r->value ? r->value : "");
		b->change->weights_before_bytes = weight_bytes(b->graph);
		rc = rules[i].apply(b, value, err);
		b->change->weights_after_bytes = weight_bytes(b->graph);
		return rc;
	}
	return refuse(word, err);
}

static enum sl_status
apply_all(struct sl__variant_build *b, const char *changes,
	  struct sl_error *err)
{
	struct sl_variant_change *list = sl__arena_array(
		b->arena, SL__VARIANT_CHANGES_MOST, sizeof(*list));
	enum sl_status rc = SL_OK;

	if (!list)
		return sl__fail_nomem(err);
	b->out->changes = list;
	while (!rc) {
		size_t n = strcspn(changes, ",");

		if (b->out->n_changes == SL__VARIANT_CHANGES_MOST)
			return sl__fail(err, SL_E_USAGE,
					"more than %d changes at once",
					SL__VARIANT_CHANGES_MOST);
		b->change = &list[b->out->n_changes++];
		rc = apply(b, changes, n, err);
		if (!changes[n])
			break;
		changes += n + 1;
	}
	b->out->graph = b->graph;
	return rc;
}

static enum sl_status
fill_plan_options(struct sl__variant_build *b, struct sl_error *err)
{
	struct sl_plan_options *plan = &b->out->plan;
	enum sl_status rc = sl__options_copy(plan, sizeof(*plan), b->how.plan,
					     "sl_plan_options", err);

	if (!rc)
		rc = sl__options_copy(&b->out->sizes, sizeof(b->out->sizes),
				      plan->sizes, "sl_sizes", err);
	b->out->sizes.struct_size = sizeof(b->out->sizes);
	plan->struct_size = sizeof(*plan);
	plan->sizes = &b->out->sizes;
	return rc;
}

enum sl_status
sl_variant_new(struct sl_variant **out, const struct sl_graph *graph,
	       const char *changes, const struct sl_variant_options *options,
	       struct sl_error *err)
{
	struct sl__variant_build build = {.model = graph, .graph = graph};
	struct variant *v;
	enum sl_status rc = sl__options_copy(&build.how, sizeof(build.how),
					     options, "sl_variant_options",
					     err);

	*out = NULL;
	if (rc)
		return rc;
	if (!build.how.seed)
		build.how.seed = 1;
	if (!build.how.n_samples)
		build.how.n_samples = 128;
	v = sl__arena_object_new(&build.arena, build.how.allocator, sizeof(*v));
	if (!v)
		return sl__fail_nomem(err);
	build.out = &v->public;
	v->build = build;
	rc = fill_plan_options(&v->build, err);
	if (!rc)
		rc = sl__arena_copy_text(build.arena, &v->public.name, changes,
					 err);
	if (!rc)
		rc = apply_all(&v->build, changes, err);
	if (rc)
		sl_variant_free(&v->public);
	else
		*out = &v->public;
	return rc;
}

void
sl_variant_free(struct sl_variant *variant)
{
	struct variant *v = (struct variant *)(void *)variant;

	if (!v)
		return;
	while (v->build.n_graphs)
		sl_graph_free(v->build.graphs[--v->build.n_graphs]);
	sl__arena_object_free(v);
}
