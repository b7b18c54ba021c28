/* SPDX-License-Identifier: Apache-2.0 */
/* hardware_page.c - where a model could run: bounds, room, machines, money. */
#include "hardware_page.h"
#include "unit.h"

#include <math.h>

#include "banned.h"

static void
add_money(struct sl__doc *doc, double dollars)
{
	if (isnan(dollars))
		sl__doc_cell(doc, SL__STYLE_DIM, "-");
	else if (dollars >= 100)
		sl__doc_cell(doc, SL__STYLE_PLAIN, "$%.0f", dollars);
	else
		sl__doc_cell(doc, SL__STYLE_PLAIN, "$%.3g", dollars);
}

static void
add_room(struct sl__doc *doc, const struct sl_hardware *h, double needs,
	 int fits)
{
	struct sl__text t;

	if (h->memory_bytes <= 0)
		sl__doc_cell(doc, SL__STYLE_DIM, "memory not given");
	else if (fits)
		sl__doc_cell(doc, SL__STYLE_GOOD, "%s",
			     sl__percent_text(&t, needs / h->memory_bytes));
	else
		sl__doc_cell(doc, SL__STYLE_BAD, "needs %s",
			     sl__bytes_text(&t, needs));
}

static void
add_bounds(struct sl__doc *doc, const struct sl_hardware_report *r)
{
	static const struct sl__column columns[] = {
		{"machine", 0, 0},       {"in", 0, 1},
		{"bound", 1, 0},         {"all fused", 1, 2},
		{"compute bound", 1, 3}, {"memory filled", 1, 0},
		{"per million", 1, 0},
	};
	struct sl__text t;

	sl__doc_table(doc, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < r->n_rows; i++) {
		const struct sl_hardware_row *row = &r->rows[i];

		sl__doc_cell(doc, SL__STYLE_PLAIN, "%s", row->hardware->id);
		sl__doc_cell(doc, SL__STYLE_DIM, "%s",
			     sl_dtype_text(row->dtype));
		sl__doc_cell(doc, SL__STYLE_STRONG, "%s",
			     sl__time_text(&t, row->bound_s * 1e9));
		sl__doc_cell(doc, SL__STYLE_PLAIN, "%s",
			     sl__time_text(&t, row->floor_s * 1e9));
		sl__doc_cell(doc, SL__STYLE_PLAIN, "%s",
			     sl__percent_text(&t, row->compute_share));
		add_room(doc, row->hardware, row->needs_bytes, row->fits);
		add_money(doc, row->cost_per_million);
	}
	sl__doc_text(doc, SL__STYLE_DIM,
		     "Lower bounds for batch %lld from the makers' figures, "
		     "not predictions: 'bound' lets each layer read and write "
		     "memory once, 'all fused' the model as a whole; per "
		     "million samples at the bound.",
		     (long long)r->batch);
}

static void
add_service_row(struct sl__doc *doc, const struct sl_hardware_report *r,
		const struct sl_hardware_row *row)
{
	struct sl__text t;

	sl__doc_cell(doc, SL__STYLE_PLAIN, "%s", row->hardware->id);
	if (!row->best_batch) {
		sl__doc_cell(doc, SL__STYLE_BAD, "cannot");
		for (int i = 0; i < 4; i++)
			sl__doc_cell(doc, SL__STYLE_DIM, "-");
		return;
	}
	sl__doc_cell(doc, SL__STYLE_PLAIN, "%lld", (long long)row->best_batch);
	sl__doc_cell(doc, SL__STYLE_PLAIN, "%s",
		     sl__time_text(&t, row->best_bound_s * 1e9));
	if (row->best_wait_s > 0)
		sl__doc_cell(doc, SL__STYLE_PLAIN, "%s",
			     sl__time_text(&t, row->best_wait_s * 1e9));
	else
		sl__doc_cell(doc, SL__STYLE_DIM, "-");
	if (r->rate_per_s > 0)
		sl__doc_cell(doc, SL__STYLE_STRONG, "%.0f", row->n_machines);
	else
		sl__doc_cell(doc, SL__STYLE_DIM, "-");
	add_money(doc, row->cost_per_month);
}

static void
add_service(struct sl__doc *doc, const struct sl_hardware_report *r)
{
	static const struct sl__column columns[] = {
		{"machine", 0, 0}, {"batch", 1, 0},    {"bound", 1, 0},
		{"waiting", 1, 1}, {"machines", 1, 0}, {"per month", 1, 0},
	};
	struct sl__text t;

	sl__doc_heading(doc, "Serving");
	if (r->rate_per_s > 0)
		sl__doc_pair(doc, "rate", SL__STYLE_PLAIN, "%g samples/s",
			     r->rate_per_s);
	if (r->latency_s > 0)
		sl__doc_pair(doc, "latency", SL__STYLE_PLAIN, "at most %s",
			     sl__time_text(&t, r->latency_s * 1e9));
	sl__doc_table(doc, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < r->n_rows; i++)
		add_service_row(doc, r, &r->rows[i]);
	if (r->cheapest)
		sl__doc_text(doc, SL__STYLE_GOOD,
			     "The cheapest that could hold it is %s.",
			     r->cheapest);
	else if (r->rate_per_s > 0)
		sl__doc_text(doc, SL__STYLE_WARN,
			     "None with a price could hold it.");
	sl__doc_text(doc, SL__STYLE_DIM,
		     "At least so many machines, and at least so dear (%g "
		     "hours a month); a batch also waits for its last sample.",
		     r->hours_per_month);
}

static void
add_training(struct sl__doc *doc, const struct sl_hardware_report *r)
{
	static const struct sl__column columns[] = {
		{"machine", 0, 0},
		{"hours", 1, 0},
		{"cost", 1, 0},
		{"memory filled", 1, 0},
	};

	sl__doc_heading(doc, "Training, %g samples × %g epoch%s, %s",
			r->n_samples, r->n_epochs, r->n_epochs > 1 ? "s" : "",
			sl_optimizer_text(r->optimizer));
	sl__doc_table(doc, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < r->n_rows; i++) {
		const struct sl_hardware_row *row = &r->rows[i];

		sl__doc_cell(doc, SL__STYLE_PLAIN, "%s", row->hardware->id);
		sl__doc_cell(doc, SL__STYLE_STRONG, "%.3g", row->train_hours);
		add_money(doc, row->train_cost);
		add_room(doc, row->hardware, row->train_bytes, row->train_fits);
	}
	sl__doc_text(doc, SL__STYLE_DIM,
		     "At least: forward and backward arithmetic alone, at the "
		     "peak, in the model's type; activations estimated.");
}

static void
add_sources(struct sl__doc *doc, const struct sl_hardware_report *r)
{
	sl__doc_heading(doc, "Sources");
	for (size_t i = 0; i < r->n_rows; i++) {
		const struct sl_hardware *h = r->rows[i].hardware;

		sl__doc_pair(doc, h->id, SL__STYLE_DIM, "%s. %s", h->name,
			     h->source);
	}
}

void
sl__hardware_page(struct sl__doc *doc, const char *name,
		  const struct sl_hardware_report *r, int verbose)
{
	sl__doc_heading(doc, "Where %s could run", name);
	add_bounds(doc, r);
	if (r->crossing)
		sl__doc_text(doc, SL__STYLE_PLAIN, "By these bounds %s",
			     r->crossing);
	if (r->rate_per_s > 0 || r->latency_s > 0)
		add_service(doc, r);
	if (r->n_samples > 0)
		add_training(doc, r);
	if (verbose)
		add_sources(doc, r);
}

/* ------------------------------------------------------------------- JSON */

static void
write_money(struct sl__json *json, const char *key, double dollars)
{
	if (isnan(dollars))
		sl__json_absent(json, key, "no price is given");
	else
		sl__json_number(json, key, dollars);
}

static void
write_service(struct sl__json *json, const struct sl_hardware_report *r,
	      const struct sl_hardware_row *row)
{
	sl__json_object(json, "serving");
	sl__json_boolean(json, "possible", row->best_batch > 0);
	if (row->best_batch) {
		sl__json_integer(json, "batch", (uint64_t)row->best_batch);
		sl__json_number(json, "bound_ms", row->best_bound_s * 1e3);
		sl__json_number(json, "wait_ms", row->best_wait_s * 1e3);
		if (r->rate_per_s > 0) {
			sl__json_number(json, "machines", row->n_machines);
			write_money(json, "cost_per_month",
				    row->cost_per_month);
		}
	}
	sl__json_end_object(json);
}

static void
write_training(struct sl__json *json, const struct sl_hardware_row *row)
{
	sl__json_object(json, "training");
	sl__json_number(json, "hours", row->train_hours);
	write_money(json, "cost", row->train_cost);
	sl__json_number(json, "memory_bytes", row->train_bytes);
	sl__json_boolean(json, "fits", row->train_fits);
	sl__json_end_object(json);
}

static void
write_row(struct sl__json *json, const struct sl_hardware_report *r,
	  const struct sl_hardware_row *row)
{
	const struct sl_hardware *h = row->hardware;

	sl__json_object(json, NULL);
	sl__json_text(json, "id", h->id);
	sl__json_text(json, "name", h->name);
	sl__json_text(json, "kind", h->kind);
	sl__json_text(json, "dtype", sl_dtype_text(row->dtype));
	sl__json_number(json, "peak_gflops_per_s",
			h->peak_ops_per_s[row->dtype] / 1e9);
	sl__json_number(json, "bandwidth_gbytes_per_s",
			h->bandwidth_bytes_per_s / 1e9);
	if (h->memory_bytes > 0)
		sl__json_number(json, "memory_bytes", h->memory_bytes);
	else
		sl__json_absent(json, "memory_bytes", "not given");
	sl__json_number(json, "bound_ms", row->bound_s * 1e3);
	sl__json_number(json, "floor_ms", row->floor_s * 1e3);
	sl__json_number(json, "compute_share", row->compute_share);
	sl__json_number(json, "needs_bytes", row->needs_bytes);
	sl__json_boolean(json, "fits", row->fits);
	write_money(json, "price_per_hour", h->price_per_hour);
	write_money(json, "cost_per_million", row->cost_per_million);
	if (r->rate_per_s > 0 || r->latency_s > 0)
		write_service(json, r, row);
	if (r->n_samples > 0)
		write_training(json, row);
	sl__json_text(json, "source", h->source);
	sl__json_end_object(json);
}

void
sl__hardware_json(struct sl__json *json, const struct sl_hardware_report *r)
{
	sl__json_array(json, "hardware");
	for (size_t i = 0; i < r->n_rows; i++)
		write_row(json, r, &r->rows[i]);
	sl__json_end_array(json);
	if (r->rate_per_s > 0) {
		if (r->cheapest)
			sl__json_text(json, "cheapest", r->cheapest);
		else
			sl__json_absent(json, "cheapest",
					"none with a price holds the limit");
	}
	if (r->crossing)
		sl__json_text(json, "crossing", r->crossing);
}
