/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ref_state.c - operators that hand a state from one call to the next:
 * CausalConvWithState keeps the last elements that it saw, LinearAttention a
 * matrix for each head in which keys find values.
 */
#include "ops/ref_heads.h"

#include <math.h>
#include <string.h>

#include "base/banned.h"

/* x [batch][channels][length], past [batch][channels][taps - 1]. */
struct causal {
	int64_t rows, channels, length, taps; /* rows: batch * channels */
	const double *x, *weight, *bias, *past;
	double *y, *line; /* line: the past of one row, and the row */
	double *state;
};

static enum sl_status
open_causal(struct causal *c, struct sl__kernel_call *ev)
{
	const struct sl__tensor *past = sl__ref_input_tensor(ev, 3);
	const struct sl__tensor *bias = sl__ref_input_tensor(ev, 2);

	if (sl__ref_input_rank(ev, 0) != 3 || sl__ref_input_rank(ev, 1) != 3 ||
	    sl__ref_input_dim(ev, 1, 0) != sl__ref_input_dim(ev, 0, 1) ||
	    sl__ref_input_dim(ev, 1, 1) != 1 || sl__ref_input_dim(ev, 1, 2) < 1)
		return sl__ref_reject(ev,
				      "the kernel does not fit the channels");
	c->channels = sl__ref_input_dim(ev, 0, 1);
	c->rows = sl__ref_input_dim(ev, 0, 0) * c->channels;
	c->length = sl__ref_input_dim(ev, 0, 2);
	c->taps = sl__ref_input_dim(ev, 1, 2);
	if ((past && past->n_elements != (uint64_t)(c->rows * (c->taps - 1))) ||
	    (bias && bias->n_elements != (uint64_t)c->channels))
		return sl__ref_reject(ev, "the bias or the state does not fit");
	c->x = sl__ref_input_doubles(ev, 0);
	c->weight = sl__ref_input_doubles(ev, 1);
	c->bias = sl__ref_optional_doubles(ev, 2);
	c->past = sl__ref_optional_doubles(ev, 3);
	c->y = sl__ref_scratch_doubles(ev, c->rows * c->length);
	c->line = sl__ref_scratch_doubles(ev, c->length + c->taps - 1);
	c->state = sl__ref_scratch_doubles(ev, c->rows * (c->taps - 1));
	return ev->failure;
}

static void
run_row(const struct causal *c, int64_t row)
{
	int64_t before = c->taps - 1, channel = row % c->channels;
	size_t old_bytes = (size_t)before * sizeof(double);

	memset(c->line, 0, old_bytes);
	if (c->past)
		memcpy(c->line, c->past + row * before, old_bytes);
	memcpy(c->line + before, c->x + row * c->length,
	       (size_t)c->length * sizeof(double));
	for (int64_t i = 0; i < c->length; i++) {
		double sum = c->bias ? c->bias[channel] : 0;

		for (int64_t k = 0; k < c->taps; k++)
			sum += c->weight[channel * c->taps + k] *
			       c->line[i + k];
		c->y[row * c->length + i] = sum;
	}
	memcpy(c->state + row * before, c->line + c->length, old_bytes);
}

enum sl_status
sl__ref_causal_conv(struct sl__kernel_call *ev)
{
	const char *word = sl__attribute_string(ev->node, "activation", "none");
	int is_swish = !strcmp(word, "silu") || !strcmp(word, "swish");
	struct causal c = {0};

	if (!is_swish && strcmp(word, "none") != 0)
		return sl__ref_reject(ev, "activation is '%.40s'", word);
	if (open_causal(&c, ev))
		return ev->failure;
	for (int64_t row = 0; row < c.rows; row++)
		run_row(&c, row);
	for (int64_t i = 0; is_swish && i < c.rows * c.length; i++)
		c.y[i] /= 1 + exp(-c.y[i]);
	sl__ref_output_store_doubles(ev, 0, c.y);
	return sl__ref_output_store_doubles(ev, 1, c.state);
}

/*
 * q [batch][length][n_heads * width], k and v as q with n_kv_heads; the state
 * is [batch][n_kv_heads][width][value_width].  'decay' has one number for a
 * head or for each element of its keys, 'beta' for a head or for all.
 */
struct linear {
	int64_t batch, length, n_heads, n_kv_heads, width, value_width;
	const double *q, *k, *v, *decay, *beta;
	int64_t n_decay, n_beta; /* numbers for one token */
	double scale;
	double *state, *y, *value; /* value: one row, as it is written */
};

static enum sl_status
read_linear_sizes(struct linear *l, struct sl__kernel_call *ev)
{
	struct sl__head_attention h = {0};

	if (sl__head_attention_read(&h, ev))
		return ev->failure;
	l->batch = h.batch;
	l->length = h.queries;
	l->n_heads = h.n_heads;
	l->n_kv_heads = h.n_kv_heads;
	l->width = h.width;
	l->value_width = h.value_width;
	for (size_t i = 1; i < 3; i++) {
		int64_t width = i == 1 ? h.width : h.value_width;

		if (!sl__ref_input_has_dims(ev, i, 3,
					    (int64_t[]){h.batch, h.queries,
							h.n_kv_heads * width}))
			return sl__ref_reject(
				ev, "input %zu does not fit the queries", i);
	}
	return SL_OK;
}

/* Input i has numbers for each token, one of two counts; its last dimension
 * goes to *n. */
static const double *
read_factors(const struct linear *l, struct sl__kernel_call *ev, size_t i,
	     int64_t *n)
{
	const struct sl__tensor *t = sl__ref_input_tensor(ev, i);
	int64_t other = i == 4 ? l->n_kv_heads * l->width : 1;

	if (t && (t->rank != 3 || t->dims[0] != l->batch ||
		  t->dims[1] != l->length ||
		  (t->dims[2] != l->n_kv_heads && t->dims[2] != other)))
		sl__ref_reject(ev, "input %zu does not fit the tokens", i);
	*n = t ? t->dims[2] : 0;
	return sl__ref_optional_doubles(ev, i);
}

static enum sl_status
open_linear(struct linear *l, struct sl__kernel_call *ev)
{
	const struct sl__tensor *past = sl__ref_input_tensor(ev, 3);
	const double *old = sl__ref_optional_doubles(ev, 3);
	int64_t n = l->batch * l->n_kv_heads * l->width * l->value_width;

	l->q = sl__ref_input_doubles(ev, 0);
	l->k = sl__ref_input_doubles(ev, 1);
	l->v = sl__ref_input_doubles(ev, 2);
	l->decay = read_factors(l, ev, 4, &l->n_decay);
	l->beta = read_factors(l, ev, 5, &l->n_beta);
	if (past && past->n_elements != (uint64_t)n)
		return sl__ref_reject(ev, "the state does not fit");
	l->state = sl__ref_scratch_doubles(ev, n);
	l->value = sl__ref_scratch_doubles(ev, l->value_width);
	l->y = sl__ref_scratch_doubles(ev, l->batch * l->length * l->n_heads *
						   l->value_width);
	if (!ev->failure && old)
		memcpy(l->state, old, (size_t)n * sizeof(*old));
	return ev->failure;
}

/* The state fades, is corrected by what it holds for the key, and takes the
 * value in. */
static void
write_token(const struct linear *l, int64_t token, int64_t head, double *state)
{
	const double *k = l->k + (token * l->n_kv_heads + head) * l->width;
	const double *v =
		l->v + (token * l->n_kv_heads + head) * l->value_width;
	int64_t m = l->value_width;

	for (int64_t d = 0; l->decay && d < l->width; d++) {
		int64_t at = l->n_decay == l->n_kv_heads ? head
							 : head * l->width + d;
		double rest = exp(l->decay[token * l->n_decay + at]);

		for (int64_t j = 0; j < m; j++)
			state[d * m + j] *= rest;
	}
	memcpy(l->value, v, (size_t)m * sizeof(*v));
	for (int64_t j = 0; l->beta && j < m; j++) {
		for (int64_t d = 0; d < l->width; d++)
			l->value[j] -= state[d * m + j] * k[d];
		l->value[j] *= l->beta[token * l->n_beta +
				       (l->n_beta == 1 ? 0 : head)];
	}
	for (int64_t d = 0; d < l->width; d++) {
		for (int64_t j = 0; j < m; j++)
			state[d * m + j] += k[d] * l->value[j];
	}
}

static void
read_token(const struct linear *l, int64_t token, int64_t head,
	   const double *state)
{
	int64_t at = token * l->n_heads + head, m = l->value_width;
	double *y = l->y + at * m;

	for (int64_t d = 0; d < l->width; d++) {
		double q = l->q[at * l->width + d] * l->scale;

		for (int64_t j = 0; j < m; j++)
			y[j] += q * state[d * m + j];
	}
}

/* Which inputs the rule wants is told by its name. */
static enum sl_status
check_rule(struct sl__kernel_call *ev)
{
	const char *rule =
		sl__attribute_string(ev->node, "update_rule", "gated_delta");
	int fades = !strncmp(rule, "gated", 5);
	int corrects = strstr(rule, "delta") != NULL;

	if (strcmp(rule, "linear") != 0 && strcmp(rule, "gated") != 0 &&
	    strcmp(rule, "delta") != 0 && strcmp(rule, "gated_delta") != 0)
		return sl__ref_reject(ev, "update_rule is '%.40s'", rule);
	if ((sl__ref_input(ev, 4) != NULL) != fades ||
	    (sl__ref_input(ev, 5) != NULL) != corrects)
		return sl__ref_reject(
			ev, "decay or beta do not go with the rule '%s'", rule);
	return SL_OK;
}

enum sl_status
sl__ref_linear_attention(struct sl__kernel_call *ev)
{
	double given = sl__attribute_float(ev->node, "scale", 0);
	struct linear l = {0};
	int64_t dims[4], group, size;

	if (check_rule(ev) || read_linear_sizes(&l, ev) || open_linear(&l, ev))
		return ev->failure;
	l.scale = given > 0 || given < 0 ? given : 1 / sqrt((double)l.width);
	group = l.n_heads / l.n_kv_heads;
	size = l.width * l.value_width;
	for (int64_t i = 0; i < l.batch * l.length * l.n_kv_heads; i++) {
		int64_t token = i / l.n_kv_heads, head = i % l.n_kv_heads;
		double *state = l.state +
				(token / l.length * l.n_kv_heads + head) * size;

		write_token(&l, token, head, state);
		for (int64_t k = 0; k < group; k++)
			read_token(&l, token, head * group + k, state);
	}
	sl__ref_output_store_doubles(ev, 0, l.y);
	dims[0] = l.batch;
	dims[1] = l.n_kv_heads;
	dims[2] = l.width;
	dims[3] = l.value_width;
	return sl__ref_output_alloc_store(
		ev, 1, sl__ref_input_dtype(ev, sl__ref_input(ev, 3) ? 3 : 0), 4,
		dims, l.state);
}
