/* SPDX-License-Identifier: Apache-2.0 */
/*
 * op_text.c - operators on strings.
 *
 * Shapes follow as for numbers; what the work is depends on how long the
 * strings are, which no shape says.
 */
#include "graph/op_rules.h"
#include "ops/cost.h"
#include "ops/moving.h"

#include <string.h>

#include "base/banned.h"

void
sl__cost_text(struct sl__call *call, struct sl_cost *cost)
{
	(void)call;
	cost->basis = SL_BASIS_UNKNOWN;
	cost->why = "depends on how long the strings are";
}

/* Stop words go out, so that the last dimension may shrink. */
enum sl_status
sl__infer_string_normalizer(struct sl__call *call)
{
	const struct sl__attribute *stop =
		sl__attribute(call->node, "stopwords");
	const struct sl__type *in = sl__in(call, 0);
	int rank = sl__in_rank(call, 0);
	int64_t dims[2];

	if (rank != 1 && rank != 2)
		return sl__out_rankless(call, 0, SL_DTYPE_STRING);
	if (!stop || !stop->n)
		return sl__out_like(call, 0, 0, SL_DTYPE_STRING);
	memcpy(dims, in->dims, (size_t)rank * sizeof(*dims));
	dims[rank - 1] = sl__size_unknown(call->shapes);
	return sl__out(call, 0, SL_DTYPE_STRING, rank, dims);
}

/* One place for each n-gram of the pool. */
enum sl_status
sl__infer_tf_idf(struct sl__call *call)
{
	const struct sl__type *in = sl__in(call, 0);
	int rank = sl__in_rank(call, 0);
	const int64_t *indexes;
	size_t n = sl__ints(call->node, "ngram_indexes", &indexes);
	int64_t most = -1, dims[2];

	for (size_t i = 0; i < n; i++) {
		if (indexes[i] > most)
			most = indexes[i];
	}
	if (rank != 1 && rank != 2)
		return sl__out_rankless(call, 0, SL_DTYPE_F32);
	if (most == INT64_MAX)
		return sl__refuse(call, "an n-gram index beyond all sizes");
	if (rank == 2)
		dims[0] = in->dims[0];
	dims[rank - 1] = most + 1;
	return sl__out(call, 0, SL_DTYPE_F32, rank, dims);
}

enum sl_status
sl__infer_string_concat(struct sl__call *call)
{
	static const size_t both[] = {0, 1};
	int64_t *dims;
	int rank;

	sl__broadcast(call, both, 2, &rank, &dims);
	return sl__out(call, 0, SL_DTYPE_STRING, rank, dims);
}

/* As many pieces as the longest string has; and how many each has. */
enum sl_status
sl__infer_string_split(struct sl__call *call)
{
	sl__out_longer(call, SL_DTYPE_STRING, sl__size_unknown(call->shapes));
	return sl__out_like(call, 1, 0, SL_DTYPE_I64);
}

enum sl_status
sl__infer_regex(struct sl__call *call)
{
	return sl__out_like(call, 0, 0, SL_DTYPE_BOOL);
}
