/* SPDX-License-Identifier: Apache-2.0 */
/* test_ref_control.c - proves that bodies run as often as they should, see
 * what lies around them, hand on what they give, and leave nothing behind:
 * neither in 100,000 runs nor when memory ends. */
#include "graph_run.h"

/* A sum of an outer value, kept in every run. */
#define SUM(count)                                     \
	"const n i64 - = " count "\n"                  \
	"const step f32 - = 1.5\n"                     \
	"const zero f32 - = 0\n"                       \
	"block body\n"                                 \
	"in i i64 -\n"                                 \
	"in c bool -\n"                                \
	"in before f32 -\n"                            \
	"after = Add before step\n"                    \
	"go = Identity c\n"                            \
	"out go\n"                                     \
	"out after\n"                                  \
	"out after\n"                                  \
	"out i\n"                                      \
	"end\n"                                        \
	"sum,all,numbers = Loop n - zero body=@body\n" \
	"out sum\n"                                    \
	"out all\n"                                    \
	"out numbers\n"

static void
loop_counts_and_keeps(void **state)
{
	struct course c;

	(void)state;
	course_run(&c, SUM("4"));
	check_value(&c, "sum", "[]={6}");
	check_value(&c, "all", "[4]={1.5,3,4.5,6}");
	check_value(&c, "numbers", "[4]={0,1,2,3}");
	check_value(&c, "zero", "[]={0}");
	course_finish(&c);
}

/* What would have been kept is known by its declared type alone. */
static void
loop_that_does_not_run(void **state)
{
	static const int64_t dims[] = {3, SL__SYMBOL_BASE};
	struct sl__type *type;
	struct course c;

	(void)state;
	course_start(&c, SUM("0"), NULL);
	type = &c.g->graph->values[graph_text_value(c.g, "after")].declared;
	type->kind = SL__TYPE_TENSOR;
	type->dtype = SL_DTYPE_F32;
	type->rank = 2;
	type->dims = dims;
	assert_int_equal(sl__evaluate_block(c.ev, 0, &c.err), SL_OK);
	check_value(&c, "sum", "[]={0}");
	check_value(&c, "all", "[0,3,0]={}");
	check_value(&c, "numbers", "[0]={}");
	course_finish(&c);
}

/* Without a count the condition ends it; the carried truth is the very value
 * that decides. */
static void
loop_ends_by_its_condition(void **state)
{
	struct course c;

	(void)state;
	course_run(&c, "const yes bool - = 1\n"
		       "const four i64 - = 4\n"
		       "block body\n"
		       "in i i64 -\n"
		       "in c bool -\n"
		       "in b bool -\n"
		       "go = Less i four\n"
		       "out go\n"
		       "out go\n"
		       "out i\n"
		       "end\n"
		       "last,all = Loop - yes yes body=@body\n"
		       "out last\n"
		       "out all\n");
	check_value(&c, "last", "[]={0}");
	check_value(&c, "all", "[5]={0,1,2,3,4}");
	course_finish(&c);
	course_run(&c, "const no bool - = 0\n"
		       "const n i64 - = 9\n"
		       "const x f32 2 = 1,2\n"
		       "block body\n"
		       "in i i64 -\n"
		       "in c bool -\n"
		       "in v f32 2\n"
		       "w = Neg v\n"
		       "out c\n"
		       "out w\n"
		       "end\n"
		       "y = Loop n no x body=@body\n"
		       "out y\n");
	check_value(&c, "y", "[2]={1,2}");
	course_finish(&c);
}

/* An If in a Loop whose branches give an outer value, one of the body around
 * them, and a constant; each as it is. */
static void
branches_see_what_lies_around(void **state)
{
	struct course c;

	(void)state;
	course_run(&c, "const n i64 - = 4\n"
		       "const two i64 - = 2\n"
		       "const ten f32 1 = 10\n"
		       "const x f32 1 = 1\n"
		       "block body\n"
		       "in i i64 -\n"
		       "in c bool -\n"
		       "in v f32 1\n"
		       "early = Less i two\n"
		       "double = Add v v\n"
		       "block then\n"
		       "out double\n"
		       "end\n"
		       "block else\n"
		       "out ten\n"
		       "end\n"
		       "chosen = If early then_branch=@then else_branch=@else\n"
		       "out c\n"
		       "out chosen\n"
		       "out v\n"
		       "end\n"
		       "y,all = Loop n - x body=@body\n"
		       "out y\n"
		       "out all\n"
		       "out ten\n");
	check_value(&c, "y", "[1]={10}");
	check_value(&c, "all", "[4,1]={1,2,4,10}");
	check_value(&c, "ten", "[1]={10}");
	course_finish(&c);
}

/* Two values change places in every run: what is given is what was, not what
 * has become of it. */
static void
inputs_handed_through(void **state)
{
	struct course c;

	(void)state;
	course_run(&c, "const n i64 - = 3\n"
		       "const x f32 - = 1\n"
		       "const y f32 - = 2\n"
		       "block body\n"
		       "in i i64 -\n"
		       "in c bool -\n"
		       "in a f32 -\n"
		       "in b f32 -\n"
		       "out c\n"
		       "out b\n"
		       "out a\n"
		       "out a\n"
		       "end\n"
		       "p,q,all = Loop n - x y body=@body\n"
		       "out p\n"
		       "out q\n"
		       "out all\n");
	check_value(&c, "p", "[]={2}");
	check_value(&c, "q", "[]={1}");
	check_value(&c, "all", "[3]={1,2,1}");
	course_finish(&c);
}

static void
scan_chooses_axes_and_directions(void **state)
{
	struct course c;

	(void)state;
	course_run(&c,
		   "const x f32 2,3 = 1,2,3,4,5,6\n"
		   "const zero f32 2 = 0,0\n"
		   "block body\n"
		   "in s f32 2\n"
		   "in e f32 2\n"
		   "t = Add s e\n"
		   "out t\n"
		   "out t\n"
		   "out e\n"
		   "end\n"
		   "last,sums,same = Scan zero x body=@body num_scan_inputs=1 "
		   "scan_input_axes=[1] scan_input_directions=[1] "
		   "scan_output_axes=[1,0] scan_output_directions=[1,0]\n"
		   "out last\n"
		   "out sums\n"
		   "out same\n");
	check_value(&c, "last", "[2]={6,15}");
	check_value(&c, "sums", "[2,3]={6,5,3,15,11,6}");
	check_value(&c, "same", "[3,2]={3,6,2,5,1,4}");
	course_finish(&c);
}

/* The first version: a batch of sequences of unlike length. */
static void
scan_of_version_8(void **state)
{
	struct course c;

	(void)state;
	course_run(&c,
		   "opset 8\n"
		   "const n i64 2 = 3,1\n"
		   "const x f32 2,3,1 = 1,2,3,4,5,6\n"
		   "const zero f32 2,1 = 0,10\n"
		   "block body\n"
		   "in s f32 1\n"
		   "in e f32 1\n"
		   "t = Add s e\n"
		   "out t\n"
		   "out t\n"
		   "end\n"
		   "last,sums = Scan n zero x body=@body num_scan_inputs=1\n"
		   "out last\n"
		   "out sums\n");
	check_value(&c, "last", "[2,1]={6,14}");
	check_value(&c, "sums", "[2,3,1]={1,3,6,14,0,0}");
	course_finish(&c);
}

#define MAP(second)                                        \
	"const a f32 2 = 1,2\n"                            \
	"const b f32 1 = 3\n"                              \
	"const first i64 - = 0\n"                          \
	"two = SequenceConstruct a b\n"                    \
	"one = SequenceConstruct b\n"                      \
	"block body\n"                                     \
	"in p f32 ?\n"                                     \
	"in q f32 ?\n"                                     \
	"r = Add p q\n"                                    \
	"out r\n"                                          \
	"end\n"                                            \
	"mapped = SequenceMap two " second " body=@body\n" \
	"y = SequenceAt mapped first\n"                    \
	"n = SequenceLength mapped\n"                      \
	"out y\n"                                          \
	"out n\n"

static void
sequences_are_mapped(void **state)
{
	struct course c;

	(void)state;
	course_run(&c, MAP("b"));
	check_value(&c, "y", "[2]={4,5}");
	check_value(&c, "n", "[]={2}");
	course_finish(&c);
	course_run(&c, MAP("two"));
	check_value(&c, "y", "[2]={2,4}");
	course_finish(&c);
	check_refused(MAP("one"), "no item 1");
}

static void
conditions_are_one_truth_value(void **state)
{
	(void)state;
	check_refused("in c bool 2\n"
		      "const x f32 - = 1\n"
		      "block a\n"
		      "out x\n"
		      "end\n"
		      "block b\n"
		      "out x\n"
		      "end\n"
		      "y = If c then_branch=@a else_branch=@b\n"
		      "out y\n",
		      "holds nothing");
	check_refused("const c bool 2 = 1,1\n"
		      "const x f32 - = 1\n"
		      "block a\n"
		      "out x\n"
		      "end\n"
		      "block b\n"
		      "out x\n"
		      "end\n"
		      "y = If c then_branch=@a else_branch=@b\n"
		      "out y\n",
		      "not one truth value");
}

/* Counts the most that was out at once. */
struct peak {
	struct counting counting;
	int most;
};

static void *
peak_alloc(size_t n_bytes, void *ctx)
{
	struct peak *p = ctx;
	void *block = counting_alloc(n_bytes, &p->counting);

	p->most = p->counting.n_out > p->most ? p->counting.n_out : p->most;
	return block;
}

static int
peak_of(const char *text)
{
	struct peak peak = {{0}, 0};
	struct sl_allocator allocator = {peak_alloc, counting_release, &peak};
	struct course c;

	course_start(&c, text, &allocator);
	assert_int_equal(c.rc, SL_OK);
	assert_int_equal(sl__evaluate_block(c.ev, 0, &c.err), SL_OK);
	course_finish(&c);
	assert_int_equal(peak.counting.n_out, 0);
	return peak.most;
}

static void
memory_is_flat(void **state)
{
	(void)state;
	assert_int_equal(peak_of(SUM("100000")), peak_of(SUM("10")));
}

/* Whichever request fails, it is told and nothing is lost. */
static void
memory_may_end_anywhere(void **state)
{
	static const char *const texts[] = {SUM("3"), MAP("two")};

	(void)state;
	for (size_t t = 0; t < 2; t++) {
		enum sl_status rc = SL_E_NOMEM;

		for (int i = 1; rc; i++) {
			struct counting counting = {.fail_at = i};
			struct sl_allocator allocator =
				counting_allocator(&counting);
			struct course c;

			course_start(&c, texts[t], &allocator);
			rc = c.rc;
			if (!rc)
				rc = sl__evaluate_block(c.ev, 0, &c.err);
			course_finish(&c);
			assert_int_equal(counting.n_out, 0);
			assert_true(counting.n_requests > 0);
			assert_int_equal(rc, counting.n_requests < i
						     ? SL_OK
						     : SL_E_NOMEM);
			assert_true(i < 10000);
		}
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(loop_counts_and_keeps),
		cmocka_unit_test(loop_that_does_not_run),
		cmocka_unit_test(loop_ends_by_its_condition),
		cmocka_unit_test(branches_see_what_lies_around),
		cmocka_unit_test(inputs_handed_through),
		cmocka_unit_test(scan_chooses_axes_and_directions),
		cmocka_unit_test(scan_of_version_8),
		cmocka_unit_test(sequences_are_mapped),
		cmocka_unit_test(conditions_are_one_truth_value),
		cmocka_unit_test(memory_is_flat),
		cmocka_unit_test(memory_may_end_anywhere),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
