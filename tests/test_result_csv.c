/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fields of CSV: RFC 4180's quotes, and one line a row whatever a name holds,
 * with nothing in it that a terminal would obey or a spreadsheet compute.
 */
#include "base/buf.h"
#include "harness.h"
#include "report/result_csv.h"

static void
check(const char *text, const char *expected)
{
	struct sl_buf out = {0};

	sl__csv_text(&out, text);
	sl__csv_end_line(&out);
	assert_string_equal(out.data, expected);
	sl_buf_release(&out);
}

static void
test_quotes(void **state)
{
	(void)state;
	check("plain", "plain\n");
	check("a,b", "\"a,b\"\n");
	check("say \"hi\"", "\"say \"\"hi\"\"\"\n");
	check("\xc2\xb5s \xe2\x80\xa6", "\xc2\xb5s \xe2\x80\xa6\n");
}

static void
test_control_characters_are_escaped(void **state)
{
	(void)state;
	check("a\nb\r", "a\\nb\\x0d\n");
	check("\033[2J\a", "\\x1b[2J\\x07\n");
	check("\xc2\x9b"
	      "1m",
	      "\\x9b1m\n");
	check("x\xe2\x80\xae,y", "\"x\\u202e,y\"\n");
	check("\xef\xbb\xbf"
	      "b\xff",
	      "\\ufeffb\xef\xbf\xbd\n");
	for (int c = 1; c < 0x20; c++) {
		const char text[2] = {(char)c, '\0'};
		struct sl_buf out = {0};

		sl__csv_text(&out, text);
		assert_int_equal(out.data[0], '\\');
		sl_buf_release(&out);
	}
}

static void
test_formulas_are_text(void **state)
{
	(void)state;
	check("=1+1", "'=1+1\n");
	check("=HYPERLINK(\"x\",1)", "\"'=HYPERLINK(\"\"x\"\",1)\"\n");
	check("@SUM(A1)", "'@SUM(A1)\n");
	check("+cmd|' /C calc'!A0", "'+cmd|' /C calc'!A0\n");
	check("-2+3", "'-2+3\n");
	check("--threads", "'--threads\n");
	check("a=1", "a=1\n");
	/* Numbers, and what stands for none, stay as they are. */
	check("-5", "-5\n");
	check("+1.5e-3", "+1.5e-3\n");
	check("-", "-\n");
}

/* Lists within lists, members of members, what stands around a line, and what
 * is not there. */
static void
test_documents_are_columns(void **state)
{
	static const char columns[] = "model=../../model/name,value,"
				      "lo=ci95/lo,verdict?-,sure,n=list,"
				      "s=sure?no!yes";
	static const struct {
		const char *json, *csv;
	} cases[] = {
		{"{\"results\": [{\"model\": {\"name\": \"a,b\"}, "
		 "\"sweep\": {\"points\": [{\"value\": 1.5, \"ci95\": "
		 "{\"lo\": 1}, \"verdict\": \"slow\", \"list\": [7, 8], "
		 "\"sure\": true}, "
		 "{\"value\": 2, \"ci95\": null, \"sure\": false}]}}, "
		 "{\"model\": {\"name\": \"c\"}, \"sweep\": "
		 "{\"points\": []}}]}",
		 "model,value,lo,verdict,sure,n,s\n\"a,b\",1.5,1,slow,true,2,"
		 "yes\n"
		 "\"a,b\",2,,-,false,,no\n"},
		{"{\"model\": {\"name\": \"d\"}, \"sweep\": {\"points\": "
		 "[{\"value\": 3}]}}",
		 "model,value,lo,verdict,sure,n,s\nd,3,,-,,,no\n"},
		{"{\"sweep\": {}}", "model,value,lo,verdict,sure,n,s\n"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct sl_buf text = {0}, out = {0};

		sl__buf_text(&text, cases[i].json);
		assert_int_equal(sl__csv_from_json(&out, columns,
						   "results/sweep/points",
						   &text, NULL),
				 SL_OK);
		assert_string_equal(out.data, cases[i].csv);
		sl_buf_release(&text);
		sl_buf_release(&out);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_quotes),
		cmocka_unit_test(test_control_characters_are_escaped),
		cmocka_unit_test(test_formulas_are_text),
		cmocka_unit_test(test_documents_are_columns),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
