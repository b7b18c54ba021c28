/* SPDX-License-Identifier: Apache-2.0 */
/* model_folder.h - folders that hold a model and its data. */
#ifndef SL_MODEL_FOLDER_H
#define SL_MODEL_FOLDER_H

/*
 * The layout is that of the ONNX model zoo: a file model.onnx, or one other
 * .onnx file, and beside it test_data_set_0 with input_0.pb, output_0.pb, ...
 * Paths live as long as the program.
 */

/* The model in the folder 'path'; NULL where that is no folder, or holds no
 * model or several that are not called model.onnx. */
const char *model_in_folder(const char *path);

/* The folder of test data beside a model, which 'name' is the path of, or of
 * its folder; NULL: none. */
const char *model_test_data(const char *name);

#endif
