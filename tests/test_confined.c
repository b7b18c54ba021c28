/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_confined.c - proves that the ways in which a process with little memory
 * can end are told apart: for want of memory, by a fault, by an interrupt.
 *
 * Nothing here makes a plan in this process itself: threads do not survive the
 * forks.
 */
#include "needs_dnnl.h"
#include "sleuth.h"
#include "experiment/confined.h"
#include "emulator.h"
#include "timing/proc_text.h"

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

struct fate {
	pid_t parent;
	int by;        /* signal that ends the process; 0: it just leaves */
	int to_parent; /* signal that the parent is sent meanwhile; 0: none */
	rlim_t enough; /* memory with which nothing happens; 0: none is */
};

static rlim_t
limit_of_this_process(void)
{
	struct rlimit limit = {0};

	(void)getrlimit(RLIMIT_DATA, &limit);
	return limit.rlim_cur;
}

/* Memory that is asked for in the confined process is its end. */
static void *
alloc(size_t n_bytes, void *ctx)
{
	const struct fate *fate = ctx;

	if (getpid() == fate->parent ||
	    (fate->enough && limit_of_this_process() > fate->enough))
		return malloc(n_bytes);
	if (fate->to_parent) {
		kill(fate->parent, fate->to_parent);
		for (;;)
			pause();
	}
	if (fate->by)
		raise(fate->by);
	_exit(7);
}

static void
release(void *block, void *ctx)
{
	(void)ctx;
	free(block);
}

static enum sl_status
die(struct sl__confined_outcome *out, struct fate *fate)
{
	struct sl_allocator allocator = {alloc, release, fate};
	struct sl_plan_options plan = {.struct_size = sizeof(plan),
				       .allocator = &allocator};
	struct sl__confined_options how = {.plan = &plan, .memory_bytes = 1e8};
	struct sl_graph *graph;
	enum sl_status rc;

	skip_in_emulator("a child that was forked cannot start threads");
	fate->parent = getpid();
	assert_int_equal(sl_graph_open(&graph, "mlp:4-2", NULL, NULL), SL_OK);
	how.graph = graph;
	rc = sl__confined_run(out, &how, NULL);
	sl_graph_free(graph);
	return rc;
}

/* A fault is no lack of memory. */
static void
deaths_are_told_apart(void **state)
{
	static const struct {
		int by;
		enum sl_status status;
	} cases[] = {{SIGKILL, SL_E_NOMEM},   {SIGABRT, SL_E_NOMEM},
		     {SIGBUS, SL_E_NOMEM},    {SIGILL, SL_E_MEASURE},
		     {SIGSEGV, SL_E_MEASURE}, {SIGFPE, SL_E_MEASURE},
		     {0, SL_E_MEASURE}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fate fate = {.by = cases[i].by};
		struct sl__confined_outcome result;
		char word[32];

		assert_int_equal(die(&result, &fate), SL_OK);
		assert_int_equal(result.status, cases[i].status);
		assert_true(isnan(result.used_bytes));
		snprintf(word, sizeof(word), cases[i].by ? "signal %d" : "%d",
			 cases[i].by ? cases[i].by : 7);
		assert_non_null(strstr(result.text, word));
	}
}

/* Private memory of this process, which a sanitizer makes large. */
static rlim_t
private_bytes(void)
{
	char text[1 << 14];
	const char *at;

	(void)sl__proc_read_file("/proc/self/status", text, sizeof(text));
	at = strstr(text, "VmData:");
	assert_non_null(at);
	return (rlim_t)strtoull(at + strlen("VmData:"), NULL, 10) * 1024;
}

/* A fault that is gone with twice the memory is one.  The process has 100 MB
 * beyond what it had before; its threads take less than 90 MB. */
static void
faults_for_want_of_memory_are_known(void **state)
{
	struct fate fate = {.by = SIGSEGV,
			    .enough = private_bytes() + 190000000};
	struct sl__confined_outcome result;

	(void)state;
	assert_int_equal(die(&result, &fate), SL_OK);
	assert_int_equal(result.status, SL_E_NOMEM);
	assert_int_equal(result.by_signal, SIGSEGV);
	assert_non_null(strstr(result.text, "twice the memory"));
}

static volatile sig_atomic_t n_caught;

static void catch (int number)
{
	(void)number;
	n_caught = n_caught + 1;
}

/* Whether the child gets the signal or the parent alone, its handler is
 * called once it is over. */
static void
interrupts_are_heard(void **state)
{
	struct fate child = {.by = SIGINT}, parent = {.to_parent = SIGINT};
	struct sl__confined_outcome result;

	(void)state;
	assert_true(signal(SIGINT, catch) != SIG_ERR);
	assert_int_equal(die(&result, &child), SL_E_INTERRUPTED);
	assert_int_equal(n_caught, 0);
	assert_int_equal(die(&result, &parent), SL_E_INTERRUPTED);
	assert_int_equal(n_caught, 1);
	(void)signal(SIGINT, SIG_DFL);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(deaths_are_told_apart),
		cmocka_unit_test(faults_for_want_of_memory_are_known),
		cmocka_unit_test(interrupts_are_heard),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
