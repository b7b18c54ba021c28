/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_function.c - sl_profile_function(): one function on one page.
 *
 * The page is that of sl_measurement_render() followed by rates, memory and
 * what stands out; JSON is one document with latency, rates and allocation.
 */
#include "base/buf.h"
#include "driver/profile_function.h"
#include "report/render.h"
#include "report/result_json.h"
#include "report/section.h"
#include "report/unit.h"

#include "base/banned.h"

/* The function is called by one thread. */
static struct sl__rates
rates_of(const struct sl__function_profile *p)
{
	const struct sl_estimate *median = &p->time->wall.median;
	struct sl__rates rates = {p->flops_per_s, p->bytes_per_s,
				  sl__roof_upper(median) / median->value, 1};

	return rates;
}

static void
insights_of(struct sl__insights *out, const struct sl__function_profile *p,
	    const struct sl_machine *machine)
{
	const char *name = p->time->name;
	const struct sl_latency *wall = &p->time->wall;
	struct sl__rates rates = rates_of(p);

	out->n = 0;
	sl__insight_rates(out, name, &rates, machine);
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
		     sl__scaled_text(&t, rate.value), unit);
	if (share.absent)
		sl__doc_more(doc, SL__STYLE_DIM, " (share of the ceiling: %s)",
			     share.absent);
	else
		sl__doc_more(doc, SL__STYLE_DIM, " (%s of the ceiling)",
			     sl__percent_text(&t, share.value));
}

static enum sl_status
render_page(const struct sl__function_profile *p,
	    const struct sl_machine *machine,
	    const struct sl_render_options *how, struct sl_buf *out,
	    struct sl_error *err)
{
	struct sl__rates rates = rates_of(p);
	struct sl__insights insights;
	struct sl__doc doc;
	enum sl_status rc;

	rc = sl_measurement_render(p->time, how, out, err);
	if (rc)
		return rc;
	sl__buf_text(out, "\n");
	sl__doc_init(&doc, NULL);
	sl__doc_heading(&doc, "Rates");
	write_rate(&doc, "compute", p->flops_per_s, "FLOP/s",
		   sl__roof_flops_share(machine, &rates).share);
	write_rate(&doc, "memory", p->bytes_per_s, "B/s",
		   sl__roof_bytes_share(machine, &rates).share);
	sl__section_memory(&doc, p->memory, how->verbose);
	insights_of(&insights, p, machine);
	sl__section_insights(&doc, &insights);
	rc = sl__doc_render(&doc, how, out, err);
	sl__doc_release(&doc);
	return rc;
}

static void
json_rates(struct sl__json *json, const struct sl__function_profile *p,
	   const struct sl_machine *machine)
{
	struct sl_reading flops = p->flops_per_s, bytes = p->bytes_per_s;
	struct sl__rates rates = rates_of(p);

	flops.value *= 1e-9;
	bytes.value *= 1e-9;
	sl__json_object(json, "rates");
	sl__json_reading(json, "gflops_per_s", flops);
	sl__json_reading(json, "gbytes_per_s", bytes);
	sl__json_reading(json, "compute_efficiency",
			 sl__roof_flops_share(machine, &rates).share);
	sl__json_reading(json, "bandwidth_efficiency",
			 sl__roof_bytes_share(machine, &rates).share);
	sl__json_end_object(json);
}

static enum sl_status
render_json(const struct sl__function_profile *p,
	    const struct sl_machine *machine,
	    const struct sl_render_options *how, struct sl_buf *out,
	    struct sl_error *err)
{
	struct sl__insights insights;
	struct sl__json json;

	insights_of(&insights, p, machine);
	sl__section_open(&json, out,
			 how->command ? how->command : "profile-function");
	sl__json_text(&json, "name", p->time->name);
	sl__json_latency(&json, &p->time->wall);
	json_rates(&json, p, machine);
	sl__section_json_memory(&json, p->memory);
	sl__section_json_insights(&json, &insights);
	sl__json_ending(&json, p->time->elapsed_s, p->time->stopped_by,
			p->time->seed);
	sl__json_end_object(&json);
	return sl__buf_status(out, err);
}

enum sl_status
sl_profile_function(struct sl_buf *out, const char *name, sl_function *fn,
		    void *ctx,
		    const struct sl_profile_function_options *options,
		    struct sl_error *err)
{
	const struct sl_render_options *how;
	struct sl__function_profile profile;
	struct sl_machine *machine;
	enum sl_status rc;

	rc = sl__function_profile_check(options, err);
	if (rc)
		return rc;
	how = options ? options->render : NULL;
	rc = sl__render_check(&how, err);
	if (rc)
		return rc;
	if (how->format != SL_FORMAT_TEXT && how->format != SL_FORMAT_JSON &&
	    how->format != SL_FORMAT_MARKDOWN)
		return sl__render_refuse(err, "a profile of a function");
	rc = sl__function_profile_init(&profile, name, fn, ctx, options, err);
	if (rc)
		return rc;
	machine = sl__roof_open();
	if (how->format == SL_FORMAT_JSON)
		rc = render_json(&profile, machine, how, out, err);
	else
		rc = render_page(&profile, machine, how, out, err);
	sl_machine_free(machine);
	sl__function_profile_release(&profile);
	return rc;
}
