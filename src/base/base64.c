/* SPDX-License-Identifier: Apache-2.0 */
/* base64.c - bytes as text and back (RFC 4648). */
#include "base/base64.h"
#include "base/buf.h"
#include "base/status.h"

#include <string.h>

#include "base/banned.h"

static const char digits[] =
	"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
enum { LINE_BYTES = 57 }; /* 76 characters */

/* Up to three bytes as four characters. */
static void
add_group(struct sl_buf *out, const unsigned char *bytes, size_t n)
{
	unsigned bits = 0;
	char group[4];

	for (size_t i = 0; i < 3; i++)
		bits = bits << 8 | (i < n ? bytes[i] : 0U);
	for (size_t i = 0; i < 4; i++)
		group[i] = i <= n ? digits[bits >> (18 - 6 * i) & 63] : '=';
	sl__buf_add(out, group, sizeof(group));
}

void
sl__base64_add(struct sl_buf *out, const void *bytes, size_t n_bytes)
{
	const unsigned char *from = bytes;

	for (size_t at = 0; at < n_bytes; at += 3) {
		size_t rest = n_bytes - at;

		add_group(out, from + at, rest < 3 ? rest : 3);
		if ((at + 3) % LINE_BYTES == 0 || rest <= 3)
			sl__buf_text(out, "\n");
	}
}

enum sl_status
sl__base64_read(struct sl_buf *out, const char *text, size_t n,
		struct sl_error *err)
{
	unsigned bits = 0;
	size_t n_digits = 0, n_pads = 0;
	char byte;

	for (size_t i = 0; i < n; i++) {
		const char *digit = memchr(digits, text[i], 64);

		if (memchr(" \t\r\n", text[i], 4))
			continue;
		if (text[i] == '=') {
			n_pads++;
			continue;
		}
		if (!digit || n_pads)
			return sl__fail(err, SL_E_DATA,
					"byte %zu of base 64 is no digit of it",
					i);
		bits = bits << 6 | (unsigned)(digit - digits);
		byte = (char)(bits >> (6 - 2 * (n_digits % 4)) & 255);
		if (n_digits++ % 4) /* the first of four ends no byte */
			sl__buf_add(out, &byte, 1);
	}
	if ((n_digits + n_pads) % 4 || n_pads > 2)
		return sl__fail(err, SL_E_DATA, "base 64 is cut short");
	return sl__buf_status(out, err);
}
