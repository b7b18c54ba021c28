/* SPDX-License-Identifier: Apache-2.0 */
/* machine_table.c - fields of a machine: what it is and what it can do. */
#include "result/tables.h"
#include "result/words.h"

#include <math.h>

#include "base/banned.h"

#define NOT_KNOWN .absent = "not known"
#define GIGA      .unit = 1e9

SL__WHY(no_line, sl_cache, c, c->line_bytes ? NULL : "not reported by hwloc")

static const struct sl__field cache_fields[] = {
	SL__F(WHOLE, sl_cache, level, "level", "from 1"),
	SL__F(WORD, sl_cache, kind, "kind", "data, instruction or unified",
	      .words = &sl__words_cache_kind),
	SL__F(WHOLE, sl_cache, size_bytes, "size_bytes", "of one"),
	SL__F(WHOLE, sl_cache, line_bytes, "line_bytes", "of a line",
	      .why = no_line),
	SL__F(WHOLE, sl_cache, n, "count", "how many there are"),
	SL__F(WHOLE, sl_cache, n_sharing, "shared_by",
	      "hardware threads that share one"),
};
static SL__RECORD(cache, "machine.caches", sl_cache, cache_fields, 0);

SL__WHY(no_edge, sl_found_cache, c,
	isnan(c->stream.bytes) ? "streams are as fast from behind it" : NULL)

static const struct sl__field found_fields[] = {
	SL__F(WORD, sl_found_cache, level, "level", "in the order found",
	      .words = &sl__words_level),
	SL__F(NUMBER, sl_found_cache, latency.bytes, "bytes",
	      "of a set in random order: half of it fits"),
	SL__F(NUMBER, sl_found_cache, latency.lo_bytes, "lo_bytes",
	      "so much surely fits"),
	SL__F(NUMBER, sl_found_cache, latency.hi_bytes, "hi_bytes",
	      "so much surely does not"),
	SL__F(NUMBER, sl_found_cache, stream.bytes, "stream_bytes",
	      "the same of a load stream", .why = no_edge),
	SL__F(NUMBER, sl_found_cache, stream.lo_bytes, "stream_lo_bytes",
	      "so much surely fits", .why = no_edge),
	SL__F(NUMBER, sl_found_cache, stream.hi_bytes, "stream_hi_bytes",
	      "so much surely does not", .why = no_edge),
	SL__F(NUMBER, sl_found_cache, latency_ns, "latency_ns", "of a load"),
	SL__F(NUMBER, sl_found_cache, behind_ns, "behind_ns",
	      "of a load from what lies behind it"),
};
static SL__RECORD(found, "machine.found_caches", sl_found_cache, found_fields,
		  0);

static const struct sl__field cap_fields[] = {
	SL__F(TEXT, sl_isa_cap, isa, "isa", "that is not used"),
	SL__F(TEXT, sl_isa_cap, instead, "instead", "what does its work"),
	SL__F(WORD, sl_isa_cap, cause, "cause", "why",
	      .words = &sl__words_isa_cause),
};
static SL__RECORD(cap, "machine.capped", sl_isa_cap, cap_fields, 0);

static const struct sl__field isa_set_fields[] = {
	SL__F(TEXT, sl_isa_set, isa, "isa", "that the CPU shows"),
	SL__F(WORD, sl_isa_set, level, "level", "that it belongs to",
	      .words = &sl__words_isa_level),
	SL__F(BOOLEAN, sl_isa_set, is_proved, "proved",
	      "executed in a child process, with the right result"),
	SL__F(BOOLEAN, sl_isa_set, is_used, "used",
	      "by the engine, in oneDNN too, and by the probes of ceilings"),
};
static SL__RECORD(isa_set, "machine.instruction_sets", sl_isa_set,
		  isa_set_fields, 0);

SL__MAKE(make_available, sl_counter, c, BOOLEAN, whole, !c->absent)

static const struct sl__field counter_fields[] = {
	SL__F(TEXT, sl_counter, name, "name", "of a hardware counter"),
	SL__F_MADE(make_available, "available", "whether it can be read"),
	SL__F(TEXT, sl_counter, absent, "reason", "why it cannot be read",
	      .is_left_out = 1),
};
static SL__RECORD(counter, "machine.counters", sl_counter, counter_fields, 0);

SL__WHY(no_peak, sl_peak, p, p->absent)
SL__WHY(no_hidden, sl_peak, p, p->is_hidden ? NULL : "not hidden")

static const struct sl__field peak_fields[] = {
	SL__F(WORD, sl_peak, dtype, "dtype", "of the arithmetic",
	      .words = &sl__words_dtype),
	SL__F(TEXT, sl_peak, isa, "isa", "instruction set"),
	SL__F(WHOLE, sl_peak, n_bits, "bits", "width of a register"),
	SL__F(WHOLE, sl_peak, n_threads, "threads", "that computed",
	      .why = no_peak, .is_left_out = 1),
	SL__F(NUMBER, sl_peak, ops_per_s.value, "gflops_per_s",
	      "a multiply-add is 2", GIGA, .why = no_peak),
	SL__F(INTERVAL, sl_peak, ops_per_s, "ci95", "its 95 % interval", GIGA,
	      .why = no_peak, .is_left_out = 1),
	SL__F(WHOLE, sl_peak, ops_per_s.n, "n", "probes", .why = no_peak,
	      .is_left_out = 1),
	SL__F(BOOLEAN, sl_peak, is_hidden, "hidden",
	      "absent, though the CPU has it or may", .why = no_hidden,
	      .is_left_out = 1),
	SL__F(REASON, sl_peak, absent, "gflops_per_s_absent",
	      "why it was not measured"),
};
static SL__RECORD(peak, "machine.ceilings.peaks", sl_peak, peak_fields, 0);

SL__WHY(is_chase, sl_memory_level, l,
	l->access == SL_ACCESS_CHASE ? "a latency" : NULL)

static const char *
is_stream(const void *record, const void *parent)
{
	return is_chase(record, parent) ? NULL : "a bandwidth";
}

#define CHASE  .why = is_stream, .is_left_out = 1, .is_either = 1
#define STREAM .why = is_chase, .is_left_out = 1, .is_either = 1

static const struct sl__field level_fields[] = {
	SL__F(WORD, sl_memory_level, level, "level", "of memory",
	      .words = &sl__words_level),
	SL__F(WORD, sl_memory_level, access, "access", "way to walk it",
	      .words = &sl__words_access),
	SL__F(WHOLE, sl_memory_level, n_threads, "threads", "that walked"),
	SL__F(WHOLE, sl_memory_level, from_bytes, "from_bytes",
	      "smallest size over which memory answers alike, by each thread"),
	SL__F(WHOLE, sl_memory_level, to_bytes, "to_bytes", "the largest"),
	SL__F(NUMBER, sl_memory_level, value.value, "latency_ns", "of a load",
	      CHASE),
	SL__F(INTERVAL, sl_memory_level, value, "ci95", "its 95 % interval",
	      CHASE),
	SL__F(NUMBER, sl_memory_level, value.value, "gbytes_per_s",
	      "of all threads", GIGA, STREAM),
	SL__F(INTERVAL, sl_memory_level, value, "ci95", "its 95 % interval",
	      GIGA, STREAM),
	SL__F(WHOLE, sl_memory_level, value.n, "n", "probes"),
	SL__F(NUMBER, sl_memory_level, traffic_per_byte, "traffic_per_byte",
	      "bytes that move for each that the program reads or writes",
	      STREAM),
};
static SL__RECORD(level, "machine.ceilings.memory", sl_memory_level,
		  level_fields, 0);

SL__WHY(point_is_chase, sl_memory_point, p,
	p->access == SL_ACCESS_CHASE ? "a latency" : NULL)

static const char *
point_is_stream(const void *record, const void *parent)
{
	return point_is_chase(record, parent) ? NULL : "a bandwidth";
}

static const struct sl__field point_fields[] = {
	SL__F(WORD, sl_memory_point, access, "access", "way to walk memory",
	      .words = &sl__words_access),
	SL__F(WHOLE, sl_memory_point, n_threads, "threads", "that walked"),
	SL__F(WHOLE, sl_memory_point, size_bytes, "size_bytes",
	      "accessed by each thread"),
	SL__F(NUMBER, sl_memory_point, value, "latency_ns", "of a load",
	      .why = point_is_stream, .is_left_out = 1),
	SL__F(NUMBER, sl_memory_point, value, "gbytes_per_s", "of all threads",
	      GIGA, .why = point_is_chase, .is_left_out = 1),
};
static SL__RECORD(point, "machine.ceilings.curve", sl_memory_point,
		  point_fields, 0);

SL__MAKE(make_interrupted, sl_machine, m, BOOLEAN, whole,
	 m->stopped_by == SL_STOP_INTERRUPT)

static const struct sl__field ceiling_fields[] = {
	{.key = "statistic",
	 .kind = SL__FIELD_SAYS,
	 .absent = "p90 of short probes (latency: p10)",
	 .meaning = "what a ceiling is"},
	SL__F(WHOLE, sl_machine, max_threads, "threads", "the most used"),
	SL__F_LIST(LIST, sl_machine, peaks, n_peaks, "peaks", "arithmetic",
		   .of = &peak),
	SL__F_LIST(LIST, sl_machine, levels, n_levels, "memory",
		   "stretches over which memory answers alike", .of = &level),
	SL__F_LIST(LIST, sl_machine, points, n_points, "curve",
		   "sizes from the first cache to memory", .of = &point),
	SL__F(TRAIT, sl_machine, buffer_pages, "buffer_pages",
	      "pages under the buffers measured in", NOT_KNOWN),
	SL__F(WHOLE, sl_machine, n_passes, "passes",
	      "over everything that is measured"),
	SL__F(NUMBER, sl_machine, elapsed_s, "elapsed_ms", "of measuring",
	      .factor = 1e3),
	SL__F(DATE, sl_machine, measured_at_s, "measured_at",
	      "UTC, as in ISO 8601"),
	SL__F(BOOLEAN, sl_machine, from_cache, "from_cache",
	      "measured before, and kept"),
	SL__F(WORD, sl_machine, stopped_by, "stopped_by", "why measuring ended",
	      .words = &sl__words_stop),
	SL__F_MADE(make_interrupted, "interrupted", "before it was done"),
};
static SL__RECORD(ceilings, "machine.ceilings", sl_machine, ceiling_fields, 0);

static const struct sl__field machine_fields[] = {
	SL__F(TRAIT, sl_machine, model, "model", "of the CPU", NOT_KNOWN),
	SL__F(TRAIT, sl_machine, architecture, "architecture", "of the CPU",
	      NOT_KNOWN),
	SL__F(TRAIT, sl_machine, kernel, "kernel", "its release", NOT_KNOWN),
	SL__F(TRAIT, sl_machine, microcode, "microcode", "its revision",
	      NOT_KNOWN),
	SL__F(READING, sl_machine, n_sockets, "sockets", "count"),
	SL__F(READING, sl_machine, n_cores, "cores", "count"),
	SL__F(READING, sl_machine, n_hardware_threads, "hardware_threads",
	      "count"),
	SL__F(READING, sl_machine, n_numa_nodes, "numa_nodes", "count"),
	SL__F(WHOLE, sl_machine, n_cpus_allowed, "cpus_allowed",
	      "that this process may run on"),
	SL__F(READING, sl_machine, memory_bytes, "memory_bytes",
	      "of the machine"),
	SL__F_LIST(LIST, sl_machine, caches, n_caches, "caches",
		   "from the first level outwards", .of = &cache),
	SL__F_LIST(LIST, sl_machine, found_caches, n_found_caches,
		   "found_caches", "as far as this process gets them",
		   .of = &found),
	SL__F_LIST(TEXTS, sl_machine, isa, n_isa, "isa",
		   "extensions, as the kernel names them"),
	SL__F(WORD, sl_machine, isa_shown, "isa_shown",
	      "the highest level that the CPU shows",
	      .words = &sl__words_isa_level),
	SL__F(WORD, sl_machine, isa_used, "isa_used",
	      "the highest level that is used", .words = &sl__words_isa_level),
	SL__F_LIST(LIST, sl_machine, isa_sets, n_isa_sets, "instruction_sets",
		   "that the CPU shows, of those that Sleuth can use",
		   .of = &isa_set),
	SL__F_LIST(LIST, sl_machine, caps, n_caps, "capped",
		   "of these, not used", .of = &cap),
	SL__F(TRAIT, sl_machine, governor, "governor", "of the clock",
	      NOT_KNOWN),
	SL__F(TRAIT, sl_machine, turbo, "turbo", "on or off", NOT_KNOWN),
	SL__F(TRAIT, sl_machine, smt, "smt", "on or off", NOT_KNOWN),
	SL__F(TRAIT, sl_machine, huge_pages, "huge_pages", "how granted",
	      NOT_KNOWN),
	SL__F(TRAIT, sl_machine, hypervisor, "hypervisor", "its name",
	      NOT_KNOWN),
	SL__F(TRAIT, sl_machine, energy, "energy", "the meter", NOT_KNOWN),
	SL__F_LIST(LIST, sl_machine, counters, n_counters, "counters",
		   "of the hardware", .of = &counter),
	SL__F(TEXT, sl_machine, fingerprint, "fingerprint",
	      "16 hexadecimal digits: figures of two machines with the same "
	      "can be compared"),
	SL__F_GROUP(&ceilings, "ceilings", "what it can do, measured"),
};
SL__RECORD(sl__table_machine, "computer", sl_machine, machine_fields, 0);

SL__MAKE(make_threads, sl_machine, m, WHOLE, whole, m->max_threads)

static double
peak_of(const struct sl_machine *m)
{
	return sl_machine_peak_flops_per_s(m, SL_DTYPE_F32, m->max_threads);
}

static double
bandwidth_of(const struct sl_machine *m)
{
	return sl_machine_bandwidth_bytes_per_s(m, m->max_threads);
}

enum { make_peak_kind = SL__FIELD_NUMBER };

static void
make_peak(struct sl__computed_value *out, const void *record,
	  const void *parent)
{
	(void)parent;
	out->number = peak_of(record) / 1e9;
}

enum { make_bandwidth_kind = SL__FIELD_NUMBER };

static void
make_bandwidth(struct sl__computed_value *out, const void *record,
	       const void *parent)
{
	(void)parent;
	out->number = bandwidth_of(record) / 1e9;
}

enum { make_ridge_kind = SL__FIELD_NUMBER };

static void
make_ridge(struct sl__computed_value *out, const void *record,
	   const void *parent)
{
	(void)parent;
	out->number = peak_of(record) / bandwidth_of(record);
}

static const struct sl__field roofline_fields[] = {
	{.key = "dtype",
	 .kind = SL__FIELD_SAYS,
	 .absent = "f32",
	 .meaning = "of the arithmetic"},
	SL__F_MADE(make_threads, "threads", "all that were used"),
	SL__F_MADE(make_peak, "peak_gflops_per_s", "the highest"),
	SL__F_MADE(make_bandwidth, "bandwidth_gbytes_per_s", "of memory"),
	SL__F_MADE(make_ridge, "ridge",
		   "operations per byte at which memory stops to bound"),
};
static SL__RECORD(roofline, "roofline", sl_machine, roofline_fields, 0);

static const struct sl__field machine_document_fields[] = {
	SL__F_GROUP(&sl__table_machine, "machine", "this computer"),
	SL__F_GROUP(&roofline, "roofline", "its two bounds"),
};
SL__RECORD(sl__table_machine_document, "machine", sl_machine,
	   machine_document_fields, 0);
