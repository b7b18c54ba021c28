/* SPDX-License-Identifier: Apache-2.0 */
/* dnnl_choice.h - which algorithm was the fastest, remembered per machine. */
#ifndef SL_DNNL_CHOICE_H
#define SL_DNNL_CHOICE_H

#include "base/arena.h"
#include "base/cache_file.h"
#include "base/map.h"
#include "timing/covariates.h"
#include "sleuth/running.h"

enum { SL__CHOICE_NAME = 64 };

/*
 * Flags of a plan, beside those of the user (enum sl_plan_flags).  Algorithms
 * are those remembered for half the batch, or for the number of threads that
 * the bits from CHOICES_THREADS on hold, and nothing is measured.
 * KNOWN_CHOICES: what is known stands, doubtful or not, and only what is not
 * known is measured.  The bits from IMAGE_LAYOUT on hold the layout of images,
 * an enum sl__image_layout; 0: the plan decides.
 */
enum {
	SL__PLAN_IMAGE_LAYOUT = 1 << 12,
	SL__PLAN_IMAGE_LAYOUT_MOST = (1 << 3) - 1,
	SL__PLAN_KNOWN_CHOICES = 1 << 15,
	SL__PLAN_HALF_BATCH_CHOICES = 1 << 30,
	SL__PLAN_CHOICES_THREADS = 1 << 16,
	SL__PLAN_CHOICES_THREADS_MOST = (1 << 10) - 1 /* below PLAN_TRAINS */
};

/* Whether the algorithms are those of another plan. */
int sl__choices_are_borrowed(const struct sl_plan_options *options);

/* The layout of images that is asked for; 0: none. */
int sl__choices_image_layout(const struct sl_plan_options *options);

/* Threads for which choices are made or remembered. */
int sl__choices_n_threads(const struct sl_plan_options *options);

/* The fastest of several ways to do one thing. */
struct sl__choice {
	int is_winograd;
	int is_own;          /* not oneDNN's */
	int is_plain;        /* reads its source row-major */
	uint64_t elapsed_ns; /* UINT64_MAX: there is no way */
	unsigned n_loaded;   /* looks at it, all while others used the CPUs; 0:
			      the last one was undisturbed */
	unsigned n_contradicted; /* times that later runs took much longer */
	int is_new; /* measured for the program that is being made */
	char kernel[SL__CHOICE_NAME]; /* the name of that implementation; no
					 blanks */
};

/*
 * What a choice counts for beside others.  Winograd's way must gain a fiftieth,
 * for the workspace and the digits that it costs.  Reordered images must gain an
 * eighth, for a trial's lie in the cache of the thread that reads them: in
 * ResNet-18 on two threads of a Zen 5, a convolution timed as 217 us with its
 * reorders, beside 229 us without any, took 376 us beside 295.
 */
uint64_t sl__choice_price(const struct sl__choice *choice, int is_reordered);

/*
 * Invariants: rows[] are what 'ids' finds; keys hold no newline.  The file is
 * read at the start, and written by sl__choices_save() where something was
 * added.  An empty path: nothing is kept in files, and 'no_path' says why
 * unless that was asked for.  One program is made with it.
 */
struct sl__choices {
	struct sl__arena arena;
	struct sl__map ids; /* key to row */
	struct sl__choice *rows;
	const char **keys;
	size_t n, cap;
	const struct sl_log *log;
	int is_changed;
	int order;          /* enum sl__image_layout; ANY: not decided yet */
	int are_known_kept; /* known choices are not doubted */
	int is_monitored;   /* since the first measurement */
	struct sl__monitor monitor;     /* what else used the CPUs meanwhile */
	int was_calm;                   /* when it was looked at; -1: not yet */
	struct sl__dnnl_timer *timer;   /* of those who measure; or NULL */
	uint64_t budget_ns, elapsed_ns; /* for measuring; spent on it */
	struct sl_error no_path;
	char path[SL__CACHE_PATH];
};

/* 'options' has its defaults filled in.  What cannot be read is measured
 * again, and said in the log only. */
enum sl_status sl__choices_new(struct sl__choices **out,
			       const struct sl_plan_options *options,
			       struct sl_error *err) SL_CHECKED;
void sl__choices_free(struct sl__choices *choices); /* NULL is fine */

/*
 * Whether a known choice is to be measured again: others used the CPUs when it
 * was, and either it has not been looked at twice or they do not use them now.
 * Never where known choices stand.
 */
int sl__choices_is_doubtful(struct sl__choices *choices,
			    const struct sl__choice *known);

/* To be called before something is measured. */
void sl__choices_monitor(struct sl__choices *choices);

/* In place of the kernel's readings, for tests; NULL: the kernel's. */
extern const struct sl__monitor_source *sl__choices_monitor_source;

/* NULL where nothing is known. */
const struct sl__choice *sl__choices_find(struct sl__choices *choices,
					  const char *key);
enum sl_status sl__choices_put(struct sl__choices *choices, const char *key,
			       const struct sl__choice *choice,
			       struct sl_error *err) SL_CHECKED;

/* Notes in the file those choices of a program that its runs contradict: the
 * next plan measures them again, but each twice at most. */
struct sl__program;
void sl__choices_contradict(const struct sl_plan_options *options,
			    const struct sl__program *program);

/* Adds what was found to the file, and whether it was found under load; NULL is
 * fine. */
void sl__choices_save(struct sl__choices *choices);

#endif
