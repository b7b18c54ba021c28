/* SPDX-License-Identifier: Apache-2.0 */
/* profile_csv.c - profiles as CSV: one line for each operation. */
#include "base/buf.h"
#include "report/profile_page.h"
#include "report/result_csv.h"
#include "report/section.h"

#include <math.h>

#include "base/banned.h"

static void
add_work(struct sl_buf *out, const struct sl_operation *o)
{
	/* Work that is not known is an empty field, as NaN is. */
	double known = o->uncounted ? (double)NAN : 1;

	sl__csv_number(out, known * (double)o->core_flops);
	sl__csv_number(out, known * (double)o->nominal_flops);
	sl__csv_number(out, known * (double)o->executed_flops);
	sl__csv_number(out, known * (double)o->n_bytes);
	sl__csv_number(out, o->flops_per_s / 1e9);
	sl__csv_number(out, o->executed_flops_per_s / 1e9);
	sl__csv_number(out, o->bytes_per_s / 1e9);
	sl__csv_number(out, o->intensity);
	sl__csv_text(out, sl_bound_text(o->judgement.bound));
	sl__csv_number(out, o->judgement.confidence);
	sl__csv_number(out, o->ceiling_share);
}

static void
add_operation(struct sl_buf *out, const struct sl_profile *p, size_t i)
{
	const struct sl_operation *o = &p->operations[i];

	sl__csv_text(out, p->name);
	sl__csv_number(out, (double)o->step);
	sl__csv_text(out, o->name);
	sl__csv_text(out, o->type);
	sl__csv_text(out, sl_part_text(o->part));
	sl__csv_text(out, o->module);
	sl__csv_text(out, sl_path_text(o->path));
	sl__csv_text(out, o->kernel);
	sl__csv_number(out, (double)o->n_covers);
	sl__csv_number(out, o->n_calls);
	sl__csv_number(out, (double)o->parameters);
	sl__csv_text(out, o->output_shape);
	sl__csv_number(out, o->memory_bytes.value);
	sl__csv_number(out, o->self_ns / SL__NS_PER_MS);
	sl__csv_number(out, o->share);
	sl__csv_number(out, o->median_ns.value / SL__NS_PER_MS);
	sl__csv_number(out, o->min_ns / SL__NS_PER_MS);
	sl__csv_number(out, o->max_ns / SL__NS_PER_MS);
	add_work(out, o);
	sl__csv_end(out);
}

void
sl__profile_csv(struct sl_buf *out, const void *result)
{
	const struct sl__profile_result *r = result;

	sl__buf_text(out, "model,step,name,type,role,path,engine,kernel,covers,"
			  "calls,parameters,output_shape,memory_bytes,self_ms,"
			  "share,median_ms,min_ms,max_ms,flops,all_flops,"
			  "executed_flops,bytes,gflops_per_s,"
			  "executed_gflops_per_s,gbytes_per_s,intensity,bound,"
			  "confidence,ceiling_share\n");
	for (size_t k = 0; k < r->profiles.n; k++) {
		const struct sl_profile *p = r->profiles.list[k];

		for (size_t i = 0; i < p->n_operations; i++)
			add_operation(out, p, i);
	}
}
