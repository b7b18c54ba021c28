/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_record.c - a struct is written by its table and read back: every kind of
 * field, scaled numbers to the last bit, absence with its reason; and a file
 * that says something else than its table is refused by name.
 */
#include "result/record.h"
#include "sleuth.h"
#include "result/rows.h"
#include "harness.h"

struct part {
	const char *name;
	int64_t least;
};

struct whole {
	size_t n_parts; /* a count may stand first */
	const struct part *parts;
	const char *title;
	uint64_t large;
	int32_t below;
	double time_ns, elapsed_s, high;
	int is_set;
	struct sl_reading reading;
	struct sl_estimate estimate;
	const double *series;
	size_t n_series;
	uint64_t bins[3];
	enum sl_verdict verdict;
	const char *const *argv;
};

static const char *
word(unsigned value)
{
	return sl_verdict_text((enum sl_verdict)value);
}

static const struct sl__vocabulary words = {word, 0, SL_VERDICT_SAME + 1};

static const struct sl__field part_fields[] = {
	SL__F(TEXT, part, name, "name", "its name"),
	SL__F(SIGNED, part, least, "least", "below zero too"),
};
static SL__RECORD(part_table, "parts", part, part_fields, 0);

static const struct sl__field whole_fields[] = {
	SL__F_LIST(LIST, whole, parts, n_parts, "parts", "x",
		   .of = &part_table),
	SL__F(TEXT, whole, title, "title", "x", .absent = "not named"),
	SL__F(WHOLE, whole, large, "large", "x"),
	SL__F(SIGNED, whole, below, "below", "x"),
	SL__F(NUMBER, whole, time_ns, "time_ms", "x", .unit = SL__NS_PER_MS),
	SL__F(NUMBER, whole, elapsed_s, "elapsed_ms", "x", .factor = 1e3),
	SL__F(EXTENDED, whole, high, "high", "x"),
	SL__F(BOOLEAN, whole, is_set, "set", "x"),
	SL__F(READING, whole, reading, "reading", "x"),
	SL__F_TIME(whole, estimate, "mean", "x", NULL),
	SL__F_LIST(NUMBERS, whole, series, n_series, "series_ms", "x",
		   .unit = SL__NS_PER_MS),
	{.key = "bins",
	 .kind = SL__FIELD_WHOLES,
	 SL__AT(whole, bins),
	 .n_bytes = sizeof(uint64_t),
	 .most = 3,
	 .meaning = "x"},
	SL__F(WORD, whole, verdict, "verdict", "x", .words = &words),
	SL__F(ARGV, whole, argv, "argv", "x"),
};
static SL__RECORD(whole_table, "whole", whole, whole_fields, 0);

static void
write_whole(struct sl_buf *out, const struct whole *w)
{
	struct sl__json json;

	memset(out, 0, sizeof(*out));
	sl__json_init(&json, out);
	sl__record_write_object(&json, NULL, &whole_table, w, NULL);
}

static enum sl_status
read_whole(struct whole *w, const char *text, struct sl__arena *arena,
	   struct sl_error *err)
{
	const struct sl__json_value *root;

	memset(w, 0, sizeof(*w));
	assert_int_equal(sl__json_read(&root, text, strlen(text), arena, err),
			 SL_OK);
	return sl__record_read(w, &whole_table, root, arena, err);
}

/* Times that lose a bit when multiplied back are among so many; clocks count
 * whole nanoseconds, and their medians halves: these are the same. */
static void
every_field_comes_back(void **state)
{
	static const struct part parts[] = {{"a", -7}, {"\"b\"\n", INT64_MAX}};
	static const char *const argv[] = {"sleep", "0.1", NULL};
	struct sl_buf first, second;
	struct sl__arena arena;
	struct sl_error err;
	struct whole w, back;

	(void)state;
	sl__arena_init(&arena, NULL);
	for (int i = 0; i < 2000; i++) {
		const double series[] = {i * 0.1 + 0.7, i / 3.0, 8 * i + 7.5,
					 (double)NAN};

		w = (struct whole){.n_parts = 2,
				   .parts = parts,
				   .title = i % 2 ? "t" : NULL,
				   .large = UINT64_MAX - (uint64_t)i,
				   .below = -i,
				   .time_ns = 1234.5678 * i + 0.1,
				   .elapsed_s = i / 7.0,
				   .high = i % 3   ? (double)i
					   : i % 2 ? (double)INFINITY
						   : (double)-INFINITY,
				   .is_set = i % 2,
				   .reading = {(double)NAN, "not here"},
				   .estimate = {i * 1.1, i * 1.01, i * 1.2, 6,
						0, SL_METHOD_ORDER},
				   .series = series,
				   .n_series = 4,
				   .bins = {1, 2, (uint64_t)i},
				   .verdict = (enum sl_verdict)(i % 4),
				   .argv = argv};
		if (i % 5 == 0)
			w.estimate = (struct sl_estimate){
				1, (double)NAN, (double)NAN, 3, 6, 0};
		write_whole(&first, &w);
		if (read_whole(&back, first.data, &arena, &err))
			fail_msg("%s", err.text);
		write_whole(&second, &back);
		assert_string_equal(second.data, first.data);
		/* Rounded for a page, they are the same in the last digit. */
		assert_near(back.series[2], series[2], 0);
		assert_int_equal(back.large, w.large);
		assert_int_equal(back.below, w.below);
		assert_int_equal(back.estimate.needs_n, w.estimate.needs_n);
		assert_int_equal(back.n_parts, 2);
		assert_string_equal(back.parts[1].name, parts[1].name);
		assert_null(back.argv[2]);
		sl_buf_release(&first);
		sl_buf_release(&second);
		sl__arena_clear(&arena);
	}
	sl__arena_release(&arena);
}

static void
another_kind_is_refused_by_name(void **state)
{
	static const struct {
		const char *text, *what;
	} cases[] = {
		{"{\"large\": -1.5}", "large: no integer of 64 bits"},
		{"{\"large\": 18446744073709551616}",
		 "large: no integer of 64 bits"},
		{"{\"large\": \"1\"}", "large: no integer"},
		{"{\"time_ms\": \"1\"}", "time_ms: no number"},
		{"{\"title\": 1}", "title: no text"},
		{"{\"set\": 1}", "set: no boolean"},
		{"{\"reading\": null}", "reading: no absence with a reason"},
		{"{\"parts\": {}}", "parts: no list"},
		{"{\"parts\": [1]}", "parts: no object"},
		{"{\"parts\": [{\"name\": []}]}", "parts: name: no text"},
		{"{\"bins\": [1, 2]}", "bins: no list of that length"},
		{"{\"verdict\": \"better\"}", "verdict: no word that is known"},
		{"{\"mean_ci95_ms\": 3}", "mean_ci95_ms: no object"},
		{"{\"argv\": [1]}", "argv: no text"},
		{"[]", "no object"},
	};
	struct sl__arena arena;
	struct sl_error err;
	struct whole w;

	(void)state;
	sl__arena_init(&arena, NULL);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		assert_int_equal(read_whole(&w, cases[i].text, &arena, &err),
				 SL_E_DATA);
		assert_string_equal(err.text, cases[i].what);
	}
	/* What is missing is zero, NaN or empty, what nobody knows is passed
	 * over. */
	assert_int_equal(
		read_whole(&w, "{\"later\": [{}], \"large\": 5}", &arena, &err),
		SL_OK);
	assert_int_equal(w.large, 5);
	assert_int_equal(w.n_parts, 0);
	assert_true(isnan(w.time_ns));
	assert_null(w.title);
	assert_int_equal(read_whole(&w, "{\"parts\": [{}]}", &arena, &err),
			 SL_OK);
	assert_string_equal(w.parts[0].name, "");
	sl__arena_release(&arena);
}

struct leaf {
	double ns; /* below 0: bytes, under another name */
	struct sl_estimate slope;
};

struct tree {
	const struct leaf *leaves;
	size_t n_leaves;
	int64_t height;
};

SL__WHY(is_bytes, leaf, l, l->ns < 0 ? "bytes" : NULL)
SL__WHY(is_time, leaf, l, l->ns < 0 ? NULL : "a time")
SL__MAKE(make_floor, leaf, l, WHOLE, whole, (uint64_t)fabs(l->ns))

static const struct sl__field leaf_fields[] = {
	SL__F(NUMBER, leaf, ns, "ms", "x", .unit = SL__NS_PER_MS,
	      .why = is_bytes, .is_left_out = 1),
	SL__F(NUMBER, leaf, ns, "bytes", "x", .why = is_time, .is_left_out = 1),
	SL__F_MADE(make_floor, "floor", "x"),
	SL__F(BOUNDS, leaf, slope, "slope_ci95", "x", .absent = "no end"),
	SL__F(WORD, leaf, slope.method, "method", "x", .words = &words),
	SL__F(SIGNED, tree, height, "height", "x", .is_outer = 1),
	SL__F(TOLD, leaf, ns, "told", "x"),
};
static SL__RECORD(leaf_table, "leaves", leaf, leaf_fields, 0);

static const struct sl__field tree_fields[] = {
	SL__F_LIST(LIST, tree, leaves, n_leaves, "leaves", "x",
		   .of = &leaf_table),
};

static const char *
check_tree(const void *record)
{
	const struct tree *t = record;

	return t->n_leaves ? NULL : "a tree without leaves";
}

static SL__RECORD(tree_table, "tree", tree, tree_fields, .check = check_tree);

static void
tell(struct sl__json *json, const char *key, const void *record,
     const void *parent)
{
	const struct leaf *leaf = record;
	const struct tree *tree = parent;

	assert_ptr_equal(tree->leaves, leaf);
	sl__json_text(json, key, "a leaf");
}

/* One of two names for a number, an interval that is not there for one reason
 * or another, a member of the struct around it, and what others say. */
static void
parts_come_back(void **state)
{
	static const struct {
		struct leaf leaf;
		const char *expected;
	} cases[] = {
		{{1.5, {1, 0.5, 2, 3, 0, 1}},
		 "{\"leaves\": [{\"ms\": 1.5e-06,\"floor\": 1,"
		 "\"slope_ci95\": {\"lo\": 0.5,\"hi\": 2},"},
		{{-7, {1, (double)NAN, (double)NAN, 3, 0, 0}},
		 "{\"leaves\": [{\"bytes\": -7,\"floor\": 7,"
		 "\"slope_ci95\": null,\"slope_ci95_absent\": "
		 "\"counted, not measured\","},
		{{1, {1, (double)-INFINITY, 4, 3, 0, 1}},
		 "{\"leaves\": [{\"ms\": 1e-06,\"floor\": 1,"
		 "\"slope_ci95\": null,\"slope_ci95_absent\": \"no end\","},
		{{1, {1, (double)NAN, (double)NAN, 3, 9, 1}},
		 "{\"leaves\": [{\"ms\": 1e-06,\"floor\": 1,"
		 "\"slope_ci95\": null,\"slope_ci95_absent\": \"no end\","
		 "\"slope_ci95_needs_n\": 9,"},
	};
	struct sl__arena arena;

	(void)state;
	sl__arena_init(&arena, NULL);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct tree tree = {&cases[i].leaf, 1, -3};
		struct sl_buf first = {0}, second = {0};
		const struct sl__json_value *root;
		struct tree back = {0};
		struct sl__json json;

		sl__json_init(&json, &first);
		json.is_flat = 1;
		json.tell = tell;
		sl__record_write_object(&json, NULL, &tree_table, &tree, NULL);
		assert_memory_equal(first.data, cases[i].expected,
				    strlen(cases[i].expected));
		assert_non_null(strstr(first.data, "\"told\": \"a leaf\""));
		assert_int_equal(sl__json_read(&root, first.data, first.n_bytes,
					       &arena, NULL),
				 SL_OK);
		assert_int_equal(
			sl__record_read(&back, &tree_table, root, &arena, NULL),
			SL_OK);
		assert_int_equal(back.height, -3);
		assert_int_equal(isnan(back.leaves[0].slope.lo), i % 2);
		assert_int_equal(isinf(back.leaves[0].slope.hi), i == 2);
		sl__json_init(&json, &second);
		json.is_flat = 1;
		json.tell = tell;
		sl__record_write_object(&json, NULL, &tree_table, &back, NULL);
		assert_string_equal(second.data, first.data);
		sl_buf_release(&first);
		sl_buf_release(&second);
	}
	sl__arena_release(&arena);
}

/* A result that no renderer could show is refused, with the reason. */
static void
nonsense_is_refused(void **state)
{
	static const char text[] = "{\"leaves\": []}";
	const struct sl__json_value *root;
	struct tree back = {0};
	struct sl__arena arena;
	struct sl_error err;

	(void)state;
	sl__arena_init(&arena, NULL);
	assert_int_equal(sl__json_read(&root, text, strlen(text), &arena, &err),
			 SL_OK);
	assert_int_equal(
		sl__record_read(&back, &tree_table, root, &arena, &err),
		SL_E_DATA);
	assert_string_equal(err.text, "a tree without leaves");
	sl__arena_release(&arena);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_field_comes_back),
		cmocka_unit_test(parts_come_back),
		cmocka_unit_test(nonsense_is_refused),
		cmocka_unit_test(another_kind_is_refused_by_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
