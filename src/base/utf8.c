/* SPDX-License-Identifier: Apache-2.0 */
/* utf8.c - code points out of bytes of unknown origin, and back. */
#include "base/utf8.h"

#include <string.h>

#include "base/banned.h"

size_t
sl__utf8_decode(const char *text, uint32_t *code)
{
	static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
	const unsigned char *p = (const unsigned char *)text;
	uint32_t c;
	size_t n;

	if (p[0] < 0x80) {
		*code = p[0];
		return 1;
	}
	n = p[0] >= 0xf0 ? 4 : p[0] >= 0xe0 ? 3 : 2;
	if (p[0] < 0xc2 || p[0] > 0xf4)
		return 0;
	c = p[0] & (0xffu >> (n + 1));
	for (size_t i = 1; i < n; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (p[i] & 0x3f);
	}
	if (c < smallest[n] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
		return 0;
	*code = c;
	return n;
}

size_t
sl__utf8_step(const char *text)
{
	uint32_t code;
	size_t n = sl__utf8_decode(text, &code);

	return n ? n : 1;
}

size_t
sl__utf8_encode(char to[SL__UTF8_MOST], uint32_t code)
{
	static const unsigned char first[] = {0, 0, 0xc0, 0xe0, 0xf0};
	size_t n;

	if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
		code = 0xfffd;
	n = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
	for (size_t i = n; i-- > 1; code >>= 6)
		to[i] = (char)(0x80 | (code & 0x3f));
	to[0] = (char)(n > 1 ? first[n] | code : code);
	return n;
}

int
sl__utf8_is_unprintable(uint32_t code)
{
	return code < 0x20 || (code >= 0x7f && code < 0xa0) ||
	       (code >= 0x200b && code <= 0x200f) ||
	       (code >= 0x2028 && code <= 0x202e) ||
	       (code >= 0x2060 && code <= 0x2069) || code == 0x00ad ||
	       code == 0x061c || code == 0xfeff;
}

void
sl_text_sanitize(char *text)
{
	char *to = text;

	while (*text) {
		uint32_t code;
		size_t n = sl__utf8_decode(text, &code);

		if (!n || sl__utf8_is_unprintable(code)) {
			*to++ = '?';
		} else {
			memmove(to, text, n);
			to += n;
		}
		text += n ? n : 1;
	}
	*to = '\0';
}
