/* SPDX-License-Identifier: Apache-2.0 */
/* print_schema.c - the tables of docs/schema.md, from the rows of results. */
#include "result/saved_result.h"

#include <stdio.h>

int
main(void)
{
	struct sl_buf out = {0};

	sl__schema_doc_tables_write(&out);
	if (!out.data || fwrite(out.data, 1, out.n_bytes, stdout) < out.n_bytes)
		return 1;
	sl_buf_release(&out);
	return 0;
}
