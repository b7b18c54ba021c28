/* SPDX-License-Identifier: Apache-2.0 */
/* module_path.c - where in a model a node stands, from its name. */
#include "graph/module_path.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/banned.h"

/*
 * Whether a part is the node's type, in any case, with or without a number
 * behind it.  "conv1" is a layer, as programs name them, and no number of a
 * Conv.
 */
static int
is_type(const char *part, const char *type)
{
	size_t n = strlen(type);

	if (strncasecmp(part, type, n))
		return 0;
	if (part[n] == '_')
		n++;
	else if (part[n] && strncmp(part, type, n))
		return 0;
	return strspn(part + n, "0123456789") == strlen(part + n);
}

const char *
sl__node_module_path(struct sl__arena *arena, const struct sl__node *node)
{
	const char *name = node->name + (node->name[0] == '/');
	char *path = sl__arena_string(arena, name), *last;
	int has_slash;

	if (!path)
		return NULL;
	/* Fused nodes of TensorFlow's exporter list all their names. */
	path[strcspn(path, ";")] = '\0';
	has_slash = strchr(path, '/') != NULL;
	last = strrchr(path, has_slash ? '/' : '.');
	if (!last)
		return is_type(path, node->type) ||
				       !isalpha((unsigned char)*path)
			       ? ""
			       : path;
	/* Behind the last slash stands the operator; behind the last dot, in
	 * general, the layer. */
	if (has_slash || is_type(last + 1, node->type))
		*last = '\0';
	for (char *c = path; !has_slash && *c; c++) {
		if (*c == '.')
			*c = '/';
	}
	return path;
}

int
sl__module_path_is_within(const char *path, const char *module)
{
	size_t n = strlen(module);

	return n && !strncmp(path, module, n) &&
	       (path[n] == '\0' || path[n] == '/');
}
