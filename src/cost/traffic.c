/* SPDX-License-Identifier: Apache-2.0 */
/*
 * traffic.c - how many bytes each step moves between caches, predicted.
 *
 * All addresses are cut where an operand begins or ends.  A run is a stretch
 * between two cuts of which all was touched last by the same step; a step
 * splits the runs at the ends of its operands, and what it writes becomes one
 * run.  A Fenwick tree over moments holds how many bytes were touched last in
 * each, so that the bytes touched since a moment are a sum over a part of it.
 * Two passes are gone through: the first brings everything into the state in
 * which passes repeat, the second is counted.
 */
#include "cost/traffic.h"
#include "base/status.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/banned.h"

enum { WORD_BITS = 64, N_PASSES = 2 };

/* Invariants: of a run, at the number of the cut at which it begins. */
struct run {
	uint32_t last;   /* moment of the last touch, from 1 on; 0: never */
	uint32_t writer; /* step that wrote what did not go back yet */
	size_t piece;    /* of the step under way, where that touches it */
	double from, to; /* when in that step: 0 its begin, 1 its end */
	double dirty[SL_TRAFFIC_MOST]; /* share of it, by boundary */
};

/* A run as the step under way finds it. */
struct piece {
	size_t run;
	uint64_t n_bytes;
	uint32_t last;
	double was_from, was_to; /* as in struct run, of the last step */
	double from, to;         /* of this one */
	/* Distinct bytes: of steps in between; of the last step alone, of it
	 * and this one, of this one alone, none of them in between. */
	double between, only_last, both, only_now;
	int is_read, is_written;
};

struct mover {
	const struct sl__cache_boundary *boundaries;
	size_t n_boundaries;
	struct sl__cache_traffic *out; /* by step, then by boundary */
	uint64_t *cuts;                /* [n_cuts], rising */
	size_t n_cuts;
	uint64_t *starts; /* a bit for each cut: a run begins there */
	struct run *runs; /* by cut */
	uint64_t *sums;   /* Fenwick tree over moments 1 .. n_moments */
	size_t n_moments;
	uint64_t total; /* bytes touched so far */
	struct piece *pieces;
	size_t n_pieces;
	size_t n_steps;
};

static void
add_bytes(struct mover *m, size_t moment, uint64_t n_bytes)
{
	for (size_t i = moment; i <= m->n_moments; i += i & (~i + 1))
		m->sums[i] += n_bytes;
	m->total += n_bytes;
}

/* Bytes whose last touch was at that moment or later. */
static uint64_t
bytes_since(const struct mover *m, size_t moment)
{
	uint64_t earlier = 0;

	for (size_t i = moment - 1; i > 0; i &= i - 1)
		earlier += m->sums[i];
	return m->total - earlier;
}

static int
begins(const struct mover *m, size_t cut)
{
	return m->starts[cut / WORD_BITS] >> cut % WORD_BITS & 1;
}

static void
set_begin(struct mover *m, size_t cut)
{
	m->starts[cut / WORD_BITS] |= (uint64_t)1 << cut % WORD_BITS;
}

static void
clear_begin(struct mover *m, size_t cut)
{
	m->starts[cut / WORD_BITS] &= ~((uint64_t)1 << cut % WORD_BITS);
}

/* The cut at which the run that holds this one begins. */
static size_t
run_at(const struct mover *m, size_t cut)
{
	size_t word = cut / WORD_BITS;
	uint64_t bits = m->starts[word] << (WORD_BITS - 1 - cut % WORD_BITS);

	if (bits) {
		while (!begins(m, cut))
			cut--;
		return cut;
	}
	do
		word--;
	while (!m->starts[word]);
	cut = word * WORD_BITS + WORD_BITS - 1;
	while (!begins(m, cut))
		cut--;
	return cut;
}

/* The next cut at which a run begins; the last cut begins one. */
static size_t
next_run(const struct mover *m, size_t cut)
{
	size_t word = ++cut / WORD_BITS;

	if (m->starts[word] >> cut % WORD_BITS == 0) {
		do
			word++;
		while (!m->starts[word]);
		cut = word * WORD_BITS;
	}
	while (!begins(m, cut))
		cut++;
	return cut;
}

static int
by_address(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* The number of the cut at an address. */
static size_t
cut_of(const struct mover *m, uint64_t address)
{
	const uint64_t *at = bsearch(&address, m->cuts, m->n_cuts,
				     sizeof(*m->cuts), by_address);

	return (size_t)(at - m->cuts);
}

static void
split(struct mover *m, uint64_t address)
{
	size_t cut = cut_of(m, address), left;
	double at;

	if (begins(m, cut))
		return;
	left = run_at(m, cut);
	at = (double)(m->cuts[cut] - m->cuts[left]) /
	     (double)(m->cuts[next_run(m, cut)] - m->cuts[left]);
	at = m->runs[left].from + at * (m->runs[left].to - m->runs[left].from);
	m->runs[cut] = m->runs[left];
	m->runs[cut].from = at;
	m->runs[left].to = at;
	set_begin(m, cut);
}

/* What the step finds: every run that it touches, once.  A second operand
 * over the same run finds it touched, and adds what it does. */
static void
collect(struct mover *m, const struct sl__traffic_operand *o, uint32_t now)
{
	size_t end = cut_of(m, o->start + o->n_bytes);
	double n_bytes = (double)o->n_bytes;

	for (size_t cut = cut_of(m, o->start); cut < end;) {
		size_t next = next_run(m, cut);
		struct run *run = &m->runs[cut];
		struct piece *piece;

		if (run->last != now) {
			run->piece = m->n_pieces++;
			m->pieces[run->piece] = (struct piece){
				.run = cut,
				.n_bytes = m->cuts[next] - m->cuts[cut],
				.last = run->last,
				.was_from = run->from,
				.was_to = run->to,
			};
			run->from = (double)(m->cuts[cut] - o->start) / n_bytes;
			run->to = (double)(m->cuts[next] - o->start) / n_bytes;
			m->pieces[run->piece].from = run->from;
			m->pieces[run->piece].to = run->to;
		}
		piece = &m->pieces[run->piece];
		piece->is_read |= o->is_read;
		piece->is_written |= o->is_written;
		run->last = now;
		cut = next;
	}
}

/* How much was touched since each piece was. */
static void
measure(struct mover *m, uint32_t now)
{
	for (size_t i = 0; i < m->n_pieces; i++) {
		struct piece *p = &m->pieces[i];

		if (!p->last)
			continue;
		p->between = (double)bytes_since(m, p->last + 1);
		p->both = (double)bytes_since(m, p->last) - p->between;
	}
	for (size_t i = 0; i < m->n_pieces; i++) {
		const struct piece *p = &m->pieces[i];

		/* Unsigned numbers wrap around: that takes them away. */
		if (p->last)
			add_bytes(m, p->last, ~p->n_bytes + 1);
		add_bytes(m, now, p->n_bytes);
	}
	for (size_t i = 0; i < m->n_pieces; i++) {
		struct piece *p = &m->pieces[i];
		double after;

		if (!p->last)
			continue;
		after = (double)bytes_since(m, p->last + 1);
		p->only_last = (double)bytes_since(m, p->last) - after;
		p->both -= p->only_last;
		p->only_now = after - p->between - p->both;
	}
}

/* Distinct bytes touched since, when the last step was at a part 'was' and
 * this one is at 'now'. */
static double
bytes_between(const struct piece *p, double was, double now)
{
	return p->between + p->only_last * (1 - was) + p->only_now * now +
	       p->both * fmin(1, 1 - was + now);
}

/* The share of a piece that is no longer there. */
static double
missing(const struct piece *p, double capacity)
{
	double a = bytes_between(p, p->was_from, p->from);
	double b = bytes_between(p, p->was_to, p->to);
	double most = fmax(a, b), least = fmin(a, b);

	if (!p->last || least > capacity)
		return 1;
	return most > capacity ? (most - capacity) / (most - least) : 0;
}

static struct sl__cache_traffic *
crossing(const struct mover *m, size_t step, size_t k)
{
	return &m->out[step * m->n_boundaries + k];
}

/* What is gone went back, if it had been written, and comes again, if it is
 * read. */
static void
settle(struct mover *m, const struct piece *p, size_t step, int is_counted)
{
	struct run *run = &m->runs[p->run];

	for (size_t k = 0; k < m->n_boundaries; k++) {
		double gone = missing(p, m->boundaries[k].capacity_bytes);
		double n_bytes = gone * (double)p->n_bytes;

		if (is_counted && p->is_read)
			crossing(m, step, k)->in_bytes += n_bytes;
		if (is_counted)
			crossing(m, run->writer, k)->back_bytes +=
				n_bytes * run->dirty[k];
		run->dirty[k] = p->is_written ? 1 : run->dirty[k] * (1 - gone);
	}
	if (p->is_written)
		run->writer = (uint32_t)step;
}

/* What one operand was written to is one run from now on. */
static void
join(struct mover *m, const struct sl__traffic_operand *o)
{
	size_t first = cut_of(m, o->start);
	size_t end = cut_of(m, o->start + o->n_bytes);

	for (size_t i = next_run(m, first); i < end; i = next_run(m, i))
		clear_begin(m, i);
	m->runs[first].from = 0;
	m->runs[first].to = 1;
}

static void
take_step(struct mover *m, const struct sl__traffic_step *steps, size_t i,
	  size_t pass)
{
	const struct sl__traffic_step *step = &steps[i];
	uint32_t now = (uint32_t)(pass * m->n_steps + i + 1);

	m->n_pieces = 0;
	for (size_t k = 0; k < step->n_operands; k++) {
		const struct sl__traffic_operand *o = &step->operands[k];

		split(m, o->start);
		split(m, o->start + o->n_bytes);
	}
	for (size_t k = 0; k < step->n_operands; k++)
		collect(m, &step->operands[k], now);
	measure(m, now);
	for (size_t k = 0; k < m->n_pieces; k++)
		settle(m, &m->pieces[k], i, pass + 1 == N_PASSES);
	for (size_t k = 0; k < step->n_operands; k++) {
		if (step->operands[k].is_written && step->operands[k].n_bytes)
			join(m, &step->operands[k]);
	}
}

/* The least that products move, however they are done; negative where their
 * operands fit. */
static double
product_bytes(const struct sl__matmuls *p, const struct sl__cache_boundary *b)
{
	double each = p->n_multiply_adds / p->n;
	double own = b->own_bytes / p->element_bytes;
	double all = b->capacity_bytes / p->element_bytes;

	return p->element_bytes * p->n *
	       (2 * each / sqrt(p->n_covers * own) - 2 * all);
}

static void
add_products(struct mover *m, const struct sl__traffic_step *steps)
{
	for (size_t i = 0; i < m->n_steps; i++) {
		const struct sl__matmuls *p = &steps[i].products;

		if (!(p->n_multiply_adds > 0))
			continue;
		for (size_t k = 0; k < m->n_boundaries; k++) {
			struct sl__cache_traffic *c = crossing(m, i, k);
			double least = product_bytes(p, &m->boundaries[k]);

			c->in_bytes = fmax(c->in_bytes, least - c->back_bytes);
		}
	}
}

/*
 * A cache that keeps by chance or by cunning what the rule drops moves less,
 * but never less than all that a pass touches beyond what it holds.  That is
 * shared out as the rule says.
 */
static void
set_least(struct mover *m)
{
	for (size_t k = 0; k < m->n_boundaries; k++) {
		double beyond = fmax(
			0, (double)m->total - m->boundaries[k].capacity_bytes);
		double sum = 0;

		for (size_t i = 0; i < m->n_steps; i++)
			sum += crossing(m, i, k)->in_bytes +
			       crossing(m, i, k)->back_bytes;
		for (size_t i = 0; i < m->n_steps; i++) {
			struct sl__cache_traffic *c = crossing(m, i, k);

			c->least_bytes = fmax(c->in_bytes, c->back_bytes);
			if (sum > beyond)
				c->least_bytes *= beyond / sum;
		}
	}
}

static void
cut_up(struct mover *m, const struct sl__traffic_step *steps)
{
	size_t n = 0, n_distinct = 0;

	m->cuts[n++] = 0;
	for (size_t i = 0; i < m->n_steps; i++) {
		for (size_t k = 0; k < steps[i].n_operands; k++) {
			const struct sl__traffic_operand *o =
				&steps[i].operands[k];

			m->cuts[n++] = o->start;
			m->cuts[n++] = o->start + o->n_bytes;
		}
	}
	qsort(m->cuts, n, sizeof(*m->cuts), by_address);
	for (size_t i = 0; i < n; i++) {
		if (!i || m->cuts[i] != m->cuts[n_distinct - 1])
			m->cuts[n_distinct++] = m->cuts[i];
	}
	m->n_cuts = n_distinct;
}

static enum sl_status
make_room(struct mover *m, const struct sl__traffic_step *steps,
	  struct sl__arena *scratch)
{
	size_t n = 1;

	for (size_t i = 0; i < m->n_steps; i++)
		n += 2 * steps[i].n_operands;
	m->n_moments = N_PASSES * m->n_steps;
	if (m->n_moments > UINT32_MAX / 2)
		return SL_E_NOMEM;
	m->cuts = sl__arena_array(scratch, n, sizeof(*m->cuts));
	m->starts =
		sl__arena_array(scratch, n / WORD_BITS + 1, sizeof(*m->starts));
	m->runs = sl__arena_array(scratch, n, sizeof(*m->runs));
	m->pieces = sl__arena_array(scratch, n, sizeof(*m->pieces));
	m->sums = sl__arena_array(scratch, m->n_moments + 1, sizeof(*m->sums));
	return m->cuts && m->starts && m->runs && m->pieces && m->sums
		       ? SL_OK
		       : SL_E_NOMEM;
}

enum sl_status
sl__traffic_predict(struct sl__cache_traffic *out,
		    const struct sl__traffic_step *steps, size_t n_steps,
		    const struct sl__cache_boundary *boundaries,
		    size_t n_boundaries, struct sl__arena *scratch)
{
	struct mover m = {.boundaries = boundaries,
			  .n_boundaries = n_boundaries,
			  .out = out,
			  .n_steps = n_steps};
	enum sl_status rc;

	if (!n_steps || !n_boundaries)
		return SL_OK;
	rc = make_room(&m, steps, scratch);
	if (rc)
		return rc;
	memset(out, 0, n_steps * n_boundaries * sizeof(*out));
	cut_up(&m, steps);
	set_begin(&m, 0);
	set_begin(&m, m.n_cuts - 1);
	for (size_t pass = 0; pass < N_PASSES; pass++) {
		for (size_t i = 0; i < n_steps; i++)
			take_step(&m, steps, i, pass);
	}
	set_least(&m);
	add_products(&m, steps);
	return SL_OK;
}
