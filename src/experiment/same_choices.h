/* SPDX-License-Identifier: Apache-2.0 */
/* same_choices.h - plans that share the algorithms they measured. */
#ifndef SL_SAME_CHOICES_H
#define SL_SAME_CHOICES_H

#include "experiment/subject.h"

/*
 * Subjects are opened one after the other with one cache of choices: that of
 * their options, or a folder of its own, which goes with it, where options
 * keep nothing.  'folder' is "" where there is none.
 */
struct sl__same_choices {
	char folder[256];
};

void sl__same_choices_open(struct sl__same_choices *out);
void sl__same_choices_close(struct sl__same_choices *choices);

/* Says in 'how' where choices are kept; 'choices' must outlive the plan. */
void sl__same_choices_set(struct sl__same_choices *choices,
			  struct sl_plan_options *how);

/* Whether two plans ought to run the same algorithms. */
int sl__same_settings(const struct sl_plan *a, const struct sl_plan *b);

#endif
