/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model_options.c - which model, and under which sizes.
 *
 * Whether a name or a shape fits the model is the library's to say; here
 * only the words are read, so that a slip of the finger is found before a
 * large file is.
 */
#include "model_options.h"
#include "exit_code.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* A dimension above this is a slip: no tensor has as many elements. */
#define MAX_DIM 1e15

enum { MAX_RANK = 32 };

#define AT(field) offsetof(struct model_options, field)

static const struct option options[] = {
	{"batch", 'b', OPTION_COUNT, AT(batch), "N", "samples at once (1)", 1,
	 MAX_DIM, 0},
	{"seq", 0, OPTION_COUNT, AT(seq), "N",
	 "length of the sequence (built-in models: 128)", 1, MAX_DIM, 0},
	{"past", 0, OPTION_COUNT, AT(past), "N",
	 "tokens in the KV cache (built-in models: 128)", 1, MAX_DIM, 0},
	{"dim", 0, OPTION_WORDS, AT(dims), "NAME=N",
	 "size of a named dimension; may be repeated", 0, 0, 1},
	{"shape", 0, OPTION_WORDS, AT(shapes), "INPUT=1,3,224,224",
	 "shape of an input; may be repeated", 0, 0, 1},
	{"inputs", 0, OPTION_TEXT, AT(inputs), "DIR",
	 "shapes and values from input_N.pb or NAME.npy", 0, 0, 0},
};

struct option_group
model_group(struct model_options *values)
{
	struct option_group group = {
		options, sizeof(options) / sizeof(options[0]), values};

	return group;
}

/* The digits at *text, which is moved past them; 0 when there are none. */
static int
read_dim(int64_t *out, const char **text)
{
	char *end;

	if (**text < '0' || **text > '9')
		return 0;
	errno = 0;
	*out = strtoll(*text, &end, 10);
	*text = end;
	return errno == 0 && (double)*out <= MAX_DIM;
}

/*
 * What stands before the last '=' of 'word': names of inputs may hold one.
 * NULL, or *value is what follows.
 */
static const char *
split(const char *word, const char **value)
{
	const char *equals = strrchr(word, '=');
	char *name;
	size_t n;

	if (!equals || equals == word)
		return NULL;
	n = (size_t)(equals - word);
	name = must_alloc(n + 1, 1);
	memcpy(name, word, n);
	*value = equals + 1;
	return name;
}

static int
read_dims(struct model_options *o, const char *command)
{
	struct sl_dim_size *dims = must_alloc(o->dims.n, sizeof(*dims));

	for (size_t i = 0; i < o->dims.n; i++) {
		const char *word = o->dims.words[i], *value = "";

		dims[i].name = split(word, &value);
		if (!dims[i].name || !read_dim(&dims[i].size, &value) || *value)
			return complain(command, EXIT_USAGE,
					"--dim %s: must be such as seq=128",
					word);
		for (size_t k = 0; k < i; k++) {
			if (strcmp(dims[k].name, dims[i].name) == 0)
				return complain(command, EXIT_USAGE,
						"--dim %s: given twice", word);
		}
	}
	o->sizes.dims = dims;
	o->sizes.n_dims = o->dims.n;
	return 0;
}

/* "1,3,224,224" or, as reports print it, "1x3x224x224"; 0: not a shape. */
static int
read_shape(struct sl_input_shape *shape, const char *text)
{
	int64_t *dims = must_alloc(MAX_RANK, sizeof(*dims));
	size_t n = 0;

	do {
		if (n == MAX_RANK || !read_dim(&dims[n++], &text))
			return 0;
	} while ((*text == ',' || *text == 'x') && *text++);
	shape->dims = dims;
	shape->rank = n;
	return *text == '\0';
}

static int
read_shapes(struct model_options *o, const char *command)
{
	struct sl_input_shape *shapes =
		must_alloc(o->shapes.n, sizeof(*shapes));

	for (size_t i = 0; i < o->shapes.n; i++) {
		const char *word = o->shapes.words[i], *value = "";

		shapes[i].input = split(word, &value);
		if (!shapes[i].input)
			return complain(command, EXIT_USAGE,
					"--shape %s: name the input, as in "
					"x=1,3,224,224",
					word);
		if (!read_shape(&shapes[i], value))
			return complain(command, EXIT_USAGE,
					"--shape %s: '%s' is not a shape such "
					"as 1,3,224,224",
					word, value);
		for (size_t k = 0; k < i; k++) {
			if (strcmp(shapes[k].input, shapes[i].input) == 0)
				return complain(command, EXIT_USAGE,
						"--shape %s: given twice",
						word);
		}
	}
	o->sizes.shapes = shapes;
	o->sizes.n_shapes = o->shapes.n;
	return 0;
}

static int
check_folder(const char *command, const char *path)
{
	struct stat known;

	if (!path)
		return 0;
	if (stat(path, &known))
		return complain(command, EXIT_IO, "--inputs %s: %s", path,
				strerror(errno));
	if (!S_ISDIR(known.st_mode))
		return complain(command, EXIT_USAGE,
				"--inputs %s: is a file; name the folder that "
				"holds input_0.pb",
				path);
	return 0;
}

int
model_options_check(struct model_options *o, const char *command)
{
	int code;

	o->sizes = (struct sl_sizes){
		.struct_size = sizeof(o->sizes),
		.batch = (int64_t)o->batch,
		.seq = (int64_t)o->seq,
		.past = (int64_t)o->past,
		.inputs_folder = o->inputs,
	};
	code = read_dims(o, command);
	if (!code)
		code = read_shapes(o, command);
	if (!code)
		code = check_folder(command, o->inputs);
	return code;
}

static void
print_remark(const char *text, void *ctx)
{
	fprintf(stderr, "sleuth %s: %s\n", (const char *)ctx, text);
}

int
model_open(struct sl_graph **out, const char *command, const char *name,
	   int is_quiet)
{
	char label[32];
	struct sl_log log = {print_remark, label};
	struct sl_graph_options how = {.struct_size = sizeof(how)};
	struct sl_error err;

	snprintf(label, sizeof(label), "%s", command);
	if (!is_quiet)
		how.log = &log;
	if (sl_graph_open(out, name, &how, &err))
		return exit_for(command, &err);
	return 0;
}
