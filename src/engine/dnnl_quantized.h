/* SPDX-License-Identifier: Apache-2.0 */
/* dnnl_quantized.h - which of oneDNN's products of bytes are exact. */
#ifndef SL_DNNL_QUANTIZED_H
#define SL_DNNL_QUANTIZED_H

#include "engine/quantized.h"

#include <dnnl.h>

/* Whether an implementation multiplies with instructions that do not
 * saturate. */
int sl__dnnl_multiplies_exactly(const_dnnl_primitive_desc_t pd);

#endif
