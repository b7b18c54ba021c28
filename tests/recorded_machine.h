/* SPDX-License-Identifier: Apache-2.0 */
/* recorded_machine.h - a small machine with known ceilings, for tests. */
#ifndef SL_TEST_RECORDED_MACHINE_H
#define SL_TEST_RECORDED_MACHINE_H

#include "sleuth.h"

#include <math.h>

static const struct sl_cache recorded_caches[] = {
	{1, SL_CACHE_DATA, 32768, 64, 2, 1},
	{2, SL_CACHE_UNIFIED, 1 << 20, 0, 1, 2},
};

static const char *const recorded_isa[] = {"sse2", "avx2", "fma"};

static const struct sl_isa_set recorded_isa_sets[] = {
	{"SSE4", SL_ISA_SSE4, 1, 1},
	{"AVX2", SL_ISA_AVX2, 1, 1},
	{"AVX-512", SL_ISA_AVX512, 1, 1},
	{"AMX", SL_ISA_AMX, 1, 0},
};

static const struct sl_isa_cap recorded_caps[] = {
	{"AMX", "AVX-512", SL_ISA_TILES_HIDDEN},
};

static const struct sl_counter recorded_counters[] = {
	{"cycles", NULL},
	{"branches", "the \"CPU\" does not offer it"},
};

#define RECORDED_ESTIMATE(x)                                        \
	{                                                           \
		(x), 0.99 * (x), 1.01 * (x), 40, 0, SL_METHOD_ORDER \
	}
#define RECORDED_REFUSED(x)                                          \
	{                                                            \
		(x), (double)NAN, (double)NAN, 6, 36, SL_METHOD_NONE \
	}

static const struct sl_peak recorded_peaks[] = {
	{SL_DTYPE_F32, "scalar", 32, 1, RECORDED_ESTIMATE(8e9), NULL, 0},
	{SL_DTYPE_F32, "AVX2", 256, 1, RECORDED_ESTIMATE(64e9), NULL, 0},
	{SL_DTYPE_F32, "AVX2", 256, 2, RECORDED_ESTIMATE(128e9), NULL, 0},
	{SL_DTYPE_I8, "AVX2", 256, 1, RECORDED_REFUSED(123.456e9), NULL, 0},
	{SL_DTYPE_BF16, "AMX-BF16", 8192, 0, RECORDED_REFUSED((double)NAN),
	 "not exercised", 1},
};

static const struct sl_memory_level recorded_levels[] = {
	{SL_LEVEL_L1, SL_ACCESS_LOAD, 1, 4096, 32768, RECORDED_ESTIMATE(200e9),
	 1},
	{SL_LEVEL_DRAM, SL_ACCESS_LOAD, 1, 1 << 25, 1 << 25,
	 RECORDED_ESTIMATE(10e9), 1},
	{SL_LEVEL_DRAM, SL_ACCESS_TRIAD, 1, 1 << 25, 1 << 25,
	 RECORDED_ESTIMATE(8e9), 4.0 / 3},
	{SL_LEVEL_DRAM, SL_ACCESS_TRIAD_NT, 2, 1 << 24, 1 << 24,
	 RECORDED_REFUSED(16e9), 1},
	{SL_LEVEL_DRAM, SL_ACCESS_CHASE, 1, 1 << 23, 1 << 25,
	 RECORDED_ESTIMATE(100), (double)NAN},
};

static const struct sl_memory_point recorded_points[] = {
	{SL_ACCESS_LOAD, 1, 4096, 200e9},
	{SL_ACCESS_CHASE, 1, 4096, 1.25},
};

/* All of it read-only and never freed. */
static inline struct sl_machine
recorded_machine(void)
{
	static const char *const hidden = "not available: no such file";
	struct sl_machine m = {
		.model = {"Test CPU <1 & 2>", NULL},
		.architecture = {"x86_64", NULL},
		.kernel = {"6.1.0", NULL},
		.microcode = {NULL, hidden},
		.n_sockets = {1, NULL},
		.n_cores = {2, NULL},
		.n_hardware_threads = {2, NULL},
		.n_numa_nodes = {(double)NAN, "not reported by hwloc"},
		.memory_bytes = {8e9, NULL},
		.n_cpus_allowed = 2,
		.caches = recorded_caches,
		.n_caches = 2,
		.isa = recorded_isa,
		.n_isa = 3,
		.isa_shown = SL_ISA_AMX,
		.isa_used = SL_ISA_AVX512,
		.isa_sets = recorded_isa_sets,
		.n_isa_sets = 4,
		.caps = recorded_caps,
		.n_caps = 1,
		.governor = {NULL, hidden},
		.turbo = {"on", NULL},
		.huge_pages = {"madvise", NULL},
		.smt = {"off", NULL},
		.hypervisor = {"none", NULL},
		.energy = {NULL, "not readable: permission denied"},
		.counters = recorded_counters,
		.n_counters = 2,
		.fingerprint = "0123456789abcdef",
		.peaks = recorded_peaks,
		.n_peaks = 5,
		.levels = recorded_levels,
		.n_levels = 5,
		.points = recorded_points,
		.n_points = 2,
		.buffer_pages = {"huge pages (100 % of them)", NULL},
		.max_threads = 2,
		.n_passes = 6,
		.elapsed_s = 11.75,
		.measured_at_s = 1700000000,
		.stopped_by = SL_STOP_TIME};

	return m;
}

#endif
