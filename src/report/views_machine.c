/* SPDX-License-Identifier: Apache-2.0 */
/* views_machine.c - the views of a machine: its roofs, and its memories. */
#include "report/figures.h"
#include "report/unit.h"
#include "sleuth/machines.h"

#include <math.h>
#include <stdio.h>

#include "base/banned.h"

static const double TOP = 30, BOTTOM = 300;

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

/* Where a point of a ladder lies; 0: it is of another one. */
static int
place_point(const struct sl_machine *m, size_t i, enum sl_access access,
	    double at[2])
{
	const struct sl_memory_point *p = &m->points[i];
	int is_chase = access == SL_ACCESS_CHASE;

	at[0] = (double)p->size_bytes;
	at[1] = (is_chase ? 1e-9 : 1) * p->value;
	return p->access == access && p->value > 0 &&
	       p->n_threads == (is_chase ? 1 : m->max_threads);
}

static void
add_line(struct sl__svg *s, const struct sl_machine *m,
	 const struct sl__axis *x, const struct sl__axis *y,
	 enum sl_access access)
{
	double at[2];

	sl__svg_path(s, "line k0");
	for (size_t i = 0; i < m->n_points; i++) {
		if (place_point(m, i, access, at))
			sl__svg_path_to(s, sl__axis_at(x, at[0]),
					sl__axis_at(y, at[1]));
	}
	sl__svg_path_done(s);
	sl__svg_close(s);
}

/* Where the caches end that the system names. */
static void
add_caches(struct sl__svg *s, const struct sl_machine *m,
	   const struct sl__axis *x)
{
	struct sl__text t;

	for (size_t i = 0; i < m->n_caches; i++) {
		const struct sl_cache *c = &m->caches[i];
		double size = (double)c->size_bytes;
		double at;

		if (c->kind == SL_CACHE_INSTRUCTION || !(size > x->lo) ||
		    !(size < x->hi))
			continue;
		at = sl__axis_at(x, size);
		sl__svg_open(s, "line", "line k7 dash", "x1 y1 x2 y2", at, TOP,
			     at, BOTTOM);
		sl__svg_close_with_tip(s, "L%u: %s", c->level,
				       sl__bytes_text(&t, size));
		sl__svg_label(s, "note middle", at, TOP - 8, "L%u %s", c->level,
			      sl__bytes_text(&t, size));
	}
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
			     .from = BOTTOM,
			     .to = TOP,
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
	add_caches(s, m, &x);
	add_line(s, m, &x, &y, access);
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
			     "cache; dashed: where the system says that one "
			     "ends.",
			     n_threads, n_threads == 1 ? "" : "s");
}

/* The fastest arithmetic in f32, what DRAM gives, which the roofs have too, and
 * what it takes to answer. */
static void
add_tiles(struct sl__views *v, const struct sl_machine *m)
{
	const struct sl_peak *peak =
		sl_machine_find_peak(m, SL_DTYPE_F32, m->max_threads);
	const struct sl_memory_level *dram =
		sl_machine_find_bandwidth(m, SL_LEVEL_DRAM, m->max_threads);
	const struct sl_memory_level *chase =
		sl_machine_find_level(m, SL_LEVEL_DRAM, SL_ACCESS_CHASE, 1);
	char value[80];
	struct sl__text t;

	sl__views_open(v, "summary", "Summary");
	if (peak && !peak->absent) {
		snprintf(value, sizeof(value), "%sFLOP/s",
			 sl__si_prefix_text(&t, peak->ops_per_s.value));
		sl__views_tile(v, "Arithmetic, f32",
			       "roofline.peak_gflops_per_s", value,
			       "%s, %zu thread%s", peak->isa, m->max_threads,
			       m->max_threads == 1 ? "" : "s");
	}
	if (dram && dram->value.value > 0) {
		snprintf(value, sizeof(value), "%sB/s",
			 sl__si_prefix_text(&t, dram->value.value));
		sl__views_tile(v, "Memory, bandwidth",
			       "roofline.bandwidth_gbytes_per_s", value,
			       "DRAM, %s, the fastest access; %zu thread%s",
			       sl_access_text(dram->access), m->max_threads,
			       m->max_threads == 1 ? "" : "s");
	}
	if (chase && chase->value.value > 0)
		sl__views_tile(v, "Memory, latency", "",
			       sl__time_text(&t, chase->value.value),
			       "a load from DRAM, pages in random order");
}

void
sl__machine_views(struct sl__views *v, const void *result)
{
	const struct sl_machine *m = result;

	sl__views_title(v, m->model.value ? m->model.value : "This machine",
			"Machine", "measured with up to %zu thread%s",
			m->max_threads, m->max_threads == 1 ? "" : "s");
	add_tiles(v, m);
	add_roofline(v, m);
	if (!m->n_points)
		return;
	sl__views_open(v, "memory", "Cache ladder");
	add_ladder(v, m, SL_ACCESS_CHASE, "latency-ladder",
		   "Latency over the size of a working set");
	add_ladder(v, m, SL_ACCESS_LOAD, "bandwidth-ladder",
		   "Bandwidth over the size of a working set");
}
