/* SPDX-License-Identifier: Apache-2.0 */
/* suite_texts.c - the suites that come with the library. */
#include "sleuth/suites.h"

#include <string.h>

#include "base/banned.h"

static const struct {
	const char *name, *text;
} texts[] = {
	{"example",
	 "# A suite: models and variants, measured in one interleaved run.\n"
	 "# 'sleuth suite suite.txt' runs it; interrupted, it goes on where "
	 "it\n"
	 "# was. Keys above the first section hold for every section that "
	 "does\n"
	 "# not say otherwise.\n"
	 "\n"
	 "time = 30s           # repetitions go on for as long, 40 at least; "
	 "each\n"
	 "                     # makes all plans anew\n"
	 "# repetitions = 40   # alone: that many, whatever they take\n"
	 "rounds = 5           # of a repetition: every cell once, in random\n"
	 "                     # order\n"
	 "seed = 1\n"
	 "\n"
	 "# The first variant is the baseline of the others. 'sleuth optimize\n"
	 "# --help' lists the changes; several at once are joined by '+'. A "
	 "path\n"
	 "# such as pruned.onnx is a model of your own.\n"
	 "variants = baseline, bf16, threads=1\n"
	 "\n"
	 "[digits]             # a name for the table\n"
	 "model = digits-mlp   # a path, or a name that 'sleuth zoo' lists\n"
	 "data = digits        # for the accuracy; see 'sleuth eval --help'\n"
	 "                     # (built-in models have random weights: "
	 "'sleuth\n"
	 "                     # train' makes one that knows digits)\n"
	 "scenarios = single, offline   # queries of 1 and of 16 samples\n"
	 "# labels = y.npy     # where the data has none\n"
	 "# inputs = folder    # inputs to run with, instead of synthetic "
	 "ones\n"
	 "# batch = 4          # samples of a query\n"
	 "# seq = 128          # tokens\n"
	 "# threads = 2\n"
	 "\n"
	 "# Limits; one that is broken makes the exit code 1.\n"
	 "max-time = 100ms\n"
	 "max-memory = 64MB\n"
	 "# max-size = 1MB     # of the stored parameters\n"
	 "# min-accuracy = 90%\n"
	 "\n"
	 "[lenet]\n"
	 "model = lenet5\n"},
	{"course",
	 "# The comparison of the TinyTorch course: a model as it is, and "
	 "what\n"
	 "# is done to make it faster or smaller.\n"
	 "\n"
	 "[mlp]\n"
	 "model = digits-mlp\n"
	 "data = digits\n"
	 "variants = baseline, int8, prune-channels=0.5, threads=1\n"
	 "\n"
	 "[cnn]\n"
	 "model = digits-cnn\n"
	 "data = digits\n"
	 "variants = baseline, int8, prune-channels=0.5, threads=1\n"
	 "\n"
	 "[transformer]\n"
	 "model = digits-transformer\n"
	 "data = digits\n"
	 "variants = baseline, int8, bf16, threads=1\n"
	 "\n"
	 "[decoder]            # the next token, all computed anew or cached\n"
	 "model = gpt:2,64,2,256,256\n"
	 "variants = baseline, kv\n"},
	{"edge", "# The tasks of MLPerf Tiny: its architectures with random "
		 "weights, to\n"
		 "# compare devices. For the accuracy, put models of your own "
		 "in their\n"
		 "# place ('model = mine.onnx') and add 'data = FILE'.\n"
		 "\n"
		 "variants = baseline, int8, bf16, threads=1\n"
		 "\n"
		 "[keyword-spotting]\n"
		 "model = ds-cnn\n"
		 "\n"
		 "[visual-wake-words]\n"
		 "model = mobilenetv1-0.25\n"
		 "\n"
		 "[image-classification]\n"
		 "model = resnet8\n"
		 "\n"
		 "[anomaly-detection]\n"
		 "model = autoencoder\n"},
};

const char *
sl_suite_text(const char *name)
{
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		if (strcmp(texts[i].name, name) == 0)
			return texts[i].text;
	}
	return NULL;
}
