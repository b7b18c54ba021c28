/* SPDX-License-Identifier: Apache-2.0 */
/* tty.c - the terminal: its width, colours, progress and Ctrl-C. */
#define _GNU_SOURCE
#include "tty.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t interrupted;

static void
note_interrupt(int number)
{
	(void)number;
	interrupted = 1;
}

const volatile sig_atomic_t *
tty_catch_interrupt(void)
{
	struct sigaction action;

	memset(&action, 0, sizeof(action));
	action.sa_handler = note_interrupt;
	action.sa_flags = (int)SA_RESETHAND;
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	return &interrupted;
}

size_t
tty_columns(void)
{
	const char *columns = getenv("COLUMNS");
	struct winsize size;
	long n = columns ? strtol(columns, NULL, 10) : 0;

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

	return isatty(STDOUT_FILENO) && term && strcmp(term, "dumb") != 0 &&
	       !(no_color && *no_color);
}

int
tty_is_utf8(void)
{
	static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};

	for (size_t i = 0; i < 3; i++) {
		const char *value = getenv(names[i]);

		if (value && *value)
			return strcasestr(value, "utf-8") ||
			       strcasestr(value, "utf8");
	}
	return 0;
}

int
tty_shows_progress(void)
{
	return isatty(STDERR_FILENO);
}

void
tty_progress(const struct sl_progress *now, void *ctx)
{
	static struct timespec last;
	struct timespec time;
	char bar[25], median[32] = "";
	size_t full = (size_t)(now->share * (sizeof(bar) - 1));

	clock_gettime(CLOCK_MONOTONIC, &time);
	/* Ten times a second is enough for the eye. */
	if ((double)(time.tv_sec - last.tv_sec) +
		    (double)(time.tv_nsec - last.tv_nsec) / 1e9 <
	    0.1)
		return;
	last = time;
	for (size_t i = 0; i < sizeof(bar) - 1; i++)
		bar[i] = i < full ? '#' : '.';
	bar[sizeof(bar) - 1] = '\0';
	if (!isnan(now->median_ns))
		snprintf(median, sizeof(median), "  median %.4g ms",
			 now->median_ns / 1e6);
	fprintf(stderr, "\r\033[K%s: %s [%s] %3.0f %%  %zu done%s",
		(const char *)ctx, now->what, bar, 100 * now->share,
		now->n_done, median);
	if (!isnan(now->remaining_s))
		fprintf(stderr, "  %.0f s left", ceil(now->remaining_s));
	fflush(stderr);
}

void
tty_clear_progress(void)
{
	if (tty_shows_progress())
		fputs("\r\033[K", stderr);
}
