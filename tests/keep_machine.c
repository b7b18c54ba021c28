/* SPDX-License-Identifier: Apache-2.0 */
/*
 * keep_machine.c - keeps a description of this machine with ceilings that are
 * made up, in the user's cache folder, as `sleuth machine` would; for the cases
 * in tests/cli.
 *
 *   usage: keep_machine [FLOPS_PER_S BYTES_PER_S]
 *
 * With no figures neither was measured.
 */
#include "base/cache_file.h"
#include "machine/machine_cache.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

int
main(int argc, char **argv)
{
	struct sl_machine_options quick = {.struct_size = sizeof(quick),
					   .time_s = 0.1};
	struct sl_estimate none = {
		.lo = (double)NAN, .hi = (double)NAN, .n = 1, .needs_n = 6};
	struct sl_peak peak = {.dtype = SL_DTYPE_F32,
			       .isa = "made up",
			       .n_bits = 256,
			       .n_threads = 1,
			       .ops_per_s = none};
	struct sl_memory_level level = {.level = SL_LEVEL_DRAM,
					.access = SL_ACCESS_LOAD,
					.n_threads = 1,
					.from_bytes = 1024,
					.to_bytes = 2048,
					.traffic_per_byte = 1,
					.value = none};
	struct sl_machine *measured = NULL, kept;
	char folder[SL__CACHE_PATH];
	struct sl_error err = {0};

	if (sl_machine_probe(&measured, &quick, &err))
		goto out;
	kept = *measured;
	kept.peaks = &peak;
	kept.levels = &level;
	kept.n_peaks = kept.n_levels = argc == 3;
	kept.n_points = 0;
	if (argc == 3) {
		peak.ops_per_s.value = strtod(argv[1], NULL);
		level.value.value = strtod(argv[2], NULL);
	}
	if (!sl__cache_folder(folder, NULL, &err))
		(void)!sl__machine_cache_save(&kept, folder, &err);
out:
	sl_machine_free(measured);
	if (err.status)
		fprintf(stderr, "keep_machine: %s\n", err.text);
	return err.status != SL_OK;
}
