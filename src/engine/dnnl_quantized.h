/* SPDX-License-Identifier: Apache-2.0 */
/* dnnl_quantized.h - which of oneDNN's products of bytes are exact. */
#ifndef SL_DNNL_QUANTIZED_H
#define SL_DNNL_QUANTIZED_H

#include "engine/quantized.h"

#include "engine/dnnl_layout.h"

/* Whether an implementation multiplies with instructions that do not
 * saturate. */
int sl__dnnl_multiplies_exactly(const_dnnl_primitive_desc_t pd);

/* A constant of uint8 or int8 as int8, which 'own' describes, packed as the
 * primitive wants its weights. */
struct sl__dnnl_arg sl__dnnl_int8_weights(struct sl__planner *pl,
					  uint32_t value,
					  const_dnnl_memory_desc_t own,
					  const_dnnl_primitive_desc_t pd);

#endif
