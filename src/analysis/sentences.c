/* SPDX-License-Identifier: Apache-2.0 */
/* sentences.c - findings in words, one sentence after the other. */
#include "analysis/sentences.h"
#include "base/status.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/banned.h"

const char *
sl__words_time(struct sl__words *words, double ns)
{
	static const struct {
		double ns;
		const char *unit;
	} units[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}, {1, "ns"}};
	size_t i = 0;

	while (i < 3 && fabs(ns) < 0.9995 * units[i].ns)
		i++;
	snprintf(words->s, sizeof(words->s), "%.3g %s", ns / units[i].ns,
		 units[i].unit);
	return words->s;
}

const char *
sl__words_bytes(struct sl__words *words, double n_bytes)
{
	static const char *const units[] = {"B", "kB", "MB", "GB", "TB"};
	size_t i = 0;

	while (i < 4 && n_bytes >= 999.5) {
		n_bytes /= 1000;
		i++;
	}
	snprintf(words->s, sizeof(words->s), "%.3g %s", n_bytes, units[i]);
	return words->s;
}

enum sl_status
sl__sentences_begin(struct sl__sentences *out, struct sl__arena *arena,
		    struct sl_error *err)
{
	*out = (struct sl__sentences){.arena = arena};
	out->list =
		sl__arena_array(arena, SL__SENTENCES_MOST, sizeof(*out->list));
	return out->list ? SL_OK : sl__fail_nomem(err);
}

void
sl__say(struct sl__sentences *to, const char *format, ...)
{
	char text[1024];
	va_list args;

	if (to->n == SL__SENTENCES_MOST)
		return;
	va_start(args, format);
	(void)vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	to->list[to->n] = sl__arena_string(to->arena, text);
	if (to->list[to->n])
		to->n++;
	else
		to->has_failed = 1;
}

enum sl_status
sl__sentences_end(const struct sl__sentences *said, const char *const **list,
		  size_t *n, struct sl_error *err)
{
	*list = said->list;
	*n = said->n;
	return said->has_failed ? sl__fail_nomem(err) : SL_OK;
}
