/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_dnnl_post.c - every pair of operations after convolutions, also by
 * channel, and after products, against the reference kernels.
 *
 * Sums of 18 products and functions of them are off by some roundings of f32,
 * 6e-8 each; slopes are below 2 and the largest element is above 1/4: 1e-5 of
 * it is enough.  With bf16, operands and results are off by 2^-9 of
 * themselves, and clips leave 3/4 of sums up to 10: a tenth of that.  Where
 * parameters are mistaken, results are off by a quarter and more.
 */
#include "engine/dnnl_post.h"
#include "product_case.h"

/* What operations follow: its text up to their operands, and from there on,
 * and the operand of each that takes one. */
struct ended {
	const char *text, *rest, *operand;
};

static const struct ended all[] = {
	{"sleuth.Conv 1 (f32[1,2,6,5], f32[10,2,3,3], f32[10]",
	 " pads=[1,1,1,1]", "f32[1,10,6,5]"},
	{"sleuth.Conv 1 (f32[1,18,6,5], f32[16,18,1,1], f32[16]", "",
	 "f32[16,1,1]"},
	{"sleuth.Conv 1 (f32[1,10,6,5], f32[10,1,3,3], f32[10]",
	 " group=10 pads=[1,1,1,1]", "f32[1,10,6,5]"},
	{"sleuth.Conv 1 (f32[1,32,6,5], f32[32,1,3,3], f32[32]",
	 " group=32 pads=[1,1,1,1]", "f32[32,1,1]"},
	{"sleuth.MatMul 1 (f32[9,18], f32[18,19], f32[19]", "", "f32[9,19]"},
	{"sleuth.MatMul 1 (f32[2,9,18], f32[18,33], f32[33]", "", "f32[33]"},
};

static int
is_join(enum sl__post_kind kind)
{
	return kind == SL__POST_ADD || kind == SL__POST_MUL;
}

static void
check_pair(const struct ended *e, const enum sl__post_kind *kinds, float more,
	   enum sl_dtype dtype)
{
	char line[256], words[64];
	const char *first = is_join(kinds[0]) ? e->operand : NULL;
	const char *second = is_join(kinds[1]) ? e->operand : NULL;
	struct product_case c = {.text = line, .posts = words, .more = more};

	snprintf(words, sizeof(words), "%s %s", sl__post_word(kinds[0]),
		 sl__post_word(kinds[1]));
	snprintf(line, sizeof(line), "%s%s%s%s%s)%s", e->text,
		 first ? ", " : "", first ? first : "", second ? ", " : "",
		 second ? second : "", e->rest);
	c.constants = 6;
	c.alpha = .25F;
	c.beta = .75F;
	c.dtype = dtype;
	c.share = dtype == SL_DTYPE_BF16 ? .1 : 0;
	check_product(&c);
}

static void
check_pairs(const struct ended *e, enum sl_dtype dtype)
{
	for (int i = 0; i < SL__N_POSTS; i++) {
		for (int k = 0; k < SL__N_POSTS; k++) {
			enum sl__post_kind kinds[2] = {(enum sl__post_kind)i,
						       (enum sl__post_kind)k};

			check_pair(e, kinds, .25F, dtype);
			if (i == k)
				check_pair(e, kinds, 0, dtype);
		}
	}
}

static void
pairs(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		check_pairs(&all[i], SL_DTYPE_F32);
}

static void
pairs_in_bf16(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		check_pairs(&all[i], SL_DTYPE_BF16);
}

/* What does not fit may come late in a chain, with operands on both sides. */
static void
long_chains(void **state)
{
	static const struct {
		const char *text, *posts;
	} rows[] = {
		{"sleuth.Conv 1 (f32[1,2,6,5], f32[10,2,3,3], f32[10], "
		 "f32[1,10,4,3], f32[10,1,1], f32[1,10,4,3])",
		 "linear add hard_sigmoid mul clip add relu"},
		{"sleuth.Conv 1 (f32[1,2,6,5], f32[10,2,3,3], f32[10], "
		 "f32[1,10,4,3], f32[1,10,4,3])",
		 "relu add relu mul leaky_relu tanh"},
		{"sleuth.MatMul 1 (f32[9,18], f32[18,19], f32[19], "
		 "f32[9,19], f32[19])",
		 "linear add hard_sigmoid mul clip"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct product_case c = {.text = rows[i].text,
					 .posts = rows[i].posts,
					 .constants = 6,
					 .alpha = .25F,
					 .beta = .75F,
					 .more = .125F};

		check_product(&c);
	}
}

static void
functions_of_every_kind(void **state)
{
	struct sl__dnnl_change changes[SL__CHANGES_MOST];

	(void)state;
	for (int i = 0; i < SL__N_POSTS; i++) {
		struct sl__post post = {.kind = (enum sl__post_kind)i};
		int n = sl__dnnl_changes(changes, &post);

		assert_int_equal(n == 0, is_join(post.kind));
		assert_int_equal(sl__dnnl_post_length(&post), n ? n : 1);
		for (int k = 0; k < n; k++)
			assert_int_not_equal(changes[k].kind,
					     dnnl_alg_kind_undef);
	}
}

static void
a_function_twice(void **state)
{
	static const struct sl__post posts[] = {
		{.kind = SL__POST_RELU, .alpha = 3},
		{.kind = SL__POST_ADD, .alpha = 1},
		{.kind = SL__POST_RELU, .alpha = 5},
		{.kind = SL__POST_ADD, .alpha = 2},
		{.kind = SL__POST_CLIP, .beta = 1},
		{.kind = SL__POST_HARD_SIGMOID},
		{.kind = SL__POST_LEAKY_RELU, .alpha = 1},
	};
	static const struct sl__post clips[] = {
		{.kind = SL__POST_CLIP, .beta = 6},
		{.kind = SL__POST_HARD_SIGMOID},
	};

	(void)state;
	/* A relu ignores its parameters; a leaky one is the same function. */
	assert_int_equal(sl__dnnl_posts_fit(posts, 7), 6);
	assert_int_equal(sl__dnnl_posts_fit(posts, 6), 6);
	assert_int_equal(sl__dnnl_posts_fit(posts, 0), 0);
	assert_int_equal(sl__dnnl_posts_fit(clips, 2), 1);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(pairs),
		cmocka_unit_test(pairs_in_bf16),
		cmocka_unit_test(long_chains),
		cmocka_unit_test(functions_of_every_kind),
		cmocka_unit_test(a_function_twice),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
