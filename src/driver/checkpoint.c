/* SPDX-License-Identifier: Apache-2.0 */
/*
 * checkpoint.c - a training run as far as it came, in a file.
 *
 * A line that says what it is, a header of 64-bit words, the texts and arrays
 * that the header counts, and a hash of all of it.  Numbers are as the machine
 * has them: a run goes on to the same bits on a machine of the same kind only.
 */
#include "driver/checkpoint.h"
#include "base/atomic_file.h"
#include "base/file_mapping.h"
#include "base/hash.h"
#include "base/status.h"

#include <string.h>

#include "base/banned.h"

static const char magic[] = "sleuth checkpoint 1\n";
enum { N_MAGIC = sizeof(magic) - 1 };

/* What follows the first line. */
struct header {
	uint64_t n_settings, n_state_bytes, has_best, n_curve, n_validation;
	uint64_t n_threads, n_steps, best_step, n_worse_epochs;
	double elapsed_s, best_loss;
	struct sl__train_window window;
};

struct writer {
	struct sl__atomic_file *file;
	uint64_t hash;
};

static void
put(struct writer *w, const void *bytes, size_t n)
{
	w->hash = sl__hash(bytes, n, w->hash);
	sl__atomic_file_add(w->file, bytes, n);
}

enum sl_status
sl__checkpoint_write(const struct sl__checkpoint *c, const char *path,
		     struct sl_error *err)
{
	const struct header h = {.n_settings = strlen(c->settings),
				 .n_state_bytes = c->n_state_bytes,
				 .has_best = c->best != NULL,
				 .n_curve = c->n_curve,
				 .n_validation = c->n_validation,
				 .n_threads = c->n_threads,
				 .n_steps = c->n_steps,
				 .best_step = c->best_step,
				 .n_worse_epochs = c->n_worse_epochs,
				 .elapsed_s = c->elapsed_s,
				 .best_loss = c->best_loss,
				 .window = c->window};
	struct writer w = {0};
	uint64_t hash;
	enum sl_status rc = sl__atomic_file_open(&w.file, path, NULL, err);

	if (rc)
		return rc;
	put(&w, magic, N_MAGIC);
	put(&w, &h, sizeof(h));
	put(&w, c->settings, (size_t)h.n_settings);
	put(&w, c->curve, c->n_curve * sizeof(*c->curve));
	put(&w, c->validation, c->n_validation * sizeof(*c->validation));
	put(&w, c->states, c->n_state_bytes);
	if (c->best)
		put(&w, c->best, c->n_state_bytes);
	hash = w.hash;
	put(&w, &hash, sizeof(hash));
	rc = sl__atomic_file_commit(w.file, err);
	sl__atomic_file_free(w.file);
	return rc;
}

struct reader {
	const unsigned char *at;
	size_t n_left;
	uint64_t hash;
	struct sl__arena *arena;
	enum sl_status rc;
};

/* Copies the next bytes, hashed as they were written. */
static void
take(struct reader *r, void *to, size_t n)
{
	if (r->rc)
		return;
	if (n > r->n_left) {
		r->rc = SL_E_DATA;
		return;
	}
	if (n)
		memcpy(to, r->at, n);
	r->hash = sl__hash(r->at, n, r->hash);
	r->at += n;
	r->n_left -= n;
}

/* The next n elements and a NUL, in the arena; NULL after a failure. */
static void *
take_array(struct reader *r, uint64_t n, size_t size)
{
	void *array;

	if (r->rc)
		return NULL;
	if (n > r->n_left / size) {
		r->rc = SL_E_DATA;
		return NULL;
	}
	array = sl__arena_alloc(r->arena, (size_t)n * size + 1);
	if (array)
		take(r, array, (size_t)n * size);
	else
		r->rc = SL_E_NOMEM;
	return array;
}

static void
read_all(struct sl__checkpoint *out, struct reader *r)
{
	struct header h = {0};
	uint64_t hash, stored = 0;

	take(r, &h, sizeof(h));
	*out = (struct sl__checkpoint){.n_threads = h.n_threads,
				       .n_steps = h.n_steps,
				       .best_step = h.best_step,
				       .n_worse_epochs = h.n_worse_epochs,
				       .elapsed_s = h.elapsed_s,
				       .best_loss = h.best_loss,
				       .window = h.window,
				       .n_curve = (size_t)h.n_curve,
				       .n_validation = (size_t)h.n_validation,
				       .n_state_bytes =
					       (size_t)h.n_state_bytes};
	out->settings = take_array(r, h.n_settings, 1);
	out->curve = take_array(r, h.n_curve, sizeof(*out->curve));
	out->validation =
		take_array(r, h.n_validation, sizeof(*out->validation));
	out->states = take_array(r, h.n_state_bytes, 1);
	out->best = h.has_best ? take_array(r, h.n_state_bytes, 1) : NULL;
	hash = r->hash;
	take(r, &stored, sizeof(stored));
	if (!r->rc && (stored != hash || r->n_left))
		r->rc = SL_E_DATA;
}

enum sl_status
sl__checkpoint_read(struct sl__checkpoint *out, const char *path,
		    struct sl__arena *arena, struct sl_error *err)
{
	struct sl__file_mapping file;
	struct reader r = {.arena = arena};
	char first[N_MAGIC] = "";
	enum sl_status rc = sl__file_mapping_open(&file, path, err);

	if (rc)
		return rc;
	r.at = file.bytes;
	r.n_left = file.n_bytes;
	take(&r, first, N_MAGIC);
	if (memcmp(first, magic, N_MAGIC) != 0) {
		rc = sl__fail(err, SL_E_DATA, "%.200s: not a checkpoint", path);
	} else {
		read_all(out, &r);
		rc = r.rc == SL_E_NOMEM ? sl__fail_nomem(err)
		     : r.rc             ? sl__fail(err, SL_E_DATA,
						   "%.200s: the checkpoint is cut off or "
							       "damaged",
						   path)
					: SL_OK;
	}
	sl__file_mapping_close(&file);
	return rc;
}

enum sl_status
sl__checkpoint_compare(const struct sl__checkpoint *c, const char *settings,
		       struct sl_error *err)
{
	const char *a = c->settings, *b = settings;
	size_t at = 0;

	if (!strcmp(a, b))
		return SL_OK;
	for (size_t i = 0; a[i] == b[i]; i++) {
		if (a[i] == ' ')
			at = i + 1;
	}
	return sl__fail(err, SL_E_DATA,
			"the checkpoint is of another run: it has %.*s, this "
			"one has %.*s",
			(int)strcspn(a + at, " "), a + at,
			(int)strcspn(b + at, " "), b + at);
}
