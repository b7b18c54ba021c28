/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile_function.c - time and memory of one function, together.
 *
 * Time first, undisturbed; then one more call under the memory recorder,
 * whose cost would spoil the times.
 */
#include "driver/profile_function.h"
#include "base/status.h"
#include "timing/scope.h"

#include "base/banned.h"

enum sl_status
sl__function_profile_check(const struct sl_profile_function_options *how,
			   struct sl_error *err)
{
	if (!how)
		return SL_OK;
	if (how->struct_size != sizeof(*how))
		return sl__fail(
			err, SL_E_USAGE,
			"sl_profile_function_options: struct_size is wrong");
	if (!(how->n_flops >= 0) || !(how->n_bytes >= 0))
		return sl__fail(err, SL_E_USAGE,
				"declared work of %g FLOPs and %g bytes: must "
				"not be below 0",
				how->n_flops, how->n_bytes);
	return SL_OK;
}

enum sl_status
sl__function_profile_init(struct sl__function_profile *profile,
			  const char *name, sl_function *fn, void *ctx,
			  const struct sl_profile_function_options *options,
			  struct sl_error *err)
{
	struct sl_profile_function_options how = {.struct_size = sizeof(how)};
	struct sl_measure_options time = {.struct_size = sizeof(time)};
	struct sl_memory_options memory = {.struct_size = sizeof(memory)};
	enum sl_status rc;

	*profile = (struct sl__function_profile){0};
	if (options)
		how = *options;
	time.name = name;
	time.time_s = how.time_s;
	time.allocator = how.allocator;
	memory.name = name;
	memory.allocator = how.allocator;
	rc = sl_measure(&profile->time, fn, ctx, &time, err);
	if (rc)
		return rc;
	rc = sl_measure_memory_of(&profile->memory, fn, ctx, &memory, err);
	if (rc) {
		sl__function_profile_release(profile);
		return rc;
	}
	profile->n_flops = how.n_flops;
	profile->n_bytes = how.n_bytes;
	profile->flops_per_s = sl__rate_of(how.n_flops,
					   profile->time->wall.median.value,
					   "no FLOPs were declared");
	profile->bytes_per_s = sl__rate_of(how.n_bytes,
					   profile->time->wall.median.value,
					   "no bytes were declared");
	return SL_OK;
}

void
sl__function_profile_release(struct sl__function_profile *profile)
{
	sl_measurement_free(profile->time);
	sl_memory_free(profile->memory);
	*profile = (struct sl__function_profile){0};
}
