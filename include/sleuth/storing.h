/* SPDX-License-Identifier: Apache-2.0 */
/* storing.h - results kept in a database. */
#ifndef SLEUTH_STORING_H
#define SLEUTH_STORING_H

#include "sleuth/basics.h"
#include "sleuth/measuring.h"
#include "sleuth/rendering.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A database of results: a file of SQLite, or a PostgreSQL server that several
 * machines share.  Both have the same tables.  Any number of processes may
 * read and write one store at a time; a result is there as a whole or not at
 * all, whenever the process that writes it is killed.  One thread at a time.
 */
struct sl_store;

struct sl_store_options {
	size_t struct_size;
	const char *where; /* a path, or postgresql://USER@HOST/NAME; default:
			      $SLEUTH_DB, else sleuth/results.db in
			      $XDG_DATA_HOME or in ~/.local/share */
	int must_exist;    /* SL_E_ABSENT instead of making a file */
	int must_write;    /* SL_E_IO at once where it may only be read */
};
#define SL_STORE_OPTIONS_INIT SL_OPTIONS_INIT(struct sl_store_options)

/*
 * Opens a store, makes its tables where there are none, and brings those of an
 * older version up to date.  SL_E_IO with the reason where it cannot be read
 * or reached, SL_E_DATA where it is no store or of a newer version, SL_E_ABSENT
 * for PostgreSQL in a build without libpq.  No message holds a password.
 */
SL_API enum sl_status sl_store_open(struct sl_store **out,
				    const struct sl_store_options *options,
				    struct sl_error *err) SL_CHECKED;
SL_API void sl_store_close(struct sl_store *store); /* NULL is fine */

/* What is known of a result besides itself; texts may be NULL. */
struct sl_labels {
	size_t struct_size;
	double saved_at_s;   /* since 1970; default: now */
	const char *machine; /* fingerprint; default: of this one */
	const char *commit, *branch;
	int is_dirty; /* files differed from the commit */
	const struct sl_parameter *tags;
	size_t n_tags; /* names are distinct, without '=', and neither a name
			  nor a value has a line break */
	struct sl_anchor_reading anchor; /* of the same measurement */
};
#define SL_LABELS_INIT SL_OPTIONS_INIT(struct sl_labels)

/*
 * Keeps the JSON document of a result (SL_FORMAT_JSON) and gives its number,
 * which is above 0 and never given again.  The result is safe once this
 * returns SL_OK.  Models that it names by a path are read for the hash of
 * their contents.
 */
SL_API enum sl_status sl_store_put(struct sl_store *store, uint64_t *id,
				   const char *json, size_t n_bytes,
				   const struct sl_labels *labels,
				   struct sl_error *err) SL_CHECKED;

/* Appends the document of a result to 'json'; SL_E_DATA where there is none of
 * that number. */
SL_API enum sl_status sl_store_get(struct sl_store *store, uint64_t id,
				   struct sl_buf *json,
				   struct sl_error *err) SL_CHECKED;

/* One model or command of a result. */
struct sl_stored_point {
	const char *name;           /* of the model, or the command */
	const char *hash;           /* of the model's file; NULL: no file */
	const char *settings;       /* "batch 1, f32, 2 threads"; NULL: none */
	struct sl_estimate time_ns; /* median; NaN: no time was measured */
};

/* A result in the store. */
struct sl_stored_run {
	uint64_t id;
	double saved_at_s;
	const char *command, *kind, *version; /* of the program */
	const char *machine;
	const char *commit, *branch; /* NULL: none */
	int is_dirty;
	const struct sl_parameter *tags;
	size_t n_tags;
	const struct sl_stored_point *points;
	size_t n_points;
	struct sl_anchor_reading anchor; /* its version 0: none was timed */
};

struct sl_stored_runs {
	const struct sl_stored_run *list; /* by number */
	size_t n;
};

/* Which results are meant: all that match everything that is set. */
struct sl_store_query {
	size_t struct_size;
	const uint64_t *ids;
	size_t n_ids;
	const char *model; /* name, or hash of the contents */
	const char *command, *branch;
	const char *machine, *commit; /* or how they begin */
	const struct sl_parameter *tags;
	size_t n_tags;
	double before_s;  /* saved earlier, since 1970 */
	size_t n_skipped; /* the newest of them are not meant */
	size_t n_most;    /* of the others, only the newest */
	int is_here;      /* of this machine alone, whatever 'machine' says */
	double since_s;   /* saved then or later, since 1970 */
	int is_latest;    /* the newest of each series alone: of a model or
			     command with a time, its settings and machine */
};
#define SL_STORE_QUERY_INIT SL_OPTIONS_INIT(struct sl_store_query)

/* Finds results; 'query' NULL: all.  *out is for sl_stored_runs_free(). */
SL_API enum sl_status sl_store_find(struct sl_stored_runs **out,
				    struct sl_store *store,
				    const struct sl_store_query *query,
				    struct sl_error *err) SL_CHECKED;
SL_API void sl_stored_runs_free(struct sl_stored_runs *runs);

SL_API enum sl_status sl_stored_runs_render(const struct sl_stored_runs *runs,
					    const struct sl_render_options *how,
					    struct sl_buf *out,
					    struct sl_error *err) SL_CHECKED;

/* Tags with a meaning: a result with the first is deleted only where its number
 * is named; one result has the second with a value, as the baseline of that
 * name. */
#define SL_TAG_PINNED   "pinned"
#define SL_TAG_BASELINE "baseline"

/*
 * Gives a result a tag, in the place of one of that name; a value of NULL takes
 * it away.  With 'is_unique', all other results lose the tag where they have it
 * with this value.  SL_E_DATA where there is no result of that number,
 * SL_E_USAGE for a name or value that no tag has.
 */
SL_API enum sl_status sl_store_tag(struct sl_store *store, uint64_t id,
				   const struct sl_parameter *tag,
				   int is_unique,
				   struct sl_error *err) SL_CHECKED;

/* Deletes results, and says how many; pinned ones only where 'ids' names
 * them. */
SL_API enum sl_status sl_store_delete(struct sl_store *store, size_t *n_deleted,
				      const struct sl_store_query *query,
				      struct sl_error *err) SL_CHECKED;

/* A measurement that runs just now. */
struct sl_live_run {
	uint64_t id;                    /* 0: not in the store yet */
	const char *machine;            /* NULL: this one */
	double started_at_s, beat_at_s; /* since 1970; sl_store_live_put() sets
					   them */
	const char *command, *name;     /* that measures; what it measures */
	const char *phase;
	double share;       /* that is done, 0 to 1 */
	double remaining_s; /* NaN: not known yet */
};

struct sl_live_runs {
	const struct sl_live_run *list; /* in the order they began */
	size_t n;
};

/*
 * Tells the store how far a measurement is, and sets its id; and that it is
 * over.  One that was not told of for 15 seconds counts as over, too.
 */
SL_API enum sl_status sl_store_live_put(struct sl_store *store,
					struct sl_live_run *run,
					struct sl_error *err) SL_CHECKED;
SL_API enum sl_status sl_store_live_end(struct sl_store *store, uint64_t id,
					struct sl_error *err) SL_CHECKED;

/* What runs just now, on all machines that share the store. */
SL_API enum sl_status sl_store_live_find(struct sl_live_runs **out,
					 struct sl_store *store,
					 struct sl_error *err) SL_CHECKED;
SL_API void sl_live_runs_free(struct sl_live_runs *runs);

/*
 * Appends a result with its labels as one line of JSON; and adds such a line
 * to a store, under a new number.  SL_E_DATA where a line is none.
 */
SL_API enum sl_status sl_store_export(struct sl_store *store, uint64_t id,
				      struct sl_buf *line,
				      struct sl_error *err) SL_CHECKED;
SL_API enum sl_status sl_store_import(struct sl_store *store, uint64_t *id,
				      const char *line, size_t n_bytes,
				      struct sl_error *err) SL_CHECKED;

/*
 * The times of a model or command over the results of a store.  Results of
 * another machine, or with other settings, are another series: their times are
 * never joined.  So are results with another version of the anchor, or without
 * one.  Where there is an anchor, what is drawn and searched for changes is the
 * ratio of a time to the anchor's of the same run, times the median of the
 * series' anchors: the time on this machine as it usually is.
 */
struct sl_history_series {
	const char *name, *settings; /* settings NULL: none */
	const char *machine;
	size_t first, n_points; /* among the points */
	uint64_t anchor;        /* version; 0: bare times are drawn */
	double anchor_ns;       /* median of its runs; NaN: none */
};

struct sl_history_point {
	size_t series;
	uint64_t run;
	double saved_at_s;
	const char *commit, *branch; /* NULL: none */
	int is_dirty;
	struct sl_estimate time_ns; /* median */
	double anchor_ns;           /* of its run; NaN: none */
	/* What is drawn: see above.  The interval adds those of both times, in
	 * quadrature of their logarithms. */
	struct sl_estimate drawn_ns;
};

/* The level of a series changed, and stayed so. */
struct sl_history_change {
	size_t series;
	size_t point;               /* the first after it */
	uint64_t run;               /* of that point */
	const char *commit;         /* likewise; NULL: none */
	const char *commit_before;  /* of the last point before it */
	double before_ns, after_ns; /* medians of what is drawn, up to the
				       neighbouring changes */
	double share;               /* after / before - 1: above 0 is slower */
	double p;                   /* of so large a change without a cause */
};

struct sl_history {
	const struct sl_history_series *series;
	size_t n_series;
	const struct sl_history_point *points; /* by series, then by number */
	size_t n_points;
	const struct sl_history_change *changes; /* likewise */
	size_t n_changes;
};

/*
 * The history of the results that match a query, whose 'model' chooses among
 * the models of a result, too.  A change needs four points on each side; a
 * series without changes shows one with a probability of at most 5 %
 * (docs/statistics.md).
 */
SL_API enum sl_status sl_history_of(struct sl_history **out,
				    struct sl_store *store,
				    const struct sl_store_query *query,
				    struct sl_error *err) SL_CHECKED;
SL_API void sl_history_free(struct sl_history *history);
SL_API enum sl_status sl_history_render(const struct sl_history *history,
					const struct sl_render_options *how,
					struct sl_buf *out,
					struct sl_error *err) SL_CHECKED;

#ifdef __cplusplus
}
#endif

#endif
