/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_function.c - time and memory of one function on one page.
 *
 * The page is that of sl_measurement_render() followed by rates, memory and
 * what stands out; JSON is one document with latency, rates and allocation.
 */
#include "report/render.h"
#include "report/section.h"
#include "report/unit.h"
#include "result/function_profile.h"
#include "result/tables.h"

#include "base/banned.h"

static void
insights_of(struct sl__insights *out, const struct sl__function_profile *p)
{
	const char *name = p->time->name;
	const struct sl_latency *wall = &p->time->wall;
	struct sl__achieved_rates rates = sl__rates_of_function(p);

	out->n = 0;
	sl__insight_rates(out, name, &rates, p->machine);
	sl__insight_variation(out, name, &wall->median, &wall->p99);
	sl__insight_memory(out, p->memory);
}

static void
write_rate(struct sl__doc *doc, const char *key, struct sl_reading rate,
	   const char *unit, struct sl_reading share)
{
	struct sl__text t;

	if (rate.absent) {
		sl__doc_pair(doc, key, SL__STYLE_DIM, "absent: %s",
			     rate.absent);
		return;
	}
	sl__doc_pair(doc, key, SL__STYLE_PLAIN, "%s%s",
		     sl__si_prefix_text(&t, rate.value), unit);
	if (share.absent)
		sl__doc_append(doc, SL__STYLE_DIM,
			       " (share of the ceiling: %s)", share.absent);
	else
		sl__doc_append(doc, SL__STYLE_DIM, " (%s of the ceiling)",
			       sl__percent_text(&t, share.value));
}

static void
write_page(struct sl__doc *doc, const void *result,
	   const struct sl_render_options *how)
{
	const struct sl__function_profile *p = result;
	struct sl__insights insights;

	sl__section_measurement(doc, p->time, how);
	sl__doc_heading(doc, "Rates");
	write_rate(doc, "compute", p->flops_per_s, "FLOP/s", p->compute_share);
	write_rate(doc, "memory", p->bytes_per_s, "B/s", p->bandwidth_share);
	sl__section_memory(doc, p->memory, how->verbose);
	insights_of(&insights, p);
	sl__section_insights(doc, &insights);
}

static void
tell(struct sl__json *json, const char *key, const void *record,
     const void *parent)
{
	struct sl__insights insights;

	(void)parent;
	insights_of(&insights, record);
	sl__section_json_insights(json, key, &insights);
}

enum sl_status
sl__function_profile_check_format(const struct sl_render_options *options,
				  struct sl_error *err)
{
	struct sl_render_options how;
	enum sl_status rc = sl__render_options_copy(&how, options, err);

	if (rc || how.format == SL_FORMAT_TEXT ||
	    how.format == SL_FORMAT_JSON || how.format == SL_FORMAT_MARKDOWN)
		return rc;
	return sl__render_refuse_format(err, "a profile of a function");
}

enum sl_status
sl__function_profile_render(const struct sl__function_profile *p,
			    const struct sl_render_options *how,
			    struct sl_buf *out, struct sl_error *err)
{
	static const struct sl__renderer renderer = {
		.kind = "a profile of a function",
		.command = "profile-function",
		.page = write_page,
		.tell = tell,
		.table = &sl__table_function,
	};

	return sl__render(&renderer, p, how, out, err);
}
