/* SPDX-License-Identifier: Apache-2.0 */
/* test_ref_text.c - proves the reference kernels of strings, by Python's
 * rules of splitting and RE2's of matching. */
#include "evaluated.h"
#include "ops/ref_regex.h"

#include <regex.h>

static void
strings_are_joined(void **state)
{
	(void)state;
	check_evaluated("StringConcat 20 (string[2,1]={'a','b'}, "
			"string[2]={'','x'})",
			"string[2,2]={'a','ax','b','bx'}");
	check_evaluated("StringConcat 20 (string[0]={}, string[]={'x'})",
			"string[0]={}");
	check_fails("StringConcat 20 (i8[1]={1}, string[]={'x'})",
		    "no tensor of strings");
}

static void
strings_are_split_at_a_word(void **state)
{
	(void)state;
	check_evaluated("StringSplit 20 (string[2]={'a;b;;c','d'}) "
			"delimiter=;",
			"string[2,4]={'a','b','','c','d','','',''} "
			"i64[2]={4,1}");
	check_evaluated("StringSplit 20 (string[1]={'axxbxxc'}) delimiter=xx "
			"maxsplit=1",
			"string[1,2]={'a','bxxc'} i64[1]={2}");
	check_evaluated("StringSplit 20 (string[1]={''}) delimiter=x",
			"string[1,1]={''} i64[1]={1}");
}

/* Blanks at either end count for nothing, but for those behind the last
 * split. */
static void
strings_are_split_at_blanks(void **state)
{
	(void)state;
	check_evaluated("StringSplit 20 (string[2]={'  a  b ',' '})",
			"string[2,2]={'a','b','',''} i64[2]={2,0}");
	check_evaluated("StringSplit 20 (string[1]={' a  b  c '}) maxsplit=1",
			"string[1,2]={'a','b  c '} i64[1]={2}");
	check_evaluated("StringSplit 20 (string[]={''})",
			"string[0]={} i64[]={0}");
}

static void
words_are_normalized(void **state)
{
	(void)state;
	check_evaluated("StringNormalizer 10 (string[2]={'aB','\xc3\xa4X'}) "
			"case_change_action=UPPER",
			"string[2]={'AB','\xc3\xa4X'}");
	check_evaluated("StringNormalizer 10 (string[1,1]={'aB'}) "
			"case_change_action=LOWER",
			"string[1,1]={'ab'}");
	check_fails("StringNormalizer 10 (string[2,1]={'a','b'})", "no list");
}

static void
n_grams_are_counted(void **state)
{
	(void)state;
	check_evaluated("TfIdfVectorizer 9 (i64[5]={1,2,1,2,1}) mode=TF "
			"min_gram_length=1 max_gram_length=2 max_skip_count=1 "
			"ngram_counts=[0,1] ngram_indexes=[0,2,1] "
			"pool_int64s=[1,1,2,1,1]",
			"f32[3]={3,2,2}");
	check_evaluated("TfIdfVectorizer 9 (i64[2,2]={7,7,7,8}) mode=IDF "
			"min_gram_length=1 max_gram_length=1 max_skip_count=0 "
			"ngram_counts=[0] ngram_indexes=[0,1] "
			"pool_int64s=[7,8] weights=[0.5,2.0]",
			"f32[2,2]={0.5,0,0.5,2}");
	check_fails("TfIdfVectorizer 9 (i64[1]={1}) mode=TF "
		    "min_gram_length=1 max_gram_length=1 max_skip_count=0 "
		    "ngram_counts=[2] ngram_indexes=[0] pool_int64s=[1]",
		    "outside of the pool");
}

static int
matches(const char *pattern, const char *text)
{
	struct sl__arena arena;
	const char *posix;
	regex_t regex;
	int found;

	sl__arena_init(&arena, NULL);
	assert_int_equal(sl__regex_re2_to_posix(&posix, pattern, &arena, NULL),
			 SL_OK);
	assert_int_equal(regcomp(&regex, posix, REG_EXTENDED | REG_NOSUB), 0);
	found = !regexec(&regex, text, 0, NULL, 0);
	regfree(&regex);
	sl__arena_release(&arena);
	return found;
}

static void
patterns_match_whole_strings(void **state)
{
	(void)state;
	assert_true(matches("a|bc", "bc"));
	assert_false(matches("a|bc", "abc"));
	assert_true(matches("", ""));
	assert_false(matches("", "a"));
	assert_true(matches("\\d+\\.\\d*?", "12.5"));
	assert_false(matches("\\d+", "12a"));
	assert_true(matches("(?:ab)+", "abab"));
	assert_true(matches("[\\w.-]+@\\S+", "a_b.c-d@x"));
	assert_false(matches("[\\w.-]+@\\S+", "a b@x"));
	assert_true(matches("[^\\d\\-]", "x"));
	assert_false(matches("[^\\d\\-]", "-"));
	assert_false(matches("a.b", "a\nb"));
	assert_true(matches("a\\nb", "a\nb"));
	assert_true(matches("a\\[b\\\\", "a[b\\"));
	assert_true(matches("(\\d{1,3}\\.){3}\\d{2,}?", "10.0.200.25"));
	assert_false(matches("(a{2}){3}", "aaaaa"));
	assert_true(matches("(a{2}){3}", "aaaaaa"));
}

static void
patterns_beyond_posix_are_told(void **state)
{
	static const char *const patterns[] = {"(?i)a",
					       "\\pL",
					       "[[:alpha:]]",
					       "a\\",
					       "[a",
					       "[\\]]",
					       "a{1001}",
					       "(a{500}){500}",
					       "((\\d{50}){50}.){50}"};
	char deep[200] = {0};
	struct sl__arena arena;
	const char *posix;

	(void)state;
	sl__arena_init(&arena, NULL);
	for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++)
		assert_int_equal(sl__regex_re2_to_posix(&posix, patterns[i],
							&arena, NULL),
				 SL_E_ABSENT);
	memset(deep, '(', sizeof(deep) - 1);
	assert_int_equal(sl__regex_re2_to_posix(&posix, deep, &arena, NULL),
			 SL_E_ABSENT);
	sl__arena_release(&arena);
	check_evaluated("RegexFullMatch 20 (string[2]={'ab','b'}) pattern=a.",
			"bool[2]={1,0}");
	check_fails("RegexFullMatch 20 (string[1]={'ab'}) pattern=a{2,1}",
		    "no regular expression");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(strings_are_joined),
		cmocka_unit_test(strings_are_split_at_a_word),
		cmocka_unit_test(strings_are_split_at_blanks),
		cmocka_unit_test(words_are_normalized),
		cmocka_unit_test(n_grams_are_counted),
		cmocka_unit_test(patterns_match_whole_strings),
		cmocka_unit_test(patterns_beyond_posix_are_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
