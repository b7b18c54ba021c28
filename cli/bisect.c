/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bisect.c - commits of a repository, measured against each other.
 *
 * Two worktrees, one of the good commit and one of the commit in question, are
 * built and run in pairs, in an order decided by a coin.  A commit is slow when
 * it is proved to take longer than halfway (in logarithms) from good to bad,
 * fast when it is proved not to: both are decided by a test, neither by one
 * reading of a clock.
 */
#include "bisect.h"
#include "exit_code.h"
#include "options.h"
#include "tty.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { GOOD, TRIED, N_TREES };

/* Where the worktrees are; removed at the end of the program. */
static char folder[512];

/* The words as one line for a shell, which lives as long as the program. */
static char *
line_of(const char *const *words)
{
	struct sl_buf line = {0};
	struct sl_error err;

	for (size_t i = 0; words[i]; i++) {
		if (sl_buf_add_word(&line, words[i], &err))
			exit(exit_for(NULL, &err));
	}
	return line.data;
}

static int
run_words(const char *const *words)
{
	char *line = line_of(words);
	int status = system(line); /* what it says goes to stderr */

	return status;
}

/* The first line that git prints; NULL: none, or it failed. */
static char *
ask_git(const char *const *words)
{
	char *line = line_of(words), *answer = must_alloc(1024, 1);
	FILE *git = popen(line, "r");
	int is_read = git && fgets(answer, 1024, git);

	if (!git || pclose(git) || !is_read)
		return NULL;
	answer[strcspn(answer, "\n")] = '\0';
	return answer;
}

static const char *
tree_path(int which)
{
	static char paths[N_TREES][sizeof(folder) + 8];

	snprintf(paths[which], sizeof(paths[which]), "%s/%s", folder,
		 which == GOOD ? "good" : "tried");
	return paths[which];
}

static void
remove_trees(void)
{
	for (int i = 0; i < N_TREES; i++) {
		const char *words[] = {"git", "worktree",   "remove",
				       "-f",  tree_path(i), NULL};

		if (access(tree_path(i), F_OK) == 0)
			(void)run_words(words);
	}
	rmdir(folder);
}

static char *
resolve(const struct bisect *how, const char *word)
{
	char *name = must_alloc(strlen(word) + 16, 1);
	char *commit;

	sprintf(name, "%s^{commit}", word);
	commit = ask_git((const char *[]){"git", "rev-parse", "--verify", "-q",
					  "--end-of-options", name, NULL});
	if (!commit)
		exit(complain(how->command, EXIT_USAGE,
			      "'%s' is no commit of a repository here", word));
	return commit;
}

/* "1a2b3c4 a subject" */
static char *
title_of(const char *commit)
{
	char *title = ask_git((const char *[]){"git", "log", "-1",
					       "--format=%h %s", commit, NULL});

	if (title)
		sl_text_sanitize(title);
	return title ? title : (char *)(uintptr_t)commit;
}

/* A worktree of that commit, built. */
static void
check_out(const struct bisect *how, int which, const char *commit)
{
	const char *path = tree_path(which);
	const char *add[] = {"git",      "worktree", "add",  "-f", "-q",
			     "--detach", path,       commit, NULL};
	const char *move[] = {"git",      "-C", path,   "checkout", "-q",
			      "--detach", "-f", commit, NULL};
	char *cd = line_of((const char *[]){"cd", path, NULL});
	char *line;

	if (run_words(access(path, F_OK) == 0 ? move : add))
		exit(complain(how->command, EXIT_IO,
			      "no worktree of %s could be made", commit));
	if (!how->build)
		return;
	line = must_alloc(strlen(cd) + strlen(how->build) + 32, 1);
	sprintf(line, "{ %s && %s\n} >&2", cd, how->build);
	if (system(line))
		exit(complain(how->command, EXIT_INVALID, "%s: the build fails",
			      title_of(commit)));
}

static void
begin(const struct bisect *how)
{
	const char *base = getenv("TMPDIR");

	snprintf(folder, sizeof(folder), "%s/sleuth-XXXXXX",
		 base && *base == '/' ? base : "/tmp");
	if (!mkdtemp(folder))
		exit(complain(how->command, EXIT_IO,
			      "no folder for worktrees could be made"));
	atexit(remove_trees);
}

/* The tried commit against the good one, until it is decided whether it takes
 * longer by more than the margin. */
static struct sl_comparison
measure(const struct bisect *how, double margin)
{
	struct sl_command commands[N_TREES] = {{.name = "good"},
					       {.name = "tried"}};
	struct sl_bench_options options = {
		.struct_size = sizeof(options),
		.until = SL_UNTIL_VERDICT,
		.time_s = how->time_s,
		.margin = margin,
		.interrupt = tty_catch_interrupt(),
		.progress = tty_progress(how->is_quiet),
		.progress_ctx = (void *)(uintptr_t)how->command};
	struct sl_comparison found;
	struct sl_bench *bench;
	struct sl_error err;

	for (int i = 0; i < N_TREES; i++) {
		char *cd = line_of((const char *[]){"cd", tree_path(i), NULL});
		char *line = must_alloc(strlen(cd) + strlen(how->line) + 8, 1);

		sprintf(line, "%s && %s", cd, how->line);
		commands[i].shell_line = line;
	}
	if (sl_bench(&bench, commands, N_TREES, &options, &err))
		exit(exit_for(how->command, &err));
	if (bench->stopped_by == SL_STOP_INTERRUPT)
		exit(complain(how->command, EXIT_INTERRUPTED, "interrupted"));
	tty_clear_progress();
	found = bench->comparisons[0];
	found.a = found.b = NULL;
	sl_bench_free(bench);
	return found;
}

static const char *
ratio_text(const struct sl_comparison *c)
{
	static char text[96];

	if (isnan(c->ratio.lo))
		snprintf(text, sizeof(text), "%.3g times", c->ratio.value);
	else
		snprintf(text, sizeof(text), "%.3g [%.3g, %.3g] times",
			 c->ratio.value, c->ratio.lo, c->ratio.hi);
	return text;
}

/* Both ends, checked out and measured. */
static struct sl_comparison
measure_ends(const struct bisect *how, const char *good, const char *bad)
{
	begin(how);
	check_out(how, GOOD, good);
	check_out(how, TRIED, bad);
	return measure(how, 0.01);
}

int
bisect_confirm(const struct bisect *how)
{
	static const char *const says[] = {"undecided", "not slower", "slower"};
	static const int codes[] = {[SL_GATE_UNDECIDED] = EXIT_UNDECIDED,
				    [SL_GATE_OK] = EXIT_FINE,
				    [SL_GATE_REGRESSED] = EXIT_REGRESSED};
	char *good = resolve(how, how->good), *bad = resolve(how, how->bad);
	struct sl_comparison c = measure_ends(how, good, bad);

	printf("%s\n", title_of(bad));
	printf("  takes %s as long as %s: %s\n", ratio_text(&c), title_of(good),
	       says[c.gate]);
	return codes[c.gate];
}

/* Commits after 'good' up to 'bad', the oldest first. */
static char **
list_commits(const struct bisect *how, const char *good, const char *bad,
	     size_t *n)
{
	char range[256], hash[256];
	char *line, **list = NULL;
	FILE *git;
	size_t cap = 0;

	snprintf(range, sizeof(range), "%.100s..%.100s", good, bad);
	line = line_of((const char *[]){"git", "rev-list", "--reverse",
					"--first-parent", range, NULL});
	git = popen(line, "r");
	for (*n = 0; git && fgets(hash, sizeof(hash), git); ++*n) {
		if (*n == cap) {
			char **more = must_alloc(2 * cap + 16, sizeof(*list));

			if (*n)
				memcpy(more, list, *n * sizeof(*list));
			list = more;
			cap = 2 * cap + 16;
		}
		hash[strcspn(hash, "\n")] = '\0';
		list[*n] = must_alloc(strlen(hash) + 1, 1);
		memcpy(list[*n], hash, strlen(hash));
	}
	if (!git || pclose(git) || !*n)
		exit(complain(how->command, EXIT_USAGE,
			      "no commit leads from %s to %s", how->good,
			      how->bad));
	return list;
}

/* list[0..n-1]; the last is slow.  Each look halves those that may be the
 * first. */
static int
search(const struct bisect *how, char **list, size_t n, double margin)
{
	size_t first = 0, last = n - 1; /* the first slow one is among them */
	struct sl_comparison c;

	while (first < last) {
		size_t middle = first + (last - first) / 2;

		check_out(how, TRIED, list[middle]);
		c = measure(how, margin);
		if (!how->is_quiet)
			printf("  %s: %s as long, %s\n", title_of(list[middle]),
			       ratio_text(&c),
			       c.gate == SL_GATE_REGRESSED ? "slow"
			       : c.gate == SL_GATE_OK      ? "fast"
							   : "undecided");
		fflush(stdout);
		if (c.gate == SL_GATE_UNDECIDED)
			return complain(how->command, EXIT_UNDECIDED,
					"%s is undecided; --time gives it "
					"longer",
					title_of(list[middle]));
		if (c.gate == SL_GATE_REGRESSED)
			last = middle;
		else
			first = middle + 1;
	}
	printf("the first slow commit is %s\n", title_of(list[first]));
	return EXIT_FINE;
}

int
bisect_find(const struct bisect *how)
{
	char *good = resolve(how, how->good), *bad = resolve(how, how->bad);
	struct sl_comparison ends;
	char **list;
	size_t n;

	list = list_commits(how, good, bad, &n);
	ends = measure_ends(how, good, bad);
	if (!how->is_quiet)
		printf("%s takes %s as long as %s, %zu commits before\n",
		       title_of(bad), ratio_text(&ends), title_of(good), n);
	fflush(stdout);
	if (ends.gate != SL_GATE_REGRESSED)
		return complain(how->command, EXIT_UNDECIDED,
				"%s is not proved slower than %s; there is "
				"nothing to look for",
				how->bad, how->good);
	return search(how, list, n, sqrt(ends.ratio.value) - 1);
}
