/* SPDX-License-Identifier: Apache-2.0 */
/* reads_back.h - JSON that was written is read, and written again the same. */
#ifndef SL_TEST_READS_BACK_H
#define SL_TEST_READS_BACK_H

#include "harness.h"
#include "sleuth.h"

/* 'json' is what a render function wrote. */
static inline void
assert_reads_back(const struct sl_buf *json)
{
	const struct sl_render_options how = {.struct_size = sizeof(how),
					      .format = SL_FORMAT_JSON};
	struct sl_buf again = {0};
	struct sl_result *result;
	struct sl_error err;

	if (sl_result_read(&result, json->data, json->n_bytes, NULL, &err))
		fail_msg("%s", err.text);
	assert_int_equal(sl_result_render(result, &how, &again, NULL), SL_OK);
	assert_string_equal(again.data, json->data);
	sl_result_free(result);
	sl_buf_release(&again);
}

#endif
