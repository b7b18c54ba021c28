/* SPDX-License-Identifier: Apache-2.0 */
/*
 * machine_page.c - a machine on one page: what it is, what it can do, and
 * the roofline that follows.
 *
 * The tables show one thread and all threads; everything between, and every
 * interval of a memory level, is shown by 'verbose' and always in JSON.
 */
#include "report/machine_page.h"
#include "report/roofline.h"
#include "report/unit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/banned.h"

/* Four digits, as many as short probes warrant; "-" for what is absent. */
static const char *
rate_text(struct sl__text *text, double value)
{
	int decimals = value < 10 ? 3 : value < 100 ? 2 : value < 1000 ? 1 : 0;

	if (isfinite(value))
		snprintf(text->s, sizeof(text->s), "%.*f", decimals, value);
	else
		snprintf(text->s, sizeof(text->s), "-");
	return text->s;
}

/* "[116.2, 117.0]", or "-": add_errors() says what it needs. */
static const char *
interval_text(struct sl__text *text, const struct sl_estimate *e, double scale)
{
	struct sl__text lo, hi;

	if (e->needs_n)
		snprintf(text->s, sizeof(text->s), "-");
	else
		snprintf(text->s, sizeof(text->s), "[%.24s, %.24s]",
			 rate_text(&lo, e->lo * scale),
			 rate_text(&hi, e->hi * scale));
	return text->s;
}

/* Caches are made in powers of two: "32 KiB", "1 MiB", "11.3 MiB". */
static const char *
cache_size_text(struct sl__text *text, size_t bytes)
{
	static const char *const units[] = {"B", "KiB", "MiB", "GiB"};
	double value = (double)bytes;
	size_t unit = 0;

	while (value >= 1024 && unit < 3) {
		value /= 1024;
		unit++;
	}
	snprintf(text->s, sizeof(text->s), "%.3g %s", value, units[unit]);
	return text->s;
}

static void
add_fact(struct sl__doc *doc, const char *key,
	 const struct sl_text_reading *fact)
{
	if (fact->value)
		sl__doc_plain_pair(doc, key, "%s", fact->value);
	else
		sl__doc_pair(doc, key, SL__STYLE_DIM, "%s",
			     fact->absent ? fact->absent : "not known");
}

/* Of what virtual machines do not have, the reason is a file's name. */
static void
add_setting(struct sl__doc *doc, const char *key,
	    const struct sl_text_reading *fact, int verbose)
{
	if (fact->value || verbose)
		add_fact(doc, key, fact);
	else
		sl__doc_pair(doc, key, SL__STYLE_DIM,
			     "not available (-v says why)");
}

static const char *
count_text(struct sl__text *text, struct sl_reading n, const char *one)
{
	if (n.absent)
		snprintf(text->s, sizeof(text->s), "%ss %s", one, n.absent);
	else
		snprintf(text->s, sizeof(text->s), "%.0f %s%s", n.value, one,
			 n.value > 1 ? "s" : "");
	return text->s;
}

static void
add_caches(struct sl__doc *doc, const struct sl_machine *m)
{
	for (size_t i = 0; i < m->n_caches; i++) {
		const struct sl_cache *c = &m->caches[i];
		struct sl__text size;
		char key[32];

		snprintf(key, sizeof(key), "L%u %s", c->level,
			 sl_cache_kind_text(c->kind));
		sl__doc_plain_pair(doc, key, "%zu × %s", c->n,
				   cache_size_text(&size, c->size_bytes));
		if (c->line_bytes)
			sl__doc_append_dim(doc, ", lines of %zu B",
					   c->line_bytes);
		if (c->n_sharing > 1)
			sl__doc_append_dim(doc, ", each shared by %zu CPUs",
					   c->n_sharing);
	}
	if (!m->n_caches)
		sl__doc_pair(doc, "caches", SL__STYLE_DIM,
			     "not reported by hwloc");
}

/* "13.5 MiB (5.66 MiB fit, 16 MiB do not)" */
static void
add_edge(struct sl__doc *doc, const struct sl_cache_edge *edge)
{
	struct sl__text size, lo, hi;

	sl__doc_append_plain(doc, "%s",
			     cache_size_text(&size, (size_t)edge->bytes));
	sl__doc_append_dim(doc, " (%s fit, %s do not)",
			   cache_size_text(&lo, (size_t)edge->lo_bytes),
			   cache_size_text(&hi, (size_t)edge->hi_bytes));
}

static void
add_found_caches(struct sl__doc *doc, const struct sl_machine *m)
{
	for (size_t i = 0; i < m->n_found_caches; i++) {
		const struct sl_found_cache *c = &m->found_caches[i];
		char key[32];

		snprintf(key, sizeof(key), "%s found", sl_level_text(c->level));
		sl__doc_plain_pair(doc, key, "%s", "");
		add_edge(doc, &c->latency);
		if (isnan(c->stream.bytes))
			continue;
		sl__doc_append_plain(doc, "%s", "; by streaming ");
		add_edge(doc, &c->stream);
	}
}

/* Why sets are not used, and what to do about it. */
static const char *
cap_text(enum sl_isa_cause cause)
{
	switch (cause) {
	case SL_ISA_USED:
		break;
	case SL_ISA_TILES_HIDDEN:
		return "CPUID leaf 0x1D, which describes its tiles, is hidden "
		       "(usual in a virtual machine), and oneDNN would crash. "
		       "A hypervisor that shows this leaf lifts the cap";
	case SL_ISA_LIMITED:
		return "--isa or SLEUTH_ISA asks for it. Leave them out to "
		       "lift the cap";
	case SL_ISA_WRONG_RESULT:
		return "a trial in a child process gave a wrong result. Do not "
		       "trust other programs that use it here; new microcode "
		       "or another hypervisor may help";
	case SL_ISA_TRAPPED:
		return "a trial in a child process ended with a signal: the "
		       "hypervisor, emulator or kernel shows it and does not "
		       "run it. Other programs that use it crash as well; give "
		       "the guest a CPU model that is real";
	case SL_ISA_REFUSED:
		return "the kernel does not let processes use its registers. "
		       "Linux 5.16 and later do";
	}
	return "not known";
}

/* Sets of one cause stand side by side. */
static void
add_caps(struct sl__doc *doc, const struct sl_machine *m)
{
	for (size_t i = 0; i < m->n_caps; i++) {
		const struct sl_isa_cap *cap = &m->caps[i];
		int is_last = i + 1 == m->n_caps || cap[1].cause != cap->cause;

		if (i && cap[-1].cause == cap->cause)
			sl__doc_append_plain(doc, ", %s", cap->isa);
		else
			sl__doc_plain_pair(doc, "capped", "%s", cap->isa);
		if (is_last)
			sl__doc_append_plain(doc, ": %s. Instead: %s.",
					     cap_text(cap->cause),
					     cap->instead);
	}
}

static void
add_isa(struct sl__doc *doc, const struct sl_machine *m)
{
	size_t n_used = 0, n_proved = 0;

	sl__doc_heading(doc, "Instruction sets");
	sl__doc_plain_pair(doc, "extensions", "%s",
			   m->n_isa ? "" : "none listed");
	for (size_t i = 0; i < m->n_isa; i++)
		sl__doc_append_plain(doc, "%s%s", i ? " " : "", m->isa[i]);
	sl__doc_plain_pair(doc, "CPU shows", "%s",
			   sl_isa_level_text(m->isa_shown));
	for (size_t i = 0; i < m->n_isa_sets; i++)
		sl__doc_append_plain(doc, "%s%s", i ? ", " : ": ",
				     m->isa_sets[i].isa);
	sl__doc_plain_pair(doc, "used", "%s", sl_isa_level_text(m->isa_used));
	for (size_t i = 0; i < m->n_isa_sets; i++) {
		const struct sl_isa_set *set = &m->isa_sets[i];

		if (set->is_used)
			sl__doc_append_plain(doc, "%s%s",
					     n_used++ ? ", " : ": ", set->isa);
		n_proved += set->is_used && set->is_proved;
	}
	if (n_used)
		sl__doc_append_dim(doc, "%s",
				   n_proved == n_used
					   ? "; each ran in a child process "
					     "with the right result"
					   : "; not all were tried");
	add_caps(doc, m);
}

/* Those that can be read, then those that cannot, by reason. */
static void
add_counters(struct sl__doc *doc, const struct sl_machine *m)
{
	const char *separator = "";

	sl__doc_plain_pair(doc, "counters", "%s", "");
	for (size_t i = 0; i < m->n_counters; i++) {
		if (m->counters[i].absent)
			continue;
		sl__doc_append_plain(doc, "%s%s", separator,
				     m->counters[i].name);
		separator = ", ";
	}
	if (!*separator)
		sl__doc_append_plain(doc, "none of ");
	else if (m->n_counters)
		separator = "; not ";
	for (size_t i = 0; i < m->n_counters; i++) {
		const char *reason = m->counters[i].absent;
		int last = i + 1 == m->n_counters || !reason ||
			   !m->counters[i + 1].absent ||
			   strcmp(m->counters[i + 1].absent, reason) != 0;

		if (!reason)
			continue;
		sl__doc_append_dim(doc, "%s%s", separator, m->counters[i].name);
		separator = ", ";
		if (!last)
			continue;
		sl__doc_append_dim(doc, ": %s", reason);
		separator = "; ";
	}
}

enum { DATE = 32 };

/* When it was measured. */
static const char *
date_text(char date[DATE], const struct sl_machine *m)
{
	time_t when = (time_t)m->measured_at_s;
	struct tm parts;

	snprintf(date, DATE, "at an unknown time");
	if (localtime_r(&when, &parts))
		strftime(date, DATE, "%Y-%m-%d %H:%M", &parts);
	return date;
}

static void
add_identity(struct sl__doc *doc, const struct sl_machine *m, int verbose)
{
	struct sl__text a, b, c;
	char date[DATE];

	sl__doc_heading(doc, "%s", m->model.value ? m->model.value : "Machine");
	if (m->from_cache)
		sl__doc_append_dim(doc,
				   "  kept from %s; --fresh measures again",
				   date_text(date, m));
	if (!m->model.value)
		add_fact(doc, "model", &m->model);
	sl__doc_plain_pair(
		doc, "processors", "%s, %s, %s; %zu usable here",
		count_text(&a, m->n_sockets, "socket"),
		count_text(&b, m->n_cores, "core"),
		count_text(&c, m->n_hardware_threads, "hardware thread"),
		m->n_cpus_allowed);
	add_caches(doc, m);
	add_found_caches(doc, m);
	if (m->memory_bytes.absent)
		sl__doc_pair(doc, "memory", SL__STYLE_DIM, "%s",
			     m->memory_bytes.absent);
	else
		sl__doc_plain_pair(
			doc, "memory", "%s, %s",
			sl__bytes_text(&a, m->memory_bytes.value),
			count_text(&b, m->n_numa_nodes, "NUMA node"));
	add_fact(doc, "architecture", &m->architecture);
	add_fact(doc, "hypervisor", &m->hypervisor);
	add_setting(doc, "governor", &m->governor, verbose);
	add_setting(doc, "turbo", &m->turbo, verbose);
	add_fact(doc, "SMT", &m->smt);
	add_fact(doc, "huge pages", &m->huge_pages);
	if (m->huge_pages.value)
		sl__doc_append_dim(doc, " (transparent)");
	add_counters(doc, m);
	add_fact(doc, "energy", &m->energy);
	if (verbose) {
		add_fact(doc, "kernel", &m->kernel);
		add_fact(doc, "microcode", &m->microcode);
		sl__doc_plain_pair(doc, "fingerprint", "%s", m->fingerprint);
	}
}

/* Whether the page shows this number of threads. */
static int
is_shown(const struct sl_machine *m, size_t n_threads, int verbose)
{
	return verbose || n_threads == 1 || n_threads == m->max_threads;
}

/* A figure and its interval; the best of its type stands out. */
static void
add_peak_cells(struct sl__doc *doc, const struct sl_machine *m,
	       const struct sl_peak *p)
{
	struct sl__text t;
	int is_best = p == sl_machine_find_peak(m, p->dtype, p->n_threads);

	sl__doc_cell(doc, is_best ? SL__STYLE_STRONG : SL__STYLE_PLAIN, "%s",
		     rate_text(&t, p->ops_per_s.value * 1e-9));
	sl__doc_cell(doc, SL__STYLE_DIM, "%s",
		     interval_text(&t, &p->ops_per_s, 1e-9));
}

/* Every number of threads in a row of its own. */
static void
add_all_peaks(struct sl__doc *doc, const struct sl_machine *m)
{
	static const struct sl__column columns[] = {
		{"type", 0, 0},    {"ISA", 0, 0},   {"bits", 1, 3},
		{"threads", 1, 0}, {"Gop/s", 1, 0}, {"95 % interval", 1, 1},
		{"probes", 1, 2},
	};

	sl__doc_table(doc, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < m->n_peaks; i++) {
		const struct sl_peak *p = &m->peaks[i];

		if (p->absent)
			continue;
		sl__doc_plain_cell(doc, sl_dtype_text(p->dtype));
		sl__doc_plain_cell(doc, p->isa);
		sl__doc_cell(doc, SL__STYLE_PLAIN, "%zu", p->n_bits);
		sl__doc_cell(doc, SL__STYLE_PLAIN, "%zu", p->n_threads);
		add_peak_cells(doc, m, p);
		sl__doc_cell(doc, SL__STYLE_DIM, "%zu", p->ops_per_s.n);
	}
}

/* The same arithmetic on all threads; NULL when it was not measured. */
static const struct sl_peak *
on_all_threads(const struct sl_machine *m, const struct sl_peak *one)
{
	for (size_t i = 0; i < m->n_peaks; i++) {
		const struct sl_peak *p = &m->peaks[i];

		if (!p->absent && p->n_threads == m->max_threads &&
		    p->dtype == one->dtype && p->n_bits == one->n_bits &&
		    strcmp(p->isa, one->isa) == 0)
			return p;
	}
	return NULL;
}

/* One thread and all of them side by side. */
static void
add_main_peaks(struct sl__doc *doc, const struct sl_machine *m)
{
	static const struct sl__column columns[] = {
		{"type", 0, 0},          {"ISA", 0, 0},
		{"bits", 1, 1},          {"1 thread", 1, 0},
		{"95 % interval", 1, 2}, {"all", 1, 0},
		{"95 % interval", 1, 3},
	};

	sl__doc_table(doc, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < m->n_peaks; i++) {
		const struct sl_peak *one = &m->peaks[i];
		const struct sl_peak *all;

		if (one->absent || one->n_threads != 1)
			continue;
		sl__doc_plain_cell(doc, sl_dtype_text(one->dtype));
		sl__doc_plain_cell(doc, one->isa);
		sl__doc_cell(doc, SL__STYLE_PLAIN, "%zu", one->n_bits);
		add_peak_cells(doc, m, one);
		all = on_all_threads(m, one);
		if (all) {
			add_peak_cells(doc, m, all);
		} else {
			sl__doc_absent_cell(doc);
			sl__doc_absent_cell(doc);
		}
	}
}

static void
add_peaks(struct sl__doc *doc, const struct sl_machine *m, int verbose)
{
	sl__doc_heading(doc, "Arithmetic");
	sl__doc_append_dim(doc, "  in Gop/s, a multiply-add is two operations");
	if (verbose)
		add_all_peaks(doc, m);
	else
		add_main_peaks(doc, m);
	for (size_t i = 0; i < m->n_peaks; i++) {
		const struct sl_peak *p = &m->peaks[i];

		if (p->absent)
			sl__doc_text(doc, SL__STYLE_DIM, "%s with %s: %s",
				     sl_dtype_text(p->dtype), p->isa,
				     p->absent);
	}
}

static void
add_level_cell(struct sl__doc *doc, const struct sl_machine *m,
	       const struct sl_memory_level *row, enum sl_access access)
{
	double scale = access == SL_ACCESS_CHASE ? 1 : 1e-9;
	const struct sl_memory_level *l =
		sl_machine_find_level(m, row->level, access, row->n_threads);
	struct sl__text t;

	if (!l || l->n_threads != row->n_threads)
		sl__doc_absent_cell(doc);
	else
		sl__doc_plain_cell(doc, rate_text(&t, l->value.value * scale));
}

static void
add_level_row(struct sl__doc *doc, const struct sl_machine *m,
	      const struct sl_memory_level *row, int nt)
{
	sl__doc_cell(doc, SL__STYLE_PLAIN, "%s%s", sl_level_text(row->level),
		     nt ? " NT" : "");
	sl__doc_cell(doc, SL__STYLE_PLAIN, "%zu", row->n_threads);
	if (nt) {
		sl__doc_plain_cell(doc, "");
		sl__doc_plain_cell(doc, "");
		add_level_cell(doc, m, row, SL_ACCESS_STORE_NT);
		add_level_cell(doc, m, row, SL_ACCESS_COPY_NT);
		add_level_cell(doc, m, row, SL_ACCESS_TRIAD_NT);
	} else {
		add_level_cell(doc, m, row, SL_ACCESS_CHASE);
		add_level_cell(doc, m, row, SL_ACCESS_LOAD);
		add_level_cell(doc, m, row, SL_ACCESS_STORE);
		add_level_cell(doc, m, row, SL_ACCESS_COPY);
		add_level_cell(doc, m, row, SL_ACCESS_TRIAD);
	}
}

/* How well the figures of a page are known. */
struct errors {
	size_t n, n_without, needed;
	double widest;
};

static void
count_error(struct errors *of, const struct sl_estimate *e)
{
	of->n++;
	of->n_without += e->needs_n > 0;
	of->needed = e->needs_n > of->needed ? e->needs_n : of->needed;
	if (!e->needs_n)
		of->widest = fmax(of->widest, (e->hi - e->lo) / 2 / e->value);
}

/* One sentence for the errors of all figures; -v has them one by one. */
static void
add_errors(struct sl__doc *doc, const struct sl_machine *m)
{
	struct errors of = {0};
	struct sl__text share;

	for (size_t i = 0; i < m->n_peaks; i++) {
		if (!m->peaks[i].absent)
			count_error(&of, &m->peaks[i].ops_per_s);
	}
	for (size_t i = 0; i < m->n_levels; i++)
		count_error(&of, &m->levels[i].value);
	if (of.n_without < of.n)
		sl__doc_text(doc, SL__STYLE_DIM,
			     "95 %% intervals of peaks and bandwidths are "
			     "within ±%s (-v: all).",
			     sl__percent_text(&share, of.widest));
	if (of.n_without)
		sl__doc_text(doc, SL__STYLE_WARN,
			     "%zu of %zu figures have no interval: it takes "
			     "%zu probes (--fresh with more --time).",
			     of.n_without, of.n, of.needed);
}

/* Caches whose curves have no plateau of their own have no row. */
static void
add_missing_levels(struct sl__doc *doc, const struct sl_machine *m)
{
	static const enum sl_level levels[] = {SL_LEVEL_L1, SL_LEVEL_L2,
					       SL_LEVEL_L3};

	for (size_t i = 0; i < m->n_caches; i++) {
		unsigned n = m->caches[i].level;

		if (n < 1 || n > 3 ||
		    m->caches[i].kind == SL_CACHE_INSTRUCTION ||
		    sl_machine_find_level(m, levels[n - 1], SL_ACCESS_LOAD,
					  m->max_threads))
			continue;
		sl__doc_text(doc, SL__STYLE_WARN,
			     "L%u has no row: the curves have no plateau at "
			     "its size.",
			     n);
	}
}

static void
add_levels(struct sl__doc *doc, const struct sl_machine *m, int verbose)
{
	static const struct sl__column columns[] = {
		{"level", 0, 0}, {"threads", 1, 0}, {"latency, ns", 1, 0},
		{"load", 1, 0},  {"store", 1, 1},   {"copy", 1, 0},
		{"triad", 1, 0},
	};

	sl__doc_heading(doc, "Memory");
	sl__doc_append_dim(doc, "  bandwidths in GB/s");
	sl__doc_table(doc, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < m->n_levels; i++) {
		const struct sl_memory_level *l = &m->levels[i];

		if (l->access != SL_ACCESS_LOAD || l->level == SL_LEVEL_NONE ||
		    !is_shown(m, l->n_threads, verbose))
			continue;
		add_level_row(doc, m, l, 0);
		if (l->level == SL_LEVEL_DRAM &&
		    sl_machine_find_level(m, SL_LEVEL_DRAM, SL_ACCESS_TRIAD_NT,
					  l->n_threads))
			add_level_row(doc, m, l, 1);
	}
	add_missing_levels(doc, m);
	add_errors(doc, m);
	sl__doc_text(
		doc, SL__STYLE_DIM,
		"Bandwidths count the bytes that the program reads and writes. "
		"A plain store beyond L1 usually reads its line first (read "
		"for ownership): memory then moves 2 × as much for store, 1.5 "
		"× for copy and 1.33 × for triad. Non-temporal stores (NT) do "
		"not. Levels are the plateaus of the measured curves.");
}

/* Every level and access with its interval. */
static void
add_level_intervals(struct sl__doc *doc, const struct sl_machine *m)
{
	static const struct sl__column columns[] = {
		{"level", 0, 0},   {"access", 0, 0},
		{"threads", 1, 0}, {"value", 1, 0},
		{"unit", 0, 0},    {"95 % interval", 1, 0},
		{"probes", 1, 2},  {"buffer per thread", 0, 1},
	};
	struct sl__text t, to;

	sl__doc_heading(doc, "Memory, every figure");
	sl__doc_table(doc, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < m->n_levels; i++) {
		const struct sl_memory_level *l = &m->levels[i];
		int is_chase = l->access == SL_ACCESS_CHASE;
		double scale = is_chase ? 1 : 1e-9;

		sl__doc_plain_cell(doc, sl_level_text(l->level));
		sl__doc_plain_cell(doc, sl_access_text(l->access));
		sl__doc_cell(doc, SL__STYLE_PLAIN, "%zu", l->n_threads);
		sl__doc_plain_cell(doc, rate_text(&t, l->value.value * scale));
		sl__doc_plain_cell(doc, is_chase ? "ns" : "GB/s");
		sl__doc_cell(doc, SL__STYLE_DIM, "%s",
			     interval_text(&t, &l->value, scale));
		sl__doc_cell(doc, SL__STYLE_DIM, "%zu", l->value.n);
		sl__doc_cell(doc, SL__STYLE_DIM, "%s – %s",
			     cache_size_text(&t, l->from_bytes),
			     cache_size_text(&to, l->to_bytes));
	}
}

static void
add_roofline(struct sl__doc *doc, const struct sl_machine *m, size_t n_columns)
{
	double peak =
		sl_machine_peak_flops_per_s(m, SL_DTYPE_F32, m->max_threads);
	const struct sl__roof_line *lowest;
	struct sl__roofline roofline;
	struct sl__text a, b;

	sl__doc_heading(doc, "Roofline, %zu thread%s", m->max_threads,
			m->max_threads == 1 ? "" : "s");
	if (!sl__roofline_of_machine(&roofline, m, m->max_threads)) {
		sl__doc_text(doc, SL__STYLE_WARN,
			     "absent: no peak or no level of memory was found");
		return;
	}
	sl__roofline_draw(doc, &roofline, n_columns);
	lowest = sl__roofline_lowest_slope(&roofline);
	sl__doc_text(doc, SL__STYLE_PLAIN,
		     "x axis: FLOP per byte. With data from %s (%sB/s), f32 "
		     "reaches its peak of %sFLOP/s above %.1f FLOP/B, the "
		     "ridge; dotted: the caches.",
		     lowest->name, sl__si_prefix_text(&b, lowest->value),
		     sl__si_prefix_text(&a, peak), peak / lowest->value);
}

static void
add_origin(struct sl__doc *doc, const struct sl_machine *m)
{
	char date[DATE];

	sl__doc_gap(doc);
	sl__doc_text(
		doc, SL__STYLE_DIM,
		"Each ceiling is the 90th percentile of short probes (latency: "
		"the 10th) from %zu round%s, %.1f s in all, %s; buffers in "
		"%s.",
		m->n_passes, m->n_passes == 1 ? "" : "s", m->elapsed_s,
		date_text(date, m),
		m->buffer_pages.value ? m->buffer_pages.value
				      : "pages of unknown size");
	if (m->stopped_by == SL_STOP_INTERRUPT)
		sl__doc_text(doc, SL__STYLE_WARN,
			     "Interrupted: based on fewer probes than usual, "
			     "and not cached.");
}

void
sl__machine_page(struct sl__doc *doc, const void *result,
		 const struct sl_render_options *how)
{
	const struct sl_machine *m = result;

	add_identity(doc, m, how->verbose);
	add_isa(doc, m);
	add_peaks(doc, m, how->verbose);
	add_levels(doc, m, how->verbose);
	if (how->verbose)
		add_level_intervals(doc, m);
	add_roofline(doc, m, how->n_columns ? how->n_columns : 80);
	add_origin(doc, m);
}
