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

/* "8.094 us": four digits, and a unit that fits. */
static const char *
time_text(struct short_text *out, double ns)
{
	static const struct {
		double ns;
		const char *unit, *ascii;
	} units[] = {{1e9, "s", "s"}, {1e6, "ms", "ms"}, {1e3, "µs", "us"}};

	snprintf(out->s, sizeof(out->s), "%.4g ns", ns);
	for (size_t i = 3; i-- > 0;) {
		if (ns >= units[i].ns)
			snprintf(out->s, sizeof(out->s), "%.4g %s",
				 ns / units[i].ns,
				 tty_is_utf8() ? units[i].unit
					       : units[i].ascii);
	}
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
	if (isnan(r[1]) || isnan(r[2]))
		snprintf(out->s, sizeof(out->s), "%+.1f %%", 100 * expm1(r[0]));
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
	struct short_text value, lo, hi;

	if (isnan(e->lo) || isnan(e->hi))
		return time_text(out, e->value);
	snprintf(out->s, sizeof(out->s), "%.20s [%.15s, %.15s]",
		 time_text(&value, e->value), time_text(&lo, e->lo),
		 time_text(&hi, e->hi));
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

/* One line of the terminal; what is too wide ends there. */
static void
draw(struct watch *w, const char *line)
{
	printf("%.*s\n", (int)tty_columns() - 1, line);
	w->n_lines++;
}

static void
draw_operations(struct watch *w)
{
	size_t n = w->last->n_operations < w->how->top ? w->last->n_operations
						       : w->how->top;
	char line[400];

	for (size_t i = 0; i < n; i++) {
		const struct sl_operation *o =
			&w->last->operations[w->last->by_time[i]];
		const struct sl_operation *before = find_before(w, o);
		struct short_text time, change = {""};

		if (before && before != o)
			change_text(&change, &before->median_ns, &o->median_ns);
		snprintf(line, sizeof(line), "  %5.1f %%  %-10s %-24.200s %s",
			 100 * o->share, time_text(&time, o->median_ns.value),
			 o->name, change.s);
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
		 w->n > 1 ? "; changes are those since the first" : "");
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
	printf("%zu profile%s of %s in %lld s: medians from %s to %s\n", w->n,
	       w->n == 1 ? "" : "s", w->name,
	       (long long)(now.tv_sec - w->begun.tv_sec),
	       time_text(&lowest, w->lowest_ns),
	       time_text(&highest, w->highest_ns));
	if (w->n > 1)
		printf("first %s, last %s: %s\n",
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
