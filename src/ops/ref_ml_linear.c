/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ref_ml_linear.c - reference kernels of ai.onnx.ml: linear models and support
 * vector machines.
 *
 * What the standard leaves open (labels of two classes, the order of scores)
 * is done as in ONNX Runtime.
 */
#include "ops/ref_ml_scores.h"

#include <math.h>

#include "base/banned.h"

/* n rows of weights, one for each score, and what is added to each. */
struct linear {
	int64_t n, n_features;
	const float *weights, *added; /* added: NULL for none */
};

static enum sl_status
read_linear(struct linear *l, struct sl__kernel_call *ev, int64_t n_features,
	    int64_t n)
{
	size_t n_weights = sl__ml_floats(ev, "coefficients", &l->weights);
	size_t n_added = sl__ml_floats(ev, "intercepts", &l->added);

	l->n_features = n_features;
	l->n = n > 0 ? n : n_features > 0 ? (int64_t)n_weights / n_features : 0;
	if (l->n < 1 || n_features < 1 ||
	    (uint64_t)l->n != n_weights / (uint64_t)n_features ||
	    n_weights % (uint64_t)n_features ||
	    (n_added && n_added != (size_t)l->n))
		return sl__ref_reject(ev,
				      "%zu coefficients and %zu intercepts do "
				      "not fit %lld features",
				      n_weights, n_added,
				      (long long)n_features);
	return SL_OK;
}

static void
score_row(const struct linear *l, const double *x, double *scores)
{
	for (int64_t k = 0; k < l->n; k++) {
		const float *w = l->weights + k * l->n_features;
		double sum = l->added ? (double)l->added[k] : 0;

		for (int64_t j = 0; j < l->n_features; j++)
			sum += (double)w[j] * x[j];
		scores[k] = sum;
	}
}

enum sl_status
sl__ref_linear_regressor(struct sl__kernel_call *ev)
{
	enum sl__ml_transform how = sl__ml_transform_read(ev);
	const double *x = sl__ref_input_doubles(ev, 0);
	double *y = sl__ref_scratch_output(ev, 0);
	int64_t n_rows, n_features;
	struct linear l;

	sl__ml_rows(ev, &n_rows, &n_features);
	if (ev->failure ||
	    read_linear(&l, ev, n_features,
			sl__attribute_int(ev->node, "targets", 1)))
		return ev->failure;
	for (int64_t i = 0; i < n_rows; i++) {
		score_row(&l, x + i * n_features, y + i * l.n);
		sl__ml_transform_scores(y + i * l.n, l.n, how);
	}
	return sl__ref_output_store_doubles(ev, 0, y);
}

/* Scores of the classes of all rows; the output has n_columns. */
static enum sl_status
store_scores(struct sl__kernel_call *ev, const double *scores, int64_t n_rows,
	     int64_t n_columns)
{
	const int64_t dims[] = {n_rows, n_columns};

	if (ev->failure || !sl__ref_output(ev, 1))
		return ev->failure;
	return sl__ref_output_alloc_store(ev, 1, SL_DTYPE_F32, 2, dims, scores);
}

enum sl_status
sl__ref_linear_classifier(struct sl__kernel_call *ev)
{
	enum sl__ml_transform how = sl__ml_transform_read(ev);
	const double *x = sl__ref_input_doubles(ev, 0);
	int64_t n_rows, n_features, n_columns;
	struct sl__ml_classes classes;
	struct linear l;
	double *scores;
	size_t *chosen;

	sl__ml_rows(ev, &n_rows, &n_features);
	if (ev->failure || sl__ml_classes_read(&classes, ev) ||
	    read_linear(&l, ev, n_features, 0))
		return ev->failure;
	n_columns = l.n == 1 ? 2 : l.n;
	if ((size_t)n_columns != classes.n)
		return sl__ref_reject(ev, "%lld scores for %zu classes",
				      (long long)l.n, classes.n);
	scores = sl__ref_scratch_doubles(ev, n_rows * n_columns);
	chosen = sl__ref_scratch(ev, (size_t)n_rows, sizeof(*chosen));
	for (int64_t i = 0; !ev->failure && i < n_rows; i++) {
		double *row = scores + i * n_columns;

		score_row(&l, x + i * n_features, row);
		chosen[i] = l.n == 1 ? (size_t)(row[0] > 0)
				     : sl__ml_largest(row, classes.n);
		if (l.n == 1)
			sl__ml_transform_pair(row, SL__ML_COMPLEMENT, how);
		else
			sl__ml_transform_scores(row, n_columns, how);
	}
	sl__ml_classes_store(&classes, ev, chosen, n_rows);
	return store_scores(ev, scores, n_rows, n_columns);
}

enum kernel { LINEAR, POLY, RBF, SIGMOID };

/* Vectors and how a row is compared with them. */
struct machine {
	enum kernel kernel;
	double gamma, offset, degree;
	int64_t n_vectors, n_features;
	const float *vectors, *coefficients, *rho;
	size_t n_coefficients, n_rho;
};

static enum sl_status
read_machine(struct machine *m, struct sl__kernel_call *ev, int64_t n_features)
{
	static const char *const kernels[] = {"LINEAR", "POLY", "RBF",
					      "SIGMOID", NULL};
	const float *parameters;
	size_t n = sl__ml_floats(ev, "kernel_params", &parameters);
	size_t n_numbers = sl__ml_floats(ev, "support_vectors", &m->vectors);

	m->kernel = (enum kernel)sl__ref_attribute_choice(ev, "kernel_type",
							  kernels);
	m->gamma = n > 0 ? (double)parameters[0] : 0;
	m->offset = n > 1 ? (double)parameters[1] : 0;
	m->degree = n > 2 ? (double)parameters[2] : 0;
	m->n_features = n_features;
	m->n_coefficients = sl__ml_floats(ev, "coefficients", &m->coefficients);
	m->n_rho = sl__ml_floats(ev, "rho", &m->rho);
	if (ev->failure)
		return ev->failure;
	if (n_features < 1 || n_numbers % (uint64_t)n_features)
		return sl__ref_reject(ev,
				      "support vectors of %zu numbers do not "
				      "fit %lld features",
				      n_numbers, (long long)n_features);
	m->n_vectors = (int64_t)n_numbers / n_features;
	return m->n_rho ? SL_OK : sl__ref_reject(ev, "it has no rho");
}

static double
compare(const struct machine *m, const double *x, const float *vector)
{
	double sum = 0;

	for (int64_t j = 0; j < m->n_features; j++) {
		double v = (double)vector[j];

		sum += m->kernel == RBF ? (x[j] - v) * (x[j] - v) : x[j] * v;
	}
	switch (m->kernel) {
	case POLY:
		return pow(m->gamma * sum + m->offset, m->degree);
	case RBF:
		return exp(-m->gamma * sum);
	case SIGMOID:
		return tanh(m->gamma * sum + m->offset);
	case LINEAR:
	default:
		return sum;
	}
}

enum sl_status
sl__ref_vector_regressor(struct sl__kernel_call *ev)
{
	int is_one_class = sl__attribute_int(ev->node, "one_class", 0) != 0;
	enum sl__ml_transform how = sl__ml_transform_read(ev);
	const double *x = sl__ref_input_doubles(ev, 0);
	double *y = sl__ref_scratch_output(ev, 0);
	int64_t n_rows, n_features;
	struct machine m;

	sl__ml_rows(ev, &n_rows, &n_features);
	if (ev->failure || read_machine(&m, ev, n_features))
		return ev->failure;
	if (m.n_coefficients !=
	    (size_t)(m.n_vectors ? m.n_vectors : n_features))
		return sl__ref_reject(ev,
				      "%zu coefficients do not fit %lld "
				      "vectors",
				      m.n_coefficients, (long long)m.n_vectors);
	for (int64_t i = 0; i < n_rows; i++) {
		const double *row = x + i * n_features;
		double sum = (double)m.rho[0];

		for (int64_t k = 0; k < m.n_vectors; k++)
			sum += (double)m.coefficients[k] *
			       compare(&m, row, m.vectors + k * n_features);
		if (!m.n_vectors)
			sum += compare(&m, row, m.coefficients);
		y[i] = is_one_class ? (sum > 0 ? 1 : -1) : sum;
		sl__ml_transform_scores(y + i, 1, how);
	}
	return sl__ref_output_store_doubles(ev, 0, y);
}

/* A classifier of vectors: one score for each pair of classes. */
struct voting {
	struct machine m;
	struct sl__ml_classes classes;
	const int64_t *n_of;          /* vectors of each class */
	const float *prob_a, *prob_b; /* of each pair; NULL: scores are given */
	int64_t n_pairs;
	double *kernels, *pairs, *votes, *each, *work;
};

static enum sl_status
read_voting(struct voting *v, struct sl__kernel_call *ev)
{
	size_t n = v->classes.n, n_a, n_b;
	int64_t sum = 0;

	v->n_pairs = (int64_t)(n * (n - 1) / 2);
	n_a = sl__ml_floats(ev, "prob_a", &v->prob_a);
	n_b = sl__ml_floats(ev, "prob_b", &v->prob_b);
	if (sl__attribute_ints(ev->node, "vectors_per_class", &v->n_of) != n)
		return sl__ref_reject(ev, "vectors_per_class is not one number "
					  "for each class");
	for (size_t k = 0; k < n; k++) {
		if (v->n_of[k] < 0 || v->n_of[k] > v->m.n_vectors - sum)
			return sl__ref_reject(ev, "a class of %lld vectors",
					      (long long)v->n_of[k]);
		sum += v->n_of[k];
	}
	if (v->m.n_coefficients != (n - 1) * (size_t)v->m.n_vectors ||
	    v->m.n_rho != (size_t)v->n_pairs || n_a != n_b ||
	    (n_a && n_a != (size_t)v->n_pairs))
		return sl__ref_reject(ev,
				      "its coefficients, rho or "
				      "probabilities do not fit %zu "
				      "classes",
				      n);
	v->kernels = sl__ref_scratch_doubles(ev, v->m.n_vectors);
	v->pairs = sl__ref_scratch_doubles(ev, v->n_pairs);
	v->votes = sl__ref_scratch_doubles(ev, (int64_t)n);
	v->each = sl__ref_scratch_doubles(ev, (int64_t)(n * n));
	v->work = sl__ref_scratch_doubles(ev, (int64_t)(n * n + n));
	return ev->failure;
}

/* The score of each pair, above 0 for the first of the two, who then has a
 * vote more. */
static void
compare_pairs(struct voting *v, const double *x)
{
	const struct machine *m = &v->m;
	int64_t n = (int64_t)v->classes.n, pair = 0, first = 0;

	for (int64_t k = 0; k < m->n_vectors; k++)
		v->kernels[k] = compare(m, x, m->vectors + k * m->n_features);
	for (int64_t k = 0; k < n; k++)
		v->votes[k] = 0;
	for (int64_t i = 0; i < n; first += v->n_of[i++]) {
		int64_t second = first + v->n_of[i];

		for (int64_t j = i + 1; j < n; second += v->n_of[j++]) {
			const float *a =
				m->coefficients + (j - 1) * m->n_vectors;
			const float *b = m->coefficients + i * m->n_vectors;
			double sum = (double)m->rho[pair];

			for (int64_t k = first; k < first + v->n_of[i]; k++)
				sum += (double)a[k] * v->kernels[k];
			for (int64_t k = second; k < second + v->n_of[j]; k++)
				sum += (double)b[k] * v->kernels[k];
			v->pairs[pair++] = sum;
			v->votes[sum > 0 ? i : j]++;
		}
	}
}

/* One step of Wu, Lin and Weng's second method: each class in its turn. */
static void
couple_once(const double *q, double *products, double *p, int64_t n)
{
	double total = 0;

	for (int64_t t = 0; t < n; t++)
		total += p[t] * products[t];
	for (int64_t t = 0; t < n; t++) {
		double step = (total - products[t]) / q[t * n + t];

		p[t] += step;
		total = (total +
			 step * (step * q[t * n + t] + 2 * products[t])) /
			(1 + step) / (1 + step);
		for (int64_t j = 0; j < n; j++) {
			products[j] = (products[j] + step * q[t * n + j]) /
				      (1 + step);
			p[j] /= 1 + step;
		}
	}
}

/*
 * Probabilities of classes from those of pairs: Wu, Lin and Weng, Probability
 * estimates for multi-class classification by pairwise coupling, JMLR 2004;
 * bounds and number of steps are libsvm's.
 */
static void
couple(struct voting *v, double *p)
{
	enum { STEPS_MOST = 100 };
	int64_t n = (int64_t)v->classes.n;
	double *q = v->work, *products = v->work + n * n, *r = v->each;
	double enough = 0.005 / (double)n;

	for (int64_t t = 0; t < n; t++) {
		p[t] = 1 / (double)n;
		q[t * n + t] = 0;
		for (int64_t j = 0; j < n; j++) {
			if (j == t)
				continue;
			q[t * n + t] += r[j * n + t] * r[j * n + t];
			q[t * n + j] = -r[j * n + t] * r[t * n + j];
		}
	}
	for (int step = 0; step < STEPS_MOST; step++) {
		double total = 0, worst = 0;

		for (int64_t t = 0; t < n; t++) {
			products[t] = 0;
			for (int64_t j = 0; j < n; j++)
				products[t] += q[t * n + j] * p[j];
			total += p[t] * products[t];
		}
		for (int64_t t = 0; t < n; t++)
			worst = fmax(worst, fabs(products[t] - total));
		if (worst < enough)
			return;
		couple_once(q, products, p, n);
	}
}

/* Platt's probabilities of pairs, then those of classes. */
static void
find_probabilities(struct voting *v, double *p)
{
	const double least = 1e-7;
	int64_t n = (int64_t)v->classes.n, pair = 0;

	for (int64_t i = 0; i < n; i++) {
		for (int64_t j = i + 1; j < n; j++, pair++) {
			double one =
				1 / (1 + exp(v->pairs[pair] *
						     (double)v->prob_a[pair] +
					     (double)v->prob_b[pair]));

			one = fmin(fmax(one, least), 1 - least);
			v->each[i * n + j] = one;
			v->each[j * n + i] = 1 - one;
		}
	}
	couple(v, p);
}

/* Scores of a row: probabilities, or those of the pairs. */
static void
score_votes(struct voting *v, double *row, int64_t n_columns,
	    enum sl__ml_transform how)
{
	if (v->prob_a) {
		find_probabilities(v, row);
		sl__ml_transform_scores(row, n_columns, how);
	} else if (v->n_pairs == 1) {
		row[0] = v->pairs[0];
		sl__ml_transform_pair(row,
				      how == SL__ML_NONE ? SL__ML_OPPOSITE
							 : SL__ML_COMPLEMENT,
				      how);
	} else {
		for (int64_t k = 0; k < n_columns; k++)
			row[k] = v->pairs[k];
		sl__ml_transform_scores(row, n_columns, how);
	}
}

enum sl_status
sl__ref_vector_classifier(struct sl__kernel_call *ev)
{
	enum sl__ml_transform how = sl__ml_transform_read(ev);
	const double *x = sl__ref_input_doubles(ev, 0);
	int64_t n_rows, n_features, n_columns;
	struct voting v = {.n_pairs = 0};
	double *scores;
	size_t *chosen;

	sl__ml_rows(ev, &n_rows, &n_features);
	if (ev->failure || sl__ml_classes_read(&v.classes, ev) ||
	    read_machine(&v.m, ev, n_features))
		return ev->failure;
	if (!v.m.n_vectors)
		return sl__ref_fail(ev, SL_E_ABSENT,
				    "a classifier without support vectors: not "
				    "done by this build");
	if (v.classes.n < 2)
		return sl__ref_reject(ev, "a single class");
	if (read_voting(&v, ev))
		return ev->failure;
	n_columns = v.prob_a || v.n_pairs == 1 ? (int64_t)v.classes.n
					       : v.n_pairs;
	scores = sl__ref_scratch_doubles(ev, n_rows * n_columns);
	chosen = sl__ref_scratch(ev, (size_t)n_rows, sizeof(*chosen));
	for (int64_t i = 0; !ev->failure && i < n_rows; i++) {
		compare_pairs(&v, x + i * n_features);
		chosen[i] = sl__ml_largest(v.votes, v.classes.n);
		score_votes(&v, scores + i * n_columns, n_columns, how);
	}
	sl__ml_classes_store(&v.classes, ev, chosen, n_rows);
	return store_scores(ev, scores, n_rows, n_columns);
}
