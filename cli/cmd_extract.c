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

/* What was written, and what it needs. */
static void
report(const struct sl_graph *layer, const char **words)
{
	size_t n = sl_graph_n_nodes(layer), n_inputs = sl_graph_n_inputs(layer);

	model_remarks(help.name);
	complain(help.name, 0, "wrote %s: %s of %s, %zu node%s, %zu input%s",
		 words[2], words[1], words[0], n, n == 1 ? "" : "s", n_inputs,
		 n_inputs == 1 ? "" : "s");
}

static int
extract(struct arguments *a, const char **words)
{
	struct sl_graph *graph =
		model_open_sized(help.name, words[0], &a->model, a->seed);
	struct sl_graph *layer = NULL;
	struct sl_error err;
	const char *path = strcmp(words[2], "-") ? words[2] : "/dev/stdout";
	int code = 0;

	if (sl_graph_extract(&layer, graph, words[1], &a->model.sizes, &err))
		code = exit_for_model(help.name, words[0], &err);
	else if (sl_graph_write(layer, path, &err))
		code = exit_for(help.name, &err);
	else
		report(layer, words);
	sl_graph_free(layer);
	sl_graph_free(graph);
	return code;
}

int
cmd_extract(char **argv)
{
	struct arguments a = {.model = {.is_static = 1}};
	const struct option_group groups[] = {
		OPTION_GROUP(options, &a),
		model_option_group(&a.model),
	};
	const char **words;
	size_t n;

	if (options_read_positional_names(&help, groups, 2, argv, &words, &n))
		return EXIT_DONE;
	if (n != 3)
		refuse(help.name,
		       "a model, a layer and a file are needed: 'sleuth "
		       "extract resnet50 layer4.0 block.onnx'");
	model_options_resolve(&a.model, help.name);
	return extract(&a, words);
}
