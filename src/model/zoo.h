/* SPDX-License-Identifier: Apache-2.0 */
/* zoo.h - the built-in models, by name. */
#ifndef SL_ZOO_H
#define SL_ZOO_H

#include "sleuth/models.h"

/*
 * Opens a built-in model: "resnet50", "mlp:784-256-128-10", "gpt2@kv".
 * SL_E_USAGE with the nearest names for one that is not there, and with how
 * to write it for sizes that make no sense.
 */
enum sl_status sl__zoo_open(struct sl_graph **out, const char *name,
			    const struct sl_graph_options *options,
			    struct sl_error *err) SL_CHECKED;

/* Whether the zoo has a model or a family of that name, as far as ':' and
 * '@'. */
int sl__zoo_is_name(const char *name);

/* What is to be built: a row of the table, and the sizes in the name. */
struct sl__zoo_request {
	int variant;
	int is_step; /* one token with a cache */
	const int64_t *sizes;
	size_t n_sizes;
};

/* Adds the whole model to a new builder, inputs to outputs; failures stay in
 * the builder. */
typedef void sl__zoo_build_function(struct sl_builder *b,
				    const struct sl__zoo_request *request);

/* zoo_layers.c: one layer or a few. */
sl__zoo_build_function sl__zoo_mlp, sl__zoo_linear, sl__zoo_conv,
	sl__zoo_attention;

/* zoo_vision.c: images of 224 x 224. */
sl__zoo_build_function sl__zoo_lenet5, sl__zoo_vgg16, sl__zoo_resnet,
	sl__zoo_mobilenetv2, sl__zoo_efficientnet, sl__zoo_vit, sl__zoo_unet;

/* zoo_digits.c: images of 8 x 8, to be trained. */
sl__zoo_build_function sl__zoo_digits_mlp, sl__zoo_digits_cnn,
	sl__zoo_digits_transformer;

/* zoo_tiny.c: the models of MLPerf Tiny. */
sl__zoo_build_function sl__zoo_ds_cnn, sl__zoo_mobilenetv1, sl__zoo_resnet8,
	sl__zoo_autoencoder;

/* zoo_text.c: sequences of tokens. */
sl__zoo_build_function sl__zoo_bert, sl__zoo_gpt2, sl__zoo_llama, sl__zoo_lstm;

enum sl__zoo_gpt_size {
	SL__ZOO_GPT2_SMALL,
	SL__ZOO_GPT2_MEDIUM,
	SL__ZOO_GPT2_LARGE,
	SL__ZOO_GPT2_XL,
	SL__ZOO_GPT3_175B,
	SL__ZOO_TINY_GPT, /* to be trained */
	SL__ZOO_GPT_SIZED /* layers, width, heads, vocabulary, context */
};

enum sl__zoo_llama_size { SL__ZOO_LLAMA_2_7B, SL__ZOO_TINYLLAMA };

#endif
