/* SPDX-License-Identifier: Apache-2.0 */
/* generation_page.h - the formats of a report on a decoding loop. */
#ifndef SL_GENERATION_PAGE_H
#define SL_GENERATION_PAGE_H

#include "base/json.h"

/* Functions of a struct sl__renderer; 'result' is a struct sl_generation. */
void sl__generation_json(struct sl__json *json, const void *result);
void sl__generation_csv(struct sl_buf *out, const void *result);

#endif
