/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_folder.h - where the data of ONNX's backend tests is. */
#ifndef SL_TEST_ONNX_FOLDER_H
#define SL_TEST_ONNX_FOLDER_H

#include <stdio.h>
#include <stdlib.h>

enum { SKIPPED = 77 }; /* ctest's code for a test that had nothing to do */

/*
 * The folder that holds "node", "simple" and the others: the one in the
 * environment, so that the data of another release can be tried, or the one
 * that the build found.  NULL, having said so, where there is neither.
 */
static inline const char *
onnx_folder(void)
{
	const char *folder = getenv("SL_ONNX_TESTDATA");

#ifdef SL_ONNX_TESTDATA
	if (!folder)
		folder = SL_ONNX_TESTDATA;
#endif
	if (!folder)
		fprintf(stderr, "skipped: libonnx-testdata is not installed\n");
	return folder;
}

#endif
