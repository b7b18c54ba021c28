/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cut_file.c - a file that is cut short while it is read as memory.
 *
 * Weights are read where they lie in the mapped file, by any thread and by code
 * of other libraries, so that such a read cannot return an error: it raises
 * SIGBUS.  The kernel's list of mappings says which file lies at the address.
 * Only what may be called in a handler is called there.
 */
#define _GNU_SOURCE
#include "cut_file.h"
#include "exit_code.h"
#include "signal_stack.h"
#include "tty.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A path, and before it addresses, rights, offset, device and inode. */
enum { LINE_MOST = 4096 + 128, CHUNK = 4096 };

struct line_reader {
	int fd;
	size_t n, at;
	char chunk[CHUNK], line[LINE_MOST];
};

/* The next line, without its end; what does not fit is left out.  0: none. */
static int
next_line(struct line_reader *r)
{
	size_t n_line = 0;

	for (;;) {
		char c;

		if (r->at == r->n) {
			ssize_t n = read(r->fd, r->chunk, sizeof(r->chunk));

			if (n < 0 && errno == EINTR)
				continue;
			if (n <= 0)
				return 0;
			r->n = (size_t)n;
			r->at = 0;
		}
		c = r->chunk[r->at++];
		if (c == '\n')
			break;
		if (n_line + 1 < sizeof(r->line))
			r->line[n_line++] = c;
	}
	r->line[n_line] = '\0';
	return 1;
}

/* The number that '*text' begins with, which then points behind it. */
static uintmax_t
take_hex(const char **text)
{
	uintmax_t value = 0;

	for (;; (*text)++) {
		char c = **text;

		if (c >= '0' && c <= '9')
			value = value * 16 + (uintmax_t)(c - '0');
		else if (c >= 'a' && c <= 'f')
			value = value * 16 + (uintmax_t)(c - 'a' + 10);
		else
			return value;
	}
}

/* The path of the file that is mapped at 'address', and the offset in it;
 * NULL where none is.  "from-to rights offset device inode path" is a line. */
static const char *
file_at(struct line_reader *r, uintmax_t address, uintmax_t *offset)
{
	while (next_line(r)) {
		const char *at = r->line;
		uintmax_t from = take_hex(&at), to;

		at += *at == '-';
		to = take_hex(&at);
		if (address < from || address >= to)
			continue;
		at += strcspn(at + (*at == ' '), " ") + 1;
		at += *at == ' ';
		*offset = take_hex(&at) + (address - from);
		return strchr(at, '/');
	}
	return NULL;
}

static void
put(const char *text)
{
	size_t n_bytes = strlen(text);

	while (n_bytes > 0) {
		ssize_t n = write(STDERR_FILENO, text, n_bytes);

		if (n < 0 && errno != EINTR)
			return;
		text += n > 0 ? n : 0;
		n_bytes -= n > 0 ? (size_t)n : 0;
	}
}

static void
report_cut_file(int number, siginfo_t *info, void *context)
{
	static atomic_flag is_told = ATOMIC_FLAG_INIT;
	static struct line_reader reader;
	const char *path = NULL;
	uintmax_t offset = 0;
	struct stat now;

	(void)context;
	/* The thread that came first ends the others too. */
	while (atomic_flag_test_and_set(&is_told))
		pause();
	reader.fd = info->si_code == BUS_ADRERR
			    ? open("/proc/self/maps", O_RDONLY | O_CLOEXEC)
			    : -1;
	if (reader.fd >= 0)
		path = file_at(&reader, (uintptr_t)info->si_addr, &offset);
	if (!path) { /* no file's: it ends the program as it would have */
		atomic_flag_clear(&is_told);
		signal(number, SIG_DFL);
		raise(number);
		return;
	}
	put(tty_bar_end());
	put("sleuth: ");
	put(path);
	put(stat(path, &now) || (uintmax_t)now.st_size > offset
		    ? ": cannot be read any more\n"
		    : ": was cut short while it was read\n");
	_exit(EXIT_IO);
}

void
cut_file_catch(void)
{
	struct sigaction action;

	if (signal_stack_give())
		return;
	memset(&action, 0, sizeof(action));
	action.sa_sigaction = report_cut_file;
	action.sa_flags = SA_SIGINFO | SA_ONSTACK;
	sigaction(SIGBUS, &action, NULL);
}
