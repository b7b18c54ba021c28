/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inspect_page.c - one model on one screen: what it is, holds and computes,
 * where that is, and what it needs.
 *
 * Counts that people compare digit by digit (parameters, MACs) are exact;
 * everything else is scaled.  'verbose' shows every layer and every tensor.
 */
#include "report/inspect_page.h"
#include "report/fact_text.h"
#include "report/hardware_page.h"
#include "report/unit.h"

#include <math.h>
#include <string.h>

#include "base/banned.h"

enum {
	MAX_PORTS = 3,  /* inputs and outputs named on one screen */
	SHORT_LINE = 60 /* letters that fit beside the keys */
};

/* "a 1x3 f32, b 2 i64, and 24 more": ports are separated by ", ". */
static void
add_ports(struct sl__doc *doc, const char *key, const char *ports, int verbose)
{
	const char *cut = NULL, *at = ports;
	size_t n = 1;

	if (!*ports)
		return;
	for (; (at = strstr(at, ", ")); at += 2) {
		if (n++ == MAX_PORTS)
			cut = at;
	}
	if (verbose || n < MAX_PORTS + 2) {
		sl__doc_plain_pair(doc, key, "%s", ports);
		return;
	}
	sl__doc_plain_pair(doc, key, "%.*s", (int)(cut - ports), ports);
	sl__doc_append_dim(doc, " and %zu more", n - MAX_PORTS);
}

static void
add_role(struct sl__doc *doc, uint64_t n, const char *role)
{
	struct sl__text t;

	if (n)
		sl__doc_append_dim(doc, " + %s %s", sl__count_text(&t, n),
				   role);
}

/* Whether all that is stored, but for a few indices, is of the first type. */
static int
is_of_one_type(const struct sl_parameters *p)
{
	return p->n_dtypes &&
	       (p->n_dtypes == 1 ||
		0.99 * (double)p->n_bytes < (double)p->by_dtype[0].n_bytes);
}

static void
add_parameters(struct sl__doc *doc, const struct sl_parameters *p)
{
	struct sl__text t;

	sl__doc_pair(doc, "parameters", SL__STYLE_STRONG, "%s",
		     sl__count_text(&t, p->trainable));
	sl__doc_append_plain(doc, " trainable");
	add_role(doc, p->statistics, "statistics");
	add_role(doc, p->constants,
		 p->constants == 1 ? "constant" : "constants");
	add_role(doc, p->tied, "in tied copies");
	if (p->folding)
		sl__doc_pair(doc, "", SL__STYLE_DIM, "%s", p->folding);
	if (is_of_one_type(p)) {
		sl__doc_append_plain(doc, "; %s",
				     sl__bytes_text(&t, (double)p->n_bytes));
		sl__doc_append_dim(doc, " of %s",
				   sl_dtype_text(p->by_dtype[0].dtype));
		return;
	}
	sl__doc_plain_pair(doc, "stored", "%s",
			   sl__bytes_text(&t, (double)p->n_bytes));
	for (size_t k = 0; k < p->n_dtypes; k++) {
		const struct sl_dtype_total *d = &p->by_dtype[k];

		sl__doc_append_dim(doc, "%s%s %s", k ? ", " : ": ",
				   sl_dtype_text(d->dtype),
				   sl__bytes_text(&t, (double)d->n_bytes));
	}
}

static void
add_compute(struct sl__doc *doc, const struct sl_inspection *i)
{
	int is_open = i->coverage.unknown.n_nodes > 0;
	struct sl__text a, b;

	sl__doc_pair(doc, "compute", is_open ? SL__STYLE_WARN : SL__STYLE_PLAIN,
		     "%s", is_open ? "at least " : "");
	sl__doc_append(doc, SL__STYLE_STRONG, "%sFLOPs",
		       sl__si_prefix_text(&a, (double)i->flops));
	if (i->conventions[SL_CONVENTION_TORCH] == i->flops)
		sl__doc_append_dim(doc, " (as torch: %s)",
				   sl__count_text(&a, i->flops));
	sl__doc_append_plain(doc, " = 2 × %s MACs",
			     sl__count_text(&b, i->cost.macs));
	if (i->batch > 1)
		sl__doc_append_plain(
			doc, "; per sample %sFLOPs",
			sl__si_prefix_text(&a, (double)i->flops_per_sample));
}

static void
add_convention(struct sl__doc *doc, const struct sl_inspection *i,
	       enum sl_convention c, const char *name)
{
	struct sl__text t;

	sl__doc_append_dim(doc, "%s ", name);
	sl__doc_append_plain(doc, "%s", sl__count_text(&t, i->conventions[c]));
}

/* What other tools would count, in full, as people compare them. */
static void
add_conventions(struct sl__doc *doc, const struct sl_inspection *i)
{
	sl__doc_plain_pair(doc, "otherwise", "%s", "");
	if (i->conventions[SL_CONVENTION_TORCH] != i->flops) {
		add_convention(doc, i, SL_CONVENTION_TORCH, "as torch counts");
		sl__doc_append_dim(doc, " FLOPs");
		sl__doc_plain_pair(doc, "", "%s", "");
	}
	add_convention(doc, i, SL_CONVENTION_FVCORE, "as fvcore counts");
	add_convention(doc, i, SL_CONVENTION_THOP, " MACs, as thop");
	sl__doc_append_dim(doc, " MACs");
	sl__doc_plain_pair(doc, "", "%s", "");
	add_convention(doc, i, SL_CONVENTION_ALL,
		       "with element-wise operations");
	sl__doc_append_dim(doc, " FLOPs");
	if (i->conventions[SL_CONVENTION_CORE_CAUSAL] ==
	    i->conventions[SL_CONVENTION_CORE])
		return;
	sl__doc_plain_pair(doc, "", "%s", "");
	add_convention(doc, i, SL_CONVENTION_CORE_CAUSAL,
		       "causal attention counted half");
	sl__doc_append_dim(doc, " MACs");
}

static void
add_traffic(struct sl__doc *doc, const struct sl_inspection *i, int verbose)
{
	struct sl__text a, b, c, d;

	sl__doc_plain_pair(doc, "traffic", "%s",
			   sl__bytes_text(&a, (double)i->n_bytes));
	sl__doc_append_dim(doc, ", %s of it weights",
			   sl__bytes_text(&b, (double)i->cost.weight_bytes));
	if (verbose)
		sl__doc_append_dim(
			doc, ", read %s, written %s",
			sl__bytes_text(&c, (double)i->cost.read_bytes),
			sl__bytes_text(&d, (double)i->cost.written_bytes));
	if (isfinite(i->intensity))
		sl__doc_append_plain(doc, "; %.3g FLOP/B", i->intensity);
}

/* Of a quantized model: what traffic and memory are the figures of. */
static void
add_fused(struct sl__doc *doc, const struct sl_inspection *i)
{
	const struct sl_fused_nodes *f = &i->fused;
	struct sl__text a, b;

	if (!f->n_quantize && !f->n_dequantize)
		return;
	sl__doc_plain_pair(
		doc, "quantized",
		"%s QuantizeLinear and %s DequantizeLinear count as part "
		"of their operators",
		sl__count_text(&a, f->n_quantize),
		sl__count_text(&b, f->n_dequantize));
	if (f->n_apart)
		sl__doc_append_plain(doc, ", %s by %s",
				     sl__count_text(&a, f->n_apart),
				     f->n_apart == 1 ? "itself" : "themselves");
	sl__doc_append_dim(
		doc,
		": traffic and memory are of integers, as engines store "
		"them (unfused, %s live at peak)",
		sl__bytes_text(&b, (double)i->memory.unfused_bytes));
}

static void
add_side(struct sl__doc *doc, const struct sl_ledger_side *side,
	 const struct sl_inspection *i, const char *what)
{
	double n_bytes = (double)i->coverage.counted.n_bytes +
			 (double)i->coverage.estimated.n_bytes +
			 (double)i->coverage.unknown.n_bytes;
	struct sl__text t;

	if (!side->n_nodes)
		return;
	sl__doc_append(doc, SL__STYLE_WARN, ", %s %s",
		       sl__count_text(&t, side->n_nodes), what);
	if (n_bytes > 0)
		sl__doc_append_dim(
			doc, " (%s of the bytes)",
			sl__percent_text(&t, (double)side->n_bytes / n_bytes));
}

static void
add_coverage(struct sl__doc *doc, const struct sl_inspection *i)
{
	const struct sl_coverage *c = &i->coverage;
	/* Others hold constants, or stand in a branch that is not taken. */
	const char *that = i->n_layers == i->n_nodes ? "" : " that run";
	uint64_t n = c->counted.n_nodes;
	struct sl__text t;

	if (!c->estimated.n_nodes && !c->unknown.n_nodes) {
		sl__doc_pair(doc, "coverage", SL__STYLE_GOOD,
			     "%s%s node%s%s counted", n > 1 ? "all " : "",
			     sl__count_text(&t, n), n == 1 ? "" : "s", that);
	} else {
		sl__doc_plain_pair(doc, "coverage", "%s node%s%s counted",
				   sl__count_text(&t, n), n == 1 ? "" : "s",
				   that);
		add_side(doc, &c->estimated, i, "estimated");
		add_side(doc, &c->unknown, i, "unknown");
	}
	for (size_t k = 0; k < c->n_names; k++)
		sl__doc_pair(doc, "", SL__STYLE_WARN, "%s", c->names[k]);
	for (size_t k = 0; k < i->n_unresolved; k++)
		sl__doc_pair(doc, k ? "" : "not inferred", SL__STYLE_WARN, "%s",
			     sl__doc_fact_sentence(doc, &i->unresolved[k]));
}

/* The types that compute, in one line; --by type has the table. */
static void
add_types(struct sl__doc *doc, const struct sl_inspection *i)
{
	size_t n_shown = 0;

	for (size_t k = 0; k < i->n_types && n_shown < 4; k++) {
		const struct sl_layer_group *g = &i->by_type[k];

		if (!(g->share >= 0.0005)) /* shown as 0.0 % */
			break;
		if (!n_shown)
			sl__doc_plain_pair(doc, "FLOPs in", "%s", "");
		sl__doc_append_plain(doc, "%s%s %.1f %%", n_shown ? ", " : "",
				     g->name, 100 * g->share);
		sl__doc_append_dim(doc, " (%zu layer%s)", g->n_layers,
				   g->n_layers == 1 ? "" : "s");
		n_shown++;
	}
}

const char *
sl__model_display_name(const char *name, const char *source)
{
	const char *at;

	if (!source || !strstr(source, ".onnx"))
		return name;
	at = source + strlen(source);
	for (int n_slashes = 0; at > source; at--) {
		n_slashes += at[-1] == '/';
		if (n_slashes == 2)
			break;
	}
	return at;
}

const char *
sl__model_source_text(const char *name, const char *source)
{
	if (!source || sl__model_display_name(name, source) != name)
		return "";
	return strcmp(source, "zoo") == 0 ? "built-in model, random weights"
					  : source;
}

/* Inputs, sizes and outputs: on one line where they are short. */
static void
add_interface(struct sl__doc *doc, const struct sl_inspection *i, int verbose)
{
	const char *sizes = i->sizes ? i->sizes : "";
	size_t n_letters = strlen(i->inputs) + strlen(sizes);

	if (*i->inputs && *i->outputs &&
	    n_letters + strlen(i->outputs) < SHORT_LINE) {
		sl__doc_plain_pair(doc, "in, out", "%s", i->inputs);
		if (*sizes)
			sl__doc_append_dim(doc, " (%s)", sizes);
		sl__doc_append_plain(doc, " -> %s", i->outputs);
		return;
	}
	add_ports(doc, "input", i->inputs, verbose);
	if (*i->inputs && *sizes && n_letters < SHORT_LINE)
		sl__doc_append_dim(doc, " (%s)", sizes);
	else if (*sizes)
		sl__doc_plain_pair(doc, "sizes", "%s", sizes);
	add_ports(doc, "output", i->outputs, verbose);
}

static void
add_identity(struct sl__doc *doc, const struct sl_inspection *i, int verbose)
{
	const char *source = sl__model_source_text(i->name, i->source);
	struct sl__text t;

	sl__doc_heading(doc, "%s", sl__model_display_name(i->name, i->source));
	sl__doc_append_dim(doc, "  %s%s", source, *source ? "; " : "");
	if (i->opset)
		sl__doc_append_dim(doc, "opset %d, ", i->opset);
	sl__doc_append_dim(doc, "%s node%s", sl__count_text(&t, i->n_nodes),
			   i->n_nodes == 1 ? "" : "s");
	if (i->producer && *i->producer && strcmp(i->producer, "sleuth") != 0)
		sl__doc_append_dim(doc, ", by %s", i->producer);
	add_interface(doc, i, verbose);
	add_parameters(doc, &i->parameters);
	add_compute(doc, i);
	add_conventions(doc, i);
	add_traffic(doc, i, verbose);
	add_fused(doc, i);
	add_types(doc, i);
	add_coverage(doc, i);
}

/* What was asked for beyond the table of all, model by model. */
static void
add_asked(struct sl__doc *doc, const struct sl_inspection *i,
	  const struct sl_inspect_view *view,
	  const struct sl_render_options *how)
{
	int has_layers = view->by != SL_BY_LAYER || view->n_top ||
			 view->depth || how->verbose;

	if (how->verbose) {
		add_identity(doc, i, 0);
	} else if (has_layers || i->n_explanations || i->n_weights) {
		sl__doc_heading(doc, "%s",
				sl__model_display_name(i->name, i->source));
		sl__doc_plain_pair(doc, "sizes", "%s",
				   i->sizes && *i->sizes ? i->sizes : "fixed");
	}
	sl__inspect_explanations(doc, i);
	if (has_layers)
		sl__inspect_layers(doc, i, view, how);
	sl__inspect_weights(doc, i, view->n_top, how);
}

void
sl__inspect_page(struct sl__doc *doc, const void *result,
		 const struct sl_render_options *how)
{
	const struct sl__inspect_page_input *r = result;
	const struct sl_inspect_view *view = &r->view;
	const struct sl_inspection *i = r->inspections.list[0];

	if (r->inspections.n > 1) {
		sl__inspect_side_by_side(doc, r->inspections.list,
					 r->inspections.n);
		for (size_t k = 0;
		     r->inspections.list[0]->hardware && k < r->inspections.n;
		     k++)
			sl__hardware_page(
				doc,
				sl__model_display_name(
					r->inspections.list[k]->name,
					r->inspections.list[k]->source),
				r->inspections.list[k]->hardware, how->verbose);
		for (size_t k = 0; k < r->inspections.n; k++)
			add_asked(doc, r->inspections.list[k], view, how);
		return;
	}
	add_identity(doc, i, how->verbose);
	sl__inspect_explanations(doc, i);
	if (i->hardware)
		sl__hardware_page(doc,
				  sl__model_display_name(i->name, i->source),
				  i->hardware, how->verbose);
	/* Who asks for machines gets a page of them. */
	if (!i->hardware || how->verbose || view->by != SL_BY_LAYER ||
	    view->n_top)
		sl__inspect_layers(doc, i, view, how);
	if (!i->hardware || how->verbose) {
		sl__inspect_memory(doc, i, how->verbose);
		sl__inspect_training(doc, i);
		sl__inspect_growth(doc, i, how->verbose);
	}
	if (how->verbose)
		sl__inspect_tensors(doc, i);
	sl__inspect_weights(doc, i, view->n_top, how);
}
