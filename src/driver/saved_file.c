/* SPDX-License-Identifier: Apache-2.0 */
/* saved_file.c - a saved result, from its file. */
#include "base/file.h"
#include "base/status.h"
#include "sleuth/results.h"

#include "base/banned.h"

/* A profile of a model with 10,000 nodes takes some 20 MB. */
static const size_t BYTES_MOST = (size_t)1 << 30;

enum sl_status
sl_result_open(struct sl_result **out, const char *path, struct sl_error *err)
{
	struct sl_buf text = {0};
	enum sl_status rc = sl__file_read(&text, path, BYTES_MOST, err);

	*out = NULL;
	if (!rc)
		rc = sl__error_prefix(
			err,
			sl_result_read(out, text.data, text.n_bytes, NULL, err),
			path);
	sl_buf_release(&text);
	return rc;
}
