/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_isa_trial.c - what traps in a child process is noted and caps its set,
 * the parent lives on, and what was found is kept until the machine starts
 * again.  The CPU is a recorded Xeon (cpuid.txt: an Emerald Rapids guest of 2
 * virtual cores under KVM, whose hypervisor hides leaf 1Dh).
 */
#include "harness.h"
#include "base/cache_file.h"
#include "base/file.h"
#include "base/hash.h"
#include "machine/isa_trial.h"

#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ALL = (1 << SL__N_ISA_SETS) - 1 };

static enum sl__isa_outcome
is_right(void)
{
	return SL__ISA_RIGHT;
}

static enum sl__isa_outcome
is_wrong(void)
{
	return SL__ISA_WRONG;
}

/* An instruction that is none, as one is that a hypervisor does not run. */
static enum sl__isa_outcome
traps(void)
{
	__builtin_trap();
}

static enum sl__isa_outcome
faults(void)
{
	raise(SIGSEGV);
	return SL__ISA_RIGHT;
}

static sl__isa_trial *const planted[SL__N_ISA_SETS] = {
	is_right, is_right, traps, is_right, is_wrong, faults, traps};

static void
each_trap_ends_one_child(void **state)
{
	enum sl__isa_outcome is[SL__N_ISA_SETS];
	struct sl_error err;

	(void)state;
	assert_int_equal(sl__isa_try(is, planted, ALL, &err), SL_OK);
	assert_int_equal(is[0], SL__ISA_RIGHT);
	assert_int_equal(is[1], SL__ISA_RIGHT);
	assert_int_equal(is[2], SL__ISA_TRAPPED);
	assert_int_equal(is[3], SL__ISA_RIGHT);
	assert_int_equal(is[4], SL__ISA_WRONG);
	assert_int_equal(is[5], SL__ISA_TRAPPED);
	assert_int_equal(is[6], SL__ISA_TRAPPED);
	assert_int_equal(waitpid(-1, NULL, 0), -1); /* none is left */
}

static void
only_what_is_asked_for_is_tried(void **state)
{
	enum sl__isa_outcome is[SL__N_ISA_SETS];

	(void)state;
	assert_int_equal(sl__isa_try(is, planted, 1 << 3, NULL), SL_OK);
	for (int i = 0; i < SL__N_ISA_SETS; i++)
		assert_int_equal(is[i],
				 i == 3 ? SL__ISA_RIGHT : SL__ISA_UNTRIED);
	assert_int_equal(sl__isa_try(is, NULL, ALL, NULL), SL_OK);
	assert_int_equal(is[0], SL__ISA_UNTRIED);
}

/* A handler that the program has for traps is not run in the child, and a
 * status that somebody else collects is not missed. */
static void
handlers_of_the_program_are_left_alone(void **state)
{
	enum sl__isa_outcome is[SL__N_ISA_SETS];

	(void)state;
	signal(SIGILL, SIG_IGN);
	signal(SIGCHLD, SIG_IGN);
	assert_int_equal(sl__isa_try(is, planted, ALL, NULL), SL_OK);
	signal(SIGILL, SIG_DFL);
	signal(SIGCHLD, SIG_DFL);
	assert_int_equal(is[2], SL__ISA_TRAPPED);
	assert_int_equal(is[3], SL__ISA_RIGHT);
	assert_int_equal(is[6], SL__ISA_TRAPPED);
}

static atomic_int is_over;

static void *
keep_the_heap_busy(void *ctx)
{
	while (!is_over)
		free(malloc(64));
	return ctx;
}

/* A child inherits the locks that other threads held. */
static void
other_threads_do_no_harm(void **state)
{
	enum sl__isa_outcome is[SL__N_ISA_SETS];
	pthread_t thread;

	(void)state;
	assert_int_equal(
		pthread_create(&thread, NULL, keep_the_heap_busy, NULL), 0);
	for (int i = 0; i < 20; i++) {
		assert_int_equal(sl__isa_try(is, planted, 0x0f, NULL), SL_OK);
		assert_int_equal(is[2], SL__ISA_TRAPPED);
		assert_int_equal(is[3], SL__ISA_RIGHT);
	}
	is_over = 1;
	pthread_join(thread, NULL);
}

/* The leaves of a recording, as its file has them. */
static struct sl__cpuid
recorded(const void *ctx, uint32_t leaf, uint32_t subleaf)
{
	struct sl__cpuid is = {0, 0, 0, 0};
	char start[64];
	const char *at;

	snprintf(start, sizeof(start),
		 "leaf %08x sub %u:", leaf == SL__LEAF_XCR0 ? 0xd : leaf,
		 subleaf);
	at = strstr(ctx, start);
	if (at)
		assert_int_equal(sscanf(at + strlen(start),
					" eax %x ebx %x ecx %x edx %x", &is.eax,
					&is.ebx, &is.ecx, &is.edx),
				 4);
	return is;
}

static void
a_trap_on_a_recorded_cpu_is_a_cap_with_its_reason(void **state)
{
	enum sl__isa_outcome is[SL__N_ISA_SETS];
	struct sl_buf text = {0};
	struct sl__isa isa;

	(void)state;
	assert_int_equal(sl__file_read(&text,
				       SL_TEST_DATA
				       "/machines/xeon-amx/cpuid.txt",
				       65536, NULL),
			 SL_OK);
	assert_int_equal(sl__isa_shown(recorded, text.data), ALL);
	assert_int_equal(sl__isa_try(is, planted, 1 << 6, NULL), SL_OK);
	sl__isa_judge(&isa, recorded, text.data, is, SL_ISA_AMX);
	assert_int_equal(isa.usable, ALL & ~SL__ISA_AMX);
	assert_int_equal(isa.causes[6], SL_ISA_TRAPPED);
	assert_string_equal(sl_isa_cause_text(isa.causes[6]), "trapped");
	/* Tiles that work are still out of oneDNN's reach there. */
	is[6] = SL__ISA_RIGHT;
	sl__isa_judge(&isa, recorded, text.data, is, SL_ISA_AMX);
	assert_int_equal(isa.causes[6], SL_ISA_TILES_HIDDEN);
	assert_int_equal(isa.proved, SL__ISA_AMX);
	sl_buf_release(&text);
}

/* On whichever CPU this runs: what the decision is made of. */
static void
sets_of_this_cpu_are_tried(void **state)
{
	const struct sl__isa *isa = sl__isa_decided();
	enum sl__isa_outcome is[SL__N_ISA_SETS];

	(void)state;
	assert_int_equal(sl__isa_try(is, sl__isa_trials(), isa->shown, NULL),
			 SL_OK);
	for (int i = 0; i < SL__N_ISA_SETS; i++) {
		int is_shown = isa->shown >> i & 1;

		assert_int_equal(is[i] != SL__ISA_UNTRIED, is_shown);
		assert_int_equal(isa->proved >> i & 1, is[i] == SL__ISA_RIGHT);
	}
	assert_int_equal(sl__isa_has(isa->usable), 1);
	assert_int_equal(sl__isa_has(isa->usable | 1 << 20), 0);
}

/* Writes a file anew with one piece of its text replaced by another of the same
 * length, and with a checksum that fits where 'is_whole'. */
static void
forge(const char *path, const char *from, const char *to, int is_whole)
{
	struct sl_buf text = {0};
	char *at, *end;

	assert_int_equal(sl__file_read(&text, path, 4096, NULL), SL_OK);
	at = strstr(text.data, from);
	end = strstr(text.data, "\nend ");
	assert_non_null(at);
	assert_non_null(end);
	memcpy(at, to, strlen(to));
	if (is_whole)
		snprintf(end, 24, "\nend %016" PRIx64 "\n",
			 sl__hash(text.data, (size_t)(end - text.data), 0));
	assert_int_equal(sl__cache_write(path, text.data, text.n_bytes, NULL),
			 SL_OK);
	sl_buf_release(&text);
}

static enum sl__isa_outcome
first_outcome(const char *folder)
{
	enum sl__isa_outcome is[SL__N_ISA_SETS];
	struct sl_error err;

	assert_int_equal(sl__isa_try_cached(is, 0, 0xaa, folder, &err), SL_OK);
	return is[0];
}

/* A file that says otherwise shows that it is read; one that is damaged, or
 * from before the machine was started, is not. */
static void
outcomes_are_kept_until_the_next_start(void **state)
{
	char folder[] = "/tmp/sleuth-isa-XXXXXX", path[64];

	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/isa-00000000000000aa.txt", folder);
	assert_int_equal(first_outcome(folder), SL__ISA_UNTRIED);
	forge(path, "outcomes 0", "outcomes 3", 1);
	assert_int_equal(first_outcome(folder), SL__ISA_TRAPPED);
	forge(path, "outcomes 3", "outcomes 9", 1);
	assert_int_equal(first_outcome(folder), SL__ISA_UNTRIED);
	forge(path, "outcomes 0", "outcomes 3", 0);
	assert_int_equal(first_outcome(folder), SL__ISA_UNTRIED);
	forge(path, "outcomes 0", "outcomes 3", 1);
	forge(path, "boot ", "boot z", 1);
	assert_int_equal(first_outcome(folder), SL__ISA_UNTRIED);
	/* Written anew each time, it is whole again. */
	forge(path, "outcomes 0", "outcomes 3", 1);
	assert_int_equal(first_outcome(folder), SL__ISA_TRAPPED);
	assert_int_equal(first_outcome(""), SL__ISA_UNTRIED);
	unlink(path);
	rmdir(folder);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_trap_ends_one_child),
		cmocka_unit_test(only_what_is_asked_for_is_tried),
		cmocka_unit_test(handlers_of_the_program_are_left_alone),
		cmocka_unit_test(other_threads_do_no_harm),
		cmocka_unit_test(
			a_trap_on_a_recorded_cpu_is_a_cap_with_its_reason),
		cmocka_unit_test(sets_of_this_cpu_are_tried),
		cmocka_unit_test(outcomes_are_kept_until_the_next_start),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
