/* SPDX-License-Identifier: Apache-2.0 */
/*
 * zoo_text.c - built-in models of sequences of tokens.
 *
 * Node and parameter names are the modules' paths in the transformers
 * library.  Attention is written out: two products with a softmax between.  A
 * step with a cache ("@kv") takes one token and the keys and values of those
 * before it, and hands them back with its own appended.
 *
 * Branches end with weights scaled by 1/sqrt(number of branches), as GPT-2's
 * are, so that their sum stays in range.
 */
#include "model/builder.h"
#include "model/builder_layers.h"
#include "model/zoo.h"

#include <math.h>
#include <stdio.h>

#include "base/banned.h"

enum { USUAL_SEQ = 128, USUAL_PAST = 128, LAYERS_MOST = 1024 };

static int
named_linear(struct sl_builder *b, const char *name, int x, int64_t n_out,
	     int has_bias)
{
	sl_builder_name(b, name);
	return sl_builder_linear(b, x, n_out, has_bias);
}

static int
named_norm(struct sl_builder *b, const char *name, int x, double epsilon)
{
	sl_builder_name(b, name);
	sl_builder_float(b, "epsilon", epsilon);
	return sl_builder_layer_norm(b, x);
}

/* [batch][seq] integers. */
static int
token_input(struct sl_builder *b, const char *name)
{
	const int64_t dims[] = {sl_builder_symbol(b, "batch", 1),
				sl_builder_symbol(b, "seq", USUAL_SEQ)};

	return sl_builder_input(b, name, SL_DTYPE_I64, 2, dims);
}

/* 0, 1, ... as many as dimension 1 of x says. */
static int
count_up(struct sl_builder *b, int x)
{
	sl_builder_name(b, "positions");
	return sl__builder_op3(b, "Range", sl__builder_constant_integer(b, 0),
			       sl__builder_shape_dim(b, x, 1),
			       sl__builder_constant_integer(b, 1));
}

/* The first of the sequence: [batch][seq][width] to [batch][width]. */
static int
first_token(struct sl_builder *b, int x)
{
	sl_builder_int(b, "axis", 1);
	return sl__builder_op2(b, "Gather", x,
			       sl__builder_constant_integer(b, 0));
}

/* Keys and values of the tokens before, and with the new ones. */
struct cache {
	int64_t heads, width; /* of a head */
	int past[LAYERS_MOST][2];
	int present[LAYERS_MOST][2];
};

static void
cache_inputs(struct sl_builder *b, struct cache *cache, int n_layers)
{
	static const char *const kinds[] = {"key", "value"};
	const int64_t dims[] = {sl_builder_symbol(b, "batch", 1), cache->heads,
				sl_builder_symbol(b, "past", USUAL_PAST),
				cache->width};
	char name[64];

	for (int i = 0; i < n_layers; i++) {
		for (int k = 0; k < 2; k++) {
			snprintf(name, sizeof(name), "past_key_values.%d.%s", i,
				 kinds[k]);
			cache->past[i][k] = sl_builder_input(
				b, name, SL_DTYPE_F32, 4, dims);
		}
	}
}

static void
cache_outputs(struct sl_builder *b, const struct cache *cache, int n_layers)
{
	static const char *const kinds[] = {"key", "value"};
	char name[64];

	for (int i = 0; i < n_layers; i++) {
		for (int k = 0; k < 2; k++) {
			snprintf(name, sizeof(name), "present.%d.%s", i,
				 kinds[k]);
			sl_builder_output(b, cache->present[i][k], name);
		}
	}
}

/* Appends the new keys and values ([1], [2]) to those of the cache. */
static void
cache_append(struct sl_builder *b, struct cache *cache, int layer, int qkv[3])
{
	for (int k = 0; k < 2; k++) {
		int both[] = {cache->past[layer][k], qkv[k + 1]};

		qkv[k + 1] = sl__builder_concat(b, 2, 2, both);
		cache->present[layer][k] = qkv[k + 1];
	}
}

/* A sequence that is read at once, or one token with its cache. */
struct text {
	int tokens;    /* [batch][seq] or [batch][1] */
	int positions; /* [seq] or [1] */
	int mask;      /* causal; -1 for a single token */
	int is_step;
	struct cache cache;
};

static void
text_input(struct sl_builder *b, struct text *t, int n_layers)
{
	t->mask = -1;
	if (t->is_step) {
		const int64_t dims[] = {sl_builder_symbol(b, "batch", 1), 1};

		t->tokens =
			sl_builder_input(b, "input_ids", SL_DTYPE_I64, 2, dims);
		cache_inputs(b, &t->cache, n_layers);
		sl_builder_name(b, "positions");
		t->positions =
			sl__builder_shape_slice(b, t->cache.past[0][0], 2, 3);
	} else {
		t->tokens = token_input(b, "input_ids");
		t->positions = count_up(b, t->tokens);
		t->mask = sl__builder_causal_mask(b, t->tokens, 1);
	}
}

enum { BERT_WIDTH = 768, BERT_HEADS = 12, BERT_LAYERS = 12 };

static const double bert_epsilon = 1e-12;

static int
bert_embeddings(struct sl_builder *b, int tokens, int types)
{
	int words, places, kinds, x;

	sl_builder_enter(b, "embeddings");
	words = sl__builder_embedding_weight(b, "word_embeddings", 30522,
					     BERT_WIDTH, 0.02);
	places = sl__builder_embedding_weight(b, "position_embeddings", 512,
					      BERT_WIDTH, 0.02);
	kinds = sl__builder_embedding_weight(b, "token_type_embeddings", 2,
					     BERT_WIDTH, 0.02);
	x = sl__builder_op2(b, "Add", sl__builder_gather(b, words, tokens),
			    sl__builder_gather(b, kinds, types));
	x = sl__builder_op2(b, "Add", x,
			    sl__builder_gather(b, places, count_up(b, tokens)));
	x = named_norm(b, "LayerNorm", x, bert_epsilon);
	sl_builder_leave(b);
	return x;
}

/* [batch][seq] of 1 and 0 to [batch][1][1][seq] of 0 and very negative. */
static int
bert_mask(struct sl_builder *b, int mask)
{
	const int64_t axes[] = {1, 2};

	mask = sl__builder_op2(b, "Unsqueeze", mask,
			       sl__builder_constant_list(b, 2, axes));
	sl_builder_int(b, "to", SL_DTYPE_F32);
	mask = sl__builder_op1(b, "Cast", mask);
	mask = sl__builder_op2(b, "Sub", sl__builder_constant_scalar(b, 1),
			       mask);
	return sl__builder_op2(b, "Mul", mask,
			       sl__builder_constant_scalar(b, -3.4028235e38F));
}

/* The end of both halves of a layer: projection, sum, norm. */
static int
bert_output(struct sl_builder *b, int y, int x)
{
	sl_builder_enter(b, "output");
	y = named_linear(b, "dense", y, BERT_WIDTH, 1);
	y = named_norm(b, "LayerNorm", sl__builder_op2(b, "Add", y, x),
		       bert_epsilon);
	sl_builder_leave(b);
	return y;
}

static int
bert_layer(struct sl_builder *b, int x, int mask)
{
	static const char *const names[] = {"query", "key", "value"};
	const int64_t head = BERT_WIDTH / BERT_HEADS;
	int qkv[3], y;

	sl_builder_enter(b, "attention");
	sl_builder_enter(b, "self");
	for (int i = 0; i < 3; i++) {
		y = named_linear(b, names[i], x, BERT_WIDTH, 1);
		qkv[i] = sl__builder_split_heads(b, y, BERT_HEADS, head);
	}
	y = sl__builder_attend(b, qkv, head, mask);
	y = sl__builder_join_heads(b, y, BERT_HEADS, head);
	sl_builder_leave(b);
	x = bert_output(b, y, x);
	sl_builder_leave(b);
	y = named_linear(b, "intermediate.dense", x, 4 * BERT_WIDTH, 1);
	y = sl__builder_op1(b, "Gelu", y);
	return bert_output(b, y, x);
}

void
sl__zoo_bert(struct sl_builder *b, const struct sl__zoo_request *r)
{
	int tokens = token_input(b, "input_ids");
	int mask = token_input(b, "attention_mask");
	int x = bert_embeddings(b, tokens, token_input(b, "token_type_ids"));

	(void)r;
	mask = bert_mask(b, mask);
	sl_builder_enter(b, "encoder");
	for (int i = 0; i < BERT_LAYERS; i++) {
		sl__builder_enter_scope_format(b, "layer.%d", i);
		x = bert_layer(b, x, mask);
		sl_builder_leave(b);
	}
	sl_builder_leave(b);
	sl_builder_output(b, x, "last_hidden_state");
	sl_builder_enter(b, "pooler");
	x = named_linear(b, "dense", first_token(b, x), BERT_WIDTH, 1);
	x = sl__builder_op1(b, "Tanh", x);
	sl_builder_leave(b);
	sl_builder_output(b, x, "pooler_output");
}

struct gpt2 {
	int64_t n_layers, width, heads, vocabulary, context;
};

enum { GPT2_VOCABULARY = 50257, GPT2_CONTEXT = 1024 };

static int
gpt2_attention(struct sl_builder *b, const struct gpt2 *m, struct text *t,
	       int layer, int x)
{
	const int64_t head = m->width / m->heads;
	int qkv[3];

	sl_builder_enter(b, "attn");
	x = named_linear(b, "c_attn", x, 3 * m->width, 1);
	x = sl__builder_split(b, x, 3);
	for (int i = 0; i < 3; i++)
		qkv[i] = sl__builder_split_heads(b, x < 0 ? x : x + i, m->heads,
						 head);
	if (t->is_step)
		cache_append(b, &t->cache, layer, qkv);
	x = sl__builder_attend(b, qkv, head, t->mask);
	x = sl__builder_join_heads(b, x, m->heads, head);
	sl__builder_set_weight_gain(b, 1 / sqrt(2.0 * (double)m->n_layers));
	x = named_linear(b, "c_proj", x, m->width, 1);
	sl_builder_leave(b);
	return x;
}

static int
gpt2_layer(struct sl_builder *b, const struct gpt2 *m, struct text *t,
	   int layer, int x)
{
	int y = named_norm(b, "ln_1", x, 1e-5);

	y = gpt2_attention(b, m, t, layer, y);
	x = sl__builder_op2(b, "Add", y, x);
	y = named_norm(b, "ln_2", x, 1e-5);
	sl_builder_enter(b, "mlp");
	y = named_linear(b, "c_fc", y, 4 * m->width, 1);
	sl_builder_text(b, "approximate", "tanh");
	y = sl__builder_op1(b, "Gelu", y);
	sl__builder_set_weight_gain(b, 1 / sqrt(2.0 * (double)m->n_layers));
	y = named_linear(b, "c_proj", y, m->width, 1);
	sl_builder_leave(b);
	return sl__builder_op2(b, "Add", x, y);
}

/* Products with the rows of the table of tokens: the table is used as it is,
 * not turned around. */
static int
tied_head(struct sl_builder *b, const struct gpt2 *m, int x, int table,
	  int tokens)
{
	int shape, n_words;

	sl__builder_enter_layer(b, "lm_head");
	x = sl__builder_reshape(b, x, 2, (int64_t[]){-1, m->width});
	sl__builder_name_after_scope(b);
	sl_builder_int(b, "transB", 1);
	x = sl__builder_op2(b, "Gemm", x, table);
	n_words = sl__builder_constant_list(b, 1, &m->vocabulary);
	shape = sl__builder_shape_slice(b, tokens, 0, 2);
	shape = sl__builder_concat(b, 0, 2, (int[]){shape, n_words});
	x = sl__builder_op2(b, "Reshape", x, shape);
	sl_builder_leave(b);
	return x;
}

/* The sizes of a row, and those that the name says. */
static struct gpt2
gpt2_sizes(const struct sl__zoo_request *r)
{
	static const int64_t sizes[][5] = {
		[SL__ZOO_GPT2_SMALL] = {12, 768, 12},
		[SL__ZOO_GPT2_MEDIUM] = {24, 1024, 16},
		[SL__ZOO_GPT2_LARGE] = {36, 1280, 20},
		[SL__ZOO_GPT2_XL] = {48, 1600, 25},
		[SL__ZOO_GPT3_175B] = {96, 12288, 96, GPT2_VOCABULARY, 2048},
		[SL__ZOO_TINY_GPT] = {2, 64, 4, 256, 128},
		[SL__ZOO_GPT_SIZED] = {0}};
	int64_t size[5];

	for (size_t i = 0; i < 5; i++)
		size[i] = i < r->n_sizes ? r->sizes[i] : sizes[r->variant][i];
	return (struct gpt2){size[0], size[1], size[2],
			     size[3] ? size[3] : GPT2_VOCABULARY,
			     size[4] ? size[4] : GPT2_CONTEXT};
}

void
sl__zoo_gpt2(struct sl_builder *b, const struct sl__zoo_request *r)
{
	const struct gpt2 model = gpt2_sizes(r), *m = &model;
	struct text t = {
		.is_step = r->is_step,
		.cache = {.heads = m->heads, .width = m->width / m->heads}};
	int words, places, x;

	if (m->n_layers > LAYERS_MOST || m->width % m->heads) {
		(void)sl__builder_fail(
			b, SL_E_USAGE,
			"a gpt has at most %d layers, and heads that divide "
			"its width",
			LAYERS_MOST);
		return;
	}
	if (r->variant == SL__ZOO_TINY_GPT)
		sl__builder_set_untrained(b);
	text_input(b, &t, (int)m->n_layers);
	sl_builder_enter(b, "transformer");
	words = sl__builder_embedding_weight(b, "wte", m->vocabulary, m->width,
					     0.02);
	places = sl__builder_embedding_weight(b, "wpe", m->context, m->width,
					      0.01);
	x = sl__builder_op2(b, "Add", sl__builder_gather(b, words, t.tokens),
			    sl__builder_gather(b, places, t.positions));
	for (int i = 0; i < m->n_layers; i++) {
		sl__builder_enter_scope_format(b, "h.%d", i);
		x = gpt2_layer(b, m, &t, i, x);
		sl_builder_leave(b);
	}
	x = named_norm(b, "ln_f", x, 1e-5);
	sl_builder_leave(b);
	sl_builder_output(b, tied_head(b, m, x, words, t.tokens), "logits");
	if (r->is_step)
		cache_outputs(b, &t.cache, (int)m->n_layers);
}

struct llama {
	int n_layers;
	int64_t width, heads, kv_heads, inner, vocabulary;
};

/* What one layer needs to know: the model, the text, the turning by place. */
struct llama_pass {
	const struct llama *model;
	struct text *text;
	int cos, sin; /* [seq][head] */
};

/* x / sqrt(mean(x^2) + e) * weight (Zhang and Sennrich 2019), in the steps
 * that operator set 20 has. */
static int
rms_norm(struct sl_builder *b, const char *name, int x)
{
	int64_t n = sl__builder_dim_size(b, x, -1);
	int weight, y;

	if (n < 0)
		return -1;
	sl__builder_enter_layer(b, name);
	weight = sl_builder_weight(b, "weight", 1, &n, 1, 0.1);
	y = sl__builder_op2(b, "Mul", x, x);
	sl_builder_int(b, "keepdims", 1);
	y = sl__builder_op2(b, "ReduceMean", y,
			    sl__builder_constant_list(b, 1, (int64_t[]){-1}));
	y = sl__builder_op2(b, "Add", y, sl__builder_constant_scalar(b, 1e-5F));
	y = sl__builder_op2(b, "Div", x, sl__builder_op1(b, "Sqrt", y));
	sl__builder_name_after_scope(b);
	y = sl__builder_op2(b, "Mul", y, weight);
	sl_builder_leave(b);
	return y;
}

/* Angles place * 10000^(-2 i / width) for i = 0 .. width/2 - 1, twice side by
 * side (Su et al. 2021). */
static void
rotary_angles(struct sl_builder *b, struct llama_pass *p, int64_t width)
{
	const double step = -2 * log(10000) / (double)width;
	const int64_t half = width / 2;
	int place, turns, angles;

	sl_builder_enter(b, "rotary_emb");
	sl_builder_int(b, "to", SL_DTYPE_F32);
	place = sl__builder_op1(b, "Cast", p->text->positions);
	place = sl__builder_op2(
		b, "Unsqueeze", place,
		sl__builder_constant_list(b, 1, (int64_t[]){1}));
	turns = sl__builder_op3(b, "Range", sl__builder_constant_scalar(b, 0),
				sl__builder_constant_scalar(b, (float)half),
				sl__builder_constant_scalar(b, 1));
	turns = sl__builder_op2(b, "Mul", turns,
				sl__builder_constant_scalar(b, (float)step));
	turns = sl__builder_op1(b, "Exp", turns);
	angles = sl__builder_op2(b, "Mul", place, turns);
	angles = sl__builder_concat(b, -1, 2, (int[]){angles, angles});
	p->cos = sl__builder_op1(b, "Cos", angles);
	p->sin = sl__builder_op1(b, "Sin", angles);
	sl_builder_leave(b);
}

/* x cos + (-second half, first half) sin */
static int
rotate(struct sl_builder *b, const struct llama_pass *p, int x)
{
	int halves = sl__builder_split(b, x, 2);
	int turned = sl__builder_op1(b, "Neg", halves < 0 ? -1 : halves + 1);

	turned = sl__builder_concat(b, -1, 2, (int[]){turned, halves});
	return sl__builder_op2(b, "Add", sl__builder_op2(b, "Mul", x, p->cos),
			       sl__builder_op2(b, "Mul", turned, p->sin));
}

/* Heads that share keys and values stand in a dimension of their own, over
 * which those are broadcast: [batch][kv_heads][heads / kv_heads][seq][head],
 * and nothing is copied. */
static int
grouped_attend(struct sl_builder *b, const struct llama *m, int qkv[3],
	       int mask)
{
	const int64_t head = m->width / m->heads;
	int axis = sl__builder_constant_list(b, 1, (int64_t[]){2}), x;

	for (int i = 1; i < 3; i++)
		qkv[i] = sl__builder_op2(b, "Unsqueeze", qkv[i], axis);
	x = sl__builder_attend(b, qkv, head, mask);
	x = sl__builder_transpose(b, x, 5, (int64_t[]){0, 3, 1, 2, 4});
	return sl__builder_reshape(b, x, 3, (int64_t[]){0, 0, m->width});
}

static int
llama_query(struct sl_builder *b, const struct llama *m, int x)
{
	const int64_t head = m->width / m->heads;

	if (m->heads == m->kv_heads)
		return sl__builder_split_heads(b, x, m->heads, head);
	x = sl__builder_reshape(
		b, x, 5,
		(int64_t[]){0, 0, m->kv_heads, m->heads / m->kv_heads, head});
	return sl__builder_transpose(b, x, 5, (int64_t[]){0, 2, 3, 1, 4});
}

static int
llama_attention(struct sl_builder *b, const struct llama_pass *p, int layer,
		int x)
{
	static const char *const names[] = {"q_proj", "k_proj", "v_proj"};
	const struct llama *m = p->model;
	const int64_t head = m->width / m->heads;
	int qkv[3];

	sl_builder_enter(b, "self_attn");
	for (int i = 0; i < 3; i++) {
		int y = named_linear(b, names[i], x,
				     i ? head * m->kv_heads : m->width, 0);

		qkv[i] = i ? sl__builder_split_heads(b, y, m->kv_heads, head)
			   : llama_query(b, m, y);
		if (i < 2)
			qkv[i] = rotate(b, p, qkv[i]);
	}
	if (p->text->is_step)
		cache_append(b, &p->text->cache, layer, qkv);
	if (m->heads == m->kv_heads) {
		x = sl__builder_attend(b, qkv, head, p->text->mask);
		x = sl__builder_join_heads(b, x, m->heads, head);
	} else {
		x = grouped_attend(b, m, qkv, p->text->mask);
	}
	sl__builder_set_weight_gain(b, 1 / sqrt(2.0 * (double)m->n_layers));
	x = named_linear(b, "o_proj", x, m->width, 0);
	sl_builder_leave(b);
	return x;
}

static int
llama_layer(struct sl_builder *b, const struct llama_pass *p, int layer, int x)
{
	const struct llama *m = p->model;
	int y = rms_norm(b, "input_layernorm", x), gate;

	y = llama_attention(b, p, layer, y);
	x = sl__builder_op2(b, "Add", x, y);
	y = rms_norm(b, "post_attention_layernorm", x);
	sl_builder_enter(b, "mlp");
	gate = sl__builder_silu(b,
				named_linear(b, "gate_proj", y, m->inner, 0));
	y = named_linear(b, "up_proj", y, m->inner, 0);
	y = sl__builder_op2(b, "Mul", gate, y);
	/* The mean square of silu(z) is 0.36. */
	sl__builder_set_weight_gain(b, 1 / sqrt(2.0 * m->n_layers * 0.35578));
	y = named_linear(b, "down_proj", y, m->width, 0);
	sl_builder_leave(b);
	return sl__builder_op2(b, "Add", x, y);
}

void
sl__zoo_llama(struct sl_builder *b, const struct sl__zoo_request *r)
{
	static const struct llama sizes[] = {
		[SL__ZOO_LLAMA_2_7B] = {32, 4096, 32, 32, 11008, 32000},
		[SL__ZOO_TINYLLAMA] = {22, 2048, 32, 4, 5632, 32000}};
	const struct llama *m = &sizes[r->variant];
	struct text t = {
		.is_step = r->is_step,
		.cache = {.heads = m->kv_heads, .width = m->width / m->heads}};
	struct llama_pass p = {.model = m, .text = &t};
	int words, x;

	text_input(b, &t, m->n_layers);
	sl_builder_enter(b, "model");
	words = sl__builder_embedding_weight(b, "embed_tokens", m->vocabulary,
					     m->width, 1);
	x = sl__builder_gather(b, words, t.tokens);
	rotary_angles(b, &p, m->width / m->heads);
	for (int i = 0; i < m->n_layers; i++) {
		sl__builder_enter_scope_format(b, "layers.%d", i);
		x = llama_layer(b, &p, i, x);
		sl_builder_leave(b);
	}
	x = rms_norm(b, "norm", x);
	sl_builder_leave(b);
	x = named_linear(b, "lm_head", x, m->vocabulary, 0);
	sl_builder_output(b, x, "logits");
	if (r->is_step)
		cache_outputs(b, &t.cache, m->n_layers);
}

enum { LSTM_WIDTH = 650, LSTM_VOCABULARY = 10000 };

/* [seq][batch][width] to the same; weights as ONNX has them, the four gates
 * one after the other. */
static int
lstm_layer(struct sl_builder *b, const char *name, int x)
{
	const int64_t n = LSTM_WIDTH, dims[] = {1, 4 * n, n};
	const double deviation = 1 / sqrt((double)n);
	int in[4] = {x}, y;

	sl__builder_enter_layer(b, name);
	in[1] = sl_builder_weight(b, "weight_ih", 3, dims, 0, deviation);
	in[2] = sl_builder_weight(b, "weight_hh", 3, dims, 0, deviation);
	in[3] = sl_builder_weight(b, "bias", 2, (int64_t[]){1, 8 * n}, 0, 0.02);
	sl__builder_name_after_scope(b);
	sl_builder_int(b, "hidden_size", n);
	y = sl_builder_op(b, "LSTM", 4, in);
	y = sl__builder_op2(b, "Squeeze", y,
			    sl__builder_constant_list(b, 1, (int64_t[]){1}));
	sl_builder_leave(b);
	return y;
}

void
sl__zoo_lstm(struct sl_builder *b, const struct sl__zoo_request *r)
{
	const int64_t turn[] = {1, 0, 2};
	int tokens = token_input(b, "input_ids"), x;

	(void)r;
	x = sl__builder_embedding_weight(b, "encoder", LSTM_VOCABULARY,
					 LSTM_WIDTH, 1);
	x = sl__builder_gather(b, x, tokens);
	x = sl__builder_transpose(b, x, 3, turn);
	x = lstm_layer(b, "lstm.0", x);
	x = lstm_layer(b, "lstm.1", x);
	x = sl__builder_transpose(b, x, 3, turn);
	/* A cell's output is below 1: its mean square is about a tenth. */
	sl__builder_set_weight_gain(b, 3);
	x = named_linear(b, "decoder", x, LSTM_VOCABULARY, 1);
	sl_builder_output(b, x, "logits");
}
