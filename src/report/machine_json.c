/* SPDX-License-Identifier: Apache-2.0 */
/*
 * machine_json.c - a machine as JSON (docs/schema.md) and as CSV.
 */
#include "buf.h"
#include "json.h"
#include "machine_page.h"
#include "roofline.h"
#include "section.h"

#include <math.h>
#include <stdio.h>

#include "banned.h"

static void
add_fact(struct sl__json *json, const char *key, const struct sl_fact *fact)
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
	     const struct sl_estimate *e, double scale)
{
	char reason[48];

	sl__json_number(json, key, e->value * scale);
	if (e->needs_n) {
		snprintf(reason, sizeof(reason), "needs n >= %zu", e->needs_n);
		sl__json_absent(json, "ci95", reason);
	} else {
		sl__json_object(json, "ci95");
		sl__json_number(json, "lo", e->lo * scale);
		sl__json_number(json, "hi", e->hi * scale);
		sl__json_end_object(json);
	}
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
				     1e-9);
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
		sl__json_text(json, "level", l->level);
		sl__json_text(json, "access", sl_access_text(l->access));
		sl__json_integer(json, "threads", l->n_threads);
		sl__json_integer(json, "from_bytes", l->from_bytes);
		sl__json_integer(json, "to_bytes", l->to_bytes);
		if (l->access == SL_ACCESS_CHASE) {
			add_estimate(json, "latency_ns", &l->value, 1);
		} else {
			add_estimate(json, "gbytes_per_s", &l->value, 1e-9);
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
				is_chase ? p->value : p->value * 1e-9);
		sl__json_end_object(json);
	}
	sl__json_end_array(json);
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
	sl__json_number(json, "elapsed_s", m->elapsed_s);
	sl__json_number(json, "measured_at_s", m->measured_at_s);
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
	sl__json_number(json, "peak_gflops_per_s", peak * 1e-9);
	sl__json_number(json, "bandwidth_gbytes_per_s", bandwidth * 1e-9);
	sl__json_number(json, "ridge", peak / bandwidth);
	sl__json_end_object(json);
}

void
sl__machine_json(struct sl_buf *out, const struct sl_machine *m,
		 const char *command)
{
	struct sl__json json;

	sl__section_open(&json, out, command);
	sl__json_object(&json, "machine");
	add_identity(&json, m);
	add_ceilings(&json, m);
	sl__json_end_object(&json);
	add_roofline(&json, m);
	sl__json_end_object(&json);
}

/* A number, or nothing for one that is absent. */
static void
add_field(struct sl_buf *out, double value)
{
	if (isfinite(value))
		sl__buf_format(out, ",%.10g", value);
	else
		sl__buf_text(out, ",");
}

static void
csv_estimate(struct sl_buf *out, const struct sl_estimate *e)
{
	add_field(out, e->value);
	add_field(out, e->lo);
	add_field(out, e->hi);
	sl__buf_format(out, ",%zu", e->n);
}

void
sl__machine_csv(struct sl_buf *out, const struct sl_machine *m)
{
	sl__buf_text(out, "kind,what,where,bits,threads,from_bytes,to_bytes,"
			  "unit,value,lo,hi,n,absent\n");
	for (size_t i = 0; i < m->n_peaks; i++) {
		const struct sl_peak *p = &m->peaks[i];

		sl__buf_format(out, "peak,%s,%s,%zu", sl_dtype_text(p->dtype),
			       p->isa, p->n_bits);
		add_field(out, p->absent ? (double)NAN : (double)p->n_threads);
		sl__buf_text(out, ",,,op/s");
		csv_estimate(out, &p->ops_per_s);
		sl__buf_format(out, ",\"%s\"\n", p->absent ? p->absent : "");
	}
	for (size_t i = 0; i < m->n_levels; i++) {
		const struct sl_memory_level *l = &m->levels[i];

		sl__buf_format(out, "level,%s,%s,,%zu,%zu,%zu,%s",
			       sl_access_text(l->access), l->level,
			       l->n_threads, l->from_bytes, l->to_bytes,
			       l->access == SL_ACCESS_CHASE ? "ns" : "B/s");
		csv_estimate(out, &l->value);
		sl__buf_text(out, ",\"\"\n");
	}
	for (size_t i = 0; i < m->n_points; i++) {
		const struct sl_memory_point *p = &m->points[i];

		sl__buf_format(out, "point,%s,,,%zu,%zu,%zu,%s",
			       sl_access_text(p->access), p->n_threads,
			       p->size_bytes, p->size_bytes,
			       p->access == SL_ACCESS_CHASE ? "ns" : "B/s");
		add_field(out, p->value);
		sl__buf_text(out, ",,,,\"\"\n");
	}
}
