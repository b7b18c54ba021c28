/* SPDX-License-Identifier: Apache-2.0 */
/* dtype.c - types of number: names and sizes. */
#include "base/dtype.h"
#include "base/banned.h"

static const struct {
	const char *name;
	unsigned n_bits;
	enum sl__dtype_family family;
} dtypes[SL_N_DTYPES] = {
	[SL_DTYPE_NONE] = {"none", 0, SL__DTYPE_OTHER},
	[SL_DTYPE_F32] = {"f32", 32, SL__DTYPE_FLOAT},
	[SL_DTYPE_U8] = {"uint8", 8, SL__DTYPE_INTEGER},
	[SL_DTYPE_I8] = {"int8", 8, SL__DTYPE_INTEGER},
	[SL_DTYPE_U16] = {"uint16", 16, SL__DTYPE_INTEGER},
	[SL_DTYPE_I16] = {"int16", 16, SL__DTYPE_INTEGER},
	[SL_DTYPE_I32] = {"int32", 32, SL__DTYPE_INTEGER},
	[SL_DTYPE_I64] = {"int64", 64, SL__DTYPE_INTEGER},
	[SL_DTYPE_STRING] = {"string", 0, SL__DTYPE_OTHER},
	[SL_DTYPE_BOOL] = {"bool", 8, SL__DTYPE_INTEGER},
	[SL_DTYPE_F16] = {"f16", 16, SL__DTYPE_FLOAT},
	[SL_DTYPE_F64] = {"f64", 64, SL__DTYPE_FLOAT},
	[SL_DTYPE_U32] = {"uint32", 32, SL__DTYPE_INTEGER},
	[SL_DTYPE_U64] = {"uint64", 64, SL__DTYPE_INTEGER},
	[SL_DTYPE_C64] = {"complex64", 64, SL__DTYPE_OTHER},
	[SL_DTYPE_C128] = {"complex128", 128, SL__DTYPE_OTHER},
	[SL_DTYPE_BF16] = {"bf16", 16, SL__DTYPE_FLOAT},
	[SL_DTYPE_F8E4M3FN] = {"f8e4m3fn", 8, SL__DTYPE_FLOAT},
	[SL_DTYPE_F8E4M3FNUZ] = {"f8e4m3fnuz", 8, SL__DTYPE_FLOAT},
	[SL_DTYPE_F8E5M2] = {"f8e5m2", 8, SL__DTYPE_FLOAT},
	[SL_DTYPE_F8E5M2FNUZ] = {"f8e5m2fnuz", 8, SL__DTYPE_FLOAT},
	[SL_DTYPE_U4] = {"uint4", 4, SL__DTYPE_INTEGER},
	[SL_DTYPE_I4] = {"int4", 4, SL__DTYPE_INTEGER},
	[SL_DTYPE_F4E2M1] = {"f4e2m1", 4, SL__DTYPE_FLOAT},
	[SL_DTYPE_F8E8M0] = {"f8e8m0", 8, SL__DTYPE_FLOAT},
	[SL_DTYPE_U2] = {"uint2", 2, SL__DTYPE_INTEGER},
	[SL_DTYPE_I2] = {"int2", 2, SL__DTYPE_INTEGER},
};

static int
is_known(enum sl_dtype dtype)
{
	return (unsigned)dtype < SL_N_DTYPES;
}

const char *
sl_dtype_text(enum sl_dtype dtype)
{
	return is_known(dtype) ? dtypes[dtype].name : "unknown";
}

unsigned
sl_dtype_bits(enum sl_dtype dtype)
{
	return is_known(dtype) ? dtypes[dtype].n_bits : 0;
}

enum sl__dtype_family
sl__dtype_family(enum sl_dtype dtype)
{
	return is_known(dtype) ? dtypes[dtype].family : SL__DTYPE_OTHER;
}

int
sl__dtype_is_signed(enum sl_dtype dtype)
{
	return dtype == SL_DTYPE_I8 || dtype == SL_DTYPE_I16 ||
	       dtype == SL_DTYPE_I32 || dtype == SL_DTYPE_I64 ||
	       dtype == SL_DTYPE_I4 || dtype == SL_DTYPE_I2;
}

int
sl__dtype_bytes(uint64_t *out, enum sl_dtype dtype, uint64_t n_elements)
{
	uint64_t n_bits = sl_dtype_bits(dtype), n_bytes;

	/* Eight elements take as many bytes as one has bits. */
	if (__builtin_mul_overflow(n_elements / 8, n_bits, &n_bytes) ||
	    __builtin_add_overflow(n_bytes, (n_elements % 8 * n_bits + 7) / 8,
				   &n_bytes))
		return 0;
	*out = n_bytes;
	return 1;
}
