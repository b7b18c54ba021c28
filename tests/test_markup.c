/* SPDX-License-Identifier: Apache-2.0 */
/* test_markup.c - no name becomes markup, and long ones are whole. */
#include "base/buf.h"
#include "harness.h"
#include "report/markup.h"

#include <string.h>

static void
what_markup_reserves_is_spelled_out(void **state)
{
	struct sl_buf out = {0};

	(void)state;
	sl__markup_text(&out, "<script>a & \"b\" 'c'</script>");
	assert_string_equal(out.data, "&lt;script&gt;a &amp; &quot;b&quot; "
				      "&#39;c&#39;&lt;/script&gt;");
	sl_buf_release(&out);
}

/* A control character, one that turns the direction of text, a stray byte. */
static void
what_cannot_be_printed_is_shown(void **state)
{
	struct sl_buf out = {0};

	(void)state;
	sl__markup_text(&out, "a\nb\xe2\x80\xae"
			      "c\xff");
	assert_string_equal(out.data, "a\\nb\\u202ec\xef\xbf\xbd");
	sl__markup_text(&out, NULL);
	assert_string_equal(out.data, "a\\nb\\u202ec\xef\xbf\xbd");
	sl_buf_release(&out);
}

/* Longer than what is formatted in place. */
static void
long_texts_are_whole(void **state)
{
	struct sl_buf out = {0};
	char name[2001];

	(void)state;
	memset(name, '<', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	sl__markup_format(&out, "%s!", name);
	assert_int_equal(out.n_bytes, 4 * 2000 + 1);
	assert_string_equal(out.data + 4 * 1999, "&lt;!");
	sl_buf_release(&out);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_markup_reserves_is_spelled_out),
		cmocka_unit_test(what_cannot_be_printed_is_shown),
		cmocka_unit_test(long_texts_are_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
