/* SPDX-License-Identifier: Apache-2.0 */
/* report_fit.c - the largest size that fits, and what fills the memory. */
#include "buf.h"
#include "render.h"
#include "result_csv.h"
#include "unit.h"

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
add_answer(struct sl__doc *doc, const struct sl_fit *f)
{
	struct sl__text memory, total;

	sl__bytes_text(&memory, f->memory_bytes);
	sl__bytes_text(&total, f->total_bytes);
	if (!f->largest)
		sl__doc_text(doc, SL__STYLE_BAD,
			     "Does not fit: %s 1 needs %s, there are %s.",
			     f->axis, total.s, memory.s);
	else if (f->is_unbounded)
		sl__doc_text(doc, SL__STYLE_GOOD,
			     "Fits at every %s tried, up to %lld: %s of %s.",
			     f->axis, (long long)f->largest, total.s, memory.s);
	else
		sl__doc_text(doc, SL__STYLE_STRONG,
			     "The largest %s that fits in %s is %lld.", f->axis,
			     memory.s, (long long)f->largest);
}

static void
page(struct sl__doc *doc, const void *result,
     const struct sl_render_options *how)
{
	const struct sl_fit *f = result;
	struct sl__text size;

	(void)how;
	sl__doc_heading(doc, "%s, %s%s", f->name,
			f->optimizer ? "training with " : "inference",
			f->optimizer ? sl_optimizer_text(f->optimizer) : "");
	add_answer(doc, f);
	sl__doc_gap(doc);
	add_share(doc, "parameters", f, f->parameters_bytes);
	add_share(doc, f->optimizer ? "activations" : "live set", f,
		  f->activations_bytes);
	if (f->optimizer) {
		add_share(doc, "gradients", f, f->gradients_bytes);
		add_share(doc, "optimizer", f, f->optimizer_bytes);
	}
	add_share(doc, "total", f, f->total_bytes);
	if (f->largest && !f->is_unbounded)
		sl__doc_pair(doc, "one more", SL__STYLE_DIM, "%s",
			     sl__bytes_text(&size, f->next_bytes));
	sl__doc_gap(doc);
	sl__doc_text(doc, SL__STYLE_DIM,
		     "Predicted from the graph%s; what an engine needs for "
		     "itself comes on top.",
		     f->optimizer ? ", activations estimated" : "");
}

static void
json(struct sl__json *json, const void *result)
{
	const struct sl_fit *f = result;

	sl__json_object(json, "model");
	sl__json_text(json, "name", f->name);
	sl__json_end_object(json);
	sl__json_object(json, "fit");
	sl__json_text(json, "axis", f->axis);
	sl__json_integer(json, "largest", (uint64_t)f->largest);
	sl__json_boolean(json, "fits", f->largest > 0);
	sl__json_boolean(json, "unbounded", f->is_unbounded);
	sl__json_text(json, "optimizer", sl_optimizer_text(f->optimizer));
	sl__json_number(json, "memory_bytes", f->memory_bytes);
	sl__json_number(json, "parameters_bytes", f->parameters_bytes);
	sl__json_number(json, "activations_bytes", f->activations_bytes);
	sl__json_number(json, "gradients_bytes", f->gradients_bytes);
	sl__json_number(json, "optimizer_bytes", f->optimizer_bytes);
	sl__json_number(json, "total_bytes", f->total_bytes);
	if (f->is_unbounded)
		sl__json_absent(json, "next_bytes", "every size fits");
	else
		sl__json_number(json, "next_bytes", f->next_bytes);
	sl__json_text(json, "basis", "predicted");
	sl__json_absent(json, "verified", "nothing was run");
	sl__json_end_object(json);
}

static void
csv(struct sl_buf *out, const void *result)
{
	const struct sl_fit *f = result;

	sl__buf_text(out, "model,axis,largest,optimizer,memory_bytes,"
			  "parameters_bytes,activations_bytes,gradients_bytes,"
			  "optimizer_bytes,total_bytes\n");
	sl__csv_text(out, f->name);
	sl__csv_text(out, f->axis);
	sl__csv_number(out, (double)f->largest);
	sl__csv_text(out, sl_optimizer_text(f->optimizer));
	sl__csv_number(out, f->memory_bytes);
	sl__csv_number(out, f->parameters_bytes);
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
