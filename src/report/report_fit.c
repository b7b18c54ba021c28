/* SPDX-License-Identifier: Apache-2.0 */
/* report_fit.c - the largest size that fits, and what fills the memory. */
#include "base/buf.h"
#include "report/inspect_page.h"
#include "report/render.h"
#include "report/result_csv.h"
#include "report/result_json.h"
#include "report/unit.h"

#include <math.h>

#include "base/banned.h"

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
		     "The %s is fixed at %lld: %s, needs %s%s of %s.",
		     sl_growth_axis_text(f->axis), (long long)f->fixed_at,
		     verdict, f->n_unknown ? "at least " : "",
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
	else if (!f->largest && f->total_bytes <= f->memory_bytes)
		sl__doc_text(doc, SL__STYLE_BAD,
			     "Does not fit: %s %lld takes more than %s while "
			     "it is planned.",
			     sl_growth_axis_text(f->axis), (long long)f->size,
			     memory.s);
	else if (!f->largest)
		sl__doc_text(doc, SL__STYLE_BAD,
			     "Does not fit: %s %lld needs %s%s, there are %s.",
			     sl_growth_axis_text(f->axis), (long long)f->size,
			     f->n_unknown ? "at least " : "", total.s,
			     memory.s);
	else if (f->is_unbounded)
		sl__doc_text(doc, SL__STYLE_GOOD,
			     "Fits at every %s: memory does not grow with it "
			     "(looked at up to %lld).",
			     sl_growth_axis_text(f->axis),
			     (long long)f->largest);
	else if (f->is_cut)
		sl__doc_text(doc, SL__STYLE_GOOD,
			     "Fits at every %s looked at, up to %lld.",
			     sl_growth_axis_text(f->axis),
			     (long long)f->largest);
	else
		sl__doc_text(doc,
			     f->n_unknown ? SL__STYLE_WARN : SL__STYLE_STRONG,
			     "The largest %s that fits in %s is %s%lld%s",
			     sl_growth_axis_text(f->axis), memory.s, most,
			     (long long)f->largest,
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
	else if (f->is_planned && f->largest && !f->limit)
		sl__doc_pair(doc, "one more", SL__STYLE_DIM,
			     "is out of memory while it is planned");
}

/* What the graph alone says: fusion and what the engine itself needs make the
 * difference, which may be either way. */
static void
add_graph(struct sl__doc *doc, const struct sl_fit *f, const char *key)
{
	struct sl__text t;

	sl__doc_pair(doc, key, SL__STYLE_PLAIN, "%lld",
		     (long long)f->graph_largest);
	sl__doc_more(doc, SL__STYLE_DIM,
		     "  in an engine that fuses nothing and needs nothing for "
		     "itself (%s at %s %lld)",
		     sl__bytes_text(&t, f->graph_bytes),
		     sl_growth_axis_text(f->axis), (long long)f->graph_size);
}

static void
add_engine(struct sl__doc *doc, const struct sl_fit *f, double n_bytes)
{
	if (!(n_bytes > 0))
		return;
	add_share(doc, "engine", f, n_bytes);
	sl__doc_more(doc, SL__STYLE_DIM, ": its records, code and whole pages");
}

/* As the plan has it, at the size that was found. */
static void
add_planned_parts(struct sl__doc *doc, const struct sl_fit *f)
{
	add_share(doc, "weights", f, f->parameters_bytes);
	add_share(doc, "activations", f, f->activations_bytes);
	add_engine(doc, f, f->others_bytes);
	add_share(doc, "total", f, f->total_bytes);
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

static int64_t
answer_of(const struct sl_fit *f)
{
	return f->verified.n_trials ? f->verified.runs_at : f->largest;
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
			     "The %s is fixed at %lld: %s in %s.",
			     sl_growth_axis_text(f->axis),
			     (long long)f->fixed_at,
			     v->runs_at ? "fits" : "does not fit", memory.s);
	else if (!v->runs_at)
		sl__doc_text(doc, SL__STYLE_BAD,
			     "Does not fit: %s %lld is out of memory in %s.",
			     sl_growth_axis_text(f->axis),
			     (long long)(v->fails_at), memory.s);
	else
		sl__doc_text(doc, SL__STYLE_STRONG,
			     "The largest %s that fits in %s is %lld%s",
			     sl_growth_axis_text(f->axis), memory.s,
			     (long long)v->runs_at,
			     v->fails_at ? "." : ": the model takes no more.");
}

static void
add_tried_parts(struct sl__doc *doc, const struct sl_fit *f)
{
	const struct sl_fit_verified *v = &f->verified;
	double rest = v->used_bytes - v->weights_bytes - v->block_bytes;
	struct sl__text left;

	if (!v->runs_at)
		return;
	add_share(doc, "weights", f, v->weights_bytes);
	add_share(doc, "activations", f, v->block_bytes);
	add_engine(doc, f, rest);
	add_share(doc, "total", f, v->used_bytes);
	sl__doc_pair(doc, "left", SL__STYLE_PLAIN, "%s",
		     sl__bytes_text(&left, f->memory_bytes - v->used_bytes));
}

/* What was predicted, by the plan or the graph, and why that was not it. */
static void
add_predicted(struct sl__doc *doc, const struct sl_fit *f)
{
	const struct sl_fit_verified *v = &f->verified;

	sl__doc_pair(doc, "predicted",
		     v->difference ? SL__STYLE_WARN : SL__STYLE_PLAIN,
		     "%s%lld from the %s, before anything ran",
		     f->n_unknown ? "at most " : "", (long long)f->largest,
		     f->is_planned ? "plan" : "graph");
	if (v->difference)
		sl__doc_more(doc, SL__STYLE_PLAIN, ": %s", v->difference);
	if (f->is_planned)
		add_graph(doc, f, "graph alone");
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
			     "ran at %s %lld, with %s of the memory",
			     sl_growth_axis_text(f->axis),
			     (long long)v->runs_at,
			     sl__bytes_text(&used, v->used_bytes));
	else
		sl__doc_pair(doc, "verified", SL__STYLE_BAD,
			     "does not run at any %s",
			     sl_growth_axis_text(f->axis));
	if (v->fails_at)
		sl__doc_pair(doc, "beyond", SL__STYLE_PLAIN,
			     "out of memory at %s %lld",
			     sl_growth_axis_text(f->axis),
			     (long long)v->fails_at);
	else
		sl__doc_pair(doc, "beyond", SL__STYLE_PLAIN, "not tried");
	sl__doc_more(doc, SL__STYLE_DIM, "  (%s)", v->why);
	add_predicted(doc, f);
	sl__doc_gap(doc);
	sl__doc_text(doc, SL__STYLE_DIM,
		     "Planned and run in processes with %s of private memory "
		     "beyond the program's own.",
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
		sl__doc_text(doc, SL__STYLE_DIM,
			     "Predicted from the graph%s: %s. An engine that "
			     "fuses needs less for activations, and memory of "
			     "its own on top.",
			     f->optimizer ? ", activations estimated" : "",
			     f->unplanned);
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
	if (f->verified.n_trials) {
		add_tried_answer(doc, f);
		sl__doc_gap(doc);
		add_tried_parts(doc, f);
		add_verified(doc, f);
		return;
	}
	add_answer(doc, f);
	sl__doc_gap(doc);
	if (f->sizes && *f->sizes)
		sl__doc_pair(doc, "sizes", SL__STYLE_PLAIN, "%s", f->sizes);
	(f->is_planned ? add_planned_parts : add_parts)(doc, f);
	add_margin(doc, f);
	if (f->is_planned && !f->fixed_at)
		add_graph(doc, f, "graph alone");
	if (*f->verified.why)
		sl__doc_pair(doc, "not verified", SL__STYLE_WARN, "%s",
			     f->verified.why);
	sl__doc_gap(doc);
	add_source(doc, f);
}

static void
write_answer(struct sl__json *json, const struct sl_fit *f)
{
	int is_tried = f->verified.n_trials > 0;

	sl__json_text(json, "axis", sl_growth_axis_text(f->axis));
	sl__json_integer(json, "largest", (uint64_t)answer_of(f));
	sl__json_text(json, "largest_basis",
		      is_tried       ? "verified"
		      : f->n_unknown ? "at most"
				     : "predicted");
	sl__json_text(json, "predicted_from", f->is_planned ? "plan" : "graph");
	if (f->unplanned)
		sl__json_text(json, "not_planned", f->unplanned);
	sl__json_integer(json, "plans", f->n_plans);
	sl__json_integer(json, "predicted_largest", (uint64_t)f->largest);
	sl__json_integer(json, "graph_largest", (uint64_t)f->graph_largest);
	sl__json_integer(json, "graph_size", (uint64_t)f->graph_size);
	sl__json_number(json, "graph_bytes", f->graph_bytes);
	if (!is_tried && f->largest && f->n_unknown)
		sl__json_absent(json, "fits",
				"the size of some values is not known");
	else
		sl__json_boolean(json, "fits", answer_of(f) > 0);
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
		      f->is_planned  ? "planned"
		      : f->n_unknown ? "at least"
		      : f->optimizer ? "estimated"
				     : "counted");
	sl__json_number(json, "gradients_bytes", f->gradients_bytes);
	sl__json_number(json, "optimizer_bytes", f->optimizer_bytes);
	sl__json_number(json, "total_bytes", f->total_bytes);
	if (!isnan(f->next_bytes))
		sl__json_number(json, "next_bytes", f->next_bytes);
	else
		sl__json_absent(json, "next_bytes",
				f->limit        ? "the model takes no more"
				: !f->largest   ? "nothing fits"
				: f->is_planned ? "out of memory while it is "
						  "planned"
						: "every size looked at fits");
}

static void
write_verified(struct sl__json *json, const struct sl_fit *f)
{
	const struct sl_fit_verified *v = &f->verified;

	if (!v->n_trials) {
		sl__json_absent(json, "verified",
				*v->why ? v->why : "nothing was run");
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
	sl__json_finite(json, "weights_bytes", v->weights_bytes, "no size ran");
	sl__json_finite(json, "block_bytes", v->block_bytes, "no size ran");
	sl__json_integer(json, "planned_at", (uint64_t)v->planned_at);
	sl__json_boolean(json, "as_predicted", !v->difference);
	if (v->difference)
		sl__json_text(json, "difference", v->difference);
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
	sl__csv_text(out, sl_growth_axis_text(f->axis));
	sl__csv_number(out, (double)answer_of(f));
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
	static const struct sl__renderer renderer = {.kind = "a fit",
						     .command = "fit",
						     .page = page,
						     .json = json,
						     .csv = csv};

	return sl__render(&renderer, f, how, out, err);
}
