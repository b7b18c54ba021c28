/* SPDX-License-Identifier: Apache-2.0 */
/*
 * isa_trial.c - instruction sets, each tried in a child process.
 *
 * Hypervisors and kernels show instructions that then trap: their state is not
 * saved, a leaf that describes them is hidden, an emulator lacks them.  One
 * child tries all sets in turn and notes in shared memory where it is; another
 * one is made after each trap.  Costs a millisecond where nothing traps.
 */
#define _GNU_SOURCE
#include "machine/isa_trial.h"
#include "base/buf.h"
#include "base/cache_file.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/status.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/banned.h"

enum {
	VERSION = 1,
	BOOT_ID_MOST = 64,
	HANGING_S = 5 /* thousands of times what all trials take */
};

/* Shared with the child.  'at' is the trial that runs, or that ran last. */
struct notes {
	_Atomic unsigned at, is_done;
	_Atomic unsigned char outcomes[SL__N_ISA_SETS];
};

/* Only system calls: other threads of the parent may have held any lock. */
_Noreturn static void
be_child(struct notes *notes, sl__isa_trial *const *trials, unsigned sets,
	 unsigned first)
{
	static const int fatal[] = {SIGILL, SIGSEGV, SIGBUS,  SIGFPE, SIGTRAP,
				    SIGSYS, SIGALRM, SIGABRT, SIGTERM};
	const struct rlimit no_core = {0, 0};
	sigset_t none;

	for (size_t i = 0; i < sizeof(fatal) / sizeof(*fatal); i++)
		signal(fatal[i], SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	setrlimit(RLIMIT_CORE, &no_core);
	alarm(HANGING_S);
	for (unsigned i = first; i < SL__N_ISA_SETS; i++) {
		if (!(sets >> i & 1))
			continue;
		notes->at = i;
		notes->outcomes[i] = (unsigned char)trials[i]();
	}
	notes->is_done = 1;
	_exit(0);
}

/* Tries the rest of 'sets' from 'first' on; returns where to go on, and
 * SL__N_ISA_SETS when there is no more. */
static unsigned
try_rest(struct notes *notes, sl__isa_trial *const *trials, unsigned sets,
	 unsigned first)
{
	pid_t pid;

	notes->at = SL__N_ISA_SETS;
	pid = fork();
	if (pid == 0)
		be_child(notes, trials, sets, first);
	if (pid < 0)
		return SL__N_ISA_SETS;
	/* A handler of the caller's may have taken the status: the notes tell
	 * what there is to know. */
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		continue;
	if (notes->is_done || notes->at >= SL__N_ISA_SETS)
		return SL__N_ISA_SETS;
	notes->outcomes[notes->at] = SL__ISA_TRAPPED;
	return notes->at + 1;
}

enum sl_status
sl__isa_try(enum sl__isa_outcome outcomes[SL__N_ISA_SETS],
	    sl__isa_trial *const *trials, unsigned sets, struct sl_error *err)
{
	struct notes *notes;
	enum sl_status rc = SL_OK;

	memset(outcomes, 0, SL__N_ISA_SETS * sizeof(*outcomes));
	if (!trials || !sets)
		return SL_OK;
	notes = mmap(NULL, sizeof(*notes), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (notes == MAP_FAILED)
		return sl__fail(err, SL_E_IO, "no shared memory: %s",
				strerror(errno));
	for (unsigned i = 0; i < SL__N_ISA_SETS;)
		i = try_rest(notes, trials, sets, i);
	for (unsigned i = 0; i < SL__N_ISA_SETS; i++) {
		outcomes[i] = (enum sl__isa_outcome)notes->outcomes[i];
		if (sets >> i & 1 && !outcomes[i])
			rc = sl__fail(err, SL_E_IO, "no child process");
	}
	munmap(notes, sizeof(*notes));
	return rc;
}

/* A new one each time the machine starts; 0 where the kernel tells none. */
static int
read_boot_id(char id[BOOT_ID_MOST])
{
	struct sl_buf text = {0};
	enum sl_status rc = sl__file_read(&text,
					  "/proc/sys/kernel/random/boot_id",
					  BOOT_ID_MOST - 1, NULL);

	if (!rc)
		snprintf(id, BOOT_ID_MOST, "%.*s",
			 (int)strcspn(text.data, "\n"), text.data);
	sl_buf_release(&text);
	return !rc && *id;
}

/* What the file holds before its checksum, but for the outcomes. */
static void
write_head(struct sl_buf *out, unsigned sets, const char *boot_id)
{
	sl__buf_format(out, "sleuth-isa %d\nboot %s\nsets %x\noutcomes",
		       VERSION, boot_id, sets);
}

static void
write_all(struct sl_buf *out, const enum sl__isa_outcome *outcomes,
	  unsigned sets, const char *boot_id)
{
	write_head(out, sets, boot_id);
	for (size_t i = 0; i < SL__N_ISA_SETS; i++)
		sl__buf_format(out, " %d", (int)outcomes[i]);
	if (out->data)
		sl__buf_format(out, "\nend %016" PRIx64 "\n",
			       sl__hash(out->data, out->n_bytes, 0));
}

/* SL_E_ABSENT for a file of another start, and for one that is damaged. */
static enum sl_status
recall(enum sl__isa_outcome outcomes[SL__N_ISA_SETS], unsigned sets,
       const char *boot_id, const char *path)
{
	static const size_t n_last = sizeof("\nend 0123456789abcdef\n") - 1;
	struct sl_buf text = {0}, same = {0};
	enum sl_status rc = sl__cache_read(&text, path, NULL);

	if (!rc) {
		write_head(&same, sets, boot_id);
		rc = sl__buf_status(&same, NULL);
	}
	if (!rc &&
	    (text.n_bytes != same.n_bytes + 2 * SL__N_ISA_SETS + n_last ||
	     memcmp(text.data, same.data, same.n_bytes) != 0))
		rc = SL_E_ABSENT;
	for (size_t i = 0; !rc && i < SL__N_ISA_SETS; i++) {
		char digit = text.data[same.n_bytes + 2 * i + 1];

		if (digit < '0' || digit >= '0' + SL__N_ISA_OUTCOMES)
			rc = SL_E_ABSENT;
		else
			outcomes[i] = (enum sl__isa_outcome)(digit - '0');
	}
	if (!rc) {
		sl_buf_release(&same);
		write_all(&same, outcomes, sets, boot_id);
		rc = sl__buf_status(&same, NULL);
	}
	if (!rc && memcmp(text.data, same.data, same.n_bytes) != 0)
		rc = SL_E_ABSENT;
	sl_buf_release(&same);
	sl_buf_release(&text);
	return rc;
}

enum sl_status
sl__isa_try_cached(enum sl__isa_outcome outcomes[SL__N_ISA_SETS], unsigned sets,
		   uint64_t identity, const char *folder, struct sl_error *err)
{
	char path[SL__CACHE_PATH], boot_id[BOOT_ID_MOST];
	struct sl_buf text = {0};
	enum sl_status rc = SL_E_ABSENT;
	int is_kept = *folder && read_boot_id(boot_id) &&
		      snprintf(path, sizeof(path), "%s/isa-%016" PRIx64 ".txt",
			       folder, identity) < (int)sizeof(path);

	if (is_kept)
		rc = recall(outcomes, sets, boot_id, path);
	if (rc == SL_E_NOMEM)
		return sl__fail_nomem(err);
	if (!rc)
		return SL_OK;
	if (sl__isa_try(outcomes, sl__isa_trials(), sets, NULL) || !is_kept)
		return SL_OK;
	write_all(&text, outcomes, sets, boot_id);
	rc = sl__buf_status(&text, err);
	/* A file that cannot be written costs the next process a trial. */
	if (!rc)
		(void)!sl__cache_write(path, text.data, text.n_bytes, NULL);
	sl_buf_release(&text);
	return rc;
}
