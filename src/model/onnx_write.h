/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_write.h - graphs into ONNX files. */
#ifndef SL_ONNX_WRITE_H
#define SL_ONNX_WRITE_H

#include "graph/graph.h"
#include "sleuth/models.h"

/*
 * Like sl_graph_write(), with the limit that decides whether weights go into
 * a file beside the model: the model's own file holds at most that much.
 */
enum sl_status sl__onnx_write(const struct sl_graph *graph, const char *path,
			      uint64_t most_bytes,
			      struct sl_error *err) SL_CHECKED;

/* The bytes that sl_graph_write() would write, were there no limit. */
enum sl_status sl__onnx_size(uint64_t *n_bytes, const struct sl_graph *graph,
			     struct sl_error *err) SL_CHECKED;

#endif
