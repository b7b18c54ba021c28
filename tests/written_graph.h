/* SPDX-License-Identifier: Apache-2.0 */
/* written_graph.h - graphs made by hand, and a folder to write them to. */
#ifndef SL_TEST_WRITTEN_GRAPH_H
#define SL_TEST_WRITTEN_GRAPH_H

#include "graph/graph_construction.h"
#include "harness.h"
#include "model/onnx_read.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64];
static char path[128];

static inline int
make_folder(void **state)
{
	(void)state;
	snprintf(folder, sizeof(folder), "/tmp/sleuth-write-XXXXXX");
	if (!mkdtemp(folder))
		return -1;
	snprintf(path, sizeof(path), "%s/model.onnx", folder);
	return 0;
}

/* How many files the folder holds; removes them. */
static inline int
empty_folder(void)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;
	int n = 0;

	assert_non_null(dir);
	while ((entry = readdir(dir))) {
		char name[400];

		if (entry->d_name[0] == '.')
			continue;
		snprintf(name, sizeof(name), "%s/%s", folder, entry->d_name);
		assert_int_equal(unlink(name), 0);
		n++;
	}
	closedir(dir);
	return n;
}

static inline int
remove_folder(void **state)
{
	(void)state;
	empty_folder();
	return rmdir(folder);
}

static inline uint32_t
add_value(struct sl_graph *graph, const char *name, uint32_t block)
{
	uint32_t id;

	assert_int_equal(sl__graph_add_value(graph, &id, name, block, NULL), 0);
	graph->values[id].declared.rank = -1;
	return id;
}

static inline void
declare(struct sl_graph *graph, uint32_t value, enum sl_dtype dtype, int rank,
	const int64_t *dims)
{
	struct sl__type type = {SL__TYPE_TENSOR, dtype, rank, dims, NULL};

	graph->values[value].declared = type;
}

static inline uint32_t
add_input(struct sl_graph *graph, const char *name, const int64_t *dims)
{
	uint32_t id = add_value(graph, name, 0);

	graph->values[id].kind = SL_VALUE_INPUT;
	declare(graph, id, SL_DTYPE_F32, 2, dims);
	return id;
}

static inline uint32_t
add_parameter(struct sl_graph *graph, const char *name, uint32_t block,
	      const struct sl__tensor *tensor)
{
	uint32_t id = add_value(graph, name, block);

	graph->values[id].kind = SL_VALUE_PARAMETER;
	graph->values[id].tensor = tensor;
	return id;
}

struct plan {
	const char *type, *domain;
	uint32_t block;
	uint32_t inputs[3], n_inputs;
	uint32_t output;
	const struct sl__attribute *attributes;
	size_t n_attributes;
};

static inline void
add_node(struct sl_graph *graph, const struct plan *plan)
{
	const struct sl__node node = {.name = "",
				      .domain = plan->domain ? plan->domain
							     : "",
				      .type = plan->type,
				      .version = 17,
				      .block = plan->block,
				      .n_inputs = plan->n_inputs,
				      .inputs = plan->inputs,
				      .n_outputs = 1,
				      .outputs = &plan->output,
				      .n_attributes = plan->n_attributes,
				      .attributes = plan->attributes};
	struct sl_error err;
	uint32_t id;

	assert_int_equal(sl__graph_add_node(graph, &id, &node, &err), 0);
}

static inline void
finish(struct sl_graph *graph, uint32_t input, uint32_t output)
{
	static struct sl__opset opsets[] = {{"", 17}, {"org.example", 3}};
	static struct sl__metadata metadata[] = {{"licence", "none"},
						 {"", "without a key"}};
	struct sl_error err;

	graph->name = "made";
	graph->opsets = opsets;
	graph->n_opsets = 2;
	graph->metadata = metadata;
	graph->n_metadata = 2;
	assert_int_equal(sl__graph_set_inputs(graph, 0, &input, 1, NULL), 0);
	assert_int_equal(sl__graph_set_outputs(graph, 0, &output, 1, NULL), 0);
	assert_int_equal(sl__graph_freeze(graph, &err), 0);
}

static const int64_t two_by_two[] = {2, 2};
static const float four_floats[] = {1.5f, -2, 0, 1e-40f};
static const struct sl__tensor floats = {
	.dtype = SL_DTYPE_F32,
	.rank = 2,
	.dims = two_by_two,
	.n_elements = 4,
	.n_bytes = 16,
	.n_stored = 4,
	.bytes = (const unsigned char *)four_floats};
static const char *const words[] = {"", "two", "z\xc3\xbcrich", "x"};
static const struct sl__tensor texts = {.dtype = SL_DTYPE_STRING,
					.rank = 2,
					.dims = two_by_two,
					.n_elements = 4,
					.n_stored = 4,
					.strings = words};
static const int64_t places[] = {0, 3}, two[] = {2};
static const struct sl__tensor flat_places = {
	.dtype = SL_DTYPE_I64,
	.rank = 1,
	.dims = two,
	.n_elements = 2,
	.n_bytes = 16,
	.n_stored = 2,
	.bytes = (const unsigned char *)places};
static const struct sl__tensor sparse = {
	.dtype = SL_DTYPE_F32,
	.rank = 2,
	.dims = two_by_two,
	.n_elements = 4,
	.n_bytes = 8,
	.n_stored = 2,
	.bytes = (const unsigned char *)four_floats,
	.is_sparse = 1,
	.indices = &flat_places};

/* One attribute of every kind; the last is a body. */
static const int64_t ints[] = {INT64_MIN, -1, 0, 300, INT64_MAX};
static const struct sl__type a_type = {SL__TYPE_TENSOR, SL_DTYPE_BF16, 2,
				       two_by_two, NULL};
static const struct sl__type a_list = {SL__TYPE_SEQUENCE, SL_DTYPE_NONE, -1,
				       NULL, &a_type};
static struct sl__attribute kinds[] = {
	{"int", SL__ATTRIBUTE_INT, 1, ints, NULL, NULL, NULL, NULL, 0},
	{"float", SL__ATTRIBUTE_FLOAT, 1, NULL, four_floats, NULL, NULL, NULL,
	 0},
	{"string", SL__ATTRIBUTE_STRING, 1, NULL, NULL, words, NULL, NULL, 0},
	{"tensor", SL__ATTRIBUTE_TENSOR, 0, NULL, NULL, NULL, &floats, NULL, 0},
	{"sparse", SL__ATTRIBUTE_TENSOR, 0, NULL, NULL, NULL, &sparse, NULL, 0},
	{"ints", SL__ATTRIBUTE_INTS, 5, ints, NULL, NULL, NULL, NULL, 0},
	{"floats", SL__ATTRIBUTE_FLOATS, 4, NULL, four_floats, NULL, NULL, NULL,
	 0},
	{"strings", SL__ATTRIBUTE_STRINGS, 4, NULL, NULL, words, NULL, NULL, 0},
	{"no_ints", SL__ATTRIBUTE_INTS, 0, ints, NULL, NULL, NULL, NULL, 0},
	{"type", SL__ATTRIBUTE_TYPE, 0, NULL, NULL, NULL, NULL, &a_list, 0},
	{"body", SL__ATTRIBUTE_BLOCK, 0, NULL, NULL, NULL, NULL, NULL, 1},
};

/*
 * x [batch][2] -> Kinds (with a body that captures x and bears names of its
 * own) -> Sum with a dense, a sparse and an absent input -> y.
 */
static inline struct sl_graph *
build(const struct sl_allocator *allocator, const char *inner_name)
{
	static int64_t dims[2] = {0, 2};
	struct sl_graph *graph;
	uint32_t body, x, hidden, y, inner;

	assert_int_equal(sl__graph_new(&graph, allocator, NULL), 0);
	assert_int_equal(
		sl__graph_intern_symbol(graph, &dims[0], "batch", NULL), 0);
	x = add_input(graph, "x", dims);
	hidden = add_value(graph, "hidden", 0);
	declare(graph, hidden, SL_DTYPE_F32, 2, dims);
	y = add_value(graph, "y", 0);
	declare(graph, y, SL_DTYPE_F32, 2, dims);
	assert_int_equal(sl__graph_add_block(graph, &body, "body", NULL), 0);
	inner = add_value(graph, inner_name, body);
	add_node(graph,
		 &(struct plan){"Add",
				NULL,
				body,
				{x, add_parameter(graph, "w", body, &floats)},
				2,
				inner,
				NULL,
				0});
	assert_int_equal(sl__graph_set_outputs(graph, body, &inner, 1, NULL),
			 0);
	add_node(graph,
		 &(struct plan){"Kinds",
				"org.example",
				0,
				{x, SL__NONE,
				 add_parameter(graph, "words", 0, &texts)},
				3,
				hidden,
				kinds,
				sizeof(kinds) / sizeof(kinds[0])});
	add_node(graph,
		 &(struct plan){"Sum",
				NULL,
				0,
				{hidden,
				 add_parameter(graph, "dense", 0, &floats),
				 add_parameter(graph, "thin", 0, &sparse)},
				3,
				y,
				NULL,
				0});
	finish(graph, x, y);
	return graph;
}

static inline struct sl_graph *
read_back(void)
{
	struct sl_graph *graph;
	struct sl_error err = {.status = SL_OK, .text = ""};

	if (sl__onnx_open(&graph, path, NULL, &err))
		fail_msg("%s", err.text);
	return graph;
}

/* Initializers of every type, of an odd number of elements, of none and of
 * rank 0; in the file, or beside it where the limit is low. */
static inline struct sl_graph *
build_dtypes(struct sl__tensor tensors[SL_N_DTYPES])
{
	static unsigned char bytes[8192];
	static const char *strings[1100];
	static const int64_t shapes[][1] = {{1031}, {0}, {3}};
	static int64_t dims[2] = {2, 2};
	struct sl_graph *graph;
	uint32_t x, y;

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (unsigned char)(i * 37 + i / 256);
	for (size_t i = 0; i < 1100; i++)
		strings[i] = words[i % 4];
	assert_int_equal(sl__graph_new(&graph, NULL, NULL), 0);
	x = add_input(graph, "x", dims);
	y = add_value(graph, "y", 0);
	declare(graph, y, SL_DTYPE_F32, 2, dims);
	for (int d = 1; d < SL_N_DTYPES; d++) {
		struct sl__tensor *t = &tensors[d];
		char name[32];

		memset(t, 0, sizeof(*t));
		t->dtype = (enum sl_dtype)d;
		t->rank = d % 4 != 3;
		t->dims = shapes[d % 4 == 3 ? 0 : d % 4];
		assert_true(sl__tensor_compute_size(t));
		t->bytes = d == SL_DTYPE_STRING ? NULL : bytes;
		t->strings = d == SL_DTYPE_STRING ? strings : NULL;
		snprintf(name, sizeof(name), "of %s",
			 sl_dtype_text((enum sl_dtype)d));
		add_node(graph,
			 &(struct plan){"Use",
					"org.example",
					0,
					{add_parameter(graph, name, 0, t)},
					1,
					add_value(graph, name + 3, 0),
					NULL,
					0});
	}
	add_node(graph, &(struct plan){"Relu", NULL, 0, {x}, 1, y, NULL, 0});
	finish(graph, x, y);
	return graph;
}

#endif
