/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_recorded_verdicts.c - proves that responses which were recorded on two
 * machines, of models whose answer is known (bench/verdicts/), are judged right
 * by one theory, calibrated for each machine from other families of cases than
 * the one judged.  Prints what was found for what, with exact intervals.
 */
#include "harness.h"
#include "analysis/bound_classes.h"
#include "stats/proportion.h"

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
read_case(char *line, struct sl__step_evidence *c, char *expected)
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
	c->n_dependent = 1;
}

enum { RECORDS_MOST = 256 };

struct record {
	struct sl__step_evidence c;
	char name[24], family[24], expected[16];
	enum sl_bound bound;
};

struct recording {
	struct record at[RECORDS_MOST];
	size_t n;
};

static enum sl_bound
bound_named(const char *word)
{
	for (int b = 0; b < SL_N_BOUNDS; b++) {
		if (!strcmp(word, sl_bound_text((enum sl_bound)b)))
			return (enum sl_bound)b;
	}
	fail_msg("no bound is called %s", word);
	return SL_BOUND_UNKNOWN;
}

static void
read_recording(struct recording *to, const char *path)
{
	FILE *f = fopen(path, "r");
	char line[1024];

	assert_non_null(f);
	to->n = 0;
	while (fgets(line, sizeof(line), f)) {
		struct record *r = &to->at[to->n];

		assert_true(to->n++ < RECORDS_MOST);
		snprintf(r->name, sizeof(r->name), "%.*s",
			 (int)strcspn(line, " "), line);
		/* Sizes of one kernel are one family. */
		snprintf(r->family, sizeof(r->family), "%.*s",
			 (int)strcspn(line, " -"), line);
		read_case(line, &r->c, r->expected);
		/* Element-wise sums, storms and softmaxes have none. */
		if (!strstr("sums storm rows", r->family))
			r->c.core_flops = r->c.flops;
		r->bound = bound_named(r->expected);
	}
	fclose(f);
	assert_true(to->n >= 100);
}

/* The kernels of all families but one, by name. */
static size_t
known_but(struct sl__known_step *out, const struct recording *all,
	  const char *family)
{
	const char *names[RECORDS_MOST];
	size_t n = 0, n_names = 0;

	for (size_t i = 0; i < all->n; i++) {
		const struct record *r = &all->at[i];
		size_t k = 0;

		if (!strcmp(r->family, family) || r->c.is_reference)
			continue;
		while (k < n_names && strcmp(names[k], r->name) != 0)
			k++;
		out[n++] = (struct sl__known_step){r->c, r->bound, k,
						   k < n_names, k};
		if (k == n_names)
			names[n_names++] = r->name;
	}
	return n;
}

static int
has_other_family(const struct recording *all, const struct record *r)
{
	for (size_t i = 0; i < all->n; i++) {
		if (all->at[i].bound == r->bound &&
		    strcmp(all->at[i].family, r->family) != 0)
			return 1;
	}
	return 0;
}

static void
print_share(const char *what, size_t k, size_t n)
{
	struct sl_estimate p = sl__proportion(k, n, 0.05);

	print_message("  %s: %zu of %zu, %.1f %% [%.1f, %.1f]\n", what, k, n,
		      100 * p.value, 100 * p.lo, 100 * p.hi);
}

static void
print_matrix(size_t counts[SL_N_BOUNDS][SL_N_BOUNDS])
{
	for (int a = 0; a < SL_N_BOUNDS; a++) {
		int is_seen = 0;

		for (int b = 0; b < SL_N_BOUNDS; b++)
			is_seen |= counts[a][b] > 0;
		if (!is_seen)
			continue;
		print_message("  %-12s", sl_bound_text((enum sl_bound)a));
		for (int b = 0; b < SL_N_BOUNDS; b++) {
			if (counts[a][b])
				print_message(" %s %zu",
					      sl_bound_text((enum sl_bound)b),
					      counts[a][b]);
		}
		print_message("\n");
	}
}

/* Right are also both of two answers where a case lies between them. */
typedef int is_right_function(const struct record *r, enum sl_bound found);

static int
is_as_planted(const struct record *r, enum sl_bound found)
{
	return r->bound == found;
}

/* Matrices of 16 and 64 MB at the edge of what the guest gets of its L3. */
static int
is_right_on_the_xeon(const struct record *r, enum sl_bound found)
{
	return r->bound == found ||
	       (!strcmp(r->family, "row") && found == SL_BOUND_L3);
}

/* Every case judged by classes made from the other families of its machine. */
static void
judge_recording(const struct recording *all, is_right_function *is_right)
{
	static struct sl__known_step known[RECORDS_MOST];
	size_t counts[SL_N_BOUNDS][SL_N_BOUNDS] = {{0}};
	size_t n_wrong = 0, n_right = 0, n_other = 0, n_other_right = 0;

	for (size_t i = 0; i < all->n; i++) {
		const struct record *r = &all->at[i];
		struct sl__bound_classes classes;
		struct sl__bound_scores s;
		struct sl__arena arena;
		size_t right;

		sl__arena_init(&arena, NULL);
		assert_int_equal(
			sl__bound_classes_fit(
				&classes,
				&(struct sl__calibration){
					.steps = known,
					.n = known_but(known, all, r->family)},
				&arena, NULL),
			SL_OK);
		sl__arena_release(&arena);
		sl__bound_classes_score(&s, &r->c, &classes);
		if (r->c.is_reference) /* speaks for itself */
			s.bound = SL_BOUND_REFERENCE;
		right = !!is_right(r, s.bound);
		counts[r->bound][s.bound]++;
		n_right += right;
		n_wrong += !right && s.bound != SL_BOUND_UNKNOWN;
		if (has_other_family(all, r)) {
			n_other++;
			n_other_right += right;
		}
	}
	print_matrix(counts);
	print_share("right", n_right, all->n);
	print_share("wrong", n_wrong, all->n);
	print_share("right where another family has the bound", n_other_right,
		    n_other);
	assert_true(n_wrong * 50 <= all->n);
	assert_true(n_other_right * 10 >= n_other * 9);
}

static void
an_epyc_is_judged_right(void **state)
{
	static struct recording all;

	(void)state;
	read_recording(&all, SL_TEST_DATA "/verdicts.txt");
	judge_recording(&all, is_as_planted);
}

/* Of its caches the guest gets what test_cache_ladder.c finds. */
static void
a_xeon_is_judged_right(void **state)
{
	static struct recording all;

	(void)state;
	read_recording(&all, SL_TEST_DATA "/verdicts-emerald-rapids.txt");
	for (size_t i = 0; i < all.n; i++) {
		struct sl__step_evidence *c = &all.at[i].c;

		c->size_bytes[SL__MEMORY_L2] = 1448 * 1024;
		c->size_bytes[SL__MEMORY_L3] = 185364 * 1024 / c->n_threads;
	}
	judge_recording(&all, is_right_on_the_xeon);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_epyc_is_judged_right),
		cmocka_unit_test(a_xeon_is_judged_right),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
