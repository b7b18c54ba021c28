/* SPDX-License-Identifier: Apache-2.0 */
/*
 * advice.c - what would make a model faster, and by how much at most.
 *
 * The rules here name operations that could be faster or go, and bound the
 * gain by Amdahl's law: what they take of a pass, by medians, or, where an
 * ablation of the very same operations was run, what that showed.
 */
#include "analysis/advice.h"
#include "analysis/advice_rules.h"
#include "analysis/amdahl.h"
#include "analysis/sentences.h"
#include "base/status.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/banned.h"

/* More of a pass than this leaves nothing to compare with. */
#define WHOLE_SHARE 0.95

/* An interval of an ablation that is wider, hi / lo, says less than the
 * share. */
#define WIDEST 1.1

/* Less than this in one operation is not worth changing the model for. */
#define LARGE_SHARE 0.1

/* A bound above this is no figure to hope for. */
#define FAR 20.0

const char *
sl__advice_words(struct sl__adviser *a, const char *format, ...)
{
	char *text = NULL;
	va_list list, again;
	int n;

	va_start(list, format);
	va_copy(again, list);
	n = a->is_short ? -1 : vsnprintf(NULL, 0, format, list);
	va_end(list);
	if (n >= 0)
		text = sl__arena_alloc(a->arena, (size_t)n + 1);
	if (text)
		(void)vsnprintf(text, (size_t)n + 1, format, again);
	va_end(again);
	a->is_short |= !text;
	return text;
}

/* "208 parameters", "38.6 M parameters". */
static const char *
parameter_words(struct sl__phrase *w, uint64_t n)
{
	if (n < 1000)
		snprintf(w->s, sizeof(w->s), "%u parameter%s", (unsigned)n,
			 n == 1 ? "" : "s");
	else if (n < 999500)
		snprintf(w->s, sizeof(w->s), "%.3g k parameters",
			 (double)n / 1e3);
	else if (n < 999500000)
		snprintf(w->s, sizeof(w->s), "%.3g M parameters",
			 (double)n / 1e6);
	else
		snprintf(w->s, sizeof(w->s), "%.4g G parameters",
			 (double)n / 1e9);
	return w->s;
}

static const char *
expected_words(struct sl__adviser *a, const struct sl__proposal *p)
{
	struct sl__phrase least, now;

	if (p->most <= FAR)
		return sl__advice_words(a, "at most %.2f x%s", p->most,
					p->unit);
	return sl__advice_words(a, "no faster than %s%s; %s now",
				sl__phrase_time(&least, a->pass_ns / p->most),
				p->unit, sl__phrase_time(&now, a->pass_ns));
}

void
sl__propose(struct sl__adviser *a, const struct sl__proposal *p)
{
	struct sl_advice *advice = &a->proposals[a->n];

	if (!(p->most >= SL__ADVICE_LEAST) || isinf(p->most) ||
	    a->n == SL__PROPOSALS_MOST)
		return;
	advice->text = p->text;
	advice->least = 1;
	advice->most = p->most;
	advice->expected = expected_words(a, p);
	advice->basis = p->basis;
	advice->command = p->command;
	a->n++;
}

int
sl__is_among(const char *text, const char *const *list)
{
	for (; *list; list++) {
		if (!strcmp(text, *list))
			return 1;
	}
	return 0;
}

/* A word as a shell takes it; it ends a quotation to say a quote. */
static const char *
quoted(struct sl__adviser *a, const char *word)
{
	const char *text = "'";

	for (;;) {
		size_t n = strcspn(word, "'");

		text = sl__advice_words(a, "%s%.*s%s", text, (int)n, word,
					word[n] ? "'\\''" : "'");
		if (!text || !word[n])
			return text;
		word += n + 1;
	}
}

static const char *
shell_word(struct sl__adviser *a, const char *word)
{
	size_t n_plain = strspn(word, "abcdefghijklmnopqrstuvwxyz"
				      "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789_-+=./@:,");

	return *word && !word[n_plain] ? word : quoted(a, word);
}

static const char *
add_number(struct sl__adviser *a, const char *text, const char *option,
	   int64_t n)
{
	return sl__advice_words(a, "%s --%s %lld", text, option, (long long)n);
}

static const char *
add_dims(struct sl__adviser *a, const char *text, const struct sl_sizes *sizes)
{
	for (size_t i = 0; i < sizes->n_dims && !a->is_short; i++) {
		const char *word =
			sl__advice_words(a, "%s=%lld", sizes->dims[i].name,
					 (long long)sizes->dims[i].size);

		if (word)
			text = sl__advice_words(a, "%s --dim %s", text,
						shell_word(a, word));
	}
	return text;
}

static const char *
add_shapes(struct sl__adviser *a, const char *text,
	   const struct sl_sizes *sizes)
{
	for (size_t i = 0; i < sizes->n_shapes && !a->is_short; i++) {
		const struct sl_input_shape *shape = &sizes->shapes[i];
		const char *word = sl__advice_words(a, "%s=", shape->input);

		for (size_t k = 0; k < shape->rank; k++)
			word = sl__advice_words(a, "%s%s%lld", word,
						k ? "," : "",
						(long long)shape->dims[k]);
		if (word)
			text = sl__advice_words(a, "%s --shape %s", text,
						shell_word(a, word));
	}
	return text;
}

static const char *
add_sizes(struct sl__adviser *a, const char *text, const struct sl_sizes *sizes,
	  unsigned left)
{
	int has_past = sizes->past || sizes->has_past;

	if (sizes->batch && !(left & SL__LEAVE_BATCH))
		text = add_number(a, text, "batch", sizes->batch);
	if (sizes->seq && !(left & SL__LEAVE_SEQ))
		text = add_number(a, text, "seq", sizes->seq);
	if (has_past && !(left & SL__LEAVE_SEQ))
		text = add_number(a, text, "past", sizes->past);
	text = add_dims(a, text, sizes);
	text = add_shapes(a, text, sizes);
	if (sizes->inputs_folder && !a->is_short)
		text = sl__advice_words(a, "%s --inputs %s", text,
					shell_word(a, sizes->inputs_folder));
	return text;
}

/* How the model is run; plain loops are one step per node by themselves. */
static const char *
add_plan(struct sl__adviser *a, const char *text,
	 const struct sl_plan_options *plan, unsigned left)
{
	int is_reference = (plan->flags & SL_PLAN_REFERENCE) != 0;

	if (plan->n_threads && !(left & SL__LEAVE_THREADS))
		text = add_number(a, text, "threads", plan->n_threads);
	if (plan->dtype == SL_DTYPE_BF16 && !(left & SL__LEAVE_DTYPE))
		text = sl__advice_words(a, "%s --dtype bf16", text);
	if (plan->algorithms == SL_ALGORITHMS_FIXED &&
	    !(left & SL__LEAVE_ALGORITHMS))
		text = sl__advice_words(a, "%s --algorithms fixed", text);
	if (is_reference && !(left & SL__LEAVE_REFERENCE))
		text = sl__advice_words(a, "%s --reference", text);
	if (!is_reference && plan->flags & SL_PLAN_NO_FUSION &&
	    !(left & SL__LEAVE_NO_FUSION))
		text = sl__advice_words(a, "%s --no-fusion", text);
	if (plan->nan_policy == SL_NAN_REFUSED)
		text = sl__advice_words(a, "%s --nan refuse", text);
	return text;
}

const char *
sl__advice_command(struct sl__adviser *a, const char *verb, unsigned left,
		   const char *added)
{
	const struct sl_plan_options *plan = a->how->plan;
	const struct sl_profile *p = a->profile;
	const char *own = strcmp(p->source, "zoo") ? p->source : p->name;
	const char *model = a->how->model ? a->how->model : own;
	const char *text =
		sl__advice_words(a, "sleuth %s %s", verb, shell_word(a, model));

	if (plan && plan->sizes)
		text = add_sizes(a, text, plan->sizes, left);
	if (plan)
		text = add_plan(a, text, plan, left);
	if (a->how->layer && added && !strstr(added, " --layer "))
		text = sl__advice_words(a, "%s --layer %s", text,
					shell_word(a, a->how->layer));
	return sl__advice_words(a, "%s%s", text, added);
}

int
sl__has_fixed_shapes(const struct sl__adviser *a)
{
	const struct sl_plan_options *plan = a->how->plan;

	return plan && plan->sizes &&
	       (plan->sizes->n_shapes || plan->sizes->inputs_folder);
}

/* Some operations, and what there is if they took no time. */
struct chosen {
	size_t n;
	double now_ns, share; /* of a pass */
	double bound_ns;      /* that their work takes on this machine */
	const struct sl_operation *largest;
	const char *type;            /* that all have; NULL: several */
	struct sl_estimate measured; /* by ablation; n 0: not */
	double most;
};

/* Whether a row is of all operations of a type. */
static int
is_of_type(const struct sl_profile *p, const struct sl_amdahl *row,
	   const char *type)
{
	return row->is_type &&
	       !strcmp(p->operations[row->operation].type, type);
}

/* The row of an ablation of just these operations. */
static const struct sl_amdahl *
find_row(const struct sl_profile *p, const struct chosen *c)
{
	for (size_t i = 0; i < p->n_amdahl; i++) {
		const struct sl_amdahl *row = &p->amdahl[i];

		if (row->n_operations != c->n)
			continue;
		if (c->n == 1 && &p->operations[row->operation] == c->largest)
			return row;
		if (c->n > 1 && c->type && is_of_type(p, row, c->type))
			return row;
	}
	return NULL;
}

/* By itself, in recorded passes. */
static double
own_ns(const struct sl_operation *op)
{
	return op->median_ns.n && op->n_calls > 0
		       ? op->n_calls * op->median_ns.value
		       : op->self_ns;
}

double
sl__advice_now_ns(const struct sl__adviser *a, const struct sl_operation *op)
{
	return a->scale * own_ns(op);
}

static double
share_of(const struct sl__adviser *a, double ns)
{
	return fmin(fmax(ns / a->pass_ns, 0), 1);
}

static int
is_measured(const struct sl_amdahl *row)
{
	return row && row->measured_limit.n && !row->measured_limit.needs_n;
}

/* One that is hardly known can only take away. */
static double
capped(double most, const struct sl_estimate *limit)
{
	return limit->hi > WIDEST * limit->lo ? fmin(most, limit->hi)
					      : limit->hi;
}

/* The most that can be had from operations that take so long. */
static void
bound_chosen(const struct sl__adviser *a, struct chosen *c)
{
	const struct sl_amdahl *row = find_row(a->profile, c);

	c->share = share_of(a, c->now_ns);
	c->most = sl__amdahl_speedup(c->share, (double)INFINITY);
	if (!is_measured(row))
		return;
	c->most = capped(c->most, &row->measured_limit);
	if (row->measured_limit.hi <= WIDEST * row->measured_limit.lo)
		c->measured = row->measured_limit;
}

/* The row of all operations of a type, or of this one. */
static const struct sl_amdahl *
row_over(const struct sl_profile *p, const struct sl_operation *op)
{
	for (size_t i = 0; i < p->n_amdahl; i++) {
		const struct sl_amdahl *row = &p->amdahl[i];

		if (is_measured(row) && is_of_type(p, row, op->type))
			return row;
	}
	for (size_t i = 0; i < p->n_amdahl; i++) {
		const struct sl_amdahl *row = &p->amdahl[i];

		if (is_measured(row) && row->n_operations == 1 &&
		    &p->operations[row->operation] == op)
			return row;
	}
	return NULL;
}

double
sl__advice_limit(const struct sl__adviser *a, sl__chooses *is_chosen)
{
	const struct sl_profile *p = a->profile;
	double gone = 0;

	for (size_t i = 0; i < p->n_operations; i++) {
		const struct sl_operation *op = &p->operations[i];
		const struct sl_amdahl *row = row_over(p, op);
		size_t first = 0;

		if (!is_chosen(op))
			continue;
		if (!row) {
			gone += share_of(a, sl__advice_now_ns(a, op));
			continue;
		}
		/* A row of a type counts once. */
		while (row->n_operations > 1 &&
		       (!is_chosen(&p->operations[first]) ||
			strcmp(p->operations[first].type, op->type) != 0))
			first++;
		if (row->n_operations == 1 || first == i)
			gone += fmax(0, 1 - 1 / row->measured_limit.hi);
	}
	return gone < 1 ? 1 / (1 - gone) : (double)INFINITY;
}

static struct chosen
choose(const struct sl__adviser *a, sl__chooses *is_chosen)
{
	const struct sl_profile *p = a->profile;
	struct chosen c = {0};

	for (size_t i = 0; i < p->n_operations; i++) {
		const struct sl_operation *op = &p->operations[i];

		if (!is_chosen(op))
			continue;
		c.type = !c.n || (c.type && !strcmp(c.type, op->type))
				 ? op->type
				 : NULL;
		c.n++;
		c.now_ns += sl__advice_now_ns(a, op);
		if (op->bound_ns > 0)
			c.bound_ns += op->n_calls * op->bound_ns;
		if (!c.largest || op->self_ns > c.largest->self_ns)
			c.largest = op;
	}
	bound_chosen(a, &c);
	return c;
}

static const char *
basis_of(struct sl__adviser *a, const struct chosen *c)
{
	const char *are = c->n == 1 ? "it takes" : "they take";

	if (!c->measured.n)
		return sl__advice_words(a, "%s %.2g %% of the pass", are,
					100 * c->share);
	return sl__advice_words(
		a, "%s %.2g %% of the pass; ablated: %.2f [%.2f, %.2f]", are,
		100 * c->share, c->measured.value, c->measured.lo,
		c->measured.hi);
}

static const char *
layer_command(struct sl__adviser *a, const struct chosen *c)
{
	const char *layer =
		sl__advice_words(a, " --layer %s", quoted(a, c->largest->name));

	return sl__advice_command(a, "profile", 0, layer);
}

/* Proposes to be rid of operations; those of one are named, of several the
 * one that takes longest. */
static void
propose_chosen(struct sl__adviser *a, const struct chosen *c, const char *text,
	       const char *command)
{
	struct sl__proposal proposal = {
		.text = text, .command = command, .most = c->most, .unit = ""};

	if (c->most < SL__ADVICE_LEAST)
		return;
	proposal.basis = basis_of(a, c);
	sl__propose(a, &proposal);
}

static int
is_slow_path(const struct sl_operation *op)
{
	return op->path == SL_PATH_REFERENCE || op->path == SL_PATH_STEPWISE;
}

static void
advise_reference(struct sl__adviser *a)
{
	struct chosen c = choose(a, is_slow_path);
	const char *text;

	if (!c.n)
		return;
	/* Their work remains. */
	c.most = fmin(c.most, a->pass_ns / (a->pass_ns - c.now_ns +
					    fmin(c.bound_ns, c.now_ns)));
	if (a->how->plan && a->how->plan->flags & SL_PLAN_REFERENCE) {
		text = sl__advice_words(a,
					"Leave out --reference: %zu "
					"operations run on plain loops",
					c.n);
		propose_chosen(a, &c, text,
			       sl__advice_command(a, "profile",
						  SL__LEAVE_REFERENCE, ""));
		return;
	}
	text = c.n == 1 ? sl__advice_words(a,
					   "Replace '%s' (%s), which runs on "
					   "plain loops, by operators that "
					   "have a fast kernel",
					   c.largest->name, c.largest->type)
			: sl__advice_words(a,
					   "Replace %zu operations that run on "
					   "plain loops, '%s' (%s) first",
					   c.n, c.largest->name,
					   c.largest->type);
	propose_chosen(a, &c, text, layer_command(a, &c));
}

static int
is_reorder(const struct sl_operation *op)
{
	return !strcmp(op->type, "Reorder");
}

static void
advise_reorders(struct sl__adviser *a)
{
	const struct sl_plan_options *plan = a->how->plan;
	int is_fixed = plan && plan->algorithms == SL_ALGORITHMS_FIXED;
	struct chosen c = choose(a, is_reorder);

	if (!c.n)
		return;
	propose_chosen(
		a, &c,
		sl__advice_words(a,
				 "Avoid %zu change%s of layout, '%s' "
				 "first: other algorithms keep one",
				 c.n, c.n == 1 ? "" : "s", c.largest->name),
		sl__advice_command(a, "profile", SL__LEAVE_ALGORITHMS,
				   is_fixed ? "" : " --algorithms fixed"));
}

static int
is_movement(const struct sl_operation *op)
{
	return op->part == SL_PART_MOVEMENT && !is_reorder(op) &&
	       !is_slow_path(op);
}

static void
advise_movement(struct sl__adviser *a)
{
	struct chosen c = choose(a, is_movement);

	if (!c.n)
		return;
	propose_chosen(a, &c,
		       sl__advice_words(a,
					"Avoid %zu operation%s that only "
					"move%s data, '%s' (%s) first",
					c.n, c.n == 1 ? "" : "s",
					c.n == 1 ? "s" : "", c.largest->name,
					c.largest->type),
		       sl__advice_command(a, "profile", 0, " --by part"));
}

/* What a product or a convolution before it could do on the way. */
static int
is_fusable(const struct sl_operation *op)
{
	static const char *const types[] = {"Add",       "BatchNormalization",
					    "Clip",      "Div",
					    "Elu",       "Erf",
					    "Gelu",      "HardSigmoid",
					    "HardSwish", "LeakyRelu",
					    "Mul",       "Relu",
					    "Sigmoid",   "Sub",
					    "Tanh",      NULL};

	return sl__is_among(op->type, types) && !is_slow_path(op);
}

static void
advise_fusion(struct sl__adviser *a)
{
	struct chosen c = choose(a, is_fusable);
	int is_off = a->how->plan && a->how->plan->flags & SL_PLAN_NO_FUSION;

	if (!c.n)
		return;
	if (is_off)
		propose_chosen(a, &c,
			       sl__advice_words(a,
						"Leave out --no-fusion: %zu "
						"element-wise operations run "
						"on their own",
						c.n),
			       sl__advice_command(a, "profile",
						  SL__LEAVE_NO_FUSION, ""));
	else
		propose_chosen(
			a, &c,
			sl__advice_words(a,
					 "Fuse %zu element-wise operation%s "
					 "that run%s alone, '%s' (%s) first",
					 c.n, c.n == 1 ? "" : "s",
					 c.n == 1 ? "s" : "", c.largest->name,
					 c.largest->type),
			sl__advice_command(a, "profile", 0, " --by type"));
}

static int
is_head(const struct sl_operation *op)
{
	return op->part == SL_PART_HEAD;
}

static void
advise_head(struct sl__adviser *a)
{
	struct chosen c = choose(a, is_head);
	struct sl__phrase n;
	const char *text;

	if (!c.n || c.share > WHOLE_SHARE)
		return;
	/* Tied weights are counted where they are used first. */
	text = c.largest->parameters
		       ? sl__advice_words(
				 a, "Make the head smaller: '%s' has %s",
				 c.largest->name,
				 parameter_words(&n, c.largest->parameters))
		       : sl__advice_words(a, "Make the head smaller: '%s'",
					  c.largest->name);
	propose_chosen(a, &c, text, layer_command(a, &c));
}

/* The largest operation, where it has weights that can become fewer. */
static void
advise_pruning(struct sl__adviser *a)
{
	const struct sl_profile *p = a->profile;
	const struct sl_operation *op = &p->operations[p->by_time[0]];
	struct chosen c = {.n = 1,
			   .largest = op,
			   .type = op->type,
			   .now_ns = sl__advice_now_ns(a, op)};
	struct sl__phrase n;

	bound_chosen(a, &c);
	if (c.share < LARGE_SHARE || c.share > WHOLE_SHARE || !op->parameters ||
	    is_head(op) || is_slow_path(op))
		return;
	propose_chosen(a, &c,
		       sl__advice_words(a, "Prune '%s' (%s, %s)", op->name,
					op->type,
					parameter_words(&n, op->parameters)),
		       layer_command(a, &c));
}

/* What can be tried comes first. */
static int
by_gain(const void *a, const void *b)
{
	const struct sl_advice *x = a, *y = b;

	if (!x->command != !y->command)
		return x->command ? -1 : 1;
	if (x->most != y->most)
		return x->most < y->most ? 1 : -1;
	return strcmp(x->text, y->text);
}

static void
advise(struct sl__adviser *a)
{
	advise_reference(a);
	advise_reorders(a);
	advise_movement(a);
	advise_fusion(a);
	advise_head(a);
	advise_pruning(a);
	sl__advise_threads(a);
	sl__advise_batch(a);
	sl__advise_types(a);
	sl__advise_cache(a);
}

/*
 * How much of a pass operations are is a matter of sums, what each of them
 * takes one of medians, which few disturbances do not move; and the whole is a
 * bare pass, whose median may be of quieter or of busier moments.
 */
static void
set_pass(struct sl__adviser *a)
{
	const struct sl_profile *p = a->profile;
	double share = sl__amdahl_share(p, p->ledger.operations_ns);
	double sum_ns = 0;

	for (size_t i = 0; i < p->n_operations; i++)
		sum_ns += own_ns(&p->operations[i]);
	a->pass_ns = p->ledger.operations_ns / share;
	a->scale = 1;
	if (!p->latency.median.n || !(sum_ns > 0))
		return;
	a->pass_ns = p->latency.median.value;
	a->scale = share * a->pass_ns / sum_ns;
}

enum sl_status
sl__advise(struct sl_profile *profile, const struct sl__advice_options *how,
	   struct sl__arena *arena, struct sl_error *err)
{
	struct sl__adviser a = {.profile = profile, .how = how, .arena = arena};
	struct sl_advice *list;

	profile->n_advice = 0;
	if (!profile->n_operations || !(profile->ledger.wall_ns > 0))
		return SL_OK;
	set_pass(&a);
	advise(&a);
	list = sl__arena_array(arena, a.n, sizeof(*list));
	if (a.is_short || !list)
		return sl__fail_nomem(err);
	if (a.n)
		memcpy(list, a.proposals, a.n * sizeof(*list));
	qsort(list, a.n, sizeof(*list), by_gain);
	profile->advice = list;
	profile->n_advice = a.n < SL__ADVICE_MOST ? a.n : SL__ADVICE_MOST;
	return SL_OK;
}
