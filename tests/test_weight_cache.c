/* SPDX-License-Identifier: Apache-2.0 */
/* test_weight_cache.c - proves that plans of one graph share what they make of
 * its constants: the same bits as alone, in any order, whatever fails. */
#include "counting.h"
#include "graph_text.h"
#include "engine/plan.h"
#include "needs_dnnl.h"

#include <pthread.h>

static const char products[] = "opset 13\n"
			       "in x f32 n,64\n"
			       "const w f32 64,64 = random\n"
			       "const v f32 64,64 = random\n"
			       "h = MatMul x w\n"
			       "r = Relu h\n"
			       "y = MatMul r v\n"
			       "out y\n";

/* The weight is scaled by the normalization, when it is packed. */
static const char normalized[] =
	"opset 13\n"
	"in x f32 n,16,6,6\n"
	"const w f32 16,16,3,3 = random\n"
	"const s f32 16 = random\n"
	"const b f32 16 = random\n"
	"const m f32 16 = random\n"
	"const d f32 16 = 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16\n"
	"c = Conv x w pads=[1,1,1,1]\n"
	"y = BatchNormalization c s b m d\n"
	"out y\n";

/* The weight is computed before the model runs. */
static const char folded[] = "opset 13\n"
			     "in x f32 n,64\n"
			     "const w f32 64,64 = random\n"
			     "const v f32 64,64 = random\n"
			     "u = Add w v\n"
			     "y = MatMul x u\n"
			     "out y\n";

static const char *const models[] = {products, normalized, folded};
enum { N_MODELS = sizeof(models) / sizeof(*models) };

static struct sl_plan *
plan_with(const struct sl_graph *graph, const struct sl_allocator *allocator,
	  unsigned flags)
{
	struct sl_sizes sizes = {.struct_size = sizeof(sizes), .batch = 9};
	struct sl_plan_options how = {.struct_size = sizeof(how),
				      .sizes = &sizes,
				      .n_threads = 1,
				      .algorithms = SL_ALGORITHMS_FIXED,
				      .flags = SL_PLAN_NO_CACHE | flags,
				      .allocator = allocator};
	struct sl_plan *plan;
	struct sl_error err;

	if (sl_plan_new(&plan, graph, &how, &err))
		fail_msg("%s", err.text);
	return plan;
}

static struct sl_plan *
plan_of(const struct sl_graph *graph, const struct sl_allocator *allocator)
{
	return plan_with(graph, allocator, 0);
}

static uint64_t
found_bytes(const struct sl_plan *plan)
{
	return plan->current->weights->found_bytes;
}

/* The only output, after a run. */
static struct sl_array
answer_of(struct sl_plan *plan)
{
	const struct sl_graph *graph = plan->graph;
	struct sl_array out = {0};
	struct sl_error err;

	if (sl_plan_fill_inputs(plan, 7, &err) || sl_plan_run(plan, &err) ||
	    sl_plan_output(plan,
			   graph->values[graph->blocks[0].outputs[0]].name,
			   &out, &err))
		fail_msg("%s", err.text);
	return out;
}

static void
check_same(struct sl_plan *a, struct sl_plan *b)
{
	struct sl_array x = answer_of(a), y = answer_of(b);

	assert_int_equal(x.n_bytes, y.n_bytes);
	assert_true(x.n_bytes > 0);
	assert_memory_equal(x.data, y.data, x.n_bytes);
}

/* Alone is a plan that nobody shares with: its allocator is its own. */
static void
second_finds_all(void **state)
{
	(void)state;
	needs_dnnl();
	for (size_t i = 0; i < N_MODELS; i++) {
		struct graph_text *g = graph_text_with(models[i], NULL);
		struct counting c = {0};
		struct sl_allocator allocator = counting_allocator(&c);
		struct sl_plan *first = plan_of(g->graph, NULL);
		struct sl_plan *second = plan_of(g->graph, NULL);
		struct sl_plan *alone = plan_of(g->graph, &allocator);
		struct sl_plan_memory a, b;

		sl_plan_memory(first, &a);
		sl_plan_memory(second, &b);
		assert_int_equal(found_bytes(first), 0);
		assert_int_equal(found_bytes(alone), 0);
		assert_true(a.weight_bytes > 0);
		assert_int_equal(found_bytes(second), a.weight_bytes);
		assert_memory_equal(&a, &b, sizeof(a));
		check_same(first, second);
		check_same(second, alone);
		sl_plan_free(first);
		check_same(second, alone);
		sl_plan_free(second);
		sl_plan_free(alone);
		assert_int_equal(c.n_out, 0);
		graph_text_free(g);
	}
}

/* One that keeps apart neither finds nor is found. */
static void
apart_are_alone(void **state)
{
	struct graph_text *g = graph_text_with(products, NULL);
	struct sl_plan *apart = plan_with(g->graph, NULL, SL__PLAN_OWN_WEIGHTS);
	struct sl_plan *first = plan_of(g->graph, NULL);
	struct sl_plan *second =
		plan_with(g->graph, NULL, SL__PLAN_OWN_WEIGHTS);

	(void)state;
	assert_int_equal(found_bytes(apart), 0);
	assert_int_equal(found_bytes(first), 0);
	assert_int_equal(found_bytes(second), 0);
	check_same(apart, first);
	check_same(second, first);
	sl_plan_free(first);
	sl_plan_free(apart);
	sl_plan_free(second);
	graph_text_free(g);
}

/* What was made goes with the last that uses it, and not before. */
static void
goes_with_the_last(void **state)
{
	struct graph_text *g = (needs_dnnl(), graph_text_with(products, NULL));
	struct counting c = {0};
	struct sl_allocator allocator = counting_allocator(&c);
	struct sl_plan *first = plan_of(g->graph, &allocator);
	struct sl_plan *second = plan_of(g->graph, &allocator);
	struct sl_plan *third;

	(void)state;
	sl_plan_free(first);
	third = plan_of(g->graph, &allocator);
	assert_true(found_bytes(second) > 0);
	assert_int_equal(found_bytes(third), found_bytes(second));
	check_same(second, third);
	sl_plan_free(second);
	(void)answer_of(third);
	sl_plan_free(third);
	assert_int_equal(c.n_out, 0);
	first = plan_of(g->graph, &allocator);
	assert_int_equal(found_bytes(first), 0);
	sl_plan_free(first);
	graph_text_free(g);
}

/* What is alike in two graphs is each one's own, and a graph that lies where
 * another was finds nothing of that. */
static void
graphs_share_nothing(void **state)
{
	struct graph_text *a = graph_text_with(products, NULL);
	struct graph_text *b = graph_text_with(products, NULL);
	struct sl_plan *of_a = plan_of(a->graph, NULL);
	struct sl_plan *of_b = plan_of(b->graph, NULL), *again;

	(void)state;
	assert_int_equal(found_bytes(of_b), 0);
	again = plan_of(a->graph, NULL);
	sl_plan_free(of_a);
	check_same(again, of_b);
	sl_plan_free(again);
	graph_text_free(a);
	for (int i = 0; i < 4; i++) {
		a = graph_text_with(products, NULL);
		of_a = plan_of(a->graph, NULL);
		assert_int_equal(found_bytes(of_a), 0);
		check_same(of_a, of_b);
		sl_plan_free(of_a);
		graph_text_free(a);
	}
	sl_plan_free(of_b);
	graph_text_free(b);
}

/* A pin of one graph keeps nothing of another. */
static void
pins_are_of_one_graph(void **state)
{
	struct graph_text *a = graph_text_with(products, NULL);
	struct graph_text *b = graph_text_with(folded, NULL);
	struct counting c = {0};
	struct sl_allocator allocator = counting_allocator(&c);
	struct sl__weight_pin *pin;
	struct sl_plan *plan;
	int n_out;

	(void)state;
	assert_int_equal(sl__weight_pin_new(&pin, a->graph, &allocator, NULL),
			 SL_OK);
	n_out = c.n_out;
	sl_plan_free(plan_of(b->graph, &allocator));
	assert_int_equal(c.n_out, n_out);
	sl_plan_free(plan_of(a->graph, &allocator));
	assert_true(c.n_out > n_out);
	plan = plan_of(b->graph, &allocator);
	assert_int_equal(found_bytes(plan), 0);
	sl_plan_free(plan);
	sl__weight_pin_free(pin);
	assert_int_equal(c.n_out, 0);
	graph_text_free(a);
	graph_text_free(b);
}

/* Weights that are made when read: one plan makes them for all. */
static void
built_in_models_share(void **state)
{
	struct sl_plan *first, *second;
	struct sl_graph *graph;
	struct sl_error err;

	(void)state;
	if (sl_graph_open(&graph, "mlp:64-128-64", NULL, &err))
		fail_msg("%s", err.text);
	first = plan_of(graph, NULL);
	second = plan_of(graph, NULL);
	assert_true(found_bytes(second) >= 2 * 64 * 128 * sizeof(float));
	check_same(first, second);
	sl_plan_free(first);
	sl_plan_free(second);
	sl_graph_free(graph);
}

static void
stays_while_pinned(void **state)
{
	struct counting c = {0};
	struct sl_allocator allocator = counting_allocator(&c);
	struct sl__weight_pin *pin;
	struct graph_text *g = (needs_dnnl(), graph_text_with(products, NULL));
	struct sl_plan *plan;
	uint64_t n_bytes;

	(void)state;
	assert_int_equal(sl__weight_pin_new(&pin, g->graph, &allocator, NULL),
			 SL_OK);
	sl_plan_free(plan_of(g->graph, &allocator));
	plan = plan_of(g->graph, &allocator);
	n_bytes = found_bytes(plan);
	assert_true(n_bytes > 0);
	sl_plan_free(plan);
	/* Of the last plan, though it found all. */
	plan = plan_of(g->graph, &allocator);
	assert_int_equal(found_bytes(plan), n_bytes);
	sl_plan_free(plan);
	sl__weight_pin_clear(pin);
	plan = plan_of(g->graph, &allocator);
	assert_int_equal(found_bytes(plan), 0);
	sl_plan_free(plan);
	/* Somebody else's allocator is not kept alive. */
	sl_plan_free(plan_of(g->graph, NULL));
	plan = plan_of(g->graph, NULL);
	assert_int_equal(found_bytes(plan), 0);
	sl_plan_free(plan);
	sl__weight_pin_free(pin);
	assert_int_equal(c.n_out, 0);
	graph_text_free(g);
}

/* Every request fails once, of a plan that finds what another has made. */
static void
survives_failing_memory(void **state)
{
	struct graph_text *g = graph_text_with(products, NULL);
	struct counting c = {0};
	struct sl_allocator allocator = counting_allocator(&c);
	struct sl_plan *first = plan_of(g->graph, &allocator);
	struct sl_plan_options how = {.struct_size = sizeof(how),
				      .n_threads = 1,
				      .algorithms = SL_ALGORITHMS_FIXED,
				      .allocator = &allocator};
	int before = c.n_out, is_over = 0;

	(void)state;
	for (int n = 1; !is_over; n++) {
		struct sl_plan *plan;
		enum sl_status rc;

		c.n_requests = 0;
		c.fail_at = n;
		rc = sl_plan_new(&plan, g->graph, &how, NULL);
		is_over = c.n_requests < n;
		c.fail_at = 0;
		assert_true(!rc || (rc == SL_E_NOMEM && !is_over));
		sl_plan_free(plan);
		assert_int_equal(c.n_out, before);
	}
	(void)answer_of(first);
	sl_plan_free(first);
	assert_int_equal(c.n_out, 0);
	graph_text_free(g);
}

struct at_once {
	const struct sl_graph *graph;
	const struct sl_array *expected;
	int n_wrong;
};

static void *
plan_often(void *ctx)
{
	struct at_once *t = ctx;

	for (int i = 0; i < 20; i++) {
		struct sl_plan *plan = plan_of(t->graph, NULL);
		struct sl_array y = answer_of(plan);

		t->n_wrong += memcmp(y.data, t->expected->data,
				     t->expected->n_bytes) != 0;
		sl_plan_free(plan);
	}
	return NULL;
}

static void
many_at_once(void **state)
{
	struct graph_text *g = graph_text_with(products, NULL);
	struct graph_text *other = graph_text_with(products, NULL);
	struct counting c = {0};
	struct sl_allocator allocator = counting_allocator(&c);
	struct sl_plan *alone = plan_of(g->graph, &allocator);
	struct sl_array expected = answer_of(alone);
	struct at_once each[4];
	pthread_t threads[4];

	(void)state;
	for (int i = 0; i < 4; i++) {
		const struct sl_graph *graph = i % 2 ? other->graph : g->graph;

		each[i] = (struct at_once){graph, &expected, 0};
		assert_int_equal(
			pthread_create(&threads[i], NULL, plan_often, &each[i]),
			0);
	}
	for (int i = 0; i < 4; i++) {
		pthread_join(threads[i], NULL);
		assert_int_equal(each[i].n_wrong, 0);
	}
	sl_plan_free(alone);
	graph_text_free(g);
	graph_text_free(other);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(second_finds_all),
		cmocka_unit_test(apart_are_alone),
		cmocka_unit_test(goes_with_the_last),
		cmocka_unit_test(graphs_share_nothing),
		cmocka_unit_test(pins_are_of_one_graph),
		cmocka_unit_test(built_in_models_share),
		cmocka_unit_test(stays_while_pinned),
		cmocka_unit_test(survives_failing_memory),
		cmocka_unit_test(many_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
