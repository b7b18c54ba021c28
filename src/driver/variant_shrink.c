/* SPDX-License-Identifier: Apache-2.0 */
/* variant_shrink.c - changes that make a model smaller. */
#include "base/status.h"
#include "driver/distil.h"
#include "driver/variant_rules.h"
#include "sleuth/training_runs.h"
#include "transform/low_rank.h"

#include <math.h>

#include "base/banned.h"

static enum sl_status
prune(struct sl__variant_build *b, enum sl__prune_kind kind, const char *value,
      struct sl_error *err)
{
	struct sl__prune_options how = {
		.kind = kind, .keep = b->how.keep, .n_keep = b->how.n_keep};
	const char *what = kind == SL__PRUNE_HEADS ? "heads" : "channels";
	const struct sl__node *n;
	struct sl__pruned done;
	enum sl_status rc = sl__variant_read_share(b, value, &how.share, err);

	if (!rc)
		rc = sl__prune(&done, b->graph, &how, err);
	if (rc)
		return rc;
	b->change->n_layers = done.n_layers;
	b->change->text = sl__arena_format(b->arena, "removed %zu of %zu %s",
					   done.n_removed, done.n_units, what);
	if (done.n_held) {
		n = &b->graph->nodes[done.held_by];
		b->change->text = sl__arena_format(
			b->arena,
			"removed %zu of %zu %s; %zu cannot go: '%.100s' "
			"(%.60s) is not followed",
			done.n_removed, done.n_units, what, done.n_held,
			n->name, n->type);
	}
	sl__variant_take_graph(b, done.graph);
	return b->change->text ? SL_OK : sl__fail_nomem(err);
}

enum sl_status
sl__variant_prune_channels(struct sl__variant_build *b, const char *value,
			   struct sl_error *err)
{
	return prune(b, SL__PRUNE_CHANNELS, value, err);
}

enum sl_status
sl__variant_prune_heads(struct sl__variant_build *b, const char *value,
			struct sl_error *err)
{
	return prune(b, SL__PRUNE_HEADS, value, err);
}

/* Parameters of two dimensions or more that are others than before. */
static size_t
count_trained(const struct sl_graph *old, const struct sl_graph *new)
{
	size_t n = 0;

	for (size_t v = 0; v < old->n_values; v++)
		n += old->values[v].tensor && old->values[v].tensor->rank > 1 &&
		     old->values[v].tensor != new->values[v].tensor;
	return n;
}

static void
tell_progress(const struct sl_train_progress *now, void *ctx)
{
	const struct sl__variant_build *b = ctx;
	struct sl_progress all = {.what = "training",
				  .n_done = (size_t)now->step,
				  .share = (double)now->step /
					   (double)now->n_steps,
				  .remaining_s = now->remaining_s,
				  .median_ns = (double)NAN};

	b->how.progress(&all, b->how.progress_ctx);
}

/* The value of a change that trains, for which there must be data. */
static enum sl_status
read_epochs(const struct sl__variant_build *b, const char *value,
	    uint64_t *n_epochs, struct sl_error *err)
{
	int64_t n = 0;
	enum sl_status rc = sl__variant_read_count(b, value, &n, err);

	if (!rc && !b->how.data)
		rc = sl__fail(err, SL_E_USAGE,
			      "'%.100s' needs data to train on",
			      b->change->name);
	*n_epochs = (uint64_t)n;
	return rc;
}

enum sl_status
sl__variant_fine_tune(struct sl__variant_build *b, const char *value,
		      struct sl_error *err)
{
	struct sl_plan_options plan = {.struct_size = sizeof(plan),
				       .algorithms = SL_ALGORITHMS_FIXED,
				       .n_threads = b->out->plan.n_threads};
	struct sl_train_options how = {.struct_size = sizeof(how),
				       .plan = &plan,
				       .seed = b->how.seed,
				       .interrupt = b->how.interrupt,
				       .allocator = b->how.allocator};
	struct sl_train_result *done = NULL;
	enum sl_status rc = read_epochs(b, value, &how.n_epochs, err);

	if (rc)
		return rc;
	if (b->how.progress) {
		how.progress = tell_progress;
		how.progress_ctx = b;
	}
	rc = sl_train(&done, b->graph, b->how.data, &how, err);
	if (!rc && done->end == SL_TRAIN_INTERRUPTED)
		rc = sl__fail(err, SL_E_INTERRUPTED, "interrupted");
	if (!rc) {
		b->change->n_layers = count_trained(b->graph, done->trained);
		b->change->text = sl__arena_format(
			b->arena,
			"trained for %llu more epoch%s, to a loss of %.3g",
			(unsigned long long)done->n_epochs,
			done->n_epochs == 1 ? "" : "s",
			done->n_curve ? done->curve[done->n_curve - 1].loss
				      : (double)NAN);
		sl__variant_take_graph(b, done->trained);
		done->trained = NULL;
		if (!b->change->text)
			rc = sl__fail_nomem(err);
	}
	sl_train_free(done);
	return rc;
}

enum sl_status
sl__variant_distil(struct sl__variant_build *b, const char *value,
		   struct sl_error *err)
{
	struct sl__distil_options how = {
		.data = b->how.data,
		.n_threads = b->out->plan.n_threads,
		.seed = b->how.seed,
		.progress = b->how.progress ? tell_progress : NULL,
		.progress_ctx = b,
		.interrupt = b->how.interrupt,
		.allocator = b->how.allocator};
	struct sl__distilled done;
	enum sl_status rc = read_epochs(b, value, &how.n_epochs, err);

	if (!rc && b->graph == b->model)
		rc = sl__fail(
			err, SL_E_USAGE,
			"'%.100s' teaches a model that was changed before "
			"it, as in prune-channels=0.5,%.100s",
			b->change->name, b->change->name);
	if (!rc)
		rc = sl__distil(&done, b->graph, b->model, &how, err);
	if (rc)
		return rc;
	b->change->n_layers = count_trained(b->graph, done.graph);
	b->change->text = sl__arena_format(
		b->arena,
		"learned from the model as it came for %llu epoch%s; outputs "
		"differ from its by %.2g %% of their root mean square",
		(unsigned long long)how.n_epochs, how.n_epochs == 1 ? "" : "s",
		100 * done.error);
	sl__variant_take_graph(b, done.graph);
	return b->change->text ? SL_OK : sl__fail_nomem(err);
}

enum sl_status
sl__variant_prune(struct sl__variant_build *b, const char *value,
		  struct sl_error *err)
{
	struct sl__prune_options how = {.keep = b->how.keep,
					.n_keep = b->how.n_keep};
	struct sl__pruned done;
	enum sl_status rc = sl__variant_read_share(b, value, &how.share, err);

	if (!rc)
		rc = sl__prune_weights(&done, b->graph, &how, err);
	if (rc)
		return rc;
	b->change->n_layers = done.n_layers;
	b->change->text = sl__arena_format(
		b->arena,
		"%zu of %zu weights are zero now; dense kernels multiply as "
		"many as before",
		done.n_removed, done.n_units);
	sl__variant_take_graph(b, done.graph);
	return b->change->text ? SL_OK : sl__fail_nomem(err);
}

enum sl_status
sl__variant_low_rank(struct sl__variant_build *b, const char *value,
		     struct sl_error *err)
{
	struct sl__prune_options how = {.keep = b->how.keep,
					.n_keep = b->how.n_keep};
	struct sl__low_rank done;
	enum sl_status rc = sl__variant_read_share(b, value, &how.share, err);

	if (!rc)
		rc = sl__low_rank(&done, b->graph, &how, b->how.seed, err);
	if (rc)
		return rc;
	b->change->n_layers = done.n_layers;
	b->change->text = sl__arena_format(
		b->arena,
		"split %zu linear layer%s in two, which keep %.1f %% of the "
		"weights' sum of squares",
		done.n_layers, done.n_layers == 1 ? "" : "s", 100 * done.kept);
	sl__variant_take_graph(b, done.graph);
	return b->change->text ? SL_OK : sl__fail_nomem(err);
}
