/* SPDX-License-Identifier: Apache-2.0 */
/*
 * measure_memory.c - how much memory does a function take?
 *
 * Every allocation is seen where libsleuth-alloc is linked or preloaded; else
 * resident memory is sampled.
 */
#include <sleuth.h>

#include <stdio.h>
#include <stdlib.h>

static int
fill(void *ctx)
{
	size_t n_bytes = *(size_t *)ctx;
	char *block = (char *)malloc(n_bytes);
	volatile char *bytes = block; /* or the writes would be left out */

	if (!block)
		return 1;
	for (size_t i = 0; i < n_bytes; i += 4096)
		bytes[i] = 1;
	free(block);
	return 0;
}

int
main(void)
{
	size_t n_bytes = 32 * 1000 * 1000;
	struct sl_memory *m;
	struct sl_error err;

	if (sl_measure_function_memory(&m, fill, &n_bytes, NULL, &err)) {
		fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	printf("peak %.1f MB above %.1f MB, %s, %s\n",
	       (m->peak_bytes - m->baseline_bytes) / 1e6,
	       m->baseline_bytes / 1e6,
	       m->method == SL_MEMORY_INTERPOSED ? "every allocation"
						 : "resident memory",
	       sl_memory_pattern_text(m->pattern));
	sl_memory_free(m);
	return 0;
}
