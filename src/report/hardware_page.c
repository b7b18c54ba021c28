/* SPDX-License-Identifier: Apache-2.0 */
/* hardware_page.c - where a model could run: bounds, room, machines, money. */
#include "report/hardware_page.h"
#include "report/fact_text.h"
#include "report/phrase.h"
#include "report/unit.h"
#include "result/fact_json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/banned.h"

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
		sl__doc_cell(doc, SL__STYLE_DIM, "not given");
	else if (!fits)
		sl__doc_cell(doc, SL__STYLE_BAD, "needs %s",
			     sl__bytes_text(&t, needs));
	else
		sl__doc_cell(doc, fits > 0 ? SL__STYLE_GOOD : SL__STYLE_WARN,
			     "%s%s", fits > 0 ? "" : "at least ",
			     sl__percent_text(&t, needs / h->memory_bytes));
}

/* "f32", or "bf16, not f32": the machine does not have the model's type. */
static void
add_dtype(struct sl__doc *doc, const struct sl_hardware_row *row)
{
	if (!row->dtype)
		sl__doc_cell(doc, SL__STYLE_BAD, "no %s",
			     sl_dtype_text(row->dtype_model));
	else if (row->dtype != row->dtype_model)
		sl__doc_cell(doc, SL__STYLE_WARN, "%s, not %s",
			     sl_dtype_text(row->dtype),
			     sl_dtype_text(row->dtype_model));
	else
		sl__doc_cell(doc, SL__STYLE_DIM, "%s",
			     sl_dtype_text(row->dtype));
}

static void
add_bound_row(struct sl__doc *doc, const struct sl_hardware_row *row)
{
	struct sl__text t;

	sl__doc_cell(doc, SL__STYLE_PLAIN, "%s", row->hardware->id);
	add_dtype(doc, row);
	sl__doc_cell(doc, SL__STYLE_STRONG, "%s",
		     sl__time_text(&t, row->bound_s * 1e9));
	sl__doc_cell(doc, SL__STYLE_PLAIN, "%s",
		     sl__time_text(&t, row->floor_s * 1e9));
	sl__doc_cell(doc, SL__STYLE_PLAIN, "%s",
		     sl__percent_text(&t, row->compute_share));
	add_room(doc, row->hardware, row->needs_bytes, row->fits);
	add_money(doc, row->cost_per_million);
}

static void
add_bounds(struct sl__doc *doc, const struct sl_hardware_report *r)
{
	static const struct sl__column columns[] = {
		{"machine", 0, 0},        {"type", 0, 0},
		{"lower bound", 1, 0},    {"all fused", 1, 1},
		{"compute-bound", 1, 2},  {"memory used", 1, 0},
		{"cost/M samples", 1, 0},
	};

	sl__doc_table(doc, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < r->n_rows; i++)
		add_bound_row(doc, &r->rows[i]);
	if (r->n_unknown_nodes)
		sl__doc_text(
			doc, SL__STYLE_WARN,
			"The arithmetic of %zu node%s is not known and missing "
			"from these figures; their traffic is counted.",
			r->n_unknown_nodes, r->n_unknown_nodes == 1 ? "" : "s");
	sl__doc_text(doc, SL__STYLE_DIM,
		     "Lower bounds for batch %lld from vendors' figures, not "
		     "predictions. Each layer reads and writes memory once; "
		     "with 'all fused', the model as a whole does. TF32 or "
		     "Winograd may beat the bounds in f32.",
		     (long long)r->batch);
}

/* The layers that take longest on one machine. */
static void
add_longest(struct sl__doc *doc, const struct sl_hardware_row *row)
{
	enum { N_LONGEST = 3 };
	const struct sl_hardware_operation *longest[N_LONGEST] = {NULL};
	struct sl__text t, share;

	for (size_t i = 0; i < row->n_operations; i++) {
		const struct sl_hardware_operation *o = &row->operations[i];

		for (size_t k = 0; k < N_LONGEST; k++) {
			const struct sl_hardware_operation *other = longest[k];

			if (other && other->bound_s >= o->bound_s)
				continue;
			longest[k] = o;
			o = other;
			if (!o)
				break;
		}
	}
	for (size_t k = 0; k < N_LONGEST && longest[k]; k++) {
		if (!k)
			sl__doc_text(
				doc, SL__STYLE_PLAIN,
				"Slowest layers on %s: ", row->hardware->id);
		sl__doc_append(doc, SL__STYLE_PLAIN, "%s%s %s (%s, %s)",
			       k ? "; " : "", longest[k]->name,
			       sl__time_text(&t, longest[k]->bound_s * 1e9),
			       sl__percent_text(&share, longest[k]->bound_s /
								row->bound_s),
			       longest[k]->is_compute ? "compute" : "memory");
	}
}

enum { MAX_ROWS = 8, BEST_ROWS = 4 };

static int
compare_money(double a, double b)
{
	double x = isnan(a) ? (double)INFINITY : a;
	double y = isnan(b) ? (double)INFINITY : b;

	return (x > y) - (x < y);
}

/* Those that can first, then the cheapest, then the fewest. */
static int
compare_service(const void *a, const void *b)
{
	const struct sl_hardware_row *x =
		*(const struct sl_hardware_row *const *)a;
	const struct sl_hardware_row *y =
		*(const struct sl_hardware_row *const *)b;
	int order = !x->best_batch - !y->best_batch;

	if (!order)
		order = compare_money(x->cost_per_month, y->cost_per_month);
	if (!order)
		order = compare_money(x->best_per_million, y->best_per_million);
	if (!order)
		order = compare_money(x->n_machines, y->n_machines);
	return order ? order : compare_money(x->best_bound_s, y->best_bound_s);
}

static int
compare_training(const void *a, const void *b)
{
	const struct sl_hardware_row *x =
		*(const struct sl_hardware_row *const *)a;
	const struct sl_hardware_row *y =
		*(const struct sl_hardware_row *const *)b;
	int order = !x->train_fits - !y->train_fits;

	if (!order)
		order = compare_money(x->train_cost, y->train_cost);
	return order ? order : compare_money(x->train_hours, y->train_hours);
}

/* The rows to show, in order; *n of them: all, or on one screen the best. */
static const struct sl_hardware_row **
sorted_rows(struct sl__doc *doc, const struct sl_hardware_report *r,
	    int (*compare)(const void *, const void *), int verbose, size_t *n)
{
	const struct sl_hardware_row **rows =
		sl__arena_array(&doc->arena, r->n_rows, sizeof(*rows));

	*n = 0;
	doc->failed |= !rows;
	if (!rows)
		return NULL;
	for (size_t i = 0; i < r->n_rows; i++)
		rows[i] = &r->rows[i];
	qsort(rows, r->n_rows, sizeof(*rows), compare);
	*n = verbose || r->n_rows <= MAX_ROWS ? r->n_rows : BEST_ROWS;
	return rows;
}

static void
add_rest(struct sl__doc *doc, const struct sl_hardware_report *r, size_t n)
{
	if (n < r->n_rows)
		sl__doc_text(doc, SL__STYLE_DIM,
			     "The best %zu of %zu; -v shows all.", n,
			     r->n_rows);
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
	add_money(doc, r->rate_per_s > 0 ? row->cost_per_month
					 : row->best_per_million);
}

static void
add_question(struct sl__doc *doc, const struct sl_hardware_report *r)
{
	struct sl__text t;

	sl__doc_heading(doc, "Serving");
	if (r->rate_per_s > 0)
		sl__doc_append(doc, SL__STYLE_STRONG, ", %g samples/s",
			       r->rate_per_s);
	if (r->latency_s > 0)
		sl__doc_append(doc, SL__STYLE_STRONG, ", within %s",
			       sl__time_text(&t, r->latency_s * 1e9));
}

static void
add_service(struct sl__doc *doc, const struct sl_hardware_report *r,
	    int verbose)
{
	static const struct sl__column by_month[] = {
		{"machine", 0, 0}, {"batch", 1, 0},    {"lower bound", 1, 0},
		{"waiting", 1, 1}, {"machines", 1, 0}, {"cost/month", 1, 0},
	};
	static const struct sl__column by_sample[] = {
		{"machine", 0, 0}, {"batch", 1, 0},    {"lower bound", 1, 0},
		{"waiting", 1, 1}, {"machines", 1, 0}, {"cost/M samples", 1, 0},
	};
	size_t n;
	const struct sl_hardware_row **rows =
		sorted_rows(doc, r, compare_service, verbose, &n);

	add_question(doc, r);
	sl__doc_table(doc, r->rate_per_s > 0 ? by_month : by_sample, 6);
	for (size_t i = 0; i < n; i++)
		add_service_row(doc, r, rows[i]);
	add_rest(doc, r, n);
	if (r->cheapest)
		sl__doc_text(doc, SL__STYLE_GOOD,
			     "The cheapest machine that can meet this is %s.",
			     r->cheapest);
	else
		sl__doc_text(doc, SL__STYLE_WARN,
			     "No machine with a price can meet this.");
	sl__doc_text(doc, SL__STYLE_DIM,
		     "Machines and costs are lower bounds (%g hours per "
		     "month); a batch also waits for its last sample. Batch "
		     "sizes up to %lld were tried.",
		     r->hours_per_month, (long long)r->largest_batch);
}

static void
add_training(struct sl__doc *doc, const struct sl_hardware_report *r,
	     int verbose)
{
	static const struct sl__column columns[] = {
		{"machine", 0, 0}, {"type", 0, 0},        {"hours", 1, 0},
		{"cost", 1, 0},    {"memory used", 1, 0},
	};
	size_t n;
	const struct sl_hardware_row **rows =
		sorted_rows(doc, r, compare_training, verbose, &n);
	struct sl__text text;

	sl__doc_heading(doc, "Training, %s samples × %g epoch%s, %s",
			sl__count_text(&text, (uint64_t)r->n_samples),
			r->n_epochs, r->n_epochs > 1 ? "s" : "",
			sl_optimizer_text(r->optimizer));
	sl__doc_table(doc, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < n; i++) {
		const struct sl_hardware_row *row = rows[i];

		sl__doc_cell(doc, SL__STYLE_PLAIN, "%s", row->hardware->id);
		add_dtype(doc, row);
		if (isnan(row->train_hours))
			sl__doc_cell(doc, SL__STYLE_DIM, "-");
		else
			sl__doc_cell(doc, SL__STYLE_STRONG, "%.3g",
				     row->train_hours);
		add_money(doc, row->train_cost);
		add_room(doc, row->hardware, row->train_bytes, row->train_fits);
	}
	add_rest(doc, r, n);
	sl__doc_text(doc, SL__STYLE_DIM,
		     "Lower bounds: forward and backward arithmetic alone, at "
		     "the peak, in the type shown; activations are estimated.");
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
	for (size_t i = 0; i < r->n_rows && (verbose || r->n_rows == 1); i++)
		add_longest(doc, &r->rows[i]);
	if (r->crossing.kind)
		sl__doc_text(doc, SL__STYLE_PLAIN, "By these bounds %s",
			     sl__doc_fact_sentence(doc, &r->crossing));
	if (r->rate_per_s > 0 || r->latency_s > 0)
		add_service(doc, r, verbose);
	if (r->n_samples > 0)
		add_training(doc, r, verbose);
	if (verbose)
		add_sources(doc, r);
}
