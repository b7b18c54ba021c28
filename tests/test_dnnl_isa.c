/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_dnnl_isa.c - oneDNN is capped before it is asked anything, a lower cap
 * of the user's stays, and who comes too late is told.  oneDNN takes a cap
 * once in the life of a process, so each case runs in a process of its own.
 */
#include "harness.h"
#include "engine/dnnl_context.h"
#include "engine/dnnl_isa.h"
#include "machine/isa.h"

#include <sys/wait.h>
#include <unistd.h>

/* What oneDNN uses in a process that runs 'act' first. */
static unsigned
isa_after(void (*act)(void))
{
	unsigned isa = 0;
	int ends[2], status;
	pid_t child;

	assert_int_equal(pipe(ends), 0);
	child = fork();
	assert_true(child >= 0);
	if (!child) {
		act();
		isa = (unsigned)dnnl_get_effective_cpu_isa();
		_exit(write(ends[1], &isa, sizeof(isa)) != sizeof(isa));
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_int_equal(read(ends[0], &isa, sizeof(isa)), sizeof(isa));
	close(ends[0]);
	close(ends[1]);
	return isa;
}

/* All sets but tiles, and those of the level AVX2. */
enum { NO_TILES = SL__ISA_AMX - 1, UP_TO_AVX2 = SL__ISA_SSE4 | SL__ISA_AVX2 };

static void
must_cap(void)
{
	if (sl__dnnl_cap_isa_at(NO_TILES, NULL))
		_exit(1);
}

static void
user_caps_at_sse(void)
{
	setenv("ONEDNN_MAX_CPU_ISA", "SSE41", 1);
	must_cap();
}

static void
user_caps_at_sse_by_the_old_name(void)
{
	setenv("ONEDNN_MAX_CPU_ISA", "", 1);
	setenv("DNNL_MAX_CPU_ISA", "sse41", 1);
	must_cap();
}

static void
user_allows_all(void)
{
	setenv("ONEDNN_MAX_CPU_ISA", "ALL", 1);
	must_cap();
}

/* What is allowed without tiles, as oneDNN itself says it. */
static void
at_most_bf16(void)
{
	setenv("ONEDNN_MAX_CPU_ISA", "AVX512_CORE_BF16", 1);
}

static void
tiles_are_out_of_use_once_it_is_capped(void **state)
{
	unsigned expected = isa_after(at_most_bf16);

	(void)state;
	assert_true(expected & dnnl_cpu_isa_sse41);
	assert_int_equal(isa_after(user_allows_all), expected);
}

static void
a_lower_cap_of_the_user_stays(void **state)
{
	(void)state;
	assert_int_equal(isa_after(user_caps_at_sse), dnnl_cpu_isa_sse41);
	assert_int_equal(isa_after(user_caps_at_sse_by_the_old_name),
			 dnnl_cpu_isa_sse41);
}

static void
cap_at_avx2(void)
{
	setenv("ONEDNN_MAX_CPU_ISA", "AVX512_CORE", 1);
	if (sl__dnnl_cap_isa_at(UP_TO_AVX2, NULL))
		_exit(1);
}

static void
at_most_avx2(void)
{
	setenv("ONEDNN_MAX_CPU_ISA", "AVX2", 1);
}

static void
cap_at_sse4(void)
{
	if (sl__dnnl_cap_isa_at(SL__ISA_SSE4, NULL))
		_exit(1);
}

static void
every_level_is_a_cap(void **state)
{
	(void)state;
	assert_int_equal(isa_after(cap_at_avx2), isa_after(at_most_avx2));
	assert_int_equal(isa_after(cap_at_sse4), dnnl_cpu_isa_sse41);
}

/* By name, as a caller or SLEUTH_ISA limits it. */
static void
limit_to_scalar(void)
{
	setenv("SLEUTH_ISA", "scalar", 1);
	if (sl_isa_limit(NULL, NULL) || sl__dnnl_is_allowed() ||
	    sl__dnnl_uses_isa(dnnl_cpu_isa_sse41) ||
	    sl_isa_limit("scalar", NULL) ||
	    sl_isa_limit("sse4", NULL) != SL_E_USAGE)
		_exit(1);
}

static void
scalar_is_without_onednn(void **state)
{
	(void)state;
	(void)isa_after(limit_to_scalar);
}

/* Late is harmless where oneDNN had no tiles to use, as on most CPUs. */
static void
cap_late(void)
{
	unsigned tiles = dnnl_cpu_isa_avx512_core_amx &
			 ~(unsigned)dnnl_cpu_isa_avx512_core_bf16;
	struct sl_error err = {.text = ""};
	int has_tiles = ((unsigned)dnnl_get_effective_cpu_isa() & tiles) != 0;
	enum sl_status rc = sl__dnnl_cap_isa_at(NO_TILES, &err);

	if (rc != (has_tiles ? SL_E_ABSENT : SL_OK))
		_exit(1);
	if (has_tiles &&
	    !strstr(err.text, "ONEDNN_MAX_CPU_ISA=AVX512_CORE_BF16"))
		_exit(1);
}

static void
a_late_cap_is_refused_where_tiles_are_in_use(void **state)
{
	(void)state;
	assert_true(isa_after(cap_late) & dnnl_cpu_isa_sse41);
}

static void
caps_of_the_user_are_known_by_name(void **state)
{
	(void)state;
	assert_int_equal(sl__dnnl_isa_rank("SSE41"), 0);
	assert_true(sl__dnnl_isa_rank("avx2") < sl__dnnl_isa_rank("AVX2_VNNI"));
	assert_true(sl__dnnl_isa_rank("AVX2_VNNI") <
		    sl__dnnl_isa_rank("avx512_core"));
	assert_true(sl__dnnl_isa_rank("AVX512_CORE_VNNI") <
		    sl__dnnl_isa_rank("AVX512_CORE_BF16"));
	assert_true(sl__dnnl_isa_rank("AVX512_CORE_BF16") <
		    sl__dnnl_isa_rank("AVX512_CORE_AMX"));
	/* Those that cap nothing, or that oneDNN does not know. */
	assert_int_equal(sl__dnnl_isa_rank("ALL"),
			 sl__dnnl_isa_rank("AVX512_CORE_AMX"));
	assert_int_equal(sl__dnnl_isa_rank("AVX512_MIC"),
			 sl__dnnl_isa_rank("ALL"));
	assert_int_equal(sl__dnnl_isa_rank(""), sl__dnnl_isa_rank("ALL"));
	assert_int_equal(sl__dnnl_isa_rank(NULL), sl__dnnl_isa_rank("ALL"));
}

/* Last: this process asks oneDNN itself. */
static void
what_is_used_is_known(void **state)
{
	(void)state;
	assert_int_equal(sl__dnnl_cap_isa(NULL), SL_OK);
	assert_int_equal(sl__dnnl_uses_isa(dnnl_cpu_isa_sse41),
			 sl__dnnl_is_allowed());
	assert_int_equal(sl__dnnl_cap_isa(NULL), SL_OK);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(caps_of_the_user_are_known_by_name),
		cmocka_unit_test(tiles_are_out_of_use_once_it_is_capped),
		cmocka_unit_test(a_lower_cap_of_the_user_stays),
		cmocka_unit_test(every_level_is_a_cap),
		cmocka_unit_test(scalar_is_without_onednn),
		cmocka_unit_test(a_late_cap_is_refused_where_tiles_are_in_use),
		cmocka_unit_test(what_is_used_is_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
