/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_recorded_verdicts.c - proves that responses which were recorded on
 * models whose answer is known (bench/verdicts/) are still judged right.
 */
#include "harness.h"
#include "analysis/bottleneck.h"

enum { COLUMNS_MOST = 64, WORDS = 3, CONDITIONS_BEFORE = 5 };

/* Numbers of a line after its words; how many. */
static size_t
read_numbers(char *line, char *expected, double *x)
{
	char *save = NULL;
	size_t n = 0;

	for (char *word = strtok_r(line, " \n", &save); word;
	     word = strtok_r(NULL, " \n", &save)) {
		if (n == 1)
			snprintf(expected, 16, "%s", word);
		assert_true(n < COLUMNS_MOST);
		x[n++] = strtod(word, NULL);
	}
	return n;
}

/* A line of verdicts.txt, as bench/verdicts/known.c writes it; lines without
 * columns for twice the batch are from before there was that. */
static void
read_case(char *line, struct sl__bottleneck_evidence *c, char *expected)
{
	double x[COLUMNS_MOST], *at = x + WORDS;
	size_t n = read_numbers(line, expected, x);
	size_t n_before =
		WORDS + 9 + 2 * SL__N_MEMORIES + 2 * CONDITIONS_BEFORE + 5;
	int is_before = n == n_before;
	int n_conditions = is_before ? (int)CONDITIONS_BEFORE : SL_N_CONDITIONS;

	assert_true(is_before || n == n_before + 4);
	memset(c, 0, sizeof(*c));
	c->dtype = SL_DTYPE_F32;
	c->is_reference = *at++ > 0;
	c->is_same_alone = *at++ > 0;
	c->n_threads = *at++;
	c->time_ns = *at++;
	c->least_ns = *at++;
	c->flops = *at++;
	c->n_bytes = *at++;
	c->flops_per_s = *at++;
	c->step_ns = *at++;
	for (int k = 0; k < SL__N_MEMORIES; k++) {
		c->bytes_per_s[k] = *at++;
		c->size_bytes[k] = *at++;
	}
	for (int k = 0; k < SL_N_CONDITIONS; k++) {
		c->at_ns[k] = k < n_conditions ? *at++ : (double)NAN;
		c->spread[k] = k < n_conditions ? *at++ : (double)NAN;
	}
	c->hog = (struct sl_hog_effect){at[0], at[1], at[2], at[3]};
	c->others_share = at[4];
	c->doubled_flops = is_before ? (double)NAN : at[5];
	c->doubled_bytes = is_before ? (double)NAN : at[6];
}

static void
recorded_responses_are_judged_right(void **state)
{
	FILE *f = fopen(SL_TEST_DATA "/verdicts.txt", "r");
	size_t n = 0, n_right = 0, n_wrong = 0;
	struct sl__bottleneck_evidence c;
	char expected[16], line[1024];

	(void)state;
	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		struct sl__bound_scores s;

		read_case(line, &c, expected);
		sl__bound_candidates_score(&s, &c);
		n++;
		if (!strcmp(sl_bound_text(s.bound), expected))
			n_right++;
		else if (s.bound != SL_BOUND_UNKNOWN)
			n_wrong++;
	}
	assert_true(feof(f));
	fclose(f);
	assert_true(n >= 50);
	print_message("%zu operations, %zu right, %zu wrong\n", n, n_right,
		      n_wrong);
	assert_true(n_right * 10 >= n * 9);
	assert_true(n_wrong * 50 <= n);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(recorded_responses_are_judged_right),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
