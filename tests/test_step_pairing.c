/* SPDX-License-Identifier: Apache-2.0 */
/* test_step_pairing.c - which steps of two plans belong together. */
#include "harness.h"
#include "graph_text.h"
#include "experiment/step_pairing.h"
#include "engine/plan.h"

static const char three[] = "opset 13\n"
			    "in x f32 n,8\n"
			    "const w f32 8,8 = random\n"
			    "const b f32 8 = random\n"
			    "const v f32 8,8 = random\n"
			    "h = MatMul x w\n"
			    "s = Add h b\n"
			    "r = Relu s\n"
			    "y = MatMul r v\n"
			    "out y\n";

/* The second product is another one, by another name. */
static const char other[] = "opset 13\n"
			    "in x f32 n,8\n"
			    "const w f32 8,8 = random\n"
			    "const b f32 8 = random\n"
			    "const u f32 8,8 = random\n"
			    "h = MatMul x w\n"
			    "s = Add h b\n"
			    "r = Relu s\n"
			    "e = Exp r\n"
			    "z = MatMul e u\n"
			    "out z\n";

static struct sl_plan *
plan_of(const struct sl_graph *graph, unsigned flags)
{
	struct sl_plan_options how = {.struct_size = sizeof(how),
				      .n_threads = 1,
				      .algorithms = SL_ALGORITHMS_FIXED,
				      .flags = flags | SL_PLAN_NO_CACHE};
	struct sl_plan *plan;
	struct sl_error err;

	if (sl_plan_new(&plan, graph, &how, &err) ||
	    sl_plan_fill_inputs(plan, 1, &err))
		fail_msg("%s", err.text);
	return plan;
}

/* Every step is in one pair, and pairs have as many as they say. */
static void
check_pairing(const struct sl__step_pairing *p)
{
	size_t n_a = 0, n_b = 0;

	for (size_t i = 0; i < p->n_steps_a; i++)
		assert_true(p->of_a[i] < p->n);
	for (size_t i = 0; i < p->n_steps_b; i++)
		assert_true(p->of_b[i] < p->n);
	for (size_t i = 0; i < p->n; i++) {
		n_a += p->pairs[i].n_a;
		n_b += p->pairs[i].n_b;
		assert_true(p->pairs[i].n_a + p->pairs[i].n_b > 0);
		assert_int_equal(p->pairs[i].first_a == SIZE_MAX,
				 p->pairs[i].n_a == 0);
		assert_int_equal(p->pairs[i].first_b == SIZE_MAX,
				 p->pairs[i].n_b == 0);
	}
	assert_int_equal(n_a, p->n_steps_a);
	assert_int_equal(n_b, p->n_steps_b);
}

struct paired {
	struct graph_text *a, *b;
	struct sl__step_pairing_side x, y;
	struct sl__arena arena;
	struct sl__step_pairing pairing;
};

static void
pair_up(struct paired *p, const char *a, unsigned a_flags, const char *b,
	unsigned b_flags)
{
	struct sl_error err;

	memset(p, 0, sizeof(*p));
	p->a = graph_text_with(a, NULL);
	p->b = graph_text_with(b, NULL);
	p->x.graph = p->a->graph;
	p->y.graph = p->b->graph;
	p->x.plan = plan_of(p->x.graph, a_flags);
	p->y.plan = plan_of(p->y.graph, b_flags);
	sl__arena_init(&p->arena, NULL);
	assert_int_equal(sl__step_pairing_match(&p->pairing, &p->x, &p->y,
						&p->arena, &err),
			 0);
	check_pairing(&p->pairing);
}

static void
part(struct paired *p)
{
	sl_plan_free((struct sl_plan *)(uintptr_t)p->x.plan);
	sl_plan_free((struct sl_plan *)(uintptr_t)p->y.plan);
	graph_text_free(p->a);
	graph_text_free(p->b);
	sl__arena_release(&p->arena);
}

static void
the_same_model_matches_step_by_step(void **state)
{
	struct paired p;

	(void)state;
	pair_up(&p, three, 0, three, 0);
	assert_int_equal(p.pairing.n, p.pairing.n_steps_a);
	for (size_t i = 0; i < p.pairing.n; i++) {
		assert_int_equal(p.pairing.pairs[i].n_a, 1);
		assert_int_equal(p.pairing.pairs[i].n_b, 1);
		assert_int_equal(p.pairing.pairs[i].first_a, i);
		assert_int_equal(p.pairing.pairs[i].first_b, i);
		assert_int_equal(p.pairing.pairs[i].is_alike, 1);
		assert_int_equal(p.pairing.pairs[i].has_other_kernel, 0);
	}
	assert_int_equal(
		sl__step_pairing_is_common(&p.pairing, p.x.plan, p.y.plan), 1);
	part(&p);
}

static void
a_fused_step_belongs_to_all_it_covers(void **state)
{
	const struct sl__step_pair *first;
	struct sl_step step;
	struct paired p;

	(void)state;
	pair_up(&p, three, 0, three, SL_PLAN_NO_FUSION);
	assert_int_equal(p.pairing.n_steps_b, 4);
	/* The product, its bias and the Relu are one step of A. */
	assert_int_equal(sl_plan_step(p.x.plan, 0, &step), 1);
	assert_int_equal(step.n_covers, 3);
	first = &p.pairing.pairs[p.pairing.of_a[0]];
	assert_int_equal(first->n_a, 1);
	assert_int_equal(first->n_b, 3);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(p.pairing.of_b[i], p.pairing.of_a[0]);
	assert_int_not_equal(p.pairing.of_b[3], p.pairing.of_a[0]);
	/* One product of two, and neither bias nor Relu. */
	assert_int_equal(first->is_alike, 0);
	assert_int_equal(
		sl__step_pairing_is_common(&p.pairing, p.x.plan, p.y.plan), 0);
	part(&p);
}

static void
what_one_side_has_alone_is_alone(void **state)
{
	size_t n_only_a = 0, n_only_b = 0;
	struct paired p;

	(void)state;
	pair_up(&p, three, SL_PLAN_NO_FUSION, other, SL_PLAN_NO_FUSION);
	for (size_t i = 0; i < p.pairing.n; i++) {
		n_only_a += !p.pairing.pairs[i].n_b;
		n_only_b += !p.pairing.pairs[i].n_a;
	}
	/* y against e and z. */
	assert_int_equal(n_only_a, 1);
	assert_int_equal(n_only_b, 2);
	assert_int_equal(p.pairing.n, 3 + 1 + 2);
	part(&p);
}

static void
plans_are_the_same_by_steps_and_kernels(void **state)
{
	struct graph_text *text = graph_text_with(three, NULL);
	struct sl_plan *a = plan_of(text->graph, 0);
	struct sl_plan *b = plan_of(text->graph, 0);
	struct sl_plan *c = plan_of(text->graph, SL_PLAN_NO_FUSION);
	struct sl__step *last;

	(void)state;
	assert_int_equal(sl__plans_have_same_steps(a, b), 1);
	assert_int_equal(sl__plans_have_same_steps(a, c), 0);
	last = &b->current->steps[b->current->n_steps - 1];
	last->kernel = "another";
	assert_int_equal(sl__plans_have_same_steps(a, b), 0);
	last->kernel = a->current->steps[a->current->n_steps - 1].kernel;
	assert_int_equal(sl__plans_have_same_steps(a, b), 1);
	last->name = "another";
	assert_int_equal(sl__plans_have_same_steps(a, b), 0);
	sl_plan_free(a);
	sl_plan_free(b);
	sl_plan_free(c);
	graph_text_free(text);
}

/* To follow another plan is no setting of the user's. */
static void
who_follows_has_the_same_settings(void **state)
{
	struct graph_text *text = graph_text_with(three, NULL);
	struct sl_plan *a = plan_of(text->graph, 0);
	struct sl_plan *b = plan_of(text->graph, 0);
	struct sl_plan *c = plan_of(text->graph, SL_PLAN_NO_WINOGRAD);

	(void)state;
	sl__plan_follow_choices(&b->options, 3);
	assert_int_equal(sl__plans_have_same_settings(a, b), 1);
	assert_int_equal(sl__plans_have_same_settings(a, c), 0);
	sl_plan_free(a);
	sl_plan_free(b);
	sl_plan_free(c);
	graph_text_free(text);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_same_model_matches_step_by_step),
		cmocka_unit_test(a_fused_step_belongs_to_all_it_covers),
		cmocka_unit_test(what_one_side_has_alone_is_alone),
		cmocka_unit_test(plans_are_the_same_by_steps_and_kernels),
		cmocka_unit_test(who_follows_has_the_same_settings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
