/* SPDX-License-Identifier: Apache-2.0 */
/*
 * calibration_file.c - what known kernels answered, kept in a file.
 *
 * A line for each step, numbers only.  The first line has the version of the
 * format and of the kernels, and a hash of everything below.
 */
#include "base/buf.h"
#include "base/hash.h"
#include "base/status.h"
#include "experiment/calibrate.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/banned.h"

enum { VERSION = 2, NUMBERS_MOST = 64, STEPS_MOST = 4096 };

static size_t
add_all(double **at, size_t n, double *x, size_t n_x)
{
	for (size_t i = 0; i < n_x; i++)
		at[n++] = &x[i];
	return n;
}

/* The numbers of a line, in its order; how many. */
static size_t
numbers_of(struct sl__step_evidence *c, double *at[NUMBERS_MOST])
{
	double *const single[] = {
		&c->n_threads,     &c->time_ns,       &c->least_ns,
		&c->flops,         &c->n_bytes,       &c->core_flops,
		&c->n_dependent,   &c->flops_per_s,   &c->step_ns,
		&c->doubled_flops, &c->doubled_bytes, &c->hog.dram,
		&c->hog.l3,        &c->hog.l2,        &c->hog.compute,
		&c->others_share};
	size_t n = sizeof(single) / sizeof(single[0]);

	memcpy(at, single, sizeof(single));
	n = add_all(at, n, c->bytes_per_s, SL__N_MEMORIES);
	n = add_all(at, n, c->size_bytes, SL__N_MEMORIES);
	n = add_all(at, n, c->at_ns, SL_N_CONDITIONS);
	return add_all(at, n, c->spread, SL_N_CONDITIONS);
}

void
sl__calibration_write(struct sl_buf *out, const struct sl__calibration *c)
{
	struct sl_buf body = {0};

	sl__buf_format(&body, "%zu %zu %.6g\n", c->n, c->n_missing,
		       c->elapsed_s);
	for (size_t i = 0; i < c->n; i++) {
		struct sl__known_step step = c->steps[i];
		double *at[NUMBERS_MOST];
		size_t n = numbers_of(&step.evidence, at);

		sl__buf_format(&body, "%d %zu %d %zu %d", (int)step.bound,
			       step.kernel, step.is_repeat, step.number,
			       step.evidence.is_same_alone);
		for (size_t k = 0; k < n; k++)
			sl__buf_format(&body, " %.6g", *at[k]);
		sl__buf_format(&body, "\n");
	}
	if (body.data) {
		sl__buf_format(out, "sleuth-calibration %d %016" PRIx64 "\n",
			       VERSION, sl__hash(body.data, body.n_bytes, 0));
		sl__buf_add(out, body.data, body.n_bytes);
	}
	sl_buf_release(&body);
}

/* The next number of a text; NULL there stays. */
static double
next_number(const char **at)
{
	char *end = NULL;
	double x = *at ? strtod(*at, &end) : 0;

	*at = *at && end > *at ? end : NULL;
	return *at ? x : 0;
}

/* A whole one from 0 to 'most'. */
static size_t
next_whole(const char **at, double most)
{
	double x = next_number(at);

	if (!(x >= 0 && x <= most && x <= floor(x)))
		*at = NULL;
	return *at ? (size_t)x : 0;
}

static void
read_step(struct sl__known_step *to, const char **at, size_t n_steps)
{
	double *numbers[NUMBERS_MOST];
	size_t n = numbers_of(&to->evidence, numbers);

	to->bound = (enum sl_bound)next_whole(at, SL_N_BOUNDS - 1);
	to->kernel = next_whole(at, (double)n_steps - 1);
	to->is_repeat = next_whole(at, 1) > 0;
	to->number = next_whole(at, STEPS_MOST);
	to->evidence.is_same_alone = next_whole(at, 1) > 0;
	to->evidence.dtype = SL_DTYPE_F32;
	for (size_t k = 0; k < n; k++)
		*numbers[k] = next_number(at);
}

enum sl_status
sl__calibration_read(struct sl__calibration *out, const char *text,
		     struct sl__arena *arena, struct sl_error *err)
{
	const char *body = strchr(text, '\n');
	struct sl__known_step *steps;
	char first[64];

	if (!body)
		return SL_E_ABSENT;
	body++;
	snprintf(first, sizeof(first), "sleuth-calibration %d %016" PRIx64 "\n",
		 VERSION, sl__hash(body, strlen(body), 0));
	if (strncmp(text, first, strlen(first)) != 0)
		return SL_E_ABSENT;
	out->n = next_whole(&body, STEPS_MOST);
	out->n_missing = next_whole(&body, STEPS_MOST);
	out->elapsed_s = next_number(&body);
	steps = sl__arena_array(arena, out->n + 1, sizeof(*steps));
	if (!steps)
		return sl__fail_nomem(err);
	for (size_t i = 0; i < out->n; i++)
		read_step(&steps[i], &body, out->n);
	out->steps = steps;
	return body ? SL_OK : SL_E_ABSENT;
}
