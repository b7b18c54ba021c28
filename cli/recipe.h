/* SPDX-License-Identifier: Apache-2.0 */
/* recipe.h - changes of a model, kept in a file for its next version. */
#ifndef SL_RECIPE_H
#define SL_RECIPE_H

#include "options.h"

/* How variants are made, as options say it. */
struct recipe {
	const char *apply; /* the changes */
	const char *data, *labels, *test, *calibration;
	size_t context, samples, seed; /* 0: not given */
	double drop; /* of accuracy, that layers are chosen by; 0: not given */
	struct repeated_values keep;
};

/* A line "name value" for each that is given.  Returns 0 or an exit code. */
int recipe_write(const struct recipe *recipe, const char *command,
		 const char *path);

/* Reads the file that "@FILE" names; what 'recipe' has already, but for the
 * changes, stays.  Ends the program after one line on stderr where that fails.
 */
void recipe_read(struct recipe *recipe, const char *command, const char *path);

#endif
