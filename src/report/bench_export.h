/* SPDX-License-Identifier: Apache-2.0 */
/* bench_export.h - benchmarks in the forms other tools read. */
#ifndef SL_BENCH_EXPORT_H
#define SL_BENCH_EXPORT_H

#include "sleuth/measuring.h"

/*
 * The functions of a struct sl__renderer; 'result' is a struct sl_bench.
 *
 * CSV is one line a command: hyperfine's columns first, in seconds as there,
 * then ours.  Times are those of the steady state, as on the page; n_steady
 * says how many.  What is absent is an empty field.
 */
void sl__bench_csv(struct sl_buf *out, const void *result);

/*
 * What hyperfine's --export-... write, by how->format: JSON and CSV in seconds,
 * tables in how->unit or the one that fits the first mean.  Figures are over
 * all runs, warm-up included, as a script would compute them.  A table says how
 * many times longer than the fastest a command took, with the standard
 * deviation of a ratio of two means (first order).
 */
enum sl_status sl__bench_hyperfine(struct sl_buf *out, const void *result,
				   const struct sl_render_options *how,
				   struct sl_error *err);

/* The result after 'previous' (n_results: before the first) in the order of
 * how->sort; n_results after the last. */
size_t sl__bench_next_sorted(const struct sl_bench *b,
			     const struct sl_render_options *how,
			     size_t previous);

#endif
