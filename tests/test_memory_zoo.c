/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_memory_zoo.c - proves of the large built-in models that the block of a
 * plan is not much larger than the bound (test_memory.c: of the small ones).
 */
#include "planned_waste.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HAS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define HAS_SANITIZER 1
#endif
#endif
#ifndef HAS_SANITIZER
#define HAS_SANITIZER 0
#endif
#ifdef __OPTIMIZE__
#define IS_OPTIMIZED 1
#else
#define IS_OPTIMIZED 0
#endif

/* The weights of these are made and packed for it, which takes minutes with a
 * sanitizer. */
static void
wastes_little_on_large_models(void **state)
{
	static const char *const names[] = {"resnet34",  "resnet50",
					    "resnet101", "resnet152",
					    "unet",      "vit-b-16"};

	(void)state;
	if (HAS_SANITIZER) {
		print_message("not tested with a sanitizer: large models\n");
		skip();
	}
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		check_planned_waste(names[i]);
}

/* And of these, minutes without optimization. */
static void
wastes_little_on_larger_models(void **state)
{
	static const char *const names[] = {"vgg16",       "bert-base",
					    "gpt2",        "gpt2@kv",
					    "gpt2-medium", "gpt2-medium@kv"};

	(void)state;
	if (HAS_SANITIZER || !IS_OPTIMIZED) {
		print_message("tested in optimized builds only: the larger "
			      "models\n");
		skip();
	}
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		check_planned_waste(names[i]);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(wastes_little_on_large_models),
		cmocka_unit_test(wastes_little_on_larger_models),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
