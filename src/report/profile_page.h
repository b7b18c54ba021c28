/* SPDX-License-Identifier: Apache-2.0 */
/* profile_page.h - the formats of a report on models that were profiled. */
#ifndef SL_PROFILE_PAGE_H
#define SL_PROFILE_PAGE_H

#include "report/doc.h"
#include "report/views.h"
#include "result/tables.h"
#include "sleuth/profiling.h"

enum { SL__PROFILE_COLUMNS = 80 }; /* of a page whose width nobody says */

/* What sl_profile_render() was given. */
struct sl__profile_page_input {
	struct sl__profiles_document profiles; /* first: what the table is of */
	struct sl_profile_view view;
};

/* The functions of a struct sl__renderer; 'result' is the struct above. */
void sl__profile_page(struct sl__doc *doc, const void *result,
		      const struct sl_render_options *how);

void sl__profile_views(struct sl__views *v, const void *result);

/* The colour of what an operation is for, for svg.h. */
const char *sl__profile_part_look(enum sl_part part);

/* Figures of one iteration; each leaves out what was not measured. */
void sl__figure_icicle(struct sl__views *v, const struct sl_profile *p);
void sl__figure_timeline(struct sl__views *v, const struct sl_profile *p);
void sl__figure_graph(struct sl__views *v, const struct sl_profile *p);
void sl__figures_memory(struct sl__views *v, const struct sl_profile *p);
void sl__figures_training(struct sl__views *v, const struct sl_profile *p);

/* What the parts of a page are told. */
struct sl__profile_sheet {
	const struct sl_profile *profile;
	const struct sl_profile_view *view;
	const struct sl_render_options *how;
};

/*
 * Parts of the page of one model.  Each leaves out what there is nothing to
 * say about, its heading included.
 */
typedef void sl__profile_section(struct sl__doc *doc,
				 const struct sl__profile_sheet *sheet);

sl__profile_section sl__profile_verdict, sl__profile_operations,
	sl__profile_evidence, sl__profile_memory, sl__profile_roofline,
	sl__profile_counters, sl__profile_traffic, sl__profile_amdahl,
	sl__profile_advice, sl__profile_training, sl__profile_why;
void sl__profile_parts(struct sl__doc *doc, const struct sl_profile *p);

/* Pairs of that key, but for shares of time where not all are asked for. */
void sl__profile_reasons(struct sl__doc *doc, const char *key,
			 const struct sl_fact *reasons, size_t n, int is_whole);

/* What the table of operations calls one, whether it has a row there or not. */
const char *sl__profile_row_name(struct sl__doc *doc,
				 const struct sl__profile_sheet *sheet,
				 const char *name);

/* "all Conv", or the name of the operation; NULL when out of memory. */
const char *sl__amdahl_target_name(struct sl__arena *arena,
				   const struct sl_profile *p,
				   const struct sl_amdahl *row);

/* The sections of a page that plain words go with. */
enum sl__profile_topic {
	SL__TOPIC_LATENCY = 0,
	SL__TOPIC_VERDICT,
	SL__TOPIC_OPERATIONS,
	SL__TOPIC_ACCOUNTING,
	SL__TOPIC_MEMORY,
	SL__TOPIC_ROOFLINE,
	SL__TOPIC_TRAFFIC,
	SL__TOPIC_COUNTERS,
	SL__TOPIC_AMDAHL,
	SL__TOPIC_ADVICE
};

/* What the section means, where the view asks for it. */
void sl__profile_explain(struct sl__doc *doc, enum sl__profile_topic topic,
			 const struct sl__profile_sheet *sheet);

/* Several models in one table, and a sentence on each. */
void sl__profile_side_by_side(struct sl__doc *doc,
			      const struct sl__profile_page_input *r,
			      const struct sl_render_options *how);

/* "compute-bound"; never NULL. */
const char *sl__profile_bottleneck_text(enum sl_bottleneck bottleneck);

/* What a user calls the model, see sl__model_display_name(). */
const char *sl__profile_model_name(const struct sl_profile *p);

/* What recomputing activations of a training step would save and take, where it
 * was tried; else NULL. */
const struct sl_fact *
sl__profile_recompute_saving(const struct sl_profile *profile);

#endif
