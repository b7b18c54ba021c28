/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_watch.c - `sleuth watch`: a short profile over and over, and what moves.
 *
 * Changes are those since the first profile.  The interval of a ratio adds those
 * of both medians in quadrature of logarithms; a change is marked where that
 * interval is beyond MARGIN.  What differs from one run to the next beyond the
 * spread within a run is not in it: marks point, sleuth compare decides.
 */
#include "commands.h"
#include "exit_code.h"
#include "fill.h"
#include "model_options.h"
#include "options.h"
#include "plan_options.h"
#include "tty.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const struct command_help help = {
	"watch", "MODEL [options]",
	"Repeats a short profile of a model until it is stopped, and shows "
	"what moves: the\nlatency with its interval, the longest operations, "
	"and how each differs from the\nfirst profile. A terminal is redrawn "
	"in place; elsewhere each profile is a line.\nCtrl-C ends it with a "
	"summary.",
	"  sleuth watch mlp:784-256-10\n"
	"  sleuth watch mlp:784-256-10 --repeats 3 --time 0.2 --pause 0",
	"no model given; try 'sleuth watch resnet50'"};

/* Columns below which a change has no interval, of a name and of a time. */
enum { FEW_COLUMNS = 72, LEAST_NAME = 16, MOST_NAME = 60, TIME_COLUMNS = 9 };

/* As sleuth compare has it: placement of code and data alone makes as much. */
static const double MARGIN = 0.01;

struct arguments {
	struct model_options model;
	struct plan_options plan;
	double time_s, pause_s;
	size_t repeats, top;
	int plain;
};

#define AT(field) offsetof(struct arguments, field)

static const struct option options[] = {
	{"time", 0, OPTION_SECONDS, AT(time_s), "SECONDS",
	 "of measuring in each profile (1)", 0.001, 1e6, 0},
	{"pause", 0, OPTION_SECONDS, AT(pause_s), "SECONDS",
	 "between two profiles (1)", 0, 1e6, 0},
	{"repeats", 0, OPTION_COUNT, AT(repeats), "N",
	 "profiles, instead of until it is stopped", 1, 1e9, 0},
	{"top", 0, OPTION_COUNT, AT(top), "N",
	 "operations to show on a terminal (8)", 1, 1000, 0},
	{"plain", 0, OPTION_FLAG, AT(plain), NULL,
	 "for logs: a line for each profile, in ASCII", 0, 0, 0},
};

struct watch {
	const struct arguments *how;
	struct sl_graph *graph;
	const char *name;
	const volatile sig_atomic_t *interrupt;
	struct sl_profile *first, *last; /* the same after one profile */
	double lowest_ns, highest_ns;    /* medians */
	size_t n;
	size_t n_lines; /* drawn on the terminal */
	struct timespec begun;
};

struct short_text {
	char s[64];
};

/* A time's unit, and the decimals that make four digits of the time. */
struct scale {
	double ns;
	const char *unit, *ascii;
	int n_decimals;
};

static struct scale
scale_of(double ns)
{
	static const struct scale units[] = {{1, "ns", "ns", 0},
					     {1e3, "µs", "us", 0},
					     {1e6, "ms", "ms", 0},
					     {1e9, "s", "s", 0}};
	size_t i = 0;
	struct scale s;

	while (i < 3 && ns >= 999.95 * units[i].ns)
		i++;
	s = units[i];
	s.n_decimals = ns < 9.9995 * s.ns   ? 3
		       : ns < 99.995 * s.ns ? 2
		       : ns < 999.95 * s.ns ? 1
					    : 0;
	return s;
}

/* "8.094 us": four digits, and a unit that fits. */
static const char *
time_text(struct short_text *out, double ns)
{
	struct scale s = scale_of(ns);

	snprintf(out->s, sizeof(out->s), "%.*f %s", s.n_decimals, ns / s.ns,
		 tty_is_utf8() ? s.unit : s.ascii);
	return out->s;
}

/* ln(b / a) with its interval, which is NaN where one of the two has none. */
static void
log_ratio(double out[3], const struct sl_estimate *a,
	  const struct sl_estimate *b)
{
	double d = log(b->value / a->value);

	out[0] = d;
	out[1] = d - hypot(log(b->value / b->lo), log(a->hi / a->value));
	out[2] = d + hypot(log(b->hi / b->value), log(a->value / a->lo));
}

/* "+2.1 % [+1.0, +3.2] slower". */
static const char *
change_text(struct short_text *out, const struct sl_estimate *a,
	    const struct sl_estimate *b)
{
	double r[3];
	const char *word = "";

	log_ratio(r, a, b);
	if (expm1(r[1]) > MARGIN)
		word = " slower";
	else if (expm1(r[2]) < -MARGIN)
		word = " faster";
	if (isnan(r[1]) || isnan(r[2]) || tty_columns() < FEW_COLUMNS)
		snprintf(out->s, sizeof(out->s), "%+.1f %%%s",
			 100 * expm1(r[0]), word);
	else
		snprintf(out->s, sizeof(out->s), "%+.1f %% [%+.1f, %+.1f]%s",
			 100 * expm1(r[0]), 100 * expm1(r[1]),
			 100 * expm1(r[2]), word);
	return out->s;
}

/* "8.094 us [8.092, 8.097]", the ends in the same unit. */
static const char *
latency_text(struct short_text *out, const struct sl_estimate *e)
{
	struct scale s = scale_of(e->value);
	struct short_text value;

	if (isnan(e->lo) || isnan(e->hi))
		return time_text(out, e->value);
	snprintf(out->s, sizeof(out->s), "%.20s [%.*f, %.*f]",
		 time_text(&value, e->value), s.n_decimals, e->lo / s.ns,
		 s.n_decimals, e->hi / s.ns);
	return out->s;
}

/* The same step of the first profile; NULL where another kernel runs it. */
static const struct sl_operation *
find_before(const struct watch *w, const struct sl_operation *now)
{
	for (size_t i = 0; i < w->first->n_operations; i++) {
		const struct sl_operation *o = &w->first->operations[i];

		if (o->step == now->step && strcmp(o->name, now->name) == 0)
			return o;
	}
	return NULL;
}

/* One line of the terminal; what is too wide ends there, and so do spaces. */
static void
draw(struct watch *w, const char *line)
{
	size_t n = tty_fitting_bytes(line, tty_columns() - 1);

	while (n && line[n - 1] == ' ')
		n--;
	printf("%.*s\n", (int)n, line);
	w->n_lines++;
}

/* The operation in row i of the table, the longest first. */
static const struct sl_operation *
shown_operation(const struct watch *w, size_t i)
{
	return &w->last->operations[w->last->by_time[i]];
}

/* Columns of a text whose letters all take one. */
static size_t
columns_of(const char *text)
{
	size_t n = 0;

	for (; *text; text++)
		n += (*text & 0xc0) != 0x80;
	return n;
}

/* The bytes of the words that the names of the first n rows all begin with. */
static size_t
common_bytes(const struct watch *w, size_t n)
{
	const char *first = n ? shown_operation(w, 0)->name : "";
	size_t n_bytes = strlen(first);

	for (size_t i = 1; i < n; i++) {
		const char *name = shown_operation(w, i)->name;
		size_t k = 0;

		while (k < n_bytes && name[k] == first[k])
			k++;
		n_bytes = k;
	}
	while (n_bytes && !strchr("./", first[n_bytes - 1]))
		n_bytes--;
	return n_bytes;
}

/* A name in at most n_columns, filled up to them: what all begin with goes
 * first, then its beginning. */
static void
put_name(char *out, size_t n_bytes, const char *name, size_t n_common,
	 size_t n_columns)
{
	const char *dots = tty_is_utf8() ? "…" : "...";
	size_t room = n_columns - columns_of(dots), n;

	if (columns_of(name) <= n_columns) {
		dots = "";
	} else {
		name += n_common;
		while (columns_of(name) > room)
			name++;
		while ((*name & 0xc0) == 0x80)
			name++;
	}
	n = columns_of(dots) + columns_of(name);
	snprintf(out, n_bytes, "%s%s%*s", dots, name,
		 n < n_columns ? (int)(n_columns - n) : 0, "");
}

/* How the operation of a row differs from what it was; "" at first. */
static const char *
row_change(struct short_text *out, const struct watch *w,
	   const struct sl_operation *o)
{
	const struct sl_operation *before = find_before(w, o);

	out->s[0] = '\0';
	if (before && before != o)
		change_text(out, &before->median_ns, &o->median_ns);
	return out->s;
}

/* Columns for the names of n rows: what they take, or what is left. */
static size_t
name_columns(const struct watch *w, size_t n)
{
	size_t longest = 0, change = 0, used = strlen("  100.0 %  0.0000 us  ");
	struct short_text text;

	for (size_t i = 0; i < n; i++) {
		const struct sl_operation *o = shown_operation(w, i);
		size_t wide = columns_of(o->name);
		size_t beside = strlen(row_change(&text, w, o));

		longest = wide > longest ? wide : longest;
		change = beside > change ? beside : change;
	}
	used += change + 3;
	if (tty_columns() < used + LEAST_NAME)
		return LEAST_NAME;
	return longest < tty_columns() - used ? longest : tty_columns() - used;
}

static void
draw_operations(struct watch *w)
{
	size_t n = w->last->n_operations < w->how->top ? w->last->n_operations
						       : w->how->top;
	size_t n_common = common_bytes(w, n), n_columns = name_columns(w, n);
	char line[400], name[300];

	n_columns = n_columns < MOST_NAME ? n_columns : MOST_NAME;
	for (size_t i = 0; i < n; i++) {
		const struct sl_operation *o = shown_operation(w, i);
		struct short_text time, change;
		size_t n_time;

		put_name(name, sizeof(name), o->name, n_common, n_columns);
		time_text(&time, o->median_ns.value);
		n_time = columns_of(time.s);
		snprintf(line, sizeof(line), "  %5.1f %%  %*s%s  %s  %s",
			 100 * o->share,
			 n_time < TIME_COLUMNS ? (int)(TIME_COLUMNS - n_time)
					       : 0,
			 "", time.s, name, row_change(&change, w, o));
		draw(w, line);
	}
}

static void
draw_page(struct watch *w)
{
	struct short_text latency, change;
	char line[400];

	if (w->n_lines)
		printf("\033[%zuA\r\033[J", w->n_lines);
	w->n_lines = 0;
	snprintf(line, sizeof(line), "%.200s  profile %zu%s", w->name, w->n,
		 w->n > 1 ? "; changes since the first" : "");
	draw(w, line);
	snprintf(line, sizeof(line), "  latency %s%s%s",
		 latency_text(&latency, &w->last->latency.median),
		 w->n > 1 ? "  " : "",
		 w->n > 1 ? change_text(&change, &w->first->latency.median,
					&w->last->latency.median)
			  : "");
	draw(w, line);
	draw_operations(w);
	fflush(stdout);
}

static void
print_line(const struct watch *w)
{
	struct short_text latency, change;

	printf("%zu  %s%s%s\n", w->n,
	       latency_text(&latency, &w->last->latency.median),
	       w->n > 1 ? "  " : "",
	       w->n > 1 ? change_text(&change, &w->first->latency.median,
				      &w->last->latency.median)
			: "");
	fflush(stdout);
}

static void
take(struct watch *w, struct sl_profile *found)
{
	double median_ns = found->latency.median.value;

	if (w->last != w->first)
		sl_profile_free(w->last);
	w->last = found;
	if (!w->first)
		w->first = found;
	w->lowest_ns = w->n ? fmin(w->lowest_ns, median_ns) : median_ns;
	w->highest_ns = w->n ? fmax(w->highest_ns, median_ns) : median_ns;
	w->n++;
}

/* Waits unless it is stopped, in parts that a person does not notice. */
static void
wait_for_next(const struct watch *w)
{
	const struct timespec part = {.tv_nsec = 50000000};

	for (double left_s = w->how->pause_s; left_s > 0 && !*w->interrupt;
	     left_s -= 0.05)
		nanosleep(&part, NULL);
}

static void
summarize(const struct watch *w)
{
	struct short_text first, last, lowest, highest, change;
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	say(0, "%zu profile%s of %s in %lld s: medians from %s to %s", w->n,
	    w->n == 1 ? "" : "s", w->name,
	    (long long)(now.tv_sec - w->begun.tv_sec),
	    time_text(&lowest, w->lowest_ns),
	    time_text(&highest, w->highest_ns));
	if (w->n > 1)
		say(0, "first %s, last %s: %s",
		    time_text(&first, w->first->latency.median.value),
		    time_text(&last, w->last->latency.median.value),
		    change_text(&change, &w->first->latency.median,
				&w->last->latency.median));
}

static int
watch(struct watch *w, const struct sl_profile_options *how)
{
	int is_drawn = isatty(STDOUT_FILENO) && tty_draws_progress();
	struct sl_error err;

	while (!*w->interrupt && (!w->how->repeats || w->n < w->how->repeats)) {
		struct sl_profile *found;
		enum sl_status rc =
			sl_profile_forward(&found, w->graph, how, &err);

		if (rc && *w->interrupt)
			break;
		if (rc)
			return exit_for_model(help.name, w->name, &err);
		if (*w->interrupt && w->n) {
			sl_profile_free(found); /* cut short */
			break;
		}
		take(w, found);
		if (is_drawn)
			draw_page(w);
		else
			print_line(w);
		if (!w->how->repeats || w->n < w->how->repeats)
			wait_for_next(w);
	}
	if (w->n)
		summarize(w);
	return *w->interrupt ? EXIT_INTERRUPTED : EXIT_FINE;
}

static int
run(struct arguments *a, const char *name)
{
	struct watch w = {.how = a, .name = name};
	struct sl_profile_options how = {.struct_size = sizeof(how),
					 .plan = &a->plan.plan,
					 .seed = a->plan.seed,
					 .time_s = a->time_s,
					 .flags = SL_PROFILE_BRIEF};
	int code;

	w.graph = model_open_sized(help.name, name, &a->model, a->plan.seed);
	w.interrupt = how.interrupt = tty_catch_interrupt();
	a->plan.plan.sizes = &a->model.sizes;
	how.inputs_folder = a->model.inputs;
	clock_gettime(CLOCK_MONOTONIC, &w.begun);
	code = watch(&w, &how);
	model_remarks(help.name);
	if (w.last != w.first)
		sl_profile_free(w.last);
	sl_profile_free(w.first);
	sl_graph_free(w.graph);
	return code;
}

int
cmd_watch(char **argv)
{
	struct arguments a = {.time_s = 1, .pause_s = 1, .top = 8};
	const struct option_group groups[] = {
		OPTION_GROUP(options, &a),
		model_option_group(&a.model),
		plan_option_group(&a.plan),
	};
	const char *model;

	if (options_read_name(&help, groups, 3, argv, &model))
		return EXIT_DONE;
	if (a.plain)
		tty_be_plain();
	model_options_resolve(&a.model, help.name);
	plan_options_resolve(&a.plan, help.name);
	return run(&a, model);
}
