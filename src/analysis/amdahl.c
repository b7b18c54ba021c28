/* SPDX-License-Identifier: Apache-2.0 */
/* amdahl.c - what a model would gain if only a part of it were faster. */
#include "analysis/amdahl.h"
#include "base/status.h"
#include "stats/quantile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/banned.h"

double
sl__amdahl_speedup(double share, double factor)
{
	return 1 / ((1 - share) + (isinf(factor) ? 0 : share / factor));
}

double
sl__amdahl_share(const struct sl_profile *p, double ns)
{
	const struct sl_ledger *ledger = &p->ledger;
	double overhead = ledger->overhead_ns.n ? ledger->overhead_ns.value : 0;
	/* Never less than its parts, whatever noise does to the difference. */
	double iteration_ns =
		fmax(ledger->wall_ns - overhead, ledger->operations_ns);

	return iteration_ns > 0 ? fmin(fmax(ns / iteration_ns, 0), 1) : 0;
}

struct candidate {
	const char *type; /* that all have; NULL: a single operation */
	size_t operation; /* the first */
	size_t n;
	double self_ns;
};

static int
by_time(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	if (x->self_ns != y->self_ns)
		return x->self_ns < y->self_ns ? 1 : -1;
	if (!x->type != !y->type)
		return x->type ? -1 : 1;
	return x->operation < y->operation ? -1 : x->operation > y->operation;
}

static size_t
list_types(const struct sl_profile *p, struct candidate *out)
{
	size_t n = 0, n_kept = 0;

	for (size_t i = 0; i < p->n_operations; i++) {
		const struct sl_operation *op = &p->operations[i];
		size_t k = 0;

		while (k < n && strcmp(out[k].type, op->type) != 0)
			k++;
		if (k == n)
			out[n++] = (struct candidate){op->type, i, 0, 0};
		out[k].n++;
		out[k].self_ns += op->self_ns;
	}
	qsort(out, n, sizeof(*out), by_time);
	/* One operation is a row of its own. */
	for (size_t k = 0; k < n && n_kept < SL__AMDAHL_TYPES; k++) {
		if (out[k].n > 1)
			out[n_kept++] = out[k];
	}
	return n_kept;
}

static size_t
list_operations(const struct sl_profile *p, struct candidate *out)
{
	size_t n = p->n_operations < SL__AMDAHL_OPERATIONS
			   ? p->n_operations
			   : SL__AMDAHL_OPERATIONS;

	for (size_t k = 0; k < n; k++) {
		const struct sl_operation *op = &p->operations[p->by_time[k]];

		out[k] =
			(struct candidate){NULL, p->by_time[k], 1, op->self_ns};
	}
	return n;
}

/*
 * What a share may be off by: the cost of recording, which is taken off the
 * iteration, is an estimate, and time that is not attributed may be anybody's.
 * fmax() leaves out an end that is not known.
 */
static double
share_error(const struct sl_profile *p, double share)
{
	const struct sl_ledger *ledger = &p->ledger;
	const struct sl_estimate *overhead = &ledger->overhead_ns;
	double off = 0;

	if (overhead->n && ledger->wall_ns > 0)
		off = fmax(fmax(overhead->hi - overhead->value,
				overhead->value - overhead->lo),
			   0) /
		      ledger->wall_ns;
	return share * off + fabs(ledger->residual_share);
}

/* Of a share that lies between two others. */
static void
predict(struct sl_amdahl *row, double share, double least, double most)
{
	row->share = share;
	row->limit_lo = sl__amdahl_speedup(fmax(least, 0), (double)INFINITY);
	row->limit_hi = sl__amdahl_speedup(fmin(most, 1), (double)INFINITY);
	row->at_2 = sl__amdahl_speedup(row->share, 2);
	row->at_4 = sl__amdahl_speedup(row->share, 4);
	row->at_10 = sl__amdahl_speedup(row->share, 10);
	row->limit = sl__amdahl_speedup(row->share, (double)INFINITY);
}

/*
 * A profile's iterations were made seconds before any was left out, and what a
 * machine does to a model of some microseconds changes meanwhile by more than
 * either is uncertain: so what iterations recorded between those say replaces
 * it.  What such a one takes longer, or less, than a full one is nobody's in
 * particular, like what a profile does not attribute.
 */
static void
predict_again(struct sl_amdahl *row, const struct sl__ablation *found)
{
	const struct sl_estimate *share = &found->recorded_share;
	const struct sl_estimate *more = &found->recorded_more;
	double off = fmax(fabs(more->lo), fabs(more->hi));

	if (share->n && !share->needs_n && !more->needs_n)
		predict(row, fmin(share->value, 1), share->lo - off,
			share->hi + off);
}

static enum sl_status
add_row(struct sl__amdahl_rows *out, const struct candidate *c,
	const struct sl_profile *p, struct sl__arena *arena,
	struct sl_error *err)
{
	struct sl_amdahl *row = &out->rows[out->n];
	struct sl__ablation *target = &out->targets[out->n];
	size_t *steps = sl__arena_array(arena, c->n, sizeof(*steps));
	double share = sl__amdahl_share(p, c->self_ns);
	double error = share_error(p, share);
	size_t n = 0;

	if (!steps)
		return sl__fail_nomem(err);
	row->operation = c->operation;
	row->is_type = c->type != NULL;
	for (size_t i = 0; i < p->n_operations; i++) {
		if (c->type ? !strcmp(p->operations[i].type, c->type)
			    : i == c->operation)
			steps[n++] = p->operations[i].step;
	}
	row->n_operations = n;
	predict(row, share, share - error, share + error);
	row->measured_limit = sl__no_estimate();
	target->steps = steps;
	target->n_steps = n;
	target->share = row->share;
	out->n++;
	return SL_OK;
}

enum sl_status
sl__amdahl_rows_predict(struct sl__amdahl_rows *out, const struct sl_profile *p,
			struct sl__arena *arena, struct sl_error *err)
{
	size_t most = p->n_operations + SL__AMDAHL_OPERATIONS, n;
	struct candidate *list = sl__arena_array(arena, most, sizeof(*list));
	enum sl_status rc = SL_OK;

	memset(out, 0, sizeof(*out));
	out->rows = sl__arena_array(arena,
				    SL__AMDAHL_OPERATIONS + SL__AMDAHL_TYPES,
				    sizeof(*out->rows));
	out->targets = sl__arena_array(arena,
				       SL__AMDAHL_OPERATIONS + SL__AMDAHL_TYPES,
				       sizeof(*out->targets));
	if (!list || !out->rows || !out->targets)
		return sl__fail_nomem(err);
	n = list_types(p, list);
	n += list_operations(p, list + n);
	qsort(list, n, sizeof(*list), by_time);
	for (size_t k = 0; !rc && k < n; k++) {
		if (sl__amdahl_share(p, list[k].self_ns) >= SL__AMDAHL_SHARE)
			rc = add_row(out, &list[k], p, arena, err);
	}
	return rc;
}

void
sl__amdahl_rows_add_ablation(struct sl__amdahl_rows *amdahl, const char *why)
{
	for (size_t k = 0; k < amdahl->n; k++) {
		struct sl_amdahl *row = &amdahl->rows[k];

		row->absent = why;
		if (why)
			continue;
		row->measured_limit = amdahl->targets[k].limit;
		row->absent = amdahl->targets[k].absent;
		if (!row->absent)
			predict_again(row, &amdahl->targets[k]);
	}
}
