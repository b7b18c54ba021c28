/* SPDX-License-Identifier: Apache-2.0 */
/* model_compare.h - `sleuth compare` with models. */
#ifndef SL_MODEL_COMPARE_H
#define SL_MODEL_COMPARE_H

/* The program's exit code; EXIT_DONE after --help. */
int model_compare(char **argv);

#endif
