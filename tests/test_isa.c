/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_isa.c - AMX is capped where CPUID shows it without its tiles, as a
 * recorded Xeon's hypervisor has it, and nowhere else.  The bits are those of
 * Intel's manual.
 */
#include "harness.h"
#include "counting.h"
#include "machine/isa.h"
#include "machine/peak.h"
#include "machine/platform.h"

#define XEON SL_TEST_DATA "/machines/xeon-amx"

/* What a CPU answers, of the leaves that matter. */
struct cpu {
	uint32_t highest, features, palettes, palette_1;
};

static struct sl__cpuid
answer(const void *ctx, uint32_t leaf, uint32_t subleaf)
{
	const struct cpu *cpu = ctx;
	struct sl__cpuid is = {0, 0, 0, 0};

	assert_true(leaf <= cpu->highest); /* else it answers for another */
	if (leaf == 0)
		is.eax = cpu->highest;
	else if (leaf == 7 && subleaf == 0)
		is.edx = cpu->features;
	else if (leaf == 0x1d && subleaf == 0)
		is.eax = cpu->palettes;
	else if (leaf == 0x1d && subleaf == 1)
		is.ebx = cpu->palette_1;
	return is;
}

static void
tiles_are_hidden_where_amx_is_shown_without_them(void **state)
{
	enum {
		TILE = 1 << 24, /* EDX, leaf 7; bf16 and int8: */
		AMX = TILE | 1 << 22 | 1 << 25,
		SHAPE = 8 << 16 | 64 /* 8 tiles, rows of 64 bytes */
	};
	const struct {
		struct cpu cpu;
		int is_hidden;
	} rows[] = {
		{{0x20, AMX, 1, SHAPE}, 0},  {{0x1d, TILE, 1, SHAPE}, 0},
		{{0x1c, TILE, 0, 0}, 1},     {{0x1c, TILE, 1, SHAPE}, 1},
		{{0x20, TILE, 0, SHAPE}, 1}, {{0x20, TILE, 1, 0}, 1},
		{{0x20, TILE, 1, 64}, 1},    {{0x20, ~(uint32_t)TILE, 0, 0}, 0},
		{{0x07, 0, 0, 0}, 0},        {{0x06, TILE, 0, 0}, 0},
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

/* A ceiling of arithmetic counts what the engine may use: capped tiles hide
 * none.  Whichever CPU this runs on, the list and the cap agree. */
static void
capped_tiles_hide_no_ceiling(void **state)
{
	struct sl__peak_kernel k[SL__MAX_PEAK_KERNELS];
	size_t n = sl__peak_kernels(k), n_capped = 0;
	struct sl_machine m = {0};
	struct sl__arena arena;
	struct sl_error err;

	(void)state;
	for (size_t i = 0; i < n; i++)
		n_capped += k[i].absent && !strcmp(k[i].absent, "capped");
	sl__arena_init(&arena, NULL);
	assert_int_equal(sl__isa_read_unusable(&m, "", &arena, &err), SL_OK);
	assert_int_equal(m.n_caps, sl__isa_amx_is_unusable_here());
	if (m.n_caps) {
		assert_true(n_capped > 0);
		assert_false(sl__peak_has_untested_kernel(k, n, SL_DTYPE_BF16));
		assert_false(sl__peak_has_untested_kernel(k, n, SL_DTYPE_I8));
	} else {
		assert_int_equal(n_capped, 0);
	}
	sl__arena_release(&arena);
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
	assert_int_equal(sl__isa_read_unusable(&m, XEON, &arena, &err),
			 SL_E_NOMEM);
	assert_int_equal(m.n_caps, 0);
	assert_int_equal(sl__isa_read_unusable(&m, XEON, &arena, &err), SL_OK);
	assert_int_equal(m.n_caps, 1);
	sl__arena_release(&arena);
	assert_int_equal(counting.n_out, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			tiles_are_hidden_where_amx_is_shown_without_them),
		cmocka_unit_test(a_recorded_xeon_is_capped),
		cmocka_unit_test(a_recording_without_leaves_is_not_capped),
		cmocka_unit_test(capped_tiles_hide_no_ceiling),
		cmocka_unit_test(reading_caps_fails_cleanly_without_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
