/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_machine.c - what a machine is and can do, in any format.
 */
#include "report/figures.h"
#include "report/machine_page.h"
#include "report/render.h"
#include "report/unit.h"
#include "result/tables.h"

#include <math.h>
#include <stdio.h>

#include "base/banned.h"

static void
add_roofline(struct sl__views *v, const struct sl_machine *m)
{
	struct sl__roofline roofline;
	char title[256];

	snprintf(title, sizeof(title), "%s, %zu thread%s",
		 m->model.value ? m->model.value : "this machine",
		 m->max_threads, m->max_threads == 1 ? "" : "s");
	if (!sl__roofline_of_machine(&roofline, m, m->max_threads))
		return;
	sl__views_open(v, "roofline", "Roofline");
	sl__figure_roofline(sl__views_figure(v, "roofline", title,
					     SL__FIGURE_WIDTH,
					     SL__ROOFLINE_HEIGHT),
			    &roofline, NULL, 0);
	sl__views_figure_end(v,
			     "The most that %zu thread%s can do: arithmetic by "
			     "type, and bytes from each memory.",
			     m->max_threads, m->max_threads == 1 ? "" : "s");
}

/* One way to walk memory over the size of a working set. */
static void
add_ladder(struct sl__views *v, const struct sl_machine *m,
	   enum sl_access access, const char *name, const char *title)
{
	int is_chase = access == SL_ACCESS_CHASE;
	struct sl__axis x = {.lo = INFINITY,
			     .from = 104,
			     .to = 830,
			     .is_log = 1,
			     .unit = "B",
			     .title = "working set of a thread"};
	struct sl__axis y = {.lo = INFINITY,
			     .from = 300,
			     .to = 20,
			     .is_log = 1,
			     .unit = is_chase ? "s" : "B/s",
			     .title = is_chase ? "time of a load"
					       : "bandwidth"};
	size_t n_threads = is_chase ? 1 : m->max_threads;
	double scale = is_chase ? 1e-9 : 1;
	struct sl__svg *s;
	struct sl__text a, b;

	for (size_t i = 0; i < m->n_points; i++) {
		const struct sl_memory_point *p = &m->points[i];

		if (p->access != access || p->n_threads != n_threads ||
		    !(p->value > 0))
			continue;
		x.lo = fmin(x.lo, (double)p->size_bytes);
		x.hi = fmax(x.hi, (double)p->size_bytes);
		y.lo = fmin(y.lo, scale * p->value);
		y.hi = fmax(y.hi, scale * p->value);
	}
	if (!(x.hi > x.lo))
		return;
	sl__axis_round(&y);
	s = sl__views_figure(v, name, title, SL__FIGURE_WIDTH, 352);
	sl__svg_axes(s, &x, &y);
	for (size_t i = 0; i < m->n_points; i++) {
		const struct sl_memory_point *p = &m->points[i];

		if (p->access != access || p->n_threads != n_threads ||
		    !(p->value > 0))
			continue;
		sl__svg_open(s, "circle", "mark s0", "cx cy r",
			     sl__axis_at(&x, (double)p->size_bytes),
			     sl__axis_at(&y, scale * p->value), 3.5);
		sl__svg_close_with_tip(
			s, "%s: %s%s",
			sl__bytes_text(&a, (double)p->size_bytes),
			is_chase ? sl__time_text(&b, p->value)
				 : sl__si_prefix_text(&b, p->value),
			is_chase ? "" : "B/s");
	}
	sl__views_figure_end(v,
			     "With %zu thread%s. Each step is the end of a "
			     "cache.",
			     n_threads, n_threads == 1 ? "" : "s");
}

static void
views(struct sl__views *v, const void *result)
{
	const struct sl_machine *m = result;

	sl__views_title(v, m->model.value ? m->model.value : "This machine",
			"Machine", "measured with up to %zu thread%s",
			m->max_threads, m->max_threads == 1 ? "" : "s");
	add_roofline(v, m);
	if (!m->n_points)
		return;
	sl__views_open(v, "memory", "Memory");
	add_ladder(v, m, SL_ACCESS_CHASE, "latency-ladder",
		   "Latency over the size of a working set");
	add_ladder(v, m, SL_ACCESS_LOAD, "bandwidth-ladder",
		   "Bandwidth over the size of a working set");
}

enum sl_status
sl_machine_render(const struct sl_machine *m,
		  const struct sl_render_options *how, struct sl_buf *out,
		  struct sl_error *err)
{
	static const struct sl__renderer renderer = {
		.kind = "a machine",
		.command = "machine",
		.page = sl__machine_page,
		.views = views,
		.table = &sl__table_machine_document,
		.csv = sl__machine_csv,
	};

	return sl__render(&renderer, m, how, out, err);
}
