/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_parse.h - the parts of the ONNX reader, outermost first. */
#ifndef SL_ONNX_PARSE_H
#define SL_ONNX_PARSE_H

#include "model/onnx_reader.h"

/* onnx_graph.c: a graph into scope->block; the nodes of a message, which are
 * its fields of that number; what a name stands for, or NULL. */
void sl__onnx_parse_graph(struct sl__onnx_reader *r,
			  struct sl__wire_reader wire,
			  struct sl__onnx_scope *scope);
void sl__onnx_parse_nodes(struct sl__onnx_reader *r,
			  struct sl__wire_reader wire, uint32_t number,
			  struct sl__onnx_scope *scope);
const size_t *sl__onnx_find(const struct sl__onnx_scope *scope,
			    const char *name);

/* onnx_node.c: a node; the values that its inputs and outputs name. */
void sl__onnx_parse_node(struct sl__onnx_reader *r, struct sl__wire_reader wire,
			 struct sl__onnx_scope *scope);
void sl__onnx_resolve(struct sl__onnx_reader *r, struct sl__wire_reader wire,
		      const struct sl__onnx_scope *scope, uint32_t *inputs,
		      uint32_t *outputs);

/* onnx_attribute.c.  *out has no name where nothing was given for it. */
void sl__onnx_parse_attribute(struct sl__onnx_reader *r,
			      struct sl__wire_reader wire,
			      struct sl__onnx_scope *scope,
			      struct sl__attribute *out);
void sl__onnx_attribute_map_fill(struct sl__onnx_reader *r,
				 struct sl__wire_reader wire, uint32_t number,
				 size_t n, struct sl__onnx_attribute_map *out);

/* onnx_function.c: the functions of the model, found (NULL for other
 * operators) and put in place; one more call or node of functions. */
void sl__onnx_count_inlined(struct sl__onnx_reader *r, size_t at,
			    const char *name);
void sl__onnx_parse_functions(struct sl__onnx_reader *r,
			      struct sl__wire_reader model, size_t n);
struct sl__onnx_function *
sl__onnx_callee(struct sl__onnx_reader *r,
		const struct sl__onnx_node_header *head);
void sl__onnx_inline_function(struct sl__onnx_reader *r,
			      struct sl__onnx_function *function,
			      struct sl__wire_reader node,
			      const struct sl__onnx_node_header *head,
			      struct sl__onnx_scope *scope);

/* onnx_type.c.  'owner' names dimensions that have no name. */
void sl__onnx_parse_type(struct sl__onnx_reader *r, struct sl__wire_reader wire,
			 const char *owner, struct sl__type *out);

/* onnx_tensor.c.  *name has number 0 where the tensor has none. */
void sl__onnx_parse_tensor(struct sl__onnx_reader *r,
			   struct sl__wire_reader wire, struct sl__tensor *out,
			   struct sl__field *name);
void sl__onnx_parse_sparse_tensor(struct sl__onnx_reader *r,
				  struct sl__wire_reader wire,
				  struct sl__tensor *out,
				  struct sl__field *name);

/* Numbers that are stored as a list of fields, and how wide in memory; all of
 * them, in order, at 'to', where there is room. */
struct sl__onnx_number_list {
	uint32_t number;
	enum sl__wire_type type;
	size_t width_bytes;
};
void sl__onnx_number_list_unpack(struct sl__wire_reader wire,
				 const struct sl__onnx_number_list *list,
				 void *to);

/* All fields of that number as strings, 'n' of them. */
const char **sl__onnx_parse_strings(struct sl__onnx_reader *r,
				    struct sl__wire_reader wire,
				    uint32_t number, size_t n);

#endif
