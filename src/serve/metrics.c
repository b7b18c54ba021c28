/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metrics.c - the newest time of each series, in Prometheus' text format.
 *
 * The format (version 0.0.4) has one line per sample, in which no name and set
 * of labels stands twice; in the value of a label, a backslash, a quote and a
 * line break are spelled out.
 */
#include "base/buf.h"
#include "base/map.h"
#include "base/number.h"
#include "base/status.h"
#include "serve/site.h"

#include <math.h>

#include "base/banned.h"

static const double S_PER_NS = 1e-9;

/* A series, and its newest point. */
struct last {
	const struct sl_stored_run *run;
	const struct sl_stored_point *point;
};

static double
median_s(const struct last *last)
{
	return S_PER_NS * last->point->time_ns.value;
}

static double
low_s(const struct last *last)
{
	return S_PER_NS * last->point->time_ns.lo;
}

static double
high_s(const struct last *last)
{
	return S_PER_NS * last->point->time_ns.hi;
}

static double
saved_s(const struct last *last)
{
	return last->run->saved_at_s;
}

static const struct {
	const char *name, *help;
	double (*value)(const struct last *last); /* NaN: there is none */
} gauges[] = {
	{"sleuth_median_seconds", "Median time, of the newest result.",
	 median_s},
	{"sleuth_median_low_seconds",
	 "Lower end of the median's 95 % interval.", low_s},
	{"sleuth_median_high_seconds",
	 "Upper end of the median's 95 % interval.", high_s},
	{"sleuth_saved_timestamp_seconds",
	 "When the newest result was saved, since 1970.", saved_s},
};

static void
add_label(struct sl_buf *out, const char *name, const char *value)
{
	sl__buf_format(out, "%s=\"", name);
	for (; value && *value; value++) {
		if (*value == '\n')
			sl__buf_text(out, "\\n");
		else
			sl__buf_format(out, "%s%c",
				       *value == '\\' || *value == '"' ? "\\"
								       : "",
				       *value);
	}
	sl__buf_text(out, "\"");
}

static void
write_labels(struct sl_buf *out, const struct last *last)
{
	add_label(out, "name", last->point->name);
	sl__buf_text(out, ",");
	add_label(out, "settings", last->point->settings);
	sl__buf_text(out, ",");
	add_label(out, "machine", last->run->machine);
}

/* The newest point of each series among 'runs'; SIZE_MAX: out of memory. */
static size_t
find_last(struct last *list, const struct sl_stored_runs *runs,
	  struct sl__arena *arena)
{
	struct sl_buf labels = {0};
	struct sl__map seen;
	size_t n = 0;

	sl__map_init(&seen, arena);
	for (size_t i = runs->n; i-- > 0;) {
		for (size_t k = runs->list[i].n_points; k-- > 0;) {
			list[n].run = &runs->list[i];
			list[n].point = &runs->list[i].points[k];
			if (!(list[n].point->time_ns.value > 0))
				continue;
			sl_buf_release(&labels);
			write_labels(&labels, &list[n]);
			if (sl__buf_status(&labels, NULL))
				return SIZE_MAX;
			if (sl__map_find(&seen, labels.data))
				continue;
			if (sl__map_put(&seen, labels.data, n++, NULL)) {
				sl_buf_release(&labels);
				return SIZE_MAX;
			}
		}
	}
	sl_buf_release(&labels);
	return n;
}

static void
write_gauges(struct sl_buf *body, const struct last *list, size_t n)
{
	char text[SL__NUMBER_BYTES];

	for (size_t g = 0; g < sizeof(gauges) / sizeof(gauges[0]); g++) {
		sl__buf_format(body, "# HELP %s %s\n# TYPE %s gauge\n",
			       gauges[g].name, gauges[g].help, gauges[g].name);
		for (size_t i = 0; i < n; i++) {
			double value = gauges[g].value(&list[i]);

			if (!isfinite(value))
				continue;
			sl__buf_format(body, "%s{", gauges[g].name);
			write_labels(body, &list[i]);
			sl__buf_format(body, "} %s\n",
				       sl__number_text(text, value));
		}
	}
}

enum sl_status
sl__write_metrics(struct sl_buf *body, const struct sl__visit *visit,
		  struct sl_error *err)
{
	const struct sl_store_query query = {.struct_size = sizeof(query),
					     .is_latest = 1};
	struct sl_stored_runs *runs;
	enum sl_status rc = sl_store_find(&runs, visit->store, &query, err);
	struct last *list;
	size_t n = 0;

	if (rc)
		return rc;
	/* The last of the list is where a point is tried. */
	for (size_t i = 0; i < runs->n; i++)
		n += runs->list[i].n_points;
	list = sl__arena_array(visit->arena, n + 1, sizeof(*list));
	n = list ? find_last(list, runs, visit->arena) : SIZE_MAX;
	if (n == SIZE_MAX)
		rc = sl__fail_nomem(err);
	else
		write_gauges(body, list, n);
	sl_stored_runs_free(runs);
	return rc;
}
