/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recompute.c - activations that are computed again for the backward pass.
 *
 * The forward pass is cut into segments.  Values that a later segment uses are
 * kept; the others of a segment go once the forward pass is past it, and the
 * nodes that made them run again before the first node of the backward pass
 * that uses one (Chen et al., Training deep nets with sublinear memory cost,
 * 2016).  The last segment, whose backward pass follows at once, is left as it
 * is.  A copy computes what the node computed, to the bit: random numbers come
 * from its name or seed, and nothing is fused that was not fused before.
 *
 * Segments hold about as many bytes of what the backward pass uses each; a cut
 * moves, by a quarter of a segment at most, to where the least crosses it.
 */
#include "base/status.h"
#include "transform/node_copies.h"
#include "transform/training.h"

#include <math.h>
#include <string.h>

#include "base/banned.h"

enum {
	SEGMENTS_TRIED = 64, /* the square of it is 4,096 layers */
	SMALL = 100          /* values of that share of their node's largest
				operand are kept: statistics of a norm */
};

struct cutting {
	struct sl__training_graph *out;
	struct sl__node_writer *w;
	struct sl__arena *arena;
	uint32_t *nodes; /* of the forward pass, in order */
	size_t n_nodes, n_values;
	uint64_t *n_bytes;    /* by value; 0: not made by the forward pass */
	size_t *made, *used;  /* by value: which of the nodes makes it, and 1 +
				 the last that uses it; n_nodes + 1: the loss */
	unsigned char *saved; /* by value: the backward pass uses it */
	uint64_t *crossing;   /* bytes that are used behind cut i */
	uint64_t *sums;       /* of saved bytes before cut i */
	size_t *cuts;         /* the first node of each segment, and n_nodes */
	size_t n_segments;
	unsigned char *is_shared;     /* by value: several nodes before the
					 backward pass use it */
	unsigned char *kept, *needed; /* by value */
	uint32_t *segment;            /* by value */
};

static void *
room(struct cutting *c, size_t n, size_t n_bytes)
{
	void *made = sl__arena_array(c->arena, n + 2, n_bytes);

	if (!made && !c->w->rc)
		c->w->rc = sl__fail_nomem(c->w->err);
	return made;
}

static int
make_room(struct cutting *c)
{
	size_t n = c->n_values;

	c->n_bytes = room(c, n, sizeof(*c->n_bytes));
	c->made = room(c, n, sizeof(*c->made));
	c->used = room(c, n, sizeof(*c->used));
	c->saved = room(c, n, 1);
	c->is_shared = room(c, n, 1);
	c->kept = room(c, n, 1);
	c->needed = room(c, n, 1);
	c->segment = room(c, n, sizeof(*c->segment));
	c->nodes = room(c, c->w->graph->blocks[0].n_nodes, sizeof(*c->nodes));
	c->crossing =
		room(c, c->w->graph->blocks[0].n_nodes, sizeof(*c->crossing));
	c->sums = room(c, c->w->graph->blocks[0].n_nodes, sizeof(*c->sums));
	c->cuts = room(c, SEGMENTS_TRIED, sizeof(*c->cuts));
	return !c->w->rc;
}

/* What the forward pass makes, and who uses it. */
static void
find_values(struct cutting *c)
{
	const struct sl_graph *graph = c->w->graph;
	const struct sl__block *main = &graph->blocks[0];

	for (size_t i = 0; i < main->n_nodes; i++) {
		const struct sl__node *node = &graph->nodes[main->nodes[i]];
		int is_forward = node->phase == SL_PHASE_FORWARD;

		for (uint32_t k = 0; k < node->n_inputs; k++) {
			uint32_t v = node->inputs[k];

			if (v == SL__NONE)
				continue;
			if (node->phase == SL_PHASE_BACKWARD) {
				c->saved[v] = 1;
				continue;
			}
			c->is_shared[v] |= c->used[v] > 0;
			c->used[v] = is_forward ? c->n_nodes + 1 : SIZE_MAX;
		}
		if (!is_forward)
			continue;
		for (uint32_t k = 0; k < node->n_outputs; k++) {
			uint32_t v = node->outputs[k];

			if (v != SL__NONE &&
			    sl__type_bytes(&c->w->shapes->types[v],
					   &c->n_bytes[v]))
				c->made[v] = c->n_nodes;
		}
		c->nodes[c->n_nodes++] = main->nodes[i];
	}
	c->used[c->out->output] = SIZE_MAX;
	for (size_t i = 0; i < c->out->n_states; i++)
		c->used[c->out->states[i].renewed] = SIZE_MAX;
}

/* What crosses each cut, and how much is saved before it. */
static void
weigh_cuts(struct cutting *c)
{
	for (size_t v = 0; v < c->n_values; v++) {
		size_t last = c->used[v] < c->n_nodes ? c->used[v] : c->n_nodes;

		if (!c->n_bytes[v])
			continue;
		for (size_t i = c->made[v] + 1; i < last; i++)
			c->crossing[i] += c->n_bytes[v];
		if (c->saved[v])
			c->sums[c->made[v] + 1] += c->n_bytes[v];
	}
	for (size_t i = 1; i <= c->n_nodes; i++)
		c->sums[i] += c->sums[i - 1];
}

/* The cut near a share of all that is saved that the least crosses, or the
 * nearest where none is near; 0: there is none. */
static size_t
choose_cut(const struct cutting *c, size_t from, double share, double reach)
{
	double all = (double)c->sums[c->n_nodes], distance = 0;
	size_t best = 0, nearest = 0;

	for (size_t i = from + 1; i < c->n_nodes; i++) {
		double off = fabs((double)c->sums[i] - share * all);

		if (!nearest || off < distance) {
			nearest = i;
			distance = off;
		}
		if (off > reach * all)
			continue;
		if (!best || c->crossing[i] < c->crossing[best])
			best = i;
	}
	return best ? best : nearest;
}

/* As many segments as that, or fewer where there are fewer nodes. */
static void
cut(struct cutting *c, size_t n)
{
	c->n_segments = 1;
	c->cuts[0] = 0;
	for (size_t k = 1; k < n; k++) {
		size_t at = choose_cut(c, c->cuts[c->n_segments - 1],
				       (double)k / (double)n, 0.25 / (double)n);

		if (at)
			c->cuts[c->n_segments++] = at;
	}
	c->cuts[c->n_segments] = c->n_nodes;
}

/* What a segment keeps of a node's results. */
static void
keep_results(struct cutting *c, const struct sl__node *node, size_t segment)
{
	uint64_t largest = 0;

	for (uint32_t k = 0; k < node->n_inputs; k++) {
		if (node->inputs[k] != SL__NONE &&
		    c->n_bytes[node->inputs[k]] > largest)
			largest = c->n_bytes[node->inputs[k]];
	}
	for (uint32_t k = 0; k < node->n_outputs; k++) {
		if (node->outputs[k] != SL__NONE &&
		    c->n_bytes[node->outputs[k]] > largest)
			largest = c->n_bytes[node->outputs[k]];
	}
	for (uint32_t k = 0; k < node->n_outputs; k++) {
		uint32_t v = node->outputs[k];

		if (v == SL__NONE)
			continue;
		c->segment[v] = (uint32_t)segment;
		c->needed[v] = 0;
		c->kept[v] = segment + 1 == c->n_segments ||
			     c->used[v] > c->cuts[segment + 1] ||
			     c->n_bytes[v] <= largest / SMALL ||
			     sl__node_has_body(node);
	}
}

/* Whether the node runs again: a value that is not kept is used by the backward
 * pass, or by another one that does. */
static int
is_needed(const struct cutting *c, const struct sl__node *node)
{
	for (uint32_t k = 0; k < node->n_outputs; k++) {
		uint32_t v = node->outputs[k];

		if (v != SL__NONE && !c->kept[v] &&
		    (c->saved[v] || c->needed[v]))
			return 1;
	}
	return 0;
}

/* What is kept and what is needed again, for the cuts that there are. */
static void
find_needed(struct cutting *c)
{
	const struct sl_graph *graph = c->w->graph;

	for (size_t s = 0; s < c->n_segments; s++) {
		for (size_t i = c->cuts[s]; i < c->cuts[s + 1]; i++)
			keep_results(c, &graph->nodes[c->nodes[i]], s);
	}
	for (size_t i = c->n_nodes; i-- > 0;) {
		const struct sl__node *node = &graph->nodes[c->nodes[i]];

		if (!is_needed(c, node))
			continue;
		for (uint32_t k = 0; k < node->n_inputs; k++) {
			if (node->inputs[k] != SL__NONE)
				c->needed[node->inputs[k]] = 1;
		}
	}
}

/*
 * About what the backward pass finds in memory, at its worst: all that is kept,
 * and one segment.  Of the last one, what it saves is no more than that.
 */
static uint64_t
weigh_segments(const struct cutting *c)
{
	uint64_t kept = 0, most = 0, again[SEGMENTS_TRIED + 1] = {0};

	for (size_t v = 0; v < c->n_values; v++) {
		size_t s = c->segment[v];
		int is_again = c->saved[v] || c->needed[v];

		if (!c->n_bytes[v])
			continue;
		if (s + 1 == c->n_segments ? c->saved[v]
					   : !c->kept[v] && is_again)
			again[s] += c->n_bytes[v];
		else if (c->kept[v] && is_again)
			kept += c->n_bytes[v];
	}
	for (size_t s = 0; s < c->n_segments; s++)
		most = again[s] > most ? again[s] : most;
	return kept + most;
}

/* The number of segments that needs the least memory. */
static size_t
choose_number(struct cutting *c)
{
	uint64_t least = UINT64_MAX;
	size_t best = 1;

	for (size_t n = 1; n <= SEGMENTS_TRIED; n++) {
		uint64_t n_bytes;

		cut(c, n);
		find_needed(c);
		n_bytes = weigh_segments(c);
		if (n_bytes < least) {
			least = n_bytes;
			best = n;
		}
	}
	return best;
}

/* "NAME.again"; of a node that draws random numbers its own, which they come
 * from. */
static const char *
name_of(struct cutting *c, const struct sl__node *node)
{
	const char *made;

	if (sl__node_draws(node))
		return node->name;
	made = sl__arena_format(&c->w->graph->arena, "%s.again", node->name);
	if (!made && !c->w->rc)
		c->w->rc = sl__fail_nomem(c->w->err);
	return made;
}

/* Lets a node of the backward pass use copies; 1 + the last of the segments
 * that it uses, 0: none. */
static size_t
use_copies(struct cutting *c, uint32_t id, const struct sl__node_copies *copies)
{
	struct sl__node *node = &c->w->graph->nodes[id];
	uint32_t *inputs = sl__arena_array(&c->w->graph->arena, node->n_inputs,
					   sizeof(*inputs));
	size_t last = 0;

	if (!inputs) {
		c->w->rc = sl__fail_nomem(c->w->err);
		return 0;
	}
	for (uint32_t k = 0; k < node->n_inputs; k++) {
		uint32_t v = node->inputs[k];

		inputs[k] = v;
		if (v >= c->n_values || !c->n_bytes[v] || c->kept[v])
			continue;
		inputs[k] = sl__node_copies_value(copies, v);
		if (inputs[k] != v && c->segment[v] + 1 > last)
			last = c->segment[v] + 1;
	}
	node->inputs = inputs;
	return last;
}

/* A segment's copies run before the first node that uses one. */
static void
insert_copies(struct cutting *c, const struct sl__node_copies *copies,
	      const uint32_t *first, size_t n_before)
{
	struct sl__block *main = &c->w->graph->blocks[0];
	uint32_t *old = room(c, main->n_nodes, sizeof(*old));
	unsigned char *is_there = room(c, c->n_segments, 1);
	size_t n = 0;

	if (c->w->rc)
		return;
	memcpy(old, main->nodes, main->n_nodes * sizeof(*old));
	for (size_t i = 0; !c->w->rc && i < n_before; i++) {
		size_t s = 0;

		if (c->w->graph->nodes[old[i]].phase == SL_PHASE_BACKWARD)
			s = use_copies(c, old[i], copies);
		if (s && !is_there[s - 1]) {
			is_there[s - 1] = 1;
			for (uint32_t k = first[s - 1]; k < first[s]; k++)
				main->nodes[n++] = old[n_before + k];
		}
		main->nodes[n++] = old[i];
	}
	/* Copies that nothing uses in the end. */
	for (size_t s = 0; s + 1 < c->n_segments; s++) {
		for (uint32_t k = first[s]; !is_there[s] && k < first[s + 1];
		     k++)
			main->nodes[n++] = old[n_before + k];
	}
}

/*
 * Results of a node that was copied.  What was kept is not made again.  What
 * the backward pass no longer takes from the forward pass could now be fused
 * with the node that uses it, and be rounded in another way: it stays apart, as
 * do copies that have fewer uses than the values they are of.
 */
static void
settle_results(struct cutting *c, const struct sl__node *node,
	       struct sl__node_copies *copies)
{
	for (uint32_t k = 0; !c->w->rc && k < node->n_outputs; k++) {
		uint32_t v = node->outputs[k];

		if (v == SL__NONE)
			continue;
		if (c->saved[v] && c->used[v])
			c->w->graph->values[v].is_apart = 1;
		if (c->kept[v])
			copies->copy_of[v] = SL__NONE;
		else if (c->saved[v] || c->is_shared[v])
			c->w->graph->values[copies->copy_of[v]].is_apart = 1;
	}
}

static void
add_copies(struct cutting *c)
{
	size_t n_before = c->w->graph->blocks[0].n_nodes;
	uint32_t *first = room(c, c->n_segments, sizeof(*first)), n = 0;
	struct sl__node_copies copies;

	sl__node_copies_begin(&copies, c->w, c->out->n_model_nodes, c->arena);
	if (c->w->rc)
		return;
	c->w->phase = SL_PHASE_RECOMPUTE;
	for (size_t s = 0; s + 1 < c->n_segments; s++) {
		first[s] = n;
		for (size_t i = c->cuts[s]; i < c->cuts[s + 1]; i++) {
			const struct sl__node node =
				c->w->graph->nodes[c->nodes[i]];
			const char *name;

			if (!is_needed(c, &node))
				continue;
			name = name_of(c, &node);
			if (c->w->rc)
				return;
			sl__node_copies_add(&copies, c->nodes[i], name);
			settle_results(c, &node, &copies);
			n++;
		}
		first[s + 1] = n;
	}
	c->w->phase = SL_PHASE_BACKWARD;
	insert_copies(c, &copies, first, n_before);
}

void
sl__training_recompute(struct sl__training_graph *t,
		       struct sl__differentiation *d, int64_t n_segments,
		       struct sl__arena *arena)
{
	struct cutting c = {.out = t,
			    .w = &d->w,
			    .arena = arena,
			    .n_values = d->w.graph->n_values};

	t->n_segments = 1;
	if (n_segments == 0 || !make_room(&c))
		return;
	find_values(&c);
	weigh_cuts(&c);
	if (n_segments > SEGMENTS_TRIED)
		n_segments = SEGMENTS_TRIED;
	cut(&c, n_segments < 0 ? choose_number(&c) : (size_t)n_segments);
	find_needed(&c);
	t->n_segments = c.n_segments;
	if (c.n_segments > 1)
		add_copies(&c);
}
