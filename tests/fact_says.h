/* SPDX-License-Identifier: Apache-2.0 */
/* fact_says.h - what facts say, for assertions. */
#ifndef SL_TEST_FACT_SAYS_H
#define SL_TEST_FACT_SAYS_H

#include "harness.h"
#include "sleuth.h"

#include <string.h>

/* Whether what it says has 'text' in it. */
static inline int
fact_says(const struct sl_fact *fact, const char *text)
{
	struct sl_buf words = {0};
	int is_said;

	assert_int_equal(sl_fact_text(fact, &words, NULL), SL_OK);
	is_said = words.data && strstr(words.data, text) != NULL;
	sl_buf_release(&words);
	return is_said;
}

/* Whether one of them does. */
static inline int
facts_say(const struct sl_fact *facts, size_t n, const char *text)
{
	int is_said = 0;

	for (size_t i = 0; i < n; i++)
		is_said |= fact_says(&facts[i], text);
	return is_said;
}

static inline void
assert_fact_says(const struct sl_fact *fact, const char *text)
{
	struct sl_buf words = {0};

	assert_int_equal(sl_fact_text(fact, &words, NULL), SL_OK);
	assert_string_equal(words.data ? words.data : "", text);
	sl_buf_release(&words);
}

#endif
