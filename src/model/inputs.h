/* SPDX-License-Identifier: Apache-2.0 */
/* inputs.h - what a folder holds for the inputs of a model. */
#ifndef SL_INPUTS_H
#define SL_INPUTS_H

#include "ops/runtime_value.h"
#include "sleuth/models.h"

/*
 * Invariants: contents[] has one entry per input of the model (block 0), as
 * struct sl__shapes_options wants it; NULL for inputs that are no tensors, or
 * that were left out.  values[] has one as well: a sequence or an optional
 * where the input is one and has a file, else of unknown kind.
 * Numbers stay in the files, which are mapped until sl__input_files_close().
 */
struct sl__input_files {
	const struct sl__tensor *const *contents;
	const struct sl__runtime_value *values;
	size_t n;
};

/*
 * For each input, input_N.pb (a TensorProto; N counts the inputs from 0) or
 * NAME.npy, '_' standing for '/' in names; for sequences and optionals the
 * first alone (a SequenceProto or OptionalProto), which may be missing.  SL_E_IO names the file that is
 * missing or cannot be read, SL_E_DATA the one that is malformed or holds
 * another type of number than the input takes.  Shapes are not looked at.
 */
enum sl_status sl__input_files_open(struct sl__input_files **out,
				    const struct sl_graph *graph,
				    const char *folder,
				    const struct sl_allocator *allocator,
				    struct sl_error *err) SL_CHECKED;

/* Like sl__input_files_open(), but inputs i with is_left_out[i] need no file,
 * and where there is one it is not looked at. */
enum sl_status sl__input_files_open_except(struct sl__input_files **out,
					   const struct sl_graph *graph,
					   const char *folder,
					   const unsigned char *is_left_out,
					   const struct sl_allocator *allocator,
					   struct sl_error *err) SL_CHECKED;
void sl__input_files_close(struct sl__input_files *inputs); /* NULL is fine */

#endif
