/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dnnl_choice.c - which algorithm was the fastest, remembered per machine.
 *
 * A file of lines: what is done, with every size that matters, then what did
 * it best.  The first line carries the version of the format and of oneDNN,
 * whose implementations are counted; the last one a checksum.  A file that is
 * anything else is as good as none.
 */
#include "engine/dnnl_choice.h"
#include "base/buf.h"
#include "base/cache_file.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/status.h"
#include "base/thread.h"
#include "engine/choice_evidence.h"
#include "engine/dnnl_isa.h"
#include "engine/dnnl_timing.h"
#include "machine/machine.h"
#include "machine/platform.h"

#include <dnnl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/banned.h"

enum {
	VERSION = 6,
	MOST_ROWS = 1 << 16,
	LOOKS_ANYHOW = 2, /* at a choice, whether others use the CPUs or not */
	CONTRADICTED_MOST = 2 /* times that a choice is measured again for it */
};

/* Of all CPU time, used by others or taken by the hypervisor. */
static const double LOAD_SHARE = 0.02;

const struct sl__monitor_source *sl__choices_monitor_source;

uint64_t
sl__choice_price(const struct sl__choice *choice, int is_reordered)
{
	uint64_t ns = choice->elapsed_ns;

	if (ns == UINT64_MAX)
		return ns;
	return ns + (choice->is_winograd ? ns / 50 : 0) +
	       (is_reordered ? ns / 8 : 0);
}

const struct sl__choice *
sl__choices_find(struct sl__choices *c, const char *key)
{
	const size_t *row = sl__map_find(&c->ids, key);

	return row ? &c->rows[*row] : NULL;
}

static enum sl_status
grow(struct sl__choices *c, struct sl_error *err)
{
	size_t cap = c->cap ? 2 * c->cap : 64;
	struct sl__choice *rows;
	const char **keys;

	if (c->n < c->cap)
		return SL_OK;
	rows = sl__arena_realloc_array(&c->arena, c->rows, c->n, cap,
				       sizeof(*rows));
	keys = sl__arena_realloc_array(&c->arena, c->keys, c->n, cap,
				       sizeof(*keys));
	if (!rows || !keys)
		return sl__fail_nomem(err);
	c->rows = rows;
	c->keys = keys;
	c->cap = cap;
	return SL_OK;
}

enum sl_status
sl__choices_put(struct sl__choices *c, const char *key,
		const struct sl__choice *choice, struct sl_error *err)
{
	const size_t *known = sl__map_find(&c->ids, key);
	enum sl_status rc = known ? SL_OK : grow(c, err);

	if (rc)
		return rc;
	c->is_changed = 1;
	if (known) {
		struct sl__choice before = c->rows[*known];

		c->rows[*known] = *choice;
		c->rows[*known].n_loaded = before.n_loaded;
		c->rows[*known].n_contradicted = before.n_contradicted;
		return SL_OK;
	}
	c->keys[c->n] = sl__arena_string(&c->arena, key);
	if (!c->keys[c->n])
		return sl__fail_nomem(err);
	c->rows[c->n] = *choice;
	rc = sl__map_put(&c->ids, key, c->n, err);
	if (!rc)
		c->n++;
	return rc;
}

static void
first_line(char line[64])
{
	const dnnl_version_t *v = dnnl_version();

	snprintf(line, 64, "sleuth-algorithms %d oneDNN %d.%d.%d\n", VERSION,
		 v->major, v->minor, v->patch);
}

static void
write_rows(struct sl_buf *out, const struct sl__choices *c)
{
	char line[64];

	first_line(line);
	sl__buf_text(out, line);
	for (size_t i = 0; i < c->n && i < MOST_ROWS; i++) {
		const struct sl__choice *r = &c->rows[i];

		sl__buf_format(out, "%s|%s %s %" PRIu64 " %u %u %s\n",
			       c->keys[i],
			       r->is_winograd ? "winograd" : "direct",
			       r->is_own     ? "own"
			       : r->is_plain ? "plain"
					     : "order",
			       r->elapsed_ns, r->n_loaded, r->n_contradicted,
			       r->kernel);
	}
	if (out->data)
		sl__buf_format(out, "end %016" PRIx64 "\n",
			       sl__hash(out->data, out->n_bytes, 0));
}

/* One line "key|winograd order 1234 0 0 name"; 0 where it is not one. */
static int
parse_row(char *line, struct sl__choice *row)
{
	char algorithm[16], source[16];
	char *at = strchr(line, '|');

	if (!at)
		return 0;
	*at++ = '\0';
	memset(row, 0, sizeof(*row));
	if (sscanf(at, "%15s %15s %" SCNu64 " %u %u %63s", algorithm, source,
		   &row->elapsed_ns, &row->n_loaded, &row->n_contradicted,
		   row->kernel) != 6)
		return 0;
	row->is_winograd = !strcmp(algorithm, "winograd");
	row->is_own = !strcmp(source, "own");
	row->is_plain = !strcmp(source, "plain");
	return 1;
}

/* Rows that the table does not have yet. */
static enum sl_status
parse(struct sl__choices *c, struct sl_buf *text, struct sl_error *err)
{
	static const size_t n_last = sizeof("end 0123456789abcdef\n") - 1;
	char first[64], last[32];
	char *at, *end;
	size_t n;

	first_line(first);
	if (!text->data || text->n_bytes < strlen(first) + n_last ||
	    strncmp(text->data, first, strlen(first)) ||
	    strlen(text->data) != text->n_bytes)
		return sl__fail(err, SL_E_DATA, "%s: of another version",
				c->path);
	n = text->n_bytes - n_last;
	snprintf(last, sizeof(last), "end %016" PRIx64 "\n",
		 sl__hash(text->data, n, 0));
	if (strcmp(text->data + n, last))
		return sl__fail(err, SL_E_DATA, "%s: damaged", c->path);
	text->data[n] = '\0';
	for (at = text->data + strlen(first); *at; at = end + 1) {
		struct sl__choice row;
		enum sl_status rc;

		end = strchr(at, '\n');
		if (!end)
			return sl__fail(err, SL_E_DATA, "%s: malformed",
					c->path);
		*end = '\0';
		if (!parse_row(at, &row))
			return sl__fail(err, SL_E_DATA, "%s: malformed",
					c->path);
		if (sl__choices_find(c, at))
			continue;
		rc = sl__choices_put(c, at, &row, err);
		if (rc)
			return rc;
	}
	return SL_OK;
}

int
sl__choices_n_threads(const struct sl_plan_options *options)
{
	int n = (int)(options->flags / SL__PLAN_CHOICES_THREADS) &
		SL__PLAN_CHOICES_THREADS_MOST;

	return n ? n : options->n_threads;
}

int
sl__choices_image_layout(const struct sl_plan_options *options)
{
	return (int)(options->flags / SL__PLAN_IMAGE_LAYOUT) &
	       SL__PLAN_IMAGE_LAYOUT_MOST;
}

int
sl__choices_are_borrowed(const struct sl_plan_options *options)
{
	return options->flags & SL__PLAN_HALF_BATCH_CHOICES ||
	       sl__choices_n_threads(options) != options->n_threads;
}

/* "" where choices are not kept; c->no_path then says why, unless the user
 * wanted that. */
static enum sl_status
find_path(struct sl__choices *c, const struct sl_plan_options *options,
	  struct sl_error *err)
{
	struct sl_machine machine = {0};
	const char *given = options->cache_folder, *cap;
	char folder[SL__CACHE_PATH];
	enum sl_status rc;

	if ((options->flags & SL_PLAN_NO_CACHE) || (given && !*given) ||
	    sl__cache_folder(folder, given, &c->no_path))
		return SL_OK;
	rc = sl__platform_read(&machine, "", &c->arena, err);
	if (rc)
		return rc;
	machine.n_cpus_allowed = sl__thread_n_cpus();
	machine.max_threads = (size_t)sl__choices_n_threads(options);
	rc = sl__machine_set_fingerprint(&machine, &c->arena, err);
	if (rc)
		return rc;
	/* The fingerprint has Sleuth's caps; this is the user's of oneDNN. */
	cap = sl__dnnl_user_cap();
	if (snprintf(c->path, sizeof(c->path), "%s/algorithms-%s%s%s.txt",
		     folder, machine.fingerprint, cap ? "-" : "",
		     cap ? cap : "") >= (int)sizeof(c->path)) {
		c->path[0] = '\0';
		sl__fail(&c->no_path, SL_E_ABSENT, "%s: name too long", folder);
	}
	return SL_OK;
}

static enum sl_status
read_file(struct sl__choices *c, struct sl_error *err)
{
	struct sl_buf text = {0};
	struct sl_error why = {0};
	int was_changed = c->is_changed;
	enum sl_status rc;

	if (!c->path[0])
		return SL_OK;
	rc = sl__cache_read(&text, c->path, &why);
	if (!rc)
		rc = parse(c, &text, &why);
	sl_buf_release(&text);
	c->is_changed = was_changed;
	if (rc == SL_E_NOMEM)
		return sl__fail_nomem(err);
	if (rc && rc != SL_E_ABSENT)
		sl__log(c->log, "remembered algorithms ignored: %s", why.text);
	return SL_OK;
}

/* What else used the CPUs in a moment in which this process does nothing; 0
 * where it cannot be told. */
static double
share_of_others(const struct sl__monitor_source *script)
{
	struct sl__system_times before, after;
	struct timespec moment = {0, 60000000};

	if (!sl__monitor_read_system(&before, script) ||
	    (!script && nanosleep(&moment, NULL)) ||
	    !sl__monitor_read_system(&after, script) ||
	    after.total <= before.total)
		return 0;
	return 1 - (double)(after.idle - before.idle) /
			   (double)(after.total - before.total);
}

int
sl__choices_is_doubtful(struct sl__choices *c, const struct sl__choice *known)
{
	if (!known->n_loaded || known->is_new || c->are_known_kept)
		return 0;
	if (known->n_loaded < LOOKS_ANYHOW)
		return 1;
	if (c->was_calm < 0)
		c->was_calm = share_of_others(sl__choices_monitor_source) < 0.2;
	return c->was_calm;
}

void
sl__choices_monitor(struct sl__choices *c)
{
	struct sl__measurement_sources with = {
		.monitor = sl__choices_monitor_source};

	if (!c->is_monitored)
		sl__monitor_open(&c->monitor, &with);
	c->is_monitored = 1;
}

/* Whether others used the CPUs while something was measured.  Too short for
 * the kernel's ticks, it is what our own runs noticed. */
static int
was_loaded(struct sl__choices *c)
{
	const struct sl__dnnl_timer *timer = c->timer;
	struct sl_noise noise;

	sl__monitor_close(&c->monitor, &noise);
	c->is_monitored = 0;
	if (noise.neighbour_share.absent)
		return timer && timer->n_runs < 4 * timer->n_waited;
	return noise.neighbour_share.value > LOAD_SHARE ||
	       (!noise.steal_share.absent &&
		noise.steal_share.value > LOAD_SHARE);
}

static void
note_load(struct sl__choices *c)
{
	int is_loaded = c->is_monitored && was_loaded(c);

	for (size_t i = 0; i < c->n; i++) {
		struct sl__choice *row = &c->rows[i];

		if (row->is_new)
			row->n_loaded = is_loaded ? row->n_loaded + 1 : 0;
		row->is_new = 0;
	}
	if (is_loaded)
		sl__log(c->log, "algorithms were measured while others used "
				"the CPUs: they will be measured again");
}

/* Another process may have added rows since the file was read. */
static enum sl_status
write_file(struct sl__choices *c, struct sl_error *err)
{
	struct sl_buf text = {0};
	enum sl_status rc = read_file(c, err);

	if (rc)
		return rc;
	write_rows(&text, c);
	rc = sl__buf_status(&text, err);
	if (!rc)
		rc = sl__cache_write(c->path, text.data, text.n_bytes, err);
	sl_buf_release(&text);
	return rc;
}

void
sl__choices_save(struct sl__choices *c)
{
	struct sl_error why = {0};
	enum sl_status rc;

	if (!c || !c->is_changed)
		return;
	note_load(c);
	why = c->no_path;
	rc = why.status;
	if (c->path[0])
		rc = write_file(c, &why);
	if (rc)
		sl__log(c->log, "measured algorithms are not kept: %s",
			why.text);
	else
		c->is_changed = 0;
}

enum sl_status
sl__choices_new(struct sl__choices **out, const struct sl_plan_options *options,
		struct sl_error *err)
{
	struct sl__choices *c =
		sl__allocator_alloc(options->allocator, sizeof(*c));
	enum sl_status rc;

	*out = NULL;
	if (!c)
		return sl__fail_nomem(err);
	memset(c, 0, sizeof(*c));
	sl__arena_init(&c->arena, options->allocator);
	sl__map_init(&c->ids, &c->arena);
	c->log = options->log;
	c->was_calm = -1;
	c->order = sl__choices_image_layout(options);
	c->are_known_kept = !!(options->flags & SL__PLAN_KNOWN_CHOICES);
	rc = find_path(c, options, err);
	if (!rc)
		rc = read_file(c, err);
	if (rc) {
		sl__choices_free(c);
		return rc;
	}
	*out = c;
	return SL_OK;
}

/* Whether the table has the choice as the program took it; then it is one to be
 * doubted. */
static int
contradict(struct sl__choices *c, const struct sl__choice_evidence *e)
{
	const size_t *row = sl__map_find(&c->ids, e->key);
	struct sl__choice *known = row ? &c->rows[*row] : NULL;

	if (!known || known->elapsed_ns != e->expected_ns || known->n_loaded ||
	    known->n_contradicted == CONTRADICTED_MOST)
		return 0;
	known->n_loaded = 1;
	known->n_contradicted++;
	sl__log(c->log, "%s: took %.3g us, measured as %.3g: measured again",
		e->key, (double)e->least_ns * 1e-3,
		(double)e->expected_ns * 1e-3);
	return 1;
}

void
sl__choices_contradict(const struct sl_plan_options *options,
		       const struct sl__program *p)
{
	struct sl__choices *c = NULL;

	if (sl__choice_runs_are_slow(p))
		return;
	for (size_t i = 0; i < p->n_steps; i++) {
		const struct sl__choice_evidence *e = p->steps[i].evidence;

		if (!sl__choice_is_contradicted(p, e))
			continue;
		if (!c && sl__choices_new(&c, options, NULL))
			return; /* it is remembered as it was */
		c->is_changed |= contradict(c, e);
	}
	sl__choices_save(c);
	sl__choices_free(c);
}

void
sl__choices_free(struct sl__choices *c)
{
	struct sl_allocator allocator;

	if (!c)
		return;
	if (c->is_monitored) {
		struct sl_noise ignored;

		sl__monitor_close(&c->monitor, &ignored);
	}
	sl__dnnl_timer_release(c->timer);
	allocator = c->arena.allocator;
	sl__arena_release(&c->arena);
	sl__allocator_free(&allocator, c);
}
