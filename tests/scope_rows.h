/* SPDX-License-Identifier: Apache-2.0 */
/* scope_rows.h - opening scopes and finding their rows again. */
#ifndef SL_TEST_SCOPE_ROWS_H
#define SL_TEST_SCOPE_ROWS_H

#include "harness.h"
#include "sleuth.h"

static inline struct sl_scopes *
take(void)
{
	struct sl_scopes *s;

	assert_int_equal(sl_scope_top(&s, 0, NULL), SL_OK);
	return s;
}

/* A scope that is not there has a row without calls. */
static inline const struct sl_scope_row *
row_of(const struct sl_scopes *s, const char *name)
{
	static const struct sl_scope_row none;

	for (size_t i = 0; i < s->n_rows; i++) {
		if (!strcmp(s->rows[i].name, name))
			return &s->rows[i];
	}
	return &none;
}

static inline int
reset(void **state)
{
	(void)state;
	sl_scope_reset();
	return 0;
}

/* A pair; flags as in sl_scope_begin(). */
static inline void
iteration(const char *name, unsigned flags)
{
	struct sl_scope scope = sl_scope_begin(name, flags);

	sl_scope_end(&scope);
}

#endif
