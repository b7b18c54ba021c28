/* SPDX-License-Identifier: Apache-2.0 */
/* cut_file.h - a file that is cut short while it is read as memory. */
#ifndef SL_CUT_FILE_H
#define SL_CUT_FILE_H

/*
 * From here on a mapped file (a model, its weights, data) that another process
 * cuts short, or whose device fails, ends the program with one line that names
 * it and the exit code of input and output that failed.
 */
void cut_file_catch(void);

#endif
