/* SPDX-License-Identifier: Apache-2.0 */
/* external.h - numbers that a model keeps in files beside it. */
#ifndef SL_EXTERNAL_H
#define SL_EXTERNAL_H

#include "model/onnx_reader.h"

/* Where a tensor's bytes are; a length of UINT64_MAX: it does not say. */
struct sl__external_data {
	const char *location; /* relative to the model's folder */
	uint64_t offset_bytes, n_bytes;
};

/*
 * Where the model at 'path', in 'folder', is a link to a file elsewhere, that
 * file's folder in *out (in the arena); else NULL.
 */
enum sl_status sl__external_data_link_folder(struct sl__arena *arena,
					     const char *path,
					     const char *folder,
					     const char **out,
					     struct sl_error *err) SL_CHECKED;

/* Reads one entry of a tensor's external_data into *out. */
void sl__external_data_read_entry(struct sl__onnx_reader *r,
				  struct sl__wire_reader pair,
				  struct sl__external_data *out);

/*
 * Gives 'tensor', which is measured, its bytes or the reason why they are
 * absent.  SL_E_DATA for a location that is absolute or leads out of the
 * model's folder, by ".." or by links, unless the model is a link itself and
 * the file lies beside what that leads to; and for a stretch that is not in the
 * file or not of the tensor's size.  Files are mapped once and belong to the
 * graph.
 */
void sl__external_data_attach(struct sl__onnx_reader *r,
			      const struct sl__external_data *external,
			      const char *name, struct sl__tensor *tensor);

#endif
