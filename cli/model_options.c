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
#include "model_folder.h"

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
	{"batch", 'b', OPTION_COUNT, AT(batch), "N", "batch size (1)", 1,
	 MAX_DIM, 0},
	{"seq", 0, OPTION_COUNT, AT(seq), "N",
	 "length of the sequence (built-in models: 128)", 1, MAX_DIM, 0},
	{"past", 0, OPTION_COUNT, AT(past), "N",
	 "tokens in the KV cache (built-in models: 128)", 0, MAX_DIM, 0},
	{"dim", 0, OPTION_WORDS, AT(dims), "NAME=N",
	 "size of a named dimension; may be repeated", 0, 0, 1},
	{"shape", 0, OPTION_WORDS, AT(shapes), "INPUT=1,3,224,224",
	 "shape of an input; may be repeated", 0, 0, 1},
	{"inputs", 0, OPTION_TEXT, AT(inputs), "DIR",
	 "shapes and values from input_N.pb or NAME.npy", 0, 0, 0},
};

struct option_group
model_option_group(struct model_options *values)
{
	values->past = PAST_NOT_GIVEN;
	return OPTION_GROUP(options, values);
}

/* The digits at *text, which is moved past them; 0 leaves it: there are none,
 * or too many. */
static int
read_dim(int64_t *out, const char **text)
{
	char *end;

	if (**text < '0' || **text > '9')
		return 0;
	errno = 0;
	*out = strtoll(*text, &end, 10);
	if (errno || (double)*out > MAX_DIM)
		return 0;
	*text = end;
	return 1;
}

/* What is wrong with the size that read_dim() stopped at. */
static const char *
dim_fault(const char *text, const char *otherwise)
{
	int is_size = *text && text[strspn(text, "0123456789")] == '\0';

	return is_size ? "too large; the most is 1000000000000000" : otherwise;
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

static void
read_dims(struct model_options *o, const char *command)
{
	struct sl_dim_size *dims = must_alloc(o->dims.n, sizeof(*dims));

	for (size_t i = 0; i < o->dims.n; i++) {
		const char *word = o->dims.words[i], *value = "";

		dims[i].name = split(word, &value);
		if (!dims[i].name || !read_dim(&dims[i].size, &value) || *value)
			refuse(command, "--dim %s: %s", word,
			       dim_fault(value, "must be such as seq=128"));
		for (size_t k = 0; k < i; k++) {
			if (strcmp(dims[k].name, dims[i].name) == 0)
				refuse(command, "--dim %s: given twice", word);
		}
	}
	o->sizes.dims = dims;
	o->sizes.n_dims = o->dims.n;
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

/* Whether one of the sizes is beyond what read_dim() takes. */
static int
has_large_dim(const char *text)
{
	for (; *text; text += strcspn(text, ",x")) {
		text += strspn(text, ",x");
		if (strspn(text, "0123456789") && strtod(text, NULL) > MAX_DIM)
			return 1;
	}
	return 0;
}

static void
read_shapes(struct model_options *o, const char *command)
{
	struct sl_input_shape *shapes =
		must_alloc(o->shapes.n, sizeof(*shapes));

	for (size_t i = 0; i < o->shapes.n; i++) {
		const char *word = o->shapes.words[i], *value = "";

		shapes[i].input = split(word, &value);
		if (!shapes[i].input)
			refuse(command,
			       "--shape %s: name the input, as in "
			       "x=1,3,224,224",
			       word);
		if (!read_shape(&shapes[i], value))
			refuse(command,
			       has_large_dim(value)
				       ? "--shape %s: a size of '%s' is too "
					 "large"
				       : "--shape %s: '%s' is not a shape such "
					 "as 1,3,224,224",
			       word, value);
		for (size_t k = 0; k < i; k++) {
			if (strcmp(shapes[k].input, shapes[i].input) == 0)
				refuse(command, "--shape %s: given twice",
				       word);
		}
	}
	o->sizes.shapes = shapes;
	o->sizes.n_shapes = o->shapes.n;
}

static void
check_folder(const char *command, const char *path)
{
	struct stat known;

	if (stat(path, &known))
		exit(complain(command, EXIT_IO, "--inputs %s: %s", path,
			      strerror(errno)));
	if (!S_ISDIR(known.st_mode))
		refuse(command,
		       "--inputs %s: is a file; name the folder that holds "
		       "input_0.pb",
		       path);
}

void
model_options_resolve(struct model_options *o, const char *command)
{
	o->sizes = (struct sl_sizes){
		.struct_size = sizeof(o->sizes),
		.batch = (int64_t)o->batch,
		.seq = (int64_t)o->seq,
		.past = o->past == PAST_NOT_GIVEN ? 0 : (int64_t)o->past,
		.has_past = o->past != PAST_NOT_GIVEN,
		.inputs_folder = o->inputs,
	};
	read_dims(o, command);
	read_shapes(o, command);
	if (o->inputs)
		check_folder(command, o->inputs);
}

double
parse_memory_bytes(const char *text, const char *command)
{
	double n_bytes;

	if (!sl_quantity_read(&n_bytes, text) || !(n_bytes > 0))
		refuse(command, "--mem %s: not a size such as 8G, 16Gi or 512M",
		       text);
	if (n_bytes < 1000 && !strchr(text, 'B'))
		refuse(command,
		       "--mem %s: in which unit? %sG is %s GB, %sGi is %s "
		       "GiB, %sB is %s bytes",
		       text, text, text, text, text, text, text);
	return n_bytes;
}

/* What readers remarked, in the order of their models. */
static struct remark {
	struct remark *next;
	const char *text;
} * first_remark, **next_remark = &first_remark;

static void
keep_remark(const char *text, void *name)
{
	struct remark *remark = must_alloc(1, sizeof(*remark));
	size_t n = strlen(name) + strlen(text) + 3;
	char *line = must_alloc(n, 1);

	snprintf(line, n, "%s: %s", (const char *)name, text);
	remark->text = line;
	*next_remark = remark;
	next_remark = &remark->next;
}

void
model_remarks(const char *command)
{
	for (const struct remark *r = first_remark; r; r = r->next)
		complain(command, 0, "%s", r->text);
	first_remark = NULL;
	next_remark = &first_remark;
}

/* What was changed stays until the program ends: graphs lie in each other. */
static struct changed {
	struct changed *next;
	struct sl_variant *variant;
	struct sl_graph *model; /* as it was */
} * all_changed;

/* Whether a change of that name is known: the word ends at '=' or ','. */
static int
is_change(const char *word)
{
	const struct sl_variant_rule *r;
	size_t n = strcspn(word, "=,");

	for (size_t i = 0; (r = sl_variant_rule_at(i)); i++) {
		if (strlen(r->name) == n && strncmp(r->name, word, n) == 0)
			return 1;
	}
	return 0;
}

/* What stands before "@int8" of "resnet50@int8", and the changes behind it, or
 * NULL: built-in models have names such as gpt2@kv. */
static const char *
split_changes(const char *name, const char **changes)
{
	const char *at = strrchr(name, '@');
	char *base;

	*changes = at && at > name && is_change(at + 1) ? at + 1 : NULL;
	if (!*changes)
		return name;
	base = must_alloc((size_t)(at - name) + 1, 1);
	memcpy(base, name, (size_t)(at - name));
	return base;
}

/* Whether the changes are to how a model is run, its batch included. */
static int
changes_running(const struct sl_variant *v,
		const struct sl_variant_options *making)
{
	int64_t batch = making->plan ? making->plan->sizes->batch : 0;

	return v->plan.n_threads || v->plan.dtype || v->plan.flags ||
	       v->plan.algorithms || v->sizes.batch != batch;
}

void
model_take_changes(const struct sl_variant *v, struct sl_plan_options *plan)
{
	if (!v)
		return;
	if (v->plan.n_threads)
		plan->n_threads = v->plan.n_threads;
	if (v->plan.dtype)
		plan->dtype = v->plan.dtype;
	if (v->plan.algorithms)
		plan->algorithms = v->plan.algorithms;
	plan->flags |= v->plan.flags;
}

static struct sl_graph *open_file(const char *command, const char *name,
				  uint64_t seed);

/* The model under this name, changed where that says so; *variant is NULL
 * where it does not.  Where 'variant' is NULL, changes to how it is run are
 * refused. */
static struct sl_graph *
open_variant(const char *command, const char *name,
	     const struct sl_variant_options *making,
	     const struct sl_variant **variant)
{
	const char *changes, *base = split_changes(name, &changes);
	struct sl_graph *graph = open_file(command, base, making->seed);
	struct changed *kept;
	struct sl_error err;

	if (variant)
		*variant = NULL;
	if (!changes)
		return graph;
	kept = must_alloc(1, sizeof(*kept));
	if (sl_variant_new(&kept->variant, graph, changes, making, &err))
		exit(exit_for_model(command, name, &err));
	if (!variant && changes_running(kept->variant, making))
		refuse(command,
		       "%s: say how it is run with options, such as --threads "
		       "or --batch",
		       name);
	kept->model = graph;
	kept->next = all_changed;
	all_changed = kept;
	if (variant)
		*variant = kept->variant;
	return (struct sl_graph *)(uintptr_t)kept->variant->graph;
}

struct sl_graph *
model_open(const char *command, const char *name, uint64_t seed)
{
	const struct sl_variant_options making = {.struct_size = sizeof(making),
						  .seed = seed};

	return open_variant(command, name, &making, NULL);
}

static struct sl_graph *
open_file(const char *command, const char *name, uint64_t seed)
{
	char label[256];
	struct sl_log log = {keep_remark, label};
	struct sl_graph_options how = {
		.struct_size = sizeof(how), .seed = seed, .log = &log};
	struct sl_graph *graph;
	struct sl_error err;
	struct stat known;
	const char *path = name;

	snprintf(label, sizeof(label), "%s", name);
	if (!stat(name, &known) && S_ISDIR(known.st_mode))
		path = model_in_folder(name);
	if (!path)
		exit(complain(command, EXIT_DATA,
			      "%s: a folder without model.onnx, or one other "
			      ".onnx file",
			      name));
	if (sl_graph_open(&graph, path, &how, &err))
		exit(exit_for(command, &err));
	return graph;
}

/* The test data of a model that is a folder, where they say the sizes; else
 * what the options say. */
static const char *
inputs_of(const struct model_options *o, const char *name)
{
	const struct sl_sizes *s = &o->sizes;
	const char *changes;

	name = split_changes(name, &changes);
	if (o->inputs || s->seq || s->has_past || s->n_dims || s->n_shapes ||
	    (o->is_static && s->batch) || !model_in_folder(name))
		return o->inputs;
	return model_test_data(name);
}

struct sl_graph *
model_open_sized(const char *command, const char *name, struct model_options *o,
		 uint64_t seed)
{
	const struct sl_plan_options plan = {.struct_size = sizeof(plan),
					     .sizes = &o->sizes};
	const struct sl_variant_options making = {
		.struct_size = sizeof(making), .plan = &plan, .seed = seed};

	o->inputs = inputs_of(o, name);
	o->sizes.inputs_folder = o->inputs;
	return open_variant(command, name, &making, NULL);
}

static int
has_input(const struct sl_graph *graph, const char *name)
{
	return sl_graph_find_input(graph, name) != SL_NO_VALUE;
}

/* The sizes that this one of several models has: what 'seq', 'past', 'dims'
 * and 'shapes' name and it has not is left out. */
static struct sl_sizes
sizes_of(const struct model_options *o, const struct sl_graph *graph)
{
	struct sl_sizes sizes = o->sizes;
	struct sl_dim_size *dims = must_alloc(sizes.n_dims, sizeof(*dims));
	struct sl_input_shape *shapes =
		must_alloc(sizes.n_shapes, sizeof(*shapes));

	if (!sl_graph_has_seq(graph))
		sizes.seq = 0;
	if (!sl_graph_has_past(graph)) {
		sizes.past = 0;
		sizes.has_past = 0;
	}
	sizes.n_dims = 0;
	for (size_t i = 0; i < o->sizes.n_dims; i++) {
		if (sl_graph_has_dim(graph, o->sizes.dims[i].name))
			dims[sizes.n_dims++] = o->sizes.dims[i];
	}
	sizes.dims = dims;
	sizes.n_shapes = 0;
	for (size_t i = 0; i < o->sizes.n_shapes; i++) {
		const struct sl_input_shape *shape = &o->sizes.shapes[i];

		if (has_input(graph, shape->input))
			shapes[sizes.n_shapes++] = *shape;
	}
	sizes.shapes = shapes;
	return sizes;
}

static int
has_seq(const struct sl_graph *graph, const char *name)
{
	(void)name;
	return sl_graph_has_seq(graph);
}

static int
has_past(const struct sl_graph *graph, const char *name)
{
	(void)name;
	return sl_graph_has_past(graph);
}

/* A size must be one of at least one of the models. */
static void
check_size(const struct models *m, const char *command, const char *option,
	   const char *name,
	   int (*has)(const struct sl_graph *graph, const char *name))
{
	int is_dim = has == sl_graph_has_dim;

	for (size_t k = 0; k < m->n; k++) {
		if (has(m->graphs[k], name))
			return;
	}
	if (!name)
		exit(complain(command, EXIT_DATA,
			      "--%s: no input of these models has a dimension "
			      "known as that; name it with --dim",
			      option));
	exit(complain(command, EXIT_DATA,
		      "--%s %s: none of these models has such %s", option, name,
		      is_dim ? "a dimension" : "an input"));
}

static void
check_sizes(const struct models *m, const struct sl_sizes *sizes,
	    const char *command)
{
	if (sizes->seq)
		check_size(m, command, "seq", NULL, has_seq);
	if (sizes->has_past)
		check_size(m, command, "past", NULL, has_past);
	for (size_t i = 0; i < sizes->n_dims; i++)
		check_size(m, command, "dim", sizes->dims[i].name,
			   sl_graph_has_dim);
	for (size_t i = 0; i < sizes->n_shapes; i++)
		check_size(m, command, "shape", sizes->shapes[i].input,
			   has_input);
}

/* The earlier one of the same name where it may be shared; k: none. */
static size_t
find_open(const struct models *m, size_t k)
{
	for (size_t i = 0; m->is_shared && i < k; i++) {
		if (strcmp(m->names[i], m->names[k]) == 0)
			return i;
	}
	return k;
}

static void
open_one(struct models *m, const struct model_options *o, const char *command,
	 const struct sl_variant_options *making, size_t k)
{
	const struct sl_plan_options plan = {.struct_size = sizeof(plan),
					     .sizes = &o->sizes};
	struct sl_variant_options how = *making;
	size_t i = find_open(m, k);

	how.plan = &plan;
	if (i == k) {
		m->graphs[k] = open_variant(command, m->names[k], &how,
					    m->is_run ? &m->variants[k] : NULL);
		return;
	}
	m->graphs[k] = m->graphs[i];
	m->variants[k] = m->variants[i];
}

void
models_open(struct models *m, const struct model_options *o,
	    const char *command, uint64_t seed)
{
	struct sl_variant_options making = {.struct_size = sizeof(making)};

	if (m->making)
		making = *m->making;
	making.seed = seed;
	m->graphs = must_alloc(m->n, sizeof(*m->graphs));
	m->sizes = must_alloc(m->n, sizeof(*m->sizes));
	m->variants = must_alloc(m->n, sizeof(*m->variants));
	for (size_t k = 0; k < m->n; k++)
		open_one(m, o, command, &making, k);
	if (m->n > 1)
		check_sizes(m, &o->sizes, command);
	for (size_t k = 0; k < m->n; k++) {
		m->sizes[k] = m->n > 1 ? sizes_of(o, m->graphs[k]) : o->sizes;
		m->sizes[k].inputs_folder = inputs_of(o, m->names[k]);
		if (m->variants[k] && m->variants[k]->sizes.batch)
			m->sizes[k].batch = m->variants[k]->sizes.batch;
	}
}

void
models_close(struct models *m)
{
	for (size_t k = 0; k < m->n; k++) {
		if (find_open(m, k) == k)
			sl_graph_free(m->graphs[k]);
	}
}
