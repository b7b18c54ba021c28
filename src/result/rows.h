/* SPDX-License-Identifier: Apache-2.0 */
/* rows.h - how the rows of a table are spelled. */
#ifndef SL_ROWS_H
#define SL_ROWS_H

#include "result/field.h"

/* The rows: struct, member, key, meaning; then further columns as designated
 * initializers. */
#define SL__AT(s, m) .offset = offsetof(struct s, m)
#define SL__F(k, s, m, name, ...)                                             \
	{                                                                     \
		.key = name, .kind = SL__FIELD_##k, SL__AT(s, m),             \
		.n_bytes = sizeof(((struct s *)0)->m), .meaning = __VA_ARGS__ \
	}
#define SL__F_LIST(k, s, m, n, name, ...)                                  \
	{                                                                  \
		.key = name, .kind = SL__FIELD_##k, SL__AT(s, m),          \
		.n_bytes = sizeof(*((struct s *)0)->m),                    \
		.count = offsetof(struct s, n) + 1, .meaning = __VA_ARGS__ \
	}
/* Elements in the struct itself, as many as 'n' says. */
#define SL__F_PLACED(k, s, m, n, name, ...)                       \
	{                                                         \
		.key = name, .kind = SL__FIELD_##k, SL__AT(s, m), \
		.n_bytes = sizeof(*((struct s *)0)->m),           \
		.count = offsetof(struct s, n) + 1,               \
		.most = sizeof(((struct s *)0)->m) /              \
			sizeof(*((struct s *)0)->m),              \
		.meaning = __VA_ARGS__                            \
	}
/* Absent for the reason that a member holds. */
#define SL__REASON(s, m) .reason = offsetof(struct s, m) + 1
/* A group of fields of the same struct, as an object. */
#define SL__F_GROUP(record, name, ...)                               \
	{                                                            \
		.key = name, .kind = SL__FIELD_OBJECT, .of = record, \
		.meaning = __VA_ARGS__                               \
	}
#define SL__F_MADE(function, name, ...)                       \
	{                                                     \
		.key = name, .kind = SL__FIELD_MADE,          \
		.made = (enum sl__field_kind)function##_kind, \
		.make = function, .meaning = __VA_ARGS__      \
	}
/* A list that is always empty. */
#define SL__F_NOTHING(name, what)                                    \
	{                                                            \
		.key = name, .kind = SL__FIELD_LIST, .meaning = what \
	}
/* What is the same in every result. */
#define SL__F_SAYS(name, text, what)                                 \
	{                                                            \
		.key = name, .kind = SL__FIELD_SAYS, .absent = text, \
		.meaning = what                                      \
	}
#define SL__F_SPOKEN(which, name, ...)                                  \
	{                                                               \
		.key = name, .kind = SL__FIELD_SPOKEN, .speech = which, \
		.meaning = __VA_ARGS__                                  \
	}
/* What this result never has. */
#define SL__F_NEVER(name, what, reason)                                 \
	{                                                               \
		.key = name, .kind = SL__FIELD_NEVER, .absent = reason, \
		.meaning = what                                         \
	}
/* A time with its interval and how many it is of: STEM_ms, STEM_ci95_ms,
 * STEM_n; where 'reason' says so, all three are absent. */
#define SL__F_TIME(s, m, stem, what, reason)                                \
	SL__F(NUMBER, s, m.value, stem "_ms", what, .unit = SL__NS_PER_MS,  \
	      .why = reason),                                               \
		SL__F(INTERVAL, s, m, stem "_ci95_ms", "its 95 % interval", \
		      .unit = SL__NS_PER_MS, .why = reason),                \
		SL__F(WHOLE, s, m.n, stem "_n", "samples behind it",        \
		      .why = reason)
/* Any other figure with its interval. */
#define SL__F_ESTIMATE(s, m, name, what, reason)                         \
	SL__F(NUMBER, s, m.value, name, what, .why = reason),            \
		SL__F(INTERVAL, s, m, name "_ci95", "its 95 % interval", \
		      .why = reason),                                    \
		SL__F(WHOLE, s, m.n, name "_n", "samples behind it",     \
		      .why = reason)

/* Why a field is absent, as an expression of its record 'r', which may be part
 * of 'parent'; NULL: it is there. */
#define SL__WHY(id, s, r, reason)                                     \
	static const char *id(const void *record, const void *parent) \
	{                                                             \
		const struct s *r = record;                           \
                                                                      \
		(void)parent;                                         \
		return reason;                                        \
	}
/* A figure that follows from others, likewise: TEXT with 'text', WHOLE or
 * BOOLEAN with 'whole', NUMBER with 'number'. */
#define SL__MAKE(id, s, r, type, member, value)                            \
	enum { id##_kind = SL__FIELD_##type };                             \
	static void id(struct sl__computed_value *out, const void *record, \
		       const void *parent)                                 \
	{                                                                  \
		const struct s *r = record;                                \
                                                                           \
		(void)parent;                                              \
		out->member = value;                                       \
	}

#define SL__RECORD(id, title, s, rows, ...)                          \
	const struct sl__record id = {.name = title,                 \
				      .fields = rows,                \
				      .n_fields = sizeof(rows) /     \
						  sizeof((rows)[0]), \
				      .n_bytes = sizeof(struct s),   \
				      __VA_ARGS__}

#endif
