/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fit_verify.c - the largest size that really runs in given memory.
 *
 * From the size that was predicted on, one more and then twice as many more are
 * planned, weights and all, until one is out of memory, or fewer and fewer until
 * one is not, and the edge is found in between: planning asks for nearly all
 * memory there is to ask for.  The size at the edge is then run, and, where the
 * run needs more than the plan did, smaller ones.
 */
#include "base/status.h"
#include "experiment/confined.h"
#include "graph/graph.h"
#include "machine/platform.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/banned.h"

struct verifier {
	struct sl_fit *fit;
	const struct sl_graph *graph;
	const struct sl_fit_options *how;
	int is_run;        /* sizes are run, not only planned */
	int64_t good, bad; /* 0: none yet; bad may be refused */
	int is_refused;    /* the model takes no such size as 'bad' */
	int64_t planned;   /* the largest that could be planned; 0: none */
	struct sl__confined found; /* at 'good' */
	char why[512];             /* at 'bad' */
};

enum { SIZE_MOST = 1 << 30 };

/* Tries a size, which becomes the good or the bad one. */
static enum sl_status
try_size(struct verifier *v, int64_t size, struct sl_error *err)
{
	struct sl_sizes sizes = {.struct_size = sizeof(sizes)};
	struct sl_plan_options plan = {.struct_size = sizeof(plan),
				       .algorithms = SL_ALGORITHMS_FIXED,
				       .allocator = v->how->allocator};
	struct sl__confined_options how = {.graph = v->graph,
					   .plan = &plan,
					   .memory_bytes = v->how->memory_bytes,
					   .is_run = v->is_run};
	struct sl__confined result;
	enum sl_status rc;

	if (v->how->sizes)
		sizes = *v->how->sizes;
	plan.sizes = &sizes;
	if (!v->fit->fixed_at)
		*(v->fit->axis == SL_GROWTH_SEQ ? &sizes.seq : &sizes.batch) =
			size;
	rc = sl__confined_try(&result, &how, err);
	if (rc)
		return rc;
	v->fit->verified.n_trials++;
	if (!result.status) {
		v->good = size;
		v->found = result;
		return SL_OK;
	}
	if (result.status != SL_E_NOMEM && result.status != SL_E_DATA)
		return sl__fail(err, result.status, "%s %lld: %.400s",
				sl_growth_axis_text(v->fit->axis),
				(long long)size, result.text);
	v->bad = size;
	v->is_refused = result.status == SL_E_DATA;
	memcpy(v->why, result.text, sizeof(v->why));
	return SL_OK;
}

/* Away from a size that does (or does not) run, in steps that double, until
 * one does not (or does). */
static enum sl_status
gallop(struct verifier *v, int64_t from, struct sl_error *err)
{
	enum sl_status rc = try_size(v, from, err);

	for (int64_t step = 1; !rc && (!v->good || !v->bad); step *= 2) {
		int64_t next = v->good ? v->good + step : v->bad - step;

		if (v->bad == 1 || v->good >= SIZE_MOST)
			break;
		rc = try_size(v, next < 1 ? 1 : next, err);
	}
	return rc;
}

static enum sl_status
bisect(struct verifier *v, struct sl_error *err)
{
	enum sl_status rc = SL_OK;

	while (!rc && v->good && v->bad && v->bad - v->good > 1)
		rc = try_size(v, v->good + (v->bad - v->good) / 2, err);
	return rc;
}

/* Runs the size that could be planned, or the largest below that runs. */
static enum sl_status
run_at_edge(struct verifier *v, struct sl_error *err)
{
	int64_t edge = v->good;
	enum sl_status rc;

	v->planned = edge;
	v->is_run = 1;
	v->good = 0;
	if (!edge)
		return SL_OK;
	rc = try_size(v, edge, err);
	if (rc || v->good)
		return rc;
	rc = v->bad > 1 ? gallop(v, v->bad - 1, err) : SL_OK;
	return rc ? rc : bisect(v, err);
}

/* What was predicted took no weights in hand, or no plan at all. */
static const char *
find_difference(const struct verifier *v)
{
	if (v->good == v->fit->largest)
		return NULL;
	if (v->good != v->planned)
		return "a run needs memory that its plan does not know of";
	if (!v->fit->is_planned)
		return "the engine fuses, packs and keeps records, of which "
		       "the graph knows nothing";
	return "making the weights leaves other gaps in the heap than leaving "
	       "room for them";
}

/* A model that is refused down to the smallest size is not short of memory. */
static enum sl_status
conclude(struct verifier *v, struct sl_error *err)
{
	struct sl_fit_verified *out = &v->fit->verified;
	const char *why = v->why;

	if (!v->good && v->is_refused)
		return sl__fail(err, SL_E_DATA, "%s %lld: %.400s",
				sl_growth_axis_text(v->fit->axis),
				(long long)v->bad, v->why);
	out->runs_at = v->good;
	out->planned_at = v->planned;
	out->used_bytes = v->good ? v->found.used_bytes : (double)NAN;
	out->weights_bytes = v->good ? v->found.weights_bytes : (double)NAN;
	out->block_bytes = v->good ? v->found.block_bytes : (double)NAN;
	out->fails_at = v->is_refused ? 0 : v->bad;
	out->difference = find_difference(v);
	if (!v->bad)
		why = v->fit->fixed_at ? "the model takes no other size"
				       : "no larger size was tried";
	snprintf(out->why, sizeof(out->why), "%s", why);
	return SL_OK;
}

static enum sl_status
search(struct verifier *v, struct sl_error *err)
{
	const struct sl_fit *fit = v->fit;
	enum sl_status rc;

	if (fit->fixed_at) {
		v->is_run = 1;
		rc = try_size(v, fit->fixed_at, err);
		v->planned = v->good;
		return rc;
	}
	rc = gallop(v, fit->largest ? fit->largest : 1, err);
	if (!rc)
		rc = bisect(v, err);
	return rc ? rc : run_at_edge(v, err);
}

static enum sl_status
check(const struct verifier *v, struct sl_error *err)
{
	double there = (double)sl__platform_free_bytes("");

	if (v->how->optimizer)
		return sl__fail(err, SL_E_USAGE,
				"training cannot be run to verify it");
	if (there > 0 && v->how->memory_bytes > there)
		return sl__fail(err, SL_E_ABSENT,
				"this machine has %.3g GB of memory to spare: "
				"%.3g GB cannot be tried",
				there / 1e9, v->how->memory_bytes / 1e9);
	if (v->fit->is_unbounded || v->fit->is_cut)
		return sl__fail(err, SL_E_ABSENT,
				"memory does not end it: no size to verify");
	return SL_OK;
}

enum sl_status
sl_fit_verify(struct sl_fit *fit, const struct sl_graph *graph,
	      const struct sl_fit_options *options, struct sl_error *err)
{
	struct verifier v = {.fit = fit, .graph = graph, .how = options};
	struct sl_error why = {0};
	enum sl_status rc;

	memset(&fit->verified, 0, sizeof(fit->verified));
	rc = check(&v, &why);
	if (!rc)
		rc = search(&v, &why);
	if (!rc)
		rc = conclude(&v, &why);
	if (!rc)
		return SL_OK;
	/* What was tried up to then shows nothing: the prediction stands. */
	memset(&fit->verified, 0, sizeof(fit->verified));
	snprintf(fit->verified.why, sizeof(fit->verified.why), "%.500s",
		 why.text);
	return sl__fail(err, rc, "%s", why.text);
}
