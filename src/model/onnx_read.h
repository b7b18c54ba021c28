/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_read.h - ONNX files into graphs. */
#ifndef SL_ONNX_READ_H
#define SL_ONNX_READ_H

#include "ops/runtime_value.h"
#include "sleuth/models.h"

/*
 * Reads the model at 'path' and freezes it.  The file stays mapped for as
 * long as the graph lives; weights are not touched.  External data is looked
 * for in the model's folder and below; what is not there is absent, not an
 * error.  SL_E_IO when the file cannot be read, SL_E_DATA with the byte or
 * the node, and what the file seems to be, when it is no sound model.
 * 'options' may be NULL.
 */
enum sl_status sl__onnx_open(struct sl_graph **out, const char *path,
			     const struct sl_graph_options *options,
			     struct sl_error *err) SL_CHECKED;

/*
 * Like sl__onnx_open(), from bytes that outlive the graph.  'folder' is where
 * external data is looked for; NULL: nowhere.
 */
enum sl_status sl__onnx_read(struct sl_graph **out, const unsigned char *bytes,
			     size_t n_bytes, const char *folder,
			     const struct sl_graph_options *options,
			     struct sl_error *err) SL_CHECKED;

/*
 * Reads one tensor, as in the files input_0.pb of test data.  Its numbers
 * stay where 'bytes' are or, where they are stored in another form, go into
 * the arena.  SL_E_DATA for sequences and optionals.
 */
enum sl_status sl__onnx_read_tensor(struct sl__tensor *out,
				    struct sl__arena *arena,
				    const unsigned char *bytes, size_t n_bytes,
				    struct sl_error *err) SL_CHECKED;

/*
 * Reads a tensor, a sequence or an optional, whichever 'type' says (NULL: a
 * tensor).  Everything but the numbers lies in the arena; the value owns
 * nothing and need not be cleared.  SL_E_ABSENT for maps.
 */
enum sl_status sl__onnx_read_runtime_value(struct sl__runtime_value *out,
					   const struct sl__type *type,
					   struct sl__arena *arena,
					   const unsigned char *bytes,
					   size_t n_bytes,
					   struct sl_error *err) SL_CHECKED;

#endif
