/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_gradient_forward.c - the nodes whose gradients test_differentiate takes,
 * forward, in f32: as the engine runs them, they are those of the reference
 * kernels.
 */
#include "engine_case.h"

#include <stdio.h>

struct gradient_case {
	const char *text;
	double low, high;
};

static const struct gradient_case cases[] = {
#define CASE(...) {.text = __VA_ARGS__},
#include "gradient_cases.def"
#undef CASE
};

/* "f64" becomes "f32", and so does what Cast makes. */
static void
narrow(char *to, size_t n, const char *from)
{
	static const char *const words[][2] = {{"f64", "f32"},
					       {"to=11", "to=1"}};
	size_t k = 0;

	while (*from) {
		size_t w = 0;

		while (w < 2 &&
		       strncmp(from, words[w][0], strlen(words[w][0])) != 0)
			w++;
		assert_true(k + 4 < n);
		if (w == 2) {
			to[k++] = *from++;
			continue;
		}
		k += strlen(strcpy(to + k, words[w][1]));
		from += strlen(words[w][0]);
	}
	to[k] = '\0';
}

static void
test_cases_run_forward(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char text[512];

		narrow(text, sizeof(text), cases[i].text);
		check_case(&(struct engine_case){.text = text,
						 .low = cases[i].low,
						 .high = cases[i].high,
						 .is_either = 1});
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases_run_forward),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
