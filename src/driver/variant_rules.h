/* SPDX-License-Identifier: Apache-2.0 */
/* variant_rules.h - what each change of variant.def does. */
#ifndef SL_VARIANT_RULES_H
#define SL_VARIANT_RULES_H

#include "base/arena.h"
#include "sleuth/variants.h"

enum { SL__VARIANT_CHANGES_MOST = 8 };

/*
 * A variant that is being made.  A rule changes out->plan, or makes a graph of
 * 'graph' and hands it over by sl__variant_take_graph(); it fills text and
 * n_layers of the change.  Texts are from 'arena'.
 */
struct sl__variant_build {
	struct sl_variant *out;
	const struct sl_graph *model;  /* as it came */
	const struct sl_graph *graph;  /* as changed so far */
	struct sl_variant_options how; /* defaults filled in */
	struct sl__arena *arena;       /* of the result */
	struct sl_variant_change *change;
	/* Made so far, each of the one before: numbers of one lie in the
	 * others. */
	struct sl_graph *graphs[SL__VARIANT_CHANGES_MOST];
	size_t n_graphs;
};

/* 'value' is what follows "=", never NULL where variant.def says that there is
 * one. */
typedef enum sl_status sl__variant_function(struct sl__variant_build *b,
					    const char *value,
					    struct sl_error *err);

#define SL__VARIANT(name, value, text, function) sl__variant_function function;
#include "driver/variant.def"
#undef SL__VARIANT

/* The model is this one from now on; the variant owns it. */
void sl__variant_take_graph(struct sl__variant_build *b,
			    struct sl_graph *graph);

/* Values of a change: a whole number from 1, a share above 0 and below 1.
 * SL_E_USAGE with what is expected. */
enum sl_status sl__variant_read_count(const struct sl__variant_build *b,
				      const char *value, int64_t *out,
				      struct sl_error *err) SL_CHECKED;
enum sl_status sl__variant_read_share(const struct sl__variant_build *b,
				      const char *value, double *out,
				      struct sl_error *err) SL_CHECKED;

#endif
