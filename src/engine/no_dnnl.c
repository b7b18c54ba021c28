/* SPDX-License-Identifier: Apache-2.0 */
/* no_dnnl.c - what there is in place of oneDNN where it is not built in. */
#include "engine/dnnl_context.h"

#ifdef SL_WITHOUT_DNNL
#include "base/buf.h"
#include "compute/gemm_blocked.h"
#include "engine/dnnl_choice.h"
#endif

#include "base/banned.h"

#ifdef SL_WITHOUT_DNNL

enum sl_status
sl__dnnl_context_new(struct sl__dnnl_context **out, struct sl__arena *arena,
		     struct sl_error *err)
{
	(void)arena;
	(void)err;
	*out = NULL;
	return SL_OK;
}

void
sl__dnnl_context_free(struct sl__dnnl_context *dnnl)
{
	(void)dnnl;
}

size_t
sl__dnnl_context_mark(const struct sl__dnnl_context *dnnl)
{
	(void)dnnl;
	return 0;
}

enum sl_status
sl__dnnl_context_rewind(struct sl__dnnl_context *dnnl, size_t mark,
			struct sl_error *err)
{
	(void)dnnl;
	(void)mark;
	(void)err;
	return SL_OK;
}

int
sl__dnnl_is_allowed(void)
{
	return 0;
}

void
sl__dnnl_describe(struct sl_buf *out)
{
	sl__buf_format(
		out,
		"oneDNN: none; own kernels: f32, %s (bf16 is computed in f32, "
		"int8 on reference kernels)\n",
		sl__gemm_blocked_isa());
}

/* Own kernels are chosen by rule: nothing is measured or remembered. */
enum sl_status
sl__choices_new(struct sl__choices **out, const struct sl_plan_options *options,
		struct sl_error *err)
{
	(void)options;
	(void)err;
	*out = NULL;
	return SL_OK;
}

void
sl__choices_free(struct sl__choices *choices)
{
	(void)choices;
}

void
sl__choices_contradict(const struct sl_plan_options *options,
		       const struct sl__program *program)
{
	(void)options;
	(void)program;
}

void
sl__choices_save(struct sl__choices *choices)
{
	(void)choices;
}

#endif
