/* SPDX-License-Identifier: Apache-2.0 */
/* tty.c - the terminal: its width, colours, progress and Ctrl-C. */
#define _GNU_SOURCE
#include "tty.h"
#include "exit_code.h"
#include "live.h"
#include "save.h"
#include "signal_stack.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

enum { PLAIN_COLUMNS = 120, BAR_BYTES = 28 };

/* Of lines where nothing is drawn: a short run has none, and a long one does not
 * fill a log. */
static const double FIRST_LINE_S = 10, NEXT_LINE_S = 30;

static volatile sig_atomic_t interrupted;
static int is_plain;
static int tells; /* progress, in whatever way */
/* A progress bar stands on the terminal. */
static volatile sig_atomic_t is_drawn;

/* The second one, of either kind, does not wait for the first. */
static void
note_interrupt(int number)
{
	(void)number;
	if (interrupted)
		_exit(EXIT_INTERRUPTED);
	interrupted = 1;
}

/* What the parent ignores (nohup, a script's '&') stays ignored. */
static void
catch_signal(int number)
{
	struct sigaction action, before;

	memset(&action, 0, sizeof(action));
	action.sa_handler = note_interrupt;
	action.sa_flags = SA_ONSTACK;
	if (sigaction(number, NULL, &before) == 0 &&
	    before.sa_handler == SIG_IGN)
		return;
	sigaction(number, &action, NULL);
}

const volatile sig_atomic_t *
tty_catch_interrupt(void)
{
	/* Without such a stack a signal ends the program, and harms nothing. */
	if (signal_stack_give())
		return &interrupted;
	catch_signal(SIGINT);
	catch_signal(SIGTERM);
	return &interrupted;
}

void
tty_be_plain(void)
{
	is_plain = 1;
}

size_t
tty_columns(void)
{
	const char *columns = getenv("COLUMNS");
	struct winsize size;
	long n = columns ? strtol(columns, NULL, 10) : 0;

	if (is_plain)
		return PLAIN_COLUMNS;
	if (n > 0 && n < 10000)
		return (size_t)n;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
		return size.ws_col;
	return 80;
}

int
tty_wants_color(void)
{
	const char *term = getenv("TERM");
	const char *no_color = getenv("NO_COLOR");

	return !is_plain && isatty(STDOUT_FILENO) && term &&
	       strcmp(term, "dumb") != 0 && !(no_color && *no_color);
}

int
tty_is_utf8(void)
{
	static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};

	for (size_t i = 0; !is_plain && i < 3; i++) {
		const char *value = getenv(names[i]);

		if (value && *value)
			return strcasestr(value, "utf-8") ||
			       strcasestr(value, "utf8");
	}
	return 0;
}

static double
seconds_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Ten times a second is enough for the eye. */
static int
is_due(void)
{
	static double last_s;
	double now_s = seconds_now();

	if (now_s - last_s < 0.1)
		return 0;
	last_s = now_s;
	return 1;
}

int
tty_draws_progress(void)
{
	const char *term = getenv("TERM");

	return !is_plain && isatty(STDERR_FILENO) && term &&
	       strcmp(term, "dumb") != 0;
}

size_t
tty_fitting_bytes(const char *line, size_t n_columns)
{
	size_t n = 0, next, used = 0;

	for (; line[n]; n = next) {
		used += (unsigned char)line[n] < 0xe3 ? 1 : 2;
		if (used > n_columns)
			break;
		for (next = n + 1; (line[next] & 0xc0) == 0x80; next++)
			;
	}
	return n;
}

void
tty_draw_line(const char *line)
{
	if (!is_due())
		return;
	fprintf(stderr, "\r\033[K%.*s",
		(int)tty_fitting_bytes(line, tty_columns() - 1), line);
	fflush(stderr);
	is_drawn = 1;
}

/* What is told beside a phase, each with two spaces before it, or empty. */
struct progress_text {
	char left[32]; /* "12 s left" */
	char done[64]; /* what is known of the times so far */
};

static void
describe_progress(struct progress_text *out, const struct sl_progress *now)
{
	*out = (struct progress_text){"", ""};
	if (!isnan(now->remaining_s))
		snprintf(out->left, sizeof(out->left), "  %.0f s left",
			 ceil(now->remaining_s));
	if (!isnan(now->median_ns))
		snprintf(out->done, sizeof(out->done),
			 "  %zu done, median %.4g ms", now->n_done,
			 now->median_ns / 1e6);
}

static void
tell_progress(const struct sl_progress *now, const char *label)
{
	static double due_s;
	double now_s = seconds_now();
	struct progress_text text;

	if (due_s == 0)
		due_s = now_s + FIRST_LINE_S;
	if (now_s < due_s)
		return;
	due_s = now_s + NEXT_LINE_S;
	describe_progress(&text, now);
	fprintf(stderr, "sleuth: %s: %s %3.0f %%%s%s\n", label, now->what,
		100 * now->share, text.left, text.done);
}

/* " [####....]" of at most n_columns; nothing where they are too few. */
static void
fill_bar(char *out, double share, size_t n_columns)
{
	enum { FRAME = 3, LEAST = 4, MOST = BAR_BYTES - FRAME - 1 };
	size_t n = n_columns < FRAME + LEAST  ? 0
		   : n_columns > FRAME + MOST ? MOST
					      : n_columns - FRAME;
	size_t full = (size_t)(share * (double)n);

	*out = '\0';
	if (!n)
		return;
	*out++ = ' ';
	*out++ = '[';
	for (size_t i = 0; i < n; i++)
		*out++ = i < full ? '#' : '.';
	*out++ = ']';
	*out = '\0';
}

/* On a narrow terminal the bar is shorter, and what was done is left out: the
 * time that is left stays. */
static void
draw_bar(const struct sl_progress *now, const char *label)
{
	char bar[BAR_BYTES], line[240];
	struct progress_text text;
	size_t room = tty_columns() - 1, used;

	describe_progress(&text, now);
	used = strlen(label) + strlen(": ") + strlen(now->what) +
	       strlen(" 100 %") + strlen(text.left);
	fill_bar(bar, now->share, room > used ? room - used : 0);
	if (used + strlen(bar) + strlen(text.done) > room)
		*text.done = '\0';
	snprintf(line, sizeof(line), "%s: %s%s %3.0f %%%s%s", label, now->what,
		 bar, 100 * now->share, text.left, text.done);
	tty_draw_line(line);
}

static void
draw_progress(const struct sl_progress *now, void *ctx)
{
	live_note(ctx, now->what, now->share, now->remaining_s);
	save_visit();
	if (!tells)
		return;
	if (tty_draws_progress())
		draw_bar(now, ctx);
	else
		tell_progress(now, ctx);
}

progress_function *
tty_progress(int is_quiet)
{
	tells = !is_quiet;
	return tells || live_is_on() ? draw_progress : NULL;
}

const char *
tty_bar_end(void)
{
	return is_drawn ? "\r\033[K" : "";
}

void
tty_clear_progress(void)
{
	fputs(tty_bar_end(), stderr);
	is_drawn = 0;
}
