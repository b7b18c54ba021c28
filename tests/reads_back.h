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

/* A result in one format. */
typedef enum sl_status renders(const void *result,
			       const struct sl_render_options *how,
			       struct sl_buf *out, struct sl_error *err);

/* Read from its JSON, 'result' is the same bytes in every format. */
static inline void
assert_renders_back(renders *render, const void *result)
{
	static const enum sl_format formats[] = {SL_FORMAT_JSON, SL_FORMAT_TEXT,
						 SL_FORMAT_MARKDOWN,
						 SL_FORMAT_CSV};
	struct sl_render_options how = {
		.struct_size = sizeof(how), .n_columns = 200, .verbose = 1};
	struct sl_buf json = {0};
	struct sl_result *back;
	struct sl_error err;

	how.format = SL_FORMAT_JSON;
	assert_int_equal(render(result, &how, &json, NULL), SL_OK);
	if (sl_result_read(&back, json.data, json.n_bytes, NULL, &err))
		fail_msg("%s", err.text);
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		struct sl_buf first = {0}, second = {0};

		how.format = formats[i];
		assert_int_equal(render(result, &how, &first, NULL), SL_OK);
		assert_int_equal(sl_result_render(back, &how, &second, NULL),
				 SL_OK);
		assert_string_equal(second.data, first.data);
		sl_buf_release(&first);
		sl_buf_release(&second);
	}
	sl_result_free(back);
	sl_buf_release(&json);
}

#endif
