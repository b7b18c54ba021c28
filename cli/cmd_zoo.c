/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_zoo.c - `sleuth zoo`: the built-in models, listed and exported. */
#include "commands.h"
#include "exit_code.h"
#include "options.h"
#include "output.h"

#include <string.h>

static const struct command_help help = {
	"zoo", "[options]\n       sleuth zoo export NAME FILE.onnx [--seed N]",
	"Lists the built-in models with their parameters and FLOPs, or writes "
	"one of them\nas an ONNX file that other programs run. Weights are "
	"random, of a scale that\nkeeps activations in range; the same seed "
	"gives the same weights. Models of more\nthan 2 GB put them into "
	"FILE.onnx.data beside FILE.onnx.",
	"  sleuth zoo\n"
	"  sleuth zoo export resnet50 resnet50.onnx\n"
	"  sleuth zoo export mlp:784-256-128-10 mlp.onnx --seed 7",
	NULL};

struct arguments {
	size_t seed;
	struct output output;
};

#define AT(field) offsetof(struct arguments, field)

static const struct option options[] = {
	{"seed", 0, OPTION_COUNT, AT(seed), "N",
	 "of the weights that export writes (1)", 1, 1e19, 0},
};

static enum sl_status
render(const void *result, const struct sl_render_options *how,
       struct sl_buf *out, struct sl_error *err)
{
	const struct sl_zoo_list *zoo = result;

	return sl_zoo_render(zoo, how, out, err);
}

static int
list(const struct arguments *a)
{
	struct sl_zoo_list *zoo;
	struct sl_error err;
	int code;

	output_check(&a->output, help.name);
	if (a->seed)
		refuse(help.name, "--seed is for 'sleuth zoo export'");
	if (sl_zoo_count(&zoo, &err))
		return exit_for(help.name, &err);
	code = output_write(&a->output, help.name, render, zoo);
	sl_zoo_list_free(zoo);
	return code;
}

static int export(const struct arguments *a, const char *name, const char *path)
{
	struct sl_graph_options how = {.struct_size = sizeof(how),
				       .seed = a->seed};
	const struct output *o = &a->output;
	struct sl_graph *graph = NULL;
	struct sl_error err;
	int code = EXIT_FINE;

	if (o->json || o->csv || o->html || o->markdown)
		refuse(help.name, "--json, --csv, --html and --md are for the "
				  "list, not for "
				  "'export'");
	if (strcmp(path, "-") == 0)
		path = "/dev/stdout";
	if (sl_graph_open(&graph, name, &how, &err) ||
	    sl_graph_write(graph, path, &err))
		code = exit_for(help.name, &err);
	sl_graph_free(graph);
	return code;
}

int
cmd_zoo(char **argv)
{
	struct arguments a = {0};
	const struct option_group groups[] = {
		OPTION_GROUP(options, &a),
		output_page_option_group(&a.output),
	};
	const char **words;
	size_t n_words;

	if (options_read(&help, groups, 2, argv, &words, &n_words))
		return EXIT_DONE;
	if (n_words == 0)
		return list(&a);
	if (strcmp(words[0], "export") != 0)
		refuse(help.name,
		       "unexpected '%s'; it is 'sleuth zoo' or 'sleuth zoo "
		       "export NAME FILE.onnx'",
		       words[0]);
	if (n_words != 3)
		refuse(help.name,
		       "export takes a model and a file: 'sleuth zoo export "
		       "resnet50 resnet50.onnx'");
	return export(&a, words[1], words[2]);
}
