/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_topology.c - recorded machines are read as what they are: a virtual
 * machine that hides much, a laptop that shows all, an ARM server with other
 * names for things.  What a machine hides is absent with a reason.
 */
#include "harness.h"
#include "machine/topology.h"
#include "machine/platform.h"

struct reading {
	struct sl__arena arena;
	struct sl_machine m;
};

static struct reading
read_machine(const char *root)
{
	struct reading r = {0};
	struct sl_error err;

	sl__arena_init(&r.arena, NULL);
	assert_int_equal(sl__topology_read(&r.m, root, &r.arena, &err), SL_OK);
	assert_int_equal(sl__platform_read(&r.m, root, &r.arena, &err), SL_OK);
	return r;
}

static int
has_isa(const struct sl_machine *m, const char *name)
{
	for (size_t i = 0; i < m->n_isa; i++) {
		if (!strcmp(m->isa[i], name))
			return 1;
	}
	return 0;
}

static void
assert_absent(const struct sl_text_reading *fact, const char *part_of_reason)
{
	assert_null(fact->value);
	assert_non_null(fact->absent);
	assert_non_null(strstr(fact->absent, part_of_reason));
}

static void
assert_cache(const struct sl_cache *cache, unsigned level,
	     enum sl_cache_kind kind, size_t size_bytes, size_t n)
{
	assert_int_equal(cache->level, level);
	assert_int_equal(cache->kind, kind);
	assert_int_equal(cache->size_bytes, size_bytes);
	assert_int_equal(cache->n, n);
}

static void
a_virtual_machine_hides_governor_turbo_and_energy(void **state)
{
	struct reading r = read_machine(SL_TEST_DATA "/machines/vm");
	const struct sl_machine *m = &r.m;

	(void)state;
	assert_string_equal(m->model.value, "AMD EPYC");
	assert_string_equal(m->architecture.value, "x86_64");
	assert_string_equal(m->microcode.value, "0x1000065");
	assert_string_equal(m->huge_pages.value, "madvise");
	assert_string_equal(m->smt.value, "off");
	assert_string_equal(m->hypervisor.value, "present, without a name");
	assert_absent(&m->governor, "not available: ");
	assert_absent(&m->governor, "scaling_governor");
	assert_absent(&m->turbo, "No such file");
	assert_absent(&m->energy, "no RAPL meter");
	assert_near(m->n_sockets.value, 1, 0);
	assert_near(m->n_cores.value, 2, 0);
	assert_near(m->n_hardware_threads.value, 2, 0);
	assert_near(m->memory_bytes.value, 24684100.0 * 1024, 0);
	assert_int_equal(m->n_caches, 4);
	assert_cache(&m->caches[0], 1, SL_CACHE_DATA, 32768, 2);
	assert_cache(&m->caches[1], 1, SL_CACHE_INSTRUCTION, 32768, 2);
	assert_cache(&m->caches[2], 2, SL_CACHE_UNIFIED, 1 << 20, 2);
	assert_cache(&m->caches[3], 3, SL_CACHE_UNIFIED, 32 << 20, 1);
	assert_int_equal(m->caches[3].n_sharing, 2);
	assert_true(has_isa(m, "avx512_bf16"));
	assert_false(has_isa(m, "smep")); /* not about arithmetic */
	assert_false(has_isa(m, "hypervisor"));
	sl__arena_release(&r.arena);
}

static void
a_laptop_shows_everything(void **state)
{
	struct reading r = read_machine(SL_TEST_DATA "/machines/laptop");
	const struct sl_machine *m = &r.m;

	(void)state;
	assert_string_equal(m->model.value,
			    "Intel(R) Core(TM) i7-8650U CPU @ 1.90GHz");
	assert_string_equal(m->governor.value, "powersave");
	assert_null(m->governor.absent);
	assert_string_equal(m->turbo.value, "on"); /* no_turbo is 0 */
	assert_string_equal(m->smt.value, "on");
	assert_string_equal(m->huge_pages.value, "always");
	assert_string_equal(m->hypervisor.value, "none");
	assert_string_equal(m->energy.value, "RAPL");
	assert_near(m->n_cores.value, 4, 0);
	assert_near(m->n_hardware_threads.value, 8, 0);
	assert_int_equal(m->caches[0].n_sharing, 2);
	assert_int_equal(m->caches[3].n_sharing, 8);
	assert_true(has_isa(m, "fma"));
	sl__arena_release(&r.arena);
}

static void
an_arm_server_has_parts_instead_of_names(void **state)
{
	struct reading r = read_machine(SL_TEST_DATA "/machines/arm");
	const struct sl_machine *m = &r.m;

	(void)state;
	assert_string_equal(m->model.value, "implementer 0x41 part 0xd0c");
	assert_string_equal(m->architecture.value, "aarch64");
	assert_absent(&m->microcode, "not in /proc/cpuinfo");
	assert_absent(&m->hypervisor, "lists no such flag");
	assert_absent(&m->smt, "smt/active");
	assert_string_equal(m->huge_pages.value, "never");
	assert_true(has_isa(m, "asimddp"));
	assert_int_equal(m->n_caches, 3);
	assert_cache(&m->caches[2], 2, SL_CACHE_UNIFIED, 1 << 20, 4);
	sl__arena_release(&r.arena);
}

static void
a_missing_or_malformed_description_is_an_error(void **state)
{
	struct sl_machine m = {0};
	struct sl__arena arena;
	struct sl_error err;

	(void)state;
	sl__arena_init(&arena, NULL);
	assert_int_equal(sl__topology_read(&m, SL_TEST_DATA "/machines/none",
					   &arena, &err),
			 SL_E_IO);
	assert_non_null(strstr(err.text, "hwloc.txt"));
	assert_int_equal(sl__topology_read(&m, SL_TEST_DATA "/machines/broken",
					   &arena, &err),
			 SL_E_DATA);
	sl__arena_release(&arena);
}

static void
an_empty_root_is_all_absence(void **state)
{
	struct sl_machine m = {0};
	struct sl__arena arena;

	(void)state;
	sl__arena_init(&arena, NULL);
	assert_int_equal(sl__platform_read(&m, SL_TEST_DATA "/machines/none",
					   &arena, NULL),
			 SL_OK);
	assert_absent(&m.model, "cpuinfo");
	assert_absent(&m.kernel, "osrelease");
	assert_non_null(m.memory_bytes.absent);
	assert_true(isnan(m.memory_bytes.value));
	assert_int_equal(m.n_isa, 0);
	sl__arena_release(&arena);
}

static void
memory_is_what_kernel_and_group_both_allow(void **state)
{
	(void)state;
	/* The group allows 256 MiB, 64 of which are used. */
	assert_int_equal(sl__platform_free_bytes(SL_TEST_DATA "/machines/vm"),
			 (256 - 64) << 20);
	assert_int_equal(
		sl__platform_free_bytes(SL_TEST_DATA "/machines/laptop"),
		8000000ul * 1024);
	assert_int_equal(sl__platform_free_bytes(SL_TEST_DATA "/machines/none"),
			 0);
	assert_int_equal(sl__platform_total_bytes(SL_TEST_DATA "/machines/vm"),
			 256 << 20);
	assert_int_equal(
		sl__platform_total_bytes(SL_TEST_DATA "/machines/laptop"),
		16234567ul * 1024);
	assert_int_equal(
		sl__platform_total_bytes(SL_TEST_DATA "/machines/none"), 0);
}

static void
this_machine_can_be_read(void **state)
{
	struct reading r = read_machine("");

	(void)state;
	assert_non_null(r.m.architecture.value);
	assert_true(r.m.n_hardware_threads.value >= 1);
	assert_true(r.m.memory_bytes.value > 1 << 20);
	assert_true(sl__platform_free_bytes("") > 0);
	sl__arena_release(&r.arena);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			a_virtual_machine_hides_governor_turbo_and_energy),
		cmocka_unit_test(a_laptop_shows_everything),
		cmocka_unit_test(an_arm_server_has_parts_instead_of_names),
		cmocka_unit_test(
			a_missing_or_malformed_description_is_an_error),
		cmocka_unit_test(an_empty_root_is_all_absence),
		cmocka_unit_test(memory_is_what_kernel_and_group_both_allow),
		cmocka_unit_test(this_machine_can_be_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
