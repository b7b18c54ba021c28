/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_counter_names.c - names of counters become what the kernel is asked
 * for; the codes are those of the makers' manuals.
 *
 * libpfm4 can be told which CPU it sees, once in a process: so each CPU is
 * looked at in a process of its own.
 */
#include "scripted_counters.h"

#include <sys/wait.h>
#include <unistd.h>

/* Returns how many things were wrong, and prints them. */
typedef int look_function(const void *expected);

static void
look_as(const char *cpu, look_function *look, const void *expected)
{
	pid_t child;
	int status;

	if (!sl__counter_has_libpfm())
		skip();
	child = fork();
	assert_true(child >= 0);
	if (!child)
		_exit(setenv("LIBPFM_FORCE_PMU", cpu, 1) || look(expected));
	assert_int_equal(waitpid(child, &status, 0), child);
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		fail_msg("as %s: status %d", cpu, status);
}

/* Names of four CPUs.  libpfm4 knows those of the architecture that it was
 * compiled for. */
static const char *const names[] = {
	"L2_LINES_IN:ALL",
	"ANY_DATA_CACHE_FILLS_FROM_SYSTEM:DRAM_IO_NEAR:DRAM_IO_FAR",
	"LONGEST_LAT_CACHE:MISS", "L2D_CACHE_REFILL"};
enum { N_NAMES = 4, RAW = 4 /* PERF_TYPE_RAW */ };

struct known {
	const char *cpu;
	size_t n;
	struct {
		const char *name;
		uint64_t config; /* event in the low byte, mask in the next */
	} codes[N_NAMES];
};

static int
look_at_codes(const void *expected)
{
	const struct known *known = expected;
	struct sl__counter_code codes[N_NAMES];
	size_t n = sl__counter_encode(codes, names, N_NAMES);
	int n_wrong = n != known->n;

	for (size_t i = 0; !n_wrong && i < n; i++) {
		n_wrong += strcmp(codes[i].name, known->codes[i].name) != 0;
		n_wrong += (codes[i].config & 0xffff) != known->codes[i].config;
		n_wrong += codes[i].type != RAW;
	}
	return n_wrong;
}

static void
names_of_a_cpu_are_encoded(void **state)
{
	const struct known all[] = {
#if defined(__aarch64__)
		{"arm_n1", 1, {{names[3], 0x17}}},
#else
		{"skl", 2, {{names[0], 0x1ff1}, {names[2], 0x412e}}},
		{"hsw", 2, {{names[0], 0x07f1}, {names[2], 0x412e}}},
		{"spr", 2, {{names[0], 0x1f25}, {names[2], 0x412e}}},
		{"amd64_fam19h_zen4", 1, {{names[1], 0x4844}}},
#endif
		{"no such cpu", 0, {{NULL, 0}}},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		look_as(all[i].cpu, look_at_codes, &all[i]);
}

struct chosen {
	const char *cpu;
	const char *names[SL_N_EVENTS]; /* how they begin; NULL: it has none */
};

static int
look_at_events(const void *expected)
{
	const struct chosen *chosen = expected;
	struct sl__counter_choice choices[SL_N_EVENTS];
	struct scripted_counters script;
	struct sl__counter_backend source = script_counters(&script);
	struct sl__arena arena;
	int n_wrong = 0;

	sl__arena_init(&arena, NULL);
	if (sl__counters_choose(choices, &source, &arena, NULL))
		n_wrong++;
	for (int e = 0; !n_wrong && e < SL_N_EVENTS; e++) {
		const char *name = chosen->names[e];
		const char *absent = choices[e].absent;

		if (!name)
			n_wrong += !absent || !strstr(absent, "libpfm4 knows");
		else if (absent)
			n_wrong++;
		else
			n_wrong += strncmp(choices[e].code.name, name,
					   strlen(name)) != 0 ||
				   scripted_event(&choices[e].code) != e;
		if (n_wrong)
			print_error("%s: %s\n", sl_event_text((enum sl_event)e),
				    absent ? absent : choices[e].code.name);
	}
	sl__arena_release(&arena);
	return n_wrong;
}

#define ALWAYS "cycles", "instructions"

static void
every_cpu_has_its_counters(void **state)
{
#if defined(__aarch64__)
	const struct chosen all[] = {
		{"arm_n1", {ALWAYS, "stalled-", "L1-dcache", "L2D_", "LLC-"}},
	};
#else
	static const char *const total = "CYCLE_ACTIVITY:STALLS_TOTAL";
	const struct chosen all[] = {
		{"skl", {ALWAYS, total, "L1D", "L2_LINES", "LONGEST"}},
		{"hsw", {ALWAYS, "CYCLE_ACT", "L1D", "L2_LINES", "LONGEST"}},
		{"icx", {ALWAYS, total, "L1D", "L2_LINES", "LONGEST"}},
		{"spr", {ALWAYS, total, "L1D", "L2_LINES", "LONGEST"}},
		{"amd64_fam17h_zen2",
		 {ALWAYS, "stalled-", "L1-dcache", NULL, "LLC-"}},
		{"amd64_fam19h_zen3",
		 {ALWAYS, "stalled-", "ANY_", "ANY_", "ANY_"}},
		{"amd64_fam19h_zen4",
		 {ALWAYS, "CYCLES_NO_", "ANY_", "ANY_", "ANY_"}},
	};
#endif

	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		look_as(all[i].cpu, look_at_events, &all[i]);
}

/* Of no CPU, and so of none that may be at hand. */
static void
what_is_not_known_is_left_out(void **state)
{
	static const char *const unknown[] = {"NO_SUCH_COUNTER:EVER"};
	struct sl__counter_code code;

	(void)state;
	assert_int_equal(sl__counter_encode(&code, unknown, 1), 0);
	assert_int_equal(sl__counter_encode(&code, unknown, 0), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_of_a_cpu_are_encoded),
		cmocka_unit_test(every_cpu_has_its_counters),
		cmocka_unit_test(what_is_not_known_is_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
