/* SPDX-License-Identifier: Apache-2.0 */
/* watch_scopes.c - where does a program spend its time? */
#include <sleuth.h>

#include <stdio.h>

int
main(void)
{
	struct sl_buf page = {NULL, 0, 0};
	struct sl_error err;
	volatile double sum = 0;

	for (int step = 0; step < 100; step++) {
		struct sl_scope scope = sl_scope_begin("step", SL_SCOPE_CPU);

		for (int i = 0; i < 10000; i++)
			sum = sum + i;
		if (step == 99)
			printf("the last step took %.0f ns\n",
			       sl_scope_end(&scope));
		else
			sl_scope_end(&scope);
	}
	if (sl_scope_report(NULL, &page, &err)) {
		fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	fputs(page.data, stdout);
	sl_buf_release(&page);
	return 0;
}
