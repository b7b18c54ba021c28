/* SPDX-License-Identifier: Apache-2.0 */
/* bench_export.h - benchmarks in the forms other tools read. */
#ifndef SL_BENCH_EXPORT_H
#define SL_BENCH_EXPORT_H

#include "sleuth.h"

/*
 * One line a command: hyperfine's columns first, in seconds as there, then
 * ours.  What is absent is an empty field.
 */
void sl__bench_csv(struct sl_buf *out, const struct sl_bench *b);

/* JSON as hyperfine's --export-json writes it, in seconds. */
void sl__bench_hyperfine(struct sl_buf *out, const struct sl_bench *b);

#endif
