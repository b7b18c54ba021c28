/* SPDX-License-Identifier: Apache-2.0 */
/* main.c - the program: finds the command and runs it. */
#include "sleuth.h"

#include <stdio.h>

int
main(void)
{
	printf("sleuth %s\n", sl_version());
	return 0;
}
