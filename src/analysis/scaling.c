/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scaling.c - how a model's figures grow with batch, sequence and past.
 *
 * Costs are polynomials of the sizes wherever shapes are: so four evaluations
 * of the cost model at equal steps give the coefficients by finite
 * differences, and a third difference of 0 says that the polynomial is right.
 * Nothing is fitted to measurements.
 */
#include "analysis/scaling.h"
#include "base/status.h"

#include <math.h>
#include <string.h>

#include "base/banned.h"

enum { N_POINTS = 4 };

enum { N_FIGURES = SL_N_GROWTH_FIGURES };

const char *
sl_growth_axis_text(enum sl_growth_axis axis)
{
	static const char *const words[SL_N_GROWTH_AXES] = {"batch", "seq",
							    "past"};

	return words[(unsigned)axis < SL_N_GROWTH_AXES ? axis
						       : SL_GROWTH_BATCH];
}

const char *
sl_growth_figure_text(enum sl_growth_figure figure)
{
	static const char *const words[SL_N_GROWTH_FIGURES] = {
		"flops", "attention flops", "activations", "live memory",
		"kv cache"};

	return words[(unsigned)figure < SL_N_GROWTH_FIGURES ? figure
							    : SL_GROWTH_FLOPS];
}

struct axis {
	enum sl_growth_axis axis;
	int64_t symbol, at;
	int64_t first, step;
	const char *absent;
	double values[N_FIGURES][N_POINTS];
	/* Bytes of each storage at the first three points, see degree_of(). */
	uint64_t *n_bytes[N_POINTS - 1];
};

static enum sl_status
take_figures(struct axis *axis, size_t point,
	     const struct sl__static_analysis *s, struct sl__arena *arena)
{
	size_t n = s->graph->n_values;

	axis->values[SL_GROWTH_FLOPS][point] = 2 * (double)s->tally.macs;
	axis->values[SL_GROWTH_ATTENTION][point] =
		2 * (double)s->tally.product_macs;
	axis->values[SL_GROWTH_ACTIVATIONS][point] =
		(double)sl__static_analysis_liveness(s)->activation_bytes;
	axis->values[SL_GROWTH_LIVE][point] =
		(double)sl__static_analysis_liveness(s)->peak_bytes;
	axis->values[SL_GROWTH_KV][point] = s->kv.bytes;
	if (point >= N_POINTS - 1)
		return SL_OK;
	axis->n_bytes[point] = sl__arena_array(arena, n, sizeof(uint64_t));
	if (!axis->n_bytes[point])
		return SL_E_NOMEM;
	/* Values of a fused graph have the model's numbers. */
	if (n)
		memcpy(axis->n_bytes[point],
		       sl__static_analysis_liveness(s)->n_bytes,
		       n * sizeof(uint64_t));
	return SL_OK;
}

/* Which values are alive at the peak changes with the size; for large sizes
 * those that grow fastest decide. */
static double
degree_of(const struct axis *axis, size_t n_values)
{
	double degree = 0;

	for (size_t v = 0; v < n_values && degree < 2; v++) {
		uint64_t a = axis->n_bytes[0][v], b = axis->n_bytes[1][v];
		uint64_t c = axis->n_bytes[2][v];

		if (c + a != 2 * b)
			degree = 2;
		else if (b != a)
			degree = 1;
	}
	return degree;
}

/* d log f / d log n of the polynomial. */
static double
exponent_of(const struct sl_growth *g, double n)
{
	double f = g->constant + g->linear * n + g->quadratic * n * n;

	return f > 0 ? n * (g->linear + 2 * g->quadratic * n) / f : (double)NAN;
}

static double
final_of(const struct sl_growth *g)
{
	if (fabs(g->quadratic) > 0)
		return 2;
	return fabs(g->linear) > 0 ? 1 : 0;
}

void
sl__polynomial_interpolate(struct sl_growth *row, const double v[4],
			   int64_t first, int64_t step)
{
	double h = (double)step, n0 = (double)first;
	double d1 = v[1] - v[0], d2 = v[2] - 2 * v[1] + v[0];
	double d3 = v[3] - 3 * v[2] + 3 * v[1] - v[0];

	row->is_polynomial = fabs(d3) <= 0;
	if (!row->is_polynomial) {
		/* The slope between the last two points. */
		double last = n0 + 3 * h;

		row->constant = row->linear = row->quadratic = (double)NAN;
		row->exponent =
			v[2] > 0 && v[3] > 0
				? log(v[3] / v[2]) / log(last / (last - h))
				: (double)NAN;
		row->final_exponent = nearbyint(row->exponent);
		return;
	}
	/* Newton's form, expanded around 0. */
	row->quadratic = d2 / (2 * h * h);
	row->linear = d1 / h - row->quadratic * (2 * n0 + h);
	row->constant = v[0] - row->linear * n0 - row->quadratic * n0 * n0;
	row->exponent = exponent_of(row, (double)row->at);
	row->final_exponent = final_of(row);
}

static int
has_dim(const struct sl__type *type, int64_t symbol)
{
	for (int d = 0; d < type->rank; d++) {
		if (type->dims[d] == symbol)
			return 1;
	}
	return 0;
}

/* Shapes that were given are needed where the model itself has none. */
static enum sl_status
keep_shapes(struct sl_sizes *sizes, const struct sl_sizes *given,
	    const struct sl_graph *graph, struct sl__arena *arena)
{
	const struct sl__block *main = &graph->blocks[0];
	struct sl_input_shape *shapes;

	if (!given || !given->n_shapes)
		return SL_OK;
	shapes = sl__arena_array(arena, given->n_shapes, sizeof(*shapes));
	if (!shapes)
		return SL_E_NOMEM;
	sizes->shapes = shapes;
	for (size_t k = 0; k < given->n_shapes; k++) {
		for (size_t i = 0; i < main->n_inputs; i++) {
			const struct sl__value *v =
				&graph->values[main->inputs[i]];

			if (v->declared.rank < 0 &&
			    !strcmp(v->name, given->shapes[k].input))
				shapes[sizes->n_shapes++] = given->shapes[k];
		}
	}
	return SL_OK;
}

/* Options that bind all symbols as they are; *bound is their list. */
static enum sl_status
keep_sizes(struct sl_sizes *sizes, struct sl__shapes_options *options,
	   const struct sl__static_analysis *survey, int64_t symbol,
	   int64_t **bound, struct sl__arena *arena)
{
	const struct sl_graph *graph = survey->graph;
	const struct sl__block *main = &graph->blocks[0];
	const struct sl__tensor **contents =
		sl__arena_array(arena, main->n_inputs, sizeof(*contents));

	*bound = sl__arena_array(arena, graph->n_symbols, sizeof(**bound));
	if (!*bound || !contents)
		return SL_E_NOMEM;
	for (size_t i = 0; i < graph->n_symbols; i++)
		(*bound)[i] = survey->shapes->bound[i];
	options->bound = *bound;
	if (keep_shapes(sizes, options->sizes, graph, arena))
		return SL_E_NOMEM;
	/* Contents stay where their shape does. */
	for (size_t i = 0; options->contents && i < main->n_inputs; i++) {
		if (!has_dim(&graph->values[main->inputs[i]].declared, symbol))
			contents[i] = options->contents[i];
	}
	if (options->contents)
		options->contents = contents;
	options->sizes = sizes;
	return SL_OK;
}

static enum sl_status
sample(struct axis *axis, const struct sl__static_analysis *survey,
       const struct sl__shapes_options *options, struct sl__arena *arena,
       struct sl__arena *scratch)
{
	struct sl__shapes_options how = *options;
	struct sl_sizes sizes = {.struct_size = sizeof(sizes)};
	struct sl_error why;
	int64_t *bound;

	if (keep_sizes(&sizes, &how, survey, axis->symbol, &bound, scratch))
		return SL_E_NOMEM;
	for (size_t k = 0; k < N_POINTS; k++) {
		int64_t size = axis->first + (int64_t)k * axis->step;
		struct sl__static_analysis *point;
		enum sl_status rc;

		if (size == axis->at) {
			if (take_figures(axis, k, survey, scratch))
				return SL_E_NOMEM;
			continue;
		}
		bound[axis->symbol - SL__SYMBOL_BASE] = size;
		rc = sl__static_analysis_new(&point, survey->forward.steps,
					     survey->forward.roles, &how, &why);
		if (rc == SL_E_NOMEM)
			return SL_E_NOMEM;
		if (rc) {
			axis->absent = sl__arena_format(
				arena, "at %s %lld: %.300s",
				sl_growth_axis_text(axis->axis),
				(long long)size, why.text);
			return axis->absent ? SL_OK : SL_E_NOMEM;
		}
		rc = take_figures(axis, k, point, scratch);
		sl__static_analysis_free(point);
		if (rc)
			return SL_E_NOMEM;
	}
	return SL_OK;
}

/* Four points at equal steps that end at the size inspected, so that no table
 * of positions runs out; from 1 on where that is too small. */
static void
place_points(struct axis *axis)
{
	axis->first = axis->step = 1;
	if (axis->at >= N_POINTS) {
		axis->step = axis->at / N_POINTS;
		axis->first = axis->at - (N_POINTS - 1) * axis->step;
	}
}

/* Why a figure of a model cannot be told; NULL: it can. */
static const char *
absence_of(const struct axis *axis, enum sl_growth_figure f,
	   const struct sl__static_analysis *survey)
{
	int is_memory = f == SL_GROWTH_ACTIVATIONS || f == SL_GROWTH_LIVE;

	if (axis->absent)
		return axis->absent;
	for (size_t i = 0; !is_memory && i < survey->graph->n_nodes; i++) {
		if (survey->costs.basis[i] == SL_BASIS_UNKNOWN)
			return "the cost of a node is not known";
	}
	if (is_memory && survey->shapes->n_unresolved)
		return "the shape of a value depends on data";
	if (f == SL_GROWTH_FLOPS && !(axis->values[f][N_POINTS - 1] > 0))
		return "nothing here is a convolution or a matmul";
	return NULL;
}

/* Rows of one axis: figures that the model does not have are left out, and
 * where there is no telling for any one row says so for all. */
static size_t
fill_rows(struct sl_growth *rows, const struct axis *axis,
	  const struct sl__static_analysis *survey)
{
	size_t n = 0;

	for (int f = 0; f < N_FIGURES; f++) {
		struct sl_growth *row = &rows[n];
		int has_figure = axis->values[f][N_POINTS - 1] > 0;

		if (f != SL_GROWTH_FLOPS && (axis->absent || !has_figure))
			continue;
		row->axis = axis->axis;
		row->figure = (enum sl_growth_figure)f;
		row->at = axis->at;
		row->absent =
			absence_of(axis, (enum sl_growth_figure)f, survey);
		row->constant = row->linear = row->quadratic = (double)NAN;
		row->exponent = row->final_exponent = (double)NAN;
		n++;
		if (row->absent)
			continue;
		sl__polynomial_interpolate(row, axis->values[f], axis->first,
					   axis->step);
		if (f == SL_GROWTH_LIVE)
			row->final_exponent =
				degree_of(axis, survey->graph->n_values);
	}
	return n;
}

static enum sl_status
add_axis(struct sl_growth *rows, size_t *n, struct axis *axis,
	 const struct sl__static_analysis *survey,
	 const struct sl__shapes_options *options, struct sl__arena *arena)
{
	struct sl__arena scratch;
	enum sl_status rc = SL_OK;

	sl__arena_init(&scratch, &arena->allocator);
	if (!axis->absent) {
		axis->at =
			survey->shapes->bound[axis->symbol - SL__SYMBOL_BASE];
		place_points(axis);
		rc = sample(axis, survey, options, arena, &scratch);
	}
	if (!rc)
		*n += fill_rows(rows + *n, axis, survey);
	sl__arena_release(&scratch);
	return rc;
}

enum sl_status
sl__static_cost_polynomials(const struct sl_growth **out, size_t *n,
			    const struct sl__static_analysis *survey,
			    const struct sl__shapes_options *options,
			    struct sl__arena *arena, struct sl_error *err)
{
	struct sl_growth *rows =
		sl__arena_array(arena, 3 * N_FIGURES, sizeof(*rows));
	struct axis batch = {.axis = SL_GROWTH_BATCH,
			     .symbol = sl__shapes_batch_symbol(survey->graph),
			     .at = survey->batch};
	struct axis seq = {.axis = SL_GROWTH_SEQ,
			   .symbol = sl__shapes_seq_symbol(survey->graph)};
	struct axis past = {.axis = SL_GROWTH_PAST,
			    .symbol = sl__shapes_past_symbol(survey->graph)};
	enum sl_status rc;

	*n = 0;
	if (!rows)
		return sl__fail_nomem(err);
	*out = rows;
	if (!batch.symbol)
		batch.absent = "the model fixes its batch";
	rc = add_axis(rows, n, &batch, survey, options, arena);
	if (!rc && seq.symbol && seq.symbol != batch.symbol)
		rc = add_axis(rows, n, &seq, survey, options, arena);
	if (!rc && past.symbol && past.symbol != seq.symbol)
		rc = add_axis(rows, n, &past, survey, options, arena);
	return rc ? sl__fail_nomem(err) : SL_OK;
}
