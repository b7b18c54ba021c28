/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_attention_pattern.c - attention.c finds attention in pieces and whole,
 * knows a causal one by its mask however that is made, and what a cache of
 * its keys and values would hold.
 */
#include "surveyed.h"
#include "inspected.h"

/* One head of width 2 over four tokens; 'mask' goes between the products. */
static struct surveyed *
attend(const char *mask)
{
	char text[2048];

	snprintf(text, sizeof(text),
		 "in x f32 1,4,2\n"
		 "const wq f32 2,2 = 1,2,3,4\n"
		 "const wk f32 2,2 = 2,3,4,5\n"
		 "const wv f32 2,2 = 3,4,5,6\n"
		 "const scale f32 - = 0.7\n"
		 "q = MatMul x wq\n"
		 "k = MatMul x wk\n"
		 "v = MatMul x wv\n"
		 "kt = Transpose k perm=[0,2,1]\n"
		 "raw = MatMul q kt\n"
		 "scaled = Mul raw scale\n"
		 "%s"
		 "p = Softmax masked\n"
		 "y = MatMul p v\n"
		 "out y\n",
		 mask);
	return survey(text);
}

static void
check_pieces(const char *mask, int is_causal)
{
	struct surveyed *s = attend(mask);
	uint32_t raw = maker_of(s->text, "raw"), y = maker_of(s->text, "y");
	struct sl__kv kv;

	assert_int_equal(s->attentions.n, 1);
	assert_int_equal(s->attentions.rows[0].scores, raw);
	assert_int_equal(s->attentions.rows[0].mixing, y);
	assert_int_equal(s->attentions.rows[0].is_causal, is_causal);
	assert_int_equal(s->attentions.is_causal[raw], is_causal);
	assert_int_equal(s->attentions.product_macs[y], 4 * 4 * 2);
	assert_int_equal(s->attentions.masked_macs[y], is_causal ? 16 : 0);
	sl__kv_of(&kv, s->text->shapes, &s->attentions, 1);
	if (is_causal) {
		/* Two numbers of a key and two of a value per token. */
		assert_null(kv.absent);
		assert_near(kv.bytes_per_token, 4 * 4, 0);
		assert_near(kv.bytes, 4 * 4 * 4, 0);
		assert_int_equal(kv.n_attentions, 1);
	} else {
		assert_non_null(kv.absent);
	}
	surveyed_free(s);
}

static void
test_masks(void **state)
{
	(void)state;
	check_pieces("masked = Identity scaled\n", 0);
	check_pieces("in pad f32 1,1,4\n"
		     "masked = Add scaled pad\n",
		     0);
	/* A constant triangle of 0 and -10000, as old exporters write it. */
	check_pieces("const m f32 1,4,4 = 0,-1e4,-1e4,-1e4,0,0,-1e4,-1e4,0,0,0,"
		     "-1e4,0,0,0,0\n"
		     "masked = Add scaled m\n",
		     1);
	/* Its twin of booleans, cut out of a larger one. */
	check_pieces("const b bool 4,4 = 1,0,0,0,1,1,0,0,1,1,1,0,1,1,1,1\n"
		     "const lo i64 1 = 0\n"
		     "const hi i64 1 = 4\n"
		     "const low f32 - = -1e9\n"
		     "cut = Slice b lo hi\n"
		     "masked = Where cut scaled low\n",
		     1);
	check_pieces("const n i64 2 = 4,4\n"
		     "full = ConstantOfShape n\n"
		     "m = Trilu full upper=1\n"
		     "masked = Add scaled m\n",
		     1);
	/* Positions compared: row >= column. */
	check_pieces("const a i64 - = 0\n"
		     "const e i64 - = 4\n"
		     "const d i64 - = 1\n"
		     "const ax i64 1 = 1\n"
		     "const low f32 - = -1e9\n"
		     "r = Range a e d\n"
		     "col = Unsqueeze r ax\n"
		     "sees = GreaterOrEqual col r\n"
		     "masked = Where sees scaled low\n",
		     1);
}

/* Two products without a Softmax between them are not attention. */
static void
test_not_attention(void **state)
{
	struct surveyed *s = survey("in a f32 4,4\n"
				    "in b f32 4,4\n"
				    "c = MatMul a b\n"
				    "d = Relu c\n"
				    "e = MatMul d b\n"
				    "p = Softmax e\n"
				    "out p\n");
	struct sl__kv kv;

	(void)state;
	assert_int_equal(s->attentions.n, 0);
	sl__kv_of(&kv, s->text->shapes, &s->attentions, 1);
	assert_non_null(kv.absent);
	surveyed_free(s);
}

/* Queries of four heads on keys of two: the cache holds two, although the
 * graph repeats them before the product. */
static void
test_repeated_heads(void **state)
{
	struct surveyed *s = survey("in q f32 1,4,3,2\n"
				    "in k f32 1,2,3,2\n"
				    "in v f32 1,2,3,2\n"
				    "const ax i64 1 = 2\n"
				    "const wide i64 5 = 1,2,2,3,2\n"
				    "const heads i64 4 = 1,4,3,2\n"
				    "const n i64 2 = 3,3\n"
				    "k5 = Unsqueeze k ax\n"
				    "k6 = Expand k5 wide\n"
				    "k7 = Reshape k6 heads\n"
				    "v5 = Unsqueeze v ax\n"
				    "v6 = Expand v5 wide\n"
				    "v7 = Reshape v6 heads\n"
				    "const half f32 - = 0.5\n"
				    "k8 = Mul k7 half\n"
				    "kt = Transpose k8 perm=[0,1,3,2]\n"
				    "raw = MatMul q kt\n"
				    "full = ConstantOfShape n\n"
				    "m = Trilu full upper=1\n"
				    "masked = Add raw m\n"
				    "p = Softmax masked\n"
				    "y = MatMul p v7\n"
				    "out y\n");
	struct sl__kv kv;

	(void)state;
	assert_int_equal(s->attentions.n, 1);
	sl__kv_of(&kv, s->text->shapes, &s->attentions, 1);
	assert_near(kv.bytes_per_token, 2 * 2 * 2 * 4, 0);
	surveyed_free(s);
}

static void
test_whole(void **state)
{
	struct surveyed *s = survey("opset 23\n"
				    "in q f32 1,4,3,2\n"
				    "in k f32 1,2,3,2\n"
				    "in v f32 1,2,3,2\n"
				    "y = Attention q k v is_causal=1\n"
				    "z = Attention q k v\n"
				    "s = Add y z\n"
				    "out s\n");
	uint32_t y = maker_of(s->text, "y"), z = maker_of(s->text, "z");

	(void)state;
	assert_int_equal(s->attentions.n, 2);
	assert_int_equal(s->attentions.is_causal[y], 1);
	assert_int_equal(s->attentions.is_causal[z], 0);
	/* 4 heads, 3 x 3 scores, 2 + 2 multiply-adds each; half is masked. */
	assert_int_equal(s->attentions.product_macs[y], 144);
	assert_int_equal(s->attentions.masked_macs[y], 72);
	assert_int_equal(s->attentions.masked_macs[z], 0);
	assert_int_equal(s->attentions.rows[0].kv_elements, 24);
	surveyed_free(s);
}

/* An operator that is attention itself is no piece of another one, and may
 * lack the operands of a piece. */
static void
test_whole_behind_a_softmax(void **state)
{
	struct surveyed *s =
		survey("in a f32 1,4,2,3,8\n"
		       "in b f32 1,4,2,8,8\n"
		       "in bias f32 48\n"
		       "p = MatMul a b\n"
		       "q = Softmax p\n"
		       "y = com.microsoft.MultiHeadAttention q - - bias "
		       "num_heads=2\n"
		       "out y\n");

	(void)state;
	assert_int_equal(s->attentions.n, 1);
	assert_int_equal(s->attentions.rows[0].scores, maker_of(s->text, "y"));
	surveyed_free(s);
}

struct published {
	const char *model;
	int64_t seq;
	double per_token, bytes;
};

/* GPT-2 small at 1024 tokens, 75,497,472 B; Llama-2-7B in f16 524,288 B per
 * token, so twice that in f32; TinyLlama: 22 layers, 4 of 32 heads, 64 wide. */
static void
test_published(void **state)
{
	static const struct published rows[] = {
		{"gpt2", 1024, 73728, 75497472},
		{"gpt2@kv", 0, 73728, 73728 * 129},
		{"llama-2-7b", 128, 2 * 524288, 2.0 * 524288 * 128},
		{"tinyllama", 128, 22 * 2 * 4 * 64 * 4, 22 * 2 * 4 * 64 * 512},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct sl_inspection *seen =
			inspect(rows[i].model, rows[i].seq);

		assert_null(seen->memory.kv_bytes.absent);
		assert_near(seen->memory.kv_bytes_per_token.value,
			    rows[i].per_token, 0);
		assert_near(seen->memory.kv_bytes.value, rows[i].bytes, 0);
		sl_inspection_free(seen);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_masks),
		cmocka_unit_test(test_not_attention),
		cmocka_unit_test(test_repeated_heads),
		cmocka_unit_test(test_whole),
		cmocka_unit_test(test_whole_behind_a_softmax),
		cmocka_unit_test(test_published),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
