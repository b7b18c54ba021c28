/* SPDX-License-Identifier: Apache-2.0 */
/* advised.h - profiles made up for advice. */
#ifndef SL_TEST_ADVISED_H
#define SL_TEST_ADVISED_H

#include "harness.h"
#include "analysis/advice.h"
#include "result/request.h"

enum { ADVISED_MOST = 12 };

/* An iteration of 1000 ns, of which 100 are between operations. */
struct advised {
	struct sl_profile p;
	struct sl_operation ops[ADVISED_MOST];
	size_t by_time[ADVISED_MOST];
	struct sl_response responses[ADVISED_MOST];
	struct sl_amdahl rows[4];
	struct sl_inspection model;
	struct sl_layer layer;
	struct sl_plan_options plan;
	struct sl_sizes sizes;
	struct {
		const struct sl_plan_options *plan; /* NULL: defaults */
		size_t n_cpus;
		int has_fixed_batch;
		const char *model, *layer; /* NULL: the profile's; all of it */
	} how;
	struct sl__plan_trial trials[SL__ADVICE_TRIALS];
	size_t n_trials;
	struct sl__arena arena;
};

static inline void
advised_start(struct advised *m)
{
	memset(m, 0, sizeof(*m));
	sl__arena_init(&m->arena, NULL);
	m->p.name = "resnet50";
	m->p.source = "zoo";
	m->p.model = &m->model;
	m->p.batch = 1;
	/* Not f32: rules for types keep silent until they are asked for. */
	m->p.dtype = SL_DTYPE_BF16;
	m->p.n_threads = 2;
	m->p.operations = m->ops;
	m->p.by_time = m->by_time;
	m->p.amdahl = m->rows;
	m->p.ledger.wall_ns = 1000;
	m->p.ledger.operations_ns = 900;
	m->how.n_cpus = 2;
}

static inline struct sl_operation *
advised_add(struct advised *m, const char *name, const char *type, double ns)
{
	size_t i = m->p.n_operations++, at = i;

	m->ops[i] = (struct sl_operation){.name = name,
					  .type = type,
					  .path = SL_PATH_DNNL,
					  .n_calls = 1,
					  .self_ns = ns,
					  .step = i};
	for (; at && m->ops[m->by_time[at - 1]].self_ns < ns; at--)
		m->by_time[at] = m->by_time[at - 1];
	m->by_time[at] = i;
	return &m->ops[i];
}

/* The ablation of an operation; with n above 1, of the n of its type. */
static inline void
advised_measured(struct advised *m, size_t operation, size_t n, double lo,
		 double hi)
{
	m->rows[m->p.n_amdahl++] = (struct sl_amdahl){
		.operation = operation,
		.is_type = n > 1,
		.n_operations = n,
		.measured_limit = {
			.value = (lo + hi) / 2, .lo = lo, .hi = hi, .n = 9}};
}

/* What a call took, most of the time. */
static inline void
advised_median(struct sl_operation *op, double ns)
{
	op->median_ns =
		(struct sl_estimate){.value = ns, .lo = ns, .hi = ns, .n = 36};
}

static inline void
advised_advise(struct advised *m)
{
	struct sl_error err;

	assert_int_equal(sl__request_from_options(
				 &m->p.request,
				 m->how.model ? m->how.model : m->p.name,
				 m->how.layer, m->how.plan, &m->arena, &err),
			 SL_OK);
	assert_int_equal(
		sl__advise(&m->p,
			   &(struct sl__advice_sources){
				   .n_cpus = m->how.n_cpus,
				   .has_fixed_batch = m->how.has_fixed_batch,
				   .trials = m->trials,
				   .n_trials = m->n_trials},
			   &m->arena, &err),
		SL_OK);
}

/* What was written to a buffer, from the arena. */
static inline const char *
advised_taken(struct advised *m, struct sl_buf *text)
{
	const char *copy = sl__arena_string(&m->arena, text->data);

	sl_buf_release(text);
	return copy;
}

static inline const char *
advised_fact(struct advised *m, const struct sl_fact *fact)
{
	struct sl_buf text = {0};

	assert_int_equal(sl_fact_text(fact, &text, NULL), SL_OK);
	return advised_taken(m, &text);
}

static inline const char *
advised_expected(struct advised *m, const struct sl_advice *a)
{
	struct sl_buf text = {0};

	assert_int_equal(sl_advice_expected(a, &text, NULL), SL_OK);
	return advised_taken(m, &text);
}

/* NULL: there is none. */
static inline const char *
advised_command(struct advised *m, const struct sl_advice *a)
{
	struct sl_buf text = {0};

	assert_int_equal(sl_advice_command(&m->p, a, &text, NULL), SL_OK);
	return advised_taken(m, &text);
}

/* The advice with these words in its text; NULL: none. */
static inline const struct sl_advice *
advised_find(struct advised *m, const char *words)
{
	for (size_t i = 0; i < m->p.n_advice; i++) {
		if (strstr(advised_fact(m, &m->p.advice[i].what), words))
			return &m->p.advice[i];
	}
	return NULL;
}

static inline const struct sl_advice *
advised_must_find(struct advised *m, const char *words, double most)
{
	static const struct sl_advice none;
	const struct sl_advice *a = advised_find(m, words);

	if (!a) {
		fail_msg("no advice with '%s'", words);
		return &none;
	}
	assert_close(a->most, most, 1e-9);
	return a;
}

static inline void
advised_finish(struct advised *m)
{
	sl__arena_release(&m->arena);
}

#endif
