/* SPDX-License-Identifier: Apache-2.0 */
/* bench_export.h - benchmarks in the forms other tools read. */
#ifndef SL_BENCH_EXPORT_H
#define SL_BENCH_EXPORT_H

#include "sleuth.h"

/*
 * The functions of a struct sl__renderer; 'result' is a struct sl_bench.
 *
 * CSV is one line a command: hyperfine's columns first, in seconds as there,
 * then ours.  Times are those of the steady state, as on the page; n_steady
 * says how many.  What is absent is an empty field.
 */
void sl__bench_csv(struct sl_buf *out, const void *result);

/*
 * JSON as hyperfine's --export-json writes it, in seconds.  Its figures are
 * over all of times[], warm-up included, as a script would compute them.
 */
enum sl_status sl__bench_hyperfine(struct sl_buf *out, const void *result,
				   struct sl_error *err);

#endif
