/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile_function.c - time and memory of one function, together.
 *
 * Time first, undisturbed; then one more call under the memory recorder,
 * whose cost would spoil the times.
 */
#include "base/option_struct.h"
#include "base/status.h"
#include "result/function_profile.h"
#include "sleuth/profiling.h"
#include "timing/scope.h"

#include "base/banned.h"

static enum sl_status
take_options(struct sl_profile_function_options *how,
	     const struct sl_profile_function_options *options,
	     struct sl_error *err)
{
	enum sl_status rc = sl__options_copy(
		how, sizeof(*how), options, "sl_profile_function_options", err);

	if (rc)
		return rc;
	if (!(how->n_flops >= 0) || !(how->n_bytes >= 0))
		return sl__fail(err, SL_E_USAGE,
				"declared work of %g FLOPs and %g bytes: must "
				"not be below 0",
				how->n_flops, how->n_bytes);
	return SL_OK;
}

static void
release(struct sl__function_profile *profile)
{
	sl_measurement_free(profile->time);
	sl_memory_free(profile->memory);
	sl_machine_free(profile->machine);
}

/* A report on a function does not stop to measure the machine. */
static void
place(struct sl__function_profile *p)
{
	struct sl__achieved_rates rates = sl__rates_of_function(p);

	if (sl_machine_open_cached(&p->machine, NULL, NULL))
		p->machine = NULL;
	p->compute_share = sl__flops_share_of_roof(p->machine, &rates).share;
	p->bandwidth_share = sl__bytes_share_of_roof(p->machine, &rates).share;
}

static enum sl_status
measure(struct sl__function_profile *profile, const char *name, sl_function *fn,
	void *ctx, const struct sl_profile_function_options *how,
	struct sl_error *err)
{
	struct sl_measure_options time = {.struct_size = sizeof(time)};
	struct sl_memory_options memory = {.struct_size = sizeof(memory)};
	enum sl_status rc;

	time.name = name;
	time.time_s = how->time_s;
	time.allocator = how->allocator;
	memory.name = name;
	memory.allocator = how->allocator;
	rc = sl_measure(&profile->time, fn, ctx, &time, err);
	if (rc)
		return rc;
	rc = sl_measure_function_memory(&profile->memory, fn, ctx, &memory,
					err);
	if (rc)
		return rc;
	profile->n_flops = how->n_flops;
	profile->n_bytes = how->n_bytes;
	profile->flops_per_s = sl__work_rate_per_s(
		how->n_flops, profile->time->wall.median.value,
		"no FLOPs were declared");
	profile->bytes_per_s = sl__work_rate_per_s(
		how->n_bytes, profile->time->wall.median.value,
		"no bytes were declared");
	place(profile);
	return SL_OK;
}

enum sl_status
sl_profile_function(struct sl_buf *out, const char *name, sl_function *fn,
		    void *ctx,
		    const struct sl_profile_function_options *options,
		    struct sl_error *err)
{
	struct sl_profile_function_options how;
	struct sl__function_profile profile = {0};
	enum sl_status rc = take_options(&how, options, err);

	if (!rc)
		rc = sl__function_profile_check_format(how.render, err);
	if (!rc)
		rc = measure(&profile, name, fn, ctx, &how, err);
	if (!rc)
		rc = sl__function_profile_render(&profile, how.render, out,
						 err);
	release(&profile);
	return rc;
}
