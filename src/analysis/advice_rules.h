/* SPDX-License-Identifier: Apache-2.0 */
/* advice_rules.h - the rules that advice is made by. */
#ifndef SL_ADVICE_RULES_H
#define SL_ADVICE_RULES_H

#include "analysis/advice.h"

enum { SL__PROPOSALS_MOST = 16 };

struct sl__adviser {
	const struct sl_profile *profile;
	const struct sl__advice_options *how;
	struct sl__arena *arena;
	struct sl_advice proposals[SL__PROPOSALS_MOST];
	size_t n;
	double pass_ns; /* of a bare pass, the median */
	double scale;   /* of operations' medians, to make up that pass */
	int is_short;   /* out of memory */
};

/* Options that a command does not repeat, because it says them otherwise. */
enum sl__options_left {
	SL__LEAVE_BATCH = 1u << 0,
	SL__LEAVE_SEQ = 1u << 1, /* and past */
	SL__LEAVE_THREADS = 1u << 2,
	SL__LEAVE_DTYPE = 1u << 3,
	SL__LEAVE_ALGORITHMS = 1u << 4,
	SL__LEAVE_NO_FUSION = 1u << 5,
	SL__LEAVE_REFERENCE = 1u << 6 /* and what it brings along */
};

/*
 * "sleuth VERB MODEL OPTIONS": all that the user said of sizes and of how the
 * model is run, but for 'left', and what is to be added.  Words are quoted
 * where a shell needs that.
 */
const char *sl__advice_command(struct sl__adviser *a, const char *verb,
			       unsigned left, const char *added);

/* Whether shapes are the user's to the last number, so that no command can ask
 * for other sizes. */
int sl__has_fixed_shapes(const struct sl__adviser *a);

/*
 * Adds a proposal whose gain is between 1 and 'most'; one that is too small,
 * or not bounded, is dropped.  A bound that is far away says little: what is
 * given then is the time that remains.  NULL strings mean that memory ran out,
 * but for a command.
 */
struct sl__proposal {
	const char *text, *basis, *command;
	double most;
	const char *unit; /* of the gain: "", " samples per second", " for
			     each further token" */
};
void sl__propose(struct sl__adviser *a, const struct sl__proposal *proposal);

/* Like sl__arena_format(), from the adviser's arena; notes a failure.
 * Arguments may be NULL where memory ran out before. */
const char *sl__advice_words(struct sl__adviser *a, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* What an operation takes of a bare pass, by the median of its calls. */
double sl__advice_now_ns(const struct sl__adviser *a,
			 const struct sl_operation *op);

typedef int sl__chooses(const struct sl_operation *op);

/*
 * The most that could be had if the chosen operations took no time, by
 * ablations as far as there are some of them, by their shares else.
 * INFINITY: all of it.
 */
double sl__advice_limit(const struct sl__adviser *a, sl__chooses *is_chosen);

/* Whether a text is one of a list that ends with NULL. */
int sl__is_among(const char *text, const char *const *list);

/* Bounded by what the machine does: threads, batch, types, a cache of keys
 * and values (advice_machine.c). */
void sl__advise_threads(struct sl__adviser *a);
void sl__advise_batch(struct sl__adviser *a);
void sl__advise_types(struct sl__adviser *a);
void sl__advise_cache(struct sl__adviser *a);

#endif
