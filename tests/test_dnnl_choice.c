/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measured algorithms: what is remembered is taken again, what is damaged is
 * not, what is no file of the user's own is left alone, and whatever is taken
 * computes the same as the reference kernels.
 * Winograd's transforms of F(4, 3) lose some three bits: 1e-4 of the largest
 * element.
 */
#include "cache_obstacle.h"
#include "choice_folder.h"
#include "conv_graph.h"
#include "needs_dnnl.h"
#include "engine/compile.h"
#include "engine/dnnl_choice.h"
#include "base/file.h"

static const char *const line =
	"Conv 11 (f32[1,32,28,28], f32[32,32,3,3], f32[32]) pads=[1,1,1,1]";
static const int64_t dims[] = {1, 32, 28, 28};
static const char *const ending[] = {"AddX", "Relu", NULL};

/* A machine on which others use a share of the CPU time, in percent; each
 * reading is two seconds after the last. */
struct scripted_load {
	struct sl__monitor_source source;
	struct sl__system_times now;
	unsigned percent;
};

static void
read_nothing(struct sl__covariates *now, void *ctx)
{
	(void)ctx;
	memset(now, 0, sizeof(*now));
}

static int
read_ticks(struct sl__system_times *now, void *ctx)
{
	struct scripted_load *load = ctx;

	load->now.total += 1000000;
	load->now.idle += (100 - load->percent) * 10000;
	*now = load->now;
	return 1;
}

static void
script_load(struct scripted_load *load, unsigned percent)
{
	load->source =
		(struct sl__monitor_source){read_nothing, read_ticks, load};
	load->percent = percent;
	sl__choices_monitor_source = &load->source;
}

/* Kernels of all steps, one after the other. */
static void
kernels_of(const struct folder *f, unsigned flags, char *out, size_t n)
{
	struct sl_plan_options options = {.struct_size = sizeof(options),
					  .n_threads = 1,
					  .dtype = SL_DTYPE_F32,
					  .flags = flags,
					  .cache_folder = f->path};
	struct engine_case c = {.text = line, .share = 1e-4};
	struct sl_graph *graph = conv_graph(line, 2, ending, 4, dims);
	struct sl_plan *plan, *plain;
	struct sl__runtime_value a, expected;
	struct sl_error err = {0};
	struct sl_step step;

	assert_int_equal(sl_plan_new(&plan, graph, &options, &err), SL_OK);
	plain = engine_case_plan(graph, &c, SL_PLAN_REFERENCE, 1);
	engine_case_fill(plan, &c);
	assert_int_equal(sl_plan_run(plan, &err), SL_OK);
	assert_int_equal(sl__plan_output_value(plan, 0, &a, &err), SL_OK);
	assert_int_equal(sl__plan_output_value(plain, 0, &expected, &err),
			 SL_OK);
	engine_case_compare(&c, &a.tensor, &expected.tensor);
	out[0] = '\0';
	for (size_t i = 0; sl_plan_step(plan, i, &step); i++)
		snprintf(out + strlen(out), n - strlen(out), "%s ",
			 step.kernel);
	sl_plan_free(plan);
	sl_plan_free(plain);
	sl_graph_free(graph);
}

static void
test_remembered(void **state)
{
	char first[512], again[512];
	struct sl_buf before = {0}, after = {0};
	struct sl_error err = {0};
	struct folder f;

	struct scripted_load load = {.percent = 0};

	(void)state;
	needs_dnnl();
	script_load(&load, 0);
	folder_new(&f);
	kernels_of(&f, 0, first, sizeof(first));
	folder_look(&f);
	assert_true(f.file[0]);
	assert_int_equal(sl__file_read(&before, f.file, 1 << 20, &err), SL_OK);
	kernels_of(&f, 0, again, sizeof(again));
	assert_int_equal(sl__file_read(&after, f.file, 1 << 20, &err), SL_OK);
	assert_string_equal(first, again);
	assert_string_equal(before.data, after.data);
	sl_buf_release(&before);
	sl_buf_release(&after);
	folder_free(&f);
	sl__choices_monitor_source = NULL;
}

/* Of the rows in the file: how many were looked at n times under load, and
 * none otherwise. */
static size_t
n_rows_loaded(struct folder *f, unsigned n)
{
	struct sl_plan_options options = {.n_threads = 1,
					  .cache_folder = f->path};
	struct sl__choices *c;
	struct sl_error err = {0};
	size_t n_found = 0;

	assert_int_equal(sl__choices_new(&c, &options, &err), SL_OK);
	assert_true(c->n > 0);
	for (size_t i = 0; i < c->n; i++)
		n_found += c->rows[i].n_loaded == n;
	if (n_found)
		assert_int_equal(n_found, c->n);
	sl__choices_free(c);
	return n_found;
}

static void
test_measured_under_load(void **state)
{
	struct scripted_load load = {.percent = 0};
	char kernels[512];
	struct folder f;

	(void)state;
	needs_dnnl();
	folder_new(&f);
	script_load(&load, 50);
	kernels_of(&f, 0, kernels, sizeof(kernels));
	assert_true(n_rows_loaded(&f, 1));
	kernels_of(&f, 0, kernels, sizeof(kernels));
	assert_true(n_rows_loaded(&f, 2));
	/* Not for ever, as long as the load lasts. */
	kernels_of(&f, 0, kernels, sizeof(kernels));
	assert_true(n_rows_loaded(&f, 2));
	script_load(&load, 0);
	kernels_of(&f, 0, kernels, sizeof(kernels));
	assert_true(n_rows_loaded(&f, 0));
	/* What was found on a still machine stays. */
	script_load(&load, 50);
	kernels_of(&f, 0, kernels, sizeof(kernels));
	assert_true(n_rows_loaded(&f, 0));
	sl__choices_monitor_source = NULL;
	folder_free(&f);
}

static void
test_without_winograd(void **state)
{
	char kernels[512];
	struct folder f;

	(void)state;
	folder_new(&f);
	kernels_of(&f, 0, kernels, sizeof(kernels));
	kernels_of(&f, SL_PLAN_NO_WINOGRAD, kernels, sizeof(kernels));
	assert_null(strstr(kernels, "wino"));
	folder_free(&f);
}

static void
test_not_kept(void **state)
{
	char kernels[512];
	struct folder f;

	(void)state;
	folder_new(&f);
	kernels_of(&f, SL_PLAN_NO_CACHE, kernels, sizeof(kernels));
	folder_look(&f);
	assert_string_equal(f.file, "");
	folder_free(&f);
}

/* The table itself, in a folder of its own. */
static void
open_table(struct sl__choices **out, const struct folder *f)
{
	struct sl_plan_options options = {.n_threads = 1,
					  .cache_folder = f->path};
	struct sl_error err = {0};

	assert_int_equal(sl__choices_new(out, &options, &err), SL_OK);
}

static void
test_table(void **state)
{
	struct sl__choice choice = {.is_winograd = 1, .elapsed_ns = 1234567};
	const struct sl__choice *found;
	struct sl__choices *a, *b;
	struct sl_error err = {0};
	struct folder f;

	(void)state;
	folder_new(&f);
	snprintf(choice.kernel, sizeof(choice.kernel), "jit:x");
	open_table(&a, &f);
	open_table(&b, &f);
	assert_null(sl__choices_find(a, "conv a"));
	assert_int_equal(sl__choices_put(a, "conv a", &choice, &err), SL_OK);
	choice.is_winograd = 0;
	choice.is_plain = 1;
	assert_int_equal(sl__choices_put(b, "conv b", &choice, &err), SL_OK);
	/* Of two that write, none loses what the other knows. */
	sl__choices_save(a);
	sl__choices_save(b);
	sl__choices_free(a);
	sl__choices_free(b);
	open_table(&a, &f);
	found = sl__choices_find(a, "conv a");
	assert_non_null(found);
	assert_true(found->is_winograd && !found->is_plain);
	assert_int_equal(found->elapsed_ns, 1234567);
	assert_string_equal(found->kernel, "jit:x");
	found = sl__choices_find(a, "conv b");
	assert_non_null(found);
	assert_true(!found->is_winograd && found->is_plain);
	sl__choices_free(a);
	folder_free(&f);
}

/* Keeps the last line of the log. */
static void
remember(const char *text, void *ctx)
{
	snprintf(ctx, 512, "%s", text);
}

/* Opens, adds a row and saves; both remarks are left in 'lines'. */
static void
add_a_row(const char *folder, unsigned flags, char lines[2][512])
{
	struct sl__choice choice = {.elapsed_ns = 5, .kernel = "jit:x"};
	struct sl_log log = {remember, lines[0]};
	struct sl_plan_options options = {.n_threads = 1,
					  .flags = flags,
					  .log = &log,
					  .cache_folder = folder};
	struct sl__choices *table;
	struct sl_error err = {0};

	lines[0][0] = lines[1][0] = '\0';
	assert_int_equal(sl__choices_new(&table, &options, &err), SL_OK);
	assert_null(sl__choices_find(table, "conv a"));
	assert_int_equal(sl__choices_put(table, "conv a", &choice, &err),
			 SL_OK);
	log.ctx = lines[1];
	sl__choices_save(table);
	sl__choices_free(table);
}

static void
test_refused(void **state)
{
	char lines[2][512], path[384];
	struct folder f;

	(void)state;
	folder_new(&f);
	add_a_row(f.path, 0, lines); /* for the name of the file */
	assert_string_equal(lines[0], "");
	assert_string_equal(lines[1], "");
	folder_look(&f);
	snprintf(path, sizeof(path), "%s", f.file);
	assert_int_equal(unlink(path), 0);
	for (int kind = 0; kind < N_OBSTACLES; kind++) {
		struct obstacle o;

		if (!obstacle_new(&o, (enum obstacle_kind)kind, path))
			continue;
		add_a_row(f.path, 0, lines);
		assert_non_null(strstr(lines[0], obstacle_reasons[kind]));
		assert_non_null(strstr(lines[0], "ignored"));
		assert_non_null(strstr(lines[1], obstacle_reasons[kind]));
		assert_non_null(strstr(lines[1], "not kept"));
		assert_untouched(&o);
		obstacle_free(&o);
	}
	folder_free(&f);
}

/* Without a home nothing is kept, which is told; without a wish to keep
 * anything there is nothing to tell. */
static void
test_no_home(void **state)
{
	char lines[2][512], home[96];
	struct folder f;

	(void)state;
	folder_new(&f);
	snprintf(home, sizeof(home), "%s/nobody", f.path);
	unsetenv("XDG_CACHE_HOME");
	setenv("HOME", home, 1);
	add_a_row(NULL, 0, lines);
	assert_string_equal(lines[0], "");
	assert_non_null(strstr(lines[1], "not kept"));
	assert_non_null(strstr(lines[1], home));
	add_a_row(NULL, SL_PLAN_NO_CACHE, lines);
	assert_string_equal(lines[1], "");
	add_a_row("", 0, lines);
	assert_string_equal(lines[1], "");
	folder_free(&f); /* and nothing is in it */
}

/* Every byte changed, and every length cut: the file counts for nothing. */
/* What a plan is for says nothing of whose algorithms it takes. */
static void
test_own_choices(void **state)
{
	static const unsigned purposes[] = {SL__PLAN_TRAINS, SL__PLAN_NO_DNNL,
					    SL__PLAN_DRY, SL__PLAN_OWN_WEIGHTS};
	struct sl_plan_options options = {.n_threads = 2};

	(void)state;
	for (size_t i = 0; i < sizeof(purposes) / sizeof(*purposes); i++) {
		options.flags = purposes[i];
		assert_false(sl__choices_are_borrowed(&options));
		options.flags |= 1 * SL__PLAN_CHOICES_THREADS;
		assert_true(sl__choices_are_borrowed(&options));
		assert_int_equal(sl__choices_n_threads(&options), 1);
	}
}

static void
test_damaged(void **state)
{
	struct sl__choice choice = {.elapsed_ns = 5, .kernel = "jit:x"};
	struct sl__choices *table;
	struct sl_buf text = {0};
	struct sl_error err = {0};
	struct folder f;

	(void)state;
	folder_new(&f);
	open_table(&table, &f);
	assert_int_equal(sl__choices_put(table, "conv a", &choice, &err),
			 SL_OK);
	sl__choices_save(table);
	sl__choices_free(table);
	folder_look(&f);
	assert_int_equal(sl__file_read(&text, f.file, 1 << 20, &err), SL_OK);
	for (size_t i = 0; i < 2 * text.n_bytes; i++) {
		size_t at = i / 2, n = i % 2 ? text.n_bytes : at;

		text.data[at] = (char)(text.data[at] ^ (int)(i % 2));
		assert_int_equal(sl__file_write(f.file, text.data, n, &err),
				 SL_OK);
		text.data[at] = (char)(text.data[at] ^ (int)(i % 2));
		open_table(&table, &f);
		assert_null(sl__choices_find(table, "conv a"));
		sl__choices_free(table);
	}
	sl_buf_release(&text);
	folder_free(&f);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_remembered),
		cmocka_unit_test(test_measured_under_load),
		cmocka_unit_test(test_without_winograd),
		cmocka_unit_test(test_not_kept),
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_no_home),
		cmocka_unit_test(test_own_choices),
		cmocka_unit_test(test_damaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
