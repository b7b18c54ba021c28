/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_extract.c - `sleuth extract`: one layer as a model of its own. */
#include "commands.h"
#include "exit_code.h"
#include "model_options.h"
#include "options.h"

#include <string.h>

static const struct command_help help = {
	"extract", "MODEL LAYER FILE.onnx [options]",
	"Writes one layer of a model as a model of its own: the node of that "
	"name, or all\nnodes of a module such as 'layer1.0'. What the layer "
	"takes from others becomes its\ninputs, with the sizes it has in the "
	"model.",
	"  sleuth extract resnet50 layer4.0 block.onnx\n"
	"  sleuth extract bert-base encoder.layer.0.attention attention.onnx "
	"--seq 256\n"
	"  sleuth profile block.onnx",
	NULL};

struct arguments {
	struct model_options model;
	size_t seed;
};

#define AT(field) offsetof(struct arguments, field)

static const struct option options[] = {
	{"seed", 0, OPTION_COUNT, AT(seed), "N",
	 "of a built-in model's weights (1)", 1, 1e15, 0},
};

static int
extract(const struct arguments *a, const char **words)
{
	struct sl_graph *graph = model_open(help.name, words[0], a->seed);
	struct sl_graph *layer = NULL;
	struct sl_error err;
	const char *path = strcmp(words[2], "-") ? words[2] : "/dev/stdout";
	int code = 0;

	if (sl_graph_extract(&layer, graph, words[1], &a->model.sizes, &err))
		code = exit_for_model(help.name, words[0], &err);
	else if (sl_graph_write(layer, path, &err))
		code = exit_for(help.name, &err);
	else
		model_remarks(help.name);
	sl_graph_free(layer);
	sl_graph_free(graph);
	return code;
}

int
cmd_extract(char **argv)
{
	struct arguments a = {0};
	const struct option_group groups[] = {
		OPTION_GROUP(options, &a),
		model_group(&a.model),
	};
	const char **words;
	size_t n;

	if (options_read_names(&help, groups, 2, argv, &words, &n))
		return EXIT_DONE;
	if (n != 3)
		refuse(help.name,
		       "a model, a layer and a file are needed: 'sleuth "
		       "extract resnet50 layer4.0 block.onnx'");
	model_options_check(&a.model, help.name);
	return extract(&a, words);
}
