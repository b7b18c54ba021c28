/* SPDX-License-Identifier: Apache-2.0 */
/* dnnl_timing.c - how long a primitive or a program takes. */
#include "engine/dnnl_timing.h"
#include "base/clock.h"
#include "base/pages.h"
#include "base/status.h"
#include "machine/flush.h"
#include "timing/runner.h"

#include <string.h>
#include <sys/resource.h>

#include "base/banned.h"

enum {
	ARGS_MOST = 16,
	QUIET_RUNS = 3, /* wanted */
	TURNS = 4,      /* of two that are compared, after one */
	MOST_RUNS = 20,
	COLD_FROM = 1 << 19,   /* bytes of weights: half of a usual L2 */
	SWEEP_BYTES = 48 << 20 /* pushes them out of most shared caches */
};

/* Runs go on until they have taken as much, or with all that is between them
 * as much, within the limits above; and a run is lost for sure that is later
 * than another by so much. */
static const uint64_t ENOUGH_NS = 4000000, LONG_NS = 40000000,
		      LOST_NS = 10000000;

struct trial {
	struct sl__dnnl_timer *timer;
	struct sl__program *program; /* or: */
	struct sl__pages *pages;
	dnnl_primitive_t primitive;
	dnnl_exec_arg_t args[ARGS_MOST];
	int n;
	const unsigned char *weights; /* of a primitive */
	size_t n_weight_bytes;
	int is_cold;
	int n_runs, n_quiet; /* quiet ones after the first */
	uint64_t least_ns;   /* of all runs */
	uint64_t quiet_ns;   /* that those took together */
	uint64_t all_ns;     /* that everything took since the first run */
	uint64_t best_ns;    /* of others */
};

static enum sl_status
add_arg(struct trial *t, int arg, const_dnnl_memory_desc_t md,
	struct sl_error *err)
{
	size_t n_bytes = md ? dnnl_memory_desc_get_size(md) : 0;
	unsigned char *data;

	if (!n_bytes)
		return SL_OK;
	if (t->n == ARGS_MOST)
		return sl__fail(err, SL_E_BUG, "too many operands");
	data = sl__pages_alloc(t->pages, n_bytes);
	if (!data)
		return sl__fail_nomem(err);
	/* 0.0115 as f32 and as bf16: sums stay in range, nothing is 0. */
	memset(data, 0x3c, n_bytes);
	if (arg == DNNL_ARG_WEIGHTS) {
		t->weights = data;
		t->n_weight_bytes = n_bytes;
	}
	t->args[t->n].arg = arg;
	return sl__dnnl_status(dnnl_memory_create(&t->args[t->n++].memory, md,
						  t->timer->dnnl->engine, data),
			       "a memory object", err);
}

static enum sl_status
add_args(struct trial *t, const struct sl__dnnl_trial *trial,
	 struct sl_error *err)
{
	static const struct {
		int arg;
		dnnl_query_t query;
		int index;
	} rows[] = {
		{DNNL_ARG_SRC, dnnl_query_src_md, 0},
		{DNNL_ARG_WEIGHTS, dnnl_query_weights_md, 0},
		{DNNL_ARG_BIAS, dnnl_query_weights_md, 1},
		{DNNL_ARG_DST, dnnl_query_dst_md, 0},
		{DNNL_ARG_SCRATCHPAD, dnnl_query_scratchpad_md, 0},
	};
	enum sl_status rc = SL_OK;

	for (size_t i = 0; !rc && i < sizeof(rows) / sizeof(rows[0]); i++)
		rc = add_arg(t, rows[i].arg,
			     dnnl_primitive_desc_query_md(
				     trial->pd, rows[i].query, rows[i].index),
			     err);
	for (size_t i = 0; !rc && i < trial->n_more; i++)
		rc = add_arg(t, trial->more[i].arg, trial->more[i].md, err);
	return rc;
}

/* Without memory for it, caches stay warm. */
static void
find_sweep(struct sl__dnnl_timer *timer)
{
	if (timer->was_asked)
		return;
	timer->was_asked = 1;
	if (sl__pages_new(&timer->pages, NULL, NULL))
		return;
	timer->sweep = sl__pages_alloc(timer->pages, SWEEP_BYTES);
	if (timer->sweep)
		memset(timer->sweep, 1, SWEEP_BYTES);
}

static void
sweep(struct sl__dnnl_timer *timer)
{
	if (!timer->sweep)
		return;
	for (size_t i = 0; i < SWEEP_BYTES; i += 64)
		timer->sum += timer->sweep[i];
	timer->sweep[timer->sum % SWEEP_BYTES] ^= 1; /* the sum is used */
}

void
sl__dnnl_timer_release(struct sl__dnnl_timer *timer)
{
	if (timer)
		sl__pages_free(timer->pages);
}

static uint64_t
weight_bytes(const struct sl__dnnl_trial *trial)
{
	const_dnnl_memory_desc_t weights;

	if (trial->program)
		return trial->program->constant_bytes;
	weights = dnnl_primitive_desc_query_md(trial->pd, dnnl_query_weights_md,
					       0);
	return weights ? dnnl_memory_desc_get_size(weights) : 0;
}

static enum sl_status
start_primitive(struct trial *t, const struct sl__dnnl_trial *trial,
		struct sl_error *err)
{
	enum sl_status rc = sl__pages_new(&t->pages, NULL, err);

	if (!rc)
		rc = sl__dnnl_status(
			dnnl_primitive_create(&t->primitive, trial->pd),
			"a primitive", err);
	return rc ? rc : add_args(t, trial, err);
}

static int
flush_bytes(const struct sl__dnnl_timer *timer, const void *bytes, size_t n)
{
	return timer->flush ? timer->flush(bytes, n)
			    : sl__flush_cache_lines(bytes, n);
}

/* Constants of a program, or weights of a primitive, leave all caches; 0 where
 * they cannot be told to. */
static int
flush(const struct trial *t)
{
	const struct sl__program *p = t->program;

	if (!p)
		return flush_bytes(t->timer, t->weights, t->n_weight_bytes);
	for (size_t i = 0; i < p->n_buffers; i++) {
		const struct sl__buffer *b = &p->buffers[i];

		if (b->category == SL__CATEGORY_CONSTANT && b->base == i &&
		    !flush_bytes(t->timer, b->data, (size_t)b->n_bytes))
			return 0;
	}
	return 1;
}

static enum sl_status
start(struct trial *t, const struct sl__dnnl_trial *trial, struct sl_error *err)
{
	enum sl_status rc = SL_OK;

	t->least_ns = UINT64_MAX;
	t->program = trial->program;
	if (!t->program)
		rc = start_primitive(t, trial, err);
	t->is_cold = weight_bytes(trial) >= COLD_FROM;
	if (!rc && t->is_cold && !flush(t))
		find_sweep(t->timer);
	return rc;
}

/* oneDNN keeps what it has compiled, of primitives too that lost a trial and
 * that nobody will ask for again. */
static void
forget_primitives(void)
{
	int capacity;

	if (dnnl_get_primitive_cache_capacity(&capacity) != dnnl_success)
		return;
	if (dnnl_set_primitive_cache_capacity(0) == dnnl_success)
		(void)dnnl_set_primitive_cache_capacity(capacity);
}

static void
finish(struct trial *t)
{
	for (int i = 0; i < t->n; i++) {
		if (t->args[i].memory)
			dnnl_memory_destroy(t->args[i].memory);
	}
	if (t->primitive)
		dnnl_primitive_destroy(t->primitive);
	forget_primitives();
	sl__pages_free(t->pages);
}

/* How often threads of this process had to leave a CPU to others. */
static uint64_t
n_waits(const struct sl__dnnl_timer *timer)
{
	const struct sl__monitor_source *script = timer->with.monitor;
	struct sl__covariates now;
	struct rusage usage;

	if (!script)
		return getrusage(RUSAGE_SELF, &usage)
			       ? 0
			       : (uint64_t)usage.ru_nivcsw;
	script->read(&now, script->ctx);
	return now.n_involuntary;
}

static enum sl_status
execute(const struct trial *t, struct sl_error *err)
{
	const struct sl__observer nobody = {0};
	dnnl_stream_t stream = t->timer->dnnl->stream;
	enum sl_status rc;

	if (t->program)
		return sl__program_run(t->program, &nobody, err);
	rc = sl__dnnl_status(
		dnnl_primitive_execute(t->primitive, stream, t->n, t->args),
		"a trial", err);
	return rc ? rc
		  : sl__dnnl_status(dnnl_stream_wait(stream), "a trial", err);
}

/* A cache may keep what a sweep should push out, and nobody knows its size. */
static void
cool(struct trial *t)
{
	if (!flush(t))
		sweep(t->timer);
}

static enum sl_status
run_once(struct sl__slot *slot, void *ctx, struct sl_error *err)
{
	struct trial *t = (struct trial *)ctx + slot->arm;
	const struct sl_clock *clock = t->timer->with.clock;
	uint64_t before = sl__clock_now_ns(clock), begin, end, waits;
	enum sl_status rc;

	if (t->is_cold)
		cool(t);
	waits = n_waits(t->timer);
	begin = sl__clock_now_ns(clock);
	rc = execute(t, err);
	end = sl__clock_now_ns(clock);
	if (end - begin < t->least_ns)
		t->least_ns = end - begin;
	waits = n_waits(t->timer) - waits;
	t->timer->n_runs++;
	t->timer->n_waited += waits > 0;
	if (!waits && slot->round) {
		t->n_quiet++;
		t->quiet_ns += end - begin;
	}
	t->n_runs++;
	t->all_ns += end - before;
	return rc;
}

static int
is_enough(void *ctx)
{
	const struct trial *t = ctx;

	if (t->least_ns / 2 > t->best_ns &&
	    (t->n_runs > QUIET_RUNS || t->least_ns - t->best_ns > LOST_NS))
		return 1;
	return t->n_runs > 1 &&
	       (t->all_ns >= LONG_NS || t->n_runs > MOST_RUNS ||
		(t->n_quiet >= QUIET_RUNS && t->quiet_ns >= ENOUGH_NS));
}

/* Of the trials that the phase has arms for; each time becomes the least. */
static enum sl_status
run_trials(uint64_t *elapsed_ns, struct sl__phase_spec phase,
	   const struct sl__dnnl_trial *trials, struct sl_error *err)
{
	struct trial *t = phase.ctx;
	struct sl__runner runner = {.control.with = t->timer->with};
	enum sl_status rc = SL_OK;

	phase.is_in_order = 1;
	phase.run = run_once;
	for (size_t k = 0; !rc && k < phase.n_arms; k++)
		rc = start(&t[k], &trials[k], err);
	if (!rc)
		rc = sl__runner_run(&runner, &phase, err);
	for (size_t k = 0; k < phase.n_arms; k++) {
		if (t[k].n_runs && t[k].least_ns < elapsed_ns[k])
			elapsed_ns[k] = t[k].least_ns;
		finish(&t[k]);
	}
	return rc;
}

enum sl_status
sl__dnnl_time_primitive(uint64_t *elapsed_ns, struct sl__dnnl_timer *timer,
			const struct sl__dnnl_trial *trial, uint64_t best_ns,
			struct sl_error *err)
{
	struct trial t = {.timer = timer, .best_ns = best_ns};
	const struct sl__phase_spec trying = {
		.n_arms = 1, .is_enough = is_enough, .ctx = &t};

	*elapsed_ns = UINT64_MAX;
	return run_trials(elapsed_ns, trying, trial, err);
}

enum sl_status
sl__dnnl_time_interleaved(uint64_t elapsed_ns[2], struct sl__dnnl_timer *timer,
			  const struct sl__dnnl_trial trials[2],
			  struct sl_error *err)
{
	struct trial t[2] = {{.timer = timer}, {.timer = timer}};
	const struct sl__phase_spec trying = {
		.n_arms = 2, .n_rounds = 1 + TURNS, .ctx = t};

	return run_trials(elapsed_ns, trying, trials, err);
}
