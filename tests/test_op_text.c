/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Proves the shapes of operators on strings, of NonMaxSuppression and Det,
 * and that a cost which depends on the strings is said not to be known.
 */
#include "one_node.h"

static void
test_strings(void **state)
{
	(void)state;
	check_out("StringNormalizer 10 (string[3])", "string[3]");
	check_out("StringConcat 20 (string[2,1], string[3])", "string[2,3]");
	check_out("StringSplit 20 (string[2,n])", "string[2,n,?] int64[2,n]");
	check_out("StringSplit 20 (string)", "string? int64?");
	check_out("RegexFullMatch 20 (string[n])", "bool[n]");
	check_cost("RegexFullMatch 20 (string[3])",
		   {.basis = SL_BASIS_UNKNOWN});
}

static void
test_one_place_for_each_n_gram(void **state)
{
	(void)state;
	check_out("TfIdfVectorizer 9 (i64[12]) ngram_indexes=[0,4,2]",
		  "f32[5]");
	check_out("TfIdfVectorizer 9 (i64[n,12]) ngram_indexes=[0,1]",
		  "f32[n,2]");
}

static void
test_boxes_that_are_kept(void **state)
{
	(void)state;
	check_out("NonMaxSuppression 11 (f32[1,1000,4], f32[1,80,1000])",
		  "int64[?,3]");
}

/* An n x n matrix takes n(n-1)/2 divisions, (n-1)n(2n-1)/6 updates and n - 1
 * products: 3, 5 and 2 for n = 3. */
static void
test_determinants(void **state)
{
	(void)state;
	check_out("Det 11 (f32[n,5,3,3])", "f32[n,5]");
	check_out("Det 11 (f32[3,3])", "f32[]");
	check_refused("Det 11 (f32[3])", "3 is no matrix");
	check_cost("Det 11 (f32[10,3,3])", {.div = 30, .fma = 50, .mul = 20});
	check_cost("Det 11 (f32[1,1])", {.work = SL_WORK_OTHER});
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_strings),
		cmocka_unit_test(test_one_place_for_each_n_gram),
		cmocka_unit_test(test_boxes_that_are_kept),
		cmocka_unit_test(test_determinants),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
