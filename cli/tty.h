/* SPDX-License-Identifier: Apache-2.0 */
/* tty.h - the terminal: its width, colours, progress and Ctrl-C. */
#ifndef SL_TTY_H
#define SL_TTY_H

#include "sleuth.h"

/* From here on as if nobody looked: 120 columns whatever the terminal has, no
 * colours, ASCII, and progress as lines. */
void tty_be_plain(void);

/* Columns of standard output: COLUMNS, the terminal's own, or 80. */
size_t tty_columns(void);

/* Colours: a terminal, TERM is not "dumb", NO_COLOR is not set. */
int tty_wants_color(void);

/* Whether the locale's characters are UTF-8. */
int tty_is_utf8(void);

/*
 * Catches Ctrl-C (and SIGTERM) from here on: the flag becomes non-zero.  A
 * second one ends the program at once, with the same exit code.
 */
const volatile sig_atomic_t *tty_catch_interrupt(void);

typedef void progress_function(const struct sl_progress *now, void *ctx);

/*
 * What draws a bar on standard error, after the label that its 'ctx' is, and
 * tells the store where the result will be saved; where that is no terminal, a
 * line of it after ten seconds and then every half minute.  NULL where 'is_quiet'
 * and nothing will be saved.  tty_clear_progress() removes the bar, as complain()
 * and output_write() do by themselves.
 */
progress_function *tty_progress(int is_quiet);
void tty_clear_progress(void);

/* What removes the bar from a terminal, or "".  Handlers may ask too. */
const char *tty_bar_end(void);

/* How many bytes of a line take at most so many columns.  Letters from U+3000
 * on are counted as two, which most of them take. */
size_t tty_fitting_bytes(const char *line, size_t n_columns);

/* Whether progress is drawn, and a line of it in place of the last; one that
 * comes too soon for the eye is left out. */
int tty_draws_progress(void);
void tty_draw_line(const char *line);

#endif
