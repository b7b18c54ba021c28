/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_planner.c - proves that plans of random graphs give what the evaluator
 * gives: steps that write over what they read, views of parts of others,
 * values in several forms, inputs and constants that are outputs, all mixed,
 * with and without fusing, in every run.
 */
#include "planned_graph.h"
#include "base/rng.h"

enum {
	TEXT_MOST = 8192,
	N_NODES = 30,
	ROUNDS = 150,
	POOL_MOST = 80,
	N_OUTPUTS = 5
};

/* Shapes of which values are made: whole ones, halves, rows, turned ones, and
 * whole ones seen as images. */
enum shape { WHOLE, HALF, ROW, TURNED, IMAGE, N_SHAPES };

struct maker {
	struct sl__rng rng;
	char text[TEXT_MOST];
	size_t used;
	int pool[N_SHAPES][POOL_MOST]; /* numbers of values */
	size_t n[N_SHAPES];
	int next;
};

static void add(struct maker *m, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void
add(struct maker *m, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	m->used += (size_t)vsnprintf(m->text + m->used, TEXT_MOST - m->used,
				     format, args);
	va_end(args);
	assert_true(m->used < TEXT_MOST);
}

/* Any value of the shape, a late one rather than an early one. */
static int
any(struct maker *m, enum shape shape)
{
	size_t n = m->n[shape];
	size_t back = sl__rng_below(&m->rng, sl__rng_below(&m->rng, n) + 1);

	return m->pool[shape][n - 1 - back];
}

static int
new_value(struct maker *m, enum shape shape)
{
	assert_true(m->n[shape] < POOL_MOST);
	m->pool[shape][m->n[shape]++] = m->next;
	return m->next++;
}

static void
add_unary(struct maker *m, enum shape shape)
{
	static const char *const types[] = {"Relu", "Neg",     "Tanh",    "Abs",
					    "Sin",  "Sigmoid", "Identity"};
	int from = any(m, shape);

	add(m, "v%d = %s v%d\n", new_value(m, shape),
	    types[sl__rng_below(&m->rng, 7)], from);
}

static void
add_binary(struct maker *m, enum shape shape, enum shape other)
{
	static const char *const types[] = {"Add", "Sub", "Mul", "Max"};
	int a = any(m, shape), b = any(m, other);
	const char *type = types[sl__rng_below(&m->rng, 4)];

	if (sl__rng_coin(&m->rng))
		add(m, "v%d = %s v%d v%d\n", new_value(m, shape), type, a, b);
	else
		add(m, "v%d = %s v%d v%d\n", new_value(m, shape), type, b, a);
}

static void
add_parts(struct maker *m)
{
	int from = any(m, WHOLE), a, b;

	if (sl__rng_coin(&m->rng)) {
		a = new_value(m, HALF);
		b = new_value(m, HALF);
		add(m, "v%d,v%d = Split v%d axis=0\n", a, b, from);
	} else {
		int at = (int)sl__rng_below(&m->rng, 3);

		add(m, "v%d = Slice v%d at%d at%d axis0\n", new_value(m, ROW),
		    from, at, at + 1);
	}
}

static void
add_whole(struct maker *m)
{
	int a = any(m, HALF), b = any(m, HALF);

	add(m, "v%d = Concat v%d v%d axis=0\n", new_value(m, WHOLE), a, b);
}

static void
add_turn(struct maker *m)
{
	int is_back = sl__rng_coin(&m->rng);
	int from = any(m, is_back ? TURNED : WHOLE);
	int to = new_value(m, is_back ? WHOLE : TURNED);

	if (sl__rng_coin(&m->rng))
		add(m, "v%d = Transpose v%d perm=[1,0]\n", to, from);
	else
		add(m, "v%d = Reshape v%d %s\n", to, from,
		    is_back ? "whole" : "turned");
}

static void
add_image(struct maker *m)
{
	int from;

	switch (sl__rng_below(&m->rng, 4)) {
	case 0:
		from = any(m, WHOLE);
		add(m, "v%d = Reshape v%d image\n", new_value(m, IMAGE), from);
		break;
	case 1:
		from = any(m, IMAGE);
		add(m, "v%d = Reshape v%d whole\n", new_value(m, WHOLE), from);
		break;
	default:
		from = any(m, IMAGE);
		add(m, "v%d = Conv v%d kernel\n", new_value(m, IMAGE), from);
	}
}

static void
add_mix(struct maker *m)
{
	int from = any(m, WHOLE);

	switch (sl__rng_below(&m->rng, 4)) {
	case 0:
		add(m, "v%d = Softmax v%d axis=1\n", new_value(m, WHOLE), from);
		break;
	case 1:
		add(m, "v%d = MatMul v%d square\n", new_value(m, WHOLE), from);
		break;
	case 2:
		add(m, "v%d = ReduceMean v%d axes=[0]\n", new_value(m, ROW),
		    from);
		break;
	default:
		add(m, "v%d = Gather v%d order axis=0\n", new_value(m, WHOLE),
		    from);
	}
}

static void
add_node(struct maker *m)
{
	enum shape shape = (enum shape)sl__rng_below(&m->rng, N_SHAPES);

	switch (sl__rng_below(&m->rng, 9)) {
	case 0:
	case 1:
		add_unary(m, shape);
		break;
	case 2:
		add_binary(m, shape, shape);
		break;
	case 3:
		add_binary(m, WHOLE, ROW);
		break;
	case 4:
		add_parts(m);
		break;
	case 5:
		add_whole(m);
		break;
	case 6:
		add_turn(m);
		break;
	case 7:
		add_image(m);
		break;
	default:
		add_mix(m);
	}
}

static void
make_text(struct maker *m, uint64_t seed)
{
	memset(m, 0, sizeof(*m));
	sl__rng_init(&m->rng, seed);
	add(m, "opset 13\n"
	       "in v0 f32 4,8\n"
	       "in v1 f32 4,8\n"
	       "const v2 f32 4,8 = 1,-1,2,-2,3\n"
	       "const whole i64 2 = 4,8\n"
	       "const turned i64 2 = 8,4\n"
	       "const image i64 4 = 1,4,2,4\n"
	       "const order i64 4 = 2,0,3,1\n"
	       "const kernel f32 4,4,1,1 = 1,-1,0.5,0,0.25,1,-0.5,0.5,1,1,0,-1,"
	       "0.5,0.5,0.5,-0.5\n"
	       "const square f32 8,8 = 0.5,-0.5,0,0.25,1,0,-1,0.5,0.25,0.5\n"
	       "const at0 i64 1 = 0\n"
	       "const at1 i64 1 = 1\n"
	       "const at2 i64 1 = 2\n"
	       "const at3 i64 1 = 3\n"
	       "const axis0 i64 1 = 0\n");
	while (m->next < 3)
		(void)new_value(m, WHOLE);
	/* One of each shape to begin with. */
	add(m, "v%d = Reshape v0 turned\n", new_value(m, TURNED));
	add(m, "v%d = Reshape v1 image\n", new_value(m, IMAGE));
	add(m, "v%d = Slice v1 at1 at2 axis0\n", new_value(m, ROW));
	add(m, "v%d,v%d = Split v0 axis=0\n", m->next, m->next + 1);
	(void)new_value(m, HALF);
	(void)new_value(m, HALF);
	for (int i = 0; i < N_NODES; i++)
		add_node(m);
	/* The last, which need most, and any other. */
	for (int i = 0; i < N_OUTPUTS; i++) {
		int last = m->next - 1 - i;

		if (i >= 3)
			last = (int)sl__rng_below(&m->rng,
						  (uint64_t)m->next - 5);
		add(m, "out v%d\n", last);
	}
}

static void
check_graph(const char *text, int n_threads, unsigned flags)
{
	const int64_t dims[] = {4, 8};
	struct planned p;

	planned_start(&p, text, n_threads, flags);
	for (uint64_t run = 1; run <= 3; run++) {
		planned_fill(&p, "v0", 2, dims, run);
		planned_fill(&p, "v1", 2, dims, 10 * run);
		planned_check(&p);
	}
	planned_finish(&p);
}

static void
random_graphs_are_computed(void **state)
{
	static struct maker m;

	(void)state;
	for (uint64_t seed = 1; seed <= ROUNDS; seed++) {
		make_text(&m, seed);
		/* Shown where a check fails. */
		if (getenv("SHOW_GRAPH"))
			print_message("seed %llu\n%s", (unsigned long long)seed,
				      m.text);
		check_graph(m.text, 1, 0);
		check_graph(m.text, 2, SL_PLAN_NO_FUSION);
		if (seed % 10 == 0)
			check_graph(m.text, 1, SL_PLAN_REFERENCE);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_graphs_are_computed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
