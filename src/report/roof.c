/* SPDX-License-Identifier: Apache-2.0 */
/*
 * roof.c - the machine's ceilings, as reports quote them.
 *
 * A report on a program does not stop to measure the machine: it takes what
 * "sleuth machine" left in the cache, or says that nothing is there.
 */
#include "roof.h"

#include <math.h>

#include "banned.h"

void
sl__roof_read(struct sl__roof *out)
{
	struct sl_machine *machine;

	*out = (struct sl__roof){"run `sleuth machine` first", (double)NAN,
				 (double)NAN, (double)NAN, (double)NAN};
	if (sl_machine_open_cached(&machine, NULL, NULL))
		return;
	out->absent = NULL;
	out->core_flops = sl_machine_peak_flops_per_s(machine, SL_DTYPE_F32, 1);
	out->all_flops = sl_machine_peak_flops_per_s(machine, SL_DTYPE_F32,
						     machine->max_threads);
	out->core_bytes = sl_machine_bandwidth_bytes_per_s(machine, 1);
	out->all_bytes =
		sl_machine_bandwidth_bytes_per_s(machine, machine->max_threads);
	sl_machine_free(machine);
}

static struct sl__roof_share
share_of(const struct sl__roof *roof, struct sl_reading rate, double core,
	 double all)
{
	struct sl__roof_share s = {
		{(double)NAN, rate.absent}, (double)NAN, NULL};

	if (rate.absent)
		return s;
	s.share.absent = roof->absent;
	if (roof->absent)
		return s;
	s.ceiling = rate.value > core ? all : core;
	s.share.absent = "not measured by `sleuth machine`";
	if (s.ceiling > 0)
		s.share = (struct sl_reading){rate.value / s.ceiling, NULL};
	return s;
}

struct sl__roof_share
sl__roof_flops_share(const struct sl__roof *roof, struct sl_reading flops_per_s)
{
	struct sl__roof_share s =
		share_of(roof, flops_per_s, roof->core_flops, roof->all_flops);

	s.of = flops_per_s.value > roof->core_flops ? "the machine's f32 peak"
						    : "one core's f32 peak";
	return s;
}

struct sl__roof_share
sl__roof_bytes_share(const struct sl__roof *roof, struct sl_reading bytes_per_s)
{
	struct sl__roof_share s =
		share_of(roof, bytes_per_s, roof->core_bytes, roof->all_bytes);

	s.of = bytes_per_s.value > roof->core_bytes
		       ? "the machine's memory bandwidth"
		       : "one core's memory bandwidth";
	return s;
}
