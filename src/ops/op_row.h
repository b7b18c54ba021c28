/* SPDX-License-Identifier: Apache-2.0 */
/* op_row.h - the row of an operator in a table of a family. */
#ifndef SL_OP_ROW_H
#define SL_OP_ROW_H

#include "graph/op_rules.h"

#include <string.h>

/* Of n rows of so many bytes, each of which begins with an enum sl__op_id, the
 * node's; the first where it has none. */
static inline size_t
sl__op_row_index(const struct sl__node *node, const void *rows, size_t n,
		 size_t n_bytes)
{
	for (size_t i = 0; i < n; i++) {
		enum sl__op_id id;

		memcpy(&id, (const char *)rows + i * n_bytes, sizeof(id));
		if (sl__is_op(node, id))
			return i;
	}
	return 0;
}

#define SL__OP_ROW_OF(node, rows)                                 \
	(&(rows)[sl__op_row_index((node), (rows),                 \
				  sizeof(rows) / sizeof(*(rows)), \
				  sizeof(*(rows)))])

#endif
