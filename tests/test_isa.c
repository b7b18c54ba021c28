/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_isa.c - instruction sets are used where CPUID shows them, no trial
 * failed and no limit is below them; AMX not where its tiles are not described,
 * as a recorded Xeon's hypervisor has it.  The bits are those of Intel's
 * manual.
 */
#include "harness.h"
#include "counting.h"
#include "machine/isa.h"
#include "machine/peak.h"
#include "machine/platform.h"

#define XEON SL_TEST_DATA "/machines/xeon-amx"

/* What a CPU with AVX-512 answers, of the leaves that matter. */
struct cpu {
	uint32_t highest, features, palettes, palette_1;
};

static struct sl__cpuid
answer(const void *ctx, uint32_t leaf, uint32_t subleaf)
{
	const struct cpu *cpu = ctx;
	struct sl__cpuid is = {0, 0, 0, 0};

	if (leaf == SL__LEAF_XCR0) {
		is.eax = 0x600e7;
		return is;
	}
	assert_true(leaf <= cpu->highest); /* else it answers for another */
	if (leaf == 0) {
		is.eax = cpu->highest;
	} else if (leaf == 1) {
		is.ecx = 1u << 9 | 1u << 12 | 1u << 19 | 1u << 27 | 1u << 28;
	} else if (leaf == 7 && subleaf == 0) {
		is.ebx = 1u << 5 | 1u << 16 | 1u << 17 | 1u << 30 | 1u << 31;
		is.edx = cpu->features;
	} else if (leaf == 0x1d && subleaf == 0) {
		is.eax = cpu->palettes;
	} else if (leaf == 0x1d && subleaf == 1) {
		is.ebx = cpu->palette_1;
	}
	return is;
}

enum {
	TILES = 1 << 24, /* EDX, leaf 7; bf16 and int8: */
	AMX_BITS = TILES | 1 << 22 | 1 << 25,
	SHAPE = 8 << 16 | 64, /* 8 tiles, rows of 64 bytes */
	AVX512_SETS = SL__ISA_SSE4 | SL__ISA_AVX2 | SL__ISA_AVX512
};

static void
tiles_are_hidden_where_amx_is_shown_without_them(void **state)
{
	const struct {
		struct cpu cpu;
		int is_hidden;
	} rows[] = {
		{{0x20, AMX_BITS, 1, SHAPE}, 0},
		{{0x1d, AMX_BITS, 1, SHAPE}, 0},
		{{0x1c, AMX_BITS, 0, 0}, 1},
		{{0x1c, AMX_BITS, 1, SHAPE}, 1},
		{{0x20, AMX_BITS, 0, SHAPE}, 1},
		{{0x20, AMX_BITS, 1, 0}, 1},
		{{0x20, AMX_BITS, 1, 64}, 1},
		{{0x20, ~(uint32_t)TILES, 0, 0}, 0},
		{{0x07, 0, 0, 0}, 0},
		{{0x06, AMX_BITS, 0, 0}, 0},
		{{0x01, 0, 0, 0}, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		print_message("row %zu\n", i);
		assert_int_equal(sl__isa_amx_is_unusable(answer, &rows[i].cpu),
				 rows[i].is_hidden);
	}
}

static void
sets_are_shown_by_their_bits(void **state)
{
	struct cpu cpu = {0x20, AMX_BITS, 1, SHAPE};

	(void)state;
	assert_int_equal(sl__isa_shown(answer, &cpu),
			 AVX512_SETS | SL__ISA_AMX);
	cpu.features = 0;
	assert_int_equal(sl__isa_shown(answer, &cpu), AVX512_SETS);
	cpu.highest = 1; /* no leaf 7 */
	assert_int_equal(sl__isa_shown(answer, &cpu), SL__ISA_SSE4);
	assert_int_equal(sl__isa_level(0), SL_ISA_SCALAR);
	assert_int_equal(sl__isa_level(SL__ISA_SSE4), SL_ISA_SSE4);
	assert_int_equal(sl__isa_level(AVX512_SETS), SL_ISA_AVX512);
	/* One that lacks what comes before it is out of reach. */
	assert_int_equal(sl__isa_level(SL__ISA_SSE4 | SL__ISA_AVX512),
			 SL_ISA_SSE4);
}

static void
a_limit_caps_every_set_above_it(void **state)
{
	const enum sl__isa_outcome untried[SL__N_ISA_SETS] = {SL__ISA_UNTRIED};
	struct cpu cpu = {0x20, AMX_BITS, 1, SHAPE};
	struct sl__isa is;

	(void)state;
	for (int most = 0; most < SL_N_ISA_LEVELS; most++) {
		sl__isa_judge(&is, answer, &cpu, untried,
			      (enum sl_isa_level)most);
		assert_int_equal(sl__isa_level(is.usable), most);
		assert_int_equal(is.shown, AVX512_SETS | SL__ISA_AMX);
		assert_int_equal(is.causes[6], most < SL_ISA_AMX
						       ? SL_ISA_LIMITED
						       : SL_ISA_USED);
		assert_int_equal(is.proved, 0);
	}
}

/* What is built on a set that traps is out of use with it. */
static void
a_trap_caps_what_is_built_on_it(void **state)
{
	enum sl__isa_outcome outcomes[SL__N_ISA_SETS] = {
		SL__ISA_RIGHT,   SL__ISA_RIGHT,   SL__ISA_UNTRIED,
		SL__ISA_TRAPPED, SL__ISA_UNTRIED, SL__ISA_UNTRIED,
		SL__ISA_RIGHT};
	struct cpu cpu = {0x20, AMX_BITS, 1, SHAPE};
	struct sl__isa is;

	(void)state;
	sl__isa_judge(&is, answer, &cpu, outcomes, SL_ISA_AMX);
	assert_int_equal(is.usable, SL__ISA_SSE4 | SL__ISA_AVX2);
	assert_int_equal(is.proved, SL__ISA_SSE4 | SL__ISA_AVX2 | SL__ISA_AMX);
	assert_int_equal(is.causes[3], SL_ISA_TRAPPED);
	assert_int_equal(is.causes[6], SL_ISA_TRAPPED);
	outcomes[3] = SL__ISA_RIGHT;
	outcomes[6] = SL__ISA_REFUSED;
	sl__isa_judge(&is, answer, &cpu, outcomes, SL_ISA_AMX);
	assert_int_equal(is.usable, AVX512_SETS);
	assert_int_equal(is.causes[6], SL_ISA_REFUSED);
	outcomes[6] = SL__ISA_WRONG;
	sl__isa_judge(&is, answer, &cpu, outcomes, SL_ISA_AMX);
	assert_int_equal(is.causes[6], SL_ISA_WRONG_RESULT);
}

/* Names that are no level, and levels that the CPU lacks. */
static void
wrong_limits_are_refused(void **state)
{
	struct sl_error err;

	(void)state;
	assert_int_equal(sl_isa_limit("axv2", &err), SL_E_USAGE);
	assert_string_equal(err.text,
			    "axv2: must be scalar, sse4, avx2, avx512 or amx; "
			    "did you mean 'avx2'?");
	assert_int_equal(sl_isa_limit("neon!", &err), SL_E_USAGE);
	assert_null(strstr(err.text, "mean"));
	if (sl__isa_level(sl__isa_decided()->shown) < SL_ISA_AMX) {
		assert_true(sl_isa_limit("amx", &err) != SL_OK);
		assert_non_null(strstr(err.text, "amx: "));
	}
}

static void
a_recorded_xeon_is_capped(void **state)
{
	struct sl_machine m = {0};
	struct sl__arena arena;
	struct sl_error err;

	(void)state;
	sl__arena_init(&arena, NULL);
	assert_int_equal(sl__platform_read(&m, XEON, &arena, &err), SL_OK);
	assert_int_equal(m.n_caps, 1);
	assert_string_equal(m.caps[0].isa, "AMX");
	assert_string_equal(m.caps[0].instead, "AVX-512");
	assert_int_equal(m.caps[0].cause, SL_ISA_TILES_HIDDEN);
	assert_int_equal(m.isa_shown, SL_ISA_AMX);
	assert_int_equal(m.isa_used, SL_ISA_AVX512);
	assert_int_equal(m.n_isa_sets, 7);
	assert_string_equal(m.isa_sets[6].isa, "AMX");
	assert_false(m.isa_sets[6].is_used);
	assert_true(m.isa_sets[5].is_used);
	assert_string_equal(sl_isa_cause_text(m.caps[0].cause), "tiles-hidden");
	sl__arena_release(&arena);
}

static void
a_recording_without_leaves_is_not_capped(void **state)
{
	struct sl_machine m = {0};
	struct sl__arena arena;
	struct sl_error err;

	(void)state;
	sl__arena_init(&arena, NULL);
	assert_int_equal(sl__platform_read(&m, SL_TEST_DATA "/machines/laptop",
					   &arena, &err),
			 SL_OK);
	assert_int_equal(m.n_caps, 0);
	sl__arena_release(&arena);
}

/* A ceiling of arithmetic counts what the engine may use: capped sets hide
 * none.  Whichever CPU this runs on, the list and the cap agree. */
static void
capped_sets_hide_no_ceiling(void **state)
{
	struct sl__peak_kernel k[SL__MAX_PEAK_KERNELS];
	size_t n = sl__peak_kernels(k), n_capped = 0;
	const struct sl__isa *isa = sl__isa_decided();

	(void)state;
	for (size_t i = 0; i < n; i++) {
		if (!k[i].absent || strcmp(k[i].absent, SL__PEAK_CAPPED) != 0)
			continue;
		assert_false(k[i].is_unexercised);
		n_capped++;
	}
	assert_int_equal(n_capped > 0, isa->shown != isa->usable);
	if (isa->shown && !(isa->usable & SL__ISA_AMX)) {
		assert_false(sl__peak_has_untested_kernel(k, n, SL_DTYPE_BF16));
		assert_false(sl__peak_has_untested_kernel(k, n, SL_DTYPE_I8));
	}
}

static void
reading_caps_fails_cleanly_without_memory(void **state)
{
	struct counting counting = {.fail_at = 1};
	struct sl_allocator allocator = counting_allocator(&counting);
	struct sl_machine m = {0};
	struct sl__arena arena;
	struct sl_error err;

	(void)state;
	sl__arena_init(&arena, &allocator);
	assert_int_equal(sl__isa_read(&m, XEON, &arena, &err), SL_E_NOMEM);
	assert_int_equal(m.n_caps, 0);
	assert_int_equal(sl__isa_read(&m, XEON, &arena, &err), SL_OK);
	assert_int_equal(m.n_caps, 1);
	sl__arena_release(&arena);
	assert_int_equal(counting.n_out, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(wrong_limits_are_refused),
		cmocka_unit_test(sets_are_shown_by_their_bits),
		cmocka_unit_test(a_limit_caps_every_set_above_it),
		cmocka_unit_test(a_trap_caps_what_is_built_on_it),
		cmocka_unit_test(
			tiles_are_hidden_where_amx_is_shown_without_them),
		cmocka_unit_test(a_recorded_xeon_is_capped),
		cmocka_unit_test(a_recording_without_leaves_is_not_capped),
		cmocka_unit_test(capped_sets_hide_no_ceiling),
		cmocka_unit_test(reading_caps_fails_cleanly_without_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
