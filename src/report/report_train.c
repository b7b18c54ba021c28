/* SPDX-License-Identifier: Apache-2.0 */
/* report_train.c - a model that was trained: how it went, what it is worth. */
#include "report/figures.h"
#include "report/inspect_page.h"
#include "report/render.h"
#include "report/unit.h"
#include "result/tables.h"
#include "sleuth/training_runs.h"

#include <math.h>

#include "base/banned.h"

enum { CURVE_ROWS = 10 };

static void
add_settings(struct sl__doc *doc, const struct sl_train_result *r)
{
	struct sl__text a, b;

	sl__doc_plain_pair(doc, "data", "%s, %s samples to train on", r->data,
			   sl__count_text(&a, r->n_train));
	if (r->n_validation)
		sl__doc_append_plain(doc, ", %s for validation",
				     sl__count_text(&a, r->n_validation));
	if (r->attribution)
		sl__doc_pair(doc, "source", SL__STYLE_DIM, "%s",
			     r->attribution);
	sl__doc_plain_pair(doc, "training",
			   "%s by %s, learning rate %g, %s schedule; %s "
			   "parameters",
			   sl_loss_text(r->loss),
			   sl_optimizer_text(r->optimizer), r->learning_rate,
			   sl_schedule_text(r->schedule),
			   sl__count_text(&a, r->parameters));
	sl__doc_plain_pair(doc, "steps", "%s of %s, batch %lld",
			   sl__count_text(&a, r->n_done),
			   sl__count_text(&b, r->n_steps), (long long)r->batch);
	if (r->n_micro_batches > 1)
		sl__doc_append_plain(doc, " x %llu micro-batches",
				     (unsigned long long)r->n_micro_batches);
	sl__doc_append_dim(doc, ", %llu epoch%s",
			   (unsigned long long)r->n_epochs,
			   r->n_epochs == 1 ? "" : "s");
	if (r->resumed_at)
		sl__doc_append_dim(doc, ", resumed at %s",
				   sl__count_text(&a, r->resumed_at));
	if (r->end == SL_TRAIN_STOPPED_EARLY)
		sl__doc_append_dim(doc,
				   "; stopped early, with the parameters of "
				   "step %s",
				   sl__count_text(&a, r->best_step));
	if (r->end == SL_TRAIN_INTERRUPTED)
		sl__doc_append(doc, SL__STYLE_WARN, "; interrupted");
}

static void
add_times(struct sl__doc *doc, const struct sl_train_result *r)
{
	static const struct sl__column columns[] = {
		{"phase", 0, 0}, {"time a step", 1, 0}, {"95 %", 0, 0}};
	struct sl__text a, b;

	sl__doc_plain_pair(doc, "time", "%s",
			   sl__time_text(&a, r->elapsed_s * 1e9));
	if (isfinite(r->samples_per_s))
		sl__doc_append_plain(doc, ", %ssamples/s",
				     sl__si_prefix_text(&a, r->samples_per_s));
	sl__doc_append_dim(doc, ", %d thread%s", r->n_threads,
			   r->n_threads == 1 ? "" : "s");
	if (isfinite(r->wait_share))
		sl__doc_append_dim(doc, ", %s of it waited for data",
				   sl__percent_text(&a, r->wait_share));
	if (!r->phases[0].ns.n)
		return;
	sl__doc_gap(doc);
	sl__doc_table(doc, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t k = 0; k < SL_TRAIN_PHASES; k++) {
		const struct sl_train_phase *p = &r->phases[k];

		sl__doc_plain_cell(doc, sl_phase_text(p->phase));
		sl__doc_plain_cell(doc, sl__time_value(&a, &p->ns, NULL));
		sl__doc_plain_cell(doc, sl__time_bounds_text(&b, &p->ns, NULL));
	}
}

static void
add_number(struct sl__doc *doc, double x)
{
	if (isfinite(x))
		sl__doc_cell(doc, SL__STYLE_PLAIN, "%.4g", x);
	else
		sl__doc_absent_cell(doc);
}

/* The loss of the validation split last measured at a step; NaN: none. */
static double
validation_at(const struct sl_train_result *r, uint64_t step)
{
	double loss = (double)NAN;

	for (size_t i = 0; i < r->n_points && r->validation[i].step <= step;
	     i++)
		loss = r->validation[i].loss;
	return loss;
}

static void
add_curve(struct sl__doc *doc, const struct sl_train_result *r, int verbose)
{
	static const struct sl__column columns[] = {{"step", 1, 0},
						    {"loss", 1, 0},
						    {"accuracy", 1, 0},
						    {"validation loss", 1, 1}};
	size_t n = verbose ? r->n_curve : CURVE_ROWS;
	struct sl__text a;

	if (!r->n_curve)
		return;
	n = n < r->n_curve ? n : r->n_curve;
	sl__doc_gap(doc);
	sl__doc_table(doc, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t k = 1; k <= n; k++) {
		const struct sl_train_point *p =
			&r->curve[k * r->n_curve / n - 1];

		sl__doc_plain_cell(doc, sl__count_text(&a, p->step));
		add_number(doc, p->loss);
		sl__doc_plain_cell(doc, sl__percent_text(&a, p->accuracy));
		add_number(doc, validation_at(r, p->step));
	}
}

static void
add_final(struct sl__doc *doc, const struct sl_train_result *r)
{
	const struct sl_split_score *e = &r->test;

	sl__doc_gap(doc);
	if (!e->accuracy.n) {
		sl__doc_text(doc, SL__STYLE_WARN, "Not evaluated: %s.",
			     r->unevaluated ? r->unevaluated : "not known");
		return;
	}
	sl__doc_text(doc, SL__STYLE_STRONG,
		     "Test accuracy %.2f %%, 95 %% interval [%.2f, %.2f]",
		     100 * e->accuracy.value, 100 * e->accuracy.lo,
		     100 * e->accuracy.hi);
	sl__doc_append_dim(doc, "  of %zu %s, loss %.4g", e->accuracy.n,
			   e->kind == SL_ACCURACY_EXACT   ? "whole sequences"
			   : e->kind == SL_ACCURACY_TOKEN ? "tokens"
							  : "samples",
			   e->loss.value);
}

static void
page(struct sl__doc *doc, const void *result,
     const struct sl_render_options *how)
{
	const struct sl_train_result *r = result;

	sl__doc_heading(doc, "%s, trained",
			sl__model_display_name(r->name, r->source));
	sl__doc_append_dim(doc, "  seed %llu", (unsigned long long)r->seed);
	add_settings(doc, r);
	add_times(doc, r);
	add_curve(doc, r, how->verbose);
	add_final(doc, r);
}

enum sl_status
sl_train_render(const struct sl_train_result *result,
		const struct sl_render_options *how, struct sl_buf *out,
		struct sl_error *err)
{
	static const struct sl__renderer renderer = {
		.kind = "a training run",
		.command = "train",
		.page = page,
		.views = sl__train_views,
		.table = &sl__table_train,
		.csv_rows = "training/curve",
		.csv_columns = "model=../../model/name,step,loss,accuracy",
	};

	return sl__render(&renderer, result, how, out, err);
}
