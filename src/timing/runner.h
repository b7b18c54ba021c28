/* SPDX-License-Identifier: Apache-2.0 */
/* runner.h - rounds of slots, one for each arm, until a rule ends them. */
#ifndef SL_RUNNER_H
#define SL_RUNNER_H

#include "base/rng.h"
#include "timing/covariates.h"

/*
 * A slot is one turn of one arm, a round one slot of every arm in random order,
 * a phase rounds under one stopping rule.  All but the loop is the caller's.
 *
 * Invariants: time is read from the control's clock alone.  Nothing here
 * allocates, locks or logs.  The same seed gives the same orders.  One thread
 * at a time.
 */

/* What run() and its neighbours are told of a slot, and what they say. */
struct sl__slot {
	size_t arm;
	size_t round;             /* of the phase, from 0 */
	size_t nth;               /* in the order of the round, from 0 */
	uint64_t due_ns, late_ns; /* with arrivals: since the phase began, and
				     how much later the slot began */
	double wall_ns;   /* set by run() where there is a watch: what was on
			     the clock */
	int is_disturbed; /* told to finish(), which may change it */
	struct sl__covariates before, after; /* right around run() */
};

/* A round of which every slot was run. */
struct sl__finished_round {
	size_t round;
	uint64_t took_ns;
	int is_disturbed; /* one of its slots was */
	int is_left_out;  /* by the rule of sl__round_is_excluded() */
};

typedef enum sl_status sl__slot_function(struct sl__slot *slot, void *ctx,
					 struct sl_error *err);
typedef enum sl_status
sl__finished_round_function(const struct sl__finished_round *taken, void *ctx,
			    struct sl_error *err);

/* Functions may be NULL but for run().  When to end is looked at before each
 * round, in this order: the interrupt; n_rounds, which alone counts where it is
 * set; is_enough(), after the first round; max_rounds; the time, after
 * min_rounds. */
struct sl__phase_spec {
	const char *name; /* in progress; NULL: nothing is told */
	size_t n_arms;    /* at least 1 */
	int is_in_order;  /* of their numbers; no random numbers are drawn */
	int cuts_rounds;  /* the time is looked at before each slot, too */
	int tells_slots;  /* progress before each slot, not each round */

	size_t n_rounds;   /* exactly as many; 0: by what follows */
	size_t min_rounds; /* made whatever the time */
	size_t max_rounds; /* that there is room for; 0: no limit */
	double time_s;     /* since sl__runner_start_budget(); 0: no limit */
	double more_s;     /* since then, for as long as wants_more() says so;
			      0: no extension */
	size_t rounds_per_probe; /* of the frequency, with a watch; 0: none */
	enum sl_stop enough;     /* what is_enough() means: a PRECISION, a
				    VERDICT */
	const uint64_t *
		due_ns; /* [n_rounds or max_rounds, * n_arms] arrivals: no slot begins
				    before its time since the phase began */

	/* Before the slot is due and watched; and after it was watched. */
	void (*prepare)(struct sl__slot *slot, void *ctx);
	void (*finish)(struct sl__slot *slot, void *ctx);
	sl__slot_function *run;             /* the slot itself */
	sl__finished_round_function *close; /* after the last slot of a round */
	int (*is_enough)(void *ctx);
	int (*wants_more)(void *ctx);
	/* What the runner cannot know of the progress, and what it should not
	 * say. */
	void (*describe)(struct sl_progress *now, void *ctx);
	void (*wait)(uint64_t left_ns, void *ctx); /* for a slot to be due;
						      NULL: time is read over
						      and over */
	void *ctx;
};

/* What ends a measurement early, who is told of it and what it reads: handed
 * on from the caller's options to the runner. */
struct sl__runner_hooks {
	const volatile sig_atomic_t *interrupt; /* NULL: none */
	void (*progress)(const struct sl_progress *now, void *ctx);
	void *progress_ctx;
	struct sl__measurement_sources with;
};

struct sl__runner {
	/* The caller's; those below may be changed between slots. */
	struct sl__runner_hooks control;
	struct sl__monitor *monitor; /* around slots; NULL: none */
	size_t *order;               /* [most arms of a phase] */
	uint64_t ahead_ns; /* what the next round or slot is expected to take:
			      the time, or that of the extension where there
			      is one, ends so much earlier */

	/* The runner's, to be read. */
	struct sl__rng rng;
	uint64_t start_ns;  /* when the budget began */
	uint64_t phase_ns;  /* when the phase began */
	uint64_t now_ns;    /* when the runner last looked */
	size_t n_rounds;    /* whole ones of the phase */
	size_t n_begun;     /* those, and one that was cut short */
	size_t n_disturbed; /* whole ones */
	enum sl_stop stopped_by;
	const struct sl__phase_spec *phase;
};

/* Seeds the orders, and the time begins to count. */
void sl__runner_start_budget(struct sl__runner *runner, uint64_t seed);

/* The time begins to count anew. */
void sl__runner_restart_budget(struct sl__runner *runner);

/*
 * Runs a phase to its end, which is in stopped_by: INTERRUPT, RUNS where
 * n_rounds ended it, what is_enough() means, or TIME, as which max_rounds
 * counts.  An interrupt is looked at between slots.  A round that is cut short
 * is not closed.  A function that fails ends it, with its failure; but one that
 * fails with SL_E_INTERRUPTED because the flag is set cuts its round short.
 */
enum sl_status sl__runner_run(struct sl__runner *runner,
			      const struct sl__phase_spec *phase,
			      struct sl_error *err) SL_CHECKED;

int sl__runner_is_interrupted(const struct sl__runner *runner);

/* Since the budget began, by the clock; and when the runner last looked, as a
 * share of the time of the phase. */
double sl__runner_elapsed_s(const struct sl__runner *runner);
double sl__runner_spent_share(const struct sl__runner *runner);

/*
 * A disturbed round does not count, a rule that cannot see who was hit, so that
 * the order stays fair; but where half the rounds or more are disturbed it
 * does, or nothing would be left.  n_disturbed of n_taken, this one included.
 */
int sl__round_is_excluded(int is_disturbed, size_t n_disturbed, size_t n_taken);

/* Whether it is time to look at n samples: whenever there are an eighth more,
 * so that all looks together cost no more than a few sorts. */
int sl__interim_look_is_due(size_t *next, size_t n);

#endif
