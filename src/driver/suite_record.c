/* SPDX-License-Identifier: Apache-2.0 */
/*
 * suite_record.c - what defines a suite's results, and what is finished of it.
 *
 * The lock file holds the facts that define the results, one in a line, so that
 * a later run can say what differs.  Beside it lies PATH.partial until the suite
 * is through: the figures of each repetition that was finished, under the hash
 * of the facts that were known before it.  Another hash is another experiment,
 * whose figures are not taken.  Both files are replaced whole.
 */
#include "base/buf.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/file_mapping.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/json_read.h"
#include "base/status.h"
#include "driver/suite_cells.h"
#include "machine/machine.h"
#include "sleuth.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "base/banned.h"

enum {
	LOCK_BYTES_MOST = 1 << 22,
	PARTIAL_BYTES_MOST = 1 << 28,
	KEEP_GAP_NS = 1000000000 /* what a kill may cost: a second */
};

/* Facts while they are found. */
struct facts {
	struct sl_parameter *list;
	size_t n, cap;
	struct sl__arena *arena;
	int has_failed; /* for want of memory */
};

/* Takes a name and a value from the arena, either NULL for want of memory. */
static void
add_fact(struct facts *f, const char *name, const char *value)
{
	if (!name || !value || f->has_failed ||
	    !sl__arena_grow(f->arena, &f->list, f->n, &f->cap,
			    sizeof(*f->list)))
		f->has_failed = 1;
	else
		f->list[f->n++] = (struct sl_parameter){name, value};
}

static const char *
hash_text(struct sl__arena *arena, const void *bytes, size_t n_bytes)
{
	struct sl__digest d = sl__digest_of(bytes, n_bytes);

	return sl__arena_format(arena, "%016" PRIx64 "%016" PRIx64, d.words[0],
				d.words[1]);
}

/* The hash of a file, or "built in" for what is no file. */
static const char *
file_hash(struct sl__arena *arena, const char *path)
{
	struct sl__file_mapping file;
	const char *hash;

	if (sl__file_mapping_open(&file, path, NULL))
		return "built in";
	hash = hash_text(arena, file.bytes, file.n_bytes);
	sl__file_mapping_close(&file);
	return hash;
}

static int
has_fact(const struct facts *f, const char *name)
{
	for (size_t i = 0; name && i < f->n; i++) {
		if (strcmp(f->list[i].name, name) == 0)
			return 1;
	}
	return 0;
}

static void
add_file(struct facts *f, const char *what, const char *path)
{
	const char *name;

	if (!path)
		return;
	name = sl__arena_format(f->arena, "%s %s", what, path);
	if (!has_fact(f, name))
		add_fact(f, name, file_hash(f->arena, path));
}

static enum sl_status
take_facts(struct sl__suite_run *r, const struct facts *f, struct sl_error *err)
{
	r->out->facts = f->list;
	r->out->n_facts = f->n;
	return f->has_failed ? sl__fail_nomem(err) : SL_OK;
}

enum sl_status
sl__suite_facts_find(struct sl__suite_run *r, const char *text, size_t n_bytes,
		     struct sl_error *err)
{
	struct facts f = {.arena = r->arena};
	struct sl_buf all = {0};
	const char *machine;
	enum sl_status rc = sl__machine_identify(&machine, r->arena, err);

	if (rc)
		return rc;
	add_fact(&f, "sleuth", sl_version());
	add_fact(&f, "machine", machine);
	add_fact(&f, "suite", hash_text(f.arena, text, n_bytes));
	add_fact(&f, "seed",
		 sl__arena_format(f.arena, "%" PRIu64, r->out->seed));
	add_fact(&f, "repetitions",
		 sl__arena_format(f.arena, "%zu", r->n_least));
	add_fact(&f, "time",
		 sl__arena_format(f.arena, "%g s", r->out->asked_s));
	for (size_t i = 0; i < r->n_models; i++)
		add_file(&f, "model", r->models[i].name);
	for (size_t i = 0; i < r->file.n_sections; i++) {
		add_file(&f, "data", r->file.sections[i].data);
		add_file(&f, "labels", r->file.sections[i].labels);
	}
	for (size_t i = 0; i < f.n; i++)
		sl__buf_format(&all, "%s = %s\n", f.list[i].name,
			       f.list[i].value);
	rc = sl__buf_status(&all, err);
	if (!rc)
		r->identity = hash_text(&r->scratch, all.data, all.n_bytes);
	sl_buf_release(&all);
	if (!rc && !r->identity)
		rc = sl__fail_nomem(err);
	return rc ? rc : take_facts(r, &f, err);
}

static const char *
partial_path(const struct sl__suite_run *r)
{
	return sl__arena_format(r->arena, "%s.partial", r->how.lock_path);
}

/* A file that cannot be written costs the resumption, not the results. */
static enum sl_status
write_or_say(struct sl__suite_run *r, struct sl_buf *text, const char *path,
	     struct sl_error *err)
{
	struct sl_error why;
	enum sl_status rc = sl__buf_status(text, err);

	if (!rc && sl_buf_write(text, path, &why))
		rc = sl__arena_copy_text(r->arena, &r->out->unsaved, why.text,
					 err);
	sl_buf_release(text);
	return rc;
}

static void
write_numbers(struct sl__json *json, const char *key, const double *x, size_t n)
{
	sl__json_array(json, key);
	for (size_t i = 0; i < n && !isnan(x[i]); i++)
		sl__json_number(json, NULL, x[i]);
	sl__json_end_array(json);
}

static void
write_accuracy(struct sl__json *json, const struct sl_suite_cell *c)
{
	const double figures[] = {c->accuracy.value, c->accuracy.lo,
				  c->accuracy.hi, (double)c->accuracy.n,
				  (double)c->accuracy_kind};

	write_numbers(json, "accuracy", figures, 5);
}

enum sl_status
sl__suite_partial_write(struct sl__suite_run *r, struct sl_error *err)
{
	size_t n = r->n_most;
	struct sl_buf text = {0};
	struct sl__json json;
	const char *path;

	if (!r->how.lock_path || r->out->unsaved)
		return SL_OK;
	path = partial_path(r);
	if (!path)
		return sl__fail_nomem(err);
	sl__json_init(&json, &text);
	sl__json_object(&json, NULL);
	sl__json_text(&json, "identity", r->identity);
	sl__json_number(&json, "seconds", r->measured_s);
	sl__json_array(&json, "cells");
	for (size_t i = 0; i < r->n_cells; i++) {
		const struct sl__suite_run_cell *c = &r->cells[i];

		sl__json_object(&json, NULL);
		write_numbers(&json, "ns", c->ns, n);
		write_numbers(&json, "ratios", c->ratios, n);
		write_numbers(&json, "joules", c->joules, n);
		if (c->has_accuracy && !c->out->accuracy_absent)
			write_accuracy(&json, c->out);
		sl__json_end_object(&json);
	}
	sl__json_end_array(&json);
	sl__json_end_object(&json);
	r->kept_ns = sl__clock_now_ns(NULL);
	return write_or_say(r, &text, path, err);
}

enum sl_status
sl__suite_partial_keep(struct sl__suite_run *r, struct sl_error *err)
{
	return sl__clock_now_ns(NULL) - r->kept_ns < KEEP_GAP_NS
		       ? SL_OK
		       : sl__suite_partial_write(r, err);
}

/* Numbers of a list, n at most; returns how many. */
static size_t
read_numbers(double *x, size_t n, const struct sl__json_value *object,
	     const char *key)
{
	const struct sl__json_value *list = sl__json_member(object, key);
	size_t k = 0;

	for (const struct sl__json_value *v = list ? list->first : NULL;
	     v && k < n && v->kind == SL__JSON_NUMBER; v = v->next)
		x[k++] = v->number;
	return k;
}

static void
take_cell(struct sl__suite_run_cell *c, size_t n,
	  const struct sl__json_value *saved)
{
	struct sl_suite_cell *out = c->out;
	double figures[5];

	if (read_numbers(figures, 5, saved, "accuracy") == 5 &&
	    figures[4] < SL_N_ACCURACY_KINDS) {
		out->accuracy = (struct sl_estimate){.value = figures[0],
						     .lo = figures[1],
						     .hi = figures[2],
						     .n = (size_t)figures[3]};
		out->accuracy_kind = (enum sl_accuracy_kind)figures[4];
		out->accuracy_absent = NULL;
		c->has_accuracy = 1;
	}
	if (out->failed)
		return;
	(void)read_numbers(c->ns, n, saved, "ns");
	(void)read_numbers(c->ratios, n, saved, "ratios");
	(void)read_numbers(c->joules, n, saved, "joules");
}

static void
take_partial(struct sl__suite_run *r, const struct sl__json_value *root)
{
	const struct sl__json_value *identity =
		sl__json_member(root, "identity");
	const struct sl__json_value *cells = sl__json_member(root, "cells");
	const struct sl__json_value *seconds = sl__json_member(root, "seconds");
	const struct sl__json_value *v;
	size_t least = SIZE_MAX;

	if (!identity || identity->kind != SL__JSON_TEXT ||
	    strcmp(identity->text, r->identity) != 0 || !cells ||
	    cells->n != r->n_cells)
		return;
	v = cells->first;
	for (size_t i = 0; v && i < r->n_cells; i++, v = v->next) {
		struct sl__suite_run_cell *c = &r->cells[i];
		size_t n = 0;

		take_cell(c, r->n_most, v);
		while (n < r->n_most && !isnan(c->ns[n]))
			n++;
		/* One that failed before has none, and is tried again. */
		if (n && n < least)
			least = n;
	}
	r->out->n_resumed = least < SIZE_MAX ? least : 0;
	if (r->out->n_resumed && seconds && seconds->kind == SL__JSON_NUMBER)
		r->measured_s = seconds->number;
}

enum sl_status
sl__suite_partial_read(struct sl__suite_run *r, struct sl_error *err)
{
	const struct sl__json_value *root;
	struct sl_buf text = {0};
	const char *path;
	enum sl_status rc = SL_OK;

	if (!r->how.lock_path || r->how.is_fresh)
		return SL_OK;
	path = partial_path(r);
	if (!path)
		return sl__fail_nomem(err);
	if (!sl__file_read(&text, path, PARTIAL_BYTES_MOST, NULL)) {
		rc = sl__json_read(&root, text.data ? text.data : "",
				   text.n_bytes, &r->scratch, err);
		if (!rc)
			take_partial(r, root);
		/* What is no such file is begun anew. */
		if (rc == SL_E_DATA)
			rc = SL_OK;
	}
	sl_buf_release(&text);
	return rc;
}

/* The facts of a lock file: "name = value" in each line, '#' remarks. */
static void
read_lock(struct facts *f, const struct sl_buf *text)
{
	const char *at = text->data ? text->data : "";

	while (*at) {
		size_t n = strcspn(at, "\n");
		const char *line =
			sl__arena_format(f->arena, "%.*s", (int)n, at);
		const char *equals = line ? strstr(line, " = ") : NULL;

		if (!line)
			f->has_failed = 1;
		else if (equals && *line != '#')
			add_fact(f,
				 sl__arena_format(f->arena, "%.*s",
						  (int)(equals - line), line),
				 equals + 3);
		at += n + (at[n] == '\n');
	}
}

static const char *
value_in(const struct sl_parameter *list, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++) {
		if (strcmp(list[i].name, name) == 0)
			return list[i].value;
	}
	return NULL;
}

static enum sl_status
find_differences(struct sl__suite_run *r, const struct facts *locked,
		 struct sl_error *err)
{
	struct sl_suite *out = r->out;
	struct sl_suite_difference *d =
		sl__arena_array(r->arena, locked->n + out->n_facts, sizeof(*d));

	if (!d)
		return sl__fail_nomem(err);
	out->differences = d;
	for (size_t i = 0; i < out->n_facts; i++) {
		const struct sl_parameter *now = &out->facts[i];
		const char *was = value_in(locked->list, locked->n, now->name);

		if (!was || strcmp(was, now->value) != 0)
			d[out->n_differences++] = (struct sl_suite_difference){
				now->name, was, now->value};
	}
	for (size_t i = 0; i < locked->n; i++) {
		const struct sl_parameter *was = &locked->list[i];

		if (!value_in(out->facts, out->n_facts, was->name))
			d[out->n_differences++] = (struct sl_suite_difference){
				was->name, was->value, NULL};
	}
	return SL_OK;
}

static enum sl_status
write_lock(struct sl__suite_run *r, struct sl_error *err)
{
	struct sl_suite *out = r->out;
	struct sl_buf text = {0};
	enum sl_status rc;

	sl__buf_text(&text, "# What defines the results of this suite; a later "
			    "run says what differs.\n");
	for (size_t i = 0; i < out->n_facts; i++)
		sl__buf_format(&text, "%s = %s\n", out->facts[i].name,
			       out->facts[i].value);
	rc = write_or_say(r, &text, r->how.lock_path, err);
	out->is_new_lock = !rc && !out->unsaved;
	return rc;
}

static enum sl_status
add_choices(struct sl__suite_run *r, struct sl_error *err)
{
	struct facts f = {.arena = r->arena};

	for (size_t i = 0; i < r->out->n_facts; i++)
		add_fact(&f, r->out->facts[i].name, r->out->facts[i].value);
	for (size_t i = 0; i < r->n_cells; i++) {
		const struct sl_suite_cell *c = r->cells[i].out;

		if (c->choices)
			add_fact(&f,
				 sl__arena_format(f.arena, "choices %s %s %s",
						  c->name,
						  sl_scenario_text(c->scenario),
						  c->variant),
				 c->choices);
	}
	return take_facts(r, &f, err);
}

enum sl_status
sl__suite_lock_compare(struct sl__suite_run *r, struct sl_error *err)
{
	struct sl_suite *out = r->out;
	struct facts locked = {.arena = r->arena};
	struct sl_buf text = {0};
	struct sl_error why;
	const char *path;
	enum sl_status rc = add_choices(r, err);

	if (rc || !r->how.lock_path)
		return rc;
	path = partial_path(r);
	if (!path)
		return sl__fail_nomem(err);
	rc = sl__arena_copy_text(r->arena, &out->lock_path, r->how.lock_path,
				 err);
	if (rc || out->stopped_by == SL_STOP_INTERRUPT)
		return rc;
	unlink(path);
	if (access(r->how.lock_path, F_OK) != 0)
		return write_lock(r, err);
	if (sl__file_read(&text, r->how.lock_path, LOCK_BYTES_MOST, &why))
		rc = sl__arena_copy_text(r->arena, &out->unsaved, why.text,
					 err);
	else
		read_lock(&locked, &text);
	sl_buf_release(&text);
	if (locked.has_failed)
		rc = sl__fail_nomem(err);
	if (!rc && !out->unsaved)
		rc = find_differences(r, &locked, err);
	return !rc && r->how.is_relocked ? write_lock(r, err) : rc;
}
