/* SPDX-License-Identifier: Apache-2.0 */
/* dnnl_memory.h - whether kernels take memory that no plan knows of. */
#ifndef SL_TEST_DNNL_MEMORY_H
#define SL_TEST_DNNL_MEMORY_H

/* oneDNN's matmuls below AVX2 keep some, and below AVX-512 take some while they
 * run; own kernels never do. */
#ifdef SL_WITHOUT_DNNL
#define KERNELS_KEEP_MEMORY 0
#define KERNELS_TAKE_MEMORY 0
#else
#include "engine/dnnl_isa.h"
#define KERNELS_KEEP_MEMORY (!sl__dnnl_uses_isa(dnnl_cpu_isa_avx2))
#define KERNELS_TAKE_MEMORY (!sl__dnnl_uses_isa(dnnl_cpu_isa_avx512_core))
#endif

#endif
