/* SPDX-License-Identifier: Apache-2.0 */
/* sweep_axis.c - what a sweep changes: sizes, threads, names with widths. */
#include "driver/sweep_axis.h"
#include "base/status.h"
#include "base/thread.h"

#include <stdlib.h>
#include <string.h>

#include "base/banned.h"

/* A size above this is a slip of the finger. */
static const int64_t VALUE_MOST = 1000000000;

const char *
sl_axis_text(enum sl_axis axis)
{
	static const char *const words[SL_N_AXES] = {"batch", "seq", "threads",
						     "width"};

	return (unsigned)axis < SL_N_AXES ? words[axis] : "batch";
}

const char *
sl_rate_unit_text(enum sl_rate_unit unit)
{
	static const char *const words[] = {"samples/s", "tokens/s", "FLOP/s"};

	return words[(unsigned)unit <= SL_RATE_FLOPS ? unit : SL_RATE_SAMPLES];
}

enum sl_rate_unit
sl__axis_rate_unit(enum sl_axis axis)
{
	switch (axis) {
	case SL_AXIS_SEQ:
		return SL_RATE_TOKENS;
	case SL_AXIS_WIDTH:
		return SL_RATE_FLOPS;
	case SL_AXIS_BATCH:
	case SL_AXIS_THREADS:
		break;
	}
	return SL_RATE_SAMPLES;
}

struct reader {
	enum sl_axis axis;
	const char *next;
	struct sl_sweep_values *out;
	struct sl_error *err;
};

static enum sl_status
fail_layout(struct reader *r)
{
	return sl__fail(r->err, SL_E_USAGE,
			"must be a range such as 1..64 (doubling) or "
			"64..512:64 (in steps), or a list such as 1,3,8");
}

static enum sl_status
read_value(struct reader *r, int64_t *out)
{
	char *end;

	if (*r->next == 'N' && r->axis == SL_AXIS_THREADS) {
		*out = (int64_t)sl__thread_n_cpus();
		r->next++;
		return SL_OK;
	}
	if (*r->next < '0' || *r->next > '9')
		return fail_layout(r);
	*out = strtoll(r->next, &end, 10);
	r->next = end;
	if (*out < 1)
		return sl__fail(r->err, SL_E_USAGE, "the least is 1");
	if (*out > VALUE_MOST)
		return sl__fail(r->err, SL_E_USAGE,
				"too large; the most is %lld",
				(long long)VALUE_MOST);
	return SL_OK;
}

static enum sl_status
add_value(struct reader *r, int64_t value)
{
	struct sl_sweep_values *out = r->out;
	size_t at = out->n;

	while (at > 0 && out->values[at - 1] > value)
		at--;
	if (at > 0 && out->values[at - 1] == value)
		return SL_OK;
	if (out->n == SL_SWEEP_VALUES_MOST)
		return sl__fail(r->err, SL_E_USAGE,
				"more than %d values; take larger steps",
				SL_SWEEP_VALUES_MOST);
	memmove(out->values + at + 1, out->values + at,
		(out->n - at) * sizeof(out->values[0]));
	out->values[at] = value;
	out->n++;
	return SL_OK;
}

/* From one to the other, doubling ('step' 0) or in steps, the end included. */
static enum sl_status
add_range(struct reader *r, int64_t from, int64_t to, int64_t step)
{
	enum sl_status rc = SL_OK;

	if (to < from)
		return sl__fail(r->err, SL_E_USAGE,
				"%lld..%lld goes down; write %lld..%lld",
				(long long)from, (long long)to, (long long)to,
				(long long)from);
	for (; !rc && from < to; from += step ? step : from)
		rc = add_value(r, from);
	return rc ? rc : add_value(r, to);
}

static enum sl_status
read_item(struct reader *r)
{
	int64_t from = 0, to = 0, step = 0;
	enum sl_status rc = read_value(r, &from);

	if (rc)
		return rc;
	if (strncmp(r->next, "..", 2) != 0)
		return add_value(r, from);
	r->next += 2;
	rc = read_value(r, &to);
	if (!rc && *r->next == ':') {
		r->next++;
		rc = read_value(r, &step);
	}
	return rc ? rc : add_range(r, from, to, step);
}

static enum sl_status
check_threads(const struct sl_sweep_values *values, struct sl_error *err)
{
	size_t n = sl__thread_n_cpus();
	int64_t most = values->values[values->n - 1];

	if (most <= (int64_t)n)
		return SL_OK;
	return sl__fail(err, SL_E_USAGE,
			"%lld threads, but this process may use %zu CPU%s; the "
			"most is 1..N",
			(long long)most, n, n == 1 ? "" : "s");
}

enum sl_status
sl_sweep_read(struct sl_sweep_values *out, enum sl_axis axis, const char *text,
	      struct sl_error *err)
{
	struct reader r = {axis, text, out, err};
	enum sl_status rc;

	memset(out, 0, sizeof(*out));
	rc = read_item(&r);
	while (!rc && *r.next == ',') {
		r.next++;
		rc = read_item(&r);
	}
	if (!rc && *r.next)
		rc = fail_layout(&r);
	if (!rc && axis == SL_AXIS_THREADS)
		rc = check_threads(out, err);
	return rc;
}

/* Which of the sizes in a name are widths: from 'first', all but the last
 * n_kept, or n_most of them. */
static const struct family {
	const char *prefix;
	char separator;
	size_t first, n_kept, n_most;
} families[] = {
	{"mlp:", '-', 1, 1, SIZE_MAX},
	{"linear:", ',', 0, 0, 2},
	{"conv:", ',', 0, 0, 2},
	{"attention:", ',', 1, 0, 1},
};

static const struct family *
family_of(const char *name)
{
	for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++) {
		if (!strncmp(name, families[i].prefix,
			     strlen(families[i].prefix)))
			return &families[i];
	}
	return NULL;
}

static size_t
count_sizes(const struct family *f, const char *sizes)
{
	size_t n = *sizes != '\0';

	for (; *sizes; sizes++)
		n += *sizes == f->separator;
	return n;
}

static int
is_width(const struct family *f, size_t i, size_t n)
{
	return i >= f->first && i - f->first < f->n_most && i + f->n_kept < n;
}

enum sl_status
sl__axis_widened_model_name(const char **out, const char *name, int64_t width,
			    struct sl__arena *arena, struct sl_error *err)
{
	const struct family *f = family_of(name);
	const char *size = f ? name + strlen(f->prefix) : NULL;
	size_t n = f ? count_sizes(f, size) : 0;
	const char *text = f ? f->prefix : "";

	if (!f || !is_width(f, f->first, n))
		return sl__fail(err, SL_E_USAGE,
				"'%.100s' has no width to change; these have: "
				"mlp:IN-W-OUT, linear:W,W, conv:W,W,K,SIZE, "
				"attention:SEQ,W",
				name);
	for (size_t i = 0; text && i < n; i++) {
		const char ends[] = {f->separator, '\0'};
		int n_letters = (int)strcspn(size, ends);

		text = is_width(f, i, n)
			       ? sl__arena_format(arena, "%s%lld%s", text,
						  (long long)width,
						  i + 1 < n ? ends : "")
			       : sl__arena_format(arena, "%s%.*s%s", text,
						  n_letters, size,
						  i + 1 < n ? ends : "");
		size += n_letters + (i + 1 < n);
	}
	*out = text;
	return text ? SL_OK : sl__fail_nomem(err);
}

enum sl_status
sl__axis_check(enum sl_axis axis, const struct sl_sweep_model *model,
	       struct sl_error *err)
{
	struct sl__arena scratch;
	const char *name;
	enum sl_status rc = SL_OK;

	if (axis == SL_AXIS_WIDTH) {
		sl__arena_init(&scratch, NULL);
		rc = sl__axis_widened_model_name(&name, model->name, 1,
						 &scratch, err);
		sl__arena_release(&scratch);
		return rc;
	}
	if (!model->graph)
		return sl__fail(err, SL_E_USAGE, "%s: no graph", model->name);
	if (axis == SL_AXIS_SEQ && !sl_graph_has_seq(model->graph))
		rc = sl__fail(err, SL_E_DATA,
			      "%s: no dimension of its inputs is known as seq; "
			      "it has no sequence to sweep",
			      model->name);
	return rc;
}
