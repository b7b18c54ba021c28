/* SPDX-License-Identifier: Apache-2.0 */
/* microscope_json.h - operations over sizes for programs: JSON and CSV. */
#ifndef SL_MICROSCOPE_JSON_H
#define SL_MICROSCOPE_JSON_H

#include "base/json.h"

/* What sl_microscope_render() was given. */
struct sl__microscope_result {
	const struct sl_microscope *const *found;
	size_t n; /* at least 1 */
};

/* Functions of a struct sl__renderer; 'result' is the struct above. */
void sl__microscope_json(struct sl__json *json, const void *result);

/* One line for each size. */
void sl__microscope_csv(struct sl_buf *out, const void *result);

#endif
