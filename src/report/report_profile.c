/* SPDX-License-Identifier: Apache-2.0 */
/* report_profile.c - what was found in models that ran, in any format. */
#include "base/option_struct.h"
#include "base/status.h"
#include "report/profile_page.h"
#include "report/render.h"

#include "base/banned.h"

enum sl_status
sl_profile_render(const struct sl_profile *const *profiles, size_t n,
		  const struct sl_profile_view *view,
		  const struct sl_render_options *how, struct sl_buf *out,
		  struct sl_error *err)
{
	static const struct sl__renderer renderer = {
		.kind = "a profile",
		.command = "profile",
		.page = sl__profile_page,
		.views = sl__profile_views,
		.table = &sl__table_profiles,
		/* One line for each operation. */
		.csv_rows = "results/operations",
		.csv_columns =
			"model=../model/name,step,name,type,role,path,engine,"
			"kernel,covers,calls,parameters,output_shape,"
			"memory_bytes,self_ms,share,median_ms,min_ms,max_ms,"
			"flops,all_flops,executed_flops,bytes,gflops_per_s,"
			"executed_gflops_per_s,gbytes_per_s,intensity,bound,"
			"confidence,ceiling_share",
	};
	struct sl__profile_page_input result = {
		.profiles = {.list = profiles, .n = n}};
	enum sl_status rc = sl__options_copy(&result.view, sizeof(result.view),
					     view, "sl_profile_view", err);

	if (rc)
		return rc;
	if (!n)
		return sl__fail(err, SL_E_USAGE, "no profile to report on");
	result.profiles.machine = profiles[0]->machine;
	result.profiles.layer = result.view.layer;
	return sl__render(&renderer, &result, how, out, err);
}
