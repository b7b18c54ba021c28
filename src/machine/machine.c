/* SPDX-License-Identifier: Apache-2.0 */
/*
 * machine.c - what this machine is and can do: read, remembered or measured.
 *
 * What it is costs milliseconds and is read each time; what it can do costs
 * seconds and is remembered in a file whose name is a hash of what it is.
 * Whatever changes a ceiling must therefore be part of that hash.
 */
#include "machine/machine.h"
#include "base/buf.h"
#include "base/cache_file.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/option_struct.h"
#include "base/status.h"
#include "base/thread.h"
#include "machine/ceiling.h"
#include "machine/found_caches.h"
#include "machine/isa.h"
#include "machine/machine_cache.h"
#include "machine/peak.h"
#include "machine/platform.h"
#include "machine/topology.h"
#include "timing/counters.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/banned.h"

/* Four passes on 2 idle CPUs; the caches take 3 to 4 s before them. */
static const double DEFAULT_TIME_S = 9;

/* Who has less time gets caches from one look at them. */
static const double QUICK_TIME_S = 5;

enum {
	/* Where the free memory is not known: a small machine's. */
	DEFAULT_FREE_BYTES = 1 << 30
};

const char *
sl_cache_kind_text(enum sl_cache_kind kind)
{
	static const char *const words[SL_N_CACHE_KINDS] = {
		"data", "instruction", "unified"};

	return words[(unsigned)kind < SL_N_CACHE_KINDS ? kind
						       : SL_CACHE_UNIFIED];
}

const char *
sl_level_text(enum sl_level level)
{
	static const char *const words[SL_N_LEVELS] = {
		"unnamed", "L1", "L2", "L3", "L4", "L5", "DRAM", "compute"};

	return words[(unsigned)level < SL_N_LEVELS ? level : SL_LEVEL_NONE];
}

const char *
sl_access_text(enum sl_access access)
{
	static const char *const texts[] = {"load",     "store",   "store-nt",
					    "copy",     "copy-nt", "triad",
					    "triad-nt", "chase"};

	return (unsigned)access <= SL_ACCESS_CHASE ? texts[access] : "unknown";
}

/* A word of what the fingerprint is made from; its end counts too. */
static void
add_word(struct sl_buf *out, const char *word)
{
	sl__buf_add(out, word, strlen(word) + 1);
}

static void
add_number(struct sl_buf *out, size_t number)
{
	char word[32];

	snprintf(word, sizeof(word), "%zu", number);
	add_word(out, word);
}

enum sl_status
sl__machine_set_fingerprint(struct sl_machine *m, struct sl__arena *arena,
			    struct sl_error *err)
{
	const char *const words[] = {m->model.value,     m->architecture.value,
				     m->microcode.value, m->hypervisor.value,
				     m->governor.value,  m->turbo.value,
				     m->smt.value,       m->huge_pages.value};
	struct sl_buf text = {0};
	enum sl_status rc;

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		add_word(&text, words[i] ? words[i] : "?");
	for (size_t i = 0; i < m->n_isa; i++)
		add_word(&text, m->isa[i]);
	for (size_t i = 0; i < m->n_caps; i++)
		add_word(&text, m->caps[i].isa);
	if (!m->n_caps && sl__isa_is_scalar())
		add_word(&text, sl_isa_level_text(SL_ISA_SCALAR));
	for (size_t i = 0; i < m->n_caches; i++) {
		add_number(&text, m->caches[i].size_bytes);
		add_number(&text, m->caches[i].n);
	}
	add_number(&text, m->n_cpus_allowed);
	add_number(&text, m->max_threads);
#ifndef __OPTIMIZE__
	add_word(&text, "not optimised"); /* slower than the machine */
#endif
	rc = sl__buf_status(&text, err);
	if (rc)
		goto out;
	m->fingerprint = sl__arena_format(arena, "%016" PRIx64,
					  sl__hash(text.data, text.n_bytes, 0));
	rc = m->fingerprint ? SL_OK : sl__fail_nomem(err);
out:
	sl_buf_release(&text);
	return rc;
}

/* What the caller asked for, defaults filled in and ranges checked. */
struct request {
	struct sl_machine_options options;
	char cache_folder[SL__CACHE_PATH]; /* "" for none, and why */
	struct sl_error no_folder;
};

static enum sl_status
check_request(struct request *out, const struct sl_machine_options *options,
	      struct sl_error *err)
{
	struct sl_machine_options *o = &out->options;
	size_t n_cpus = sl__thread_n_cpus();
	enum sl_status rc;

	memset(out, 0, sizeof(*out));
	rc = sl__options_copy(o, sizeof(*o), options, "sl_machine_options",
			      err);
	if (rc)
		return rc;
	if (o->time_s < 0 || !isfinite(o->time_s))
		return sl__fail(err, SL_E_USAGE,
				"the time must be above 0 seconds");
	if (o->time_s <= 0)
		o->time_s = DEFAULT_TIME_S;
	if (o->n_threads > n_cpus)
		return sl__fail(err, SL_E_USAGE,
				"%zu threads asked for, but this process may "
				"use %zu CPU%s",
				o->n_threads, n_cpus, n_cpus == 1 ? "" : "s");
	if (o->n_threads == 0)
		o->n_threads = n_cpus;
	if (!o->root)
		o->root = "";
	if (sl__cache_folder(out->cache_folder, o->cache_folder,
			     &out->no_folder))
		out->cache_folder[0] = '\0';
	return SL_OK;
}

static enum sl_status
read_what_it_is(struct sl_machine *m, const struct request *request,
		struct sl__arena *arena, struct sl_error *err)
{
	enum sl_status rc;

	rc = sl__isa_prepare(request->options.cache_folder, err);
	if (rc)
		return rc;
	rc = sl__topology_read(m, request->options.root, arena, err);
	if (rc)
		return rc;
	rc = sl__platform_read(m, request->options.root, arena, err);
	if (rc)
		return rc;
	rc = sl__counters_list(&m->counters, &m->n_counters, NULL, arena, err);
	if (rc)
		return rc;
	m->n_cpus_allowed = sl__thread_n_cpus();
	m->max_threads = request->options.n_threads;
	return sl__machine_set_fingerprint(m, arena, err);
}

static size_t
free_bytes(const char *root)
{
	size_t bytes = sl__platform_free_bytes(root);

	return bytes ? bytes : DEFAULT_FREE_BYTES;
}

/* How many threads a caller wants changes no cache, so that one ladder serves
 * all of them. */
static enum sl_status
find_caches(struct sl_machine *m, struct sl__found_caches_options *how,
	    struct sl__arena *arena, struct sl_error *err)
{
	struct sl__found_caches *found = sl__arena_alloc(arena, sizeof(*found));
	struct sl_machine whole = *m;
	enum sl_status rc;

	if (!found)
		return sl__fail_nomem(err);
	whole.max_threads = m->n_cpus_allowed;
	rc = sl__machine_set_fingerprint(&whole, arena, err);
	if (rc)
		return rc;
	how->fingerprint = whole.fingerprint;
	rc = sl__found_caches_get(found, how, arena, err);
	if (rc)
		return rc;
	m->found_caches = found->at;
	m->n_found_caches = found->n;
	return SL_OK;
}

enum sl_status
sl__machine_identify(const char **fingerprint, struct sl__arena *arena,
		     struct sl_error *err)
{
	struct sl_machine m = {0};
	struct request request;
	enum sl_status rc = check_request(&request, NULL, err);

	if (!rc)
		rc = read_what_it_is(&m, &request, arena, err);
	*fingerprint = m.fingerprint;
	return rc;
}

enum sl_status
sl_machine_append_name(struct sl_buf *out, struct sl_error *err)
{
	struct sl_machine m = {0};
	struct sl__arena arena;
	size_t n_cpus = sl__thread_n_cpus();
	enum sl_status rc;

	sl__arena_init(&arena, NULL);
	rc = sl__platform_read(&m, "", &arena, err);
	if (!rc) {
		sl__buf_format(out, "%s, %zu CPU%s",
			       m.model.value ? m.model.value : "unknown CPU",
			       n_cpus, n_cpus == 1 ? "" : "s");
		if (m.kernel.value)
			sl__buf_format(out, ", Linux %s", m.kernel.value);
		rc = sl__buf_status(out, err);
	}
	sl__arena_release(&arena);
	return rc;
}

enum sl_status
sl__machine_find_caches(struct sl_machine *m, struct sl__arena *arena,
			struct sl_error *err)
{
	struct request request;
	enum sl_status rc = check_request(&request, NULL, err);

	if (!rc)
		rc = read_what_it_is(m, &request, arena, err);
	return rc ? rc
		  : find_caches(m,
				&(struct sl__found_caches_options){
					.memory_bytes = free_bytes("")},
				arena, err);
}

static enum sl_status
measure(struct sl_machine *m, const struct request *request,
	struct sl__arena *arena, struct sl_error *err)
{
	const struct sl_machine_options *o = &request->options;
	struct sl_cache rows[SL__LADDER_STEPS_MOST];
	struct sl_cache chase_rows[SL__LADDER_STEPS_MOST];
	struct sl__found_caches_options caches = {
		.cache_folder = o->cache_folder,
		.fresh = o->fresh,
		.is_quick = o->time_s < QUICK_TIME_S,
		.memory_bytes = free_bytes(o->root)};
	struct sl__ceiling_options plan = {.n_threads = o->n_threads,
					   .time_s = o->time_s,
					   .caches = rows,
					   .chase_caches = chase_rows,
					   .free_bytes = caches.memory_bytes,
					   .log = o->log,
					   .progress = o->progress,
					   .progress_ctx = o->progress_ctx,
					   .interrupt = o->interrupt};
	enum sl_status rc = find_caches(m, &caches, arena, err);

	if (rc)
		return rc;
	plan.n_caches = sl__found_caches_as_rows(
		rows, m->found_caches, m->n_found_caches, m, m->n_cpus_allowed);
	for (size_t i = 0; i < plan.n_caches; i++) {
		chase_rows[i] = rows[i];
		chase_rows[i].size_bytes =
			(size_t)m->found_caches[i].latency.bytes;
	}
	return sl__ceiling_measure(m, &plan, arena, err);
}

/* Remembers a complete result; what goes wrong is only said. */
static void
save(const struct sl_machine *m, const struct request *request)
{
	const char *asked = request->options.cache_folder;
	struct sl_error why = request->no_folder;
	enum sl_status rc = why.status;

	if ((asked && !*asked) || m->stopped_by == SL_STOP_INTERRUPT)
		return;
	if (!rc)
		rc = sl__machine_cache_save(m, request->cache_folder, &why);
	if (rc)
		sl__log(request->options.log, "not cached: %s", why.text);
}

/* SL_OK, SL_E_NOMEM, or SL_E_ABSENT after saying in the log what is wrong
 * with a file that is there. */
static enum sl_status
recall(struct sl_machine *m, const struct request *request,
       struct sl__arena *arena, struct sl_error *err)
{
	struct sl_error why = {0};
	enum sl_status rc;

	if (!request->cache_folder[0])
		return sl__fail(err, SL_E_ABSENT,
				"there is no cache folder: %s",
				request->no_folder.text);
	rc = sl__machine_cache_load(m, request->cache_folder, arena, &why);
	if (rc == SL_OK) {
		struct sl__found_caches_options how = {
			.cache_folder = request->options.cache_folder};

		/* A quick look at the caches was not kept. */
		rc = find_caches(m, &how, arena, &why);
		rc = rc == SL_E_ABSENT ? SL_OK : rc;
	}
	if (rc == SL_OK || rc == SL_E_NOMEM)
		return rc;
	if (rc != SL_E_ABSENT)
		sl__log(request->options.log, "cached result ignored: %s",
			why.text);
	return sl__fail(err, SL_E_ABSENT,
			"this machine's ceilings are not measured yet");
}

/* A quick look that was kept does not answer a request for a long one. */
static int
is_long_enough(const struct sl_machine *m, const struct request *request)
{
	if (m->elapsed_s >= request->options.time_s / 2)
		return 1;
	sl__log(request->options.log,
		"cached result ignored: it was measured for %.2g s only",
		m->elapsed_s);
	return 0;
}

/* From the cache unless 'fresh', else by measuring where that is allowed. */
static enum sl_status
find_out_what_it_can(struct sl_machine *m, const struct request *request,
		     int may_measure, struct sl__arena *arena,
		     struct sl_error *err)
{
	enum sl_status rc;

	if (!may_measure || !request->options.fresh) {
		rc = recall(m, request, arena, may_measure ? NULL : err);
		if (rc == SL_E_NOMEM)
			return sl__fail_nomem(err);
		if (!may_measure || (rc == SL_OK && is_long_enough(m, request)))
			return rc;
	}
	rc = measure(m, request, arena, err);
	if (rc == SL_OK)
		save(m, request);
	return rc;
}

static enum sl_status
open_machine(struct sl_machine **out, const struct sl_machine_options *options,
	     int may_measure, struct sl_error *err)
{
	struct sl_machine *m = NULL;
	struct sl__arena *arena;
	struct request request;
	enum sl_status rc;

	*out = NULL;
	rc = check_request(&request, options, err);
	if (rc)
		return rc;
	m = sl__arena_object_new(&arena, request.options.allocator, sizeof(*m));
	if (!m)
		return sl__fail_nomem(err);
	rc = read_what_it_is(m, &request, arena, err);
	if (rc)
		goto out;
	rc = find_out_what_it_can(m, &request, may_measure, arena, err);
	if (rc)
		goto out;
	*out = m;
	m = NULL;
out:
	sl_machine_free(m);
	return rc;
}

enum sl_status
sl_machine_probe(struct sl_machine **out,
		 const struct sl_machine_options *options, struct sl_error *err)
{
	return open_machine(out, options, 1, err);
}

enum sl_status
sl_machine_open_cached(struct sl_machine **out,
		       const struct sl_machine_options *options,
		       struct sl_error *err)
{
	return open_machine(out, options, 0, err);
}

void
sl_machine_free(struct sl_machine *m)
{
	sl__arena_object_free(m);
}

/* Any reason but that the CPU lacks it leaves open what it would reach: tiles
 * that are capped for oneDNN may serve a user's own function. */
int
sl_machine_hides_peaks(const struct sl_machine *m)
{
	for (size_t i = 0; i < m->n_peaks; i++) {
		if (m->peaks[i].is_hidden)
			return 1;
	}
	return 0;
}

const struct sl_peak *
sl_machine_find_peak(const struct sl_machine *m, enum sl_dtype dtype,
		     size_t n_threads)
{
	const struct sl_peak *best = NULL;

	for (size_t i = 0; i < m->n_peaks; i++) {
		const struct sl_peak *p = &m->peaks[i];

		if (p->dtype != dtype || p->absent || p->n_threads > n_threads)
			continue;
		if (!best || p->n_threads > best->n_threads ||
		    (p->n_threads == best->n_threads &&
		     p->ops_per_s.value > best->ops_per_s.value))
			best = p;
	}
	return best;
}

const struct sl_memory_level *
sl_machine_find_level(const struct sl_machine *m, enum sl_level level,
		      enum sl_access access, size_t n_threads)
{
	const struct sl_memory_level *best = NULL;

	for (size_t i = 0; i < m->n_levels; i++) {
		const struct sl_memory_level *l = &m->levels[i];

		if (l->access == access && l->n_threads <= n_threads &&
		    l->level == level &&
		    (!best || l->n_threads > best->n_threads))
			best = l;
	}
	return best;
}

const struct sl_memory_level *
sl_machine_find_bandwidth(const struct sl_machine *m, enum sl_level level,
			  size_t n_threads)
{
	const struct sl_memory_level *best = NULL;

	for (int a = 0; a < SL_ACCESS_CHASE; a++) {
		const struct sl_memory_level *l = sl_machine_find_level(
			m, level, (enum sl_access)a, n_threads);

		if (l && (!best || l->n_threads > best->n_threads ||
			  (l->n_threads == best->n_threads &&
			   l->value.value > best->value.value)))
			best = l;
	}
	return best;
}

double
sl_machine_peak_flops_per_s(const struct sl_machine *m, enum sl_dtype dtype,
			    size_t n_threads)
{
	const struct sl_peak *peak = sl_machine_find_peak(m, dtype, n_threads);

	return peak ? peak->ops_per_s.value : (double)NAN;
}

double
sl_machine_bandwidth_bytes_per_s(const struct sl_machine *m, size_t n_threads)
{
	const struct sl_memory_level *best =
		sl_machine_find_bandwidth(m, SL_LEVEL_DRAM, n_threads);

	return best ? best->value.value : (double)NAN;
}
