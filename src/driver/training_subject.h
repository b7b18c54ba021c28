/* SPDX-License-Identifier: Apache-2.0 */
/* training_subject.h - training steps of a model, made ready to be profiled. */
#ifndef SL_TRAINING_SUBJECT_H
#define SL_TRAINING_SUBJECT_H

#include "driver/train_data.h"
#include "experiment/feed_rounds.h"
#include "experiment/subject.h"
#include "sleuth/profiling.h"

/*
 * Invariants: once open, the trainer's plan has all its inputs and can be run.
 * With a data set there is a loader, and the inputs are those of 'batch'.  All
 * that the options point to is borrowed and outlives it.
 */
struct sl__training_subject {
	struct sl_trainer *trainer;
	struct sl__train_data inputs;
	struct sl_loader_options loading;
	const struct sl_dataset *data;
	struct sl_loader *loader; /* NULL: every step has the same inputs */
	struct sl_batch batch;    /* the last one; the loader's */
};

/*
 * 'subject' gets the plan, which stays the trainer's, its sizes and how long
 * planning took.  Storage is from 'arena'.  A subject that failed to open is
 * to be closed too.
 */
enum sl_status sl__training_subject_open(
	struct sl__training_subject *out, struct sl__subject_model *subject,
	const struct sl_training_options *training,
	const struct sl_profile_options *how, struct sl__arena *arena,
	struct sl_error *err) SL_CHECKED;
void sl__training_subject_close(struct sl__training_subject *s);

/* The next batch of the loader as inputs, as sl__feed_function; 'ctx' is the
 * subject. */
enum sl_status sl__training_subject_feed(void *ctx,
					 struct sl_error *err) SL_CHECKED;

/* Fills out->training but for its memory and its comparisons, from iterations
 * of the plan.  SL_E_DATA where the last loss is not a number. */
enum sl_status sl__training_subject_attribute(
	const struct sl__training_subject *s, struct sl_profile *out,
	const struct sl__timed_iterations *iterations, struct sl__arena *arena,
	struct sl_error *err) SL_CHECKED;

/*
 * Compares steps as they are fed with steps fed from memory, and with steps of
 * a loader with more prefetch threads where that may help; fills the
 * comparisons of out->training, whose phases are known.  An interrupt leaves
 * them out.
 */
enum sl_status sl__training_subject_compare_feeds(
	struct sl__training_subject *s, struct sl_profile *out,
	const struct sl__feed_rounds_options *how, struct sl__arena *arena,
	struct sl_error *err) SL_CHECKED;

/*
 * keeping_price.c: of steps that compute activations again, what keeping them
 * would take: fills keeping_live_bytes of out->training and, where there is
 * time, keeping_ratio.  Of others, what computing them again would save and
 * take, as a finding where that is a tenth of the memory and there is time, room
 * for a second plan, and no loader to be looked at.  'subject' has the graph,
 * the plan and its sizes.
 */
enum sl_status sl__training_subject_compare_keeping(
	struct sl__training_subject *s, const struct sl__subject_model *subject,
	struct sl_profile *out, const struct sl__feed_rounds_options *how,
	struct sl__arena *arena, struct sl_error *err) SL_CHECKED;

#endif
