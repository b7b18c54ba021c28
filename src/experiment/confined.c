/* SPDX-License-Identifier: Apache-2.0 */
/*
 * confined.c - a model run in a process of its own, with so much memory.
 *
 * The limit is on private memory that can be written: what the heap, the
 * block, packed weights and the stacks of threads take, touched or not.  A
 * limit on all addresses would count what malloc sets aside for other threads,
 * and pages of files, which the system can take back.
 */
#define _GNU_SOURCE
#include "experiment/confined.h"
#include "base/arena.h"
#include "base/file.h"
#include "base/status.h"
#include "base/thread.h"
#include "compute/parallel.h"
#include "engine/compile.h"
#include "engine/training_plan.h"
#include "experiment/subject.h"
#include "machine/platform.h"
#include "timing/proc_text.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/banned.h"

/* What the child says when it has limited itself; at the end it hands back the
 * result, in any case. */
static const char LIMITED = 'L', NOT_LIMITED = 'N';

/* A number that the kernel has of this process; 0: unknown. */
static double
status_of(const char *name)
{
	char status[1 << 14];
	const char *at;

	(void)sl__proc_read_file("/proc/self/status", status, sizeof(status));
	at = strstr(status, name);
	return at ? strtod(at + strlen(name), NULL) : 0;
}

/* Private memory that can be written, as the limit counts it; 0: unknown. */
static double
private_bytes(void)
{
	return status_of("\nVmData:") * 1024;
}

static int
is_below(int resource, double n_bytes)
{
	struct rlimit limit;

	return !getrlimit((__rlimit_resource_t)resource, &limit) &&
	       limit.rlim_cur != RLIM_INFINITY &&
	       (double)limit.rlim_cur < n_bytes;
}

/* Whether the system takes no addresses beyond its memory. */
static int
is_strict(void)
{
	char word[16];

	(void)sl__proc_read_file("/proc/sys/vm/overcommit_memory", word,
				 sizeof(word));
	return *word == '2';
}

const char *
sl__confined_obstacle(double memory_bytes)
{
	double there = (double)sl__platform_free_bytes("");

	if (status_of("\nThreads:") > 1)
		return "this process has threads, which one of its own would "
		       "not have";
	if (is_below(RLIMIT_DATA, private_bytes() + memory_bytes) ||
	    is_below(RLIMIT_AS, private_bytes() + memory_bytes))
		return "this process may not take as much memory (ulimit)";
	if (is_strict() && memory_bytes > there)
		return "the system gives no addresses beyond the memory that "
		       "it has (vm.overcommit_memory is 2)";
	return NULL;
}

static enum sl_status
limit(double n_bytes, struct sl_error *err)
{
	struct rlimit data;

	if (getrlimit(RLIMIT_DATA, &data))
		return sl__fail(err, SL_E_MEASURE, "no limit can be set");
	if (n_bytes < (double)data.rlim_max)
		data.rlim_cur = (rlim_t)n_bytes;
	if (setrlimit(RLIMIT_DATA, &data))
		return sl__fail(err, SL_E_MEASURE, "no limit can be set: %s",
				strerror(errno));
	return SL_OK;
}

/* What malloc sets aside for a thread is there before the limit too. */
static void
take_and_give(int rank, int n, void *ctx)
{
	(void)rank;
	(void)n;
	(void)ctx;
	sl__allocator_free(NULL, sl__allocator_alloc(NULL, 64));
}

/*
 * Threads, oneDNN's tables and its first code are there before the limit.  All
 * threads take from one heap: oneDNN 3 makes its code in whichever is free, and
 * heaps of their own would grow now by a page more, now by one less.
 */
static enum sl_status
warm_up(const struct sl_plan_options *how, struct sl_error *err)
{
	struct sl_plan_options plain = {.struct_size = sizeof(plain),
					.flags = SL_PLAN_NO_CACHE,
					.algorithms = SL_ALGORITHMS_FIXED};
	struct sl__subject_model_options options = {.plan = &plain};
	struct sl__subject_model subject;
	struct sl_graph *graph;
	enum sl_status rc;

	if (how)
		plain.n_threads = how->n_threads;
	if (!plain.n_threads)
		plain.n_threads = (int)sl__thread_n_cpus();
	(void)mallopt(M_ARENA_MAX, 1);
	sl__parallel_run(plain.n_threads, take_and_give, NULL);
	rc = sl_graph_open(&graph, "mlp:64-64", NULL, err);
	if (rc)
		return rc;
	rc = sl__subject_model_open(&subject, graph, &options, err);
	if (!rc) {
		rc = sl_plan_run(subject.plan, err);
		sl__subject_model_close(&subject);
	}
	sl_graph_free(graph);
	return rc;
}

/* Weights in a file's pages take their share of the memory. */
static enum sl_status
count_mapped(const struct sl_plan *plan, double limit_bytes,
	     struct sl_error *err)
{
	struct sl_plan_memory memory;
	double left;

	sl_plan_memory(plan, &memory);
	left = limit_bytes - (double)memory.mapped_bytes;
	if (!memory.mapped_bytes)
		return SL_OK;
	if (private_bytes() > left)
		return sl__fail(err, SL_E_NOMEM,
				"out of memory: weights in the file take %llu "
				"bytes",
				(unsigned long long)memory.mapped_bytes);
	return limit(left, err);
}

static void
take_memory(struct sl__confined_outcome *out, const struct sl_plan *plan,
	    double start)
{
	struct sl_plan_memory memory;

	sl_plan_memory(plan, &memory);
	out->is_stepwise = plan->current->is_stepwise;
	out->used_bytes = private_bytes() - start + (double)memory.mapped_bytes;
	out->weights_bytes =
		(double)memory.weight_bytes + (double)memory.mapped_bytes;
	out->block_bytes = (double)memory.planned_bytes;
}

static enum sl_status
infer(const struct sl__confined_options *options,
      const struct sl_plan_options *plan, double start,
      struct sl__confined_outcome *out, struct sl_error *err)
{
	struct sl__subject_model_options how = {
		.plan = plan, .is_only_planned = options->is_dry};
	struct sl__subject_model subject;
	enum sl_status rc;

	if (plan->sizes)
		how.folder = plan->sizes->inputs_folder;
	rc = sl__subject_model_open(&subject, options->graph, &how, err);
	if (rc)
		return rc;
	rc = count_mapped(subject.plan, start + options->memory_bytes, err);
	if (!rc && options->is_run)
		rc = sl_plan_run(subject.plan, err);
	take_memory(out, subject.plan, start);
	return rc;
}

/* Targets are zeros: the first class, or numbers. */
static enum sl_status
fill_step(struct sl__training_plan *step, struct sl_error *err)
{
	const struct sl__training_graph *t = step->training;
	struct sl_array array;
	enum sl_status rc = SL_OK;
	void *data;

	if (t->target != SL__NONE) {
		rc = sl_plan_input(step->plan, t->graph->values[t->target].name,
				   &array, &data, err);
		if (!rc)
			memset(data, 0, (size_t)array.n_bytes);
	}
	return rc ? rc : sl_plan_fill_inputs(step->plan, 1, err);
}

/* States lie in the block: parameters and statistics, which have a first
 * value, are weights; the others are the optimizer's. */
static enum sl_status
divide_block(struct sl__confined_outcome *out, struct sl__training_plan *step,
	     struct sl_error *err)
{
	const struct sl__training_graph *t = step->training;
	enum sl_status rc = SL_OK;

	for (size_t i = 0; !rc && i < t->n_states; i++) {
		struct sl_array array;
		void *data;

		rc = sl__training_plan_state(step, i, &array, &data, err);
		if (rc)
			break;
		*(t->states[i].initial
			  ? &out->weights_bytes
			  : &out->optimizer_bytes) += (double)array.n_bytes;
		out->block_bytes -= (double)array.n_bytes;
	}
	return rc;
}

static enum sl_status
train(const struct sl__confined_options *options,
      const struct sl_plan_options *plan, double start,
      struct sl__confined_outcome *out, struct sl_error *err)
{
	struct sl_plan_options how = *plan;
	struct sl__training_plan *step;
	enum sl_status rc;

	how.sizes = NULL; /* the graph of a step has them */
	rc = sl__training_plan_new(&step, options->graph, plan->sizes,
				   options->training, &how, err);
	if (rc)
		return rc;
	rc = count_mapped(step->plan, start + options->memory_bytes, err);
	if (!rc && !options->is_dry)
		rc = fill_step(step, err);
	if (!rc && options->is_run)
		rc = sl__training_plan_step(step, 0, NULL, NULL, err);
	take_memory(out, step->plan, start);
	return rc ? rc : divide_block(out, step, err);
}

static enum sl_status
plan_and_run(const struct sl__confined_options *options, double start,
	     struct sl__confined_outcome *out, struct sl_error *err)
{
	struct sl_plan_options plan = {.struct_size = sizeof(plan)};

	if (options->plan)
		plan = *options->plan;
	if (options->is_dry)
		plan.flags |= SL__PLAN_DRY;
	return options->training ? train(options, &plan, start, out, err)
				 : infer(options, &plan, start, out, err);
}

static void
send(int fd, const void *bytes, size_t n_bytes)
{
	if (sl__file_send(fd, bytes, n_bytes))
		_exit(1);
}

static enum sl_status
confine(const struct sl__confined_options *options, double *start,
	struct sl_error *err)
{
	enum sl_status rc = warm_up(options->plan, err);

	*start = private_bytes();
	if (!rc && !(*start > 0))
		rc = sl__fail(err, SL_E_MEASURE,
			      "the kernel does not say what memory is used");
	return rc ? rc : limit(*start + options->memory_bytes, err);
}

static void
serve(const struct sl__confined_options *options, int fd)
{
	struct sl__confined_outcome result = {.used_bytes = (double)NAN,
					      .weights_bytes = (double)NAN,
					      .block_bytes = (double)NAN};
	struct sl_error err = {0};
	double start;

	result.status = confine(options, &start, &err);
	send(fd, result.status ? &NOT_LIMITED : &LIMITED, 1);
	if (!result.status)
		result.status = plan_and_run(options, start, &result, &err);
	memcpy(result.text, err.text, sizeof(result.text));
	send(fd, &result, sizeof(result));
}

static void
be_child(const struct sl__confined_options *options, int fd, pid_t parent,
	 const sigset_t *mask)
{
	/* Faults too: handlers of the caller's are not for this process. */
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGSEGV,
				      SIGBUS, SIGILL,  SIGFPE, SIGABRT};

	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		(void)signal(signals[i], SIG_DFL);
	(void)pthread_sigmask(SIG_SETMASK, mask, NULL);
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) || getppid() != parent)
		_exit(1);
	serve(options, fd);
	_exit(0);
}

static const int INTERRUPTS[] = {SIGINT, SIGTERM};
enum { N_INTERRUPTS = 2, LOOK_MS = 50 };

/* Held back while the child is heard, so that none is missed. */
static void
hold_interrupts(sigset_t *before)
{
	sigset_t set;

	sigemptyset(&set);
	for (int i = 0; i < N_INTERRUPTS; i++)
		sigaddset(&set, INTERRUPTS[i]);
	(void)pthread_sigmask(SIG_BLOCK, &set, before);
}

/* Whether one waits that is not ignored. */
static int
is_interrupted(void)
{
	struct sigaction action;
	sigset_t waiting;

	if (sigpending(&waiting))
		return 0;
	for (int i = 0; i < N_INTERRUPTS; i++) {
		if (sigismember(&waiting, INTERRUPTS[i]) == 1 &&
		    !sigaction(INTERRUPTS[i], NULL, &action) &&
		    action.sa_handler != SIG_IGN)
			return 1;
	}
	return 0;
}

/* Whether there is something to read, or an end, before an interrupt. */
static int
wait_for_word(int fd)
{
	struct pollfd end = {.fd = fd, .events = POLLIN};

	while (!is_interrupted()) {
		int n = poll(&end, 1, LOOK_MS);

		if (n > 0)
			return 1;
		if (n < 0 && errno != EINTR)
			return 0;
	}
	return 0;
}

/* Whether all of it came. */
static int
receive(int fd, void *bytes, size_t n_bytes)
{
	char *at = bytes;

	while (n_bytes > 0) {
		ssize_t n = wait_for_word(fd) ? read(fd, at, n_bytes) : 0;

		if (n == 0 || (n < 0 && errno != EINTR))
			return 0;
		at += n > 0 ? n : 0;
		n_bytes -= n > 0 ? (size_t)n : 0;
	}
	return 1;
}

static int
wait_for(pid_t pid)
{
	int status = 0;

	while (waitpid(pid, &status, 0) < 0) {
		if (errno != EINTR)
			return -1;
	}
	return status;
}

/* Exceptions that nobody catches abort, and the kernel kills, or has no page
 * for what is written: whoever is out of memory does not always get to say so.
 * Other ends are faults, of which nothing is known. */
static void
take_silence(struct sl__confined_outcome *out, int status)
{
	int by = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	int is_memory = by == SIGKILL || by == SIGABRT || by == SIGBUS;

	out->by_signal = by;
	out->status = is_memory ? SL_E_NOMEM : SL_E_MEASURE;
	out->used_bytes = (double)NAN;
	out->weights_bytes = out->block_bytes = (double)NAN;
	if (by)
		snprintf(out->text, sizeof(out->text),
			 "the process was ended by signal %d%s", by,
			 is_memory ? ", as without memory" : "");
	else
		snprintf(out->text, sizeof(out->text),
			 "the process gave up with exit code %d",
			 WIFEXITED(status) ? WEXITSTATUS(status) : -1);
}

static int
was_interrupted(int status)
{
	return WIFSIGNALED(status) &&
	       (WTERMSIG(status) == SIGINT || WTERMSIG(status) == SIGTERM);
}

/* Hears the child out. */
static enum sl_status
listen_to(pid_t pid, int fd, struct sl__confined_outcome *out,
	  struct sl_error *err)
{
	char word = NOT_LIMITED;
	int is_begun = receive(fd, &word, 1);
	int is_told = is_begun && receive(fd, out, sizeof(*out));
	int is_cut = !is_told && is_interrupted();
	int status;

	close(fd);
	if (is_cut)
		(void)kill(pid, SIGKILL);
	status = wait_for(pid);
	if (is_cut || (!is_told && was_interrupted(status)))
		return sl__fail(err, SL_E_INTERRUPTED, "interrupted");
	if (!is_told && word == LIMITED)
		take_silence(out, status);
	if (word == LIMITED)
		return SL_OK;
	return sl__fail(err, SL_E_MEASURE, "%.400s",
			is_told ? out->text
				: "the process that was to run died");
}

static enum sl_status
try_apart(struct sl__confined_outcome *out,
	  const struct sl__confined_options *options, const sigset_t *mask,
	  struct sl_error *err)
{
	pid_t parent = getpid(), pid;
	int ends[2];

	if (pipe2(ends, O_CLOEXEC))
		return sl__fail(err, SL_E_MEASURE, "no pipe: %s",
				strerror(errno));
	pid = fork();
	if (pid == 0) {
		close(ends[0]);
		be_child(options, ends[1], parent, mask);
	}
	close(ends[1]);
	if (pid < 0) {
		close(ends[0]);
		return sl__fail(err, SL_E_MEASURE, "no process: %s",
				strerror(errno));
	}
	return listen_to(pid, ends[0], out, err);
}

/* Kernels that do not look whether they got memory write to address 0: a fault
 * that is not there with twice as much was for want of it. */
static enum sl_status
explain_fault(struct sl__confined_outcome *out,
	      const struct sl__confined_options *options, const sigset_t *mask,
	      struct sl_error *err)
{
	struct sl__confined_options wide = *options;
	struct sl__confined_outcome again = {.status = SL_OK};
	enum sl_status rc;

	wide.memory_bytes *= 2;
	rc = try_apart(&again, &wide, mask, err);
	if (rc || again.status)
		return rc;
	out->status = SL_E_NOMEM;
	snprintf(out->text, sizeof(out->text),
		 "the process was ended by signal %d, but not with twice the "
		 "memory",
		 out->by_signal);
	return SL_OK;
}

enum sl_status
sl__confined_run(struct sl__confined_outcome *out,
		 const struct sl__confined_options *options,
		 struct sl_error *err)
{
	enum sl_status rc;
	sigset_t before;

	memset(out, 0, sizeof(*out));
	hold_interrupts(&before);
	rc = try_apart(out, options, &before, err);
	if (!rc && out->by_signal == SIGSEGV)
		rc = explain_fault(out, options, &before, err);
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	return rc;
}
