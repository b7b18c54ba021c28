/* SPDX-License-Identifier: Apache-2.0 */
/* report_fit.c - the largest size that fits, and what fills the memory. */
#include "buf.h"
#include "inspect_page.h"
#include "render.h"
#include "result_csv.h"
#include "unit.h"

#include <math.h>

#include "banned.h"

static void
add_share(struct sl__doc *doc, const char *key, const struct sl_fit *f,
	  double n_bytes)
{
	struct sl__text size, share;

	sl__doc_pair(doc, key, SL__STYLE_PLAIN, "%s",
		     sl__bytes_text(&size, n_bytes));
	sl__doc_more(doc, SL__STYLE_DIM, "  %s of the memory",
		     sl__percent_text(&share, n_bytes / f->memory_bytes));
}

static void
add_fixed(struct sl__doc *doc, const struct sl_fit *f)
{
	const char *verdict = !f->largest    ? "does not fit"
			      : f->n_unknown ? "may fit"
					     : "fits";
	struct sl__text total, memory;

	sl__doc_text(doc,
		     !f->largest    ? SL__STYLE_BAD
		     : f->n_unknown ? SL__STYLE_WARN
				    : SL__STYLE_GOOD,
		     "The %s is fixed at %lld: %s, needs %s%s of %s.", f->axis,
		     (long long)f->fixed_at, verdict,
		     f->n_unknown ? "at least " : "",
		     sl__bytes_text(&total, f->total_bytes),
		     sl__bytes_text(&memory, f->memory_bytes));
}

static void
add_answer(struct sl__doc *doc, const struct sl_fit *f)
{
	const char *most = f->n_unknown ? "at most " : "";
	struct sl__text memory, total;

	sl__bytes_text(&memory, f->memory_bytes);
	sl__bytes_text(&total, f->total_bytes);
	if (f->fixed_at)
		add_fixed(doc, f);
	else if (!f->largest)
		sl__doc_text(doc, SL__STYLE_BAD,
			     "Does not fit: %s %lld needs %s%s, there are %s.",
			     f->axis, (long long)f->size,
			     f->n_unknown ? "at least " : "", total.s,
			     memory.s);
	else if (f->is_unbounded)
		sl__doc_text(doc, SL__STYLE_GOOD,
			     "Fits at every %s: memory does not grow with it "
			     "(looked at up to %lld).",
			     f->axis, (long long)f->largest);
	else if (f->is_cut)
		sl__doc_text(doc, SL__STYLE_GOOD,
			     "Fits at every %s looked at, up to %lld.", f->axis,
			     (long long)f->largest);
	else
		sl__doc_text(doc,
			     f->n_unknown ? SL__STYLE_WARN : SL__STYLE_STRONG,
			     "The largest %s that fits in %s is %s%lld%s",
			     f->axis, memory.s, most, (long long)f->largest,
			     f->limit ? ": the model takes no more." : ".");
	if (f->limit && !f->fixed_at)
		sl__doc_text(doc, SL__STYLE_DIM, "%s", f->limit);
	if (f->n_unknown)
		sl__doc_text(doc, SL__STYLE_WARN,
			     "The size of %zu value%s is not known and counts "
			     "nothing.",
			     f->n_unknown, f->n_unknown == 1 ? "" : "s");
}

/* What is left, and what one more would lack: two sizes close to each other
 * would look the same. */
static void
add_margin(struct sl__doc *doc, const struct sl_fit *f)
{
	double left = f->memory_bytes - f->total_bytes;
	struct sl__text t;

	if (left >= 0)
		sl__doc_pair(doc, "left", SL__STYLE_PLAIN, "%s",
			     sl__bytes_text(&t, left));
	else
		sl__doc_pair(doc, "missing", SL__STYLE_BAD, "%s",
			     sl__bytes_text(&t, -left));
	if (!isnan(f->next_bytes))
		sl__doc_pair(
			doc, "one more", SL__STYLE_DIM,
			"needs %s beyond the memory",
			sl__bytes_text(&t, f->next_bytes - f->memory_bytes));
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
		sl__doc_more(doc, SL__STYLE_DIM, ", while in the %s",
			     f->phase == SL_PHASE_UPDATE    ? "update"
			     : f->phase == SL_PHASE_FORWARD ? "forward pass"
							    : "backward pass");
}

/* What was tried, beside what was predicted. */
static void
add_verified(struct sl__doc *doc, const struct sl_fit *f)
{
	const struct sl_fit_verified *v = &f->verified;
	struct sl__text used;

	sl__doc_gap(doc);
	if (v->runs_at)
		sl__doc_pair(doc, "verified", SL__STYLE_GOOD,
			     "ran at %s %lld, with %s of the memory", f->axis,
			     (long long)v->runs_at,
			     sl__bytes_text(&used, v->used_bytes));
	else
		sl__doc_pair(doc, "verified", SL__STYLE_BAD,
			     "does not run at any %s", f->axis);
	if (v->fails_at)
		sl__doc_pair(doc, "beyond", SL__STYLE_PLAIN,
			     "out of memory at %s %lld", f->axis,
			     (long long)v->fails_at);
	else
		sl__doc_pair(doc, "beyond", SL__STYLE_PLAIN, "not tried");
	sl__doc_more(doc, SL__STYLE_DIM, "  (%s)", v->why);
	if (v->runs_at != f->largest)
		sl__doc_pair(doc, "predicted", SL__STYLE_WARN,
			     "%lld from the graph: the engine needs %s",
			     (long long)f->largest,
			     v->runs_at < f->largest ? "more" : "less");
	sl__doc_gap(doc);
	sl__doc_text(doc, SL__STYLE_DIM,
		     "Planned and run in processes with %s of private memory "
		     "beyond the program's own.",
		     sl__bytes_text(&used, f->memory_bytes));
}

static void
page(struct sl__doc *doc, const void *result,
     const struct sl_render_options *how)
{
	const struct sl_fit *f = result;
	/* The title needs no more than this of an inspection. */
	const struct sl_inspection named = {.name = f->name,
					    .source = f->source};

	(void)how;
	sl__doc_heading(doc, "%s, %s%s", sl__model_title(&named),
			f->optimizer ? "training with " : "inference",
			f->optimizer ? sl_optimizer_text(f->optimizer) : "");
	if (sl__model_title(&named) == f->name && *f->source)
		sl__doc_more(doc, SL__STYLE_DIM, "  %s", f->source);
	add_answer(doc, f);
	sl__doc_gap(doc);
	if (f->sizes && *f->sizes)
		sl__doc_pair(doc, "sizes", SL__STYLE_PLAIN, "%s", f->sizes);
	add_parts(doc, f);
	add_margin(doc, f);
	if (f->verified.n_trials) {
		add_verified(doc, f);
		return;
	}
	sl__doc_gap(doc);
	sl__doc_text(doc, SL__STYLE_DIM,
		     "Predicted from the graph%s; what an engine needs for "
		     "itself comes on top.",
		     f->optimizer ? ", activations estimated" : "");
}

/* ------------------------------------------------------------------- JSON */

static void
write_answer(struct sl__json *json, const struct sl_fit *f)
{
	sl__json_text(json, "axis", f->axis);
	sl__json_integer(json, "largest", (uint64_t)f->largest);
	sl__json_text(json, "largest_basis",
		      f->n_unknown ? "at most" : "predicted");
	if (f->largest && f->n_unknown)
		sl__json_absent(json, "fits",
				"the size of some values is not known");
	else
		sl__json_boolean(json, "fits", f->largest > 0);
	sl__json_boolean(json, "fixed", f->fixed_at > 0);
	sl__json_boolean(json, "unbounded", f->is_unbounded);
	sl__json_boolean(json, "search_ended", f->is_cut);
	if (f->limit)
		sl__json_text(json, "note", f->limit);
	else
		sl__json_absent(json, "note",
				f->is_cut ? "the search ends there"
					  : "memory ends it");
	sl__json_integer(json, "unknown_values", f->n_unknown);
}

static void
write_parts(struct sl__json *json, const struct sl_fit *f)
{
	sl__json_integer(json, "size", (uint64_t)f->size);
	sl__json_text(json, "optimizer", sl_optimizer_text(f->optimizer));
	if (f->optimizer)
		sl__json_text(json, "phase", sl_phase_text(f->phase));
	else
		sl__json_absent(json, "phase", "inference");
	sl__json_number(json, "memory_bytes", f->memory_bytes);
	sl__json_number(json, "parameters_bytes", f->parameters_bytes);
	sl__json_number(json, "others_bytes", f->others_bytes);
	sl__json_number(json, "activations_bytes", f->activations_bytes);
	sl__json_text(json, "activations_basis",
		      f->n_unknown   ? "at least"
		      : f->optimizer ? "estimated"
				     : "counted");
	sl__json_number(json, "gradients_bytes", f->gradients_bytes);
	sl__json_number(json, "optimizer_bytes", f->optimizer_bytes);
	sl__json_number(json, "total_bytes", f->total_bytes);
	if (!isnan(f->next_bytes))
		sl__json_number(json, "next_bytes", f->next_bytes);
	else
		sl__json_absent(json, "next_bytes",
				f->limit      ? "the model takes no more"
				: !f->largest ? "nothing fits"
					      : "every size looked at fits");
}

static void
write_verified(struct sl__json *json, const struct sl_fit *f)
{
	const struct sl_fit_verified *v = &f->verified;

	if (!v->n_trials) {
		sl__json_absent(json, "verified", "nothing was run");
		return;
	}
	sl__json_object(json, "verified");
	sl__json_integer(json, "runs_at", (uint64_t)v->runs_at);
	if (v->fails_at)
		sl__json_integer(json, "fails_at", (uint64_t)v->fails_at);
	else
		sl__json_absent(json, "fails_at", v->why);
	sl__json_text(json, "why", v->why);
	if (v->runs_at)
		sl__json_number(json, "used_bytes", v->used_bytes);
	else
		sl__json_absent(json, "used_bytes", "no size ran");
	sl__json_boolean(json, "as_predicted", v->runs_at == f->largest);
	sl__json_integer(json, "trials", v->n_trials);
	sl__json_end_object(json);
}

static void
json(struct sl__json *json, const void *result)
{
	const struct sl_fit *f = result;

	sl__json_object(json, "model");
	sl__json_text(json, "name", f->name);
	sl__json_text(json, "source", f->source);
	sl__json_text(json, "sizes", f->sizes);
	sl__json_end_object(json);
	sl__json_object(json, "fit");
	write_answer(json, f);
	write_parts(json, f);
	sl__json_text(json, "basis", "predicted");
	write_verified(json, f);
	sl__json_end_object(json);
}

static void
csv(struct sl_buf *out, const void *result)
{
	const struct sl_fit *f = result;

	sl__buf_text(out, "model,axis,largest,optimizer,memory_bytes,"
			  "parameters_bytes,others_bytes,activations_bytes,"
			  "gradients_bytes,optimizer_bytes,total_bytes\n");
	sl__csv_text(out, f->name);
	sl__csv_text(out, f->axis);
	sl__csv_number(out, (double)f->largest);
	sl__csv_text(out, sl_optimizer_text(f->optimizer));
	sl__csv_number(out, f->memory_bytes);
	sl__csv_number(out, f->parameters_bytes);
	sl__csv_number(out, f->others_bytes);
	sl__csv_number(out, f->activations_bytes);
	sl__csv_number(out, f->gradients_bytes);
	sl__csv_number(out, f->optimizer_bytes);
	sl__csv_number(out, f->total_bytes);
	sl__csv_end(out);
}

enum sl_status
sl_fit_render(const struct sl_fit *f, const struct sl_render_options *how,
	      struct sl_buf *out, struct sl_error *err)
{
	static const struct sl__renderer renderer = {"a fit", "fit", page, json,
						     csv,     NULL,  NULL};

	return sl__render(&renderer, f, how, out, err);
}
