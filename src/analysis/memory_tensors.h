/* SPDX-License-Identifier: Apache-2.0 */
/* memory_tensors.h - which tensors are in memory while a model runs. */
#ifndef SL_MEMORY_TENSORS_H
#define SL_MEMORY_TENSORS_H

#include "base/arena.h"
#include "engine/program.h"
#include "result/tensor_lifetime.h"
#include "sleuth/profiling.h"

/*
 * Fills out->tensors from a run that was tracked, or from the plan where none
 * was; places are those of out->timeline, one for each step of the plan in the
 * latter case.  Names and the list are from the arena.  SL_E_NOMEM.
 */
enum sl_status sl__memory_tensors_seen(struct sl_memory_use *out,
				       const struct sl__program *p,
				       const struct sl__tensor_lifetimes *seen,
				       struct sl__arena *arena,
				       struct sl_error *err);
enum sl_status sl__memory_tensors_planned(struct sl_memory_use *out,
					  const struct sl__program *p,
					  struct sl__arena *arena,
					  struct sl_error *err);

#endif
