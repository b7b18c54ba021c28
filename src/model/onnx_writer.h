/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_writer.h - what the parts of the ONNX writer share. */
#ifndef SL_ONNX_WRITER_H
#define SL_ONNX_WRITER_H

#include "graph/shapes.h"
#include "model/onnx_fields.h"
#include "model/wire_write.h"
#include "sleuth/models.h"

enum { SL__PIECE_BYTES = 1 << 20 }; /* of numbers made and written at once */

/*
 * What was settled before the first byte is written; the bodies of messages
 * read it and change nothing but the scratch.
 *
 * Invariants: names[] are unique as far as names of blocks around a block
 * are seen in it.  Values of a block are chained from first[block] through
 * next[], in order, to SL__NONE.
 */
struct sl__onnx_write_plan {
	const struct sl_graph *graph;
	uint64_t most_bytes; /* of the model's file */
	struct sl__arena arena;
	const struct sl__shapes *shapes; /* NULL: all outputs are declared */
	const char **names;              /* per value */
	uint32_t *first, *next;
	unsigned char *is_listed; /* per value: among a block's inputs or
				     outputs, which say its type */
	uint64_t *offsets;        /* per value, in the data file; NO_OFFSET:
				     in the model */
	const char *location;     /* the data file's name, without folders */
	const struct sl__opset *opsets;
	size_t n_opsets;
	int ir_version;
	void *scratch; /* SL__PIECE_BYTES */
};

#define SL__NO_OFFSET UINT64_MAX

/* onnx_message.c: the whole model; 'part' is not used, ctx is the plan. */
sl__wire_message_body sl__onnx_put_model;

/* The numbers of a tensor, in pieces, without a field around them. */
void sl__onnx_put_numbers(struct sl__wire_writer *w,
			  const struct sl__tensor *tensor);

#endif
