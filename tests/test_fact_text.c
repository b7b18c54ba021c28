/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_fact_text.c - what facts say: every kind has a template that names only
 * values and names that the kind has; numbers, words, parts that are left
 * out.
 */
#include "fact_says.h"
#include "report/fact_text.h"
#include "result/fact_list.h"

#include <ctype.h>
#include <stdio.h>

/* Which values and names a template mentions, as bits. */
static void
mentioned(const char *t, unsigned *values, unsigned *names)
{
	*values = *names = 0;
	for (; (t = strchr(t, '{')) != NULL; t++) {
		const char *at = t + 1 + (strchr("?=<", t[1]) != NULL);

		if (isdigit((unsigned char)*at))
			*values |= 1u << (*at - '0');
		else if (*at != ',')
			*names |= 1u << (*at - 'a');
	}
}

static void
every_kind_has_words(void **state)
{
	(void)state;
	for (int k = 1; k < SL_N_FACT_KINDS; k++) {
		enum sl_fact_kind kind = (enum sl_fact_kind)k;
		const char *words = sl__fact_template(kind);
		unsigned values, names;

		assert_non_null(words);
		assert_true(*words);
		mentioned(words, &values, &names);
		/* All that a kind has is said, and nothing else. */
		assert_int_equal(values,
				 (1u << sl__fact_kind_n_values(kind)) - 1);
		assert_int_equal(names,
				 (1u << sl__fact_kind_n_names(kind)) - 1);
		for (int other = 0; other < k; other++)
			assert_string_not_equal(
				sl_fact_kind_text(kind),
				sl_fact_kind_text((enum sl_fact_kind)other));
	}
	assert_string_equal(sl_fact_kind_text((enum sl_fact_kind)9999), "none");
}

/* No brace, no figure that is none, with all values and with none that may be
 * missing. */
static void
every_kind_can_be_said(void **state)
{
	(void)state;
	for (int k = 1; k < SL_N_FACT_KINDS; k++) {
		struct sl_fact fact = {
			.kind = (enum sl_fact_kind)k,
			.names = {"one", "two", "three", "four"}};
		const char *words = sl__fact_template(fact.kind);

		for (int with_all = 1; with_all >= 0; with_all--) {
			for (int i = 0; i < SL_FACT_VALUES; i++) {
				char optional[] = {'{', '?', (char)('0' + i),
						   ':', '\0'};

				fact.values[i] =
					!with_all && strstr(words, optional)
						? (double)NAN
						: 1;
			}
			assert_false(fact_says(&fact, "{"));
			assert_false(fact_says(&fact, "}"));
			assert_false(fact_says(&fact, "nan"));
			assert_false(fact_says(&fact, "  "));
		}
	}
}

static void
numbers_and_words(void **state)
{
	static const struct {
		struct sl_fact fact;
		const char *words;
	} rows[] = {
		{{SL_FACT_ARITHMETIC_RATE, {0.714, SL_DTYPE_F32}, {NULL}},
		 "runs at 71 % of the f32 peak"},
		{{SL_FACT_ARITHMETIC_RATE, {0.0071, SL_DTYPE_BF16}, {NULL}},
		 "runs at 0.7 % of the bf16 peak"},
		{{SL_FACT_BYTES_RATE, {18.2e9, 0.91, SL_LEVEL_DRAM}, {NULL}},
		 "moves 18.2 GB/s, 91 % of DRAM bandwidth"},
		{{SL_FACT_PASS_SHARE, {1, 0.998, (double)NAN}, {NULL}},
		 "it takes 100 % of the time"},
		{{SL_FACT_OPEN, {0.091}, {NULL}},
		 "the times do not add up: 9.1 % of the time is unattributed"},
		{{SL_FACT_OPEN, {-0.091}, {NULL}},
		 "the times do not add up: the parts exceed the whole by 9.1 "
		 "%"},
		{{SL_FACT_STEP_SIZE, {1234, 500}, {NULL}},
		 "takes 1.23 µs; an empty step takes 500 ns"},
		{{SL_FACT_HOGGED, {1.97, 2, 1.01}, {NULL}},
		 "beside a bandwidth hog it takes 1.97 × as long (on one "
		 "thread; a pure "
		 "stream 2.00 ×, pure arithmetic 1.01 ×)"},
		{{SL_FACT_THREADS, {4, 3.5}, {NULL}},
		 "on 4 threads it is 3.50 × as fast as on one"},
		{{SL_FACT_UNDECIDED,
		  {SL_BOUND_L3, 0.55, SL_BOUND_IMBALANCE, 0.4},
		  {NULL}},
		 "undecided between l3 (55 %) and imbalance (40 %)"},
		{{SL_FACT_TIME_SHARE, {0.5, SL_BOUND_DRAM}, {NULL}},
		 "50 % of the time waits for memory (DRAM)"},
		{{SL_FACT_NOT_MEASURED, {0}, {"not asked for"}},
		 "no ceilings: not asked for"},
		{{SL_FACT_BYTES_IMPOSSIBLE,
		  {1.1e9, 1.02e6, 1078.4e9, 1020e9},
		  {"add", "Add"}},
		 "add (Add): 1100 MB in 1020 µs are 1078 GB/s, above the 1020 "
		 "GB/s of the fastest cache: it does not access all of "
		 "its operands, or its bytes are counted too high"},
		{{SL_FACT_MEMORY_NESTING, {3e6, 2e6, 1e6}, {NULL}},
		 "3 MB live, 2 MB planned and 1 MB reserved do not fit into "
		 "each other: a mistake in the plan"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_fact_says(&rows[i].fact, rows[i].words);
}

/* Parts that are not known are not said; what there is one of is singular. */
static void
parts_and_numbers(void **state)
{
	struct sl_fact fact = {SL_FACT_DOUBLED, {1.5, 2, 1.25}, {NULL}};

	(void)state;
	assert_fact_says(&fact, "at twice the batch it takes 1.50 × as long, "
				"for 2.00 × the arithmetic and 1.25 × the "
				"bytes");
	fact.values[1] = (double)NAN;
	assert_fact_says(&fact, "at twice the batch it takes 1.50 × as long, "
				"for 1.25 × the bytes");
	fact = (struct sl_fact){
		SL_FACT_COUNTERS_OBJECT,
		{SL_LEVEL_L3, (double)NAN, (double)NAN, 0.8, 0.4},
		{NULL}};
	assert_fact_says(&fact, "counters disagree: 80 % of cycles are "
				"stalled, 0.40 instructions a cycle");
	fact.values[3] = (double)NAN;
	assert_fact_says(&fact, "counters disagree: 0.40 instructions "
				"a cycle");
	fact.values[1] = 9e9;
	fact.values[2] = 0.9;
	assert_fact_says(&fact, "counters disagree: lines from L3 come "
				"at 9 GB/s, 90 % of what it gives, 0.40 "
				"instructions a cycle");
	fact = (struct sl_fact){SL_FACT_WINOGRAD, {1}, {NULL}};
	assert_true(fact_says(&fact, "1 operation exceeds the peak"));
	fact.values[0] = 13;
	assert_true(fact_says(&fact, "13 operations exceed the peak"));
}

/* The same text follows whatever a buffer holds already. */
static void
appends(void **state)
{
	const struct sl_fact fact = {
		SL_FACT_COUNTERS_AGREE,
		{SL_LEVEL_L2, (double)NAN, (double)NAN, 0.5, (double)NAN},
		{NULL}};
	struct sl_buf out = {0};

	(void)state;
	assert_int_equal(sl_fact_text(&fact, &out, NULL), SL_OK);
	assert_int_equal(sl_fact_text(&fact, &out, NULL), SL_OK);
	assert_string_equal(out.data,
			    "counters agree: 50 % of cycles are stalled"
			    "counters agree: 50 % of cycles are stalled");
	sl_buf_release(&out);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_kind_has_words),
		cmocka_unit_test(every_kind_can_be_said),
		cmocka_unit_test(numbers_and_words),
		cmocka_unit_test(parts_and_numbers),
		cmocka_unit_test(appends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
