/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dnnl_conv_choice.c - which convolution, oneDNN's or an own one, a node runs
 * on.
 *
 * All convolutions of a program share one order of elements, so that nothing
 * is reordered between them: the one in which the sum of their best times is
 * least.  Within it each takes the implementation, direct or Winograd's, that
 * is the fastest on this machine.  Own kernels pay for reordering images from
 * that order and back, more than it took alone (sl__choice_price()).  Where algorithms are fixed, it is the first direct one
 * that oneDNN offers.
 */
#include "base/buf.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/status.h"
#include "engine/choice_evidence.h"
#include "engine/dnnl_choice.h"
#include "engine/dnnl_conv.h"
#include "engine/dnnl_timing.h"
#include "engine/dnnl_own_trial.h"
#include "engine/strided_layout.h"
#include "graph/op_rules.h"

#include <math.h>
#include <string.h>

#include "base/banned.h"

/* One question: a convolution, in a type, an order, with as much of its
 * ending. */
struct question {
	struct sl__planner *pl;
	struct sl__conv conv;
	enum sl_dtype dtype;
	enum sl__image_layout order;
	int n_within;
	int from_plain; /* the source lies row-major */
	struct sl__dnnl_conv desc;
	dnnl_primitive_attr_t attr;
};

static int
is_ours(const struct sl__node *node)
{
	return sl__is_op(node, SL__OP_ONNX_Conv) ||
	       sl__is_op(node, SL__OP_SLEUTH_Conv) ||
	       sl__is_op(node, SL__OP_MS_FusedConv) ||
	       sl__is_op(node, SL__OP_ONNX_ConvTranspose);
}

static int
image_md(const_dnnl_memory_desc_t *out, const struct question *q,
	 uint32_t value, enum sl__image_layout order)
{
	const struct sl__type *type = sl__plan_value_type(q->pl, value);

	return sl__image_layout_md(out, q->pl->program->dnnl, order,
				   sl__dnnl_data_type(q->dtype), type->rank,
				   type->dims);
}

/* Fills desc but for the source. */
static int
describe(struct question *q)
{
	const struct sl__conv *c = &q->conv;
	struct sl__dnnl_conv *d = &q->desc;

	memset(d, 0, sizeof(*d));
	d->window = c->window;
	d->is_transposed = c->is_transposed;
	if (c->b != SL__NONE) {
		const struct sl__type *b = sl__plan_value_type(q->pl, c->b);

		if (!sl__dnnl_row_major_md(&d->bias, q->pl->program->dnnl,
					   b->dtype, b->rank, b->dims))
			return 0;
	}
	return image_md(&d->dst, q, c->y, q->order) &&
	       sl__conv_weights_any_md(&d->weights, q->pl, c, q->dtype);
}

static void
forget(struct question *q)
{
	dnnl_primitive_attr_destroy(q->attr);
	q->attr = NULL;
}

/* The current implementation, the caller's; NULL: out of memory. */
static dnnl_primitive_desc_t
take_current(const struct question *q,
	     const struct sl__dnnl_conv_iterator *each)
{
	dnnl_primitive_desc_t pd = sl__dnnl_conv_iterator_pd(each);

	if (!pd)
		sl__planner_keep_dnnl_status(q->pl, dnnl_out_of_memory,
					     "a descriptor");
	return pd;
}

/* The first implementation of a name, or with NULL the first that is not one
 * of plain loops; NULL where there is none. */
static dnnl_primitive_desc_t
find(const struct question *q, const char *name)
{
	struct sl__dnnl_conv_iterator each;
	dnnl_status_t status = sl__dnnl_conv_iterator_begin(
		&each, &q->desc, q->attr, q->pl->program->dnnl->engine);
	dnnl_primitive_desc_t pd = NULL;

	for (; !q->pl->rc && !status;
	     status = sl__dnnl_conv_iterator_next(&each)) {
		pd = take_current(q, &each);
		if (pd &&
		    (name ? !strcmp(sl__dnnl_implementation_name(pd), name)
			  : !sl__dnnl_is_plain_loop(pd)))
			break;
		dnnl_primitive_desc_destroy(pd);
		pd = NULL;
	}
	sl__dnnl_conv_iterator_end(&each);
	return pd;
}

/* With an order of oneDNN's own: what it takes without an ending, which may
 * have operands that lie like the result. */
static void
settle_any(struct question *q)
{
	dnnl_primitive_desc_t pd;

	q->attr = q->pl->program->dnnl->attr;
	pd = find(q, NULL);
	q->attr = NULL;
	if (pd) {
		q->desc.src = sl__dnnl_pd_md(q->pl, pd, dnnl_query_src_md, 0);
		q->desc.dst = sl__dnnl_pd_md(q->pl, pd, dnnl_query_dst_md, 0);
	}
	dnnl_primitive_desc_destroy(pd);
}

/* 0 where the question makes no sense. */
static int
ask(struct question *q)
{
	forget(q);
	if (!describe(q) || !image_md(&q->desc.src, q, q->conv.x, q->order))
		return 0;
	if (q->order == SL__IMAGE_LAYOUT_ANY)
		settle_any(q);
	if (!q->pl->rc)
		q->attr = sl__conv_attr(q->pl, &q->conv, q->desc.dst,
					q->n_within);
	return q->attr != NULL;
}

/* Makes the descriptor that a choice of oneDNN's names; NULL where there is
 * none by now. */
static dnnl_primitive_desc_t
follow_dnnl(struct question *q, const struct sl__choice *choice)
{
	dnnl_primitive_desc_t pd;

	if (choice->elapsed_ns == UINT64_MAX ||
	    (choice->is_plain &&
	     !image_md(&q->desc.src, q, q->conv.x, SL__IMAGE_LAYOUT_ROW_MAJOR)))
		return NULL;
	q->desc.is_winograd = choice->is_winograd;
	pd = find(q, choice->kernel);
	q->desc.is_winograd = 0;
	return pd;
}

static size_t
more_operands(const struct question *q, struct sl__dnnl_extra_operand *more)
{
	size_t n = 0;
	int at = 0;

	for (int i = 0; i < q->n_within; i++) {
		const struct sl__post_op *post_op = &q->conv.post_ops[i];

		more[n].arg = DNNL_ARG_ATTR_MULTIPLE_POST_OP(at) |
			      DNNL_ARG_SRC_1;
		if (i != q->conv.sum && (post_op->kind == SL__POST_OP_ADD ||
					 post_op->kind == SL__POST_OP_MUL))
			n += (size_t)sl__conv_post_op_operand_md(
				&more[n].md, q->pl, &q->conv, i, q->desc.dst);
		at += sl__dnnl_post_op_n_dnnl_ops(post_op);
	}
	return n;
}

/* What bringing a row-major source into the order costs. */
static uint64_t
time_source(const struct question *q)
{
	const_dnnl_memory_desc_t plain;
	dnnl_primitive_desc_t pd;
	const struct sl__type *x = sl__plan_value_type(q->pl, q->conv.x);
	uint64_t ns = 0;

	if (!q->from_plain ||
	    !sl__dnnl_row_major_md(&plain, q->pl->program->dnnl, x->dtype,
				   x->rank, x->dims) ||
	    dnnl_memory_desc_equal(plain, q->desc.src))
		return 0;
	pd = sl__dnnl_reorder_pd(q->pl, plain, q->desc.src);
	if (pd)
		sl__planner_keep_status(
			q->pl, sl__dnnl_time_primitive(
				       &ns, q->pl->choices->timer,
				       &(struct sl__dnnl_trial){.pd = pd},
				       UINT64_MAX, q->pl->err));
	dnnl_primitive_desc_destroy(pd);
	return ns;
}

/* Names that were tried, each once. */
enum { TRIED_MOST = 32 };

struct tried {
	const char *names[TRIED_MOST]; /* oneDNN's, which stay */
	int n;
};

static int
is_new(struct tried *tried, const_dnnl_primitive_desc_t pd)
{
	const char *name = sl__dnnl_implementation_name(pd);

	if (sl__dnnl_is_plain_loop(pd) || strlen(name) >= SL__CHOICE_NAME ||
	    tried->n == TRIED_MOST)
		return 0;
	for (int i = 0; i < tried->n; i++) {
		if (!strcmp(tried->names[i], name))
			return 0;
	}
	tried->names[tried->n++] = name;
	return 1;
}

/* One that was tried; elapsed_ns counts the source's way into its order. */
struct tried_one {
	struct sl__choice choice;
	uint64_t source_ns;
};

/* What a choice counts for: images that lie otherwise than what it reads are
 * reordered. */
static uint64_t
price(const struct question *q, const struct sl__choice *choice)
{
	int is_apart = q->order == SL__IMAGE_LAYOUT_BLOCK_16 ||
		       q->order == SL__IMAGE_LAYOUT_BLOCK_8;

	return sl__choice_price(choice,
				(choice->is_own && is_apart) ||
					(q->from_plain && !choice->is_plain));
}

/* Keeps the two cheapest, the first of them first. */
static void
compare(const struct question *q, struct tried_one best[2],
	const struct tried_one *one)
{
	uint64_t own = price(q, &one->choice);

	if (own < price(q, &best[0].choice)) {
		best[1] = best[0];
		best[0] = *one;
	} else if (own < price(q, &best[1].choice)) {
		best[1] = *one;
	}
}

static void
try_one(struct question *q, const struct sl__dnnl_trial *trial,
	struct tried_one *one, struct tried_one best[2])
{
	uint64_t ns;

	if (!sl__planner_keep_status(
		    q->pl, sl__dnnl_time_primitive(
				   &ns, q->pl->choices->timer, trial,
				   best[0].choice.elapsed_ns, q->pl->err)))
		return;
	one->choice.elapsed_ns = ns + one->source_ns;
	compare(q, best, one);
}

static void
set_name(struct sl__choice *choice, const char *name)
{
	memcpy(choice->kernel, name, strlen(name) + 1);
}

/* Tries all implementations of one algorithm from one kind of source. */
static void
try_all(struct question *q, struct tried_one best[2], int is_plain)
{
	struct sl__dnnl_extra_operand more[SL__POST_OPS_MAX];
	struct sl__dnnl_trial trial = {NULL, NULL, more,
				       more_operands(q, more)};
	struct tried_one one = {.choice.is_plain = is_plain,
				.choice.is_winograd = q->desc.is_winograd,
				.source_ns = time_source(q)};
	struct tried tried = {.n = 0};
	struct sl__dnnl_conv_iterator each;
	dnnl_status_t status = sl__dnnl_conv_iterator_begin(
		&each, &q->desc, q->attr, q->pl->program->dnnl->engine);

	for (; !q->pl->rc && !status;
	     status = sl__dnnl_conv_iterator_next(&each)) {
		dnnl_primitive_desc_t pd = take_current(q, &each);

		trial.pd = pd;
		if (pd && is_new(&tried, pd)) {
			set_name(&one.choice, sl__dnnl_implementation_name(pd));
			try_one(q, &trial, &one, best);
		}
		dnnl_primitive_desc_destroy(pd);
	}
	sl__dnnl_conv_iterator_end(&each);
}

/* Own kernels; of those that take a node the first one that is not Winograd's
 * ends the list. */
static const struct own_kernel {
	const char *name;
	sl__kernel_plan_function *make;
	int is_winograd;
} own_kernels[] = {{"own_depthwise", sl__make_native_depthwise, 0},
		   {"own_winograd", sl__make_native_winograd, 1},
		   {"own_conv", sl__make_native_conv, 0}};

enum { N_OWN_KERNELS = sizeof(own_kernels) / sizeof(own_kernels[0]) };

static const struct own_kernel *
own_kernel(const struct sl__choice *choice)
{
	for (size_t i = 0; i < N_OWN_KERNELS; i++) {
		if (!strcmp(own_kernels[i].name, choice->kernel))
			return &own_kernels[i];
	}
	return NULL;
}

/* An image as others of the program leave it or take it. */
static const struct sl__layout *
layout_in_order(const struct question *q, struct sl__planner *pl,
		uint32_t value)
{
	const_dnnl_memory_desc_t md;

	if (q->order == SL__IMAGE_LAYOUT_ANY ||
	    !image_md(&md, q, value, q->order))
		return sl__layout_channels_last(pl, value);
	return sl__layout_for_output(pl, value, md);
}

/* The node on an own kernel, with what it takes to bring images from the order
 * and back; 0: not for that kernel. */
static int
start_own(struct question *q, struct sl__own_trial *t,
	  const struct own_kernel *kernel)
{
	const struct sl__conv *c = &q->conv;
	struct sl__planner *pl = &t->planner;

	if (!sl__planner_keep_status(q->pl,
				     sl__own_trial_begin(t, q->pl, q->pl->err)))
		return 0;
	sl__own_trial_add_input(
		t, c->x, q->from_plain ? NULL : layout_in_order(q, pl, c->x),
		0);
	for (int i = 0; i < c->n_post_ops; i++) {
		uint32_t value =
			sl__plan_node_input(c->node, c->post_ops[i].input);

		if (c->post_ops[i].kind != SL__POST_OP_ADD &&
		    c->post_ops[i].kind != SL__POST_OP_MUL)
			continue;
		sl__own_trial_add_input(
			t, value,
			sl__conv_operand_is_same_size(q->pl, c, i)
				? layout_in_order(q, pl, value)
				: NULL,
			i == c->sum);
	}
	if (sl__own_trial_finish(t, c->node, kernel->make,
				 layout_in_order(q, pl, c->y)))
		return 1;
	sl__planner_keep_status(q->pl, pl->rc);
	return 0;
}

/* Only where oneDNN has a kernel in this order: what it has in another one is
 * tried then. */
static void
try_own(struct question *q, struct tried_one best[2])
{
	int is_last = q->dtype != SL_DTYPE_F32 ||
		      best[0].choice.elapsed_ns == UINT64_MAX ||
		      !q->pl->graph->values[q->conv.w].tensor;

	for (size_t i = 0; !q->pl->rc && !is_last && i < N_OWN_KERNELS; i++) {
		struct tried_one one = {
			.choice = {.is_own = 1,
				   .is_winograd = own_kernels[i].is_winograd}};
		struct sl__own_trial t = {0};

		set_name(&one.choice, own_kernels[i].name);
		if (start_own(q, &t, &own_kernels[i])) {
			struct sl__dnnl_trial trial = {
				.program = t.planner.program};

			try_one(q, &trial, &one, best);
			is_last = !own_kernels[i].is_winograd;
		}
		sl__own_trial_release(&t);
	}
}

/* The two best once more, by turns, where one may be as good as the other:
 * what happened on the machine while one of them ran is not to decide. */
static void
try_again(struct question *q, struct tried_one best[2])
{
	struct sl__dnnl_extra_operand more[SL__POST_OPS_MAX];
	size_t n = more_operands(q, more);
	struct sl__dnnl_trial trials[2] = {{.more = more, .n_more = n},
					   {.more = more, .n_more = n}};
	const_dnnl_memory_desc_t src = q->desc.src;
	struct sl__own_trial own[2] = {0};
	dnnl_primitive_desc_t pds[2] = {NULL, NULL};
	uint64_t ns[2];
	int n_ready = 0;

	for (int k = 0; k < 2; k++) {
		const struct own_kernel *kernel = own_kernel(&best[k].choice);

		if (kernel && start_own(q, &own[k], kernel))
			trials[k].program = own[k].planner.program;
		else if (!kernel)
			trials[k].pd = pds[k] = follow_dnnl(q, &best[k].choice);
		q->desc.src = src;
		ns[k] = best[k].choice.elapsed_ns - best[k].source_ns;
		n_ready += trials[k].program || pds[k];
	}
	if (!q->pl->rc && n_ready == 2)
		sl__planner_keep_status(
			q->pl,
			sl__dnnl_time_interleaved(ns, q->pl->choices->timer,
						  trials, q->pl->err));
	for (int k = 0; k < 2; k++) {
		best[k].choice.elapsed_ns = ns[k] + best[k].source_ns;
		dnnl_primitive_desc_destroy(pds[k]);
		sl__own_trial_release(&own[k]);
	}
	if (price(q, &best[1].choice) < price(q, &best[0].choice))
		best[0] = best[1];
}

static int
may_winograd(const struct question *q)
{
	const struct sl__image_window *w = &q->conv.window;

	if (q->pl->options->flags & SL_PLAN_NO_WINOGRAD ||
	    q->conv.is_transposed || q->conv.n_groups > 1 ||
	    !q->pl->graph->values[q->conv.w].tensor)
		return 0;
	for (int d = 0; d < q->conv.rank - 2; d++) {
		if (w->kernel[d] < 2 || w->strides[d] != 1 || w->dilates[d])
			return 0;
	}
	return 1;
}

static struct sl__choice
measure(struct question *q)
{
	static const struct tried_one none = {
		{.elapsed_ns = UINT64_MAX, .kernel = "none"}, 0};
	struct tried_one best[2] = {none, none};
	uint64_t start = sl__clock_now_ns(NULL);

	try_all(q, best, 0);
	if (!q->pl->rc && q->from_plain && q->order != SL__IMAGE_LAYOUT_ANY) {
		const_dnnl_memory_desc_t src = q->desc.src;

		if (image_md(&q->desc.src, q, q->conv.x,
			     SL__IMAGE_LAYOUT_ROW_MAJOR))
			try_all(q, best, 1);
		q->desc.src = src;
	}
	if (!q->pl->rc && may_winograd(q)) {
		q->desc.is_winograd = 1;
		try_all(q, best, 0);
		q->desc.is_winograd = 0;
	}
	if (!q->pl->rc)
		try_own(q, best);
	if (!q->pl->rc &&
	    best[1].choice.elapsed_ns / 3 < best[0].choice.elapsed_ns / 2)
		try_again(q, best);
	q->pl->choices->elapsed_ns += sl__clock_now_ns(NULL) - start;
	return best[0].choice;
}

static void
add_list(struct sl_buf *key, const char *name, const int64_t *values, int n)
{
	sl__buf_format(key, " %s", name);
	for (int i = 0; i < n; i++)
		sl__buf_format(key, "%s%lld", i ? "x" : "",
			       (long long)values[i]);
}

/* Sizes of an image; of half the batch where that is what counts. */
static void
add_image(struct sl_buf *key, const char *name, const struct question *q,
	  uint32_t value)
{
	const struct sl__type *type = sl__plan_value_type(q->pl, value);
	int64_t dims[SL__RANK_MOST];

	for (int i = 0; i < type->rank; i++)
		dims[i] = type->dims[i];
	if ((q->pl->options->flags & SL__PLAN_HALF_BATCH_CHOICES) &&
	    type->rank > 0 && dims[0] % 2 == 0)
		dims[0] /= 2;
	add_list(key, name, dims, type->rank);
}

static void
add_post_ops(struct sl_buf *key, const struct question *q)
{
	for (int i = 0; i < q->n_within; i++) {
		const struct sl__post_op *p = &q->conv.post_ops[i];

		if (i == q->conv.sum)
			sl__buf_format(key, " sum");
		else
			sl__buf_format(key, " %s", sl__post_op_name(p->kind));
		if (i != q->conv.sum &&
		    (p->kind == SL__POST_OP_ADD || p->kind == SL__POST_OP_MUL))
			add_image(key, "by", q,
				  sl__plan_node_input(q->conv.node, p->input));
	}
}

static void
make_key(struct sl_buf *key, const struct question *q)
{
	const struct sl__conv *c = &q->conv;
	const struct sl__image_window *w = &c->window;

	sl__buf_format(key, "%s %s %s%s threads %d",
		       c->is_transposed ? "deconvolution" : "convolution",
		       sl_dtype_text(q->dtype), sl__image_layout_text(q->order),
		       q->from_plain ? " from plain" : "",
		       sl__choices_n_threads(q->pl->options));
	sl__buf_format(key, " groups %lld%s%s", (long long)c->n_groups,
		       c->b != SL__NONE ? " bias" : "",
		       may_winograd(q) ? "" : " no-winograd");
	add_image(key, "in ", q, c->x);
	add_image(key, "out ", q, c->y);
	add_list(key, "kernel ", w->kernel, c->rank - 2);
	add_list(key, "strides ", w->strides, c->rank - 2);
	add_list(key, "dilates ", w->dilates, c->rank - 2);
	add_list(key, "before ", w->before, c->rank - 2);
	add_list(key, "after ", w->after, c->rank - 2);
	add_post_ops(key, q);
}

/* The first direct implementation that is not one of plain loops. */
static dnnl_primitive_desc_t
take_first(struct question *q)
{
	dnnl_primitive_desc_t pd = ask(q) ? find(q, NULL) : NULL;

	forget(q);
	return pd;
}

/* Measures and remembers, unless it is interrupted. */
static struct sl__choice
learn(struct question *q, const char *key)
{
	struct sl__choices *choices = q->pl->choices;
	struct sl__choice best = {.elapsed_ns = UINT64_MAX};

	sl__choices_monitor(choices);
	if (sl__planner_keep_status(
		    q->pl,
		    sl__check_interrupt(q->pl->options->interrupt, q->pl->err)))
		best = measure(q);
	best.is_new = 1;
	if (!q->pl->rc &&
	    sl__planner_keep_status(
		    q->pl, sl__choices_put(choices, key, &best, q->pl->err)))
		sl__log(choices->log, "%s: %s", key, best.kernel);
	return best;
}

static int
is_spent(const struct sl__planner *pl)
{
	return sl__choices_are_borrowed(pl->options) ||
	       pl->choices->elapsed_ns >= pl->choices->budget_ns;
}

/* Makes what a choice names; 0 where it is not there by now. */
static int
follow(struct sl__conv_choice *out, struct question *q,
       const struct sl__choice *choice)
{
	const struct own_kernel *own = choice->is_own ? own_kernel(choice)
						      : NULL;

	out->own = own ? own->make : NULL;
	out->pd = choice->is_own ? NULL : follow_dnnl(q, choice);
	return out->own || out->pd;
}

/* The best that is known of the question; where nothing is, the best found
 * now, or the first one once the budget is spent.  'out' may be NULL, which
 * asks for the choice only. */
static void
take_known(struct sl__conv_choice *out, struct question *q, const char *key,
	   struct sl__choice *taken)
{
	const struct sl__choice *known = sl__choices_find(q->pl->choices, key);

	if (known && sl__choices_is_doubtful(q->pl->choices, known) &&
	    !is_spent(q->pl))
		known = NULL;
	if (known && (!out || follow(out, q, known) ||
		      known->elapsed_ns == UINT64_MAX)) {
		*taken = *known;
		return;
	}
	/* The question as it was, whatever was followed. */
	if (q->pl->rc || !ask(q))
		return;
	if (is_spent(q->pl)) {
		q->pl->program->is_unfinished = 1;
		if (out)
			out->pd = find(q, NULL);
		return;
	}
	*taken = learn(q, key);
	if (out && !q->pl->rc)
		(void)follow(out, q, taken);
}

static int
is_taken(const struct sl__conv_choice *choice)
{
	return choice->pd || choice->own;
}

/* The same, from the question alone; its price. */
static uint64_t
take_best(struct sl__conv_choice *out, struct question *q)
{
	struct sl__choice taken = {.elapsed_ns = UINT64_MAX};
	struct sl_buf key = {0};

	if (!q->pl->rc && ask(q)) {
		make_key(&key, q);
		if (sl__planner_keep_status(q->pl,
					    sl__buf_status(&key, q->pl->err)))
			take_known(out, q, key.data, &taken);
		if (out && is_taken(out) && taken.elapsed_ns != UINT64_MAX)
			out->evidence = sl__choice_evidence_new(
				q->pl, key.data, taken.elapsed_ns);
	}
	forget(q);
	sl_buf_release(&key);
	return price(q, &taken);
}

/* With its ending, or without where no kernel does that. */
static uint64_t
time_node(struct question *q)
{
	uint64_t ns;

	q->n_within = sl__dnnl_post_ops_n_fusable(q->conv.post_ops,
						  q->conv.n_post_ops);
	ns = take_best(NULL, q);
	if (ns != UINT64_MAX || !q->n_within)
		return ns;
	q->n_within = 0;
	return take_best(NULL, q);
}

/* Until it is known better: a sum where what is added will be free, and
 * sources in the program's order unless they are the model's inputs. */
static void
assume(struct question *q, size_t at)
{
	q->dtype = q->conv.dtype;
	q->from_plain = q->pl->graph->values[q->conv.x].producer == SL__NONE;
	sl__conv_assume_sum(&q->conv, q->pl, at);
}

/* The convolution at a place of the program, if there is one. */
static int
read_node(struct question *q, struct sl__planner *pl, size_t at)
{
	const struct sl__node *node =
		&pl->graph->nodes[pl->graph->blocks[0].nodes[at]];

	memset(q, 0, sizeof(*q));
	q->pl = pl;
	if (!is_ours(node) || !sl__conv_read(&q->conv, pl, node))
		return 0;
	assume(q, at);
	return 1;
}

/* Stops early where the sum is beyond 'most_ns'; UINT64_MAX where the budget
 * does not last. */
static uint64_t
time_program(struct sl__planner *pl, enum sl__image_layout order,
	     uint64_t most_ns)
{
	uint64_t sum_ns = 0;

	for (size_t i = 0; !pl->rc && i < pl->graph->blocks[0].n_nodes; i++) {
		size_t mark = sl__dnnl_context_mark(pl->program->dnnl);
		struct question q;
		uint64_t ns;

		if (!read_node(&q, pl, i))
			continue;
		q.order = order;
		ns = time_node(&q);
		if (ns == UINT64_MAX) {
			q.order = SL__IMAGE_LAYOUT_ANY;
			ns = time_node(&q);
		}
		if (!pl->rc)
			pl->rc = sl__dnnl_context_rewind(pl->program->dnnl,
							 mark, pl->err);
		if (ns != UINT64_MAX)
			sum_ns += ns;
		else if (is_spent(pl))
			return UINT64_MAX;
		if (sum_ns > most_ns)
			break;
	}
	return sum_ns;
}

/* Multiplications and additions of a convolution. */
static double
work_of(const struct sl__planner *pl, const struct sl__conv *c)
{
	uint32_t at = c->is_transposed ? c->x : c->y;

	return 2.0 * (double)sl__plan_value_n_elements(pl, at) *
	       (double)sl__plan_value_n_elements(pl, c->w) /
	       (double)sl__plan_value_type(pl, c->w)->dims[0];
}

/* Three seconds, and more for a lot of work: ten for the largest. */
static void
start_timer(struct sl__planner *pl)
{
	const double least_ns = 3e9, most_ns = 7e9, ns_of_work = 0.25;
	struct sl__choices *choices = pl->choices;
	struct question q;
	double more_ns = 0;

	for (size_t i = 0; i < pl->graph->blocks[0].n_nodes; i++) {
		if (read_node(&q, pl, i))
			more_ns += ns_of_work * work_of(pl, &q.conv);
	}
	choices->budget_ns = (uint64_t)(least_ns + fmin(more_ns, most_ns));
	choices->timer =
		sl__arena_alloc(&choices->arena, sizeof(*choices->timer));
	if (choices->timer)
		choices->timer->dnnl = pl->program->dnnl;
	else
		pl->rc = sl__fail_nomem(pl->err);
}

/* The order in which the sum of best times is least. */
static void
measure_orders(struct sl__planner *pl)
{
	static const enum sl__image_layout all[] = {
		SL__IMAGE_LAYOUT_BLOCK_16, SL__IMAGE_LAYOUT_CHANNELS_LAST,
		SL__IMAGE_LAYOUT_BLOCK_8};
	uint64_t best_ns = UINT64_MAX;

	pl->choices->order = (int)all[0];
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		uint64_t ns = time_program(pl, all[i], best_ns);

		if (ns >= best_ns)
			continue;
		best_ns = ns;
		pl->choices->order = (int)all[i];
	}
	if (pl->rc)
		return;
	sl__log(pl->choices->log, "images lie as %s; %.1f s measured%s",
		sl__image_layout_text(
			(enum sl__image_layout)pl->choices->order),
		(double)pl->choices->elapsed_ns * 1e-9,
		is_spent(pl) ? ", not all there is" : "");
}

static void
decide_order(struct sl__planner *pl)
{
	if (pl->choices->budget_ns)
		return;
	start_timer(pl);
	if (!pl->rc && pl->choices->order == SL__IMAGE_LAYOUT_ANY)
		measure_orders(pl);
	pl->program->image_layout = pl->choices->order;
}

static void
take(struct sl__conv_choice *out, struct question *q)
{
	q->order = SL__IMAGE_LAYOUT_ANY;
	if (!q->pl->choices) {
		out->pd = take_first(q);
		return;
	}
	q->order = (enum sl__image_layout)q->pl->choices->order;
	(void)take_best(out, q);
	if (is_taken(out))
		return;
	q->order = SL__IMAGE_LAYOUT_ANY;
	(void)take_best(out, q);
}

void
sl__conv_choose(struct sl__conv_choice *out, struct sl__planner *pl,
		const struct sl__conv *conv)
{
	struct question q = {.pl = pl, .conv = *conv};
	int fit = sl__dnnl_post_ops_n_fusable(conv->post_ops, conv->n_post_ops);

	memset(out, 0, sizeof(*out));
	if (pl->choices)
		decide_order(pl);
	q.from_plain = sl__layout_is_dense(sl__plan_value_layout(pl, conv->x));
	/* As asked for; then with the ending apart; then both in f32. */
	for (int i = 0; !pl->rc && !is_taken(out) && i < 4; i++) {
		q.n_within = i & 1 ? 0 : fit;
		q.dtype = i < 2 ? conv->dtype : SL_DTYPE_F32;
		if ((i == 2 && conv->dtype == SL_DTYPE_F32) ||
		    (i >= 2 &&
		     sl__plan_value_type(pl, conv->x)->dtype != SL_DTYPE_F32))
			break;
		if (!(i & 1) || fit)
			take(out, &q);
	}
	out->dtype = q.dtype;
	out->n_within = q.n_within;
	out->sum = conv->sum < q.n_within ? conv->sum : -1;
}
