/* SPDX-License-Identifier: Apache-2.0 */
/*
 * step_pairing.c - which steps of one plan do what those of another do.
 *
 * Steps are joined into sets (union-find) whenever they have a key in common:
 * the name of a node, with its number among nodes of that name.
 */
#include "experiment/step_pairing.h"
#include "base/cache_file.h"
#include "base/map.h"
#include "base/status.h"
#include "engine/dnnl_choice.h"
#include "graph/graph.h"

#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/banned.h"

struct joiner {
	struct sl__arena *arena;
	struct sl__map sets; /* from a key to a step that has it */
	size_t *parents;     /* steps of A, then of B */
	size_t n_a, n_b;
};

static size_t
root_of(struct joiner *j, size_t i)
{
	while (j->parents[i] != i) {
		j->parents[i] = j->parents[j->parents[i]];
		i = j->parents[i];
	}
	return i;
}

/* The smaller number becomes the root, so that a set's root is its first. */
static void
join(struct joiner *j, size_t x, size_t y)
{
	x = root_of(j, x);
	y = root_of(j, y);
	if (x < y)
		j->parents[y] = x;
	else
		j->parents[x] = y;
}

/* The step has the key; all that have it are one set. */
static enum sl_status
add_key(struct joiner *j, const char *key, size_t step, struct sl_error *err)
{
	const size_t *other;

	if (!key)
		return sl__fail_nomem(err);
	other = sl__map_find(&j->sets, key);
	if (other) {
		join(j, *other, step);
		return SL_OK;
	}
	return sl__map_put(&j->sets, key, step, err);
}

/* How often the text came before; counts it. */
static enum sl_status
count(struct sl__map *seen, const char *text, size_t *n, struct sl_error *err)
{
	const size_t *before;

	*n = 0;
	if (!text)
		return sl__fail_nomem(err);
	before = sl__map_find(seen, text);
	if (before)
		*n = *before;
	return sl__map_put(seen, text, *n + 1, err);
}

/* numbers[i]: how many nodes before node i have its name. */
static enum sl_status
number_nodes(struct joiner *j, const struct sl_graph *graph, size_t **numbers,
	     struct sl_error *err)
{
	struct sl__map seen;
	enum sl_status rc = SL_OK;

	sl__map_init(&seen, j->arena);
	*numbers = sl__arena_array(j->arena, graph->n_nodes, sizeof(**numbers));
	if (!*numbers)
		return sl__fail_nomem(err);
	for (size_t i = 0; !rc && i < graph->n_nodes; i++)
		rc = count(&seen, graph->nodes[i].name, &(*numbers)[i], err);
	return rc;
}

static enum sl_status
add_covers(struct joiner *j, const struct sl_graph *graph,
	   const size_t *numbers, const struct sl_step *step, size_t at,
	   struct sl_error *err)
{
	enum sl_status rc = SL_OK;

	for (size_t k = 0; !rc && k < step->n_covers; k++) {
		size_t node = step->covers[k];

		rc = add_key(j,
			     sl__arena_format(j->arena, "node %zu %s",
					      numbers[node],
					      graph->nodes[node].name),
			     at, err);
	}
	return rc;
}

static enum sl_status
add_side(struct joiner *j, const struct sl__step_pairing_side *side,
	 size_t base, struct sl_error *err)
{
	struct sl__map seen;
	struct sl_step step;
	size_t *numbers;
	enum sl_status rc = number_nodes(j, side->graph, &numbers, err);

	sl__map_init(&seen, j->arena);
	for (size_t i = 0; !rc && sl_plan_step(side->plan, i, &step); i++) {
		const char *name;
		size_t n = 0;

		j->parents[base + i] = base + i;
		if (step.n_covers) {
			rc = add_covers(j, side->graph, numbers, &step,
					base + i, err);
			continue;
		}
		name = sl__arena_format(j->arena, "%s %s", step.type,
					step.name);
		rc = count(&seen, name, &n, err);
		if (!rc)
			rc = add_key(j,
				     sl__arena_format(j->arena, "step %zu %s",
						      n, name),
				     base + i, err);
	}
	return rc;
}

/* Sets as pairs; roots are first steps, so that a pair is there before any
 * step that is not its first. */
static enum sl_status
number_pairs(struct joiner *j, struct sl__step_pairing *out,
	     struct sl_error *err)
{
	size_t n = j->n_a + j->n_b;
	size_t *pair_of = sl__arena_array(j->arena, n, sizeof(*pair_of));

	out->pairs = sl__arena_array(j->arena, n, sizeof(*out->pairs));
	if (!pair_of || !out->pairs)
		return sl__fail_nomem(err);
	out->of_a = pair_of;
	out->of_b = pair_of + j->n_a;
	out->n_steps_a = j->n_a;
	out->n_steps_b = j->n_b;
	for (size_t i = 0; i < n; i++) {
		size_t root = root_of(j, i);
		struct sl__step_pair *p;

		pair_of[i] = root == i ? out->n : pair_of[root];
		p = &out->pairs[pair_of[i]];
		if (root == i) {
			p->first_a = p->first_b = SIZE_MAX;
			out->n++;
		}
		if (i < j->n_a && !p->n_a++)
			p->first_a = i;
		if (i >= j->n_a && !p->n_b++)
			p->first_b = i - j->n_a;
	}
	return SL_OK;
}

static void
compare_kernels(struct sl__step_pairing *out,
		const struct sl__step_pairing_side *a,
		const struct sl__step_pairing_side *b)
{
	for (size_t i = 0; i < out->n; i++) {
		struct sl__step_pair *p = &out->pairs[i];
		struct sl_step x, y;

		if (p->n_a != 1 || p->n_b != 1 ||
		    !sl_plan_step(a->plan, p->first_a, &x) ||
		    !sl_plan_step(b->plan, p->first_b, &y))
			continue;
		p->is_alike = !strcmp(x.type, y.type) &&
			      x.n_covers == y.n_covers &&
			      x.nominal_flops == y.nominal_flops;
		p->has_other_kernel = p->is_alike &&
				      strcmp(x.kernel, y.kernel) != 0;
	}
}

enum sl_status
sl__step_pairing_match(struct sl__step_pairing *out,
		       const struct sl__step_pairing_side *a,
		       const struct sl__step_pairing_side *b,
		       struct sl__arena *arena, struct sl_error *err)
{
	struct joiner j = {.arena = arena,
			   .n_a = sl_plan_n_steps(a->plan),
			   .n_b = sl_plan_n_steps(b->plan)};
	enum sl_status rc;

	memset(out, 0, sizeof(*out));
	sl__map_init(&j.sets, arena);
	j.parents = sl__arena_array(arena, j.n_a + j.n_b, sizeof(*j.parents));
	if (!j.parents)
		return sl__fail_nomem(err);
	rc = add_side(&j, a, 0, err);
	if (!rc)
		rc = add_side(&j, b, j.n_a, err);
	if (!rc)
		rc = number_pairs(&j, out, err);
	if (!rc)
		compare_kernels(out, a, b);
	return rc;
}

static uint64_t
nominal_flops(const struct sl_plan *plan)
{
	struct sl_step step;
	uint64_t sum = 0;

	for (size_t i = 0; sl_plan_step(plan, i, &step); i++)
		sum += step.nominal_flops;
	return sum;
}

int
sl__step_pairing_is_common(const struct sl__step_pairing *pairing,
			   const struct sl_plan *a, const struct sl_plan *b)
{
	struct sl_step step;
	uint64_t common = 0;

	for (size_t i = 0; i < pairing->n; i++) {
		const struct sl__step_pair *p = &pairing->pairs[i];

		if (p->is_alike && sl_plan_step(a, p->first_a, &step))
			common += step.nominal_flops;
	}
	return common >= nominal_flops(a) / 2 && common >= nominal_flops(b) / 2;
}

int
sl__plans_have_same_steps(const struct sl_plan *a, const struct sl_plan *b)
{
	struct sl_step x, y;

	if (sl_plan_n_steps(a) != sl_plan_n_steps(b))
		return 0;
	for (size_t i = 0; sl_plan_step(a, i, &x) && sl_plan_step(b, i, &y);
	     i++) {
		if (strcmp(x.name, y.name) != 0 ||
		    strcmp(x.type, y.type) != 0 ||
		    strcmp(x.kernel, y.kernel) != 0)
			return 0;
	}
	return 1;
}

/*
 * Plans that share the algorithms they measured.
 *
 * A plan reads the file of choices when it is made and adds what it measured:
 * the next one finds that there.
 */

void
sl__shared_tuning_cache_open(struct sl__shared_tuning_cache *out)
{
	const char *base = getenv("TMPDIR");
	int n;

	*out = (struct sl__shared_tuning_cache){{0}};
	if (!base || base[0] != '/')
		base = "/tmp";
	n = snprintf(out->folder, sizeof(out->folder), "%s/sleuth-XXXXXX",
		     base);
	/* Without a folder each plan measures for itself; where that makes a
	 * difference the result says so. */
	if (n <= 0 || n >= (int)sizeof(out->folder) || !mkdtemp(out->folder))
		out->folder[0] = '\0';
}

void
sl__shared_tuning_cache_close(struct sl__shared_tuning_cache *choices)
{
	DIR *dir = choices->folder[0] ? opendir(choices->folder) : NULL;
	const struct dirent *entry;
	char path[sizeof(choices->folder) + sizeof(entry->d_name) + 1];

	while (dir && (entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", choices->folder,
			 entry->d_name);
		unlink(path);
	}
	if (dir)
		closedir(dir);
	if (choices->folder[0])
		rmdir(choices->folder);
	choices->folder[0] = '\0';
}

/* Whether choices of a plan outlive it. */
static int
is_kept(const struct sl_plan_options *how)
{
	char folder[SL__CACHE_PATH];

	return !(how->flags & SL_PLAN_NO_CACHE) &&
	       !sl__cache_folder(folder, how->cache_folder, NULL);
}

void
sl__plan_follow_choices(struct sl_plan_options *how, int image_layout)
{
	unsigned all =
		(unsigned)SL__PLAN_IMAGE_LAYOUT * SL__PLAN_IMAGE_LAYOUT_MOST;

	how->flags &= ~all;
	how->flags |= (unsigned)SL__PLAN_KNOWN_CHOICES |
		      (unsigned)image_layout * SL__PLAN_IMAGE_LAYOUT;
}

void
sl__shared_tuning_cache_use(struct sl__shared_tuning_cache *choices,
			    struct sl_plan_options *how)
{
	if (is_kept(how) || !choices->folder[0])
		return;
	how->cache_folder = choices->folder;
	how->flags &= ~(unsigned)SL_PLAN_NO_CACHE;
}

int
sl__plans_have_same_settings(const struct sl_plan *a, const struct sl_plan *b)
{
	const struct sl_plan_options *x = &a->options, *y = &b->options;
	unsigned layout =
		(unsigned)SL__PLAN_IMAGE_LAYOUT * SL__PLAN_IMAGE_LAYOUT_MOST;
	unsigned mattering =
		~(SL_PLAN_NO_CACHE | layout | (unsigned)SL__PLAN_KNOWN_CHOICES);

	return x->n_threads == y->n_threads && x->dtype == y->dtype &&
	       x->algorithms == y->algorithms &&
	       (x->flags & mattering) == (y->flags & mattering);
}
