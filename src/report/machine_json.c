/* SPDX-License-Identifier: Apache-2.0 */
/*
 * machine_json.c - a machine as JSON (docs/schema.md) and as CSV.
 */
#include "base/buf.h"
#include "base/json.h"
#include "report/machine_page.h"
#include "report/result_csv.h"
#include "report/roofline.h"
#include "report/section.h"

#include <math.h>
#include <time.h>

#include "base/banned.h"

static void
add_fact(struct sl__json *json, const char *key,
	 const struct sl_text_reading *fact)
{
	if (fact->value)
		sl__json_text(json, key, fact->value);
	else
		sl__json_absent(json, key,
				fact->absent ? fact->absent : "not known");
}

/* The value under 'key', and ci95 and n beside it. */
static void
add_estimate(struct sl__json *json, const char *key,
	     const struct sl_estimate *e, double unit)
{
	sl__json_number(json, key, e->value / unit);
	sl__section_bounds(json, "ci95", e, unit);
	sl__json_integer(json, "n", e->n);
}

static void
add_caches(struct sl__json *json, const struct sl_machine *m)
{
	sl__json_array(json, "caches");
	for (size_t i = 0; i < m->n_caches; i++) {
		const struct sl_cache *cache = &m->caches[i];

		sl__json_object(json, NULL);
		sl__json_integer(json, "level", cache->level);
		sl__json_text(json, "kind", cache->kind);
		sl__json_integer(json, "size_bytes", cache->size_bytes);
		if (cache->line_bytes)
			sl__json_integer(json, "line_bytes", cache->line_bytes);
		else
			sl__json_absent(json, "line_bytes",
					"not visible to hwloc");
		sl__json_integer(json, "count", cache->n);
		sl__json_integer(json, "shared_by", cache->n_sharing);
		sl__json_end_object(json);
	}
	sl__json_end_array(json);
}

static void
add_counters(struct sl__json *json, const struct sl_machine *m)
{
	sl__json_array(json, "counters");
	for (size_t i = 0; i < m->n_counters; i++) {
		const struct sl_counter *counter = &m->counters[i];

		sl__json_object(json, NULL);
		sl__json_text(json, "name", counter->name);
		sl__json_boolean(json, "available", !counter->absent);
		if (counter->absent)
			sl__json_text(json, "reason", counter->absent);
		sl__json_end_object(json);
	}
	sl__json_end_array(json);
}

static void
add_caps(struct sl__json *json, const struct sl_machine *m)
{
	sl__json_array(json, "capped");
	for (size_t i = 0; i < m->n_caps; i++) {
		const struct sl_isa_cap *cap = &m->caps[i];

		sl__json_object(json, NULL);
		sl__json_text(json, "isa", cap->isa);
		sl__json_text(json, "instead", cap->instead);
		sl__json_text(json, "cause", sl_isa_cause_text(cap->cause));
		sl__json_end_object(json);
	}
	sl__json_end_array(json);
}

static void
add_identity(struct sl__json *json, const struct sl_machine *m)
{
	add_fact(json, "model", &m->model);
	add_fact(json, "architecture", &m->architecture);
	add_fact(json, "kernel", &m->kernel);
	add_fact(json, "microcode", &m->microcode);
	sl__json_reading(json, "sockets", m->n_sockets);
	sl__json_reading(json, "cores", m->n_cores);
	sl__json_reading(json, "hardware_threads", m->n_hardware_threads);
	sl__json_reading(json, "numa_nodes", m->n_numa_nodes);
	sl__json_integer(json, "cpus_allowed", m->n_cpus_allowed);
	sl__json_reading(json, "memory_bytes", m->memory_bytes);
	add_caches(json, m);
	sl__json_array(json, "isa");
	for (size_t i = 0; i < m->n_isa; i++)
		sl__json_text(json, NULL, m->isa[i]);
	sl__json_end_array(json);
	add_caps(json, m);
	add_fact(json, "governor", &m->governor);
	add_fact(json, "turbo", &m->turbo);
	add_fact(json, "smt", &m->smt);
	add_fact(json, "huge_pages", &m->huge_pages);
	add_fact(json, "hypervisor", &m->hypervisor);
	add_fact(json, "energy", &m->energy);
	add_counters(json, m);
	sl__json_text(json, "fingerprint", m->fingerprint);
}

static void
add_peaks(struct sl__json *json, const struct sl_machine *m)
{
	sl__json_array(json, "peaks");
	for (size_t i = 0; i < m->n_peaks; i++) {
		const struct sl_peak *peak = &m->peaks[i];

		sl__json_object(json, NULL);
		sl__json_text(json, "dtype", sl_dtype_text(peak->dtype));
		sl__json_text(json, "isa", peak->isa);
		sl__json_integer(json, "bits", peak->n_bits);
		if (peak->absent) {
			sl__json_absent(json, "gflops_per_s", peak->absent);
		} else {
			sl__json_integer(json, "threads", peak->n_threads);
			add_estimate(json, "gflops_per_s", &peak->ops_per_s,
				     1e9);
		}
		sl__json_end_object(json);
	}
	sl__json_end_array(json);
}

static void
add_levels(struct sl__json *json, const struct sl_machine *m)
{
	sl__json_array(json, "memory");
	for (size_t i = 0; i < m->n_levels; i++) {
		const struct sl_memory_level *l = &m->levels[i];

		sl__json_object(json, NULL);
		sl__json_text(json, "level", sl_level_text(l->level));
		sl__json_text(json, "access", sl_access_text(l->access));
		sl__json_integer(json, "threads", l->n_threads);
		sl__json_integer(json, "from_bytes", l->from_bytes);
		sl__json_integer(json, "to_bytes", l->to_bytes);
		if (l->access == SL_ACCESS_CHASE) {
			add_estimate(json, "latency_ns", &l->value, 1);
		} else {
			add_estimate(json, "gbytes_per_s", &l->value, 1e9);
			sl__json_number(json, "traffic_per_byte",
					l->traffic_per_byte);
		}
		sl__json_end_object(json);
	}
	sl__json_end_array(json);
}

static void
add_points(struct sl__json *json, const struct sl_machine *m)
{
	sl__json_array(json, "curve");
	for (size_t i = 0; i < m->n_points; i++) {
		const struct sl_memory_point *p = &m->points[i];
		int is_chase = p->access == SL_ACCESS_CHASE;

		sl__json_object(json, NULL);
		sl__json_text(json, "access", sl_access_text(p->access));
		sl__json_integer(json, "threads", p->n_threads);
		sl__json_integer(json, "size_bytes", p->size_bytes);
		sl__json_number(json, is_chase ? "latency_ns" : "gbytes_per_s",
				is_chase ? p->value : p->value / 1e9);
		sl__json_end_object(json);
	}
	sl__json_end_array(json);
}

/* ISO 8601 in UTC. */
static void
add_date(struct sl__json *json, const char *key, double since_1970_s)
{
	/* To the year 5138; NaN has no conversion. */
	int is_date = since_1970_s > 0 && since_1970_s < 1e11;
	time_t when = is_date ? (time_t)since_1970_s : 0;
	char text[32];
	struct tm tm;

	if (is_date && gmtime_r(&when, &tm) &&
	    strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm))
		sl__json_text(json, key, text);
	else
		sl__json_absent(json, key, "not measured");
}

static void
add_ceilings(struct sl__json *json, const struct sl_machine *m)
{
	sl__json_object(json, "ceilings");
	sl__json_text(json, "statistic", "p90 of short probes (latency: p10)");
	sl__json_integer(json, "threads", m->max_threads);
	add_peaks(json, m);
	add_levels(json, m);
	add_points(json, m);
	add_fact(json, "buffer_pages", &m->buffer_pages);
	sl__json_integer(json, "passes", m->n_passes);
	sl__json_number(json, "elapsed_ms", 1e3 * m->elapsed_s);
	add_date(json, "measured_at", m->measured_at_s);
	sl__json_boolean(json, "from_cache", m->from_cache);
	sl__json_boolean(json, "interrupted",
			 m->stopped_by == SL_STOP_INTERRUPT);
	sl__json_end_object(json);
}

static void
add_roofline(struct sl__json *json, const struct sl_machine *m)
{
	double peak =
		sl_machine_peak_flops_per_s(m, SL_DTYPE_F32, m->max_threads);
	double bandwidth = sl_machine_bandwidth_bytes_per_s(m, m->max_threads);

	sl__json_object(json, "roofline");
	sl__json_text(json, "dtype", "f32");
	sl__json_integer(json, "threads", m->max_threads);
	sl__json_number(json, "peak_gflops_per_s", peak / 1e9);
	sl__json_number(json, "bandwidth_gbytes_per_s", bandwidth / 1e9);
	sl__json_number(json, "ridge", peak / bandwidth);
	sl__json_end_object(json);
}

void
sl__json_machine(struct sl__json *json, const struct sl_machine *m)
{
	sl__json_object(json, "machine");
	add_identity(json, m);
	add_ceilings(json, m);
	sl__json_end_object(json);
}

void
sl__machine_json(struct sl__json *json, const void *result)
{
	sl__json_machine(json, result);
	add_roofline(json, result);
}

static void
csv_count(struct sl_buf *out, size_t n)
{
	sl__csv_number(out, (double)n);
}

/* The fields from 'unit' on. */
static void
csv_figure(struct sl_buf *out, const char *unit, const struct sl_estimate *e,
	   const char *absent)
{
	sl__csv_text(out, unit);
	sl__csv_number(out, e->value);
	sl__csv_number(out, e->lo);
	sl__csv_number(out, e->hi);
	sl__csv_number(out, e->n ? (double)e->n : (double)NAN);
	sl__csv_text(out, absent ? absent : "");
	sl__csv_end(out);
}

static const char *
unit_of(enum sl_access access)
{
	return access == SL_ACCESS_CHASE ? "ns" : "B/s";
}

static void
csv_peak(struct sl_buf *out, const struct sl_peak *p)
{
	sl__csv_text(out, "peak");
	sl__csv_text(out, sl_dtype_text(p->dtype));
	sl__csv_text(out, p->isa);
	csv_count(out, p->n_bits);
	sl__csv_number(out, p->absent ? (double)NAN : (double)p->n_threads);
	sl__buf_text(out, ",,");
	csv_figure(out, "op/s", &p->ops_per_s, p->absent);
}

static void
csv_level(struct sl_buf *out, const struct sl_memory_level *l)
{
	sl__csv_text(out, "level");
	sl__csv_text(out, sl_access_text(l->access));
	sl__csv_text(out, sl_level_text(l->level));
	sl__buf_text(out, ",");
	csv_count(out, l->n_threads);
	csv_count(out, l->from_bytes);
	csv_count(out, l->to_bytes);
	csv_figure(out, unit_of(l->access), &l->value, NULL);
}

static void
csv_point(struct sl_buf *out, const struct sl_memory_point *p)
{
	const struct sl_estimate bare = {
		.value = p->value, .lo = (double)NAN, .hi = (double)NAN};

	sl__csv_text(out, "point");
	sl__csv_text(out, sl_access_text(p->access));
	sl__buf_text(out, ",,");
	csv_count(out, p->n_threads);
	csv_count(out, p->size_bytes);
	csv_count(out, p->size_bytes);
	csv_figure(out, unit_of(p->access), &bare, NULL);
}

void
sl__machine_csv(struct sl_buf *out, const void *result)
{
	const struct sl_machine *m = result;

	sl__buf_text(out, "kind,what,where,bits,threads,from_bytes,to_bytes,"
			  "unit,value,lo,hi,n,absent\n");
	for (size_t i = 0; i < m->n_peaks; i++)
		csv_peak(out, &m->peaks[i]);
	for (size_t i = 0; i < m->n_levels; i++)
		csv_level(out, &m->levels[i]);
	for (size_t i = 0; i < m->n_points; i++)
		csv_point(out, &m->points[i]);
}
