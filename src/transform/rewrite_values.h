/* SPDX-License-Identifier: Apache-2.0 */
/* rewrite_values.h - new activations and constants of a rewrite. */
#ifndef SL_REWRITE_VALUES_H
#define SL_REWRITE_VALUES_H

#include "transform/rewrite.h"

/* A new activation of that type, or like that of a value with other sizes,
 * which are copied. */
uint32_t sl__rewrite_add_value(struct sl__rewrite *rw, const char *name,
			       const struct sl__type *type);
uint32_t sl__rewrite_add_shaped_value(struct sl__rewrite *rw, const char *name,
				      enum sl_dtype dtype, int rank,
				      const int64_t *dims);

/* A new constant of packed elements, which the caller writes to *bytes (NULL:
 * a failure); one of f32 or integers with these elements; or a value becomes
 * the tensor there is. */
uint32_t sl__rewrite_add_constant(struct sl__rewrite *rw,
				  const struct sl__tensor *like,
				  unsigned char **bytes);
uint32_t sl__rewrite_add_f32_constant(struct sl__rewrite *rw, size_t rank,
				      const int64_t *dims,
				      const double *elements);
uint32_t sl__rewrite_add_integer_constant(struct sl__rewrite *rw,
					  enum sl_dtype dtype, size_t rank,
					  const int64_t *dims,
					  const int64_t *elements);
void sl__rewrite_value_to_constant(struct sl__rewrite *rw, uint32_t value,
				   const struct sl__tensor *tensor);

#endif
