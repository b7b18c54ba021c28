/* SPDX-License-Identifier: Apache-2.0 */
/* report_fit.c - the largest size that fits, and what fills the memory. */
#include "report/inspect_page.h"
#include "report/render.h"
#include "report/unit.h"
#include "result/tables.h"

#include <math.h>
#include <stdio.h>

#include "base/banned.h"

static void
add_share(struct sl__doc *doc, const char *key, const struct sl_fit *f,
	  double n_bytes)
{
	struct sl__text size, share;

	sl__doc_pair(doc, key, SL__STYLE_PLAIN, "%s",
		     sl__bytes_text(&size, n_bytes));
	sl__doc_append(doc, SL__STYLE_DIM, "  %s of the memory",
		       sl__share_text(&share, n_bytes / f->memory_bytes));
}

static const char *
axis_of(const struct sl_fit *f)
{
	return sl_growth_axis_text(f->axis);
}

static void
add_fixed(struct sl__doc *doc, const struct sl_fit *f, const char *needs)
{
	struct sl__text memory;

	sl__doc_text(doc,
		     !f->largest    ? SL__STYLE_BAD
		     : f->n_unknown ? SL__STYLE_WARN
				    : SL__STYLE_GOOD,
		     "The %s is fixed at %lld: %s, needs %s of %s.", axis_of(f),
		     (long long)f->fixed_at,
		     !f->largest    ? "does not fit"
		     : f->n_unknown ? "may fit"
				    : "fits",
		     needs, sl__bytes_text(&memory, f->memory_bytes));
}

static void
add_too_large(struct sl__doc *doc, const struct sl_fit *f, const char *needs)
{
	struct sl__text memory;

	sl__bytes_text(&memory, f->memory_bytes);
	sl__doc_text(doc, SL__STYLE_BAD, "Does not fit: %s %lld ", axis_of(f),
		     (long long)f->size);
	if (f->total_bytes <= f->memory_bytes)
		sl__doc_append(doc, SL__STYLE_BAD,
			       "exceeds %s during planning.", memory.s);
	else
		sl__doc_append(doc, SL__STYLE_BAD,
			       "needs %s, only %s is available.", needs,
			       memory.s);
}

static void
add_answer(struct sl__doc *doc, const struct sl_fit *f)
{
	struct sl__text memory, total, needs;

	snprintf(needs.s, sizeof(needs.s), "%s%s",
		 f->n_unknown ? "at least " : "",
		 sl__bytes_text(&total, f->total_bytes));
	if (f->fixed_at)
		add_fixed(doc, f, needs.s);
	else if (!f->largest)
		add_too_large(doc, f, needs.s);
	else if (f->is_unbounded || f->is_cut)
		sl__doc_text(doc, SL__STYLE_GOOD,
			     f->is_unbounded
				     ? "Fits at every %s: memory does not grow "
				       "with it (tried up to %lld)."
				     : "Fits at every %s tried, up to %lld.",
			     axis_of(f), (long long)f->largest);
	else
		sl__doc_text(
			doc, f->n_unknown ? SL__STYLE_WARN : SL__STYLE_STRONG,
			"The largest %s that fits in %s is %s%lld%s",
			axis_of(f), sl__bytes_text(&memory, f->memory_bytes),
			f->n_unknown ? "at most " : "", (long long)f->largest,
			f->limit ? ": the model accepts no more." : ".");
	if (f->limit && !f->fixed_at)
		sl__doc_text(doc, SL__STYLE_DIM, "%s", f->limit);
	if (f->n_unknown)
		sl__doc_text(
			doc, SL__STYLE_WARN,
			"The size of %zu value%s is not known and counts as 0.",
			f->n_unknown, f->n_unknown == 1 ? "" : "s");
}

/* What is left, and what one more would lack: two sizes close to each other
 * would look the same. */
static void
add_left(struct sl__doc *doc, double left)
{
	struct sl__text t;

	sl__doc_pair(doc, left >= 0 ? "left" : "missing",
		     left >= 0 ? SL__STYLE_PLAIN : SL__STYLE_BAD, "%s",
		     sl__bytes_text(&t, fabs(left)));
}

static void
add_next(struct sl__doc *doc, const struct sl_fit *f)
{
	struct sl__text t;

	if (!isnan(f->next_bytes))
		sl__doc_pair(
			doc, "one more", SL__STYLE_DIM,
			"exceeds the memory by %s",
			sl__bytes_text(&t, f->next_bytes - f->memory_bytes));
	else if (f->is_planned && f->largest && !f->limit)
		sl__doc_pair(doc, "one more", SL__STYLE_DIM,
			     "runs out of memory during planning");
}

/* What the graph alone says: fusion and what the engine itself needs make the
 * difference, which may be either way. */
static void
add_graph(struct sl__doc *doc, const struct sl_fit *f)
{
	struct sl__text t;

	sl__doc_pair(doc, "unfused graph", SL__STYLE_PLAIN, "%s %lld would fit",
		     axis_of(f), (long long)f->graph_largest);
	sl__doc_append_dim(doc, " (%s", sl__bytes_text(&t, f->graph_bytes));
	if (f->graph_size != f->graph_largest)
		sl__doc_append_dim(doc, " at %lld", (long long)f->graph_size);
	sl__doc_append_dim(doc, ", engine overhead not counted)");
}

struct parts {
	double weights, activations, optimizer;
};

/* As the engine has them. */
static void
add_engine_parts(struct sl__doc *doc, const struct sl_fit *f,
		 const struct parts *p, double total)
{
	double rest = total - p->weights - p->activations - p->optimizer;

	add_share(doc, "weights", f, p->weights);
	if (f->optimizer)
		add_share(doc, "optimizer", f, p->optimizer);
	add_share(doc, "activations", f, p->activations);
	if (f->optimizer)
		sl__doc_append(doc, SL__STYLE_DIM, ", with gradients");
	if (rest > 0) {
		add_share(doc, "engine", f, rest);
		sl__doc_append(doc, SL__STYLE_DIM,
			       ": plan, generated code, page rounding");
	}
	add_share(doc, "total", f, total);
}

static void
add_parts(struct sl__doc *doc, const struct sl_fit *f)
{
	add_share(doc, "parameters", f, f->parameters_bytes);
	if (f->others_bytes > 0)
		add_share(doc, "not trained", f, f->others_bytes);
	add_share(doc, f->optimizer ? "activations" : "live set", f,
		  f->activations_bytes);
	if (f->optimizer) {
		add_share(doc, "gradients", f, f->gradients_bytes);
		add_share(doc, "optimizer", f, f->optimizer_bytes);
	}
	add_share(doc, "total", f, f->total_bytes);
	if (f->optimizer)
		sl__doc_append(doc, SL__STYLE_DIM, ", in the %s",
			       f->phase == SL_PHASE_UPDATE ? "update"
			       : f->phase == SL_PHASE_FORWARD
				       ? "forward pass"
				       : "backward pass");
}

/* What ran is the answer, whatever was predicted. */
static void
add_tried_answer(struct sl__doc *doc, const struct sl_fit *f)
{
	const struct sl_fit_verified *v = &f->verified;
	struct sl__text memory;

	sl__bytes_text(&memory, f->memory_bytes);
	if (f->fixed_at)
		sl__doc_text(doc, v->runs_at ? SL__STYLE_GOOD : SL__STYLE_BAD,
			     "The %s is fixed at %lld: %s in %s.", axis_of(f),
			     (long long)f->fixed_at,
			     v->runs_at ? "fits" : "does not fit", memory.s);
	else if (!v->runs_at)
		sl__doc_text(doc, SL__STYLE_BAD,
			     "Does not fit: %s %lld is out of memory in %s.",
			     axis_of(f), (long long)(v->fails_at), memory.s);
	else
		sl__doc_text(doc, SL__STYLE_STRONG,
			     "The largest %s that fits in %s is %lld%s",
			     axis_of(f), memory.s, (long long)v->runs_at,
			     v->fails_at ? "."
					 : ": the model accepts no more.");
}

/* What was predicted, by the plan or the graph, and why that was not it. */
static void
add_predicted(struct sl__doc *doc, const struct sl_fit *f)
{
	const struct sl_fit_verified *v = &f->verified;

	sl__doc_pair(doc, "predicted",
		     v->difference ? SL__STYLE_WARN : SL__STYLE_PLAIN,
		     "%s%lld from the %s, before the run",
		     f->n_unknown ? "at most " : "", (long long)f->largest,
		     f->is_planned ? "plan" : "graph");
	if (v->difference)
		sl__doc_append(doc, SL__STYLE_PLAIN, ": %s", v->difference);
	if (f->is_planned)
		add_graph(doc, f);
	else
		sl__doc_pair(doc, "not planned", SL__STYLE_WARN, "%s",
			     f->unplanned);
}

static void
add_verified(struct sl__doc *doc, const struct sl_fit *f)
{
	const struct sl_fit_verified *v = &f->verified;
	struct sl__text used;

	sl__doc_gap(doc);
	if (v->runs_at)
		sl__doc_pair(doc, "verified", SL__STYLE_GOOD,
			     "ran at %s %lld and used %s", axis_of(f),
			     (long long)v->runs_at,
			     sl__bytes_text(&used, v->used_bytes));
	else
		sl__doc_pair(doc, "verified", SL__STYLE_BAD,
			     "does not run at any %s", axis_of(f));
	if (v->fails_at)
		sl__doc_pair(doc, "beyond", SL__STYLE_PLAIN,
			     "out of memory at %s %lld", axis_of(f),
			     (long long)v->fails_at);
	else
		sl__doc_pair(doc, "beyond", SL__STYLE_PLAIN, "not tried");
	sl__doc_append(doc, SL__STYLE_DIM, "  (%s)", v->why);
	add_predicted(doc, f);
	sl__doc_gap(doc);
	sl__doc_text(doc, SL__STYLE_DIM,
		     "Planned and run in processes limited to %s of private "
		     "memory on top of the program's own.",
		     sl__bytes_text(&used, f->memory_bytes));
}

static void
add_source(struct sl__doc *doc, const struct sl_fit *f)
{
	if (f->is_planned)
		sl__doc_text(doc, SL__STYLE_DIM,
			     "Predicted from the engine's plan for this "
			     "machine; nothing was run.");
	else
		sl__doc_text(
			doc, SL__STYLE_DIM,
			"Predicted from the graph%s: %s. Fusion lowers the "
			"activations; an engine also needs memory of its own.",
			f->optimizer ? ", activations estimated" : "",
			f->unplanned);
}

static void
page(struct sl__doc *doc, const void *result,
     const struct sl_render_options *how)
{
	const struct sl_fit *f = result;
	const struct sl_fit_verified *v = &f->verified;
	const char *title = sl__model_display_name(f->name, f->source);

	(void)how;
	sl__doc_heading(doc, "%s, %s%s", title,
			f->optimizer ? "training with " : "inference",
			f->optimizer ? sl_optimizer_text(f->optimizer) : "");
	sl__doc_append_dim(doc, "  %s",
			   sl__model_source_text(f->name, f->source));
	if (v->n_trials) {
		add_tried_answer(doc, f);
		sl__doc_gap(doc);
		if (v->runs_at) {
			add_engine_parts(doc, f,
					 &(struct parts){v->weights_bytes,
							 v->block_bytes,
							 v->optimizer_bytes},
					 v->used_bytes);
			add_left(doc, f->memory_bytes - v->used_bytes);
		}
		add_verified(doc, f);
		return;
	}
	add_answer(doc, f);
	sl__doc_gap(doc);
	if (f->sizes && *f->sizes)
		sl__doc_pair(doc, "sizes", SL__STYLE_PLAIN, "%s", f->sizes);
	if (f->is_planned)
		add_engine_parts(doc, f,
				 &(struct parts){f->parameters_bytes,
						 f->activations_bytes,
						 f->optimizer_bytes},
				 f->total_bytes);
	else
		add_parts(doc, f);
	add_left(doc, f->memory_bytes - f->total_bytes);
	add_next(doc, f);
	if (f->is_planned && !f->fixed_at)
		add_graph(doc, f);
	if (*v->why)
		sl__doc_pair(doc, "not verified", SL__STYLE_WARN, "%s", v->why);
	sl__doc_gap(doc);
	add_source(doc, f);
}

enum sl_status
sl_fit_render(const struct sl_fit *f, const struct sl_render_options *how,
	      struct sl_buf *out, struct sl_error *err)
{
	static const struct sl__renderer renderer = {
		.kind = "a fit",
		.command = "fit",
		.page = page,
		.table = &sl__table_fit,
		.csv_rows = "fit",
		.csv_columns =
			"model=../model/name,axis,largest,optimizer,"
			"memory_bytes,parameters_bytes,others_bytes,"
			"activations_bytes,gradients_bytes,optimizer_bytes,"
			"total_bytes"};

	return sl__render(&renderer, f, how, out, err);
}
