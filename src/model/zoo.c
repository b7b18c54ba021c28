/* SPDX-License-Identifier: Apache-2.0 */
/*
 * zoo.c - the built-in models: their table, and finding one by name.
 *
 * A name is NAME, NAME@kv, FAMILY:SIZES or FAMILY:SIZES@kv.  The functions that
 * build them are in zoo_layers.c, zoo_vision.c, zoo_digits.c, zoo_tiny.c
 * and zoo_text.c.
 */
#include "model/zoo.h"
#include "base/nearest.h"
#include "base/status.h"
#include "model/builder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/banned.h"

enum { SIZES_MOST = 256, N_NEAREST = 3, FAR = SL__EDITS_MANY };

/* Sizes larger than this are a slip of the finger. */
static const int64_t size_most = INT64_C(1) << 40;

/* ROW(name, example, what it is, least and most sizes, builder, variant,
 *     whether it is a step with a cache) */
#define ZOO_ROWS                                                               \
	ROW("mlp:A-B-...", "mlp:784-256-128-10",                               \
	    "linear layers of A to B to ... with ReLU between", 2, SIZES_MOST, \
	    sl__zoo_mlp, 0, 0)                                                 \
	ROW("linear:IN,OUT", "linear:768,3072", "one linear layer with bias",  \
	    2, 2, sl__zoo_linear, 0, 0)                                        \
	ROW("conv:IN,OUT,K,SIZE[,STRIDE,PAD,GROUPS]", "conv:3,64,7,224,2,3",   \
	    "one KxK convolution with bias over SIZE x SIZE; stride 1, "       \
	    "padding K/2 rounded down, 1 group unless said",                   \
	    4, 7, sl__zoo_conv, 0, 0)                                          \
	ROW("attention:SEQ,WIDTH[,HEADS]", "attention:128,512",                \
	    "self-attention, four projections without bias; heads of 64 "      \
	    "unless said, 1 where 64 does not divide WIDTH",                   \
	    2, 3, sl__zoo_attention, 0, 0)                                     \
	ROW("gpt:LAYERS,WIDTH,HEADS[,VOCABULARY,CONTEXT]", "gpt:12,768,12",    \
	    "GPT-2 of any size, tied head; vocabulary 50257 and context "      \
	    "1024 unless said",                                                \
	    3, 5, sl__zoo_gpt2, SL__ZOO_GPT_SIZED, 0)                          \
	ROW("lenet5", "lenet5",                                                \
	    "LeNet-5, LeCun et al. 1998; tanh, average pooling; 1x32x32", 0,   \
	    0, sl__zoo_lenet5, 0, 0)                                           \
	ROW("vgg16", "vgg16", "VGG-16, Simonyan and Zisserman 2014", 0, 0,     \
	    sl__zoo_vgg16, 0, 0)                                               \
	ROW("resnet18", "resnet18", "ResNet-18, He et al. 2015", 0, 0,         \
	    sl__zoo_resnet, 18, 0)                                             \
	ROW("resnet34", "resnet34", "ResNet-34, He et al. 2015", 0, 0,         \
	    sl__zoo_resnet, 34, 0)                                             \
	ROW("resnet50", "resnet50", "ResNet-50 v1.5, He et al. 2015", 0, 0,    \
	    sl__zoo_resnet, 50, 0)                                             \
	ROW("resnet101", "resnet101", "ResNet-101 v1.5, He et al. 2015", 0, 0, \
	    sl__zoo_resnet, 101, 0)                                            \
	ROW("resnet152", "resnet152", "ResNet-152 v1.5, He et al. 2015", 0, 0, \
	    sl__zoo_resnet, 152, 0)                                            \
	ROW("mobilenetv2", "mobilenetv2", "MobileNetV2, Sandler et al. 2018",  \
	    0, 0, sl__zoo_mobilenetv2, 0, 0)                                   \
	ROW("efficientnet-b0", "efficientnet-b0",                              \
	    "EfficientNet-B0, Tan and Le 2019", 0, 0, sl__zoo_efficientnet, 0, \
	    0)                                                                 \
	ROW("vit-b-16", "vit-b-16",                                            \
	    "ViT-B/16, Dosovitskiy et al. 2020; 197 tokens", 0, 0,             \
	    sl__zoo_vit, 0, 0)                                                 \
	ROW("unet", "unet",                                                    \
	    "U-Net, Ronneberger et al. 2015; padding 1, 3x224x224 in, 2 "      \
	    "classes",                                                         \
	    0, 0, sl__zoo_unet, 0, 0)                                          \
	ROW("digits-mlp", "digits-mlp",                                        \
	    "linear layers of 64 to 128 to 64 to 10, to be trained", 0, 0,     \
	    sl__zoo_digits_mlp, 0, 0)                                          \
	ROW("digits-cnn", "digits-cnn",                                        \
	    "three convolutions with BatchNorm over 1x8x8, to be trained", 0,  \
	    0, sl__zoo_digits_cnn, 0, 0)                                       \
	ROW("digits-transformer", "digits-transformer",                        \
	    "two encoder layers over the 8 rows of 8x8, to be trained", 0, 0,  \
	    sl__zoo_digits_transformer, 0, 0)                                  \
	ROW("ds-cnn", "ds-cnn",                                                \
	    "keyword spotting of MLPerf Tiny; 1x49x10 in, 12 classes", 0, 0,   \
	    sl__zoo_ds_cnn, 0, 0)                                              \
	ROW("mobilenetv1-0.25", "mobilenetv1-0.25",                            \
	    "visual wake words of MLPerf Tiny; 3x96x96 in, 2 classes", 0, 0,   \
	    sl__zoo_mobilenetv1, 0, 0)                                         \
	ROW("resnet8", "resnet8",                                              \
	    "image classification of MLPerf Tiny; 3x32x32 in, 10 classes", 0,  \
	    0, sl__zoo_resnet8, 0, 0)                                          \
	ROW("autoencoder", "autoencoder",                                      \
	    "anomaly detection of MLPerf Tiny; 640 to 128 to 8 to 128 to 640", \
	    0, 0, sl__zoo_autoencoder, 0, 0)                                   \
	ROW("tiny-gpt", "tiny-gpt",                                            \
	    "GPT-2 of 2 layers of 64, vocabulary 256, context 128, to be "     \
	    "trained",                                                         \
	    0, 0, sl__zoo_gpt2, SL__ZOO_TINY_GPT, 0)                           \
	ROW("bert-base", "bert-base",                                          \
	    "BERT base uncased, Devlin et al. 2018, with pooler", 0, 0,        \
	    sl__zoo_bert, 0, 0)                                                \
	ROW("gpt2", "gpt2", "GPT-2 small, Radford et al. 2019, tied head", 0,  \
	    0, sl__zoo_gpt2, SL__ZOO_GPT2_SMALL, 0)                            \
	ROW("gpt2-medium", "gpt2-medium", "GPT-2 medium, tied head", 0, 0,     \
	    sl__zoo_gpt2, SL__ZOO_GPT2_MEDIUM, 0)                              \
	ROW("gpt2-large", "gpt2-large", "GPT-2 large, tied head", 0, 0,        \
	    sl__zoo_gpt2, SL__ZOO_GPT2_LARGE, 0)                               \
	ROW("gpt2-xl", "gpt2-xl", "GPT-2 XL, tied head", 0, 0, sl__zoo_gpt2,   \
	    SL__ZOO_GPT2_XL, 0)                                                \
	ROW("gpt3-175b", "gpt3-175b",                                          \
	    "GPT-3 175B, Brown et al. 2020, with dense attention", 0, 0,       \
	    sl__zoo_gpt2, SL__ZOO_GPT3_175B, 0)                                \
	ROW("llama-2-7b", "llama-2-7b", "Llama 2 7B, Touvron et al. 2023", 0,  \
	    0, sl__zoo_llama, SL__ZOO_LLAMA_2_7B, 0)                           \
	ROW("tinyllama", "tinyllama",                                          \
	    "TinyLlama 1.1B, Zhang et al. 2024; 4 heads of keys for 32", 0, 0, \
	    sl__zoo_llama, SL__ZOO_TINYLLAMA, 0)                               \
	ROW("gpt:LAYERS,WIDTH,HEADS[,VOCABULARY,CONTEXT]@kv",                  \
	    "gpt:12,768,12@kv", "GPT-2 of any size, one token with KV cache",  \
	    3, 5, sl__zoo_gpt2, SL__ZOO_GPT_SIZED, 1)                          \
	ROW("gpt2@kv", "gpt2@kv", "GPT-2 small, one token with KV cache", 0,   \
	    0, sl__zoo_gpt2, SL__ZOO_GPT2_SMALL, 1)                            \
	ROW("gpt2-medium@kv", "gpt2-medium@kv",                                \
	    "GPT-2 medium, one token with KV cache", 0, 0, sl__zoo_gpt2,       \
	    SL__ZOO_GPT2_MEDIUM, 1)                                            \
	ROW("gpt2-large@kv", "gpt2-large@kv",                                  \
	    "GPT-2 large, one token with KV cache", 0, 0, sl__zoo_gpt2,        \
	    SL__ZOO_GPT2_LARGE, 1)                                             \
	ROW("gpt2-xl@kv", "gpt2-xl@kv", "GPT-2 XL, one token with KV cache",   \
	    0, 0, sl__zoo_gpt2, SL__ZOO_GPT2_XL, 1)                            \
	ROW("gpt3-175b@kv", "gpt3-175b@kv",                                    \
	    "GPT-3 175B, one token with KV cache", 0, 0, sl__zoo_gpt2,         \
	    SL__ZOO_GPT3_175B, 1)                                              \
	ROW("llama-2-7b@kv", "llama-2-7b@kv",                                  \
	    "Llama 2 7B, one token with KV cache", 0, 0, sl__zoo_llama,        \
	    SL__ZOO_LLAMA_2_7B, 1)                                             \
	ROW("tinyllama@kv", "tinyllama@kv",                                    \
	    "TinyLlama, one token with KV cache", 0, 0, sl__zoo_llama,         \
	    SL__ZOO_TINYLLAMA, 1)                                              \
	ROW("lstm", "lstm",                                                    \
	    "LSTM language model, Zaremba 2014; their medium one: two "        \
	    "layers of 650, vocabulary 10,000",                                \
	    0, 0, sl__zoo_lstm, 0, 0)

static const struct sl_zoo_entry entries[] = {
#define ROW(name, example, about, least, most, build, variant, step) \
	{name, example, about},
	ZOO_ROWS
#undef ROW
	{NULL, NULL, NULL}};

static const struct recipe {
	size_t n_least, n_most; /* sizes */
	sl__zoo_build_function *build;
	int variant, is_step;
} recipes[] = {
#define ROW(name, example, about, least, most, build, variant, step) \
	{least, most, build, variant, step},
	ZOO_ROWS
#undef ROW
};

enum { N_ROWS = sizeof(recipes) / sizeof(recipes[0]) };

const struct sl_zoo_entry *
sl_zoo(void)
{
	return entries;
}

/* Whether two names are the same, each as far as the first of 'ends'. */
static int
same_until(const char *a, const char *b, const char *ends)
{
	size_t n = strcspn(a, ends);

	return n == strcspn(b, ends) && !strncmp(a, b, n);
}

int
sl__zoo_is_name(const char *name)
{
	for (size_t i = 0; i < N_ROWS; i++) {
		if (same_until(name, entries[i].name, ":@"))
			return 1;
	}
	return 0;
}

/*
 * How far a row's name is from what was typed; a beginning is as near as one
 * letter.  What is not near is FAR.
 */
static unsigned
distance_to_row(const char *name, size_t row)
{
	size_t n = strcspn(name, ":"), n_row = strcspn(entries[row].name, ":");
	unsigned d;

	d = sl__edit_distance(name, n, entries[row].name, n_row);
	if (d > 1 && n >= 2 && !strncasecmp(name, entries[row].name, n))
		return 1;
	return d <= 2 && 2 * d < n_row ? d : FAR;
}

static enum sl_status
fail_unknown(const char *name, struct sl_error *err)
{
	size_t near[N_NEAREST] = {0}, n = 0;
	unsigned least = FAR;
	char text[256] = "";

	for (size_t i = 0; i < N_ROWS; i++) {
		unsigned d = distance_to_row(name, i);

		if (d < least) {
			least = d;
			n = 0;
		}
		if (d == least && d < FAR && n < N_NEAREST)
			near[n++] = i;
	}
	for (size_t k = 0; k < n; k++) {
		size_t used = strlen(text);

		snprintf(text + used, sizeof(text) - used, "%s%s",
			 !k           ? "; did you mean "
			 : k == n - 1 ? " or "
				      : ", ",
			 entries[near[k]].name);
	}
	return sl__error_set_hint(
		err,
		sl__fail(err, SL_E_USAGE,
			 "there is no built-in model '%.100s'%s%s", name, text,
			 n ? "?" : ""),
		n ? SL_HINT_NONE : SL_HINT_MODELS);
}

static enum sl_status
fail_sizes(const char *name, size_t row, const char *what, struct sl_error *err)
{
	return sl__fail(err, SL_E_USAGE, "'%.100s': %s; write %s, such as %s",
			name, what, entries[row].name, entries[row].example);
}

/* One number up to a ',' or '-' (as the row's form has it), '@' or the end. */
static int
read_size(const char **text, char separator, int64_t *size)
{
	char *end;

	if (**text < '0' || **text > '9')
		return 0;
	*size = strtoll(*text, &end, 10);
	if ((*end && *end != separator && *end != '@') || *size > size_most)
		return 0;
	if (*end == separator && (!end[1] || end[1] == '@'))
		return 0; /* nothing after the last separator */
	*text = *end == separator ? end + 1 : end;
	return 1;
}

/* Why read_size() would not have what 'text' begins with. */
static void
say_no_size(char *what, size_t n_bytes, const char *text, char separator)
{
	const char ends[] = {separator, '\0'};
	size_t n_digits = strspn(text, "0123456789");
	int n = (int)strcspn(text, ends);

	n = n < 60 ? n : 60;
	if (n_digits && (!text[n_digits] || text[n_digits] == separator) &&
	    strtoll(text, NULL, 10) > size_most)
		snprintf(what, n_bytes, "%.*s is too large, the most is %lld",
			 n, text, (long long)size_most);
	else if (n_digits && text[n_digits] == separator)
		snprintf(what, n_bytes, "a size is missing after the last '%c'",
			 separator);
	else if (!n)
		snprintf(what, n_bytes, "a size is missing before a '%c'",
			 separator);
	else
		snprintf(what, n_bytes, "'%.*s' is no size", n, text);
}

static enum sl_status
read_sizes(const char *name, size_t row, int64_t *sizes, size_t *n,
	   struct sl_error *err)
{
	char separator = strchr(entries[row].example, ',') ? ',' : '-';
	const char *text = strchr(name, ':');
	char what[128];

	*n = 0;
	text = text ? text + 1 : "";
	while (*text && *text != '@') {
		if (*n == SIZES_MOST)
			return fail_sizes(name, row, "too many sizes", err);
		if (!read_size(&text, separator, &sizes[*n])) {
			say_no_size(what, sizeof(what), text, separator);
			return fail_sizes(name, row, what, err);
		}
		/* Only a padding may be 0: the sixth of a convolution. */
		if (!sizes[*n] && *n != 5)
			return fail_sizes(name, row, "a size cannot be 0", err);
		++*n;
	}
	if (*n >= recipes[row].n_least && *n <= recipes[row].n_most)
		return SL_OK;
	snprintf(what, sizeof(what), "%zu size%s", *n, *n == 1 ? "" : "s");
	return fail_sizes(name, row, *n ? what : "its sizes are missing", err);
}

static enum sl_status
find_row(const char *name, size_t *row, struct sl_error *err)
{
	const char *at = strchr(name, '@');
	int is_step = at && !strcmp(at, "@kv");

	for (size_t i = 0; i < N_ROWS; i++) {
		if (!same_until(name, entries[i].name, ":") ||
		    (at && !is_step) || is_step != recipes[i].is_step)
			continue;
		*row = i;
		if (recipes[i].n_most || !strchr(name, ':'))
			return SL_OK;
		return sl__fail(err, SL_E_USAGE,
				"'%.100s': %s takes no sizes in its name", name,
				entries[i].name);
	}
	if (at && sl__zoo_is_name(name))
		return sl__fail(err, SL_E_USAGE,
				"'%.100s': there is no '%.40s' of this model; "
				"'@kv', one token with a cache, is there for "
				"gpt, gpt2, gpt3 and llama models",
				name, at);
	return fail_unknown(name, err);
}

enum sl_status
sl__zoo_open(struct sl_graph **out, const char *name,
	     const struct sl_graph_options *options, struct sl_error *err)
{
	struct sl__zoo_request request = {0};
	int64_t sizes[SIZES_MOST];
	struct sl_builder *b = NULL;
	enum sl_status rc;
	size_t row = 0;

	*out = NULL;
	rc = find_row(name, &row, err);
	if (!rc)
		rc = read_sizes(name, row, sizes, &request.n_sizes, err);
	if (!rc)
		rc = sl_builder_new(&b, name, options, err);
	if (rc)
		return rc;
	request.sizes = sizes;
	request.variant = recipes[row].variant;
	request.is_step = recipes[row].is_step;
	recipes[row].build(b, &request);
	b->graph->source = "zoo";
	b->graph->is_builtin = 1;
	rc = sl_builder_finish(out, b, err);
	sl_builder_free(b);
	if (rc == SL_E_NOMEM)
		return rc;
	/* Sizes that do not go together came from the name. */
	if (rc == SL_E_DATA) {
		rc = SL_E_USAGE;
		if (err)
			err->status = rc;
	}
	return sl__error_prefix(err, rc, name);
}
