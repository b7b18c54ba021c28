/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The list of built-in models: every one is counted, in every format, and the
 * figures are the published ones.
 */
#include "harness.h"
#include "json_check.h"
#include "reads_back.h"

#include "sleuth.h"

static struct sl_zoo_list *
counted(void)
{
	struct sl_zoo_list *zoo;
	struct sl_error err = {.status = SL_OK, .text = ""};

	if (sl_zoo_count(&zoo, &err))
		fail_msg("%s", err.text);
	return zoo;
}

static void
render(struct sl_buf *out, struct sl_render_options how)
{
	struct sl_zoo_list *zoo = counted();

	how.struct_size = sizeof(how);
	memset(out, 0, sizeof(*out));
	assert_int_equal(sl_zoo_render(zoo, &how, out, NULL), SL_OK);
	sl_zoo_list_free(zoo);
}

static enum sl_status
render_any(const void *result, const struct sl_render_options *how,
	   struct sl_buf *out, struct sl_error *err)
{
	const struct sl_zoo_list *zoo = result;

	return sl_zoo_render(zoo, how, out, err);
}

static void
the_list_comes_back(void **state)
{
	struct sl_zoo_list *zoo = counted();

	(void)state;
	assert_renders_back(render_any, zoo);
	sl_zoo_list_free(zoo);
}

static void
json_has_every_model(void **state)
{
	const struct sl_zoo_entry *all = sl_zoo();
	struct sl_buf out;

	(void)state;
	render(&out, (struct sl_render_options){.format = SL_FORMAT_JSON});
	assert_true(json_is(out.data, "command", "\"zoo\""));
	assert_null(strstr(out.data, "_absent"));
	for (size_t i = 0; all[i].name; i++) {
		char path[64], value[128];

		snprintf(path, sizeof(path), "zoo[%zu].name", i);
		snprintf(value, sizeof(value), "\"%s\"", all[i].name);
		assert_true(json_is(out.data, path, value));
		/* torchvision's count, and 2 x its multiply-adds. */
		if (strcmp(all[i].name, "resnet18") != 0)
			continue;
		snprintf(path, sizeof(path), "zoo[%zu].parameters", i);
		assert_true(json_is(out.data, path, "11689512"));
		snprintf(path, sizeof(path), "zoo[%zu].flops", i);
		assert_true(json_is(out.data, path, "3628146688"));
	}
	sl_buf_release(&out);
}

static void
pages_and_tables(void **state)
{
	struct sl_buf out;

	(void)state;
	render(&out, (struct sl_render_options){.format = SL_FORMAT_TEXT,
						.n_columns = 80});
	assert_non_null(strstr(out.data, "138,357,544")); /* VGG-16 */
	assert_non_null(strstr(out.data, "mlp:A-B-..."));
	assert_non_null(strstr(out.data, "235,146 parameters"));
	sl_buf_release(&out);
	render(&out, (struct sl_render_options){.format = SL_FORMAT_MARKDOWN});
	assert_non_null(strstr(out.data, "6,738,415,616"));
	sl_buf_release(&out);
	render(&out, (struct sl_render_options){.format = SL_FORMAT_CSV});
	assert_non_null(strstr(out.data, "name,example,parameters,flops,"));
	/* Fields with commas are quoted. */
	assert_non_null(strstr(out.data, "\"linear:768,3072\",2362368,"));
	sl_buf_release(&out);
}

static void
other_formats_are_refused(void **state)
{
	const struct sl_render_options how = {.struct_size = sizeof(how),
					      .format = SL_FORMAT_HYPERFINE};
	struct sl_zoo_list *zoo = counted();
	struct sl_buf out = {0};
	struct sl_error err;

	(void)state;
	assert_int_equal(sl_zoo_render(zoo, &how, &out, &err), SL_E_USAGE);
	assert_string_equal(err.text, "the zoo has no such format");
	sl_buf_release(&out);
	sl_zoo_list_free(zoo);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(json_has_every_model),
		cmocka_unit_test(pages_and_tables),
		cmocka_unit_test(the_list_comes_back),
		cmocka_unit_test(other_formats_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
