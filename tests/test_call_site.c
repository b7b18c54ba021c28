/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_call_site.c - a return address is named by the function that called,
 * by its object when there is no symbol, and as a number when there is
 * neither.
 */
#define _GNU_SOURCE
#include "harness.h"
#include "memory/call_site.h"

#include <dlfcn.h>

static void
addresses_get_names(void **state)
{
	uintptr_t addresses[2] = {(uintptr_t)dlsym(RTLD_DEFAULT, "strtod") + 4,
				  16};
	struct sl__arena arena;

	(void)state;
	sl__arena_init(&arena, NULL);
	assert_string_equal(sl__call_site_text(&arena, addresses, 0), "");
	assert_string_equal(sl__call_site_text(&arena, addresses + 1, 1),
			    "0x10");
	/* The symbol may be an alias of strtod. */
	assert_non_null(
		strstr(sl__call_site_text(&arena, addresses, 2), "strto"));
	assert_non_null(strstr(sl__call_site_text(&arena, addresses, 2),
			       "+0x4 < 0x10"));
	sl__arena_release(&arena);
}

/* This program exports nothing: its own functions have no symbols. */
static void
code_without_a_symbol_is_an_offset(void **state)
{
	uintptr_t address = (uintptr_t)&addresses_get_names + 4;
	struct sl__arena arena;

	(void)state;
	sl__arena_init(&arena, NULL);
	assert_non_null(strstr(sl__call_site_text(&arena, &address, 1),
			       "call_site+0x"));
	sl__arena_release(&arena);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(addresses_get_names),
		cmocka_unit_test(code_without_a_symbol_is_an_offset),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
