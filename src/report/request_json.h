/* SPDX-License-Identifier: Apache-2.0 */
/* request_json.h - what was asked for, in documents. */
#ifndef SL_REQUEST_JSON_H
#define SL_REQUEST_JSON_H

#include "base/json.h"

/* "request": { ... } */
void sl__json_request(struct sl__json *json, const struct sl_request *request);

#endif
