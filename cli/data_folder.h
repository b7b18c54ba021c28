/* SPDX-License-Identifier: Apache-2.0 */
/* data_folder.h - where the files are that the program comes with. */
#ifndef SL_DATA_FOLDER_H
#define SL_DATA_FOLDER_H

/*
 * The path of 'name' among them, such as "hardware": below $SLEUTH_DATA,
 * below share/sleuth beside the folder of the program (installed), or in the
 * source it was built from.  NULL where it is nowhere; lives as long as the
 * program.
 */
const char *data_folder(const char *name);

#endif
