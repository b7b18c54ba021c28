/* SPDX-License-Identifier: Apache-2.0 */
/* model.c - opening a model by whatever the user calls it. */
#include "base/option_struct.h"
#include "base/status.h"
#include "model/onnx_read.h"
#include "model/zoo.h"

#include <string.h>
#include <unistd.h>

#include "base/banned.h"

/* Whether 'name' can only be a file. */
static int
looks_like_path(const char *name)
{
	static const char ending[] = ".onnx";
	size_t n = strlen(name), n_ending = sizeof(ending) - 1;

	return strchr(name, '/') ||
	       (n >= n_ending && !strcmp(name + n - n_ending, ending));
}

enum sl_status
sl_graph_open(struct sl_graph **out, const char *name,
	      const struct sl_graph_options *options, struct sl_error *err)
{
	struct sl_graph_options how;
	enum sl_status rc = sl__options_copy(&how, sizeof(how), options,
					     "sl_graph_options", err);

	*out = NULL;
	if (rc)
		return rc;
	if (!*name)
		return sl__fail(err, SL_E_USAGE, "the model's name is empty");
	if (looks_like_path(name))
		return sl__onnx_open(out, name, &how, err);
	/* What is neither gets the zoo's answer, which suggests names. */
	if (sl__zoo_is_name(name) || access(name, F_OK))
		return sl__zoo_open(out, name, &how, err);
	return sl__onnx_open(out, name, &how, err);
}
