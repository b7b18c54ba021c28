/* SPDX-License-Identifier: Apache-2.0 */
/* field.h - what a result consists of: a table with a row for each field. */
#ifndef SL_FIELD_H
#define SL_FIELD_H

#include "base/json.h"

/*
 * A row says how a field of a struct is called in JSON, of what kind it is,
 * when it is absent and what it means.  Writing, reading back (record.h) and
 * docs/schema.md follow from the rows; no writer is kept in step by hand.
 */
enum sl__field_kind {
	SL__FIELD_TEXT = 0, /* const char *; NULL: absent */
	SL__FIELD_LETTERS,  /* a text in the struct itself; "": absent */
	SL__FIELD_WHOLE,    /* an unsigned integer of n_bytes; 0 is an absence
			       where the row has 'absent' */
	SL__FIELD_SIGNED,   /* a signed one, likewise */
	SL__FIELD_INDEX,    /* size_t; SIZE_MAX: absent */
	SL__FIELD_NUMBER,   /* double, divided by 'unit'; not finite: absent */
	SL__FIELD_EXTENDED, /* that may be infinite: a reason, read back */
	SL__FIELD_BOOLEAN,  /* int */
	SL__FIELD_WORD,     /* an enum, by its words; 0 as of integers */
	SL__FIELD_READING,  /* struct sl_reading, which has its reason */
	SL__FIELD_TRAIT,    /* struct sl_text_reading, likewise */
	SL__FIELD_DATE,     /* double, seconds since 1970: text in UTC */
	SL__FIELD_REASON,   /* const char *, which another row has written as
			       the reason of its absence; read alone */
	SL__FIELD_INTERVAL, /* lo and hi of a struct sl_estimate; where n is too
			       small, the n it needs stands beside the null;
			       where one is infinite, absent for 'absent' */
	SL__FIELD_BOUNDS,   /* the same; too small an n is no other reason */
	SL__FIELD_QUANTILE, /* value of a struct sl_estimate, refused together
			       with its interval */
	/* Without a key the members of these stand here, but those of a list.
	 * Where an earlier row has one, this has more of it. */
	SL__FIELD_OBJECT,  /* a struct within, or a group of its own fields */
	SL__FIELD_POINTER, /* to a struct; NULL: left out, unless the row has
			       'absent' or 'because' */
	SL__FIELD_LIST,    /* pointer to structs, and their number */
	SL__FIELD_FIRST,   /* the first of a list that a later row may have */
	SL__FIELD_TEXTS,   /* pointer to const char *, and their number */
	SL__FIELD_ARGV,    /* likewise; the last is NULL */
	SL__FIELD_WHOLES,  /* pointer to integers of n_bytes */
	SL__FIELD_SIGNEDS,
	SL__FIELD_NUMBERS,
	SL__FIELD_BY_WORD, /* an array of uint64_t with a place for each word,
			      as an object */
	SL__FIELD_NUMBER_BY_WORD, /* likewise, of double */
	SL__FIELD_PAIRS,   /* pointer to struct sl_parameter, and their number:
			      an object of texts */
	SL__FIELD_FACT,    /* struct sl_fact: what it says, and beside it, as
			      KEY_fact, what it is; NONE: left out */
	SL__FIELD_FACT_AT, /* pointer to one; NULL: left out */
	SL__FIELD_FACTS,   /* pointer to several, and their number: what they
			      say, and beside that KEY_facts */
	SL__FIELD_SPOKEN,  /* a sentence that follows from the record: made by
			      src/report/ when it is written; not read */
	SL__FIELD_TOLD,  /* all that src/report/ says of the record, likewise */
	SL__FIELD_SAYS,  /* always the text 'absent' */
	SL__FIELD_NEVER, /* always absent, for the reason 'absent' */
	SL__FIELD_OWN,   /* written and read by functions of its own */
	SL__FIELD_MADE   /* computed when it is written; not read */
};
enum { SL__N_FIELD_KINDS = SL__FIELD_MADE + 1 };

/* Why a field is absent in this record, which is part of 'parent' (NULL at the
 * top); NULL: it is there. */
typedef const char *sl__field_absence_function(const void *record,
					       const void *parent);

/* The fact that is why a value is absent; NULL: another reason. */
typedef const struct sl_fact *
sl__field_absence_fact_function(const void *record);

/* A figure that follows from others. */
struct sl__computed_value {
	const char *text;
	uint64_t whole;
	double number;
};
struct sl__field;
typedef void sl__field_compute_function(struct sl__computed_value *out,
					const void *record, const void *parent);

/* The words of an enum, whose values are 0 to n - 1. */
struct sl__vocabulary {
	const char *(*word)(unsigned value);
	unsigned first, n;
};

struct sl__json_value;
struct sl__arena;
typedef void sl__field_write_function(struct sl__json *json,
				      const struct sl__field *f,
				      const void *record);
typedef enum sl_status
sl__field_read_function(void *record, const struct sl__json_value *value,
			struct sl__arena *arena, struct sl_error *err);

struct sl__field {
	const char *key;
	enum sl__field_kind kind;
	size_t offset;
	size_t n_bytes; /* of an integer or an enum, or of each in a list */
	size_t count;   /* 1 + offset of the number of elements, a size_t; 0:
			   'most' of them */
	size_t most;    /* elements are in the struct itself, so many at most;
			   0: it points to them */
	double unit;    /* a number is divided by it; 0: as it is */
	double factor;  /* or multiplied by it; 0: as it is */
	const struct sl__record *of;
	const struct sl__vocabulary *words;
	/* Reasons, where the value itself is absent. */
	const char *absent;
	sl__field_absence_function *because;
	sl__field_absence_fact_function *fact;
	/* Reasons, where other fields rule it out. */
	sl__field_absence_function *why;
	size_t reason; /* 1 + offset of a const char *; NULL: it is there */
	enum sl__sentence_kind speech;    /* of SPOKEN */
	sl__field_compute_function *make; /* of MADE */
	enum sl__field_kind made; /* and what that is: TEXT, WHOLE, NUMBER,
				     BOOLEAN; of OWN, OBJECT or one of these */
	sl__field_write_function *write; /* of OWN */
	sl__field_read_function *read;   /* likewise; NULL: from the rest */
	int is_flat;        /* each element of a list is one line */
	int is_of_pointers; /* the elements of a list are pointers to structs */
	int is_either;      /* of two rows with one key, read where 'why',
				 asked of the rows before, has nothing to say */
	int is_left_out;    /* no null where 'why' says so, or, without one,
				 where the value does; no name either */
	int is_outer;       /* of the struct around the record, 'why' too */
	const char *meaning; /* for docs/schema.md; NULL: of the row above */
};

struct sl__record {
	const char *name; /* of the section in docs/schema.md */
	const struct sl__field *fields;
	size_t n_fields, n_bytes;
	/* Fills, after reading, what no row has because others imply it. */
	void (*settle)(void *record);
	/* Then says why no renderer could make sense of it; NULL: one can. */
	const char *(*check)(const void *record);
};

/* A divisor: multiplied by 1e-6, 100 us would read 0.09999999999999999. */
#define SL__NS_PER_MS 1000000.0

#endif
