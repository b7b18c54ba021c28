/* SPDX-License-Identifier: Apache-2.0 */
/* scope_table.c - fields of scopes, of a function, and of their memory. */
#include "base/status.h"
#include "result/function_profile.h"
#include "result/record.h"
#include "result/roof.h"
#include "result/tables.h"
#include "result/words.h"

#include <math.h>

#include "base/banned.h"

#define MS   .unit = SL__NS_PER_MS
#define GIGA .unit = 1e9

static const struct sl__field scope_latency_fields[] = {
	SL__F(WHOLE, sl_scope_row, n_calls, "n", "calls"),
	SL__F(NUMBER, sl_scope_row, mean.value, "mean_ms", "of a call", MS),
	SL__F(INTERVAL, sl_scope_row, mean, "mean_ci95_ms", "its 95 % interval",
	      MS),
	SL__F(NUMBER, sl_scope_row, std_ns, "std_ms", "standard deviation", MS,
	      .absent = "needs n >= 2"),
	SL__F(NUMBER, sl_scope_row, min_ns, "min_ms", "the shortest", MS),
	SL__F(NUMBER, sl_scope_row, max_ns, "max_ms", "the longest", MS),
	SL__F(QUANTILE, sl_scope_row, median, "median_ms",
	      "percentiles come from buckets of at most 3 % width", MS),
	SL__F(QUANTILE, sl_scope_row, median, "p50_ms", "the median", MS),
	SL__F(INTERVAL, sl_scope_row, median, "ci95_ms", "its 95 % interval",
	      MS),
	SL__F(QUANTILE, sl_scope_row, p90, "p90_ms", "percentile", MS),
	SL__F(INTERVAL, sl_scope_row, p90, "p90_ci95_ms", "its 95 % interval",
	      MS),
	SL__F(QUANTILE, sl_scope_row, p95, "p95_ms", "percentile", MS),
	SL__F(INTERVAL, sl_scope_row, p95, "p95_ci95_ms", "its 95 % interval",
	      MS),
	SL__F(QUANTILE, sl_scope_row, p99, "p99_ms", "percentile", MS),
	SL__F(INTERVAL, sl_scope_row, p99, "p99_ci95_ms", "its 95 % interval",
	      MS),
};
static SL__RECORD(scope_latency, "scopes.latency", sl_scope_row,
		  scope_latency_fields, 0);

SL__WHY(no_pattern, sl_scope_row, r,
	r->n_allocations.absent ? r->n_allocations.absent : "not recorded")

static const struct sl__field scope_memory_fields[] = {
	SL__F(READING, sl_scope_row, live_peak_bytes, "peak_bytes",
	      "above the live bytes when it was opened; largest of any call"),
	SL__F(READING, sl_scope_row, allocated_bytes, "allocated_bytes",
	      "a call, mean"),
	SL__F(READING, sl_scope_row, freed_bytes, "freed_bytes", "likewise"),
	SL__F(READING, sl_scope_row, n_allocations, "count", "likewise"),
	SL__F(TEXT, sl_scope_row, pattern, "pattern", "how live memory behaves",
	      .because = no_pattern),
};
static SL__RECORD(scope_memory, "scopes.allocation", sl_scope_row,
		  scope_memory_fields, 0);

static const struct sl__field scope_fields[] = {
	SL__F(TEXT, sl_scope_row, name, "name", "of the scope"),
	SL__F(TEXT, sl_scope_row, parent, "parent", "that it was opened in",
	      .absent = "none, or not always the same"),
	SL__F(WHOLE, sl_scope_row, n_calls, "calls", "of all threads"),
	SL__F(WHOLE, sl_scope_row, n_threads, "threads",
	      "most threads that ran it at the same time"),
	SL__F(NUMBER, sl_scope_row, total_ns, "total_ms", "inside it", MS),
	SL__F(NUMBER, sl_scope_row, self_ns, "self_ms",
	      "less the scopes inside it", MS),
	SL__F(NUMBER, sl_scope_row, share, "share",
	      "of the self time of all scopes"),
	SL__F_GROUP(&scope_latency, "latency", "of one call"),
	SL__F(NUMBER, sl_scope_row, n_flops, "flops", "declared, all calls"),
	SL__F(NUMBER, sl_scope_row, n_bytes, "bytes", "declared, all calls"),
	SL__F(READING, sl_scope_row, flops_per_s, "gflops_per_s",
	      "over total_ms", GIGA),
	SL__F(READING, sl_scope_row, bytes_per_s, "gbytes_per_s",
	      "over total_ms", GIGA),
	SL__F(READING, sl_scope_row, compute_share, "compute_efficiency",
	      "of the ceiling"),
	SL__F(TEXT, sl_scope_row, compute_ceiling, "compute_ceiling",
	      "what that is of", .is_left_out = 1),
	SL__F(READING, sl_scope_row, bandwidth_share, "bandwidth_efficiency",
	      "of the ceiling"),
	SL__F(TEXT, sl_scope_row, bandwidth_ceiling, "bandwidth_ceiling",
	      "what that is of", .is_left_out = 1),
	SL__F(READING, sl_scope_row, cpu_ns, "cpu_ms", "of the thread, a call",
	      MS),
	SL__F(READING, sl_scope_row, n_minor_faults, "minor_faults", "a call"),
	SL__F(READING, sl_scope_row, n_major_faults, "major_faults", "a call"),
	SL__F(READING, sl_scope_row, resident_change_bytes,
	      "resident_change_bytes", "of the process, a call"),
	SL__F(READING, sl_scope_row, resident_peak_bytes, "resident_peak_bytes",
	      "of the process; largest of any call"),
	SL__F_GROUP(&scope_memory, "allocation",
		    "what the thread allocated (libsleuth-alloc)"),
};
static SL__RECORD(scope, "scopes", sl_scope_row, scope_fields, 0);

static const struct sl__field overhead_fields[] = {
	SL__F(NUMBER, sl_scopes, pair_ns, "pair_ms",
	      "of opening and closing a scope, taken off", MS),
	SL__F(NUMBER, sl_scopes, resources_pair_ns, "resources_pair_ms",
	      "likewise, with all flags", MS),
};
static SL__RECORD(overhead, "overhead", sl_scopes, overhead_fields, 0);

static const struct sl__field document_fields[] = {
	SL__F_LIST(LIST, sl_scopes, rows, n_rows, "scopes",
		   "largest self time first", .of = &scope),
	SL__F(WHOLE, sl_scopes, n_scopes, "n_scopes", "names met"),
	SL__F(WHOLE, sl_scopes, n_dropped, "n_dropped",
	      "scopes that could not be kept"),
	SL__F(WHOLE, sl_scopes, n_unbalanced, "n_unbalanced",
	      "closed late, twice or elsewhere"),
	SL__F(NUMBER, sl_scopes, self_ns, "self_ms", "of all scopes", MS),
	SL__F_GROUP(&overhead, "overhead", "of measuring"),
	SL__F(TOLD, sl_scopes, rows, "insights", "what stands out"),
	SL__F(POINTER, sl_scopes, machine, "machine", "that it ran on",
	      .of = &sl__table_machine, .absent = SL__NO_ROOF),
};
SL__RECORD(sl__table_scopes, "scopes", sl_scopes, document_fields, 0);

/* Powers of two that were asked for, those that nobody asked for left out. */
struct size_class {
	double from_bytes, to_bytes;
	uint64_t n;
};

static const struct sl__field size_fields[] = {
	SL__F(NUMBER, size_class, from_bytes, "from_bytes", "asked for"),
	SL__F(NUMBER, size_class, to_bytes, "to_bytes", "likewise"),
	SL__F(WHOLE, size_class, n, "count", "allocations"),
};
static SL__RECORD(size, "allocation.sizes", size_class, size_fields, 0);

static void
write_sizes(struct sl__json *json, const struct sl__field *f,
	    const void *record)
{
	const struct sl_memory *m = record;

	sl__json_array(json, f->key);
	for (size_t i = 0; i < SL_MEMORY_N_SIZES; i++) {
		struct size_class row = {ldexp(i > 0, (int)i),
					 ldexp(1, (int)i + 1) - 1,
					 m->n_by_size[i]};

		if (row.n)
			sl__record_write_object(json, NULL, &size, &row, m);
	}
	sl__json_end_array(json);
}

static enum sl_status
read_sizes(void *record, const struct sl__json_value *value,
	   struct sl__arena *arena, struct sl_error *err)
{
	struct sl_memory *m = record;
	enum sl_status rc = SL_OK;

	for (const struct sl__json_value *v = value->first; !rc && v;
	     v = v->next) {
		struct size_class row = {0, 0, 0};
		int i;

		rc = sl__record_read(&row, &size, v, arena, err);
		i = row.from_bytes > 0 ? ilogb(row.from_bytes) : 0;
		if (!rc && (i < 0 || i >= SL_MEMORY_N_SIZES))
			rc = sl__fail(err, SL_E_DATA, "no size of a block");
		if (!rc)
			m->n_by_size[i] = row.n;
	}
	return rc;
}

static const struct sl__field site_fields[] = {
	SL__F(TEXT, sl_memory_site, where, "where",
	      "a call chain, innermost first"),
	SL__F(WHOLE, sl_memory_site, allocated_bytes, "allocated_bytes",
	      "there"),
	SL__F(WHOLE, sl_memory_site, n_allocations, "count", "allocations"),
};
static SL__RECORD(site, "allocation.sites", sl_memory_site, site_fields, 0);

static const struct sl__field point_fields[] = {
	SL__F(NUMBER, sl_live_point, low_bytes, "low_bytes", "least live"),
	SL__F(NUMBER, sl_live_point, high_bytes, "high_bytes", "most live"),
	SL__F(NUMBER, sl_live_point, last_bytes, "last_bytes", "at its end"),
	SL__F(NUMBER, sl_live_point, step_bytes, "step_bytes",
	      "the largest single rise"),
	SL__F(WHOLE, sl_live_point, n_events, "events",
	      "calls or samples that it sums up"),
};
static SL__RECORD(point, "allocation.course", sl_live_point, point_fields, 0);

static const struct sl__field memory_fields[] = {
	SL__F(TEXT, sl_memory, name, "name", "of the function"),
	SL__F(WORD, sl_memory, method, "method", "how it was found out",
	      .words = &sl__words_memory_method),
	SL__F(TEXT, sl_memory, method_reason, "method_because",
	      "why not interposed", .is_left_out = 1),
	SL__F(NUMBER, sl_memory, baseline_bytes, "baseline_bytes",
	      "live, or resident, before"),
	SL__F(NUMBER, sl_memory, peak_bytes, "peak_bytes", "the most"),
	SL__F(NUMBER, sl_memory, final_bytes, "final_bytes", "after"),
	SL__F(READING, sl_memory, allocated_bytes, "allocated_bytes", "in all"),
	SL__F(READING, sl_memory, freed_bytes, "freed_bytes", "in all"),
	SL__F(READING, sl_memory, requested_bytes, "requested_bytes",
	      "asked for"),
	SL__F(READING, sl_memory, n_allocations, "count", "allocations"),
	SL__F(READING, sl_memory, n_frees, "frees", "blocks freed"),
	SL__F(READING, sl_memory, n_unsited, "unsited",
	      "allocations from more places than are kept"),
	SL__F(WORD, sl_memory, pattern, "pattern", "how live memory behaves",
	      .words = &sl__words_memory_pattern),
	SL__F(TEXT, sl_memory, evidence, "evidence", "for that"),
	SL__F(WHOLE, sl_memory, n_calls, "calls", "recorded"),
	SL__F(NUMBER, sl_memory, elapsed_s, "elapsed_ms", "while recording",
	      .factor = 1e3),
	{.key = "sizes",
	 .kind = SL__FIELD_OWN,
	 .made = SL__FIELD_LIST,
	 .write = write_sizes,
	 .read = read_sizes,
	 .meaning = "asked for, by powers of two"},
	SL__F_LIST(LIST, sl_memory, sites, n_sites, "sites", "most bytes first",
		   .of = &site),
	SL__F_LIST(LIST, sl_memory, points, n_points, "course",
		   "of live memory", .of = &point, .is_flat = 1),
};
static SL__RECORD(memory, "allocation", sl_memory, memory_fields, 0);

static const struct sl__field memory_document_fields[] = {
	SL__F_GROUP(&memory, "allocation", "of one function"),
};
SL__RECORD(sl__table_memory, "memory", sl_memory, memory_document_fields, 0);

static const struct sl__field rate_fields[] = {
	SL__F(READING, sl__function_profile, flops_per_s, "gflops_per_s",
	      "at the median", GIGA),
	SL__F(READING, sl__function_profile, bytes_per_s, "gbytes_per_s",
	      "at the median", GIGA),
	SL__F(READING, sl__function_profile, compute_share,
	      "compute_efficiency", "of one core's f32 peak"),
	SL__F(READING, sl__function_profile, bandwidth_share,
	      "bandwidth_efficiency", "of one core's memory bandwidth"),
	SL__F(NUMBER, sl__function_profile, n_flops, "flops", "declared"),
	SL__F(NUMBER, sl__function_profile, n_bytes, "bytes", "declared"),
};
static SL__RECORD(rates, "rates", sl__function_profile, rate_fields, 0);

static const struct sl__field function_fields[] = {
	SL__F(POINTER, sl__function_profile, time, NULL, NULL,
	      .of = &sl__table_measurement),
	SL__F_GROUP(&rates, "rates", "of declared work"),
	SL__F(POINTER, sl__function_profile, memory, "allocation",
	      "of one call, after those that were timed", .of = &memory),
	SL__F(TOLD, sl__function_profile, time, "insights", "what stands out"),
	SL__F(POINTER, sl__function_profile, machine, "machine",
	      "that it ran on", .of = &sl__table_machine,
	      .absent = SL__NO_ROOF),
};
SL__RECORD(sl__table_function, "function", sl__function_profile,
	   function_fields, 0);
