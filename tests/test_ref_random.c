/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_ref_random.c - random numbers: the same seed gives the same bits, a
 * distribution has its mean within five standard errors, and Dropout drops
 * only where its version says so.
 */
#include "evaluated.h"

static double
mean_of(const char *text, double *least, double *most)
{
	struct evaluated *e = evaluated(text);
	const struct sl__tensor *t = &evaluated_out(e, 0)->tensor;
	double sum = 0, x;

	*least = (double)INFINITY;
	*most = -(double)INFINITY;
	for (uint64_t i = 0; i < t->n_elements; i++) {
		assert_true(sl__tensor_doubles(t, i, 1, &x));
		sum += x;
		*least = x < *least ? x : *least;
		*most = x > *most ? x : *most;
	}
	sum /= (double)t->n_elements;
	evaluated_free(e);
	return sum;
}

/* 10,000 of deviation 1 / sqrt(12), and of 2. */
static void
test_distributions(void **state)
{
	double least, most, mean;

	(void)state;
	mean = mean_of("RandomUniform 1 () shape=[100,100] low=2.0 high=3.0",
		       &least, &most);
	assert_near(mean, 2.5, 5 * 0.2887 / 100);
	assert_true(least >= 2 && least < 2.01 && most <= 3 && most > 2.99);
	mean = mean_of("RandomNormal 1 () shape=[100,100] mean=-1.0 scale=2.0",
		       &least, &most);
	assert_near(mean, -1, 5 * 2.0 / 100);
	assert_true(least < -5 && most > 3);
}

/* e to 1 in favour of the last class: 0.7311 of all. */
static void
test_classes(void **state)
{
	double least, most, mean;

	(void)state;
	mean = mean_of("Multinomial 7 (f32[1,2]={5,6}) sample_size=10000",
		       &least, &most);
	assert_near(mean, 0.7311, 5 * 0.4434 / 100);
	check_evaluated("Multinomial 7 (f32[2,3]={-inf,0,-inf,0,-inf,-inf}) "
			"sample_size=3 dtype=7",
			"i64[2,3]={1,1,1,0,0,0}");
	check_evaluated("Multinomial 7 (f32[1,4]={-inf,-inf,-inf,0}) "
			"sample_size=1",
			"i32[1,1]={3}");
	check_fails("Multinomial 7 (f32[1,0]={}) sample_size=3", "no classes");
}

static void
check_same(const char *a, const char *b, int is_same)
{
	struct evaluated *one = evaluated(a), *other = evaluated(b);

	assert_int_equal(!strcmp(evaluated_text(one), evaluated_text(other)),
			 is_same);
	evaluated_free(one);
	evaluated_free(other);
}

static void
test_seeds(void **state)
{
	(void)state;
	check_same("RandomNormal 1 () shape=[9]", "RandomNormal 1 () shape=[9]",
		   1);
	check_same("RandomNormal 1 () shape=[9] seed=1.5",
		   "RandomNormal 1 () shape=[9] seed=1.5", 1);
	check_same("RandomNormal 1 () shape=[9] seed=1.5",
		   "RandomNormal 1 () shape=[9] seed=2.5", 0);
	check_same("RandomNormal 1 () shape=[9] seed=1.5",
		   "RandomNormalLike 1 (f32[9]={1,2,3,4,5,6,7,8,9}) seed=1.5",
		   1);
	check_same("RandomUniform 1 () shape=[9]",
		   "RandomUniform 1 () shape=[9] seed=1.5", 0);
}

static void
test_certain_coins(void **state)
{
	(void)state;
	check_evaluated("Bernoulli 15 (f32[4]={0,1,1,0})", "f32[4]={0,1,1,0}");
	check_evaluated("Bernoulli 15 (f64[2]={1,0}) dtype=9", "bool[2]={1,0}");
	check_evaluated("Bernoulli 15 (f32[0]={})", "f32[0]={}");
}

static void
test_nothing_is_dropped(void **state)
{
	(void)state;
	check_evaluated("Dropout 13 (f32[2]={1,2}, f32[]={0.5}) -> 2",
			"f32[2]={1,2} bool[2]={1,1}");
	check_evaluated("Dropout 13 (f16[2]={1,2}, f32[]={0.5}, bool[]={0})",
			"f16[2]={1,2}");
	check_evaluated("Dropout 7 (f32[2]={1,2}) ratio=0.75 -> 2",
			"f32[2]={1,2} f32[2]={1,1}");
	check_evaluated("Dropout 6 (f32[2]={1,2}) is_test=1", "f32[2]={1,2}");
	check_evaluated("Dropout 13 (f32[2]={1,2}, f32[]={0}, bool[]={1}) -> 2",
			"f32[2]={1,2} bool[2]={1,1}");
	check_evaluated("Dropout 13 (f32[0]={}, f32[]={0.5}, bool[]={1})",
			"f32[0]={}");
	check_fails("Dropout 13 (f32[1]={1}, f32[]={1.5}, bool[]={1})",
		    "a ratio of 1.5");
}

/* What is kept is scaled, what the mask says is dropped is 0. */
static void
check_dropping(const char *text, double scaled)
{
	struct evaluated *e = evaluated(text);
	const struct sl__tensor *y = &evaluated_out(e, 0)->tensor;
	const struct sl__tensor *mask = &evaluated_out(e, 1)->tensor;
	int n_kept = 0;
	double x, is_kept;

	for (uint64_t i = 0; i < y->n_elements; i++) {
		assert_true(sl__tensor_doubles(y, i, 1, &x) &&
			    sl__tensor_doubles(mask, i, 1, &is_kept));
		assert_near(x, is_kept > 0 ? scaled : 0, 0);
		n_kept += is_kept > 0;
	}
	assert_true(n_kept > 0 && n_kept < (int)y->n_elements);
	evaluated_free(e);
}

static void
test_dropping(void **state)
{
	(void)state;
	check_dropping("Dropout 13 (f32[16]={1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1},"
		       " f32[]={0.75}, bool[]={1}) seed=3 -> 2",
		       4);
	check_dropping("Dropout 13 (f32[16]={1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1},"
		       " _, bool[]={1}) -> 2",
		       2);
	/* np.random.RandomState(7).uniform(0, 1, 16) >= 0.5 */
	check_evaluated("Dropout 13 (f32[16]={1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1},"
			" f32[]={0.5}, bool[]={1}) seed=7",
			"f32[16]={0,2,0,2,2,2,2,0,0,0,2,2,0,0,0,2}");
	check_dropping("Dropout 6 (f32[16]={1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1}) "
		       "ratio=0.5 -> 2",
		       2);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_distributions),
		cmocka_unit_test(test_classes),
		cmocka_unit_test(test_seeds),
		cmocka_unit_test(test_certain_coins),
		cmocka_unit_test(test_nothing_is_dropped),
		cmocka_unit_test(test_dropping),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
