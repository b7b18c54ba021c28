/* SPDX-License-Identifier: Apache-2.0 */
/* tile_epilogue.h - what follows a matmul, shared by its tiles and its rows. */
#ifndef SL_TILE_EPILOGUE_H
#define SL_TILE_EPILOGUE_H

#include "compute/gemm_blocked.h"
#include "engine/gemm_epilogue.h"

/*
 * A bias, a value of the result's sizes that is added, and a clipping after
 * them are done where the tiles write their sums; 'rest' on the rows of a tile
 * while they are near.
 */
struct sl__tile_epilogue {
	uint32_t bias, addend;       /* values; SL__NONE: none */
	uint32_t bias_at, addend_at; /* among the step's operands */
	const struct sl__layout *addend_layout;
	struct sl__gemm rest;
	struct sl__epilogue epilogue;
};

/* Takes the epilogue of p apart; sets the clipping of g. */
void sl__tile_epilogue_split(struct sl__tile_epilogue *out,
			     const struct sl__gemm *p,
			     struct sl__gemm_blocked *g);

/* Reads the operands, as sl__epilogue_add_operands() does: n of them are there
 * already.  Then the buffer of the result: over the addend where nobody needs
 * that any more. */
uint32_t sl__tile_epilogue_add_operands(struct sl__tile_epilogue *e,
					struct sl__planner *pl,
					uint32_t *operands, uint32_t n);
uint32_t sl__tile_epilogue_output(const struct sl__tile_epilogue *e,
				  struct sl__planner *pl, uint32_t value,
				  const struct sl__layout *layout,
				  const uint32_t *operands);

/* Sets bias and addend of g, whose rows begin 'offset' elements into the
 * result and 'column' columns into a row; and does the rest on a range of them,
 * the first of which is 'row' of the whole result. */
void sl__tile_epilogue_start(const struct sl__tile_epilogue *e,
			     unsigned char *const *at,
			     struct sl__gemm_blocked *g, int64_t offset,
			     int64_t column);
void sl__tile_epilogue_finish(const struct sl__tile_epilogue *e,
			      unsigned char *const *at,
			      const struct sl__gemm_blocked *g,
			      const struct sl__gemm_range *range, int64_t row,
			      int64_t column);

#endif
