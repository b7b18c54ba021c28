/* SPDX-License-Identifier: Apache-2.0 */
/* variant_quantize.c - models that compute with small integers. */
#include "base/status.h"
#include "driver/layer_sensitivity.h"
#include "driver/variant_rules.h"
#include "experiment/activation_ranges.h"
#include "transform/extract.h"

#include "base/banned.h"

/* Marks the nodes that stay as they are. */
static enum sl_status
find_kept(const struct sl__variant_build *b, unsigned char *is_kept,
	  struct sl__arena *scratch, struct sl_error *err)
{
	size_t n = b->graph->n_nodes;
	unsigned char *is_found = sl__arena_alloc(scratch, n + 1);
	enum sl_status rc = SL_OK;

	if (!is_found)
		return sl__fail_nomem(err);
	for (size_t i = 0; !rc && i < b->how.n_keep; i++) {
		rc = sl__extract_find_nodes(b->graph, b->how.keep[i], is_found,
					    scratch, err);
		for (size_t k = 0; !rc && k < n; k++)
			is_kept[k] |= is_found[k];
	}
	return rc;
}

/* The ranges of what is wanted, measured. */
static enum sl_status
calibrate(struct sl__variant_build *b, const struct sl__quantize_options *how,
	  struct sl__value_range *ranges, struct sl__arena *scratch,
	  struct sl_error *err)
{
	unsigned char *is_wanted =
		sl__arena_alloc(scratch, b->graph->n_values + 1);
	const struct sl__activation_ranges_options what = {
		.graph = b->graph,
		.is_wanted = is_wanted,
		.plan = &b->out->plan,
		.how = &b->how};
	size_t n_samples = 0;
	enum sl_status rc;

	if (!is_wanted)
		return sl__fail_nomem(err);
	rc = sl__quantize_find_values(is_wanted, how, err);
	if (!rc)
		rc = sl__activation_ranges_measure(ranges, &n_samples, &what,
						   err);
	if (rc)
		return rc;
	b->change->text = sl__arena_format(
		b->arena,
		"convolutions and matrix products in 8 bits, calibrated by %s "
		"on %zu %s",
		sl_calibration_text(b->how.calibration), n_samples,
		b->how.data ? "samples" : "synthetic inputs");
	return b->change->text ? SL_OK : sl__fail_nomem(err);
}

/* What each change does once nodes that are kept and sizes are known. */
typedef enum sl_status change_function(struct sl__variant_build *b,
				       const struct sl__quantize_options *how,
				       struct sl_graph **out,
				       struct sl__arena *scratch,
				       struct sl_error *err);

/* "..., 2 of 12 layers left in f32: all in 8 bits lose 1.3 points, these 0.2"
 */
static enum sl_status
tell_choice(struct sl__variant_build *b, struct sl_error *err)
{
	const char *where = b->how.data ? "the training split"
					: "synthetic inputs";
	struct sl_variant_change *c = b->change;
	size_t n = 0;

	for (size_t i = 0; i < c->n_sensitivities; i++)
		n += c->sensitivities[i].is_kept != 0;
	c->text = n ? sl__arena_format(
			      b->arena,
			      "%s; %zu of %zu layers left in f32: all in 8 "
			      "bits lose %.3g points on %s, these %.3g",
			      c->text, n, c->n_sensitivities,
			      100 * c->drop_of_all, where, 100 * c->drop)
		    : sl__arena_format(b->arena,
				       "%s; all layers lose %.3g points on %s",
				       c->text, 100 * c->drop, where);
	return c->text ? SL_OK : sl__fail_nomem(err);
}

/* Which further layers stay in f32 so that accuracy does. */
static enum sl_status
choose_layers(struct sl__variant_build *b, struct sl__quantize_options *how,
	      const struct sl__value_range *ranges, struct sl__arena *scratch,
	      struct sl_error *err)
{
	const struct sl__sensitivity_options what = {.quantize = how,
						     .ranges = ranges,
						     .plan = &b->out->plan,
						     .how = &b->how};
	size_t n = b->graph->n_nodes;
	unsigned char *is_kept = sl__arena_alloc(scratch, n + 1);
	enum sl_status rc;

	if (!is_kept)
		return sl__fail_nomem(err);
	for (size_t i = 0; i < n; i++)
		is_kept[i] = how->is_kept[i];
	rc = sl__sensitivity_choose(b->change, is_kept, &what, b->arena, err);
	how->is_kept = is_kept;
	return rc ? rc : tell_choice(b, err);
}

static enum sl_status
change_to_int8(struct sl__variant_build *b,
	       const struct sl__quantize_options *asked, struct sl_graph **out,
	       struct sl__arena *scratch, struct sl_error *err)
{
	struct sl__quantize_options how = *asked;
	struct sl__value_range *ranges =
		sl__arena_array(scratch, b->graph->n_values, sizeof(*ranges));
	enum sl_status rc;

	if (!ranges)
		return sl__fail_nomem(err);
	rc = calibrate(b, &how, ranges, scratch, err);
	if (!rc && b->how.accuracy_drop > 0)
		rc = choose_layers(b, &how, ranges, scratch, err);
	return rc ? rc
		  : sl__quantize_static(out, &b->change->n_layers, &how, ranges,
					err);
}

static enum sl_status
change_to_int8_dynamic(struct sl__variant_build *b,
		       const struct sl__quantize_options *how,
		       struct sl_graph **out, struct sl__arena *scratch,
		       struct sl_error *err)
{
	(void)scratch;
	b->change->text = "matrix products in 8 bits, activations by what each "
			  "call spans";
	return sl__quantize_dynamic(out, &b->change->n_layers, how, err);
}

static enum sl_status
change_to_int8_weights(struct sl__variant_build *b,
		       const struct sl__quantize_options *how,
		       struct sl_graph **out, struct sl__arena *scratch,
		       struct sl_error *err)
{
	(void)scratch;
	b->change->text = "weights of matrix products in 8 bits, a scale for "
			  "each 32";
	return sl__quantize_weights(out, &b->change->n_layers, how, 8, err);
}

static enum sl_status
change_to_int4_weights(struct sl__variant_build *b,
		       const struct sl__quantize_options *how,
		       struct sl_graph **out, struct sl__arena *scratch,
		       struct sl_error *err)
{
	(void)scratch;
	b->change->text = "weights of matrix products in 4 bits, a scale for "
			  "each 32";
	return sl__quantize_weights(out, &b->change->n_layers, how, 4, err);
}

static enum sl_status
quantize(struct sl__variant_build *b, change_function *change,
	 struct sl_error *err)
{
	const struct sl__shapes_options sizes = {.sizes = &b->out->sizes,
						 .allocator = b->how.allocator};
	struct sl__quantize_options how = {.graph = b->graph,
					   .allocator = b->how.allocator};
	struct sl__shapes *shapes = NULL;
	struct sl_graph *graph = NULL;
	struct sl__arena scratch;
	unsigned char *is_kept;
	enum sl_status rc;

	sl__arena_init(&scratch, b->how.allocator);
	is_kept = sl__arena_alloc(&scratch, b->graph->n_nodes + 1);
	rc = is_kept ? find_kept(b, is_kept, &scratch, err)
		     : sl__fail_nomem(err);
	if (!rc)
		rc = sl__shapes_new(&shapes, b->graph, &sizes, err);
	how.shapes = shapes;
	how.is_kept = is_kept;
	if (!rc)
		rc = change(b, &how, &graph, &scratch, err);
	if (!rc)
		sl__variant_take_graph(b, graph);
	sl__shapes_free(shapes);
	sl__arena_release(&scratch);
	return rc;
}

enum sl_status
sl__variant_int8(struct sl__variant_build *b, const char *value,
		 struct sl_error *err)
{
	(void)value;
	return quantize(b, change_to_int8, err);
}

enum sl_status
sl__variant_int8_dynamic(struct sl__variant_build *b, const char *value,
			 struct sl_error *err)
{
	(void)value;
	return quantize(b, change_to_int8_dynamic, err);
}

enum sl_status
sl__variant_int8_weights(struct sl__variant_build *b, const char *value,
			 struct sl_error *err)
{
	(void)value;
	return quantize(b, change_to_int8_weights, err);
}

enum sl_status
sl__variant_int4_weights(struct sl__variant_build *b, const char *value,
			 struct sl_error *err)
{
	(void)value;
	return quantize(b, change_to_int4_weights, err);
}
