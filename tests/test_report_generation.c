/* SPDX-License-Identifier: Apache-2.0 */
/* test_report_generation.c - decoding loops made by hand, read from their JSON,
 * give the same pages: with and without a cache, complete and interrupted. */
#include "harness.h"
#include "planted.h"
#include "reads_back.h"

enum { STEPS = 4 };

struct made {
	struct sl_decode_step steps[2][STEPS];
	struct sl_decoding loops[2];
	struct sl_generation of;
};

static const struct sl_estimate none = {(double)NAN, (double)NAN, (double)NAN,
					0,           0,           0};

static struct sl_decode_step
step_of(int i)
{
	return (struct sl_decode_step){
		.nth = i,
		.context = 32 + 10 * i,
		.n_new = 1,
		.n_visits = 3,
		.n_iterations = 30,
		.n_disturbed = (size_t)i % 2,
		.time_ns = i == 2 ? planted_refusal(1.23e6, 6)
				  : planted_estimate(1.5e6, 1.4e6, 1.7e6),
		.plan_ns = 7e5,
		.flops = {i == 1 ? (double)NAN : 1e9,
			  i == 1 ? "a cost is not known" : NULL}};
}

static void
make(struct made *m)
{
	memset(m, 0, sizeof(*m));
	for (int k = 0; k < 2; k++) {
		for (int i = 0; i < STEPS; i++)
			m->steps[k][i] = step_of(i);
		m->loops[k] = (struct sl_decoding){
			.name = k ? "gpt2@kv" : "gpt2",
			.source = "zoo",
			.has_cache = k,
			.is_by_token = k,
			.steps = m->steps[k],
			.n_steps = STEPS,
			.first_ns = planted_estimate(5e6, 4e6, 6e6),
			.first_is_fitted = k,
			.further_ns = planted_estimate(1e6, 0.9e6, 1.1e6),
			.total_ns = planted_refusal(9e7, 4),
			.total_is_fitted = !k,
			.tokens_per_s = planted_estimate(123, 111, 130),
			.steady_per_s =
				planted_estimate(9, 8, (double)INFINITY),
			.growth_ns = planted_estimate(3e4, 2e4, 4e4),
			.growth_at_ns = 6e6,
			.flops = {3e9, NULL},
			.memory_bytes = 123456789,
			.cache_bytes = k ? 1e6 : 0,
			.plan_ns = 3e6};
	}
	m->of = (struct sl_generation){
		.name = "gpt2",
		.source = "zoo",
		.batch = 2,
		.prompt = 32,
		.n_tokens = 21,
		.dtype = SL_DTYPE_F32,
		.n_threads = 2,
		.seed = 7,
		.n_rounds = 3,
		.noise = planted_noise(),
		.elapsed_s = 1.3,
		.stopped_by = SL_STOP_TIME,
		.loops = m->loops,
		.n_loops = 2,
		.cache = {.repeated_share = 0.9,
			  .flops_without = 2e12,
			  .flops_with = 1e11,
			  .is_counted = 1,
			  .most_arithmetic = 40,
			  .most_roofline = 12,
			  .most = 12,
			  .step_bytes = 5e8,
			  .bytes_per_s = 2e10,
			  .measured = planted_estimate(6, 5.5, 6.5),
			  .measured_total =
				  planted_estimate(4, 3, (double)INFINITY),
			  .bytes_per_token = {73728, NULL}}};
}

/* Interrupted in the first loop, before there was anything to fit. */
static void
interrupt(struct made *m)
{
	struct sl_decoding *d = &m->loops[0];

	for (int i = 1; i < STEPS; i++) {
		m->steps[0][i].n_visits = m->steps[0][i].n_iterations = 0;
		m->steps[0][i].time_ns = none;
		m->steps[0][i].plan_ns = (double)NAN;
	}
	d->n_missed = STEPS - 1;
	d->first_ns = d->further_ns = d->total_ns = none;
	d->tokens_per_s = d->steady_per_s = d->growth_ns = none;
	d->growth_at_ns = (double)NAN;
	d->growth_absent = "fewer than three contexts were measured";
	d->flops = (struct sl_reading){(double)NAN, "a cost is not known"};
	m->of.stopped_by = SL_STOP_INTERRUPT;
}

static void
take_ceilings_away(struct sl_cache_effect *c)
{
	c->most_roofline = c->step_bytes = c->bytes_per_s = (double)NAN;
	c->roofline_absent = "no ceilings were measured";
	c->is_counted = 0;
	c->measured = c->measured_total = none;
	c->measured_absent = "no model with a cache was given";
}

static void
take_effect_away(struct sl_cache_effect *c)
{
	take_ceilings_away(c);
	c->absent = "nothing was run without a cache";
	c->roofline_absent = NULL;
	c->repeated_share = c->flops_without = c->flops_with = (double)NAN;
	c->most = c->most_arithmetic = (double)NAN;
	c->bytes_per_token =
		(struct sl_reading){(double)NAN, "it has no attention"};
}

static enum sl_status
render(const void *result, const struct sl_render_options *how,
       struct sl_buf *out, struct sl_error *err)
{
	const struct sl_generation *g = result;

	return sl_generation_render(g, how, out, err);
}

static void
loops_come_back(void **state)
{
	struct made m;

	(void)state;
	for (int i = 0; i < 8; i++) {
		make(&m);
		if (i & 1)
			interrupt(&m);
		if (i & 2)
			take_ceilings_away(&m.of.cache);
		if (i & 4) {
			take_effect_away(&m.of.cache);
			m.of.loops = m.loops + 1;
			m.of.n_loops = 1;
			m.of.n_tokens = i & 2 ? 1 : 21;
		}
		assert_renders_back(render, &m.of);
	}
}

/* One line an iteration; what was not measured is empty. */
static void
passes_are_lines(void **state)
{
	const struct sl_render_options how = {.struct_size = sizeof(how),
					      .format = SL_FORMAT_CSV};
	struct sl_buf out = {0};
	struct made m;

	(void)state;
	make(&m);
	interrupt(&m);
	assert_int_equal(sl_generation_render(&m.of, &how, &out, NULL), SL_OK);
	assert_non_null(strstr(
		out.data, "model,cache,token,context,computed_tokens,"
			  "visits,iterations,median_ms,ci95_lo_ms,ci95_hi_ms,"
			  "plan_ms,flops\n"
			  "gpt2,without,,32,1,3,30,1.5,1.4,1.7,0.7,"
			  "1000000000\n"
			  "gpt2,without,1,42,1,0,0,,,,,\n"));
	assert_non_null(
		strstr(out.data, "gpt2@kv,with,2,52,1,3,30,1.23,,,0.7,"));
	sl_buf_release(&out);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(loops_come_back),
		cmocka_unit_test(passes_are_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
